"""The nightly work on the books, as RMU did it for RATS (its documents of 1990: "run nightly").

It closes calls of dead processes, stands hands that nobody returned to, settles a finished
tournament, closes empty accounts of callers who are gone, removes deleted callers, deletes old
notices, messages and log lines, and compares running totals with the hands. It never deletes
transfers, hands or shoes. Every step is a transaction of its own, so the work may be done at any
time and repeated, also while the board serves. While the clock is in doubt (clock.py) only calls
are closed, because the other steps cannot be undone.

The time bank knows no games. The board registers two entry points. A function of the group STAND
takes a desk and a `StoredRound`, and settles the hand through `wagers.stand`. A function of the
group WEIGH takes a contest and the decisions of a try, and returns their cost.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import date, timedelta
from importlib.metadata import entry_points
from typing import Any, NamedTuple

from sqlalchemy import Column, Table, bindparam, delete, exists, func, select

from timebank.callers import callers as records
from timebank.callers import hand_totals, sysop_log
from timebank.calls import clock, clock_mend
from timebank.calls.calls import close_dead_calls
from timebank.errors import CallerOnline, JournalDamaged, Refused, UnknownCaller
from timebank.guests.departure import leave_without_call
from timebank.keeping import deletion
from timebank.ledger import schema
from timebank.ledger.database import Desk
from timebank.ledger.entries.posting import Posting
from timebank.ledger.schema import (
    accounts,
    callers,
    given_back,
    messages,
    notices,
)
from timebank.ledger.sql import (
    Prepared,
    Query,
    Reader,
    among,
    fields_of,
    read,
    value,
)
from timebank.names import names
from timebank.settings.settings import Retention
from timebank.wagers import contests, duels, journal, tournaments
from timebank.wagers.contests import Contest
from timebank.wagers.journal import StoredRound

STAND = "timebank.stand"
WEIGH = "timebank.weigh"
BY = "maintain"
ROWS_PER_TRANSACTION = 200  # takes about 2 ms

Stand = Callable[[Desk, StoredRound], None]
Weigh = Callable[[Contest, Sequence[str]], int]
# Opens the books for one transaction.
Work = Callable[[], AbstractContextManager[Desk]]


@dataclass(frozen=True)
class Maintained:
    """The work done: numbers of calls and hands, names of callers, counts of deleted rows.

    `left` has a sentence for each overdue hand that could not be stood.
    """

    calls: tuple[int, ...]
    stood: tuple[int, ...]
    left: tuple[str, ...]
    closed: tuple[str, ...]
    notices: int
    log_lines: int
    # Sentences about a wrong clock that prevented some of the work.
    held_up: tuple[str, ...] = ()
    # Deleted messages between callers.
    messages: int = 0
    # The day of the settled tournament.
    tournament: date | None = None
    duels: int = 0
    # Names of deleted callers who cannot be brought back any more.
    removed: tuple[str, ...] = ()

    def sentences(self) -> tuple[str, ...]:
        sentences = [f"Closed call {number}, whose process is gone." for number in self.calls]
        sentences += [f"Stood hand {number}, to which nobody returned." for number in self.stood]
        sentences += self.left
        if self.tournament is not None:
            sentences.append(f"Settled the tournament of {self.tournament}.")
        if self.duels:
            sentences.append(f"Ended {self.duels} duel{'' if self.duels == 1 else 's'}.")
        sentences += [
            f"Closed the account of {name}, empty and not used any more." for name in self.closed
        ]
        sentences += [f"Removed {name}, who was deleted, and their time." for name in self.removed]
        for count, what in (
            (self.notices, "notice"),
            (self.messages, "message"),
            (self.log_lines, "line"),
        ):
            if count:
                where = " of the sysop's log" if what == "line" else " that callers have read"
                sentences.append(f"Forgot {count} old {what}{'' if count == 1 else 's'}{where}.")
        return (*sentences, *self.held_up)


IN_DOUBT = (
    "The clock is far ahead of the books, so no hand was stood, no account closed and nothing"
    " deleted. This happens once the clock is certain; see `timebank clock`."
)


def maintain(work: Work, look: Work, stand: Stand | None, weigh: Weigh | None = None) -> Maintained:
    """Do all of the nightly work once. `stand` and `weigh` are None where no board is installed.

    `look` opens a desk that only reads, and blocks no writer.
    """
    with work() as desk:
        closed_calls = tuple(close_dead_calls(desk))
    with look() as desk:
        held_up = _clock_problems(desk)
    if IN_DOUBT in held_up:
        return Maintained(closed_calls, (), (), (), 0, 0, held_up)
    stood, left = _stand_overdue(work, look, stand)
    tournament = _settle_tournament(work, weigh)
    ended = _settle_duels(work, weigh)
    removed, closed = _remove_deleted(work, look), _close_accounts(work, look)
    # Notices and messages that were not shown yet are never deleted.
    read, written, log_lines = (_forget(work, look, old) for old in (NOTICES, MESSAGES, LOG))
    return Maintained(
        *(closed_calls, stood, left, closed, read, log_lines, held_up, written, tournament, ended),
        removed,
    )


def _clock_problems(desk: Desk) -> tuple[str, ...]:
    problems = [] if clock.is_certain(desk) else [IN_DOUBT]
    ahead = clock_mend.callers_ahead(desk)
    if ahead:
        whom = "1 caller" if len(ahead) == 1 else f"{len(ahead)} callers"
        problems.append(f"A wrong clock has begun later days for {whom}: see `timebank clock`.")
    return tuple(problems)


def count_results(work: Work, look: Work) -> int:
    """Correct running totals and awards that differ from the hands. Return how many were wrong.

    Reads every hand at `look`, a desk that blocks no writer.
    """
    with look() as desk:
        wrong = hand_totals.differing(desk)
    for caller_id in dict.fromkeys(each.caller_id for each in wrong):
        with work() as desk:
            hand_totals.mend(desk, caller_id)
    return len(wrong)


def installed_weigh() -> Weigh | None:
    """Return the board's function that weighs a try, None if no board is installed."""
    functions: list[Weigh] = [point.load() for point in entry_points(group=WEIGH)]
    return functions[0] if functions else None


def _settle_tournament(work: Work, weigh: Weigh | None) -> date | None:
    """Settle the finished tournament, and return its day.

    Returns None if there is none, or if tries must be weighed and `weigh` is None.
    """
    with work() as desk:
        found = tournaments.running(desk) if tournaments.is_due(desk) else None
        tries = [] if found is None else contests.unweighed(desk, found.seal)
    for each in tries:
        if weigh is None or found is None:
            return None
        cost = weigh(found, each.acts)
        with work() as desk:
            contests.weigh(desk, found.seal, each.caller_id, cost)
    with work() as desk:
        settled = tournaments.settle(desk)
    return None if settled is None else settled.day


def _settle_duels(work: Work, weigh: Weigh | None) -> int:
    """Settle the duels that are due, and return their number."""
    with work() as desk:
        due = [(each, contests.unweighed(desk, each.seal)) for each in duels.due(desk)]
    ended = 0
    for duel, tries in due:
        costs = {} if weigh is None else {each: weigh(duel, each.acts) for each in tries}
        with work() as desk:
            for each, cost in costs.items():
                contests.weigh(desk, duel.seal, each.caller_id, cost)
            settled = duels.settle(desk, duel.seal)
        ended += settled is not None and settled.outcome is not None
    return ended


def installed_stand() -> Stand | None:
    """Return the board's function that stands a hand, None if no board is installed."""
    functions: list[Stand] = [point.load() for point in entry_points(group=STAND)]
    return functions[0] if functions else None


def _stand_overdue(
    work: Work, look: Work, stand: Stand | None
) -> tuple[tuple[int, ...], tuple[str, ...]]:
    with look() as desk:
        overdue = journal.overdue_round_numbers(desk)
        readable = {stored.id: stored for stored in journal.overdue_rounds(desk)}
    stood: list[int] = []
    left: list[str] = []
    for number in overdue:
        why = "its journal is damaged"
        if number in readable:
            why = _stand_one(work, stand, readable[number])
        if why:
            left.append(f"Hand {number} is overdue and was left: {why}.")
        else:
            stood.append(number)
    return tuple(stood), tuple(left)


def _stand_one(work: Work, stand: Stand | None, stored: StoredRound) -> str:
    """Stand a hand in a transaction of its own. Return the reason if it fails, else ""."""
    if stand is None:
        return "no board is installed that knows its game"
    try:
        with work() as desk:
            stand(desk, stored)
    except (Refused, JournalDamaged) as error:
        return str(error).rstrip(".")
    return ""


def _remove_deleted(work: Work, look: Work) -> tuple[str, ...]:
    with look() as desk:
        before = _days_ago(desk, desk.settings.keep_days)
        due = [each for each in deletion.hidden(desk) if each.deleted <= before]
    removed: list[str] = []
    for each in due:
        with work() as desk:
            if each in deletion.hidden(desk):  # nobody has brought them back since
                deletion.remove(desk, each.id)
                removed.append(each.name)
    return tuple(removed)


class _Gone(NamedTuple):
    """A caller who is gone. `last` is their last call or registration, in seconds since 1970."""

    id: int
    name: str
    fold: str
    last: int


def _gone_callers() -> Query:
    """Select callers who are gone and have nothing outside their last day.

    A bankroll or a tab keeps an account open; the casino's side does not. An act of the sysop
    counts like a call. Locked and frozen callers stay, or they could register again.
    """
    who, own, log = callers.c, accounts.c, schema.sysop_log.c
    last = func.coalesce(who.last_call, who.created)
    of_day = own.kind.in_(["online", "held", "casino"])
    waits = given_back.c.state.not_in(["written", "kept"])
    return (
        fields_of(_Gone, callers, last=last)
        .where(who.deleted.is_(None), who.locked == 0, who.frozen == 0, who.powers == 0)
        .where(last < bindparam("since"))
        .where(~exists().where(own.caller_id == who.id, own.balance != 0, ~of_day))
        .where(~exists().where(given_back.c.caller_id == who.id, waits))
        .where(~exists().where(log.caller_id == who.id, log.at >= bindparam("since")))
        .order_by(who.id)
    )


_GONE = read(_Gone, _gone_callers)


def _close_accounts(work: Work, look: Work) -> tuple[str, ...]:
    """Close the accounts of callers who are gone and have nothing.

    The rest of their last day's grant does not count, because the next day would forfeit it. Earned
    seconds keep the account open.
    """
    with look() as desk:
        settings = desk.settings
        people = (settings.sysop, *settings.barred, *settings.co_sysops)
        protected = {names.fold(name) for name in people}
        since = _days_ago(desk, desk.settings.retention.gone)
        gone = [
            each
            for each in _GONE.all(desk.connection, since=since)
            if each.fold not in protected and not _has_earned(desk, each.id)
        ]
    closed: list[str] = []
    for each in gone:
        try:
            with work() as desk:
                record = records.get(desk, each.id)
                if schema.stamp(record.last_call or record.created) != each.last:
                    continue
                deletion.delete(desk, each.id)
                day = desk.settings.schedule.day_of(schema.instant(each.last))
                what = f"Closed the account, empty and not used since {day}"
                sysop_log.note(desk, BY, each.id, what)
        except (CallerOnline, UnknownCaller):  # the caller is online, or was deleted since
            continue
        closed.append(each.name)
    return tuple(closed)


def _has_earned(desk: Desk, caller_id: int) -> bool:
    """Return whether the bank takes something when the caller's last day ends."""
    _, saved = Posting.of_caller(desk, caller_id, leave_without_call).day_end()
    return saved > 0


class _Old(NamedTuple):
    """Rows to delete some days after an instant of theirs."""

    days: Callable[[Retention], int]
    find: Reader[int]
    forget: Prepared


def _old(table: Table, at: Column[Any], days: Callable[[Retention], int]) -> _Old:
    number = table.c.id
    return _Old(
        days,
        value(lambda: select(number).where(at < bindparam("before")).order_by(number)),
        Prepared(lambda: delete(table).where(among(number, "numbers"))),
    )


NOTICES = _old(notices, notices.c.shown, lambda retention: retention.notices)
MESSAGES = _old(messages, messages.c.shown, lambda retention: retention.notices)
LOG = _old(schema.sysop_log, schema.sysop_log.c.at, lambda retention: retention.log)


def _forget(work: Work, look: Work, old: _Old) -> int:
    """Delete old rows, and return how many.

    The rows are found first and then deleted by number, so that no writing transaction takes long.
    """
    with look() as desk:
        before = _days_ago(desk, old.days(desk.settings.retention))
        numbers = old.find.all(desk.connection, before=before)
    for first in range(0, len(numbers), ROWS_PER_TRANSACTION):
        with work() as desk:
            some = json.dumps(numbers[first : first + ROWS_PER_TRANSACTION])
            old.forget(desk.connection, numbers=some)
    return len(numbers)


def _days_ago(desk: Desk, days: int) -> int:
    return schema.stamp(desk.now - timedelta(days=days))
