"""Hands that were left: by a dropped carrier, a second call, another process, or for good."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from datetime import timedelta
from hashlib import sha256
from pathlib import Path

import pytest

from door.call.console import Console
from tests.door.playing import KEYS, MINUTE, PLACE_BET, Table, at_the_table, hand, house, sit_down
from tests.terminal import Terminal
from tests.world import NOON, PLAIN_SHOES, log_on, world

DAY = 24 * 60 * MINUTE
A_SECOND = 1  # that a call costs in which no time passes

# A dropped carrier


@pytest.mark.parametrize("hang_up", [Terminal.hang_up_half, Terminal.abort], ids=["close", "reset"])
@pytest.mark.parametrize(
    ("before", "after", "ending"),
    [
        ((), ("insurance", "stay"), "win"),
        ((), ("no-insurance", "stay"), "lose"),
        (("insurance",), ("stay",), "win"),
        ((), ("double",), "win"),
        ((), ("hit", "stay"), "lose"),
        (("hit",), ("hit", "hit"), "charlie"),
        (("hit", "hit"), ("stay",), "win"),
    ],
    ids=[
        "at insurance",
        "at insurance, declining",
        "after insurance",
        "at two cards, doubling",
        "at two cards",
        "at three cards",
        "at four cards",
    ],
)
async def test_a_hand_waits_for_its_caller_with_the_same_cards(
    tmp_path: Path,
    hang_up: Callable[[Terminal], None],
    before: tuple[str, ...],
    after: tuple[str, ...],
    ending: str,
) -> None:
    async with at_the_table(tmp_path) as ada:
        seed = hand(*before, *after, ends=ending)
        await ada.bets(4, seed)
        await ada.does(*before)
        await ada.board.clock.advance(20)
        staked = 60 * MINUTE - 20 - ada.time_left
        hang_up(ada.terminal)
        await ada.is_gone()
        accounts = ada.board.balances("Ada")
        assert (accounts["online"], accounts["stake"]) == (60 * MINUTE - 20 - staked, 4 * MINUTE)
        assert ada.board.findings() == []
        await ada.board.clock.advance(600)  # nobody pays for time off line
        await ada.calls_back()
        await ada.message("The hand you left is still on the table.")
        assert await ada.seal() == sha256(seed).hexdigest()
        await ada.does(*after)
        assert ada.journal() == ["bet", *before, *after]
        assert await ada.seed() == seed.hex()
        assert ada.online == ada.time_left
        assert ada.board.balances("Ada")["stake"] == 0
        # One hand was dealt, and one turn was taken.
        assert "Turns today: 1 of 20" in ada.terminal.row(0)
        assert ada.hands_dealt == 1


@pytest.mark.parametrize("hang_up", [Terminal.hang_up_half, Terminal.abort], ids=["close", "reset"])
@pytest.mark.parametrize("action", ["double", "hit", "stay"])
async def test_a_key_that_is_the_last_thing_before_the_hang_up_counts_or_does_not(
    tmp_path: Path, hang_up: Callable[[Terminal], None], action: str
) -> None:
    async with at_the_table(tmp_path) as ada:
        await ada.bets(4, hand(action, ends="bust" if action == "hit" else "lose"))
        ada.terminal.send(KEYS[action])
        hang_up(ada.terminal)
        await ada.is_gone()
        if ada.journal() == ["bet"]:
            await ada.calls_back()
            await ada.does(action)
        assert ada.journal() == ["bet", action]
        lost = 8 if action == "double" else 4
        assert ada.online == (60 - lost) * MINUTE - A_SECOND


async def test_an_action_that_is_on_its_way_to_the_books_arrives_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with at_the_table(tmp_path) as ada:
        await ada.bets(4, hand("stay", ends="win"))
        carrier_lost = asyncio.Event()
        notice = Console.hung_up

        def hung_up(console: Console, reason: str) -> None:
            notice(console, reason)
            carrier_lost.set()

        monkeypatch.setattr(Console, "hung_up", hung_up)
        async with ada.board.slow_books():
            ada.terminal.send("s")
            await ada.terminal.wait_for(lambda _: ada.prompt_row == "", "the key taken")
            ada.terminal.abort()
            await carrier_lost.wait()
        await ada.is_gone()
        assert ada.journal() == ["bet", "stay"]
        assert ada.online == 64 * MINUTE - A_SECOND


async def test_who_hangs_up_at_the_bet_has_bet_nothing(tmp_path: Path) -> None:
    async with at_the_table(tmp_path) as ada:
        await ada.asks_to_bet()
        ada.terminal.send("5")
        await ada.prompt(": 5")
        ada.terminal.abort()
        await ada.is_gone()
        assert ada.hands_dealt == 0
        await ada.returns()
        assert ada.online == ada.time_left == 60 * MINUTE - A_SECOND


@pytest.mark.long
async def test_the_next_day_the_hand_is_still_there_and_no_turn_of_that_day(tmp_path: Path) -> None:
    async with at_the_table(tmp_path) as ada:
        await ada.bets(4, hand("stay", ends="win"))
        ada.terminal.abort()
        await ada.is_gone()
        await ada.board.clock.advance(DAY)
        await ada.calls_back_on_a_new_day()
        await ada.does("stay")
        # The four that were staked were of the day before.
        assert ada.online == ada.time_left == 64 * MINUTE
        assert "Turns today: 0 of 20" in ada.terminal.row(0)


# Other settings meanwhile


async def test_a_hand_goes_on_under_the_rules_it_was_dealt_under_and_the_next_one_does_not(
    tmp_path: Path,
) -> None:
    async with at_the_table(tmp_path) as ada:
        await ada.bets(4, hand("hit", "stay", ends="win"))
        ada.terminal.abort()
        await ada.is_gone()
        toml = house(coin_minutes=5, win_pays=3, largest_bet=3) + PLAIN_SHOES
        (tmp_path / "sysop.toml").write_text(toml, encoding="utf-8")
        ada.board.server.reload()
        await ada.calls_back()
        assert ada.figure("Bet") == "4 coins"
        await ada.does("hit", "stay")
        assert ada.moved() == [("stake", 240), ("returned", 240), ("won", 240)]
        # Sixty-four minutes are twelve coins of five minutes now.
        assert ada.figure("A coin") == "5 minutes"
        assert ada.figure("Pot") == "12 coins"
        await ada.bets(3, hand("stay", ends="win"))
        assert ada.figure("Bet") == "3 coins"
        await ada.does("stay")
        assert ada.moved() == [("stake", 900), ("returned", 900), ("won", 1800)]


async def test_a_double_costs_what_the_bet_did_whatever_was_set_after_the_bet(
    tmp_path: Path,
) -> None:
    async with at_the_table(tmp_path) as ada:
        await ada.bets(4, hand("double", ends="win"))
        toml = house(coin_minutes=20, largest_bet=1, turns_per_day=1) + PLAIN_SHOES
        (tmp_path / "sysop.toml").write_text(toml, encoding="utf-8")
        ada.board.server.reload()
        await ada.does("double")
        assert ada.moved()[:2] == [("stake", 240), ("double", 240)]


# A second call


async def test_a_second_call_takes_the_hand_over_as_it_lies(tmp_path: Path) -> None:
    async with at_the_table(tmp_path) as ada:
        await ada.bets(4, hand("hit", "stay", ends="lose"))
        await ada.does("hit")
        first = ada.terminal
        await take_over(ada)
        await first.until_closed()
        assert "You've logged on from another connection." in first.picture
        await ada.does("stay")
        assert ada.journal() == ["bet", "hit", "stay"]


@pytest.mark.parametrize(
    ("keys", "journal"),
    [("b", None), ("s", ["bet"])],
    ids=["who wants to bet", "who has a hand in play"],
)
async def test_a_call_that_another_server_took_over_learns_it_at_its_next_entry(
    tmp_path: Path, keys: str, journal: list[str] | None
) -> None:
    async with AsyncExitStack() as boards:
        one = await boards.enter_async_context(world(tmp_path))
        two = await boards.enter_async_context(world(tmp_path))
        ada = await sit_down(one, "Ada")
        if journal is not None:
            await ada.bets(4, hand("stay", ends="lose"))
        first = ada.terminal
        ada.board = two
        await take_over(ada, hand_is_open=journal is not None)
        first.send(keys)
        if journal is None:
            await first.until("Coins to bet")
            first.send("1\r")
        await first.until_closed()
        assert "You've logged on from another connection." in first.picture
        assert ada.hands_dealt == (journal is not None)
        if journal is not None:
            assert ada.journal() == journal
            await ada.does("stay")


async def test_a_call_that_another_server_took_over_learns_it_when_its_lease_is_renewed(
    tmp_path: Path,
) -> None:
    async with AsyncExitStack() as boards:
        one = await boards.enter_async_context(world(tmp_path))
        two = await boards.enter_async_context(world(tmp_path))
        ada = await sit_down(one, "Ada")
        first = ada.terminal
        ada.board = two
        await take_over(ada, hand_is_open=False)
        await one.clock.advance(10)
        await first.until_closed()
        assert "You've logged on from another connection." in first.picture


async def take_over(ada: Table, *, hand_is_open: bool = True) -> None:
    ada.terminal = await ada.board.call()
    await log_on(ada.terminal, ada.name)
    await ada.terminal.until("You're already on, at node 1.")
    ada.terminal.send("y")
    if hand_is_open:
        await ada.sees_hand()
    else:
        await ada.prompt("oodbye")


# For good


@pytest.mark.parametrize(
    ("before", "ending", "result"),
    [
        ((), "lose", "you lost 4 minutes (lose)"),
        (("hit",), "win", "you won 4 minutes (win)"),
        ((), "dealer-natural", "you lost 4 minutes (dealer's natural)"),
        (("insurance",), "win", "you won 2 minutes (win)"),
    ],
    ids=["lost", "won", "insurance declined", "after insurance"],
)
async def test_a_hand_nobody_returned_to_is_stood_by_the_next_process(
    tmp_path: Path, before: tuple[str, ...], ending: str, result: str
) -> None:
    rest = ("no-insurance",) if ending == "dealer-natural" else ("stay",)
    async with at_the_table(tmp_path) as ada:
        await ada.bets(4, hand(*before, *rest, ends=ending))
        await ada.does(*before)
        ada.terminal.abort()
        await ada.is_gone()
    # Two days later the day after the hand's own is over.
    async with world(tmp_path, now=NOON + timedelta(days=2)) as board:
        ada.board = board
        assert ada.journal() == ["bet", *before, *rest]
        assert board.balances("Ada")["stake"] == 0
        ada.terminal = await board.call()
        await log_on(ada.terminal, "Ada")
        await ada.prompt("Press any key")
        told = " ".join(ada.terminal.picture.split())
        assert (
            "Your hand of 20 November at Black Jack For Time was left open; the dealer stood it "
            f"for you: {result}."
        ) in told
        ada.terminal.send(" ")
        await ada.prompt("oodbye")
        # A notice is read once.
        ada.terminal.abort()
        await ada.is_gone()
        await ada.returns()
        assert "was left open" not in ada.terminal.transcript


async def test_until_the_end_of_the_next_day_the_hand_is_left_alone(tmp_path: Path) -> None:
    async with at_the_table(tmp_path) as ada:
        await ada.bets(4, hand("stay", ends="win"))
        ada.terminal.abort()
        await ada.is_gone()
    last_second = NOON.replace(hour=23, minute=59, second=59) + timedelta(days=1)
    async with world(tmp_path, now=last_second) as board:
        ada.board = board
        assert ada.journal() == ["bet"]


async def test_a_server_that_runs_on_stands_overdue_hands_as_well(tmp_path: Path) -> None:
    async with at_the_table(tmp_path) as ada:
        await ada.bets(4, hand("stay", ends="win"))
        ada.terminal.abort()
        await ada.is_gone()
        ada.board.clock.suspend(2 * DAY)
        await ada.board.clock.advance(600)
        await ada.board.settled()
        await ada.board.settled()
        assert ada.journal() == ["bet", "stay"]


async def test_an_overdue_hand_is_left_to_a_caller_who_is_on_line_with_it(tmp_path: Path) -> None:
    async with at_the_table(tmp_path) as ada:
        await ada.bets(4, hand("stay", ends="win"))
        ada.board.clock.suspend(2 * DAY)
        await ada.board.server.board.renew_leases()
        await ada.board.clock.advance(1)
        async with world(tmp_path, now=NOON + timedelta(days=2)):
            assert ada.journal() == ["bet"]
        await ada.does("stay")
        assert ada.moved()[-1] == ("won", 240)


async def test_a_hand_stood_from_a_running_shoe_leaves_the_shoe_open(tmp_path: Path) -> None:
    toml = house(shuffle="shoe")
    async with at_the_table(tmp_path, toml=toml) as ada:
        await ada.bets(4, hand())
        seal = await ada.seal()
        ada.terminal.abort()
        await ada.is_gone()
    async with world(tmp_path, toml=toml, now=NOON + timedelta(days=2)) as board:
        ada.board = board
        ada.terminal = await board.call()
        await log_on(ada.terminal, "Ada")
        await ada.prompt("Press any key")
        ada.terminal.send(" ")
        await ada.prompt("oodbye")
        ada.terminal.send("b")
        await ada.prompt(PLACE_BET)
        assert await ada.seal() == seal
