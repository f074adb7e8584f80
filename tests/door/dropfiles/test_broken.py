"""Files that are broken, or no drop files: a clear error, and never a guess about time."""

from __future__ import annotations

import os
import tracemalloc
from pathlib import Path

import pytest

from door.dropfiles.formats import read
from door.errors import DropFileRefused
from tests.door.dropfiles.reads import AS_WRITTEN, put
from tests.door.dropfiles.writers import (
    Written,
    bbsdev,
    chain,
    door32,
    door_sys,
    dorinfo,
    remote_access,
    text,
)

FORMATS = ["DOOR32.SYS", "DOOR.SYS", "DORINFO1.DEF", "CHAIN.TXT", "BBSDEV.DRP", "EXITINFO.BBS"]
USER = ("MOTH", "", "NOWHERE")


def refusal(folder: Path, name: str, content: bytes) -> DropFileRefused:
    path = put(folder, Written(name, content))
    with pytest.raises(DropFileRefused) as caught:
        read(path, AS_WRITTEN)
    assert caught.value.file == path
    return caught.value


@pytest.mark.parametrize("name", FORMATS)
def test_an_empty_file_is_refused(name, tmp_path: Path):
    refused = refusal(tmp_path, name, b"")
    assert refused.line is None
    assert str(refused) == (
        f"{tmp_path / name}: it is empty. "
        "Have the board write it again, or look who else writes there."
    )


@pytest.mark.parametrize("name", FORMATS)
def test_the_caller_reads_a_polite_refusal_without_details(name, tmp_path: Path):
    refused = refusal(tmp_path, name, b"\r\n")
    assert refused.polite.startswith("Sorry, this board has not told us enough about your call")
    assert name not in refused.polite


@pytest.mark.parametrize("name", FORMATS[:-1])
def test_a_binary_file_is_refused(name, tmp_path: Path):
    assert refusal(tmp_path, name, bytes(range(26)) * 9).what == "it is not a text"


@pytest.mark.parametrize("name", FORMATS[:-1])
def test_utf_16_is_refused(name, tmp_path: Path):
    content = "\ufeff0\r\n-1\r\n".encode("utf-16-le")
    assert refusal(tmp_path, name, content).what == "it is written in UTF-16"


@pytest.mark.parametrize("name", FORMATS)
def test_a_huge_file_is_refused_without_reading_it(name, tmp_path: Path):
    path = tmp_path / name
    with path.open("wb") as file:
        file.truncate(1 << 40)
    tracemalloc.start()
    try:
        with pytest.raises(DropFileRefused, match="more than 65536 bytes"):
            read(path, AS_WRITTEN)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


def test_an_endless_line_is_refused(tmp_path: Path):
    refused = refusal(tmp_path, "DOOR32.SYS", b"0\r\n" + b"9" * 1025 + b"\r\n")
    assert (refused.line, refused.what) == (2, "it has more than 1024 bytes")


@pytest.mark.parametrize("name", FORMATS)
def test_a_folder_is_refused(name, tmp_path: Path):
    (tmp_path / name).mkdir()
    with pytest.raises(DropFileRefused, match="it is not a file"):
        read(tmp_path / name, AS_WRITTEN)


def test_a_pipe_is_refused_at_once(tmp_path: Path):
    os.mkfifo(tmp_path / "DOOR.SYS")
    with pytest.raises(DropFileRefused, match="it is not a file"):
        read(tmp_path / "DOOR.SYS", AS_WRITTEN)


@pytest.mark.parametrize("name", FORMATS)
def test_a_link_to_another_file_is_refused_without_showing_it(name, tmp_path: Path):
    (tmp_path / "secret").write_bytes(b"only ours")
    (tmp_path / name).symlink_to("secret")
    with pytest.raises(DropFileRefused, match="it is a symbolic link") as refused:
        read(tmp_path / name, AS_WRITTEN)
    assert "only ours" not in str(refused.value)
    (tmp_path / name).unlink()
    (tmp_path / name).hardlink_to(tmp_path / "secret")
    with pytest.raises(DropFileRefused, match="it has 2 names"):
        read(tmp_path / name, AS_WRITTEN)


@pytest.mark.parametrize(
    ("name", "content", "line"),
    [
        ("DOOR32.SYS", text(*door_sys()), 1),
        ("DOOR.SYS", text(*door32(), *door32()), 20),
        ("DORINFO1.DEF", text(*chain()), 6),
        ("DORINFO1.DEF", text(*bbsdev()), 4),
        ("CHAIN.TXT", text(*dorinfo(USER), *dorinfo(USER)), 1),
        ("BBSDEV.DRP", text(*door_sys()), 1),
        ("BBSDEV.DRP", text(*bbsdev(version="2.0")), 1),
    ],
)
def test_a_file_of_another_format_is_refused_at_the_line_that_shows_it(
    name, content, line, tmp_path: Path
):
    assert refusal(tmp_path, name, content).line == line


@pytest.mark.parametrize(
    ("name", "lines", "lines_left", "line"),
    [
        ("DOOR32.SYS", door32(), 8, 9),
        ("DOOR.SYS", door_sys(), 25, 26),
        ("DOOR.SYS", door_sys(), 12, 13),
        ("DORINFO1.DEF", dorinfo(USER), 11, 12),
        ("CHAIN.TXT", chain(), 15, 16),
        ("BBSDEV.DRP", bbsdev(), 17, 18),
        ("BBSDEV.DRP", bbsdev(), 18, 19),
    ],
)
def test_a_file_that_breaks_off_is_refused_at_the_line_that_is_missing(
    name, lines, lines_left, line, tmp_path: Path
):
    refused = refusal(tmp_path, name, text(*lines[:lines_left]))
    assert refused.line == line
    assert "breaks off" in refused.what


def test_half_a_number_is_no_number(tmp_path: Path):
    whole = text(*door32(left="546"))
    cut = whole[: whole.index(b"546") + 2]
    assert refusal(tmp_path, "DOOR32.SYS", cut).line == 9


def test_half_a_user_number_is_no_user_number(tmp_path: Path):
    lines = door_sys(number="123")
    cut = text(*lines[:25]) + b"12"
    assert refusal(tmp_path, "DOOR.SYS", cut).line == 26


@pytest.mark.parametrize("key", ["13\x0743", "13\x1b[2J43", "13\u202e43"])
def test_a_key_that_cannot_be_shown_is_refused_and_not_changed(key, tmp_path: Path):
    refused = refusal(tmp_path, "BBSDEV.DRP", text(*bbsdev(key=key), charset="utf-8"))
    assert (refused.line, refused.what) == (5, "the user key holds characters that cannot be shown")


def test_two_long_names_of_a_sysop_are_no_longer_than_one_text(tmp_path: Path):
    head = ("Moth House", "T" * 80, "K" * 80, "COM1", "38400 BAUD,N,8,1", "0")
    content = text(*head, "ANN", "EXAMPLE", "NOWHERE", "1", "50", "59")
    assert read(put(tmp_path, Written("DORINFO1.DEF", content)), AS_WRITTEN).sysop == "T" * 80


def test_bbsdev_in_another_charset_is_refused(tmp_path: Path):
    content = text(*bbsdev(alias="Bj\xf6rn"), charset="cp437")
    assert "not written in UTF-8" in refusal(tmp_path, "BBSDEV.DRP", content).what


@pytest.mark.parametrize("cut", [2362, 1024, 1])
def test_a_record_of_another_size_is_refused(cut, tmp_path: Path):
    refused = refusal(tmp_path, "EXITINFO.BBS", remote_access()[:cut])
    assert f"it has {cut} bytes" in refused.what


@pytest.mark.parametrize("offset", [241, 277, 507, 1258, 1278, 1284, 1307])
def test_a_record_with_shifted_fields_is_refused(offset, tmp_path: Path):
    record = bytearray(remote_access())
    record[offset] = 200
    assert f"byte {offset} " in refusal(tmp_path, "EXITINFO.BBS", bytes(record)).what


def test_a_file_without_a_name_is_refused(tmp_path: Path):
    content = text(*door32(number="0", alias="", real_name="\x07"))
    assert "names no caller" in refusal(tmp_path, "DOOR32.SYS", content).what


def test_a_deadline_that_has_passed_is_no_time_left(tmp_path: Path):
    content = text(*bbsdev(deadline="2026-11-20T19:59:59Z"))
    assert read(put(tmp_path, Written("BBSDEV.DRP", content)), AS_WRITTEN).time.seconds == 0


@pytest.mark.parametrize(
    ("seconds", "minutes", "left"),
    [
        ("", "59", 3540),
        ("3599", "", 3599),
        ("-30000", "590", 35400),
        ("32767", "546", 32767),
        ("32767", "547", 32820),
        ("600", "59", 600),
        ("3600", "10", 600),
        ("3600", "59", 3540),
        ("0", "0", 0),
        ("", "", None),
        ("-1", "-1", None),
        ("-1", "59", None),
        ("soon", "59", None),
        ("3599", "soon", None),
        ("3599", "9999", 3599),
        ("99999999", "59", 3540),
        ("32767", "9999", None),
        ("\u0665\u0669", "59", None),
    ],
)
def test_seconds_and_minutes_of_door_sys_are_weighed(seconds, minutes, left, tmp_path: Path):
    content = text(*door_sys(seconds=seconds, minutes=minutes), charset="utf-8")
    file = read(put(tmp_path, Written("DOOR.SYS", content)), AS_WRITTEN)
    assert file.time.seconds == left


@pytest.mark.parametrize("event", ["", "3", "24:00", "12:60", "noon", "-1:30", "1:3", "3:00 AM"])
def test_an_event_that_cannot_be_read_is_unknown(event, tmp_path: Path):
    content = text(*door_sys(event=event))
    file = read(put(tmp_path, Written("DOOR.SYS", content)), AS_WRITTEN)
    assert (file.event.kind.value, file.event.minute) == ("unknown", None)


def test_names_cannot_paint_the_screen(tmp_path: Path):
    content = text(*door32(alias="\x1b[2J\x07Moth " + "h" * 200))
    file = read(put(tmp_path, Written("DOOR32.SYS", content)), AS_WRITTEN)
    assert file.alias.startswith("[2JMoth hhh")
    assert len(file.alias) == 80


def test_an_endless_file_is_refused(tmp_path: Path):
    assert "it has 101 lines" in refusal(tmp_path, "CHAIN.TXT", b"0\n" * 101).what


@pytest.mark.parametrize("cut", [644, 702, 903])
def test_a_record_cut_to_the_size_of_another_is_refused(cut, tmp_path: Path):
    refused = refusal(tmp_path, "EXITINFO.BBS", remote_access()[:cut])
    assert "byte 420 " in refused.what


def test_names_given_twice_are_no_time_left(tmp_path: Path):
    lines = ("", "0", "Ann", "Example", "Ann", "Example", "Nowhere", "1", "50")
    content = text(*dorinfo(())[:5], *lines)
    assert refusal(tmp_path, "DORINFO1.DEF", content).line == 15


@pytest.mark.parametrize(("emulation", "level"), [("", "50"), ("1", "")])
def test_dorinfo_may_leave_out_emulation_or_level(emulation, level, tmp_path: Path):
    lines = (*dorinfo(USER)[:9], emulation, level, "59")
    file = read(put(tmp_path, Written("DORINFO1.DEF", text(*lines))), AS_WRITTEN)
    assert file.time.seconds == 3540
