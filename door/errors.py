"""Every error of the board, as one tree.

DoorError
├── CallerRefused    a caller is not let in; each class says if its text is for them or the log
├── LineError        a line fails, or sends something wrong
├── SysopError       a request of the sysop or of a host fails; the text says why
├── TableError       a caller's request at a table fails; the text tells them why
├── Interruption     ends the wait for a key, and what the caller was doing
└── GameError        in games/engine/errors.py, because rules of games import the engine alone
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from http import HTTPStatus
    from pathlib import Path

    from timebank.language import Phrase


class DoorError(Exception):
    """The base class of all errors of the board."""


# Callers who are not let in.


class CallerRefused(DoorError):
    """A caller is not let in."""


class CallRefused(CallerRefused):
    """A call is refused. The text is for the caller: printable ASCII, or empty."""


class TooManyTries(CallerRefused):
    """An address or a name has had too many tries. The text is for the caller; the line closes."""


class BoardFull(CallerRefused):
    """Every node is in use. The text is for the caller."""


class LogonRefused(CallerRefused):
    """The caller is not let in. The text tells them why, and the line is dropped.

    `why` is the reason for the log of refusals, empty if the log has it already. `own_fault` is
    set if the caller is the reason.
    """

    def __init__(self, words: str | Phrase, why: str = "", *, own_fault: bool = False) -> None:
        super().__init__(words)
        self.why = why
        self.own_fault = own_fault


class PasswordRefused(CallerRefused):
    """A new password is refused. The text is for the caller."""


class KeyRefused(CallerRefused):
    """A pasted public key is refused. The text is for the caller."""


class BoardNotTrusted(CallerRefused):
    """No trusted board vouches for a caller. The text is for the log."""


class Fault(Enum):
    """Why a call is not admitted; each value is its reason for the log."""

    BLOCKED = "the address is blocked"
    AT_ONCE = "too many calls at once"
    TOO_FAST = "too many calls in a minute"
    CROWDED = "too many are at the log-on already"

    @property
    def own_fault(self) -> bool:
        """Whether the caller, and not the board or other callers, is the reason."""
        return self is not Fault.CROWDED


class NotAdmitted(CallerRefused):
    """A call is refused for `wait` seconds, 0 if that is unknown."""

    def __init__(self, fault: Fault, wait: float = 0.0) -> None:
        super().__init__(fault.value)
        self.fault = fault
        self.wait = wait


# Lines.


class LineError(DoorError):
    """A line fails, or sends something wrong. The text is for the log."""


class Hangup(LineError):
    """The line is closed."""


class Flood(LineError):
    """The peer sends more than a person at a keyboard would."""


class ProxyHeaderRefused(LineError):
    """The first bytes of a line are not the header of a trusted front end."""


class RequestRefused(LineError):
    """An HTTP request is not served. The text describes it for the log."""

    def __init__(self, status: HTTPStatus, what: str, *, own_fault: bool = True) -> None:
        super().__init__(what)
        self.status = status
        self.own_fault = own_fault


class RloginHeaderRefused(LineError):
    """The first bytes of a line are not an rlogin header that the board serves."""


class NoHostLine(LineError):
    """A host hands over no line that the board can use. The text says why."""


# Errors for the sysop or for a host.


class SysopError(DoorError):
    """A request fails. The text is a sentence for the sysop."""


class DoorCallRefused(SysopError):
    """A server refuses the call of a door. The caller reads `words`; the text is for the log.

    `is_fault` is set if the sysop must mend something.
    """

    def __init__(self, why: str, words: str, *, is_fault: bool = True) -> None:
        super().__init__(why)
        self.words = words
        self.is_fault = is_fault


class ServerEnds(SysopError):
    """The server that a door has reached ends, to make room for the next one."""


class CertificateRefused(SysopError):
    """A file of a TLS port is wrong. `which` names it; `reason` ends the sentence about it."""

    def __init__(self, which: Literal["certificate", "key"], reason: str) -> None:
        self.which = which
        self.reason = reason
        super().__init__(f"The {which} of a TLS port {reason}.")


class HostKeyRefused(SysopError):
    """The board's SSH key cannot be read or made. The text names the file."""


class CannotJoin(SysopError):
    """Other servers of the board differ from this one. The text says which, and how."""


class CannotListen(SysopError):
    """A port cannot be opened. The text says which, and what to do."""


class BoardClosed(SysopError):
    """The board had to close: the files of its books were removed, replaced or written over."""


class CommandRefused(SysopError):
    """The running board cannot do what a command asks of it."""


class NoAnswer(SysopError):
    """The server cannot be reached, or refuses a command."""


class NoServer(NoAnswer):
    """No server listens in a data folder."""


class AmbiguousBoard(SysopError):
    """A name fits several boards of sysop.toml equally well. The text names them."""


class SetupRefused(SysopError):
    """A board cannot be set up, because of an answer or a folder. The text says why."""


class ChangeRefused(SysopError):
    """A key of sysop.toml is unknown, or its new value is not valid."""


class PageRefused(SysopError):
    """A page of the books that cannot be shown; `status` is that of the answer in HTTP."""

    def __init__(self, sentence: str, status: int = 400) -> None:
        super().__init__(sentence)
        self.status = status


class NoSuchHand(SysopError):
    """A hand does not exist, or cannot be shown in this form. The text says which."""


class DropFileRefused(SysopError):
    """A drop file is missing, broken or of another format than its name says.

    `str()` is a sentence for the log and the sysop: file, line (from 1, None if no line is wrong),
    what is wrong, what to do. `polite` is for the caller. Neither quotes the file.
    """

    polite = (
        "Sorry, this board has not told us enough about your call to let you in. "
        "Please tell its sysop: our log says what is missing."
    )

    def __init__(self, file: Path, line: int | None, what: str, remedy: str) -> None:
        place = f"{file}" if line is None else f"{file}, line {line}"
        super().__init__(f"{place}: {what}. {remedy}")
        self.file = file
        self.line = line
        self.what = what
        self.remedy = remedy


class NotGivenBack(SysopError):
    """No minutes were given back to the host and no file was changed. The text is for the log.

    `is_in_doubt` is set if the file has the new time already: an earlier try gave it, or another
    program.
    """

    def __init__(self, sentence: str, is_in_doubt: bool) -> None:
        # The books store it in UTF-8, and a host's folder may have bytes that are not UTF-8.
        super().__init__(sentence.encode("utf-8", "backslashreplace").decode())
        self.is_in_doubt = is_in_doubt


class InputEnded(SysopError):
    """At `door bj`: the caller pressed the interrupt key, or the input has ended."""


# Tables.


class TableError(DoorError):
    """A caller's request at a table fails. The text tells them why."""


class NotNow(TableError):
    """A request is not possible now."""


class TalkRefused(TableError):
    """A line of talk is not passed on."""


class HandElsewhere(TableError):
    """A caller's hand is at a table of another server. That server stands the hand, or has died."""


class HelperUnavailable(TableError):
    """A helper process has no answer. The question may be asked again."""


class RunEnded(TableError):
    """A run of UNIX bj is over. The text is the reason, empty for the interrupt key."""


# Errors that end a call, or a room in it.


class Interruption(DoorError):
    """An event ends what the caller was doing. The wait for a key raises it."""

    rank = 0  # of two interruptions, the higher one is raised


class TimeGranted(Interruption):
    """A new day has given time to a caller who had none."""

    rank = -1


class TimeUp(Interruption):
    """No time is left. Time that comes back from a hand may lift it."""


class IdledOut(Interruption):
    """No key was pressed for as long as the sysop allows."""

    rank = 1


class Closing(Interruption):
    """The board closes, or ends this call. The text is for the caller."""

    rank = 2
    reason = "closed by the board"


class LockedOut(Closing):
    """The sysop has locked the caller out. The text is for the caller."""

    reason = "locked out"


class HandedBack(Closing):
    """The server ends, and the caller continues at the next one.

    `has_ended_call` is set once this error, and not the caller, has ended the call.
    """

    has_ended_call = False


class TakenOver(Interruption):
    """Another call of the same caller has taken this one's place."""

    rank = 3
    reason = "taken over"


class CarrierLost(Interruption):
    """The line is closed, so the caller reads nothing more."""

    rank = 4
