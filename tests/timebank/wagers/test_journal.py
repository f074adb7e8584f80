"""Shoes and rounds in the journal, and abandoned hands."""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from hashlib import sha256

import pytest

from tests.timebank.books import GAME, as_written, in_english, lost, pushed, stand_alone, won
from timebank.callers.notices import notices
from timebank.errors import CallerOnline, OutOfStep, RoundInPlay, RoundOver, ShoeGone
from timebank.wagers import journal
from timebank.wagers.rounds import Move

pytestmark = pytest.mark.both_engines

SEED, OTHER_SEED = bytes(range(32)), b"x" * 32


@pytest.fixture
def call(books, ann):
    return books.call(ann)


def open_shoe(books, ann, seed=SEED, decks=1):
    return books.do(journal.open_shoe, ann, GAME, decks, seed)


def test_a_shoe_is_sealed_once_and_reused(books, ann):
    first = open_shoe(books, ann)
    assert (first.seal, first.decks, first.position, first.fresh) == (
        sha256(SEED).hexdigest(),
        1,
        0,
        True,
    )
    again = open_shoe(books, ann, OTHER_SEED)
    assert again == first
    assert again.seed == SEED


def test_after_a_shoe_is_done_the_next_one_is_sealed(books, ann):
    first = open_shoe(books, ann)
    books.do(journal.close_shoe, first.id)
    second = open_shoe(books, ann, OTHER_SEED)
    assert second.id != first.id
    assert second.seal == sha256(OTHER_SEED).hexdigest()
    with pytest.raises(ShoeGone):
        books.do(journal.close_shoe, first.id)


def test_a_shoe_of_another_size_is_replaced_when_the_rules_change(books, ann):
    first = open_shoe(books, ann)
    second = open_shoe(books, ann, OTHER_SEED, decks=6)
    assert (second.decks, second.seal) == (6, sha256(OTHER_SEED).hexdigest())
    closed = books.sql("SELECT id FROM shoes WHERE closed IS NOT NULL")
    assert closed == [(first.id,)]


def test_a_seed_is_shown_when_its_shoe_is_done_and_not_before(books, ann, call):
    shoe = open_shoe(books, ann)
    hand = call.bet(60, pushed(60), shoe_id=shoe.id)
    assert shoe.shown_seed is None
    assert books.do(journal.stored_round, hand).shoe.shown_seed is None
    books.do(journal.close_shoe, shoe.id)
    assert books.do(journal.stored_round, hand).shoe.shown_seed == SEED.hex()


def test_a_seed_is_in_no_repr(books, ann, call):
    shoe = open_shoe(books, ann)
    hand = call.bet(60, shoe_id=shoe.id)
    stored = books.do(journal.stored_round, hand)
    for shown in (repr(shoe), str(stored), repr(stored.shoe)):
        assert SEED.hex() not in shown
        assert repr(SEED) not in shown


def test_a_seed_is_in_no_error_and_no_log(books, ann, caplog):
    open_shoe(books, ann)
    caplog.set_level(logging.DEBUG)
    with pytest.raises(Exception, match=r"UNIQUE|unique") as failed:
        books.do(
            lambda desk: as_written(desk.connection)(
                "INSERT INTO shoes (caller_id, game, decks, seed, seal, opened)"
                " VALUES (?, ?, 1, ?, 'seal', 0)",
                (ann, GAME, SEED),
            )
        )
    assert repr(SEED) not in str(failed.value)
    assert repr(SEED) not in caplog.text


def test_a_shoe_is_not_done_while_a_hand_from_it_is_in_play(books, ann, call):
    shoe = open_shoe(books, ann)
    call.bet(60, shoe_id=shoe.id)
    with pytest.raises(RoundInPlay):
        books.do(journal.close_shoe, shoe.id)
    call.act(lost(60))
    books.do(journal.close_shoe, shoe.id)


def test_an_open_hand_is_read_back_unchanged(books, ann, call):
    shoe = open_shoe(books, ann)
    assert books.do(journal.round_in_play, ann) is None
    hand = call.bet(300, shoe_id=shoe.id, cut="for luck", rules={"ties": "push"}, coin=120)
    call.act()
    stored = books.do(journal.round_in_play, ann)
    assert stored == books.do(journal.stored_round, hand)
    assert (stored.id, stored.game, stored.caller_id, stored.caller) == (hand, GAME, ann, "Ann")
    assert (stored.day.isoformat(), stored.dealt) == ("2026-06-01", books.now)
    assert (stored.rules, stored.stake, stored.coin) == ({"ties": "push"}, 300, 120)
    assert stored.shoe.seed == SEED
    assert stored.shoe.cut == "for luck"
    assert stored.actions == ((0, {"action": "bet", "stake": 300}), (1, {"action": "stay"}))
    assert (stored.sequence, stored.cards_used, stored.start) == (1, 4, 0)
    assert (stored.settled, stored.outcome, stored.result) == (False, None, None)


def test_a_settled_hand_carries_its_result(books, call):
    hand = call.bet(300)
    call.act(won(300, 600))
    stored = books.do(journal.stored_round, hand)
    assert (stored.settled, stored.outcome, stored.result) == (True, "win", {"net": 600})
    assert (stored.lost, stored.returned, stored.won) == (0, 300, 600)
    assert stored.shoe is None
    assert stored.start == 0


def test_rounds_come_in_the_order_they_were_dealt(books, call):
    bob = books.call(books.caller("Bob"), node=2)
    call.lose(60)
    bob.lose(60)
    call.bet(60)
    rounds = books.do(lambda desk: list(journal.rounds_between(desk, 1, 9)))
    assert [stored.caller for stored in rounds] == ["Ann", "Bob", "Ann"]
    assert [stored.settled for stored in rounds] == [True, True, False]
    assert books.do(journal.stored_round, 99) is None


def test_a_hand_is_overdue_when_the_day_after_its_own_is_over(books, call):
    hand = call.bet(600)
    for now, overdue in (
        (datetime(2026, 6, 1, 23, 59, tzinfo=UTC), []),
        (datetime(2026, 6, 2, 23, 59, 59, tzinfo=UTC), []),
        (datetime(2026, 6, 3, tzinfo=UTC), [hand]),
        (datetime(2026, 7, 3, tzinfo=UTC), [hand]),
    ):
        books.wait_until(now)
        assert [stored.id for stored in books.do(journal.overdue_rounds)] == overdue


def test_a_settled_hand_is_never_overdue(books, call):
    call.lose(600)
    books.wait(10 * 86400)
    assert books.do(journal.overdue_rounds) == []


def stand(books, ann, hand, settlement, first=1):
    moves = [
        Move(hand, first, {"action": "no-insurance"}, 4),
        Move(hand, first + 1, {"action": "stay"}, 6),
    ]
    return books.do(stand_alone, moves, settlement)


def test_an_abandoned_hand_is_stood_and_its_caller_notified(books, ann, call):
    hand = call.bet(600)
    call.close()
    books.wait(3 * 86400)
    receipt = stand(books, ann, hand, won(600, 300))
    assert [(row.kind, row.amount) for row in receipt.rows] == [("returned", 600), ("won", 300)]
    assert books.sql("SELECT call_id, round_id FROM transfers WHERE kind = 'won'") == [(None, hand)]
    stored = books.do(journal.stored_round, hand)
    assert stored.settled
    assert [action["action"] for _, action in stored.actions] == ["bet", "no-insurance", "stay"]
    again = books.call(ann)
    assert again.notices == (
        "Your hand of 1 June at Black Jack For Time was left open; the dealer stood it for you:"
        " you won 5 minutes (win).",
    )
    # Won after the last known day: it is banked when the next day begins.
    assert ("carry", 300, "online", "bank") in again.moved
    assert books.audit() == []


def test_payouts_of_an_absent_callers_hand_stop_at_an_event(books, ann, call):
    hand = call.bet(3000)
    call.close()
    books.wait_until(datetime(2026, 6, 4, 2, 30, tzinfo=UTC))
    receipt = stand(books, ann, hand, won(3000, 900))
    assert [(row.kind, row.amount, row.target) for row in receipt.rows[2:]] == [
        ("clamp", 900, "bank"),
        ("held", 1800 - 1, "held"),  # less the second begun by the call
    ]


def test_a_hand_is_its_callers_while_they_are_on_line(books, ann, call):
    hand = call.bet(600)
    with pytest.raises(CallerOnline):
        stand(books, ann, hand, lost(600))
    call.act()


def test_a_dead_call_is_closed_before_its_hand_is_stood(books, ann, call):
    hand = call.bet(600)
    books.wait(10)
    call.renew()
    books.server_dies()
    stand(books, ann, hand, lost(600))
    assert books.sql("SELECT ticked, closed IS NOT NULL FROM calls") == [(10, 1)]
    assert books.audit() == []


def test_a_hand_that_was_finished_meanwhile_is_left_alone(books, ann, call):
    hand = call.bet(600)
    call.act(lost(600))
    call.close()
    with pytest.raises(RoundOver):
        stand(books, ann, hand, lost(600))
    assert in_english(books.do(notices, ann)) == ()


def test_standing_keeps_step_with_the_journal(books, ann, call):
    hand = call.bet(600)
    call.act()
    call.close()
    with pytest.raises(OutOfStep):
        stand(books, ann, hand, lost(600))
    stand(books, ann, hand, lost(600), first=2)


def test_an_empty_chair_stakes_nothing_and_leaves_nothing_on_the_table(books, ann, call):
    hand = call.bet(600)
    call.close()
    double = Move(hand, 1, {"action": "double"}, 4, 600, "double", 60)
    with pytest.raises(ValueError, match="only stood and settled"):
        books.do(stand_alone, [double], lost(1200))
    with pytest.raises(ValueError, match="only stood and settled"):
        books.do(stand_alone, [], lost(300, final=False))
