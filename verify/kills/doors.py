"""Callers of another board, in door processes of their own: a telephone number for each of them.

Whoever connects there is handed over to `door run`, as a host does; their bytes are passed on.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
from asyncio import StreamReader, StreamWriter
from asyncio.subprocess import Process
from pathlib import Path

from bench.processes import environment
from door.config.config import Config

HOST = "Xibalba"
TOML = f'\n[boards.{HOST}]\naliases = ["Synchronet"]\n'
RUN = "from door.cli.main import main; main()"
DOOR32 = "0\n-1\n38400\nSynchronet 3.20b\n{user}\nAnn Example\n{alias}\n50\n60\n1\n{node}\n"


class Doorway:
    """One node of the other board, with one caller."""

    def __init__(self, config: Config, node: int) -> None:
        self.config = config
        self.node = node
        self.alias = f"Moth {node}"
        self.name = f"{self.alias}@{HOST}"
        self.port = 0
        self.started = 0
        self._process: Process | None = None
        self._server: asyncio.Server

    async def open(self) -> None:
        self._server = await asyncio.start_server(self._hand_over, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        self._server.close()
        await self._server.wait_closed()
        self.kill()
        if self._process is not None:
            await self._process.wait()

    def kill(self) -> bool:
        """Kill the process that runs; tell whether there is one."""
        runs = self._process is not None and self._process.returncode is None
        if self._process is not None and runs:
            self._process.kill()
        return runs

    async def has_ended(self) -> None:
        """Wait until its last caller's process is gone, as it is soon without carrier."""
        if self._process is not None:
            await self._process.wait()

    @property
    def log(self) -> str:
        """What doors have written into their log."""
        file = self.config.board.data / "door.log"
        return file.read_text(encoding="utf-8") if file.exists() else ""

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
                await asyncio.gather(_pass_on(reader, to_door), _pass_on(from_door, writer))
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
        self.started += 1
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", RUN, "run", "--connect", f"127.0.0.1:{port}"),
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


def append_to(config_file: Path) -> None:
    """Let the board know the other one."""
    with config_file.open("a", encoding="utf-8") as file:
        file.write(TOML)
