"""Minutes owed to a host are written into its file exactly once, whoever dies over it."""

from __future__ import annotations

import pytest

from tests.timebank.hosts import HOUR, comes, debt, known
from timebank.errors import NotDoubtful
from timebank.guests import claims
from timebank.guests.claims import (
    CLAIM_SECONDS,
    mark_doubtful,
    mark_not_written,
    mark_written,
    take_claim,
)
from timebank.guests.departure import waiting_payments


@pytest.fixture
def ann(books):
    """Ann of Xibalba, user 7 there."""
    return known(books)


@pytest.fixture
def over(books, ann):
    """A visit that is over; she has won 15 minutes, and Xibalba takes them."""
    call = comes(books, ann, way="moduser")
    call.win(600, 900)
    call.close()
    return call


def states(books):
    return books.sql("SELECT minutes, state FROM given_back ORDER BY number")


def outstanding(books):
    with books.database.reading(books.settings, books.now) as desk:
        return [(row.minutes, row.state, row.why) for row in claims.outstanding_payments(desk)]


def number(books):
    return books.sql("SELECT max(number) FROM given_back")[0][0]


def test_it_waits_is_claimed_and_written(books, ann, over):
    (row,) = books.do(waiting_payments, ann)
    assert (row.caller, row.board, row.minutes, row.way) == (
        "Ann@Xibalba",
        "Xibalba",
        15,
        "moduser",
    )
    claim = over.claim()
    assert (claim.caller_id, claim.minutes, claim.way) == (ann, 15, "moduser")
    assert books.do(waiting_payments, ann) == []
    assert outstanding(books) == [(15, "writing", None)]
    assert books.do(mark_written, claim)
    assert outstanding(books) == []
    assert states(books) == [(15, "written")]


def test_a_forfeit_of_waiting_winnings_is_no_loss_of_that_visit(books, ann, over):
    books.change(mode="none")
    comes(books, ann).close()
    assert states(books) == [(15, "kept")]
    ((result,),) = books.sql("SELECT result FROM visits ORDER BY id DESC LIMIT 1")
    assert result == 0
    assert books.audit() == []


def test_winnings_cannot_be_claimed_twice(books, ann, over):
    claim = over.claim()
    assert over.claim() is None
    books.do(mark_written, claim)
    assert over.claim() is None
    assert not books.do(mark_written, claim)


def test_winnings_of_several_visits_are_claimed_as_one_sum(books, ann, over):
    call = comes(books, ann, way="door.sys")
    call.win(600, 300)
    call.close()
    claim = call.claim()
    assert (claim.minutes, claim.way) == (20, "door.sys")
    books.do(mark_written, claim)
    assert states(books) == [(15, "written"), (5, "written")]


def test_a_visit_without_a_file_and_one_of_ours_claim_nothing(books, ann, over):
    books.do(mark_written, over.claim())
    call = comes(books, ann)
    call.close()
    assert call.claim() is None
    ours = books.call(books.caller("Bob"))
    ours.close()
    assert books.do(take_claim, ours.id) is None


def test_winnings_that_could_not_be_written_go_to_our_bank(books, ann, over):
    assert books.do(mark_not_written, over.claim(), "The file is gone.")
    assert states(books) == [(15, "kept")]
    assert books.balances(ann)["bank"] == 900
    assert books.audit() == []


def test_it_comes_there_also_while_its_caller_is_on_another_call(books, ann, over):
    claim = over.claim()
    call = comes(books, ann)
    books.do(mark_not_written, claim, "The file is gone.")
    call.touch()
    assert (call.purse.online, call.purse.bank) == (HOUR, 900)
    call.close()
    assert books.balances(ann)["bank"] == 900
    assert books.audit() == []


def test_a_claimant_that_died_leaves_a_doubt_and_nothing_is_written_again(books, ann, over):
    over.claim()
    books.wait(CLAIM_SECONDS)
    assert outstanding(books) == [(15, "writing", None)]
    books.wait(1)
    assert outstanding(books) == [(15, "doubtful", "the program died while writing it")]
    call = comes(books, ann, way="moduser")
    assert call.arrival.owed == 0
    call.close()
    assert call.claim() is None


def test_a_clock_that_was_stepped_back_does_not_keep_the_doubt_away(books, ann, over):
    over.claim()
    books.step(-HOUR)
    assert outstanding(books)[0][1] == "doubtful"


def test_an_uncertain_claimant_reports_the_doubt_at_once(books, ann, over):
    books.do(mark_doubtful, over.claim(), "The file says 15 already.")
    assert outstanding(books) == [(15, "doubtful", "The file says 15 already.")]


def test_a_slow_claimant_ends_the_doubt(books, ann, over):
    claim = over.claim()
    books.wait(HOUR)
    assert books.do(mark_written, claim)
    assert outstanding(books) == []


def test_the_sysop_finds_that_it_arrived(books, ann, over):
    claim = over.claim()
    books.wait(HOUR)
    books.do(claims.confirm_payment, number(books))
    assert states(books) == [(15, "written")]
    assert not books.do(mark_written, claim)
    assert not books.do(mark_not_written, claim, "It is gone.")
    assert books.balances(ann)["bank"] == 0


def test_the_sysop_finds_that_it_never_arrived(books, ann, over):
    claim = over.claim()
    books.wait(HOUR)
    books.do(claims.retry_payment, number(books))
    assert not books.do(mark_written, claim)
    call = comes(books, ann, way="moduser")
    assert call.arrival.owed == 15
    assert call.close_and_give() == 15
    assert books.audit() == []


@pytest.mark.parametrize("say", [claims.retry_payment, claims.confirm_payment])
def test_settling_a_doubt_without_one_is_refused(books, ann, over, say):
    with pytest.raises(NotDoubtful):
        books.do(say, number(books))
    over.claim()
    with pytest.raises(NotDoubtful):
        books.do(say, number(books))
    with pytest.raises(NotDoubtful):
        books.do(say, 99)


# Hosts with clocks that show losses.


def shown(books, ann, loss, **more):
    call = comes(books, ann, way="exitinfo", shows_losses=True, **more)
    call.lose(loss)
    call.close()
    return call


def test_a_loss_is_shown_in_whole_minutes_and_the_seconds_stay_a_debt(books, ann):
    claim = shown(books, ann, 650).claim()
    assert claim.minutes == -10
    assert debt(books, ann) == 650
    books.do(mark_written, claim)
    assert debt(books, ann) == 50
    assert comes(books, ann, HOUR - 600).purse.online == HOUR - 600 - 50
    assert books.audit() == []


def test_less_than_a_minute_is_not_shown(books, ann):
    assert shown(books, ann, 59).claim() is None
    assert debt(books, ann) == 59


def test_a_minute_is(books, ann):
    assert shown(books, ann, 60).claim().minutes == -1


def test_a_loss_that_could_not_be_shown_stays_a_debt(books, ann):
    claim = shown(books, ann, 600).claim()
    assert books.do(mark_not_written, claim, "The file is gone.")
    assert debt(books, ann) == 600
    assert states(books) == [(-10, "kept")]
    assert books.audit() == []


def test_a_loss_in_doubt_is_a_debt_and_not_shown_twice(books, ann):
    shown(books, ann, 600).claim()
    books.wait(HOUR)
    assert debt(books, ann) == 600
    call = shown(books, ann, 120)
    claim = call.claim()
    assert claim.minutes == -2
    books.do(mark_written, claim)
    assert debt(books, ann) == 600
    books.do(claims.retry_payment, 1)
    assert states(books) == [(-10, "kept"), (-2, "written")]
    assert debt(books, ann) == 600
    assert books.audit() == []


def test_earlier_winnings_still_owed_reduce_the_shown_time(books, ann):
    call = comes(books, ann, way="exitinfo", shows_losses=True)
    call.win(600, 900)
    call.close()
    claim = shown(books, ann, 600).claim()
    assert claim.minutes == 5
    books.do(mark_written, claim)
    assert states(books) == [(15, "written"), (-10, "written")]
    assert debt(books, ann) == 0


def test_as_much_lost_as_won_need_not_be_written(books, ann):
    call = comes(books, ann, way="exitinfo", shows_losses=True)
    call.win(600, 600)
    call.close()
    assert shown(books, ann, 600).claim() is None
    assert states(books) == [(10, "written"), (-10, "written")]
    assert debt(books, ann) == 0
    assert books.audit() == []


def test_a_doubtful_gift_is_unchanged_when_the_next_is_claimed(books, ann, over):
    first = over.claim()
    books.do(mark_doubtful, first, "The disk failed.")
    call = comes(books, ann, way="moduser")
    call.win(600, 300)
    call.close()
    claim = call.claim()
    assert claim.minutes == 5
    assert states(books) == [(15, "doubtful"), (5, "writing")]
    books.do(mark_written, claim)
    assert outstanding(books) == [(15, "doubtful", "The disk failed.")]
