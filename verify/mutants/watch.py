"""A plugin of pytest's: what begins and what has ended, a line each, for who waits outside.

The file is named by the environment. Of a run on several workers only the first process writes.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

HEARD = "BJFT_MUTANTS_HEARD"


class Watch:
    """Writes each thing down at once, so that it is known of a run that hangs, too."""

    def __init__(self, path: Path) -> None:
        """Open the file."""
        self._file = path.open("a", buffering=1)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """A test begins."""
        self._file.write(f"begins {nodeid}\n")

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """A test has ended."""
        self._file.write(f"ended {nodeid}\n")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A test has failed, or what it needs before or after it."""
        if report.failed:
            self._file.write(f"failed {report.nodeid}\n")

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A file of tests cannot be read."""
        if report.failed:
            self._file.write(f"failed {report.nodeid}\n")


def pytest_configure(config: pytest.Config) -> None:
    """Begin to watch, where anybody wants to know."""
    heard = os.environ.get(HEARD)
    if heard and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Watch(Path(heard)))
