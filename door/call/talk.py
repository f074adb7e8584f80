"""Slash commands at any prompt, and messages between callers.

`/p NAME words` sends a message, `/r words` answers the last one, `/w` names the callers who are on,
and `/o` sends watchers away. A message is in the books before it is shown
(timebank/callers/messages.py). The process that has the reader shows it, as it shows notices.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar
from weakref import ref

from door import wording
from door.call import spoken
from door.call.markup import hanging, literal
from door.errors import TalkRefused
from timebank.callers import callers, messages, notices
from timebank.callers.messages import Limits
from timebank.calls.calls import OpenCall, open_calls
from timebank.errors import BooksUnavailable, Refused
from timebank.language import N_, Phrase, _, ngettext
from timebank.names import names
from timebank.words import date_time_words, field

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from door.call.books import Books
    from door.call.console import Console
    from door.config.config import SocialSettings
    from timebank.callers.callers import CallerRecord
    from timebank.callers.messages import Message
    from timebank.ledger.database import Desk

T = TypeVar("T")

LONGEST_COMMAND = 160  # characters: a name, and a line of talk
MOST_NAMED = 12  # callers who are on
MOST_SENDERS = 3  # named in the menu
_ANSWERS = re.compile(r"/?r(?: |$)", re.IGNORECASE)


class UnreadItems(NamedTuple):
    """The notices and messages that wait for a caller, oldest first."""

    notices: tuple[Phrase, ...] = ()
    messages: tuple[Message, ...] = ()

    def beyond(self, other: UnreadItems) -> UnreadItems:
        """Return what is new since `other`, an earlier state of the same caller.

        A message of `other` may be missing here, if its sender has been muted since.
        """
        numbers = {each.number for each in other.messages}
        written = tuple(each for each in self.messages if each.number not in numbers)
        return UnreadItems(self.notices[len(other.notices) :], written)


def unread_of(desk: Desk, caller_ids: Collection[int]) -> dict[int, UnreadItems]:
    """Return what waits for these callers, without marking it; callers without any are left out."""
    noticed, written = notices.unseen(desk, caller_ids), messages.unseen(desk, caller_ids)
    return {
        each: UnreadItems(noticed.get(each, ()), written.get(each, ()))
        for each in {**noticed, **written}
    }


def take_unread(desk: Desk, caller_id: int) -> UnreadItems:
    """Return what waits for a caller, and mark it as shown."""
    return UnreadItems(notices.notices(desk, caller_id), messages.take(desk, caller_id))


# Finds the receiver and the text of a message, given the open calls.
_Find = Callable[["Desk", "Sequence[OpenCall]"], "tuple[CallerRecord, str]"]


class Speaker(Protocol):
    """What talk needs of the caller who types it."""

    def ask_books(self, operation: Callable[[Desk], T]) -> Awaitable[T]:
        """Run an operation in the books while the caller waits."""

    def send_watchers_away(self) -> Awaitable[str]:
        """Send the caller's watchers away and return the words about it."""


@dataclass(frozen=True)
class _Sent:
    to: int
    name: str
    is_on: bool


class Talk:
    """One caller's slash commands and messages on one call."""

    def __init__(
        self,
        console: Console,
        books: Books,
        settings: SocialSettings,
        caller_id: int,
        speaker: Speaker,
    ) -> None:
        self._console = console
        self._books = books
        self._settings = settings
        self._writes = settings.messages
        self._caller_id = caller_id
        # Weak, or the caller, who has this talk, would not be freed when the call is over.
        self._speaking = ref(speaker)
        self._pace = spoken.Pace()
        self._last: int | None = None  # number of the last sender
        self._came_between = ""  # a sender whose message came while an answer was being typed
        self._knows_answer = False  # whether the caller has read how to answer
        # Senders' names by number, one for each message of this call not answered or read again.
        self._new: dict[int, list[str]] = {}

    @property
    def _speaker(self) -> Speaker:
        speaker = self._speaking()
        assert speaker is not None  # the caller is on a call while they type
        return speaker

    def refuse_haste(self) -> None:
        """Count a line that another caller will read; raises `TalkRefused` for one too many."""
        if not self._pace.allows(self._console.clock.monotonic()):
            raise TalkRefused(_("Not so fast: please wait a few seconds."))

    # Commands.

    async def command(self, typed: str) -> None:
        """Run a slash command, complete or still being typed; a refused one can be typed again."""
        console = self._console
        if typed == "/":
            typed = await self._ask("/") or ""
        while typed.strip(" /"):
            try:
                await self.do(typed)
            except (TalkRefused, Refused, BooksUnavailable) as refused:
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
        """Return the help for slash commands."""
        if not self._writes:
            return _("/w shows who is on, /o sends watchers away.")
        return _(
            "/p name message writes to a caller, /r message answers the last one who wrote to "
            "you, /w shows who is on, /o sends watchers away."
        )

    async def do(self, typed: str) -> None:
        """Run a complete command; raises `TalkRefused` and `Refused`."""
        word, _blank, rest = typed.strip().partition(" ")
        match word.lower():
            case "/p" if self._writes:
                await self.page(rest)
            case "/r" if self._writes:
                await self._answer(rest)
            case "/w":
                await self._say_who_is_on()
            case "/o":
                words = await self._speaker.send_watchers_away()
                self._console.screen.say(f"|10{words}")
            case _ if self._writes:
                words = _(
                    "Use: /p name message, /r message to answer, /w to see who is on, /o to "
                    "send watchers away."
                )
                raise TalkRefused(words)
            case _:
                raise TalkRefused(_("Use: /w to see who is on, /o to send watchers away."))

    async def _answer(self, line: str) -> None:
        """Answer the last sender; raises `TalkRefused` if another has written meanwhile."""
        if self._last is None:
            raise TalkRefused(_("Nobody has written to you on this call."))
        name, self._came_between = self._came_between, ""
        if name:
            words = _("{name} has written meanwhile. Enter answers them; /p writes to another.")
            raise TalkRefused(words.format(name=literal(name)))
        await self.send(line, self._last)

    async def page(self, line: str) -> None:
        """Send a line that begins with a name; raises `TalkRefused` and `Refused`."""
        cleaned = spoken.clean(line)
        if not cleaned:
            raise TalkRefused(_("Say who you mean, and what: /p name message"))
        await self._send(partial(_addressed, line=cleaned))

    async def send(self, line: str, to: int) -> None:
        """Send a line to a caller by number; raises `TalkRefused` and `Refused`."""
        cleaned = spoken.clean(line)
        if not cleaned:
            raise TalkRefused(_("There is nothing to say."))
        await self._send(lambda desk, _on: (callers.get(desk, to), cleaned))

    async def _send(self, find: _Find) -> None:
        self.refuse_haste()
        limits = Limits(self._settings.messages_a_day, self._settings.messages_waiting)
        sent = await self._speaker.ask_books(
            partial(_send, sender=self._caller_id, find=find, limits=limits)
        )
        self._books.notices_wait.set()
        self._new.pop(sent.to, None)
        name = literal(sent.name)
        words = _("{name} isn't on. Your message waits for them.")
        if sent.is_on:
            words = _("Sent to {name}, who is on.")
        self._console.screen.say(f"|10{words.format(name=name)}")

    async def _say_who_is_on(self) -> None:
        calls = await self._speaker.ask_books(open_calls)
        names = listed_names([call.name for call in calls if call.live], MOST_NAMED)
        self._console.screen.say(f"|14{_('On now: {names}').format(names=names)}")

    # Messages for the caller.

    def incoming_lines(self, incoming: Sequence[Message]) -> list[str]:
        """Note messages that come while the caller is on; return their lines with pipe codes."""
        lines = [
            hanging(field(f"|13{literal(each.sender)}", f"|15{each.text}")) for each in incoming
        ]
        self._note(incoming)
        for each in incoming:
            self._new.setdefault(each.sender_id, []).append(each.sender)
        if incoming and not self._knows_answer:
            self._knows_answer = True
            lines.append(f"|07{_('To answer, type /r and your message.')}")
        return lines

    def new_words(self, key: str) -> str:
        """Return the menu's line about messages that came during the call, "" without any.

        `key` is the menu's key to read them.
        """
        number = sum(map(len, self._new.values()))
        if not number:
            return ""
        words = ngettext(
            "<{key}> Read {names}'s message again",
            "<{key}> Read {number} messages from {names} again",
            number,
        )
        names = listed_names([each[-1] for each in self._new.values()], MOST_SENDERS)
        return words.format(key=key, number=number, names=names)

    def has_read_all(self) -> None:
        """Note that the caller has read all messages."""
        self._new.clear()

    def waiting_lines(self, waiting: Sequence[Message]) -> list[str]:
        """Note messages that came while the caller was away; return their lines."""
        self._note(waiting)
        lines = [hanging(field(f"|13{self.head(each)}", f"|15{each.text}")) for each in waiting]
        if waiting and self._writes and not self._knows_answer:
            self._knows_answer = True
            words = _("To answer, type /r and your message.")
            if any(each.sender_id != self._last for each in waiting):
                words = _("/r and your message answers {name}, /p name message the others.")
            lines.append(f"|07{words.format(name=literal(waiting[-1].sender))}")
        return lines

    def head(self, message: Message) -> str:
        """Return the sender and the time of a message."""
        schedule, now = self._books.settings().schedule, self._console.clock.now()
        local = schedule.local(message.at)
        when = date_time_words(local)
        if local.date() == schedule.local(now).date():
            when = wording.local_time(message.at, schedule, now)
        return _("{name}, {when}").format(name=literal(message.sender), when=when)

    def _note(self, received: Sequence[Message]) -> None:
        for each in received:
            is_another = self._last != each.sender_id
            if is_another and _ANSWERS.match(self._console.display.view().typed):
                self._came_between = each.sender
            self._last = each.sender_id


def _send(desk: Desk, sender: int, find: _Find, limits: Limits) -> _Sent:
    live = [call for call in open_calls(desk) if call.live]
    record, text = find(desk, live)
    messages.send(desk, sender, record, text, limits)
    return _Sent(record.id, record.name, any(call.caller_id == record.id for call in live))


def listed_names(names: Sequence[str], most: int) -> str:
    """List at most `most` names, and the number of the others."""
    listed = ", ".join(map(literal, names[:most]))
    if len(names) <= most:
        return listed
    return _("{names} and {number} more").format(names=listed, number=len(names) - most)


def _addressed(desk: Desk, on: Sequence[OpenCall], line: str) -> tuple[CallerRecord, str]:
    """Split a line into its receiver and its text.

    It begins with a whole name, or with the first letters of the name of one caller who is on.
    """
    split = messages.find(desk, line)
    if split is not None:
        return split
    word, _blank, text = line.partition(" ")
    receiver = begins_with(desk, on, word)
    if receiver is None:
        usage = N_("There is no caller of that name. Use: /p name message")
        raise Refused(callers.nobody(desk, word, usage))
    return receiver, text


def begins_with(desk: Desk, on: Sequence[OpenCall], typed: str) -> CallerRecord | None:
    """Find a caller who is on by the first letters of their name.

    Raises `Refused` if several names begin so.
    """
    matches = [call for call in on if names.fold(call.name).startswith(names.fold(typed))]
    if not names.fold(typed) or not matches:
        return None
    if len(matches) > 1:
        some = ", ".join(call.name for call in matches[:MOST_NAMED])
        raise Refused(Phrase("Who do you mean: {names}?", names=some))
    return callers.get(desk, matches[0].caller_id)
