"""Callers who saw no name prompt, and whose terminal names no language, are offered one once."""

from dataclasses import replace
from pathlib import Path

from tests.door.by_ssh import BY_SSH, LISTENER, by_ssh
from tests.door.riding import Rider
from tests.door.visiting import sysop_toml
from tests.terminal import Terminal
from tests.world import World, world

SSH = f"{sysop_toml()}{LISTENER}"
DOORS = f'{sysop_toml()}[boards.Xibalba]\naliases = ["Synchronet"]\n'
OFFER = "<*> Français"
WITHOUT_LANG = replace(BY_SSH, environment={})


async def calls_the_next_day(board: World, ada: Terminal) -> Terminal:
    """Lose the line, and call again from a terminal that names no language."""
    assert "<*>" not in ada.picture
    ada.abort()
    for caller in board.server.board.callers():
        await caller.ended.wait()
    await board.at_rest()
    board.clock.suspend(24 * 3600)
    return await by_ssh(board, "Ada", WITHOUT_LANG)


async def test_an_ssh_caller_chooses_a_language_with_one_key(tmp_path: Path) -> None:
    async with world(tmp_path, toml=SSH) as board:
        board.enter("Ada")
        ada = await by_ssh(board, "Ada", WITHOUT_LANG)
        await ada.until(OFFER)
        await ada.send("*").until("<*> English")
        assert "Vos minutes" in ada.picture
        await ada.send(" ").until("Au revoir")
        ada = await calls_the_next_day(board, ada)
        await ada.until("Appuyez sur une touche")
        assert "<*>" not in ada.picture


async def test_an_ssh_caller_who_keeps_the_language_is_not_asked_again(tmp_path: Path) -> None:
    async with world(tmp_path, toml=SSH) as board:
        board.enter("Ada")
        ada = await by_ssh(board, "Ada", WITHOUT_LANG)
        await ada.until(OFFER)
        await ada.send(" ").until("<G>oodbye")
        ada = await calls_the_next_day(board, ada)
        await ada.until("Press any key")
        assert "<*>" not in ada.picture


async def test_a_caller_of_before_is_offered_it_with_the_news(tmp_path: Path) -> None:
    async with world(tmp_path, toml=SSH) as board:
        board.enter("Ada")
        ada = await by_ssh(board, "Ada", replace(BY_SSH, environment={"LANG": "en_GB"}))
        await ada.until("Press any key")
        assert "<*>" not in ada.picture
        await ada.send(" ").until("<G>oodbye")
        ada = await calls_the_next_day(board, ada)
        await ada.until(OFFER)
        await ada.send("*").until("Vos minutes")
        await ada.send(" ").until("Au revoir")


async def test_a_guest_is_offered_it_on_the_first_visit(tmp_path: Path) -> None:
    async with world(tmp_path, toml=DOORS) as board:
        moth = Rider(board)
        await moth.comes_in()
        await moth.terminal.until(OFFER)
        await moth.terminal.send("*").until("Une visite guidée")
        await moth.hangs_up()
