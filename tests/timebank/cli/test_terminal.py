"""The `timebank` command on a terminal, and with its output cut off."""

from __future__ import annotations

import os
import pty
import subprocess
import sys

import pytest

from tests import ROOT

# The output on a terminal does not depend on the kind of books.
pytestmark = [pytest.mark.long, pytest.mark.of_a_file]


def on_a_terminal(config, *words, **environment):
    """Run the command with a terminal for its output, and give all that it wrote."""
    ours, theirs = pty.openpty()
    code = "import sys; from timebank.cli.main import main; main(sys.argv[1:])"
    process = subprocess.Popen(
        [sys.executable, "-c", code, words[0], "--config", str(config), *words[1:]],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": ".", "TERM": "xterm", **environment},
        stdin=theirs,
        stdout=theirs,
    )
    os.close(theirs)
    output = b""
    try:
        while piece := os.read(ours, 4096):
            output += piece
    except OSError:  # the terminal was closed
        pass
    os.close(ours)
    assert process.wait() == 0
    return output.decode().replace("\r\n", "\n")


def test_the_ledger_is_paged_on_a_terminal(evening, config, timebank):
    assert on_a_terminal(config, "ledger", "--wide", PAGER="sed s/^/paged:/") == "".join(
        f"paged:{line}\n" for line in timebank("ledger")[1].splitlines()
    )


def test_other_formats_are_not_paged(evening, config, timebank):
    words = ("ledger", "--format", "csv")
    assert on_a_terminal(config, *words, PAGER="sed s/^/paged:/") == timebank(*words)[1]


def test_the_headings_are_bold_unless_there_are_to_be_no_colours(evening, config):
    shown = [
        on_a_terminal(config, "accounts", PAGER="less", LESS="-RFX", **environment)
        for environment in ({}, {"NO_COLOR": "1"}, {"TERM": "dumb"})
    ]
    assert ["\x1b[1mCaller" in each for each in shown] == [True, False, False]
    assert "Caller   Online" in shown[1]


def test_columns_that_do_not_fit_are_named_and_shown_on_request(evening, config):
    shown = on_a_terminal(config, "ledger", PAGER="cat", COLUMNS="80").splitlines()
    assert max(map(len, shown)) <= 80
    assert shown[-1].startswith("No room for: Entry, ")
    shown = on_a_terminal(config, "ledger", "--wide", PAGER="cat", COLUMNS="80").splitlines()
    assert shown[0].startswith("Number  Entry  When ")


@pytest.mark.parametrize("words", [("ledger",), ("accounts", "--format", "json"), ("--help",)])
def test_a_full_disk_is_a_sentence(evening, config, words):
    code = "import sys; from timebank.cli.main import main; main(sys.argv[1:])"
    with open("/dev/full", "w") as full:
        run = subprocess.run(
            [sys.executable, "-c", code, *words],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": ".", "BJFT_CONFIG": str(config)},
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
            text=True,
        )
    assert run.returncode == 2
    assert run.stderr == "Can't write the output: No space left on device.\n"


def test_a_bar_is_drawn_where_it_is_looked_at(evening, config):
    words = ("summary", "--wide")
    shown = on_a_terminal(config, *words, PYTHONIOENCODING="utf-8").splitlines()
    assert shown[1].endswith("0:05:00  " + "█" * 24)
    shown = on_a_terminal(config, *words, PYTHONIOENCODING="ascii").splitlines()
    assert shown[1].endswith("0:05:00  " + "#" * 24)


def test_a_reader_that_closes_the_pipe_gets_no_error(evening, config):
    code = "import sys; from timebank.cli.main import main; main(sys.argv[1:])"
    command = [sys.executable, "-c", code, "ledger", "--config", str(config), "--format", "csv"]
    ours, theirs = os.pipe()
    os.close(ours)
    run = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": "."},
        stdout=theirs,
        stderr=subprocess.PIPE,
        check=False,
        text=True,
    )
    os.close(theirs)
    assert (run.returncode, run.stderr) == (2, "")
