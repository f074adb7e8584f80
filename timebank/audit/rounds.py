"""The audit of the hands: their transfers, their stakes, their journals, and who sits together.

As in the rest of the audit, nothing that the schema promises is taken for granted.
"""

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
    if not wrong:  # totals of hands that are wrong would be wrong as well
        yield from _check_totals(desk)


# The sum keeps SQLite from going along the numbers, through all that are over.
_OPEN_HAND = select(func.min(rounds.c.id + 0)).where(rounds.c.settled.is_(None)).scalar_subquery()
_FIRST_OPEN: Reader[int] = value(
    lambda: select(func.coalesce(_OPEN_HAND, highest(rounds.c.id) + 1))
)


def first_open_hand(desk: Desk) -> int:
    """Return the first hand that is not over: the next one, where all are."""
    return _FIRST_OPEN.one(desk.connection)


# What callers stake out of, and what they play against.
PURSES = ("online", "bankroll", "tab")
BANKS = ("house", "casino")


def _hands() -> Query:
    """Add up what the rows of each hand come to, beside what it says of itself."""
    row, hand, of, to = transfers.c, rounds.c, source.c, target.c
    of_stake, to_stake = of.kind == "stake", to.kind == "stake"
    to_purse, to_bank = to.kind.in_(PURSES), to.kind.in_(BANKS)

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
            moved(and_(of.kind.in_(BANKS), to_purse)).label("paid_won"),
            moved(and_(of_stake, to.kind.in_(["forfeit", "mint"]))).label("forfeited"),
            rows(func.coalesce(of.caller_id, to.caller_id) != hand.caller_id).label("strangers"),
            rows(func.coalesce(of.game, to.game, hand.game) != hand.game).label("others"),
            rows(or_(of.unit != hand.unit, to.unit != hand.unit)).label("units"),
        )
        .select_from(rounds)
        .join(transfers, row.round_id == hand.id, isouter=True)
        .join(source, of.id == row.source, isouter=True)
        .join(target, to.id == row.target, isouter=True)
        .group_by(hand.id)
    )


def _wrong_hands() -> Query:
    """Choose hands of which `_wrong_transfers` has something to say: most have nothing, and are not
    worth a look from outside the database."""
    hand = _hands().subquery()
    it = hand.c
    standing = it.staked - it.paid_lost - it.paid_returned - it.forfeited
    agrees = (
        *(it.first == it.bet, it.lost == it.paid_lost, it.returned == it.paid_returned),
        *(it.won == it.paid_won, it.strangers == 0, it.others == 0, it.units == 0),
        or_(it.forfeited == 0, it.outcome.is_not_distinct_from("void")),
        case((it.settled, standing == 0), else_=standing > 0),
    )
    return select(*hand.c).where(func.coalesce(and_(*agrees), false()).is_(false()))


_WRONG_HANDS = Prepared(_wrong_hands)


def _check_transfers(desk: Desk) -> Iterator[Finding]:
    for hand in _WRONG_HANDS.long(desk.connection):
        yield from _wrong_transfers(hand)


def _wrong_transfers(hand: Any) -> Iterator[Finding]:
    """Say what of a row of `_hands` does not fit."""
    where = f"hand {hand.number}"
    if hand.first != hand.bet:
        yield Finding(
            where, f"Its bet is {hand.bet}, the transfers of the bet add up to {hand.first}."
        )
    for word, said, moved in (
        ("lost", hand.lost, hand.paid_lost),
        ("returned", hand.returned, hand.paid_returned),
        ("won", hand.won, hand.paid_won),
    ):
        if said != moved:
            yield Finding(where, f"{said} was {word}, its transfers add up to {moved}.")
    standing = hand.staked - hand.paid_lost - hand.paid_returned - hand.forfeited
    if hand.settled and standing:
        yield Finding(where, f"It is settled, and {standing} still stands on the table.")
    if not hand.settled and standing <= 0:
        yield Finding(where, f"It is in play with a stake of {standing}.")
    if hand.forfeited and hand.outcome != "void":
        said = f"{hand.forfeited} of its stake was forfeited, and it is not void."
        yield Finding(where, said)
    if hand.strangers or hand.others:
        yield Finding(where, "Some of its transfers are another caller's or another game's.")
    if hand.units:
        yield Finding(where, "Some of its transfers are in another unit.")


@each_is_wrong("caller {}", "The stake account holds {1}, the hands in play have {2} on the table.")
def _stakes() -> Query:
    amount = transfers.c.amount
    moved = case((transfers.c.target == accounts.c.id, amount), else_=-amount)
    of_account = accounts.c.id.in_([transfers.c.source, transfers.c.target])
    standing = (
        select(total(moved))
        .select_from(rounds)
        .join(transfers, and_(transfers.c.round_id == rounds.c.id, of_account))
        .where(rounds.c.caller_id == accounts.c.caller_id, rounds.c.settled.is_(None))
        .correlate(accounts)
        .scalar_subquery()
    )
    return select(accounts.c.caller_id, accounts.c.balance, standing).where(
        accounts.c.kind == "stake", accounts.c.balance != standing
    )


@each_is_wrong("transfer {}", "It moves a stake and names no hand.")
def _of_no_hand() -> Query:
    return (
        select(transfers.c.id)
        .join(accounts, accounts.c.id.in_([transfers.c.source, transfers.c.target]))
        .where(accounts.c.kind == "stake", transfers.c.round_id.is_(None))
    )


@each_is_wrong("hand {}", "Its journal has {1} actions, the last is {2}.")
def _journals() -> Query:
    taken, last = func.count(actions.c.sequence), highest(actions.c.sequence, -1)
    return (
        select(rounds.c.id, taken, last)
        .select_from(rounds)
        .join(actions, actions.c.round_id == rounds.c.id, isouter=True)
        .where(rounds.c.lead.is_(None))
        .group_by(rounds.c.id)
        .having(or_(taken == 0, taken != last + 1))
    )


@each_is_wrong("hand {}", "It has a journal, and that of hand {1} is its own.")
def _own_journals() -> Query:
    return (
        select(rounds.c.id, rounds.c.lead)
        .distinct()
        .join(actions, actions.c.round_id == rounds.c.id)
        .where(rounds.c.lead.is_not(None))
    )


def _together(*wrong: Callable[[Any, Any], ColumnElement[bool]]) -> Query:
    """Choose hands that are not as they should be beside the one that keeps their journal."""
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


def _is_strange(hand: Any, lead: Any) -> ColumnElement[bool]:
    names = ("game", "unit", "coin", "rules", "dealt", "start_position")
    common, of_lead = (
        tuple_(*(each[name] for name in names), func.coalesce(each.shoe_id, 0))
        for each in (hand, lead)
    )
    return or_(lead.lead.is_not(None), hand.caller_id == lead.caller_id, common != of_lead)


@each_is_wrong("hand {}", "Its seat is not behind that of hand {1}.")
def _seats() -> Query:
    return _together(_is_before)


@each_is_wrong("hand {}", "It cannot be played together with hand {1}.")
def _strangers() -> Query:
    return _together(_is_strange, lambda hand, lead: not_(_is_before(hand, lead)))


@each_is_wrong("hand {}", "It is not over for all who sit at it at the same time.")
def _uneven() -> Query:
    first = func.coalesce(rounds.c.lead, rounds.c.id)
    return (
        select(first)
        .where(rounds.c.outcome.is_distinct_from("void"))  # whose callers were not deleted
        .group_by(first)
        .having(func.count(distinct(func.coalesce(rounds.c.settled, -1))) > 1)
        .order_by(first)
    )


@each_is_wrong("hand {}", "Shoe {1}, from which it was dealt, is not its own.")
def _shoes() -> Query:
    return (
        select(rounds.c.id, shoes.c.id)
        .join(shoes, shoes.c.id == rounds.c.shoe_id)
        .where(or_(shoes.c.game != rounds.c.game, shoes.c.caller_id != rounds.c.caller_id))
        .order_by(rounds.c.id)
    )


def _check_totals(desk: Desk) -> Iterator[Finding]:
    for wrong in hand_totals.differing(desk):
        said = "Not what its hands add up to: `timebank maintain` recounts them."
        if wrong.table is awards:
            said = "Not as the hands earned it: `timebank maintain` mends it."
        yield Finding(str(wrong), said)


CHECKS: tuple[Check, ...] = (
    *(_check_transfers, _stakes, _of_no_hand, _journals, _own_journals, _seats, _strangers),
    *(_uneven, _shoes),
)
