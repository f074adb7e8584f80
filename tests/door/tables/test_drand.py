"""Hands in the books of release 1.0, whose shoes could be shuffled with a round of drand."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path

import pytest

from door.games import hand_check, proofs
from door.games.black_jack_for_time.game import BLACK_JACK_FOR_TIME_KIND
from door.games.engine.game import Kind
from door.games.engine.journaled import Bet, mixed_into
from door.games.engine.shuffle import Phrases, randomness, shuffle
from door.games.rounds import rebuild
from door.games.vegas.game import VEGAS_KIND
from door.tables import overdue, play
from door.tables.play import Deal, take_shoe
from tests.door.playing import PLACE_BET, Table
from tests.door.proved import SIGNATURES
from tests.terminal import Terminal
from tests.timebank.books import Books, Call
from tests.world import BOARD, log_on, world
from timebank.errors import JournalDamaged
from timebank.ledger.database import Desk
from timebank.wagers import chains, journal, wagers
from timebank.wagers.chains import link_seed
from timebank.wagers.journal import StoredRound
from timebank.wagers.wagers import Sitter

COIN = 60
ROOT = b"\7" * 32
PHRASE = "three blind mice"
WAITS = {"key": "ab" * 96, "round": 1000, "due": 1_692_806_364}


def bet_of_1_0(desk: Desk, kind: Kind, owners: list[int], root: bytes, **came: str) -> int:
    """Place a bet of each owner as release 1.0 did: the cards wait for the round."""
    is_shared = kind.most_seats > 1
    owner = None if is_shared else owners[0]
    shoe = take_shoe(desk, kind, {}, owner, root)
    terms = Deal(unit="second", coin=COIN, turns_limit=20, rules={})
    bets = [Bet(seat, each, "?", 2 * COIN) for seat, each in enumerate(owners, start=1)]
    wager = play._wager(kind, replace(shoe, cut=PHRASE), terms, bets, 0)
    placed = wagers.place(desk, wager, {bet.seat: Sitter(bet.caller_id) for bet in bets}, {})
    mark(desk, {**WAITS, **came})
    return placed.lead


def mark(desk: Desk, beacon: object) -> None:
    text = beacon if isinstance(beacon, str) else json.dumps(beacon)
    desk.connection.exec_driver_sql("UPDATE shoes SET beacon = ? WHERE closed IS NULL", (text,))


def stored(desk: Desk, number: int) -> StoredRound:
    hand = journal.stored_round(desk, number)
    assert hand is not None
    return hand


@pytest.fixture
def books(tmp_path: Path) -> Iterator[Books]:
    opened = Books(tmp_path)
    yield opened
    opened.close()


def calls_of(books: Books, *names: str) -> list[Call]:
    return [books.call(books.caller(name), node=node) for node, name in enumerate(names, 1)]


def root_where(kind: Kind, *, is_over: bool) -> bytes:
    """Return a root whose first shoe, without a round, deals a hand that is over or not."""

    def ends_at_once(root: bytes) -> bool:
        cards = kind.cards(link_seed(root, chains.LENGTH, 1), Phrases(PHRASE, 1), kind.decks({}), 0)
        return bool(kind.deal({}, cards, [2 * COIN], 1)[0].over)

    roots = (number.to_bytes(32, "big") for number in count())
    return next(root for root in roots if ends_at_once(root) is is_over)


async def test_a_hand_that_waits_for_its_cards_is_dealt_and_its_caller_plays_it(ada: Table) -> None:
    with ada.board.books() as desk:
        lead = bet_of_1_0(desk, BLACK_JACK_FOR_TIME_KIND, [1], ROOT)
    Terminal.abort(ada.terminal)
    await ada.is_gone()
    await ada.board.clock.advance(1200.0)
    await ada.board.at_rest()
    with ada.board.books() as desk:
        dealt = stored(desk, lead)
        assert rebuild(dealt).round.cards_used == dealt.cards_used > 0
    assert [entry["action"] for _, entry in dealt.actions] == ["bet", "deal"]
    ada.terminal = await ada.board.call()
    await log_on(ada.terminal, "Ada")
    await ada.message("The hand you left is still on the table.")
    await ada.board.at_rest()
    while not dealt.settled:
        ada.terminal.send("ns")
        await ada.board.settled()
        with ada.board.books() as desk:
            dealt = stored(desk, lead)
    await ada.prompt(PLACE_BET)
    with ada.board.books() as desk:
        assert hand_check.audit(desk)[0] == []


@pytest.mark.parametrize("is_over", [False, True])
@pytest.mark.parametrize("ends", [overdue.deal, overdue.stand])
def test_a_hand_that_waits_for_drand_is_shuffled_by_seed_and_phrases(
    books: Books, ends: Callable[[Desk, StoredRound], None], is_over: bool
) -> None:
    kind = BLACK_JACK_FOR_TIME_KIND
    (call,) = calls_of(books, "Ada")
    root = root_where(kind, is_over=is_over)
    lead = books.do(bet_of_1_0, kind, [call.caller_id], root)
    call.close()
    (waits,) = books.do(journal.undealt_rounds)
    books.do(ends, waits)
    hand = books.do(stored, lead)
    assert hand.shoe is not None
    cut = Phrases(PHRASE, hand.shoe.link)
    cards = shuffle(hand.shoe.seed, cut, hand.shoe.decks)
    assert rebuild(hand).round.shoe[: hand.cards_used] == cards[: hand.cards_used]
    assert hand.cards_used > 0
    assert hand.settled == (is_over or ends is overdue.stand)
    assert books.do(journal.undealt_rounds) == []
    assert books.do(hand_check.audit)[0] == []
    assert "beacon" not in books.do(lambda desk: proofs.proof(stored(desk, lead)))


def test_a_table_of_several_is_dealt_once_for_all(books: Books) -> None:
    owners = [call.caller_id for call in calls_of(books, "Ada", "Bob")]
    lead = books.do(bet_of_1_0, VEGAS_KIND, owners, ROOT)
    for waits in {each.lead: each for each in books.do(journal.undealt_rounds)}.values():
        books.do(overdue.deal, waits)
    hand = books.do(stored, lead)
    assert [entry["action"] for _, entry in hand.actions] == ["bet", "deal"]
    assert [seat.caller_id for seat in hand.seats] == owners
    assert books.do(hand_check.audit)[0] == []


def test_a_shoe_that_has_its_round_is_dealt_on_and_audited_by_it(books: Books) -> None:
    (call,) = calls_of(books, "Ada")
    owners, kind = [call.caller_id], BLACK_JACK_FOR_TIME_KIND
    lead = books.do(partial(bet_of_1_0, signature=SIGNATURES[0]), kind, owners, ROOT)
    call.close()
    books.do(lambda desk: overdue.stand(desk, stored(desk, lead)))
    hand = books.do(stored, lead)
    assert hand.shoe is not None
    cut = mixed_into(hand.shoe)
    assert cut == Phrases(PHRASE, hand.shoe.link, randomness(SIGNATURES[0]))
    cards = shuffle(hand.shoe.seed, cut, hand.shoe.decks)
    assert rebuild(hand).round.shoe[: hand.cards_used] == cards[: hand.cards_used]
    assert books.do(hand_check.audit)[0] == []
    assert SIGNATURES[0] in books.do(hand_check.describe, lead)
    proof = json.loads(books.do(proofs.as_proof, lead))
    assert proof["beacon"] == {"signature": SIGNATURES[0]}
    assert proof["cut"] == {"text": PHRASE, "link": hand.shoe.link}
    assert books.do(lambda desk: proofs.packed(stored(desk, lead))) == ""
    books.sql("UPDATE shoes SET beacon = replace(beacon, '95a9', '95aa')")
    assert books.do(hand_check.audit)[0] != []


@pytest.mark.parametrize("text", ["[]", "7", '{"signature":7}', "no JSON"])
def test_a_damaged_beacon_row_damages_only_its_own_hands(books: Books, text: str) -> None:
    (call,) = calls_of(books, "Ada")
    lead = books.do(bet_of_1_0, BLACK_JACK_FOR_TIME_KIND, [call.caller_id], ROOT)
    books.do(mark, text)
    with pytest.raises(JournalDamaged):
        books.do(stored, lead)


async def test_a_board_with_its_beacon_on_warns_at_the_start(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with world(tmp_path, toml=f'{BOARD}\n[fairness]\nbeacon = "drand"\n'):
        (warning,) = [each for each in caplog.messages if "[fairness] beacon" in each]
    assert "sysop.toml, line " in warning
    assert "no shoe waits for a round of drand" in warning
