"""The expected result of hands as they were played.

Over all hands of a table, under any play, expectation and winnings agree.
"""

from __future__ import annotations

import json
import pkgutil
import random
import tomllib
from collections.abc import Callable, Mapping
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from door.games.engine.cards import Card, deck
from door.games.engine.game import Act
from door.games.registry import GAMES
from door.games.solver.cache import odds_of
from door.games.solver.played_hand import expected, for_the_bank
from tests import ROOT
from tests.door.games.solver.every_deal import finished
from tests.timebank.books import Books, act
from timebank.reports import house as house_report
from timebank.wagers.rounds import Move, Settlement

pytestmark = pytest.mark.long

CLOSE = 1e-10
BET = 200

Decide = Callable[[Any, tuple[str, ...]], str]


def played(name: str, rules: Mapping[str, object], cards: list[Card], decide: Decide) -> Any:
    """Play a round of these cards; return the hand for the odds and its winnings per bet."""
    kind = GAMES[name].kind
    round_, _ = kind.deal(rules, cards, [BET], 1)
    words = []
    while not round_.over:
        word = decide(round_, kind.open_words(round_))
        words.append(word)
        round_, _ = kind.act(round_, Act(word))
    totals = kind.totals(round_, 0)
    hand = finished(
        name,
        json.dumps(rules),
        kind.decks(rules),
        BET,
        totals.staked,
        json.dumps(kind.result(round_, 0)),
        tuple(words),
    )
    return hand, totals.won - totals.lost


def test_the_average_of_all_hands_however_red_dog_is_played() -> None:
    cards = [card for card in deck(1) if card.suit == "H"]
    habits: tuple[Decide, ...] = (
        lambda _round, _words: "raise",
        lambda _round, _words: "stay",
        lambda round_, _words: "raise" if round_.spread in (1, 2, 9) else "stay",
    )
    for habit in habits:
        won = given = 0.0
        for three in product(cards, repeat=3):
            first, second, third = three
            deals = 4 * (4 - (second == first)) * (4 - (third == first) - (third == second))
            hand, net = played("red-dog", {}, list(three), habit)
            odds = expected(hand)
            assert odds is not None
            won += deals * net
            given += deals * odds[0]
        assert won == pytest.approx(given, abs=CLOSE * 52**3)


def hazard(drawn: random.Random) -> Decide:
    """Return a random strategy that decides equally for equal views."""
    lots: dict[object, str] = {}

    def decide(round_: Any, words: tuple[str, ...]) -> str:
        seat = round_.seats[0]
        turn = round_.turn.hand if round_.turn else 0
        view = (seat.hands[turn].cards, len(seat.hands), seat.insurance, round_.dealer[0], words)
        if view not in lots:
            lots[view] = drawn.choice(words)
        return lots[view]

    return decide


def test_baccarat_costs_the_odds_of_both_sides() -> None:
    """Over all coups, never drawing on 5 gains exactly its odds."""
    baccarat = GAMES["baccarat"]
    odds = odds_of(baccarat, baccarat.kind.base).strategies
    left = [64] + [16] * 9
    given = {True: 0.0, False: 0.0}
    for mine in product(range(10), repeat=2):
        for banks in product(range(10), repeat=2):
            out, share = list(left), 1.0
            for value in (*mine, *banks):
                share *= out[value] / sum(out)
                out[value] -= 1
            for takes in given:
                player = [*mine, 0] if takes else list(mine)
                result = {"player": [_card(v) for v in player], "bank": [_card(v) for v in banks]}
                hand = finished(baccarat.name, "{}", 4, BET, BET, json.dumps(result))
                found = expected(hand)
                assert found is not None
                given[takes] += share * found[0] / BET
    assert given[True] == pytest.approx(odds["dealer"].mean, abs=CLOSE)
    assert given[False] == pytest.approx(odds["never-bust"].mean, abs=CLOSE)


def _card(value: int) -> str:
    return "TA23456789"[value] + "S"


def test_insurance_gets_its_own_odds() -> None:
    result = {"player": [["TS", "9S"]], "dealer": ["AH", "5D"]}
    hand = finished("black-jack-for-time", "{}", 1, BET, BET, json.dumps(result))
    without, insured = expected(hand), expected(hand._replace(staked=BET + BET // 2))
    assert without is not None
    assert insured is not None
    # Of 49 unseen cards 15 count ten: two more for each one, or it is lost.
    assert insured[0] - without[0] == pytest.approx(BET / 2 * (3 * 15 / 49 - 1))


def test_the_time_bank_judges_real_hands_by_it(tmp_path: Path) -> None:
    """Rounds of the game, staked and settled in real books."""
    drawn = random.Random(11)
    decide = hazard(drawn)
    books = Books(tmp_path, minutes_per_day=1440, events=())
    call = books.call(books.caller("Ann"))
    given = house = 0.0
    cards = list(deck(1))
    for _ in range(40):
        drawn.shuffle(cards)
        hand, net = played("black-jack-for-time", {}, list(cards), decide)
        odds = expected(hand)
        assert odds is not None
        given -= odds[0]
        house -= net
        lost = max(0, -net)  # a loss in full, or a win without the stake
        settled = Settlement(
            *(lost, hand.staked - lost, max(0, net)), "over", json.loads(hand.result), True
        )
        call.bet(BET, rules={})
        for word in hand.words[:-1]:
            _act(call, word, None, 0)
        _act(call, hand.words[-1] if hand.words else "stay", settled, hand.staked - BET)
        call.sees()
    books_of_house = books.do(house_report.house, for_the_bank, None, None, None)
    (table,), _ = books_of_house
    books.close()
    assert (table.hands, table.unknown, table.house) == (40, 0, house)
    assert table.given == pytest.approx(given)


def _act(call: Any, word: str, settlement: Settlement | None, stake: int) -> None:
    move = Move(
        *(call.round_id, call.sequence + 1, {"action": word}, 4),
        *(stake, "double" if stake else "", 60),
    )
    call.post(act, move, settlement)
    call.sequence += 1


def test_the_time_bank_finds_it() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    (where,) = project["entry-points"][house_report.ODDS].values()
    assert pkgutil.resolve_name(where) is for_the_bank


def test_a_malformed_hand_has_no_odds() -> None:
    assert for_the_bank(finished("baccarat", "{}", 4, BET, BET, "{}")) is None
    assert for_the_bank(finished("black-jack-for-time", '{"ties":1}', 1, BET, BET, "{}")) is None
    assert for_the_bank(finished("black-jack-for-time", "{}", 1, BET, BET, "[")) is None


def test_a_game_of_another_house_has_no_odds() -> None:
    assert expected(finished("faro", "{}", 1, BET, BET, "{}")) is None
