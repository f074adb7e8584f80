"""Faults that are put into the program one at a time: the simulation must find each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from types import SimpleNamespace
from typing import Any

import pytest

from door.call import purse
from door.call.board import Board
from door.call.caller import Caller
from door.call.purse import TickingPurse
from door.games.baccarat.events import BaccaratSettled
from door.games.engine.game import Act
from door.session import arrival
from door.tables.baccarat.table import BaccaratTable
from door.tables.black_jack_for_time import words
from door.tables.fairness import Fairness
from door.tables.play import Play, Step
from door.tables.solo_table import SoloTable
from door.tables.unix_bj import teletype
from door.tables.vegas import words as vegas_words
from timebank import files
from timebank.callers import hand_totals
from timebank.callers.hand_counts import EndedHand
from timebank.calls import arrival as hosts
from timebank.calls import calls, clock_mend
from timebank.calls.clock import BelievedClock
from timebank.errors import BooksUnavailable
from timebank.guests import claims
from timebank.keeping import restored_books
from timebank.ledger import schema
from timebank.ledger.database import Desk, Reply, Writer
from timebank.ledger.entries import cutoff, day
from timebank.ledger.entries.posting import Posting
from timebank.ledger.entries.state import CallerState, Leg, Ruling, move
from timebank.ledger.reasons import Granted, LoanShare, Used
from timebank.ledger.sqlite import dialect as sqlite
from timebank.ledger.sqlite import live_mark
from timebank.ledger.visit import HostSession
from timebank.settings.settings import BankSettings
from timebank.thebank import bookings, outbox
from timebank.wagers.rounds import FIRST_SEAT
from timebank.wagers.wagers import Played
from timebank.window.teller import BankOperation
from timebank.words import MINUTE
from verify.simulate import faults_below, faults_company, faults_handed


def shows_what_is_not_durable(patch: pytest.MonkeyPatch) -> None:
    """A table that draws the next card although the books could not be written."""
    real = Play.act

    async def act(self: Play, move: Act, stake: int, stake_kind: str) -> Step:
        try:
            return await real(self, move, stake, stake_kind)
        except BooksUnavailable:
            hand = self.hand
            assert hand is not None
            after, events = self.kind.act(self.round, move)
            played = Played(hand.lead, {FIRST_SEAT: self.caller.opened.receipt}, {})
            return self._adopt(Step(hand._replace(round=after), events, played))

    patch.setattr(Play, "act", act)


def shows_the_seed_too_early(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Play, "is_shoe_done", property(lambda self: self.shoe is not None))


def takes_a_seed_for_that_of_another_shoe(patch: pytest.MonkeyPatch) -> None:
    """A page of fair cards on which the last seed belongs to the seal of the shoe to come."""

    def fairness(self: SoloTable) -> Fairness:
        seal = self.play.shoe.seal if self.play.shoe else ""
        return Fairness(seal, self.scene.seed, self.scene.cut)

    patch.setattr(SoloTable, "_fairness", fairness)


def lets_time_reach_past_an_event(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(cutoff, "clamp", lambda state, *_: Ruling(state))


def charges_more_than_has_passed(patch: pytest.MonkeyPatch) -> None:
    real = TickingPurse.ticked
    patch.setattr(TickingPurse, "ticked", lambda self: real(self) * 21 // 20)


def shows_more_time_than_there_is(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(TickingPurse, "time_left", lambda self: self.spendable() + 1)


def begins_to_charge_a_second_late(patch: pytest.MonkeyPatch) -> None:
    real = purse.seconds_begun
    patch.setattr(purse, "seconds_begun", lambda elapsed: real(max(0.0, elapsed - 1)))


def leaves_calls_open(patch: pytest.MonkeyPatch) -> None:
    async def close_call(self: Board, caller: Caller, reason: str) -> None:
        caller.ended.set()

    patch.setattr(Board, "close_call", close_call)


def answers_although_nothing_was_committed(patch: pytest.MonkeyPatch) -> None:
    real = Writer._commit

    def commit(self: Writer, group: list[Any]) -> list[Reply]:
        answers = real(self, group)
        return [Reply(each.ticket, None, None) if each.error else each for each in answers]

    patch.setattr(Writer, "_commit", commit)


def gives_back_twice(patch: pytest.MonkeyPatch) -> None:
    """A claim that the next visit can make again."""
    real = claims.take_claim

    def take_claim(desk: Desk, call_id: int) -> claims.Claim | None:
        claimed = real(desk, call_id)
        desk.connection.exec_driver_sql(
            "UPDATE given_back SET state = 'waiting' WHERE state = 'writing'"
        )
        return claimed

    patch.setattr(claims, "take_claim", take_claim)


def forgets_debts(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(hosts, "debt_of", lambda desk, caller_id, day: 0)


def saves_the_minutes_of_hosts(patch: pytest.MonkeyPatch) -> None:
    """A window that accepts deposits of brought minutes."""
    patch.setattr(HostSession, "savable", lambda self, purse, charged, debt: purse)


def forgets_the_events_of_hosts(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(arrival, "_until", lambda understood, now: None)


def lets_guests_stay_on(patch: pytest.MonkeyPatch) -> None:
    """A purse that does not know when its caller's host wants them back."""
    real = TickingPurse.__post_init__

    def forget_limit(self: TickingPurse) -> None:
        real(self)
        self.limit = None

    patch.setattr(TickingPurse, "__post_init__", forget_limit)


def applies_records_twice(patch: pytest.MonkeyPatch) -> None:
    real = bookings._apply

    def apply(*parts: Any) -> tuple[int, int]:
        real(*parts)
        return real(*parts)

    patch.setattr(bookings, "_apply", apply)


def passes_on_twice(patch: pytest.MonkeyPatch) -> None:
    """A record reaches the other bank in two copies; other files are correct."""
    twice = SimpleNamespace(**vars(files))
    twice.write_all = lambda file, data: files.write_all(file, data + data)
    patch.setattr(outbox, "files", twice)


def grants_a_day_twice(patch: pytest.MonkeyPatch) -> None:
    """A log-on that grants our own callers the same day again."""
    real = Posting.change_day

    def change_day(self: Posting) -> None:
        real(self)
        begins = self.call_id is not None and not self.state.ticked and not self.day_begins
        if begins and self.visit is None:
            self.move("allotment", "online", MINUTE, Granted(self.state.day or ""))

    patch.setattr(Posting, "change_day", change_day)


def loses_what_is_moved(patch: pytest.MonkeyPatch) -> None:
    """Table losses that leave the stake and arrive nowhere: the sums are not zero."""
    name = "transfers_move_balances"
    arrives = "WHERE id = NEW.target"
    lost = sqlite.TRIGGERS[name].replace(arrives, f"{arrives} AND NEW.kind <> 'lost'")
    patch.setitem(sqlite.TRIGGERS, name, lost)


def charges_what_nobody_has(patch: pytest.MonkeyPatch) -> None:
    """Time left below zero, in books that would allow it."""
    checks = {rule for rule in schema.accounts.constraints if rule.name != "never_negative"}
    patch.setattr(schema.accounts, "constraints", checks)

    def charge(state: CallerState, ticked: int) -> Ruling:
        due = ticked - state.ticked
        if due <= 0:
            return Ruling(state)
        state = state._replace(ticked=ticked, charged=state.charged + due)
        return move(state, Leg("online", "elapsed", due, Used(state.node)))

    patch.setattr(day, "charge", charge)


def lets_a_caller_on_twice(patch: pytest.MonkeyPatch) -> None:
    """A second log-on that misses the first, in books that would allow it."""
    rules = {rule for rule in schema.calls.indexes if rule.name != "one_open_call_a_caller"}
    patch.setattr(schema.calls, "indexes", rules)
    nobody = SimpleNamespace(first=lambda connection, caller_id: None)
    patch.setattr(calls, "_LEASE", nobody)


def _with_a_coin_more(result: Callable[[int, int], str]) -> Callable[[int, int], str]:
    return lambda net, coin: result(net + coin if net > 0 else net - coin, coin)


def tells_more_than_was_won(patch: pytest.MonkeyPatch) -> None:
    """A dealer at Black Jack For Time who announces a coin more than is paid."""
    patch.setattr(words, "result_sentence", _with_a_coin_more(words.result_sentence))


def tells_more_than_was_won_at_vegas(patch: pytest.MonkeyPatch) -> None:
    """A dealer at Vegas who announces a coin more, in sentences and at the seats."""
    wrong = _with_a_coin_more(vegas_words.result_sentence)
    patch.setattr(vegas_words, "result_sentence", wrong)
    more = SimpleNamespace(**vars(vegas_words.wording))
    number = vegas_words.wording.coin_number
    more.coin_number = lambda amount, coin: number(amount + coin, coin)
    patch.setattr(vegas_words, "wording", more)


def prints_another_result(patch: pytest.MonkeyPatch) -> None:
    """A teletype that prints two dollars less than a hand came to."""
    real = teletype._result
    patch.setattr(teletype, "_result", lambda dollars: real(dollars - 2))


def counts_a_coup_twice(patch: pytest.MonkeyPatch) -> None:
    """A painted baccarat table with a sitting that differs from its coups."""
    real = BaccaratTable._show_event

    def happen(self: BaccaratTable, event: Any) -> None:
        if isinstance(event, BaccaratSettled):
            self.betting.tally.net += event.won - event.lost
        real(self, event)

    patch.setattr(BaccaratTable, "_show_event", happen)


def says_done_where_nothing_was_done(patch: pytest.MonkeyPatch) -> None:
    """A bank's window that confirms deposits, withdrawals and loans without booking them."""

    def touch(_: BankOperation, desk: Desk, call_id: int, ticked: int, _seconds: int) -> object:
        return calls.touch(desk, call_id, ticked)

    patch.setattr(BankOperation, "__call__", touch)


def takes_copies_for_the_books(patch: pytest.MonkeyPatch) -> None:
    """A board that goes on with any file in place of its books."""
    patch.setattr(live_mark, "mismatch", lambda connection, note, path: None)


def gives_numbers_again(patch: pytest.MonkeyPatch) -> None:
    """A restore after which numbers continue from those of the copy."""
    patch.setattr(restored_books, "prior_by_note", lambda path: restored_books.PriorBooks())
    patch.setattr(restored_books, "prior_by_file", lambda old, path: restored_books.PriorBooks())


def leaves_chains_open(patch: pytest.MonkeyPatch) -> None:
    """A restore after which shoes come from chains that may have been shown further."""
    patch.setattr(restored_books, "_CLOSE_CHAINS", lambda *_, **__: None)


def leaves_shoes_open(patch: pytest.MonkeyPatch) -> None:
    """A restore that closes everything but the shoes."""
    real = restored_books.settle_copy

    def settle_copy(desk: Desk, *parts: Any) -> restored_books.SettledCopy:
        run = desk.connection.exec_driver_sql
        open_shoes = run("SELECT id FROM shoes WHERE closed IS NULL").all()
        settled_copy = real(desk, *parts)
        for (number,) in open_shoes:
            run(f"UPDATE shoes SET closed = NULL WHERE id = {number}")
        return settled_copy

    patch.setattr(restored_books, "settle_copy", settle_copy)


def believes_every_leap(patch: pytest.MonkeyPatch) -> None:
    """A board that trusts the wall clock at any time."""
    patch.setattr(BelievedClock, "now", lambda self: self.instruments.now())


def mends_nothing(patch: pytest.MonkeyPatch) -> None:
    """A command that claims to have mended a wrong clock's work, and has not."""
    patch.setattr(clock_mend, "_take_back", lambda desk, each: None)


def rounds_a_loan_share_up(patch: pytest.MonkeyPatch) -> None:
    def pay(state: CallerState, amount: int, of_day: str | None, settings: BankSettings) -> Ruling:
        share = min(-state.loan, -(-amount * settings.limits.loan_share // 100))
        return move(state, Leg("online", "loan", share, LoanShare(of_day)))

    patch.setattr(day, "pay_loan_share", pay)


def releases_more_than_can_be_used(patch: pytest.MonkeyPatch) -> None:
    """Held time that returns despite the next event; the excess is held again."""
    real = cutoff.release

    def release(state: CallerState, settings: BankSettings) -> Ruling:
        event = state.event
        later = None if event is None else event._replace(seconds=event.seconds + 86_400)
        ruling = real(state._replace(event=later), settings)
        return ruling._replace(state=ruling.state._replace(event=event))

    patch.setattr(cutoff, "release", release)


def releases_nothing(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(cutoff, "release", lambda state, _: Ruling(state))


def cuts_off_winnings_last(patch: pytest.MonkeyPatch) -> None:
    """An event that holds the callers' own minutes first and takes winnings last."""
    real = cutoff.clamp

    def clamp(
        state: CallerState,
        now: datetime,
        settings: BankSettings,
        winnings: int = 0,
        source: str = "",
    ) -> Ruling:
        surplus = 0 if state.limit is None else state.online - state.limit
        last = min(winnings, max(0, surplus - state.online + winnings))
        return real(state, now, settings, last, source)

    patch.setattr(cutoff, "clamp", clamp)


def returns_the_stake_of_an_earlier_day(patch: pytest.MonkeyPatch) -> None:
    """A stake that saves the minutes of a day from its end."""
    patch.setattr(day, "end_old_stake", lambda state, returned: Ruling(state))


def forfeits_what_was_earned_on_the_table(patch: pytest.MonkeyPatch) -> None:
    """A day's end that takes a stake for minutes of its grant, despite earnings."""
    real = day.end

    def end(state: CallerState, earned: int, settings: BankSettings) -> Ruling:
        ruling = real(state, earned, settings)
        return ruling._replace(state=ruling.state._replace(old_stake=state.stake, carried=0))

    patch.setattr(day, "end", end)


def banks_what_a_frozen_caller_earned(patch: pytest.MonkeyPatch) -> None:
    """A frozen account that takes in earnings, and winnings cut by an event."""
    for rules in (cutoff, day):
        patch.setattr(rules, "must_stay_in_purse", lambda state, settings: False)


def counts_no_hand_that_is_won(patch: pytest.MonkeyPatch) -> None:
    """Running totals that omit hands that were won."""
    real = hand_totals.count

    def count(desk: Desk, totals_ever: str | None, hand: EndedHand) -> None:
        real(desk, totals_ever, hand)
        desk.connection.exec_driver_sql("UPDATE results_ever SET hands_won = 0")

    patch.setattr(hand_totals, "count", count)


try:
    from verify.simulate import faults_served
except ModuleNotFoundError:  # an extra reaches a server
    _SERVED: dict[Callable[[pytest.MonkeyPatch], None], int] = {}
else:
    _SERVED = faults_served.FAULTS

# With the first seed of each search: a seed that detects it soon saves the others.
_FAULTS: dict[Callable[[pytest.MonkeyPatch], None], int] = {
    shows_what_is_not_durable: 34,
    shows_the_seed_too_early: 1,
    takes_a_seed_for_that_of_another_shoe: 7,
    lets_time_reach_past_an_event: 1,
    charges_more_than_has_passed: 1,
    shows_more_time_than_there_is: 1,
    begins_to_charge_a_second_late: 1,
    leaves_calls_open: 1,
    answers_although_nothing_was_committed: 1,
    applies_records_twice: 13,
    passes_on_twice: 5,
    grants_a_day_twice: 2,
    loses_what_is_moved: 2,
    charges_what_nobody_has: 1,
    lets_a_caller_on_twice: 8,
    tells_more_than_was_won: 1,
    tells_more_than_was_won_at_vegas: 1,
    prints_another_result: 1,
    counts_a_coup_twice: 13,
    says_done_where_nothing_was_done: 9,
    takes_copies_for_the_books: 2,
    gives_numbers_again: 2,
    leaves_chains_open: 2,
    leaves_shoes_open: 2,
    believes_every_leap: 43,
    mends_nothing: 18,
    rounds_a_loan_share_up: 13,
    releases_more_than_can_be_used: 3,
    releases_nothing: 1,
    cuts_off_winnings_last: 2,
    returns_the_stake_of_an_earlier_day: 8,
    forfeits_what_was_earned_on_the_table: 35,
    counts_no_hand_that_is_won: 1,
}

# Faults of other boards' callers, most frequent where doors hand over most of them.
_OF_GUESTS: dict[Callable[[pytest.MonkeyPatch], None], int] = {
    gives_back_twice: 4,
    forgets_debts: 1,
    saves_the_minutes_of_hosts: 19,
    forgets_the_events_of_hosts: 1,
    lets_guests_stay_on: 5,
    **faults_handed.FAULTS,
}

_OF_SAVERS: dict[Callable[[pytest.MonkeyPatch], None], int] = {
    banks_what_a_frozen_caller_earned: 41,
}


@dataclass(frozen=True)
class Fault:
    """A fault, the first seed of its search, and the size of its story."""

    put: Callable[[pytest.MonkeyPatch], None]
    first: int
    steps: int = 150  # a fault not detected by then is sooner detected by another seed
    people: int = 30
    is_below: bool = False  # only the simulated disk can bring it out
    is_served: bool = False  # only a server can, which the books are on
    is_company: bool = False  # whether callers have company
    is_relayed: bool = False  # whether doors hand callers over
    is_saving: bool = False  # whether callers use the bank over midnights


FAULTS = {
    **{put.__name__: Fault(put, first) for put, first in _FAULTS.items()},
    **{
        put.__name__: Fault(put, first, people=30, is_relayed=True)
        for put, first in _OF_GUESTS.items()
    },
    **{
        put.__name__: Fault(put, first, steps=120, people=12, is_below=True)
        for put, first in faults_below.FAULTS.items()
    },
    **{
        put.__name__: Fault(put, first, steps=150, people=24, is_company=True)
        for put, first in faults_company.FAULTS.items()
    },
    **{
        put.__name__: Fault(put, first, steps=150, people=24, is_served=True)
        for put, first in _SERVED.items()
    },
    **{
        put.__name__: Fault(put, first, steps=60, people=16, is_saving=True)
        for put, first in _OF_SAVERS.items()
    },
}


# Faults that concern only books in a file, or name what a server words differently.
OF_A_FILE = frozenset({"loses_what_is_moved", "takes_copies_for_the_books", "gives_numbers_again"})


@contextmanager
def put_in(name: str) -> Iterator[None]:
    """Run the program with a fault."""
    with pytest.MonkeyPatch.context() as patch:
        FAULTS[name].put(patch)
        yield
