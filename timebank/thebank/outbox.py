"""THEBANK.EXT: the file through which winnings reach a time bank that is not ours.

A clamp in the mode "external" commits a record to the table `outbox`, together with the transfer
it tells of. `flush_outbox` carries the records over to the file, each exactly once:

    waiting -> appending -> appended
                         -> doubtful -> waiting or appended, as the sysop says

Before a byte is written the record is `appending`, and its mark holds what the file looked like
and what is about to be written. Whoever finds a record in that state, under the lock, knows that
its writer is dead, and looks for it in the file: a record that is there was appended, a piece of it
is completed, and one that is not there is appended now. Only when the file is no longer the one
that was marked, because the bank it is meant for has taken it away, can nobody tell; then the
record is `doubtful` and the sysop is asked, for minutes given twice are minutes made up.

The layout of the file is documented in docs/formats.md.
"""

from __future__ import annotations

import contextlib
import errno
import json
import logging
import os
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import bindparam, func

from timebank import files
from timebank.errors import BooksFailed, NotARecord, NotDoubtful
from timebank.language import Phrase
from timebank.ledger.database import Database, Desk
from timebank.ledger.generations import generation_of_transfer
from timebank.ledger.schema import instant, outbox, stamp
from timebank.ledger.sql import Prepared, change, equal, fields_of, read
from timebank.settings.settings import BankSettings
from timebank.thebank import format
from timebank.thebank.format import (
    DOS_END_OF_FILE,
    LINE_END,
    Record,
    format_record,
    parse_record,
)

log = logging.getLogger("timebank")

_APPENDING = os.O_RDWR | os.O_APPEND


class OutboxRow(NamedTuple):
    """A record on its way: `number` is its own, `transfer` its transfer's, `at` seconds since 1970.

    `mark` describes the file of an append under way; of a doubtful record it says what happened.
    """

    number: int
    transfer: int
    name: str
    minutes: int
    source: str
    at: int
    state: str
    mark: str | None
    generation: int


@dataclass(frozen=True)
class Delivery:
    """What a flush did: numbers of records appended, of those now doubtful, and what stopped it.

    `problem` is a sentence for the sysop, None when nothing is left waiting.
    """

    appended: tuple[int, ...]
    doubtful: tuple[int, ...]
    problem: str | None


_STATE = outbox.c.state
_UNDELIVERED = read(
    OutboxRow,
    lambda: (
        fields_of(
            *(OutboxRow, outbox),
            transfer=outbox.c.number,
            generation=generation_of_transfer(outbox.c.number),
        )
        .where(_STATE != "appended")
        .order_by(outbox.c.number)
    ),
)
# Only of a record that is as it was read: another process may have taken it on meanwhile.
_SET = Prepared(
    lambda: change(
        *(outbox, "state mark appended", equal(outbox.c.number)),
        outbox.c.state == bindparam("state_before"),
        func.coalesce(outbox.c.mark, "") == bindparam("mark_before"),
    )
)
_RESOLVE = Prepared(
    lambda: change(
        outbox, "state appended", equal(outbox.c.number), _STATE == "doubtful", mark=None
    )
)


def undelivered(desk: Desk) -> list[OutboxRow]:
    return [
        row._replace(number=format.record_number(row.generation, row.transfer))
        for row in _UNDELIVERED.all(desk.connection)
    ]


def repeat(desk: Desk, number: int) -> None:
    _resolve(desk, number, "waiting", None)


def regard_as_delivered(desk: Desk, number: int) -> None:
    _resolve(desk, number, "appended", stamp(desk.now))


def _resolve(desk: Desk, number: int, state: str, appended: int | None) -> None:
    changed = _RESOLVE(
        desk.connection, number=format.transfer_of(number), state=state, appended=appended
    )
    if changed.rowcount != 1:
        raise NotDoubtful(Phrase("Record {number} is not in doubt.", number=number))


def flush_outbox(database: Database, settings: BankSettings, now: datetime) -> Delivery:
    """Append every waiting record to THEBANK.EXT, after finding out about interrupted ones.

    Never raises for what a sysop can mend (no space, no permission, no folder, a locked or broken
    database): what was not written stays waiting, and `Delivery.problem` says why. Waits for other
    processes and for the disk; not for an event loop.
    """
    courier = _Courier(database, settings, now)
    try:
        if not courier.next_row():
            return Delivery((), (), None)
        if settings.thebank_ext is None:
            return Delivery((), (), "Records wait for a THEBANK.EXT, and sysop.toml names none.")
        with files.locked(settings.thebank_ext):
            while row := courier.next_row():
                courier.carry(row, settings.thebank_ext)
    except OSError as error:
        return courier.delivery(_sentence(settings.thebank_ext, error))
    except BooksFailed as error:
        return courier.delivery(str(error))
    return courier.delivery(None)


def _sentence(path: Path | None, error: OSError) -> str:
    if isinstance(error, FileNotFoundError) and path is not None:
        return f"{path} cannot be written: there is no folder {path.parent}. Its records wait."
    return f"{error.filename or path} cannot be written: {error.strerror}. Its records wait."


@dataclass(frozen=True)
class _Mark:
    """What the file was before an append, and the bytes to be appended (as Latin-1)."""

    device: int
    inode: int
    size: int
    changed: int  # nanoseconds
    recent: str  # digest of the last bytes
    data: str

    @property
    def line(self) -> bytes:
        return self.data.encode("latin-1")

    @classmethod
    def of(cls, file: int, line: bytes) -> _Mark:
        status = os.fstat(file)
        known = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
        return cls(*known, format.digest(file, status.st_size), line.decode("latin-1"))

    def is_untouched(self, file: int) -> bool:
        return self == _Mark.of(file, self.line)

    def is_continued_by(self, file: int) -> bool:
        """Tell whether the file is the one that was marked, all that it held still in its place."""
        status = os.fstat(file)
        return (
            (status.st_dev, status.st_ino) == (self.device, self.inode)
            and status.st_size >= self.size
            and format.digest(file, self.size) == self.recent
        )


class _Courier:
    """One round of deliveries; everything but `next_row` is done under the lock."""

    def __init__(self, database: Database, settings: BankSettings, now: datetime) -> None:
        self._database = database
        self._settings = settings
        self._now = now
        self._appended: list[int] = []
        self._doubtful: list[int] = []

    def delivery(self, problem: str | None) -> Delivery:
        return Delivery(tuple(self._appended), tuple(self._doubtful), problem)

    def next_row(self) -> OutboxRow | None:
        with self._database.reading(self._settings, self._now) as desk:
            return next((row for row in undelivered(desk) if row.state != "doubtful"), None)

    def carry(self, row: OutboxRow, path: Path) -> None:
        """Take a record one step on; an `OSError` leaves it where it can be taken up again."""
        if row.mark is None:
            self._append(row, path)
        else:
            self._recover(row, path, _Mark(**json.loads(row.mark)))

    def _append(self, row: OutboxRow, path: Path) -> None:
        with files.opened(path, _APPENDING | os.O_CREAT, files.AS_FOLDER) as file:
            line = format_record(self._record(row))
            if not _ends_a_line(file):
                line = LINE_END + line
            mark = _Mark.of(file, line)
            row = self._set(row, "appending", json.dumps(asdict(mark)))
            try:
                files.write_all(file, line)
            except OSError:
                if _taken_back(file, mark):
                    self._set(row, "waiting", None)
                raise
            self._finish(row, file, path)

    def _recover(self, row: OutboxRow, path: Path, mark: _Mark) -> None:
        """Find out what became of a record whose writer died, and take it on from there."""
        try:
            with files.opened(path, _APPENDING) as file:
                same_file = mark.is_continued_by(file)
                content = os.pread(file, format.MOST_READ, mark.size if same_file else 0)
                if len(content) == format.MOST_READ:
                    self._ask(row, f"{path} has too much in it to be read")
                elif self._holds(content, row):
                    self._finish(row, file, path)
                elif same_file and content and mark.line.startswith(content):
                    files.write_all(file, mark.line[len(content) :])
                    self._finish(row, file, path)
                elif mark.is_untouched(file) or (same_file and self._stands_alone(content, mark)):
                    self._set(row, "waiting", None)
                else:
                    self._ask(row, f"{path} is no longer the file it was")
        except FileNotFoundError:
            self._ask(row, f"{path} has been taken away")

    def _stands_alone(self, added: bytes, mark: _Mark) -> bool:
        """Tell whether what others have added is theirs alone, with no piece of ours before it.

        An empty file cannot be told from the next one of its name, which may have the same inode.
        """
        first = added.lstrip(LINE_END).split(b"\n")[0]
        if first[:1] == mark.line.lstrip(LINE_END)[:1]:
            try:
                parse_record(first)
            except NotARecord:
                return False
        return mark.size > 0

    def _holds(self, content: bytes, row: OutboxRow) -> bool:
        """Tell whether a complete line of a file is the record, by its number and its payee."""
        ours = parse_record(format_record(self._record(row)))
        assert ours is not None  # what we write is a record
        for line in content.split(b"\n")[:-1]:
            with contextlib.suppress(NotARecord):
                record = parse_record(line)
                # The time is left out: the sysop may have moved the board to another zone.
                if record is not None and replace(record, at=ours.at) == ours:
                    return True
        return False

    def _record(self, row: OutboxRow) -> Record:
        at = self._settings.schedule.local(instant(row.at)).replace(tzinfo=None)
        return Record(row.name, row.minutes, row.source, at, row.number)

    def _finish(self, row: OutboxRow, file: int, path: Path) -> None:
        """Make sure of what was appended, and that it went into the file that is there."""
        os.fsync(file)
        if _is_at(file, path):
            self._set(row, "appended", None)
            self._appended.append(row.number)
        else:
            self._ask(row, f"{path} was taken away while it was written")

    def _ask(self, row: OutboxRow, why: str) -> None:
        self._set(row, "doubtful", why)
        self._doubtful.append(row.number)
        log.error(
            "%s: whether %d minutes for %s (record %d) went with it, only the sysop can tell",
            *(why, row.minutes, row.name, row.number),
        )

    def _set(self, row: OutboxRow, state: str, mark: str | None) -> OutboxRow:
        """Note how far a record is; `OSError` where another process has taken it on meanwhile.

        The lock should keep others away, but not every disk of several machines knows locks, and
        whoever stood still for long may have lost it.
        """
        appended = stamp(self._now) if state == "appended" else None
        before = {"state_before": row.state, "mark_before": row.mark or ""}
        with self._database.transaction(self._settings, self._now) as desk:
            after = {"state": state, "mark": mark, "appended": appended}
            changed = _SET(desk.connection, number=row.transfer, **after, **before)
            if changed.rowcount != 1:
                raise OSError(errno.EAGAIN, f"another process has carried record {row.number}")
        return row._replace(state=state, mark=mark)


def _taken_back(file: int, mark: _Mark) -> bool:
    """Remove what a failed append has left, unless something else stands behind it by now."""
    left = os.pread(file, os.fstat(file).st_size, mark.size)
    if left and mark.line.startswith(left):
        os.ftruncate(file, mark.size)
    return mark.line.startswith(left)


def _ends_a_line(file: int) -> bool:
    """Tell whether a record can be appended as it is; drops the end-of-file mark of DOS editors."""
    size = os.fstat(file).st_size
    while size and os.pread(file, 1, size - 1) == DOS_END_OF_FILE:
        size -= 1
        os.ftruncate(file, size)
    return size == 0 or os.pread(file, 1, size - 1) == b"\n"


def _is_at(file: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file), os.lstat(path))
    except FileNotFoundError:
        return False
