"""What came of taking a file over, in numbers and in sentences for the sysop."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from timebank.words import span

MOST_REFUSALS = 20  # that a report names; the .ERR file has them all


@dataclass(frozen=True)
class Report:
    """What one round over a file did. `came` and `went` are seconds, into accounts and out.

    `refused` counts lines, and `refusals` says of the first of them which they are and why.
    `waiting` says what the file still lacks, `kept` which .BAK files it left. `problem` is what the
    sysop should mend, None when all is well.
    """

    path: Path
    applied: int
    came: int
    went: int
    refused: int
    refusals: tuple[str, ...]
    waiting: tuple[str, ...]
    kept: tuple[Path, ...]
    problem: str | None

    def sentences(self) -> tuple[str, ...]:
        """Say it all, a line each; there is always at least one."""
        said = []
        if self.applied:
            records = f"{self.applied} record" + ("s" if self.applied != 1 else "")
            moved = f"{span(self.came)} came in, {span(self.went)} went out"
            said.append(f"{self.path}: {records} applied; {moved}.")
        said += [f"{self.path}, {refusal}" for refusal in self.refusals]
        if self.refused > len(self.refusals):
            said.append(f"{self.path}: {self.refused - len(self.refusals)} more were refused.")
        if self.refused:
            said.append(f"What was refused is in {self.path}.ERR.")
        said += self.waiting
        said += [f"It is kept as {kept}." for kept in self.kept]
        if self.problem is not None:
            said.append(self.problem)
        return tuple(said) or (f"{self.path}: nothing new.",)
