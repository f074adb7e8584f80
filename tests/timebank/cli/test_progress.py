"""Long work is shown on a terminal, and nowhere else."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator

import pytest

from timebank.cli import common, progress
from timebank.cli.main import main


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("kind", [Terminal, io.StringIO])
def test_progress_is_one_line_on_a_terminal_only(
    kind: type[io.StringIO], monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = kind()
    monkeypatch.setattr(sys, "stderr", stream)
    with pytest.raises(ZeroDivisionError), progress.working("Checking the books"):
        _ = 1 / 0
    shown = "Checking the books ...\r\x1b[K" if kind is Terminal else ""
    assert stream.getvalue() == shown


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Record what a terminal shows of long commands with redirected output."""
    lines: list[str] = []
    monkeypatch.setattr(progress, "_show", lines.append)
    return lines


@pytest.mark.of_a_file
@pytest.mark.parametrize(
    ("words", "expected"),
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
    evening, config, shown, monkeypatch, words, expected
):
    monkeypatch.setattr(sys, "stderr", Terminal())
    with pytest.raises(SystemExit):
        main([words[0], "--config", str(config), *words[1:]])
    assert f"{expected} ..." in shown


def test_progress_ends_at_the_first_row_and_fetches_no_row_early(
    shown: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    fetched: list[int] = []

    def rows() -> Iterator[str]:
        for number in range(4):
            fetched.append(number)
            yield f"row {number}"

    monkeypatch.setattr(sys, "stdout", Terminal())
    monkeypatch.setattr(sys, "stderr", Terminal())
    lines = common.with_progress(rows())
    assert shown == [f"{common.READING} ...", "\r\x1b[K"]
    assert fetched == [0, 1]
    assert list(lines) == [f"row {number}" for number in range(4)]
    assert len(shown) == 2
