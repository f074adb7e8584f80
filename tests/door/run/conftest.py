"""Both ways in which `door run` serves its caller: by itself, and at the server of the board."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import partial

import pytest

from tests.door.hosting import Host, hosted

Hosts = Callable[..., AbstractAsyncContextManager[Host]]


@pytest.fixture(
    params=[
        pytest.param(False, id="by itself", marks=pytest.mark.long),
        pytest.param(True, id="at the server"),
    ]
)
def hosts(request: pytest.FixtureRequest) -> Hosts:
    """`hosted`, where the doors serve their callers by themselves, or a server does."""
    return partial(hosted, at_server=request.param)
