"""Other programs: those that write for accounts here, and the one that reads.

Written and read records are numbered: each number counts once.
"""

from __future__ import annotations

import contextlib
import random
import sqlite3
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from timebank import files
from timebank.errors import NotARecord
from timebank.thebank.format import Record, format_record, parse_record, record_number
from verify.simulate.wrong import must


@dataclass(frozen=True)
class Written:
    """A record for an account here."""

    name: str
    minutes: int


class Post:
    """The files by which minutes come and go: `coming` is read by the board, `going` written."""

    def __init__(self, folder: Path, chance: random.Random) -> None:
        self.coming, self.going = folder / "COMING.EXT", folder / "THEBANK.EXT"
        self.chance = chance
        self.written: list[Written | None] = []  # None for a line that is no record
        self.came: set[int] = set()  # numbers of records that were applied
        self.has_taken = False  # since it was looked at
        self.went = Counter[tuple[int, int]]()  # (number, minutes) of the records read
        self.said: dict[int, Record] = {}  # the records read, by number
        self.is_forgiven: set[int] = set()  # numbers that a lying disk has lost
        # Records applied or passed on in books that are gone, by a restore or a lying disk.
        self.has_lost = False
        self.lost = set[tuple[int, int]]()

    # For accounts here.

    @contextlib.contextmanager
    def writing(self, names: list[str], now: datetime) -> Iterator[None]:
        """Append lines; the last one is finished only after the block, with the rest."""
        lines = b"".join(self._line(names, now) for _ in range(self.chance.randint(1, 4)))
        cut = self.chance.choice((len(lines), self.chance.randrange(len(lines))))
        with self.coming.open("ab", buffering=0) as file:
            file.write(lines[:cut])
            try:
                yield
            finally:
                file.write(lines[cut:])

    def _line(self, names: list[str], now: datetime) -> bytes:
        chance, number = self.chance, len(self.written)
        if chance.random() < 0.1:
            self.written.append(None)
            return b"this is;no record\r\n"
        record = Written(chance.choice(names), chance.choice((1, 5, 30, 600, -1, -20, 0)))
        self.written.append(record)
        at = now.replace(tzinfo=None)
        return format_record(Record(record.name, record.minutes, "A door", at, number))

    def applied(self, name: str, seconds: int, number: int | None) -> None:
        """See that a transfer is a record that was written, and that none comes twice."""
        must(number is not None, "{} s came of no record", seconds)
        assert number is not None
        must(number not in self.came, "record {} comes twice", number)
        self.came.add(number)
        record = Written(name, seconds // 60)
        must(self.written[number] == record, "{} is not {}", record, self.written[number])

    def all_have_come(self, file: sqlite3.Connection) -> None:
        """See that every line was applied or refused, once."""
        applied, refused = file.execute(LINES).fetchone()
        must(applied == len(self.came), "{} records were applied, {} came", applied, self.came)
        written = len(self.written)
        if self.has_lost:
            must(applied + refused <= written, "{} and {} of {}", applied, refused, written)
            return
        must(applied + refused == written, "{} and {} of {}", applied, refused, written)

    # For another bank.

    def take(self) -> None:
        """Let the other bank take the records, as formats.md requires."""
        self.has_taken = True
        with files.locked(self.going):
            content = self.going.read_bytes() if self.going.exists() else b""
            self.going.unlink(missing_ok=True)
        for line in content.split(b"\n")[:-1]:
            with contextlib.suppress(NotARecord):  # a part of one, whose writer died
                record = parse_record(line)
                if record is not None and record.number is not None:
                    self.went[record.number, record.minutes] += 1
                    known = self.said.setdefault(record.number, record)
                    must(known == record, "record {} was {}", record, known)

    def nothing_went_twice(self, file: sqlite3.Connection) -> None:
        """Compare the read records with the expected ones; right after `take`."""
        self.has_taken = False
        known = set()
        for generation, transfer, minutes, state in file.execute(OUTBOX):
            number = record_number(generation, transfer)
            known.add((number, minutes))
            if number in self.is_forgiven:
                continue
            times = self.went[number, minutes]
            must(times <= 1, "record {} went {} times", number, times)
            must(times == 1 or state != "appended", "record {} of {} never went", number, minutes)
            must(times == 0 or state != "waiting", "record {} waits, and went", number)
        strange = set(self.went) - known - self.lost
        must(not strange, "{} went that are none", strange)

    def go_back_to(self, came: set[int]) -> None:
        """Accept that these records were applied in the restored books."""
        self.came = set(came)
        self.take()
        # A restore passes on entries of a tournament that it ends, after this was taken.
        self.has_taken, self.has_lost = False, True
        self.lost |= set(self.went)

    # After a lying disk has lost the end.

    def begins_again(self, file: sqlite3.Connection) -> None:
        """Believe the books; records that they do not know, or have yet to write, may go twice."""
        self.take()
        self.has_taken, self.has_lost = False, True
        self.came.clear()
        states = {
            record_number(generation, transfer): state
            for generation, transfer, _, state in file.execute(OUTBOX)
        }
        self.said = {number: record for number, record in self.said.items() if number in states}
        gone = [key for key in self.went if key[0] not in states]
        for key in gone:
            del self.went[key]
        self.is_forgiven |= {number for number, state in states.items() if state != "appended"}


LINES = "SELECT count(transfer_id), count(reason) FROM import_lines"
OUTBOX = """
SELECT coalesce((SELECT max(g.number) FROM generations g WHERE g.first <= o.number), 1), o.number,
    o.minutes, o.state
FROM outbox o
"""
