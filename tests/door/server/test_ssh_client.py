"""Callers with OpenSSH's own program, as in Debian: offers and refusals."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import asyncssh
import pytest

from tests.door.by_ssh import LISTENER
from tests.door.lines.test_rlogin_clients import installed
from tests.door.server.test_clients import Window
from tests.world import BOARD, PASSWORD, World, world
from timebank.callers import callers, ssh_keys

pytestmark = pytest.mark.long

TOML = BOARD + LISTENER
NEWS, MENU = "Press any key", "oodbye"


@pytest.fixture(autouse=True, scope="module")
def _program() -> None:
    installed("ssh", "openssh-client")


class Home:
    """The home of a caller: their keys, the boards that they know, and their password."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(mode=0o700)
        self.known = folder / "known_hosts"
        self.key = folder / "id_ed25519"
        made = asyncssh.generate_private_key("ssh-ed25519", comment="laptop")
        self.key.write_bytes(made.export_private_key())
        self.key.chmod(0o600)
        self.line = made.export_public_key().decode().strip()
        self.ask = folder / "password"
        self.ask.write_text(f"#!/bin/sh\necho '{PASSWORD}'\n", encoding="utf-8")
        self.ask.chmod(0o700)

    def words(self, board: World, name: str, *more: str, hosts: str = "accept-new") -> list[str]:
        """The command line of `ssh`; the board's name for this program is the same at any port."""
        options = {
            "UserKnownHostsFile": self.known,
            "GlobalKnownHostsFile": "/dev/null",
            "StrictHostKeyChecking": hosts,
            "HostKeyAlias": "board",
            "IdentityFile": self.key,
            "IdentitiesOnly": "yes",
            "IdentityAgent": "none",
            "SendEnv": "LANG LC_*",
        }
        arguments = [word for each, value in options.items() for word in ("-o", f"{each}={value}")]
        port = str(board.server.ports[-1])
        return ["env", f"SSH_ASKPASS={self.ask}", "SSH_ASKPASS_REQUIRE=force", "ssh", "-F", "none",
                *arguments, "-p", port, "-l", name, *more, "127.0.0.1"]  # fmt: skip


@asynccontextmanager
async def caller(
    board: World, home: Home, name: str, *more: str, hosts: str = "accept-new"
) -> AsyncIterator[Window]:
    window = Window(*home.words(board, name, *more, hosts=hosts))
    try:
        yield window
    finally:
        window.close()


async def test_a_password_a_window_and_a_goodbye(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    async with world(tmp_path, toml=TOML) as board:
        board.enter("Ada")
        async with caller(board, home, "Ada", "-o", "PubkeyAuthentication=no") as window:
            await window.shows(NEWS)
            await window.types(" ").asks(MENU)
            (on_line,) = board.server.board.callers()
            window.resize(110, 40)
            await window.until(lambda: on_line.console.line.columns == 110, "the new size")
            assert on_line.console.line.rows == 40
            await window.types("g").asks("Bank your")
            window.types("y")
            assert await window.closes() == 0


async def test_a_key_and_a_board_that_is_known_after_a_restart(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    for hosts in ("accept-new", "yes"):
        async with world(tmp_path, toml=TOML) as board:
            if hosts == "accept-new":
                board.enter("Ada")
                with board.books() as desk:
                    record = callers.number_named(desk, "Ada")
                    ssh_keys.add(desk, record, home.line)
            async with caller(
                board, home, "Ada", "-o", "PasswordAuthentication=no", hosts=hosts
            ) as window:
                await window.until(lambda w=window: NEWS in w.picture or MENU in w.picture, "it")
    assert home.known.read_text(encoding="utf-8").startswith("board ssh-ed25519 ")


async def test_a_new_caller_is_asked_for_no_password_and_no_old_name(tmp_path: Path) -> None:
    """Without an answer for a password: the program would end if it were asked for one."""
    home = Home(tmp_path / "home")
    home.ask.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    async with world(tmp_path, toml=TOML) as board, caller(board, home, "nouveau") as window:
        await window.asks("The name you want:")
        assert "Your name, or" not in window.picture
