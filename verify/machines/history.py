"""What was asked of the bank and what it answered, by whom and when: one line of JSON for each.

A line is written before an operation is asked for, and one after its answer; so of a process that
was killed it is known what it had asked. The clock is the machine's monotonic one, which all
processes share, so that "before" means before.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

OK = "ok"
FAILED = "failed"  # nothing of it is in the books, nor ever will be
UNKNOWN = "unknown"


@dataclass
class Operation:
    """One operation: what was asked, and what came of it.

    `seen` is the end of the chain that it saw when it was done: the number of the last transfer and
    its digest; `own` the first of the transfers that are its own, 0 without any. `balances` are
    those it saw then, by number of account: all of them if it is a read.
    """

    key: str
    what: str
    asked: int
    answered: int | None = None
    outcome: str = UNKNOWN
    seen: int = 0
    digest: str = ""
    own: int = 0
    balances: dict[int, int] = field(default_factory=dict)
    said: str = ""

    @property
    def is_read(self) -> bool:
        return self.what.startswith("read")

    @property
    def before(self) -> int:
        """The last transfer of those that others had made before its own."""
        return self.own - 1 if self.own else self.seen


@dataclass(frozen=True)
class Row:
    """A transfer as it is in the books at the end."""

    number: int
    source: int
    target: int
    amount: int
    digest: str


@dataclass
class Books:
    """What is in the books at the end: transfers, balances, and what operations left there.

    `marks` has for each operation that is there its key, with the first and the last of its
    transfers, (0, 0) without any; a key may be there twice, and should not be.
    """

    rows: list[Row]
    balances: dict[int, int]
    marks: list[tuple[str, int, int]]


class Pen:
    """Writes the history of one process."""

    def __init__(self, file: Path) -> None:
        self._file = file.open("ab", buffering=0)

    def asks(self, key: str, what: str) -> None:
        self._write({"key": key, "what": what, "asked": time.monotonic_ns()})

    def answers(self, key: str, outcome: str, **facts: Any) -> None:
        answered = {"key": key, "outcome": outcome, "answered": time.monotonic_ns()}
        self._write({**answered, **facts})

    def close(self) -> None:
        self._file.close()

    def _write(self, line: dict[str, Any]) -> None:
        self._file.write(json.dumps(line).encode() + b"\n")


def read(files: Iterable[Path]) -> list[Operation]:
    """Read histories back, in the order in which things were asked; a torn last line is left."""
    found: dict[str, Operation] = {}
    for file in files:
        for line in file.read_bytes().split(b"\n")[:-1]:
            facts = json.loads(line)
            if "asked" in facts:
                found[facts["key"]] = Operation(**facts)
                continue
            operation = found[facts.pop("key")]
            balances = facts.pop("balances", {})
            facts["balances"] = {int(account): amount for account, amount in balances.items()}
            for name, value in facts.items():
                setattr(operation, name, value)
    return sorted(found.values(), key=lambda operation: operation.asked)
