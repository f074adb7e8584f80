"""A contest: one sealed shoe that several callers play with the same cards, once each.

Daily deals, tournaments and duels are contests. Each kind is a module that says who takes part,
what is put up, and when it ends. All else is here: shoe, tries, places and entries.

A try is a journal of decisions. Each decision is durable before its card is shown, so a caller who
hangs up finds the hand unchanged. The books never deal: the board says what the words mean and when
the last hand is over. When a contest is closed, its seed may be shown and its tries stay as they
are.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import Any, ClassVar, NamedTuple

from sqlalchemy import ColumnElement, Select, and_, bindparam, case, func, not_, or_, select

from timebank.callers import awards
from timebank.callers.award_names import DEAL
from timebank.errors import OutOfStep, ShoeGone
from timebank.guests.departure import leave_without_call
from timebank.language import N_, Phrase
from timebank.ledger.database import Desk
from timebank.ledger.entries import cutoff
from timebank.ledger.entries.posting import Posting
from timebank.ledger.prizes import shared_places
from timebank.ledger.reasons import Reason
from timebank.ledger.schema import callers, deal_tries, deals, duels, rounds, stamp, tournaments
from timebank.ledger.schema import contest_entries as entries
from timebank.ledger.sql import (
    Prepared,
    Query,
    Reader,
    change,
    columns_of,
    equal,
    insert_into,
    read,
    total,
    value,
)
from timebank.ledger.transfers import Account, TransferRow, prizes
from timebank.wagers.rounds import Json, encode

WHOLE_BET = 10_000  # a bet, in the unit of costs
# What the seals of the world's deals begin with. Their seeds are no secret.
WORLD = "world/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Contest:
    """A contest and its terms. Kinds add their own fields; amounts are seconds."""

    # What the prize that is paid by this kind is called in THEBANK.EXT.
    SOURCE: ClassVar[str] = ""
    OVER: ClassVar[str] = N_("The day of this deal is over.")
    # Whether the coins won decide between equal costs.
    RANKS_COINS: ClassVar[bool] = True

    seal: str
    day: date
    rules: Mapping[str, Any]
    closed: bool
    seed: bytes = field(repr=False)
    hands: int | None = None  # None for the number of hands of the daily deal
    # The time in which decisions are taken; None without a limit of its own.
    starts: datetime | None = None
    ends: datetime | None = None

    @staticmethod
    def account(desk: Desk) -> Account:
        """Return the account that holds the entries."""
        return prizes(desk)

    @property
    def is_worlds(self) -> bool:
        """Whether the cards follow from the date; the seal is then the name of the deal."""
        return self.seal.startswith(WORLD)

    @property
    def shown_seed(self) -> str | None:
        return self.seed.hex() if self.closed else None

    def is_open(self, now: datetime) -> bool:
        has_begun = self.starts is None or self.starts <= now
        return not self.closed and has_begun and (self.ends is None or now < self.ends)


class ContestTry(NamedTuple):
    """A caller's decisions so far; `score` is None until the last hand is over.

    `cost` is what the decisions cost against the book, in parts of `WHOLE_BET`; None until it is
    computed.
    """

    acts: tuple[str, ...]
    score: int | None = None
    cost: int | None = None


class Entry(NamedTuple):
    """One caller's entry. Amounts are seconds; `place` is None until the contest is settled."""

    for_prize: bool
    paid: int
    place: int | None
    prize: int


class ContestResult(NamedTuple):
    """One caller's finished try. `for_prize`, `prize` and the settled `place` are the entry's."""

    caller_id: int
    name: str
    score: int
    cost: int | None
    acts: tuple[str, ...]
    place: int | None = None
    prize: int = 0
    for_prize: bool = False
    is_deleted: bool = False
    is_locked: bool = False
    is_frozen: bool = False
    board: str | None = None  # the caller's, None for this one


class StoredContest(NamedTuple):
    """A contest as stored, for audits."""

    seal: str
    day: str
    rules: str
    seed: bytes
    kind: str  # "daily deal", "tournament" or "duel"
    hands: int | None


class StoredTry(NamedTuple):
    """A try as stored, for audits."""

    name: str
    acts: str
    score: int | None
    cost: int | None


class _Paid(NamedTuple):
    caller_id: int
    paid: int


# The shoe.

SHOE = (deals.c.seal, deals.c.day, deals.c.rules, deals.c.closed, deals.c.seed)
_ADD = Prepared(lambda: insert_into(deals, "seal day seed rules opened daily"))
_CLOSE = Prepared(lambda: change(deals, "closed", equal(deals.c.seal)))
_CLOSE_ALL = Prepared(
    lambda: change(deals, "closed", deals.c.closed.is_(None), not_(is_of_world()))
)
_IS_OPEN = Prepared(
    lambda: (
        select(deals.c.seal)
        .where(equal(deals.c.seal), deals.c.closed.is_(None))
        .with_for_update(read=True)
    )
)


def is_of_world() -> ColumnElement[bool]:
    """Select the world's deals."""
    return func.substr(deals.c.seal, 1, len(WORLD)) == WORLD


def add(desk: Desk, seal: str, day: date, seed: bytes, rules: Json, *, is_daily: bool) -> None:
    """Store a sealed shoe and the rules under which it is played."""
    values = {"seal": seal, "day": day.isoformat(), "seed": seed, "rules": encode(rules)}
    _ADD(desk.connection, **values, opened=stamp(desk.now), daily=int(is_daily))


def shoe(row: Sequence[Any]) -> dict[str, Any]:
    """Return the fields of `Contest` that a row of `SHOE` has."""
    seal, day, rules, closed, seed = row
    day, rules = date.fromisoformat(day), json.loads(rules)
    return {"seal": seal, "day": day, "rules": rules, "closed": closed is not None, "seed": seed}


def end(desk: Desk, contest: Contest, kind: Prepared, outcome: str) -> None:
    """End a contest, once; ValueError for a second time. `kind` writes the outcome into its row."""
    if not kind(desk.connection, outcome=outcome, seal=contest.seal).rowcount:
        raise ValueError(f"ended already: the contest {contest.seal}")
    _CLOSE(desk.connection, closed=stamp(desk.now), seal=contest.seal)


def close_all(desk: Desk) -> None:
    """Close the shoes of all contests, except the world's deals.

    The next caller has another deal of the board sealed. Nothing is gained by knowing the cards of
    a world's deal, so its tries go on.
    """
    _CLOSE_ALL(desk.connection, closed=stamp(desk.now))


def refuse_closed(desk: Desk, contest: Contest) -> None:
    """Raise `ShoeGone` unless decisions may be taken now. The shoe stays open until the commit."""
    is_stored_open = _IS_OPEN(desk.connection, seal=contest.seal).first() is not None
    if not is_stored_open or not replace(contest, closed=False).is_open(desk.now):
        raise ShoeGone(Phrase(contest.OVER))


# Tries.

_TRY_OF_CALLER = equal(deal_tries.c.seal, deal_tries.c.caller_id)
_TRY = Prepared(
    lambda: select(deal_tries.c.acts, deal_tries.c.score, deal_tries.c.cost).where(_TRY_OF_CALLER)
)
_BEGIN = Prepared(lambda: insert_into(deal_tries, "seal caller_id begun"))
_ACT = Prepared(
    lambda: change(
        deal_tries,
        "acts score finished",
        *(_TRY_OF_CALLER, deal_tries.c.acts == bindparam("before")),
    )
)
_WEIGH = Prepared(
    lambda: change(
        deal_tries,
        "cost",
        *(_TRY_OF_CALLER, deal_tries.c.finished.is_not(None), deal_tries.c.cost.is_(None)),
    )
)
_IS_DAILY: Reader[int] = value(lambda: select(deals.c.daily).where(equal(deals.c.seal)))


def try_of(desk: Desk, seal: str, caller_id: int) -> ContestTry | None:
    """Return a caller's try, None if they have not begun."""
    row = _TRY(desk.connection, seal=seal, caller_id=caller_id).first()
    return None if row is None else ContestTry(tuple(row.acts.split()), row.score, row.cost)


def is_left(desk: Desk, seal: str, caller_id: int) -> bool:
    """Return whether a caller has begun a try and not ended it."""
    found = try_of(desk, seal, caller_id)
    return found is not None and found.score is None


def begin(desk: Desk, contest: Contest, caller_id: int) -> ContestTry:
    """Begin a caller's only try, or return it. Raises `ShoeGone` once the contest is over."""
    refuse_closed(desk, contest)
    found = try_of(desk, contest.seal, caller_id)
    if found is None:
        _BEGIN(desk.connection, seal=contest.seal, caller_id=caller_id, begun=stamp(desk.now))
    return found or ContestTry(())


def act(
    desk: Desk,
    contest: Contest,
    caller_id: int,
    before: Sequence[str],
    word: str,
    score: int | None,
) -> None:
    """Add a decision to those `before`. `score` is the coins won if it ends the last hand.

    Raises `ShoeGone` once the contest is over, and `OutOfStep` if the try has other decisions.
    """
    refuse_closed(desk, contest)
    changed = _ACT(
        desk.connection,
        seal=contest.seal,
        caller_id=caller_id,
        before=" ".join(before),
        acts=" ".join((*before, word)),
        score=score,
        finished=None if score is None else stamp(desk.now),
    )
    if not changed.rowcount:
        raise OutOfStep(Phrase("This hand has moved on in the meantime."))


def weigh(desk: Desk, seal: str, caller_id: int, cost: int) -> None:
    """Store the cost of a finished try. The first cost that is stored stays."""
    changed = _WEIGH(desk.connection, seal=seal, caller_id=caller_id, cost=cost)
    if changed.rowcount and not cost and _IS_DAILY.one(desk.connection, seal=seal):
        awards.earn(desk, caller_id, DEAL)


# Results and places.


def _result(row: Any) -> ContestResult:
    caller_id, name, score, cost, acts, place, prize, board, *flags = row
    for_prize, is_deleted, is_locked, is_frozen = map(bool, flags)
    return ContestResult(
        *(caller_id, name, score, cost, tuple(acts.split()), place, prize),
        *(for_prize, is_deleted, is_locked, is_frozen, board),
    )


def _tries(*, are_finished: bool) -> Query:
    is_same = and_(entries.c.seal == deal_tries.c.seal, entries.c.caller_id == callers.c.id)
    return (
        select(
            *(callers.c.id, callers.c.name, func.coalesce(deal_tries.c.score, 0)),
            *(
                deal_tries.c.cost,
                deal_tries.c.acts,
                entries.c.place,
                func.coalesce(entries.c.prize, 0),
            ),
            callers.c.board,
            *(entries.c.for_prize, callers.c.deleted, callers.c.locked, callers.c.frozen),
        )
        .select_from(deal_tries)
        .join(callers, callers.c.id == deal_tries.c.caller_id)
        .join(entries, is_same, isouter=True)
        .where(equal(deal_tries.c.seal), deal_tries.c.finished.is_(None) != are_finished)
        .order_by(
            *(deal_tries.c.cost.is_(None), deal_tries.c.cost, deal_tries.c.score.desc()),
            *(callers.c.name, callers.c.id),
        )
    )


_RESULTS = Reader(_result, lambda: _tries(are_finished=True))
_UNFINISHED = Reader(_result, lambda: _tries(are_finished=False))


def results(desk: Desk, seal: str) -> list[ContestResult]:
    """List the finished tries: the lowest cost first, then the most coins, costs unknown last."""
    return _RESULTS.all(desk.connection, seal=seal)


def unfinished(desk: Desk, seal: str) -> list[ContestResult]:
    """List the tries that were begun and are not finished, with a score of 0."""
    return _UNFINISHED.all(desk.connection, seal=seal)


def ranking(desk: Desk, contest: Contest) -> list[ContestResult]:
    """List the finished tries with their places of now. Equal results share a place."""
    found = [each for each in results(desk, contest.seal) if not each.is_deleted]
    return placed(found, ranks_coins=contest.RANKS_COINS)


def placed(found: Sequence[ContestResult], *, ranks_coins: bool = True) -> list[ContestResult]:
    """Number results in their order. Equal results share a place."""
    places = shared_places([(each.cost, each.score if ranks_coins else 0) for each in found])
    return [each._replace(place=place) for each, place in zip(found, places, strict=True)]


def is_shut(desk: Desk, each: ContestResult) -> bool:
    """Return whether a caller's account takes in nothing that is won."""
    return each.is_deleted or each.is_locked or each.is_frozen or desk.settings.is_barred(each.name)


def unweighed(desk: Desk, seal: str) -> list[ContestResult]:
    """List the finished tries without a cost."""
    return [each for each in results(desk, seal) if each.cost is None]


# Entries, and the minutes that are paid for them.

_ENTRY_OF_CALLER = equal(entries.c.seal, entries.c.caller_id)
_ENTRY = Prepared(
    lambda: select(*columns_of(entries, "for_prize paid place prize")).where(_ENTRY_OF_CALLER)
)
_ENTER = Prepared(lambda: insert_into(entries, "seal caller_id at day for_prize paid paid_id"))
_PLACE = Prepared(lambda: change(entries, "place passed", _ENTRY_OF_CALLER))
_PAY = Prepared(
    lambda: change(entries, "prize prize_id", _ENTRY_OF_CALLER, entries.c.prize_id.is_(None))
)
_GIVE_BACK = Prepared(
    lambda: change(entries, "back_id", _ENTRY_OF_CALLER, entries.c.back_id.is_(None))
)


def _of_living(*columns: ColumnElement[Any]) -> Select[Any]:
    return (
        select(*columns)
        .join_from(entries, callers, callers.c.id == entries.c.caller_id)
        .where(equal(entries.c.seal), callers.c.removed.is_(None))
    )


_PAID = read(
    _Paid,
    lambda: (
        _of_living(entries.c.caller_id, entries.c.paid)
        .where(entries.c.paid > 0, entries.c.back_id.is_(None))
        .order_by(entries.c.at, entries.c.caller_id)
    ),
)
_ENTRANTS: Reader[int] = value(
    lambda: _of_living(entries.c.caller_id).order_by(entries.c.caller_id)
)
ALL_PAID: Reader[int] = value(lambda: select(total(entries.c.paid)).where(equal(entries.c.seal)))


def entry_of(desk: Desk, seal: str, caller_id: int) -> Entry | None:
    row = _ENTRY(desk.connection, seal=seal, caller_id=caller_id).first()
    return None if row is None else Entry(bool(row.for_prize), row.paid, row.place, row.prize)


def entrants(desk: Desk, seal: str) -> list[int]:
    """List the callers who have entered, by number, without deleted ones."""
    return _ENTRANTS.all(desk.connection, seal=seal)


def enter(
    posting: Posting, contest: Contest, source: str, price: int, reason: Reason, *, for_prize: bool
) -> None:
    """Enter the caller of a posting, who pays `price` from their account `source`."""
    posting.move(source, contest.account(posting.desk), price, reason)
    posting.count_loss(price)

    def note(rows: tuple[TransferRow, ...]) -> None:
        _ENTER(
            posting.desk.connection,
            seal=contest.seal,
            caller_id=posting.caller_id,
            at=stamp(posting.desk.now),
            day=posting.state.day,
            for_prize=int(for_prize),
            paid=price,
            paid_id=next((row.number for row in rows if row.reason == reason), None),
        )

    posting.after_write(note)


def place(desk: Desk, seal: str, places: Mapping[int, int | None]) -> None:
    """Store the place of each caller; None for one who finished and is passed over."""
    _PLACE.run_each(
        desk.connection,
        [
            {"seal": seal, "caller_id": caller_id, "place": place, "passed": int(place is None)}
            for caller_id, place in places.items()
        ],
    )


def pay(desk: Desk, contest: Contest, caller_id: int, prize: int, reason: Reason) -> None:
    """Pay a prize into a caller's bank account, once; ValueError for a second prize."""
    row = _to_bank(desk, contest, caller_id, prize, reason)
    of_caller = {"seal": contest.seal, "caller_id": caller_id}
    if not _PAY(desk.connection, prize=prize, prize_id=row, **of_caller).rowcount:
        raise ValueError(f"paid already: {caller_id} in the contest {contest.seal}")


def give_back(desk: Desk, contest: Contest, reason: Reason) -> None:
    """Give every entry back to its caller's bank account, except those of deleted callers.

    The bank account takes it in, as the day of an entry may be over.
    """
    for caller_id, paid in _PAID.all(desk.connection, seal=contest.seal):
        row = _to_bank(desk, contest, caller_id, paid, reason)
        of_caller = {"seal": contest.seal, "caller_id": caller_id}
        if not _GIVE_BACK(desk.connection, back_id=row, **of_caller).rowcount:
            raise ValueError(f"given back already: {caller_id} in the contest {contest.seal}")


def _to_bank(desk: Desk, contest: Contest, caller_id: int, amount: int, reason: Reason) -> int:
    """Move time from the contest's account to a caller's bank; return the transfer's number."""
    posting = Posting.of_caller(desk, caller_id, leave_without_call)
    waiting = posting.state.bank % 60
    posting.move(contest.account(desk), "bank", amount, reason)
    if desk.settings.mode == "external":
        posting.apply(cutoff.pass_on, waiting + amount, contest.SOURCE)
    return next(row.number for row in posting.write() if row.reason == reason)


# What audits read.


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
    # The tries at this one may have been weighed after it was over.
    last_over = (
        select(earlier.c.seal)
        .where(earlier.c.closed < since, earlier.c.daily == 1)
        .order_by(earlier.c.closed.desc(), earlier.c.day.desc(), earlier.c.seal)
        .limit(1)
        .scalar_subquery()
    )
    kind = case(
        (deals.c.daily == 1, "daily deal"), (duels.c.seal.is_(None), "tournament"), else_="duel"
    )
    return (
        select(
            *(deals.c.seal, deals.c.day, deals.c.rules, deals.c.seed, kind),
            func.coalesce(tournaments.c.hands, duels.c.hands),
        )
        .join_from(deals, tournaments, tournaments.c.seal == deals.c.seal, isouter=True)
        .join(duels, duels.c.seal == deals.c.seal, isouter=True)
        .where(or_(deals.c.closed.is_(None), deals.c.closed >= since, deals.c.seal == last_over))
        .order_by(deals.c.opened, deals.c.seal)
    )


_STORED = read(StoredContest, _since_hand)
_STORED_TRIES = read(
    StoredTry,
    lambda: (
        select(callers.c.name, deal_tries.c.acts, deal_tries.c.score, deal_tries.c.cost)
        .join(callers, callers.c.id == deal_tries.c.caller_id)
        .where(equal(deal_tries.c.seal))
        .order_by(deal_tries.c.caller_id)
    ),
)


def stored(desk: Desk, since_hand: int) -> list[StoredContest]:
    """List the contests that may have changed since the hand before this number was dealt.

    These were not closed then, or were the last daily deal that was over. Lists all if there is no
    hand before.
    """
    return list(_STORED.all(desk.connection, hand=since_hand))


def stored_tries(desk: Desk, seal: str) -> list[StoredTry]:
    """List the tries at a contest, unfinished ones too."""
    return list(_STORED_TRIES.all(desk.connection, seal=seal))
