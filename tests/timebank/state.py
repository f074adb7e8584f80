"""State machines on books: in a file, and on a server of PostgreSQL."""

from __future__ import annotations

import os
import tempfile
from datetime import datetime
from pathlib import Path
from unittest import TestCase

import pytest
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine

from tests.timebank import adding_up, cluster
from tests.timebank.books import NOON, Books

# An example on a server takes longer, and the rules are the same: so many times fewer. Half of that
# is the audit, which looks at one step of so many there.
FEWER = 8
STEPS = 4


class BooksMachine(RuleBasedStateMachine):
    """A machine that has books of its own, new for each example."""

    is_on_a_server = False

    def __init__(self) -> None:
        super().__init__()
        where = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.folder = tempfile.TemporaryDirectory(dir=where)
        self._database = ""
        self._steps = 0

    def audit(self) -> list[str]:
        """Return the audit's findings; on a server not every time."""
        self._steps += 1
        is_due = not self.is_on_a_server or self._steps % STEPS == 0
        return self.books.audit() if is_due else []

    def open_books(self, now: datetime = NOON, **changes) -> Books:
        server = None
        if self.is_on_a_server:
            self._database = cluster.shared().take()
            server = cluster.shared().place(self._database)
        return Books(Path(self.folder.name), now, server=server, **changes)

    def teardown(self):
        if hasattr(self, "books"):
            if self.is_on_a_server:
                assert self.books.audit() == []
            self.books.do(adding_up.check)
            self.books.close()
        if self._database:
            cluster.shared().give_back(self._database)
        self.folder.cleanup()


def on_a_server(machine: type[BooksMachine]) -> type[TestCase]:
    """Return the test of a machine with books on a server; skipped without one."""
    there = type(f"{machine.__name__}OnAServer", (machine,), {"is_on_a_server": True})
    case: type[TestCase] = there.TestCase
    same = machine.TestCase.settings
    case.settings = settings(same, max_examples=max(1, same.max_examples // FEWER))
    return pytest.mark.usefixtures("cluster")(case)
