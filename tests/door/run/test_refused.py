"""Callers who cannot be served: a sentence in the log, another for them, never a traceback."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from door.run import relay
from tests.door.dropfiles.writers import PASSWORD, text
from tests.door.dropfiles.writers import door_sys as door_sys_lines
from tests.door.hosting import HANG_UP, hosted

POLITE = "Sorry, this board has not told us enough about your call to let you in."

WHOLE = text("0", "-1", "38400", "Synchronet 3.20b", "42", "Ann", "Moth", "50", "59", "1", "1")


async def test_a_broken_drop_file_is_logged_and_hidden_from_the_caller(
    tmp_path: Path,
) -> None:
    async with hosted(tmp_path, at_server=True) as host:
        host.config.path.write_text(host.config.path.read_text().partition("[boards")[0])
        file = host.node(1) / "DOOR32.SYS"
        file.write_bytes(WHOLE[:40])
        status, shown, log = await host.refused("--dropfile", str(file))
        assert status == 2
        assert POLITE in " ".join(shown.split())
        assert str(file) not in shown
        assert f"the call is refused: {file}" in log
        host.expected = f"the call is refused: {file}"
        await host.logs(host.expected)
        assert not host.config.database.exists() or host.visits_told() == []


async def test_a_missing_drop_file_is_refused_with_a_remedy(tmp_path: Path) -> None:
    async with hosted(tmp_path, at_server=True) as host:
        status, shown, log = await host.refused()
        assert status == 2
        assert POLITE in " ".join(shown.split())
        assert "Have the board write one of DOOR32.SYS" in log
        host.expected = "there is no drop file in this folder"


async def test_a_caller_on_a_terminal_reads_a_polite_refusal_without_the_log(
    tmp_path: Path,
) -> None:
    async with hosted(tmp_path, at_server=True) as host:
        visit = await host.on_terminal("--dropfile", str(host.node(1) / "DOOR32.SYS"))
        await visit.terminal.until("Sorry, this board has not told us enough")
        visit.presses("\r")
        assert await visit.ends() == 2
        assert "door.run" not in visit.terminal.transcript
        host.expected = "there is no such file"


async def test_wrong_settings_are_logged(tmp_path: Path) -> None:
    async with hosted(tmp_path) as host:
        good = host.config.path.read_text()
        host.config.path.write_text(good + "\n[calls]\nnodes = 0\n")
        status, shown, log = await host.refused("--dropfile", str(host.door32()))
        assert status == 2
        assert "can't open right now" in shown
        assert "[calls] nodes: must be a whole number" in log
        host.config.path.write_text(good)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--stdio", "--socket", "7"), "Choose only one of --stdio"),
        (("--socket", "99"), "Descriptor 99 is not open."),
        (("--socket", "stdin"), "Invalid value for '--socket'"),
        (("--node", "one"), "Invalid value for '--node'"),
        (("--node", "10000"), "Invalid value for '--node'"),
        (("--charset", "cp850"), "Invalid value for '--charset'"),
        (("--connect", "nowhere"), "use HOST:PORT"),
        (("--door", "craps"), "No table is called craps"),
        (("--board", "a@b"), "the name of a board must have"),
    ],
)
async def test_options_that_lead_nowhere_are_refused(tmp_path: Path, words, sentence) -> None:
    async with hosted(tmp_path, at_server=True) as host:
        status, _, log = await host.refused("--dropfile", str(host.door32()), *words)
        assert status == 2
        assert sentence in log
        host.expected = sentence


async def test_a_serial_port_is_none_of_ours(tmp_path: Path) -> None:
    async with hosted(tmp_path, at_server=True) as host:
        status, _, log = await host.refused("--dropfile", str(host.door32(comm="1")))
        assert status == 2
        assert "names a serial port" in log
        host.expected = "names a serial port"


async def test_a_locked_caller_reads_so_and_brings_nothing(tmp_path: Path) -> None:
    async with hosted(tmp_path, at_server=True) as host:
        first = await host.a_visit()
        assert await first.goes() == 0
        with host.books() as desk:
            desk.connection.exec_driver_sql("UPDATE callers SET locked = 1")
        again = await host.on_terminal("--dropfile", str(host.door32()))
        await again.terminal.until("The sysop has locked your name.")
        again.presses("\r")
        assert await again.ends() == 0
        assert len(host.visits_told()) == 1


async def test_a_password_in_the_drop_file_is_nowhere_afterwards(tmp_path: Path) -> None:
    async with hosted(tmp_path, at_server=True) as host:
        (host.node(1) / "DOOR.SYS").write_bytes(text(*door_sys_lines(node="1", event="00:00")))
        visit = await host.on_terminal("--dropfile", str(host.node(1)))
        await visit.comes_in()
        visit.gets(HANG_UP)
        assert await visit.ends() == 0
        assert PASSWORD not in visit.terminal.transcript
        for file in filter(Path.is_file, host.config.board.data.iterdir()):
            assert PASSWORD.encode() not in file.read_bytes(), file


LATE = """
import os, signal
from door.cli.entry import main

class HostInAHurry:
    def __del__(self, kill=os.kill, itself=os.getpid(), hang_up=signal.SIGHUP):
        kill(itself, hang_up)

host = HostInAHurry()  # deleted when Python has given up its handlers of signals
main()
"""


def test_a_hang_up_while_the_door_ends_does_not_change_its_status(tmp_path: Path) -> None:
    words = ("--config", str(tmp_path / "sysop.toml"), "--stdio")
    done = subprocess.run(
        [sys.executable, "-c", LATE, "run", *words],
        check=False,
        stdin=subprocess.DEVNULL,
        capture_output=True,
    )
    assert done.returncode == relay.REFUSED, done.stderr
