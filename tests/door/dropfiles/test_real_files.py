"""The content read from real files of boards (data/, byte for byte)."""

from __future__ import annotations

from pathlib import Path

import pytest

from door.dropfiles.dropfile import ConnectionKind, DropFile, Limit
from door.dropfiles.formats import read
from tests.door.dropfiles.reads import AS_WRITTEN, put
from tests.door.dropfiles.writers import Written

DATA = Path(__file__).parent / "data"
MINUTE = 60


def real(folder: Path, name: str) -> DropFile:
    path = DATA / name
    return read(put(folder, Written(path.name, path.read_bytes())), AS_WRITTEN)


@pytest.mark.parametrize(
    ("name", "board", "caller", "alias", "seconds"),
    [
        ("synchronet/DOOR32.SYS", "synchronet bbs", "number 2", "Bob", 3 * MINUTE),
        ("magicka/door32.sys", "magicka", "number 1", "Ann", 240 * MINUTE),
        ("magicka/door.sys", "", "number 1", "Ann", 14400),
        ("magicka/dorinfo1.def", "magica", "name ann lee", "Ann Lee", 240 * MINUTE),
        ("gamesrv/door32.sys", "gamesrvconsole", "number 1", "Ann", 58 * MINUTE),
        ("gamesrv/door.sys", "", "name ann", "Ann", 3506),
        ("gamesrv/dorinfo1.def", "new gamesrv bbs", "name ann", "Ann", 58 * MINUTE),
    ],
)
def test_real_files_yield_caller_board_and_time(
    tmp_path: Path, name: str, board: str, caller: str, alias: str, seconds: int
) -> None:
    file = real(tmp_path, name)
    assert (file.identity.board, file.identity.caller) == (board, caller)
    assert file.name == alias
    assert (file.time.limit, file.time.seconds) == (Limit.LEFT, seconds)


def test_enigma_names_its_board_and_tells_no_time(tmp_path: Path) -> None:
    file = real(tmp_path, "enigma/door32.sys")
    assert file.software == "New ENiGMA\N{VULGAR FRACTION ONE HALF} BBS"
    assert (file.identity.caller, file.name) == ("number 1", "Ann")
    assert (file.time.limit, file.time.written) == (Limit.CONSTANT, 546 * MINUTE)
    assert file.enigma


@pytest.mark.parametrize(
    ("name", "kind", "handle"),
    [
        ("synchronet/DOOR32.SYS", ConnectionKind.STDIO, None),
        ("enigma/door32.sys", ConnectionKind.STDIO, None),
        ("magicka/door32.sys", ConnectionKind.SOCKET, 4),
        ("gamesrv/door32.sys", ConnectionKind.SOCKET, 4),
    ],
)
def test_how_the_callers_bytes_arrive(tmp_path: Path, name: str, kind, handle) -> None:
    connection = real(tmp_path, name).connection
    assert (connection.kind, connection.handle) == (kind, handle)


@pytest.mark.parametrize("name", ["magicka/door.sys", "gamesrv/door.sys"])
def test_no_password_is_quoted(tmp_path: Path, name: str) -> None:
    text = repr(real(tmp_path, name))
    assert "SECRET" not in text
    assert "PASSWORD" not in text


def test_every_file_is_looked_at(tmp_path: Path) -> None:
    """`dorinfo.def` of GameSrv has no number in its name and so no format; all others have one."""
    names = sorted(str(path.relative_to(DATA)) for path in DATA.rglob("*") if path.is_file())
    read_here = [name for name in names if name != "gamesrv/dorinfo.def"]
    assert len(read_here) == 8
    for name in read_here:
        assert real(tmp_path, name).name
