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
