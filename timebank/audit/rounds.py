"""The audit of the hands: their transfers, their stakes, their journals, and who sits together.

As in the rest of the audit, nothing that the schema promises is taken for granted.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import ColumnElement, and_, case, distinct, func, or_, select, tuple_

from timebank.audit.finding import Finding
from timebank.callers.standings import differing
from timebank.ledger.database import Desk
from timebank.ledger.schema import accounts, actions, rounds, shoes, transfers
from timebank.ledger.sql import Prepared, Query


def check_rounds(desk: Desk) -> Iterator[Finding]:
    """Name every hand whose transfers, stake, journal or table are not as they should be."""
    checks = (_check_transfers, _check_stakes, _check_actions, _check_seats, _check_shoes)
    wrong = [finding for check in checks for finding in check(desk)]
    yield from wrong
    if not wrong:  # totals of hands that are wrong would be wrong as well
        yield from _check_totals(desk)


# What callers stake out of, and what they play against.
PURSES = ("online", "bankroll", "tab")
BANKS = ("house", "casino")


def _hands() -> Query:
    """Add up what the rows of each hand come to, beside what the hand says of itself."""
    source, target, row = accounts.alias(), accounts.alias(), transfers.c
    of_stake, to_stake = source.c.kind == "stake", target.c.kind == "stake"
    to_purse, to_bank = target.c.kind.in_(PURSES), target.c.kind.in_(BANKS)

    def moved(these: ColumnElement[bool]) -> ColumnElement[int]:
        return func.sum(case((these, row.amount), else_=0))

    def rows(these: ColumnElement[bool]) -> ColumnElement[int]:
        return func.sum(case((these, 1), else_=0))

    hand = rounds.c
    others = func.coalesce(source.c.caller_id, target.c.caller_id) != hand.caller_id
    other_game = func.coalesce(source.c.game, target.c.game, hand.game) != hand.game
    return (
        select(
            *(hand.id, hand.bet, hand.lost, hand.returned, hand.won),
            *(hand.settled.is_not(None), hand.outcome),
            moved(and_(to_stake, row.kind == "stake")),
            moved(to_stake),
            moved(and_(of_stake, to_bank)),
            moved(and_(of_stake, to_purse)),
            moved(and_(source.c.kind.in_(BANKS), to_purse)),
            moved(and_(of_stake, target.c.kind.in_(["forfeit", "mint"]))),
            rows(others),
            rows(other_game),
            rows(or_(source.c.unit != hand.unit, target.c.unit != hand.unit)),
        )
        .select_from(rounds)
        .join(transfers, row.round_id == hand.id, isouter=True)
        .join(source, source.c.id == row.source, isouter=True)
        .join(target, target.c.id == row.target, isouter=True)
        .group_by(hand.id)
    )


_HANDS = Prepared(_hands)


def _check_transfers(desk: Desk) -> Iterator[Finding]:
    """Compare every hand's transfers with its result."""
    for row in _HANDS(desk.connection):
        number, bet, lost, returned, won, settled, outcome = row[:7]
        first, staked, paid_lost, paid_returned, paid_won, forfeited, *foreign = row[7:]
        where = f"hand {number}"
        if first != bet:
            yield Finding(where, f"Its bet is {bet}, the transfers of the bet add up to {first}.")
        for word, said, moved in (
            ("lost", lost, paid_lost),
            ("returned", returned, paid_returned),
            ("won", won, paid_won),
        ):
            if said != moved:
                yield Finding(where, f"{said} was {word}, its transfers add up to {moved}.")
        standing = staked - paid_lost - paid_returned - forfeited
        if settled and standing:
            yield Finding(where, f"It is settled, and {standing} still stands on the table.")
        if not settled and standing <= 0:
            yield Finding(where, f"It is in play with a stake of {standing}.")
        if forfeited and outcome != "void":
            yield Finding(where, f"{forfeited} of its stake was forfeited, and it is not void.")
        strangers, others, units = foreign
        if strangers or others:
            yield Finding(where, "Some of its transfers are another caller's or another game's.")
        if units:
            yield Finding(where, "Some of its transfers are in another unit.")


def _stakes() -> Query:
    """Choose stake accounts that do not hold what the hands in play have on the table."""
    amount = transfers.c.amount
    moved = case((transfers.c.target == accounts.c.id, amount), else_=-amount)
    of_account = accounts.c.id.in_([transfers.c.source, transfers.c.target])
    standing = (
        select(func.coalesce(func.sum(moved), 0))
        .select_from(rounds)
        .join(transfers, and_(transfers.c.round_id == rounds.c.id, of_account))
        .where(rounds.c.caller_id == accounts.c.caller_id, rounds.c.settled.is_(None))
        .correlate(accounts)
        .scalar_subquery()
    )
    return select(accounts.c.caller_id, accounts.c.balance, standing).where(
        accounts.c.kind == "stake", accounts.c.balance != standing
    )


_STAKES = Prepared(_stakes)
_OF_NO_HAND = Prepared(
    lambda: (
        select(transfers.c.id)
        .join(accounts, accounts.c.id.in_([transfers.c.source, transfers.c.target]))
        .where(accounts.c.kind == "stake", transfers.c.round_id.is_(None))
    )
)


def _check_stakes(desk: Desk) -> Iterator[Finding]:
    for caller_id, balance, standing in _STAKES(desk.connection):
        yield Finding(
            f"caller {caller_id}",
            f"The stake account holds {balance}, the hands in play have {standing} on the table.",
        )
    for number in _OF_NO_HAND(desk.connection).scalars():
        yield Finding(f"transfer {number}", "It moves a stake and names no hand.")


def _journals() -> Query:
    """Choose the hands that keep a journal with a gap, or an empty one."""
    taken = func.count(actions.c.sequence)
    last = func.coalesce(func.max(actions.c.sequence), -1)
    return (
        select(rounds.c.id, taken, last)
        .select_from(rounds)
        .join(actions, actions.c.round_id == rounds.c.id, isouter=True)
        .where(rounds.c.lead.is_(None))
        .group_by(rounds.c.id)
        .having(or_(taken == 0, taken != last + 1))
    )


_JOURNALS = Prepared(_journals)
_OWN_JOURNALS = Prepared(
    lambda: (
        select(rounds.c.id, rounds.c.lead)
        .distinct()
        .join(actions, actions.c.round_id == rounds.c.id)
        .where(rounds.c.lead.is_not(None))
    )
)


def _check_actions(desk: Desk) -> Iterator[Finding]:
    for number, count, last in _JOURNALS(desk.connection):
        yield Finding(f"hand {number}", f"Its journal has {count} actions, the last is {last}.")
    for number, lead in _OWN_JOURNALS(desk.connection):
        yield Finding(f"hand {number}", f"It has a journal, and that of hand {lead} is its own.")


def _strangers() -> Query:
    """Choose those who cannot sit where they do.

    What all who sit together have in common differs; or the seat is not behind that of the lead.
    """
    first = rounds.alias()
    hand, lead = rounds.c, first.c
    names = ("game", "unit", "coin", "rules", "dealt", "start_position")
    common = [hand[name] for name in names] + [func.coalesce(hand.shoe_id, 0)]
    of_lead = [lead[name] for name in names] + [func.coalesce(lead.shoe_id, 0)]
    before = hand.seat <= lead.seat
    return (
        select(hand.id, hand.lead, before)
        .join(first, lead.id == hand.lead)
        .where(
            or_(
                *(before, lead.lead.is_not(None), hand.caller_id == lead.caller_id),
                tuple_(*common) != tuple_(*of_lead),
            )
        )
        .order_by(hand.id)
    )


_STRANGERS = Prepared(_strangers)


def _uneven() -> Query:
    """Choose tables that are over for some of their seats only.

    Those apart whose callers were deleted.
    """
    first = func.coalesce(rounds.c.lead, rounds.c.id)
    return (
        select(first)
        .where(rounds.c.outcome.is_distinct_from("void"))
        .group_by(first)
        .having(func.count(distinct(func.coalesce(rounds.c.settled, -1))) > 1)
        .order_by(first)
    )


_UNEVEN = Prepared(_uneven)


def _check_seats(desk: Desk) -> Iterator[Finding]:
    """Compare the rounds of each table with the one that keeps their journal."""
    for number, lead, before in _STRANGERS(desk.connection):
        if before:
            yield Finding(f"hand {number}", f"Its seat is not behind that of hand {lead}.")
        else:
            yield Finding(f"hand {number}", f"It cannot be played together with hand {lead}.")
    for number in _UNEVEN(desk.connection).scalars():
        yield Finding(f"hand {number}", "It is not over for all who sit at it at the same time.")


_SHOES = Prepared(
    lambda: (
        select(rounds.c.id, shoes.c.id)
        .join(shoes, shoes.c.id == rounds.c.shoe_id)
        .where(or_(shoes.c.game != rounds.c.game, shoes.c.caller_id != rounds.c.caller_id))
        .order_by(rounds.c.id)
    )
)


def _check_shoes(desk: Desk) -> Iterator[Finding]:
    for number, shoe in _SHOES(desk.connection):
        yield Finding(f"hand {number}", f"Shoe {shoe}, from which it was dealt, is not its own.")


def _check_totals(desk: Desk) -> Iterator[Finding]:
    for total in differing(desk):
        yield Finding(
            str(total), "Not what its hands add up to: `timebank maintain` counts them anew."
        )
