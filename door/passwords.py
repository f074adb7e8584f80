"""Passwords: hashed with Argon2id, off the event loop and a few at a time.

A hash takes tens of milliseconds and tens of megabytes on purpose, so no more than two run at
once, whatever number of callers is at the log-on prompt.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from argon2 import PasswordHasher

SHORTEST = 6
LONGEST = 128

T = TypeVar("T")


class PasswordRefused(Exception):
    """A sentence about why this password will not do."""


def check(password: str, name: str) -> None:
    """Raise `PasswordRefused` unless `password` will do for the caller `name`."""
    if len(password) < SHORTEST:
        raise PasswordRefused(f"A password has at least {SHORTEST} characters.")
    if len(password) > LONGEST:
        raise PasswordRefused(f"A password has at most {LONGEST} characters.")
    if password.casefold() == name.casefold():
        raise PasswordRefused("A password may not be your name.")


@functools.cache
def _hasher() -> PasswordHasher:
    """Return the one hasher; argon2 is imported when the first password needs it."""
    from argon2 import PasswordHasher  # noqa: PLC0415 - commands without passwords start faster

    return PasswordHasher()


@functools.cache
def _decoy() -> str:
    """Return the hash that an unknown name is checked against, so that it takes as long."""
    return _hasher().hash("nobody has this password")


def hash_password(password: str) -> str:
    """Return the Argon2id hash of `password`, as stored."""
    return _hasher().hash(password)


def verify_password(stored: str | None, password: str) -> bool:
    """Tell whether `password` is the one behind `stored`.

    `None` (no such caller) and "" (one without a password) take as long as a wrong password.
    """
    from argon2.exceptions import InvalidHashError, VerificationError  # noqa: PLC0415 - as above

    decoy = _decoy()  # made by the first password of all, whosever it is
    try:
        matched = _hasher().verify(stored or decoy, password)
    except (VerificationError, InvalidHashError):
        return False
    return matched and bool(stored)


class PasswordDesk:
    """Runs password work beside the event loop, two pieces at a time."""

    def __init__(self) -> None:
        """Open the desk; its threads start with the first password."""
        self._threads = ThreadPoolExecutor(max_workers=2, thread_name_prefix="argon2")

    async def hash(self, password: str) -> str:
        """Return the stored form of a new password."""
        return await self._run(lambda: hash_password(password))

    async def verify(self, stored: str | None, password: str) -> bool:
        """Tell whether the password is right; see `verify_password`."""
        return await self._run(lambda: verify_password(stored, password))

    def close(self) -> None:
        """Let go of the threads."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _run(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)
