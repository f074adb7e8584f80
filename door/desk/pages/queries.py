"""The queries of the pages: each page reads one snapshot of the books, without the writer."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from door.desk.pages.spans import Span
from door.games import hand_check as hands
from door.games import proofs
from door.games.registry import GAMES
from door.games.rounds import the_hand
from door.tables import film
from timebank.callers import callers
from timebank.calls.calls import OpenCall, open_calls
from timebank.calls.clock import BelievedClock
from timebank.errors import UnknownCaller
from timebank.keeping import deletion, events, last_runs, restored_books
from timebank.keeping.last_runs import LastAudit, LastCopy
from timebank.keeping.warnings import free_bytes, warnings
from timebank.ledger import early_events, transfers
from timebank.ledger.machine import Instruments
from timebank.ledger.schema import CALLER_ACCOUNTS, instant, stamp
from timebank.names import names
from timebank.reports import (
    exports,
    extracts,
    house,
    ledger_pages,
    person,
    roster,
    statements,
    summary,
)
from timebank.reports import flows as flow_data
from timebank.reports import plots as plot_data
from timebank.reports.beancount import some_as_beancount
from timebank.reports.ledger_pages import Leaf, LedgerTally, Sought
from timebank.window.teller import TO_OTHERS
from timebank.words import Unit
from timebank.words import title as title_of

if TYPE_CHECKING:
    from door.config.config import Config
    from timebank.callers.callers import CallerRecord
    from timebank.ledger.database import Database, Desk
    from timebank.ledger.transfers import Balance, Extract
    from timebank.reports.flows import Total
    from timebank.reports.house import Luck
    from timebank.reports.roster import RosterLine
    from timebank.reports.statements import StatementEntry
    from timebank.reports.summary import Period
    from timebank.wagers.journal import StoredRound

T = TypeVar("T")

BUSIEST = 24  # callers to choose from in the ledger
ALWAYS_SHOWN = (flow_data.TOGETHER, "online", "bank")  # of the sentences that add up
ROWS = 300  # transfers of a caller's statement on a page
LAST = 40  # calls and notices of a caller's days on a page

title = lru_cache(maxsize=64)(title_of)


@dataclass(frozen=True)
class Today:
    day: date
    now: datetime
    calls: Sequence[OpenCall]
    flows: Period | None
    house: Sequence[Luck]  # by table: the house's result, and by the odds where these are known
    # Unbelievable luck, findings of audits, old backups, and records that only the sysop resolves.
    warnings: Sequence[str]
    event: str  # a sentence about the next system event
    free: int | None  # bytes on the disk of the books; None for books on a server
    copy: LastCopy | None
    audits: Sequence[LastAudit]
    last: int  # number of a transfer


@dataclass(frozen=True)
class OneHand:
    stored: StoredRound
    words: Sequence[str]  # the lines of `door hand`, each a name and its value
    rows: Sequence[Extract]
    proof: Mapping[str, object]  # for the check in the browser


@dataclass(frozen=True)
class OneCaller:
    record: CallerRecord
    balances: Sequence[Balance]
    can_return: bool  # whether they were deleted, and can be brought back
    call: OpenCall | None
    today: date
    known: date  # the first day on which the caller may send and borrow
    limits: Sequence[DailyLimit]
    owes: int  # seconds
    # Of the days of the page:
    span: Span
    totals: Mapping[str, Total]  # by the names of `flows.GROUPS`: that of all minutes first
    sources: Total  # by game, of all minutes
    lines: Mapping[Unit, Sequence[StatementEntry]]  # of the statement, oldest first
    before: int | None  # number to ask for the earlier lines with; None if these are the first
    calls: Sequence[person.Called]
    notices: Sequence[person.Noticed]
    lucks: Sequence[Luck]  # by table

    @property
    def columns(self) -> list[str]:
        """The columns of the statement with a caller's accounts: two, and those not empty."""
        after = [line.after for line in self.lines["second"]]
        kinds = (kind for kind in CALLER_ACCOUNTS if any(held[kind] for held in after))
        return [f"#{kind.capitalize()}" for kind in dict.fromkeys(("online", "bank", *kinds))]


class DailyLimit(NamedTuple):
    """A daily limit of the bank's window, and how much a caller has moved today; in seconds."""

    what: str
    a_day: int
    moved: int


class LedgerLeaf(NamedTuple):
    """A page of the ledger, with counts.

    `held` has the balances of the only caller sought after each transfer. `names` are those of the
    callers with the most transfers and of the callers sought, by number.
    """

    leaf: Leaf
    tally: LedgerTally
    held: Mapping[int, Sequence[statements.HeldThen]]
    names: Mapping[int, str]


@dataclass(frozen=True)
class Then:
    """The balances at an instant of the board's clock."""

    at: datetime
    balances: Sequence[Balance]


class _RolledBack(Exception):
    """Ends a transaction that is only rehearsed."""


class BooksReader:
    """Reads the books of a board for the pages. Call its methods in threads, as they wait."""

    def __init__(self, config: Config, database: Database, instruments: Instruments) -> None:
        self.config = config
        self._database = database
        self._clock = BelievedClock(instruments)
        self._judging = Lock()
        self._is_taken_up = False
        self._odds = house.installed_odds()

    def look(self, at: Callable[[Desk], T]) -> T:
        """Read one snapshot of the books, after they have judged the wall clock."""
        with (
            self._judging,
            self._database.reading(self.config.bank, self._clock.reading()) as desk,
        ):
            self._clock.adopt(self._clock.judge(desk))
            self.config.bank.schedule.adopt_early(early_events.load(desk))
        with self._database.reading(self.config.bank, self._clock.reading()) as desk:
            return at(desk)

    def work(self, at: Callable[[Desk], T]) -> T:
        """Write into the books in a transaction of its own; raises the errors of `at`.

        As with a command, a hand-made restore of the books is taken up first.
        """
        with self._judging:
            if not self._is_taken_up:
                restored_books.take_up(self._database, self.config.bank, self._clock.now())
                self._is_taken_up = True
            reading = self._clock.reading()
            with self._database.transaction(self.config.bank, reading) as desk:
                judgement = self._clock.judge_and_save(desk)
                done = at(desk)
            self._clock.adopt(judgement)
        return done

    def rehearse(self, at: Callable[[Desk], T]) -> T:
        """Return what `work` would return, or raise its errors, and leave the books unchanged."""
        results: list[T] = []

        def and_back(desk: Desk) -> None:
            results.append(at(desk))
            raise _RolledBack

        with contextlib.suppress(_RolledBack):
            self.work(and_back)
        return results[0]

    def on_line(self) -> Sequence[OpenCall]:
        return self.look(_live)

    def today(self) -> Today:
        return self.look(self._today)

    def _today(self, desk: Desk) -> Today:
        schedule, now = self.config.bank.schedule, desk.now
        day = schedule.day_of(now)
        begun = stamp(schedule.day_starts(day))
        first = ledger_pages.first_at(desk, begun)
        periods = summary.summary(desk, "day", begun, None, first=first)
        numbers = house.hands_of_transfers(desk, first)
        tables, doubted = house.house(desk, self._odds, begun, None, None, numbers)
        copy = last_runs.last_copy(self.config.bank)
        audits = {
            command: last_runs.last_audit(self.config.bank, command) for command in last_runs.AUDITS
        }
        return Today(
            day=day,
            now=schedule.local(now),
            calls=_live(desk),
            flows=periods[-1] if periods else None,
            house=tables,
            warnings=[*warnings(desk), *_unlikely(desk, tables, doubted)],
            event=events.next_words(desk),
            free=free_bytes(self.config.bank),
            copy=copy,
            audits=[each for each in audits.values() if each is not None],
            last=extracts.last_number(desk),
        )

    def leaf(self, sought: Sought, before: int | None) -> LedgerLeaf:
        """Return a page of the ledger. Raises `NothingToList` for an unknown kind or game."""

        def look(desk: Desk) -> LedgerLeaf:
            tally = ledger_pages.tally(desk, sought)
            _refuse_unknown(desk, sought, tally.kinds, tally.games)
            leaf = ledger_pages.leaf(desk, sought, before)
            held: dict[int, list[statements.HeldThen]] = {}
            if len(sought.callers) == 1:
                own = transfers.balances(desk, *sought.callers)
                held = person.held_after(desk, own, leaf.rows)
            busiest = [number for number, _ in tally.callers.most_common(BUSIEST)]
            shown = dict.fromkeys([*sought.callers, *busiest])
            names_of = {number: callers.name_of(desk, number) for number in shown}
            return LedgerLeaf(leaf, tally, held, names_of)

        return self.look(look)

    def entry(self, number: int) -> list[Extract]:
        return self.look(lambda desk: ledger_pages.entry(desk, number))

    def csv(self, sought: Sought) -> Iterator[str]:
        """Write all transfers sought as CSV, as `timebank ledger` does."""
        schedule = self.config.bank.schedule
        records = (exports.ledger_record(row, schedule) for row in self._rows(sought))
        return exports.as_csv(exports.LEDGER_FIELDS, records)

    def _rows(self, sought: Sought) -> Iterator[Extract]:
        clock, settings = self._clock, self.config.bank
        return extracts.extracts(lambda: self._database.reading(settings, clock.reading()), sought)

    def refuse_unknown(self, sought: Sought) -> None:
        """Raise `NothingToList` for an unknown kind or game."""
        self.look(lambda desk: _refuse_unknown(desk, sought))

    def beancount(self, sought: Sought) -> Iterator[str]:
        """Write all transfers sought for beancount."""
        return some_as_beancount(extracts.entries(self._rows(sought)), self.config.bank.schedule)

    def balances_at(self, at: datetime | None) -> Then:
        def look(desk: Desk) -> Then:
            moment = desk.now if at is None else min(at, desk.now)
            held = [each for each in plot_data.balances_at(desk, moment) if each.amount]
            return Then(self.local(moment), held)

        return self.look(look)

    def hand(self, number: int) -> OneHand:
        """Return a hand; raises `NoSuchHand`."""
        return self.look(lambda desk: self._hand(desk, number))

    def _hand(self, desk: Desk, number: int) -> OneHand:
        stored = the_hand(desk, number)
        words = hands.describe(desk, number).split("\n")
        end = words.index("Transfers")
        rows = extracts.chosen(desk, Sought(hand=number))
        return OneHand(stored, words[1:end], rows, proofs.proof(stored))

    def hands(
        self, number: int, last: int | None, most: int, *, is_one: bool
    ) -> Sequence[StoredRound]:
        """Return a hand alone, or with those after it on the evening; raises `NoSuchHand`."""
        if is_one:
            return [self.look(lambda desk: the_hand(desk, number))]
        return self.look(lambda desk: film.hands_to_film(desk, number, last, most))

    def find(self, name: str) -> CallerRecord | None:
        """Find a living caller by name, or any caller by number: "#12"."""
        number = callers.number_in(name)
        if number is not None:
            return self.look(lambda desk: callers.even_if_deleted(desk, number))
        return self.named(name)

    def unknown(self, name: str) -> UnknownCaller:
        return self.look(lambda desk: callers.unknown(desk, name))

    def named(self, name: str) -> CallerRecord | None:
        """Find a living caller by name alone."""
        if not name.isprintable():
            return None
        return self.look(lambda desk: callers.find(desk, name))

    def caller(
        self, number: int, days: tuple[date | None, date | None], before: int | None
    ) -> OneCaller | None:
        """Return a caller with what happened on some days, by default those of their last entry."""
        return self.look(lambda desk: self._caller(desk, number, days, before))

    def _caller(
        self, desk: Desk, number: int, days: tuple[date | None, date | None], before: int | None
    ) -> OneCaller | None:
        record = callers.even_if_deleted(desk, number)
        if record is None:
            return None
        schedule = desk.settings.schedule
        span = _span(desk, record, *days)
        starts, ends = (
            stamp(schedule.day_starts(day)) for day in (span.since, span.until + timedelta(days=1))
        )
        first, end = ledger_pages.numbers_between(desk, starts, ends)
        held = transfers.balances(desk, number)
        moved = flow_data.flows(desk, held, number, first, end)
        sought = Sought(callers=(number,), since=span.since, until=span.until)
        lines, earlier = _statement(desk, held, sought, before, first)
        of_days = number, starts, ends
        return OneCaller(
            record=record,
            balances=held,
            can_return=number in {each.id for each in deletion.hidden(desk)},
            call=next((c for c in open_calls(desk) if c.caller_id == number and c.live), None),
            today=schedule.day_of(desk.now),
            known=desk.settings.known_on(record.created),
            limits=_limits(desk, number),
            owes=-next(each.amount for each in held if each.kind == "loan"),
            span=span,
            totals={
                name: total
                for name, group in flow_data.GROUPS.items()
                if any((total := moved.total(group, by_game=group.unit != "second"))[1:])
                or name in ALWAYS_SHOWN
            },
            sources=moved.total(flow_data.GROUPS[flow_data.TOGETHER], by_game=True),
            lines=lines,
            before=earlier,
            calls=person.calls_between(desk, *of_days, LAST),
            notices=person.notices_between(desk, *of_days, LAST),
            lucks=house.house(desk, self._odds, starts, ends, number)[0],
        )

    def holds(self, caller_id: int, password_hash: str) -> CallerRecord | None:
        """Return the caller of a session, if they may still see the pages with this password."""
        record = self.look(lambda desk: _living(desk, caller_id))
        if record is None or not self.may_look(record):
            return None
        return record if record.password_hash == password_hash else None

    def may_look(self, record: CallerRecord) -> bool:
        """Return whether a caller may see the pages, by powers or by `[pages] readers`."""
        if record.locked:
            return False
        return record.powers or names.fold(record.name) in self.config.pages.readers

    def callers(self, typed: str) -> list[RosterLine]:
        """Return the living callers by name, or all whose names are like what was typed."""
        everybody = self.look(roster.roster)
        if typed:
            return roster.search(everybody, typed)
        return [each for each in everybody if each.deleted is None]

    def local(self, at: int | datetime) -> datetime:
        """Convert an instant of the books to the board's time zone."""
        return self.config.bank.schedule.local(instant(at) if isinstance(at, int) else at)


def _refuse_unknown(
    desk: Desk, sought: Sought, kinds: Iterable[str] = (), games: Iterable[str] = ()
) -> None:
    """Raise `NothingToList` for an unknown kind or game; `kinds` and `games` are known to exist."""
    for kind in set(sought.kinds) - extracts.USUAL_KINDS - set(kinds):
        extracts.known_kind(desk, kind)
    for game in set(sought.games) - GAMES.keys() - set(games):
        extracts.known_game(desk, game)


def _span(desk: Desk, record: CallerRecord, since: date | None, until: date | None) -> Span:
    """Return the days asked for; by default the day of a caller's last entry."""
    day_of = desk.settings.schedule.day_of
    if since is None and until is None:
        last = ledger_pages.leaf(desk, Sought(callers=(record.id,)), None, 1).rows
        day = day_of(instant(last[0].at) if last else desk.now)
        return Span(day, day)
    until = until or max(since or date.min, day_of(desk.now))
    return Span(since or min(until, day_of(record.created)), until)


def _statement(
    desk: Desk, own: Sequence[Balance], days: Sought, before: int | None, first: int
) -> tuple[Mapping[Unit, Sequence[StatementEntry]], int | None]:
    """Return the last lines of a caller's days by unit, and the number before them, if any."""
    (caller_id,) = days.callers
    leaf = ledger_pages.leaf(desk, days, before, ROWS)
    rows, before = leaf.rows, leaf.before
    if before is not None:
        rows = [row for row in rows if row.entry != rows[-1].entry]  # which may not be whole
        before = rows[-1].entry
    opening = person.held_before(desk, own, before or first)
    found = list(statements.statement(extracts.entries(iter(rows[::-1])), caller_id, opening))
    units: dict[Unit, None] = dict.fromkeys(("second", *(entry.unit for entry in found)))
    lines = {
        unit: list(statements.folded((each for each in found if each.unit == unit), caller_id))
        for unit in units
    }
    return lines, before


def _live(desk: Desk) -> list[OpenCall]:
    return [call for call in open_calls(desk) if call.live]


def _unlikely(desk: Desk, tables: Sequence[Luck], doubted: Sequence[Luck]) -> list[str]:
    doubted = [*(each for each in tables if not each.is_believable), *doubted]
    named = house.names(desk, doubted) if doubted else {}
    return [house.alert(each, named) for each in doubted]


def _limits(desk: Desk, number: int) -> list[DailyLimit]:
    limits, moved = desk.settings.limits, person.moved_today(desk, number)
    sent = sum(moved.get(kind, 0) for kind in TO_OTHERS)
    return [
        DailyLimit("deposit", limits.deposit, moved.get("deposit", 0)),
        DailyLimit("withdraw", limits.withdrawal, moved.get("withdraw", 0)),
        DailyLimit("send to others", limits.transfer, sent),
        # What was sent today counts, too: see `teller.borrow`.
        DailyLimit("borrow, less what is sent", limits.loan, moved.get("loan", 0) + sent),
    ]


def _living(desk: Desk, number: int) -> CallerRecord | None:
    try:
        return callers.get(desk, number)
    except UnknownCaller:
        return None
