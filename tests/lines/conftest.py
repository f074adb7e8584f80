"""What the tests of lines share: a board that listens on a port of its own."""

from collections.abc import AsyncIterator

import pytest_asyncio

from door.lines.telnet import USUAL_LIMITS
from tests.lines.board import Board, open_board


@pytest_asyncio.fixture
async def board() -> AsyncIterator[Board]:
    async with open_board(USUAL_LIMITS) as open_one:
        yield open_one
