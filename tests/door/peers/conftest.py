"""Fixtures for tests of several servers: books on a server of PostgreSQL."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator

import pytest

from door.peers import nudges
from tests.door.peers.boards import Machine
from tests.door.several import never_notified
from tests.timebank.cluster import Cluster
from timebank.settings.place import ServerPlace


@pytest.fixture
def database(cluster: Cluster) -> Iterator[ServerPlace]:
    """New books on a server."""
    name = cluster.take()
    yield cluster.place(name)
    cluster.give_back(name)


Soon = Callable[[Machine], Awaitable[None]]
CUT_SECONDS = 10  # after which everything is seen without notifications


@pytest.fixture(params=["notified", "cut"])
def soon(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Soon:
    """Yield a function that makes a server see another's writes.

    It does nothing where servers are notified, so no clock runs then.
    """
    is_cut = request.param == "cut"

    if is_cut:
        monkeypatch.setattr(nudges, "listen", never_notified)

    async def wait(machine: Machine) -> None:
        if is_cut:
            await machine.pass_time(CUT_SECONDS)

    return wait
