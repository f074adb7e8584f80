"""Bets of several callers at one table, and the shoe that they share."""

from __future__ import annotations

import pytest

from tests.timebank.books import lost
from tests.timebank.tables import GAME, SEAL, SEED
from timebank.errors import CallClosed, NotEnough, Refused, RoundInPlay, ShoeGone, TurnsUsed
from timebank.wagers.journal import close_shoe, open_shoe
from timebank.wagers.wagers import Sitter, place

# Bets.


def test_bets_of_all_seats_are_placed_together(books, table):
    books.wait(30)
    table.bet({2: 120, 1: 60, 3: 180})
    assert table.stakes() == [60, 120, 180]
    assert table.online() == [3510, 3450, 3390]
    assert table.moved(2) == [
        ("elapsed", 30, "online", "elapsed"),
        ("stake", 120, "online", "stake"),
    ]
    assert table.receipts[2].purse.turns == {GAME: 1}
    assert table.receipts[2].rows[1].why == "Bet 2 minutes at Vegas"
    assert books.audit() == []


def test_each_seat_has_a_round_and_the_first_one_keeps_the_journal(books, playing):
    rows = books.sql("SELECT id, seat, lead, bet FROM rounds ORDER BY seat")
    assert rows == [(1, 1, None, 60), (2, 2, 1, 120), (3, 3, 1, 180)]
    assert (playing.lead, playing.rounds) == (1, {1: 1, 2: 2, 3: 3})
    assert books.sql("SELECT round_id, sequence FROM actions") == [(1, 0)]


def test_the_lead_is_the_lowest_seat_in_play(books, table):
    table.bet({3: 60, 2: 60})
    assert books.sql("SELECT id, seat, lead FROM rounds ORDER BY id") == [(1, 2, None), (2, 3, 1)]


@pytest.mark.parametrize("seat", [1, 2, 3])
def test_a_seat_that_is_refused_leaves_all_as_it_was(table, seat):
    table.books.wait(10)
    before = table.everything()
    with pytest.raises(Refused, match="1 minute must stay in your pot") as refused:
        table.bet({1: 60, 2: 60, 3: 60} | {seat: 3600})
    assert refused.value.seat == seat
    assert isinstance(refused.value, NotEnough)
    assert table.everything() == before


def test_a_refusal_changes_nothing_even_if_the_transaction_continues(books, table):
    before = table.everything()

    def try_it(desk):
        wager = table.wager._replace(amounts={1: 60, 2: 120, 3: 9999})
        with pytest.raises(NotEnough):
            place(desk, wager, {seat: table.sitter(seat) for seat in (1, 2, 3)}, {})

    books.do(try_it)
    assert table.everything() == before


def test_a_seat_without_turns_is_refused(table):
    table.bet({1: 60, 2: 60}, {1: lost(60), 2: lost(60)})
    with pytest.raises(TurnsUsed, match="your turn for today") as refused:
        table.bet({1: 60, 2: 60}, turns_limit=1, start=8)
    assert refused.value.seat == 1
    table.bet({3: 60}, turns_limit=1, start=8)


def test_a_seat_with_another_hand_in_play_is_refused(table):
    table.calls[2].bet(60)
    with pytest.raises(Refused) as refused:
        table.bet({1: 60, 2: 60})
    assert isinstance(refused.value, RoundInPlay)


def test_a_caller_cannot_bet_at_two_seats(table):
    with pytest.raises(Refused) as refused:
        table.place({1: 60, 2: 60}, dict.fromkeys((1, 2), table.sitter(1)))
    assert (refused.value.seat, type(refused.value)) == (2, RoundInPlay)


def test_a_seat_of_an_ended_call_cannot_bet(table):
    table.calls[3].close()
    for sitter in (table.sitter(3), table.gone(3)):
        with pytest.raises(Refused) as refused:
            table.place({1: 60, 3: 60}, {1: table.sitter(1), 3: sitter})
        assert isinstance(refused.value, CallClosed)
    table.bet({1: 60, 2: 60})


def test_a_seat_that_is_back_on_another_call_bets_on_that_one(books, table):
    again = books.call(table.calls[2].caller_id, node=9, take_over=True)
    books.wait(15)
    table.place({2: 60}, {2: table.gone(2)})
    assert table.moved(2) == [("stake", 60, "online", "stake")]
    assert books.sql("SELECT call_id FROM rounds") == [(again.id,)]


def test_a_table_has_one_bet_at_least(table):
    with pytest.raises(ValueError, match="one bet for each seat"):
        table.bet({})


def test_a_seat_needs_its_own_callers_call(table):
    wrong = Sitter(table.calls[1].caller_id, table.calls[2].id, 0)
    with pytest.raises(ValueError, match="is not that of caller"):
        table.place({1: 60}, {1: wrong})


def test_a_deal_is_settled_for_all_seats_or_for_none(table):
    before = table.everything()
    with pytest.raises(ValueError, match=r"seats \[1\] of \[1, 2\]"):
        table.bet({1: 60, 2: 60}, {1: lost(60)})
    assert table.everything() == before


# The shoe.


def test_a_table_has_one_shoe_that_all_share(books, table):
    again = books.do(open_shoe, None, GAME, 4, bytes(32))
    assert (again.id, again.seal) == (table.shoe.id, SEAL)
    own = books.do(open_shoe, table.calls[1].caller_id, GAME, 4, bytes(32))
    assert own.id != table.shoe.id
    other = books.do(open_shoe, None, GAME, 6, bytes(31) + b"6")
    assert (other.decks, other.position, other.fresh) == (6, 0, True)


def test_a_lone_player_may_have_their_own_shoe_at_the_table(books, table):
    ann, bob = (table.calls[seat].caller_id for seat in (1, 2))
    own = books.do(open_shoe, ann, GAME, 4, bytes(32))
    assert (own.caller_id, table.shoe.caller_id) == (ann, None)
    table.bet({1: 60}, {1: lost(60)}, shoe_id=own.id, is_shoe_shared=False)
    assert books.do(open_shoe, ann, GAME, 4, bytes(32)).position == 8
    assert books.do(open_shoe, None, GAME, 4, SEED).position == 0
    assert books.do(open_shoe, bob, GAME, 4, bytes(31) + b"1").id != own.id
    with pytest.raises(ShoeGone):
        table.bet({1: 60, 2: 60}, shoe_id=own.id, is_shoe_shared=False, start=8)
    with pytest.raises(ShoeGone):
        table.bet({2: 60}, shoe_id=own.id, start=8)
    assert books.audit() == []


@pytest.mark.parametrize("start", [0, 12, 14])
def test_a_shoe_that_is_not_where_the_table_left_it_is_refused(playing, start):
    playing.act(1, {1: lost(60), 2: lost(120), 3: lost(180)}, cards_used=13)
    before = playing.everything()
    with pytest.raises(ShoeGone):
        playing.bet({1: 60}, start=start)
    assert playing.everything() == before


def test_a_used_or_foreign_shoe_is_refused(books, table):
    own = books.do(open_shoe, table.calls[1].caller_id, GAME, 4, bytes(32))
    with pytest.raises(ShoeGone):
        table.bet({2: 60}, shoe_id=own.id)
    with pytest.raises(ShoeGone):
        table.calls[1].bet(60, game=GAME, shoe_id=table.shoe.id)
    books.do(close_shoe, table.shoe.id)
    with pytest.raises(ShoeGone):
        table.bet({1: 60})
