"""What the looks found: kept in a file from one run to the next, and told as a table."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path
from statistics import median

from verify.mutants.looks import Look
from verify.mutants.mutant import Mutant

LONGEST_SAID = 100  # characters of what the simulator says


@dataclass
class Found:
    """What is known of a mutant; None where nobody has looked."""

    suite: Look | None = None
    simulator: Look | None = None

    @property
    def looks(self) -> list[Look]:
        """The looks there were."""
        return [look for look in (self.suite, self.simulator) if look is not None]

    @property
    def survived(self) -> bool:
        """Whether somebody has looked, and nobody has seen it."""
        return bool(self.looks) and not any(look.caught for look in self.looks)


@dataclass
class Results:
    """What is known of all mutants, by what they change; in a file, where one is named."""

    path: Path | None = None
    found: dict[str, Found] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path | None) -> Results:
        """Read what an earlier run has kept."""
        kept = {} if path is None or not path.exists() else json.loads(path.read_text())
        return cls(path, {key: Found(*map(_look, looks)) for key, looks in kept.items()})

    def of(self, mutant: Mutant) -> Found:
        """Give what is known of a mutant as it is now."""
        return self.found.setdefault(_key(mutant), Found())

    def keep(self) -> None:
        """Write it down, where a file is named."""
        if self.path is not None:
            kept = {
                key: [each and asdict(each) for each in (found.suite, found.simulator)]
                for key, found in self.found.items()
            }
            self.path.write_text(json.dumps(kept, indent=1))


def _key(mutant: Mutant) -> str:
    return sha256("\0".join((mutant.file, mutant.old, mutant.new)).encode()).hexdigest()[:16]


def _look(kept: Mapping[str, object] | None) -> Look | None:
    return None if kept is None else Look(**kept)  # type: ignore[arg-type]


def table(mutants: Iterable[Mutant], results: Results) -> Iterator[str]:
    """Write the table, as it can stand in a page of Markdown."""
    yield "| where | fault | suite | tests | seconds | simulator |"
    yield "| --- | --- | --- | ---: | ---: | --- |"
    for mutant in mutants:
        found = results.of(mutant)
        suite = found.suite
        after = ("", "") if suite is None else (str(suite.after), f"{suite.seconds:.0f}")
        cells = (f"`{mutant.file}`", mutant.name, _told(suite), *after, _told(found.simulator))
        yield f"| {' | '.join(cells)} |"


def rooms(mutants: Iterable[Mutant], results: Results) -> Iterator[str]:
    """Write a table of the rooms: how many mutants each has, who caught how many, and how soon."""
    yield "| room | mutants | suite | after tests | seconds | simulator |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: |"
    of_rooms: dict[str, list[Found]] = {}
    for mutant in mutants:
        room = "/".join(mutant.room.split("/")[:2])
        of_rooms.setdefault(room, []).append(results.of(mutant))
    for room, found in of_rooms.items():
        suite = [each.suite for each in found if each.suite is not None]
        simulator = [each.simulator for each in found if each.simulator is not None]
        caught = [look for look in suite if look.caught]
        soon = [f"{median(look.after for look in caught):.0f}" if caught else ""]
        soon.append(f"{median(look.seconds for look in caught):.0f}" if caught else "")
        cells = (f"`{room}`", str(len(found)), _share(suite), *soon, _share(simulator))
        yield f"| {' | '.join(cells)} |"


def _share(looks: Sequence[Look]) -> str:
    """Say how many of those who were looked for were caught."""
    return f"{sum(bool(look.caught) for look in looks)} of {len(looks)}" if looks else ""


def _told(look: Look | None) -> str:
    if look is None:
        return ""
    if not look.caught:
        return "-"
    said = look.caught.removeprefix("tests/").replace("|", "\\|")
    if "::" in said and not look.is_time_out:
        return f"`{said}`"
    return said if len(said) <= LONGEST_SAID else f"{said[:LONGEST_SAID]}..."


def totals(mutants: Iterable[Mutant], results: Results) -> str:
    """Say in a sentence how many there are, and who caught how many."""
    every = [results.of(mutant) for mutant in mutants]
    parts = [f"{len(every)} mutants"]
    for who in ("suite", "simulator"):
        looks = [look for found in every if (look := getattr(found, who)) is not None]
        if looks:
            caught = sum(bool(look.caught) for look in looks)
            parts.append(f"the {who} caught {caught} of {len(looks)}")
    return f"{'; '.join(parts)}."
