"""THEBANK.EXT, read: minutes that other programs bring to our accounts, or take out of them.

A file is taken over by renaming it, read line by line into the books, and kept as its .BAK; what
cannot be applied goes to the sysop's log. Where a file stands and how far it was read is in the
books (see `bookings`), so whoever comes after a crash goes on from there. A file whose last line is
not ended yet stays where it is: what is ended in it is applied, and the rest of that line reaches
it whichever way its writer adds it. A program that has the file open while it is renamed writes on
in the renamed one; so a .BAK is looked at for another day.

What this means for programs that write such files is documented in docs/formats.md.
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

MOST_REFUSALS = 20  # that a report names, the sysop's log has them all


@dataclass
class Report:
    """What one round over a file did. `came` and `went` are seconds, into accounts and out.

    `refused` counts lines, and `refusals` says of the first of them which they are and why.
    `waiting` says what the file still lacks, `kept` which .BAK files it left. `problem` is what the
    sysop should mend, None when all is well.
    """

    path: Path
    applied: int = 0
    came: int = 0
    went: int = 0
    refused: int = 0
    refusals: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()
    kept: tuple[Path, ...] = ()
    problem: str | None = None

    def sentences(self) -> tuple[str, ...]:
        """Say it all, a line each; there is always at least one."""
        said = []
        if self.applied:
            records = f"{self.applied} record" + ("s" if self.applied != 1 else "")
            moved = f"{span(self.came)} came in, {span(self.went)} went out"
            said.append(f"{self.path}: {records} applied; {moved}.")
        said += [f"{self.path}, {refusal}" for refusal in self.refusals]
        if self.refused > len(self.refusals):
            said.append(f"{self.path}: {self.refused - len(self.refusals)} more were refused.")
        if self.refused:
            said.append("What was refused is in `timebank log`.")
        said += self.waiting
        said += [f"It is kept as {kept}." for kept in self.kept]
        if self.problem is not None:
            said.append(self.problem)
        return tuple(said) or (f"{self.path}: nothing new.",)


log = logging.getLogger("timebank")

# Lines that share a COMMIT: enough to make the wait for the disk small, few enough that callers
# on line, who wait for the same lock, do not notice.
LINES_A_COMMIT = 50
WATCHED_SECONDS = 86_400  # how long a .BAK is looked at for lines that come late


def import_file(
    database: Database,
    settings: BankSettings,
    now: datetime,
    path: Path,
) -> Report:
    """Take a file over and apply its records, after finishing what an earlier round left undone.

    Never raises for what a sysop can mend (no such file, no permission, no space, locked or broken
    books): `Report.problem` says what it was, and the next round goes on from there. Waits for
    other processes and for the disk; not for an event loop.
    """
    takeover = _Takeover(database, settings, now, path)
    return _report(takeover, takeover.run)


def import_all(database: Database, settings: BankSettings, now: datetime) -> list[Report]:
    """Do one round over the files that sysop.toml names, and those that wait to be finished.

    Like `import_file` it never raises for what a sysop can mend. A file that is not there, and has
    left nothing to finish, is not reported: its writers have written nothing.
    """
    if settings.mode != "built-in":
        return []
    try:
        with database.reading(settings, now) as desk:
            begun = {
                row.path for row in bookings.open_imports(desk, None) if row.state != "reading"
            }
    except BooksFailed as error:
        return [Report(settings.database, problem=str(error))]
    reports = []
    for path in settings.imports:
        if not _is_missing(path) or files.place_of(path) in begun:
            reports.append(import_file(database, settings, now, path))
    # What the sysop took over by hand is finished too, but a new file there is theirs to import.
    for place in sorted(begun.difference(map(files.place_of, settings.imports))):
        if not _is_missing(place.parent):
            takeover = _Takeover(database, settings, now, place)
            reports.append(_report(takeover, takeover.finish))
    return reports


def _report(takeover: _Takeover, work: Callable[[], str | None]) -> Report:
    """Do some of the work, and say how far it came; `work` returns what stopped it."""
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
        pass  # what it is about is found out when it is taken over
    return False


def _is_empty(path: Path) -> bool:
    """Tell whether a name is that of an empty file, and not of a link to one."""
    try:
        about = os.lstat(path)
    except FileNotFoundError:
        return False
    return stat.S_ISREG(about.st_mode) and about.st_size == 0


def _are_same(ours: Path, place: Path) -> bool:
    try:
        return ours.samefile(place)
    except OSError:
        return False  # one of the two is not there


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
        self.report = Report(path)

    def run(self) -> str | None:
        """Finish what was begun, then take over what is there now; says why when it cannot be."""
        reason = self._reason_not_to()
        if reason is None:
            with files.locked(self._place):
                self._look(self._finish())
        return reason

    def finish(self) -> None:
        with files.locked(self._place):
            self._finish()

    def _reason_not_to(self) -> str | None:
        if self._settings.mode != "built-in":
            return f'{self.path} is not read: only a board of mode "built-in" has a bank for it.'
        if os.fsencode(self._place).decode("utf-8", "replace") != str(self._place):
            return "A file whose name is not in UTF-8 is not read; rename it first."
        with self._database.reading(self._settings, self._now) as desk:
            begun = bookings.open_imports(desk, self._place)
            number = bookings.kept_as(desk, self._place)
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
        """Take files that have been renamed as far as they go; returns one that still stands."""
        standing = None
        with self._desk() as desk:
            rows = bookings.open_imports(desk, self._place)
        for row in rows:
            if row.state == "taking" and _is_missing(row.taken):
                standing = self._advance(row, "reading")
            elif row.state == "reading":
                standing = row
            else:
                self._go_on(row)
        return standing

    def _go_on(self, row: Import) -> None:
        """Take a file that has been renamed as far as it goes."""
        if row.state == "taking":
            row = self._arrive(row)
        if row.state == "taken":
            row = self._keep(self._read(row)[0])
        elif row.state == "keeping":
            row = self._rename_to_kept(row)
        self._watch(row)

    def _look(self, row: Import | None) -> None:
        """See what stands at the path; `row` is what is known of it from an earlier round."""
        try:
            with files.opened(self._place, os.O_RDONLY) as file:
                if row is not None and not row.position.is_in(file):
                    log.warning("%s is not the file that it was; it is read again", self.path)
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
        """Rename a file and read it; one whose last line has no end yet is read where it is."""
        if complete:
            self._go_on(self._take(row))
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
        """Make sure of a file under its new name, and that it is the one that was meant."""
        files.sync_folder(self._place.parent)
        with files.opened(row.taken, os.O_RDONLY) as file:
            if row.position.is_in(file):
                return self._advance(row, "taken")
        with self._desk() as desk:
            bookings.advance(desk, row, "closed", None)
            return bookings.begin(desk, self._place, row.taken)

    def _read(self, row: Import) -> tuple[Import, int]:
        """Apply the ended lines of a file; returns how many bytes stand behind them too."""
        with files.opened(row.place, os.O_RDONLY) as file:
            if not row.position.is_in(file):
                return row, 0
            reader = LineReader(file, row.position)
            lines = iter(reader)
            while batch := list(islice(lines, LINES_A_COMMIT)):
                # What is booked must not be gone from the file after a power cut.
                os.fsync(file)
                last = batch[-1]
                after = Position(last.end, last.lines, format.digest(file, last.end))
                with self._desk() as desk:
                    row, booked = bookings.book(desk, row, batch, after)
                self.report.applied += booked.applied
                self.report.came += booked.came
                self.report.went += booked.went
                self._refuse(booked.refused)
            return row, reader.unended

    def _refuse(self, refusals: Sequence[RefusedLine]) -> None:
        report = self.report
        for refusal in refusals:
            report.refused += 1
            if report.refused <= MOST_REFUSALS:
                said = f"line {refusal.line} of import {refusal.import_id}: {refusal.reason}"
                report.refusals += (f"{said}.",)
                log.warning("%s, %s: %s", self.path, said, refusal.text)
            elif report.refused == MOST_REFUSALS + 1:
                log.warning("%s: more lines are refused, see `timebank log`", self.path)

    def _keep(self, row: Import) -> Import:
        """Rename a file whose lines are all in the books to a .BAK of its own."""
        return self._rename_to_kept(self._advance(row, "keeping", self._free_name(row)))

    def _rename_to_kept(self, row: Import) -> Import:
        assert row.kept is not None  # it was named when it got into this state
        if not _is_missing(row.taken):
            if not (_is_missing(row.kept) or _is_empty(row.kept)):
                # Somebody has used the name meanwhile.
                return self._keep(row)
            with files.opened(row.taken, os.O_RDONLY) as file:
                files.rename(file, row.taken, row.kept)
        files.sync_folder(self._place.parent)
        self.report.kept += (row.kept,)
        return self._advance(row, "kept", row.kept)

    def _free_name(self, row: Import) -> Path:
        """Find a name that no file has, and hold it with an empty one, which is renamed over."""
        for attempt in count(1):
            number = f"{row.id}" if attempt == 1 else f"{row.id}-{attempt}"
            name = self._place.with_name(f"{self._place.name}.{number}.BAK")
            with contextlib.suppress(FileExistsError):
                os.close(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
                return name
            if _is_empty(name):
                return name
        raise AssertionError("numbers do not end")

    def _watch(self, row: Import) -> None:
        try:
            with files.opened(row.place, os.O_RDONLY) as file:
                untouched = row.position.is_in(file)
                end = os.fstat(file).st_size
        except FileNotFoundError:
            self._advance(row, "closed", row.kept)
            return
        if not untouched:
            reason = "somebody has changed what was read before; from here on nothing was applied"
            self._close(row, end, reason)
            return
        late = stamp(self._now) - row.changed > WATCHED_SECONDS
        if end == row.position.offset and not late:
            return
        row, unended = self._read(row)
        if unended and late:
            self._close(row, row.position.offset + unended, "its end has never come")
        elif late:
            self._advance(row, "closed", row.kept)
        elif unended:
            self._wait(row.place, row.position)

    def _close(self, row: Import, end: int, reason: str) -> None:
        """Close a file with something in it that nobody will apply."""
        start, lines = row.position.offset, row.position.lines
        left = RawLine(lines + 1, start, end, None, lines)
        with self._desk() as desk:
            refusal = bookings.refuse(desk, row, left, reason)
            bookings.advance(desk, row, "closed", row.kept)
        self._refuse([refusal])

    def _wait(self, place: Path, position: Position) -> None:
        words = f"{place}: line {position.lines + 1} has no end yet, and waits for it."
        self.report.waiting += (words,)

    def _advance(self, row: Import, state: str, kept: Path | None = None) -> Import:
        with self._desk() as desk:
            return bookings.advance(desk, row, state, kept)

    def _desk(self) -> AbstractContextManager[Desk]:
        return self._database.transaction(self._settings, self._now)
