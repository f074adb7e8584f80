"""What the tests of whole boards share."""

from __future__ import annotations

import socket

import pytest


@pytest.fixture
def ipv6() -> None:
    """Pass over a test where the machine has no IPv6."""
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this machine has no IPv6")
