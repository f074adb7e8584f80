"""Guests see no name prompt: if their terminal names no language, the tour's page offers one."""

from pathlib import Path

from tests.door.riding import Rider
from tests.door.visiting import sysop_toml
from tests.world import world

DOORS = f'{sysop_toml()}[boards.Xibalba]\naliases = ["Synchronet"]\n'


async def test_a_guest_is_offered_it_on_the_first_visit(tmp_path: Path) -> None:
    async with world(tmp_path, toml=DOORS) as board:
        moth = Rider(board)
        await moth.comes_in()
        await moth.terminal.until("<*> Français")
        await moth.terminal.send("*").until("Une visite d'une minute")
        await moth.hangs_up()
