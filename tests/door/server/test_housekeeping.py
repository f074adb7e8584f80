"""Log lines about failed housekeeping."""

from __future__ import annotations

from pathlib import Path
from unittest import mock

import pytest

from tests.world import world
from timebank.errors import BooksUnavailable


async def test_an_outage_is_logged_once_for_each_job(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with world(tmp_path) as board:
        away = mock.AsyncMock(side_effect=BooksUnavailable("They are away."))
        books = board.server.books
        with mock.patch.object(books, "run", away), mock.patch.object(books, "read", away):
            await board.pass_time(60)
            assert "They are away." in caplog.text
            caplog.clear()
            await board.pass_time(60)
            assert "They are away." not in caplog.text
        await board.pass_time(60)
        with mock.patch.object(books, "run", away), mock.patch.object(books, "read", away):
            await board.pass_time(60)
            assert "They are away." in caplog.text
