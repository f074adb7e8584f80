"""Reads THEBANK.EXT files, by which other programs pay minutes to our accounts or take them out.

A file is renamed, read line by line into the books, and renamed to its .BAK. Lines that cannot be
applied are noted in the sysop's log. The books record the place and the position of each file (see
`bookings`), so the next process continues after a crash.

A file whose last line has no end keeps its name, so that its writer can complete the line. Its
complete lines are applied. A program that has the file open during the rename goes on writing into
the renamed file. So a .BAK is read for another WATCHED_SECONDS.

docs/formats.md says what this means for programs that write such files.
"""

from __future__ import annotations

import contextlib
import logging
import os
import stat
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from itertools import count, islice
from pathlib import Path

from timebank import files
from timebank.errors import BooksFailed, Overtaken
from timebank.ledger.database import Database, Desk
from timebank.ledger.schema import stamp
from timebank.settings.settings import BankSettings
from timebank.thebank import bookings, format
from timebank.thebank.bookings import Import, RefusedLine
from timebank.thebank.format import (
    NOWHERE,
    LineReader,
    Position,
    RawLine,
)
from timebank.words import span

MOST_REFUSALS = 20  # in a report; the sysop's log has all of them


@dataclass
class ImportReport:
    """The result of one round over a file.

    `applied` counts records, `refused` counts lines. `refusals` are sentences about the first
    refused lines, `waiting` about lines without an end. `backups` are the .BAK files that the round
    made. `problem` is a sentence for the sysop; None if there was none.
    """

    path: Path
    applied: int = 0
    seconds_in: int = 0
    seconds_out: int = 0
    refused: int = 0
    refusals: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()
    backups: tuple[Path, ...] = ()
    problem: str | None = None

    def sentences(self) -> tuple[str, ...]:
        """Return the report as sentences, at least one."""
        lines = []
        if self.applied:
            records = f"{self.applied} record" + ("s" if self.applied != 1 else "")
            moved = f"{span(self.seconds_in)} came in, {span(self.seconds_out)} went out"
            lines.append(f"{self.path}: {records} applied; {moved}.")
        lines += [f"{self.path}, {refusal}" for refusal in self.refusals]
        if self.refused > len(self.refusals):
            lines.append(f"{self.path}: {self.refused - len(self.refusals)} more were refused.")
        if self.refused:
            lines.append("What was refused is in `timebank log`.")
        lines += self.waiting
        lines += [f"It is kept as {backup}." for backup in self.backups]
        if self.problem is not None:
            lines.append(self.problem)
        return tuple(lines) or (f"{self.path}: nothing new.",)


log = logging.getLogger("timebank")

# More lines wait less often for the disk. Fewer lines hold the lock for a shorter time, for which
# callers online wait.
LINES_A_COMMIT = 50
WATCHED_SECONDS = 86_400  # for which a .BAK is read again, because lines may come late


def import_file(
    database: Database,
    settings: BankSettings,
    now: datetime,
    path: Path,
) -> ImportReport:
    """Finish earlier imports of a path, then take its file over and apply its records.

    A problem that the sysop can solve is not raised (no such file, no permission, no space, locked
    or broken books). `ImportReport.problem` describes it, and the next round continues. The
    function waits for other processes and the disk, so call it outside of an event loop.
    """
    takeover = _Takeover(database, settings, now, path)
    return _report(takeover, takeover.run)


def import_all(database: Database, settings: BankSettings, now: datetime) -> list[ImportReport]:
    """Do one round over the files that sysop.toml names, and over unfinished imports.

    Problems are reported as by `import_file`. A missing file without an unfinished import is not
    reported, because its writers have written nothing.
    """
    if settings.mode != "built-in":
        return []
    try:
        with database.reading(settings, now) as desk:
            begun = {
                row.path for row in bookings.open_imports(desk, None) if row.state != "reading"
            }
    except BooksFailed as error:
        return [ImportReport(settings.database, problem=str(error))]
    reports = []
    for path in settings.imports:
        if not _is_missing(path) or files.place_of(path) in begun:
            reports.append(import_file(database, settings, now, path))
    # Finish also imports that the sysop began by hand. A new file there is left to the sysop.
    for place in sorted(begun.difference(map(files.place_of, settings.imports))):
        if not _is_missing(place.parent):
            takeover = _Takeover(database, settings, now, place)
            reports.append(_report(takeover, takeover.finish))
    return reports


def _report(takeover: _Takeover, work: Callable[[], str | None]) -> ImportReport:
    """Do `work` of a takeover, which returns its problem or None, and return the report."""
    report = takeover.report
    try:
        report.problem = work()
    except OSError as error:
        where = error.filename or report.path
        report.problem = f"{where} is in the way of an import: {error.strerror}."
    except BooksFailed as error:
        report.problem = str(error)
    except Overtaken:
        report.problem = f"{report.path} is being read by another process."
    return report


def _is_missing(path: Path) -> bool:
    try:
        os.lstat(path)
    except FileNotFoundError:
        return True
    except OSError:
        pass  # the takeover will meet the same error
    return False


def _is_empty(path: Path) -> bool:
    """Return whether a path is an empty file, and not a link to one."""
    try:
        about = os.lstat(path)
    except FileNotFoundError:
        return False
    return stat.S_ISREG(about.st_mode) and about.st_size == 0


def _are_same(ours: Path, place: Path) -> bool:
    try:
        return ours.samefile(place)
    except OSError:
        return False  # one of them is missing


class _Takeover:
    """One round over one file."""

    def __init__(
        self,
        database: Database,
        settings: BankSettings,
        now: datetime,
        path: Path,
    ) -> None:
        self._database = database
        self._settings = settings
        self._now = now
        self.path = path
        self._place = files.place_of(path)
        self.report = ImportReport(path)

    def run(self) -> str | None:
        """Finish earlier imports, then take over the file; return the problem or None."""
        reason = self._refusal()
        if reason is None:
            with files.locked(self._place):
                self._check_path(self._finish())
        return reason

    def finish(self) -> None:
        with files.locked(self._place):
            self._finish()

    def _refusal(self) -> str | None:
        if self._settings.mode != "built-in":
            return f'{self.path} is not read: only a board of mode "built-in" has a bank for it.'
        if os.fsencode(self._place).decode("utf-8", "replace") != str(self._place):
            return "A file whose name is not in UTF-8 is not read; rename it first."
        with self._database.reading(self._settings, self._now) as desk:
            begun = bookings.open_imports(desk, self._place)
            number = bookings.import_of_backup(desk, self._place)
        if number is not None:
            return f"{self.path} is what import {number} has read: it would be applied twice."
        if _is_missing(self._place):
            return None if begun else f"There is no file {self.path}."
        ours = self._settings.thebank_ext
        if ours is not None and _are_same(ours, self._place):
            return f"{self.path} is the thebank_ext of sysop.toml, which is ours to write."
        if _are_same(self._settings.database, self._place):
            return f"{self.path} is the database of this board."
        why = files.fault(self._place)
        return None if why is None else f"{self.path} is not read: {why}."

    def _finish(self) -> Import | None:
        """Continue all renamed files; return the import of a file that has its original name."""
        unrenamed = None
        with self._desk() as desk:
            rows = bookings.open_imports(desk, self._place)
        for row in rows:
            if row.state == "taking" and _is_missing(row.taken):
                unrenamed = self._advance(row, "reading")
            elif row.state == "reading":
                unrenamed = row
            else:
                self._proceed(row)
        return unrenamed

    def _proceed(self, row: Import) -> None:
        """Take a renamed file through its states as far as possible."""
        if row.state == "taking":
            row = self._arrive(row)
        if row.state == "taken":
            row = self._keep(self._read(row)[0])
        elif row.state == "keeping":
            row = self._rename_to_backup(row)
        self._watch_backup(row)

    def _check_path(self, row: Import | None) -> None:
        """Check the file at the path, and take it over if it has something new.

        `row` is its import in an earlier round, None without one.
        """
        try:
            with files.opened(self._place, os.O_RDONLY) as file:
                if row is not None and not row.position.is_in(file):
                    log.warning("%s is another file than before; it is read again", self.path)
                    self._advance(row, "closed")
                    row = None
                position = NOWHERE if row is None else row.position
                news = any(True for _ in LineReader(file, position))
                complete = format.is_ended(file)
        except FileNotFoundError:
            if row is not None:
                self._advance(row, "closed")
            return
        if not complete and not news:
            self._wait(self._place, position)
        elif row is not None or news:
            self._take_over(row or self._begin(), complete)

    def _take_over(self, row: Import, complete: bool) -> None:
        """Rename a file and read it. Without `complete`, read it under its original name."""
        if complete:
            self._proceed(self._take(row))
            return
        row, unended = self._read(row)
        if unended:
            self._wait(self._place, row.position)

    def _begin(self) -> Import:
        with self._desk() as desk:
            return bookings.begin(desk, self._place, None)

    def _take(self, row: Import) -> Import:
        row = self._advance(row, "taking")
        with files.opened(self._place, os.O_RDONLY) as file:
            files.rename(file, self._place, row.taken)
        return self._arrive(row)

    def _arrive(self, row: Import) -> Import:
        """Check that the renamed file is the one that was read, or begin a new import of it."""
        files.sync_folder(self._place.parent)
        with files.opened(row.taken, os.O_RDONLY) as file:
            if row.position.is_in(file):
                return self._advance(row, "taken")
        with self._desk() as desk:
            bookings.advance(desk, row, "closed", None)
            return bookings.begin(desk, self._place, row.taken)

    def _read(self, row: Import) -> tuple[Import, int]:
        """Apply the complete lines of a file; return also the number of bytes after them."""
        with files.opened(row.place, os.O_RDONLY) as file:
            if not row.position.is_in(file):
                return row, 0
            reader = LineReader(file, row.position)
            lines = iter(reader)
            while batch := list(islice(lines, LINES_A_COMMIT)):
                # After a power cut the file must still contain what is booked.
                os.fsync(file)
                last = batch[-1]
                after = Position(last.end, last.lines, format.digest(file, last.end))
                with self._desk() as desk:
                    row, booked = bookings.book(desk, row, batch, after)
                self.report.applied += booked.applied
                self.report.seconds_in += booked.seconds_in
                self.report.seconds_out += booked.seconds_out
                self._refuse(booked.refused)
            return row, reader.unended

    def _refuse(self, refusals: Sequence[RefusedLine]) -> None:
        report = self.report
        for refusal in refusals:
            report.refused += 1
            if report.refused <= MOST_REFUSALS:
                words = f"line {refusal.line} of import {refusal.import_id}: {refusal.reason}"
                report.refusals += (f"{words}.",)
                log.warning("%s, %s: %s", self.path, words, refusal.text)
            elif report.refused == MOST_REFUSALS + 1:
                log.warning("%s: more lines are refused, see `timebank log`", self.path)

    def _keep(self, row: Import) -> Import:
        """Rename a file to its .BAK after all its lines are in the books."""
        return self._rename_to_backup(self._advance(row, "keeping", self._free_name(row)))

    def _rename_to_backup(self, row: Import) -> Import:
        assert row.backup is not None  # the state "keeping" comes with a name
        if not _is_missing(row.taken):
            if not (_is_missing(row.backup) or _is_empty(row.backup)):
                # Another program has used the name meanwhile.
                return self._keep(row)
            with files.opened(row.taken, os.O_RDONLY) as file:
                files.rename(file, row.taken, row.backup)
        files.sync_folder(self._place.parent)
        self.report.backups += (row.backup,)
        return self._advance(row, "kept", row.backup)

    def _free_name(self, row: Import) -> Path:
        """Return a free .BAK name, reserved by an empty file that the rename replaces."""
        for attempt in count(1):
            number = f"{row.id}" if attempt == 1 else f"{row.id}-{attempt}"
            name = self._place.with_name(f"{self._place.name}.{number}.BAK")
            with contextlib.suppress(FileExistsError):
                os.close(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
                return name
            if _is_empty(name):
                return name
        raise AssertionError("numbers do not end")

    def _watch_backup(self, row: Import) -> None:
        """Read lines that were added to a .BAK; close its import after WATCHED_SECONDS."""
        try:
            with files.opened(row.place, os.O_RDONLY) as file:
                untouched = row.position.is_in(file)
                end = os.fstat(file).st_size
        except FileNotFoundError:
            self._advance(row, "closed", row.backup)
            return
        if not untouched:
            reason = "lines that were read before have changed; the rest was not applied"
            self._close(row, end, reason)
            return
        late = stamp(self._now) - row.changed > WATCHED_SECONDS
        if end == row.position.offset and not late:
            return
        row, unended = self._read(row)
        if unended and late:
            self._close(row, row.position.offset + unended, "its end has never come")
        elif late:
            self._advance(row, "closed", row.backup)
        elif unended:
            self._wait(row.place, row.position)

    def _close(self, row: Import, end: int, reason: str) -> None:
        """Close the import of a file, and refuse its rest up to byte `end`."""
        start, lines = row.position.offset, row.position.lines
        rest = RawLine(lines + 1, start, end, None, lines)
        with self._desk() as desk:
            refusal = bookings.refuse(desk, row, rest, reason)
            bookings.advance(desk, row, "closed", row.backup)
        self._refuse([refusal])

    def _wait(self, place: Path, position: Position) -> None:
        words = f"{place}: line {position.lines + 1} has no end yet, and waits for it."
        self.report.waiting += (words,)

    def _advance(self, row: Import, state: str, backup: Path | None = None) -> Import:
        with self._desk() as desk:
            return bookings.advance(desk, row, state, backup)

    def _desk(self) -> AbstractContextManager[Desk]:
        return self._database.transaction(self._settings, self._now)
