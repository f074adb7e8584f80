"""What the suite saw: kept in a file from one run to the next, and told as a table."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path
from statistics import median

from verify.mutants.looks import Look
from verify.mutants.mutant import Mutant

LONGEST_SAID = 100  # characters of what a run says


@dataclass
class Results:
    """What the suite saw of mutants, by what they change; in a file, where one is named."""

    path: Path | None = None
    looks: dict[str, Look] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path | None) -> Results:
        """Read what an earlier run has kept."""
        kept = {} if path is None or not path.exists() else json.loads(path.read_text())
        return cls(path, {key: Look(**look) for key, look in kept.items()})

    def of(self, mutant: Mutant) -> Look | None:
        """Return what came of a mutant as it is now; None where nobody has looked."""
        return self.looks.get(_key(mutant))

    def know(self, mutant: Mutant, look: Look) -> None:
        """Take note of a look, and write all down where a file is named."""
        self.looks[_key(mutant)] = look
        if self.path is not None:
            kept = {key: asdict(each) for key, each in self.looks.items()}
            self.path.write_text(json.dumps(kept, indent=1))

    def survived(self, mutant: Mutant) -> bool:
        """Return whether somebody has looked, and no test has failed."""
        look = self.of(mutant)
        return look is not None and not look.caught


def _key(mutant: Mutant) -> str:
    return sha256("\0".join((mutant.file, mutant.old, mutant.new)).encode()).hexdigest()[:16]


def table(mutants: Iterable[Mutant], results: Results) -> Iterator[str]:
    """Write the table, as it can stand in a page of Markdown."""
    yield "| where | fault | suite | tests | seconds |"
    yield "| --- | --- | --- | ---: | ---: |"
    for mutant in mutants:
        look = results.of(mutant)
        after = ("", "") if look is None else (str(look.after), f"{look.seconds:.0f}")
        cells = (f"`{mutant.file}`", mutant.name, _told(look), *after)
        yield f"| {' | '.join(cells)} |"


def rooms(mutants: Iterable[Mutant], results: Results) -> Iterator[str]:
    """Write a table of the rooms: how many mutants each has, and how soon they were caught."""
    yield "| room | mutants | suite | after tests | seconds |"
    yield "| --- | ---: | ---: | ---: | ---: |"
    of_rooms: dict[str, list[Look | None]] = {}
    for mutant in mutants:
        room = "/".join(mutant.room.split("/")[:2])
        of_rooms.setdefault(room, []).append(results.of(mutant))
    for room, found in of_rooms.items():
        looks = [look for look in found if look is not None]
        caught = [look for look in looks if look.caught]
        soon = [f"{median(look.after for look in caught):.0f}" if caught else ""]
        soon.append(f"{median(look.seconds for look in caught):.0f}" if caught else "")
        share = f"{len(caught)} of {len(looks)}" if looks else ""
        yield f"| {' | '.join((f'`{room}`', str(len(found)), share, *soon))} |"


def _told(look: Look | None) -> str:
    if look is None:
        return ""
    if not look.caught:
        return "-"
    said = look.caught.removeprefix("tests/").replace("|", "\\|")
    if "::" in said and not look.is_time_out:
        return f"`{said}`"
    return said if len(said) <= LONGEST_SAID else f"{said[:LONGEST_SAID]}..."


def totals(mutants: Sequence[Mutant], results: Results) -> str:
    """Say in a sentence how many there are, and how many the suite caught."""
    looks = [look for mutant in mutants if (look := results.of(mutant)) is not None]
    caught = sum(bool(look.caught) for look in looks)
    return f"{len(mutants)} mutants; the suite caught {caught} of {len(looks)}."
