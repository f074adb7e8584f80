"""Time given back: written whole, once, to the right caller, and with nothing else touched."""

from __future__ import annotations

import os
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from door.dropfiles.formats import read
from door.dropfiles.give_back import (
    asked,
    door_sys_credit,
    exitinfo_time,
    give,
    give_back,
    moduser_dat,
)
from door.dropfiles.interpretation import MODUSER, GiveBack, Way
from door.errors import NotGivenBack
from door.lines import hand_over
from tests.door.dropfiles.reads import AS_WRITTEN, put, understood_in
from tests.door.dropfiles.writers import (
    WRITERS,
    Written,
    door32,
    door_sys,
    quickbbs,
    remote_access,
    text,
)
from timebank import files


def the_way(folder: Path, writer: str) -> GiveBack:
    put(folder, WRITERS[writer])
    (way,) = understood_in(folder).gives
    return way


# MODUSER.DAT


@pytest.mark.parametrize("minutes", [30, -5])
def test_moduser_has_the_minutes_on_line_9_and_nothing_before(minutes, tmp_path: Path):
    path = moduser_dat(tmp_path, minutes)
    assert path == tmp_path / "MODUSER.DAT"
    assert path.read_bytes().split(b"\n") == [b""] * 8 + [b"%d" % minutes, b""]


@pytest.mark.parametrize(("there", "same"), [(b"\n" * 8 + b"30\n", True), (b"5\n", False)])
@pytest.mark.parametrize("name", ["MODUSER.DAT", "moduser.dat"])
def test_a_moduser_that_is_there_is_never_written_over(name, there, same, tmp_path: Path):
    (tmp_path / name).write_bytes(there)
    with pytest.raises(NotGivenBack, match="is there already") as caught:
        moduser_dat(tmp_path, 30)
    assert caught.value.is_in_doubt is same
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {name: there}


def test_a_board_that_does_not_run_as_our_user_can_read_moduser(tmp_path: Path):
    before = os.umask(0o077)
    try:
        mode = moduser_dat(tmp_path, 30).stat().st_mode
    finally:
        os.umask(before)
    assert stat.S_IMODE(mode) == 0o644


def test_a_missing_folder_is_an_error(tmp_path: Path):
    with pytest.raises(NotGivenBack, match="cannot be read: No such file"):
        moduser_dat(tmp_path / "gone", 30)


# DOOR.SYS


@pytest.mark.parametrize(
    "writer",
    [
        "synchronet door.sys",
        "icy_board door.sys",
        "remoteaccess door.sys",
        "wwiv door.sys",
        "binktermphp door.sys",
    ],
)
def test_only_the_line_of_time_credits_changes(writer, tmp_path: Path):
    path = put(tmp_path, WRITERS[writer])
    before = path.read_bytes().split(b"\n")
    door_sys_credit(path, 120)
    after = path.read_bytes().split(b"\n")
    assert len(after) == len(before)
    changed = [n for n, (old, new) in enumerate(zip(before, after, strict=True), 1) if old != new]
    assert changed == [41 if "icy" in writer or "remote" in writer else 42]
    assert read(path, AS_WRITTEN).credit_minutes == 120


@pytest.mark.parametrize(
    ("line", "after"),
    [(b" 15  ", b" 120  "), (b"-15", b"120"), (b"+15", b"120"), (b"\x0915", b"\x09120")],
)
def test_blanks_around_the_credits_stay(line, after, tmp_path: Path):
    lines = [line.encode("cp437") for line in door_sys()]
    lines[41] = line
    path = put(tmp_path, Written("DOOR.SYS", b"\r\n".join(lines) + b"\r\n\x1a" + b"\0\n" * 9))
    door_sys_credit(path, 120)
    lines[41] = after
    assert path.read_bytes() == b"\r\n".join(lines) + b"\r\n\x1a" + b"\0\n" * 9


def test_letters_of_either_charset_stay(tmp_path: Path):
    lines = door_sys(name="Bj\xf6rn")
    path = put(tmp_path, Written("DOOR.SYS", text(*lines, end="\r")))
    door_sys_credit(path, 120)
    lines[41] = "120"
    assert path.read_bytes() == text(*lines, end="\r")


@pytest.mark.parametrize("writer", ["gap of 31 lines", "synchronet door.sys, blank from 32 on"])
def test_a_file_without_credits_is_left_unchanged(writer, tmp_path: Path):
    path = put(tmp_path, WRITERS[writer])
    with pytest.raises(NotGivenBack, match="no time credits on line 42"):
        door_sys_credit(path, 120)
    assert path.read_bytes() == WRITERS[writer].content


@pytest.mark.parametrize("minutes", [-1, 32768])
@pytest.mark.parametrize("write", [door_sys_credit, exitinfo_time])
def test_a_value_that_no_host_can_read_is_not_written(write, minutes, tmp_path: Path):
    with pytest.raises(ValueError, match="0 to 32767"):
        write(tmp_path / "DOOR.SYS", minutes)


# EXITINFO.BBS


def test_only_the_time_limit_of_the_record_changes(tmp_path: Path):
    path = put(tmp_path, WRITERS["remoteaccess exitinfo"])
    exitinfo_time(path, 90)
    assert path.read_bytes() == remote_access(minutes=90)


@pytest.mark.parametrize("size", [644, 903])
def test_a_record_of_quickbbs_is_left_unchanged(size, tmp_path: Path):
    path = put(tmp_path, Written("EXITINFO.BBS", quickbbs(size)))
    with pytest.raises(NotGivenBack, match=f"has {size} bytes and not the 2363"):
        exitinfo_time(path, 90)
    assert path.read_bytes() == quickbbs(size)


# Written whole or not at all


@pytest.mark.parametrize("call", ["write", "fsync", "replace"])
def test_a_write_that_fails_leaves_the_file_and_nothing_else(call, tmp_path: Path, monkeypatch):
    path = put(tmp_path, WRITERS["synchronet door.sys"])

    def full(*_args: object, **_folders: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, call, full)
    with pytest.raises(NotGivenBack, match=r"DOOR\.SYS cannot be written: No space left"):
        door_sys_credit(path, 120)
    monkeypatch.undo()
    assert [(p.name, p.read_bytes()) for p in tmp_path.iterdir()] == [
        ("DOOR.SYS", WRITERS["synchronet door.sys"].content)
    ]


def test_the_new_file_is_on_the_disk_before_it_takes_the_name(tmp_path: Path, monkeypatch):
    path = put(tmp_path, WRITERS["synchronet door.sys"])
    done = []
    for call in ("fsync", "replace"):
        real = getattr(os, call)
        monkeypatch.setattr(
            *(os, call),
            lambda *args, call=call, real=real, **folders: (
                done.append(call),
                real(*args, **folders),
            )[1],
        )
    door_sys_credit(path, 120)
    assert done == ["fsync", "replace", "fsync"]


@pytest.mark.parametrize("mode", [0o600, 0o664])
def test_owner_and_rights_stay(mode, tmp_path: Path):
    path = put(tmp_path, WRITERS["synchronet door.sys"])
    path.chmod(mode)
    owner = path.stat().st_uid
    door_sys_credit(path, 120)
    assert (stat.S_IMODE(path.stat().st_mode), path.stat().st_uid) == (mode, owner)


# In a folder that another user may write


@pytest.mark.parametrize("link", [os.symlink, os.link])
@pytest.mark.parametrize("writer", ["synchronet door.sys", "remoteaccess exitinfo"])
def test_a_link_to_another_file_is_given_nothing(link, writer, tmp_path: Path):
    way = the_way(tmp_path, writer)
    other = tmp_path / "other"
    way.path.rename(other)
    content = other.read_bytes()
    link(other, way.path)
    with pytest.raises(NotGivenBack, match=r"it is a symbolic link|it has 2 names"):
        give(way, 30)
    assert way.path.samefile(other)
    assert other.read_bytes() == content


def test_a_file_that_is_exchanged_while_it_is_written_stays(tmp_path: Path, monkeypatch):
    path = put(tmp_path, WRITERS["synchronet door.sys"])
    aside, written = tmp_path / "aside", files.write_all

    def exchanging(file: int, data: bytes) -> None:
        written(file, data)
        path.rename(aside)
        path.write_bytes(b"the next caller's")

    monkeypatch.setattr(files, "write_all", exchanging)
    with pytest.raises(NotGivenBack, match="another file took its name just now"):
        door_sys_credit(path, 120)
    assert path.read_bytes() == b"the next caller's"
    assert {each.name for each in tmp_path.iterdir()} == {"DOOR.SYS", "aside"}


# The file to write


@pytest.mark.parametrize(
    ("writer", "says"),
    [("synchronet door.sys", 15 + 30), ("remoteaccess exitinfo", 59 + 30)],
)
def test_minutes_are_added_to_the_current_value(writer, says, tmp_path: Path):
    path = give(the_way(tmp_path, writer), 30)
    file = read(path, AS_WRITTEN)
    assert says in (file.credit_minutes, file.time_limit)


def test_synchronet_is_given_through_moduser(tmp_path: Path):
    path = give(the_way(tmp_path, "synchronet stdio"), 30)
    assert path.read_bytes() == b"\n" * 8 + b"30\n"


@pytest.mark.parametrize(
    "writer", ["synchronet door.sys", "remoteaccess exitinfo", "synchronet stdio"]
)
def test_nothing_is_given_twice(writer, tmp_path: Path):
    way = the_way(tmp_path, writer)
    content = give(way, 30).read_bytes()
    with pytest.raises(NotGivenBack) as caught:
        give(way, 30)
    assert caught.value.is_in_doubt
    assert way.path.read_bytes() == content


@pytest.mark.parametrize(
    ("writer", "theirs"),
    [
        ("synchronet stdio", Written("DOOR32.SYS", text(*door32(number="43")))),
        ("synchronet door.sys", Written("DOOR.SYS", text(*door_sys(number="43")))),
        ("remoteaccess exitinfo", Written("EXITINFO.BBS", remote_access(number=43))),
    ],
)
def test_the_next_caller_of_the_node_is_given_nothing(writer, theirs, tmp_path: Path):
    way = the_way(tmp_path, writer)
    path = put(tmp_path, theirs)
    with pytest.raises(NotGivenBack, match="is another caller's by now"):
        give(way, 30)
    assert [(p.name, p.read_bytes()) for p in tmp_path.iterdir()] == [(path.name, theirs.content)]


def test_a_file_that_has_changed_meanwhile_is_left(tmp_path: Path):
    way = the_way(tmp_path, "synchronet door.sys")
    put(tmp_path, Written("DOOR.SYS", text(*door_sys(credit="20"))))
    with pytest.raises(NotGivenBack, match="says 20 minutes by now, and said 15 before") as caught:
        give(way, 30)
    assert not caught.value.is_in_doubt


def test_a_missing_file_is_an_error(tmp_path: Path):
    way = the_way(tmp_path, "synchronet door.sys")
    way.path.unlink()
    with pytest.raises(NotGivenBack, match="no such file"):
        give(way, 30)


@pytest.mark.parametrize("credit", ["32740", "-40"])
def test_no_minute_is_cut_off_silently(credit, tmp_path: Path):
    put(tmp_path, Written("DOOR.SYS", text(*door_sys(credit=credit))))
    (way,) = understood_in(tmp_path).gives
    assert way.way is Way.DOOR_SYS
    with pytest.raises(NotGivenBack, match="has no room for"):
        give(way, 30)


@pytest.mark.parametrize("minutes", [0, -3])
def test_nothing_and_less_cannot_be_given(minutes, tmp_path: Path):
    way = the_way(tmp_path, "synchronet stdio")
    with pytest.raises(ValueError, match="one at least"):
        give(way, minutes)


# For a server


def test_a_door_writes_the_value_for_its_server_and_reports_the_outcome(tmp_path: Path) -> None:
    file = put(tmp_path, WRITERS["synchronet stdio"])
    who = read(file, AS_WRITTEN).identity
    elsewhere = Path("/as/the/server/sees/it")
    way = GiveBack(Way.MODUSER, elsewhere / MODUSER, None, elsewhere / file.name, who)
    word, path = give_back(str(tmp_path), asked(way, 7))
    assert (word, path) == (hand_over.GIVEN, str(tmp_path / MODUSER))
    assert (tmp_path / MODUSER).read_bytes() == b"\n" * 8 + b"7\n"
    assert give_back(str(tmp_path), asked(way, 7))[0] == hand_over.IN_DOUBT
    assert give_back(str(tmp_path), asked(way, 8))[0] == hand_over.NOT_GIVEN
    outside = replace(way, path=Path("/x/.."))
    assert give_back(str(tmp_path / "nowhere"), asked(outside, 8))[0] == hand_over.NOT_GIVEN
    texts = ["1", "moduser", "", "../MODUSER.DAT", file.name, who.board, who.caller]
    assert give_back(str(tmp_path), texts)[0] == hand_over.NOT_GIVEN
