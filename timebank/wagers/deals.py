"""The deal of the day: one sealed shoe that all callers of the board play alike, once each.

It is play for honour: no account has any part in it. A try is a journal of decisions, and each is
durable before its card is shown; whoever hangs up finds it as it was. The books never deal: what
the words mean, and when the last hand is over, is the board's to say.

A deal ends with its day, when the first one of a later day is opened. Only then its seed may be
shown, and from then on nothing is added to any try at it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any, NamedTuple

from sqlalchemy import Select, bindparam, func, or_, select

from timebank.callers import awards
from timebank.callers.award_names import DEAL
from timebank.errors import OutOfStep, ShoeGone
from timebank.language import Phrase
from timebank.ledger.database import Desk
from timebank.ledger.schema import callers, deal_tries, deals, rounds, stamp, tournaments
from timebank.ledger.sql import Prepared, Reader, change, equal, insert_into, read, value
from timebank.wagers.rounds import Json, encode

# A bet, in what decisions cost.
WHOLE_BET = 10_000
MOST_AHEAD = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class SealedDeal:
    seal: str
    day: date
    rules: Mapping[str, Any]
    closed: bool
    seed: bytes = field(repr=False)

    @property
    def shown_seed(self) -> str | None:
        return self.seed.hex() if self.closed else None


class DealTry(NamedTuple):
    """A caller's try at a deal: their decisions so far, and what came of it once it is over.

    `cost` is what their decisions cost against the book, in parts of `WHOLE_BET`; None as long as
    nobody has worked it out.
    """

    acts: tuple[str, ...]
    score: int | None = None
    cost: int | None = None


class Placed(NamedTuple):
    """A try that is over, whose it is, and its place: those that are alike share theirs."""

    caller_id: int
    name: str
    score: int
    cost: int | None
    acts: tuple[str, ...]
    place: int


class _Row(NamedTuple):
    caller_id: int
    name: str
    score: int
    cost: int | None
    acts: str


class KeptDeal(NamedTuple):
    """A deal as it stands in the books, for who checks them."""

    seal: str
    day: str
    rules: str
    seed: bytes
    daily: int
    # Of a tournament: for how many it is played.
    hands: int | None


class KeptTry(NamedTuple):
    """A try as it stands in the books."""

    name: str
    acts: str
    score: int | None
    cost: int | None


_DEAL = (deals.c.seal, deals.c.day, deals.c.rules, deals.c.closed, deals.c.seed)
_OPEN = Prepared(
    lambda: (
        select(*_DEAL)
        .where(deals.c.closed.is_(None), deals.c.daily == 1)
        .where(deals.c.day.between(bindparam("today"), bindparam("latest")))
        .order_by(deals.c.day)
        .limit(1)
    )
)
_LAST_CLOSED = Prepared(
    lambda: (
        select(*_DEAL)
        .where(deals.c.closed.is_not(None), deals.c.daily == 1)
        .order_by(deals.c.closed.desc(), deals.c.day.desc(), deals.c.seal)
        .limit(1)
    )
)
_CLOSE_DAILY = Prepared(
    lambda: change(deals, "closed", deals.c.closed.is_(None), deals.c.daily == 1)
)
_CLOSE_ALL = Prepared(lambda: change(deals, "closed", deals.c.closed.is_(None)))
_CLOSE_ONE = Prepared(lambda: change(deals, "closed", equal(deals.c.seal)))
_ADD = Prepared(lambda: insert_into(deals, "seal day seed rules opened daily"))
_IS_OPEN = Prepared(
    lambda: (
        select(deals.c.seal)
        .where(equal(deals.c.seal), deals.c.closed.is_(None))
        .with_for_update(read=True)
    )
)
_OF_CALLER = equal(deal_tries.c.seal, deal_tries.c.caller_id)
_TRY = Prepared(
    lambda: select(deal_tries.c.acts, deal_tries.c.score, deal_tries.c.cost).where(_OF_CALLER)
)
_BEGIN = Prepared(lambda: insert_into(deal_tries, "seal caller_id begun"))
_ACT = Prepared(
    lambda: change(
        deal_tries, "acts score finished", _OF_CALLER, deal_tries.c.acts == bindparam("before")
    )
)
_WEIGH = Prepared(
    lambda: change(
        deal_tries,
        "cost",
        *(_OF_CALLER, deal_tries.c.finished.is_not(None), deal_tries.c.cost.is_(None)),
    )
)
_IS_DAILY: Reader[int] = value(lambda: select(deals.c.daily).where(equal(deals.c.seal)))
_RANKING = read(
    _Row,
    lambda: (
        select(
            *(callers.c.id, callers.c.name, deal_tries.c.score),
            *(deal_tries.c.cost, deal_tries.c.acts),
        )
        .select_from(deal_tries)
        .join(callers, callers.c.id == deal_tries.c.caller_id)
        .where(equal(deal_tries.c.seal), deal_tries.c.finished.is_not(None))
        .where(callers.c.deleted.is_(None))
        .order_by(
            deal_tries.c.cost.is_(None),
            deal_tries.c.cost,
            deal_tries.c.score.desc(),
            callers.c.name,
        )
    ),
)


def _since_hand() -> Select[Any]:
    before = (
        select(rounds.c.dealt)
        .where(rounds.c.id < bindparam("hand"))
        .order_by(rounds.c.id.desc())
        .limit(1)
        .scalar_subquery()
    )
    since = func.coalesce(before, 0)
    earlier = deals.alias()
    # Who comes to the next one weighs what is left to weigh of this.
    last_over = (
        select(earlier.c.seal)
        .where(earlier.c.closed < since, earlier.c.daily == 1)
        .order_by(earlier.c.closed.desc(), earlier.c.day.desc(), earlier.c.seal)
        .limit(1)
        .scalar_subquery()
    )
    return (
        select(
            *(deals.c.seal, deals.c.day, deals.c.rules, deals.c.seed, deals.c.daily),
            tournaments.c.hands,
        )
        .join_from(deals, tournaments, tournaments.c.seal == deals.c.seal, isouter=True)
        .where(or_(deals.c.closed.is_(None), deals.c.closed >= since, deals.c.seal == last_over))
        .order_by(deals.c.opened, deals.c.seal)
    )


_KEPT = read(KeptDeal, _since_hand)
_KEPT_TRIES = read(
    KeptTry,
    lambda: (
        select(callers.c.name, deal_tries.c.acts, deal_tries.c.score, deal_tries.c.cost)
        .join(callers, callers.c.id == deal_tries.c.caller_id)
        .where(equal(deal_tries.c.seal))
        .order_by(deal_tries.c.caller_id)
    ),
)


def todays(desk: Desk, seed: bytes, seal: str, rules: Json) -> SealedDeal:
    """Give the deal of the day; where there is none yet, seal one and end those before.

    One of a later day, which a wrong clock has opened, is played until its day is over; one that
    is further ahead than `MOST_AHEAD` ends, for it would be played for years.
    """
    found = open_today(desk)
    if found is None:
        _CLOSE_DAILY(desk.connection, closed=stamp(desk.now))
        add(desk, seal, desk.settings.schedule.day_of(desk.now), seed, rules, is_daily=True)
        found = open_today(desk)
        assert found is not None
    return found


def open_today(desk: Desk) -> SealedDeal | None:
    """Find the deal of the day; None where nobody has asked for it yet."""
    day = desk.settings.schedule.day_of(desk.now)
    latest = (day + MOST_AHEAD).isoformat()
    found = _OPEN(desk.connection, today=day.isoformat(), latest=latest).first()
    return None if found is None else _deal(found)


def add(desk: Desk, seal: str, day: date, seed: bytes, rules: Json, *, is_daily: bool) -> None:
    values = {"seal": seal, "day": day.isoformat(), "seed": seed, "rules": encode(rules)}
    _ADD(desk.connection, **values, opened=stamp(desk.now), daily=int(is_daily))


def last_closed(desk: Desk) -> SealedDeal | None:
    """Give the daily deal that ended last; None before the first one has."""
    found = _LAST_CLOSED(desk.connection).first()
    return None if found is None else _deal(found)


def close_all(desk: Desk) -> None:
    """End every deal, those of tournaments too; the next caller who asks for today's has another
    one sealed."""
    _CLOSE_ALL(desk.connection, closed=stamp(desk.now))


def close(desk: Desk, seal: str) -> None:
    _CLOSE_ONE(desk.connection, closed=stamp(desk.now), seal=seal)


def try_of(desk: Desk, seal: str, caller_id: int) -> DealTry | None:
    """Find a caller's try at a deal; None where they have not begun."""
    row = _TRY(desk.connection, seal=seal, caller_id=caller_id).first()
    return None if row is None else DealTry(tuple(row.acts.split()), row.score, row.cost)


def is_left(desk: Desk, seal: str, caller_id: int) -> bool:
    """Tell whether a caller has begun a try at a deal and not ended it."""
    found = try_of(desk, seal, caller_id)
    return found is not None and found.score is None


def begin(desk: Desk, seal: str, caller_id: int) -> DealTry:
    """Begin a caller's try, or find it: there is one alone. Raises `ShoeGone` for a deal that has
    ended."""
    _refuse_ended(desk, seal)
    found = try_of(desk, seal, caller_id)
    if found is None:
        _BEGIN(desk.connection, seal=seal, caller_id=caller_id, begun=stamp(desk.now))
    return found or DealTry(())


def act(
    desk: Desk, seal: str, caller_id: int, before: Sequence[str], word: str, score: int | None
) -> None:
    """Add a decision to those `before`; `score` is what was won where it ends the last hand.

    Raises `ShoeGone` for a deal that has ended, and `OutOfStep` for a try that has gone on
    meanwhile, or is over.
    """
    _refuse_ended(desk, seal)
    changed = _ACT(
        desk.connection,
        seal=seal,
        caller_id=caller_id,
        before=" ".join(before),
        acts=" ".join((*before, word)),
        score=score,
        finished=None if score is None else stamp(desk.now),
    )
    if not changed.rowcount:
        raise OutOfStep(Phrase("This hand has moved on in the meantime."))


def weigh(desk: Desk, seal: str, caller_id: int, cost: int) -> None:
    """Note what the decisions of a try that is over cost, once. Who works it out finds what all
    find; and what a tournament was settled by stays."""
    changed = _WEIGH(desk.connection, seal=seal, caller_id=caller_id, cost=cost)
    if changed.rowcount and not cost and _IS_DAILY.one(desk.connection, seal=seal):
        awards.earn(desk, caller_id, DEAL)


def ranking(desk: Desk, seal: str) -> list[Placed]:
    """List the tries at a deal that are over: those whose decisions cost least come first, and
    among them those that won most. Those that nobody has weighed yet come last."""
    placed: list[Placed] = []
    for number, row in enumerate(_RANKING.all(desk.connection, seal=seal), 1):
        before = placed[-1] if placed else None
        is_alike = before is not None and (before.cost, before.score) == (row.cost, row.score)
        place = before.place if before is not None and is_alike else number
        acts = tuple(row.acts.split())
        placed.append(Placed(row.caller_id, row.name, row.score, row.cost, acts, place))
    return placed


def kept(desk: Desk, since_hand: int) -> list[KeptDeal]:
    """List the deals of which something may have changed since the hand before that number was
    dealt: those that were not closed then, and the daily one that was over last. All, where there
    is none before."""
    return list(_KEPT.all(desk.connection, hand=since_hand))


def kept_tries(desk: Desk, seal: str) -> list[KeptTry]:
    """List the tries at a deal, those that are not over as well."""
    return list(_KEPT_TRIES.all(desk.connection, seal=seal))


def _refuse_ended(desk: Desk, seal: str) -> None:
    if _IS_OPEN(desk.connection, seal=seal).first() is None:
        raise ShoeGone(Phrase("The day of this deal is over."))


def _deal(row: Any) -> SealedDeal:
    return SealedDeal(
        row.seal,
        date.fromisoformat(row.day),
        json.loads(row.rules),
        row.closed is not None,
        row.seed,
    )
