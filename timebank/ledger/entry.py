"""One entry in the making: what every operation of the bank does for a caller around its own part.

An operation enters with `enter`, which puts on the entry what the clocks have brought about since
the last one (time used, a new day, time that comes back after an event). It adds its own movements
and ends with `finish`, which moves whatever would reach past the next event and writes it all down.
Nothing is written before `finish`, so a refusal leaves nothing behind.

This is the hot path of every bet: few statements, which are ready beforehand.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta
from functools import partial
from itertools import accumulate
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    FromClause,
    Integer,
    and_,
    bindparam,
    exists,
    func,
    literal,
    null,
    or_,
    select,
    union_all,
)

from timebank.errors import CallClosed, OwnLimit, UnknownCaller
from timebank.language import Phrase
from timebank.ledger import early_events, reasons
from timebank.ledger.chain import Head, head_columns
from timebank.ledger.database import Desk
from timebank.ledger.own_limits import COLUMNS, OwnLimits, in_doubt_since, sure_instant
from timebank.ledger.play_accounts import PlayAccounts
from timebank.ledger.purse import Purse, Receipt
from timebank.ledger.reasons import Cutoff, PutAway, Reason
from timebank.ledger.schema import (
    CALLER_ACCOUNTS,
    accounts,
    actions,
    callers,
    calls,
    days,
    instant,
    outbox,
    own_limits,
    results,
    results_ever,
    rounds,
    stamp,
    transfers,
)
from timebank.ledger.schema import tournament_entries as entries
from timebank.ledger.sentences import cutoff_words, end_of_call
from timebank.ledger.sql import (
    Prepared,
    Query,
    Reader,
    change,
    equal,
    highest,
    insert_into,
    json_list,
    json_map,
    read,
    total,
    value,
)
from timebank.ledger.transfers import (
    ALLOTMENT,
    ELAPSED,
    EXTERNAL,
    FORFEIT,
    Account,
    Movement,
    TransferRow,
    transfer,
)
from timebank.ledger.visit import debt_of, visit_of
from timebank.settings.schedule import ClosedPeriod
from timebank.words import MINUTE, Unit, span_phrase, title

SECOND = timedelta(seconds=1)
DAY = timedelta(days=1)
# What a call is charged at least: if it ended in its first second, that one had started.
LEAST_SECONDS = 1


class InPlay(NamedTuple):
    """The caller's open round: its last action, and the game's house once it has an account."""

    round_id: int
    game: str
    sequence: int
    house_id: int | None
    unit: Unit
    # Not zero when others sit at it.
    shared: int
    day: str
    # What was bet, and what is settled already.
    bet: int
    lost: int
    won: int


class _Found(NamedTuple):
    """What `_read` reads of a caller."""

    caller_id: int
    name: str
    frozen: int
    day: str | None
    held_until: int | None
    held_behind: str | None
    board: str | None
    # Of the call; None and zeros without one.
    node: int
    ticked: int
    charged: int
    waived: int
    # Each account's number and balance.
    online_id: int
    online: int
    held_id: int
    held: int
    bank_id: int
    bank: int
    stake_id: int
    stake: int
    loan_id: int
    loan: int
    # The open round; None without one.
    round_id: int | None
    game: str
    unit: Unit
    round_day: str
    round_bet: int
    round_lost: int
    round_won: int
    sequence: int
    house_id: int | None
    # Not zero when others sit at it.
    shared: int
    # Today's finished hands by game, as a JSON object.
    turns: str | None
    # Rows of `results_ever`, as a JSON array of arrays.
    totals_ever: str | None
    # The end of the chain.
    last_number: int
    last_digest: str
    standing: int
    # Seconds lost today; below zero when won.
    lost: int
    # The last instant before the clock was in doubt.
    doubtful_since: float | None
    # Events that were started early, as a JSON array.
    early: str | None
    has_limits: int
    # A row of `own_limits`.
    most_lost: int | None
    later_lost: int | None
    later_from: int | None
    paused_until: int | None
    hourly: int
    hourly_until: int | None
    told: int | None


def _read(tables: FromClause, *of_call: ColumnElement[Any]) -> Query:
    """Select all that an operation needs of a caller, as one row."""
    who, hand, shared = callers.c, rounds.c, rounds.alias("shared")
    house = accounts.alias("house")
    last = select(func.max(actions.c.sequence)).where(
        actions.c.round_id == func.coalesce(hand.lead, hand.id)
    )
    house_id = select(house.c.id).where(
        house.c.kind == "house", house.c.game == hand.game, house.c.unit == hand.unit
    )
    of_today = and_(
        results.c.day == who.day, results.c.caller_id == who.id, results.c.unit == "second"
    )
    turns = select(json_map(results.c.game, results.c.hands)).where(of_today)
    lost = select(total(results.c.lost - results.c.won)).where(of_today)
    entered = select(total(entries.c.paid)).where(
        entries.c.day == who.day, entries.c.caller_id == who.id, entries.c.back_id.is_(None)
    )
    ever = select(json_list(*results_ever.c)).where(results_ever.c.caller_id == who.id)
    standing = select(days.c.standing).where(days.c.caller_id == who.id, days.c.day == who.day)
    tables = tables.outerjoin(rounds, and_(hand.caller_id == who.id, hand.settled.is_(None)))
    tables = tables.outerjoin(own_limits, own_limits.c.caller_id == who.id)
    return select(
        *(who.id, who.name, who.frozen, who.day, who.held_until, who.held_behind, who.board),
        *(of_call or (null(), *[literal(0)] * 3)),
        *_own_accounts(),
        *(hand.id, hand.game, hand.unit, hand.day, hand.bet, hand.lost, hand.won),
        *(last.scalar_subquery(), house_id.scalar_subquery()),
        or_(hand.lead.is_not(None), exists().where(shared.c.lead == hand.id)),
        *(turns.scalar_subquery(), ever.scalar_subquery(), *head_columns()),
        func.coalesce(standing.scalar_subquery(), 0),
        lost.scalar_subquery() + entered.scalar_subquery(),
        *(in_doubt_since(), early_events.column()),
        own_limits.c.caller_id.is_not(None),
        *COLUMNS,
    ).select_from(tables)


def _own_accounts() -> list[ColumnElement[int]]:
    """Select number and balance of each account of time, with no join to be planned."""
    own = accounts.c
    of_time = (own.caller_id == callers.c.id, own.unit == "second")
    return [
        select(column).where(*of_time, own.kind == kind).scalar_subquery()
        for kind in CALLER_ACCOUNTS
        for column in (own.id, own.balance)
    ]


def _of_call() -> Query:
    tables = callers.join(calls, calls.c.caller_id == callers.c.id)
    own = calls.c
    found = _read(tables, own.node, own.ticked, own.charged, own.waived)
    return found.where(equal(own.id), own.closed.is_(None))


_OF_CALL = read(_Found, _of_call)
_OF_CALLER = read(
    _Found, lambda: _read(callers).where(equal(callers.c.id), callers.c.deleted.is_(None))
)


def _earned() -> Query:
    """Add up what a day brought to online, held and stake, less what was lost or cut off of it.

    The grant pays for used time, deposits, entries and repayments before earnings do, so none of
    these is subtracted. Two exceptions keep the grant from becoming savings: a repayment of a loan
    of the same day, and an entry that was given back, which goes to the bank.

    The grant is what a loan's share left of it. `after` is the last transfer before the day,
    `carried` what counts beside its transfers (schema.days).
    """
    row = transfers.c
    own: list[Any] = [bindparam(kind) for kind in ("online", "held", "stake")]
    of_day = row.id > bindparam("after")
    moved = select(total(row.amount)).where(of_day)
    came = moved.where(row.target.in_(own), row.source.not_in([*own, ALLOTMENT.id]))
    grants = select(days.c.grant_id).where(days.c.grant_id.is_not(None))
    first_loan = select(func.min(row.id)).where(
        of_day, row.target.in_(own), row.kind == reasons.Borrowed.KIND
    )
    given_back = select(entries.c.paid_id).where(entries.c.back_id.is_not(None))
    went = moved.where(
        row.source.in_(own),
        row.target.not_in([*own, ELAPSED.id]),
        row.kind != reasons.Deposited.KIND,
        or_(row.kind != reasons.Repaid.KIND, row.id > first_loan.scalar_subquery()),
        or_(row.kind != reasons.Entered.KIND, row.id.in_(given_back)),
        or_(row.kind != reasons.LoanShare.KIND, (row.id - 1).not_in(grants)),
    )
    carried = bindparam("carried", type_=Integer)
    return select(carried + came.scalar_subquery() - went.scalar_subquery())


EARNED: Reader[int] = value(_earned)


def _lost_by_day() -> Query:
    of_hands = select(results.c.day, (results.c.lost - results.c.won).label("lost")).where(
        equal(results.c.caller_id), results.c.unit == "second", results.c.day >= bindparam("day")
    )
    of_entries = select(entries.c.day, entries.c.paid).where(
        equal(entries.c.caller_id), entries.c.day >= bindparam("day"), entries.c.back_id.is_(None)
    )
    each = union_all(of_hands, of_entries).subquery().c
    return select(each.day, total(each.lost)).group_by(each.day).order_by(each.day.desc())


_LOST_BY_DAY = Prepared(_lost_by_day)
_DAY = Prepared(
    lambda: select(days.c.after, days.c.carried).where(equal(days.c.caller_id, days.c.day))
)
_SETTLE_DAY = Prepared(
    lambda: change(
        days,
        "standing",
        equal(days.c.caller_id, days.c.day),
        carried=days.c.carried + bindparam("gone"),
    )
)
_ADD_DAY = Prepared(lambda: insert_into(days, "caller_id day after grant_id standing carried owed"))
_CHARGE = Prepared(lambda: change(calls, "ticked charged waived", equal(calls.c.id)))
_DATE = Prepared(lambda: change(callers, "day held_until held_behind", equal(callers.c.id)))
_SEND = Prepared(lambda: insert_into(outbox, "number name minutes source at", state="waiting"))
_LAST: Reader[int] = value(lambda: select(highest(transfers.c.id)))


def make_ready(desk: Desk) -> None:
    """Make the text with which `Posting.of_caller` begins, at a desk that nobody waits for: it
    takes 10 ms and more, which the first who needs it would hold the writer for."""
    _OF_CALLER.text(desk.connection.dialect)


class Posting:
    """The entry of one caller: their balances as it will leave them, and its movements so far."""

    def __init__(self, desk: Desk, call_id: int | None, row: _Found) -> None:
        self.desk = desk
        self.call_id = call_id
        self.round_id: int | None = None
        self.caller_id, self.name = row.caller_id, row.name
        self.node, self.ticked = row.node, row.ticked
        self.charged, self.waived = row.charged, row.waived
        # The sysop has frozen their account in the bank.
        self.is_frozen = bool(row.frozen)
        self.day, self.held_until, self.held_behind = row.day, row.held_until, row.held_behind
        self.online = Account(row.online_id, "online", "second")
        self.held = Account(row.held_id, "held", "second")
        self.bank = Account(row.bank_id, "bank", "second")
        self.stake = Account(row.stake_id, "stake", "second")
        self.loan = Account(row.loan_id, "loan", "second")
        self.balance = {kind: getattr(row, kind) for kind in CALLER_ACCOUNTS}
        # How many turns of each game they have played today, with the open one.
        self.turns: dict[str, int] = json.loads(row.turns or "{}")
        self.in_play: InPlay | None = None
        if row.round_id is not None:
            self.in_play = InPlay(
                *(row.round_id, row.game, row.sequence, row.house_id, row.unit, row.shared),
                *(row.round_day, row.round_bet, row.round_lost, row.round_won),
            )
            if row.round_day == row.day and row.unit == "second":
                self.turns[row.game] = self.turns.get(row.game, 0) + 1
        # Rows of `results_ever`, as JSON: all that they have played, the open round apart.
        self.totals_ever = row.totals_ever
        # The caller's play money, for an entry that moves any.
        self.play: PlayAccounts | None = None
        self._head = Head(row.last_number, row.last_digest)
        self.movements: list[Movement] = []
        # Of what stands on the table: what is left of an earlier day's minutes.
        self.standing = row.standing
        self._told: list[Phrase] = []
        # What they have set for themselves, as it holds now.
        self.own: OwnLimits | None = None
        self._lost = 0
        if row.has_limits:
            self._read_own(row)
        # For a caller of another board.
        self.visit = None
        if row.board is not None:
            self.visit = visit_of(desk, self.caller_id, call_id, row.board, self.balance["stake"])
        self._schedule = desk.settings.schedule.with_early(early_events.read(row.early))
        self.closing: ClosedPeriod | None = None
        # The most that `online` may hold now; None when no event is ever to come.
        self.limit: int | None = None
        self.look_for_events()
        self._call_changed = False
        self._caller_changed = False
        # Where in the movements the new day begins, when this entry begins one.
        self._day_begins: int | None = None
        # What counts as earned on that day from its beginning, and what was owed: see schema.days.
        self._carried = 0
        self._owed_before = 0
        # Movements that THEBANK.EXT must be told of: (index, the record's source).
        self._outbox: list[tuple[int, str]] = []
        # What takes the purse away from one who is on no call.
        self._leave: Callable[[Posting], None] | None = None
        # What is to be written once the rows have their numbers.
        self._afterwards: list[Callable[[tuple[TransferRow, ...]], None]] = []

    @classmethod
    def of_call(cls, desk: Desk, call_id: int) -> Posting:
        found = _OF_CALL.first(desk.connection, id=call_id)
        if found is None:
            raise CallClosed(Phrase("This call has ended."))
        return cls(desk, call_id, found)

    @classmethod
    def of_caller(cls, desk: Desk, caller_id: int, leave: Callable[[Posting], None]) -> Posting:
        """Read a caller who is on no call; raises `UnknownCaller`.

        `leave` takes out of the purse of another board's caller what the entry brings into it
        (`guests.departure.leave_without_call`): there is no visit that could take it home.
        """
        found = _OF_CALLER.first(desk.connection, id=caller_id)
        if found is None:
            raise UnknownCaller(Phrase("There is no caller number {number}.", number=caller_id))
        posting = cls(desk, None, found)
        if posting.visit is not None:
            posting._leave = leave
        return posting

    def look_for_events(self) -> None:
        desk, visit = self.desk, self.visit
        self._host: str | None = None
        closing = self._schedule.closed_at_or_after(desk.now)
        if visit is not None and visit.until is not None:
            until = instant(visit.until)
            if closing is None or until < closing.start:
                closing = ClosedPeriod(until, until + DAY, end_of_call(visit.board))
                self._host = visit.board
        self.closing = closing
        if closing is not None:
            self.limit = max(0, (closing.start - desk.now) // SECOND)

    def _read_own(self, row: _Found) -> None:
        """Take their own limits, and what they have lost in the time for which these count.

        While the clock is in doubt nobody knows whether the day that they began has come: then what
        they have lost since any day counts, from the last that is known on.
        """
        now = stamp(self.desk.now)
        self._sure = sure_instant(now, row.doubtful_since)
        set_ = OwnLimits(*(getattr(row, name) for name in OwnLimits._fields))
        self.own = set_.at(self._sure)
        self._lost_in_play = 0
        if row.unit == "second":
            self._lost_in_play = row.round_lost - row.round_won
        self._lost = row.lost + self._lost_in_play
        self._first_day = ""
        if row.doubtful_since is not None:
            self._first_day = self.desk.settings.schedule.day_of(instant(self._sure)).isoformat()
            self._lost = self._most_lost_since(self._first_day) + self._lost_in_play

    def _most_lost_since(self, day: str) -> int:
        """Tell the most that they have lost up to now since any day that is not before this one."""
        by_day = _LOST_BY_DAY(self.desk.connection, caller_id=self.caller_id, day=day).all()
        since = list(accumulate(lost for _, lost in by_day))
        today = self.desk.settings.schedule.day_of(self.desk.now).isoformat()
        if not by_day or by_day[0].day != today:
            since.append(0)  # of today's
        most: int = max(since)
        return most

    @property
    def may_lose(self) -> int | None:
        """Seconds that they may stake yet by their own limit, None where they have set none."""
        if self.own is None or self.own.most_lost is None:
            return None
        left: int = self.own.most_lost - self._lost - self.balance["stake"]
        return max(0, left)

    def has_lost(self, amount: int) -> None:
        """Count what they lost in this entry, below zero what they won, for their own limit."""
        self._lost += amount

    def keep_own_limits(self, amount: int) -> None:
        """Refuse with `OwnLimit` a stake of so many seconds (0 for play money)."""
        own = self.own
        if own is None:
            return
        if own.paused_until is not None:
            until = self.desk.settings.schedule.local(instant(own.paused_until))
            if own.paused_until <= stamp(self.desk.now):
                raise OwnLimit(
                    Phrase("Your pause goes on until the board is sure what time it is.")
                )
            raise OwnLimit(
                Phrase(
                    "You've paused yourself: you can bet again at {time}.",
                    time=f"{until:%Y-%m-%d %H:%M}",
                )
            )
        left = self.may_lose
        if left is not None and amount > left:
            raise OwnLimit(
                Phrase(
                    "By your own limit of {limit} a day you can stake {left} more today.",
                    limit=span_phrase(own.most_lost or 0),
                    left=span_phrase(left),
                )
            )

    def _told_of_own(self) -> dict[str, Any]:
        if self.own is None:
            return {}
        until = self.own.paused_until
        return {
            "may_lose": self.may_lose,
            "paused_until": None if until is None else instant(until),
            "word_is_due": self.own.is_due(self._sure),
        }

    @property
    def usable(self) -> int:
        """Seconds that may be spent now: those on line that no event cuts off."""
        online: int = self.balance["online"]
        return online if self.limit is None else min(online, self.limit)

    @property
    def event(self) -> str:
        """Name the next event with its local time, "Mail hour at 03:00"."""
        return "no event" if self.closing is None else cutoff_words(self._cutoff)

    def event_phrase(self) -> Phrase:
        if self.closing is None:
            return Phrase("no event")
        return Phrase("{event}", event=partial(cutoff_words, self._cutoff))

    @property
    def _cutoff(self) -> Cutoff:
        assert self.closing is not None  # nothing is cut off where no event is to come
        local = self.desk.settings.schedule.local(self.closing.start)
        host = self._host
        name = self.closing.name if host is None else host
        return Cutoff(name, f"{local:%H:%M}", host is not None)

    def move(self, source: Account, target: Account, amount: int, reason: Reason) -> None:
        if amount == 0:
            return
        balance = self.balance
        if self.play is not None and source.unit != "second":
            balance = self.play.balance
        if source.kind in balance:
            balance[source.kind] -= amount
        if target.kind in balance:
            balance[target.kind] += amount
        self._add(source, target, amount, reason)

    def hand_over(self, target: Account, amount: int, reason: Reason) -> None:
        self.balance["bank"] -= amount
        self._add(self.bank, target, amount, reason)

    def _add(self, source: Account, target: Account, amount: int, reason: Reason) -> None:
        if self.visit is not None:
            self.visit.note(source.kind, target.kind, amount)
        # What an event cuts off while play money is played for is no part of that hand.
        of_hand = self.play is None or source.unit != "second"
        round_id = self.round_id if of_hand else None
        self.movements.append(Movement(source, target, amount, reason, self.call_id, round_id))

    def charge_to(self, ticked: int, reason: Reason | None = None) -> None:
        """Charge the time up to `ticked` seconds after log-on; `reason` when not that it was used.

        What is left of it when nothing is left on line is waived, for good: it is accounted for.
        """
        due = ticked - self.ticked
        if due <= 0:
            return
        charge = min(due, self.balance["online"])
        self.move(self.online, ELAPSED, charge, reason or reasons.Used(self.node))
        self.ticked = ticked
        self.charged += charge
        self.waived += due - charge
        self._call_changed = True

    @property
    def day_begins(self) -> bool:
        return self._day_begins is not None

    def change_day(self) -> None:
        """Begin a new day when the board's has: the old one's rest goes, the new grant comes."""
        today = self.desk.settings.schedule.day_of(self.desk.now).isoformat()
        if self.day is not None:
            if today <= self.day:
                return
            if self.visit is None:
                self._leave_day()
        self.day = today
        self.turns = {}
        if self.own is not None and not self._first_day:
            self._lost = self._lost_in_play
        self._caller_changed = True
        self._day_begins = len(self.movements)
        self._owed_before = -self.balance["loan"]
        if self.visit is not None:  # their minutes are the host's: none are granted or forfeited
            return
        minutes = self.desk.settings.minutes_per_day
        self.move(ALLOTMENT, self.online, minutes * MINUTE, reasons.Granted(today))
        # Right behind the grant: EARNED knows it by that.
        self._pay_back(minutes * MINUTE, reasons.LoanShare(today))

    def _pay_back(self, amount: int, reason: reasons.LoanShare) -> int:
        """Pay the loan's share out of an amount that came on line; returns the share."""
        owed: int = -self.balance["loan"]
        if owed == 0:
            return 0
        share = min(owed, amount * self.desk.settings.limits.loan_share // 100)
        self.move(self.online, self.loan, share, reason)
        return share

    def _leave_day(self) -> None:
        """Forfeit what is left of the grant, and put away what was earned beyond it.

        Where it cannot be put away, it stays where it is, as earned on the new day.

        What stands on the table stays there. It is taken for what was earned, as far as that
        reaches: as before the day changes, a loss takes what was earned first. The rest of it is
        left of the grant, and is forfeited when it comes back (`settled`).
        """
        online, held, stake = self.balance["online"], self.balance["held"], self.balance["stake"]
        own = stake - self.standing
        kept = min(online + held + own, max(0, self._earned())) if online or held or own else 0
        on_table = min(kept, own)
        if self.desk.settings.mode == "none":  # where all of it would be forfeited
            on_table, kept = 0, min(kept, online + held)
        kept -= on_table
        self.standing, self._carried = stake - on_table, on_table
        self._tell_of_table(on_table)
        kept_online = min(kept, online)
        kept_held = kept - kept_online
        left, earned = reasons.LeftOfDay(self.day or ""), reasons.Earned(self.day or "")
        self.move(self.online, FORFEIT, online - kept_online, left)
        self.move(self.held, FORFEIT, held - kept_held, left)
        if self._puts_nothing_away:
            self._carried += kept
            self._tell_of_frozen(kept)
            return
        self.put_away(self.online, kept_online, earned, "Day change")
        self.put_away(self.held, kept_held, earned, "Day change")

    @property
    def _puts_nothing_away(self) -> bool:
        """Whether the account is frozen. A board without a bank puts time away by forfeiting it."""
        return self.is_frozen and self.desk.settings.mode != "none"

    def _tell_of_frozen(self, earned: int) -> None:
        if earned:
            self._told.append(
                Phrase(
                    "Your account is frozen: you keep what you earned in your pot, {amount}.",
                    amount=span_phrase(earned),
                )
            )

    def _tell_of_table(self, earned: int) -> None:
        if self.standing:
            # Short: a painted table has three rows for all that is said at a day change.
            self._told.append(
                Phrase(
                    "A new day: of your {amount} on the table, only winnings are yours to keep.",
                    amount=span_phrase(self.standing),
                )
            )
        if earned:
            self._told.append(
                Phrase(
                    "You earned {amount} of your stake: what comes back of it is yours.",
                    amount=span_phrase(earned),
                )
            )

    def _earned(self) -> int:
        books = self.desk.connection
        after, carried = _DAY(books, caller_id=self.caller_id, day=self.day).one()
        own = {each.kind: each.id for each in (self.online, self.held, self.stake)}
        return EARNED.one(books, **own, after=after, carried=carried)

    def settled(self, returned: int) -> None:
        """Forfeit what an earlier day's minutes are of a stake that has come back.

        `returned` seconds came back on line. What was lost was first what had been earned or put
        down today, so of what comes back the earlier day's minutes are the first.
        """
        if not self.standing:
            return
        gone = min(returned, self.standing)
        self.move(self.online, FORFEIT, gone, reasons.OldStake())
        left = min(self.standing - gone, self.balance["stake"])
        self._carried += self.standing - left
        if not self.day_begins:
            of_day = {"caller_id": self.caller_id, "day": self.day}
            come = self.standing - left
            _SETTLE_DAY.later(self.desk.connection, standing=left, gone=come, **of_day)
        self.standing = left

    def release(self) -> None:
        """Give back what was held behind an event that is no longer the next one.

        The next closed period ending later than the one it waits for means that this one is
        over, or was taken out of the schedule. A clock that stepped back releases nothing.
        """
        if self.balance["held"] == 0:
            return
        room = self.balance["held"]
        if self.closing is not None and self.limit is not None:
            if self.held_until is not None and stamp(self.closing.end) <= self.held_until:
                return
            room = min(room, max(0, self.limit - self.balance["online"]))
        behind = Cutoff.decode(self.held_behind)
        self.move(self.held, self.online, room, reasons.Released(*behind))
        if room and self.balance["held"]:  # with no room, the next entry finds it as it was
            self._wait_for_event()

    def finish(self, winnings: int, source: str, ended: int = 0) -> Receipt:
        """Pay back, clamp, write the entry down and tell what came of it.

        `winnings` are the seconds won in this entry, of which a loan takes its share, and which are
        the first to go when online would reach past the event; `source` is the game they came from,
        for the record in THEBANK.EXT; `ended` the hand that ends with it.
        """
        if winnings and self.visit is not None:
            winnings = min(winnings, self.ahead())
        if winnings:
            winnings -= self._pay_back(winnings, reasons.LoanShare(None))
        if self._leave is not None:
            self._leave(self)
        self.clamp(winnings, source)
        play = None if self.play is None else self.play.told()
        purse = Purse(
            **self.balance,
            ticked=self.ticked,
            day=self._date(),
            closing=self.closing,
            turns=self.turns,
            **self._told_of_own(),
        )
        return Receipt(purse, self.write(), play, tuple(self._told), ended)

    def ahead(self) -> int:
        """Tell how much of the purse of a board's caller is their own, and may be saved here."""
        assert self.visit is not None  # asked of such callers alone
        debt = debt_of(self.desk, self.caller_id, self.visit.day_on(self.day or ""))
        return self.visit.ahead(self.purse, self.charged, debt)

    @property
    def purse(self) -> int:
        balance = self.balance
        together: int = balance["online"] + balance["held"] + balance["stake"]
        return together

    def clamp(self, winnings: int, source: str) -> None:
        if self.limit is None:
            return
        surplus = self.balance["online"] - self.limit
        if surplus <= 0:
            return
        won = 0 if self._puts_nothing_away else min(surplus, winnings)
        self.put_away(self.online, won, reasons.Clamped(*self._cutoff), title(source))
        held = reasons.HeldBack(*self._cutoff, another_day=self._day_ends_before_event())
        self.move(self.online, self.held, surplus - won, held)
        if surplus > won:
            self._wait_for_event()

    def _day_ends_before_event(self) -> bool:
        """Tell whether what is held behind the next event meets another day there: who comes from
        another board has no day of ours."""
        if self.visit is not None or self.closing is None:
            return False
        return self.desk.settings.schedule.day_of(self.closing.end) > self._date()

    def _wait_for_event(self) -> None:
        if self.closing is not None:
            self.held_until = stamp(self.closing.end)
            self.held_behind = self._cutoff.encode()
            self._caller_changed = True

    def put_away(self, account: Account, amount: int, reason: PutAway, source: str) -> None:
        """Move time to where the board keeps what a caller cannot use now (time bank mode)."""
        mode = self.desk.settings.mode
        if amount == 0:
            return
        if mode == "none":
            self.move(account, FORFEIT, amount, replace(reason, banked=False))
            return
        waiting = self.balance["bank"] % MINUTE
        self.move(account, self.bank, amount, replace(reason, banked=True))
        if self.visit is not None:
            amount -= self.pay_loan_from_bank(min(amount, -self.balance["loan"]))
        if mode == "external":
            self.pass_on(waiting + amount, source)

    def pay_loan_from_bank(self, amount: int) -> int:
        """Pay so much of a loan of another board's caller out of the bank; returns it.

        Nothing of the caller's goes home while a loan is owed: no day's grant will ever pay it.
        """
        self.move(self.bank, self.loan, amount, reasons.PaidFromBank())
        return amount

    def pass_on(self, seconds: int, source: str) -> None:
        """Pass the whole minutes of an amount in the bank on through THEBANK.EXT.

        Seconds below a minute stay, and go out with the next ones that make it whole.
        """
        whole = seconds // MINUTE * MINUTE
        if whole:
            self.move(self.bank, EXTERNAL, whole, reasons.PassedOn())
            self._outbox.append((len(self.movements) - 1, source))

    def afterwards(self, write: Callable[[tuple[TransferRow, ...]], None]) -> None:
        self._afterwards.append(write)

    def _date(self) -> date:
        if self.day is None:
            return self.desk.settings.schedule.day_of(self.desk.now)
        return date.fromisoformat(self.day)

    def write(self) -> tuple[TransferRow, ...]:
        books = self.desk.connection
        rows = transfer(self.desk, self.movements, self._head)
        if self._call_changed:
            spent = {"ticked": self.ticked, "charged": self.charged, "waived": self.waived}
            _CHARGE.later(books, **spent, id=self.call_id)
        if self._caller_changed:
            held = {"held_until": self.held_until, "held_behind": self.held_behind}
            _DATE.later(books, day=self.day, **held, id=self.caller_id)
        if self._day_begins is not None:
            self._write_day(rows, self._day_begins)
        if self.visit is not None:
            self.visit.write(self.desk, self.charged)
        for write in self._afterwards:
            write(rows)
        for index, source in self._outbox:
            row, at = rows[index], stamp(self.desk.now)
            minutes = row.amount // MINUTE
            _SEND.later(
                books, number=row.number, name=self.name, minutes=minutes, source=source, at=at
            )
        return rows

    def _write_day(self, rows: tuple[TransferRow, ...], begins: int) -> None:
        books = self.desk.connection
        granted = [row.number for row in rows[begins:] if row.kind == "grant"]
        _ADD_DAY.later(
            books,
            caller_id=self.caller_id,
            day=self.day,
            after=rows[0].number + begins - 1 if rows else _LAST.one(books),
            grant_id=granted[0] if granted else None,
            standing=self.standing,
            carried=self._carried,
            owed=self._owed_before,
        )


def enter(desk: Desk, call_id: int, ticked: int) -> Posting:
    """Begin the entry of an open call with what the clocks brought about; raises `CallClosed`."""
    posting = Posting.of_call(desk, call_id)
    posting.charge_to(ticked)
    posting.change_day()
    posting.release()
    return posting
