"""One call from the first byte to the last: log-on, the evening, the goodbye."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from door import wording
from door.call.call_clock import TIME_UP
from door.call.caller import EXPIRY_TOLD
from door.call.console import Console
from door.call.entries import keep_posted, uncharged
from door.call.last_hand import is_doubtful
from door.call.markup import hanging, literal
from door.call.screen import Paint
from door.call.talk import UnreadItems, take_unread
from door.errors import (
    BoardFull,
    CarrierLost,
    Closing,
    HandedBack,
    IdledOut,
    Interruption,
    LockedOut,
    LogonRefused,
    TakenOver,
    TimeUp,
)
from door.lobby import looks, texts
from door.lobby.teller import last_chance
from door.session import tour
from door.session.farewell import summarise_call
from door.session.grace import spend_grace
from door.session.guests import ask_look, let_sysop_in, receive_guest
from door.session.logon import log_on
from door.session.menu import main_menu
from door.session.while_away import AwayNews, news_of, note_awards, read_news
from door.tables.floor import table_with_open_hand
from door.tables.registry import TABLES
from timebank.errors import BooksFailed, BooksUnavailable, CallClosed, OutcomeUnknown, Refused
from timebank.language import _, speak_to
from timebank.words import MINUTE, span

if TYPE_CHECKING:
    from door.call.board import Board
    from door.call.caller import Caller
    from door.call.guest import Guest
    from door.games.engine.descriptor import Game
    from door.lines.line import Line
    from door.lines.ssh.ssh_identity import SshIdentity

log = logging.getLogger("door.calls")


T = TypeVar("T")
Rooms = Callable[["Board", "Caller"], Awaitable[None]]

NEVER_KNOWN, LINE_LOST = "outcome unknown", "carrier lost"  # reasons a call ended
LAST_SCREENS = {"log-off": "goodbye", "time up": "time-up"}  # by the reason a call ended
BROKEN_OFF = ("idle", Closing.reason)  # reasons that leave the caller's minutes to them
PARTING_SECONDS = 10.0  # time to read the goodbye before the host clears the screen


async def answer(board: Board, line: Line, by_ssh: SshIdentity | None = None) -> None:
    """Serve a caller from log-on to goodbye. `by_ssh` is what they sent by SSH."""
    console = Console(line, looks.guess(line.hints), board.clock)
    await _serve(board, console, partial(log_on, board, console, by_ssh), main_menu, _at_once)


async def answer_guest(board: Board, console: Console, guest: Guest, game: Game | None) -> bool:
    """Serve a guest, at the table of `game` alone if it is given.

    Return False when something failed here; the log says what.
    """
    admit = partial(receive_guest, board, console, guest)
    before_leaving = partial(_wait_for_reading, console, guest)
    return await _serve(board, console, admit, _rooms(game), before_leaving)


async def answer_sysop(board: Board, console: Console, game: Game | None) -> bool:
    """Serve the sysop at the machine itself. Return False when something failed here."""
    admit = partial(let_sysop_in, board, console)
    return await _serve(board, console, admit, _rooms(game), _at_once)


def _rooms(game: Game | None) -> Rooms:
    return main_menu if game is None else partial(_one_table, game)


async def _wait_for_reading(console: Console, guest: Guest) -> None:
    """Give a guest time to read the last words before the host clears the screen."""
    console.keyboard.lift(TimeUp)
    console.keyboard.forget_keys()
    if console.keyboard.interruption is None:
        words = _("You go back to {board}.").format(board=literal(guest.board.name))
        console.display.prompt(console.pager.press(words))
        await console.keyboard.pause(PARTING_SECONDS)


async def _at_once() -> None:
    """End without a pause: the last words stay on these callers' terminals."""


async def _serve(
    board: Board,
    console: Console,
    admit: Callable[[], Awaitable[Caller]],
    rooms: Rooms,
    before_leaving: Callable[[], Awaitable[None]],
) -> bool:
    line = console.line
    console.viewer.language = looks.language_of(line.hints, board.config.board.language)
    speak_to(console.viewer)
    went_well = True
    board.consoles.add(console)
    try:
        caller = await admit()
        log.info("%s on node %d from %s", caller.record.name, caller.node, line.address)
        await _call(board, caller, rooms)
    except asyncio.CancelledError:  # the board closes and no longer waits for this session
        before_leaving = _at_once
        raise
    except CarrierLost:
        log.info("carrier lost from %s before log-on", line.address)
    except (LogonRefused, BoardFull, Interruption, Refused) as refusal:
        if isinstance(refusal, HandedBack):
            refusal.has_ended_call = True
        log.info("%s was not let in: %s", line.address, refusal)
        _note(board, line.address, refusal)
        console.screen.say(f"|14{refusal}")
    except BooksFailed:
        went_well = False
        log.error("a caller from %s was turned away: the books are unavailable", line.address)
        words = _("The board's books can't be opened just now. Please call again later.")
        console.screen.say(f"|12{words}")
    except Exception:
        went_well = False
        log.exception("a session from %s failed", line.address)
        console.screen.say(
            f"|12{_('Something went wrong here. The sysop will find it in the log.')}"
        )
    finally:
        await before_leaving()
        board.consoles.discard(console)
        board.keys_of_gone += console.keyboard.keys_received
        await console.part()
    return went_well


def _note(board: Board, address: str, refusal: Exception) -> None:
    """Write into the log of refusals why a caller was not let in.

    Wrong passwords and new names too many have their lines already. A closing board and a call
    taken over are not refusals.
    """
    if isinstance(refusal, BoardFull):
        board.reception.note(address, "every node is taken", own_fault=False)
    elif isinstance(refusal, IdledOut):
        board.reception.note(address, "the log-on took too long", own_fault=False)
    elif isinstance(refusal, LogonRefused) and refusal.why:
        board.reception.note(address, refusal.why, own_fault=refusal.own_fault)


async def _one_table(game: Game, board: Board, caller: Caller) -> None:
    """Seat the caller at `game`, unless they have just played an open hand there."""
    if game.name == caller.came_back_to:
        return
    if board.config.games[game.name].open:
        await TABLES[game.name].sit_down(board, caller).visit()
        return
    words = _("{game} is closed just now.").format(game=_(game.title))
    caller.console.screen.say(f"|14{words}")
    await caller.console.pager.any_key()


async def _call(board: Board, caller: Caller, rooms: Rooms) -> None:
    """Charge the call while the evening goes on, and close it at the end."""
    reason = "failed"
    try:
        async with asyncio.TaskGroup() as group:
            keeper = group.create_task(keep_posted(caller))
            try:
                ended = await _evening(board, caller, rooms)
            finally:
                keeper.cancel()
        reason = ended
    finally:
        caller.clock.stop()
        lost = reason == LINE_LOST
        board.tickets.call_ended(caller.record.id, caller.call_id, line_lost=lost)
        await asyncio.shield(board.close_call(caller, reason))
        log.info("%s left node %d: %s", caller.record.name, caller.node, reason)


async def _evening(board: Board, caller: Caller, rooms: Rooms) -> str:
    """Receive the caller, lead them through the board and say goodbye; return why it ended."""
    console = caller.console
    try:
        try:
            await _receive(board, caller)
            await rooms(board, caller)
        except TimeUp:
            # Winning an open hand or withdrawing savings may give the caller time again.
            await _go_on_without_time(board, caller)
            await _with_grace(board, caller, rooms)
    except CarrierLost:
        return LINE_LOST
    except CallClosed:
        end = await caller.how_it_was_closed()
        return await _good_bye(caller, str(end), end.reason)
    except TimeUp:
        return await _good_bye(caller, caller.time_up_words(), "time up")
    except IdledOut as idled:
        console.screen.bell()
        return await _good_bye(caller, str(idled), "idle")
    except (Closing, TakenOver) as end:
        if isinstance(end, HandedBack):
            end.has_ended_call = True
        return await _good_bye(caller, str(end), end.reason)
    except BooksUnavailable as broken:
        log.error("%s", broken)
        words = _("{trouble} Please call again later.").format(trouble=broken)
        return await _good_bye(caller, words, "books unavailable")
    except OutcomeUnknown as unknown:
        log.error("%s: %s", caller.record.name, unknown)
        return await _good_bye(caller, _(wording.NEVER_KNOWN), NEVER_KNOWN)
    except Refused as refused:
        return await _good_bye(caller, str(refused), "refused")
    words = _("Goodbye, {name}. Call again!").format(name=caller.record.name)
    return await _good_bye(caller, words, "log-off")


async def _receive(board: Board, caller: Caller) -> None:
    """Start the clock, show the news and seat the caller at their open hand, if any."""
    news = await news_of(caller)
    if not caller.purse.time_is_up():
        await _welcome(caller, news)
    elif news or caller.asks_look or tour.is_due(caller):
        if news:  # without news, the next screen says that the time is up
            news = news.ending_with(f"|12{TIME_UP}")
        async with uncharged(caller) as seconds:
            if seconds or not caller.purse.time_is_up():
                await _welcome(caller, news)
    if caller.purse.time_is_up():
        _begin(caller)
        raise TimeUp(TIME_UP)
    if open_hand := await table_with_open_hand(board, caller):
        game, table = open_hand
        caller.came_back_to = game.name
        await table.visit()


def _begin(caller: Caller) -> None:
    """Start the clock and paint whole screens from now on."""
    console = caller.console
    console.screen.paint_screens()
    console.screen.on_redraw = caller.status.show
    console.wants_lines = console.screen.look.paint is Paint.LINES
    console.keyboard.on_lines = partial(looks.take_lines, caller)
    caller.clock.start()


async def _welcome(caller: Caller, news: AwayNews) -> None:
    """Ask what the terminal can show, then show the news or the tour, as far as each is due."""
    if caller.asks_look:
        caller.clock.start()
        await ask_look(caller)
        caller.clock.stop()
    _begin(caller)
    # A caller who comes back was busy when the line was lost: notices wait for the next log-on.
    goes_on = caller.is_back and not caller.purse.time_is_up()
    if tour.is_due(caller) and not goes_on:
        if await _reads_news(caller, news, tour.offer(caller)):
            await tour.take(caller)
    elif news and not goes_on:
        await _reads_news(caller, news, read_news(caller, news))


async def _reads_news(caller: Caller, news: AwayNews, reading: Awaitable[T]) -> T:
    """Show the news, and note its notices as read unless the line is lost meanwhile."""
    console = caller.console
    was_lost = console.keyboard.is_lost
    try:
        answer = await reading
    except Interruption:
        if not (was_lost or is_doubtful(console)):
            await _note_read(caller, news)
        raise
    if await _note_read(caller, news):
        await console.pager.any_key()  # the menu would take their rows
    return answer


async def _note_read(caller: Caller, news: AwayNews) -> bool:
    """Note in the books that the news of the log-on was read.

    Show notices and messages that came since; return whether there were any.
    """
    if not caller.prefers(EXPIRY_TOLD) and caller.record.board is None:
        with suppress(BooksFailed):  # at worst they read it again at the next log-on
            await caller.remember({EXPIRY_TOLD: True})
    await note_awards(caller, news)
    if not caller.reads_notices:
        return False
    caller.reads_notices = False
    try:
        unread = await caller.ask_books(partial(take_unread, caller_id=caller.record.id))
    except BooksFailed:
        log.warning(
            "the notices of %s could not be marked as read and will be shown again",
            caller.record.name,
        )
        return False
    shown = UnreadItems(caller.opened.notices, caller.opened.messages)
    more = unread.beyond(shown)
    for text in more.notices:
        caller.console.screen.say(hanging(f"|14{literal(str(text))}"))
    written = caller.talk.incoming_lines(more.messages)
    if written:
        caller.console.screen.say("\n".join(written))
    return bool(more.notices or written)


async def _stand(board: Board, caller: Caller) -> None:
    """Stand the caller's open hand, which they have no time to play, and drop the open question."""
    caller.console.display.answered()
    if open_hand := await table_with_open_hand(board, caller):
        _, table = open_hand
        async with uncharged(caller):
            await table.stand_open_hand()
            await caller.console.pager.any_key()


async def _go_on_without_time(board: Board, caller: Caller) -> None:
    """Stand an open hand and offer the caller their savings."""
    await _stand(board, caller)
    if caller.purse.time_is_up() and caller.purse.may_go_on:
        await last_chance(caller)


async def _with_grace(board: Board, caller: Caller, rooms: Rooms) -> None:
    """Serve the caller while they have time, and after that for the grace of the day."""
    while True:
        if caller.purse.time_is_up() and not await spend_grace(board, caller):
            raise TimeUp(TIME_UP)
        try:
            return await rooms(board, caller)
        except TimeUp:
            await _stand(board, caller)


async def _good_bye(caller: Caller, words: str, reason: str) -> str:
    """Stop the clock, show the last words and return `reason`."""
    console = caller.console
    caller.clock.stop()
    last_words = caller.last_words()
    console.screen.scroll_lines()
    if reason in LAST_SCREENS:
        names = {"BOARD": caller.config.board.name, "NAME": caller.record.name}
        texts.show(console, caller.config.board.texts, LAST_SCREENS[reason], names)
    if reason == "time up":  # such as how a hand ended that was just stood
        for message in last_words:
            console.screen.say(message)
    banked = await caller.farewell(reason)
    summary = await summarise_call(caller, reason)
    if caller.statement and reason != "log-off":  # the menu has shown it
        console.screen.say(f"|14{caller.statement}")
    for line in banked:
        console.screen.say(f"|14{line}")
    for line in summary:
        console.screen.say(f"|07{line}")
    console.screen.say(f"|15{words}")
    if reason == LockedOut.reason:  # they can use nothing of what waits for them
        return reason
    left, is_ours = caller.purse.time_left(), caller.record.board is None
    if reason in BROKEN_OFF and is_ours and left >= MINUTE:
        words = _("You have {time} left, until midnight.").format(time=span(left))
        console.screen.say(f"|07{words}")
    purse = caller.purse.posted
    if (purse.stake or caller.hand_waits) and reason not in (TakenOver.reason, NEVER_KNOWN):
        console.screen.say(f"|07{_('Your hand waits for you on the table.')}")
    if behind := wording.releasing_event(purse, caller.bank_settings.schedule):
        words = _("{time} more after {event}.").format(time=span(purse.held), event=behind)
        console.screen.say(f"|07{words}")
    return reason
