"""Recovery codes: each lets its caller in once, whatever attackers have done to the name.

A code is 25 letters and digits of Crockford's base 32, 125 bits from the operating system: too many
to guess at any speed. So wrong codes are not counted against a name, and one round of SHA-256 is
enough to store a code; a slow hash is for secrets that people think up.
"""

from __future__ import annotations

import hashlib
import secrets

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # Crockford's: no I, L, O and U
GROUPS, IN_GROUP = 5, 5
# Letters that people type for similar ones of the alphabet.
_MEANT = str.maketrans({"I": "1", "L": "1", "O": "0", "-": None, " ": None})


def new_code() -> str:
    """Return a new code as it is shown: five groups of five, with hyphens."""
    marks = [secrets.choice(ALPHABET) for _ in range(GROUPS * IN_GROUP)]
    starts = range(0, len(marks), IN_GROUP)
    return "-".join("".join(marks[start : start + IN_GROUP]) for start in starts)


def digest_of(typed: str) -> str | None:
    """Return the digest of a code, however it was typed; None if the text cannot be a code.

    >>> digest_of("0123456789abcdefghjkmnpqr") == digest_of("OI234-56789-ABCDE-FGHJK-MNPQR")
    True
    >>> digest_of("open sesame") is None
    True
    """
    code = typed.upper().translate(_MEANT)
    if len(code) != GROUPS * IN_GROUP or not set(code) <= set(ALPHABET):
        return None
    return hashlib.sha256(code.encode("ascii")).hexdigest()
