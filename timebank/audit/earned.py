"""The audit of earned time: how much of it each day kept when the day ended.

This computes the rules of `docs/rules.md` ("What is left when a day ends") a second time, from sums
of a day's transfers. A purse is a caller's time online, held and on the table. Earned time is all
time that comes into the purse except the day's grant, less what is lost, cut off or taken by a
loan. The grant pays first for time that callers use, deposit, enter with and repay. Callers of
other boards have no days here.

Until version 1.0 everything that left the purse was subtracted from earnings. A day may have ended
by either rule, so the audit accepts both.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Integer,
    and_,
    bindparam,
    case,
    cast,
    func,
    literal,
    null,
    or_,
    select,
    union_all,
)

from timebank.audit.findings import Finding
from timebank.audit.traces import was_mended
from timebank.ledger.database import Desk
from timebank.ledger.reasons import GRANT_PAYS
from timebank.ledger.schema import (
    accounts,
    callers,
    days,
    rounds,
    source,
    target,
    tournaments,
    transfers,
    transfers_with_accounts,
)
from timebank.ledger.schema import contest_entries as entries
from timebank.ledger.sql import NO_BOUND, Prepared, Query, total

PURSE = ("online", "held", "stake")
# Kinds of transfer that do not change earnings. A loan's share of the grant does not either.
NEITHER = ("elapsed", "grant")
SHARE_OF_GRANT = '{"code":"share","day":"'
LEFT_OF_DAY = '{"code":"left",'


class _Day(NamedTuple):
    caller_id: int
    name: str
    removed: int | None
    day: str
    # The last transfer before the day.
    after: int
    standing: int
    carried: int
    # Seconds on the table when the day began.
    staked: int


def _staked() -> ColumnElement[int]:
    """Sum the stake on the table when a day began, which is the stake of the last hand before."""
    hand, before, row = rounds.c, rounds.alias(), transfers.c
    played = (before.c.caller_id == days.c.caller_id, before.c.unit == "second")
    last = (
        select(before.c.day)
        .where(*played, before.c.day < days.c.day)
        .order_by(before.c.day.desc())
        .limit(1)
    )
    number = (
        select(func.max(hand.id))
        .where(hand.caller_id == days.c.caller_id, hand.unit == "second")
        .where(hand.day == last.correlate(days).scalar_subquery())
        .correlate(days)
        .scalar_subquery()
    )
    of_stake = case((target.c.kind == "stake", row.amount), else_=-row.amount)
    return (
        select(total(of_stake))
        .select_from(transfers_with_accounts)
        # "+ 0" keeps PostgreSQL from scanning the primary key of all transfers.
        .where(row.round_id == number, row.id + 0 <= days.c.after)
        .where(or_(source.c.kind == "stake", target.c.kind == "stake"))
        .correlate(days)
        .scalar_subquery()
    )


def _days() -> Query:
    day, who = days.c, callers.c
    known = (who.id, who.name, who.removed, day.day, day.after, day.standing, day.carried)
    return (
        select(*known, _staked())
        .select_from(days)
        .join(callers, who.id == day.caller_id)
        .where(who.board.is_(None), day.after.is_not(None))
        .order_by(day.caller_id, day.day)
    )


def _own() -> Any:
    """Select the accounts that make up the purses of this board's callers."""
    own = accounts.c
    return (
        select(own.id, own.caller_id)
        .join(callers, callers.c.id == own.caller_id)
        .where(own.unit == "second", own.kind.in_(PURSE), callers.c.board.is_(None))
    )


def _sums() -> Query:
    """Sum the change of each purse on each day, by parts.

    The caller's days are merged with the transfers. Each transfer belongs to the last day before
    it.
    """
    row = transfers.c
    gives, takes = _own().cte("gives"), _own().cte("takes")
    comes = takes.c.id.is_not(None)
    part = case(
        (row.kind.in_(["carry", "loan", *sorted(GRANT_PAYS)]), row.kind),
        (row.kind != "forfeit", "other"),
        (row.facts.startswith(LEFT_OF_DAY, autoescape=True), "left"),
        else_="old",
    )
    rows = (
        select(
            *(func.coalesce(gives.c.caller_id, takes.c.caller_id).label("who"), row.id),
            *(cast(null(), Integer).label("day"), part.label("part")),
            case((comes, row.amount), else_=-row.amount).label("amount"),
        )
        .select_from(transfers)
        .join(gives, gives.c.id == row.source, isouter=True)
        .join(takes, takes.c.id == row.target, isouter=True)
        .where(row.id > bindparam("low"), row.kind.not_in(NEITHER))
        .where(or_(and_(comes, gives.c.id.is_(None)), and_(gives.c.id.is_not(None), ~comes)))
        .where(~row.facts.startswith(SHARE_OF_GRANT, autoescape=True))
    )
    begun = select(
        *(days.c.caller_id, days.c.after, days.c.after, literal("day"), literal(0))
    ).where(days.c.after >= bindparam("low"))
    each = union_all(rows, begun).subquery()
    is_begun = case((each.c.part == "day", 1), else_=0)
    of_day = func.max(each.c.day).over(partition_by=each.c.who, order_by=(each.c.id, is_begun))
    placed = select(each.c.who, of_day.label("day"), each.c.part, each.c.amount).subquery()
    key = (placed.c.who, placed.c.day, placed.c.part)
    return (
        select(*key, func.sum(placed.c.amount))
        .where(placed.c.part != "day", placed.c.day.is_not(None))
        .group_by(*key)
    )


_DAYS, _SUMS = Prepared(_days), Prepared(_sums)


def check_earned(desk: Desk) -> Iterator[Finding]:
    """Check each day's opening purse, the time it kept, and the outcome of an earlier stake."""
    by_caller: list[list[_Day]] = []
    for caller_id, rows in groupby(_DAYS.run_long(desk.connection), itemgetter(0)):
        of_caller = [_Day(*row) for row in rows]
        if all(isinstance(amount, int) for day in of_caller for amount in day[4:]):
            by_caller.append(of_caller)
        else:
            sentence = "Some of the amounts of their days are not numbers."
            yield Finding(f"caller {caller_id}", sentence)
    low = min((each[0].after for each in by_caller if len(each) > 1), default=NO_BOUND)
    sums: defaultdict[tuple[int, int], dict[str, int]] = defaultdict(dict)
    for caller_id, after, part, amount in _SUMS.run_long(desk.connection, low=low):
        sums[caller_id, after][part] = amount
    back: defaultdict[int, list[tuple[int, int, int]]] = defaultdict(list)
    for caller_id, paid_by, back_by, paid in _ENTRIES_BACK(desk.connection):
        back[caller_id].append((paid_by, back_by, paid))
    for of_caller in by_caller:
        for place, day in enumerate(of_caller):
            wrong = _began(desk, day)
            if place and wrong is None:
                before = of_caller[place - 1]
                ends = of_caller[place + 1].after if place + 1 < len(of_caller) else NO_BOUND
                of_days = [_Moved(sums[each.caller_id, each.after]) for each in (before, day)]
                wrong = _Change(desk, before, day, ends, *of_days).wrong(back[day.caller_id])
            if wrong is not None and not was_mended(desk, day.caller_id):
                yield Finding(f"caller {day.caller_id}", wrong)


# The beginning of a day.


def _time_left() -> Query:
    """Sum the time that a caller had online and held after a transfer."""
    row, own = transfers.c, accounts.c
    ours = select(own.id).where(
        *(own.caller_id == bindparam("caller_id"), own.unit == "second"),
        own.kind.in_(["online", "held"]),
    )
    moved_by = select(total(row.amount)).where(row.id <= bindparam("after"))
    came, went = (moved_by.where(end.in_(ours)) for end in (row.target, row.source))
    return select(came.scalar_subquery() - went.scalar_subquery())


_TIME_LEFT = Prepared(_time_left)


def _kept_in_purse(desk: Desk, day: _Day) -> int:
    """Return the time online and held when a day began, which only a frozen account keeps."""
    left: int = _TIME_LEFT(desk.connection, caller_id=day.caller_id, after=day.after).scalar_one()
    return left


def _began(desk: Desk, day: _Day) -> str | None:
    """Return the error in the purse at the beginning of a day, or None.

    The purse must be what was earned before the day (`carried`) and what is left of an earlier
    grant (`standing`).
    """
    if day.carried + day.standing == day.staked:
        return None
    purse = day.staked + _kept_in_purse(desk, day)
    if day.carried + day.standing == purse:
        return None
    return (
        f"When {day.day} began for {day.name}, {day.carried} counted as earned and"
        f" {day.standing} as left of an earlier day, but the purse held {purse}."
    )


# The end of a day.


class _Moved:
    """The seconds that moved on one day, read from the sums that `_sums` returns.

    Positive seconds came into the purse.
    """

    def __init__(self, sums: Mapping[str, int]) -> None:
        self.put_away = -sums.get("carry", 0)
        # The unused grant, and the part of an earlier day's stake that came back.
        self.forfeited = -sums.get("left", 0)
        self.old_stake = -sums.get("old", 0)
        self.lent = sums.get("loan", 0)
        self.repaid = -sums.get("repay", 0)
        self.spent = -sum(sums.get(kind, 0) for kind in GRANT_PAYS)
        self.came = sums.get("other", 0) + self.lent - self.old_stake


def _stake_moved() -> Query:
    row = transfers.c
    own = accounts.alias()
    mine = and_(own.c.kind == "stake", own.c.unit == "second", own.c.caller_id == bindparam("id"))
    change = case((row.target == own.c.id, row.amount), else_=-row.amount)
    return (
        select(change, row.kind == "returned")
        .select_from(own)
        .join(transfers, or_(row.source == own.c.id, row.target == own.c.id))
        .where(mine, row.id > bindparam("after"), row.id <= bindparam("until"))
        .order_by(row.id)
    )


def _repaid_of_day() -> Query:
    """Sum the repayments of a day after its first loan."""
    row = transfers.c
    of_day = and_(row.id > bindparam("after"), row.id <= bindparam("until"))
    first = select(func.min(row.id)).where(
        of_day, row.kind == "loan", row.source.in_(_loan_of(bindparam("id")))
    )
    return select(total(row.amount)).where(
        of_day,
        *(row.kind == "repay", row.target.in_(_loan_of(bindparam("id")))),
        row.id > first.scalar_subquery(),
    )


def _loan_of(caller_id: ColumnElement[int]) -> Any:
    return select(accounts.c.id).where(accounts.c.kind == "loan", accounts.c.caller_id == caller_id)


_STAKE_MOVED, _REPAID = Prepared(_stake_moved), Prepared(_repaid_of_day)
_ENTRIES_BACK = Prepared(
    lambda: select(
        *(entries.c[name] for name in ("caller_id", "paid_id", "back_id", "paid"))
    ).where(entries.c.back_id.is_not(None), entries.c.seal.in_(select(tournaments.c.seal)))
)


class _Change:
    """The end of a caller's day, the beginning of the next, and the next day's old stake."""

    def __init__(
        self, desk: Desk, before: _Day, day: _Day, ends: int, of_before: _Moved, of_day: _Moved
    ) -> None:
        self._desk, self._before, self._day, self._ends = desk, before, day, ends
        self._of_before, self._of_day = of_before, of_day
        # The seconds that the caller kept, and all seconds online or held when the day ended.
        stayed = day.carried + day.standing - day.staked
        self._actual = of_before.put_away + stayed
        self._left = self._actual + of_before.forfeited

    def wrong(self, back: Iterable[tuple[int, int, int]]) -> str | None:
        """Return the sentence for a broken rule, or None.

        `back` are the caller's refunded tournament entries: the number of the payment, the number
        of the refund, and the amount.
        """
        wrong = [
            self._wrong(earned, has_bank=has_bank)
            for earned in (self._earned(back), self._earned_once())
            for has_bank in (True, False)
        ]
        return None if None in wrong else wrong[0]

    def _earned(self, back: Iterable[tuple[int, int, int]]) -> int:
        began, ended, moved = self._before.after, self._day.after, self._of_before
        earned = self._before.carried + moved.came
        earned -= sum(paid for by, to, paid in back if began < by <= ended and to <= ended)
        if moved.lent and moved.repaid:
            of_day = {"id": self._day.caller_id, "after": began, "until": ended}
            earned -= _REPAID(self._desk.connection, **of_day).scalar_one()
        return earned

    def _earned_once(self) -> int:
        """Return the earned seconds by the rule used until version 1.0."""
        return self._before.carried + self._of_before.came - self._of_before.spent

    def _wrong(self, earned: int, *, has_bank: bool) -> str | None:
        before, day = self._before, self._day
        own_stake = day.staked - before.standing
        expected = min(self._left + own_stake, max(0, earned))
        on_table = min(expected, own_stake) if has_bank else 0
        expected = expected - on_table if has_bank else min(expected, self._left)
        if self._actual != expected:
            return (
                f"When {before.day} ended for {day.name}, {self._actual} were kept as earned, but"
                f" {expected} were earned."
            )
        standing, forfeited = self._old_stake(day.staked - on_table)
        if (day.standing, self._of_day.old_stake) != (standing, forfeited):
            return (
                f"On {day.day} {day.standing} of the stake of {day.name} are left of an earlier"
                f" day, and {self._of_day.old_stake} were forfeited; it should be {standing} and"
                f" {forfeited}."
            )
        return None

    def _old_stake(self, standing: int) -> tuple[int, int]:
        """Return how much of an earlier day's stake is left when the day ends, and how much was
        forfeited.

        `standing` is the amount at the beginning of the day. It is returned before the day's own
        stakes, and lost after them.
        """
        day = self._day
        if standing and day.removed is not None:  # a removal may have taken it
            return day.standing, self._of_day.old_stake
        stake, forfeited = day.staked, 0
        if not standing:
            return 0, 0
        of_day = {"id": day.caller_id, "after": day.after, "until": self._ends}
        for change, is_back in _STAKE_MOVED(self._desk.connection, **of_day):
            stake += change
            if change < 0:
                comes = min(-change, standing) if is_back else 0
                forfeited += comes
                standing = min(standing - comes, stake)
        return standing, forfeited
