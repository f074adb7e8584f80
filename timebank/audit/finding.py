"""What the audit finds."""

from __future__ import annotations

from typing import NamedTuple


class Finding(NamedTuple):
    """Something that is off: which row it is about, and a sentence that says what."""

    where: str
    sentence: str

    def __str__(self) -> str:
        """Put both on one line."""
        return f"{self.where}: {self.sentence}"
