"""door/config/config.py and timebank/settings/toml.py: a sysop.toml with anything in it."""

from __future__ import annotations

import atexit
import itertools
import tempfile
from collections.abc import Iterator
from pathlib import Path

from door.config import config, schema
from door.config.editing import toml
from door.games.registry import GAMES
from timebank.errors import SettingsError
from verify.fuzz.oracles import assert_one_line
from verify.fuzz.target import Target

_FOLDER = tempfile.TemporaryDirectory(prefix="fuzz-")
FILE = Path(_FOLDER.name) / "sysop.toml"
atexit.register(_FOLDER.cleanup)


def check(data: bytes) -> None:
    """It is settings, or refused with a sentence for everything that is wrong."""
    FILE.write_bytes(data)
    try:
        settings = config.load(FILE)
    except SettingsError as error:
        assert error.problems
        lines = data.count(b"\n") + 1
        for problem in error.problems:
            assert_one_line(problem.key)
            assert_one_line(problem.reason)
            assert problem.line is None or 1 <= problem.line <= lines
        for sentence in str(error).split("\n"):
            assert_one_line(sentence)
            assert sentence.startswith(str(FILE))
        return
    assert settings == config.load(FILE)
    assert 1 <= settings.calls.nodes <= config.MOST_NODES
    assert settings.calls.idle_warning_seconds < settings.calls.idle_limit_seconds
    assert_one_line(settings.board.name)
    assert_one_line(settings.board.sysop)


def _seeds() -> Iterator[bytes]:
    for table, keys in itertools.groupby(schema.default_keys(), lambda key: key.table):
        lines = [f"{key.path[-1]} = {toml(key.value)}" for key in keys]
        yield "\n".join([schema.header(table), *lines, ""]).encode()
    yield b""
    yield b"[board]\nname = 'x'\nsysop = 1979-05-27T07:32:00Z\n[calls]\nnodes = 0x10\n"
    yield b'[[listeners]]\nkind = "telnet"\nhost = "127.0.0.1"\nport = 0\n[[listeners]]\nport = 1.5'
    yield b'[boards.moth]\naddresses = ["192.0.2.0/24"]\nsecret = "x"\nshare = 50\nminutes = 30\n'
    yield b'[[events]]\nname = "Mail"\ntime = "03:00"\nminutes = 60\ndays = ["mon", "sun"]\n'
    yield b'a.b.c = {d = [1, {e = """\nx\n"""}], f = inf}\n"\\u0007" = 1\n'


TARGET = Target(
    name="config",
    check=check,
    seeds=_seeds,
    tokens=(
        *(b"[board]\n", b"[calls]\n", b"[[events]]\n", b"[[listeners]]\n"),
        *(f"[games.{name}]\n".encode() for name in GAMES),
        *(
            b"[boards.x]\n",
            b"[rules.x]\n",
            b'rules = "x"\n',
            b"[bank]\n",
            b" = ",
            b'"',
            b'"""',
            b"'",
            b"\n",
            b"[",
        ),
        *(b"true", b"-1", b"1e999", b"nan", b"1979-05-27", b"{", b"}", b",", b"\\u001b", b"\xff"),
        *(b"name", b"minutes", b"time", b"days", b"mode", b"zone", b"addresses", b"9" * 40, b"0x"),
    ),
    longest=2048,
    seconds=1.0,
)
