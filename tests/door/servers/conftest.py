"""What the tests of several servers share: books on a server of PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.timebank.cluster import Cluster
from timebank.settings.place import ServerPlace


@pytest.fixture
def database(cluster: Cluster) -> Iterator[ServerPlace]:
    """New books on a server."""
    name = cluster.take()
    yield cluster.place(name)
    cluster.give_back(name)


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.long)])
def place(request: pytest.FixtureRequest) -> ServerPlace | None:
    """New books of either kind: in a file of processes of one machine, or on a server."""
    if request.param == "sqlite":
        return None
    made: ServerPlace = request.getfixturevalue("database")
    return made
