"""Words for the sentences in which a game refuses something: choices, and what was given instead.

What was given may come from anywhere. It is quoted short, on one line and without a character
that a terminal would obey.
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal


def either(words: Sequence[str]) -> str:
    """Words as a choice.

    >>> either(["double", "hit", "stay"]), either(["hit"])
    ('double, hit or stay', 'hit')
    """
    *most, last = words
    return f"{', '.join(most)} or {last}" if most else last


def shown(value: object) -> str:
    """A wrong value as JSON or TOML would name it.

    >>> shown("d\\x07raw"), shown(True), shown([1, 2]), shown(2.5)
    ('"d?raw"', 'true', 'a list', '2.5')
    """
    if isinstance(value, str):
        return f'"{_clipped(value)}"'
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, int | float | Decimal):
        # Python refuses to write out integers of thousands of digits.
        huge = isinstance(value, int) and value.bit_length() > 100
        return "a number of very many digits" if huge else _clipped(str(value))
    return "a table" if isinstance(value, Mapping) else "a list"


def shown_key(key: object) -> str:
    """A key, which needs no quotes when it is a text."""
    return _clipped(key) if isinstance(key, str) else shown(key)


def _clipped(text: str) -> str:
    printable = "".join(letter if letter.isprintable() else "?" for letter in text[:41])
    return printable if len(text) <= 40 else printable[:40] + "..."
