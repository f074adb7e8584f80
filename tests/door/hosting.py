"""A host board around `door run`: drop files, the caller's terminal, and signals.

The door is its own process, started as hosts do: on a cooked terminal with echo, with a socket
handed down, or called back. pyte reads the caller's screen.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import time
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Self

from door.config.log_file import FILE
from door.server import server_note
from tests.door.attention import Stopwatch
from tests.door.lines.host import Pty
from tests.door.playing import Table, with_keys
from tests.door.processes import (
    Served,
    audits_are_clean,
    dealt_door,
    forked_door,
    question,
    stand,
)
from tests.door.riding import ANSI, HostTerminal
from tests.terminal import PATIENCE, Profile, Terminal

BOARD = """
events = []
[board]
name = "The Test Board"
animation = "off"
[[listeners]]
kind = "telnet"
host = "127.0.0.1"
port = 0
[boards.Xibalba]
aliases = ["Synchronet"]
"""


class PtyWire:
    """A terminal's other end as a socket: the host's part of passing bytes on."""

    def __init__(self, pty: Pty) -> None:
        pty.far.stop_reading()
        self._master = pty.far.descriptor
        self._own, self.caller = socket.socketpair()
        self._own.setblocking(False)
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._master, self._to_caller)
        self._loop.add_reader(self._own, self._to_door)

    def _to_caller(self) -> None:
        try:
            data = os.read(self._master, 65536)
        except OSError:  # the other end of the terminal is closed
            data = b""
        if data:
            self._own.sendall(data)
        else:
            self.close()

    def _to_door(self) -> None:
        data = self._own.recv(65536)
        if data:
            os.write(self._master, data)
        else:
            self.close()

    def close(self) -> None:
        if self._own.fileno() >= 0:
            self._loop.remove_reader(self._master)
            self._loop.remove_reader(self._own)
            self._own.close()


class Visit(Table):
    """A caller in a door process."""

    def __init__(self, host: Host, process: Process, terminal: Terminal, name: str) -> None:
        super().__init__(host, terminal, name)
        self.host = host
        self.pty: Pty | None = None
        self.process = process
        self.began = time.monotonic()

    def presses(self, keys: str) -> Self:
        self.terminal.send(keys)
        return self

    async def comes_in(self) -> None:
        """Read the welcome and go on to the main menu."""
        await self.reads_welcome()
        await self.prompt("oodbye")

    async def reads_welcome(self, seconds: float = PATIENCE) -> None:
        """Read the welcome; at a first visit, decline the tour."""
        await self.terminal.wait_for(
            lambda _: self._offered_tour() or "Press any key" in self.prompt_row,
            "the welcome",
            seconds,
        )
        self.presses("n" if self._offered_tour() else " ")

    def _offered_tour(self) -> bool:
        return "Take a one-minute tour?" in self.prompt_row

    async def goes(self) -> int:
        """Say goodbye in the main menu; return the door's exit status."""
        await self.presses("g").prompt("Leave the games?")
        self.presses("y")
        await self.terminal.until("You go back to")
        self.presses(" ")
        return await self.ends()

    async def sits_down(self) -> None:
        await self.presses("b").prompt("<B>et")

    async def plays_until(self, reached: Callable[[Host], bool], coins: int = 1) -> None:
        """Bet and stand, hand after hand, until the books meet the condition."""
        while not reached(self.host):
            await self.asks_to_bet()
            self.presses(f"{coins}\r")
            await question(self)
            await stand(self)

    def resizes(self, columns: int, rows: int) -> None:
        assert self.pty is not None, "only a terminal has a size"
        self.terminal.screen.resize(rows, columns)
        self.pty.resize(columns, rows)

    def gets(self, number: int) -> None:
        """Send a signal, past `send_signal`: that would take the status of an ended process from
        asyncio, which says 255 then."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.process.pid, number)

    async def ends(self, within: float = PATIENCE) -> int:
        """Wait for the end, which must come within so many seconds of the machine's attention."""
        took = await Stopwatch(self.process.pid).until_the_end(self.process, max(within, PATIENCE))
        assert took < within
        assert self.process.returncode is not None
        return self.process.returncode


class Host(Served):
    """A host board, and the books that its doors share."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.visits: list[Visit] = []
        self.at_server = False  # whether the server is to serve the callers of doors
        self.own = 0  # calls that are served where a door has started the server
        self._settings = ""  # as read by the server
        self.expected = ""  # a text of the log that would otherwise be a failure
        self._closing: list[Pty | PtyWire | socket.socket] = []

    def node(self, number: int) -> Path:
        folder = self.folder / f"node{number}"
        folder.mkdir(exist_ok=True)
        return folder

    def door32(
        self,
        node: int = 1,
        *,
        comm: str = "0",
        handle: int = -1,
        user: int = 42,
        alias: str = "Moth",
        minutes: int | str = 60,
        emulation: int = 1,
    ) -> Path:
        """Write DOOR32.SYS and remove other files as Synchronet does."""
        lines = (comm, handle, 38400, "Synchronet 3.20b", user, "Ann Example", alias, 50)
        file = self.node(node) / "DOOR32.SYS"
        file.write_text(
            "".join(f"{line}\n" for line in (*lines, minutes, emulation, node)), encoding="cp437"
        )
        (file.parent / "MODUSER.DAT").unlink(missing_ok=True)
        return file

    async def a_visit(self, *node: int, **what: Any) -> Visit:
        """A caller of Synchronet on a terminal of their own, as far as the main menu."""
        visit = await self.on_terminal("--dropfile", str(self.door32(*node, **what)))
        await visit.comes_in()
        return visit

    def door_on(self, terminal: int) -> tuple[str, ...]:
        """The command `door` in a session of its own, on a terminal."""
        return forked_door(self.folder, terminal)

    async def on_terminal(
        self,
        *words: str,
        name: str = "Moth@Xibalba",
        environment: Mapping[str, str] | None = None,
        profile: Profile = ANSI,
    ) -> Visit:
        """Start the door on a terminal of its own, cooked and echoing, as large as the caller's."""
        pty = Pty()
        pty.resize(profile.columns, profile.rows)
        self._closing.append(pty)
        wire = PtyWire(pty)
        self._closing.append(wire)
        process = await self._started(
            *(*self.door_on(pty.slave), "run", *words),
            descriptors=(pty.slave,),
            environment=environment,
        )
        visit = await self._visit(process, wire.caller, name, profile)
        visit.pty = pty
        return visit

    async def on_socket(self, *words: str, name: str = "Moth@Xibalba", node: int = 1) -> Visit:
        """Start the door with the caller's own connection handed down."""
        with socket.create_server(("127.0.0.1", 0)) as port:
            caller = socket.create_connection(port.getsockname())
            near, _ = port.accept()
        self.door32(node, comm="2", handle=near.fileno())
        door = (*dealt_door(self.folder), "run", *words)
        process = await self._started(*door, descriptors=(near.fileno(),), environment=None)
        self._closing.append(near)
        return await self._visit(process, caller, name, ANSI)

    async def called_back(self, *words: str) -> Visit:
        """Start the door with a port to call back."""
        with socket.create_server(("127.0.0.1", 0)) as port:
            port.setblocking(False)
            where = f"127.0.0.1:{port.getsockname()[1]}"
            door = (*dealt_door(self.folder), "run", "--connect", where, *words)
            process = await self._started(*door, descriptors=(), environment=None)
            async with asyncio.timeout(PATIENCE):
                wire, _ = await asyncio.get_running_loop().sock_accept(port)
        return await self._visit(process, wire, "Moth@Xibalba", ANSI)

    async def serve(self) -> None:
        self._settings = self.config.path.read_text(encoding="utf-8")
        await super().serve()

    async def nobody_is_on(self) -> None:
        """Wait until every call is closed, as it soon is when a door was killed."""
        async with asyncio.timeout(PATIENCE):
            for _open in iter(lambda: self._calls("closed IS NULL"), 0):
                await asyncio.sleep(0.05)

    def at_others(self) -> int:
        """Return how many calls other servers than `process` have served."""
        server = f"%:{self.process.pid}" if self.at_server else "none"
        return self._calls(f"process NOT LIKE '{server}'")

    def _calls(self, which: str) -> int:
        with self.books() as desk:
            rows = desk.connection.exec_driver_sql(f"SELECT count(*) FROM calls WHERE {which}")
            return int(rows.scalar_one())

    async def _let_server_read(self) -> None:
        """Give a running server the files that a door would read for itself."""
        text = self.config.path.read_text(encoding="utf-8")
        if self.port and text != self._settings:
            self._settings = text
            read = len([line for line in self.said if "was read again" in line])
            self.process.send_signal(signal.SIGHUP)
            async with asyncio.timeout(PATIENCE):
                while len([line for line in self.said if "was read again" in line]) == read:
                    self._news.clear()
                    await self._news.wait()

    async def refused(self, *words: str) -> tuple[int, str, str]:
        """Start the door between pipes; return its status, the caller's screen, and the log."""
        process = await asyncio.create_subprocess_exec(
            *(*forked_door(self.folder), "run", *words, "--config", str(self.config.path)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=self.folder,
        )
        async with asyncio.timeout(PATIENCE):
            shown, log = await process.communicate(b" ")
        assert process.returncode is not None
        return process.returncode, shown.decode("cp437"), log.decode()

    async def close(self) -> None:
        for visit in self.visits:
            if visit.process.returncode is None:
                visit.process.kill()
            await visit.process.wait()
        for open_one in reversed(self._closing):
            open_one.close()
        await end_started(self.config.board.data)
        await super().close()

    async def is_killed(self) -> None:
        """Wait for the end of a server that was killed."""
        await self.process.wait()
        await self._reader
        self.port = 0

    @property
    def log(self) -> str:
        """The log of servers and doors; that of a running server may lag a moment."""
        file = self.config.board.data / FILE
        return "".join(self.said) + (file.read_text(encoding="utf-8") if file.exists() else "")

    async def _started(
        self,
        *words: str,
        descriptors: tuple[int, ...],
        environment: Mapping[str, str] | None,
    ) -> Process:
        await self._let_server_read()
        return await asyncio.create_subprocess_exec(
            *(*words, "--config", str(self.config.path)),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            pass_fds=descriptors,
            cwd=self.folder,
            env={**os.environ, "TERM": "pc3", **(environment or {})},
        )

    async def _visit(
        self, process: Process, wire: socket.socket, name: str, profile: Profile
    ) -> Visit:
        terminal = HostTerminal(profile)
        await terminal.attach(wire)
        self.terminals.append(terminal)
        visit = Visit(self, process, terminal, name)
        self.visits.append(visit)
        return visit

    # The books

    def visits_told(self) -> list[dict[str, object]]:
        """The visits in the books, in order."""
        with self.books() as desk:
            rows = desk.connection.exec_driver_sql("SELECT * FROM visits ORDER BY id")
            return [dict(row._mapping) for row in rows]

    def given_back(self) -> list[tuple[int, str]]:
        """The minutes to give back, in order: (minutes, state)."""
        with self.books() as desk:
            rows = desk.connection.exec_driver_sql(
                "SELECT minutes, state FROM given_back ORDER BY number"
            )
            return [(minutes, state) for minutes, state in rows]

    @property
    def won(self) -> int:
        """Net seconds won in all hands so far."""
        with self.books() as desk:
            net: int = desk.connection.exec_driver_sql(
                "SELECT coalesce(sum(won - lost), 0) FROM rounds WHERE settled IS NOT NULL"
            ).scalar_one()
            return net

    def house(self, **keys: object) -> None:
        """Set new rules of the game for doors that start from now on."""
        text = with_keys(BOARD, "black-jack-for-time", {"turns_per_day": 0, **keys})
        (self.folder / "sysop.toml").write_text(text, encoding="utf-8")

    def moduser(self, node: int = 1) -> int | None:
        """The minutes in MODUSER.DAT for the caller of a node; None without the file."""
        file = self.node(node) / "MODUSER.DAT"
        if not file.exists():
            return None
        *blank, minutes = file.read_text(encoding="ascii").splitlines()
        assert blank == [""] * 8
        return int(minutes)


@asynccontextmanager
async def hosted(
    folder: Path,
    *,
    toml: str = BOARD,
    at_server: bool = False,
) -> AsyncIterator[Host]:
    """A host board with books in `folder`; its doors start a server, or use one if `at_server`.

    At the end the books must be in order, no door may have failed, and each caller must have been
    at the expected server.
    """
    (folder / "sysop.toml").write_text(toml, encoding="utf-8")
    host = Host(folder)
    host.at_server = at_server
    try:
        if at_server:
            await host.serve()
        yield host
        if at_server:
            assert host.at_others() == host.own
    finally:
        await host.close()
    assert "Traceback" not in host.log, host.log
    errors = [line for line in host.log.splitlines() if " ERROR " in line]
    assert all(host.expected and host.expected in line for line in errors), errors
    audits_are_clean(host)


async def end_started(data: Path) -> None:
    """End a server that a door has started, if one runs in this data folder."""
    started = server_note.server_in(data)
    if started is not None and started.runs and is_started(started.process):
        os.kill(started.process, signal.SIGTERM)
        await until_gone(started.process)


def is_started(process: int) -> bool:
    words = Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")
    return b"door.cli.for_doors" in words


async def until_gone(process: int) -> None:
    """Wait for the end of a process that is no child of ours."""
    gone = asyncio.Event()
    try:
        descriptor = os.pidfd_open(process)
    except ProcessLookupError:
        return
    loop = asyncio.get_running_loop()
    loop.add_reader(descriptor, gone.set)
    try:
        async with asyncio.timeout(PATIENCE):
            await gone.wait()
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)


# Houses where every win is large, and where nobody ever wins.
PAYS = ("win_pays", "natural_pays", "twenty_one_pays", "charlie_pays", "doubled_21_pays")
GENEROUS: Mapping[str, object] = dict.fromkeys(PAYS, 20)

HANG_UP, END, KILL = signal.SIGHUP, signal.SIGTERM, signal.SIGKILL
