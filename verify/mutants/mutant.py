"""A fault as a change of the program's text."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


class Stale(Exception):
    """The program has changed, and a mutant no longer fits; `str()` names the missing text."""


@dataclass(frozen=True)
class Mutant:
    """One fault: its description, and the replaced text of a file."""

    name: str
    file: str
    old: str
    new: str

    @property
    def room(self) -> str:
        """The folder of the program that it is in."""
        return self.file.rpartition("/")[0]

    def mutated(self, root: Path) -> str:
        """Return the file's text with the fault in it; raises `Stale`."""
        path = root / self.file
        text = path.read_text() if path.exists() else ""
        count = text.count(self.old)
        if count != 1:
            where = f"is there {count} times" if path.exists() else "is gone with its file"
            raise Stale(
                f'{self.file}: "{self.name}" wants this text once, which {where}:\n{self.old}'
            )
        return text.replace(self.old, self.new)
