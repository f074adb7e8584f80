"""The daily bulletin: in the texts folder, and in the lobby."""

from pathlib import Path

from ansi import art
from tests.terminal import REFUSING
from tests.world import register, seed_of, world


def natural(deal) -> bool:
    return deal.over and deal.outcomes[0] == "natural"


async def test_yesterdays_winner_stands_in_the_bulletin_of_today(tmp_path: Path) -> None:
    async with world(tmp_path) as board:
        board.seeds = [seed_of(natural)]
        caller = await board.call()
        await register(caller, "Alice")
        caller.send("b")
        await caller.until("lace Bet")
        caller.send("p5")
        await caller.until("Coins to bet")
        caller.send("\r")
        await caller.until("10:00")
        caller.send("q")
        await caller.until("ood-bye")
        caller.send("gy")
        await caller.until_closed()
        texts = tmp_path / "texts"
        assert "no hand was played" in (texts / "bulletin.asc").read_text("cp437")
        await board.clock.advance(12 * 3600)
        reader = await board.call(REFUSING)
        await register(reader, "Bob")
        written = (texts / "bulletin.asc").read_text("cp437")
        assert "Friday 20 November 2026" in written
        assert "1 Alice                       10:00" in written
        assert "1 hand                     -10:00" in written
        picture = art.read((texts / "bulletin.ans").read_bytes())
        assert picture.sauce is not None
        assert picture.sauce.title == "Bulletin of 2026-11-20"
        reader.send("n")
        await reader.until("Winners of the day")
        assert "1 Alice                       10:00" in reader.heard


async def test_no_row_of_the_bulletin_is_wider_than_a_screen(tmp_path: Path) -> None:
    async with world(tmp_path):
        rows = (tmp_path / "texts" / "bulletin.asc").read_text("cp437").splitlines()
        assert max(map(len, rows)) <= 78


async def test_a_texts_folder_that_cannot_be_written_stops_nobody(tmp_path: Path) -> None:
    (tmp_path / "texts").write_text("a file, not a folder")
    async with world(tmp_path) as board:
        caller = await board.call()
        await register(caller, "Alice")
