"""The name and the proof that a caller by SSH has sent before the call. Needs no library."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class SshIdentity:
    """A caller's name as typed, and the password or key that proves it, unless the caller is new.

    The `password` has not been checked. The `key`, in SSH's own bytes, has: it belonged to that
    name just now, and the caller has its private half.
    """

    name: str = ""
    password: str | None = field(default=None, repr=False)
    key: bytes | None = None
