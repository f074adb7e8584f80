"""The house's winnings next to the expected ones: sums, luck, and implausible figures."""

from __future__ import annotations

import json
import math

import pytest

from tests.timebank.books import GAME, lost, won
from timebank.reports import house as reports
from timebank.reports.house import FEWEST, FinishedHand, Luck
from timebank.reports.tables import written
from timebank.wagers.rounds import VOID, Settlement


def given(hand):
    """Odds by which callers lose a tenth of their bet, with a deviation of the bet."""
    return -0.1 * hand.bet, float(hand.bet)


def judged(caller_id, house, odds):
    hand = FinishedHand(1, GAME, "second", caller_id, "{}", 1, 100, 100, house, "{}", ())
    return hand, odds


@pytest.fixture
def call(books):
    return books.call(books.caller("Ann"))


def tables(books, odds=given, since=None, until=None, caller=None):
    return books.do(reports.house, odds, since, until, caller)[0]


def test_a_table_shows_stakes_and_expected_result(books, call):
    call.win(300, 300)
    call.lose(600)
    (table,) = tables(books)
    assert (table.game, table.unit, table.hands, table.unknown) == (GAME, "second", 2, 0)
    assert (table.staked, table.house) == (900, 300)
    assert table.given == pytest.approx(90)
    assert table.luck == pytest.approx(300 - 90)
    spread = math.sqrt(max((300 + 30) ** 2 + (600 - 60) ** 2, 300**2 + 600**2))
    assert table.deviations == pytest.approx((300 - 90) / spread)


def test_later_stakes_are_passed_with_their_actions(books, call):
    asked = []

    def noting(hand):
        asked.append(hand)

    call.lose(120)
    call.bet(300)
    call.act(won(600, 600), stake=300, kind="double")
    (table,) = tables(books, noting)
    assert (table.hands, table.unknown, table.staked) == (2, 2, 720)
    assert (table.luck, table.deviations) == (0, 0)
    rules = '{"decks":1}'
    assert [hand[4:8] + hand[9:] for hand in asked] == [
        (rules, 0, 120, 120, json.dumps({"net": -120}, separators=(",", ":")), ()),
        (rules, 0, 300, 600, '{"net":600}', ("bet", "stay")),
    ]
    assert {(hand.game, hand.caller_id) for hand in asked} == {(GAME, call.caller_id)}


def test_only_finished_hands_within_the_filter_are_asked_for(books, call):
    bob = books.call(books.caller("Bob"), node=2)
    call.lose(120)
    first = int(books.now.timestamp())
    books.wait(60)
    bob.lose(180)
    call.bet(60)
    call.act(Settlement(0, 60, 0, VOID, {}, True))
    call.bet(240)
    assert [table.staked for table in tables(books)] == [300]
    assert [table.staked for table in tables(books, since=first + 1)] == [180]
    assert [table.staked for table in tables(books, until=first + 1)] == [120]
    assert [table.staked for table in tables(books, caller=call.caller_id)] == [120]


def test_without_a_board_nothing_is_called_luck(books, call):
    call.lose(120)
    (table,) = tables(books, None)
    assert (table.house, table.unknown, table.luck) == (120, 1, 0)
    assert "  The odds of 1 of them are unknown." in list(written(reports.table([table], [], {})))


def test_play_money_is_listed_separately(books, call):
    call.sit_down()
    call.coup(500, lost(500))
    call.lose(60)
    assert [(table.unit, table.house) for table in tables(books)] == [
        ("second", 60),
        ("usd-cent", 500),
    ]


def test_seats_of_a_round_have_their_luck_together():
    luck = Luck(GAME, "second")
    luck.add([judged(seat, 100, (0.0, 100.0)) for seat in (1, 2)])
    luck.add([judged(1, -100, (0.0, 100.0))])
    assert luck.luck == 100
    assert luck.deviation == pytest.approx(math.sqrt(200**2 + 100**2))


def test_lucks_of_several_days_add_up_to_that_of_all_their_hands():
    hands = [judged(7, net, (-2.0, 90.0)) for net in (100, -100, 100)]
    hands.append(judged(7, -100, None))
    whole, joined = Luck(GAME, "second", 7), Luck(GAME, "second", 7)
    for hand in hands:
        whole.add([hand])
        day = Luck(GAME, "second", 7)
        day.add([hand])
        joined.join(day)
    assert joined == whole
    low, high = whole.band(2)
    assert high - low == pytest.approx(4 * whole.deviation)
    assert (low + high) / 2 == pytest.approx(3 * 2.0 - 100), "unknown odds count as they ended"


def played(wins: int, losses: int) -> Luck:
    luck = Luck(GAME, "second", 7)
    for net in [100] * wins + [-100] * losses:
        luck.add([judged(7, -net, (-1.0, 100.0))])
    return luck


def test_luck_beyond_belief_is_named_and_that_of_a_few_hands_is_not():
    assert played(FEWEST // 2, FEWEST // 2).is_believable
    assert played(FEWEST - 1, 0).is_believable  # too few to say so
    cheat = played(FEWEST, 0)
    assert not cheat.is_believable
    assert cheat.deviations < -5
    (*_, sentence) = reports.table([], [cheat], {7: "Ann"})
    assert sentence.startswith(
        "Ann won 2:48:20 more at Black Jack For Time than luck explains: 10.0 d"
    )
    assert not played(0, 3 * FEWEST).is_believable  # so much bad luck is none, either


def test_callers_are_judged_each_by_themselves(books):
    cheat, others = books.call(books.caller("Cheat")), []
    for node in (2, 3):
        others.append(books.call(books.caller(f"Honest {node}"), node=node))
    for number in range(FEWEST):
        for other in others:
            other.bet(60, won(60, 60) if number % 2 else lost(60))
            other.sees()
        cheat.bet(60, won(60, 60))
        cheat.sees()
    tables_shown, doubted = books.do(reports.house, given, None, None, None)
    assert [luck.caller_id for luck in doubted] == [cheat.caller_id]
    named = books.do(reports.names, doubted)
    assert named == {cheat.caller_id: "Cheat"}
    records = list(reports.lines([*tables_shown, *doubted], named))
    assert [record["caller"] for record in records] == [None, "Cheat"]
    assert [record["believable"] for record in records][-1] is False
    assert tuple(records[0]) == reports.FIELDS
