"""The import watch: files that other programs write are taken over by the running board."""

import asyncio
import logging
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path

from door.server.leadership import LOOK_SECONDS
from tests.door.visiting import MINUTE, sysop_toml, visitor
from tests.world import World, world

SECONDS = 30
WATCHED = sysop_toml(
    events="", timebank=f'import = ["RATS.EXT"]\nimport_seconds = {SECONDS}\nknown_days = 0'
)


def writes(folder: Path, *lines: str, name: str = "RATS.EXT") -> None:
    """Write lines as another program does: at the end of the file, whole."""
    with (folder / name).open("ab") as file:
        file.write("".join(f"{line}\r\n" for line in lines).encode("cp437"))


class Watch(logging.Handler):
    """The log of the board's imports, and the end of each round."""

    def __init__(self, board: World) -> None:
        super().__init__()
        self.board = board
        self.said: list[str] = []
        # Files are read outside the loop; with one thread the last job ends last.
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))

    def emit(self, record: logging.LogRecord) -> None:
        self.said.append(record.getMessage())

    async def looks(self) -> None:
        """Let the time of one look at the files pass and wait for its end."""
        await self.board.pass_time(SECONDS)
        await asyncio.to_thread(self.said.copy)
        await self.board.settled()

    def says(self, text: str) -> bool:
        return self.count(text) == 1

    def count(self, text: str) -> int:
        return sum(text in line for line in self.said)


@asynccontextmanager
async def watched(folder: Path, toml: str = WATCHED) -> AsyncIterator[tuple[World, Watch]]:
    """Open a board, and listen to its log."""
    log = logging.getLogger("door.housekeeping")
    async with world(folder, toml=toml) as board:
        watch = Watch(board)
        log.addHandler(watch)
        try:
            yield board, watch
        finally:
            log.removeHandler(watch)


async def test_an_imported_deposit_is_announced_to_its_receiver(tmp_path: Path) -> None:
    async with watched(tmp_path) as (board, watch):
        bob = await visitor(board, "Bob")
        writes(tmp_path, "BOB;20;RATS Casino;2026-11-20 11:59")
        await watch.looks()
        assert watch.says("1 record applied; 20 minutes came in, 0 seconds went out."), watch.said
        await board.pass_time(LOOK_SECONDS + 1)
        await bob.sees("20 minutes")
        await bob.sees("RATS Casino")
        await bob.terminal.wait_for(lambda _: "Bank 20:00" in bob.status, "the status line")
        assert bob.has["bank"] == 20 * MINUTE
        assert not (tmp_path / "RATS.EXT").exists()
        assert (tmp_path / "RATS.EXT.1.BAK").read_bytes().startswith(b"BOB;20")


async def test_a_problem_is_logged_when_it_is_new_not_at_every_round(tmp_path: Path) -> None:
    async with watched(tmp_path) as (board, watch):
        board.enter("Bob")
        (tmp_path / "RATS.EXT").mkdir()
        await watch.looks()
        assert watch.says("RATS.EXT is not read: it is not a file."), watch.said
        for _ in range(3):
            await watch.looks()
        assert len(watch.said) == 1, watch.said
        (tmp_path / "RATS.EXT").rmdir()
        writes(tmp_path, "Bob;5;RATS Casino;2026-11-20 11:59")
        await watch.looks()
        assert watch.says("1 record applied"), watch.said


async def test_a_file_that_the_sysop_names_later_is_watched_from_then_on(tmp_path: Path) -> None:
    async with watched(tmp_path) as (board, watch):
        board.enter("Bob")
        writes(tmp_path, "Bob;5;Other Game;2026-11-20 11:59", name="OTHER.EXT")
        await watch.looks()
        assert board.balances("Bob")["bank"] == 0
        (tmp_path / "sysop.toml").write_text(
            WATCHED.replace('"RATS.EXT"', '"RATS.EXT", "OTHER.EXT"'), encoding="utf-8"
        )
        board.server.reload()
        await watch.looks()
        assert watch.says("OTHER.EXT: 1 record applied"), watch.said
        assert board.balances("Bob")["bank"] == 5 * MINUTE
