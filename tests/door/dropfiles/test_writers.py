"""The content of each board's file, with its quirks."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from door.dropfiles.dropfile import (
    ConnectionKind,
    DropFile,
    EventKind,
    HostIdentity,
    HostSettings,
    Limit,
)
from door.dropfiles.formats import read
from tests.door.dropfiles.reads import AS_WRITTEN, NOW, put, reading_of
from tests.door.dropfiles.writers import (
    WRITERS,
    Written,
    bbsdev,
    chain,
    door32,
    door_sys,
    dorinfo,
    remote_access,
    text,
)

STDIO = (ConnectionKind.STDIO, None)
UNKNOWN = (ConnectionKind.UNKNOWN, None)

# Writer, seconds left, identity, alias and line.
CALLS = [
    ("synchronet stdio", 3540, ("synchronet", "number 42"), "Moth", STDIO),
    ("synchronet socket", 3540, ("synchronet", "number 42"), "Moth", (ConnectionKind.SOCKET, 17)),
    ("enigma 0.4 door32", 3540, ("moth house", "number 42"), "Moth", STDIO),
    ("mystic 1.10 unix", 3540, ("mystic", "number 42"), "Moth", STDIO),
    ("mystic 1.12 socket", 3540, ("mystic", "number 42"), "Moth", (ConnectionKind.SOCKET, 9)),
    ("wwiv door32", 3480, ("wwiv", "number 42"), "Moth", (ConnectionKind.SOCKET, 5)),
    ("gamesrv door32", 3540, ("moth house", "number 42"), "Moth", (ConnectionKind.SOCKET, 1234)),
    ("binktermphp door32", 3540, ("moth house", "number 42"), "Moth", STDIO),
    ("maximus avatar", 3540, ("synchronet", "number 42"), "Moth", (ConnectionKind.SERIAL, None)),
    ("door32 of dos", 3540, ("synchronet", "number 42"), "Moth", STDIO),
    ("door32 with a mark", 3540, ("synchronet", "number 42"), "Moth", STDIO),
    ("door32 of a macintosh", 3540, ("synchronet", "number 42"), "Moth", STDIO),
    ("door32 in cp437", 3540, ("synchronet", "number 42"), "Björn", STDIO),
    ("door32 in utf-8", 3540, ("synchronet", "number 42"), "Björn", STDIO),
    ("door32 without a number", 3540, ("synchronet", "name moth"), "Moth", STDIO),
    ("door32 without a last end of line", 3540, ("synchronet", "number 42"), "Moth", STDIO),
    ("synchronet door.sys", 3599, ("", "number 42"), "Moth", UNKNOWN),
    ("synchronet door.sys, ten hours", 36000, ("", "number 42"), "Moth", UNKNOWN),
    ("synchronet door.sys, blank from 32 on", 3599, ("", "number 42"), "Moth", UNKNOWN),
    ("gap of 31 lines", 3599, ("", "number 42"), "Moth", UNKNOWN),
    ("icy_board door.sys", 3599, ("", "number 42"), "Moth", UNKNOWN),
    ("remoteaccess door.sys", 3599, ("", "number 42"), "Moth", UNKNOWN),
    ("wwiv door.sys", 3599, ("", "number 42"), "Moth", UNKNOWN),
    ("gamesrv door.sys", 3599, ("", "number 42"), "Moth", STDIO),
    ("mystic door.sys", 3599, ("", "number 42"), "Moth", UNKNOWN),
    ("binktermphp door.sys", 3599, ("", "number 42"), "Moth", UNKNOWN),
    ("synchronet dorinfo", 3540, ("moth house", "name moth"), "MOTH", UNKNOWN),
    ("icy_board dorinfo", 3540, ("moth house", "name ann example"), "Ann Example", UNKNOWN),
    ("wwiv dorinfo", 3540, ("moth house", "name moth"), "Moth", STDIO),
    ("synchronet chain", 3540, ("moth house", "number 42"), "MOTH", UNKNOWN),
    ("wwiv chain", 3540, ("moth house", "number 42"), "Moth", UNKNOWN),
    ("icy_board chain", 3540, ("moth house", "name moth"), "Moth", UNKNOWN),
    ("enigma bbsdev", 1800, ("moth house", "key 42"), "Moth", STDIO),
    ("binktermphp bbsdev", 1800, ("moth house", "key u-7f3a"), "Björn", STDIO),
    (
        "bbsdev of a later version",
        1800,
        ("moth house", "key 42"),
        "Moth",
        (ConnectionKind.SOCKET, 0),
    ),
    ("remoteaccess exitinfo", 3540, ("", "number 42"), "Moth", UNKNOWN),
]
# The constant seconds that ENiGMA writes for every caller.
CONSTANTS = {
    "enigma 0.0 door32": 546 * 60,
    "enigma 0.5 door32": 546 * 60,
    "enigma 0.0 door.sys": 15360,
    "enigma 2026 door.sys": 32760,
    "enigma 0.0 dorinfo": 546 * 60,
}
WITHOUT_SECONDS = [
    *CONSTANTS,
    "door32 without time",
    "anetbbs bbsdev",
    "synchronet exitinfo",
    "synchronet exitinfo before 3.20",
]


@pytest.mark.parametrize(("writer", "seconds", "who", "name", "line"), CALLS)
def test_caller_time_and_line_are_read(writer, seconds, who, name, line, tmp_path: Path):
    file = reading_of(tmp_path, writer)
    assert (file.time.limit, file.time.seconds) == (Limit.LEFT, seconds)
    assert file.identity == HostIdentity(*who)
    assert file.name == name
    assert (file.connection.kind, file.connection.handle) == line


def test_every_writer_is_spoken_for():
    assert {writer for writer, *_ in CALLS} | set(WITHOUT_SECONDS) == set(WRITERS)


@pytest.mark.parametrize(
    "writer", ["door32 without time", "synchronet exitinfo", "synchronet exitinfo before 3.20"]
)
def test_no_time_is_unknown_and_not_zero(writer, tmp_path: Path):
    time = reading_of(tmp_path, writer).time
    assert (time.limit, time.seconds) == (Limit.UNKNOWN, None)


@pytest.mark.parametrize(("writer", "written"), CONSTANTS.items())
def test_the_constant_time_of_enigma_is_no_limit(writer, written, tmp_path: Path):
    file = reading_of(tmp_path, writer)
    assert (file.time.limit, file.time.seconds) == (Limit.CONSTANT, None)
    assert (file.time.written, file.enigma) == (written, True)


def test_no_deadline_is_unlimited_and_not_expired(tmp_path: Path):
    time = reading_of(tmp_path, "anetbbs bbsdev").time
    assert (time.limit, time.seconds, time.place) == (
        Limit.UNLIMITED,
        None,
        "line 11 of BBSDEV.DRP",
    )


def test_a_deadline_is_read_together_with_its_seconds(tmp_path: Path):
    time = reading_of(tmp_path, "enigma bbsdev").time
    assert time.deadline == datetime(2026, 11, 20, 20, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("writer", "place"),
    [
        ("synchronet stdio", "line 9 of DOOR32.SYS, in minutes"),
        ("wwiv door32", "line 9 of door32.sys, in seconds"),
        ("synchronet door.sys", "line 18 of DOOR.SYS"),
        ("synchronet door.sys, ten hours", "line 19 of DOOR.SYS"),
        ("icy_board door.sys", "line 17 of DOOR.SYS"),
        ("icy_board dorinfo", "line 15 of DORINFO4.DEF"),
        ("wwiv chain", "line 16 of chain.txt"),
        ("remoteaccess exitinfo", "TimeLimit of EXITINFO.BBS"),
    ],
)
def test_the_field_of_the_time_is_named(writer, place, tmp_path: Path):
    assert reading_of(tmp_path, writer).time.place == place


@pytest.mark.parametrize(
    ("writer", "expected", "clock"),
    [
        ("synchronet door.sys", EventKind.TIME, "03:00"),
        ("mystic door.sys", EventKind.TIME, "04:30"),
        ("remoteaccess exitinfo", EventKind.TIME, "03:00"),
        ("icy_board door.sys", EventKind.PLACEHOLDER, "00:00"),
        ("gamesrv door.sys", EventKind.PLACEHOLDER, "00:00"),
        ("wwiv door.sys", EventKind.PLACEHOLDER, "00:01"),
        ("enigma 0.0 door.sys", EventKind.PLACEHOLDER, "00:05"),
        ("synchronet door.sys, blank from 32 on", EventKind.UNKNOWN, ""),
        ("gap of 31 lines", EventKind.UNKNOWN, ""),
        ("synchronet stdio", EventKind.UNKNOWN, ""),
        ("synchronet exitinfo", EventKind.UNKNOWN, ""),
    ],
)
def test_the_next_event_is_distinguished_from_placeholders(writer, expected, clock, tmp_path: Path):
    event = reading_of(tmp_path, writer).event
    assert (event.kind, event.clock) == (expected, clock)


def test_a_sysop_may_believe_a_placeholder(tmp_path: Path):
    event = reading_of(tmp_path, "gamesrv door.sys", HostSettings(NOW, "auto", "believed")).event
    assert (event.kind, event.minute) == (EventKind.TIME, 0)


def screen(file: DropFile) -> tuple[object, ...]:
    return (file.emulation, file.charset, file.columns, file.rows, file.language)


@pytest.mark.parametrize(
    ("writer", "hints"),
    [
        ("synchronet stdio", ("ansi", None, None, None, None)),
        ("maximus avatar", ("avatar", None, None, None, None)),
        ("synchronet door.sys", ("ansi", None, None, 25, None)),
        ("synchronet dorinfo", ("ansi", None, None, None, None)),
        ("wwiv chain", ("ansi", None, 80, 25, None)),
        ("enigma bbsdev", ("ansi", "cp437", 132, 43, "en-US")),
        ("binktermphp bbsdev", ("ansi", "utf-8", 132, 43, "en-US")),
        ("remoteaccess exitinfo", ("ansi", None, 80, 25, None)),
        ("synchronet exitinfo", ("ansi", None, None, 25, None)),
    ],
)
def test_the_screen_is_hinted_at(writer, hints, tmp_path: Path):
    assert screen(reading_of(tmp_path, writer)) == hints


@pytest.mark.parametrize(
    ("writer", "node", "level", "role", "sysop"),
    [
        ("synchronet stdio", 3, 50, None, ""),
        ("door32 without a last end of line", 3, 50, None, ""),
        ("icy_board door.sys", 3, 50, None, "The Keeper"),
        ("remoteaccess door.sys", 3, 50, None, "The Keeper"),
        ("synchronet dorinfo", None, 50, None, "THE KEEPER"),
        ("wwiv dorinfo", None, 50, None, "The Keeper"),
        ("wwiv chain", None, 50, None, "The Keeper"),
        ("enigma bbsdev", 3, 30, None, "The Keeper"),
        ("anetbbs bbsdev", 3, None, "sysop", "The Keeper"),
    ],
)
def test_node_level_and_sysop_are_read(writer, node, level, role, sysop, tmp_path: Path):
    file = reading_of(tmp_path, writer)
    assert (file.node, file.level, file.role, file.sysop) == (node, level, role, sysop)


@pytest.mark.parametrize("writer", ["icy_board door.sys", "remoteaccess door.sys", "wwiv door.sys"])
def test_a_missing_line_does_not_move_the_name(writer, tmp_path: Path):
    real = {"icy_board door.sys": "Ann Example", "wwiv door.sys": "Ann Example"}
    assert reading_of(tmp_path, writer).real_name == real.get(writer, "Moth")


@pytest.mark.parametrize(
    ("writer", "credit", "limit"),
    [
        ("synchronet door.sys", 15, None),
        ("icy_board door.sys", 0, None),
        ("synchronet door.sys, blank from 32 on", None, None),
        ("gap of 31 lines", None, None),
        ("remoteaccess exitinfo", None, 59),
        ("synchronet exitinfo", None, None),
        ("synchronet stdio", None, None),
    ],
)
def test_a_writable_value_is_read_from_its_field(writer, credit, limit, tmp_path: Path):
    file = reading_of(tmp_path, writer)
    assert (file.credit_minutes, file.time_limit) == (credit, limit)


# Quirks in files that no writer of ours imitates whole


def file_of(folder: Path, name: str, content: bytes) -> DropFile:
    return read(put(folder, Written(name, content)), AS_WRITTEN)


def test_a_blank_line_too_many_in_door_sys_is_counted_out(tmp_path: Path):
    lines = door_sys(name="Ann Example")
    file = file_of(tmp_path, "DOOR.SYS", text(*lines[:13], "", *lines[13:]))
    assert (file.time.seconds, file.number, file.level) == (3599, 42, 50)
    assert (file.real_name, file.alias, file.event.clock) == ("Ann Example", "Moth", "03:00")


@pytest.mark.parametrize(
    ("graphics", "unused", "emulation", "charset"),
    [
        ("NG", "Y", "ansi", None),
        ("ng", "N", "ascii", None),
        ("7E", "N", "ascii", "us-ascii"),
        ("gr", "N", "ansi", None),
    ],
)
def test_the_graphics_mode_is_read(graphics, unused, emulation, charset, tmp_path: Path):
    lines = door_sys(graphics=graphics, ansi_unused=unused)
    file = file_of(tmp_path, "DOOR.SYS", text(*lines))
    assert (file.emulation, file.charset) == (emulation, charset)


def test_the_end_of_file_of_dos_ends_a_line(tmp_path: Path):
    content = text(*dorinfo(("MOTH", "", "")))
    assert file_of(tmp_path, "DORINFO1.DEF", content[:-2] + b"\x1a").time.seconds == 3540


@pytest.mark.parametrize("key", ["", "0"])
def test_a_key_that_everybody_has_is_none(key, tmp_path: Path):
    file = file_of(tmp_path, "BBSDEV.DRP", text(*bbsdev(key=key)))
    assert file.identity.caller == "name moth"
    assert file.doubts == ("line 5 of BBSDEV.DRP has no user key.",)


def test_rip_is_read(tmp_path: Path):
    lines = list(bbsdev())
    lines[8] = "Y"
    assert file_of(tmp_path, "BBSDEV.DRP", text(*lines)).emulation == "rip"


@pytest.mark.parametrize(
    ("cosysop", "sysop", "role"), [("1", "0", "cosysop"), ("1", "1", "sysop"), ("0", "0", None)]
)
def test_chain_txt_tells_sysops(cosysop, sysop, role, tmp_path: Path):
    lines = list(chain())
    lines[11:13] = cosysop, sysop
    assert file_of(tmp_path, "CHAIN.TXT", text(*lines)).role == role


@pytest.mark.parametrize("number", [0, 0xFFFF])
def test_a_record_without_a_user_number_goes_by_the_name(number, tmp_path: Path):
    file = file_of(tmp_path, "EXITINFO.BBS", remote_access(number=number))
    assert file.identity.caller == "name moth"


@pytest.mark.parametrize("comm", ["3", "9"])
def test_a_comm_type_that_is_not_known_is_a_doubt(comm, tmp_path: Path):
    file = file_of(tmp_path, "DOOR32.SYS", text(*door32(comm=comm)))
    assert file.connection.kind is ConnectionKind.UNKNOWN
    assert "comm type" in file.doubts[0]
