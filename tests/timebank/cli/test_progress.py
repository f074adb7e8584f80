"""Long work is shown on a terminal, and nowhere else."""

from __future__ import annotations

import io
import sys
import threading
from collections.abc import Iterator

import pytest

from timebank.cli import common, progress
from timebank.cli.main import main


class Terminal(io.StringIO):
    """A terminal that says when something stands on it."""

    def __init__(self) -> None:
        super().__init__()
        self.shown = threading.Event()

    def isatty(self) -> bool:
        return True

    def flush(self) -> None:
        self.shown.set()


def test_a_line_appears_on_a_terminal_and_is_wiped_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    terminal = Terminal()
    with progress.working("Checking the books", terminal):
        assert terminal.shown.wait(60)
    assert terminal.getvalue().startswith("\r\x1b[KChecking the books: 0:00 ...")
    assert terminal.getvalue().endswith("\r\x1b[K")


def test_short_work_and_a_pipe_show_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal, pipe = Terminal(), io.StringIO()
    with progress.working("Checking the books", terminal):
        pass
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    with progress.working("Checking the books", pipe), pytest.raises(ZeroDivisionError):
        _ = 1 / 0
    assert terminal.getvalue() == pipe.getvalue() == ""


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What a terminal would be shown of commands that take long, whose output goes elsewhere."""
    told: list[str] = []
    monkeypatch.setattr(progress, "_show", lambda what, _out, _done: told.append(what))
    return told


@pytest.mark.of_a_file
@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("accounts",), "Reading the books"),
        (("ledger",), "Reading the books"),
        (("ledger", "--format", "csv"), "Reading the books"),
        (("statement", "Ann"), "Reading the books"),
        (("statement", "Ann", "--format", "json"), "Reading the books"),
        (("export", "csv"), "Reading the books"),
        (("summary",), "Adding up"),
        (("house",), "Adding up"),
        (("import", "THEBANK.EXT"), "Importing"),
        (("maintain",), "Doing the nightly work"),
        (("audit",), "Checking the books"),
    ],
)
def test_commands_that_may_take_long_show_that_they_work(
    evening, config, shown, monkeypatch, words, told
):
    monkeypatch.setattr(sys, "stderr", Terminal())
    with pytest.raises(SystemExit):
        main([words[0], "--config", str(config), *words[1:]])
    assert told in shown


def test_on_a_terminal_the_first_row_ends_it_and_no_other_is_fetched_before_it_is_due(
    shown: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    fetched: list[int] = []

    def rows() -> Iterator[str]:
        for number in range(4):
            fetched.append(number)
            yield f"row {number}"

    monkeypatch.setattr(sys, "stdout", Terminal())
    monkeypatch.setattr(sys, "stderr", Terminal())
    lines = common.watched(rows())
    assert shown == [common.READING]
    assert fetched == [0, 1]
    assert list(lines) == [f"row {number}" for number in range(4)]
    assert shown == [common.READING]
