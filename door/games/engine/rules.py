"""What the rules of every game are made of: bounds, checks of a key's value, and refusals."""

from __future__ import annotations

from collections.abc import Callable

from door.games.engine.quoting import either, shown

MOST_DECKS = 8

Check = Callable[[object], object]
"""What a key must hold: gives the value as a rule keeps it, or raises ValueError with a reason."""


def choice(*words: str) -> Check:
    """One of these words.

    >>> choice("draw", "stand")("deal")
    Traceback (most recent call last):
    ...
    ValueError: must be "draw" or "stand", is "deal"
    """
    listed = either([f'"{word}"' for word in words])

    def check(value: object) -> object:
        if not isinstance(value, str) or value not in words:
            raise ValueError(f"must be {listed}, is {shown(value)}")
        return value

    return check


def flag(value: object) -> object:
    """True or false."""
    if not isinstance(value, bool):
        raise ValueError(f"must be true or false, is {shown(value)}")
    return value


def whole(least: int, most: int) -> Check:
    """A whole number from `least` to `most`."""

    def check(value: object) -> object:
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise ValueError(f"must be a whole number from {least} to {most}, is {shown(value)}")
        return value

    return check
