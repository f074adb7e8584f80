"""Passwords: hashed with Argon2id, off the event loop and a few at a time.

A hash takes tens of milliseconds and 19 MiB on purpose, so at most two run at once, however many
callers log on. The next is always from the address that has been wrong least often lately. The
cost is the least that OWASP's Password Storage Cheat Sheet recommends: 19 MiB, two passes, one
lane. argon2-cffi's default (RFC 9106's second: 64 MiB, three passes, four lanes) takes more memory
than the rest of a board and starts four threads for each password.

A password that was hashed at another cost stays valid. It is hashed again after its caller has
logged on with it (`Board.renew_hash`). Not earlier, as only a right password makes that work, and
the time it takes would give the answer away. Until then a wrong password for that name takes as
long as the old cost, and an unknown name as long as the new one. So an attacker who measures can
tell that such a name exists; names with a new hash reveal nothing.

A password is hashed in one form, however its letters were typed (`prepared`), so it is the same by
telnet, by SSH and from the web. Release 1.0 hashed the letters as they arrived, and dropped those
that it could not read. `_spellings` returns the texts that it may have hashed. All are tried, for
known and unknown names alike. A hash of the letters as they arrived is replaced by one of today's
form. A hash without some letters stays: the extra letter may be a slip of the finger.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import functools
import heapq
import stringprep
import unicodedata
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from typing import TYPE_CHECKING, TypeVar

from door.defence.counts import FIRST, Rank
from door.errors import PasswordRefused
from timebank.language import Phrase

if TYPE_CHECKING:
    from argon2 import PasswordHasher

PASSES, KIBIBYTES, LANES = 2, 19 * 1024, 1  # OWASP's, see above
MMAP_BYTES = 4 * 1024 * 1024  # glibc maps larger blocks apart; only hashes are as large
_M_MMAP_THRESHOLD = -3  # from glibc's malloc.h
AT_ONCE = 2
TRIES = 3  # passwords that a caller may try on one call
SHORTEST = 6
LONGEST = 128

T = TypeVar("T")


def prepared(password: str) -> str:
    """Return a password in the form that is hashed, SASLprep (RFC 4013), as SSH sends it.

    >>> prepared("e\u0301te\u0301") == prepared("\u00e9t\u00e9") == "\u00e9t\u00e9"
    True
    """
    if password.isascii():
        return password
    letters = (letter for letter in password if not stringprep.in_table_b1(letter))
    spaced = "".join(" " if stringprep.in_table_c12(letter) else letter for letter in letters)
    return unicodedata.normalize("NFKC", spaced)


def _spellings(password: str) -> list[str]:
    """Return the texts that a password may have been hashed as, today's form first."""
    if password.isascii():
        return [password]
    spellings = [prepared(password), password]
    spellings.append(password.encode("utf-8", "replace").decode("cp437"))  # read in another set
    if len(dropped := _dropped(password)) >= SHORTEST:
        spellings.append(dropped)
    return list(dict.fromkeys(spellings))


def _dropped(password: str) -> str:
    return "".join(filter(str.isascii, password))


def check(password: str, name: str) -> None:
    """Raise `PasswordRefused` unless the caller `name` may have this password."""
    password = prepared(password)
    if len(password) < SHORTEST:
        raise PasswordRefused(
            Phrase("Use at least {number} characters for your password.", number=SHORTEST)
        )
    if len(password) > LONGEST:
        raise PasswordRefused(
            Phrase("Use at most {number} characters for your password.", number=LONGEST)
        )
    if password.casefold() == prepared(name).casefold():
        raise PasswordRefused(Phrase("Your password can't be your name."))


@functools.cache
def _hasher() -> PasswordHasher:
    """Return the hasher; argon2 is imported when the first password needs it."""
    from argon2 import PasswordHasher  # noqa: PLC0415 - commands without passwords start faster

    _give_memory_back()
    return PasswordHasher(time_cost=PASSES, memory_cost=KIBIBYTES, parallelism=LANES)


def make_ready() -> None:
    """Import argon2 before the first password: later the process may have no descriptor left."""
    import argon2.exceptions  # noqa: F401, PLC0415 - as in `_hasher`

    _hasher()


def _give_memory_back() -> None:
    """Have glibc map the memory of a hash apart, and unmap it when the hash is made.

    Otherwise glibc raises its threshold after the first 19 MiB are freed, and keeps as much for
    each of the two threads from then on. Other C libraries don't.
    """
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, MMAP_BYTES)


@functools.cache
def _decoy() -> str:
    """Return the hash to check for an unknown name, so that it takes as long as a known one."""
    return _hasher().hash("nobody has this password")


def hash_password(password: str) -> str:
    return _hasher().hash(prepared(password))


def verify_password(stored: str | None, password: str) -> bool:
    """Return whether `password` matches the hash `stored`.

    None (no such caller) and "" (a caller without a password) take as long as a wrong password.
    """
    decoy = _decoy()  # called for known names too, as the first call takes longer
    matched = any(_matches(stored or decoy, spelling) for spelling in _spellings(password))
    return matched and bool(stored)


def _matches(stored: str, spelling: str) -> bool:
    from argon2.exceptions import InvalidHashError, VerificationError  # noqa: PLC0415 - as above

    try:
        return _hasher().verify(stored, spelling)
    except (VerificationError, InvalidHashError):
        return False


def renewal(stored: str, password: str) -> str | None:
    """Return a new hash for a right password if `stored` is outdated, else None.

    It is outdated if it was made at another cost, or by release 1.0 of the letters as they arrived.
    """
    spelled = next(each for each in _spellings(password) if _matches(stored, each))
    wanted = spelled if spelled == _dropped(password) else prepared(password)
    return None if wanted == spelled and not is_outdated(stored) else hash_password(wanted)


def is_outdated(stored: str) -> bool:
    """Return whether a hash was made at another cost; call it for right passwords only."""
    return _hasher().check_needs_rehash(stored)


class PasswordDesk:
    """Runs password work in threads, at most AT_ONCE pieces at a time.

    The waiting piece with the lowest `rank` is next, and of equal ranks the oldest.
    """

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(max_workers=AT_ONCE, thread_name_prefix="argon2")
        self._at_work = 0
        self._numbers = count()
        self._waiting: list[tuple[Rank, int, asyncio.Future[None]]] = []

    async def hash(self, password: str, rank: Rank = FIRST) -> str:
        return await self._run(lambda: hash_password(password), rank)

    async def verify(self, stored: str | None, password: str, rank: Rank = FIRST) -> bool:
        return await self._run(lambda: verify_password(stored, password), rank)

    async def renewed(self, stored: str, password: str) -> str | None:
        """Call `renewal` off the event loop."""
        if password.isascii() and not is_outdated(stored):  # nearly every password
            return None
        return await self._run(lambda: renewal(stored, password), FIRST)

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _run(self, work: Callable[[], T], rank: Rank) -> T:
        loop = asyncio.get_running_loop()
        if self._at_work == AT_ONCE:
            turn: asyncio.Future[None] = loop.create_future()
            heapq.heappush(self._waiting, (rank, next(self._numbers), turn))
            try:
                await turn
            except asyncio.CancelledError:
                if turn.done() and not turn.cancelled():
                    self._next()
                raise
        else:
            self._at_work += 1
        try:
            return await loop.run_in_executor(self._threads, work)
        finally:
            self._next()

    def _next(self) -> None:
        """Give the place of finished work to the next piece that waits."""
        while self._waiting:
            turn = heapq.heappop(self._waiting)[2]
            if not turn.done():
                turn.set_result(None)
                return
        self._at_work -= 1
