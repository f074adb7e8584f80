"""Several files of a call: which one counts for which field, and what stays unknown."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from door.cli.doctor import sentences
from door.dropfiles.dropfile import EventKind, Format, HostIdentity, HostSettings, Limit, NextEvent
from door.dropfiles.interpretation import Way, understand
from door.dropfiles.search import find
from door.errors import DropFileRefused
from tests.door.dropfiles.reads import (
    AS_WRITTEN,
    NO_ENVIRONMENT,
    NOW,
    put,
    understood_in,
    understood_of,
)
from tests.door.dropfiles.writers import (
    WRITERS,
    Written,
    bbsdev,
    chain,
    door32,
    door_sys,
    dorinfo,
    quickbbs,
    remote_access,
    text,
)


def all_formats(folder: Path, *, left: dict[Format, str], event: str = "03:00") -> None:
    """Write all formats at once, as some boards do, each with its own time."""
    put(folder, Written("DOOR32.SYS", text(*door32(left=left[Format.DOOR32]))))
    seconds = str(60 * int(left[Format.DOOR] or "0")) if left[Format.DOOR] else ""
    lines = door_sys(seconds=seconds, minutes=left[Format.DOOR], event=event)
    put(folder, Written("DOOR.SYS", text(*lines)))
    minutes = left[Format.DORINFO]
    put(folder, Written("DORINFO1.DEF", text(*dorinfo(("Moth", "", ""), left=minutes))))
    put(folder, Written("CHAIN.TXT", text(*chain(left=left[Format.CHAIN]))))
    put(folder, Written("BBSDEV.DRP", text(*bbsdev(deadline=left[Format.BBSDEV]))))
    put(folder, Written("EXITINFO.BBS", remote_access(minutes=int(left[Format.EXITINFO]))))


ALL = {
    Format.DOOR32: "10",
    Format.DOOR: "20",
    Format.DORINFO: "30",
    Format.CHAIN: "2400",
    Format.BBSDEV: "2026-11-20T20:50:00Z",
    Format.EXITINFO: "60",
}


@pytest.mark.parametrize(
    ("silent", "minutes"),
    [
        ((), 10),
        ((Format.DOOR32,), 20),
        ((Format.DOOR32, Format.DOOR), 30),
        ((Format.DOOR32, Format.DOOR, Format.DORINFO), 40),
        ((Format.DOOR32, Format.DOOR, Format.DORINFO, Format.CHAIN), 50),
    ],
)
def test_time_is_taken_from_the_most_trusted_file_that_has_it(silent, minutes, tmp_path: Path):
    all_formats(tmp_path, left=ALL | dict.fromkeys(silent, ""))
    assert understood_in(tmp_path).time.seconds == minutes * 60


def test_exitinfo_is_trusted_last(tmp_path: Path):
    silent = dict.fromkeys((Format.DOOR32, Format.DOOR, Format.DORINFO, Format.CHAIN), "")
    all_formats(tmp_path, left=ALL | silent | {Format.BBSDEV: "whenever"})
    assert understood_in(tmp_path).time.seconds == 3600


@pytest.mark.parametrize(
    "lines",
    [
        door32(left="sixty"),
        door32(left="-60"),
        door32(comm="2", handle="-1", host="Moth House", left="546"),
    ],
)
def test_nonsense_is_not_unlimited_because_another_file_sets_no_limit(lines, tmp_path: Path):
    put(tmp_path, Written("DOOR32.SYS", text(*lines)))
    put(tmp_path, Written("BBSDEV.DRP", text(*bbsdev(deadline=""))))
    assert understood_in(tmp_path).time.limit in (Limit.UNREADABLE, Limit.CONSTANT)


def test_a_deadline_counts_where_enigma_writes_its_constant_too(tmp_path: Path):
    assert understood_of(tmp_path, "enigma 0.0 door32", "enigma bbsdev").time.seconds == 1800


def test_files_that_do_not_agree_are_a_doubt(tmp_path: Path):
    all_formats(tmp_path, left=ALL)
    doubts = understood_in(tmp_path).doubts
    assert "line 9 of DOOR32.SYS, in minutes and line 18 of DOOR.SYS do not agree" in doubts[0]


def test_rounded_minutes_are_no_doubt(tmp_path: Path):
    assert understood_of(tmp_path, "synchronet stdio", "synchronet door.sys").doubts == ()


def test_the_event_comes_from_door_sys_before_exitinfo(tmp_path: Path):
    put(tmp_path, Written("DOOR.SYS", text(*door_sys(event="02:30"))))
    put(tmp_path, WRITERS["remoteaccess exitinfo"])
    event = understood_in(tmp_path).event
    assert (event.clock, event.place) == ("02:30", "line 37 of DOOR.SYS")


def test_a_placeholder_gives_way_to_a_time(tmp_path: Path):
    put(tmp_path, Written("DOOR.SYS", text(*door_sys(event="00:00"))))
    put(tmp_path, WRITERS["remoteaccess exitinfo"])
    assert understood_in(tmp_path).event.place == "the event in EXITINFO.BBS"


def test_an_event_that_is_not_enabled_is_none(tmp_path: Path):
    put(tmp_path, Written("EXITINFO.BBS", remote_access(status=2, start="00:00")))
    assert understood_in(tmp_path).event.kind is EventKind.NONE


def test_a_sysop_may_leave_out_the_hosts_events(tmp_path: Path):
    put(tmp_path, WRITERS["synchronet door.sys"])
    event = understood_in(tmp_path, HostSettings(NOW, "auto", "ignored")).event
    assert (event.kind, event.minute) == (EventKind.NONE, None)


@pytest.mark.parametrize(
    ("clock", "seconds"), [("20:01", 60), ("20:00", 0), ("19:59", 86340), ("03:00", 7 * 3600)]
)
def test_seconds_to_the_event_are_counted_by_the_hosts_clock(clock, seconds):
    minute = int(clock[:2]) * 60 + int(clock[3:])
    assert NextEvent(EventKind.TIME, minute, "").seconds_from(NOW) == seconds


def test_an_event_in_its_starting_minute_is_now_and_not_tomorrow():
    event = NextEvent(EventKind.TIME, 20 * 60, "")
    assert event.seconds_from(NOW.replace(second=59)) == 0
    assert event.seconds_from(NOW.replace(minute=1)) == 86340


@pytest.mark.parametrize("expected", [EventKind.PLACEHOLDER, EventKind.NONE, EventKind.UNKNOWN])
def test_an_invalid_event_gives_no_seconds(expected):
    assert NextEvent(expected, 5, "").seconds_from(NOW) is None


# QuickBBS, WWIV


def test_dorinfo_has_the_time_when_a_record_of_quickbbs_exists_too(tmp_path: Path):
    understood = understood_of(tmp_path, "synchronet dorinfo", "synchronet exitinfo")
    assert (understood.time.seconds, understood.time.place) == (3540, "line 12 of DORINFO3.DEF")
    assert understood.who == HostIdentity("moth house", "number 42")


def test_the_allowance_of_quickbbs_is_not_taken_for_time_left(tmp_path: Path):
    understood = understood_of(tmp_path, Written("EXITINFO.BBS", quickbbs(644)))
    with pytest.raises(DropFileRefused, match="no file of this call says how long"):
        understood.known_time()


@pytest.mark.parametrize(("left", "seconds"), [("3480", 3480), ("59", 3540)])
def test_chain_txt_shows_that_line_9_is_seconds(left, seconds, tmp_path: Path):
    put(tmp_path, Written("DOOR32.SYS", text(*door32(host="Moth House", left=left))))
    put(tmp_path, WRITERS["wwiv chain"])
    understood = understood_in(tmp_path)
    assert (understood.time.limit, understood.time.seconds) == (Limit.LEFT, seconds)
    assert understood.doubts == ()


def test_a_last_minute_is_not_taken_for_a_second(tmp_path: Path):
    put(tmp_path, Written("DOOR32.SYS", text(*door32(left="1"))))
    put(tmp_path, Written("CHAIN.TXT", text(*chain(left="60"))))
    assert understood_in(tmp_path).time.seconds == 60


def test_the_sysops_setting_for_line_9_overrides_the_guess(tmp_path: Path):
    put(tmp_path, Written("DOOR32.SYS", text(*door32(left="1200"))))
    put(tmp_path, Written("CHAIN.TXT", text(*chain(left="1200"))))
    understood = understood_in(tmp_path, HostSettings(NOW, "minutes", "auto"))
    assert understood.time.seconds == 1200 * 60


# The caller of the files


def test_a_file_of_another_caller_is_left(tmp_path: Path):
    put(tmp_path, WRITERS["synchronet stdio"])
    lines = door_sys(number="7", name="Fly", alias="Fly", event="21:00")
    understood = understood_of(tmp_path, Written("DOOR.SYS", text(*lines)))
    assert [file.kind for file in understood.files] == [Format.DOOR32]
    assert understood.left[0].why == "it is for another caller"
    assert understood.event.kind is EventKind.UNKNOWN


def test_a_file_of_another_node_is_left(tmp_path: Path):
    put(tmp_path, WRITERS["synchronet stdio"])
    put(tmp_path, Written("DOOR.SYS", text(*door_sys(node="4"))))
    assert understood_in(tmp_path).left[0].why == "it is for node 4"


def test_a_chosen_file_of_another_node_is_refused(tmp_path: Path):
    put(tmp_path, WRITERS["synchronet stdio"])
    with pytest.raises(DropFileRefused, match="it is for node 3, and this is node 4"):
        understand(find(tmp_path, {"SBBSNNUM": "4"}, None), AS_WRITTEN)


def test_a_second_broken_file_is_reported_as_a_doubt(tmp_path: Path):
    understood = understood_of(tmp_path, "synchronet stdio", Written("EXITINFO.BBS", b"\0" * 1900))
    assert understood.time.seconds == 3540
    assert "1900 bytes" in understood.doubts[0]


def test_an_old_file_is_a_doubt(tmp_path: Path):
    put(tmp_path, WRITERS["synchronet stdio"], ago=660)
    assert "DOOR32.SYS was written 11 minutes ago" in understood_in(tmp_path).doubts[0]


@pytest.mark.parametrize("seconds", [601, 86400])
def test_the_clocks_zone_does_not_age_a_file(seconds, tmp_path: Path):
    put(tmp_path, WRITERS["synchronet stdio"], ago=seconds)
    at = datetime.fromtimestamp(NOW.timestamp() - seconds, UTC)
    assert understood_in(tmp_path, HostSettings(at, "auto", "auto")).doubts == ()


@pytest.mark.parametrize(
    ("host", "board"),
    [
        ("Mystic 1.12 A48", "mystic"),
        ("Area 51", "area 51"),
        ("WWIV 5.8", "wwiv"),
        ("Synchronet BBS for Linux  Version 3.22a", "synchronet bbs"),
        ("Synchronet BBS for Win32  Version 3.23b", "synchronet bbs"),
        ("GameSrvConsole v14.09.10", "gamesrvconsole"),
        ("A House for Windows Cleaners", "a house for windows cleaners"),
    ],
)
def test_a_software_update_keeps_callers_the_same_guests(host, board, tmp_path: Path):
    put(tmp_path, Written("DOOR32.SYS", text(*door32(host=host))))
    assert understood_in(tmp_path).who.board == board


def test_names_never_pass_for_numbers(tmp_path: Path):
    put(tmp_path, Written("DOOR32.SYS", text(*door32(number="", alias="number 42"))))
    assert understood_in(tmp_path).who.caller == "name number 42"


# Giving back


@pytest.mark.parametrize(
    ("writer", "expected"),
    [
        ("synchronet stdio", [(Way.MODUSER, "MODUSER.DAT", None)]),
        ("synchronet door.sys", [(Way.DOOR_SYS, "DOOR.SYS", 15)]),
        ("synchronet dorinfo", []),
        ("remoteaccess exitinfo", [(Way.EXITINFO, "EXITINFO.BBS", 59)]),
        ("synchronet exitinfo", []),
        ("gap of 31 lines", []),
        ("enigma 0.4 door32", []),
        ("wwiv chain", []),
    ],
)
def test_the_ways_to_give_back_are_known_by_the_kind_of_file(writer, expected, tmp_path: Path):
    gives = understood_of(tmp_path, writer).gives
    assert [(give.way, give.path.name, give.minutes) for give in gives] == expected


def test_chain_txt_of_synchronet_is_known_by_the_environment(tmp_path: Path):
    path = put(tmp_path, WRITERS["synchronet chain"])
    files = find(path, {"SBBSNODE": str(tmp_path)}, None)
    assert [give.way for give in understand(files, AS_WRITTEN).gives] == [Way.MODUSER]


def test_door_sys_of_synchronet_is_not_given_back_through_moduser(tmp_path: Path):
    put(tmp_path, WRITERS["synchronet door.sys"])
    files = find(None, {"SBBSNODE": str(tmp_path)}, None)
    assert [give.way for give in understand(files, AS_WRITTEN).gives] == [Way.DOOR_SYS]


# In words


def test_a_whole_call_is_described_in_words(tmp_path: Path):
    put(tmp_path, WRITERS["synchronet stdio"])
    stale = put(tmp_path, WRITERS["synchronet door.sys"], ago=7200)
    assert sentences(understood_in(tmp_path)) == [
        f"Read: {tmp_path}/DOOR32.SYS (the newest in the folder named).",
        'The caller is Moth: number 42 of "synchronet". Their account goes by that, even under '
        "another name.",
        "Their security level is 50.",
        "They are on node 3.",
        "They can stay 59 minutes (line 9 of DOOR32.SYS, in minutes).",
        "The board's events are not known: DOOR32.SYS has no line for them.",
        "Their keys and screen are standard input and output.",
        "The board describes their screen as: emulation ansi.",
        f"Left alone: {stale}: it was written 1 hour before DOOR32.SYS.",
        f"Time won can be given back through {tmp_path}/MODUSER.DAT: whole minutes into "
        "their account at Synchronet, if the door is set there to modify user data.",
    ]


def test_expired_time_is_described(tmp_path: Path):
    put(tmp_path, Written("DOOR32.SYS", text(*door32(left="0"))))
    assert "Their time is up (line 9 of DOOR32.SYS, in minutes)." in sentences(
        understood_in(tmp_path)
    )


def test_the_write_back_lines_show_the_current_values(tmp_path: Path):
    call = sentences(understood_of(tmp_path, "synchronet door.sys", "remoteaccess exitinfo"))
    assert f"{tmp_path}/DOOR.SYS (now 15 minutes), if the board reads it back." in call[-2]
    assert f"the TimeLimit in {tmp_path}/EXITINFO.BBS (now 59 minutes)" in call[-1]


def test_understanding_needs_no_files_of_its_own(tmp_path: Path):
    path = put(tmp_path, WRITERS["synchronet stdio"])
    assert understand(find(path, NO_ENVIRONMENT, None), AS_WRITTEN).call_files.by == "named"
    assert list(tmp_path.iterdir()) == [path]
