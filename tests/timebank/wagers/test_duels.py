"""Duels in the books: staked once by each, and each stake goes to the winner or home."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.timebank.books import in_english
from tests.timebank.hosts import HostCall, brought, known
from timebank.callers.callers import set_muted
from timebank.callers.notices import waiting
from timebank.callers.own_limits import limit_loss, pause
from timebank.errors import (
    LimitReached,
    NotEnough,
    OutOfStep,
    OwnLimit,
    Refused,
    ShoeGone,
    WindowClosed,
)
from timebank.keeping import deletion, restored_books
from timebank.keeping.maintain import maintain
from timebank.ledger import reasons, transfers
from timebank.ledger.machine import ClockReading
from timebank.ledger.purse import WAITS
from timebank.settings.settings import BankLimits
from timebank.wagers import contests, duels
from timebank.window import corrections, teller
from timebank.window.corrections import freeze

MINUTE = 60
STAKE = 10 * MINUTE
ANN, BOB = 1, 2
SEAL = f"{1:064x}"


@pytest.fixture
def books(open_books):
    """Books of Ann and Bob, who are known and have half an hour in the bank each."""
    books = open_books(limits=BankLimits(known_days=0))
    for name in ("Ann", "Bob", "Cyd"):
        books.caller(name)
    for number in (ANN, BOB):
        post(books, number, teller.deposit, 30 * MINUTE)
    return books


def post(books, caller: int, operation, *values):
    """Post on a separate call, which ends either way; return the movements."""
    call = books.call(caller)
    try:
        call.post(operation, *values)
        return call.moved
    finally:
        call.close()


def challenge(books, stake: int = STAKE, number: int = 1, rival: int = BOB, caller: int = ANN):
    shoe = (bytes([number]) * 32, f"{number:064x}", "black-jack-for-time", {"decks": 1}, 5)
    return post(books, caller, duels.challenge, rival, stake, shoe)


def accept(books, seal: str = SEAL, caller: int = BOB):
    return post(books, caller, duels.accept, seal)


def play(books, caller: int, score: int, cost: int | None = 0) -> None:
    """Begin and finish a caller's try."""
    books.do(duels.begin, SEAL, caller)
    books.do(contests.act, books.do(duels.of_seal, SEAL), caller, (), "stay", score)
    if cost is not None:
        books.do(contests.weigh, SEAL, caller, cost)


def banks(books) -> tuple[int, int]:
    return books.balances(ANN)["bank"] // MINUTE, books.balances(BOB)["bank"] // MINUTE


def held(books) -> int:
    return books.system().get("duels", 0) // MINUTE


def settle(books):
    (due,) = books.do(duels.due)
    return books.do(duels.settle, due.seal)


def test_a_challenge_is_staked_once_and_accepted_once(books):
    assert challenge(books)[-1] == ("duel stake", STAKE, "bank", "duels")
    challenge(books)  # the same, with an unknown outcome
    assert (banks(books), held(books)) == ((20, 30), 10)
    assert in_english(books.do(waiting, BOB)) == (
        "Ann challenges you to a duel for 10 minutes. From the menu: D, then U.",
    )
    assert books.do(duels.is_waiting, BOB)
    assert not books.do(duels.is_waiting, ANN)
    for _ in range(2):
        accept(books)
        assert (banks(books), held(books)) == ((20, 20), 20)
    assert books.do(duels.is_waiting, ANN)
    assert books.audit() == []


def test_more_coins_win_both_stakes_then_less_cost(books):
    challenge(books)
    accept(books)
    play(books, ANN, 15, cost=None)
    assert books.do(duels.due) == []
    play(books, BOB, 10, cost=None)
    assert settle(books).outcome == "won"
    assert books.do(duels.settle, SEAL).outcome == "won", "and nothing is paid again"
    assert (banks(books), held(books)) == ((40, 20), 0)
    assert books.do(duels.record, ANN) == duels.DuelRecord(1, 0, 0)
    assert books.do(duels.record, BOB) == duels.DuelRecord(0, 1, 0)
    assert books.do(duels.most_won, 5) == [("Ann", 1)]
    assert books.audit() == []


@pytest.mark.parametrize(
    ("costs", "outcome", "ends"),
    [((20, 10), "won", (20, 40)), ((10, 20), "won", (40, 20)), ((5, 5), "even", (30, 30))],
)
def test_equal_coins_are_decided_by_cost_and_equal_costs_by_nobody(books, costs, outcome, ends):
    challenge(books)
    accept(books)
    for caller in (ANN, BOB):
        play(books, caller, 10, cost=None)
    assert settle(books) is None, "a cost is missing"
    for caller, cost in zip((ANN, BOB), costs, strict=True):
        books.do(contests.weigh, SEAL, caller, cost)
    assert settle(books).outcome == outcome
    assert (banks(books), held(books)) == (ends, 0)
    assert books.audit() == []


def test_a_challenge_is_declined_or_withdrawn_but_not_once_it_is_accepted(books):
    for number, caller in ((1, BOB), (2, ANN)):
        challenge(books, number=number)
        books.do(duels.decline, caller, f"{number:064x}")
        books.do(duels.decline, caller, f"{number:064x}")
        assert (banks(books), held(books)) == ((30, 30), 0)
        with pytest.raises(ShoeGone):
            accept(books, f"{number:064x}")
    declined = "Bob declined your duel: your stake of 10 minutes is back."
    assert in_english(books.do(waiting, ANN)) == (declined,)
    assert in_english(books.do(waiting, BOB))[-1] == "Ann withdrew the challenge to a duel."
    challenge(books, number=3)
    accept(books, f"{3:064x}")
    with pytest.raises(OutOfStep):
        books.do(duels.decline, BOB, f"{3:064x}")
    assert books.audit() == []


def test_a_caller_who_waits_for_approval_reads_so_before_a_rival_is_asked_for(books):
    books.change(approval=True)
    dan = books.caller("Dan")
    post(books, dan, teller.deposit, 30 * MINUTE)
    call = books.call(dan)
    assert books.do(duels.allowed_stake, call.id).why_not == WAITS
    call.close()
    with pytest.raises(WindowClosed, match=f"^{WAITS}$"):
        challenge(books, caller=dan)


@pytest.mark.parametrize("is_accepted", [False, True])
def test_after_three_days_the_stakes_go_home(books, is_accepted):
    challenge(books)
    if is_accepted:
        accept(books)
        play(books, ANN, 15)
    books.wait_until(books.now + timedelta(days=3) - timedelta(seconds=1))
    assert books.do(duels.due) == []
    books.wait(1)
    assert settle(books).outcome == "expired"
    assert (banks(books), held(books)) == ((30, 30), 0)
    with pytest.raises(ShoeGone):
        books.do(duels.begin, SEAL, BOB)
    assert books.audit() == []


@pytest.mark.parametrize("finished", [ANN, BOB])
def test_after_three_days_who_has_begun_loses_to_who_has_finished(books, finished):
    """Otherwise a caller who is behind would lose nothing by leaving the last hand."""
    left = ANN + BOB - finished
    challenge(books)
    accept(books)
    play(books, finished, -40, cost=None)
    books.do(duels.begin, SEAL, left)
    books.wait_until(books.now + timedelta(days=3) - timedelta(seconds=1))
    assert books.do(duels.due) == []
    assert books.do(duels.settle, SEAL).outcome is None
    books.wait(1)
    assert settle(books).outcome == "won"
    assert books.do(duels.settle, SEAL).outcome == "won", "and nothing is paid again"
    assert (banks(books), held(books)) == ((40, 20) if finished == ANN else (20, 40), 0)
    assert books.do(duels.record, left) == duels.DuelRecord(0, 1, 0)
    name, other = ("Ann", "Bob") if finished == ANN else ("Bob", "Ann")
    won = f"{other} did not finish your duel in time: you win their stake of 10 minutes,"
    won += " and yours is back."
    assert in_english(books.do(waiting, finished))[-1] == won
    lost = f"You did not finish your duel with {name} in time: your stake of 10 minutes is theirs."
    assert in_english(books.do(waiting, left))[-1] == lost
    assert books.audit() == []


@pytest.mark.parametrize("shut", [ANN, BOB])
def test_an_unfinished_duel_of_a_frozen_caller_is_called_off(books, shut):
    challenge(books)
    accept(books)
    play(books, ANN, 15)
    books.do(duels.begin, SEAL, BOB)
    books.do(freeze, shut, "a dispute", "Sysop")
    books.wait_until(books.now + timedelta(days=3))
    assert settle(books).outcome == "called off"
    assert (banks(books), held(books)) == ((30, 30), 0)
    assert books.audit() == []


def test_without_a_finished_try_the_stakes_go_home(books):
    challenge(books)
    accept(books)
    for caller in (ANN, BOB):
        books.do(duels.begin, SEAL, caller)
    books.wait_until(books.now + timedelta(days=3))
    assert settle(books).outcome == "expired"
    assert (banks(books), held(books)) == ((30, 30), 0)
    assert books.audit() == []


def test_a_wrong_clock_does_not_decide_an_unfinished_duel(books):
    challenge(books)
    accept(books)
    play(books, ANN, 15)
    books.do(duels.begin, SEAL, BOB)
    right = books.now
    books.now = ClockReading(right + timedelta(days=365), "boot", 0.0)
    assert books.do(duels.due) == []
    assert books.do(duels.settle, SEAL).outcome is None
    books.now = right
    play(books, BOB, 20)
    assert settle(books).outcome == "won"
    assert books.do(duels.winner, books.do(duels.of_seal, SEAL)) == "Bob"
    books.wait_until(right - timedelta(days=1))
    assert books.do(duels.due) == []
    assert books.do(duels.settle, SEAL).outcome == "won"
    assert (banks(books), held(books)) == ((20, 40), 0)
    assert books.audit() == []


def test_a_restore_decides_no_unfinished_duel(books):
    challenge(books)
    accept(books)
    play(books, ANN, 15)
    books.do(duels.begin, SEAL, BOB)
    books.wait_until(books.now + timedelta(days=4))
    books.do(restored_books.settle_copy, restored_books.PriorBooks(), "Sysop", "they were put back")
    assert books.do(duels.of_seal, SEAL).outcome == "restored"
    assert books.do(duels.due) == []
    assert (banks(books), held(books)) == ((30, 30), 0)
    assert books.audit() == []


@pytest.mark.parametrize(
    ("change", "finding"),
    [
        ("UPDATE duels SET ends = ends + 86400", "It was won before its time was over"),
        ("DELETE FROM deal_tries WHERE caller_id = 2", "It was won, but not begun by both and"),
        ("UPDATE contest_entries SET place = 3 - place", "stands at place 2"),
        ("UPDATE duels SET outcome = 'expired'", "It expired, but caller 1 has won it."),
    ],
)
def test_an_audit_knows_who_wins_an_unfinished_duel(books, change, finding):
    challenge(books)
    accept(books)
    play(books, ANN, -15)
    books.do(duels.begin, SEAL, BOB)
    books.wait_until(books.now + timedelta(days=3))
    assert settle(books).outcome == "won"
    assert books.audit() == []
    books.sql(change)
    assert any(finding in str(each) for each in books.audit())


def test_no_duel_expires_while_the_clock_is_in_doubt(books):
    challenge(books)
    books.now = ClockReading(books.now + timedelta(days=4), "boot", 0.0)
    assert books.do(duels.due) == []
    assert books.do(duels.settle, SEAL).outcome is None
    assert held(books) == 10


def test_a_duel_of_a_clock_that_was_ahead_ends_three_days_after_the_correction(books):
    right = books.now
    books.wait_until(right + timedelta(days=365))
    challenge(books)
    books.wait_until(right)
    assert settle(books).ends == right + timedelta(days=3)
    assert books.do(duels.due) == []
    accept(books)
    books.wait_until(right + timedelta(days=3))
    assert settle(books).outcome == "expired"
    assert (banks(books), held(books)) == ((30, 30), 0)
    assert books.audit() == []


def test_a_clock_in_doubt_changes_no_end_of_a_duel(books):
    challenge(books)
    ends = books.do(duels.of_seal, SEAL).ends
    books.now = ClockReading(books.now - timedelta(days=365), "boot", 0.0)
    assert books.do(duels.due) == []
    assert books.do(duels.settle, SEAL).ends == ends


@pytest.mark.parametrize("who", [ANN, BOB])
def test_a_deleted_caller_takes_no_stake_along(books, who):
    challenge(books)
    accept(books)
    play(books, who, 40)
    books.do(deletion.delete, who)
    other = ANN + BOB - who
    assert books.balances(other)["bank"] == 30 * MINUTE
    assert (books.balances(who)["bank"], held(books)) == (30 * MINUTE, 0)
    assert books.do(duels.of_seal, SEAL).outcome == "called off"
    assert books.audit() == []


def test_a_restore_sends_the_stakes_home(books):
    challenge(books)
    accept(books)
    play(books, ANN, 15)
    treated = books.do(
        restored_books.settle_copy, restored_books.PriorBooks(), "Sysop", "they were put back"
    )
    assert "Ended 1 duel: the stakes are back." in treated.sentences()
    assert books.do(duels.of_seal, SEAL).shown_seed == "01" * 32
    assert (banks(books), held(books)) == ((30, 30), 0)
    assert books.audit() == []


def test_who_is_frozen_at_the_end_wins_nothing_and_loses_nothing(books):
    challenge(books)
    accept(books)
    for caller, score in ((ANN, 15), (BOB, 5)):
        play(books, caller, score)
    books.do(freeze, ANN, "a dispute", "Sysop")
    assert settle(books).outcome == "called off"
    assert (banks(books), held(books)) == ((30, 30), 0)
    assert books.audit() == []


@pytest.mark.parametrize("scores", [(40, -10), (-10, 40)])
def test_a_guest_duels_with_minutes_of_the_own_account_here(books, scores):
    guest = known(books, "Gus")
    books.do(corrections.adjust, guest, 30 * MINUTE, "won here", "Sysop")
    call = HostCall(books, guest, brought())
    shoe = (bytes(32), SEAL, "black-jack-for-time", {"decks": 1}, 5)
    call.post(duels.challenge, BOB, STAKE, shoe)
    call.close()
    accept(books)
    for caller, score in zip((guest, BOB), scores, strict=True):
        play(books, caller, score)
    assert settle(books).outcome == "won"
    both = [books.balances(number)["bank"] // MINUTE for number in (guest, BOB)]
    assert both == ([40, 20] if scores[0] > scores[1] else [20, 40])
    assert held(books) == 0
    assert books.audit() == []


def test_duels_that_are_switched_off_end(books):
    challenge(books)
    accept(books)
    books.change(most_duel=0)
    assert settle(books).outcome == "called off"
    assert (banks(books), held(books)) == ((30, 30), 0)
    with pytest.raises(LimitReached, match="no duels on this board"):
        challenge(books, number=2)


def test_a_stake_obeys_the_rules_of_a_gift(books):
    with pytest.raises(LimitReached, match="30 minutes at most"):
        challenge(books, 31 * MINUTE)
    books.change(limits=BankLimits(known_days=0, transfer=15 * MINUTE))
    challenge(books)
    with pytest.raises(LimitReached, match="send 15 minutes a day; you have 5 minutes left"):
        post(books, ANN, teller.transfer, 3, STAKE, "")
    with pytest.raises(LimitReached, match="open duel with Bob"):
        challenge(books, 5 * MINUTE, number=2)
    with pytest.raises(NotEnough, match="holds 0 minutes: deposit 5 minutes first"):
        challenge(books, 5 * MINUTE, number=2, rival=ANN, caller=3)
    books.change(limits=BankLimits(known_days=7))
    with pytest.raises(LimitReached, match=r"You can duel from .*, when you have been here 7 days"):
        accept(books)
    books.change(limits=BankLimits(known_days=0, balance=25 * MINUTE))
    with pytest.raises(LimitReached, match="An account holds 25 minutes at most"):
        accept(books)
    books.change(limits=BankLimits(known_days=0))
    with pytest.raises(Refused, match="yours already"):
        challenge(books, 5 * MINUTE, number=2, rival=ANN)
    books.do(set_muted, ANN, True)
    with pytest.raises(Refused, match="muted you"):
        challenge(books, 5 * MINUTE, number=2, rival=3)
    assert (banks(books), held(books)) == ((20, 30), 10)
    assert books.audit() == []


def test_a_stake_obeys_own_limits_and_counts_until_it_is_home(books):
    books.do(limit_loss, ANN, 12)
    challenge(books)
    with pytest.raises(OwnLimit):
        challenge(books, 5 * MINUTE, number=2, rival=3)
    books.do(duels.decline, BOB, SEAL)
    challenge(books, 12 * MINUTE, number=3)
    books.do(pause, BOB, 1)
    with pytest.raises(OwnLimit):
        accept(books, f"{3:064x}")
    assert books.audit() == []


@pytest.mark.parametrize(
    ("change", "finding"),
    [
        ("UPDATE duels SET stake = 60", "staked 600, and the stake is 60"),
        ("UPDATE duels SET outcome = 'even'", "Caller 1 was paid 1200, but the duel was not won"),
        ("UPDATE duels SET outcome = NULL", "Its deal is closed, but the duel is open."),
        ("UPDATE contest_entries SET prize = 600 WHERE caller_id = 1", "differs from what contest"),
        ("UPDATE contest_entries SET paid_id = NULL, paid = 0", "no contest records it"),
        ("UPDATE contest_entries SET place = 3 - place", "stands at place 2"),
        ("UPDATE deal_tries SET score = 99 WHERE caller_id = 2", "Caller 2 has won"),
        ("UPDATE duels SET challenger_id = 3", "It is between 3 and 2"),
    ],
)
def test_an_audit_sees_what_was_changed(books, change, finding):
    challenge(books)
    accept(books)
    for caller, score in ((ANN, 15), (BOB, 5)):
        play(books, caller, score)
    assert settle(books).outcome == "won"
    books.sql(change)
    assert any(finding in str(each) for each in books.audit())


def test_the_nightly_work_rates_and_settles(books):
    challenge(books)
    accept(books)
    for caller in (ANN, BOB):
        play(books, caller, 10, cost=None)

    def nightly(weigh):
        def work():
            return books.database.transaction(books.settings, books.now)

        def look():
            return books.database.reading(books.settings, books.now)

        return maintain(work, look, None, weigh).sentences()

    assert not any("duel" in each for each in nightly(None))
    assert "Ended 1 duel." in nightly(lambda contest, acts: len(acts))
    assert books.do(duels.of_seal, SEAL).outcome == "even"
    assert books.audit() == []


def test_an_audit_adds_the_open_stakes_up(books):
    challenge(books)
    accept(books)
    books.sql("UPDATE duels SET outcome = 'expired'")
    told = "\n".join(map(str, books.audit()))
    assert "It is expired, but the stake of caller 1 is not back." in told
    assert "It holds 1200, but the stakes of open duels are 0." in told


def test_the_account_of_stakes_is_never_negative(books):
    challenge(books)

    def take(desk):
        account, house = transfers.duel_stakes(desk), transfers.house(desk, "vegas", "second")
        reason = reasons.StakeBack("Ann", "Bob")
        more = transfers.Movement(account, house, STAKE + 1, reason, None, None)
        transfers.transfer(desk, [more])

    with pytest.raises(NotEnough):
        books.do(take)
