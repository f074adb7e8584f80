"""Words for the sentences in which a game refuses something: choices, and what was given instead.

What was given may come from anywhere. It is quoted short, on one line and without a character
that a terminal would obey.
"""

from timebank.settings.quoting import either, printable, shown

__all__ = ["either", "shown", "shown_key"]


def shown_key(key: object) -> str:
    """A key, which needs no quotes when it is a text."""
    return printable(key) if isinstance(key, str) else shown(key)
