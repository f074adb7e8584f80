"""The error of a failed check."""

from __future__ import annotations


class Wrong(AssertionError):
    """Something does not hold that always must."""


def must(holds: object, words: str, *values: object) -> None:
    if not holds:
        raise Wrong(words.format(*values))
