"""Checks of the rules of games: bounds, forms of values, and refusals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import isfinite
from typing import Any

from door.games.engine.errors import RuleProblem, RulesRefused
from timebank.settings.forms import Form, Number, OneOf, TrueOrFalse
from timebank.settings.quoting import printable, shown

MOST_DECKS = 8

Check = Form[Any]
"""The form of a key: returns the value for the rules, or raises ValueError with a reason."""


def checked(mapping: Mapping[str, object], checks: Mapping[str, Check]) -> dict[str, object]:
    """Return the values for the rules from a mapping in the form of sysop.toml.

    Raises `RulesRefused`, which names every wrong key.

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
            problems.append(RuleProblem(printable(str(key)), "is not a rule of this game"))
            continue
        try:
            values[key] = check.read(value)
        except ValueError as error:
            problems.append(RuleProblem(key, str(error)))
    if problems:
        raise RulesRefused(tuple(problems))
    return values


@dataclass(frozen=True)
class Halves(Form[Fraction]):
    """A whole or half number from 1 on, as a fraction."""

    most: int

    def read(self, value: object) -> Fraction:
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float | Decimal)
            # Check the range first: converting a huge power of ten would take for ever.
            or not (isinstance(value, int) or isfinite(value))
            or not 1 <= value <= self.most
            or Fraction(value).denominator > 2
        ):
            raise ValueError(f"must be a number from {self.takes}, is {shown(value)}")
        return Fraction(value)

    @property
    def takes(self) -> str:
        return f"1 to {self.most} in steps of one half"


def plain(value: object) -> object:
    """Return a rule's value for TOML and JSON, where a half is an exact float."""
    if not isinstance(value, Fraction):
        return value
    return int(value) if value.denominator == 1 else float(value)


flag = TrueOrFalse()


def choice(*words: str) -> OneOf[str]:
    return OneOf(words)


def whole(least: int, most: int) -> Number:
    return Number(least, most)
