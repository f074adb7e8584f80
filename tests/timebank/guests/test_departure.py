"""The end of a visit: minutes returned, given back and owed, and tricks that fail.

The sentences are those of the issue, under "Whose minutes".
"""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.timebank.books import lost, pushed, stand_alone, won
from tests.timebank.hosts import BOARD, HOUR, comes, debt, known, last_visit
from timebank.calls.calls import close_dead_calls, close_orphaned_calls
from timebank.errors import Refused, UnknownCaller
from timebank.guests import departure
from timebank.keeping import deletion
from timebank.wagers import journal
from timebank.wagers.rounds import Move
from timebank.window.corrections import adjust
from timebank.window.teller import deposit

DAY = 24 * HOUR


@pytest.fixture
def ann(books):
    """Ann of Xibalba, user 7 there."""
    return known(books)


def saved(books, caller_id):
    return books.balances(caller_id)["bank"]


def test_the_end_of_a_visit_returns_all_minutes(books, ann):
    call = comes(books, ann)
    books.wait(600)
    call.close()
    assert call.moved == [
        ("elapsed", 600, "online", "elapsed"),
        ("taken home", 3000, "online", "external"),
    ]
    assert not any(books.balances(ann).values())


def test_a_gain_is_given_back_to_a_host_that_can_take_it(books, ann):
    call = comes(books, ann, way="moduser")
    call.win(600, 900)
    books.wait(60)
    assert call.close_and_give() == 15
    assert call.moved == [
        ("elapsed", 60, "online", "elapsed"),
        ("gain", 900, "online", "bank"),
        ("given back", 900, "bank", "external"),
        ("taken home", HOUR - 60, "online", "external"),
    ]
    assert saved(books, ann) == 0


def test_else_it_goes_to_our_bank(books, ann):
    call = comes(books, ann)
    call.win(600, 900)
    assert call.close_and_give() == 0
    assert saved(books, ann) == 900


def test_or_through_thebank_ext_to_the_bank_of_the_board(books, ann, folder):
    books.change(thebank_ext=folder / "THEBANK.EXT")
    call = comes(books, ann, way="thebank.ext")
    call.win(600, 930)
    assert call.close_and_give() == 0
    assert books.sql("SELECT name, minutes, source FROM outbox") == [("Ann@Xibalba", 15, BOARD)]
    assert saved(books, ann) == 30
    assert books.audit() == []


def test_where_there_is_no_bank_the_host_is_given_its_minutes_all_the_same(books, ann):
    books.change(mode="none")
    call = comes(books, ann, way="moduser")
    call.win(600, 900)
    assert call.close_and_give() == 15
    call = comes(books, ann)
    call.win(600, 900)
    call.close()
    assert ("gain", 900, "online", "forfeit") in call.moved
    assert books.audit() == []


def test_seconds_below_a_minute_wait_in_the_bank_for_the_next(books, ann):
    call = comes(books, ann, way="moduser")
    call.win(600, 110)
    assert call.close_and_give() == 1
    assert saved(books, ann) == 50
    call = comes(books, ann, way="moduser")
    call.win(600, 10)
    assert call.close_and_give() == 1
    assert saved(books, ann) == 0


def test_they_wait_in_a_frozen_account_too(books, ann):
    books.do(adjust, ann, 60, "for the test", "Tester")
    books.sql("UPDATE callers SET frozen = 1")
    for _ in range(2):
        call = comes(books, ann, way="moduser")
        call.win(600, 110)
        assert call.close_and_give() == 1
    assert saved(books, ann) == 60 + 100


def test_a_loss_is_remembered_per_board_user_and_day(books, ann):
    others = [known(books, "Ann", "8"), known(books, "Ann", "7", "Orcus")]
    call = comes(books, ann)
    call.lose(1800)
    call.close()
    assert debt(books, ann) == 1800
    assert [debt(books, other) for other in others] == [0, 0]
    assert [comes(books, other).purse.online for other in others] == [HOUR, HOUR]
    books.wait(12 * HOUR)
    assert debt(books, ann) == 0
    assert comes(books, ann).purse.online == HOUR


def test_a_loss_reduces_the_minutes_brought_later_that_day(books, ann):
    call = comes(books, ann)
    books.wait(300)
    call.lose(1800)
    call.close()
    call = comes(books, ann, HOUR - 300)
    assert call.purse.online == HOUR - 300 - 1800
    assert (call.arrival.shown, call.arrival.debt) == (HOUR - 300, 1800)


def test_a_gain_pays_the_debt_first_and_the_rest_is_given_back(books, ann):
    call = comes(books, ann, way="moduser")
    call.lose(600)
    assert call.close_and_give() == 0
    call = comes(books, ann, way="moduser")
    call.win(600, 900)
    assert call.close_and_give() == 5
    assert debt(books, ann) == 0
    visit = last_visit(books, ann)
    assert (visit["debt"], visit["debt_paid"], visit["gain"]) == (600, 600, 300)


def test_a_loss_after_midnight_is_of_the_day_of_departure(books, ann):
    books.wait(12 * HOUR - 60)
    call = comes(books, ann)
    books.wait(120)
    call.lose(600)
    call.close()
    assert debt(books, ann) == 600


def test_without_a_clock_it_is_of_the_day_of_arrival(books, ann):
    books.wait(12 * HOUR - 60)
    call = comes(books, ann, None)
    books.wait(120)
    call.lose(600)
    call.close()
    assert debt(books, ann) == 0


def test_after_midnight_a_guest_saves_only_the_excess_over_the_debt(books, ann):
    books.wait(12 * HOUR - 600)
    call = comes(books, ann, None)
    call.lose(240)
    call.close()
    call = comes(books, ann, None)
    books.wait(900)
    call.win(900, 1020)
    with pytest.raises(Refused):
        call.post(deposit, 840)
    call.post(deposit, 780)
    call.close()
    assert saved(books, ann) == 780
    assert last_visit(books, ann)["debt_paid"] == 240
    assert books.audit() == []


def test_playing_on_winnings_past_the_allowance_keeps_the_rest(books, ann):
    call = comes(books, ann, None)
    call.win(3000, 3000)
    books.wait(HOUR + 1800)
    call.close()
    assert saved(books, ann) == 3000 - 1800
    assert comes(books, ann, None).purse.online == 0
    assert books.audit() == []


def test_time_counted_by_the_host_is_not_charged_twice(books, ann):
    call = comes(books, ann, HOUR, share=50)
    call.win(1200, 1800)
    books.wait(2700)
    call.close()
    # The host shows 15 minutes. Ann had 60, won 30 and used 45: 30 are hers, and 15 the host's.
    assert call.moved == [
        ("elapsed", 2700, "online", "elapsed"),
        ("brought", 900, "external", "online"),
        ("gain", 1800, "online", "bank"),
    ]
    assert books.audit() == []


def test_time_used_past_the_hosts_clock_is_the_guests_and_pays_no_debt(books, ann):
    comes(books, ann).lose(1800)
    books.do(adjust, ann, HOUR, "for the test", "Tester")
    call = comes(books, ann, 0, take_over=True)
    call.withdraw(300)
    books.wait(100)
    call.win(60, 60)
    call.close()
    # Ann used 100 of the 360, which no clock of the host could count, and the 60 won pay the debt.
    assert call.moved == [
        ("put back", 200, "online", "bank"),
        ("taken home", 60, "online", "external"),
    ]
    assert debt(books, ann) == 1740
    assert books.audit() == []


# Hands that are left open.


def test_an_open_hand_keeps_its_stake_and_is_neither_won_nor_lost(books, ann):
    call = comes(books, ann)
    call.bet(600)
    call.close()
    assert books.balances(ann) == {"online": 0, "held": 0, "bank": 0, "stake": 600, "loan": 0}
    assert debt(books, ann) == 0
    call = comes(books, ann)
    assert (call.purse.online, call.arrival.host_stake) == (HOUR - 600, 600)


def resumed(books, call):
    hand = books.do(journal.round_in_play, call.caller_id)
    call.round_id, call.sequence = hand.id, hand.sequence
    return call


@pytest.mark.parametrize(
    ("settlement", "in_the_bank", "owed"),
    [(won(600, 900), 900, 0), (pushed(600), 0, 0), (lost(600), 0, 600)],
)
def test_it_counts_in_the_visit_in_which_it_is_over(books, ann, settlement, in_the_bank, owed):
    call = comes(books, ann)
    call.bet(600)
    call.close()
    call = resumed(books, comes(books, ann))
    call.act(settlement)
    call.close()
    assert (saved(books, ann), debt(books, ann)) == (in_the_bank, owed)
    assert books.audit() == []


def test_a_stake_of_yesterday_is_no_gain_today(books, ann):
    call = comes(books, ann)
    call.bet(1800)
    call.close()
    books.wait(14 * HOUR)
    call = resumed(books, comes(books, ann))
    call.act(pushed(1800))
    call.close()
    assert (saved(books, ann), debt(books, ann)) == (0, 0)


@pytest.mark.parametrize(
    ("settlement", "in_the_bank", "owed"),
    [(won(600, 900), 900, 0), (pushed(600), 0, 0), (lost(600), 0, 600)],
)
def test_a_hand_stood_for_a_guest_pays_into_the_bank_only(
    books, ann, settlement, in_the_bank, owed
):
    call = comes(books, ann)
    number = call.bet(600)
    call.close()
    books.wait(3 * DAY)
    move = Move(number, 1, {"action": "stay"}, 4)
    receipt = books.do(stand_alone, [move], settlement)
    assert (receipt.purse.online, receipt.purse.stake) == (0, 0)
    assert (saved(books, ann), debt(books, ann)) == (in_the_bank, owed)
    assert books.audit() == []


def test_a_withdrawn_stake_on_the_table_stays_the_guests(books, ann):
    books.do(adjust, ann, HOUR, "for the test", "Tester")
    call = comes(books, ann, 601)
    books.wait(1)
    call.withdraw(1200)
    call.bet(1740)
    call.close()
    # A minute was left of thirty: it is Ann's, and nineteen more on the table are.
    assert saved(books, ann) == HOUR - 1200 + 60
    call = resumed(books, comes(books, ann, 600))
    assert (call.purse.online, call.arrival.host_stake) == (0, 600)
    call.act(pushed(1740))
    call.close()
    assert (saved(books, ann), debt(books, ann)) == (HOUR, 0)
    assert books.audit() == []


# Processes that are killed.


def test_killing_it_hides_no_loss(books, ann):
    comes(books, ann).lose(1800)
    books.wait(31)
    books.server_dies()
    call = comes(books, ann, HOUR - 31)
    assert (call.arrival.debt, call.arrival.was_cut_off) == (1800, True)
    assert call.purse.online == 1800 - 31


def test_a_loss_of_a_killed_process_is_of_the_day_of_its_last_renewal(books, ann):
    call = comes(books, ann)
    call.lose(1800)
    call.renew()
    books.wait(14 * HOUR)
    books.server_dies()
    assert comes(books, ann).purse.online == HOUR
    books.step(-14 * HOUR)
    assert debt(books, ann) == 1800


@pytest.mark.parametrize("closing", [close_dead_calls, None])
def test_closing_a_dead_call_ends_the_visit(books, ann, closing):
    call = comes(books, ann)
    call.win(600, 600)
    books.server_dies()
    if closing is None:
        books.do(close_orphaned_calls, lambda process: process == "p")
    else:
        books.do(closing)
    assert saved(books, ann) == 600
    assert books.balances(ann)["online"] == 0


def test_owed_minutes_are_banked_when_the_next_visit_cannot_return_them(books, ann):
    call = comes(books, ann, way="moduser")
    call.win(600, 900)
    call.close()
    call = comes(books, ann)
    call.close()
    assert ("kept", 900, "external", "bank") in call.moved
    assert saved(books, ann) == 900
    assert call.claim() is None
    assert books.audit() == []


def test_a_deleted_guest_is_owed_nothing(books, ann):
    call = comes(books, ann, way="moduser")
    call.win(600, 900)
    call.bet(600)
    call.close()
    books.do(deletion.delete, ann)
    books.do(deletion.remove, ann)
    assert books.do(departure.waiting_payments, ann) == []
    assert not any(books.balances(ann).values())
    with pytest.raises(UnknownCaller):
        comes(books, ann)
    assert books.audit() == []


def test_the_worked_example_of_the_guide(books, ann):
    """docs/door-mode.md has the figures of this evening."""
    call = comes(books, ann, HOUR, way="moduser")
    books.wait(600)
    call.lose(1800)
    assert call.close_and_give() == 0
    assert call.moved == [("taken home", 1200, "online", "external")]
    assert debt(books, ann) == 1800
    call = comes(books, ann, 3000, way="moduser")
    assert call.purse.online == 1200
    books.wait(300)
    call.win(600, 2700)
    assert call.close_and_give() == 15
    assert call.moved == [
        ("gain", 900, "online", "bank"),
        ("given back", 900, "bank", "external"),
        ("taken home", 2700, "online", "external"),
    ]
    assert debt(books, ann) == 0
    call = comes(books, ann, 2700, until=books.now + timedelta(minutes=30), way="moduser")
    assert call.purse.online == 1800
    assert books.audit() == []
