"""Callers of another board, in door processes of their own: a telephone number for each of them.

Whoever connects there is handed over to `door run`, as a host does; their bytes are passed on. The
door hands them over to the server.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sqlite3
import sys
from asyncio import StreamReader, StreamWriter
from asyncio.subprocess import Process
from collections.abc import Iterable
from pathlib import Path

from bench.processes import environment
from door.config.config import Config

HOST = "Xibalba"
TOML = f"""
[boards.{HOST}]
aliases = ["Synchronet"]
"""
DOOR = "from door.cli.entry import main; main()"
DOOR32 = "0\n-1\n38400\nSynchronet 3.20b\n{user}\nAnn Example\n{alias}\n50\n60\n1\n{node}\n"


class Doorway:
    """One node of the other board, with one caller."""

    def __init__(self, config: Config, node: int) -> None:
        self.config = config
        self.node = node
        self.alias = f"Moth {node}"
        self.name = f"{self.alias}@{HOST}"
        self.port = 0
        self._process: Process | None = None
        self._server: asyncio.Server

    async def open(self) -> None:
        self._server = await asyncio.start_server(self._hand_over, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        self._server.close()
        await self._server.wait_closed()
        self._gets(signal.SIGKILL)
        if self._process is not None:
            await self._process.wait()

    def _gets(self, number: int) -> None:
        if self._process is not None and self._process.returncode is None:
            self._process.send_signal(number)

    async def has_ended(self) -> None:
        """Wait until its last caller's process is gone, as it is soon without carrier."""
        if self._process is not None:
            await self._process.wait()

    async def _hand_over(self, reader: StreamReader, writer: StreamWriter) -> None:
        called_back: asyncio.Future[tuple[StreamReader, StreamWriter]] = (
            asyncio.get_running_loop().create_future()
        )
        port = await asyncio.start_server(
            lambda *both: called_back.set_result(both), "127.0.0.1", 0
        )
        try:
            await self.has_ended()  # a node has one caller at a time
            process = await self._start(port.sockets[0].getsockname()[1])
            gone = asyncio.create_task(process.wait())
            await asyncio.wait((called_back, gone), return_when=asyncio.FIRST_COMPLETED)
            if called_back.done():
                from_door, to_door = called_back.result()
                both_ways = asyncio.gather(_pass_on(reader, to_door), _pass_on(from_door, writer))
                await both_ways
                self._gets(signal.SIGHUP)  # as most hosts say that the caller has gone
            await gone
        finally:
            port.close()
            writer.close()

    async def _start(self, port: int) -> Process:
        folder = self.config.path.parent / f"node{self.node}"
        folder.mkdir(exist_ok=True)
        file = folder / "DOOR32.SYS"
        told = DOOR32.format(user=100 + self.node, alias=self.alias, node=self.node)
        file.write_text(told, encoding="cp437")
        # What was given back is with the host by now.
        (folder / "MODUSER.DAT").unlink(missing_ok=True)
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", DOOR, "run"),
            *("--connect", f"127.0.0.1:{port}"),
            *("--dropfile", str(file), "--config", str(self.config.path)),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            env=environment(),
            cwd=folder,
        )
        return self._process


async def _pass_on(reader: StreamReader, writer: StreamWriter) -> None:
    """Pass bytes on until one of both ends is gone."""
    with contextlib.suppress(ConnectionError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    writer.close()


def but_for_the_way_in(wrong: Iterable[str]) -> list[str]:
    """Leave out what differs because a guest's call counts from the start of the door."""
    return [words for words in wrong if f"@{HOST}: a call of" not in words]


def handed_over(config: Config, server: int) -> int:
    """Count the calls of guests that the server with this process has served."""
    calls = "SELECT count(*) FROM calls JOIN callers ON callers.id = caller_id"
    with contextlib.closing(sqlite3.connect(config.database)) as file:
        found = file.execute(f"{calls} WHERE board = ? AND process LIKE ?", (HOST, f"%:{server}"))
        return int(found.fetchone()[0])


def append_to(config_file: Path) -> None:
    """Let the board know the other one."""
    with config_file.open("a", encoding="utf-8") as file:
        file.write(TOML)
