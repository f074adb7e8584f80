"""The audit of hands: their transfers, stakes, journals, and the seats at shared tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, cast

from sqlalchemy import (
    ColumnElement,
    and_,
    case,
    distinct,
    false,
    func,
    not_,
    or_,
    select,
    tuple_,
)

from timebank.audit.findings import Check, Finding, each_is_wrong
from timebank.callers import hand_totals
from timebank.ledger.database import Desk
from timebank.ledger.schema import (
    accounts,
    actions,
    awards,
    rounds,
    shoes,
    source,
    target,
    transfers,
)
from timebank.ledger.sql import Prepared, Query, Reader, highest, total, value


def check_rounds(desk: Desk) -> Iterator[Finding]:
    wrong = [finding for check in CHECKS for finding in check(desk)]
    yield from wrong
    if not wrong:  # totals of wrong hands would only repeat the findings
        yield from _check_totals(desk)


# "+ 0" keeps SQLite from scanning the primary key through all settled hands.
_OPEN_HAND = select(func.min(rounds.c.id + 0)).where(rounds.c.settled.is_(None)).scalar_subquery()
_FIRST_OPEN: Reader[int] = value(
    lambda: select(func.coalesce(_OPEN_HAND, highest(rounds.c.id) + 1))
)


def first_open_hand(desk: Desk) -> int:
    """Return the number of the first open hand, or of the next hand if none is open."""
    return _FIRST_OPEN.one(desk.connection)


# Accounts that pay callers' stakes, and accounts that pay their winnings.
PURSES = ("online", "bankroll", "tab")
BANKS = ("house", "casino")


def _hands() -> Query:
    """Select the amounts of each hand, and the sums of its transfers."""
    row, hand, giver, taker = transfers.c, rounds.c, source.c, target.c
    of_stake, to_stake = giver.kind == "stake", taker.kind == "stake"
    to_purse, to_bank = taker.kind.in_(PURSES), taker.kind.in_(BANKS)

    def moved(these: ColumnElement[bool]) -> ColumnElement[int]:
        return func.sum(case((these, row.amount), else_=0))

    def rows(these: ColumnElement[bool]) -> ColumnElement[int]:
        return func.sum(case((these, 1), else_=0))

    known = ("bet", "lost", "returned", "won", "outcome")
    return (
        select(
            *(hand.id.label("number"), *(hand[name] for name in known)),
            hand.settled.is_not(None).label("settled"),
            moved(and_(to_stake, row.kind == "stake")).label("first"),
            moved(to_stake).label("staked"),
            moved(and_(of_stake, to_bank)).label("paid_lost"),
            moved(and_(of_stake, to_purse)).label("paid_returned"),
            moved(and_(giver.kind.in_(BANKS), to_purse)).label("paid_won"),
            moved(and_(of_stake, taker.kind.in_(["forfeit", "mint"]))).label("forfeited"),
            rows(func.coalesce(giver.caller_id, taker.caller_id) != hand.caller_id).label(
                "strangers"
            ),
            rows(func.coalesce(giver.game, taker.game, hand.game) != hand.game).label("others"),
            rows(or_(giver.unit != hand.unit, taker.unit != hand.unit)).label("units"),
        )
        .select_from(rounds)
        .join(transfers, row.round_id == hand.id, isouter=True)
        .join(source, giver.id == row.source, isouter=True)
        .join(target, taker.id == row.target, isouter=True)
        .group_by(hand.id)
    )


def _wrong_hands() -> Query:
    """Select the hands that `_wrong_transfers` reports, so that the database skips all others."""
    hand = _hands().subquery()
    it = hand.c
    on_table = it.staked - it.paid_lost - it.paid_returned - it.forfeited
    agrees = (
        *(it.first == it.bet, it.lost == it.paid_lost, it.returned == it.paid_returned),
        *(it.won == it.paid_won, it.strangers == 0, it.others == 0, it.units == 0),
        or_(it.forfeited == 0, it.outcome.is_not_distinct_from("void")),
        case((it.settled, on_table == 0), else_=on_table > 0),
    )
    return select(*hand.c).where(func.coalesce(and_(*agrees), false()).is_(false()))


_WRONG_HANDS = Prepared(_wrong_hands)


def _check_transfers(desk: Desk) -> Iterator[Finding]:
    for hand in _WRONG_HANDS.run_long(desk.connection):
        yield from _wrong_transfers(hand)


def _wrong_transfers(hand: Any) -> Iterator[Finding]:
    """Report the errors in one row of `_hands`."""
    where = f"hand {hand.number}"
    if hand.first != hand.bet:
        yield Finding(
            where, f"Its bet is {hand.bet}, the transfers of the bet add up to {hand.first}."
        )
    for word, amount, moved in (
        ("lost", hand.lost, hand.paid_lost),
        ("returned", hand.returned, hand.paid_returned),
        ("won", hand.won, hand.paid_won),
    ):
        if amount != moved:
            yield Finding(where, f"{amount} was {word}, its transfers add up to {moved}.")
    on_table = hand.staked - hand.paid_lost - hand.paid_returned - hand.forfeited
    if hand.settled and on_table:
        yield Finding(where, f"It is settled, and {on_table} is still on the table.")
    if not hand.settled and on_table <= 0:
        yield Finding(where, f"It is in play with a stake of {on_table}.")
    if hand.forfeited and hand.outcome != "void":
        sentence = f"{hand.forfeited} of its stake was forfeited, but it is not void."
        yield Finding(where, sentence)
    if hand.strangers or hand.others:
        yield Finding(where, "Some of its transfers are another caller's or another game's.")
    if hand.units:
        yield Finding(where, "Some of its transfers are in another unit.")


@each_is_wrong("caller {}", "The stake account holds {1}, the hands in play have {2} on the table.")
def _wrong_stakes() -> Query:
    amount = transfers.c.amount
    moved = case((transfers.c.target == accounts.c.id, amount), else_=-amount)
    of_account = accounts.c.id.in_([transfers.c.source, transfers.c.target])
    on_table = (
        select(total(moved))
        .select_from(rounds)
        .join(transfers, and_(transfers.c.round_id == rounds.c.id, of_account))
        .where(rounds.c.caller_id == accounts.c.caller_id, rounds.c.settled.is_(None))
        .correlate(accounts)
        .scalar_subquery()
    )
    return select(accounts.c.caller_id, accounts.c.balance, on_table).where(
        accounts.c.kind == "stake", accounts.c.balance != on_table
    )


@each_is_wrong("transfer {}", "It moves a stake and names no hand.")
def _stakes_without_hand() -> Query:
    return (
        select(transfers.c.id)
        .join(accounts, accounts.c.id.in_([transfers.c.source, transfers.c.target]))
        .where(accounts.c.kind == "stake", transfers.c.round_id.is_(None))
    )


@each_is_wrong("hand {}", "Its journal has {1} actions, the last is {2}.")
def _broken_journals() -> Query:
    taken, last = func.count(actions.c.sequence), highest(actions.c.sequence, -1)
    return (
        select(rounds.c.id, taken, last)
        .select_from(rounds)
        .join(actions, actions.c.round_id == rounds.c.id, isouter=True)
        .where(rounds.c.lead.is_(None))
        .group_by(rounds.c.id)
        .having(or_(taken == 0, taken != last + 1))
    )


@each_is_wrong("hand {}", "It has a journal, but should share that of hand {1}.")
def _extra_journals() -> Query:
    return (
        select(rounds.c.id, rounds.c.lead)
        .distinct()
        .join(actions, actions.c.round_id == rounds.c.id)
        .where(rounds.c.lead.is_not(None))
    )


def _seated_with_lead(*wrong: Callable[[Any, Any], ColumnElement[bool]]) -> Query:
    """Select hands that do not match the hand that keeps their journal."""
    first = rounds.alias()
    hand, lead = rounds.c, first.c
    return (
        select(hand.id, hand.lead)
        .join(first, lead.id == hand.lead)
        .where(*(each(hand, lead) for each in wrong))
        .order_by(hand.id)
    )


def _is_before(hand: Any, lead: Any) -> ColumnElement[bool]:
    return cast("ColumnElement[bool]", hand.seat <= lead.seat)


def _is_mismatched(hand: Any, lead: Any) -> ColumnElement[bool]:
    names = ("game", "unit", "coin", "rules", "dealt", "start_position")
    common, of_lead = (
        tuple_(*(each[name] for name in names), func.coalesce(each.shoe_id, 0))
        for each in (hand, lead)
    )
    return or_(lead.lead.is_not(None), hand.caller_id == lead.caller_id, common != of_lead)


@each_is_wrong("hand {}", "Its seat is not after that of hand {1}.")
def _misplaced_seats() -> Query:
    return _seated_with_lead(_is_before)


@each_is_wrong("hand {}", "It cannot be played together with hand {1}.")
def _mismatched_hands() -> Query:
    return _seated_with_lead(_is_mismatched, lambda hand, lead: not_(_is_before(hand, lead)))


@each_is_wrong("hand {}", "It did not end at the same time for all its seats.")
def _hands_over_for_some() -> Query:
    first = func.coalesce(rounds.c.lead, rounds.c.id)
    return (
        select(first)
        .where(rounds.c.outcome.is_distinct_from("void"))  # a caller's deletion voids one hand
        .group_by(first)
        .having(func.count(distinct(func.coalesce(rounds.c.settled, -1))) > 1)
        .order_by(first)
    )


@each_is_wrong("hand {}", "It was dealt from shoe {1}, which is another caller's or game's.")
def _foreign_shoes() -> Query:
    return (
        select(rounds.c.id, shoes.c.id)
        .join(shoes, shoes.c.id == rounds.c.shoe_id)
        .where(or_(shoes.c.game != rounds.c.game, shoes.c.caller_id != rounds.c.caller_id))
        .order_by(rounds.c.id)
    )


def _check_totals(desk: Desk) -> Iterator[Finding]:
    for wrong in hand_totals.differing(desk):
        sentence = "It differs from the sum of its hands: `timebank maintain` recounts them."
        if wrong.table is awards:
            sentence = "It differs from what the hands earned: `timebank maintain` corrects it."
        yield Finding(str(wrong), sentence)


CHECKS: tuple[Check, ...] = (
    *(
        _check_transfers,
        _wrong_stakes,
        _stakes_without_hand,
        _broken_journals,
        _extra_journals,
        _misplaced_seats,
        _mismatched_hands,
    ),
    *(_hands_over_for_some, _foreign_shoes),
)
