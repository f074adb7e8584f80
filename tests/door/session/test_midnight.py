"""Days: what they bring, what they take, and that a clock cannot make one come twice."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.door.visiting import MENU, MINUTE, Guest, seated, sysop_toml, visitor
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
        ada = await seated(board, "Ada")
        await ada.bets(5, "stay", ends="win")
        await ada.stays()
        await board.pass_time(10 * MINUTE)
        await ada.sees(told)
        await ada.sees_time_left(60 * MINUTE)
        assert ("carry", 5 * MINUTE) in ada.ledger
        assert ada.has["bank"] == kept


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
        await ada.presses("q").is_asked(MENU)
        assert ada.has["bank"] == 30 * MINUTE


# Hands and days.


async def test_midnight_leaves_a_hand_on_the_table_but_saves_no_stake(tmp_path: Path) -> None:
    """It is a turn of the day on which it was dealt, and pays into the day on which it ends. What
    was staked of the old day's minutes goes with that day."""
    async with world(tmp_path, toml=QUIET, now=TEN_TO_MIDNIGHT) as board:
        ada = await seated(board, "Ada")
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


async def test_a_hand_that_nobody_returned_to_is_stood_when_the_next_day_has_ended(
    tmp_path: Path,
) -> None:
    async with world(tmp_path, toml=QUIET) as board:
        ada = await seated(board, "Ada")
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


async def test_a_machine_that_slept_through_midnight_finds_a_new_day(tmp_path: Path) -> None:
    async with world(tmp_path, toml=QUIET) as board:
        ada = await visitor(board, "Ada")
        await later(board, days=1)
        await board.pass_time(1)
        await ada.sees("You have 60 minutes today.")


A_YEAR = 366 * 86_400


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


async def test_midnight_is_that_of_the_board_when_the_clocks_have_changed(tmp_path: Path) -> None:
    winter = datetime(2026, 10, 25, 22, 59, tzinfo=UTC)
    async with world(tmp_path, toml=BERLIN, now=winter) as board:
        ada = await visitor(board, "Ada")
        await board.pass_time(59)
        assert grants(ada) == ["2026-10-25"]
        await board.pass_time(1)
        await ada.sees("You have 60 minutes today.")
