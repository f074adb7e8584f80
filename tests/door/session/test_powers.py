"""The sysop's powers: they are a caller's by number, and no name gives any to anybody."""

from __future__ import annotations

import logging
import re
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from door.config import config
from door.server.leadership import LOOK_SECONDS
from tests.door.server.test_rlogin_port import XIBALBA, sent
from tests.door.shell import Shell
from tests.door.visiting import MENU, Guest, known, sysop_toml, visitor
from tests.world import BOARD, NOON, World, newcomer, world
from timebank.callers import callers
from timebank.calls.arrival import host_caller
from timebank.ledger.sqlite.database import SqliteDatabase

NAMED = sysop_toml(events="", timebank='known_days = 0\nco_sysops = ["Bill Gates"]')
TAKEN = "That name, or one that looks like it, is taken."


async def asks_for_a_new_name(board: World, name: str) -> Guest:
    guest = Guest(board, name)
    await guest.dials()
    await guest.presses("new\r").is_asked("The name you want:")
    guest.presses(f"{name}\r")
    return guest


def powers_of(board: World) -> list[tuple[str, int]]:
    with board.books() as desk:
        rows = desk.connection.exec_driver_sql("SELECT name, powers FROM callers ORDER BY id")
        return [tuple(row) for row in rows]


# Unregistered names in sysop.toml.


@pytest.mark.parametrize("name", ["BiII Gates", "bill gates", "8ill Gates", "Bill Gate5"])
async def test_a_stranger_cannot_have_a_name_that_the_sysop_has_written_down(
    tmp_path: Path, name: str
) -> None:
    async with world(tmp_path, toml=NAMED) as board:
        guest = await asks_for_a_new_name(board, name)
        await guest.sees(TAKEN)
        assert powers_of(board) == []


async def test_a_name_that_the_sysop_has_written_down_gives_its_caller_nothing(
    tmp_path: Path,
) -> None:
    async with world(tmp_path, toml=BOARD) as board:
        terminal = await newcomer(board, "Bill Gates")
        await terminal.close()
        (tmp_path / "sysop.toml").write_text(NAMED, encoding="utf-8")
        board.server.reload()
        bill = Guest(board, "Bill Gates")
        await bill.visits()
        assert powers_of(board) == [("Bill Gates", 0)]


async def test_a_guest_named_like_a_co_sysop_has_no_powers(tmp_path: Path) -> None:
    async with world(tmp_path, toml=NAMED + XIBALBA) as board:
        guest = await sent(board, b"\0jaguar\0Bill Gates\0syncterm/115200\0")
        await guest.until("Take a one-minute tour?")
        await guest.send("n").until(MENU)
        assert powers_of(board) == [("Bill Gates@Xibalba", 0)]


async def test_a_guest_is_given_no_powers(tmp_path: Path) -> None:
    async with world(tmp_path, toml=NAMED) as board:
        with board.books() as desk:
            host_caller(desk, "Xibalba", "1", "Bill Gates")
        result = Shell(tmp_path / "sysop.toml")("callers", "grant", "Bill Gates@Xibalba")
        assert (result.status, result.output) == (2, "")
        assert result.error.startswith(
            "Bill Gates@Xibalba is a caller of Xibalba, whose sysop vouches for them"
        )
        assert powers_of(board) == [("Bill Gates@Xibalba", 0)]


# Given and taken by a command.


async def test_powers_are_given_and_taken_while_the_caller_is_on_line(tmp_path: Path) -> None:
    async with world(tmp_path, toml=NAMED) as board:
        ada = await visitor(board, "Ada")
        shell = Shell(tmp_path / "sysop.toml")
        result = shell("callers", "grant", "Ada")
        assert (result.status, result.error) == (0, "")
        assert result.output == "Ada, caller number 1, now has sysop powers.\n"
        await board.pass_time(LOOK_SECONDS + 1)
        await ada.sees("You have sysop powers now.")
        assert shell("callers", "revoke", "#1").output.startswith("Ada, caller number 1, ")
        await board.pass_time(LOOK_SECONDS + 1)
        await ada.sees("You no longer have sysop powers.")
        assert powers_of(board) == [("Ada", 0)]
        with board.books() as desk:
            log = desk.connection.exec_driver_sql("SELECT by, caller_id, what FROM sysop_log")
            assert [tuple(row) for row in log] == [
                ("jane (command line)", 1, "Ada, caller number 1, was given sysop powers"),
                ("jane (command line)", 1, "Ada, caller number 1, no longer has sysop powers"),
            ]


async def test_a_full_board_admits_callers_with_powers_and_a_name_is_not_enough(
    tmp_path: Path,
) -> None:
    toml = sysop_toml(nodes=1).replace("[board]", '[board]\nsysop = "Wanda"', 1)
    async with world(tmp_path, toml=toml) as board:
        await visitor(board, "Ada")
        wanda = known(board, "Wanda")
        await wanda.calls()
        await wanda.sees("Every node is busy.")
        Shell(tmp_path / "sysop.toml")("callers", "grant", "Wanda")
        again = Guest(board, "Wanda")
        await again.visits()
        assert "Node 2" in again.status


class Board(Shell):
    """A sysop at the shell of a board without a running server."""

    def __init__(self, folder: Path, *known: str) -> None:
        super().__init__(folder / "sysop.toml")
        self.config.write_text(NAMED, encoding="utf-8")
        self.database = folder / "data" / "board.sqlite3"
        # They registered before any name was written down.
        settings = replace(config.load(self.config).bank, co_sysops=())
        database = SqliteDatabase(settings.database)
        database.open()
        with database.transaction(settings, NOON) as desk:
            for name in known:
                callers.register(desk, name, "hash")
        database.close()

    def rows(self, query: str) -> list[tuple[object, ...]]:
        books = sqlite3.connect(self.database)
        rows = books.execute(query).fetchall()
        books.close()
        return rows


def test_a_caller_with_a_new_name_keeps_them(tmp_path: Path) -> None:
    shell = Board(tmp_path, "Ada", "Bob")
    shell("callers", "grant", "Ada")
    assert shell("callers", "rename", "Ada", "Countess").status == 0
    ada, bob = shell("callers", "list").output.splitlines()[2:0:-1]
    assert ada.startswith("Countess ")
    assert ada.endswith("the sysop's powers")
    assert "powers" not in bob


def test_the_number_of_a_deleted_caller_never_has_any_again(tmp_path: Path) -> None:
    shell = Board(tmp_path, "Ada", "Bob")
    shell("callers", "grant", "Bob")
    assert shell("callers", "delete", "Bob", "--yes").status == 0
    assert shell.rows("SELECT id, powers FROM callers") == [(1, 0), (2, 0)]
    assert shell("callers", "grant", "#2").error == "There is no caller number 2.\n"
    assert shell("callers", "rename", "Ada", "Bob").status == 0
    assert "powers" not in shell("callers", "list").output
    with pytest.raises(sqlite3.IntegrityError, match="powers"):
        shell.rows("UPDATE callers SET powers = 1 WHERE id = 2")


@pytest.mark.parametrize("command", ["grant", "revoke"])
@pytest.mark.parametrize("written", ["ann smith", "Ann  Smith", "ANN SMITH", " Ann Smith"])
def test_another_spelling_of_a_name_is_refused_with_a_reason(
    tmp_path: Path, command: str, written: str
) -> None:
    """Seen live: "ann smith" gave Ann Smith powers, against the guide."""
    shell = Board(tmp_path, "Ann Smith")
    if command == "revoke":
        shell("callers", "grant", "Ann Smith")
    before = shell.rows("SELECT powers FROM callers")
    result = shell("callers", command, written)
    assert (result.status, result.output) == (2, "")
    assert result.error == (
        f"Ann Smith, caller number 1, is spelled differently from {written}. If you"
        " mean this caller, use #1 instead of the name.\n"
    )
    assert shell.rows("SELECT powers FROM callers") == before
    assert shell("callers", command, "#1").status == 0


def test_a_name_that_looks_like_anothers_is_refused_with_a_reason(tmp_path: Path) -> None:
    shell = Board(tmp_path, "Ann Smith")
    result = shell("callers", "grant", "Ann Srnith")
    assert (result.status, result.output) == (2, "")
    assert result.error == ("There is no caller named Ann Srnith. Do you mean Ann Smith?\n")
    assert shell.rows("SELECT powers FROM callers") == [(0,)]


def test_a_name_that_is_only_read_alike_is_given_nothing(tmp_path: Path) -> None:
    """A caller who registered it before the name was in the settings is another person."""
    shell = Board(tmp_path, "BiII Gates")
    result = shell("callers", "grant", "Bill Gates")
    assert result.status == 2
    assert result.error == (
        "BiII Gates, caller number 1, only looks like Bill Gates. If you mean"
        " this caller, use #1 instead of the name.\n"
    )
    assert shell("callers", "password", "Bill Gates", "--stdin", typed="a secret\n").status == 2
    assert shell.rows("SELECT powers, password_hash FROM callers") == [(0, "hash")]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("grant", "Eve"), "There is no caller named Eve."),
        (("revoke", "#7"), "There is no caller number 7."),
        (("grant", "#99999999999999999999"), "There is no caller named #9999"),
        (("revoke", "Ada"), "Ada, caller number 1, has no sysop powers."),
        (("grant", "Bob"), "Bob, caller number 2, already has sysop powers."),
    ],
)
def test_powers_that_cannot_be_given_or_taken_are_refused_with_a_reason(
    tmp_path: Path, words: tuple[str, ...], sentence: str
) -> None:
    shell = Board(tmp_path, "Ada", "Bob")
    shell("callers", "grant", "Bob")
    result = shell("callers", *words)
    assert (result.status, result.output) == (2, "")
    assert result.error.startswith(sentence)


def test_the_shell_registers_callers_named_in_the_settings(tmp_path: Path) -> None:
    """The sysop gets powers; a co-sysop gets none, and the output names the command for them."""
    shell = Board(tmp_path)
    result = shell("callers", "password", "sysop", "--stdin", typed="a secret\n")
    assert result.output == ("Sysop is new: caller number 1, with sysop powers.\n")
    result = shell("callers", "password", "Bill Gates", "--stdin", typed="a secret\n")
    assert result.output.splitlines()[0] == (
        "Bill Gates is new: caller number 2, without sysop powers."
    )
    assert shell.rows("SELECT caller_id, what FROM sysop_log") == [
        (1, "Sysop, caller number 1, was entered, with the sysop's powers"),
        (2, "Bill Gates, caller number 2, was entered, without the sysop's powers"),
    ]
    assert shell.rows("SELECT caller_id, text FROM notices") == [(1, "You have sysop powers now.")]
    assert shell.rows("SELECT name, powers FROM callers") == [("Sysop", 1), ("Bill Gates", 0)]
    (command,) = re.findall(r"`door (.*)`", result.output)
    assert command.endswith("'Bill Gates'")
    assert shell("callers", "grant", "Bill Gates").status == 0
    assert shell.rows("SELECT powers FROM callers") == [(1,), (1,)]


def test_a_rename_may_use_a_reserved_name_but_no_look_alike(tmp_path: Path) -> None:
    shell = Board(tmp_path, "Ada")
    result = shell("callers", "rename", "Ada", "BiII Gates")
    assert (result.status, result.error) == (
        2,
        "The name BiII Gates looks too much like one that sysop.toml reserves.\n",
    )
    assert shell("callers", "rename", "Ada", "Bill Gates").status == 0
    assert shell.rows("SELECT powers FROM callers") == [(0,)]


# Messages.


def test_check_lists_callers_with_powers_and_the_command_to_type(tmp_path: Path) -> None:
    shell = Board(tmp_path, "Ada")
    output = shell("check").output
    assert "Sysop powers: nobody." in output
    asked = [line for line in output.splitlines() if line.startswith("[")]
    assert [line.partition(" names ")[0] for line in asked] == [
        "[board] sysop",
        "[timebank] co_sysops",
    ]
    here = f"--config {shell.config}"
    assert f"`door callers password {here} Sysop`" in asked[0]
    assert f"`door callers password {here} 'Bill Gates'`" in asked[1]
    assert f"`door callers grant {here} 'Bill Gates'`" in asked[1]
    for name in ("Sysop", "Bill Gates"):
        shell("callers", "password", name, "--stdin", typed="a secret\n")
    output = shell("check").output
    assert "Sysop powers: Sysop, caller number 2." in output
    (asked_still,) = [line for line in output.splitlines() if line.startswith("[")]
    assert "Bill Gates, caller number 3, which gives no powers" in asked_still
    shell("callers", "grant", "Bill Gates")
    output = shell("check").output
    assert "Sysop powers: Bill Gates, caller number 3, Sysop, caller number 2." in output
    assert "[timebank]" not in output


def test_check_reports_a_caller_with_a_look_alike_name(tmp_path: Path) -> None:
    output = Board(tmp_path, "BiII Gates")("check").output
    assert "who is not registered: BiII Gates, caller number 1, has a name that only" in output
    assert "grant" not in output


def test_check_before_the_first_start_asks_to_register_the_named_callers(
    tmp_path: Path,
) -> None:
    (tmp_path / "sysop.toml").write_text(NAMED, encoding="utf-8")
    output = Shell(tmp_path / "sysop.toml")("check").output
    assert "[timebank] co_sysops names Bill Gates, who is not registered" in output
    assert "[board] sysop names Sysop, who is not registered" in output
    (tmp_path / "sysop.toml").write_text(
        NAMED.replace("[board]", '[board]\nsysop = "Wanda"', 1), encoding="utf-8"
    )
    output = Shell(tmp_path / "sysop.toml")("check").output
    assert "[board] sysop names Wanda, who is not registered" in output
    assert not (tmp_path / "data").exists()


async def test_the_server_logs_open_tasks_at_its_start_and_after_a_reload(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "door.server")
    async with world(tmp_path, toml=NAMED) as board:
        assert caplog.messages == []  # a new board: `door init` has said what to do
        board.enter("Ada")
    async with world(tmp_path, toml=NAMED) as board:
        assert any("co_sysops names Bill Gates" in line for line in caplog.messages)
        caplog.clear()
        toml = NAMED.replace("Bill Gates", "Carl")
        (tmp_path / "sysop.toml").write_text(toml, encoding="utf-8")
        await board.server.tell_reload()
        assert any("co_sysops names Carl" in line for line in caplog.messages)
