"""Every error of the time bank, as one tree.

    TimeBankError
    ├── Refused         nothing was done; the text is for the caller
    ├── Unusable        a file or setting of the sysop is wrong; the text is for the sysop
    ├── BooksFailed     the disk failed; the text says what is known
    ├── NotPlain        a path is not the plain file that it must be; an OSError
    └── InterruptedWork the program continues in another way; no one sees the text

Commands end with `UserError` in cli/errors.py, which needs click and so only commands load.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from timebank.language import Phrase

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path


class TimeBankError(Exception):
    """The root of the tree."""


class NotPlain(TimeBankError, OSError):
    """A path is not a plain file, or not the expected one. It was left alone."""


# Refusals for callers.


class Refused(TimeBankError):
    """The operation is refused and nothing was done; `str()` is a sentence for the caller."""

    # The seat of the refused bet, at a table.
    seat: int | None = None


class NotEnough(Refused):
    """The account holds less than the amount."""


class NoRoom(Refused):
    """The time would reach past the next system event."""


class WindowClosed(Refused):
    """The bank's window is closed to the caller: by its mode, its hours, or the sysop."""


class LimitReached(Refused):
    """The amount exceeds a limit of the sysop."""


class CallClosed(Refused):
    """The call has ended, or is not the caller's."""


class AlreadyOnline(Refused):
    """The caller is on another call, at `node` since `since` (UTC), and may take it over."""

    def __init__(self, node: int, since: datetime, call_id: int) -> None:
        super().__init__(Phrase("You are already online on node {node}.", node=node))
        self.node = node
        self.since = since
        self.call_id = call_id


class NodesTaken(Refused):
    """Every node of the board has a call."""


class CallerOnline(Refused):
    """The operation is impossible while the caller is on a call."""


class CallerLocked(Refused):
    """The sysop has locked the caller out."""


class Unchanged(Refused):
    """The caller is in this state already."""


class UnknownCaller(Refused):
    """There is no such caller."""


class NameRefused(Refused):
    """A name that cannot be used."""


class NameTaken(Refused):
    """Another caller has this name, or one that looks like it."""


class OwnLimit(Refused):
    """The bet exceeds a limit that the caller has chosen."""


class TurnsUsed(Refused):
    """The caller has played all turns of the day."""


class RoundInPlay(Refused):
    """The caller has another hand in play, which must be finished first."""


class RoundOver(Refused):
    """The hand is settled, or is not this caller's."""


class OutOfStep(Refused):
    """The action is not the next one: the hand has moved on meanwhile."""


class ShoeGone(Refused):
    """The shoe is closed, or is not this caller's for this game."""


class NotDoubtful(Refused):
    """Nothing of this number is in doubt."""


class NothingToList(Refused):
    """The books have no such game or kind of transfer. The sentence names those that they have."""


# Files and settings of the sysop.


class Unusable(TimeBankError):
    """A file or a setting cannot be used; `str()` is a sentence for the sysop."""


@dataclass(frozen=True)
class Problem:
    """A problem of a key. `reason` is a clause that continues the key: "must be 1 to 5, is 0".

    `key` is written as the sysop finds it ("[[events]] 2, minutes"), and is "" for a problem of the
    whole file. `line` and `column` count from 1. They are None if they are not certain.
    """

    key: str
    reason: str
    line: int | None = None
    column: int | None = None


class SettingsError(Unusable):
    """All problems of a settings file; `str()` has a line for each."""

    def __init__(self, file: str, problems: Iterable[Problem]) -> None:
        self.file = file
        self.problems = tuple(problems)
        super().__init__("\n".join(self._sentence(problem) for problem in self.problems))

    def _sentence(self, problem: Problem) -> str:
        place = self.file
        if problem.line is not None:
            place += f", line {problem.line}"
        if problem.column is not None:
            place += f", column {problem.column}"
        key = f"{problem.key}: " if problem.key else ""
        end = "" if problem.reason.endswith("?") else "."
        return f"{place}: {key}{problem.reason}{end}"


class HoursRefused(Unusable, ValueError):
    """A text does not contain opening hours; `str()` is a clause that says why."""


class NoPlace(Unusable, ValueError):
    """A text is no URL of a database; `str()` is a clause that continues the key."""


class EventRefused(Unusable):
    """A system event cannot be started early, or taken back."""


class DatabaseRefused(Unusable):
    """The file cannot be used as our database."""


class OlderBooks(DatabaseRefused):
    """The books are of an earlier version, and are migrated on request only."""


class BooksInUse(Unusable):
    """Another process has the books open, so they cannot be migrated now."""


class BooksTaken(Unusable):
    """Another process holds the lock of the books (`timebank.serving`).

    `state` is the state in its note, and `data` its data folder if it is a server.
    """

    def __init__(self, sentence: str, state: str, data: str) -> None:
        super().__init__(sentence)
        self.state, self.data = state, data


class BackupRefused(Unusable):
    """The backup or restore was refused, and nothing changed."""


class MoveRefused(BackupRefused):
    """The books were not moved. They are unchanged in their place."""


class NotCopied(BackupRefused):
    """A file cannot be read as a database."""


class NotInOrder(BackupRefused):
    """The audit of the copy found errors, in `findings`."""

    def __init__(self, path: Path, findings: Sequence[Any]) -> None:
        super().__init__(f"{path} is not in order, so it does not replace the books.")
        self.findings = findings


class JournalDamaged(Unusable):
    """The journal of round `number` cannot be read; `str()` is a clause that says why."""

    def __init__(self, number: int, what: object) -> None:
        super().__init__(f"its journal cannot be read: {what}")
        self.number = number


class NotARecord(Unusable, ValueError):
    """A line of THEBANK.EXT cannot be read; `str()` is a clause that says why."""


# Failures of the disk.


class BooksFailed(TimeBankError):
    """An operation on the books failed; `str()` is a sentence."""


class BooksUnavailable(BooksFailed):
    """The books could not be written (disk full, locked, broken). Nothing was changed."""


class BooksGone(BooksUnavailable):
    """The files of the books were removed, replaced or overwritten. All writes are refused.

    `str()` is for callers, `missing` for the log.
    """

    def __init__(self, missing: str) -> None:
        super().__init__(Phrase("The books are damaged."))
        self.missing = missing


class OutcomeUnknown(BooksFailed):
    """A COMMIT failed, and it is unknown whether it took effect."""


# Work that continues in another way.


class InterruptedWork(TimeBankError):
    """Work is deferred, or left to another process."""


class InDoubt(InterruptedWork):
    """A COMMIT failed, and the program is still finding out whether it took effect."""


class StillInDoubt(InterruptedWork):
    """The disk does not allow to find out whether a COMMIT took effect; `str()` is the reason."""


class Overtaken(InterruptedWork):
    """Another process has continued with the file."""


class LeaseLost(InterruptedWork):
    """This server no longer holds a lease. Nothing was written under it."""
