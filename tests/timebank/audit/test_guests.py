"""The audit names every fault in the visits of other boards' callers."""

from __future__ import annotations

import pytest

from tests.timebank.books import stand_alone
from tests.timebank.hosts import HOUR, comes, known
from timebank.guests.claims import mark_not_written
from timebank.wagers.rounds import Move, Settlement


@pytest.fixture
def evening(books):
    """Ann of Xibalba loses 10 minutes, then wins 25; the 15 that she is ahead are kept here."""
    ann = known(books)
    call = comes(books, ann, way="moduser")
    call.lose(600)
    call.close()
    call = comes(books, ann, way="moduser")
    books.wait(60)
    call.win(600, 1500)
    call.bet(300)
    call.close()
    books.do(mark_not_written, call.claim(), "The file is gone.")
    return ann


def test_it_is_in_order_as_it_was_written(books, evening):
    assert books.audit() == []


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("brought = brought + 1", "visit 2: It says 3001 brought; its transfers add up to 3000."),
        ("shown = 60", "visit 2: The host's clock showed 60, but 3600 were counted."),
        ("shown = 'x'", "visit 2: Some of its amounts are not numbers."),
        ("own = 60", "visit 2: It says 60 of their own; its transfers add up to 0."),
        ("elapsed = 59", "visit 2: It says 59 used; its transfers add up to 60."),
        ("result = 0", "visit 2: It says 0 won; its transfers add up to 1500."),
        ("gain = 901", "visit 2: It says 901 gained; its transfers add up to 900."),
        ("put_back = 1", "visit 2: It says 1 put back; its transfers add up to 0."),
        ("taken_home = 0", "visit 2: It says 0 taken home; its transfers add up to 3240."),
        ("left_staked = 0", "visit 2: It says 0 more on the table; its transfers add up to 300."),
        ("debt_paid = 0", "visit 2: Its results do not follow from its amounts."),
        ("left_standing = 0", "visit 2: Its results do not follow from its amounts."),
        ("owed = 0", "visit 2: The debt of 2026-06-01 was 600, not 0."),
        ("standing = 9", "visit 2: Its opening stake is not what the visit before it left."),
        ("debt = 601", "visit 2: It brought 3000, more than the caller had."),
        ("closed = NULL", "visit 2: Its call 2 is over, but the visit is not."),
        ("call_id = NULL", "call 2: Its caller is from another board, but it has no visit."),
    ],
)
def test_a_visit_that_was_changed_is_named(books, evening, vandal, change, expected):
    vandal(f"UPDATE visits SET {change} WHERE id = 2")
    assert expected in books.audit()


def test_a_debt_that_was_struck_out_is_named(books, evening, vandal):
    vandal("UPDATE visits SET debt_added = 0 WHERE id = 1")
    findings = books.audit()
    assert "visit 1: Its results do not follow from its amounts." in findings
    assert "visit 2: The debt of 2026-06-01 was 0, not 600." in findings


def test_a_visit_that_is_open_when_its_call_is_not_is_named(books, evening, vandal):
    comes(books, evening)
    vandal("UPDATE visits SET closed = 1 WHERE id = 3")
    assert "visit 3: Its call 3 is open, but the visit is not." in books.audit()
    assert "visit 3: Some of its amounts are not numbers." in books.audit()


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            "given_back SET minutes = 14",
            "transfer 13: It gives back 900 seconds, but given_back has 14",
        ),
        (
            "given_back SET transfer_id = 1",
            "transfer 13: It gives back 900 seconds, but given_back has 0",
        ),
        ("given_back SET transfer_id = 1", "given back 1: It does not belong to its transfer."),
        ("given_back SET state = 'written'", "given back 1: Its state and its transfer disagree"),
        (
            "given_back SET kept_id = NULL",
            "transfer 15: It keeps 900 seconds here, but given_back has 0",
        ),
        (
            "given_back SET minutes = 14",
            "transfer 15: It keeps 900 seconds here, but given_back has 14",
        ),
        ("visits SET elapsed = 'x' WHERE id = 1", "visit 1: Some of its amounts are not numbers."),
        ("callers SET password_hash = 'x'", "caller 1: Ann@Xibalba is of another board, and has"),
        ("callers SET name = 'Ann'", "caller 1: Ann is of another board, and has the name of"),
        (
            "callers SET board = NULL, board_key = NULL",
            "transfer 1: Its caller cannot have a transfer of this kin",
        ),
        ("accounts SET balance = 9 WHERE kind = 'online'", "caller 1: Ann@Xibalba is of another"),
    ],
)
def test_a_change_to_the_guests_rows_is_named(books, evening, vandal, change, expected):
    vandal(f"UPDATE {change}")
    assert [line for line in books.audit() if line.startswith(expected)]


def test_more_shown_to_a_host_than_was_lost_is_named(books, vandal):
    ann = known(books)
    call = comes(books, ann, way="exitinfo", shows_losses=True)
    call.lose(600)
    call.close_and_give()
    assert books.audit() == []
    vandal("UPDATE given_back SET minutes = -11")
    assert "caller 1: On 2026-06-01 they lost 600, but their host was shown 660." in books.audit()


def test_hands_that_were_settled_without_a_call_are_compared_too(books, vandal):
    ann = known(books)
    call = comes(books, ann)
    number = call.bet(600)
    call.close()
    books.wait(72 * HOUR)
    settlement = Settlement(0, 600, 300, "win", {}, True)
    move = Move(number, 1, {"action": "stay"}, 4)
    books.do(stand_alone, [move], settlement)
    assert books.audit() == []
    vandal("UPDATE visits SET gain = 0 WHERE call_id IS NULL")
    assert (
        "caller 1: Hands that ended between calls: the visits say 600 taken home and 0"
        " saved, and their transfers add up to 600 and 300."
    ) in books.audit()
