"""The board of a drop file, the time it brings, and modules it must not load."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from ansi.charset import Charset
from door.call.screen import Look, Paint
from door.config import config as settings
from door.errors import DropFileRefused
from door.lines.line import Hints
from door.lobby.looks import LOOKS, choices, guess
from door.session.arrival import DoorCall, DoorOptions, arrive
from door.session.line_setup import CallBack, Inherited, Stdio, way_by_dropfile, way_by_options
from tests import ROOT
from tests.door.dropfiles.reads import NOW, put
from tests.door.dropfiles.writers import WRITERS, Written, bbsdev, door32, door_sys, text

XIBALBA = '[boards.Xibalba]\naliases = ["Synchronet"]\n'
TWO = f'{XIBALBA}[boards.Copan]\naliases = ["Moth House"]\n'


@pytest.fixture
def sent(tmp_path: Path):
    """Bring a caller by a writer's file under these settings."""

    def arrival(written: Written, toml: str = "", **asked: object) -> DoorCall:
        (tmp_path / "sysop.toml").write_text(toml, encoding="utf-8")
        boards = settings.load(tmp_path / "sysop.toml").boards
        options = {"dropfile": put(tmp_path, written), "board": None, "node": None, **asked}
        return arrive(DoorOptions(**options), boards, {}, NOW, 1000.0)

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
def test_a_board_is_chosen_by_option_by_name_or_by_default(
    sent, written, toml, named, board
) -> None:
    assert sent(written, toml, board=named).guest.board.name == board


@pytest.mark.parametrize("name", ["", "a@b", "a|b", "x" * 25, "a\tb"])
def test_a_board_cannot_be_called_anything(sent, name) -> None:
    with pytest.raises(DropFileRefused, match="the name of a board must have"):
        sent(SYNCHRONET, board=name)


def test_a_caller_is_the_number_at_the_board_and_never_the_name(sent) -> None:
    guest = sent(SYNCHRONET, XIBALBA).guest
    assert (guest.key, guest.name, guest.node) == ("number 42", "Moth", 3)
    guest = sent(Written("DOOR32.SYS", text(*door32(number="0"))), XIBALBA).guest
    assert guest.key == "name:moth"


def test_an_alias_holds_no_code_that_colours_a_screen(sent) -> None:
    guest = sent(Written("DOOR32.SYS", text(*door32(alias="a|12b"))), XIBALBA).guest
    assert guest.name == "a│12b"


def test_a_deadline_is_also_when_the_board_wants_the_caller_back(sent) -> None:
    guest = sent(Written("BBSDEV.DRP", text(*bbsdev(), charset="utf-8"))).guest
    assert guest.seconds == 1800
    assert guest.until == NOW + timedelta(seconds=1800)


@pytest.mark.parametrize("alias", ["Xibalba", "synchronet", "Xibalba 2.1"])
def test_a_settings_name_of_a_board_is_no_alias(sent, alias) -> None:
    lines = door_sys(name="Ann Example", alias=alias)
    arrival = sent(Written("DOOR.SYS", text(*lines)), XIBALBA)
    assert arrival.guest.name == arrival.understood.name == "Ann Example"
    assert "is the name of the board or its sysop" in arrival.understood.doubts[-1]


CONSTANT = {writer: WRITERS[writer] for writer in WRITERS if writer.startswith("enigma 0.0")}
for newer in ("enigma 0.5 door32", "enigma 2026 door.sys"):
    CONSTANT[newer] = WRITERS[newer]


@pytest.mark.parametrize("written", CONSTANT.values(), ids=CONSTANT.keys())
def test_the_constant_time_of_enigma_is_replaced_by_the_sysops_minutes(sent, written) -> None:
    copan = '[boards.Copan]\naliases = ["Moth House"]\n'
    for toml in ("", copan):
        with pytest.raises(DropFileRefused, match="is what ENiGMA writes for every caller"):
            sent(written, toml)
    with pytest.raises(DropFileRefused, match=r"Say minutes = 60 in \[boards.Copan\]"):
        sent(written, copan)
    guest = sent(written, f"{copan}minutes = 45\nshare = 10\n").guest
    assert (guest.seconds, guest.board.minutes) == (None, 45)
    guest = sent(written, f"{copan}share = 10\n").guest
    assert guest.seconds in (546 * 60, 15360)
    assert guest.board.share == 10


# Identity of callers


REAL = ROOT / "tests/door/dropfiles/data"
PALENQUE = '[boards.Palenque]\naliases = ["GameSrvConsole"]\n'
BONAMPAK = '[boards.Bonampak]\naliases = ["magicka"]\n'
FOUR = f"{TWO}{PALENQUE}{BONAMPAK}".replace(
    "Moth House", "New ENiGMA\N{VULGAR FRACTION ONE HALF} BBS"
)


def real(file: str) -> Written:
    """A file as a board wrote it."""
    path = REAL / file
    return Written(path.name, path.read_bytes())


@pytest.mark.parametrize(
    ("file", "board"),
    [
        ("synchronet/DOOR32.SYS", "Xibalba"),
        ("enigma/door32.sys", "Copan"),
        ("gamesrv/door32.sys", "Palenque"),
        ("magicka/door32.sys", "Bonampak"),
    ],
)
def test_the_file_that_a_board_really_wrote_is_known_by_its_alias(sent, file, board) -> None:
    toml = FOUR.replace("[boards.Palenque]", "minutes = 60\n[boards.Palenque]")
    assert sent(real(file), toml).guest.board.name == board


@pytest.mark.parametrize(
    "alias",
    [
        "Synchronet",
        "synchronet  BBS",
        "Synchronet BBS for Linux  Version 3.22a",
        "Synchronet BBS for Linux Version 3.19b",
        "Synchronet BBS for Win32  Version 3.20d",
    ],
)
def test_an_alias_is_a_board_name_without_version_and_platform(sent, alias) -> None:
    toml = f'[boards.Copan]\n[boards.Xibalba]\naliases = ["{alias}"]\n'
    assert sent(real("synchronet/DOOR32.SYS"), toml).guest.board.name == "Xibalba"


@pytest.mark.parametrize("alias", ["Sync", "BBS", "Synchronet House", "Synchronet BBS 2"])
def test_other_words_are_no_alias(sent, alias) -> None:
    toml = f'[boards.Copan]\n[boards.Xibalba]\naliases = ["{alias}"]\n'
    assert sent(real("synchronet/DOOR32.SYS"), toml).guest.board.name == "host"


def test_the_longest_alias_counts_and_a_boards_own_name_before_an_alias(sent) -> None:
    toml = '[boards.A]\naliases = ["Synchronet"]\n[boards.B]\naliases = ["Synchronet BBS"]\n'
    assert sent(real("synchronet/DOOR32.SYS"), toml).guest.board.name == "B"
    toml = '[boards.A]\naliases = ["Synchronet"]\n[boards.Synchronet]\n'
    assert sent(real("synchronet/DOOR32.SYS"), toml).guest.board.name == "Synchronet"


def test_a_file_that_fits_two_boards_is_refused_and_not_guessed(sent) -> None:
    toml = '[boards.A]\naliases = ["Synchronet"]\n[boards.B]\naliases = ["synchronet"]\n'
    with pytest.raises(DropFileRefused, match=r"could be A or B\. Give them different aliases"):
        sent(real("synchronet/DOOR32.SYS"), toml)
    assert sent(real("synchronet/DOOR32.SYS"), toml, board="B").guest.board.name == "B"


def test_a_board_without_a_listed_name_is_known_by_its_software(sent) -> None:
    written = Written("BBSDEV.DRP", text(*bbsdev(), charset="utf-8"))
    toml = '[boards.Copan]\n[boards.Tikal]\naliases = ["ENiGMA"]\n'
    assert sent(written, toml).guest.board.name == "Tikal"


def test_callers_first_known_under_host_are_looked_up_there(sent) -> None:
    assert sent(real("synchronet/DOOR32.SYS"), TWO).guest.formerly == "host"
    assert sent(real("synchronet/DOOR32.SYS"), XIBALBA).guest.formerly is None
    assert sent(real("synchronet/DOOR32.SYS"), TWO, board="Xibalba").guest.formerly is None
    assert sent(SYNCHRONET, TWO).guest.formerly is None  # known to the letter all the time
    assert sent(ENIGMA, TWO).guest.formerly is None


# The caller's screen


@pytest.mark.parametrize(
    ("file", "rows", "is_certain"),
    [("magicka/door.sys", 24, False), ("gamesrv/door.sys", 24, False)],
)
def test_a_page_length_is_not_taken_for_a_window(sent, file, rows, is_certain) -> None:
    introduction = sent(real(file)).introduction
    assert (introduction.rows, introduction.size_is_certain) == (rows, is_certain)


def test_a_short_page_waits_until_the_window_is_known(sent) -> None:
    file = Written("DOOR.SYS", text(*door_sys(rows="20")))
    assert sent(file).introduction.rows == 20


def test_a_window_that_the_board_has_asked_for_is_certain(sent) -> None:
    written = Written("BBSDEV.DRP", text(*bbsdev(), charset="utf-8"))
    introduction = sent(written).introduction
    assert (introduction.columns, introduction.rows) == (132, 43)
    assert introduction.size_is_certain


def test_enigma_is_spoken_to_without_the_pictures_that_it_drops(sent) -> None:
    toml = "[boards.Copan]\nminutes = 60\n"
    arrival = sent(real("enigma/door32.sys"), toml)
    assert arrival.guest.look == Look(Charset.CP437_TEXT, Paint.COLOUR)
    assert guess(arrival.introduction.hints) == arrival.guest.look
    assert sent(WRITERS["enigma bbsdev"]).guest.look == arrival.guest.look


def test_other_boards_are_spoken_to_with_all_of_cp437(sent) -> None:
    assert sent(SYNCHRONET).guest.look == Look(Charset.CP437, Paint.COLOUR)


def test_the_command_line_sets_the_character_set(sent) -> None:
    for charset, look in (("utf-8", Charset.UTF8), ("cp437", Charset.CP437)):
        arrival = sent(real("enigma/door32.sys"), "[boards.C]\nminutes = 1\n", charset=charset)
        assert arrival.guest.look == Look(look, Paint.COLOUR)
    assert sent(SYNCHRONET, charset="utf-8").guest.look == Look(Charset.UTF8, Paint.COLOUR)


def test_a_host_that_drops_control_bytes_is_offered_letters_for_suits() -> None:
    host = choices(Hints(terminal_types=("ansi",), charset="cp437-text"))
    assert [look.charset for look, _ in host.values()][:2] == [Charset.CP437, Charset.CP437_TEXT]
    assert Charset.UTF8 not in [look.charset for look, _ in host.values()]
    assert choices(Hints()) == LOOKS


def test_only_synchronet_is_given_anything_unasked(sent) -> None:
    assert sent(SYNCHRONET, XIBALBA).guest.takes_gains == "moduser"
    assert sent(WRITERS["remoteaccess exitinfo"], XIBALBA).guest.takes_gains is None
    toml = f'{XIBALBA}give_back = "exitinfo"\n'
    guest = sent(WRITERS["remoteaccess exitinfo"], toml).guest
    assert (guest.takes_gains, guest.shows_losses) == ("exitinfo", True)
    toml = f'{XIBALBA}give_back = "thebank.ext"\n'
    assert sent(SYNCHRONET, toml).guest.takes_gains == "thebank.ext"


def test_options_choose_the_way_in_and_else_the_drop_file_does(sent) -> None:
    nothing = {"wants_stdio": False, "descriptor": None, "connect": None}
    assert way_by_options(**nothing, telnet=None) is None
    assert way_by_options(**nothing | {"descriptor": 7}, telnet=None) == Inherited(7, True)
    assert way_by_options(**nothing | {"descriptor": 7}, telnet=False) == Inherited(7, False)
    back = nothing | {"connect": "127.0.0.1:4000"}
    assert way_by_options(**back, telnet=None) == CallBack("127.0.0.1", 4000, False)
    assert way_by_options(**back, telnet=True) == CallBack("127.0.0.1", 4000, True)
    assert way_by_options(**nothing | {"wants_stdio": True}, telnet=None) == Stdio()
    synchronet, mystic = sent(WRITERS["synchronet socket"]), sent(WRITERS["mystic 1.10 unix"])
    assert way_by_dropfile(synchronet.understood.connection, None) == Inherited(17, True)
    assert way_by_dropfile(mystic.understood.connection, None) == Stdio()


def test_the_command_line_says_how_large_the_window_is(sent) -> None:
    introduction = sent(SYNCHRONET, XIBALBA, size="132x40").introduction
    assert (introduction.columns, introduction.rows) == (132, 40)
    assert introduction.size_is_certain


def test_a_word_for_a_size_that_the_board_left_as_it_was_is_passed_over(sent, caplog) -> None:
    introduction = sent(ENIGMA, TWO, size="{termWidth}x{termHeight}").introduction
    assert not introduction.size_is_certain
    assert "--size takes columns and rows, such as 80x24" in caplog.text


@pytest.mark.parametrize(
    ("written", "content", "size"),
    [
        (SYNCHRONET, "cols=132\r\nrows=50\r\ntype=ANSI\r\nchars=CP437\r\n", (132, 50, True)),
        (SYNCHRONET, "rows = 24\n[cols]\ncols = 80\n", (0, 0, False)),
        (SYNCHRONET, "cols=many\nrows=24\n", (0, 0, False)),
        (ENIGMA, "cols=132\nrows=50\n", (0, 0, False)),
    ],
)
def test_synchronet_has_measured_the_window(sent, tmp_path, written, content, size) -> None:
    (tmp_path / "terminal.ini").write_text(content, encoding="ascii")
    introduction = sent(written, TWO).introduction
    assert (introduction.columns, introduction.rows, introduction.size_is_certain) == size
