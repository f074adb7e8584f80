"""Fixtures for tests of lines: a board that listens on its own port."""

import logging
from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio

from door.lines.telnet.telnet import USUAL_LIMITS
from tests.door.lines.board import Board, open_board


@pytest_asyncio.fixture
async def board() -> AsyncIterator[Board]:
    async with open_board(USUAL_LIMITS) as open_one:
        yield open_one


@pytest.fixture
def warnings() -> Iterator[list[str]]:
    """Return the warnings and errors of the board and the library."""
    messages: list[str] = []

    class Keep(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            messages.append(record.getMessage())

    handler = Keep(logging.WARNING)
    logging.getLogger().addHandler(handler)
    yield messages
    logging.getLogger().removeHandler(handler)
