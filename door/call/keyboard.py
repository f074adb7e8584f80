"""A caller's keyboard: keys from a line, one at a time, and interruptions of the wait for a key.

Each end of a call (the carrier is lost, the time is up, another call took over) is an
`Interruption` raised from the wait for a key.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from ansi.charset import UNREADABLE, Charset
from ansi.home_computer import HomeKeys
from ansi.keys import BACKSPACE, ENTER, F1, RUBOUT, Key, KeyDecoder, Paste
from door.call.screen import Look, Paint, Screen
from door.call.whole_lines import WholeLine, chosen, is_for_next_question, line_begun, whole_lines
from door.clock import Clock, Timer
from door.errors import CarrierLost, Interruption, TakenOver
from door.flag import Flag
from door.lines.line import Line

COMMAND = "/"
_COMMANDS = re.compile(r"/(?:[pr?](?: |$)|[wo] *$)", re.IGNORECASE)
HELP = "?"
HELP_KEYS = (HELP, F1)
LINES = "!"  # switches to plain lines at every question but a text
REREAD = "="  # at every question but a text; no letter, so that it never means a choice
LONGEST_WAIT = 24.0  # seconds that a caller waits for an answer at most
LAST_SECONDS = 2.5  # granted to each further step after that
ESCAPE_SECONDS = 0.35  # a lone ESC is a key when nothing has followed it for this long
CHANGED = ""  # in place of a key: what the keys stand for has changed
LINE_SECONDS = 0.05  # by which KildClient's Enter follows its words at most
KEYS_WAITING = 512  # typed ahead; more than this stays in the socket
KEYS_PER_TURN = 32  # of a paste, before the event loop gets a turn
LINE_COST = 10  # keys that take as long as a whole line

_UNKNOWN = Look(Charset.ASCII, Paint.LINES)  # of a terminal without hints


class CommandLine(Protocol):
    """Runs slash commands."""

    async def command(self, typed: str) -> None:
        """Run a slash command, complete or still being typed."""

    def meaning(self) -> str:
        """Return the help for slash commands."""


@dataclass(slots=True, eq=False)
class Keyboard:
    _line: Line
    _screen: Screen
    _clock: Clock
    pace: float = 1.0  # factor for the pauses of `beat`; 0 for no pauses
    rubout: Key = BACKSPACE  # the meaning of byte 7F in this room
    has_sent_line: bool = False  # the last keys were whole lines, of a program that may send them
    number: str = ""  # typed behind the last choice, for `take_number`
    last_key: float = field(init=False)  # monotonic
    keys_received: int = 0  # so far on this line
    interruption: Interruption | None = None  # raised at the next wait for a key
    on_shown: Callable[[], None] | None = None  # called when all is shown and a key is awaited
    commands: CommandLine | None = None  # runs slash commands at any prompt; None to run none
    on_lines: Callable[[], Awaitable[None]] | None = None  # serves `LINES`; None leaves it a key
    _has_sent_key: bool = False  # without Enter
    _waits_from: float = field(init=False)  # when the caller began to wait for an answer
    _received_at: float = field(init=False)  # when bytes arrived last, keys or not
    _decoder: KeyDecoder | HomeKeys = field(init=False)
    _on_positions: list[Callable[[int, int], None]] = field(default_factory=list)
    _keys: list[str] = field(default_factory=list)
    _begun: list[str] = field(default_factory=list)  # of a MUD client's line, which comes in pieces
    _keys_this_turn: int = 0  # given since the event loop had a turn
    _paused: bool = False
    _has_hurried: bool = False  # whether the waiting keys have ended a `pause`
    _waiter: asyncio.Future[None] | None = None
    _flush: asyncio.TimerHandle | None = None
    _loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.get_running_loop)

    def __post_init__(self) -> None:
        self.last_key = self._waits_from = self._received_at = self._clock.monotonic()
        self.use_charset(self._screen.look.charset)

    # What arrives.

    def received(self, data: bytes) -> None:
        now = self._clock.monotonic()
        self._decoder.settle(now - self._received_at)
        self._received_at = now
        keys = self._decoder.feed(data)
        if not data.isascii() and self._screen.look == _UNKNOWN and any(map(_is_foreign, keys)):
            self._speak_unicode()
        if self.sends_words:
            if self._line.hints.works_by_lines or not self._has_sent_key:
                keys = [*self._begun, *keys]
                self._begun = line_begun(keys)
                keys = keys[: len(keys) - len(self._begun)]
            self._weigh(keys)
            keys = whole_lines(keys)
        if self._on_positions:
            for row, column in self._decoder.positions():
                if self._on_positions:
                    self._on_positions.pop(0)(row, column)
        if keys:
            self._typed(keys)
        if self._decoder.pending_escape or self._begun:
            if self._flush is not None:
                self._flush.cancel()
            # A program that may send keys has only its first one held back.
            is_sure = self._decoder.pending_escape or self._line.hints.works_by_lines
            wait = ESCAPE_SECONDS if is_sure else LINE_SECONDS
            self._flush = self._loop.call_later(wait, self._flush_escape)

    def _weigh(self, keys: Sequence[str]) -> None:
        """Note whether a program that may send whole lines does, or has ever sent a key."""
        if any(key != ENTER for key in keys):
            self.has_sent_line = len(keys) > 1 and keys[-1] == ENTER
            self._has_sent_key |= not self.has_sent_line

    @property
    def sends_only_lines(self) -> bool:
        """Whether the caller's program is a MUD client, or has sent nothing but whole lines."""
        return self._line.hints.works_by_lines or (self.has_sent_line and not self._has_sent_key)

    def suited(self, keys: str, lines: str) -> str:
        """Return words about keys, or `lines` for a caller whose program sends only lines."""
        return lines if self.sends_only_lines else keys

    @property
    def sends_words(self) -> bool:
        """Whether the caller has plain lines and a program that sends whole lines."""
        return self._line.hints.sends_lines and not self._screen.is_painted

    def _speak_unicode(self) -> None:
        """Answer an unknown terminal in UTF-8, because its caller types UTF-8."""
        self._line.hints = replace(self._line.hints, typed=Charset.UTF8.value)
        self._screen.look = replace(self._screen.look, charset=Charset.UTF8)
        self._screen.suit_look()

    def _flush_escape(self) -> None:
        self._flush = None
        self._has_sent_key |= bool(self._begun)
        keys, self._begun = [*self._begun, *self._decoder.flush()], []
        if keys:
            self._typed(keys)

    def _typed(self, keys: Sequence[str]) -> None:
        self.last_key = self._clock.monotonic()
        self.keys_received += len(keys)
        if self._screen.cover is not None:
            self._screen.cover.on_keys([each for key in keys for each in letters_of(key)])
            self._screen.show_offer()
            return
        self._keys.extend(keys)
        if len(self._keys) > KEYS_WAITING and not self._paused:
            self._paused = True
            self._line.pause()
        self.nudge()

    def use_charset(self, charset: Charset) -> None:
        self._decoder = (HomeKeys if charset.is_of_home_computer else KeyDecoder)(charset)

    def ask_position(self, question: bytes, take: Callable[[int, int], None]) -> None:
        """Send a `question` that the terminal answers with its cursor's position.

        `take` is called with row and column.
        """
        if not self._on_positions:
            self._decoder.positions()  # drops unasked ones
        self._on_positions.append(take)
        self._line.write(question)

    # Interruptions.

    def interrupt(self, interruption: Interruption) -> None:
        """Raise `interruption` from the wait for a key, now or at the next one; end a cover."""
        self._screen.uncover()
        current = self.interruption
        if current is None or interruption.rank > current.rank:
            self.interruption = interruption
            self.nudge()

    def lift(self, kind: type[Interruption]) -> None:
        if isinstance(self.interruption, kind):
            self.interruption = None

    @property
    def is_lost(self) -> bool:
        """Whether output is unseen from now on: the line is lost or another call took over."""
        return isinstance(self.interruption, CarrierLost | TakenOver)

    def let_go(self) -> None:
        """Drop references that lead back to the caller, so that an ended call is freed at once.

        Otherwise hundreds of calls wait for the collector, which seldom looks at old objects.
        """
        self.on_shown = None
        self.on_lines = None
        self.commands = None
        self._on_positions.clear()
        if self.interruption is not None:
            self.interruption = self.interruption.with_traceback(None)

    # Keys.

    async def key(
        self,
        *,
        takes_slash: bool = False,
        takes_paste: bool = False,
        takes_words: bool = False,
        changed: Flag | None = None,
    ) -> str:
        """Return the next key, or raise the `Interruption` that came instead.

        `LINES` switches to plain lines, a slash begins a command, and `REREAD` shows the screen
        again, unless `takes_slash` makes them like any other key. A pasted text is dropped, unless
        `takes_paste`. A `WholeLine` is its letters and Enter, unless `takes_words`; that of a
        program that sends only lines counts as one key where no text is typed. Once `changed` is
        raised, with a `nudge`, return `CHANGED`.
        """
        while True:
            key = await self._next_key(
                takes_paste=takes_paste, takes_words=takes_words, changed=changed
            )
            if key == LINES and self.on_lines is not None and not takes_slash:
                await self.on_lines()
            elif isinstance(key, WholeLine) and key.text.startswith(COMMAND):
                if takes_slash or not await self.command(key.text):
                    self.take_apart(key)
            elif takes_slash or not (
                (key == REREAD and self._screen.reread())
                or (key == COMMAND and await self.command(COMMAND))
            ):
                return key

    async def command(self, typed: str) -> bool:
        """Run a slash command and show the interrupted prompt again; return False without any."""
        screen, line = self._screen, self._line
        commands, self.commands = self.commands, None
        if commands is None:
            return False
        before, offered = screen.display.view(), screen.offered
        reader, screen.reader = screen.reader, None
        size = line.columns, line.rows
        try:
            if not screen.is_painted and before.prompt:
                screen.display.answered()
            await commands.command(typed)
        finally:
            self.commands, screen.reader = commands, reader
        if before.prompt:
            screen.display.prompt(before.prompt, before.room, before.brief)
            if before.typed:
                screen.display.typed(before.typed)
        screen.offered = offered
        if reader is not None and size != (line.columns, line.rows):
            screen.lay_out_again()
        return True

    async def _next_key(self, *, takes_paste: bool, takes_words: bool, changed: Flag | None) -> str:
        while self.interruption is None:
            if changed is not None and changed.is_set():
                return CHANGED
            if self._keys and self._keys_this_turn >= KEYS_PER_TURN:
                self._keys_this_turn = 0
                await asyncio.sleep(0)
            elif (key := self.next_key(takes_paste=takes_paste)) is not None:
                if isinstance(key, WholeLine):
                    if not takes_words and (takes_paste or not self.sends_only_lines):
                        self._keys[:1] = key.typed
                        continue
                    if key.text in (LINES, REREAD) and not takes_paste:
                        key = key.text
                self._keys_this_turn += LINE_COST if isinstance(key, WholeLine) else 1
                del self._keys[0]
                self._has_hurried = False
                self._read_on()
                self._waits_from = self._clock.monotonic()
                return key
            else:
                self._screen.show()
                if self.on_shown is not None:
                    self.on_shown()
                self._screen.show_offer()
                self._keys_this_turn = 0
                await self._until_nudged()
        self._waits_from = self._clock.monotonic()
        raise self.interruption

    def next_key(self, *, takes_paste: bool = False) -> str | None:
        """Return the key that `key` would return at once, None if none was typed ahead."""
        while self._keys and isinstance(self._keys[0], Paste) and not takes_paste:
            del self._keys[0]
            self._read_on()
        if not self._keys:
            return None
        return self.rubout if self._keys[0] == RUBOUT else self._keys[0]

    def forget_keys(self) -> None:
        """Drop what was typed ahead, before a question that deserves a fresh answer."""
        self._keys.clear()
        self._read_on()

    def take_apart(self, line: WholeLine) -> None:
        """Type the letters of a line, and Enter."""
        self._keys[:0] = line.typed

    def end_pause(self, key: str) -> None:
        """Keep a word that ended a wait for any key for the next question; drop further Enters."""
        if isinstance(key, WholeLine) and is_for_next_question(key.text):
            self._keys.insert(0, key)
        while self.sends_only_lines and self._keys[:1] == [ENTER]:
            del self._keys[0]
        self._read_on()

    def letter_of(self, key: str, choices: Mapping[str, str]) -> str:
        """Return the letter of the choice that a `WholeLine` names; any other key is itself.

        Keeps the `number` behind the word. One letter, or an unknown line, of a program that has
        also sent keys is keys that were typed ahead.
        """
        self.number = ""
        if not isinstance(key, WholeLine):
            return key
        is_sure = self.sends_only_lines
        if (is_sure or len(key.text) > 1) and (named := chosen(key.text, choices)):
            letter, self.number = named
            return letter
        if not is_sure:
            self._keys[:0] = key.typed[1:]
            return key.text[0]
        return key.text if len(key.text) == 1 else key

    def take_number(self, longest: int, accept: Callable[[str], bool]) -> str:
        """Return the number behind the last choice; "" if the field takes none, or not this one.

        A field for words, such as a name, leaves it to the amount that is asked for next.
        """
        if accept(" "):
            return ""
        number, self.number = self.number, ""
        return number if len(number) <= longest and all(map(accept, number)) else ""

    def forget_hurry(self) -> None:
        """Drop the keys that ended a `pause`, before a wait for any key."""
        if self._has_hurried:
            self.forget_keys()

    def _read_on(self) -> None:
        if self._paused and not self._keys:
            self._paused = False
            self._line.resume()

    async def pause(self, seconds: float) -> None:
        """Let the caller look for `seconds`.

        A key, typed ahead or now, or an interruption ends it at once. The key is kept for the next
        question, but does not answer a wait for any key.
        """
        if not self._keys and self.interruption is None:
            self._screen.show()
            await self._until_nudged(self._clock.call_later(seconds, self.nudge))
            self._waits_from = self._clock.monotonic()
        self._has_hurried = bool(self._keys)

    async def beat(self, seconds: float) -> None:
        """Let the caller look for `seconds` at their own pace; plain lines do not pause."""
        if self.pace and self._screen.is_painted:
            await self.pause(seconds * self.pace)

    def nudge(self) -> None:
        """End the wait for a key or a `pause` now."""
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def _until_nudged(self, timer: Timer | None = None) -> None:
        self._waiter, self._screen.awaits_key = self._loop.create_future(), True
        try:
            await self._waiter
        finally:
            self._waiter, self._screen.awaits_key = None, False
            if timer is not None:
                timer.cancel()

    def answer_by(self) -> float | None:
        """Return the monotonic deadline for an answer; None while a key is awaited.

        All steps of one answer share it, but each has at least `LAST_SECONDS`.
        """
        if self._waiter is not None:
            return None
        return max(self._waits_from + LONGEST_WAIT, self._clock.monotonic() + LAST_SECONDS)


def letters_of(key: str) -> Sequence[str]:
    """Return what a key types into a text: the letters of a `Paste` or line, else the key alone."""
    if isinstance(key, WholeLine):
        return key.typed
    return key.text if isinstance(key, Paste) else (key,)


def _is_foreign(key: str) -> bool:
    return not key.isascii() and key != UNREADABLE


def is_command(text: str) -> bool:
    """Return whether a line is a command at any prompt (door/call/talk.py).

    At a shared table, any other line that begins with a slash is whispered.

    >>> is_command("/p Ada hello"), is_command("/path")
    (True, False)
    >>> is_command("/w"), is_command("/w hello Walter")
    (True, False)
    """
    return _COMMANDS.match(text) is not None
