"""Shoes that wait for a round of a public beacon, which is fixed with the bet."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from door.beacon import network
from door.errors import NotNow
from door.games import hands, overdue, proofs
from door.games.engine.shuffle import Phrases, randomness, shuffle
from door.games.tables.beacons import PAUSE, RoundsOfRelays
from door.games.vegas import news
from door.games.vegas.table import VegasTable
from tests.beacons import OWN, OwnRounds, sign
from tests.door.beacon.test_fetching import relay
from tests.door.playing import PLACE_BET, Table, at_the_table
from tests.door.reading import read_again
from tests.door.seated import MINUTE, Party, Sitter, party, vegas
from tests.terminal import Terminal
from tests.world import BOARD, World, log_on
from timebank.errors import JournalDamaged, NotDealtYet
from timebank.wagers import journal
from timebank.wagers.beacons import BeaconRound

FAIRNESS = '\n[fairness]\nshoes_ahead = 20\nbeacon = "drand"\n'
BEACON = BOARD + FAIRNESS
LONG = 20.0  # seconds until any round is published, or given up


@pytest.fixture(autouse=True)
def _our_network_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(network.KNOWN, OWN.key, OWN)


@asynccontextmanager
async def beside_a_beacon(folder: Path, more: str = "") -> AsyncIterator[tuple[Table, OwnRounds]]:
    async with at_the_table(folder, toml=BEACON + more) as ada:
        board = ada.board.server.board
        rounds = OwnRounds(board)
        board.shared["beacon"] = rounds  # type: ignore[index]
        ada.terminal.send("q")
        await ada.prompt("oodbye")
        ada.terminal.send("b")
        await ada.prompt(PLACE_BET)
        yield ada, rounds


def stored(board: World) -> journal.StoredRound:
    with board.books() as desk:
        found = list(journal.rounds(desk, None))[-1]
    assert isinstance(found, journal.StoredRound)
    return found


def beacon_of(board: World) -> BeaconRound:
    shoe = stored(board).shoe
    assert shoe is not None
    assert shoe.beacon is not None
    return shoe.beacon


def right_of(number: int) -> BeaconRound:
    return BeaconRound(OWN.key, number, OWN.published(number), sign(number))


async def bets(ada: Table) -> None:
    ada.terminal.send("b")
    await ada.prompt("Coins to bet")
    ada.terminal.send("2\r")
    await ada.message("Waiting for round")


async def ends(ada: Table) -> None:
    await ada.board.at_rest()
    while not stored(ada.board).settled:
        ada.terminal.send("ns")
        await ada.board.settled()
    await ada.prompt(PLACE_BET)


def is_in_order(board: World) -> None:
    with board.books() as desk:
        assert hands.audit(desk)[0] == []


# In the hand


async def test_cards_wait_for_a_round_that_is_published_after_the_bet(tmp_path: Path) -> None:
    async with beside_a_beacon(tmp_path) as (ada, rounds):
        at = ada.board.clock.now().timestamp()
        await bets(ada)
        fixed = beacon_of(ada.board)
        assert at + network.MARGIN <= fixed.due < at + network.MARGIN + OWN.period
        assert (fixed.number, fixed.is_awaited) == (rounds.asked[0], True)
        assert ada.board.balances("Ada")["stake"] == 120
        assert stored(ada.board).cards_used == 0
        is_in_order(ada.board)
        ada.terminal.send("shd \r")  # decides nothing
        await ada.board.pass_time(LONG)
        await ends(ada)
        hand = stored(ada.board)
        assert [entry["action"] for _, entry in hand.actions][:2] == ["bet", "deal"]
        beacon = beacon_of(ada.board)
        assert beacon == fixed.signed(sign(fixed.number))
        shoe = hand.shoe
        assert shoe is not None
        cut = Phrases(shoe.cut or "", shoe.link, randomness(beacon.signature))
        with ada.board.books() as desk:
            used = json.loads(hands.as_json(desk, hand.id))["shoe"].split()
            told = hands.describe(desk, hand.id)
        assert tuple(used) == shuffle(shoe.seed, cut, shoe.decks)[: len(used)]
        assert f"Beacon   round {beacon.number}" in told
        assert beacon.signature in told
        is_in_order(ada.board)


async def test_who_hangs_up_is_dealt_to_when_they_return(tmp_path: Path) -> None:
    async with beside_a_beacon(tmp_path) as (ada, rounds):
        await bets(ada)
        Terminal.abort(ada.terminal)
        await ada.is_gone()
        await ada.board.clock.advance(3600.0)
        fixed = beacon_of(ada.board)
        assert fixed.is_awaited
        ada.terminal = await ada.board.call()
        await log_on(ada.terminal, "Ada")
        await ada.message("The hand you left is still on the table.")
        await ends(ada)
        assert beacon_of(ada.board) == fixed.signed(sign(fixed.number))
        assert set(rounds.asked) == {fixed.number}
        assert "Turns today: 1 of 20" in ada.terminal.row(0)
        is_in_order(ada.board)


@pytest.mark.long
async def test_a_hand_that_nobody_returns_to_is_dealt_and_stood(tmp_path: Path) -> None:
    async with beside_a_beacon(tmp_path) as (ada, _rounds):
        await bets(ada)
        Terminal.abort(ada.terminal)
        await ada.is_gone()
        hand = stored(ada.board)
        with ada.board.books() as desk, pytest.raises(NotDealtYet):
            overdue.stand(desk, hand)
        # A server does what a command does not, when two days have begun.
        await ada.board.clock.advance(36.5 * 3600.0)
        await ada.board.at_rest()
        hand = stored(ada.board)
        assert (hand.settled, hand.actions[1][1]["action"]) == (True, "deal")
        assert not beacon_of(ada.board).is_awaited
        is_in_order(ada.board)


async def test_a_caller_whose_time_is_up_while_they_wait_is_stood(tmp_path: Path) -> None:
    more = "beacon_wait_seconds = 60\n[calls]\nminutes_per_day = 4\n"
    async with beside_a_beacon(tmp_path, more) as (ada, rounds):
        await ada.board.pass_time(60.0)
        rounds.fails = "unreachable"
        await bets(ada)
        await ada.board.pass_time(61.0)
        assert not stored(ada.board).settled
        await ada.board.pass_time(5.0)
        hand = stored(ada.board)
        assert (hand.settled, beacon_of(ada.board).failed) == (True, "unreachable")
        is_in_order(ada.board)


async def test_a_board_fetches_a_round_by_a_process_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From a relay on this machine, which signs as the network does."""

    class OurRelays(RoundsOfRelays):
        network = replace(OWN, period=1)

    monkeypatch.setattr(network, "MARGIN", 0.5)
    asked: list[str] = []

    def says(what: str) -> tuple[int, bytes]:
        number = 1 if what == "latest" else int(what)
        return 200, json.dumps({"round": number, "signature": sign(number)}).encode()

    with relay(says, asked) as url:
        more = f'beacon_urls = ["{url}"]\n'
        async with at_the_table(tmp_path, toml=BEACON + more) as ada:
            board = ada.board.server.board
            board.shared["beacon"] = rounds = OurRelays(board)  # type: ignore[index]
            ada.terminal.send("q")
            await ada.prompt("oodbye")
            ada.terminal.send("b")
            await ada.prompt(PLACE_BET)
            await bets(ada)
            await ada.terminal.wait_for(
                lambda _: stored(ada.board).cards_used > 0, "that it is dealt"
            )
            fixed = beacon_of(ada.board)
            assert fixed.signature == sign(fixed.number)
            assert asked[-1] == f"/{OWN.chain}/public/{fixed.number}"
            assert rounds._fetching is not None
            number = rounds._fetching.process_id
            await ends(ada)
            monkeypatch.setitem(network.KNOWN, OWN.key, rounds.network)
            is_in_order(ada.board)
    assert number is not None
    with pytest.raises(ProcessLookupError):
        os.kill(number, 0)  # it ended with the board


# When there is none


@pytest.mark.parametrize(
    ("why", "words"),
    [
        ("unreachable", "none of its relays could be"),
        ("false", "not signed by"),
    ],
)
async def test_without_a_round_the_table_says_so_and_deals(
    tmp_path: Path, why: str, words: str
) -> None:
    async with beside_a_beacon(tmp_path) as (ada, rounds):
        rounds.fails = why
        await bets(ada)
        await ada.board.pass_time(LONG)
        await ada.terminal.until(words)
        await ends(ada)
        assert beacon_of(ada.board).failed == why
        shoe = stored(ada.board).shoe
        assert shoe is not None
        number = stored(ada.board).id
        with ada.board.books() as desk:
            used = json.loads(hands.as_json(desk, number))["shoe"].split()
            assert why in hands.describe(desk, number)
        cut = Phrases(shoe.cut or "", shoe.link)
        assert tuple(used) == shuffle(shoe.seed, cut, shoe.decks)[: len(used)]
        # For a while no other round is waited for, and that is noted as well.
        ada.terminal.send("b")
        await ada.prompt("Coins to bet")
        ada.terminal.send("2\r")
        await ada.terminal.wait_for(lambda _: ada.hands_dealt == 2, "that it is dealt")
        await ends(ada)
        assert (beacon_of(ada.board).number, beacon_of(ada.board).failed) == (0, "paused")
        assert len(rounds.asked) == 1
        await ada.board.pass_time(PAUSE)
        rounds.fails = ""
        await bets(ada)
        await ada.board.pass_time(LONG)
        await ends(ada)
        assert beacon_of(ada.board).signature
        is_in_order(ada.board)


async def test_a_round_that_was_out_before_the_bet_was_in_the_books_is_refused(
    tmp_path: Path,
) -> None:
    async with beside_a_beacon(tmp_path) as (ada, rounds):
        board = ada.board.server.board
        late = OWN.after(ada.board.clock.now())
        await ada.board.clock.advance(LONG)
        found = await rounds.outcome(late, is_new=True)
        assert found == late.without("past")
        assert rounds.asked == []
        assert board.shared["beacon"] is rounds


# At the Vegas table


async def seats_beside_a_beacon(three: Party) -> OwnRounds:
    board = three.here.server.board
    rounds = OwnRounds(board)
    board.shared["beacon"] = rounds  # type: ignore[index]
    for sitter in three.sitters:
        await sitter.is_ready(1)
    return rounds


async def test_one_round_is_waited_for_by_all_seats(tmp_path: Path) -> None:
    async with party(tmp_path, 3, ahead=FAIRNESS) as three:
        rounds = await seats_beside_a_beacon(three)
        ada, bob, cyd = three.sitters
        (awaited,) = ada.was_told(news.BeaconAwaited)
        assert len(ada.was_told(news.CutMade)) == 3
        assert three.state.undealt is not None
        assert three.state.hand is None
        with pytest.raises(NotNow):
            await ada.bets(2)
        await bob.drops()  # their hand is stood at its turn
        await three.pass_time(LONG)
        assert three.state.undealt is None
        assert rounds.asked == [awaited.beacon.number]
        shoe = three.stored().shoe
        assert shoe is not None
        assert shoe.beacon == awaited.beacon.signed(sign(awaited.beacon.number))
        cut = Phrases(shoe.cut or "", shoe.link, randomness(shoe.beacon.signature))
        assert three.round.shoe[:20] == shuffle(shoe.seed, cut, shoe.decks)[:20]
        await three.pass_time(200.0)
        assert three.stored().settled
        # The shoe runs on: no other round is waited for.
        for sitter in (ada, cyd):
            await sitter.is_ready(1)
        assert len(rounds.asked) == 1
        assert three.state.hand is not None
        is_in_order(three.here)


async def test_bets_that_wait_for_a_round_stay_what_they_were_made_for(tmp_path: Path) -> None:
    async with party(tmp_path, 3, ahead=FAIRNESS) as three:
        await seats_beside_a_beacon(three)
        assert three.state.undealt is not None
        read_again(three.here, vegas(coin_minutes=20, largest_bet=1) + FAIRNESS)
        await three.here.at_rest()
        assert three.table.coin == MINUTE
        await three.pass_time(LONG)
        assert three.stored().coin == MINUTE
        assert [seat.bet for seat in three.round.seats] == [MINUTE] * 3


async def test_without_a_round_the_dealer_says_so(tmp_path: Path) -> None:
    async with party(tmp_path, 2, ahead=FAIRNESS) as two:
        board = two.here.server.board
        rounds = OwnRounds(board)
        rounds.fails = "late"
        board.shared["beacon"] = rounds  # type: ignore[index]
        for sitter in two.sitters:
            await sitter.is_ready(1)
        await two.pass_time(LONG)
        (failed,) = two.sitters[0].was_told(news.BeaconFailed)
        shoe = two.stored().shoe
        assert shoe is not None
        assert shoe.beacon == failed.beacon
        assert (
            two.round.shoe[:20]
            == shuffle(shoe.seed, Phrases(shoe.cut or "", shoe.link), shoe.decks)[:20]
        )
        is_in_order(two.here)


async def test_another_server_fetches_the_round_that_stands_in_the_journal(
    tmp_path: Path,
) -> None:
    async with party(tmp_path, 2, ahead=FAIRNESS) as two:
        await seats_beside_a_beacon(two)
        shoe = two.stored().shoe
        assert shoe is not None
        fixed = shoe.beacon
        assert fixed is not None
        await two.here.server.board.stop_games()
        await two.here.clock.advance(120.0)
        board = two.here.server.board
        table = VegasTable(board, 1)  # as a server has it that has just begun
        await table.resume()
        await table.sit(Sitter(board, two.sitters[0].caller))
        await two.here.at_rest()
        shoe = two.stored().shoe
        assert shoe is not None
        assert shoe.beacon == fixed.signed(sign(fixed.number))
        assert table.state.hand is not None
        await table.stop()


# Afterwards


async def test_the_audit_finds_a_round_that_is_not_what_the_network_signed(tmp_path: Path) -> None:
    async with beside_a_beacon(tmp_path) as (ada, _rounds):
        await bets(ada)
        await ada.board.pass_time(LONG)
        await ends(ada)
        right = beacon_of(ada.board)
        other = right.number + 1
        wrong = {
            "its signature is not that of round": right.signed(sign(other)),
            "was published at another time": BeaconRound(right.key, other, right.due, sign(other)),
            "a network that this program does not know": BeaconRound(
                "00" * 96, right.number, right.due, right.signature
            ),
            "is not the one that its bet fixes": BeaconRound(
                right.key, 5, OWN.published(5), sign(5)
            ),
        }
        for words, told in wrong.items():
            with ada.board.books() as desk:
                desk.connection.exec_driver_sql("UPDATE shoes SET beacon = ?", (told.text(),))
                assert any(words in str(each) for each in hands.audit(desk)[0]), words
        with ada.board.books() as desk:
            desk.connection.exec_driver_sql("UPDATE shoes SET beacon = '{}'")
            assert isinstance(list(journal.rounds(desk, None))[-1], JournalDamaged)
            desk.connection.exec_driver_sql("UPDATE shoes SET beacon = ?", (right.text(),))


async def test_a_proof_has_the_round_and_its_signature(tmp_path: Path) -> None:
    async with beside_a_beacon(tmp_path) as (ada, _rounds):
        await bets(ada)
        number = stored(ada.board).id
        with ada.board.books() as desk:
            waits = json.loads(proofs.as_proof(desk, number))
        beacon = beacon_of(ada.board)
        published = {"round": beacon.number, "published": beacon.due, "key": OWN.key}
        assert waits["beacon"] == {**published, "signature": "", "failed": ""}
        assert "seed" not in waits
        await ada.board.pass_time(LONG)
        await ends(ada)
        with ada.board.books() as desk:
            told = json.loads(proofs.as_proof(desk, number))
        assert told["beacon"]["signature"] == sign(beacon.number)
        assert told["cut"].keys() == {"text", "link"}
