"""Fixtures for tests of whole boards."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.door.playing import Table, at_the_table
from tests.timebank.cluster import Cluster
from tests.timebank.conftest import cluster
from tests.world import BOARD, World, world

__all__ = ["cluster"]


@pytest.fixture
def ipv6() -> None:
    """Pass over a test where the machine has no IPv6."""
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this machine has no IPv6")


@pytest.fixture
def bank(cluster: Cluster) -> Iterator[str]:
    """Return the lines of [timebank] that name the books, for several servers."""
    name = cluster.take()
    yield f'database = "{cluster.url(name)}"'
    cluster.give_back(name)


@pytest.fixture
async def board(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[World]:
    """An open board with the settings that the module has as `TOML`, if it has any."""
    async with world(tmp_path, toml=getattr(request.module, "TOML", BOARD)) as here:
        yield here


@pytest.fixture
async def ada(tmp_path: Path) -> AsyncIterator[Table]:
    """Seat Ada at the Black Jack table of a usual board."""
    async with at_the_table(tmp_path) as here:
        yield here
