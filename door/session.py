"""One call from the first byte to the last: log-on, the evening, the good-bye."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from door import wording
from door.board import BoardFull
from door.console import (
    CarrierLost,
    Closing,
    Console,
    IdledOut,
    Interruption,
    TakenOver,
    TimeUp,
)
from door.display import literal
from door.lobby import looks, texts
from door.lobby.logon import Refusal, log_on
from door.lobby.menu import main_menu
from door.lobby.pages import read
from door.lobby.teller import GRACE_SECONDS, last_chance
from door.tables.floor import table_with_open_hand
from timebank.database import BooksUnavailable
from timebank.refusals import CallClosed, Refused
from timebank.words import span

if TYPE_CHECKING:
    from door.board import Board
    from door.caller import Caller
    from door.lines.line import Line

log = logging.getLogger("door.calls")


async def answer(board: Board, line: Line) -> None:
    """Serve a caller on `line` until one of both goes."""
    console = Console(line, looks.guess(line.hints), board.clock)
    board.consoles.add(console)
    try:
        caller = await log_on(board, console)
        log.info("%s on node %d from %s", caller.record.name, caller.node, line.address)
        await _call(board, caller)
    except CarrierLost:
        log.info("carrier lost from %s before log-on", line.address)
    except (Refusal, BoardFull, Interruption, Refused) as refusal:
        console.say(f"|14{refusal}")
    except BooksUnavailable:
        log.error("a caller from %s was turned away: the books are unavailable", line.address)
        console.say("|12The board's books cannot be opened just now. Please call again later.")
    except Exception:
        log.exception("a session from %s failed", line.address)
        console.say("|12Something went wrong here; the sysop will find it in his log.")
    finally:
        board.consoles.discard(console)
        await console.part()


async def _call(board: Board, caller: Caller) -> None:
    """Run the evening of a caller who has a call, and close the call whatever happened."""
    reason = "failed"
    try:
        reason = await _evening_with_clock(board, caller)
    finally:
        caller.stop_ticking()
        await asyncio.shield(board.close_call(caller, reason))
        log.info("%s left node %d: %s", caller.record.name, caller.node, reason)


async def _evening_with_clock(board: Board, caller: Caller) -> str:
    """Let the caller's clock run beside his evening; return why the evening ended."""
    async with asyncio.TaskGroup() as group:
        keeper = group.create_task(caller.keep())
        try:
            return await _evening(board, caller)
        finally:
            keeper.cancel()


async def _evening(board: Board, caller: Caller) -> str:
    """Receive the caller, lead him through the board, and say good-bye; return why it ended."""
    console = caller.console
    try:
        try:
            await _receive(board, caller)
            await main_menu(board, caller)
        except TimeUp:
            # An open hand or savings may carry the evening on, once.
            await _go_on_without_time(board, caller)
            await main_menu(board, caller)
    except CarrierLost:
        return "carrier lost"
    except TakenOver as taken:
        return _good_bye(caller, str(taken), "taken over")
    except CallClosed:
        return _good_bye(caller, "Another call of yours has taken over.", "taken over")
    except TimeUp:
        return _good_bye(caller, _time_up_words(caller), "time up")
    except IdledOut as idled:
        console.bell()
        return _good_bye(caller, str(idled), "idle")
    except Closing as closing:
        return _good_bye(caller, str(closing), "closed by the board")
    except BooksUnavailable as broken:
        log.error("%s", broken)
        return _good_bye(caller, f"{broken} Please call again later.", "books unavailable")
    except Refused as refused:
        return _good_bye(caller, str(refused), "refused")
    return _good_bye(caller, f"Good-bye, {caller.record.name}. Call again!", "log-off")


async def _receive(board: Board, caller: Caller) -> None:
    """Let the clock run, say what is new, and lead him back to a hand that he left."""
    console = caller.console
    console.paint_screens()
    console.on_redraw = caller.show_status
    news = [*map(literal, caller.notices), *wording.sentences(caller.opening)]
    if caller.time_left() <= 0:
        news.append("|12You have no time left.")
        caller.grace(GRACE_SECONDS)
    caller.start_ticking()
    if news:
        await read(console, f"Welcome, {caller.record.name}", "\n".join(news))
    if caller.time_left() <= 0:
        raise TimeUp("You have no time left.")
    if table := await table_with_open_hand(board, caller):
        await table.visit()


async def _go_on_without_time(board: Board, caller: Caller) -> None:
    """Stand an open hand and offer the savings; raise `TimeUp` when neither brings any time."""
    if table := await table_with_open_hand(board, caller):
        caller.grace(GRACE_SECONDS)
        await table.stand_open_hand()
        await caller.console.any_key()
        caller.end_grace()
    if caller.time_left() <= 0 and not await last_chance(caller):
        raise TimeUp("You have no time left.")


def _time_up_words(caller: Caller) -> str:
    closing = caller.purse.closing
    schedule = caller.bank_settings.schedule
    now = caller.clock.now()
    if closing is not None and caller.event_has_begun():
        back = wording.when(closing.end, schedule, now)
        return f"{closing.name} has begun. Please call back at {back}."
    tomorrow = wording.when(schedule.next_day(now), schedule, now)
    return f"Your time is up. The next day's minutes are yours from {tomorrow} on."


def _good_bye(caller: Caller, words: str, reason: str) -> str:
    """Say the last words; a caller without carrier hears none."""
    console = caller.console
    caller.stop_ticking()
    last_said = console.display.view().messages
    console.scroll_lines()
    if reason == "time up":  # how a hand that was just stood for him ended, for one
        for message in last_said:
            console.say(message)
    if caller.statement:
        console.say(f"|14{caller.statement}")
    if reason == "log-off":
        texts.show(console, caller.config.board.texts, "goodbye")
    console.say(f"|15{words}")
    if (caller.purse.stake or caller.hand_waits) and reason != "taken over":
        console.say("|07The hand on the table waits for you.")
    closing = caller.purse.closing
    # What a new day takes away meanwhile is not promised.
    same_day = closing and caller.bank_settings.schedule.day_of(closing.end) == caller.purse.day
    if caller.purse.held and closing is not None and same_day:
        console.say(f"|07{span(caller.purse.held)} more wait for you after {closing.name}.")
    return reason
