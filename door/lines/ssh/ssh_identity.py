"""What a caller by SSH has shown before the board says a word. It needs no library."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Shown:
    """Empty for somebody who has no name here yet.

    `name` is as they typed it. `key`, in SSH's own bytes, was one of that name's a moment ago, and
    they have the other half of it; a `password` has not been checked.
    """

    name: str = ""
    password: str | None = field(default=None, repr=False)
    key: bytes | None = None
