"""Every command names the owner of files that a user may not use."""

from __future__ import annotations

import ctypes
import os
import pickle
import re
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import pytest
from click.testing import CliRunner

from door.cli.main import main as door
from timebank import files
from timebank.cli.main import main as timebank
from timebank.keeping import backup
from timebank.ledger.engines import books_of
from timebank.settings import settings
from timebank.settings.settings import BankSettings

T = TypeVar("T")

TOML = """
[board]
name = "Wharf"
sysop = "Sysop"
data = "data"
[[listeners]]
kind = "telnet"
host = "127.0.0.1"
port = 0
"""
IS_ROOT = os.geteuid() == 0
# Of the folder and the files in it: as another user has them, and where they are our own.
MODES = {
    "folder": (0o700, 0o600) if IS_ROOT else (0, 0o600),
    "file": (0o755, 0o600) if IS_ROOT else (0o700, 0),
    "read only": (0o755, 0o644) if IS_ROOT else (0o500, 0o400),
}
OWNER = "nobody"
COMMANDS = [
    *(("timebank", each) for each in ("accounts", "audit", "boards", "clock")),
    *(("timebank", each) for each in ("house", "ledger", "log", "maintain", "outbox", "summary")),
    *(("timebank", each) for each in ("tournament", "upgrade")),
    *(("timebank", "statement", "Ann"), ("timebank", "export", "csv")),
    *(
        ("timebank", "freeze", "Ann", "--why", "-"),
        ("timebank", "deposit", "Ann", "5", "--why", "-"),
    ),
    *(("timebank", "backup", "COPY"), ("timebank", "restore", "BACKUP")),
    *(("timebank", "move", "BOOKS", "NEW"), ("timebank", "import", "THEBANK.EXT")),
    *(("door", "audit"), ("door", "callers", "list"), ("door", "callers", "lock", "Ann")),
    *(("door", "check"), ("door", "event"), ("door", "hand", "1")),
    *(("door", "pages"), ("door", "serve")),
]


class _Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


def as_another_user(run: Callable[[], T]) -> T:
    """Run it in a process that must keep to the modes of files, as root need not."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        status = 1
        try:
            if IS_ROOT:
                # Only CAP_DAC_OVERRIDE (1) and CAP_DAC_READ_SEARCH (2) go.
                header, sets = _Header(0x20080522, 0), (ctypes.c_uint32 * 6)()
                libc = ctypes.CDLL(None)
                assert libc.capget(ctypes.byref(header), ctypes.byref(sets)) == 0
                for number in range(3):
                    sets[number] &= ~0b110
                assert libc.capset(ctypes.byref(header), ctypes.byref(sets)) == 0
            with os.fdopen(writer, "wb") as file:
                file.write(pickle.dumps(run()))
            status = 0
        finally:
            os._exit(status)
    os.close(writer)
    with os.fdopen(reader, "rb") as file:
        answer = file.read()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    result: T = pickle.loads(answer)
    return result


@pytest.fixture
def board(tmp_path: Path) -> BankSettings:
    """A board with books and a backup of them, by its owner."""
    config = tmp_path / "sysop.toml"
    config.write_text(TOML, encoding="utf-8")
    settings_read = settings.load(config)
    database = books_of(settings_read)
    database.open()
    backup.back_up(database, settings_read, datetime.now(UTC), tmp_path / "backup")
    database.close()
    return settings_read


def run(config: Path, words: tuple[str, ...]) -> tuple[int, str]:
    names = {
        "BACKUP": config.parent / "backup",
        "COPY": config.parent / "copy",
        "BOOKS": settings.load(config).database,
        "NEW": config.parent / "new",
    }
    group, *rest = words
    rest = [str(names.get(each, each)) for each in rest]
    result = CliRunner().invoke(
        timebank if group == "timebank" else door, [*rest, "--config", str(config)]
    )
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        return 77, repr(result.exception)
    return result.exit_code, result.stdout + result.stderr


def owner_sentence(place: Path, does: str) -> str:
    if IS_ROOT:
        me = re.escape(files._user(0))
        return (
            rf"{re.escape(str(place))} belongs to {OWNER}, and {me} may not {does} it\. Run the"
            rf" command as its owner: `sudo -u {OWNER} \.\.\.`"
        )
    return rf"{re.escape(str(place))} is yours, and its mode \(\S+\) does not let you {does} it"


@pytest.mark.parametrize("state", ["folder", "file", "read only"])
def test_every_command_names_the_owner_of_the_files(board: BankSettings, state: str) -> None:
    folder, books = board.database.parent, board.database
    config = folder.parent / "sysop.toml"
    mode, each_mode = MODES[state]
    for each in (*folder.iterdir(), folder):
        if IS_ROOT:
            shutil.chown(each, OWNER)
    for each in folder.iterdir():
        each.chmod(each_mode)
    folder.chmod(mode)
    try:
        results = as_another_user(lambda: [run(config, words) for words in COMMANDS])
    finally:
        folder.chmod(0o700)
    place, does = {
        "folder": (folder, "enter"),
        "file": (books, "read"),
        "read only": (folder, "write into"),
    }[state]
    for words, (code, output) in zip(COMMANDS, results, strict=True):
        assert re.search(owner_sentence(place, does), output), (words, output)
        assert code == 2 or (words == ("door", "check") and code == 0), (words, output)
        assert "written over" not in output
        assert "Errno" not in output


def test_settings_that_may_not_be_read_are_so_too(board: BankSettings) -> None:
    config = board.database.parent.parent / "sysop.toml"
    if IS_ROOT:
        shutil.chown(config, OWNER)
    config.chmod(0o600 if IS_ROOT else 0)

    def outcomes() -> list[tuple[int, str]]:
        commands = (timebank, ["accounts"]), (door, ["check"]), (door, ["serve"])
        results = [
            CliRunner().invoke(group, [*words, "--config", str(config)])
            for group, words in commands
        ]
        return [(each.exit_code, each.stderr) for each in results]

    for code, error in as_another_user(outcomes):
        assert code == 2
        assert re.search(owner_sentence(config, "read"), error), error


def test_accessible_files_are_not_forbidden(board: BankSettings, tmp_path: Path) -> None:
    assert as_another_user(lambda: files.forbidden(board.database, writes=True)) is None
    assert files.forbidden(tmp_path / "none" / "there") is None


def test_a_disk_that_takes_no_writes_is_not_blamed_on_the_modes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is mounted to be read only, or somebody has marked the file by `chattr +i`."""
    books, may = tmp_path / "board.sqlite3", os.access
    books.touch(0o600)
    monkeypatch.setattr(os, "access", lambda at, mode: mode != os.W_OK and may(at, mode))
    assert files.forbidden(books, writes=True) == (
        f"{tmp_path} lets nobody write into it: its disk is read-only, or `lsattr` shows an i."
    )
    assert files.forbidden(books) is None
