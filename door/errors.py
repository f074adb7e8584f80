"""Every error of the board, as one tree.

DoorError
├── CallerRefused    whoever calls is not let in; the text is for them or for the log, as said
├── LineError        what came down a line, or the line itself
├── Unserved         what the sysop or a host asked for cannot be done; the text says why
├── TableError       what a caller wants at a table is not done; the text tells them why
├── Interruption     what ends the wait for a key, and with it what the caller was doing
└── GameError        in games/engine/errors.py: the rules of games need the engine alone
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from http import HTTPStatus
    from pathlib import Path

    from timebank.language import Phrase


class DoorError(Exception):
    """The root of them all."""


# Who is not let in.


class CallerRefused(DoorError):
    """Whoever calls is not let in."""


class CallRefused(CallerRefused):
    """A call is not taken; the text, of printable ASCII or empty, is for the caller."""


class Distrusted(CallerRefused):
    """A caller is not believed, and is told so in these words; the line is dropped."""


class BoardFull(CallerRefused):
    """Every node is taken; the text is for the caller."""


class LogonRefused(CallerRefused):
    """The caller is not let in; the text tells them why, and the line is dropped.

    `why` says it in words for the log of refusals, empty where that log has been told already;
    `own_fault` is set where the caller is the reason.
    """

    def __init__(self, words: str | Phrase, why: str = "", *, own_fault: bool = False) -> None:
        super().__init__(words)
        self.why = why
        self.own_fault = own_fault


class PasswordRefused(CallerRefused):
    """A sentence about why this password will not do."""


class KeyRefused(CallerRefused):
    """What a caller pastes is no public key that will do; the text is what they are told."""


class NotTrusted(CallerRefused):
    """Nobody vouches for a caller; the text says why, in words for the log."""


class Fault(Enum):
    BLOCKED = "the address is blocked"
    AT_ONCE = "too many calls at once"
    TOO_FAST = "too many calls in a minute"
    CROWDED = "too many are at the log-on already"

    @property
    def own_fault(self) -> bool:
        """Whether the caller, and not the board or others, is the reason."""
        return self is not Fault.CROWDED


class NotTaken(CallerRefused):
    """A call is refused; `wait` says for how many seconds, 0 where that is not known."""

    def __init__(self, fault: Fault, wait: float = 0.0) -> None:
        super().__init__(fault.value)
        self.fault = fault
        self.wait = wait


# Lines.


class LineError(DoorError):
    """A line, or what came down it; the text says what, in words fit for a log."""


class Hangup(LineError):
    """The line is gone."""


class Flood(LineError):
    """The other end sends more than anyone at a keyboard would."""


class ProxyHeaderRefused(LineError):
    """What came is no header of a front end."""


class RequestRefused(LineError):
    """What came over HTTP is not served; the text says what it was, in words for the log."""

    def __init__(self, status: HTTPStatus, what: str, *, own_fault: bool = True) -> None:
        super().__init__(what)
        self.status = status
        self.own_fault = own_fault


class RloginHeaderRefused(LineError):
    """What came is no rlogin header that can be served."""


class NoLine(LineError):
    """A host's caller cannot be taken over."""


# What the sysop, or a host, is told.


class Unserved(DoorError):
    """What was asked for cannot be done; the text is a sentence for the sysop."""


class CallNotTaken(Unserved):
    """A server does not take the caller of a door, who reads `words`; the text is for the log.

    `is_fault` is set where the sysop must do something about it.
    """

    def __init__(self, why: str, words: str, *, is_fault: bool = True) -> None:
        super().__init__(why)
        self.words = words
        self.is_fault = is_fault


class ServerEnds(Unserved):
    """A server that a door has reached makes room for the next one."""


class CertificateRefused(Unserved):
    """`which` of the two files is at fault, and `reason` is the rest of the sentence on it."""

    def __init__(self, which: Literal["certificate", "key"], reason: str) -> None:
        self.which = which
        self.reason = reason
        super().__init__(f"The {which} of a TLS port {reason}.")


class HostKeyRefused(Unserved):
    """The key of the board for callers by SSH cannot be read or made; the text says which file."""


class CannotJoin(Unserved):
    """Other servers of the board are not like this one; the text says which, and in what."""


class CannotListen(Unserved):
    """A port cannot be opened; the text says which, and what to do."""


class BoardClosed(Unserved):
    """The board had to close: the files of its books were removed, replaced or written over."""


class CommandRefused(Unserved):
    """The running board cannot do what a command asks of it."""


class NoAnswer(Unserved):
    """The server cannot be asked, or says no."""


class NobodyThere(NoAnswer):
    """Nobody listens in a data folder."""


class BoardUnsure(Unserved):
    """A name fits several tables of sysop.toml equally well; the text says which."""


class DoesNotFit(Unserved):
    """What is to be set up cannot be: an answer or a place that does not do; the text says why."""


class ChangeRefused(Unserved):
    """A key of sysop.toml is not known, or cannot be what was typed."""


class NoSuchHand(Unserved):
    """There is no such hand, or it cannot be shown so; the text says which."""


class DropFileRefused(Unserved):
    """A drop file that is missing, broken or not what its name says.

    `str()` is a sentence for the log and the sysop: file, line (from 1, None where no line is at
    fault), what is wrong, what to do. `polite` is what the caller is told. Neither quotes the file.
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


class NotGiven(Unserved):
    """Nothing was given back and no file was changed; `str()` is a sentence for the log.

    `may_have_been` is set where the very same time lies there already: it was given before, or by
    somebody else.
    """

    def __init__(self, sentence: str, may_have_been: bool) -> None:
        # The books keep it, in UTF-8, and a host may name its folders in any other way.
        super().__init__(sentence.encode("utf-8", "backslashreplace").decode())
        self.may_have_been = may_have_been


class InputEnded(Unserved):
    """At `door bj`: the interrupt key was struck, or the input has ended."""


# Tables.


class TableError(DoorError):
    """What a caller wants at a table is not done; the text tells them why."""


class NotNow(TableError):
    """What a caller wants is unavailable now."""


class NotSaid(TableError):
    """A line of talk was not passed on."""


class HandElsewhere(TableError):
    """A caller's hand is at a table of another server, which stands it, or has died."""


class NoAdviceNow(TableError):
    """A process beside the board has no answer; nothing is wrong with the question."""


class RunEnded(TableError):
    """A run of UNIX bj is over: by the interrupt key, or for the reason that the text tells."""


# What ends a call, or a room in it.


class Interruption(DoorError):
    """Something ends what the caller was doing; raised from the wait for a key."""

    rank = 0  # of two interruptions, the one with the higher rank is raised


class TimeAgain(Interruption):
    """A new day has begun for a caller without time: there is more to do than they are asked."""

    rank = -1


class TimeUp(Interruption):
    """No time is left; what comes back from a hand may lift it."""


class IdledOut(Interruption):
    """No key was pressed for as long as the sysop allows."""

    rank = 1


class Closing(Interruption):
    """The board is going down; the text is for the caller."""

    rank = 2


class Kicked(Closing):
    """The sysop ends this call; the text is for the caller."""


class HandedBack(Closing):
    """The server ends, and the caller goes on at the next one.

    `is_obeyed` once that is why their call has ended, and not because they were leaving anyhow.
    """

    is_obeyed = False


class TakenOver(Interruption):
    """Another call of the same caller has taken this one's place."""

    rank = 3


class CarrierLost(Interruption):
    """The line is gone; nothing can be said any more."""

    rank = 4
