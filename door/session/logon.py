"""Log-on: identify the caller, and check that there is room and time for them.

Nothing here reveals whether a name exists. An unknown name is asked for a password too, which
takes as long to be refused (`door.session.identity`). Only a new caller learns whether a name is
free; an address gets few such answers a day.
"""

from __future__ import annotations

import contextlib
import logging
import string
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from door.call import passwords
from door.call.caller import LANGUAGE_KEY, Caller, refused_words
from door.call.console import Console
from door.call.keyboard import LINES
from door.call.markup import literal
from door.call.patience import at_the_door
from door.call.screen import Look, Paint
from door.config.config import NEW_CALLER, means_new
from door.errors import IdledOut, LogonRefused, PasswordRefused, TooManyTries
from door.lobby import greeting, looks, texts
from door.session.identity import ClaimedName, LogonLimit, in_the_books
from door.session.recovery import NewCode
from timebank.callers import callers, recovery, ssh_keys
from timebank.callers.recovery import Secrets
from timebank.errors import (
    AlreadyOnline,
    BooksFailed,
    JournalDamaged,
    NameRefused,
    NameTaken,
    UnknownCaller,
)
from timebank.language import (
    LANGUAGES,
    N_,
    Phrase,
    Viewer,
    _,
    next_language,
    speaking_to,
)
from timebank.names import names
from timebank.settings.forms import LONGEST_TEXT
from timebank.wagers import journal
from timebank.words import time_words, title

if TYPE_CHECKING:
    from door.call.board import Board
    from door.lines.ssh.ssh_identity import SshIdentity
    from timebank.callers.callers import CallerRecord
    from timebank.ledger.database import Desk

C = TypeVar("C", bound=Caller)

DRAINING = N_("The board is closing and takes no more calls. Please call again later.")
VOID_MEANWHILE = Phrase("That recovery code was used or replaced while you were here.")
CHANGED_AGAIN = Phrase("Your password was changed again while you were here.")
NOT_IN_NAMES = string.punctuation + string.whitespace  # at either end: "!new", "new.", "/new"
# For translators: the name of your own language.
IN_THIS_LANGUAGE = N_("In English: type {key}.")
FOR_READERS = N_("Using a screen reader? Type {key} for plain lines.")
# For translators: capitals alone, as no other letters are the same in all character sets.
FOR_HOME_COMPUTERS = N_("COMMODORE OR ATARI? PRESS DELETE.")
ATARI_DELETE = "~"  # no name has it
NAME_MEANS = N_("The name that others see, and that you log on with.")
TAKEN = N_("That name, or one that looks like it, is taken.")
KEEP_IT = N_("Write your password down; we can't look it up for you.")
FIRST_CALL = N_("Your first call")
CHOOSE_LETTERS = N_("A letter that you typed can't be read yet. Choose what your terminal shows.")
WHY_VOID = "a recovery code that was used or made void meanwhile"

log = logging.getLogger("door.logon")


def refuse_if_out(console: Console, record: CallerRecord, *, own_fault: bool = False) -> None:
    """Raise `LogonRefused` for a caller whom the sysop has locked out or deleted."""
    if record.locked or record.deleted:
        state = "deleted" if record.deleted else "locked"
        log.info("%s caller %s refused from %s", state, record.name, console.line.address)
        words = refused_words(record.why_out, is_deleted=record.deleted is not None)
        raise LogonRefused(words, f"the name is {state}", own_fault=own_fault)


async def log_on(board: Board, console: Console, by_ssh: SshIdentity | None = None) -> Caller:
    """Lead a caller from the first line to a call; raise `LogonRefused` for those not let in.

    A name, password or key that came `by_ssh` is not asked for again.
    """
    limit = LogonLimit(board.clock, console, board.config.calls.logon_seconds)
    console.prompt.on_unread = partial(_choose_letters, console)
    console.keyboard.on_lines = partial(_choose_lines, console)
    try:
        calls, bank = board.config.calls, board.config.bank

        def greet(above: str) -> None:
            words = _("{busy} of {nodes} nodes busy, {minutes} min a day")
            values = {"busy": board.busy_nodes, "nodes": calls.nodes}
            news = words.format(**values, minutes=bank.minutes_per_day)
            greeting.show(console, board.config, [f"|07{news}"], board.champion, above)

        back = await _come_back(board, console)
        claimed = None if by_ssh is None else _claimed(by_ssh)
        is_asked = by_ssh is None or not (claimed or by_ssh.key)  # for a name
        if back is None:
            greet(_offer_lines(console, is_asked=is_asked))
        refuse_while_closed(board)
        language = console.viewer.language
        record, is_new = back, False
        if record is None and by_ssh is not None and by_ssh.key is not None:
            record = await in_the_books(board, console, partial(_owner_of_key, by_ssh=by_ssh))
        if record is None:
            record, is_new = await _identify(board, console, limit, claimed, greet)
        refuse_if_out(console, record, own_fault=True)
        spoken = console.viewer.language  # until the books name another
        look, confirmed = await _look_of(console, record)
        console.use_look(look)
        console.is_look_chosen = True
        opening = partial(board.open_call, console, record)
        caller = await call_or_take_over(board, console, record, opening, asks=back is None)
        if back is None:
            board.reception.logged_on(console.line.address, record.name)
        caller.is_new, caller.is_back = is_new, back is not None
        _give_ticket(board, caller)
    except TooManyTries as refused:
        raise LogonRefused(str(refused)) from refused
    finally:
        limit.stop()
        console.prompt.on_unread = console.prompt.on_delete = console.keyboard.on_lines = None
    console.keyboard.lift(IdledOut)  # the limit may have ended just as they were let in
    # At worst the caller is asked again the next time.
    with contextlib.suppress(BooksFailed):
        if spoken != language:
            await caller.remember({"language": spoken})
        if not confirmed:
            await looks.remember(caller, look)
    return caller


def refuse_while_closed(board: Board) -> None:
    """Raise `LogonRefused` during a system event and while the board closes."""
    if board.draining:
        raise LogonRefused(Phrase(DRAINING), "no calls are taken just now")
    schedule = board.config.bank.schedule
    now = board.clock.now()
    closed = schedule.closed_at_or_after(now)
    if closed is not None and closed.start <= now:
        until = schedule.local(closed.end)
        raise LogonRefused(
            Phrase(
                "The board is closed for {event} until {time} ({zone}). Please call back then.",
                event=closed.name,
                time=partial(time_words, until),
                zone=f"{until:%Z}",
            ),
            "the board is closed for an event",
        )


def _owner_of_key(desk: Desk, by_ssh: SshIdentity) -> CallerRecord | None:
    return None if by_ssh.key is None else ssh_keys.owner(desk, by_ssh.name, by_ssh.key)


def _claimed(by_ssh: SshIdentity) -> tuple[str, str] | None:
    """Return the name and password that came by SSH, if they could have been typed here."""
    name, password = by_ssh.name.strip(), by_ssh.password
    if means_new(name):
        return name, ""  # which is not asked for
    if not name or password is None:
        return None
    if len(name) > names.LONGEST or len(password) > passwords.LONGEST:
        return None
    return (name, password) if name.isprintable() and password.isprintable() else None


async def _come_back(board: Board, console: Console) -> CallerRecord | None:
    """Return the caller who comes back after a lost line with a ticket; None without one."""
    text = getattr(console.line, "ticket", "")
    if not text:
        return None
    ticket = board.tickets.redeem(text, getattr(console.line, "origin", ""))
    if ticket is None:
        board.reception.note(console.line.address, "a ticket that is not good", own_fault=False)
        return None
    try:
        record = await in_the_books(
            board, console, lambda desk: callers.get(desk, ticket.caller_id)
        )
    except UnknownCaller:
        return None
    if not ticket.lets_in(record):
        return None
    if looks.wants_lines(console.line.hints):
        _use_lines(console)
    return record


def _give_ticket(board: Board, caller: Caller) -> None:
    """Give a caller's line a ticket to come back with after it is lost, if it can keep one.

    Any earlier ticket of the caller is void.
    """
    board.tickets.void(caller.record.id)
    give: Callable[[str], None] | None = getattr(caller.console.line, "give_ticket", None)
    if give is not None and not caller.record.powers:
        origin = getattr(caller.console.line, "origin", "")
        give(board.tickets.issue(caller.record, caller.call_id, origin))


async def _identify(
    board: Board,
    console: Console,
    limit: LogonLimit,
    claimed: tuple[str, str] | None,
    greet: Callable[[str], None],
) -> tuple[CallerRecord, bool]:
    """Return who calls, and whether they are new. Only passwords count as tries.

    The name and password in `claimed` are tried first. `greet` shows the greeting below a line.
    """
    tries = 0
    while tries < passwords.TRIES:
        claim, claimed = claimed, None
        name = claim[0] if claim else await _ask_name(console, greet)
        if not name:
            continue
        if means_new(name):
            offer = _offer_lines(console, is_asked=claim is not None)  # not made yet
            record = await _register(board, console, offer)
            if record is not None:
                return record, True
            continue
        password = claim[1] if claim else await _ask_password(console)
        if not password:
            continue
        tries += 1
        name = await _as_registered(board, console, name)
        identity = ClaimedName(board, console, name, limit)
        record = await identity.proved_by(password)
        if record is not None:
            if identity.code_digest is not None and not record.locked:
                record = await _came_by_code(board, console, record, identity.code_digest)
            return record, False
    raise LogonRefused(Phrase("That was your third try. Goodbye."))


async def _as_registered(board: Board, console: Console, name: str) -> str:
    """Return a name without its non-ASCII letters if only that is registered, else the name.

    Release 1.0 could not read those letters and registered names without them.
    """
    bare = "".join(filter(str.isascii, name)).strip()
    if bare == name or not bare:
        return name

    def is_bare(desk: Desk) -> bool:
        return callers.find(desk, name) is None and callers.find(desk, bare) is not None

    return bare if await in_the_books(board, console, is_bare) else name


def _offer_lines(console: Console, *, is_asked: bool) -> str:
    """Return the offer of plain lines, to be read above a question; "" if nothing `is_asked`.

    A terminal that wants plain lines gets them at once.
    """
    if looks.wants_lines(console.line.hints):
        _use_lines(console)
    if console.wants_lines or not is_asked:
        return ""
    return _(FOR_READERS).format(key=LINES)


def _use_lines(console: Console) -> None:
    console.wants_lines = True
    console.use_look(looks.plain_lines(console.line.hints))


def _language_offer(console: Console) -> str:
    """Offer the other languages in their own words, unless the terminal names a language."""
    if looks.names_language(console.line.hints):
        return ""
    offers = []
    for language in LANGUAGES:
        if language != console.viewer.language:
            with speaking_to(Viewer(language, console.viewer.spelling)):
                offers.append(f" {_(IN_THIS_LANGUAGE).format(key=f'|15{LANGUAGE_KEY}|07')}")
    return "".join(offers)


async def _ask_name(console: Console, greet: Callable[[str], None]) -> str:
    """Ask for a name; return "" if none was typed, or a key was pressed that acts at once."""
    offer = _language_offer(console)
    keys: dict[str, Callable[[Console], Awaitable[None]]] = {LINES: _choose_lines}
    if offer:
        keys[LANGUAGE_KEY] = partial(_change_language, greet)
    if not console.wants_lines and looks.known(console.line.hints) is None:
        keys[ATARI_DELETE] = partial(_use_home_computer, "atascii", greet)
        console.prompt.on_delete = partial(_use_home_computer, "petscii", greet, console)
        console.screen.say(f"|07{_(FOR_HOME_COMPUTERS)}")
    words = _("Your name, or {new} if this is your first call.")
    console.screen.say(f"|07{words.format(new=f'|15{_(NEW_CALLER)}|07')}{offer}")

    def key_of(text: str) -> str:
        return ATARI_DELETE if text.endswith(ATARI_DELETE) else text

    name = await console.prompt.entry(
        f"|11{_('Name:')}|07",
        longest=names.LONGEST,
        is_whole=lambda text: key_of(text) in keys,
        meaning=_(NAME_MEANS),
        answers={_(NEW_CALLER): _("First call")},
        fills="username",
    )
    if name is None:
        return ""
    if (act := keys.get(key_of(name))) is not None:
        await act(console)
        return ""
    if LINES in name:
        await _choose_lines(console)
    name = name.strip(NOT_IN_NAMES)
    if not name:
        console.screen.say(f"|14{_('Type your name, then press Enter.')}")
    return name


async def _choose_lines(console: Console) -> None:
    console.prompt.on_delete = None
    console.take_lines(looks.plain_lines(console.line.hints))


async def _use_home_computer(kind: str, greet: Callable[[str], None], console: Console) -> None:
    """Write for a home computer from here on, and begin again with the greeting."""
    console.prompt.on_delete = None
    hints = console.line.hints
    console.line.hints = replace(hints, terminal_types=(kind, *hints.terminal_types))
    console.use_look(looks.guess(console.line.hints))
    greet(_offer_lines(console, is_asked=True))


async def _change_language(greet: Callable[[str], None], console: Console) -> None:
    """Greet again in the next language."""
    console.viewer.language = next_language(console.viewer.language)
    greet(_offer_lines(console, is_asked=True))


async def _ask_password(console: Console) -> str | None:
    return await _ask_secret(console, _("Password:"), "current-password")


async def _ask_secret(console: Console, prompt: str, fills: str = "new-password") -> str | None:
    return await console.prompt.entry(
        f"|11{prompt}|07", longest=passwords.LONGEST, secret=True, fills=fills
    )


async def _look_of(console: Console, record: CallerRecord) -> tuple[Look, bool]:
    """Return the look for the caller's terminal, and whether the books have it already."""
    hints = console.line.hints
    stored = wanted = looks.remembered(record.preferences, hints)
    if looks.wants_lines(hints):
        stored = wanted = stored or looks.PLAIN_LINES
    elif console.wants_lines and (stored is None or stored.paint is not Paint.LINES):
        wanted = looks.PLAIN_LINES
    elif console.is_look_chosen:
        wanted = console.screen.look
    if wanted is not None:
        look = looks.fitting(wanted, hints)
        return look, look == stored
    if looks.is_ours(hints):
        return looks.guess(hints), True
    return await looks.choose(console), False


async def _choose_letters(console: Console) -> bool:
    """Ask how the terminal shows and sends letters, as one has come that can't be read.

    Return False without a question where that is known.
    """
    is_known = looks.is_ours(console.line.hints) or looks.is_home_computer(console.line.hints)
    if console.wants_lines or console.is_look_chosen or is_known:
        return False
    console.is_look_chosen = True
    console.screen.say(f"|14{_(CHOOSE_LETTERS)}")
    console.use_look(await looks.choose(console))
    return True


async def _came_by_code(
    board: Board, console: Console, record: CallerRecord, digest: str
) -> CallerRecord:
    """Offer a new password and give a new code to a caller who logged on by recovery code.

    The old code works until either replaces it. Raises `LogonRefused` if it is void meanwhile.
    """
    words = _("That's your recovery code. It works until you get another, or a new password.")
    console.screen.say(f"|10{words}")
    before = Secrets(record.password_hash, digest)
    hashed = None
    if await console.prompt.agrees(_("Choose a new password?"), default="N"):
        hashed = await new_password(board, console, record.name)
    if hashed is not None:
        changed = await in_the_books(
            board, console, lambda desk: recovery.set_password(desk, record.id, before, hashed)
        )
        if changed is None:
            raise LogonRefused(VOID_MEANWHILE, WHY_VOID)
        had_keys = ssh_keys.lines_of(record.preferences)
        record, before = changed, Secrets(hashed, None)
        console.screen.say(f"|10{_('Your password is changed. The code you used is void.')}")
        if had_keys:
            console.screen.say(f"|10{_(ssh_keys.VOID)}")
    if not await NewCode(record.id, before).give(console, partial(in_the_books, board, console)):
        raise LogonRefused(VOID_MEANWHILE if hashed is None else CHANGED_AGAIN, WHY_VOID)
    console.screen.say(f"|10{_('Your new recovery code works now; no earlier one does.')}")
    return record


async def _register(board: Board, console: Console, offer: str) -> CallerRecord | None:
    """Enter a new caller in the books; return None if they go back instead.

    An `offer` of plain lines stands above the question for the name.
    """
    texts.clear(console, _(FIRST_CALL))
    welcome = console.keyboard.suited(
        _("Welcome! Press Esc at any time to go back."),
        _("Welcome! Press Enter alone at any time to go back."),
    )
    console.screen.say(f"|07{welcome}")
    if not await _knows_answer(board, console):
        return None
    if offer:
        console.screen.say(f"|07{offer}")
    password = None
    while True:
        typed = await console.prompt.entry(
            f"|11{_('The name you want:')}|07",
            longest=names.LONGEST,
            is_whole=LINES.__eq__,
            meaning=_(NAME_MEANS),
            fills="username",
        )
        if not typed:
            return None
        if typed == LINES:
            await _choose_lines(console)
            continue
        try:
            name = await _free_name(board, console, typed)
            if password is not None:
                passwords.check(password, name)
        except (NameRefused, NameTaken, PasswordRefused) as refusal:
            console.screen.say(f"|12{refusal}")
            continue
        password = password or await _choose_password(console, name)
        if password is None:
            return None
        try:
            with at_the_door(console):
                rank = board.reception.rank(console.line.address)
                hashed = await board.passwords.hash(password, rank)
                record = await board.books.run(
                    partial(callers.register, name=name, password_hash=hashed),
                    until=console.keyboard.answer_by(),
                )
        except NameTaken:  # by somebody else, while they chose a password
            console.screen.say(f"|12{_(TAKEN)}")
            continue
        log.info("new caller %s from %s", record.name, console.line.address)
        texts.clear(console, _(FIRST_CALL))
        welcome = _("Welcome, {name}.").format(name=record.name)
        console.screen.say(f"|10{welcome} {_(KEEP_IT)}")
        code = NewCode(record.id, Secrets(record.password_hash, None))
        if not await code.give(console, partial(in_the_books, board, console)):
            words = _("Your password was changed meanwhile, so the code doesn't work.")
            console.screen.say(f"|12{words}")
        return record


async def _knows_answer(board: Board, console: Console) -> bool:
    """Ask the sysop's question for new callers; return False at Esc.

    Raises `LogonRefused` after the last wrong answer.
    """
    asked = board.config.newcomers
    if not asked.question:
        return True
    while console.wrong_answers < passwords.TRIES:
        console.screen.say(f"|07{literal(asked.question)}")
        answer = await console.prompt.entry(f"|11{_('Your answer:')}|07", longest=LONGEST_TEXT)
        if not answer:
            return False
        if names.fold(answer) in asked.answers:
            return True
        console.wrong_answers += 1
        console.screen.say(f"|12{_('That is not the answer.')}")
    raise LogonRefused(Phrase("That was your third try. Goodbye."), "no answer to the question")


async def _free_name(board: Board, console: Console, typed: str) -> str:
    """Return the name as the books will have it; raises `NameRefused` and `NameTaken`.

    Each answer tells whether a name exists, so an address that asks too often gets `TooManyTries`.
    """
    name = board.check_new_name(typed)
    board.reception.allow_new_name(console.line.address)
    with at_the_door(console):
        if not await board.books.read(
            partial(callers.is_free, name=name), console.keyboard.answer_by()
        ):
            raise NameTaken(Phrase(TAKEN))
    return name


async def new_password(board: Board, console: Console, name: str) -> str | None:
    """Let the caller choose a password, typed twice; return its hash, None at Esc."""
    password = await _choose_password(console, name)
    return None if password is None else await board.passwords.hash(password)


async def _choose_password(console: Console, name: str) -> str | None:
    """Let the caller choose a password, typed twice; return it, None at Esc."""
    choose = _("A password (at least {number} characters):").format(number=passwords.SHORTEST)
    while True:
        first = await _ask_secret(console, choose)
        if not first:
            return None
        try:
            passwords.check(first, name)
        except PasswordRefused as refusal:
            console.screen.say(f"|12{refusal}")
            continue
        second = await _ask_secret(console, _("Once more:"))
        if not second:
            return None
        if first == second:
            return first
        mismatch = _("Those don't match. Try again.")
        console.screen.say(f"|12{mismatch}")


async def call_or_take_over(
    board: Board,
    console: Console,
    record: CallerRecord,
    open_call: Callable[..., Awaitable[C]],
    *,
    asks: bool = True,
) -> C:
    """Open a call with `open_call`. It takes over a call that is open, after a question if it
    `asks`."""
    try:
        with at_the_door(console):
            return await open_call(take_over=False)
    except AlreadyOnline as ghost:
        if asks:
            await _ask_take_over(console, ghost, await _open_hand(board, console, record))
    with at_the_door(console):
        return await open_call(take_over=True)


async def _open_hand(board: Board, console: Console, record: CallerRecord) -> str:
    """Return the title of the game at which the caller has an open hand, "" without one."""
    try:
        hand = await in_the_books(
            board, console, lambda desk: journal.round_in_play(desk, record.id)
        )
    except JournalDamaged:  # it cannot be taken up: `table_with_open_hand`
        return ""
    return "" if hand is None else _(title(hand.game))


async def _ask_take_over(console: Console, ghost: AlreadyOnline, game: str) -> None:
    """Ask whether to end the call that is on already; raise `LogonRefused` when it goes on.

    `game` is the title of the game at which they have an open hand, "" without one.
    """
    console.screen.say("")
    on_already = _("You're already on, at node {node}.").format(node=ghost.node)
    console.screen.say(f"|14{on_already}")
    if game:
        words = _("Your open hand at {game} is kept.").format(game=game)
        console.screen.say(f"|07{words}")
    if not await console.prompt.agrees(_("Drop that call and continue here?")):
        raise LogonRefused(Phrase("Your other call goes on. Goodbye."))
