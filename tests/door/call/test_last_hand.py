"""The end of a hand that its caller did not see is shown once, at the next log-on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from door.call.caller import Caller
from door.call.console import Console
from door.call.keyboard import Keyboard
from door.errors import CarrierLost, Interruption, TakenOver
from door.games.baccarat.round import BaccaratAction as Card
from tests.door.at_the_teletype import at_the_teletype
from tests.door.playing import hand
from tests.door.punting import at_baccarat, on_5, seed_where
from tests.door.seated import ace_up, everybody_plays, party, settled, shoe
from tests.door.teletype import seed_asking
from tests.door.vegas_callers import table_toml, vegas_callers
from tests.door.visiting import MENU, Guest, seated
from tests.terminal import Terminal
from tests.world import log_on, world
from timebank.calls import calls
from timebank.language import Viewer, speaking_to

# "is over", or "was left open, ..." where the call was closed before the table stood the hand.
AT_VEGAS = "Your hand of 20 November at Vegas "
PLAYED_ON = "Your hand at Vegas was played out"
TURN_SECONDS = 30
HANG_UPS = pytest.mark.parametrize(
    "hang_up", [Terminal.hang_up_half, Terminal.abort], ids=["closed", "reset"]
)


async def hangs_up(guest: Guest, hang_up: Callable[[Terminal], None] = Terminal.abort) -> None:
    """Lose the line and wait until the call is closed and settled."""
    caller = guest.caller
    hang_up(guest.terminal)
    await caller.ended.wait()
    await settled(guest.board.server.board)


async def is_told_once(guest: Guest, text: str) -> None:
    """Call twice and expect the notice at the first call only."""
    await guest.calls()
    await guest.sees(text)
    assert guest.screen.count("Your hand") == 1
    await guest.goes_on_to(MENU)
    await guest.logs_off()
    await is_told_nothing(guest)


async def is_told_nothing(guest: Guest) -> None:
    await guest.visits()
    assert "Your hand" not in guest.terminal.heard
    await guest.logs_off()


def everything_is_told(guest: Guest) -> bool:
    """Return whether no hand in the books is still to be announced."""
    with guest.board.books() as desk:
        untold = "SELECT count(*) FROM callers WHERE untold_round IS NOT NULL"
        return not desk.connection.exec_driver_sql(untold).scalar()


async def is_heard(console: Console, press: Callable[[], None]) -> None:
    """Press keys, and wait until the board has them."""
    heard, nudge, before = asyncio.Event(), Keyboard.nudge, console.keyboard.keys_received

    def nudged(each: Keyboard) -> None:
        nudge(each)
        if console.keyboard.keys_received > before:
            heard.set()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Keyboard, "nudge", nudged)
        press()
        await heard.wait()


async def is_lost(console: Console, lose: Callable[[], None]) -> None:
    """Take a console from its caller and wait until the board notices."""
    lost, interrupt = asyncio.Event(), Keyboard.interrupt

    def interrupted(each: Keyboard, why: Interruption) -> None:
        interrupt(each, why)
        if each is console.keyboard and isinstance(why, CarrierLost | TakenOver):
            lost.set()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Keyboard, "interrupt", interrupted)
        lose()
        await lost.wait()


async def loses_the_line_in_the_last_key(guest: Guest, key: str) -> None:
    """Press a key that ends the hand, and lose the line before the books have it."""
    caller = guest.caller
    async with guest.board.slow_books():
        await is_heard(caller.console, lambda: guest.presses(key))
        await is_lost(caller.console, guest.terminal.abort)
    await caller.ended.wait()
    await settled(guest.board.server.board)


# Vegas, alone.


@HANG_UPS
@pytest.mark.parametrize("dealt", [everybody_plays, ace_up], ids=["a decision", "insurance"])
async def test_a_caller_who_lost_the_line_at_vegas_reads_how_the_hand_ended(
    tmp_path: Path, dealt: Callable[..., bool], hang_up: Callable[[Terminal], None]
) -> None:
    async with vegas_callers(tmp_path, "Ada", seed=shoe(1, dealt)) as (ada,):
        await ada.says_bet(2)
        await ada.is_asked("Insurance, up to" if dealt is ace_up else "You have")
        await hangs_up(ada, hang_up)
        await ada.board.pass_time(TURN_SECONDS)
        await ada.board.settled()
        assert ada.has["stake"] == 0
        await is_told_once(ada, AT_VEGAS)


@HANG_UPS
async def test_a_hand_watched_to_its_end_is_not_shown_again(
    tmp_path: Path, hang_up: Callable[[Terminal], None]
) -> None:
    async with vegas_callers(tmp_path, "Ada", seed=shoe(1, everybody_plays)) as (ada,):
        await ada.says_bet(2)
        await ada.stands()
        await hangs_up(ada, hang_up)
        await is_told_nothing(ada)


async def test_a_line_lost_while_its_own_key_is_settled_shows_the_hand(
    tmp_path: Path,
) -> None:
    async with vegas_callers(tmp_path, "Ada", seed=shoe(1, everybody_plays)) as (ada,):
        await ada.says_bet(2)
        await ada.has_the_turn()
        await loses_the_line_in_the_last_key(ada, "s")
        await is_told_once(ada, AT_VEGAS)


async def test_a_hand_stood_by_the_clock_for_a_lost_line_is_shown_again(tmp_path: Path) -> None:
    """No key was pressed after the end, so the caller may not have seen it."""
    async with vegas_callers(tmp_path, "Ada", "Bob", seed=shoe(2, everybody_plays)) as (ada, bob):
        await ada.is_ready(2)
        await bob.is_ready(2)
        await ada.has_the_turn()
        await ada.board.pass_time(TURN_SECONDS)
        await bob.stands()
        await hangs_up(ada)
        await is_told_once(ada, AT_VEGAS)


async def test_a_hang_up_after_the_end_does_not_show_the_hand_again(tmp_path: Path) -> None:
    async with vegas_callers(tmp_path, "Ada", "Bob", seed=shoe(2, everybody_plays)) as (ada, bob):
        await ada.is_ready(2)
        await bob.is_ready(2)
        await ada.stands()
        await ada.board.pass_time(TURN_SECONDS // 2)
        await bob.stands()
        await ada.is_asked("<B>et")
        await hangs_up(ada, Terminal.hang_up_half)
        await is_told_nothing(ada)


# At a shared table.


async def test_a_line_lost_while_another_ends_the_round_shows_it_again(
    tmp_path: Path,
) -> None:
    async with vegas_callers(tmp_path, "Ada", "Bob", seed=shoe(2, everybody_plays)) as (ada, bob):
        await ada.is_ready(2)
        await bob.is_ready(2)
        await ada.stands()
        await bob.has_the_turn()
        caller = ada.caller
        async with ada.board.slow_books():
            await is_heard(bob.caller.console, lambda: bob.presses("s"))
            await is_lost(caller.console, ada.terminal.abort)
        await caller.ended.wait()
        await bob.is_asked("<B>et")
        await is_told_once(ada, AT_VEGAS)
        await bob.gets_up()
        await bob.logs_off()
        await is_told_nothing(bob)


async def test_a_caller_not_on_when_the_round_ends_has_one_notice(tmp_path: Path) -> None:
    async with vegas_callers(tmp_path, "Ada", "Bob", seed=shoe(2, everybody_plays)) as (ada, bob):
        await ada.is_ready(2)
        await bob.is_ready(2)
        await ada.stands()
        await bob.has_the_turn()
        await hangs_up(ada)
        await bob.stands()
        await is_told_once(ada, "the dealer stood it for you: you")


async def test_a_caller_who_got_up_reads_the_end_once_in_the_next_room(tmp_path: Path) -> None:
    async with vegas_callers(tmp_path, "Ada", "Bob", seed=shoe(2, everybody_plays)) as (ada, bob):
        await ada.is_ready(2)
        await bob.is_ready(2)
        await ada.stands()
        await bob.has_the_turn()
        await ada.presses("q").is_asked("Leave?")
        await ada.presses("y").is_asked(MENU)
        await bob.stands()
        await ada.sees(PLAYED_ON)
        await ada.logs_off()
        await is_told_nothing(ada)


# A call that is taken over.


async def test_a_call_that_takes_over_shows_hands_settled_meanwhile(tmp_path: Path) -> None:
    async with vegas_callers(tmp_path, "Ada", seed=shoe(1, everybody_plays)) as (ada,):
        await ada.says_bet(2)
        await ada.has_the_turn()
        old = ada.terminal
        ada.terminal = await ada.board.call()
        await log_on(ada.terminal, "Ada")
        await ada.is_asked("Drop that call and continue here?")
        async with ada.board.slow_books():
            console = ada.caller.console
            await is_heard(console, lambda: old.send("s"))
            await is_lost(console, lambda: ada.presses("y"))
        await ada.reads_that(AT_VEGAS)
        await ada.is_asked(MENU)
        await ada.logs_off()
        await is_told_nothing(ada)


async def test_a_call_taken_over_by_another_process_gets_the_result(
    tmp_path: Path,
) -> None:
    """The table knows of the old call alone, and the books of the new one."""
    async with party(tmp_path, 2, seed=shoe(2, everybody_plays)) as two:
        ada, bob = two.sitters
        await two.deal()
        await ada.does("stay")
        with two.here.books() as desk:
            caller_id = ada.caller.record.id
            calls.open_call(desk, caller_id, 9, "another", "192.0.2.1", take_over=True)
        await bob.does("stay")
        (notice,) = two.notices("Ada")
        assert PLAYED_ON in notice
        with two.here.books() as desk:
            opened = calls.open_call(desk, caller_id, 9, "another", "192.0.2.1", take_over=True)
            assert list(map(str, opened.notices)) == [notice]
            with speaking_to(Viewer("fr")):
                assert "Votre main à Vegas est finie" in str(*opened.notices)


# The other tables: their hand waits, unless it was being settled.


async def test_a_line_lost_in_the_last_key_at_black_jack_for_time(tmp_path: Path) -> None:
    async with world(tmp_path, toml=table_toml()) as board:
        ada = await seated(board, "Ada")
        await ada.bets(2, seed=hand())
        await loses_the_line_in_the_last_key(ada, "s")
        await is_told_once(ada, "Your hand of 20 November at Black Jack For Time is over: you")


# The log-on itself.


@HANG_UPS
async def test_a_line_that_is_lost_while_the_call_opens_takes_no_notice_with_it(
    tmp_path: Path, hang_up: Callable[[Terminal], None]
) -> None:
    async with vegas_callers(tmp_path, "Ada", seed=shoe(1, everybody_plays)) as (ada,):
        await ada.says_bet(2)
        await ada.has_the_turn()
        await hangs_up(ada)
        await ada.board.pass_time(TURN_SECONDS)
        await ada.board.settled()
        board, opened = ada.board.server.board, asyncio.Queue[Caller]()
        open_call = board.open_call

        async def loses_the_line(console: Console, *who: Any, **how: Any) -> Caller:
            await is_lost(console, lambda: hang_up(ada.terminal))
            caller = await open_call(console, *who, **how)
            opened.put_nowait(caller)
            return caller

        board.open_call = loses_the_line  # type: ignore[method-assign]
        await ada.calls()
        await (await opened.get()).ended.wait()
        board.open_call = open_call  # type: ignore[method-assign]
        await is_told_once(ada, AT_VEGAS)


async def test_a_page_of_news_that_was_left_by_a_reset_is_shown_again(tmp_path: Path) -> None:
    async with vegas_callers(tmp_path, "Ada", seed=shoe(1, everybody_plays)) as (ada,):
        await ada.says_bet(2)
        await ada.has_the_turn()
        await hangs_up(ada)
        await ada.board.pass_time(TURN_SECONDS)
        await ada.board.settled()
        await ada.calls()
        await ada.sees(AT_VEGAS)
        await hangs_up(ada)
        await is_told_once(ada, AT_VEGAS)


async def test_a_hand_is_marked_as_read_within_a_second_of_its_end(tmp_path: Path) -> None:
    """A server killed later cannot report it."""
    async with vegas_callers(tmp_path, "Ada", seed=shoe(1, everybody_plays)) as (ada,):
        await ada.says_bet(2)
        await ada.stands()
        assert not everything_is_told(ada)
        await ada.board.pass_time(1)
        assert everything_is_told(ada)


async def test_a_hand_is_marked_as_read_only_after_a_key(tmp_path: Path) -> None:
    async with vegas_callers(tmp_path, "Ada", "Bob", seed=shoe(2, everybody_plays)) as (ada, bob):
        await ada.is_ready(2)
        await bob.is_ready(2)
        await ada.stands()
        await ada.board.pass_time(TURN_SECONDS // 2)
        await bob.stands()
        await ada.board.pass_time(1)
        assert not everything_is_told(ada)
        await is_heard(ada.caller.console, lambda: ada.presses(" "))
        await ada.board.pass_time(1)
        assert everything_is_told(ada)


async def test_the_next_deal_at_unix_bj_marks_the_last_hand_as_read(
    tmp_path: Path,
) -> None:
    """No key is awaited between two hands on one sheet."""
    async with at_the_teletype(tmp_path) as ada:
        await ada.starts(seed_asking("Hit? ", "over"))
        await ada.types("")
        assert ada.letters.count("new game") > 1
        assert everything_is_told(ada)


async def test_a_line_lost_in_the_last_key_at_baccarat(tmp_path: Path) -> None:
    seed = seed_where(on_5(Card.CARD, ends="bank"))
    async with at_baccarat(tmp_path, seed) as ada:
        await ada.wagers_on_5(8)
        await loses_the_line_in_the_last_key(ada, "y")
        await is_told_once(ada, "Your hand of 20 November at Baccarat is over: you lost $8 (bank)")


async def test_a_line_lost_in_the_last_key_at_unix_bj(tmp_path: Path) -> None:
    async with at_the_teletype(tmp_path) as ada:
        await ada.starts(seed_asking("Hit? ", "over"))
        await loses_the_line_in_the_last_key(ada, "\r")
        await ada.calls()
        await ada.sees("Your hand of 20 November at UNIX bj is over: you")
