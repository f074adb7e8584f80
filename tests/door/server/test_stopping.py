"""SIGTERM with a full house: warnings, stored hands, and an end in time."""

from __future__ import annotations

import asyncio
import socket
import subprocess
from pathlib import Path

import pytest

from tests.door.attention import Stopwatch
from tests.door.processes import OPEN_ALL_DAY, Served, dealt_door, served
from tests.terminal import PATIENCE
from tests.world import PASSWORD

pytestmark = pytest.mark.long

CALLERS = 75
AT_THE_DOOR = 125  # callers who have not yet given a name
AT_THE_TABLE = 20
TEN_SECONDS = 10.0  # the limit of init systems, and the board's promise
GREETING = b"Your name"
LETTERS = "abcdefghkmpqstuwxyz"  # no two of which resemble another two
SLOW = 60.0  # seconds, on a machine busy with other tests


class Plain:
    """A caller on a line without telnet, who types ahead and searches the output."""

    def __init__(self, wire: socket.socket) -> None:
        self.wire = wire
        self.heard = b""

    @classmethod
    async def calls(cls, port: int) -> Plain:
        wire = socket.socket()
        wire.setblocking(False)
        wire.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        await asyncio.get_running_loop().sock_connect(wire, ("127.0.0.1", port))
        return cls(wire)

    async def types(self, keys: str) -> None:
        await asyncio.get_running_loop().sock_sendall(self.wire, keys.encode("ascii"))

    async def until(self, words: bytes) -> None:
        try:
            async with asyncio.timeout(SLOW):
                while words not in self.heard:
                    assert await self._reads(), "hung up"
        except TimeoutError:
            raise AssertionError(f"no {words!r} in {self.heard[-300:]!r}") from None

    async def until_the_end(self) -> None:
        async with asyncio.timeout(PATIENCE):
            while await self._reads():
                pass

    async def _reads(self) -> bool:
        try:
            data = await asyncio.get_running_loop().sock_recv(self.wire, 4096)
        except ConnectionResetError:
            return False
        self.heard += data
        return bool(data)


def name_of(number: int) -> str:
    return f"Caller {LETTERS[number // len(LETTERS)]}{LETTERS[number % len(LETTERS)]}"


async def arrive(board: Served, number: int) -> Plain:
    caller = await Plain.calls(board.port)
    await caller.until(GREETING)
    await caller.types(f"{name_of(number)}\r{PASSWORD}\r")
    await caller.until(b"Press Enter")
    await caller.types(" ")
    await caller.until(b"oodbye")
    return caller


async def test_a_board_with_two_hundred_callers_ends_within_ten_seconds(
    tmp_path: Path,
) -> None:
    toml = OPEN_ALL_DAY + f"[calls]\nnodes = {CALLERS + 5}\n"
    async with served(tmp_path, toml=toml) as board:
        for number in range(CALLERS):
            board.enter(name_of(number))
        callers: list[Plain] = []
        for start in range(0, CALLERS, 25):
            callers += await asyncio.gather(
                *(arrive(board, number) for number in range(start, start + 25))
            )
        for caller in callers[:AT_THE_TABLE]:
            await caller.types("bb3\r")
            await caller.until(b"The dealer has")
        deaf, *others = callers
        await deaf.types("?" * 400)
        waiting = [await Plain.calls(board.port) for _ in range(AT_THE_DOOR)]
        for caller in waiting[:-2]:
            await caller.until(GREETING)

        watch = Stopwatch(board.process.pid)
        board.process.terminate()
        end = asyncio.ensure_future(watch.until_the_end(board.process, SLOW))
        await asyncio.gather(*(caller.until_the_end() for caller in (*others, *waiting[:-2])))
        assert await end < TEN_SECONDS
        for caller in (*others, *waiting[:-2]):
            assert b"The board is closing." in caller.heard
        assert await board.ends() == 0
        with board.books() as desk:
            run = desk.connection.exec_driver_sql
            assert run("SELECT count(*) FROM calls").scalar_one() == CALLERS
            assert run("SELECT count(*) FROM calls WHERE closed IS NULL").scalar_one() == 0
            reasons = dict(run("SELECT reason, count(*) FROM calls GROUP BY 1").all())
            assert reasons.pop("closed by the board") >= CALLERS - 1
            open_hands = run("SELECT count(*) FROM rounds WHERE settled IS NULL").scalar_one()
            staked = run(
                "SELECT count(*) FROM accounts WHERE kind = 'stake' AND balance > 0"
            ).scalar_one()
            assert open_hands == staked > 0
        for caller in (*callers, *waiting):
            caller.wire.close()


def test_a_board_with_unread_announcements_closes_cleanly(tmp_path: Path) -> None:
    (tmp_path / "sysop.toml").write_text(OPEN_ALL_DAY, encoding="utf-8")
    command = [*dealt_door(tmp_path), "serve", "--config", str(tmp_path / "sysop.toml")]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        port = next(int(line.rsplit()[-1].rstrip(".")) for line in process.stdout if "port" in line)
        with socket.create_connection(("127.0.0.1", port), SLOW) as caller:
            output = b""
            while GREETING not in output:
                output += caller.recv(4096)
            process.stdout.close()
            process.terminate()
            while data := caller.recv(4096):
                output += data
        assert b"The board is closing." in output
        assert process.wait(SLOW) == 0
        # `door init` has said how the sysop registers: a new board has nothing to warn of.
        assert process.stderr.read() == ""
