"""Open ports at a reload: which settings apply, and the messages."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from pathlib import Path

import pytest

from door.config import config as settings
from door.config import reloading
from door.config.editing import differences
from door.config.listeners import DOORS_ALONE
from door.config.reloading import keep_until_restart, needs_restart
from door.games.registry import GAMES
from door.server.server import _announcement
from tests.door.reading import read_again
from tests.door.seated import over_at_once, shoe
from tests.door.shell import CommandResult, Shell
from tests.door.strangers import VILLAIN, Stranger, defended, refusals
from tests.door.vegas_callers import AT_TABLE, table_toml, vegas_callers
from tests.door.visiting import MENU, sysop_toml, visitor
from tests.world import World, world

TOML = sysop_toml(events="")
# Every key that a running server keeps.
KEPT = """
[board]
data = "elsewhere"
data_mode = "0750"
[[listeners]]
kind = "rlogin"
[server]
loop = "asyncio"
log_format = "json"
name = "north"
health = "127.0.0.1:9523"
[pages]
serve = true
port = 8100
[metrics]
allow = ["192.0.2.7"]
[timebank]
database = "postgresql://db.example.org/books"
database_password_file = "password"
"""


async def reload(board: World, toml: str) -> CommandResult:
    """Change the settings and type `door reload`, while the board runs."""
    board.config.path.write_text(toml, encoding="utf-8")
    result = await asyncio.to_thread(Shell(board.config.path), "reload")
    # This board's sysop has never called, as the answer's last line says.
    return replace(result, output=result.output.partition("[board] sysop names Sysop")[0])


def loaded(folder: Path, toml: str) -> settings.Config:
    path = folder / "sysop.toml"
    path.write_text(toml, encoding="utf-8")
    return settings.load(path)


def test_a_running_server_keeps_what_waits_for_a_restart_and_nothing_else(tmp_path: Path) -> None:
    old, new = loaded(tmp_path, ""), loaded(tmp_path, KEPT)
    assert keep_until_restart(old, new) == old
    changed = {name for name, *_ in differences("", KEPT, tmp_path / "sysop.toml")}
    assert all(map(needs_restart, changed))
    assert changed >= set(reloading.UNTIL_RESTART) - {"listeners", "pages", "metrics"}
    other = loaded(tmp_path, "[server]\nstart_for_doors_minutes = 3\n[calls]\nnodes = 2\n")
    assert keep_until_restart(old, other) == other


async def test_reload_answers_with_what_changed_and_logs_the_same(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with world(tmp_path, toml=TOML) as board:
        caplog.set_level(logging.WARNING)
        new = TOML.replace("[calls]", "[calls]\nnodes = 3").replace("port = 0", "port = 2424")
        new += '\n[boards.Xibalba]\nminutes = 40\n[games.vegas]\nrules = "casino"\n'
        result = await reload(board, new)
        path = board.config.path
        assert result == CommandResult(
            0,
            f"{path} was read again: new calls go by it.\n"
            "calls.nodes is 3 now, was 16.\n"
            'games.vegas.rules is "casino" now, was "1991".\n'
            'games.vegas.dealer is "hit soft 17" now, was "stand 17".\n'
            'games.vegas.split_aces is "one card" now, was "play on".\n'
            "boards.Xibalba is new.\n"
            "listeners.1.port is 2424 after a restart, and 0 until then.\n",
            "",
        )
        assert [line for line in result.output.splitlines() if line not in caplog.messages] == []
        assert any(words.endswith(" has the settings read again") for words in caplog.messages)
        assert board.server.board.config.calls.nodes == 3
        again = await reload(board, new)
        assert again.output.splitlines() == [
            f"{path} was read again: nothing has changed for new calls.",
            "listeners.1.port is 2424 after a restart, and 0 until then.",
        ]
        back = await reload(board, TOML.replace("[calls]", "[calls]\nnodes = 3"))
        assert back.output.splitlines()[0] == f"{path} was read again: new calls go by it."
        assert "boards.Xibalba is gone." in back.output
        same = await reload(board, TOML.replace("[calls]", "[calls]\nnodes = 3"))
        assert same.output == f"{path} was read again: nothing has changed for new calls.\n"


async def test_a_wrong_file_changes_nothing_and_every_mistake_is_answered(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with world(tmp_path, toml=TOML) as board:
        wrong = f"{TOML}\n[company]\nmessages = 1\n".replace("[calls]", "[calls]\nnodes = 0")
        result = await reload(board, wrong)
        path = board.config.path
        lines = wrong.splitlines()
        nodes, messages = (lines.index(each) + 1 for each in ("nodes = 0", "messages = 1"))
        mistakes = (
            f"{path}, line {nodes}: [calls] nodes: must be a whole number from 1 to 9999, is 0.\n"
            f"{path}, line {messages}: [company] messages: must be true or false, is 1."
        )
        assert result == CommandResult(2, "", f"The old settings stay in force:\n{mistakes}\n")
        assert f"{path} is wrong, the old settings stay in force:\n{mistakes}" in caplog.messages
        assert board.server.board.config.calls.nodes == 16


async def test_a_reload_names_a_table_that_nobody_can_bet_at(tmp_path: Path) -> None:
    async with world(tmp_path, toml=TOML) as board:
        result = await reload(board, f"{TOML}\n[games.red-dog]\ncoin_minutes = 60\n")
        assert "\nNobody can bet time at Red Dog: " in result.output


async def test_a_new_front_end_is_spared_no_limit_before_its_port_knows_it(
    tmp_path: Path,
) -> None:
    toml = defended(calls_per_address=1)
    async with world(tmp_path, toml=toml) as board:
        with_front_end = toml.replace("[[listeners]]", f'[[listeners]]\nproxies = ["{VILLAIN}"]')
        for _ in range(2):  # repeated until it is done
            answer = (await reload(board, with_front_end)).output
            assert f'listeners.1.proxies is ["{VILLAIN}"] after a restart' in answer
        villain = Stranger(board, "", VILLAIN)
        await villain.connects()
        await villain.is_asked("Name:")
        await villain.connects()
        await villain.is_told("Too many calls from your address.")
        assert refusals(board) == [f"refused {VILLAIN}: too many calls at once"]


async def test_another_data_folder_is_not_written_into_before_the_next_start(
    tmp_path: Path,
) -> None:
    async with world(tmp_path) as board:
        before = board.server.board.config.board.data
        toml = (tmp_path / "sysop.toml").read_text(encoding="utf-8")
        read_again(board, toml.replace("[board]", '[board]\ndata = "elsewhere"'))
        config = board.server.board.config
        assert config.board.data == before
        assert not (tmp_path / "elsewhere").exists()
        # A server that looks for its lock elsewhere gives the lock of its books up.
        assert (config.database.parent, Path(config.bank.lock).parent) == (before, before)


async def test_another_database_is_not_gone_to_before_the_next_start(tmp_path: Path) -> None:
    async with world(tmp_path) as board:
        toml = (tmp_path / "sysop.toml").read_text(encoding="utf-8")
        head = "[timebank]\n"
        assert head not in toml
        place = '"postgresql://db.example.org/books"'
        answer = (await reload(board, f"{toml}\n{head}database = {place}\n")).output
        assert board.server.board.config.bank.server is None
        assert f'timebank.database is {place} after a restart, and "" until then.' in answer


async def test_the_menu_and_the_table_go_by_the_settings_of_the_call(tmp_path: Path) -> None:
    turns = "[games.black-jack-for-time]\nturns_per_day = {}\ncoin_minutes = {}\n"
    async with world(tmp_path, toml=sysop_toml(events="") + turns.format(20, 1)) as board:
        ada = await visitor(board, "Ada")
        read_again(board, sysop_toml(events="") + turns.format(2, 5))
        await ada.sits_down()
        await ada.bets(1, "stay", ends="lose")
        await ada.stays()
        assert "1 of 20" in ada.screen
        await ada.presses("q").is_asked(MENU)
        assert "19 turns left today" in ada.screen
        bob = await visitor(board, "Bob")
        await bob.sees("2 turns left today")


async def test_enter_in_the_menu_leads_to_vegas_by_the_settings_of_now(tmp_path: Path) -> None:
    """Its table is shared, so the same settings apply to all callers."""
    closed = "".join(f"[games.{name}]\nopen = false\n" for name in GAMES if name != "vegas")
    toml = table_toml(turns_per_day=1) + closed
    async with vegas_callers(tmp_path, "Ada", seed=shoe(1, over_at_once), toml=toml) as (ada,):
        await ada.says_bet(1)
        await ada.is_asked(AT_TABLE)
        read_again(ada.board, table_toml(turns_per_day=0) + closed)
        await ada.board.at_rest()  # servers agree on it
        await ada.gets_up()
        assert "1 turn today" in ada.screen
        assert "<V> Vegas (Enter)" in ada.screen
        assert "No turns left" not in ada.screen


def test_a_port_for_front_ends_is_not_published(tmp_path: Path) -> None:
    ports = "".join(
        f'[[listeners]]\nkind = "telnet"\nport = {port}\n{more}\n'
        for port, more in ((2323, 'proxies = ["127.0.0.1"]'), (2324, ""))
    )
    file = tmp_path / "sysop.toml"
    file.write_text(ports, encoding="utf-8")
    announcement = "\n".join(_announcement(settings.load(file), [2323, 2324], is_trial=False))
    assert "Call it with:  telnet localhost 2324" in announcement
    assert "localhost 2323" not in announcement


def test_a_board_for_browsers_says_how_to_call_it_from_its_machine(tmp_path: Path) -> None:
    file = tmp_path / "sysop.toml"
    file.write_text(
        '[[listeners]]\nkind = "web"\nforwarded = ["127.0.0.1"]\n'
        '[[listeners]]\nkind = "web"\nport = 8024\n',
        encoding="utf-8",
    )
    announcement = _announcement(settings.load(file), [8023, 8024], is_trial=False)
    assert "Call it with:  http://localhost:8024 in a browser" in announcement


def test_a_board_without_listeners_says_that_it_is_for_doors(tmp_path: Path) -> None:
    file = tmp_path / "sysop.toml"
    file.write_text("listeners = []\n", encoding="utf-8")
    announcement = _announcement(settings.load(file), [], is_trial=False)
    assert announcement[:2] == ["Black Jack For Time is open.", DOORS_ALONE]
    assert not any("Call it with" in line for line in announcement)
