"""Words about a wrong value in a sentence: quoted, short, with a guess at the right one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal


def printable(text: str) -> str:
    """Return a text of unknown origin on one line, in at most 40 characters."""
    clipped = text if len(text) <= 40 else f"{text[:37]}..."
    return "".join(letter if letter.isprintable() else "?" for letter in clipped)


def shown(value: object) -> str:
    """Return the words for a wrong value of TOML or JSON, for a sentence.

    >>> shown("d\\x07raw"), shown(True), shown([1, 2]), shown(2.5)
    ('"d?raw"', 'true', 'a list', '2.5')
    """
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, str):
        return f'"{printable(value)}"'
    if isinstance(value, int) and value.bit_length() > 100:
        return "a number of very many digits"
    if isinstance(value, int | float | Decimal):
        return printable(str(value))
    if isinstance(value, Mapping):
        return "a table"
    return "a list" if isinstance(value, list) else f"the date or time {value}"


def either(words: Sequence[str]) -> str:
    """Join words as a choice.

    >>> either(["double", "hit", "stay"]), either(["hit"])
    ('double, hit or stay', 'hit')
    """
    *most, last = words
    return f"{', '.join(most)} or {last}" if most else last


def guess(value: object, choices: Iterable[str]) -> str:
    """Return a question for the end of a sentence that names the closest choice, or ""."""
    if not isinstance(value, str):
        return ""
    choices = tuple(choices)
    # Such as "Monday" for "mon": difflib does not find a short beginning of a long word.
    near = [each for each in choices if len(each) > 2 and value.lower().startswith(each)]
    near = near or difflib.get_close_matches(value.lower(), choices, n=1)
    near = near or difflib.get_close_matches(value, choices, n=1)
    return f'; did you mean "{near[0]}"?' if near else ""
