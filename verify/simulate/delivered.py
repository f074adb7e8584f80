"""Callers' messages, checked against the books and the screens.

Every accepted message is in the books once, with its true author and reader. It is shown to them
and to no other caller, once; and a caller on line gets it soon.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections import Counter
from collections.abc import Sequence, Set
from typing import NamedTuple
from weakref import WeakKeyDictionary

from timebank.callers.hearing import ignored
from timebank.callers.messages import Limits
from verify.robots import phrases
from verify.simulate.company import ANYBODY, WALL, Letters
from verify.simulate.wire import LONGEST_MEMORY, Wire
from verify.simulate.world import Screen
from verify.simulate.wrong import must

SOON = 15.0  # seconds until every process has looked for messages twice
_MARK = re.compile(r"(?<![0-9A-Za-z])q(\d{5})(?!\d)")
_COMMAND = re.compile(r"/[pr]\b[^/]{0,80}$")  # typed before the answer to another prompt


class Row(NamedTuple):
    sender_id: int
    sender: str
    reader_id: int
    reader: str
    text: str
    shown: int | None


class LineText:
    """The text read so far on one line."""

    def __init__(self) -> None:
        self.characters = 0
        self.news = Counter[int]()  # letters, by the number of announcements


class Delivered:
    """The messages of a story's books, look after look."""

    def __init__(self, counted: Counter[str], letters: Letters) -> None:
        self.counted = counted
        self._letters = letters
        self._rows: dict[int, Row] | None = None
        self._numbers: dict[int, int] = {}  # of rows, by letter
        self._silent: Set[int] = frozenset()  # muted callers
        self._deaf: Set[tuple[int, int]] = frozenset()  # who ignored whom
        self._calls: dict[str, int] = {}  # by name: the call that they were on
        self._read_on: dict[int, int] = {}  # rows, by the call that showed them
        self._since: dict[tuple[int, int], float] = {}  # rows and calls: from when they were due
        self._heard = WeakKeyDictionary[Wire, LineText]()
        self._taken = Counter[tuple[str, str]]()  # as confirmed to the senders

    # The books.

    def step(self, file: sqlite3.Connection, screens: Sequence[Screen], now: float | None) -> None:
        """Check the changes; `now` is None while messages may be delayed."""
        before, self._rows = self._rows, {row[0]: Row(*row[1:]) for row in file.execute(ROWS)}
        silent = {number for (number,) in file.execute(MUTED)}
        deaf = {
            (reader, sender)
            for reader, wishes in file.execute(WISHES)
            for sender in ignored(json.loads(wishes))
        }
        on = {screen.caller.record.name: screen for screen in screens}
        still_silent, crowded = self._silent & silent, set[str]()
        for number, row in self._rows.items():
            was = (before or {}).get(number)
            if was is None:
                self._is_new(number, row, file)
                spoke = before is None or row.sender_id not in still_silent
                must(spoke, "{} is muted, and has written {}", row.sender, row)
                crowded.add(row.reader)
                pair = (row.reader_id, row.sender_id)
                is_audible = before is None or pair not in self._deaf & deaf
                must(is_audible, "{} ignores {}, who has written {}", row.reader, row.sender, row)
            else:
                stays = was[:-1] == row[:-1] and was.shown in (None, row.shown)
                must(stays, "message {} was {}, and is {}", number, was, row)
                if was.shown is None and row.shown is not None:
                    must(row.sender_id not in still_silent, "{} is muted, and heard", row.sender)
                    self._was_told(number, row, on.get(row.reader))
        gone = set(before or ()) - set(self._rows)
        must(not gone, "messages are gone: {}", gone)
        if before is not None:
            self._limits(crowded, silent, deaf)
        self._silent, self._deaf = silent, deaf
        self._in_time(on, now)
        self._calls = {name: screen.caller.call_id for name, screen in on.items()}

    def _is_new(self, number: int, row: Row, file: sqlite3.Connection) -> None:
        match = _MARK.search(row.text)
        if match is None:  # the caller leans on the keyboard
            self.counted["messages of no sense"] += 1
            return
        letter = self._letters.find(int(match[1]))
        must(letter is not None, "nobody wrote {}", row)
        assert letter is not None
        is_theirs = letter.sender == row.sender or row.sender not in self._letters.senders
        must(is_theirs, "{} is not of {}", row, letter)
        # The beginning of a name is enough for a caller on line, unless another has it whole.
        begins = (
            row.reader.startswith(letter.to) and not file.execute(NAMED, [letter.to]).fetchone()
        )
        is_reader = begins or row.reader == SYSOP or letter.to in (row.reader, ANYBODY)
        must(is_reader, "{}: {}", row, letter)
        other = self._numbers.setdefault(letter.number, number)
        must(other == number, "message {} comes twice: {}", number, row)
        self.counted["messages taken"] += 1

    def _was_told(self, number: int, row: Row, screen: Screen | None) -> None:
        """Check that a text marked as read was on the screen, if its reader is on the same line."""
        if screen is None or self._calls.get(row.reader) != screen.caller.call_id:
            return
        wire = screen.wire
        self._read_on[number] = screen.caller.call_id
        is_whole = not wire.closed and wire.loses_after is None and wire.reads
        if not is_whole or len(screen.person.wires) != 1:
            return
        mark = _MARK.search(row.text)
        if mark is not None:
            shown = f"{wire.screen.memory}\n{wire.screen.picture}"  # painted over similar text
            must(mark[0] in shown, "{} was never shown {}", row.reader, row)
            self.counted["messages seen"] += 1

    def _limits(self, crowded: Set[str], silent: Set[int], deaf: Set[tuple[int, int]]) -> None:
        """Check the limits of pending messages per reader.

        Messages withheld because their author is muted or ignored do not count.
        """
        assert self._rows is not None  # read just now
        waiting = [
            row
            for row in self._rows.values()
            if row.shown is None
            and row.reader in crowded
            and row.sender_id not in silent
            and (row.reader_id, row.sender_id) not in deaf
        ]
        for many, most in (
            (Counter(row.reader for row in waiting), Limits().waiting),
            (Counter((row.reader, row.sender) for row in waiting), Limits().of_one),
        ):
            over = {who: number for who, number in many.items() if number > most}
            must(not over, "more messages wait than {}: {}", most, over)

    def _in_time(self, on: dict[str, Screen], now: float | None) -> None:
        """Check that a reachable caller gets a message soon."""
        assert self._rows is not None  # read just now
        due = {}
        for number, row in self._rows.items():
            screen = on.get(row.reader)
            held_back = (
                row.sender_id in self._silent or (row.reader_id, row.sender_id) in self._deaf
            )
            is_due = now is not None and row.shown is None and not held_back
            if now is None or not is_due or screen is None or not _listens(screen):
                continue
            key = (number, screen.caller.call_id)
            due[key] = self._since.get(key, now)
            must(now - due[key] <= SOON, "{} is on, and is not told of {}", row.reader, row)
        self._since = due

    # Screens.

    def listen(self, name: str, call_id: int, wire: Wire, *, paints: bool) -> None:
        """Compare a caller's screen with the books."""
        progress = self._heard.setdefault(wire, LineText())
        screen = wire.screen
        new = screen.characters - progress.characters
        progress.characters = screen.characters
        fresh = screen.memory[max(0, len(screen.memory) - new) :]
        self._is_theirs(name, screen.picture if paints else fresh)
        if paints:  # it may reappear when its cover is removed
            for each in phrases.TAKEN.finditer(screen.picture):
                self._is_kept(name, each["name"], 1)
        elif new <= LONGEST_MEMORY:
            for each in phrases.TAKEN.finditer(fresh):
                self._taken[name, each["name"]] += 1
                self._is_kept(name, each["name"], self._taken[name, each["name"]])
            self._once(name, call_id, progress, fresh)

    def _is_kept(self, sender: str, reader: str, times: int) -> None:
        """So many messages at least of one caller to another are in the books."""
        rows = (self._rows or {}).values()
        key = (sender, " ".join(reader.split()))
        count = sum((row.sender, row.reader) == key for row in rows)
        must(count >= times, "{} of {} messages from {} to {} are kept", count, times, *key)
        self.counted["messages said to be taken"] += 1

    def _is_theirs(self, name: str, text: str) -> None:
        """Check that a message is on the screens of its two callers only, and in the books."""
        for match in _MARK.finditer(text):
            letter = self._letters.find(int(match[1]))
            must(letter is not None, "{} reads {}, which nobody wrote", name, match[0])
            assert letter is not None
            if name == letter.sender or letter.to == WALL or name not in self._letters.senders:
                continue
            if _COMMAND.search(text[: match.start()]):  # typed where another was meant to hear it
                continue
            number = self._numbers.get(letter.number)
            must(number is not None, "{} reads {}, which is in no book", name, letter)
            assert number is not None
            assert self._rows is not None  # read before anybody's screen
            must(self._rows[number].reader == name, "{} reads {}", name, self._rows[number])

    def _once(self, name: str, call_id: int, progress: LineText, fresh: str) -> None:
        """Check that no arriving text is shown twice, on this line or a later call."""
        for line in fresh.split("\n"):
            sender, _, text = line.strip().partition(": ")
            match = _MARK.match(text)
            letter = self._letters.find(int(match[1])) if match else None
            if letter is None or letter.sender != sender or letter.sender == name:
                continue
            number = self._numbers.get(letter.number)
            if number is None:
                continue
            progress.news[letter.number] += 1
            must(progress.news[letter.number] == 1, "{} is told {} twice", name, letter)
            before = self._read_on.get(number)
            must(before in (None, call_id), "{} is told {} again, on another call", name, letter)


def _listens(screen: Screen) -> bool:
    """Return whether messages can reach a caller now."""
    caller, wire = screen.caller, screen.wire
    is_hidden = caller.reads_notices or caller.console.keyboard.is_lost
    return not is_hidden and not wire.closed and wire.reads


SYSOP = "Sysop"
ROWS = """
SELECT m.id, m.sender_id, s.name, m.caller_id, r.name, m.text, m.shown FROM messages m
JOIN callers s ON s.id = m.sender_id JOIN callers r ON r.id = m.caller_id ORDER BY m.id
"""
MUTED = "SELECT id FROM callers WHERE muted IS NOT NULL"
NAMED = "SELECT 1 FROM callers WHERE name = ?"
WISHES = "SELECT id, preferences FROM callers"
