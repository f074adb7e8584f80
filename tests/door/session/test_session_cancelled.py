"""A session that the closing board has waited for long enough."""

from __future__ import annotations

import asyncio
from unittest import mock

import pytest

from door.call.caller import Caller
from door.lines.line import Hints
from door.session import session


async def test_a_cancelled_session_does_not_pause_for_reading() -> None:
    """Else it would outlast the board, which waits no longer for it."""
    console = mock.Mock(part=mock.AsyncMock(), line=mock.Mock(hints=Hints()))
    console.keyboard.keys_received = 0
    begun, let_them_read = asyncio.Event(), mock.AsyncMock()

    async def admit() -> Caller:
        begun.set()
        await asyncio.Event().wait()
        raise AssertionError("nobody sets it")

    serving = asyncio.create_task(
        session._serve(mock.Mock(keys_of_gone=0), console, admit, mock.AsyncMock(), let_them_read)
    )
    await begun.wait()
    serving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await serving
    let_them_read.assert_not_awaited()
    console.part.assert_awaited_once()
