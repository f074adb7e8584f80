"""What the rules of every game are made of: bounds, checks of a key's value, and refusals."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from door.games.engine.errors import RuleProblem, RulesRefused
from door.games.engine.quoting import either, shown, shown_key

MOST_DECKS = 8

Check = Callable[[object], object]
"""What a key must hold: gives the value as a rule keeps it, or raises ValueError with a reason."""


def checked(mapping: Mapping[str, object], checks: Mapping[str, Check]) -> dict[str, object]:
    """The values of a mapping, names and values as in sysop.toml, as the rules keep them.

    Raises `RulesRefused`, which names every wrong key, when any is.

    >>> checked({"decks": 6}, {"decks": whole(1, 8)})
    {'decks': 6}
    >>> try:
    ...     checked({"deck": 6, "decks": 9}, {"decks": whole(1, 8)})
    ... except RulesRefused as error:
    ...     print(error)
    deck: is not a rule of this game; decks: must be a whole number from 1 to 8, is 9.
    """
    values: dict[str, object] = {}
    problems: list[RuleProblem] = []
    for key, value in mapping.items():
        check = checks.get(key)
        if check is None:
            problems.append(RuleProblem(shown_key(key), "is not a rule of this game"))
            continue
        try:
            values[key] = check(value)
        except ValueError as error:
            problems.append(RuleProblem(key, str(error)))
    if problems:
        raise RulesRefused(tuple(problems))
    return values


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
    if not isinstance(value, bool):
        raise ValueError(f"must be true or false, is {shown(value)}")
    return value


def whole(least: int, most: int) -> Check:
    def check(value: object) -> object:
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise ValueError(f"must be a whole number from {least} to {most}, is {shown(value)}")
        return value

    return check
