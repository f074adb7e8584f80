"""Fields as writers of the field fill them, each odd in its way: no reason to refuse a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from door.errors import DropFileRefused
from tests.door.dropfiles.reads import understood
from tests.door.dropfiles.writers import chain, door_sys, dorinfo, text

DATES, CLOCKS, SWITCHES = (17, 25, 32, 43), (37, 44, 45), (22, 38, 39, 40)


def with_fields(odd: dict[int, str]) -> bytes:
    lines = door_sys(name="Ann Example")
    for line, field in odd.items():
        lines[line - 1] = field
    return text(*lines)


@pytest.mark.parametrize(
    "odd",
    [
        dict.fromkeys(DATES, "--"),
        dict.fromkeys(DATES, "  /  /  "),
        dict.fromkeys(DATES, "0"),
        dict.fromkeys(DATES, "31.12.99"),
        dict.fromkeys(DATES, "31/12/2026"),
        dict.fromkeys((*DATES, *CLOCKS), ""),
        dict.fromkeys((*DATES, *CLOCKS), "--"),
        dict.fromkeys((*DATES, 44, 45), "1790000000"),
        dict.fromkeys(CLOCKS, "03.30"),
        dict.fromkeys(CLOCKS, "0330"),
        dict.fromkeys(CLOCKS, "0"),
        dict.fromkeys(CLOCKS, "--:--"),
        dict.fromkeys(SWITCHES, "0"),
        dict.fromkeys(SWITCHES, "1"),
        dict.fromkeys(SWITCHES, "n"),
        {22: "0", 27: "1"},
        {**dict.fromkeys(DATES, "--"), **dict.fromkeys(CLOCKS, "0"), 27: "0"},
    ],
)
def test_odd_fields_do_not_close_a_door(odd, tmp_path: Path) -> None:
    call = understood(tmp_path, "DOOR.SYS", with_fields(odd))
    assert (call.name, call.who.caller, call.time.seconds) == ("Moth", "number 42", 3599)


def test_a_date_of_dashes_is_an_empty_one(tmp_path: Path) -> None:
    odd = dict.fromkeys((25, 32, 43), "--")
    assert understood(tmp_path, "DOOR.SYS", with_fields(odd)).doubts == ()


@pytest.mark.parametrize("port", ["COM1:", "com1", "COM0:", "COM-1", "-1", "0", ""])
@pytest.mark.parametrize("network", ["0", "-1", "1", "12"])
def test_dorinfo_may_have_any_port_and_network(port, network, tmp_path: Path) -> None:
    lines = list(dorinfo(("Ann", "Example", "Nowhere")))
    lines[3], lines[5] = port, network
    call = understood(tmp_path, "DORINFO1.DEF", text(*lines))
    assert (call.name, call.time.seconds) == ("Ann Example", 3540)


@pytest.mark.parametrize(("port", "since"), [("COM1", "14:00:00"), ("-1", ""), ("", "-7")])
def test_chain_txt_may_have_any_port_and_clock(port, since, tmp_path: Path) -> None:
    lines = list(chain())
    lines[20], lines[23] = port, since
    assert understood(tmp_path, "CHAIN.TXT", text(*lines)).who.caller == "number 42"


def test_a_writer_with_its_own_order_behind_the_event_is_read(tmp_path: Path) -> None:
    behind = ("Y", "Y", "Y", "7", "240", "01/01/00", "14400", "0", "0", "N", "0", "0", "", "", "")
    lines = [*door_sys(name="Ann Example")[:37], *behind]
    call = understood(tmp_path, "DOOR.SYS", text(*lines))
    assert (call.name, call.who.caller, call.gives) == ("Moth", "number 42", ())


def test_a_file_with_the_name_three_times_is_refused_at_the_shifted_line(
    tmp_path: Path,
) -> None:
    lines = ("2", "0", "115200", "Moth House", "1", "Moth", "Moth", "Moth", "0", "60", "1", "3")
    with pytest.raises(DropFileRefused) as refused:
        understood(tmp_path, "DOOR32.SYS", text(*lines))
    assert (refused.value.line, refused.value.what) == (
        8,
        "no number stands where the security level belongs",
    )
    assert "Have the board write DOOR.SYS" in refused.value.remedy


def test_a_file_with_dates_with_times_and_an_extra_line_is_read(
    tmp_path: Path,
) -> None:
    lines = door_sys(name="Ann Example", level="50")
    for line in (17, 43, 45):
        lines[line - 1] = "2026-11-19 20:00:00"
    lines[24], lines[43] = "", "Fri Nov 20 19:59:59 2026"
    lines.insert(44, "")
    del lines[4]
    call = understood(tmp_path, "DOOR.SYS", text(*lines))
    assert (call.name, call.who.caller, call.node) == ("Moth", "number 42", 3)
    assert call.time.seconds == 3599


def test_the_two_names_of_icy_board_may_differ(tmp_path: Path) -> None:
    head = (*dorinfo(())[:5], "", "0")
    lines = (*head, "Moth", "", "Ann", "Example", "Nowhere", "1", "50", "59", "-1")
    call = understood(tmp_path, "DORINFO4.DEF", text(*lines))
    assert (call.name, call.time.seconds) == ("Moth", 3540)


def test_dorinfo_in_another_order_is_refused(tmp_path: Path) -> None:
    head = ("Moth House", "Keeper", "", "COM3", "0,N,8,1", "3")
    lines = (*head, "Ann Example", "", "Moth", "50", "60", "1", "80", "1")
    with pytest.raises(DropFileRefused) as refused:
        understood(tmp_path, "DORINFO1.DEF", text(*lines))
    assert (refused.value.line, refused.value.what) == (
        10,
        "no emulation and security level are near this line",
    )


def test_door_sys_in_another_order_is_refused_without_quoting_it(tmp_path: Path) -> None:
    head = ("COM1:", "38400", "8", "3", "38400", "Y", "Ann", "Example", "Unknown")
    front = (*head, "000-000-0000", "000-000-0000", "SWORDFISH", "50", "9", "11/19/2026", "3600")
    behind = ("0", "3600", "GR", "N", "25", "", "01/01/2099", "42", "ANSI", *"000", "9999999")
    lines = (*front, *behind, "11/20/2026", "20:00", "Moth House", "Sysop", "3", "38400", "Y")
    content = text(*lines, "Moth", *["0"] * 15)
    with pytest.raises(DropFileRefused) as refused:
        understood(tmp_path, "DOOR.SYS", content)
    assert refused.value.line is not None
    assert not any(field in str(refused.value) for field in ("SWORDFISH", "Ann", "Moth"))


def test_a_letter_in_place_of_the_locked_rate_is_no_toggle(tmp_path: Path) -> None:
    lines = door_sys(name="Ann Example")[:31]
    for line in range(3, 10):
        lines[line - 1] = f" {lines[line - 1]}"
    lines[4] = " N"
    call = understood(tmp_path, "DOOR.SYS", text(*lines))
    assert (call.name, call.who.caller, call.doubts) == ("Ann Example", "number 42", ())


def test_door_sys_may_say_rip(tmp_path: Path) -> None:
    call = understood(tmp_path, "DOOR.SYS", text(*door_sys(graphics="RIP")))
    assert (call.screen.emulation, call.name, call.time.seconds) == ("rip", "Moth", 3599)
