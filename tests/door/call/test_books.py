"""Where asyncio meets the ledger: requests go to the writer together, and each is answered."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from door.call.board_clock import BoardClock
from door.call.books import Books
from tests.clock import FakeClock
from tests.terminal import PATIENCE
from tests.timebank.books import NOON, settings_for
from tests.world import world
from timebank.errors import BooksUnavailable
from timebank.ledger.database import Request, Writer
from timebank.ledger.sqlite.database import SqliteDatabase


async def test_writes_of_one_step_of_the_loop_are_submitted_at_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    happened: list[str] = []
    submit = Writer.submit

    def note(writer: Writer, request: Request) -> None:
        happened.append("submitted")
        submit(writer, request)

    async with world(tmp_path) as here:
        monkeypatch.setattr(Writer, "submit", note)

        async def ask(number: int) -> int:
            happened.append("asked")
            return await here.server.books.run(lambda desk: number)

        assert await asyncio.gather(ask(1), ask(2)) == [1, 2]
    assert happened[:4] == ["asked", "asked", "submitted", "submitted"]


@asynccontextmanager
async def books_in(folder: Path) -> AsyncIterator[Books]:
    """Open books whose writer has not started."""
    settings = settings_for(folder)
    with contextlib.closing(SqliteDatabase(settings.database)) as database:
        database.open()
        books = Books(database, lambda: settings, BoardClock(FakeClock(NOON)))
        yield books
        await books.close()


async def test_work_submitted_before_closing_is_done(tmp_path: Path) -> None:
    async with books_in(tmp_path) as books:
        books._submit_soon = lambda: None  # type: ignore[method-assign] # the step goes on
        asked = asyncio.ensure_future(books.run(lambda desk: "done"))
        await asyncio.sleep(0)
        await books.close()
        async with asyncio.timeout(PATIENCE):
            assert await asked == "done"


async def test_a_writer_that_cannot_begin_answers_everybody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The system may have no room for a thread just now, and have some a moment later."""

    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    async with books_in(tmp_path) as books:
        with monkeypatch.context() as full:
            full.setattr(threading.Thread, "start", refuse)
            asked = [books.run(lambda desk: 1) for _ in range(2)]
            async with asyncio.timeout(PATIENCE):
                answers = await asyncio.gather(*asked, return_exceptions=True)
        assert [type(each) for each in answers] == [BooksUnavailable] * 2
        async with asyncio.timeout(PATIENCE):
            assert await books.run(lambda desk: 2) == 2


async def test_closed_books_refuse_work(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        books = here.server.books
    with pytest.raises(BooksUnavailable, match="closed"):
        await books.run(lambda desk: None)
