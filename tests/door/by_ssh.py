"""A caller's terminal by SSH, with asyncssh's client where the telnet program would be."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import asyncssh

from tests.terminal import MODERN, PATIENCE, Profile, Terminal
from tests.world import PASSWORD, World

LISTENER = """
[[listeners]]
kind = "ssh"
host = "127.0.0.1"
port = 0
"""
BY_SSH = replace(MODERN, answers=False, terminal_types=("xterm-256color",))


class _Shown(asyncssh.SSHClientSession[bytes]):
    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal

    def connection_made(self, chan: asyncssh.SSHClientChannel[bytes]) -> None:
        self._terminal.connection_made(chan)

    def data_received(self, data: bytes, datatype: int | None) -> None:
        self._terminal.data_received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._terminal.connection_lost(exc)


class SshTerminal(Terminal):
    connection: asyncssh.SSHClientConnection
    channel: asyncssh.SSHClientChannel[bytes]

    async def call(self, port: int, name: str, **options: Any) -> None:
        """Log on as OpenSSH's program does: with a password, or the keys in `client_keys`."""
        usual = {"password": PASSWORD, "client_keys": None, "known_hosts": None, "config": None}
        kind = self.profile.terminal_types[0]
        async with asyncio.timeout(PATIENCE):
            self.connection = await asyncssh.connect(
                "127.0.0.1", port, username=name, agent_path=None, **{**usual, **options}
            )
            self.channel, _ = await self.connection.create_session(
                lambda: _Shown(self),
                term_type=kind,
                term_size=(self.profile.columns, self.profile.rows),
                encoding=None,
                env=dict(self.profile.environment),
            )

    def resize(self, columns: int, rows: int) -> None:
        self.screen.resize(rows, columns)
        self.channel.change_terminal_size(columns, rows)

    async def close(self) -> None:
        self.connection.abort()
        await self.connection.wait_closed()


async def by_ssh(board: World, name: str, profile: Profile = BY_SSH, **options: Any) -> SshTerminal:
    """Call a board's last listener, an SSH port."""
    terminal = SshTerminal(profile)
    await terminal.call(board.server.ports[-1], name, **options)
    board.terminals.append(terminal)
    return terminal
