"""What went wrong in a database, whichever engine it is of.

Each engine says which codes of its driver mean what (`Codes`), and puts that into `DRIVERS` when it
is first imported. So nobody who asks has to know which engine the books are in.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy.exc import DBAPIError

from timebank.language import N_, Phrase


@dataclass(frozen=True)
class Codes:
    """What the codes of a driver mean, by how they begin."""

    # The root of the driver's errors, and how to read the code of one.
    driver: type[Exception]
    code_of: Callable[[BaseException], str]
    # The name of the CHECK that an error is of, "" where it is of none.
    check_name_of: Callable[[BaseException], str]
    # Somebody else's turn to write; that, or a lock of another kind.
    write_locked: tuple[str, ...]
    busy: tuple[str, ...]
    full: tuple[str, ...]
    # What is stored makes no sense to the engine.
    damaged: tuple[str, ...]
    # File, disk, server or another process are at fault, not the request: the transaction is gone.
    broken: tuple[str, ...]
    # A COMMIT fails with these only when nothing of it counts, nor ever will.
    uncommitted: tuple[str, ...]
    # What is said of an error, by how its code begins; of several the first counts.
    texts: tuple[tuple[str, str], ...]
    # The same of an error by its text, where its code says too little; "" where that says no more.
    uncoded_text_of: Callable[[BaseException], str] = lambda error: ""


DRIVERS: list[Codes] = []

LOCKED = N_("another program has locked the database")
FULL = N_("no space is left on the disk")
DAMAGED = N_("the database is damaged")
OTHER_TABLES = N_("the tables are not as the board made them")
UNKNOWN = N_("the database reports an error")


def driver_error(error: BaseException) -> BaseException | None:
    """Give the driver's own error, of which SQLAlchemy's is made."""
    return error.orig if isinstance(error, DBAPIError) else error


def phrase(error: BaseException) -> Phrase:
    """Say what an error of a driver means; nobody but the log reads the driver's own text."""
    original = driver_error(error)
    codes = _codes_of(original)
    if original is None or codes is None:
        return Phrase(UNKNOWN)
    code = codes.code_of(original)
    texts = (text for begin, text in codes.texts if code.startswith(begin))
    return Phrase(codes.uncoded_text_of(original) or next(texts, UNKNOWN))


def sentence(error: BaseException) -> str:
    """Return what an error says, one of a driver in words of ours; without a full stop."""
    is_of_database = isinstance(error, DBAPIError) or _codes_of(error) is not None
    return str(phrase(error) if is_of_database else error).rstrip(".")


def _codes_of(error: BaseException | None) -> Codes | None:
    return next((codes for codes in DRIVERS if isinstance(error, codes.driver)), None)


def _has_code(error: BaseException, choose: Callable[[Codes], tuple[str, ...]]) -> bool:
    original = driver_error(error)
    codes = _codes_of(original)
    if original is None or codes is None:
        return False
    return codes.code_of(original).startswith(choose(codes))


def is_driver_error(error: BaseException) -> bool:
    return _codes_of(driver_error(error)) is not None


def is_write_locked(error: BaseException) -> bool:
    return _has_code(error, lambda codes: codes.write_locked)


def is_busy(error: BaseException) -> bool:
    return _has_code(error, lambda codes: codes.busy)


def is_full(error: BaseException) -> bool:
    return _has_code(error, lambda codes: codes.full)


def is_damaged(error: BaseException) -> bool:
    return _has_code(error, lambda codes: codes.damaged)


def is_broken(error: BaseException) -> bool:
    return _has_code(error, lambda codes: codes.broken)


def is_beyond_bounds(error: BaseException) -> bool:
    """Tell whether an account would have held what its kind may not."""
    original = driver_error(error)
    codes = _codes_of(original)
    if original is None or codes is None:
        return False
    return codes.check_name_of(original).startswith("never")


def leaves_doubt(error: BaseException) -> bool:
    """Tell whether a COMMIT that failed with this may be in the books one day."""
    return is_driver_error(error) and not _has_code(error, lambda codes: codes.uncommitted)
