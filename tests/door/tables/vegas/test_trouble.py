"""The Vegas table while the books cannot be written: nothing is lost, shown too early, or stuck."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from door.call.patience import PATIENCE_SECONDS
from door.tables.vegas import news
from door.tables.vegas.table_clock import RETRY_SECONDS
from tests.door.seated import NAMES, TURN, Party, arrives, everybody_plays, party, shoe, vegas
from tests.door.tables.test_trouble import books_locked
from tests.world import world
from timebank.errors import BooksUnavailable


@asynccontextmanager
async def impatient_party(folder: Path, count: int) -> AsyncIterator[Party]:
    """Open a party whose books give up at once when another program writes."""
    async with world(folder, toml=vegas(), busy_seconds=0.02) as here:
        here.seeds = [shoe(count, everybody_plays)]
        yield Party(here, [await (await arrives(here, name)).sits() for name in NAMES[:count]])


async def test_a_decision_that_cannot_be_written_may_be_tried_again(
    tmp_path: Path,
) -> None:
    async with impatient_party(tmp_path, 2) as two:
        ada, bob = two.sitters
        await two.deal()
        before = two.state.hand
        with books_locked(two.here), pytest.raises(BooksUnavailable):
            await ada.does("hit")
        assert two.state.hand is before
        assert bob.was_told(news.RoundWentOn) == []
        await ada.does("stay")
        assert two.journal() == ["1:stay"]


async def test_every_caller_reads_once_that_the_dealer_waits_for_the_books(tmp_path: Path) -> None:
    async with party(tmp_path, 2) as two:
        ada, bob = two.sitters
        await two.deal()
        clock = two.here.clock
        async with two.here.slow_books():
            decides = asyncio.create_task(ada.does("stay"))
            await asyncio.sleep(0)
            await clock.advance(PATIENCE_SECONDS - 1)
            assert ada.was_told(news.BooksBusy) == []
            await clock.advance(PATIENCE_SECONDS)
            for sitter in (ada, bob):
                assert sitter.was_told(news.BooksBusy) == [news.BooksBusy()]
        await decides
        assert two.journal() == ["1:stay"]
        await clock.advance(PATIENCE_SECONDS)
        assert len(ada.was_told(news.BooksBusy)) == 1


async def test_a_deal_that_cannot_be_written_is_tried_again_for_the_same_bets(
    tmp_path: Path,
) -> None:
    async with impatient_party(tmp_path, 2) as two:
        ada, bob = two.sitters
        await ada.is_ready(3)
        with books_locked(two.here):
            await bob.bets(2)
            assert ada.was_told(news.BooksClosed)
            assert two.state.hand is None
        await two.pass_time(RETRY_SECONDS)
        assert [seat.bet for seat in two.round.seats] == [180, 120]


async def test_a_silent_seat_is_stood_as_soon_as_it_can_be_written(tmp_path: Path) -> None:
    async with impatient_party(tmp_path, 2) as two:
        await two.deal()
        await two.pass_time(TURN - 1)
        with books_locked(two.here):
            await two.here.clock.advance(1)
            await two.sitters[1].sits()  # it completes after the work before it
            assert two.state.alarm.what == "retry"
        assert two.journal() == []
        await two.pass_time(RETRY_SECONDS)
        assert two.journal() == ["1:stay"]
        assert two.at_turn == "Bob"


async def test_a_table_without_a_sealed_shoe_gets_one_later(tmp_path: Path) -> None:
    async with world(tmp_path, toml=vegas(), busy_seconds=0.02) as here:
        ada = await arrives(here, "Ada")
        alone = Party(here, [ada])
        with books_locked(alone.here):
            await ada.sits()
            assert alone.state.shoe is None
        await alone.pass_time(RETRY_SECONDS)
        assert ada.was_told(news.ShoeSealed)
