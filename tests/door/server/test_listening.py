"""Log lines of a board opening its ports, and of ports that cannot be opened."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from door.clock import SystemClock
from door.config import config
from door.errors import CannotListen
from door.server.server import Server
from tests.certificates import put_into
from tests.world import BOARD
from timebank.ledger.sqlite.database import SqliteDatabase

TELNETS = (
    '[[listeners]]\nkind = "telnets"\nhost = "127.0.0.1"\nport = 0\n'
    'certificate = "certificate.pem"\nkey = "key.pem"\n'
)


@asynccontextmanager
async def opened(folder: Path, toml: str) -> AsyncIterator[Server]:
    """A server with these settings, which leaves nothing behind where it cannot open."""
    (folder / "sysop.toml").write_text(toml, encoding="utf-8")
    settings = config.load(folder / "sysop.toml")
    settings.board.data.mkdir()
    database = SqliteDatabase(settings.database)
    database.open()
    server = Server(settings, database, SystemClock())
    try:
        await server.start()
        yield server
    finally:
        await server.stop("The test is over.")
        database.close()


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        (
            "192.0.2.7",
            "(Cannot assign requested address). That is not an address of this machine. [[",
        ),
        ("fe80::1%no-such-card", "cannot be opened ("),
    ],
)
async def test_an_address_of_another_machine_is_named_in_the_error(
    tmp_path: Path, host: str, expected: str
) -> None:
    with pytest.raises(CannotListen) as refused:
        async with opened(tmp_path, BOARD.replace("127.0.0.1", host)):
            pass
    assert str(refused.value).startswith(f"Port 0 on {host} cannot be opened")
    assert expected in str(refused.value)
    assert "Unknown error" not in str(refused.value)


async def test_a_port_in_use_is_named_in_the_error(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(CannotListen, match=r"\. Is another board running\? \[\["):
            async with opened(tmp_path, BOARD.replace("port = 0", f"port = {port}")):
                pass


async def test_a_certificate_without_its_key_opens_no_board(tmp_path: Path) -> None:
    _, key = put_into(tmp_path)
    key.unlink()
    with pytest.raises(CannotListen) as refused:
        async with opened(tmp_path, BOARD + TELNETS):
            pass
    assert str(refused.value).startswith("The key of a TLS port cannot be read: ")
    assert str(refused.value).endswith("sysop.toml names the file.")
