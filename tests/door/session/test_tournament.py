"""The tournament: one entry, the same cards for all, settled and announced at the end."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from door.games.blackjack import duplicate
from door.games.blackjack.round import start
from door.games.blackjack.rules import BLACK_JACK_FOR_TIME
from door.tables.scoring import settle_tournament
from tests.door.visiting import visitor
from tests.terminal import REFUSING
from tests.world import BOARD, NOON, World, log_on, logged_on, newcomer, world
from timebank.ledger.database import Desk
from timebank.wagers import contests, tournaments
from timebank.wagers.contests import Contest, ContestResult

MINUTE, HOUR = 60, 3600
# Open at once, for a day; one hand each, and callers are known from the first day.
TOML = """
[calls]
minutes_per_day = 600
[timebank]
known_days = 0
[tournament]
day = "{day}"
hour = 0
hours = {hours}
hands = {hands}
entry_minutes = 5
"""


def toml(hands: int = 2, day: str = "fri", hours: int = 24) -> str:
    return BOARD + TOML.format(day=day, hands=hands, hours=hours)


def keys_to_the_end(board: World, hands: int) -> str:
    """Return the keys that stand every hand, with a key after each."""
    with board.books() as desk:
        tournament = tournaments.running(desk)
    assert tournament is not None
    acts: tuple[str, ...] = ()
    game = duplicate.replay(BLACK_JACK_FOR_TIME, tournament.seed, acts, hands)
    met, keys = len(game.over), ""
    while not game.is_over:
        assert game.current is not None
        declines = "no-insurance" in game.current.legal()
        acts = (*acts, "no-insurance" if declines else "stay")
        game = duplicate.replay(BLACK_JACK_FOR_TIME, tournament.seed, acts, hands)
        keys += ("n" if declines else "s") + " " * (len(game.over) - met)
        met = len(game.over)
    return keys


def banked(board: World) -> list[tuple[str, int]]:
    with board.books() as desk:
        query = (
            "SELECT name, balance FROM accounts JOIN callers ON callers.id = caller_id"
            " WHERE kind = 'bank' AND unit = 'second' ORDER BY name"
        )
        return [tuple(row) for row in desk.connection.exec_driver_sql(query)]


async def test_the_menu_says_that_one_is_open(tmp_path: Path) -> None:
    async with world(
        tmp_path, toml=toml(hours=15), now=NOON + timedelta(hours=2, minutes=58)
    ) as board:
        ada = await visitor(board, "Ada", profile=REFUSING)
        offer = "Tournament (D) until 20 Nov at 15:00"
        assert offer in ada.screen
        await ada.logs_off()
        await board.pass_time(2 * MINUTE)
        bob = await visitor(board, "Bob", profile=REFUSING)
        assert offer not in bob.screen


async def test_a_caller_off_line_can_win_a_tournament_entered_for_minutes(tmp_path: Path) -> None:
    async with world(tmp_path, toml=toml(), now=NOON + timedelta(hours=11)) as board:
        ada = await newcomer(board, "Ada")
        await ada.send("d").until("<T> Tournament until 21 Nov at 00:00")
        await ada.send("t").until("Nobody has entered yet.")
        assert "It costs 5 minutes to enter." in ada.picture
        await ada.send("p").until("Pay 5 minutes to enter?")
        await ada.send("n").until_gone("Pay 5 minutes to enter?")
        await ada.send("py").until("of 2")
        keys = keys_to_the_end(board, 2)
        ada.send(keys[:1])
        await ada.close()  # in the middle of it
        await board.at_rest()

        again = await logged_on(board, "Ada")
        await again.until("<D> Your tournament hand waits for you")
        await again.send("dt").until("1 caller has entered.")
        await again.send("p" + keys[1:]).until("You're the first to play it to the end.")
        again.send("qq")
        await again.close()
        await board.at_rest()
        assert board.findings() == []

        await board.clock.advance(2 * HOUR)
        await board.at_rest()
        assert banked(board) == [("Ada", 20 * 60)]
        late = await board.call()
        await late.until("Champion: Ada")
        await log_on(late, "Ada")
        await late.until("You won the tournament of")
        await late.send(" ").until("oodbye")
        await late.send("d").until("The tournament is over: T shows who won.")
        await late.send("t").until("Champion: Ada")
        await late.until("20")
        assert board.findings() == []


async def test_a_champion_is_announced_as_soon_as_the_tournament_is_settled(tmp_path: Path) -> None:
    settings = toml(hands=1, hours=15)
    almost = NOON + timedelta(hours=2, minutes=58)
    async with world(tmp_path, toml=settings, now=almost) as board:
        ada = await newcomer(board, "Ada")
        await ada.send("dtpy").until("1 of 1")
        await ada.send(keys_to_the_end(board, 1)).until("You're the first to play it to the end.")
        await ada.send("qq").until("oodbye")
        await board.clock.advance(2 * MINUTE)
        await settle_tournament(board.server.board)
        await board.at_rest()
        bob = await board.call()
        await bob.until("Champion: Ada")


async def test_a_new_caller_plays_for_rank_only_and_pays_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads, ranking = list[str](), contests.ranking

    def ranked(desk: Desk, contest: Contest) -> list[ContestResult]:
        threads.append(threading.current_thread().name)
        return ranking(desk, contest)

    monkeypatch.setattr(contests, "ranking", ranked)
    settings = toml(hands=1).replace("known_days = 0", "known_days = 7")
    async with world(tmp_path, toml=settings) as board:
        bob = await newcomer(board, "Bob")
        await bob.send("dt").until("You can win minutes from 27 November.")
        assert "The ranking appears once you have played." in bob.picture
        await bob.send("p").until("1 of 1")
        await bob.send(keys_to_the_end(board, 1)).until("You're the first to play it to the end.")
        with board.books() as desk:
            tournament = tournaments.running(desk)
            assert tournament is not None
            assert tournament.seed.hex() not in bob.transcript
            entry = contests.entry_of(desk, tournament.seal, 1)
            assert entry is not None
            assert (entry.for_prize, entry.paid) == (False, 0)
        # All players' tries are read for it, outside the writer.
        assert threads
        assert "timebank-writer" not in threads


def test_a_decision_deals_no_hand_again_that_was_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    dealt: list[object] = []

    def counted(*how: Any) -> Any:
        dealt.append(how)
        return start(*how)

    monkeypatch.setattr(duplicate, "start", counted)
    rules, seed, hands = BLACK_JACK_FOR_TIME, bytes(32), 50
    game, acts = duplicate.replay(rules, seed, (), hands), list[str]()
    while game.current is not None:
        action = game.current.legal()[-1]
        acts.append(str(action))
        game = duplicate.decide(rules, seed, game, action)
    assert len(dealt) == hands
    assert duplicate.replay(rules, seed, acts, hands) == game


async def test_the_daily_deal_does_not_mention_a_tournament_without_one(tmp_path: Path) -> None:
    async with world(tmp_path, toml=toml(day="sun")) as board:
        assert board.clock.now() < datetime(2100, 1, 1, tzinfo=UTC)
        ada = await newcomer(board, "Ada")
        await ada.send("d").until("You haven't played it yet.")
        assert "ournament" not in ada.picture
