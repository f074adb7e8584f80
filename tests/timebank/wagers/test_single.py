"""Bets, actions and settlements: transfers, journal rows and refusals."""

from __future__ import annotations

import json

import pytest

from tests.timebank.books import GAME, act, lost, pushed, won
from timebank.errors import (
    CallClosed,
    NotEnough,
    OutOfStep,
    RoundInPlay,
    RoundOver,
    ShoeGone,
    TurnsUsed,
)
from timebank.wagers import journal
from timebank.wagers.rounds import Move, Settlement


@pytest.fixture
def call(books, ann):
    return books.call(ann)


def state(books):
    return (
        books.sql("SELECT * FROM transfers"),
        books.sql("SELECT * FROM rounds"),
        books.sql("SELECT * FROM actions"),
        books.sql("SELECT * FROM calls"),
    )


def test_a_bet_moves_the_stake_onto_the_table(books, call):
    books.wait(30)
    call.bet(600)
    assert call.moved == [
        ("elapsed", 30, "online", "elapsed"),
        ("stake", 600, "online", "stake"),
    ]
    assert call.receipt.rows[1].why == "Bet 10 minutes at Black Jack For Time"
    assert (call.purse.online, call.purse.stake) == (2970, 600)
    assert call.purse.turns == {GAME: 1}


def test_a_lost_hand_goes_to_the_house(books, call):
    call.lose(600)
    assert call.moved == [("lost", 600, "stake", "house")]
    assert call.receipt.rows[0].why == "Lost at Black Jack For Time (lose)"
    assert books.system()["house"] == 600
    assert call.purse.stake == 0


def test_a_hand_won_brings_the_stake_back_and_as_much_more(books, call):
    call.win(600, 1200)
    assert call.moved == [
        ("returned", 600, "stake", "online"),
        ("won", 1200, "house", "online"),
    ]
    assert call.purse.online == 4800
    assert books.system()["house"] == -1200


def test_a_push_only_brings_the_stake_back(call):
    call.bet(600)
    call.act(pushed(600))
    assert call.moved == [("returned", 600, "stake", "online")]
    assert call.purse.online == 3600


def test_insurance_and_a_double_are_separate_stakes(books, call):
    call.bet(600)
    call.act(stake=300, kind="insurance")
    assert call.moved == [("insurance", 300, "online", "stake")]
    assert call.receipt.rows[0].why == "Insurance for 5 minutes at Black Jack For Time"
    call.act(lost(300, final=False))
    call.act(won(1200, 1200), stake=600, kind="double")
    assert call.moved == [
        ("double", 600, "online", "stake"),
        ("returned", 1200, "stake", "online"),
        ("won", 1200, "house", "online"),
    ]
    assert call.purse.online == 3600 - 300 + 1200
    row = books.sql("SELECT lost, returned, won, outcome FROM rounds")
    assert row == [(300, 1200, 1200, "win")]
    assert books.audit() == []


def test_the_rows_of_an_entry_stand_in_the_order_of_the_design(books, call):
    books.wait_until(books.now.replace(hour=2).replace(day=2))
    call.touch()
    call.bet(600)
    books.wait(60)
    settlement = Settlement(300, 900, 700, "win", {}, True)
    call.act(settlement, stake=600, kind="double")
    assert [kind for kind, *_ in call.moved] == [
        "elapsed",
        "double",
        "lost",
        "returned",
        "won",
        "clamp",
    ]


def test_the_last_coin_is_never_staked(books, call):
    with pytest.raises(NotEnough, match="You have 60 minutes, and 1 minute must stay"):
        call.bet(3541)
    call.bet(3540)
    assert call.purse.online == 60
    with pytest.raises(NotEnough):
        call.act(stake=1, kind="insurance")


def test_the_time_used_counts_before_a_stake_is_allowed(books, call):
    books.wait(1)
    with pytest.raises(NotEnough):
        call.bet(3540)
    call.bet(3539)


def test_a_bet_leaves_one_coin_of_the_table(call):
    with pytest.raises(NotEnough):
        call.bet(3301, coin=300)
    call.bet(3300, coin=300)


def test_a_caller_has_one_hand_in_play(books, call):
    call.bet(600)
    with pytest.raises(RoundInPlay):
        call.bet(600)
    with pytest.raises(RoundInPlay):
        call.bet(600, game="baccarat")
    call.act(lost(600))
    call.bet(600)


def test_turns_are_counted_by_game_and_a_turn_is_a_bet_placed(books, call):
    call.lose(60)
    call.bet(60, turns_limit=2)
    call.act(pushed(60))
    with pytest.raises(TurnsUsed, match="all 2 turns for today"):
        call.bet(60, turns_limit=2)
    call.bet(60, turns_limit=2, game="baccarat")
    assert call.purse.turns == {GAME: 2, "baccarat": 1}


def test_an_action_out_of_step_is_refused_and_moves_nothing(books, call):
    call.bet(600)
    before = state(books)
    for wrong in (0, 2, 7):
        call.sequence = wrong - 1
        with pytest.raises(OutOfStep):
            call.act(stake=60, kind="double")
    assert state(books) == before
    call.sequence = 0
    call.act()
    call.sequence = 0
    with pytest.raises(OutOfStep):
        call.act()


def test_an_action_for_another_callers_hand_is_refused(books, call):
    call.bet(600)
    bob = books.call(books.caller("Bob"), node=2)
    bob.round_id = call.round_id
    with pytest.raises(RoundOver):
        bob.act(won(600, 600))
    bob.bet(60)
    bob.round_id = call.round_id
    with pytest.raises(RoundOver):
        bob.act(won(60, 60))


def test_a_hand_continues_in_the_next_call(books, ann, call):
    call.bet(600)
    call.act()
    books.server_dies()
    again = books.call(ann)
    assert again.purse.stake == 600
    again.round_id, again.sequence = call.round_id, 1
    again.act(won(600, 600))
    assert again.purse.online == 4199  # a second went with the call of a dead server
    assert books.sql("SELECT call_id FROM actions ORDER BY sequence") == [
        (call.id,),
        (call.id,),
        (again.id,),
    ]


def test_the_call_that_was_taken_over_cannot_touch_the_hand(books, ann, call):
    call.bet(600)
    again = books.call(ann, take_over=True)
    with pytest.raises(CallClosed):
        call.act(won(600, 600))
    again.round_id = call.round_id
    again.act(lost(600))


@pytest.mark.parametrize(
    "settlement",
    [
        Settlement(0, 599, 0, "push", {}, True),
        Settlement(1, 600, 0, "push", {}, True),
        Settlement(-1, 601, 0, "push", {}, True),
        Settlement(0, 600, -1, "push", {}, True),
        Settlement(600, 0, 0, "", {}, False),
    ],
)
def test_a_settlement_that_does_not_fit_the_stake_is_an_error(books, call, settlement):
    call.bet(600)
    before = state(books)
    with pytest.raises(ValueError, match="does not fit"):
        call.act(settlement)
    assert state(books) == before


@pytest.mark.parametrize("amount", [0, -60])
def test_a_bet_is_above_zero(call, amount):
    with pytest.raises(ValueError, match="not a bet"):
        call.bet(amount)


def test_a_stake_needs_an_amount_a_kind_and_a_coin(call):
    call.bet(600)
    with pytest.raises(ValueError, match="not a stake"):
        call.act(stake=60)
    with pytest.raises(ValueError, match="not a stake"):
        call.act(stake=60, kind="double", coin=0)
    with pytest.raises(ValueError, match="not a stake"):
        call.act(stake=-60, kind="double")


def test_a_hand_that_the_deal_decides_is_placed_and_settled_in_one_entry(books, call):
    call.bet(600, won(600, 1200))
    assert call.moved == [
        ("stake", 600, "online", "stake"),
        ("returned", 600, "stake", "online"),
        ("won", 1200, "house", "online"),
    ]
    call.bet(600, pushed(600))
    assert call.moved[1:] == [("returned", 600, "stake", "online")]
    assert books.do(journal.round_in_play, call.caller_id) is None


def test_the_journal_has_rules_actions_and_result_as_they_were_given(books, call):
    hand = call.bet(600, rules={"ties": "push"}, action={"action": "bet", "cards": ["AS"]})
    call.act(won(600, 600))
    assert books.sql("SELECT sequence, action FROM actions") == [
        (0, '{"action":"bet","cards":["AS"]}'),
        (1, '{"action":"stay"}'),
    ]
    rules, result = books.sql("SELECT rules, result FROM rounds WHERE id = ?", hand)[0]
    assert json.loads(rules) == {"ties": "push"}
    assert json.loads(result) == {"net": 600}


def test_a_bet_commits_the_cut_before_the_first_card(books, ann, call):
    shoe = books.do(journal.open_shoe, ann, GAME, 1, b"s" * 32)
    assert (shoe.cut, shoe.fresh) == (None, True)
    call.bet(60, shoe_id=shoe.id, cut="for luck", cards_used=4)
    shoe = books.do(journal.open_shoe, ann, GAME, 1, b"t" * 32)
    assert (shoe.cut, shoe.fresh, shoe.position) == ("for luck", False, 4)


def test_a_shoe_that_was_dealt_from_takes_no_other_cut(books, ann, call):
    shoe = books.do(journal.open_shoe, ann, GAME, 1, b"s" * 32)
    call.bet(60, pushed(60), shoe_id=shoe.id, cut="for luck")
    with pytest.raises(ShoeGone):
        call.bet(60, shoe_id=shoe.id, cut="for more")
    with pytest.raises(ShoeGone):
        call.bet(60, shoe_id=shoe.id, cut="")
    call.bet(60, pushed(60), shoe_id=shoe.id, cut="for luck")
    call.bet(60, pushed(60), shoe_id=shoe.id)


def test_an_uncut_shoe_is_committed_as_uncut(books, ann, call):
    shoe = books.do(journal.open_shoe, ann, GAME, 1, b"s" * 32)
    call.bet(60, pushed(60), shoe_id=shoe.id)
    assert books.sql("SELECT cut FROM shoes") == [("",)]
    with pytest.raises(ShoeGone):
        call.bet(60, shoe_id=shoe.id, cut="too late")


def test_a_shoe_of_another_caller_or_game_or_a_used_one_is_refused(books, ann, call):
    bobs = books.do(journal.open_shoe, books.caller("Bob"), GAME, 1, b"b" * 32)
    other = books.do(journal.open_shoe, ann, "vegas", 1, b"v" * 32)
    done = books.do(journal.open_shoe, ann, GAME, 1, b"s" * 32)
    books.do(journal.close_shoe, done.id)
    for shoe in (bobs, other, done):
        with pytest.raises(ShoeGone):
            call.bet(60, shoe_id=shoe.id)


def test_cards_used_add_up_over_the_hands_of_a_shoe(books, ann, call):
    shoe = books.do(journal.open_shoe, ann, GAME, 6, b"s" * 32)
    first = call.bet(60, shoe_id=shoe.id, cards_used=4)
    call.post(act, Move(first, 1, {"action": "hit"}, 5), lost(60))
    second = call.bet(60, pushed(60), shoe_id=shoe.id, cards_used=4)
    third = call.bet(60, shoe_id=shoe.id, cards_used=4)
    starts = [books.do(journal.stored_round, hand).start for hand in (first, second, third)]
    assert starts == [0, 5, 9]
    assert books.do(journal.stored_round, first).cards_used == 5
    assert books.do(journal.open_shoe, ann, GAME, 6, b"t" * 32).position == 13


def test_a_round_may_begin_further_on_in_the_shoe(books, ann, call):
    shoe = books.do(journal.open_shoe, ann, GAME, 1, b"s" * 32)
    call.bet(60, lost(60), shoe_id=shoe.id, cards_used=40)
    call.bet(60, lost(60), shoe_id=shoe.id, cards_used=9, start=51)
    call.bet(60, shoe_id=shoe.id, cards_used=4)
    assert books.sql("SELECT start_position FROM rounds ORDER BY id") == [(0,), (51,), (60,)]
    assert books.do(journal.round_in_play, ann).start == 60


@pytest.mark.parametrize("start", [0, 39])
def test_no_card_of_a_shoe_is_dealt_twice(books, ann, call, start):
    shoe = books.do(journal.open_shoe, ann, GAME, 1, b"s" * 32)
    call.bet(60, lost(60), shoe_id=shoe.id, cards_used=40)
    before = state(books)
    with pytest.raises(ShoeGone, match="dealt already"):
        call.bet(60, shoe_id=shoe.id, start=start)
    assert state(books) == before
