"""What the suite saw, kept in a file from one run to the next."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path

from verify.mutants.looks import Look
from verify.mutants.mutant import Mutant


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
