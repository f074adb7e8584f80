"""Lines of the log, as text and as JSON."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from pathlib import Path
from subprocess import PIPE, STDOUT

import pytest

from door.clock import SystemClock
from door.config import config as settings
from door.config.log_file import formatter, opened, to_stderr
from door.defence.reception import Reception
from door.server.pages_process import PROGRAM

TOML = '[board]\ntime_zone = "Asia/Tokyo"\n[server]\nlog_format = "{}"\n'


def record(message: str, *args: object) -> logging.LogRecord:
    try:
        raise ValueError("a fault")
    except ValueError:
        entry = logging.LogRecord("door", logging.ERROR, "", 0, message, args, sys.exc_info())
    entry.created = 1_763_640_000.25
    return entry


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_line_has_its_zone_and_in_json_it_is_one_line_in_any_case(
    tmp_path: Path, form: str
) -> None:
    file = tmp_path / "sysop.toml"
    file.write_text(TOML.format(form), encoding="utf-8")
    formatted = formatter(settings.load(file)).format(record("Hello,\n%s.", "Zoë"))
    if form == "text":
        assert formatted.startswith("2025-11-20 21:00:00.250+09:00 ")
        return
    assert "\n" not in formatted
    parsed = json.loads(formatted)
    assert parsed.pop("traceback").endswith("ValueError: a fault")
    assert parsed.pop("process") > 0
    assert parsed == {
        "at": "2025-11-20T21:00:00.250+09:00",
        "level": "ERROR",
        "logger": "door",
        "message": "Hello,\nZoë.",
    }


@pytest.mark.parametrize("is_journal", [True, False])
def test_the_journal_gets_the_priority_of_each_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_journal: bool
) -> None:
    with (tmp_path / "stderr").open("w+") as stream:
        place = os.fstat(stream.fileno())
        number = place.st_ino + (not is_journal)  # otherwise inherited from a parent process
        monkeypatch.setenv("JOURNAL_STREAM", f"{place.st_dev}:{number}")
        handler = to_stderr(stream)
        handler.emit(logging.makeLogRecord({"msg": "one\ntwo", "levelno": logging.ERROR}))
        handler.emit(logging.makeLogRecord({"msg": "three", "levelno": logging.WARNING}))
        handler.emit(logging.makeLogRecord({"msg": "four", "levelno": logging.INFO}))
        stream.seek(0)
        lines = stream.read().splitlines()
    expected = ["<3>one", "<3>two", "<4>three", "<6>four"]
    assert lines == (expected if is_journal else [line[3:] for line in expected])


@pytest.mark.parametrize("mode", [0o700, 0o770])
def test_a_log_is_written_through_a_link_only_if_its_folder_is_trusted(
    tmp_path: Path, mode: int
) -> None:
    data, ours = tmp_path / "data", tmp_path / "ours"
    data.mkdir()
    data.chmod(mode)
    ours.write_text("before\n")
    for name in ("server.log", "refused.log"):
        (data / name).symlink_to(ours)
    file = tmp_path / "sysop.toml"
    file.write_text("")
    for handler in opened(settings.load(file)):
        handler.emit(record("by a door"))
        handler.close()
    refusals = Reception(settings.load(file), SystemClock(), lambda: 0)
    refusals.open_log(data)
    refusals.note("192.0.2.1", "refused")
    refusals.close_log()
    content = ours.read_text()
    assert ("by a door" in content, "refused" in content) == ((mode == 0o700),) * 2


def test_no_other_user_makes_the_log_which_the_server_could_not_write_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "sysop.toml").touch()
    config = settings.load(tmp_path / "sysop.toml")
    with monkeypatch.context() as host:
        host.setattr("door.config.log_file.os.geteuid", lambda: 4_000_001)
        assert opened(config) == []
    assert not (tmp_path / "data/server.log").exists()
    (log,) = opened(config)
    log.close()
    assert (tmp_path / "data/server.log").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("", "J is open."),
        ("[calls]\nnode = 1\n", "node: is not known here"),
        ('[[listeners]]\nkind = "telnet"\nhost = "192.0.2.1"\nport = 2323\n', "192.0.2.1"),
    ],
    ids=["none", "a setting", "a port"],
)
def test_every_line_of_a_server_is_json_from_the_first_one_on(
    tmp_path: Path, wrong: str, said: str
) -> None:
    """Also lines about settings that cannot be read, and about what it does at its start."""
    file = tmp_path / "sysop.toml"
    listeners = "" if "listeners" in wrong else "listeners = []\n"
    nodes = "" if "calls" in wrong else "[calls]\nnodes = 1\n"
    head = f'{listeners}events = []\n[board]\nname = "J"\n[server]\nlog_format = "json"\n'
    file.write_text(f"{head}{nodes}{wrong}", encoding="utf-8")
    command = (sys.executable, "-c", PROGRAM, "serve", "--config", file)
    with subprocess.Popen(command, stdout=PIPE, stderr=STDOUT, text=True) as server:
        assert server.stdout is not None
        lines = []
        for line in server.stdout:
            lines.append(json.loads(line))
            if "Its data is in" in line:
                server.terminate()
    assert server.returncode == (2 if wrong else 0)
    assert said in lines[0]["message"]
    assert {line["level"] for line in lines} <= {"INFO", "WARNING", "ERROR"}
