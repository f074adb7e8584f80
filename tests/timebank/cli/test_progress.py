"""Long work is shown on a terminal, and nowhere else."""

from __future__ import annotations

import io
import threading

import pytest

from timebank.cli import progress


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
