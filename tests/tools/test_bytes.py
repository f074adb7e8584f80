"""The bytes of a hand and of a second on each terminal, as docs/terminals.md says them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from door.call import screen
from tests import ROOT
from tests.terminal import PATIENCE, Terminal
from tests.world import World, log_on, world
from tools.gallery.seeds import hand
from tools.gallery.terminals import TERMINALS

# The terminal of each row of the table.
ROWS = {
    "80x24, UTF-8": "80x24-utf8",
    "80x24, CP437": "80x24-cp437",
    "80x24, plain letters without colours": "80x24-ascii",
    "132x50, UTF-8": "132x50-utf8",
    "40x25, CP437": "40x25-cp437",
    "40x25, PETSCII": "40x25-petscii",
    "40x24, ATASCII": "40x24-atascii",
    "plain lines": "lines",
}
MARGIN = 0.1
SECONDS = 4
_ROW = re.compile(r"^\| ([^|]+) \| ([\d,]+) \| (\d+)(?: to (\d+))? \|$", re.MULTILINE)


def said() -> dict[str, tuple[int, int, int]]:
    """Return the bytes of a hand, and the least and the most of a second, by row."""
    text = (ROOT / "docs" / "terminals.md").read_text("utf-8")
    return {
        name: (int(whole.replace(",", "")), int(least), int(most or least))
        for name, whole, least, most in _ROW.findall(text)
    }


async def bytes_of_a_second(board: World, terminal: Terminal, left: int, *, scrolls: bool) -> float:
    """Let the clock go on from 59:`left`, and return the bytes of one second."""
    before = len(terminal.wire)
    for now in range(left - 1, left - 1 - SECONDS, -1):
        await board.pass_time(1)
        if not scrolls:
            await terminal.until(f"59:{now}")
    return (len(terminal.wire) - before) / SECONDS


async def bytes_of_a_hand(board: World, terminal: Terminal) -> int:
    before = len(terminal.wire)
    for key, answer in (("b", "Coins"), ("5\r", "tand"), ("h", "soft 20"), ("s", "Enter)")):
        await terminal.send(key).until(answer)
        await board.at_rest()
    return len(terminal.wire) - before


@pytest.mark.parametrize("row", ROWS)
async def test_the_table_of_bytes_is_true(
    row: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(screen, "ECHO_SECONDS", PATIENCE)  # no echo alone on a loaded machine
    profile, looks = TERMINALS[ROWS[row]]
    whole, least, most = said()[row]
    scrolls = row == "plain lines"
    async with world(tmp_path) as board:
        board.enter("Ada", saved=3600, looks=looks)
        board.seeds = [hand("hit", "stay", ends="win")] * 2
        terminal = await board.call(profile)
        await log_on(terminal, "Ada")
        await terminal.until("Press any key")
        await terminal.send(" ").until("oodbye")
        await board.pass_time(1)
        seconds = [await bytes_of_a_second(board, terminal, 59, scrolls=scrolls)]
        await terminal.send("b").until("Enter)")
        await board.at_rest()
        seconds.append(await bytes_of_a_second(board, terminal, 59 - SECONDS, scrolls=scrolls))
        await bytes_of_a_hand(board, terminal)
        assert await bytes_of_a_hand(board, terminal) == pytest.approx(whole, rel=MARGIN)
        assert sorted(seconds) == pytest.approx([least, most], rel=MARGIN, abs=1)
