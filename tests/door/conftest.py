"""What the tests of whole boards share."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from tests.timebank.cluster import Cluster
from tests.timebank.conftest import cluster

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
    """What [timebank] says of where the books are, for several servers."""
    name = cluster.take()
    yield f'database = "{cluster.url(name)}"'
    cluster.give_back(name)
