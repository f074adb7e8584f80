"""A caller waits less than half a minute for an answer before being asked to call again.

The limit covers all waits together: for the books, then for the dealer.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from door.call.keyboard import LAST_SECONDS, LONGEST_WAIT
from door.tables.vegas import news
from tests.clock import FakeClock
from tests.door.seated import everybody_plays, party, shoe
from tests.door.vegas import table_of
from tests.door.vegas_callers import table_toml, vegas_callers
from tests.door.visiting import Guest, known, sysop_toml
from tests.world import World, world
from timebank.callers.notices import add_notice
from timebank.errors import BooksUnavailable, OutcomeUnknown

HALF_A_MINUTE = 30
UNREACHED = "The table can't be reached just now."


async def waits(clock: FakeClock, seconds: float) -> None:
    """Let time pass while the books do not answer."""
    end = clock.monotonic() + seconds
    while clock.monotonic() < end:
        await clock.advance_at_once(min(0.5, end - clock.monotonic()))
        for _ in range(20):
            await asyncio.sleep(0)


async def is_asked_in_time(guest: Guest, clock: FakeClock, *, since: float, prompt: str) -> None:
    await waits(clock, since + HALF_A_MINUTE - clock.monotonic())
    await guest.is_asked(prompt)


class TestTheBooks:
    async def test_a_write_that_has_not_begun_is_cancelled_at_the_deadline(
        self, board: World
    ) -> None:
        board.enter("Ada")
        books, clock = board.server.books, board.clock
        async with board.slow_books():
            asked = asyncio.create_task(
                books.run(lambda desk: add_notice(desk, 1, "late"), until=clock.monotonic() + 5)
            )
            await waits(clock, 4.5)
            assert not asked.done()
            await waits(clock, 0.5)
            with pytest.raises(BooksUnavailable):
                await asked
        assert notices_in(board) == 0

    async def test_a_write_begun_before_the_deadline_has_an_unknown_outcome(
        self, board: World
    ) -> None:
        board.enter("Ada")
        go_on, begun = asyncio.Event(), asyncio.Event()
        loop = asyncio.get_running_loop()

        def slow(desk: Any) -> None:
            loop.call_soon_threadsafe(begun.set)
            asyncio.run_coroutine_threadsafe(go_on.wait(), loop).result()
            add_notice(desk, 1, "late")

        asked = asyncio.create_task(board.server.books.run(slow, until=board.clock.monotonic() + 5))
        await begun.wait()
        await waits(board.clock, 5)
        with pytest.raises(OutcomeUnknown):
            await asked
        go_on.set()
        await board.server.books.run(lambda desk: None)
        assert notices_in(board) == 1

    async def test_a_read_outside_the_writer_has_a_deadline_too(self, board: World) -> None:
        go_on = asyncio.Event()
        loop = asyncio.get_running_loop()

        def slow(desk: Any) -> None:
            asyncio.run_coroutine_threadsafe(go_on.wait(), loop).result()

        asked = asyncio.create_task(
            board.server.books.read(slow, until=board.clock.monotonic() + 5)
        )
        await waits(board.clock, 5)
        with pytest.raises(BooksUnavailable):
            await asked
        go_on.set()


def notices_in(here: World) -> int:
    with here.books() as desk:
        run = desk.connection.exec_driver_sql
        return int(run("SELECT count(*) FROM notices WHERE text LIKE '%late%'").scalar_one())


class TestOneKey:
    async def test_a_step_after_a_long_wait_has_its_own_short_deadline(
        self, tmp_path: Path
    ) -> None:
        async with party(tmp_path, 1) as one:
            (ada,), clock = one.sitters, one.here.clock
            console = ada.caller.console
            asked = clock.monotonic()
            assert console.keyboard.answer_by() == asked + LONGEST_WAIT
            await clock.advance(LONGEST_WAIT)
            assert console.keyboard.answer_by() == clock.monotonic() + LAST_SECONDS

    @pytest.mark.parametrize("key", ["v", "b", "t", "w", "g"])
    async def test_at_the_menu(self, key: str, tmp_path: Path) -> None:
        """The menu leads to the tables, the window, the list of callers and the goodbye."""
        async with world(tmp_path, toml=sysop_toml(events="")) as here:
            ada = known(here, "Ada")
            await ada.visits()
            if key == "g":
                await ada.presses("g").is_asked("Bank your")
                key = "y"
            async with here.slow_books():
                ada.presses(key)
                await waits(here.clock, HALF_A_MINUTE)
                if key == "y":
                    await ada.sees("Goodbye, Ada. Call again!")
                else:
                    await ada.terminal.wait_for(
                        lambda _: ada.caller.console.screen.awaits_key, "something to answer"
                    )

    async def test_at_the_log_on(self, board: World) -> None:
        ada = known(board, "Ada")
        await ada.dials()
        async with board.slow_books():
            ada.presses("Ada\rsesame\r")
            await waits(board.clock, HALF_A_MINUTE)
            await ada.sees("Please call again later.")
            await ada.terminal.until_closed()


class TestAtVegas:
    async def test_the_table_itself(self, tmp_path: Path) -> None:
        """Both the dealer and a new arrival wait for the books."""
        async with world(tmp_path, toml=table_toml()) as here:
            ada = known(here, "Ada")
            await ada.visits()
            async with here.slow_books():
                since = here.clock.monotonic()
                ada.presses("v ")
                await is_asked_in_time(ada, here.clock, since=since, prompt="Press any key")
                await ada.sees(UNREACHED)

    async def test_a_caller_asked_to_call_again_gets_the_same_seat(self, tmp_path: Path) -> None:
        seed = shoe(1, everybody_plays)
        async with vegas_callers(tmp_path, "Ada", seed=seed) as (ada,):
            await ada.says_bet(1)
            await ada.has_the_turn()
            here = ada.board
            state = table_of(here.server.board).state
            seat = state.seat_of(ada.caller.record.id)
            assert seat is not None
            async with here.slow_books():
                ada.presses("s")
                await waits(here.clock, HALF_A_MINUTE)
                await ada.sees("Your next call will show")
                assert seat.guest is None
                assert not seat.stood
                assert seat.held_until > here.clock.monotonic()

    async def test_a_command_that_was_not_begun_is_never_done(self, tmp_path: Path) -> None:
        async with party(tmp_path, 2) as two:
            ada, bob = two.sitters
            await two.deal()
            clock = two.here.clock
            async with two.here.slow_books():
                first = asyncio.create_task(ada.does("hit"))
                second = asyncio.create_task(ada.does("stay"))
                await waits(clock, HALF_A_MINUTE)
                with pytest.raises(BooksUnavailable):
                    await second
                with pytest.raises(OutcomeUnknown):
                    await first
            await two.here.at_rest()
            assert two.journal()[0] == "1:hit"
            assert "1:stay" not in two.journal()
            assert len(bob.was_told(news.RoundWentOn)) == 1
