"""Drop files of real programs that were once misread (cases/), and others of each kind."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from door.cli.doctor import sentences
from door.dropfiles.dropfile import Limit
from door.dropfiles.interpretation import Understood, understand
from door.dropfiles.search import find
from door.errors import DropFileRefused
from tests.door.dropfiles.reads import AS_WRITTEN, NO_ENVIRONMENT, put, understood
from tests.door.dropfiles.writers import (
    Written,
    bbsdev,
    chain,
    door32,
    door_sys,
    dorinfo,
    remote_access,
    text,
    word,
)

CASES = Path(__file__).parent / "cases"
TIME_LIMIT = 1293  # of EXITINFO.BBS
MINUTE, DAY_MINUTES = 60, 24 * 60


def case(folder: Path, name: str) -> Understood:
    (source,) = (CASES / name).iterdir()
    return understood(folder, source.name, source.read_bytes())


@pytest.mark.parametrize(
    ("name", "limit", "seconds", "written"),
    [
        ("board-name-on-line-36", Limit.LEFT, 7200, None),
        ("doornode-constants", Limit.LEFT, DAY_MINUTES * MINUTE, None),
        ("elebbs-32719-minutes", Limit.UNLIMITED, None, 32719 * MINUTE),
        ("enigma-2026-09-door-sys", Limit.CONSTANT, None, 32760),
        ("enigma-like-546", Limit.LEFT, 546 * MINUTE, None),
        ("mystic-door-sys-no-board", Limit.LEFT, 999 * MINUTE, None),
        ("no-user-number-1", Limit.LEFT, 3600, None),
        ("renegade-chain", Limit.UNLIMITED, None, 359992),
        ("renegade-door-sys", Limit.UNLIMITED, None, 1965732),
        ("renegade-door32", Limit.UNLIMITED, None, 5998 * MINUTE),
        ("sysop-name-on-line-37", Limit.LEFT, 3600, None),
    ],
)
def test_the_time_left_is_read(name, limit, seconds, written, tmp_path: Path) -> None:
    time = case(tmp_path, name).known_time()
    assert (time.limit, time.seconds, time.written) == (limit, seconds, written)


@pytest.mark.parametrize(
    ("name", "called", "caller"),
    [
        ("board-name-on-line-36", "Ann Example", "number 11"),
        ("doornode-constants", "Pat", "name pat"),
        ("elebbs-32719-minutes", "callerone", "number 1"),
        ("enigma-2026-09-door-sys", "callerone", "number 7"),
        ("enigma-like-546", "ann", "number 7"),
        ("mystic-door-sys-no-board", "zed", "number 1"),
        ("no-user-number-1", "Shadow", "name first person"),
        ("no-user-number-2", "Shadow", "name second person"),
        ("renegade-chain", "John Smith", "number 2"),
        ("renegade-door-sys", "Pat Doe", "number 2"),
        ("renegade-door32", "John Smith", "number 2"),
        ("sysop-name-on-line-37", "Ann Example", "name ann example"),
    ],
)
def test_the_caller_is_read(name, called, caller, tmp_path: Path) -> None:
    call = case(tmp_path, name)
    assert (call.name, call.who.caller) == (called, caller)


# Limits longer than a day


LONG = DAY_MINUTES + 1


def _record(minutes: int) -> bytes:
    record = bytearray(remote_access())
    word(record, TIME_LIMIT, minutes)
    return bytes(record)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("DOOR32.SYS", text(*door32(left="1440"))),
        ("DOOR.SYS", text(*door_sys(seconds="86400", minutes="1440"))),
        ("CHAIN.TXT", text(*chain(left="86400"))),
        ("BBSDEV.DRP", text(*bbsdev(deadline="2026-11-21T20:00:00Z"))),
        ("EXITINFO.BBS", _record(1440)),
    ],
)
def test_a_whole_day_is_a_limit(name, content, tmp_path: Path) -> None:
    assert understood(tmp_path, name, content).time.seconds == DAY_MINUTES * MINUTE


def test_the_smaller_time_counts_when_two_lines_differ(
    tmp_path: Path,
) -> None:
    call = understood(tmp_path, "DOOR.SYS", text(*door_sys(seconds="3599", minutes="9999")))
    assert call.time.seconds == 3599
    assert "contradict each other" in call.doubts[0]


def test_nothing_is_given_back_to_a_time_limit_that_is_none(tmp_path: Path) -> None:
    assert understood(tmp_path, "EXITINFO.BBS", _record(LONG)).gives == ()


# ENiGMA's constants


@pytest.mark.parametrize(
    ("lines", "limit"),
    [
        (door32(comm="2", handle="-1", host="Moth House", left="546"), Limit.CONSTANT),
        (door32(comm="0", handle="0", host="Moth ENiGMA\xab BBS", left="546"), Limit.CONSTANT),
        (door32(comm="0", handle="0", host="ENiGMA 1/2 v0.0.15", left="546"), Limit.CONSTANT),
        (door32(comm="0", handle="0", host="Moth House", left="546"), Limit.LEFT),
        (door32(comm="2", handle="-1", host="Mystic 1.12 A48", left="546"), Limit.LEFT),
        (door32(comm="2", handle="-1", host="EleBBS/W32 v2013", left="546"), Limit.LEFT),
        (door32(comm="2", handle="-1", host="Renegade BBS Alpha", left="546"), Limit.LEFT),
        (door32(comm="2", handle="-1", host="Area 51", left="546"), Limit.CONSTANT),
        (door32(comm="0", handle="0", host="Moth ENiGMA", left="45"), Limit.LEFT),
    ],
)
def test_enigma_is_known_by_the_name_of_its_writer(lines, limit, tmp_path: Path) -> None:
    assert understood(tmp_path, "DOOR32.SYS", text(*lines)).time.limit is limit


@pytest.mark.parametrize(
    ("board", "limit"), [("Moth ENiGMA", Limit.CONSTANT), ("Moth House", Limit.LEFT)]
)
def test_enigma_is_known_by_its_name_in_dorinfo_too(board, limit, tmp_path: Path) -> None:
    lines = dorinfo(("Ann", "Lee", "Home"), left="546")
    content = text(board, *lines[1:])
    assert understood(tmp_path, "DORINFO1.DEF", content).time.limit is limit


def test_minutes_that_could_be_enigmas_are_a_doubt_in_dorinfo_too(tmp_path: Path) -> None:
    content = text(*dorinfo(("Ann", "Lee", "Home"), left="546"))
    (doubt,) = understood(tmp_path, "DORINFO1.DEF", content).doubts
    assert "line 12 of DORINFO1.DEF says 546 minutes" in doubt
    assert "because line 1 does not name ENiGMA" in doubt


@pytest.mark.parametrize(("seconds", "minutes"), [("15360", "256"), ("32760", "546")])
def test_enigmas_pairs_are_constants_and_others_are_not(seconds, minutes, tmp_path: Path) -> None:
    pair = text(*door_sys(seconds=seconds, minutes=minutes))
    assert understood(tmp_path, "DOOR.SYS", pair).time.limit is Limit.CONSTANT
    other = text(*door_sys(seconds=str(int(seconds) + 1), minutes=minutes))
    assert understood(tmp_path, "DOOR.SYS", other).time.limit is Limit.LEFT


# Lines that are missing or shifted


def refusal(folder: Path, content: bytes) -> DropFileRefused:
    with pytest.raises(DropFileRefused) as refused:
        understood(folder, "DOOR.SYS", content)
    return refused.value


@pytest.mark.parametrize(
    ("name", "line", "expected"),
    [
        ("shifted-lines-bridge", 25, '"0" stands where the date of expiry belongs'),
        ("ra-missing-lines", 22, '"12-31-93" stands where the conferences belong'),
    ],
)
def test_shifted_lines_are_refused_at_the_first_wrong_one(
    name, line, expected, tmp_path: Path
) -> None:
    with pytest.raises(DropFileRefused) as refused:
        case(tmp_path, name)
    assert refused.value.line == line
    assert expected in refused.value.what
    assert "DOOR32.SYS" in refused.value.remedy


def fields(**changed: str) -> list[str]:
    return door_sys(**{"name": "Ann Example", "credit": "0", **changed})


@pytest.mark.parametrize("missing", range(23, 27))
def test_a_short_file_without_its_user_number_goes_by_the_name(missing, tmp_path: Path) -> None:
    lines = fields()
    del lines[missing - 1]
    call = understood(tmp_path, "DOOR.SYS", text(*lines[:31]))
    assert (call.name, call.who.caller) == ("Ann Example", "name ann example")


@pytest.mark.parametrize("extra", [38, 39, 40, 41, 43])
def test_lines_that_moved_behind_the_event_change_no_caller(extra, tmp_path: Path) -> None:
    lines = fields()
    lines.insert(extra - 1, "0")
    call = understood(tmp_path, "DOOR.SYS", text(*lines))
    assert (call.name, call.who.caller, call.event.clock) == ("Moth", "number 42", "03:00")
    assert "is not as it should be" in call.doubts[0]
    assert call.gives == ()


@pytest.mark.parametrize("moved", [2, 3])
def test_several_lines_missing_after_the_mode_are_refused(moved, tmp_path: Path) -> None:
    lines = fields()
    del lines[22 : 22 + moved]
    assert refusal(tmp_path, text(*lines)).line is not None


@pytest.mark.parametrize("missing", [2, 3, 4, 5])
def test_door32_sys_without_one_of_its_first_lines_is_refused(missing, tmp_path: Path) -> None:
    lines = list(door32())
    del lines[missing - 1]
    with pytest.raises(DropFileRefused) as refused:
        understood(tmp_path, "DOOR32.SYS", text(*lines))
    assert (refused.value.line, refused.value.what) == (
        5,
        "no number stands where the user number belongs",
    )


def test_a_short_file_with_moved_lines_goes_by_the_name_and_says_so(tmp_path: Path) -> None:
    call = case(tmp_path, "sysop-name-on-line-37")
    assert (call.event.minute, call.gives) == (None, ())
    assert any("are missing or have moved" in doubt for doubt in call.doubts)


@pytest.mark.parametrize("odd", [(), (32,), (32, 45), (27, 43, 44)])
def test_odd_texts_are_a_doubt_and_no_shift(odd, tmp_path: Path) -> None:
    lines = fields()
    for line in (25, *odd):
        lines[line - 1] = "not yet 7"
    call = understood(tmp_path, "DOOR.SYS", text(*lines))
    assert (call.name, call.who.caller, call.event.clock) == ("Moth", "number 42", "03:00")
    assert call.doubts == (
        "line 25 of DOOR.SYS is not as it should be: a text stands where the date of expiry"
        " belongs.",
    )


# Aliases that are none


@pytest.mark.parametrize(
    "alias", ["The Keeper", "the  KEEPER", "Moth House BBS", "Moth's bbs", "Sysop", "SYSOP"]
)
def test_an_alias_shared_by_all_callers_is_ignored(alias, tmp_path: Path) -> None:
    call = understood(tmp_path, "DOOR.SYS", text(*fields(alias=alias)))
    assert (call.name, call.who.caller) == ("Ann Example", "number 42")
    (doubt,) = call.doubts
    assert "is the name of the board or its sysop" in doubt
    assert "Ann Example" not in doubt


@pytest.mark.parametrize("alias", ["BBS Junkie", "bbs", "Keeper", "The Keepers"])
def test_a_name_that_only_has_something_of_one_is_an_alias(alias, tmp_path: Path) -> None:
    assert understood(tmp_path, "DOOR.SYS", text(*fields(alias=alias))).name == alias


def test_a_board_that_another_file_names_is_no_alias(tmp_path: Path) -> None:
    put(tmp_path, Written("CHAIN.TXT", text(*chain(alias="", real_name="Ann Example"))))
    put(tmp_path, Written("DOOR.SYS", text(*fields(alias="Moth House"))))
    call = understand(find(tmp_path, NO_ENVIRONMENT, None), AS_WRITTEN)
    assert call.name == "Ann Example"


def test_the_sysop_of_door32_sys_may_be_called_so(tmp_path: Path) -> None:
    content = text(*door32(alias="Sysop", number="1", level="255"))
    assert understood(tmp_path, "DOOR32.SYS", content).name == "Sysop"
    content = text(*door32(alias="Sysop", number="7", level="30"))
    assert understood(tmp_path, "DOOR32.SYS", content).name == "Ann Example"


def test_the_sysop_may_have_the_name_that_the_board_knows_them_by(tmp_path: Path) -> None:
    lines = fields(name="The Keeper", alias="The Keeper", number="1", level="255", node="1")
    call = understood(tmp_path, "DOOR.SYS", text(*lines))
    assert (call.name, call.who.caller, call.doubts) == ("The Keeper", "number 1", ())


def test_the_sysops_account_stays_the_sysops_on_every_node(tmp_path: Path) -> None:
    for node in ("1", "2"):
        lines = fields(alias="The Keeper", number="1", level="255", node=node)
        assert understood(tmp_path, "DOOR.SYS", text(*lines)).who.caller == "number 1"


@pytest.mark.parametrize(("level", "number"), [("90", "1"), ("255", "1")])
def test_the_sysops_real_name_stays_the_sysops(level, number, tmp_path: Path) -> None:
    lines = fields(alias="The Keeper", number=number, level=level, node="2")
    call = understood(tmp_path, "DOOR.SYS", text(*lines))
    assert (call.name, call.doubts) == ("The Keeper", ())


@pytest.mark.parametrize(("level", "number"), [("89", "1"), ("255", "2")])
def test_another_caller_is_not_called_as_the_sysop(level, number, tmp_path: Path) -> None:
    lines = fields(alias="The Keeper", number=number, level=level, node="3")
    assert understood(tmp_path, "DOOR.SYS", text(*lines)).name == "Ann Example"


@pytest.mark.parametrize("first", ["DOOR32.SYS", "DOOR.SYS"])
def test_an_alias_in_one_file_counts_over_a_real_name_in_another(first, tmp_path: Path) -> None:
    put(tmp_path, Written("DOOR.SYS", text(*fields(alias="The Keeper"))))
    put(tmp_path, Written("DOOR32.SYS", text(*door32())))
    call = understand(find(tmp_path / first, NO_ENVIRONMENT, None), AS_WRITTEN)
    assert (call.name, call.doubts) == ("Moth", ())


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("DOOR32.SYS", text(*door32(host="Moth House", alias="Moth House", number="0"))),
        ("CHAIN.TXT", text(*chain(alias="Moth House", number="0"))),
        ("CHAIN.TXT", text(*chain(alias="The Keeper", number=""))),
    ],
)
def test_an_account_never_goes_by_an_alias_that_all_callers_have(
    name, content, tmp_path: Path
) -> None:
    call = understood(tmp_path, name, content)
    assert (call.name, call.who.caller) == ("Ann Example", "name ann example")


def test_an_account_never_goes_by_a_name_of_the_board_in_the_settings(tmp_path: Path) -> None:
    content = text(*door32(host="Mystic 1.12 A48", alias="Moth House", number="0"))
    path = put(tmp_path, Written("DOOR32.SYS", content))
    reading = replace(AS_WRITTEN, names=("Moth House",))
    call = understand(find(path, NO_ENVIRONMENT, None), reading)
    assert (call.name, call.who.caller) == ("Ann Example", "name ann example")
    assert call.who.board == "mystic"


def test_an_alias_counts_before_a_name_that_may_be_real(tmp_path: Path) -> None:
    put(tmp_path, Written("DORINFO1.DEF", text(*dorinfo(("Ann", "Example", "Nowhere")))))
    path = put(tmp_path, Written("DOOR32.SYS", text(*door32(alias="", number="42"))))
    put(tmp_path, Written("CHAIN.TXT", text(*chain(alias="Moth"))))
    assert understand(find(path, NO_ENVIRONMENT, None), AS_WRITTEN).name == "Moth"


# Numbers that may be the same for all


@pytest.mark.parametrize(
    ("number", "node", "level", "may_be"),
    [
        ("1", "3", "50", True),
        ("3", "3", "50", True),
        ("42", "3", "50", False),
        ("1", "1", "255", False),
    ],
)
def test_the_doctor_asks_about_a_number_that_all_may_have(
    number, node, level, may_be, tmp_path: Path
) -> None:
    content = text(*fields(number=number, node=node, level=level))
    call = " ".join(sentences(understood(tmp_path, "DOOR.SYS", content)))
    assert ("they share this account" in call) is may_be
