"""The name and the proof that a caller by SSH has sent before the call. Needs no library."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Shown:
    """A name alone for callers who have none here yet.

    `name` is as they typed it. `key`, in SSH's own bytes, belonged to that name just now, and they
    have its private half. A `password` has not been checked.
    """

    name: str = ""
    password: str | None = field(default=None, repr=False)
    key: bytes | None = None
