"""What the tests of the Vegas tables share: books in a file, or on a server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.timebank.cluster import Cluster
from tests.timebank.conftest import cluster

__all__ = ["cluster"]


@pytest.fixture(params=["sqlite", "postgres"])
def bank(request: pytest.FixtureRequest) -> Iterator[str]:
    """What [timebank] says of where the books are, for those in a file and those on a server."""
    if request.param == "sqlite":
        yield ""
        return
    server: Cluster = request.getfixturevalue("cluster")
    name = server.take()
    yield f'database = "{server.url(name)}"'
    server.give_back(name)
