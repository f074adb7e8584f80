"""Quotes of choices and wrong values for error sentences.

A value may come from anywhere. The quote is short, on one line, and without control characters.
"""

from timebank.settings.quoting import either, printable, shown

__all__ = ["either", "shown", "shown_key"]


def shown_key(key: object) -> str:
    """Return a key; a text has no quotes."""
    return printable(key) if isinstance(key, str) else shown(key)
