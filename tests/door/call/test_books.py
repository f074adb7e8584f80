"""Where asyncio meets the ledger: requests go to the writer together, and each is answered."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.world import world
from timebank.errors import BooksUnavailable
from timebank.ledger.database import Request, Writer


async def test_the_writer_gets_what_a_step_of_the_loop_asks_at_its_end(
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


async def test_books_that_are_closed_refuse_what_is_asked_of_them(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        books = here.server.books
    with pytest.raises(BooksUnavailable, match="closed"):
        await books.run(lambda desk: None)
