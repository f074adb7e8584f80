"""The files of docs/many-machines.md are what runs are made with, and what the text says."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import click
import pytest

from door.cli.main import main as door
from tests import ROOT
from timebank.cli.main import main as timebank
from verify.machines import shipped
from verify.machines.networks import CannotBeDone
from verify.machines.shipped import FOLDER, environment, fitted

GUIDE = (ROOT / "docs" / "many-machines.md").read_text("utf-8")
COMMANDS = {"door": door, "timebank": timebank}


def test_what_has_changed_does_not_fit_in_silence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shipped, "FOLDER", tmp_path)
    (tmp_path / "a.yml").write_text("# for @NAME@ at 10.0.0.1\nname: @NAME@\nttl: 20\nttl: 20\n")
    with pytest.raises(CannotBeDone, match=r"a\.yml has 'ttl: 20' 2 times, not once"):
        fitted("a.yml", {"NAME": "db1"}, {"ttl: 20": "ttl: 5"})
    with pytest.raises(CannotBeDone, match=r"a\.yml has 'ttl: 30' 0 times, not once"):
        fitted("a.yml", {"NAME": "db1"}, {"ttl: 30": "ttl: 5"})
    with pytest.raises(CannotBeDone, match=r"a\.yml still has @NAME@"):
        fitted("a.yml", {}, {})
    assert fitted("a.yml", {"NAME": "db1"}, {}) == "name: db1\nttl: 20\nttl: 20\n"
    (tmp_path / "a.yml").write_text("host: 10.0.0.11\n")
    with pytest.raises(CannotBeDone, match=r"a\.yml still has 10\.0\.0\.11"):
        fitted("a.yml", {}, {})


def test_the_guide_fills_in_what_the_files_leave_open() -> None:
    for file in FOLDER.iterdir():
        lines = [line for line in file.read_text("utf-8").splitlines() if not line.startswith("#")]
        wanted = set(re.findall("@[A-Z]+@", "\n".join(lines)))
        # `sed` puts one into each line.
        assert all(len(re.findall("@[A-Z]+@", line)) < 2 for line in lines), file.name
        if wanted:
            (filled,) = re.findall(rf'sed "([^"]+)" machines/{file.name}', GUIDE)
            assert set(re.findall("@[A-Z]+@", filled)) == wanted
        assert f"machines/{file.name}" in GUIDE


def test_the_files_name_the_machines_of_the_guide() -> None:
    assert "| db1, db2, db3 | 10.0.0.11, .12, .13 |" in GUIDE
    assert "| board1, board2 | 10.0.0.31, .32 |" in GUIDE
    text = "".join(file.read_text("utf-8") for file in FOLDER.iterdir())
    known = {"0", "11", "12", "13", "31", "32"}
    assert set(re.findall(r"10\.0\.0\.(\d+)", text + GUIDE)) == known
    settings = environment((FOLDER / "etcd.default").read_text("utf-8"))
    assert settings["ETCD_INITIAL_CLUSTER"].count("http://10.0.0.1") == 3


def test_haproxy_takes_its_file() -> None:
    path = shutil.which("haproxy", path="/usr/sbin:/usr/bin")
    if path is None:
        assert not os.environ.get("BJFT_NEED_CLIENTS"), "haproxy must be here"
        pytest.skip("HAProxy is not installed")
    file = FOLDER / "haproxy.cfg"
    done = subprocess.run(
        [path, "-c", "-f", str(file)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "warning" not in done.stderr.lower()


def test_callers_are_not_cut_off_when_their_server_drains() -> None:
    """Nobody could finish: a server that drains listens no more, and is down for HAProxy."""
    text = (FOLDER / "haproxy.cfg").read_text("utf-8")
    _, _, callers = text.partition("listen callers")
    assert callers
    assert "shutdown-sessions" not in callers


def commands() -> list[tuple[str, list[str]]]:
    """The commands of ours in the guide, each with its words."""
    blocks = "".join(re.findall(r"```sh\n(.*?)```", GUIDE, re.DOTALL)).replace("\\\n", " ")
    return [
        (name, re.sub(r"\$\(.+?\)", "some", words).split())
        for name, words in re.findall(r"/opt/bjft/bin/(door|timebank) (.+)", blocks)
    ]


@pytest.mark.parametrize(("name", "words"), commands())
def test_the_commands_of_the_guide_are_ours(name: str, words: list[str]) -> None:
    command = COMMANDS[name].commands[words[0]]
    command.make_context(words[0], words[1:])  # refuses options that it does not know
    assert isinstance(command, click.Command)


def test_there_are_such_commands() -> None:
    assert {words[0] for _, words in commands()} >= {"check", "move", "nodes", "drain", "stop"}
