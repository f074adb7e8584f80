"""door/dropfiles: what a host board says of a caller, in each of the formats."""

from __future__ import annotations

import atexit
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from door.dropfiles.dropfile import DropFile, EventSaid, HostSettings, Limit
from door.dropfiles.events_ra import read as read_events
from door.dropfiles.finding import find
from door.dropfiles.formats import read
from door.dropfiles.telling import sentences
from door.dropfiles.understanding import understand
from door.errors import DropFileRefused
from tests.door.dropfiles.writers import PASSWORD, WRITERS
from verify.fuzz.oracles import assert_one_line
from verify.fuzz.target import Target

NAMES = (
    "DOOR32.SYS",
    "DOOR.SYS",
    "DORINFO1.DEF",
    "CHAIN.TXT",
    "BBSDEV.DRP",
    "EXITINFO.BBS",
    "EVENTS.RA",
)
NOW = datetime(2026, 11, 20, 20, 0, tzinfo=UTC)
READINGS = (
    HostSettings(NOW, "auto", "auto"),
    HostSettings(NOW, "seconds", "believed"),
    HostSettings(NOW, "minutes", "ignored"),
)
_FOLDER = tempfile.TemporaryDirectory(prefix="fuzz-")
FOLDER = Path(_FOLDER.name)
atexit.register(_FOLDER.cleanup)


def check(data: bytes) -> None:
    """The first byte chooses format and reading, the rest is the file."""
    chosen = data[0] if data else 0
    name = NAMES[chosen % len(NAMES)]
    reading = READINGS[chosen // len(NAMES) % len(READINGS)]
    path = FOLDER / name
    path.write_bytes(data[1:])
    try:
        if name == "EVENTS.RA":
            _check_events(path, reading)
        else:
            _check_file(path, reading)
    except DropFileRefused as refused:
        assert_one_line(str(refused))
        assert_one_line(refused.polite)
        assert PASSWORD not in str(refused), "a refusal quotes the file"
        assert refused.__context__ is None or name == "EVENTS.RA"
    finally:
        path.unlink()


def _check_events(path: Path, reading: HostSettings) -> None:
    event, left_out = read_events(path, reading)
    assert_one_line(left_out)
    assert (event.minute is not None) == (event.said is EventSaid.TIME)
    assert event.minute is None or 0 <= event.minute < 1440


def _check_file(path: Path, reading: HostSettings) -> None:
    found = read(path, reading)
    assert (found.time.limit is Limit.LEFT) == (found.time.seconds is not None)
    assert found.time.seconds is None or found.time.seconds >= 0
    assert found.event.minute is None or 0 <= found.event.minute < 1440
    assert found.number is None or found.number > 0
    assert found.node is None or found.node > 0
    assert found.number is not None or found.key is not None or found.name_key
    for text in _texts(found):
        assert_one_line(text)
        assert len(text) <= 80
    assert_one_line(found.name_key)
    assert_one_line(found.identity.caller)
    for doubt in found.doubts:
        assert_one_line(doubt)
        assert PASSWORD not in doubt, "a doubt quotes the file"
    assert read(path, reading) == found
    known = understand(find(FOLDER, {}, None), reading)
    for sentence in sentences(known):
        assert_one_line(sentence)


def _texts(found: DropFile) -> Iterator[str]:
    yield from (found.alias, found.real_name, found.board, found.software, found.sysop)
    yield from (found.charset or "", found.language or "")


def _seeds() -> Iterator[bytes]:
    for number, name in enumerate(NAMES):
        stem = name[:4].casefold()
        for written in WRITERS.values():
            if written.name.casefold().startswith(stem) and len(written.name) == len(name):
                for reading in range(len(READINGS)):
                    yield bytes((number + reading * len(NAMES),)) + written.content
    event = b"\x01\x0503:00\0\x7f" + b"\0" * 10
    yield bytes((6,)) + event.ljust(19, b"\0")[:19] * 3


TARGET = Target(
    name="dropfiles",
    check=check,
    seeds=_seeds,
    tokens=(
        *(b"\r\n", b"\n", b"\r", b"\x1a", b"GR", b"NG", b"7E", b"Y", b"N", b"0", b"-1", b"32767"),
        *(
            b"99999999999",
            b"03:00",
            b"24:00",
            b"COM0:",
            b"1.0",
            b"wwiv",
            PASSWORD.encode(),
            b"\xff",
        ),
        *(
            b"\xef\xbb\xbf",
            b"\xff\xfe",
            b"\x1b[2J",
            b"\xe2\x80\xae",
            b"9.5",
            b"unlimited",
            b"2026-",
        ),
    ),
    longest=4096,
    seconds=0.25,
)
