"""Wording of the rows of a caller's ledger."""

import doctest

import pytest

from door import wording
from door.call import keyboard, markup
from door.lobby import amounts
from door.lobby import window as screens
from tests.timebank.by_hand import ByHand
from timebank.ledger.reasons import (
    Earned,
    Granted,
    HeldBack,
    LeftOfDay,
    LoanShare,
    OldStake,
    Reason,
)
from timebank.ledger.transfers import TransferRow


def row(amount: int, reason: Reason) -> TransferRow:
    return TransferRow(1, reason, amount, "second", "online", "bank")


@pytest.mark.parametrize(
    ("moved", "expected"),
    [
        (row(3600, Granted("2026-11-20")), "You have 60 minutes today."),
        (row(60, ByHand("forfeit", "What was left")), "1 minute: What was left."),
        (row(60, LeftOfDay("2026-11-20")), "1 minute left over from 20 November expired."),
        (row(60, OldStake()), "1 minute from an old bet expired."),
        (row(60, Earned("2026-11-20", True)), "1 minute earned on 20 November went to your bank."),
        (
            row(60, Earned("2026-11-20", False)),
            "1 minute earned on 20 November expired: this board has no time bank.",
        ),
        (row(60, Earned("2026-11-20")), "1 minute earned on 20 November left these games."),
        (
            row(1800, HeldBack("Mail hour", "", False, False)),
            "30 minutes available after Mail hour.",
        ),
        (
            row(1800, HeldBack("Late hour", "23:30", False, True)),
            "You can't use 30 minutes today: Late hour at 23:30 ends on another day.",
        ),
        (row(600, LoanShare(None)), "10 minutes of the winnings paid back on the loan."),
    ],
)
def test_movements_of_clock_and_bank_are_put_into_words(moved: TransferRow, expected: str) -> None:
    assert wording.row_sentence(moved) == expected


@pytest.mark.parametrize("kind", ["elapsed", "stake", "lost", "returned", "won"])
def test_movements_that_a_caller_sees_happen_have_no_words(kind: str) -> None:
    assert wording.row_sentence(row(600, ByHand(kind, "Seen"))) == ""


@pytest.mark.parametrize("kind", ["held", "release"])
def test_a_second_of_rounding_is_not_worth_a_word(kind: str) -> None:
    assert wording.row_sentence(row(1, ByHand(kind, "One second"))) == ""


@pytest.mark.parametrize("module", [keyboard, markup, wording, amounts, screens])
def test_the_examples_in_the_documentation_hold(module: object) -> None:
    assert doctest.testmod(module).failed == 0
