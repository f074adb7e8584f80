"""Time left: ticks, warnings and charges; idle callers are dropped."""

import math
from pathlib import Path
from typing import Any

import pytest

from door.call.call_clock import BEAT_SECONDS
from door.call.caller import Caller
from door.clock import ROUNDING
from tests.door.playing import hand
from tests.door.seated import first_may_hit, shoe
from tests.door.visiting import (
    MENU,
    MINUTE,
    TABLE,
    Guest,
    event,
    known,
    seated,
    sysop_toml,
    visitor,
)
from tests.world import World, world
from timebank.errors import BooksUnavailable
from timebank.ledger.purse import Receipt

TOML = sysop_toml(events="", minutes_per_day=7)


async def test_a_caller_is_warned_at_five_three_two_and_one_minutes(board: World) -> None:
    ada = await visitor(board, "Ada")
    await board.pass_time(2 * MINUTE - 1)
    assert "left." not in ada.screen
    for passes, warning in (
        (1, "5 minutes left."),
        (2 * MINUTE, "3 minutes left."),
        (MINUTE, "2 minutes left."),
        (MINUTE, "1 minute left."),
    ):
        await board.pass_time(passes)
        await ada.sees(warning)
    assert ada.terminal.transcript.count("\a") == 4


async def test_a_call_costs_time_from_the_log_on_not_from_the_connection(board: World) -> None:
    ada = known(board, "Ada")
    await ada.dials()
    await board.pass_time(50)
    await ada.presses("Ada\r").is_asked("Password:")
    await ada.presses("open sesame\r").goes_on_to(MENU)
    await board.pass_time(1)
    await ada.sees_time_left(7 * MINUTE - 1)


async def test_waiting_for_the_books_at_log_on_is_not_charged(board: World) -> None:
    ada = known(board, "Ada")
    here = board.server.board
    open_call, run = here.open_call, here.books.run

    async def run_late(*what: Any, **how: Any) -> Any:
        here.books.run = run  # type: ignore[method-assign]
        await board.clock.advance(20)
        return await run(*what, **how)

    async def opens_late(*who: Any, **how: Any) -> Caller:
        here.books.run = run_late  # type: ignore[method-assign]
        return await open_call(*who, **how)

    here.open_call = opens_late  # type: ignore[method-assign]
    await ada.dials()
    await ada.presses("Ada\r").is_asked("Password:")
    await ada.presses("open sesame\r").goes_on_to(MENU)
    await ada.sees_time_left(7 * MINUTE)


async def test_the_time_line_counts_down_from_the_very_log_on(
    board: World,
) -> None:
    ada = await visitor(board, "Ada")
    await ada.sees_time_left(7 * MINUTE)
    for tenths in range(1, 25):
        await board.clock.advance(0.1)
        await ada.sees_time_left(7 * MINUTE - math.ceil(tenths / 10 - ROUNDING))


async def test_clocks_of_callers_who_log_on_within_a_beat_tick_together(board: World) -> None:
    ticks: list[float] = []
    for name in ("Ada", "Bob"):
        await board.clock.advance(BEAT_SECONDS / 4)
        guest = await visitor(board, name)
        guest.caller.clock.on_tick = lambda: ticks.append(round(board.clock.monotonic(), 6))
    await board.clock.advance(1.5)
    assert [tick for tick in ticks if tick > 1001] == [1001 + BEAT_SECONDS] * 2


async def test_uncharged_time_ends_where_an_event_begins(tmp_path: Path) -> None:
    toml = sysop_toml(events=event("Mail hour", "12:02"), minutes_per_day=1)
    async with world(tmp_path, toml=toml) as board:
        ada = await visitor(board, "Ada", saved=MINUTE)
        await board.pass_time(MINUTE)
        await ada.sees("Your time is up. You have 1 minute to make a withdrawal.")
        await board.pass_time(55)
        assert ada.caller.console.keyboard.interruption is None
        await board.pass_time(10)
        await ada.sees("Mail hour has begun. Please call back at 13:02.")


async def test_savings_are_offered_below_the_end_of_the_hand(board: World) -> None:
    board.seeds = [hand("stay", ends="lose")]
    ada = await seated(board, "Ada", saved=10 * MINUTE)
    await ada.presses("b").is_asked("Coins")
    await ada.presses("1\r").is_asked("<H>it")
    await board.pass_time(6 * MINUTE)
    await ada.sees("Your time is up. You have 2 minutes to make a withdrawal.")
    await ada.sees("You lose 1 coin: 1 minute.")
    assert "1 minute left." not in ada.screen
    await ada.presses("q").is_sent_off("You're out of time.")
    assert "You lose 1 coin: 1 minute." in ada.screen
    assert "to make a withdrawal" not in ada.screen


async def test_savings_are_offered_below_the_end_of_the_hand_at_vegas(board: World) -> None:
    board.seeds = [shoe(1, first_may_hit)]
    ada = await visitor(board, "Ada", saved=10 * MINUTE)
    await ada.presses("v").is_asked("<B>et")
    await ada.presses("b").is_asked("Coins")
    await ada.presses("1\r").is_asked("<H>it")
    await board.pass_time(6 * MINUTE)
    await ada.sees("Your time is up. You have 2 minutes to make a withdrawal.")
    await ada.sees("You lose 1 coin: 1 minute.")


async def test_the_goodbye_at_an_event_repeats_no_warning(tmp_path: Path) -> None:
    toml = sysop_toml(events=event("Mail hour", "12:02"))
    async with world(tmp_path, toml=toml) as board:
        ada = await seated(board, "Ada")
        await board.pass_time(MINUTE)
        await ada.sees("1 minute left before Mail hour at 12:02.")
        await board.pass_time(MINUTE + 1)
        await ada.is_sent_off("Mail hour has begun. Please call back at 13:02.")
        assert "left before" not in ada.screen


# Seconds that have started.


async def test_a_started_second_is_charged_once_a_call(board: World) -> None:
    ada = await visitor(board, "Ada")
    await board.pass_time(2.3)
    await ada.caller.touch()
    assert ada.has["online"] == 7 * MINUTE - 3
    await board.pass_time(0.5)
    await ada.caller.touch()
    assert ada.has["online"] == 7 * MINUTE - 3
    await board.pass_time(0.4)  # 3.2 seconds after log-on
    await ada.logs_off()
    assert ada.ledger == [("grant", 7 * MINUTE), ("elapsed", 3), ("elapsed", 1)]


async def test_saving_at_log_off_leaves_out_the_started_second(tmp_path: Path) -> None:
    keeps_nothing = sysop_toml(events="", minutes_per_day=7, timebank="keep_minutes = 0")
    async with world(tmp_path, toml=keeps_nothing) as board:
        ada = await visitor(board, "Ada")
        await ada.caller.remember({"auto_deposit": True})
        await board.pass_time(0.1)
        await ada.logs_off()
        assert ada.ledger[-2:] == [("elapsed", 1), ("deposit", 6 * MINUTE)]
        assert ada.has["online"] == MINUTE - 1


async def test_the_screen_shows_the_charged_time_in_mid_second(
    board: World,
) -> None:
    ada = await visitor(board, "Ada")
    await board.pass_time(59.4)
    ada.caller.status.show()
    await ada.sees_time_left(6 * MINUTE)
    await ada.caller.touch()
    await ada.sees_time_left(6 * MINUTE)
    assert ada.has["online"] == 6 * MINUTE


async def test_the_last_second_is_the_callers_to_its_end(board: World) -> None:
    ada = await visitor(board, "Ada")
    await board.pass_time(7 * MINUTE - 1 + BEAT_SECONDS)  # the clock has looked in it
    await ada.sees_time_left(0)
    await ada.caller.touch()
    assert ada.has["online"] == 0
    ada.caller.clock.check_time()
    await board.pass_time(1 - BEAT_SECONDS - 0.01)
    assert board.server.board.callers() == [ada.caller]
    assert ada.prompt
    await board.pass_time(0.01 + BEAT_SECONDS)
    await ada.is_sent_off("You're out of time.")
    assert ada.ledger[-1] == ("elapsed", MINUTE)


async def test_uncharged_time_does_not_keep_a_caller_on(board: World) -> None:
    """At the window without time: seconds that are waived are no seconds that were paid."""
    ada = await visitor(board, "Ada", saved=10 * MINUTE)
    await board.pass_time(7 * MINUTE + 0.2)
    await ada.is_asked("<W>ithdraw")
    await board.pass_time(119.5)
    await ada.caller.touch()
    await board.pass_time(1.3)
    await ada.is_sent_off("You're out of time.")


# Idle callers.


async def test_an_idle_caller_is_warned_and_then_logged_off(tmp_path: Path) -> None:
    async with world(tmp_path) as board:  # the defaults: 240 and 300 seconds
        ada = await visitor(board, "Ada")
        await board.pass_time(239)
        assert "Still there?" not in ada.screen
        await board.pass_time(1)
        await ada.sees("Still there? Disconnecting in 1 minute.")
        await board.pass_time(60)
        await ada.is_sent_off("Disconnected: no key pressed.")
        assert "hand" not in ada.screen
        assert ada.has["online"] == 55 * MINUTE


async def test_a_key_in_time_keeps_an_idle_caller_on(tmp_path: Path) -> None:
    async with world(tmp_path) as board:
        ada = await visitor(board, "Ada")
        await board.pass_time(299)
        await ada.goes_to_the_bank()
        await board.pass_time(239)
        assert board.server.board.callers() == [ada.caller]
        await board.pass_time(61)
        await ada.is_sent_off("Disconnected: no key pressed.")


# Time up.


async def test_a_caller_out_of_time_reads_when_to_call_back(board: World) -> None:
    ada = await visitor(board, "Ada")
    await board.pass_time(7 * MINUTE)
    await ada.is_sent_off(
        "You're out of time. Fresh minutes at midnight.",
    )
    assert ada.ledger == [("grant", 7 * MINUTE), *[("elapsed", MINUTE)] * 7]


async def test_time_can_run_out_while_a_bet_is_being_typed(board: World) -> None:
    ada = await seated(board, "Ada")
    await ada.presses("b").is_asked("Coins to bet")
    ada.presses("3")
    await board.pass_time(7 * MINUTE)
    await ada.is_sent_off("You're out of time.")
    assert ada.has["stake"] == 0


# Time up in the middle of a hand.


async def test_a_hand_is_stood_and_settled_before_the_good_bye(board: World) -> None:
    ada = await seated(board, "Ada")
    await ada.bets(5, "stay", ends="lose")
    await board.pass_time(2 * MINUTE)
    await ada.is_sent_off("lose 5 coins: 5 minutes.", "0 wins, 1 loss", "You're out of time.")
    assert ada.ledger[-1] == ("lost", 5 * MINUTE)
    assert ada.has["stake"] == ada.has["online"] == 0


async def test_insurance_is_declined_for_a_caller_out_of_time(board: World) -> None:
    ada = await seated(board, "Ada")
    await ada.bets(4, "no-insurance", "stay", ends="lose", asked="Insurance for 2 coins?")
    await board.pass_time(3 * MINUTE)
    await ada.is_sent_off("0 wins, 1 loss", "You're out of time.")
    assert ("insurance", 2 * MINUTE) not in ada.ledger
    assert ada.ledger[-1] == ("lost", 4 * MINUTE)


async def test_a_stood_hand_that_wins_keeps_the_call_alive(board: World) -> None:
    ada = await seated(board, "Ada")
    await ada.bets(3, "stay", ends="win")
    await board.pass_time(4 * MINUTE)
    await ada.is_asked(TABLE)
    await ada.sees("You win 3 coins")
    await ada.sees_time_left(6 * MINUTE)
    await ada.bets(2, "stay", ends="win")
    await ada.stays()
    assert ada.has["online"] == 8 * MINUTE


async def test_a_win_decided_as_the_time_runs_out_keeps_the_call_alive(board: World) -> None:
    """Ada stays; before the hand is in the books the clock says that time is up."""
    ada = await seated(board, "Ada")
    await ada.bets(3, "stay", ends="win")
    await board.pass_time(4 * MINUTE - 1)
    async with board.slow_books():
        await board.clock.advance(1)
        ada.presses("s")
        await ada.terminal.until_gone("<H>it")
    await ada.is_asked(TABLE)
    await ada.sees_time_left(6 * MINUTE)
    await ada.bets(2, "stay", ends="win")


async def test_a_hand_that_cannot_be_stood_waits_in_the_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_disk(*_: object) -> Receipt:
        raise BooksUnavailable("The books can't be written right now (disk full).")

    async with world(tmp_path, toml=TOML) as board:
        ada = await seated(board, "Ada")
        await ada.bets(5, "stay", ends="win")
        with monkeypatch.context() as disk:
            disk.setattr("timebank.wagers.wagers.act", no_disk)
            await board.pass_time(2 * MINUTE)
            await ada.is_sent_off(
                "Please call again later.", "Your hand waits for you on the table."
            )
        await ada.calls()
        await ada.reads_that("You win 5 coins")


async def test_a_clock_that_cannot_be_posted_says_so_once_and_when_it_can_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_disk(*_: object) -> Receipt:
        raise BooksUnavailable("The books can't be written right now (disk full).")

    async with world(tmp_path, toml=TOML) as board:
        ada = await visitor(board, "Ada")
        with monkeypatch.context() as disk:
            disk.setattr("door.call.caller.touch", no_disk)
            await board.pass_time(MINUTE + 5)
            await ada.sees("The books can't be written just now. Please wait.")
            assert ada.screen.count("can't be written") == 1
        await board.pass_time(2)
        await ada.sees("The books can be written again.")
        assert ada.has["online"] > ada.time_left - 3


# Calling without time.


async def without_time(board: World, *, saved: int = 0) -> Guest:
    """Create a caller who has used up their day and hung up."""
    ada = await visitor(board, "Ada", saved=saved)
    await board.pass_time(7 * MINUTE)
    if saved:
        await ada.is_asked("<Q>uit")
        ada.presses("q")
    await ada.is_sent_off("You're out of time.")
    return ada


async def test_a_caller_without_time_reads_so_once(board: World) -> None:
    ada = await without_time(board)
    before = ada.ledger
    await ada.calls()
    await ada.is_sent_off("You're out of time. Fresh minutes at midnight.")
    assert ada.terminal.transcript.count("out of time") == 1
    assert ada.ledger == before


async def test_a_caller_with_no_time_left_can_withdraw_savings(board: World) -> None:
    ada = await without_time(board, saved=5 * MINUTE)
    await ada.calls()
    await ada.goes_on_to("<W>ithdraw")
    await ada.sees("Your time is up. You have 2 minutes to make a withdrawal.")
    await board.pass_time(119)
    await ada.withdraws(5)
    await ada.is_asked(MENU)
    await ada.sees_time_left(5 * MINUTE)
    await board.pass_time(1)
    await ada.sees_time_left(5 * MINUTE - 1)
    await ada.logs_off()
    assert ada.ledger[-2:] == [("withdraw", 5 * MINUTE), ("elapsed", 1)]


async def with_nothing_but_a_hand(board: World, ends: str) -> Guest:
    """Create a caller who was dropped in mid-hand in the second in which their time was up."""
    ada = await seated(board, "Ada")
    await ada.bets(5, "stay", ends=ends)
    await board.pass_time(2 * MINUTE)
    await ada.is_sent_off("Your hand waits for you on the table.")
    assert (ada.has["online"], ada.has["stake"]) == (0, 5 * MINUTE)
    return ada


IMPATIENT = sysop_toml(
    events="", minutes_per_day=7, idle_warning_seconds=119, idle_limit_seconds=120
)


async def test_a_stood_hand_that_wins_lets_its_caller_in(tmp_path: Path) -> None:
    async with world(tmp_path, toml=IMPATIENT) as board:
        ada = await with_nothing_but_a_hand(board, "win")
        await ada.calls()
        await ada.reads_that("You win 5 coins")
        await ada.is_asked(MENU)
        await ada.sees_time_left(10 * MINUTE)


async def test_a_line_left_alone_without_time_is_dropped(tmp_path: Path) -> None:
    async with world(tmp_path, toml=IMPATIENT) as board:
        ada = await with_nothing_but_a_hand(board, "lose")
        await ada.calls()
        await ada.sees("lose 5 coins: 5 minutes.")
        await board.pass_time(2 * MINUTE)
        await ada.terminal.until_closed()
        assert board.server.board.nodes == {}


async def test_a_purse_that_arrives_late_does_not_replace_a_newer_one(board: World) -> None:
    await visitor(board, "Ada")
    (caller,) = board.server.board.callers()
    now = await caller.touch()
    adopt_older, adopt_newer = caller.expect(), caller.expect()
    older, newer = (
        Receipt(now.purse._replace(online=seconds), ()) for seconds in (MINUTE, 2 * MINUTE)
    )
    adopt_newer(newer)
    adopt_older(older)
    assert caller.purse.posted == newer.purse
    caller.expect()(older)
    assert caller.purse.posted == older.purse
    await caller.touch()


async def test_a_wait_for_the_books_is_explained_once(tmp_path: Path) -> None:
    words = "The board is busy. Please wait."
    async with world(tmp_path, toml=TOML) as board:
        ada = await seated(board, "Ada")
        async with board.slow_books():
            ada.presses("b")
            await ada.terminal.until_gone(TABLE)
            await board.clock.advance(2)
            assert words not in ada.screen
            await board.clock.advance(2)
            await ada.sees(words)
            await board.clock.advance(4)
        await ada.is_asked("Coins to bet")
        assert ada.screen.count(words) == 1
