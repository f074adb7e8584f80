"""An unfinished entry: the steps that every operation of the bank takes for a caller.

An operation begins with `enter` and ends with `finish`. The steps are:

1. charge the time used since the last entry (`day.charge`);
2. end the caller's day and begin the next one (`day.end`, `day.begin`);
3. release the time held for an event that is over (`cutoff.release`);
4. make the operation's own movements;
5. pay the share of a loan from winnings (`day.pay_loan_share`);
6. move the time that would reach past the next event (`cutoff.clamp`).

Nothing is written before the last step, so a refusal changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Concatenate, ParamSpec

from sqlalchemy import bindparam, select

from timebank.errors import CallClosed, Refused, UnknownCaller
from timebank.language import Phrase
from timebank.ledger import early_events
from timebank.ledger.chain import Head
from timebank.ledger.database import Desk
from timebank.ledger.entries import cutoff, day, reading
from timebank.ledger.entries.state import CallerState, Ruling, UpcomingEvent
from timebank.ledger.play_accounts import PlayAccounts
from timebank.ledger.purse import WAITS, Purse, Receipt
from timebank.ledger.reasons import Reason
from timebank.ledger.schema import (
    CALLER_ACCOUNTS,
    SYSTEM_ACCOUNTS,
    callers,
    calls,
    days,
    outbox,
    stamp,
    transfers,
)
from timebank.ledger.sql import Prepared, Reader, change, equal, highest, insert_into, value
from timebank.ledger.transfers import Account, Movement, TransferRow, transfer
from timebank.ledger.visit import HostSession, debt_of, visit_of
from timebank.words import MINUTE, Unit

P = ParamSpec("P")

# The least charge of a call: its first second has started even if the call ends in it.
LEAST_SECONDS = 1

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
_STAKE = CALLER_ACCOUNTS.index("stake")
_ACCOUNTS_OF_SYSTEM = {
    kind: Account(number, kind, "second") for number, kind in SYSTEM_ACCOUNTS.items()
}


class Posting:
    """The unfinished entry of one caller: the state after it, and its movements so far."""

    def __init__(self, desk: Desk, call_id: int | None, row: reading.CallerRow) -> None:
        self.desk = desk
        self.call_id = call_id
        self.caller_id, self.name = row.caller_id, row.name
        # The accounts of the caller and the system, by kind.
        self.account = dict(_ACCOUNTS_OF_SYSTEM)
        for kind, number in zip(CALLER_ACCOUNTS, row.accounts, strict=True):
            self.account[kind] = Account(number, kind, "second")
        self.in_play = row.in_play
        # Rows of `results_ever` as JSON: totals without the open round.
        self.totals_ever = row.totals_ever
        # The caller's play money, if the entry moves any.
        self.play: PlayAccounts | None = None
        # For a caller of another board.
        self.visit: HostSession | None = None
        if row.board is not None:
            self.visit = visit_of(desk, self.caller_id, call_id, row.board, row.state[_STAKE])
        self._begun_visit = self.visit
        self._schedule = desk.settings.schedule.with_early(early_events.parse(row.early))
        self.state = self._begun = reading.initial_state(desk, row, self._event())
        self.movements: list[Movement] = []
        self.round_id: int | None = None
        self._head = Head(row.last_number, row.last_digest)
        self._remarks: list[Phrase] = []
        self.awards: list[str] = []  # earned with this entry
        self.leeway = 0  # seconds since the stake was offered
        # If this entry begins a day: the index of its first movement, and the loan at that time.
        self._new_day: tuple[int, int] | None = None
        # Movements that need a record in THEBANK.EXT: (index, the record's source).
        self._outbox: list[tuple[int, str]] = []
        # Empties the purse of a guest who is not on a call.
        self._leave: Callable[[Posting], None] | None = None
        # Writers that run when the transfers have their numbers.
        self._after_write: list[Callable[[tuple[TransferRow, ...]], None]] = []

    @classmethod
    def of_call(cls, desk: Desk, call_id: int) -> Posting:
        row = reading.BY_CALL.first(desk.connection, id=call_id)
        if row is None:
            raise CallClosed(Phrase("This call has ended."))
        return cls(desk, call_id, row)

    @classmethod
    def of_caller(cls, desk: Desk, caller_id: int, leave: Callable[[Posting], None]) -> Posting:
        """Read a caller who is not on a call; raises `UnknownCaller`.

        `leave` (`guests.departure.leave_without_call`) empties the purse of another board's caller,
        because no visit could take the time home.
        """
        row = reading.BY_CALLER.first(desk.connection, id=caller_id)
        if row is None:
            raise UnknownCaller(Phrase("There is no caller number {number}.", number=caller_id))
        posting = cls(desk, None, row)
        if posting.visit is not None:
            posting._leave = leave
        return posting

    def set_visit(self, visit: HostSession) -> None:
        """Replace the visit and adopt the event of its host."""
        self.visit = visit
        self.state = self.state._replace(event=self._event())

    def _event(self) -> UpcomingEvent | None:
        host = (None, None) if self.visit is None else (self.visit.until, self.visit.board)
        return cutoff.next_event(self._schedule, self.desk.now, *host)

    # Rules.

    def apply(
        self, rule: Callable[Concatenate[CallerState, P], Ruling], *args: P.args, **kwargs: P.kwargs
    ) -> None:
        """Apply a rule to the current state, and add its movements and remarks."""
        self.state, legs, remarks = rule(self.state, *args, **kwargs)
        if not legs and not remarks:
            return
        for source, target, amount, reason, record in legs:
            if record is not None:
                self._outbox.append((len(self.movements), record))
            self._add(self.account[source], self.account[target], amount, reason)
        self._remarks += remarks

    @property
    def day_begins(self) -> bool:
        return self._new_day is not None

    def change_day(self) -> None:
        """End the caller's day and begin the next one, if the board's day has changed."""
        settings, today = self.desk.settings, self._today()
        if not day.is_over(self.state, today):
            return
        if self.state.day is not None and self.visit is None:
            self.apply(day.end, self._earned(self.state.day), settings)
        self._new_day = len(self.movements), -self.state.loan
        self.apply(day.begin, today, settings)

    def _today(self) -> str:
        return self.desk.settings.schedule.day_of(self.desk.now).isoformat()

    def _earned(self, on_day: str) -> int:
        if self.state.purse == self.state.old_stake:  # no earned time is left
            return 0
        return reading.earned_on(self.desk, self.caller_id, on_day, self.account)

    def day_end(self) -> tuple[int, int]:
        """Return how many seconds expire and how many the bank takes, if the day ends now.

        A guest has no day.
        """
        if self.visit is not None or self.state.day is None:
            return 0, 0
        earned = self.state.carried if self.day_begins else self._earned(self.state.day)
        legs = day.end(self.state, earned, self.desk.settings).legs
        expiring, saved = (
            sum(leg.amount for leg in legs if leg.target == target)
            for target in ("forfeit", "bank")
        )
        return expiring, saved

    # The operation's own movements.

    def move(
        self, source: Account | str, target: Account | str, amount: int, reason: Reason
    ) -> None:
        """Move an amount, which may be zero; a kind names the caller's account of time."""
        if amount == 0:
            return
        source = self.account[source] if isinstance(source, str) else source
        target = self.account[target] if isinstance(target, str) else target
        if source.unit == "second":
            self.state = self.state.after(source.kind, target.kind, amount)
        elif self.play is not None:
            self.play.move(source.kind, target.kind, amount)
        self._add(source, target, amount, reason)

    def hand_over(self, target: Account, amount: int, reason: Reason) -> None:
        """Move time from the bank to another caller's account."""
        self.state = self.state._replace(bank=self.state.bank - amount)
        self._add(self.account["bank"], target, amount, reason)

    def _add(self, source: Account, target: Account, amount: int, reason: Reason) -> None:
        if self.visit is not None:
            self.visit = self.visit.after(source.kind, target.kind, amount)
        # Time that an event cuts off during a hand for play money is not part of the hand.
        is_of_hand = self.play is None or source.unit != "second"
        round_id = self.round_id if is_of_hand else None
        self.movements.append(Movement(source, target, amount, reason, self.call_id, round_id))

    def set_round(self, round_id: int | None) -> None:
        """Set the hand of the following movements; None for no hand."""
        self.round_id = round_id

    def use_play_money(self, unit: Unit) -> PlayAccounts:
        """Read the caller's accounts in a unit of play money, so that the entry can move it."""
        self.play = PlayAccounts(self.desk, self.caller_id, unit)
        return self.play

    def count_turn(self, game: str) -> None:
        turns = self.state.turns
        self.state = self.state._replace(turns={**turns, game: turns.get(game, 0) + 1})

    def check_may_bet(self, amount: int) -> None:
        """Raise `Refused` for a caller who waits for the sysop's approval.

        Raise `OwnLimit` if the caller's own limits refuse a stake of `amount` seconds, 0 for play
        money.
        """
        own, desk = self.state.own, self.desk
        if self.state.waits:
            raise Refused(Phrase(WAITS))
        if own is not None:
            own.refuse(amount, self.state.stake, desk.now, desk.settings.schedule)

    def count_loss(self, amount: int) -> None:
        """Count a loss in seconds against the caller's own limit; negative for a win."""
        own = self.state.own
        if own is not None:
            self.state = self.state._replace(own=own._replace(lost=own.lost + amount))

    def savable(self) -> int:
        """Return how many seconds of a guest's purse may be saved here."""
        assert self.visit is not None  # called for guests alone
        debt = debt_of(self.desk, self.caller_id, self.visit.debt_day(self.state.day or ""))
        return self.visit.savable(self.state.purse, self.state.charged, debt)

    def after_write(self, write: Callable[[tuple[TransferRow, ...]], None]) -> None:
        self._after_write.append(write)

    # The end.

    def finish(self, winnings: int = 0, source: str = "", ended_round: int = 0) -> Receipt:
        """Pay the loan's share, clamp, write the entry and return the receipt.

        `winnings` are the seconds won in this entry. The loan takes its share of them first. If the
        caller's time reaches past the next event, the event cuts off what is left of them before
        other time. A guest's winnings beyond `savable` count as other time. `source` is their game,
        for the record in THEBANK.EXT. `ended_round` is the hand that ends with the entry, 0 for
        none.
        """
        if winnings and self.visit is not None:
            winnings = min(winnings, self.savable())
        if winnings:
            owed = self.state.loan
            self.apply(day.pay_loan_share, winnings, None, self.desk.settings)
            winnings -= self.state.loan - owed
        if self._leave is not None:
            self._leave(self)
        self.apply(cutoff.clamp, self.desk.now, self.desk.settings, winnings, source)
        play = None if self.play is None else self.play.snapshot()
        remarks, awards = tuple(self._remarks), tuple(self.awards)
        return Receipt(self._purse(), self.write(), play, remarks, ended_round, awards)

    def _purse(self) -> Purse:
        state = self.state
        return Purse(
            *(state.online, state.held, state.bank, state.stake, state.loan, state.ticked),
            day=date.fromisoformat(state.day or self._today()),
            closing=None if state.event is None else state.event.period,
            turns=dict(state.turns),
            waits=state.waits,
            **({} if state.own is None else state.own.purse_fields(state.stake)),
        )

    def write(self) -> tuple[TransferRow, ...]:
        books, state, begun = self.desk.connection, self.state, self._begun
        rows = transfer(self.desk, self.movements, self._head)
        if state.ticked != begun.ticked:
            spent = {"ticked": state.ticked, "charged": state.charged, "waived": state.waived}
            _CHARGE.defer(books, **spent, id=self.call_id)
        held = {"held_until": state.held_until, "held_behind": state.held_behind}
        if (state.day, *held.values()) != (begun.day, begun.held_until, begun.held_behind):
            _DATE.defer(books, day=state.day, **held, id=self.caller_id)
        self._write_day(rows)
        if self.visit is not None and self.visit != self._begun_visit:
            self.visit.write(self.desk, state.charged)
        for write in self._after_write:
            write(rows)
        for index, source in self._outbox:
            row, at = rows[index], stamp(self.desk.now)
            minutes = row.amount // MINUTE
            _SEND.defer(
                books, number=row.number, name=self.name, minutes=minutes, source=source, at=at
            )
        return rows

    def _write_day(self, rows: tuple[TransferRow, ...]) -> None:
        """Write the day that begins, or the changed rest of an earlier day's stake."""
        books, state = self.desk.connection, self.state
        if self._new_day is None and state.old_stake == self._begun.old_stake:
            return
        values = {"caller_id": self.caller_id, "day": state.day, "standing": state.old_stake}
        if self._new_day is None:
            _SETTLE_DAY.defer(books, **values, gone=state.carried)
            return
        begins, owed = self._new_day
        granted = [row.number for row in rows[begins:] if row.kind == "grant"]
        _ADD_DAY.defer(
            books,
            **values,
            after=rows[0].number + begins - 1 if rows else _LAST.one(books),
            grant_id=granted[0] if granted else None,
            carried=state.carried,
            owed=owed,
        )


def enter(desk: Desk, call_id: int, ticked: int) -> Posting:
    """Begin the entry of an open call: charge used time, change the day, release held time.

    `ticked` is the call's time since log-on in seconds. Raises `CallClosed`.
    """
    posting = Posting.of_call(desk, call_id)
    posting.apply(day.charge, ticked)
    posting.change_day()
    posting.apply(cutoff.release, desk.settings)
    return posting
