"""The room "Messages": read and write messages, leave a one-liner, ignore callers."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from door.call import spoken
from door.call.markup import hanging, literal
from door.call.page import Page
from door.errors import TalkRefused
from door.lobby import texts
from door.lobby.accounts import find_account
from timebank.callers import callers, messages
from timebank.callers.hearing import ignored
from timebank.errors import BooksUnavailable, Refused
from timebank.language import N_, Phrase, _
from timebank.words import field

if TYPE_CHECKING:
    from collections.abc import Sequence

    from door.call.caller import Caller
    from door.call.scene import Scene
    from timebank.callers.callers import CallerRecord
    from timebank.callers.messages import Message, OneLiner
    from timebank.ledger.database import Desk

LATEST = 40  # messages shown, received and sent
LINES = 8  # of the wall of one-liners
LABELS = {
    "W": N_("Write"),
    "S": N_("Sysop"),
    "O": N_("One-liner"),
    "R": N_("Read"),
    "I": N_("Ignore"),
    "Q": N_("Quit"),
}
MEANINGS = {
    "W": N_("Write to a caller. They read it at once, or at their next log-on."),
    "S": N_("Write to the sysop."),
    "O": N_("Leave a line on the menu, for everybody. One a call."),
    "R": N_("Read the messages that you had and wrote."),
    "I": N_("Ignore another caller, or stop ignoring them."),
    "Q": N_("Go back to the main menu."),
}


async def visit_mail(caller: Caller) -> None:
    console, config = caller.console, caller.config.social
    hidden = [key for key in "WSR" if not config.messages]
    hidden += [] if config.one_liners else ["O"]
    while True:
        caller.place = N_("Messages")
        wall, names = await caller.ask_books(partial(_look, caller_id=caller.record.id))
        console.display.stage(_dress(caller, Page(_("Messages"), _rows(caller, wall, names))))
        choice = await console.prompt.choose(LABELS, MEANINGS, hidden)
        if choice == "Q":
            return
        try:
            await _serve(caller, choice)
        except (TalkRefused, Refused) as refused:
            console.screen.say(f"|12{refused}")
            await console.pager.any_key()


def _dress(caller: Caller, page: Page) -> Scene:
    return texts.headed_if_room(caller.console, caller.config.board.texts, "news", page)


async def _serve(caller: Caller, choice: str) -> None:
    if choice == "W":
        await _write(caller)
    elif choice == "S":
        await _write_to(caller, await caller.ask_books(_sysop))
    elif choice == "O":
        await write_one_liner(caller)
    elif choice == "R":
        await _read(caller)
    elif choice == "I":
        await _ignore(caller)


# What is shown.


def _look(desk: Desk, caller_id: int) -> tuple[list[OneLiner], list[str]]:
    return messages.wall(desk, LINES, caller_id), messages.names_ignored(desk, caller_id)


def _rows(caller: Caller, wall: Sequence[OneLiner], names_ignored: Sequence[str]) -> list[str]:
    """Return the wall and the names of the callers ignored, in lines of a page."""
    shown = wall if caller.config.social.one_liners else []
    rows = [f"|11{_('One-liners')}", *(one_liner(each) for each in shown)] if shown else []
    if names_ignored:
        names = ", ".join(map(literal, names_ignored))
        rows += ["", f"|07{_('You ignore {names}.').format(names=names)}"]
    if caller.config.social.messages:
        hint = _("From any prompt, /p name message writes to a caller.")
        rows += ["", f"|07{hint}"]
    return rows if rows and rows[0] else rows[1:]


def one_liner(line: OneLiner) -> str:
    return hanging(field(f"|15{literal(line.name)}", f"|07{line.text}"))


async def _read(caller: Caller) -> None:
    caller.talk.has_read_all()  # before the look-up, so that none slips between the two
    latest = await caller.look_up(partial(messages.latest, caller_id=caller.record.id, most=LATEST))
    rows = [_line(caller, each) for each in latest] or [f"|07{_('You have no messages.')}"]
    text = "\n".join(rows)
    await caller.console.pager.read_or_choose(_("Messages"), text, {}, partial(_dress, caller))


def _line(caller: Caller, message: Message) -> str:
    if message.caller_id == caller.record.id:
        return hanging(field(f"|13{caller.talk.head(message)}", f"|15{message.text}"))
    to = _("To {name}").format(name=literal(message.reader))
    waits = "" if message.is_read else f" ({_('not read yet')})"
    return hanging(field(f"|03{to}{waits}", f"|07{message.text}"))


# What they write.


async def _write(caller: Caller) -> None:
    reader = await find_account(caller, _("Write to:"))
    if reader is not None:
        await _write_to(caller, reader)


async def _write_to(caller: Caller, to: CallerRecord) -> None:
    """Let the caller write a message; one that is refused stays in the field, to be sent again."""
    typed: str | None = ""
    while True:
        words = _("To {name}:").format(name=literal(to.name))
        typed = await caller.console.prompt.entry(
            f"|07{words}|15", longest=spoken.LONGEST_LINE, typed=typed or ""
        )
        if not typed:
            return
        try:
            await caller.talk.send(typed, to.id)
        except (TalkRefused, Refused, BooksUnavailable) as refused:
            caller.console.screen.say(f"|12{refused}")
        else:
            await caller.console.pager.any_key()
            return


async def write_one_liner(caller: Caller) -> None:
    """Let the caller leave a line for the menu; raises `Refused` for the second one in a call."""
    if await caller.ask_books(partial(_has_written, caller=caller)):
        raise Refused(Phrase(messages.ONE_A_CALL))
    typed = await caller.console.prompt.entry(
        f"|07{_('Your line:')}|15",
        longest=messages.LONGEST_ONE_LINER,
        meaning=_("A line for everybody, below the menu."),
    )
    text = spoken.clean(typed or "")
    if text:
        await caller.ask_books(
            partial(messages.write, caller_id=caller.record.id, call_id=caller.call_id, text=text)
        )
        caller.console.screen.say(f"|10{_('Your line is on the menu.')}")


def _has_written(desk: Desk, caller: Caller) -> bool:
    """Return whether the caller has left a line on this call; raises `Refused` if muted."""
    messages.refuse_muted(desk, caller.record.id)
    return messages.has_written(desk, caller.call_id)


async def _ignore(caller: Caller) -> None:
    other = await find_account(caller, _("Whose messages and talk?"))
    if other is None:
        return
    is_on = other.id in ignored(caller.record.preferences)
    caller.record = await caller.ask_books(
        lambda desk: messages.ignore(desk, caller.record.id, other, on=not is_on)
    )
    words = _("You ignore {name} from now on.")
    if is_on:
        words = _("You no longer ignore {name}.")
    caller.console.screen.say(f"|10{words.format(name=literal(other.name))}")
    await caller.console.pager.any_key()


def _sysop(desk: Desk) -> CallerRecord:
    record = callers.find(desk, desk.settings.sysop)
    if record is None:
        raise Refused(Phrase("The sysop doesn't read messages here yet."))
    return record
