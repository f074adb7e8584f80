"""Open ports at a reload: which settings apply, and the messages."""

from __future__ import annotations

from pathlib import Path

import pytest

from door.config import config as settings
from door.config.listeners import DOORS_ALONE
from door.games.registry import GAMES
from door.server.server import _announcement
from tests.door.reading import read_again
from tests.door.seated import over_at_once, shoe
from tests.door.strangers import VILLAIN, Stranger, defended, refusals
from tests.door.vegas_callers import AT_TABLE, table_toml, vegas_callers
from tests.door.visiting import MENU, sysop_toml, visitor
from tests.world import world

AT_THE_NEXT_START = "a new data folder or new listeners count from the next start on"


async def test_a_new_front_end_is_spared_no_limit_before_its_port_knows_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    toml = defended(calls_per_address=1)
    async with world(tmp_path, toml=toml) as board:
        with_front_end = toml.replace("[[listeners]]", f'[[listeners]]\nproxies = ["{VILLAIN}"]')
        for times in (1, 2):  # repeated until it is done
            read_again(board, with_front_end)
            assert caplog.text.count(AT_THE_NEXT_START) == times
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
        assert board.server.board.config.board.data == before
        assert not (tmp_path / "elsewhere").exists()


async def test_another_database_is_not_gone_to_before_the_next_start(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with world(tmp_path) as board:
        toml = (tmp_path / "sysop.toml").read_text(encoding="utf-8")
        head = "[timebank]\n"
        assert head not in toml
        read_again(board, f'{toml}\n{head}database = "postgresql://db.example.org/books"\n')
        assert board.server.board.config.bank.server is None
        assert "a new database counts from the next start on" in caplog.text


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
