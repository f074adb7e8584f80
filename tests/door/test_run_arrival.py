"""Which board a drop file belongs to, whose time it brings, and what must not be loaded for it."""

from __future__ import annotations

import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from ansi.charset import Charset
from door import config as settings
from door.console import Look, Paint
from door.dropfiles import DropFileRefused
from door.lobby.looks import said_by_host
from door.run.arrival import Arrival, Asked, arrive
from door.run.ways_in import CallBack, Inherited, Stdio, asked_for, said_by
from tests.dropfiles.reads import NOW, put
from tests.dropfiles.writers import WRITERS, Written, bbsdev, door32, text

XIBALBA = '[boards.Xibalba]\naliases = ["Synchronet"]\n'
TWO = f'{XIBALBA}[boards.Copan]\naliases = ["Moth House"]\n'


@pytest.fixture
def sent(tmp_path: Path):
    """Let a caller arrive by the file of a writer, under these settings."""

    def arrival(written: Written, toml: str = "", **asked: object) -> Arrival:
        (tmp_path / "sysop.toml").write_text(toml, encoding="utf-8")
        boards = settings.load(tmp_path / "sysop.toml").boards
        call = Asked(**{"dropfile": put(tmp_path, written), "board": None, "node": None, **asked})
        return arrive(call, boards, {}, NOW, 1000.0)

    return arrival


SYNCHRONET = WRITERS["synchronet stdio"]
ENIGMA = WRITERS["enigma 0.4 door32"]  # of Moth House


@pytest.mark.parametrize(
    ("written", "toml", "named", "board"),
    [
        (SYNCHRONET, TWO, None, "Xibalba"),
        (ENIGMA, TWO, None, "Copan"),
        (SYNCHRONET, TWO, "copan", "Copan"),
        (SYNCHRONET, TWO, "Tikal", "Tikal"),
        (SYNCHRONET, "[boards.Tikal]\n", None, "Tikal"),
        (SYNCHRONET, "[boards.Tikal]\n[boards.Copan]\n", None, "host"),
        (SYNCHRONET, "", None, "host"),
    ],
)
def test_a_board_is_found_by_option_name_or_want_of_another(
    sent, written, toml, named, board
) -> None:
    assert sent(written, toml, board=named).guest.board.name == board


@pytest.mark.parametrize("name", ["", "a@b", "a|b", "x" * 25, "a\tb"])
def test_a_board_cannot_be_called_anything(sent, name) -> None:
    with pytest.raises(DropFileRefused, match="no board can be called so"):
        sent(SYNCHRONET, board=name)


def test_a_caller_is_the_number_of_his_board_and_never_his_name(sent) -> None:
    guest = sent(SYNCHRONET, XIBALBA).guest
    assert (guest.key, guest.name, guest.node) == ("number 42", "Moth", 3)
    guest = sent(Written("DOOR32.SYS", text(*door32(number="0"))), XIBALBA).guest
    assert guest.key == "name:moth"


def test_an_alias_holds_no_code_that_colours_a_screen(sent) -> None:
    guest = sent(Written("DOOR32.SYS", text(*door32(alias="a|12b"))), XIBALBA).guest
    assert guest.name == "a│12b"


def test_what_a_board_says_of_its_files_counts(sent) -> None:
    seconds = Written("DOOR32.SYS", text(*door32(left="3600")))
    toml = f'{XIBALBA}door32_time = "seconds"\n'
    assert sent(seconds, toml).guest.seconds == 3600
    assert sent(SYNCHRONET, XIBALBA).guest.seconds == 3540


def test_unlimited_is_no_number_of_seconds(sent) -> None:
    guest = sent(Written("BBSDEV.DRP", text(*bbsdev(deadline=""), charset="utf-8"))).guest
    assert (guest.seconds, guest.until) == (None, None)


def test_a_deadline_is_also_when_his_board_wants_him_back(sent) -> None:
    guest = sent(Written("BBSDEV.DRP", text(*bbsdev(), charset="utf-8"))).guest
    assert guest.seconds == 1800
    assert guest.until == NOW + timedelta(seconds=1800)


def test_time_that_nobody_says_is_what_the_sysop_has_agreed_and_else_refused(sent) -> None:
    silent = Written("DOOR32.SYS", text(*door32(left="soon")))
    assert sent(silent, XIBALBA).guest.seconds is None
    with pytest.raises(DropFileRefused, match="how long the caller may stay"):
        sent(silent)


def test_only_synchronet_is_given_anything_unasked(sent) -> None:
    assert sent(SYNCHRONET, XIBALBA).guest.takes_gains == "moduser"
    assert sent(WRITERS["remoteaccess exitinfo"], XIBALBA).guest.takes_gains is None
    toml = f'{XIBALBA}give_back = "exitinfo"\n'
    guest = sent(WRITERS["remoteaccess exitinfo"], toml).guest
    assert (guest.takes_gains, guest.shows_losses) == ("exitinfo", True)
    toml = f'{XIBALBA}give_back = "thebank.ext"\n'
    assert sent(SYNCHRONET, toml).guest.takes_gains == "thebank.ext"


@pytest.mark.parametrize(
    ("emulation", "charset", "look"),
    [
        ("ascii", "cp437", Look(Charset.ASCII, Paint.LINES)),
        ("ansi", None, Look(Charset.CP437, Paint.COLOUR)),
        ("rip", None, Look(Charset.CP437, Paint.COLOUR)),
        ("ansi", "utf-8", Look(Charset.UTF8, Paint.COLOUR)),
        ("ansi", "us-ascii", Look(Charset.ASCII, Paint.COLOUR)),
        ("ansi", "koi8-r", None),
        (None, "utf-8", None),
    ],
)
def test_a_screen_is_spoken_to_as_its_board_says(emulation, charset, look) -> None:
    assert said_by_host(emulation, charset) == look


def test_options_choose_the_way_in_and_else_the_drop_file_does(sent) -> None:
    nothing = {"wants_stdio": False, "descriptor": None, "connect": None}
    assert asked_for(**nothing, telnet=None) is None
    assert asked_for(**nothing | {"descriptor": 7}, telnet=None) == Inherited(7, True)
    assert asked_for(**nothing | {"descriptor": 7}, telnet=False) == Inherited(7, False)
    back = nothing | {"connect": "127.0.0.1:4000"}
    assert asked_for(**back, telnet=None) == CallBack("127.0.0.1", 4000, False)
    assert asked_for(**back, telnet=True) == CallBack("127.0.0.1", 4000, True)
    assert asked_for(**nothing | {"wants_stdio": True}, telnet=None) == Stdio()
    assert said_by(sent(WRITERS["synchronet socket"]).connection, None) == Inherited(17, True)
    assert said_by(sent(WRITERS["mystic 1.10 unix"]).connection, None) == Stdio()


def loaded_by(module: str) -> set[str]:
    said = subprocess.run(
        [sys.executable, "-c", f"import {module}, sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    return {name.partition(".")[0] for name in said}


def test_the_first_screen_waits_for_no_books() -> None:
    assert loaded_by("door.cli_run").isdisjoint({"sqlalchemy", "sqlite3", "telnetlib3", "argon2"})


def test_a_door_process_loads_nothing_that_only_a_server_needs() -> None:
    assert loaded_by("door.run.process").isdisjoint({"telnetlib3", "argon2", "click"})
