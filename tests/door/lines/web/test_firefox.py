"""The page in Debian's Firefox: what Chromium does in `test_browser.py`, in short."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.door.lines.web.firefox import CONTROL, ENTER, firefox
from tests.door.page import WEB
from tests.door.playing import hand
from tests.world import PASSWORD, world

pytestmark = pytest.mark.long

FILLS = """text => {
    const field = document.getElementById("text");
    field.value = text;
    return [field.autocomplete, field.type, document.documentElement.lang].join(" ");
}"""
COPIES = "async text => { await navigator.clipboard.writeText(text); }"
# As after an address bar that took a part of the screen.
FITS = """() => {
    const buttons = [...document.querySelectorAll("#keys button")];
    const isWhole = (each) => each.scrollWidth <= each.clientWidth
        && each.scrollHeight <= each.clientHeight;
    const pad = document.getElementById("pad").getBoundingClientRect();
    return buttons.length > 4 && buttons.every(isWhole) && pad.height < 0.4 * innerHeight;
}"""
STORED = "() => JSON.stringify([Object.keys(sessionStorage), Object.keys(localStorage)])"


async def test_a_hand_is_played_by_touch_and_survives_a_reload(tmp_path: Path) -> None:
    async with world(tmp_path, toml=WEB) as board, firefox(tmp_path) as ada:
        board.enter("Ada")
        await ada.opens(f"http://127.0.0.1:{board.server.ports[1]}/", 360, 560)
        await ada.sees("Name:")
        assert await ada.evaluates(FILLS, "Ada") == "username text en"
        await ada.taps("Send")
        await ada.sees("Password:")
        assert await ada.evaluates(FILLS, PASSWORD) == "current-password password en"
        await ada.taps("Send")
        await ada.taps("Enter")
        await ada.sees("<G>oodbye")
        board.seeds = [hand("hit")]
        await ada.taps("B")
        await ada.sees("<B>et")
        assert await ada.evaluates(FITS)
        await ada.taps("B")
        await ada.sees("Coins")
        await ada.taps("2")
        await ada.sees("<H>it")
        await ada.reloads()
        await ada.sees("The hand you left is still on the")
        assert json.loads(await ada.evaluates(STORED)) == [["ticket /"], []]
        await ada.taps("S")
        await ada.sees("<B>et")
        await ada.taps("Keys")
        assert json.loads(await ada.evaluates(STORED)) == [["ticket /"], ["keys"]]


async def test_a_paste_fills_a_field_in_french(tmp_path: Path) -> None:
    accepted = {"intl.accept_languages": "de, fr-CA, en", "ui.primaryPointerCapabilities": 6}
    async with world(tmp_path, toml=WEB) as board, firefox(tmp_path, **accepted) as ada:
        board.enter("Ada")
        await ada.opens(f"http://127.0.0.1:{board.server.ports[1]}/", 1280, 800)
        await ada.sees("Nom :")
        await ada.evaluates(COPIES, "Ada\nBob\n")
        await ada.types("v", held=CONTROL)
        await ada.sees("Nom : Ada Bob")
        await ada.types(*("\ue003" * 4), ENTER)
        await ada.sees("Mot de passe :")
