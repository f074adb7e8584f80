"""A caller's settings on the smallest painted screen: every setting and every key is seen."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from door.session.settings import LABELS
from tests.door.visiting import Guest
from tests.terminal import MODERN
from tests.world import BOARD, LOOKS, world
from timebank.callers import callers
from timebank.language import LANGUAGES, Viewer, _, speaking_to

WITH_ALL = f'{BOARD}\n[[listeners]]\nkind = "ssh"\nhost = "127.0.0.1"\nport = 0\n'
WITH_ALL += "[fairness]\nshoes_ahead = 8\n"


@pytest.mark.parametrize("language", LANGUAGES)
async def test_all_settings_and_keys_are_seen_on_a_narrow_screen(
    tmp_path: Path, language: str
) -> None:
    async with world(tmp_path, toml=WITH_ALL) as board:
        board.enter("Ada")
        with board.books() as desk:
            number = callers.number_of(desk, "Ada")
            callers.set_preferences(desk, number, {"looks": LOOKS, "language": language})
        ada = Guest(board, "Ada")
        await ada.calls(replace(MODERN, columns=40, rows=22))
        with speaking_to(Viewer(language)):
            await ada.presses(" ").sees("<G>")
            await ada.presses("y").sees(_("A letter above, or"))
            for key in LABELS:
                letter = any(f"<{each}>" in ada.screen for each in (key, key.lower()))
                assert letter, (key, ada.terminal.picture)
            assert "SSH" in ada.terminal.picture
