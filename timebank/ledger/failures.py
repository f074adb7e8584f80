"""What the error of a database driver means, the same for both engines.

The `dialect` module of each engine appends its `Codes` to `DRIVERS` when it is imported. So callers
of these functions need not know the engine.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy.exc import DBAPIError

from timebank.language import N_, Phrase


@dataclass(frozen=True)
class Codes:
    """The meaning of a driver's error codes. Each code here stands for all that begin with it."""

    # The base class of the driver's errors.
    driver: type[Exception]
    code_of: Callable[[BaseException], str]
    # Returns the name of the CHECK that failed, or another text if none did.
    check_name_of: Callable[[BaseException], str]
    # Another transaction writes.
    write_locked: tuple[str, ...]
    # Any lock, that of a writer included.
    busy: tuple[str, ...]
    full: tuple[str, ...]
    # The engine cannot read the stored data.
    damaged: tuple[str, ...]
    # The file, disk, server or another process failed, not the request; the transaction is gone.
    broken: tuple[str, ...]
    # A COMMIT that fails with one of these is not in the books, and never will be.
    uncommitted: tuple[str, ...]
    # Pairs of a code and the text for callers and sysops; the first code that fits counts.
    texts: tuple[tuple[str, str], ...]
    # Returns a text for an error whose code says too little, else "".
    uncoded_text_of: Callable[[BaseException], str] = lambda error: ""


DRIVERS: list[Codes] = []

LOCKED = N_("another program has locked the database")
FULL = N_("no space is left on the disk")
DAMAGED = N_("the database is damaged")
OTHER_TABLES = N_("the tables are not as the board made them")
UNKNOWN = N_("the database reports an error")


def driver_error(error: BaseException) -> BaseException | None:
    """Return the driver's error inside an error of SQLAlchemy, or any other error itself."""
    return error.orig if isinstance(error, DBAPIError) else error


def phrase(error: BaseException) -> Phrase:
    """Return what a driver's error means, without the driver's own text, which is for the log."""
    original = driver_error(error)
    codes = _codes_of(original)
    if original is None or codes is None:
        return Phrase(UNKNOWN)
    code = codes.code_of(original)
    texts = (text for begin, text in codes.texts if code.startswith(begin))
    return Phrase(codes.uncoded_text_of(original) or next(texts, UNKNOWN))


def sentence(error: BaseException) -> str:
    """Return the meaning of a driver's error, or the text of another error, without full stop."""
    is_of_database = isinstance(error, DBAPIError) or _codes_of(error) is not None
    own = getattr(error, "strerror", None) or error
    return str(phrase(error) if is_of_database else own).rstrip(".")


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
    """Return whether a CHECK refused a balance that an account of its kind may not have."""
    original = driver_error(error)
    codes = _codes_of(original)
    if original is None or codes is None:
        return False
    return codes.check_name_of(original).startswith("never")


def leaves_doubt(error: BaseException) -> bool:
    """Return whether a COMMIT that failed with this error may still turn out to be in the books."""
    return is_driver_error(error) and not _has_code(error, lambda codes: codes.uncommitted)
