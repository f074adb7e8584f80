"""What the commands import before their first output, by module, because each import delays it."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from door.lines import hand_over
from tests import ROOT

# Each takes as long to load as half of Python itself, or longer.
HEAVY = {
    *("asyncio", "concurrent.futures", "ssl", "sqlite3", "decimal", "email", "subprocess"),
    *("multiprocessing", "hashlib", "secrets", "zoneinfo", "json", "socket"),
    *("sqlalchemy", "telnetlib3", "argon2", "uvloop", "wcwidth", "rich", "asyncssh"),
    *("starlette", "uvicorn", "jinja2"),
}
# A door at the server needs no patterns and dates, and of our modules only these.
TOO_MUCH = HEAVY | {
    *("click", "dataclasses", "datetime", "inspect", "logging", "re", "selectors", "struct"),
    *("threading", "pathlib", "tomllib", "typing", "gettext", "contextlib"),
}
MOST_OF_OURS = 7
MOST_OF_A_RELAY = 32  # modules, ours and those of every start included

MARK = "here it begins"
CODE = """import sys
sys.path[:] = {paths}
sys.argv[1:] = {words}
print({mark!r}, file=sys.stderr, flush=True)
from {module} import main
main()
"""
LINE = re.compile(r"import time: +(\d+) \| +\d+ \| *(\S+)")

Loaded = dict[str, int]  # microseconds by module


def command(module: str, *words: str) -> list[str]:
    """A command as it is installed, by a Python that has loaded nothing for itself."""
    paths = [str(ROOT), *sys.path]
    code = CODE.format(paths=paths, words=list(words), mark=MARK, module=module)
    return [sys.executable, "-S", "-X", "importtime", "-c", code]


def loaded(text: str) -> Loaded:
    return {name: int(spent) for spent, name in LINE.findall(text.partition(MARK)[2])}


# Modules missing in a build: extras, and dependencies that no command needs to import.
NOT_AT_A_BUILD = [
    *("psycopg", "websockets", "asyncssh", "jinja2", "starlette", "uvicorn"),
    *("textual", "telnetlib3", "argon2", "tomlkit", "wcwidth", "segno"),
]


def refuse(modules: Loaded, heavy: set[str]) -> None:
    """Fail if a heavy module is loaded, and list the cost of all modules."""
    too_much = sorted(name for name in modules if name in heavy)
    table = "\n".join(
        f"{spent:7} us  {name}" for name, spent in sorted(modules.items(), key=lambda one: -one[1])
    )
    assert not too_much, f"{too_much}\n{table}"


@pytest.mark.parametrize("module", ["door.cli.entry", "timebank.cli.main"])
def test_help_loads_nothing_that_a_command_needs_later(module: str) -> None:
    ran = subprocess.run(command(module, "--help"), capture_output=True, text=True, check=True)
    assert "Usage: " in ran.stdout
    modules = loaded(ran.stderr)
    assert "click" in modules
    refuse(modules, HEAVY)


@pytest.mark.parametrize(
    ("module", "name"), [("door.cli.entry", "door"), ("timebank.cli.main", "timebank")]
)
def test_commands_are_completed_without_loading_one(module: str, name: str) -> None:
    asked = {"__C_COMPLETE": "bash_complete", "COMP_WORDS": f"{name} ", "COMP_CWORD": "1"}
    ran = subprocess.run(
        command(module), env=os.environ | asked, capture_output=True, text=True, check=True
    )
    assert "plain,audit" in ran.stdout
    refuse(loaded(ran.stderr), HEAVY)


def test_every_command_is_there_without_the_extras() -> None:
    """A build has only SQLAlchemy and click when it makes the man pages of all commands."""
    code = (
        "import sys\n"
        f"sys.modules.update(dict.fromkeys({NOT_AT_A_BUILD}))\n"
        "from door.cli.main import main as door\n"
        "from timebank.cli.main import main as timebank\n"
        "both = {**door.commands, **timebank.commands}\n"
        "print(*(command.name for command in both.values()))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert {"serve", "backup"} <= set(ran.stdout.split())


def test_odds_are_computed_without_loading_the_books() -> None:
    ran = subprocess.run(
        command("door.cli.entry", "odds", "baccarat"), capture_output=True, text=True, check=True
    )
    assert "Baccarat" in ran.stdout
    refuse(loaded(ran.stderr), {"sqlalchemy"})


def test_a_door_at_the_server_loads_next_to_nothing(tmp_path: Path) -> None:
    """Measure a door's imports by its end, at a server that answers yes to everything."""
    config = tmp_path / "sysop.toml"
    config.write_text("")
    hand_over.leave_note(str(config), config.stat(), str(tmp_path))
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as server:
        server.bind(str(tmp_path / hand_over.NAME))
        server.listen()
        server.settimeout(30)
        with subprocess.Popen(
            command("door.cli.entry", "run", "--config", str(config), "--stdio"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as door:
            near, _ = server.accept()
            with near:
                near.settimeout(30)
                assert hand_over.unpacked(near.recv(hand_over.LARGEST))[0] == hand_over.CALL
                near.send(hand_over.packed(hand_over.WANTED, hand_over.STDIO))
                message, ends, _, _ = socket.recv_fds(near, hand_over.LARGEST, 2)
                assert hand_over.unpacked(message) == [hand_over.LINE]
                assert len(ends) == 2
                for end in ends:
                    assert hand_over.flows(end)
                    os.close(end)
                near.send(hand_over.packed(hand_over.TAKEN))
                near.send(hand_over.packed(hand_over.DONE, "7"))
            _, output = door.communicate(timeout=30)
        assert door.returncode == 7
    modules = loaded(output)
    ours = [name for name in modules if name.partition(".")[0] in ("door", "timebank", "ansi")]
    assert len(ours) <= MOST_OF_OURS, ours
    refuse(modules, TOO_MUCH)
    assert len(modules) <= MOST_OF_A_RELAY, sorted(modules)
