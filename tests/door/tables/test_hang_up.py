"""Hands left by a dropped carrier, a second call, another process, or for good.

Each solo game is left in each way. Hands at a shared table are in `vegas`.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256
from pathlib import Path

import pytest

from door.call.console import Console
from door.games.baccarat.round import BaccaratAction
from door.peers import nudges
from door.tables import overdue
from tests.door.playing import KEYS, MINUTE, PLACE_BET, Table, at_the_table, hand, house, sit_down
from tests.door.punting import on_5, seed_where
from tests.door.several import never_notified, servers
from tests.door.tables.red_dog.playing import ends as red_dog_ends
from tests.door.teletype import seed_asking
from tests.door.visiting import Guest, sysop_toml, visitor
from tests.terminal import Terminal
from tests.world import NOON, World, log_on, world
from timebank.errors import BooksUnavailable

DAY = 24 * 60 * MINUTE
A_SECOND = 1  # the cost of a call without elapsed time
CARD = re.compile(r"(?:10|[A2-9JQK])[♥♠♦♣]")
HANG_UPS = pytest.mark.parametrize(
    "hang_up", [Terminal.hang_up_half, Terminal.abort], ids=["close", "reset"]
)

# Every game, in every way


@dataclass(frozen=True)
class Open:
    """A hand with one decision left: the way to it, and its end."""

    title: str
    seed: Callable[[], bytes]
    way: tuple[tuple[str, str], ...]  # keys from the main menu on, and the question after each
    stands: str  # the key that ends it
    after: str  # the question after the hand
    stood: str  # its name in the journal
    resumed: str = "The hand you left is still on the table."
    time_up: str = "Your time is up: you stand."

    @property
    def decision(self) -> str:
        return self.way[-1][1]


GAMES = {
    "black jack": Open(
        "Black Jack For Time",
        lambda: hand("stay", ends="lose"),
        (("b ", "<R>ules"), ("b", "Coins to bet"), ("2\r", "<H>it")),
        *("s", "<B>et", "stay"),
    ),
    "red dog": Open(
        "Red Dog",
        lambda: red_dog_ends("lose", 3),
        (("r ", "<B>et"), ("b", "Coins to bet"), ("2\r", "R<a>ise")),
        *("s", "<B>et", "stay"),
    ),
    "baccarat": Open(
        "Baccarat",
        lambda: seed_where(on_5(BaccaratAction.NO_CARD, ends="bank")),
        (
            ("c ", "<F>rancs"),
            ("t", "<S>hoe"),
            ("b", "Place your bets"),
            ("2\r ", "Card?"),
        ),
        *("n ", "<S>hoe", "no-card"),
        resumed="The coup you left is still on the table.",
        time_up="Your time was up: you took no card.",
    ),
    "baccarat for the bank": Open(
        "Baccarat",
        lambda: seed_where(on_5(BaccaratAction.NO_CARD, ends="bank")),
        (
            ("c ", "<F>rancs"),
            ("d", "<S>hoe"),
            ("b", "Place your bets"),
            ("9\r ", "Card?"),
        ),
        *("n ", "<S>hoe", "no-card"),
        resumed="The coup you left is still on the table.",
        time_up="Your time was up: you took no card.",
    ),
    "UNIX bj": Open(
        "UNIX bj",
        lambda: seed_asking("Hit? y", "Hit? y", "Hit? "),
        (("u", "<P>lay"), ("p", "Hit?")),
        *("\x7f", "Press any key", "stay"),
    ),
}
EVERYWHERE = pytest.mark.parametrize("left", GAMES.values(), ids=GAMES)


async def opens(left: Open, board: World) -> Guest:
    """Bring a new caller to an open hand."""
    board.seeds = [left.seed()]
    ada = await visitor(board, "Ada")
    for keys, asked in left.way:
        await ada.presses(keys).is_asked(asked)
    return ada


async def finishes(left: Open, ada: Guest) -> None:
    await ada.presses(left.stands).is_asked(left.after)
    assert stored_hand(ada.board) == (["bet", left.stood], 0, 1)


def stored_hand(board: World) -> tuple[list[str], int, int]:
    """Return the books' view of the one hand: its journal, its stake, and the number of deals."""
    with board.books() as desk:
        run = desk.connection.exec_driver_sql
        actions = "SELECT json_extract(action, '$.action') FROM actions ORDER BY sequence"
        staked = "SELECT sum(balance) FROM accounts WHERE kind = 'stake'"
        return (
            list(run(actions).scalars()),
            run(staked).scalar_one(),
            run("SELECT count(*) FROM rounds").scalar_one(),
        )


@HANG_UPS
@EVERYWHERE
async def test_a_hand_waits_for_its_caller_with_the_same_cards(
    tmp_path: Path, left: Open, hang_up: Callable[[Terminal], None]
) -> None:
    async with world(tmp_path) as board:
        ada = await opens(left, board)
        cards, before, caller = CARD.findall(ada.terminal.picture), stored_hand(board), ada.caller
        assert before[0] == ["bet"]
        assert before[1] > 0
        hang_up(ada.terminal)
        await caller.ended.wait()
        assert (stored_hand(board), board.findings()) == (before, [])
        online = ada.has["online"]
        await board.clock.advance(600)  # time off line costs nothing
        await ada.calls()
        await ada.is_asked(left.decision)
        assert left.resumed in " ".join(ada.terminal.transcript.split())
        assert CARD.findall(ada.terminal.picture) == cards
        assert ada.has["online"] == online
        await finishes(left, ada)


@EVERYWHERE
async def test_a_hand_is_stood_for_a_caller_out_of_time(tmp_path: Path, left: Open) -> None:
    async with world(tmp_path, toml=sysop_toml(events="", minutes_per_day=5)) as board:
        ada = await opens(left, board)
        await board.pass_time(5 * MINUTE)
        await ada.terminal.until_closed()
        assert left.time_up in " ".join(ada.terminal.transcript.split())
        assert stored_hand(board) == (["bet", left.stood], 0, 1)


@EVERYWHERE
async def test_a_hand_that_could_not_be_stood_is_stood_at_the_next_call(
    tmp_path: Path, left: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_disk(*_: object) -> None:
        raise BooksUnavailable("The books can't be written right now (disk full).")

    async with world(tmp_path, toml=sysop_toml(events="", minutes_per_day=5)) as board:
        ada = await opens(left, board)
        with monkeypatch.context() as disk:
            disk.setattr("timebank.wagers.wagers.act", no_disk)
            await board.pass_time(5 * MINUTE)
            await ada.is_sent_off("Please call again later.")
        assert stored_hand(board)[0] == ["bet"]
        await ada.calls()
        await ada.sees(left.time_up)
        assert stored_hand(board) == (["bet", left.stood], 0, 1)


@EVERYWHERE
async def test_an_abandoned_hand_is_stood_by_the_next_process(tmp_path: Path, left: Open) -> None:
    async with world(tmp_path) as board:
        ada = await opens(left, board)
        await ada.drops_carrier()
    last_second = NOON.replace(hour=23, minute=59, second=59) + timedelta(days=1)
    async with world(tmp_path, now=last_second) as board:
        assert stored_hand(board)[0] == ["bet"], "the next day is not over"
    async with world(tmp_path, now=last_second + timedelta(seconds=1)) as board:
        assert stored_hand(board) == (["bet", left.stood], 0, 1)
        ada.board = board
        await ada.calls()
        await ada.sees(f"Your hand of 20 November at {left.title} was left open; the dealer stood")


# Black Jack For Time, at any point of a hand


@pytest.mark.parametrize(
    ("before", "after", "ending"),
    [
        ((), ("insurance", "stay"), "win"),
        (("insurance",), ("stay",), "win"),
        (("hit", "hit"), ("stay",), "win"),
    ],
    ids=["at insurance", "after insurance", "at four cards"],
)
async def test_a_hand_waits_as_far_as_it_was_played(
    ada: Table, before: tuple[str, ...], after: tuple[str, ...], ending: str
) -> None:
    seed = hand(*before, *after, ends=ending)
    await ada.bets(4, seed)
    await ada.does(*before)
    await ada.board.clock.advance(20)
    staked = 60 * MINUTE - 20 - ada.time_left
    ada.terminal.abort()
    await ada.is_gone()
    accounts = ada.board.balances("Ada")
    assert (accounts["online"], accounts["stake"]) == (60 * MINUTE - 20 - staked, 4 * MINUTE)
    await ada.calls_back()
    assert await ada.seal() == sha256(seed).hexdigest()
    await ada.does(*after)
    assert ada.journal() == ["bet", *before, *after]
    assert await ada.seed() == seed.hex()
    assert ada.online == ada.time_left
    # One turn was taken.
    assert "Turns today: 1 of 20" in ada.terminal.row(0)


@HANG_UPS
@pytest.mark.parametrize("action", ["double", "hit", "stay"])
async def test_a_key_just_before_the_hang_up_counts_whole_or_not_at_all(
    ada: Table, hang_up: Callable[[Terminal], None], action: str
) -> None:
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
    ada: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
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


async def test_a_hang_up_at_the_bet_bets_nothing(ada: Table) -> None:
    await ada.asks_to_bet()
    ada.terminal.send("5")
    await ada.prompt(": 5")
    ada.terminal.abort()
    await ada.is_gone()
    assert ada.hands_dealt == 0
    await ada.returns()
    assert ada.online == ada.time_left == 60 * MINUTE - A_SECOND


@pytest.mark.long
async def test_the_next_day_the_hand_is_still_there_and_no_turn_of_that_day(ada: Table) -> None:
    await ada.bets(4, hand("stay", ends="win"))
    ada.terminal.abort()
    await ada.is_gone()
    await ada.board.clock.advance(DAY)
    await ada.calls_back_on_a_new_day()
    await ada.does("stay")
    # The four that were staked were of the day before.
    assert ada.online == ada.time_left == 64 * MINUTE
    assert "Turns today: 0 of 20" in ada.terminal.row(0)


# A change of settings


async def test_a_hand_keeps_the_rules_of_its_deal_and_the_next_has_new_ones(
    tmp_path: Path,
) -> None:
    async with at_the_table(tmp_path) as ada:
        await ada.bets(4, hand("hit", "stay", ends="win"))
        ada.terminal.abort()
        await ada.is_gone()
        toml = house(coin_minutes=5, win_pays=3, largest_bet=3)
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


async def test_a_double_costs_the_bet_despite_a_later_change_of_settings(
    tmp_path: Path,
) -> None:
    async with at_the_table(tmp_path) as ada:
        await ada.bets(4, hand("double", ends="win"))
        toml = house(coin_minutes=20, largest_bet=1, turns_per_day=1)
        (tmp_path / "sysop.toml").write_text(toml, encoding="utf-8")
        ada.board.server.reload()
        await ada.does("double")
        assert ada.moved()[:2] == [("stake", 240), ("double", 240)]


# Another server


@pytest.mark.parametrize(
    ("keys", "journal"),
    [("b", None), ("s", ["bet"])],
    ids=["who wants to bet", "who has a hand in play"],
)
async def test_a_call_that_another_server_took_over_learns_it_at_its_next_entry(
    tmp_path: Path, bank: str, monkeypatch, keys: str, journal: list[str] | None
) -> None:
    monkeypatch.setattr(nudges, "listen", never_notified)
    async with servers(tmp_path, bank) as (one, two):
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


async def take_over(ada: Table, *, hand_is_open: bool) -> None:
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
        (("hit",), "win", "you won 4 minutes (win)"),
        ((), "dealer-natural", "you lost 4 minutes (dealer's blackjack)"),
        (("insurance",), "win", "you won 2 minutes (win)"),
    ],
    ids=["won", "insurance declined", "after insurance"],
)
async def test_a_caller_who_did_not_return_reads_the_end_of_the_hand_once(
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
        ada.terminal = await board.call()
        await log_on(ada.terminal, "Ada")
        await ada.prompt("Press any key")
        text = " ".join(ada.terminal.picture.split())
        assert f"was left open; the dealer stood it for you: {result}." in text
        ada.terminal.send(" ")
        await ada.prompt("oodbye")
        ada.terminal.abort()
        await ada.is_gone()
        await ada.returns()
        assert "was left open" not in ada.terminal.transcript


async def test_a_running_server_stands_overdue_hands_too(ada: Table) -> None:
    await ada.bets(4, hand("stay", ends="win"))
    ada.terminal.abort()
    await ada.is_gone()
    ada.board.clock.suspend(2 * DAY)
    await ada.board.clock.advance(600)
    await ada.board.settled()
    await ada.board.settled()
    assert ada.journal() == ["bet", "stay"]


async def test_an_overdue_hand_waits_for_a_caller_on_line_with_it(ada: Table) -> None:
    await ada.bets(4, hand("stay", ends="win"))
    ada.board.clock.suspend(2 * DAY)
    await ada.board.server.board.renew_leases()
    await ada.board.clock.advance(1)
    await overdue.stand_all(ada.board.server.books)
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
