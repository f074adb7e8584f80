"""Recovery codes: what lets a caller in, once, whatever others have done to their name.

A code is 25 letters and digits of Crockford's base 32, 125 bits from the operating system: too many
to guess at any speed. So no wrong one is counted against a name, and one round of SHA-256 is enough
to store it; a slow hash is for what people think up.
"""

from __future__ import annotations

import hashlib
import secrets

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # Crockford's: no I, L, O and U
GROUPS, IN_GROUP = 5, 5
# What people read for what is not in the alphabet.
_MEANT = str.maketrans({"I": "1", "L": "1", "O": "0", "-": None, " ": None})


def new_code() -> str:
    """A new code as it is shown: five groups of five, with hyphens."""
    marks = [secrets.choice(ALPHABET) for _ in range(GROUPS * IN_GROUP)]
    starts = range(0, len(marks), IN_GROUP)
    return "-".join("".join(marks[start : start + IN_GROUP]) for start in starts)


def digest_of(typed: str) -> str | None:
    """What is stored of a code, however it was typed; None for what cannot be one.

    >>> digest_of("0123456789abcdefghjkmnpqr") == digest_of("OI234-56789-ABCDE-FGHJK-MNPQR")
    True
    >>> digest_of("open sesame") is None
    True
    """
    code = typed.upper().translate(_MEANT)
    if len(code) != GROUPS * IN_GROUP or not set(code) <= set(ALPHABET):
        return None
    return hashlib.sha256(code.encode("ascii")).hexdigest()
