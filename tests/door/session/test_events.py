"""System events: no time reaches past one, and every loss is announced."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from door.server import control_client
from tests.door.playing import hand
from tests.door.server.test_control import sysop
from tests.door.visiting import (
    MENU,
    MINUTE,
    TABLE,
    Guest,
    event,
    known,
    seated,
    sysop_toml,
    visitor,
)
from tests.world import NOON, World, world
from timebank.keeping import events
from timebank.keeping.events import EventAsked
from timebank.ledger.database import Desk

TOML = sysop_toml(events=event("Mail hour", "12:30"))
HALF_HOUR = 30 * MINUTE


def with_bank(mode: str, **calls: int) -> str:
    return sysop_toml(
        events=event("Mail hour", "12:30"),
        timebank=f'mode = "{mode}"\nthebank_ext = "THEBANK.EXT"',
        **calls,
    )


# Time and the next event.


async def test_time_held_behind_an_event_is_announced(board: World) -> None:
    ada = known(board, "Ada")
    await ada.calls()
    await ada.sees("You have 60 minutes today.")
    await ada.reads_that("30 minutes available after Mail hour at 12:30.")
    await ada.is_asked(MENU)
    await ada.sees("After Mail hour  30:00 more")
    await ada.sees_time_left(HALF_HOUR)
    assert ada.status.endswith("Mail hour at 12:30")
    assert (ada.has["online"], ada.has["held"]) == (HALF_HOUR, HALF_HOUR)


async def test_an_event_ends_a_call_and_gives_the_held_time_back_afterwards(
    board: World,
) -> None:
    ada = await visitor(board, "Ada")
    await board.pass_time(25 * MINUTE)
    await ada.sees("5 minutes left before Mail hour at 12:30.")
    await board.pass_time(5 * MINUTE)
    await ada.is_sent_off(
        "Mail hour has begun. Please call back at 13:30.",
        "30 minutes more after Mail hour.",
    )
    board.clock.suspend((NOON + timedelta(minutes=90) - board.clock.now()).total_seconds())
    await ada.calls()
    await ada.reads_that("30 minutes back after Mail hour at 12:30.")
    await ada.is_asked(MENU)
    await ada.sees_time_left(HALF_HOUR)
    assert ada.has["held"] == 0


async def test_an_event_is_named_as_the_reason_within_its_first_second_too(tmp_path: Path) -> None:
    """A log-on between two seconds has its last second cut by a fraction before the event."""
    async with world(tmp_path, toml=TOML, now=NOON + timedelta(seconds=0.7)) as board:
        ada = await visitor(board, "Ada")
        await board.pass_time(HALF_HOUR - 1)
        await ada.is_sent_off("Mail hour has begun. Please call back at 13:30.")


async def test_an_event_that_the_sysop_moves_counts_for_calls_that_are_on(tmp_path: Path) -> None:
    async with world(tmp_path, toml=TOML) as board:
        ada = await visitor(board, "Ada")
        sooner = TOML.replace("12:30", "12:10")
        (tmp_path / "sysop.toml").write_text(sooner, encoding="utf-8")
        board.server.reload()
        await board.at_rest()
        await board.pass_time(1)
        await ada.sees("20 minutes available after Mail hour at 12:10.")
        await is_left(ada, 10 * MINUTE)


# Hands and events.


async def test_an_event_that_begins_during_a_hand_stands_it(board: World) -> None:
    """The payout does not keep the call alive: the stake is held, the win saved."""
    ada = await seated(board, "Ada")
    await ada.bets(5, "stay", ends="win")
    board.clock.suspend(HALF_HOUR)
    await board.pass_time(1)
    await ada.is_sent_off(
        "Black Jack For Time: 1 win, 0 losses.",
        "Mail hour has begun. Please call back at 13:30.",
        "59 minutes 59 seconds more after Mail hour.",
    )
    assert (ada.has["online"], ada.has["bank"]) == (0, 5 * MINUTE)


WARNING = "Mail hour at 12:30: the most you can win on 10 coins is 20:00; 20:00 of that would"


@pytest.mark.parametrize(
    ("mode", "expected", "rows"),
    [
        (
            "built-in",
            "10 minutes won past Mail hour at 12:30: put in the bank.",
            [("clamp", 10 * MINUTE)],
        ),
        (
            "external",
            "10 minutes passed on through THEBANK.EXT.",
            [("clamp", 10 * MINUTE), ("external", 10 * MINUTE)],
        ),
        (
            "none",
            "10 minutes won past Mail hour at 12:30: forfeited, this board keeps no time bank.",
            [("clamp", 10 * MINUTE)],
        ),
    ],
)
async def test_a_win_that_is_cut_is_foretold_and_goes_where_the_sysop_says(
    tmp_path: Path, mode: str, expected: str, rows: list[tuple[str, int]]
) -> None:
    async with world(tmp_path, toml=with_bank(mode)) as board:
        ada = await seated(board, "Ada")
        board.seeds = [hand("stay", ends="win")]  # of the shoe that the question seals
        await ada.presses("b").is_asked("Coins to bet")
        assert WARNING not in ada.screen
        await ada.presses("10").sees(f"{WARNING} {WHERE[mode]}.")
        await ada.presses("\b\b\x1b").is_asked(TABLE)
        await ada.bets(10, "stay", ends="win")
        await ada.stays()
        await ada.sees(expected)
        assert ada.ledger[-len(rows) :] == rows
        assert ada.has["online"] == ada.has["held"] == HALF_HOUR
        assert ada.has["bank"] == (10 * MINUTE if mode == "built-in" else 0)
        forfeited = [line.amount for line in board.lines("Ada") if line.target == "forfeit"]
        assert forfeited == ([10 * MINUTE] if mode == "none" else [])


WHERE = {
    "built-in": "go to your time bank",
    "external": "go to your time bank elsewhere",
    "none": "be lost",
}


async def test_a_win_that_fits_before_the_event_is_not_cut(tmp_path: Path) -> None:
    async with world(tmp_path, toml=with_bank("none", minutes_per_day=20)) as board:
        ada = await seated(board, "Ada")
        await ada.presses("b").is_asked("Coins to bet")
        await ada.presses("5").is_asked(": 5")
        assert "the most you can win" not in ada.screen
        ada.presses("\b6")
        await ada.sees("the most you can win on 6 coins is 12:00; 2:00 of that would be lost.")
        await ada.presses("\b5\x1b").is_asked(TABLE)
        await ada.bets(5, "double", ends="win")
        await ada.presses("d").is_asked(TABLE)
        assert ada.has["online"] == HALF_HOUR


# Events that the sysop starts early.


async def sysop_does(board: World, act: Callable[[Desk], str]) -> str:
    """Change the books like a command and notify the server."""
    with board.books() as desk:
        words = act(desk)
    await asyncio.to_thread(control_client.let_server_look, board.config.path)
    return words


async def starts_early(board: World, asked: EventAsked) -> str:
    return await sysop_does(board, lambda desk: events.start(desk, asked, "Jane").words)


async def is_left(ada: Guest, most: int) -> None:
    """Wait until the time left is this, or a second or two less."""
    await ada.terminal.wait_for(lambda _: most - 3 <= ada.time_left <= most, f"{most} s or less")


async def test_an_event_started_early_is_announced_closes_the_board_and_ends(
    tmp_path: Path,
) -> None:
    async with world(tmp_path) as board:
        ada = await seated(board, "Ada")
        await ada.bets(5)
        await starts_early(board, EventAsked(minutes=30))
        await ada.sees("early: the board is closed from 12:01 until 12:31.")
        await board.pass_time(1)
        await is_left(ada, MINUTE)
        assert ada.has["stake"] == 5 * MINUTE
        *_, event_line = (await sysop(board, "nodes")).output.splitlines()
        assert event_line == (
            "Mail hour is from 12:01 until 12:31. It was started early: `door event end` takes it"
            " back."
        )
        await board.pass_time(MINUTE)
        await ada.is_sent_off("Mail hour has begun. Please call back at 12:31.")
        terminal = await board.call()
        await terminal.until("The board is closed for Mail hour until 12:31 (UTC).")
        await board.clock.advance(HALF_HOUR)
        await ada.calls()
        await ada.reads_that("back after Mail hour at 12:01.")


async def test_an_event_that_is_taken_back_gives_the_time_back_at_once(tmp_path: Path) -> None:
    async with world(tmp_path) as board:
        ada = await visitor(board, "Ada")
        await starts_early(board, EventAsked("Mail hour", notice=10))
        await ada.sees("The sysop starts Mail hour early")
        await board.pass_time(1)
        await is_left(ada, 10 * MINUTE)
        board.server.reload()
        assert board.config.bank.schedule.early, "settings that are read again know of it"
        await sysop_does(board, lambda desk: events.take_back(desk, "Jane"))
        await ada.sees("The sysop takes Mail hour back: the board stays open.")
        await board.pass_time(1)
        await is_left(ada, 60 * MINUTE)


async def test_a_caller_out_of_time_sees_an_early_event_shorten_the_grace(
    tmp_path: Path,
) -> None:
    async with world(tmp_path, toml=sysop_toml(minutes_per_day=7, grace_minutes=5)) as board:
        ada = await visitor(board, "Ada")
        await board.pass_time(7 * MINUTE)
        await ada.is_asked("<G>oodbye")
        assert "Grace 5:00" in ada.status
        await starts_early(board, EventAsked("Repairs", 30))
        await board.pass_time(1)
        await ada.terminal.wait_for(lambda _: "Grace 0:5" in ada.status, "less than a minute")
        await board.pass_time(MINUTE)
        await ada.is_sent_off("Repairs has begun. Please call back at 12:38.")
