"""Days: what they bring, what they take, and that a clock cannot make one come twice."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.door.visiting import MENU, MINUTE, Guest, event, sysop_toml, visitor
from tests.world import NOON, World, world
from timebank.ledger.reasons import Granted

QUIET = sysop_toml(events="")
TEN_TO_MIDNIGHT = NOON + timedelta(hours=11, minutes=50)
OF_TODAY, OF_TOMORROW = "2026-11-20", "2026-11-21"


def grants(guest: Guest) -> list[str]:
    """The days for which they were granted minutes."""
    reasons = [line.reason for line in guest.board.lines(guest.name)]
    return [reason.day for reason in reasons if isinstance(reason, Granted)]


async def later(board: World, **time: float) -> None:
    """Let hours or days pass, through which the machine sleeps."""
    board.clock.suspend(timedelta(**time).total_seconds())


# What a day brings and takes.


async def test_midnight_brings_the_new_day_and_takes_the_rest_of_the_old_one(
    tmp_path: Path,
) -> None:
    async with world(tmp_path, toml=QUIET, now=TEN_TO_MIDNIGHT) as board:
        ada = await visitor(board, "Ada")
        await board.pass_time(10 * MINUTE)
        await ada.sees("50 minutes left over from 20 November expired.")
        await ada.sees("You have 60 minutes today.")
        await ada.sees_time_left(60 * MINUTE)
        assert ada.ledger[-2:] == [("forfeit", 50 * MINUTE), ("grant", 60 * MINUTE)]


@pytest.mark.parametrize(
    ("timebank", "told", "kept"),
    [
        ('mode = "built-in"', "5 minutes earned on 20 November went to your bank.", 5 * MINUTE),
        (
            'mode = "external"\nthebank_ext = "THEBANK.EXT"',
            "5 minutes passed on through THEBANK.EXT",
            0,
        ),
        ('mode = "none"', "5 minutes earned on 20 November expired: this board has no", 0),
    ],
    ids=["built-in", "external", "none"],
)
async def test_what_was_won_goes_the_way_of_a_cut_win_at_midnight(
    tmp_path: Path, timebank: str, told: str, kept: int
) -> None:
    toml = sysop_toml(events="", timebank=timebank)
    async with world(tmp_path, toml=toml, now=TEN_TO_MIDNIGHT) as board:
        ada = await visitor(board, "Ada")
        await ada.sits_down()
        await ada.bets(5, "stay", ends="win")
        await ada.stays()
        await board.pass_time(10 * MINUTE)
        await ada.sees(told)
        await ada.sees_time_left(60 * MINUTE)
        assert ("carry", 5 * MINUTE) in ada.ledger
        assert ada.has["bank"] == kept


async def test_a_day_is_granted_once_however_often_a_caller_calls(tmp_path: Path) -> None:
    async with world(tmp_path, toml=QUIET) as board:
        ada = await visitor(board, "Ada")
        await ada.logs_off()
        await ada.calls()
        await ada.is_asked(MENU)  # no news: nothing is granted
        await ada.logs_off()
        await later(board, days=3)
        await ada.calls()
        await ada.sees("59 minutes 58 seconds left over from 20 November expired.")
        await ada.reads_that("You have 60 minutes today.")
        await ada.is_asked(MENU)
        assert grants(ada) == [OF_TODAY, "2026-11-23"]


async def test_turns_are_counted_by_the_day(tmp_path: Path) -> None:
    one_turn = f"{QUIET}[games.black-jack-for-time]\nturns_per_day = 1\n"
    async with world(tmp_path, toml=one_turn, now=TEN_TO_MIDNIGHT) as board:
        ada = await visitor(board, "Ada")
        await ada.sits_down()
        await ada.bets(5, "stay", ends="win")
        ada.presses("s")
        await ada.reads_that("That was your last turn here today.")
        await ada.is_asked(MENU)
        ada.presses("b")
        await ada.reads_that("No turns left here today: 1 a day.")
        await ada.is_asked(MENU)
        await board.pass_time(10 * MINUTE)
        await ada.sits_down()
        assert "Turns today: 0 of 1" in ada.screen


async def test_midnight_helps_a_caller_who_stands_at_the_window_without_time(
    tmp_path: Path,
) -> None:
    toml = sysop_toml(events="", minutes_per_day=9)
    async with world(tmp_path, toml=toml, now=TEN_TO_MIDNIGHT) as board:
        ada = await visitor(board, "Ada", saved=30 * MINUTE)
        await board.pass_time(9 * MINUTE)
        await ada.is_asked("<W>ithdraw")
        await board.pass_time(MINUTE)
        await ada.sees("You have 9 minutes today.")
        ada.presses("q")
        await ada.is_asked(MENU)
        assert ada.has["bank"] == 30 * MINUTE


# Hands and days.


async def test_midnight_leaves_a_hand_on_the_table_but_saves_no_stake(tmp_path: Path) -> None:
    """It is a turn of the day on which it was dealt, and pays into the day on which it ends. What
    was staked of the old day's minutes goes with that day."""
    async with world(tmp_path, toml=QUIET, now=TEN_TO_MIDNIGHT) as board:
        ada = await visitor(board, "Ada")
        await ada.sits_down()
        await ada.bets(5, "stay", ends="win")
        await board.pass_time(10 * MINUTE)
        await ada.sees("45 minutes left over from 20 November expired.")
        await ada.sees("of your 5 minutes on the table, only winnings are yours to keep.")
        assert "<H>it" in ada.prompt
        assert ada.has["stake"] == 5 * MINUTE
        await ada.stays()
        await ada.sees("You get 10 coins")
        await ada.sees("5 minutes from an old stake expired.")
        assert ada.has["online"] == 65 * MINUTE
        await ada.sees_time_left(65 * MINUTE)
        assert "Turns today: 0 of 20" in ada.screen
        with board.books() as desk:
            days = desk.connection.exec_driver_sql("SELECT day FROM rounds").scalars().all()
        assert days == [OF_TODAY]


async def test_a_hand_lost_after_midnight_costs_the_stake_alone(tmp_path: Path) -> None:
    async with world(tmp_path, toml=QUIET, now=TEN_TO_MIDNIGHT) as board:
        ada = await visitor(board, "Ada")
        await ada.sits_down()
        await ada.bets(5, "stay", ends="lose")
        await board.pass_time(10 * MINUTE)
        await ada.stays()
        assert ada.has["online"] == 60 * MINUTE
        assert ada.ledger[-1] == ("lost", 5 * MINUTE)


async def test_a_hand_left_on_one_day_is_finished_on_the_next(tmp_path: Path) -> None:
    async with world(tmp_path, toml=QUIET) as board:
        ada = await visitor(board, "Ada")
        await ada.sits_down()
        await ada.bets(5, "stay", ends="win")
        await ada.drops_carrier()
        await later(board, days=1)
        await ada.calls()
        await ada.reads_that("You have 60 minutes today.")
        await ada.is_asked("<H>it")
        await ada.stays()
        assert ada.has["online"] == 65 * MINUTE


async def test_a_hand_that_nobody_returned_to_is_stood_when_the_next_day_has_ended(
    tmp_path: Path,
) -> None:
    async with world(tmp_path, toml=QUIET) as board:
        ada = await visitor(board, "Ada")
        await ada.sits_down()
        await ada.bets(5, "stay", ends="lose")
        await ada.drops_carrier()
        await later(board, hours=35)  # 23:00 on the next day
        await board.pass_time(10 * MINUTE)
        assert ada.has["stake"] == 5 * MINUTE
        await later(board, hours=1)
        await board.pass_time(10 * MINUTE)
        await board.settled()
        assert ada.has["stake"] == 0
        await ada.calls()
        await ada.reads_that(
            "Your hand of 20 November at Black Jack For Time was left open; the dealer stood it for"
            " you: you lost 5 minutes (lose)."
        )
        await ada.is_asked(MENU)


# Clocks that jump.


async def test_a_wall_clock_set_back_over_midnight_grants_nothing_again(tmp_path: Path) -> None:
    async with world(tmp_path, toml=QUIET, now=TEN_TO_MIDNIGHT) as board:
        ada = await visitor(board, "Ada")
        await board.pass_time(11 * MINUTE)
        board.clock.step_wall_clock(-4 * MINUTE)
        await board.pass_time(6 * MINUTE)
        await ada.sees_time_left(53 * MINUTE)
        await ada.logs_off()
        board.clock.step_wall_clock(-2 * 60 * MINUTE)
        await ada.calls()
        await ada.is_asked(MENU)
        await ada.sees_time_left(53 * MINUTE)
        assert grants(ada) == [OF_TODAY, OF_TOMORROW]


async def test_a_machine_that_slept_through_midnight_finds_a_new_day(tmp_path: Path) -> None:
    async with world(tmp_path, toml=QUIET) as board:
        ada = await visitor(board, "Ada")
        await later(board, days=1)
        await board.pass_time(1)
        await ada.sees("You have 60 minutes today.")


A_YEAR = 366 * 86_400


async def test_a_clock_that_leaps_a_year_for_four_seconds_starves_nobody(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    half_past = sysop_toml(events=event("Mail hour", "12:30"))
    async with world(tmp_path, toml=half_past) as board:
        board.enter("Ada")
        ada = Guest(board, "Ada")
        await ada.calls()
        await ada.reads_that("30 minutes available after Mail hour at 12:30.")
        await ada.is_asked(MENU)
        board.clock.step_wall_clock(A_YEAR)
        await board.pass_time(4)
        await ada.sees_time_left(30 * MINUTE - 4)
        board.clock.step_wall_clock(-A_YEAR)
        await board.pass_time(MINUTE)
        await ada.logs_off()
        told = [each for each in caplog.messages if "leapt" in each]
        assert len(told) == 1
        assert told[0].startswith("The wall clock leapt and is 366 days ahead of what has passed")
        await later(board, minutes=90)
        await ada.calls()
        await ada.reads_that("30 minutes back after Mail hour at 12:30.")
        await ada.is_asked(MENU)
        assert ada.ledger[-1] == ("release", 30 * MINUTE)
        await ada.logs_off()
        await later(board, days=1)
        await ada.visits()
        assert grants(ada) == [OF_TODAY, OF_TOMORROW]


async def test_the_board_goes_on_by_its_own_count_while_the_clock_is_wrong(
    tmp_path: Path,
) -> None:
    async with world(tmp_path, toml=QUIET, now=TEN_TO_MIDNIGHT) as board:
        ada = await visitor(board, "Ada")
        board.clock.step_wall_clock(-A_YEAR)
        await board.pass_time(10 * MINUTE)
        await ada.sees("You have 60 minutes today.")
        assert grants(ada) == [OF_TODAY, OF_TOMORROW]


async def test_a_leap_is_believed_when_time_servers_have_agreed_twice(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with world(tmp_path, toml=QUIET) as board:
        ada = await visitor(board, "Ada")
        board.clock.step_wall_clock(86_400)
        await board.pass_time(10 * MINUTE)
        assert grants(ada) == [OF_TODAY]
        board.clock.synchronised = True
        await board.pass_time(4 * MINUTE)
        board.clock.synchronised = False  # lost again: they have to agree anew
        await board.pass_time(2 * MINUTE)
        board.clock.synchronised = True
        await board.pass_time(4 * MINUTE)
        assert grants(ada) == [OF_TODAY]
        await board.pass_time(2 * MINUTE)
        assert grants(ada) == [OF_TODAY, OF_TOMORROW]
        assert any(each.startswith("Time servers agree") for each in caplog.messages)


# Daylight saving.

BERLIN = sysop_toml(events="", zone="Europe/Berlin")


async def test_a_day_of_25_hours_is_one_day(tmp_path: Path) -> None:
    begins = datetime(2026, 10, 24, 22, 0, tzinfo=UTC)
    async with world(tmp_path, toml=BERLIN, now=begins) as board:
        ada = await visitor(board, "Ada")
        await ada.logs_off()
        for hours in (3, 1, 20):  # 02:00 in winter time, 03:00, 23:00
            await later(board, hours=hours)
            await ada.calls()
            await ada.is_asked(MENU)
            await ada.logs_off()
        await later(board, hours=1)
        await ada.visits()
        assert grants(ada) == ["2026-10-25", "2026-10-26"]


async def test_midnight_is_that_of_the_board_when_the_clocks_have_changed(tmp_path: Path) -> None:
    winter = datetime(2026, 10, 25, 22, 59, tzinfo=UTC)
    async with world(tmp_path, toml=BERLIN, now=winter) as board:
        ada = await visitor(board, "Ada")
        await board.pass_time(59)
        assert grants(ada) == ["2026-10-25"]
        await board.pass_time(1)
        await ada.sees("You have 60 minutes today.")


@pytest.mark.long
async def test_an_event_at_an_hour_that_is_skipped_begins_after_the_gap(tmp_path: Path) -> None:
    toml = sysop_toml(events=event("Mail hour", "02:30"), zone="Europe/Berlin")
    half_past_one = datetime(2026, 3, 29, 0, 30, tzinfo=UTC)
    async with world(tmp_path, toml=toml, now=half_past_one) as board:
        board.enter("Ada")
        ada = Guest(board, "Ada")
        await ada.calls()
        await ada.reads_that("30 minutes available after Mail hour at 03:00.")
        await ada.is_asked(MENU)
        await board.pass_time(30 * MINUTE)
        await ada.is_sent_off("Mail hour has begun. Please call back at 04:00.")


@pytest.mark.long
async def test_an_event_at_an_hour_that_comes_twice_begins_at_its_first_coming(
    tmp_path: Path,
) -> None:
    toml = sysop_toml(events=event("Mail hour", "02:30", 90), zone="Europe/Berlin")
    two = datetime(2026, 10, 25, 0, 0, tzinfo=UTC)  # 02:00 in summer time
    async with world(tmp_path, toml=toml, now=two) as board:
        ada = await visitor(board, "Ada")
        await ada.sees_time_left(30 * MINUTE)
        await board.pass_time(30 * MINUTE)
        await ada.is_sent_off("Mail hour has begun. Please call back at 03:00.")
