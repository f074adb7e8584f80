"""A board as the sysop runs it: `door serve` as a process of its own, over the system's clock."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
from asyncio.subprocess import Process
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

from click.testing import CliRunner

import door.cli.main
import timebank.cli.main
from tests.clock import FakeClock
from tests.door import dealt, forked
from tests.door.playing import PLACE_BET, Table
from tests.terminal import MODERN, PATIENCE, Profile, Terminal
from tests.world import BOARD, World, log_on
from timebank.ledger.database import BUSY_SECONDS
from timebank.ledger.engines import books_of

NEWS, MENU, INSURANCE, HIT = "Press any key", "oodbye", "Insurance for", "<H>it"


# No event may come during the tests, at any hour; and hands are dealt from the named seeds.
OPEN_ALL_DAY = f"events = []\n{BOARD}"


class Served(World):
    """A board served by another process; this one reads the same books."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, FakeClock(datetime.now(UTC)), BUSY_SECONDS)
        self.database = books_of(self.config.bank)
        self.database.open()
        self.process: Process
        self.port = 0
        self.said: list[str] = []  # lines of the log
        self._reader: asyncio.Task[None]
        self._news = asyncio.Event()

    async def serve(self) -> None:
        """Start the process and wait until it prints its port."""
        self.process = await asyncio.create_subprocess_exec(
            *self.program(),
            *self.words(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert self.process.stdout is not None
        self._reader = asyncio.create_task(self._read_log())
        async with asyncio.timeout(PATIENCE):
            while self.port == 0:
                line = (await self.process.stdout.readline()).decode()
                assert line, f"the server said no port: {self.said}"
                match = re.search(r"port (\d+)\.$", line)
                self.port = int(match[1]) if match else 0

    def program(self) -> tuple[str, ...]:
        """The command `door`."""
        return forked_door(self.folder)

    def words(self) -> tuple[str, ...]:
        """The arguments of the command."""
        return ("serve", "--verbose", "--config", str(self.config.path))

    async def ends(self) -> int:
        """Wait until the process has ended, as it must within ten seconds; return its status."""
        async with asyncio.timeout(PATIENCE):
            status = await self.process.wait()
        await self._reader
        self.port = 0
        assert not any("Traceback" in line for line in self.said), "\n".join(self.said)
        return status

    async def logs(self, text: str, lines: int = 1) -> None:
        """Wait until so many lines of the log hold `text`."""
        async with asyncio.timeout(PATIENCE):
            while sum(text in line for line in self.said) < lines:
                self._news.clear()
                await self._news.wait()

    async def close(self) -> None:
        for terminal in self.terminals:
            await terminal.close()
        if self.port:
            self.process.terminate()
            assert await self.ends() == 0
        self.database.close()

    async def call(self, profile: Profile = MODERN) -> Terminal:
        terminal = Terminal(profile)
        await terminal.connect(self.port)
        self.terminals.append(terminal)
        return terminal

    async def _read_log(self) -> None:
        assert self.process.stderr is not None
        async for line in self.process.stderr:
            self.said.append(line.decode())
            self._news.set()


@asynccontextmanager
async def served(folder: Path, *, toml: str = OPEN_ALL_DAY) -> AsyncIterator[Served]:
    """Serve a board in `folder`; at the end its server ends in peace, its books in order."""
    (folder / "sysop.toml").write_text(toml, encoding="utf-8")
    board = Served(folder)
    try:
        await board.serve()
        yield board
    finally:
        await board.close()
    audits_are_clean(board)


def audits_are_clean(board: Served) -> None:
    """Run the audits of both commands."""
    for audit in (door.cli.main.main, timebank.cli.main.main):
        result = CliRunner().invoke(audit, ["audit", "--config", str(board.config.path)])
        assert (result.exit_code, result.stderr) == (0, ""), result.output


def dealt_door(folder: Path) -> tuple[str, ...]:
    """The command `door` for the next process of a test in `folder`, with shuffles of its own."""
    return (sys.executable, dealt.__file__, *_stream(folder))


def forked_door(folder: Path, terminal: int | None = None) -> tuple[str, ...]:
    """The same as a fork, on a terminal of its own if one is given: see `forked`."""
    return forked.command(*_stream(folder), terminal=terminal)


def _stream(folder: Path) -> tuple[str, str]:
    test = os.environ["PYTEST_CURRENT_TEST"].partition(" ")[0]
    return test, str(next(_processes[folder]))


_processes: defaultdict[Path, count[int]] = defaultdict(count)


def command(name: str) -> Path:
    """The installed command of this name."""
    return Path(sys.executable).with_name(name)


async def sit_down(board: Served, name: str) -> Table:
    """Call as a registered caller and sit down at an empty table."""
    table = Table(board, await board.call(), name)
    await log_on(table.terminal, name)
    assert await arrives(table) == MENU
    table.terminal.send("b")
    await table.prompt(PLACE_BET)
    return table


async def arrives(table: Table) -> str:
    """Read any news and return the next prompt: menu or hand."""
    if await question(table, NEWS, MENU) == NEWS:
        table.terminal.send(" ")
        await table.terminal.wait_for(lambda _: NEWS not in table.prompt_row, "the next question")
    return await question(table, MENU)


async def open_a_hand(table: Table, coins: int = 1) -> None:
    """Bet until a hand is in play; some hands end with the deal."""
    in_play = False
    while not in_play:
        await table.asks_to_bet()
        table.terminal.send(f"{coins}\r")
        in_play = await question(table) != PLACE_BET


async def question(table: Table, *others: str) -> str:
    """Wait for the next question of the table or of `others`; return it."""
    asked = (PLACE_BET, INSURANCE, HIT, *others)
    await table.terminal.wait_for(
        lambda _: any(words in table.prompt_row for words in asked), "a question"
    )
    return next(words for words in asked if words in table.prompt_row)


async def stand(table: Table) -> None:
    """Decline insurance and stay, whatever the cards."""
    if await question(table) == INSURANCE:
        table.terminal.send("n")
        await table.terminal.wait_for(lambda _: INSURANCE not in table.prompt_row, "the hand")
    if await question(table) == HIT:
        table.terminal.send("s")
        await table.prompt(PLACE_BET)
