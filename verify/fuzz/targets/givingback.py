"""door/dropfiles/giving.py: a host's own file changed in one number, and in nothing else."""

from __future__ import annotations

import atexit
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from door.dropfiles.dropfile import DropFile, HostSettings
from door.dropfiles.formats import read
from door.dropfiles.giving import door_sys_credit, exitinfo_time
from door.errors import DropFileRefused, NotGiven
from tests.door.dropfiles.writers import PASSWORD, WRITERS
from verify.fuzz.oracles import assert_one_line
from verify.fuzz.target import Target

READING = HostSettings(datetime(2026, 11, 20, 20, 0, tzinfo=UTC), "auto", "auto")
FILES = {"DOOR.SYS": door_sys_credit, "EXITINFO.BBS": exitinfo_time}
_FOLDER = tempfile.TemporaryDirectory(prefix="fuzz-")
FOLDER = Path(_FOLDER.name)
atexit.register(_FOLDER.cleanup)


def check(data: bytes) -> None:
    """The first byte chooses the file, the next two the minutes, the rest is the file."""
    name = list(FILES)[data[0] % len(FILES)] if data else "DOOR.SYS"
    minutes = int.from_bytes(data[1:3], "big") & 0x7FFF
    content = data[3:]
    path = FOLDER / name
    path.write_bytes(content)
    try:
        before = _read(path)
        try:
            FILES[name](path, minutes)
        except NotGiven as refused:
            assert_one_line(str(refused))
            assert PASSWORD not in str(refused), "a refusal quotes the file"
            assert path.read_bytes() == content, "it was refused and changed"
            return
        after = path.read_bytes()
        same = _common(content, after)
        assert len(content) - same <= 12, "more than a number has changed"
        FILES[name](path, minutes)
        assert path.read_bytes() == after, "given twice is not given once"
        if before is not None:
            _compare(before, _read(path), name, minutes)
    finally:
        path.unlink()


def _read(path: Path) -> DropFile | None:
    try:
        return read(path, READING)
    except DropFileRefused:
        return None


def _common(one: bytes, other: bytes) -> int:
    """How many bytes the two share at their beginning and at their end."""
    shorter = min(len(one), len(other))
    start = next((at for at in range(shorter) if one[at] != other[at]), shorter)
    end = 0
    while end < shorter - start and one[-1 - end] == other[-1 - end]:
        end += 1
    return start + end


def _compare(before: DropFile, after: DropFile | None, name: str, minutes: int) -> None:
    assert after is not None, "it cannot be read any more"
    assert after.identity == before.identity
    assert after.event == before.event
    if name == "DOOR.SYS":
        assert after.credit_minutes == minutes
        assert after.time == before.time
    elif before.time_limit is not None:
        assert after.time_limit == minutes


def _seeds() -> Iterator[bytes]:
    for written in WRITERS.values():
        if written.name.upper() in FILES:
            number = list(FILES).index(written.name.upper())
            yield bytes((number, 0, 20)) + written.content
            yield bytes((number, 0x7F, 0xFF)) + written.content


TARGET = Target(
    name="givingback",
    check=check,
    seeds=_seeds,
    tokens=(
        *(b"\r\n", b"\n", b"\r", b"\x1a", b"GR", b"NG", b"Y", b"N", b"0", b"-1", b"+15", b"15"),
        *(
            b"\xef\xbb\xbf",
            b" 15 ",
            b"\xc2\xa015",
            PASSWORD.encode(),
            b"99999999999",
            b"\xff",
            b"\0",
        ),
    ),
    longest=4096,
    seconds=0.25,
)
