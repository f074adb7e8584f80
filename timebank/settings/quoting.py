"""Words for a wrong value in a sentence: quoted, short, and with a guess at what was meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def printable(text: str) -> str:
    """A text of unknown origin, short and on one line."""
    clipped = text if len(text) <= 40 else f"{text[:37]}..."
    return "".join(letter if letter.isprintable() else "?" for letter in clipped)


def shown(value: object) -> str:
    """A wrong value as a sentence may quote it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{printable(value)}"'
    if isinstance(value, int) and value.bit_length() > 100:
        return "a number of very many digits"
    if isinstance(value, int | float):
        return printable(str(value))
    if isinstance(value, dict):
        return "a table"
    return "a list" if isinstance(value, list) else f"the date or time {value}"


def one_of(choices: Iterable[str]) -> str:
    return " or ".join(f'"{choice}"' for choice in choices)


def guess(value: object, choices: Iterable[str]) -> str:
    """What may have been meant, as the tail of a sentence; empty when nothing is near."""
    if not isinstance(value, str):
        return ""
    choices = tuple(choices)
    # "Monday" for "mon": short words are no near match of the long ones that they stand for.
    near = [each for each in choices if len(each) > 2 and value.lower().startswith(each)]
    near = near or difflib.get_close_matches(value.lower(), choices, n=1)
    near = near or difflib.get_close_matches(value, choices, n=1)
    return f'; did you mean "{near[0]}"?' if near else ""
