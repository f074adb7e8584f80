"""What a caller can say to another from any prompt, and what they hear.

A line that begins with a slash is a command: `/p NAME words` sends a message, `/r words` answers
the last one, `/w` says who is on, `/o` sends away who watches. A message is in the
books before anybody is told of it (timebank/callers/messages.py); whichever process has the reader
shows it, as it does with notices.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar
from weakref import WeakMethod

from door import wording
from door.call import spoken
from door.call.markup import hanging, literal
from door.errors import NotSaid
from timebank.callers import callers, messages, notices
from timebank.callers.messages import Limits
from timebank.calls.calls import OpenCall, open_calls
from timebank.errors import BooksUnavailable, Refused
from timebank.language import Phrase, _, ngettext
from timebank.names import names

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from door.call.books import Books
    from door.call.console import Console
    from timebank.callers.callers import CallerRecord
    from timebank.callers.messages import Message
    from timebank.ledger.database import Desk

T = TypeVar("T")

LONGEST_COMMAND = 160  # characters: a name, and a line of talk
MOST_NAMED = 12  # of those who are on
MOST_NEW = 3  # of those who have written, in the menu
_ANSWERS = re.compile(r"/?r(?: |$)", re.IGNORECASE)


class Unheard(NamedTuple):
    """What waits for a caller: what the board tells, and what others write."""

    notices: tuple[Phrase, ...] = ()
    messages: tuple[Message, ...] = ()

    def beyond(self, other: Unheard) -> Unheard:
        """Give what is here and not there; both are of the same caller, oldest first. A message
        that was there may be missing here: its sender has been muted since."""
        numbers = {each.number for each in other.messages}
        written = tuple(each for each in self.messages if each.number not in numbers)
        return Unheard(self.notices[len(other.notices) :], written)


def unseen_of(desk: Desk, caller_ids: Collection[int]) -> dict[int, Unheard]:
    """Give what waits for these callers, and leave it waiting; those without are left out."""
    told, written = notices.unseen(desk, caller_ids), messages.unseen(desk, caller_ids)
    return {
        each: Unheard(told.get(each, ()), written.get(each, ())) for each in {**told, **written}
    }


def take_unread(desk: Desk, caller_id: int) -> Unheard:
    """Give what waits for a caller, and mark it as shown."""
    return Unheard(notices.notices(desk, caller_id), messages.take(desk, caller_id))


# Finds who is meant, and what is said to them, with those who are on.
_Find = Callable[["Desk", "Sequence[OpenCall]"], "tuple[CallerRecord, str]"]


class AskBooks(Protocol):
    """Carries out an operation for the caller, who may wait for it."""

    def __call__(self, operation: Callable[[Desk], T]) -> Awaitable[T]: ...


@dataclass(frozen=True)
class _Sent:
    to: int
    name: str
    is_on: bool


class Talk:
    """What one caller says and hears on one call."""

    def __init__(
        self,
        console: Console,
        books: Books,
        limits: Limits,
        caller_id: int,
        ask: AskBooks,
        send_away: Callable[[], Awaitable[str]],
        *,
        writes: bool = True,
    ) -> None:
        """`send_away` sends away who watches from behind their chair, and returns what is said of
        it; without `writes` callers may not write to each other."""
        self._console = console
        self._books = books
        self._limits = limits
        self._caller_id = caller_id
        self._writes = writes
        # Their caller has them, and is not to be kept by them when the call is over.
        self._asks: WeakMethod[AskBooks] = WeakMethod(ask)
        self._sends_away: WeakMethod[Callable[[], Awaitable[str]]] = WeakMethod(send_away)
        self._pace = spoken.Pace()
        self._last: int | None = None  # who wrote to them last
        self._came_between = ""  # the name of who did while an answer to another was typed
        self._knows_answer = False  # whether they were told how to answer
        # By sender, with their name: what came on this call, neither answered nor read again.
        self._new: dict[int, list[str]] = {}

    def _ask_books(self) -> AskBooks:
        ask = self._asks()
        assert ask is not None  # who speaks is on a call
        return ask

    def refuse_haste(self) -> None:
        """Count something that another caller is told of; raises `NotSaid` for one too many."""
        if not self._pace.allows(self._console.clock.monotonic()):
            raise NotSaid(_("Not so fast: please wait a few seconds."))

    # What they say.

    async def command(self, typed: str) -> None:
        """Do a command that begins so, or that is whole; what is refused stays to be sent again."""
        console = self._console
        if typed == "/":
            typed = await self._ask("/") or ""
        while typed.strip(" /"):
            try:
                await self.do(typed)
            except (NotSaid, Refused, BooksUnavailable) as refused:
                console.screen.say(f"|12{refused}")
                typed = await self._ask(typed) or ""
            else:
                return

    async def _ask(self, typed: str) -> str | None:
        prompt = _("Say (/p name message):") if self._writes else _("Command (/w or /o):")
        return await self._console.prompt.entry(
            f"|07{prompt}|15", longest=LONGEST_COMMAND, meaning=self.meaning(), typed=typed
        )

    def meaning(self) -> str:
        """Say what lines do that begin with a slash."""
        if not self._writes:
            return _("/w says who is on, /o sends away who watches you.")
        return _(
            "/p name message writes to a caller, /r message answers the last one who wrote to"
            " you, /w says who is on, /o sends away who watches you."
        )

    async def do(self, typed: str) -> None:
        """Do a whole command; raises `NotSaid` and `Refused`."""
        word, _blank, rest = typed.strip().partition(" ")
        match word.lower():
            case "/p" if self._writes:
                await self.page(rest)
            case "/r" if self._writes:
                await self._answer(rest)
            case "/w":
                await self._say_who_is_on()
            case "/o":
                await self._send_away()
            case _ if self._writes:
                words = _(
                    "Use: /p name message, /r message to answer, /w to see who is on, /o to send"
                    " away who watches you."
                )
                raise NotSaid(words)
            case _:
                raise NotSaid(_("Use: /w to see who is on, /o to send away who watches you."))

    async def _send_away(self) -> None:
        send_away = self._sends_away()
        assert send_away is not None  # as above
        self._console.screen.say(f"|10{await send_away()}")

    async def _answer(self, line: str) -> None:
        """Answer who wrote last; where that changed as they typed, they are asked first."""
        if self._last is None:
            raise NotSaid(_("Nobody has written to you on this call."))
        name, self._came_between = self._came_between, ""
        if name:
            words = _("{name} has written meanwhile. Enter answers them; /p writes to another.")
            raise NotSaid(words.format(name=literal(name)))
        await self.send(line, self._last)

    async def page(self, line: str) -> None:
        """Send a line that begins with a name; raises `NotSaid` and `Refused`."""
        cleaned = spoken.clean(line)
        if not cleaned:
            raise NotSaid(_("Say who you mean, and what: /p name message"))
        await self._send(partial(_addressed, line=cleaned))

    async def send(self, line: str, to: int) -> None:
        """Send a line to a caller by number; raises `NotSaid` and `Refused`."""
        cleaned = spoken.clean(line)
        if not cleaned:
            raise NotSaid(_("There is nothing to say."))
        await self._send(lambda desk, _on: (callers.get(desk, to), cleaned))

    async def _send(self, find: _Find) -> None:
        self.refuse_haste()
        sent = await self._ask_books()(
            partial(_send, sender=self._caller_id, find=find, limits=self._limits)
        )
        self._books.notices_wait.set()
        self._new.pop(sent.to, None)
        name = literal(sent.name)
        words = _("{name} isn't on. Your message waits for them.")
        if sent.is_on:
            words = _("Sent to {name}, who is on.")
        self._console.screen.say(f"|10{words.format(name=name)}")

    async def _say_who_is_on(self) -> None:
        calls = await self._ask_books()(open_calls)
        said = _listed([call.name for call in calls if call.live], MOST_NAMED)
        self._console.screen.say(f"|14{_('On now: {names}').format(names=said)}")

    # What they hear.

    def hears(self, heard: Sequence[Message]) -> list[str]:
        """Return what is shown of messages that come while they are on, pipe codes allowed."""
        lines = [hanging(f"|13{literal(each.sender)}:|15 {each.text}") for each in heard]
        self._note(heard)
        for each in heard:
            self._new.setdefault(each.sender_id, []).append(each.sender)
        if heard and not self._knows_answer:
            self._knows_answer = True
            lines.append(f"|07{_('To answer, type /r and your message.')}")
        return lines

    def new_words(self, key: str) -> str:
        """Say for the menu who wrote while they were on, where they may have missed it; "" for
        nobody. `key` is where it can be read."""
        number = sum(map(len, self._new.values()))
        if not number:
            return ""
        told = ngettext(
            "<{key}> New message from {names}", "<{key}> {number} new messages from {names}", number
        )
        names = _listed([each[-1] for each in self._new.values()], MOST_NEW)
        return told.format(key=key, number=number, names=names)

    def has_read_all(self) -> None:
        """Note that they have all messages before them."""
        self._new.clear()

    def waited(self, heard: Sequence[Message]) -> list[str]:
        """Return what is shown of messages that came while they were away."""
        self._note(heard)
        lines = [hanging(f"|13{self.head(each)}:|15 {each.text}") for each in heard]
        if heard and self._writes and not self._knows_answer:
            self._knows_answer = True
            words = _("To answer, type /r and your message.")
            if any(each.sender_id != self._last for each in heard):
                words = _("/r and your message answers {name}, /p name message the others.")
            lines.append(f"|07{words.format(name=literal(heard[-1].sender))}")
        return lines

    def head(self, message: Message) -> str:
        """Say of whom a message is, and from when."""
        schedule, now = self._books.settings().schedule, self._console.clock.now()
        local = schedule.local(message.at)
        when = f"{local:%Y-%m-%d %H:%M}"
        if local.date() == schedule.local(now).date():
            when = wording.when(message.at, schedule, now)
        return _("{name}, {when}").format(name=literal(message.sender), when=when)

    def _note(self, heard: Sequence[Message]) -> None:
        for each in heard:
            is_another = self._last != each.sender_id
            if is_another and _ANSWERS.match(self._console.display.view().typed):
                self._came_between = each.sender
            self._last = each.sender_id


def _send(desk: Desk, sender: int, find: _Find, limits: Limits) -> _Sent:
    on = [call for call in open_calls(desk) if call.live]
    record, text = find(desk, on)
    messages.send(desk, sender, record, text, limits)
    return _Sent(record.id, record.name, any(call.caller_id == record.id for call in on))


def _listed(names: Sequence[str], most: int) -> str:
    """List so many of the names, and say how many more there are."""
    said = ", ".join(map(literal, names[:most]))
    if len(names) <= most:
        return said
    return _("{names} and {number} more").format(names=said, number=len(names) - most)


def _addressed(desk: Desk, on: Sequence[OpenCall], line: str) -> tuple[CallerRecord, str]:
    """Find whom a line begins with: by a whole name, or by the beginning of the name of one who is
    on, if it is nobody else's."""
    found = messages.find(desk, line)
    if found is not None:
        return found
    word, _blank, text = line.partition(" ")
    meant = begins_with(desk, on, word)
    if meant is None:
        raise Refused(Phrase("There is no caller of that name. Use: /p name message"))
    return meant, text


def begins_with(desk: Desk, on: Sequence[OpenCall], typed: str) -> CallerRecord | None:
    """Find who is meant of those who are on by how their name begins; raises `Refused` where that
    may be several."""
    meant = [call for call in on if names.fold(call.name).startswith(names.fold(typed))]
    if not names.fold(typed) or not meant:
        return None
    if len(meant) > 1:
        some = ", ".join(call.name for call in meant[:MOST_NAMED])
        raise Refused(Phrase("Who do you mean: {names}?", names=some))
    return callers.get(desk, meant[0].caller_id)
