"""Writes THEBANK.EXT, the file through which winnings reach another time bank.

In the mode "external", a clamp commits a record to the table `outbox` together with its transfer.
`flush_outbox` appends each record to the file exactly once:

    waiting -> appending -> appended
                         -> doubtful -> waiting or appended, as the sysop says

Before the write, a record becomes `appending`, and its mark describes the file and the bytes to
write. A process that finds such a record under the lock knows that the writer is dead. It looks for
the record in the file: a complete one was appended, a partial one is completed, and a missing one
is appended now. If the receiving bank has taken the marked file away, the outcome is unknown. Then
the record is `doubtful` and the sysop decides, because writing it twice would create minutes.

docs/formats.md documents the file.
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
    """A record on its way to the file.

    `number` is the record's own, `transfer` that of its transfer; `at` is seconds since 1970. For
    an `appending` record, `mark` is a `_Mark` in JSON; for a doubtful one it says what happened.
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
    """The result of a flush: the numbers of appended and of newly doubtful records.

    `problem` is a sentence for the sysop that says why records still wait; None if none does.
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
# Changes a record only if it is as it was read: another process may have continued it.
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
    """Return the records that were not appended, in the order of their numbers."""
    return [
        row._replace(number=format.record_number(row.generation, row.transfer))
        for row in _UNDELIVERED.all(desk.connection)
    ]


def retry_record(desk: Desk, number: int) -> None:
    """Let a doubtful record wait again, because it never arrived; raises `NotDoubtful`."""
    _resolve(desk, number, "waiting", None)


def confirm_record(desk: Desk, number: int) -> None:
    """Mark a doubtful record as appended, because it arrived; raises `NotDoubtful`."""
    _resolve(desk, number, "appended", stamp(desk.now))


def _resolve(desk: Desk, number: int, state: str, appended: int | None) -> None:
    changed = _RESOLVE(
        desk.connection, number=format.transfer_number(number), state=state, appended=appended
    )
    if changed.rowcount != 1:
        raise NotDoubtful(Phrase("Record {number} is not in doubt.", number=number))


def flush_outbox(database: Database, settings: BankSettings, now: datetime) -> Delivery:
    """Append every waiting record to THEBANK.EXT, after the recovery of interrupted appends.

    A problem that the sysop can solve is not raised (no space, no permission, no folder, a locked
    or broken database). `Delivery.problem` describes it, and the records wait. The function waits
    for other processes and the disk, so call it outside of an event loop.
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
    """The file before an append, and the bytes to append, decoded as Latin-1."""

    device: int
    inode: int
    size: int
    changed: int  # nanoseconds
    recent: str  # `format.digest` of the file
    data: str

    @property
    def line(self) -> bytes:
        return self.data.encode("latin-1")

    @classmethod
    def read(cls, file: int, line: bytes) -> _Mark:
        status = os.fstat(file)
        fields = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
        return cls(*fields, format.digest(file, status.st_size), line.decode("latin-1"))

    def is_untouched(self, file: int) -> bool:
        return self == _Mark.read(file, self.line)

    def is_continued_by(self, file: int) -> bool:
        """Return whether an open file is the marked one, with its former content unchanged."""
        status = os.fstat(file)
        return (
            (status.st_dev, status.st_ino) == (self.device, self.inode)
            and status.st_size >= self.size
            and format.digest(file, self.size) == self.recent
        )


class _Courier:
    """One round of deliveries. All methods that write run under the lock of the file."""

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
        """Append a record or recover its append. After an `OSError` it can be carried again."""
        if row.mark is None:
            self._append(row, path)
        else:
            self._recover(row, path, _Mark(**json.loads(row.mark)))

    def _append(self, row: OutboxRow, path: Path) -> None:
        with files.opened(path, _APPENDING | os.O_CREAT, files.AS_FOLDER) as file:
            line = format_record(self._record(row))
            if not _ends_a_line(file):
                line = LINE_END + line
            mark = _Mark.read(file, line)
            row = self._set(row, "appending", json.dumps(asdict(mark)))
            try:
                files.write_all(file, line)
            except OSError:
                if _undo_append(file, mark):
                    self._set(row, "waiting", None)
                raise
            self._finish(row, file, path)

    def _recover(self, row: OutboxRow, path: Path, mark: _Mark) -> None:
        """Find out whether a dead process wrote a record, and continue from there."""
        try:
            with files.opened(path, _APPENDING) as file:
                same_file = mark.is_continued_by(file)
                content = os.pread(file, format.MOST_READ, mark.size if same_file else 0)
                if len(content) == format.MOST_READ:
                    self._mark_doubtful(row, f"{path} has too much in it to be read")
                elif self._contains(content, row):
                    self._finish(row, file, path)
                elif same_file and content and mark.line.startswith(content):
                    files.write_all(file, mark.line[len(content) :])
                    self._finish(row, file, path)
                elif mark.is_untouched(file) or (same_file and self._is_foreign(content, mark)):
                    self._set(row, "waiting", None)
                else:
                    self._mark_doubtful(row, f"{path} is no longer the file it was")
        except FileNotFoundError:
            self._mark_doubtful(row, f"{path} has been taken away")

    def _is_foreign(self, added: bytes, mark: _Mark) -> bool:
        """Return whether the bytes added since the mark contain no part of our record.

        False if the marked file was empty: a new file of the same name may have the same inode.
        """
        first = added.lstrip(LINE_END).split(b"\n")[0]
        if first[:1] == mark.line.lstrip(LINE_END)[:1]:
            try:
                parse_record(first)
            except NotARecord:
                return False
        return mark.size > 0

    def _contains(self, content: bytes, row: OutboxRow) -> bool:
        """Return whether a complete line in `content` is the record of `row`."""
        ours = parse_record(format_record(self._record(row)))
        assert ours is not None  # what we write is a record
        for line in content.split(b"\n")[:-1]:
            with contextlib.suppress(NotARecord):
                record = parse_record(line)
                # Without the time, because the sysop may have changed the board's time zone.
                if record is not None and replace(record, at=ours.at) == ours:
                    return True
        return False

    def _record(self, row: OutboxRow) -> Record:
        at = self._settings.schedule.local(instant(row.at)).replace(tzinfo=None)
        return Record(row.name, row.minutes, row.source, at, row.number)

    def _finish(self, row: OutboxRow, file: int, path: Path) -> None:
        """Sync an appended record, and check that the path still leads to the open file."""
        os.fsync(file)
        if _is_at(file, path):
            self._set(row, "appended", None)
            self._appended.append(row.number)
        else:
            self._mark_doubtful(row, f"{path} was taken away while it was written")

    def _mark_doubtful(self, row: OutboxRow, why: str) -> None:
        self._set(row, "doubtful", why)
        self._doubtful.append(row.number)
        log.error(
            "%s: only the sysop can tell whether %d minutes for %s (record %d) went with it",
            *(why, row.minutes, row.name, row.number),
        )

    def _set(self, row: OutboxRow, state: str, mark: str | None) -> OutboxRow:
        """Change the state of a record; `OSError` if another process has continued it meanwhile.

        The lock should prevent that. But some shared disks have no locks, and a process that was
        stopped for long may have lost its lock.
        """
        appended = stamp(self._now) if state == "appended" else None
        before = {"state_before": row.state, "mark_before": row.mark or ""}
        with self._database.transaction(self._settings, self._now) as desk:
            after = {"state": state, "mark": mark, "appended": appended}
            changed = _SET(desk.connection, number=row.transfer, **after, **before)
            if changed.rowcount != 1:
                raise OSError(errno.EAGAIN, f"another process has carried record {row.number}")
        return row._replace(state=state, mark=mark)


def _undo_append(file: int, mark: _Mark) -> bool:
    """Remove a partial append; return False if other bytes follow it, so that it must stay."""
    left = os.pread(file, os.fstat(file).st_size, mark.size)
    if left and mark.line.startswith(left):
        os.ftruncate(file, mark.size)
    return mark.line.startswith(left)


def _ends_a_line(file: int) -> bool:
    """Remove end-of-file marks of DOS; return whether the file is empty or ends with a line end."""
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
