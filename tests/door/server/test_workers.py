"""`door serve --workers`: several servers on the same ports, and the parent that keeps them."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from door.cli.main import main
from door.config import config as settings
from door.lines.port.listener import reserve
from door.server import workers
from door.server.health import SERVES
from door.server.standing import Standings
from door.server.workers import MISSED_BEATS, Worker, Workers, _Child
from tests.door.playing import Table
from tests.door.processes import OPEN_ALL_DAY, Served, arrives, audits_are_clean, forked_door
from tests.terminal import PATIENCE
from tests.world import log_on
from timebank.calls.calls import open_calls

pytestmark = pytest.mark.long

# Enough that the system does not give one process the calls of all.
NAMES = [f"Guest {letter}" for letter in "abcdefghijklmnopqrstuvwxyz"]


class Working(Served):
    """A board that several processes serve."""

    workers = 2

    def words(self) -> tuple[str, ...]:
        return (*super().words(), "--workers", str(self.workers))

    def children(self) -> list[int]:
        text = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        return [int(number) for number in text.split()]

    def at_work(self) -> set[int]:
        """The processes that have said that they serve."""
        said = re.findall(r"server \d serves, process (\d+)", "".join(self.said))
        return {int(process) for process in said}

    async def until_there_work(self, count: int) -> None:
        """Wait until so many processes have ever served."""
        async with asyncio.timeout(PATIENCE):
            while len(self.at_work()) < count:
                self._news.clear()
                await self._news.wait()

    def process_of(self, name: str) -> int:
        """The process that a caller is on."""
        with self.books() as desk:
            (process,) = [call.process for call in open_calls(desk) if call.name == name]
        return int(process.rpartition(":")[2])


@asynccontextmanager
async def working(folder: Path, toml: str = OPEN_ALL_DAY) -> AsyncIterator[Working]:
    (folder / "sysop.toml").write_text(toml, encoding="utf-8")
    board = Working(folder)
    try:
        await board.serve()
        await board.until_there_work(2)
        yield board
    finally:
        await board.close()
    audits_are_clean(board)


async def on_line(board: Working, name: str) -> Table:
    board.enter(name)
    table = Table(board, await board.call(), name)
    await log_on(table.terminal, name)
    await arrives(table)
    return table


async def on_both(board: Working) -> dict[int, list[Table]]:
    """Callers on both processes: the system chooses, so it takes as many as it takes."""
    found: dict[int, list[Table]] = {process: [] for process in board.children()}
    for name in NAMES:
        table = await on_line(board, name)
        found[board.process_of(name)].append(table)
        if all(found.values()):
            return found
    raise AssertionError("the system gave all calls to one process")


async def test_the_servers_of_a_board(tmp_path: Path, bank: str) -> None:
    """Callers are on both, on nodes of one board; both read the settings again; one is killed, and
    another takes its place while the other goes on; front ends are told of both by the parent; all
    end in peace when the parent is told to."""
    with closing(reserve("127.0.0.1", 0)) as asked:
        place = "{}:{}".format(*asked.getsockname())
        toml = f'{OPEN_ALL_DAY}\n[server]\nhealth = "{place}"\n[timebank]\n{bank}\n'
        async with working(tmp_path, toml) as board:
            await serve_together(board, place)


async def serve_together(board: Working, asked: str) -> None:
    found = await on_both(board)
    assert await told_at(asked) == SERVES
    assert await asyncio.to_thread(shown_nodes, board) == list(
        range(1, sum(map(len, found.values())) + 1)
    )

    text = board.config.path.read_text("utf-8").replace("The Test Board", "Another Name")
    board.config.path.write_text(text, "utf-8")
    board.process.send_signal(signal.SIGHUP)
    await board.logs("was read again", 2)

    killed, stays = found
    os.kill(killed, signal.SIGKILL)
    assert await told_at(asked) == SERVES, "the other one serves"
    for table in found[killed]:
        await table.terminal.until_closed()
    await board.logs("has ended by signal 9; another one takes its place")
    await board.until_there_work(3)  # by the settings of the other
    assert killed not in board.children()
    assert len(board.children()) == 2
    (first, *_) = found[stays]
    await first.terminal.send("w").until("Press any key")

    board.process.terminate()
    for table in found[stays]:
        await table.terminal.until_closed()
        assert "The board is closing." in table.terminal.picture
    assert await board.ends() == 0
    with board.books() as desk:
        assert open_calls(desk) == []


async def told_at(place: str) -> int:
    """What a front end is told, as a number of HTTP."""
    host, port = place.split(":")
    async with asyncio.timeout(PATIENCE):
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(b"GET / HTTP/1.0\r\n\r\n")
        said = await reader.read()
        writer.close()
    return int(said.split()[1])


def shown_nodes(board: Working) -> list[int]:
    told = CliRunner().invoke(main, ["nodes", "--json", "--config", str(board.config.path)])
    assert told.exit_code == 0, told.output
    return sorted(each["node"] for each in json.loads(told.stdout)["nodes"])


def test_one_that_stands_still_is_killed_and_one_that_still_starts_is_not(tmp_path: Path) -> None:
    """Also the second one. What is counted are turns of the parent, so
    that nobody is late where the whole machine stood still."""
    (tmp_path / "sysop.toml").write_text(OPEN_ALL_DAY, encoding="utf-8")
    kept = Workers(settings.load(tmp_path / "sysop.toml"), 3)
    processes = [subprocess.Popen(["sleep", "600"]) for _ in range(3)]
    pipes = [os.pipe() for _ in processes]
    try:
        for number, (process, (told, _)) in enumerate(zip(processes, pipes, strict=True), 1):
            kept._children[process.pid] = _Child(number, process.pid, told)
        for _, tells in pipes[:2]:  # the third one starts for long
            os.write(tells, b".")
        kept._note_ready([told for told, _ in pipes[:2]])
        for _ in range(MISSED_BEATS - 1):
            kept._count_missed()
        os.write(pipes[0][1], b"." * 9)
        kept._note_ready([pipes[0][0]])
        kept._count_missed()
        assert processes[1].wait(PATIENCE) == -signal.SIGKILL
        assert [process.poll() for process in processes[::2]] == [None, None]
    finally:
        for process, pipe in zip(processes, pipes, strict=True):
            process.kill()
            process.wait()
            for end in pipe:
                os.close(end)


def test_a_server_says_that_its_loop_turns_until_that_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What comes after its loop, such as the end of its books, takes the time that it takes."""
    monkeypatch.setattr(workers, "BEAT_SECONDS", 0.001)
    (tmp_path / "sysop.toml").write_text(OPEN_ALL_DAY, encoding="utf-8")
    told, tells = os.pipe()
    parent, alive = os.pipe()
    config = settings.load(tmp_path / "sysop.toml")
    worker = Worker(2, config, (), parent, tells, Standings(2))

    async def serve() -> None:
        worker.serves(lambda: None)
        for _ in range(3):
            assert await asyncio.to_thread(os.read, told, 1) == b"."

    try:
        asyncio.run(serve())
        assert os.read(told, 4096).strip(b".") == b""
        assert os.read(told, 4096) == b"", "it is not waited for any more"
    finally:
        for end in (told, parent, alive):
            os.close(end)


async def test_one_that_ends_by_itself_is_not_started_again(tmp_path: Path) -> None:
    async with working(tmp_path) as board:
        one, other = board.children()
        os.kill(one, signal.SIGTERM)
        await board.logs("has ended")
        assert board.children() == [other]
        os.kill(other, signal.SIGTERM)
        assert await board.ends() == 0


async def test_all_close_when_the_parent_is_gone(tmp_path: Path) -> None:
    async with working(tmp_path) as board:
        found = await on_both(board)
        board.process.kill()
        for tables in found.values():
            for table in tables:
                await table.terminal.until_closed()
        await board.process.wait()
        await board._reader  # the last of them has closed its end of the log
        board.port = 0


async def test_a_port_of_another_program_is_refused(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        toml = OPEN_ALL_DAY.replace("port = 0", f"port = {port}")
        status, said = await refused(tmp_path, toml)
    assert status == 2
    assert f"Port {port} on 127.0.0.1 cannot be opened" in said


async def test_where_none_can_begin_the_board_ends_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "board.sqlite3").write_bytes(b"SQLite format 4\0" * 64)
    status, said = await refused(tmp_path, OPEN_ALL_DAY)
    assert status == 2
    assert "board.sqlite3" in said
    assert "takes its place" not in said


async def refused(folder: Path, toml: str) -> tuple[int, str]:
    """Start a board that cannot serve; return its status, and what it says."""
    path = folder / "sysop.toml"
    path.write_text(toml, encoding="utf-8")
    process = await asyncio.create_subprocess_exec(
        *(*forked_door(folder), "serve", "--workers", "2", "--config", str(path)),
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(PATIENCE):
        _, said = await process.communicate()
    assert process.returncode is not None
    return process.returncode, said.decode()


@pytest.mark.parametrize("number", ["0", "65", "two"])
def test_how_many_there_may_be_is_checked(number: str) -> None:
    told = CliRunner().invoke(main, ["serve", "--workers", number])
    assert told.exit_code == 2
    assert "--workers" in told.output
