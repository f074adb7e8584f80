"""Every error of the time bank, as one tree.

    TimeBankError
    ├── Refused         nothing was done; the text is for the caller
    ├── Unusable        what the sysop gave cannot be used; the text is for the sysop
    ├── BooksFailed     the disk failed; the text says what is known
    ├── NotPlain        a name is not that of the file it should be; an OSError
    └── InterruptedWork what goes on in another way; nobody is told

What ends a command is `UserError` in cli/errors.py: it is click's, which only commands load.
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
    """The root of them all."""


class NotPlain(TimeBankError, OSError):
    """What has a name is not a file, or not one that is expected there; it is left alone."""


# What a caller is refused.


class Refused(TimeBankError):
    """The operation is refused and nothing of it was done; `str()` is a sentence for the caller."""

    # Whose bet it was, at a table.
    seat: int | None = None


class NotEnough(Refused):
    """The account does not hold what was asked of it."""


class NoRoom(Refused):
    """The time would reach past the next system event."""


class WindowClosed(Refused):
    """The bank's window is closed to the caller: by its mode, its hours, or the sysop."""


class LimitReached(Refused):
    """A limit that the sysop has set allows less than was asked."""


class CallClosed(Refused):
    """The call is not, or no longer, the caller's open one."""


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
    """What was asked cannot be done to a caller who is on a call."""


class CallerLocked(Refused):
    """The sysop has locked the caller out."""


class UnknownCaller(Refused):
    """There is no such caller."""


class NameRefused(Refused):
    """A name that cannot be used."""


class NameTaken(Refused):
    """Another caller has this name, or one that looks like it."""


class OwnLimit(Refused):
    """A limit that the caller has set for themselves forbids the bet."""


class TurnsUsed(Refused):
    """The caller has played all turns of the day."""


class RoundInPlay(Refused):
    """The caller has another hand in play, which must be finished first."""


class RoundOver(Refused):
    """The hand is settled, or is not this caller's."""


class OutOfStep(Refused):
    """The hand has gone on meanwhile: the action is not the next one."""


class ShoeGone(Refused):
    """The shoe is done, or is not this caller's for this game."""


class NotDoubtful(Refused):
    """There is nothing of this number about which the sysop was asked."""


class NothingToList(Refused):
    """The books know no such game or kind of transfer; the sentence names those they know."""


# What the sysop gave.


class Unusable(TimeBankError):
    """A file or a setting cannot be used; `str()` is a sentence for the sysop."""


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong, in words that continue its key: "must be 1 to 5, is 0".

    `key` is written as the sysop finds it ("[[events]] 2, minutes"), and is empty when the file as
    a whole is meant. `line` and `column` count from 1; None where they are not known for certain.
    """

    key: str
    reason: str
    line: int | None = None
    column: int | None = None


class SettingsError(Unusable):
    """All that is wrong with a settings file; its text has a line for each problem."""

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
    """A text that says no opening hours; its text says why, in words that continue a sentence."""


class NoPlace(Unusable, ValueError):
    """A text names no database on a server; `str()` says why, in words that continue its key."""


class EventRefused(Unusable):
    """A system event cannot be started early, or taken back."""


class DatabaseRefused(Unusable):
    """The file cannot be used as our database."""


class OlderBooks(DatabaseRefused):
    """The books are of an earlier version, and are moved forward on request only."""


class BooksInUse(Unusable):
    """Another process has the books open, so they are not moved forward now."""


class BooksTaken(Unusable):
    """Another process holds the lock of the books (`timebank.serving`).

    `state` is what it does, and `data` its data folder if it is a server.
    """

    def __init__(self, sentence: str, state: str, data: str) -> None:
        super().__init__(sentence)
        self.state, self.data = state, data


class BackupRefused(Unusable):
    """There is no copy, or the books were not put back; nothing changed."""


class MoveRefused(BackupRefused):
    """The books were not moved; they are where they were, and whole."""


class NotCopied(BackupRefused):
    """A database cannot be read as one."""


class NotInOrder(BackupRefused):
    """The audit of the copy found something: `findings`, for the command to print."""

    def __init__(self, path: Path, findings: Sequence[Any]) -> None:
        super().__init__(f"{path} is not in order, so it does not replace the books.")
        self.findings = findings


class JournalDamaged(Unusable):
    """The journal of round `number` makes no sense; `str()` says what, in a clause."""

    def __init__(self, number: int, what: object) -> None:
        super().__init__(f"its journal cannot be read: {what}")
        self.number = number


class NotARecord(Unusable, ValueError):
    """A line of THEBANK.EXT that cannot be read; the text says why."""


# What the disk did.


class BooksFailed(TimeBankError):
    """Something was not done in the books as it should be; `str()` is a sentence."""


class BooksUnavailable(BooksFailed):
    """The books could not be written (disk full, locked, broken); nothing was changed."""


class BooksGone(BooksUnavailable):
    """The files of the books were removed, replaced or written over; nothing is written any more.

    `str()` is for callers, `missing` for the log.
    """

    def __init__(self, missing: str) -> None:
        super().__init__(Phrase("The books are damaged."))
        self.missing = missing


class OutcomeUnknown(BooksFailed):
    """A COMMIT has failed, and it could not be found out in time whether it counts."""


# What goes on in another way.


class InterruptedWork(TimeBankError):
    """Work that is put off or left to another process."""


class InDoubt(InterruptedWork):
    """No answer yet: a COMMIT has failed, and it is being found out whether it counts."""


class StillInDoubt(InterruptedWork):
    """The disk does not allow to find it out; `str()` is the reason."""


class Overtaken(InterruptedWork):
    """Another process has gone on with the file."""


class LeaseLost(InterruptedWork):
    """What this server held is another's now, or nobody's: nothing was written under it."""
