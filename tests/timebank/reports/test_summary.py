"""The summary: every movement counts once, in its day, week or month."""

from __future__ import annotations

from datetime import date

import pytest

from tests.timebank.by_hand import ByHand
from timebank.ledger import transfers
from timebank.ledger.transfers import Account, Movement
from timebank.reports import summary
from timebank.reports.summary import GameResult, Period
from timebank.reports.tables import written


def account(books, kind):
    ((number,),) = books.sql("SELECT id FROM accounts WHERE kind = ? AND caller_id = 1", kind)
    return Account(number, kind, "second")


@pytest.fixture
def ann(books):
    """Ann, with an hour in each of her accounts and an hour of debt."""
    books.caller("Ann")
    books.sql("UPDATE accounts SET balance = 3600 WHERE caller_id = 1 AND kind <> 'loan'")
    books.sql("UPDATE accounts SET balance = -3600 WHERE caller_id = 1 AND kind = 'loan'")
    return books


SYSTEM = {
    account.kind: account
    for account in (
        transfers.ALLOTMENT,
        transfers.ELAPSED,
        transfers.FORFEIT,
        transfers.EXTERNAL,
        transfers.ADJUSTMENT,
    )
}


@pytest.mark.parametrize(
    ("source", "target", "name"),
    [
        ("allotment", "online", "granted"),
        ("online", "elapsed", "used"),
        ("online", "forfeit", "forfeited"),
        ("stake", "forfeit", "forfeited"),
        ("online", "bank", "banked"),
        ("held", "bank", "banked"),
        ("bank", "online", "withdrawn"),
        ("loan", "online", "lent"),
        ("online", "loan", "repaid"),
        ("held", "loan", "repaid"),
        ("bank", "loan", "repaid"),
        ("bank", "external", "passed_on"),
        ("external", "bank", "taken_in"),
        ("adjustment", "bank", "added"),
        ("adjustment", "loan", "added"),
        ("bank", "adjustment", "taken_off"),
        ("online", "held", "held"),
        ("held", "online", "back_after_an_event"),
        ("online", "stake", None),
        ("stake", "online", None),
    ],
)
def test_each_movement_has_its_name(ann, source, target, name):
    ends = [SYSTEM.get(kind) or account(ann, kind) for kind in (source, target)]
    ann.do(transfers.transfer, [Movement(*ends, 60, ByHand("kind", "why"), None, None)])
    (period,) = ann.do(summary.summary, "day", None, None)
    named = {named: amount for named, amount in period.flows.items() if amount}
    assert named == ({} if name is None else {name: 60})


def test_transfers_between_callers_are_separate_from_deposits(ann):
    ann.caller("Bob")
    ((number,),) = ann.sql("SELECT id FROM accounts WHERE kind = 'bank' AND caller_id = 2")
    bobs = Account(number, "bank", "second")
    why = Movement(account(ann, "bank"), bobs, 60, ByHand("transfer", "why"), None, None)
    ann.do(transfers.transfer, [why])
    (period,) = ann.do(summary.summary, "day", None, None)
    assert dict(period.flows) == {"sent": 60}
    assert "  Also 0:01:00 sent." in written([summary.summary_table([period], "")])


def test_the_house_gains_the_callers_losses_less_their_wins(books):
    call = books.call(books.caller("Ann"))
    call.win(600, 900)
    call.lose(300)
    (period,) = books.do(summary.summary, "day", None, None)
    result = period.games["black-jack-for-time", "second"]
    assert (result.won, result.lost, result.house) == (900, 300, -600)
    assert period.tables.house == -600


@pytest.mark.parametrize(
    ("day", "by", "first", "label"),
    [
        (date(2026, 3, 1), "day", date(2026, 3, 1), "2026-03-01"),
        (date(2026, 3, 1), "week", date(2026, 2, 23), "2026-W09"),
        (date(2026, 3, 2), "week", date(2026, 3, 2), "2026-W10"),
        (date(2027, 1, 1), "week", date(2026, 12, 28), "2026-W53"),
        (date(2026, 3, 31), "month", date(2026, 3, 1), "2026-03"),
        (date(2026, 3, 31), "year", date(2026, 1, 1), "2026"),
    ],
)
def test_periods_begin_where_calendars_say(day, by, first, label):
    assert summary.first_day(day, by) == first
    assert summary.label(first, by) == label


def test_days_follow_the_board_and_are_in_order(board):
    call = board.call(board.caller("Ann"))
    board.wait(10 * 3600 + 3599)  # 22:59:59 in Berlin
    call.touch()
    board.wait(3601)  # past midnight there, before it in UTC
    call.touch()
    board.wait(86400)
    call.touch()
    days = board.do(summary.summary, "day", None, None)
    assert [period.label for period in days] == ["2026-03-01", "2026-03-02", "2026-03-03"]
    (month,) = board.do(summary.summary, "month", None, None)
    for name in summary.NAMES:
        assert month.flows[name] == sum(period.flows[name] for period in days)


def test_bars_are_as_long_as_the_time_used(books):
    call = books.call(books.caller("Ann"))
    books.wait(600)
    call.touch()
    books.wait(86400)
    call.touch()
    first, second = books.do(summary.summary, "day", None, None)
    shown = written([summary.summary_table([first, second], "*")])
    lines = [line for line in shown if line.startswith("2026")]
    assert second.flows["used"] > first.flows["used"]
    assert [line.count("*") for line in lines] == [
        24 * first.flows["used"] // second.flows["used"],
        24,
    ]


def test_an_empty_summary_is_a_sentence(books):
    nothing = summary.summary_table(books.do(summary.summary, "day", None, None), "*")
    assert list(written([nothing])) == ["Nothing was moved."]


def test_what_moved_has_the_words_and_the_order_of_the_screen():
    period = Period(date(2026, 3, 1), "")
    period.flows |= {"back_after_an_event": 3, "banked": 0, "used": 2, "granted": 1}
    period.games["bj", "second"] = GameResult(won=4, lost=0)
    period.games["bj", "chip"] = GameResult(won=9)
    assert list(period.moved.items()) == [
        *(("granted", 1), ("used", 2), ("back after an event", 3), ("won", 4)),
    ]
