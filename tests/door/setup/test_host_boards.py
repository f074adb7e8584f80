"""`door setup`: the needs of another board, and its callers' identities."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from door.config import config as settings
from door.config.listeners import DOORS_ALONE
from door.dropfiles.formats import read
from door.setup import host_boards, machine
from door.setup.host_boards import KINDS, HostSetup
from tests import ROOT
from tests.door.dropfiles.reads import AS_WRITTEN
from tests.door.shell import CommandResult, Shell

DATA = ROOT / "tests" / "door" / "dropfiles" / "data"
DOORS = [key for key, kind in KINDS.items() if kind.starts_doors]
SETTINGS = """# Mine.
events = []
[board]
name = "Here"  # where we are
"""


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    config = tmp_path / "sysop.toml"
    config.write_text(SETTINGS, encoding="utf-8")
    return Shell(config)


def set_up(shell: Shell, *words: str) -> CommandResult:
    return shell("setup", *words)


def written(shell: Shell, name: str) -> str:
    return (shell.config.parent / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("board", ["synchronet", "enigma", "magicka"])
def test_a_drop_file_is_made_as_the_board_really_wrote_it(board: str) -> None:
    """All but the caller's name and time is the very same, with its line ends."""
    (real,) = (path for path in (DATA / board).iterdir() if path.name.lower() == "door32.sys")
    setup = HostSetup(KINDS[board], "X", Path("/"))
    made, sample = host_boards.drop_file(setup), real.read_bytes()
    assert made.count(b"\r\n") == sample.count(b"\r\n")
    ours, theirs = made.splitlines(), sample.splitlines()
    assert len(ours) == len(theirs)
    own = {5, 6, 7, 8}  # names, level and time
    for number, (mine, its) in enumerate(zip(ours, theirs, strict=True)):
        assert mine == its or number in own, number


@pytest.mark.parametrize("board", DOORS)
def test_a_table_is_added_and_all_else_in_the_settings_stays(shell: Shell, board: str) -> None:
    result = set_up(shell, board, "--name", "Xibalba")
    assert (result.status, result.error) == (0, "")
    text = shell.config.read_text(encoding="utf-8")
    assert text.startswith(SETTINGS)
    a_board = settings.load(shell.config).boards["Xibalba"]
    assert (a_board.aliases != ()) == (board != "enigma")
    assert ("minutes" in a_board.agreed) == (board in ("enigma", "elebbs", "renegade"))
    assert a_board.give_back == ("auto" if board == "synchronet" else "bank")
    again = set_up(shell, board)
    assert again.status == 0
    assert shell.config.read_text(encoding="utf-8") == text


def test_setup_keeps_the_sysops_text_and_adds_only_missing_parts(shell: Shell) -> None:
    with shell.config.open("a", encoding="utf-8") as file:
        file.write('[boards.Maya]  # ours\naliases = ["Other"]\ngive_back = "door.sys"\n')
    result = set_up(shell, "magicka", "--name", "maya")
    assert "Added aliases to [boards.Maya] in the settings." in result.output
    board = settings.load(shell.config).boards["Maya"]
    assert (board.aliases, board.give_back) == (("Other", "Magicka"), "door.sys")
    assert "[boards.Maya]  # ours\n" in shell.config.read_text(encoding="utf-8")
    # It is known by its alias from now on.
    assert "[boards.Maya] is in the settings already" in set_up(shell, "magicka").output


def test_two_boards_of_one_kind_differ_by_their_command_lines(shell: Shell) -> None:
    set_up(shell, "mystic", "--name", "One")
    result = set_up(shell, "mystic", "--name", "Two")
    assert result.status == 0
    assert " --board Two --dropfile %Pdoor32.sys" in result.output
    boards = settings.load(shell.config).boards
    assert [boards[name].aliases for name in ("One", "Two")] == [("Mystic",), ()]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("mystic", "--name", "a@b"), "The name of a board must have"),
        (("enigma", "--name", "Night Owl"), "letters, digits and . _ -"),
    ],
)
def test_a_name_that_will_not_do_is_refused_and_nothing_is_written(
    shell: Shell, words: tuple[str, ...], reason: str
) -> None:
    result = set_up(shell, *words)
    assert (result.status, reason in result.error) == (2, True)
    assert [each.name for each in shell.config.parent.iterdir()] == ["sysop.toml"]


def test_synchronet_gets_its_installer_with_whole_paths(shell: Shell) -> None:
    result = set_up(shell, "synchronet", "--bbs", "/sbbs")
    folder = shell.config.parent
    assert f"    SBBSCTRL=/sbbs/ctrl /sbbs/exec/jsexec install-xtrn {folder}\n" in result.output
    installer = written(shell, "install-xtrn.ini")
    door = machine.program("door")
    assert f"\ncmd = {door} run --dropfile %f\n" in installer
    assert f"\ncmd = {door} run --dropfile %f --door REDDOG\n" in installer
    assert "XTRN_IO_INTS" in installer
    result = set_up(shell, "synchronet", "--line", "socket")
    assert "|XTRN_IO_INTS" not in written(shell, "install-xtrn.ini.new")
    assert "Put install-xtrn.ini.new in its place, unless you have changed it." in result.output


def test_setup_for_enigma_names_board_window_and_port(shell: Shell) -> None:
    set_up(shell, "enigma", "--name", "NightOwl", "--line", "socket")
    menu = written(shell, "boards/enigma/menu.hjson")
    assert f'"run", "--config", "{shell.config}", "--board", "NightOwl"' in menu
    assert '"--size", "{termWidth}x{termHeight}"' in menu
    assert '"--connect", "127.0.0.1:{srvPort}" ]' in menu
    assert "io: socket" in menu


def test_magicka_gets_a_door_and_the_entry_of_a_menu_that_starts_it(shell: Shell) -> None:
    result = set_up(shell, "magicka", "--bbs", "/bbs/magicka")
    menu = dict(
        line.split(" ", 1) for line in written(shell, "boards/magicka/doors.mnu").split("\n")[:-1]
    )
    assert menu["COMMAND"] == "RUNDOOR"
    assert len(menu["HOTKEY"]) == 1
    assert f"[{menu['DATA']}]\n" in written(shell, "boards/magicka/doors.ini")
    assert f"{shell.config.parent}/boards/magicka/doors.mnu" in result.output
    assert "    /bbs/magicka/menus/doors.mnu\n" in result.output


def test_a_board_for_doors_alone_needs_no_server_that_runs_all_day(shell: Shell) -> None:
    how = "If your callers come through doors alone, write listeners = []"
    assert how in set_up(shell, "magicka").output
    text = shell.config.read_text(encoding="utf-8")
    shell.config.write_text(f"listeners = []\n{text}", encoding="utf-8")
    output = set_up(shell, "magicka").output
    assert DOORS_ALONE in output
    assert how not in output
    refused = set_up(shell, "gamesrv")
    assert (refused.status, "Give the server one" in refused.error) == (2, True)


def test_gamesrv_is_led_to_the_port_of_the_server(shell: Shell) -> None:
    with shell.config.open("a", encoding="utf-8") as file:
        file.write("[[listeners]]\nport = 2424\n")
    before = shell.config.read_text(encoding="utf-8")
    assert set_up(shell, "gamesrv").status == 0
    assert "Parameters=127.0.0.1:2424\n" in written(shell, "boards/gamesrv/doors.ini")
    assert shell.config.read_text(encoding="utf-8") == before


@pytest.mark.parametrize(
    ("line", "words", "way"),
    [
        ("stdio", ("3", "17"), ["--stdio"]),
        ("socket", ("3", "17", "--door", "BJFT"), ["--socket", "17", "--door", "BJFT"]),
        ("socket", ("3",), ["--stdio"]),
    ],
)
def test_the_script_starts_the_door_for_a_node_and_its_socket(
    shell: Shell, tmp_path: Path, line: str, words: tuple[str, ...], way: list[str]
) -> None:
    result = set_up(shell, "magicka", "--bbs", "/bbs/magicka", "--line", line)
    script = tmp_path / "boards" / "magicka" / "rundoor.sh"
    assert f"command = {script}\n" in written(shell, "boards/magicka/doors.ini")
    assert "/bbs/magicka/config/doors.ini" in result.output
    assert script.stat().st_mode & 0o111 == 0o111
    text = script.read_text(encoding="utf-8")
    script.write_text(text.replace(f"exec {machine.program('door')} ", "echo "), encoding="utf-8")
    done = subprocess.run([script, *words], capture_output=True, text=True, check=True)
    named = ["--config", str(shell.config), "--node", "3"]
    dropped = ["--dropfile", "/bbs/magicka/node3/door32.sys"]
    assert done.stdout.split() == ["run", *named, *dropped, *way]
    asked = subprocess.run([script], capture_output=True, text=True, check=False)
    assert (asked.returncode, asked.stderr) == (2, "usage: rundoor.sh NODE [SOCKET]\n")


@pytest.mark.parametrize("board", DOORS)
def test_the_door_understands_the_written_files(shell: Shell, board: str) -> None:
    from tests.door.cli.test_board_guides import read_as_the_shell_does

    set_up(shell, board, "--name", "Xibalba")
    config = settings.load(shell.config)
    setup = host_boards.chosen(config, KINDS[board], "Xibalba", Path("/"), stdio=True)
    line = host_boards.command(config, setup).replace(KINDS[board].macro, "/node/DOOR32.SYS")
    assert read_as_the_shell_does(line.split()[2:])["dropfile"] == Path("/node/DOOR32.SYS")


def test_setup_describes_a_sample_caller_and_registers_none(shell: Shell, tmp_path: Path) -> None:
    result = set_up(shell, "enigma", "--name", "NightOwl")
    assert (result.status, result.error) == (0, "")
    assert "Here the caller is Ann@NightOwl" in result.output
    assert "They would bring 60 minutes." in result.output
    assert not (tmp_path / "data").exists()


def test_all_kinds_have_a_drop_file_that_names_them(tmp_path: Path) -> None:
    for board in DOORS:
        setup = HostSetup(KINDS[board], "X", Path("/"))
        path = tmp_path / host_boards.DROP_FILE
        path.write_bytes(host_boards.drop_file(setup))
        file = read(path, AS_WRITTEN)
        if board == "enigma":
            assert file.enigma
        else:
            assert host_boards.recognized(file.software) is KINDS[board]
            assert file.time.seconds == 60 * 60
