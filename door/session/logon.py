"""Log-on: who is calling, is it really they, and is there room and time for them.

Nothing here tells whether a name exists: an unknown name is asked for a password as well, which
takes as long to be wrong (`door.session.identity`), and whoever wants a new name learns last
whether it is free. That answer must be given; an address gets few of them a day.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from door.call import passwords
from door.call.caller import Caller
from door.call.console import Console, at_the_door
from door.config.config import NEW_CALLER
from door.errors import Distrusted, IdledOut, LogonRefused, PasswordRefused
from door.lobby import greeting, looks
from door.session.identity import ClaimedName, LogonLimit
from door.session.recovery import NewCode
from timebank.callers import callers, recovery
from timebank.callers.recovery import Secrets
from timebank.errors import AlreadyOnline, BooksFailed, JournalDamaged, NameRefused, NameTaken
from timebank.names import names
from timebank.wagers import journal
from timebank.words import title

if TYPE_CHECKING:
    from door.call.board import Board
    from timebank.callers.callers import CallerRecord
    from timebank.ledger.database import Desk

C = TypeVar("C", bound=Caller)
T = TypeVar("T")

DRAINING = "The board takes no more calls just now. Please call again later."
VOID_MEANWHILE = "That recovery code was used or made void while you were here."
CHANGED_AGAIN = "Your password was changed again while you were here."
WHY_VOID = "a recovery code that was used or made void meanwhile"

log = logging.getLogger("door.logon")


async def log_on(board: Board, console: Console) -> Caller:
    """Lead a caller from the first line to a call; raise `LogonRefused` for those not let in."""
    limit = LogonLimit(board.clock, console, board.config.calls.logon_seconds)
    try:
        calls, bank = board.config.calls, board.config.bank
        busy = f"{len(board.nodes)} of {calls.nodes} nodes busy"
        news = f"|07{busy}, {bank.minutes_per_day} minutes a day"
        greeting.show(console, board.config, [news])
        refuse_while_closed(board)
        record = await _identify(board, console, limit)
        if record.locked:
            log.info("locked caller %s refused from %s", record.name, console.line.address)
            raise LogonRefused(
                f"{record.name}, the sysop has locked your name. Please write to him.",
                "the name is locked",
                own_fault=True,
            )
        look = looks.remembered(record.preferences, console.line.hints)
        confirmed = look is not None
        if look is None:
            look = await looks.choose(console)
        console.use_look(look)
        opening = partial(board.open_call, console, record)
        caller = await call_or_take_over(board, console, record, opening)
        board.reception.logged_on(console.line.address, record.name)
    except Distrusted as distrusted:
        raise LogonRefused(str(distrusted)) from distrusted
    finally:
        limit.stop()
    console.lift(IdledOut)  # the limit may have come just when they were let in
    if not confirmed:
        # They are on a call by now; at worst they are asked again the next time.
        with contextlib.suppress(BooksFailed):
            await looks.remember(caller, look)
    return caller


def refuse_while_closed(board: Board) -> None:
    """Tell a caller who comes during a system event, or at the end, when to call back."""
    if board.draining:
        raise LogonRefused(DRAINING, "no calls are taken just now")
    schedule = board.config.bank.schedule
    now = board.clock.now()
    closed = schedule.closed_at_or_after(now)
    if closed is not None and closed.start <= now:
        until = schedule.local(closed.end)
        raise LogonRefused(
            f"The board is closed for {closed.name} until {until:%H:%M} ({until:%Z}). "
            "Please call back then.",
            "the board is closed for an event",
        )


async def _identify(board: Board, console: Console, limit: LogonLimit) -> CallerRecord:
    """Three wrong passwords are the end; nothing else is a try."""
    tries = 0
    while tries < passwords.TRIES:
        console.say(f"|07Your name, or |15{NEW_CALLER}|07 if this is your first call.")
        name = await console.entry("|11Name:|07", longest=names.LONGEST)
        if not name or not name.strip():
            continue
        if name.strip().upper() == NEW_CALLER:
            record = await _register(board, console)
            if record is not None:
                return record
            continue
        password = await console.entry("|11Password:|07", longest=passwords.LONGEST, secret=True)
        if password is None:
            continue
        tries += 1
        identity = ClaimedName(board, console, name, limit)
        record = await identity.proved_by(password)
        if record is not None:
            if identity.code_digest is not None and not record.locked:
                record = await _came_by_code(board, console, record, identity.code_digest)
            return record
    raise LogonRefused("That was the third try. Good-bye.")


async def _came_by_code(
    board: Board, console: Console, record: CallerRecord, digest: str
) -> CallerRecord:
    """The code works until a new password or a new code stands."""
    console.say(
        "|10That is your recovery code. It works until you have another, or a new password."
    )
    before = Secrets(record.password_hash, digest)
    hashed = None
    if await console.agrees("Choose a new password?", default="N"):
        hashed = await new_password(board, console, record.name)
    if hashed is not None:
        changed = await _in_the_books(
            board, console, lambda desk: recovery.set_password(desk, record.id, before, hashed)
        )
        if changed is None:
            raise LogonRefused(VOID_MEANWHILE, WHY_VOID)
        record, before = changed, Secrets(hashed, None)
        console.say("|10Your password is changed, and the recovery code that you used is void.")
    if not await NewCode(record.id, before).give(console, partial(_in_the_books, board, console)):
        raise LogonRefused(VOID_MEANWHILE if hashed is None else CHANGED_AGAIN, WHY_VOID)
    console.say("|10Your new recovery code works now, and no earlier one.")
    return record


async def _in_the_books(board: Board, console: Console, operation: Callable[[Desk], T]) -> T:
    """Carry out an operation for somebody who is not on a call yet."""
    with at_the_door(board.clock, console):
        return await board.books.run(operation)


async def _register(board: Board, console: Console) -> CallerRecord | None:
    """Enter a new caller in the books; None if they think better of it."""
    console.say("|07Welcome. Esc takes you back at any question.")
    password = None
    while True:
        typed = await console.entry("|11The name you want:|07", longest=names.LONGEST)
        if not typed:
            return None
        try:
            name = board.check_new_name(typed)
            if password is not None:
                passwords.check(password, name)
        except (NameRefused, PasswordRefused) as refusal:
            console.say(f"|12{refusal}")
            continue
        password = password or await _choose_password(console, name)
        if password is None:
            return None
        try:
            with at_the_door(board.clock, console):
                board.reception.allow_new_name(console.line.address)
                rank = board.reception.rank(console.line.address, name)
                hashed = await board.passwords.hash(password, rank)
                record = await board.books.run(
                    partial(callers.register, name=name, password_hash=hashed)
                )
        except NameTaken:
            console.say("|12That name, or one that looks like it, is taken.")
            continue
        log.info("new caller %s from %s", record.name, console.line.address)
        console.say(f"|10Welcome, {record.name}. Remember your password: nobody here knows it.")
        code = NewCode(record.id, Secrets(record.password_hash, None))
        if not await code.give(console, partial(_in_the_books, board, console)):
            console.say("|12Your password was changed meanwhile, so the code does not work.")
        return record


async def new_password(board: Board, console: Console, name: str) -> str | None:
    """Let the caller choose a password, typed twice; return its hash, `None` at Esc."""
    password = await _choose_password(console, name)
    return None if password is None else await board.passwords.hash(password)


async def _choose_password(console: Console, name: str) -> str | None:
    """Let the caller choose a password, typed twice; return it, `None` at Esc."""
    while True:
        first = await console.entry(
            f"|11A password (at least {passwords.SHORTEST} characters):|07",
            longest=passwords.LONGEST,
            secret=True,
        )
        if not first:
            return None
        try:
            passwords.check(first, name)
        except PasswordRefused as refusal:
            console.say(f"|12{refusal}")
            continue
        second = await console.entry(
            "|11The same once more:|07", longest=passwords.LONGEST, secret=True
        )
        if second is None:
            return None
        if first == second:
            return first
        console.say("|12The two were not the same. Once more, please.")


async def call_or_take_over(
    board: Board, console: Console, record: CallerRecord, open_call: Callable[..., Awaitable[C]]
) -> C:
    """Open a call with `open_call`, or let the caller take over the one they have."""
    try:
        with at_the_door(board.clock, console):
            return await open_call(take_over=False)
    except AlreadyOnline as ghost:
        await _ask_take_over(console, ghost, await _open_hand(board, console, record))
    with at_the_door(board.clock, console):
        return await open_call(take_over=True)


async def _open_hand(board: Board, console: Console, record: CallerRecord) -> str:
    """Return the title of the game at which a caller has a hand open, "" without one."""
    try:
        hand = await _in_the_books(
            board, console, lambda desk: journal.round_in_play(desk, record.id)
        )
    except JournalDamaged:  # it cannot be taken up: `table_with_open_hand`
        return ""
    return "" if hand is None else title(hand.game)


async def _ask_take_over(console: Console, ghost: AlreadyOnline, game: str) -> None:
    """Ask a caller who is on already what to do; raise `LogonRefused` when that call goes on.

    `game` is the title of that at which they have a hand open, if they have one.
    """
    hand = f", and with it your open hand at {game}" if game else ""
    console.say("")
    console.say(f"|14You are on line already, on node {ghost.node}.")
    console.say(f"|07If that call is a ghost, take it over{hand}.")
    if not await console.agrees("Take over?"):
        raise LogonRefused("Then your other call goes on. Good-bye.")
