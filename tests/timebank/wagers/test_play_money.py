"""Play money: bankrolls, the bank that each caller faces, the tab of UNIX bj, and tallies."""

from __future__ import annotations

import pytest

from tests.timebank.books import lost, place_bet, pushed, stand_alone, wager, won
from timebank.callers import callers, standings
from timebank.errors import CallClosed, NotEnough
from timebank.keeping import deletion
from timebank.ledger.play_accounts import PlayMoney
from timebank.wagers import play_money
from timebank.wagers.play_money import Tally, bankrolls, renew_bankroll
from timebank.wagers.rounds import Move

pytestmark = pytest.mark.both_engines

NEW = 100_000_00
FULL = 1_000_000_00
A_DAY = 86400


@pytest.fixture
def call(books, ann):
    return books.call(ann)


def lose_everything(call, unit="usd-cent"):
    call.coup(NEW, unit=unit)
    call.act(lost(NEW))


def test_a_new_player_gets_a_bankroll_and_faces_a_full_bank(books, call):
    assert call.sit_down() == PlayMoney("usd-cent", NEW, FULL, 0, 0)
    assert [row.why for row in call.receipt.rows] == [
        "Bankroll of $100,000 for a new player",
        "The bank is back at $1,000,000",
    ]
    assert books.system("usd-cent") == {"mint": -NEW - FULL}
    assert books.audit() == []


def test_dollars_and_francs_are_separate(books, ann, call):
    call.sit_down()
    call.coup(NEW, lost(NEW))
    assert books.do(bankrolls, ann) == {"usd-cent": 0}
    assert call.sit_down("frf-cent").bankroll == NEW
    assert call.receipt.rows[0].why == "Bankroll of FR 100,000 for a new player"
    call.coup(100, won(100, 100), unit="frf-cent")
    assert books.do(bankrolls, ann) == {"usd-cent": 0, "frf-cent": NEW + 100}


def test_a_caller_who_never_sat_down_has_no_bankroll(books, ann, call):
    call.hand_of_bj(lost(200))
    assert books.do(bankrolls, ann) == {}
    assert call.sit_down().bankroll == NEW


def test_a_coup_is_played_against_the_callers_own_bank(books, call):
    call.sit_down()
    call.coup(500_00)
    assert call.moved == [("stake", 500_00, "bankroll", "stake")]
    assert call.receipt.rows[0].why == "Bet $500 at Baccarat"
    assert call.receipt.play == PlayMoney("usd-cent", NEW - 500_00, FULL, 0, 500_00)
    call.act(won(500_00, 500_00))
    assert call.moved == [
        ("returned", 500_00, "stake", "bankroll"),
        ("won", 500_00, "casino", "bankroll"),
    ]
    call.coup(300_00, lost(300_00))
    assert call.moved[1:] == [("lost", 300_00, "stake", "casino")]
    assert call.receipt.play == PlayMoney("usd-cent", NEW + 200_00, FULL - 200_00, 0, 0)
    assert books.audit() == []


def test_the_whole_bankroll_may_be_bet_and_no_more(call):
    call.sit_down()
    with pytest.raises(NotEnough, match=r"^You have \$100,000\.$"):
        call.coup(NEW + 1)
    call.coup(NEW)
    assert call.receipt.play.bankroll == 0


def test_a_bet_is_limited_by_the_banks_balance(books, call):
    call.sit_down()
    while call.receipt.play.casino > call.receipt.play.bankroll:
        bankroll = call.receipt.play.bankroll
        call.coup(bankroll, won(bankroll, bankroll))
    left = call.receipt.play.casino
    with pytest.raises(NotEnough, match=r"^The bank has only \$300,000 left to pay with\.$"):
        call.coup(left + 1)
    call.coup(left, won(left, left))
    assert call.receipt.play.casino == 0
    assert books.audit() == []


def test_open_stakes_reduce_the_amount_that_the_bank_can_still_pay(call):
    call.sit_down()
    for stake in (NEW, 2 * NEW, 4 * NEW):
        call.coup(stake, won(stake, stake))
    call.coup(2 * NEW)
    with pytest.raises(NotEnough, match=r"^The bank has only \$300,000 left to pay with\.$"):
        call.act(stake=NEW + 100, kind="double")
    call.act(stake=NEW, kind="double")
    assert call.receipt.play.casino == 3 * NEW


def test_a_broken_bank_takes_no_bets_and_is_refilled_at_the_next_visit(books, call):
    call.sit_down()
    for bet in (100_000_00, 200_000_00, 400_000_00, 300_000_00):
        call.coup(bet, won(bet, bet))
    with pytest.raises(NotEnough, match=r"The bank has only \$0"):
        call.coup(100)
    assert call.sit_down() == PlayMoney("usd-cent", NEW + FULL, FULL, 0, 0)
    assert books.system("usd-cent")["mint"] == -NEW - 2 * FULL


def test_winnings_of_the_bank_are_removed_at_the_next_visit(books, call):
    call.sit_down()
    call.coup(400_00, lost(400_00))
    assert call.sit_down().casino == FULL
    assert call.moved == [("casino", 400_00, "casino", "mint")]
    assert call.sit_down().casino == FULL
    assert call.moved == []


def test_a_bankroll_that_is_gone_is_not_renewed_on_the_day_it_was_lost(call):
    call.sit_down()
    lose_everything(call)
    assert call.sit_down().bankroll == 0
    with pytest.raises(NotEnough, match=r"^You have \$0\.$"):
        call.coup(100)


def test_it_is_renewed_on_the_next_day(books, ann, call):
    call.sit_down()
    lose_everything(call)
    call.close()
    books.wait(A_DAY)
    again = books.call(ann)
    assert again.sit_down().bankroll == NEW
    assert again.receipt.rows[0].why == "New bankroll of $100,000; the last one was lost on 1 June"
    assert again.sit_down().bankroll == NEW


def test_a_new_bankroll_for_a_seated_caller_does_not_refill_the_bank(books, ann, call):
    call.sit_down()
    lose_everything(call)
    left = PlayMoney("usd-cent", 0, FULL + NEW, 0, 0)
    assert call.post(renew_bankroll, "usd-cent").play == left
    call.close()
    books.wait(A_DAY)
    again = books.call(ann)
    renewed = again.post(renew_bankroll, "usd-cent").play
    assert renewed == PlayMoney("usd-cent", NEW, FULL + NEW, 0, 0)
    assert again.sit_down().casino == FULL


def test_a_new_bankroll_needs_an_earlier_visit_and_an_empty_table(books, ann, call):
    assert call.post(renew_bankroll, "usd-cent").play.bankroll == 0
    call.sit_down()
    call.coup(NEW)
    call.close()
    books.wait(A_DAY)
    again = books.call(ann)
    assert again.post(renew_bankroll, "usd-cent").play.bankroll == 0


def test_a_bankroll_that_was_bet_and_came_back_is_not_lost(books, ann, call):
    call.sit_down()
    call.coup(NEW)
    call.close()
    books.wait(A_DAY)
    again = books.call(ann)
    assert again.sit_down() == PlayMoney("usd-cent", 0, FULL, 0, NEW)
    again.round_id, again.sequence = call.round_id, 0
    again.act(pushed(NEW))
    assert again.sit_down().bankroll == NEW


def test_one_that_is_lost_after_midnight_is_lost_on_that_day(books, ann, call):
    call.sit_down()
    call.coup(NEW)
    call.close()
    books.wait(A_DAY)
    again = books.call(ann)
    again.round_id, again.sequence = call.round_id, 0
    again.act(lost(NEW))
    assert again.sit_down().bankroll == 0


def test_a_clock_that_was_set_back_renews_nothing(books, ann, call):
    books.step(A_DAY)
    call.sit_down()
    books.step(-A_DAY)
    lose_everything(call)
    assert call.sit_down().bankroll == 0
    books.step(A_DAY)
    assert call.sit_down().bankroll == 0
    books.step(A_DAY)
    assert call.sit_down().bankroll == NEW


def test_a_resumed_coup_faces_the_same_bank(books, ann, call):
    call.sit_down()
    call.coup(500_00, won(500_00, 500_00))
    call.coup(200_00)
    books.wait(3600)
    books.server_dies()
    again = books.call(ann)
    expected = PlayMoney("usd-cent", NEW + 300_00, FULL - 500_00, 0, 200_00)
    assert again.sit_down() == expected
    again.round_id, again.sequence = call.round_id, 0
    again.act(won(200_00, 200_00))
    assert again.receipt.play.casino == FULL - 700_00


def test_a_coup_in_francs_leaves_the_bank_in_dollars_to_recover(call):
    call.sit_down("usd-cent")
    call.coup(100, won(100, 100))
    call.sit_down("frf-cent")
    call.coup(100, unit="frf-cent")
    assert call.sit_down("usd-cent").casino == FULL
    assert call.sit_down("frf-cent").stake == 100


def test_sitting_down_posts_the_time_used_and_needs_a_call(books, call):
    books.wait(90)
    call.sit_down()
    assert call.moved[0] == ("elapsed", 90, "online", "elapsed")
    call.close()
    with pytest.raises(CallClosed):
        call.sit_down()


def test_minutes_cannot_be_bet_at_a_table_for_play_money(call):
    with pytest.raises(ValueError, match="play money"):
        call.sit_down("second")


def test_winnings_of_play_money_are_neither_clamped_nor_shared_with_a_loan(books, ann, call):
    books.do(callers.set_preferences, ann, {})
    books.wait_until(books.now.replace(day=2, hour=2, minute=59))
    call.sit_down()
    call.coup(NEW, won(NEW, NEW))
    assert call.receipt.play.bankroll == 2 * NEW
    assert {row.kind for row in call.receipt.rows} == {"stake", "returned", "won"}


def test_minutes_held_in_mid_hand_are_not_booked_on_a_play_money_hand(books, call):
    call.hand_of_bj()
    books.step(14 * 3600 + 1)  # the mail hour is a second less than the caller's minutes away
    call.act(won(200, 200))
    assert call.moved[-1] == ("held", 1, "online", "held")
    assert books.sql("SELECT round_id FROM transfers WHERE kind = 'held'") == [(None,)]
    assert books.audit() == []


def test_a_tab_has_no_bounds_and_its_other_side_is_the_house(books, call):
    call.hand_of_bj()
    assert call.moved == [("stake", 200, "tab", "stake")]
    assert call.receipt.play == PlayMoney("usd-cent", 0, 0, -200, 200)
    call.act(stake=100, kind="insurance", coin=100)
    assert call.receipt.rows[0].why == "Insurance for $1 at UNIX bj"
    call.act(lost(100, final=False))
    call.act(lost(200))
    assert call.moved == [("lost", 200, "stake", "house")]
    assert call.receipt.play.tab == -300
    call.hand_of_bj(won(200, 300))
    assert call.receipt.play.tab == 0
    assert books.system("usd-cent") == {"house": 0}
    assert books.audit() == []


def test_a_tally_counts_every_staked_dollar_and_its_result(books, ann, call):
    tally = Tally(0, 0)
    assert books.do(play_money.tally, ann, "unix-bj", "usd-cent") == tally
    call.hand_of_bj(won(200, 300))
    call.hand_of_bj()
    assert books.do(play_money.tally, ann, "unix-bj", "usd-cent") == Tally(4, 3)
    call.act(stake=100, kind="insurance", coin=100)
    call.act(lost(100, final=False))
    assert books.do(play_money.tally, ann, "unix-bj", "usd-cent") == Tally(5, 2)
    call.act(stake=200, kind="double", coin=100)
    call.act(lost(400))
    assert books.do(play_money.tally, ann, "unix-bj", "usd-cent") == Tally(7, -2)


def test_a_tally_counts_each_round_in_its_own_coin(books, ann, call):
    call.bet(120, lost(120), game="unix-bj", coin=60)
    call.bet(600, won(600, 900), game="unix-bj", coin=300)
    assert books.do(play_money.tally, ann, "unix-bj", "second") == Tally(4, 1)
    assert books.do(play_money.tally, ann, "unix-bj", "usd-cent") == Tally(0, 0)


@pytest.mark.parametrize(
    ("game", "unit"), [("unix-bj", "frf-cent"), ("black-jack-for-time", "usd-cent")]
)
def test_a_game_accepts_only_its_own_unit(books, call, game, unit):
    before = books.sql("SELECT * FROM accounts")
    with pytest.raises(ValueError, match=f"{game} is not played for {unit}"):
        call.bet(100, game=game, unit=unit)
    assert books.sql("SELECT * FROM accounts") == before


def test_rounds_for_play_money_are_no_turns_of_the_day(books, call):
    call.sit_down()
    for _ in range(3):
        call.coup(100, lost(100))
    assert call.purse.turns == {}
    books.do(play_money.tally, call.caller_id, "baccarat", "usd-cent")
    call.post(place_bet, wager(60, game="baccarat", turns_limit=1), lost(60))
    assert call.purse.turns == {"baccarat": 1}


def test_an_abandoned_hand_is_reported_in_its_own_unit(books, ann, call):
    call.sit_down()
    number = call.coup(500_00)
    call.close()
    move = Move(number, 1, {"action": "stay"}, 4)
    books.do(stand_alone, [move], won(500_00, 500_00))
    assert books.call(ann).notices == (
        "Your hand of 1 June at Baccarat was left open; the dealer stood it for you:"
        " you won $500 (win).",
    )


def test_play_money_does_not_raise_a_rank_in_the_bulletins(books, ann, call):
    call.sit_down()
    call.coup(NEW, won(NEW, NEW))
    call.lose(60)
    day = books.now.date()
    today = standings.DaySpan(day, day)
    books.do(callers.change_preferences, ann, {standings.NAMED_AS_LOSER: True})
    assert books.do(standings.winners, today, 5) == []
    assert books.do(standings.losers, today, 5) == [standings.Standing("Ann", -60)]
    (only,) = books.do(standings.house_day, day)
    assert (only.game, only.hands, only.result) == ("black-jack-for-time", 1, 60)


def test_a_deleted_callers_play_money_goes_back_to_the_mint(books, ann, call):
    call.sit_down()
    call.coup(200_00, won(200_00, 200_00))
    call.hand_of_bj(lost(200))
    call.sit_down("frf-cent")
    call.coup(300_00, unit="frf-cent")
    call.close()
    books.do(deletion.delete, ann)
    assert books.balances(ann, "frf-cent")["stake"] == 0  # the hand is void
    assert books.audit() == []
    books.do(deletion.remove, ann)
    for unit in ("second", "usd-cent", "frf-cent"):
        assert not any(books.balances(ann, unit).values())
    assert books.system("frf-cent") == {"mint": 0}
    # The house of UNIX bj has what the tab lost to it.
    assert books.system("usd-cent") == {"house": 200, "mint": -200}
    assert books.sql("SELECT outcome FROM rounds WHERE unit = 'frf-cent'") == [("void",)]
    assert books.audit() == []
