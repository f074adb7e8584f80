"""The rules of time, stated a second time over the rows of the books.

Every entry is added up again from its rows, with separate arithmetic:

- after a grant, and after winnings on line, a loan takes its share, to the second;
- time held behind an event returns with the first entry after it, as far as it can be used;
- nothing is lent while a loan of an earlier day is owed;
- a guest's loan is paid before anything of the visit is saved or returns to the host;
- no online time reaches past an event, which takes winnings first;
- an event started early acts like any other, in place of the scheduled one, from the entry after
  the command on; once it is cancelled, the time it held returns at once;
- minutes that come into a purse are earned until they are lost, cut off or taken by a loan; use,
  savings, entries and earlier debts are paid from the grant;
- at the end of a day the earnings are banked, with the stake counting first; the rest of the online
  and held time is forfeited at once, that of the stake when it returns;
- nothing is banked into a frozen account: earnings stay, and winnings cut off by an event are held.

Amounts are seconds, instants are whole seconds since 1970. The module uses only the program's
schedule, built again from the events of the settings.

The instants are those that the board believed, and a wrong but trusted clock is the clock of its
entries. One exception follows the mending of such a clock: a caller whose days were cancelled has
no stake of an earlier day (`RulesOfTime._mended`).
"""

from __future__ import annotations

import sqlite3
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache, partial
from itertools import product
from typing import Any
from unittest import mock
from zoneinfo import ZoneInfo

from timebank.calls.clock import BelievedClock
from timebank.ledger.machine import ClockReading
from timebank.ledger.reasons import GRANT_PAYS
from timebank.ledger.schema import instant, stamp
from timebank.settings.schedule import EarlyEvent, Event, Schedule
from timebank.settings.settings import BankSettings
from verify.simulate.wrong import Wrong, must

Balances = defaultdict[str, int]

DAY = 86_400
PURSE = ("online", "held", "stake")
SAVINGS = ("bank", "loan")
# Kinds caused by the clocks, first in an entry.
BY_THE_CLOCKS = frozenset(
    {"elapsed", "forfeit", "carry", "external", "grant", "loan share", "release"}
)
# Kinds that leave a guest's visit for an account or the host.
LEAVES = ("gain", "put back", "given back", "external")
# Uses of time that the grant pays for, as far as it reaches.
SPENT = {"elapsed", *GRANT_PAYS}
# Calls ended so are only charged; the next call handles held time.
NOT_IN_PEACE = ("lease ran out", "taken over", "the books were restored")


Early = tuple[EarlyEvent, ...]  # as the books have them, in order


@cache
def _schedule(events: tuple[Event, ...], zone: ZoneInfo, early: Early) -> Schedule:
    return Schedule(events, zone, early)


@dataclass(frozen=True)
class Rules:
    """The rules of time in one process's settings and the books' early events."""

    loan_share: int  # percent
    events: tuple[Event, ...]
    zone: ZoneInfo
    has_bank: bool  # without one nothing outlasts the day, on the table either
    early: Early = ()

    @classmethod
    def of(cls, settings: BankSettings) -> Rules:
        schedule, share = settings.schedule, settings.limits.loan_share
        return cls(share, schedule.events, schedule.zone, settings.mode != "none")

    def closed(self, at: int, until: int | None) -> tuple[int, int] | None:
        """Return start and end of the event that is on at an instant, or comes next.

        `until` is when the host of a board's caller wants them back.
        """
        period = _schedule(self.events, self.zone, self.early).closed_at_or_after(instant(at))
        closed = None if period is None else (stamp(period.start), stamp(period.end))
        if until is not None and (closed is None or until < closed[0]):
            closed = (until, until + DAY)
        return closed

    def ends(self, instants: Sequence[int], until: int | None) -> set[int | None]:
        """Return the ends of the events that are on, or come next, at these instants, in order."""
        ends: set[int | None] = set()
        place = 0
        while place < len(instants):
            closed = self.closed(instants[place], until)
            ends.add(None if closed is None else closed[1])
            if closed is None or (until is not None and closed == (until, until + DAY)):
                break  # no earlier row follows
            place = bisect_left(instants, closed[1])
        return ends


class Readings:
    """The board's time at each access of a process to the books."""

    def __init__(self) -> None:
        self._seconds: set[int] = set()
        self.exact: set[int] = set()  # instants that were read to the very second

    def note(self, now: datetime) -> None:
        self._seconds.add(stamp(now))
        if not now.microsecond:
            self.exact.add(stamp(now))

    def taken(self) -> set[int]:
        """Return the seconds that were read since the last time."""
        taken, self._seconds = self._seconds, set()
        return taken


@dataclass(frozen=True)
class Day:
    """A day of one of our callers. Amounts are seconds."""

    # The day's gains besides its grant, less losses; negative for a loss of the grant.
    earned: int = 0
    # The part of the open stakes from an earlier day.
    standing: int = 0
    # Whether it has a loan: then no loan of an earlier day is owed.
    has_borrowed: bool = False

    def ends(
        self, purse: Balances, *, has_bank: bool, is_frozen: bool
    ) -> tuple[Counter[tuple[str, str]], Day]:
        """Return the movements at the day's end by kind and purse, and the next day's start.

        Online and held minutes count as the grant first, the stake as earnings.
        """
        online, held, stake = (purse[kind] for kind in PURSE)
        own_stake = stake - self.standing
        earned = min(online + held + own_stake, max(0, self.earned))
        if has_bank:
            on_table = min(earned, own_stake)
            spared = earned - on_table
        else:
            on_table, spared = 0, min(earned, online + held)
        moved = Counter[tuple[str, str]]()
        moved["carry", "online"] = min(spared, online)
        moved["carry", "held"] = spared - moved["carry", "online"]
        moved["forfeit", "online"] = online - moved["carry", "online"]
        moved["forfeit", "held"] = held - moved["carry", "held"]
        if has_bank and is_frozen:
            del moved["carry", "online"], moved["carry", "held"]
            return +moved, Day(on_table + spared, stake - on_table)
        return +moved, Day(on_table, stake - on_table)

    def stake_goes(self, returned: int, left: int) -> Day:
        """Return the day after stakes ended, with `left` still open and `returned` paid back.

        The earlier day's minutes return first and are lost last, and are no loss of this day.
        """
        standing_left = min(self.standing - min(returned, self.standing), left)
        earned = self.earned + self.standing - standing_left
        return replace(self, earned=earned, standing=standing_left)

    def after(self, row: Row, *, of_grant: bool) -> Day:
        """Return the day after an owner's row; `of_grant` for a grant and its loan share."""
        comes, goes = row.takes and row.target in PURSE, row.gives and row.source in PURSE
        if not row.is_time or of_grant or comes == goes:
            return self
        if comes:
            borrows = self.has_borrowed or row.kind == "loan"
            return replace(self, earned=self.earned + row.amount, has_borrowed=borrows)
        # Minutes borrowed and repaid on the same day were never earned.
        is_spent = row.kind in SPENT and not (row.kind == "repay" and self.has_borrowed)
        return self if is_spent else self.without(row.amount)

    def without(self, amount: int) -> Day:
        return replace(self, earned=self.earned - amount)


@dataclass(frozen=True)
class Row:
    """A transfer of an entry, by the kinds of its accounts."""

    number: int
    at: int
    kind: str
    amount: int
    source: str
    target: str
    call_id: int | None
    round_id: int | None
    is_time: bool  # no play money
    # Whether the accounts are the entry owner's or another's.
    gives: bool = True
    takes: bool = True


@dataclass(frozen=True)
class Left:
    """A caller's time after an entry, besides the balances."""

    waits: int | None = None  # the end of the event that held time waits for
    day: Day = Day()


@dataclass(frozen=True)
class Entry:
    """An entry of one caller, and all that has a bearing on it."""

    rows: tuple[Row, ...]
    balances: Balances  # before it
    before: Left
    until: int | None
    on_the_second: bool  # the clock may have shown this very second, and no part of the next
    enters: bool  # with the clocks' effects
    # For a caller of another board: the possible own part of a purse, by the row behind which it
    # is asked.
    own: Callable[[Balances, int], Collection[int]] | None = None
    lent: int = 0  # on the same day, before it
    is_frozen: bool = False

    @property
    def at(self) -> int:
        return self.rows[0].at


@dataclass
class Verdict:
    """The judgement of an entry under one set of rules."""

    left: Left
    counted: Counter[str]


def judge(entry: Entry, rules: Rules, late: int) -> Verdict:
    """Check an entry; raise `Wrong` where these rules forbid it.

    `late` is 1 if the clock had begun the next second, else 0.
    """
    closed = rules.closed(entry.at, entry.until)
    limit = None if closed is None else max(0, closed[0] - entry.at - late)
    return _Judge(entry, rules, closed, limit).judge()


class _Judge:
    def __init__(
        self, entry: Entry, rules: Rules, closed: tuple[int, int] | None, limit: int | None
    ) -> None:
        self.entry, self.rules = entry, rules
        self.closed, self.limit = closed, limit
        self.now: Balances = entry.balances.copy()
        self.waits, self.day = entry.before.waits, entry.before.day
        self.day_ends = Counter[tuple[str, str]]()
        self.goes = 0  # the part of a returned stake to forfeit
        self.counted = Counter[str]()
        self.won = 0
        # Balances and number behind the last row of the settlement, and the loan's share of it.
        self.settled: tuple[Balances, int] | None = None
        self.share = 0

    def judge(self) -> Verdict:
        by_the_clocks, behind_grant, lent = True, 0, self.entry.lent
        for row in self.entry.rows:
            if by_the_clocks and row.kind not in BY_THE_CLOCKS:
                self._has_waited()
                by_the_clocks = False
            self._forfeits(row, by_the_clocks=by_the_clocks)
            if row.kind == "grant":
                self._day_begins()
            if behind_grant:
                must(
                    (row.kind, row.amount) == ("loan share", behind_grant),
                    "{} {} follows a grant, of which a loan takes {}",
                    *(row.kind, row.amount, behind_grant),
                )
                self.counted["_loan shares of grants"] += 1
            elif row.kind == "loan share":
                must(self.won, "a loan takes {} of nothing that was won or granted", row.amount)
                must(not self.share, "a loan takes its share twice")
                self.share = row.amount
            elif row.kind == "release":
                self._releases(row.amount)
            elif row.kind == "loan":
                lent += self._lends(row.amount, lent)
            self._pays_first(row)
            self._apply(row, of_grant=row.kind == "grant" or behind_grant > 0)
            behind_grant = self._of(row.amount) if row.kind == "grant" else 0
            if row.kind == "won" and row.is_time:
                self.won += row.amount
                self.settled = self.now.copy(), row.number
        must(not behind_grant, "no loan share of {} follows the grant", behind_grant)
        must(not self.goes, "{} of an earlier day's stake stay", self.goes)
        must(not self.day_ends, "{} at the end of no day", dict(self.day_ends))
        if by_the_clocks:
            self._has_waited()
        self._cuts_off()
        return Verdict(Left(self.waits, self.day), self.counted)

    def _apply(self, row: Row, *, of_grant: bool) -> None:
        if not row.is_time:
            return
        if row.gives:
            self.now[row.source] -= row.amount
        if row.takes:
            self.now[row.target] += row.amount
        self.day = self.day.after(row, of_grant=of_grant)
        if row.source == "stake" and row.gives:
            returned = row.amount if row.kind == "returned" else 0
            self.goes = min(returned, self.day.standing)
            self.day = self.day.stake_goes(returned, self.now["stake"])

    # The end of a day.

    def _forfeits(self, row: Row, *, by_the_clocks: bool) -> None:
        """Check that minutes are forfeited only at a day's end or when its stake returns."""
        if self.goes:
            must(
                (row.kind, row.source, row.amount) == ("forfeit", "online", self.goes),
                "{} {} follows a stake of which {} is of an earlier day",
                *(row.kind, row.amount, self.goes),
            )
            self.goes = 0
            self.counted["_stakes of an earlier day forfeited"] += 1
        elif row.kind in ("forfeit", "carry"):
            must(by_the_clocks, "{} {} in the middle of a day", row.kind, row.amount)
            self.day_ends[row.kind, row.source] += row.amount

    def _day_begins(self) -> None:
        """Check that the rest of the day before went the right ways."""
        before = self.now.copy()
        for (_, source), amount in self.day_ends.items():
            before[source] += amount
        earned = self.day.earned + self.day_ends.total()
        day = replace(self.day, earned=earned)
        is_frozen = self.entry.is_frozen
        moved, self.day = day.ends(before, has_bank=self.rules.has_bank, is_frozen=is_frozen)
        must(self.day_ends == moved, "{} at the end of a day, not {}", self.day_ends, moved)
        self.day_ends.clear()
        self.counted["_days ended with a stake of the grant"] += bool(self.day.standing)
        self.counted["_days ended with a stake of two days before"] += bool(day.standing)
        self.counted["_days ended with a frozen account and earnings"] += is_frozen and earned > 0

    def _of(self, amount: int) -> int:
        """Return the loan's share of an amount."""
        return min(-self.now["loan"], amount * self.rules.loan_share // 100)

    def _lends(self, amount: int, lent: int) -> int:
        """Check a loan, with `lent` seconds of others on the same day; return the loan."""
        older = -self.now["loan"] - lent
        must(older <= 0, "{} is lent, and {} is owed on a loan of before", amount, older)
        self.counted["_loans"] += 1
        return amount

    def _pays_first(self, row: Row) -> None:
        """Check that a guest's departing minutes pay a loan first."""
        is_guest, owed = self.entry.own is not None, -self.now["loan"]
        if row.kind == "loan paid":
            must(is_guest, "a loan of one of our own callers is paid by itself")
            must(row.amount <= owed, "{} of a loan of {} is paid", row.amount, owed)
            self.counted["_loans of guests paid"] += 1
        elif is_guest and row.kind in LEAVES:
            must(not owed, "{} {}, and a loan of {} is owed", row.kind, row.amount, owed)

    # Time that was held.

    def _is_over(self) -> bool:
        """Whether the event that is waited for is no longer the next one."""
        return self.closed is None or self.waits is None or self.closed[1] > self.waits

    def _releases(self, amount: int) -> None:
        online, held = self.now["online"], self.now["held"]
        must(self._is_over(), "{} comes back before the event has passed", amount)
        room = held if self.limit is None else min(held, max(0, self.limit - online))
        must(amount == room, "{} comes back of {}: there is room for {}", amount, held, room)
        self.counted["_held time released"] += 1

    def _has_waited(self) -> None:
        """Check that usable time does not stay held after the event."""
        entry, held, online = self.entry, self.now["held"], self.now["online"]
        if not held or not entry.enters:
            return
        if self.waits is None or entry.at >= self.waits:
            all_is_used = self.limit is not None and online >= self.limit
            must(all_is_used, "{} stays held, with {} on line of {}", held, online, self.limit)
        if self.closed is not None and self._is_over():
            self.waits = self.closed[1]

    # The cutoff.

    def _cuts_off(self) -> None:
        moved = Counter[str]()
        for row in self.entry.rows:
            if row.kind in ("clamp", "held"):
                moved[row.kind] += row.amount
        online = self.now["online"]
        surplus = 0 if self.limit is None else online + moved.total() - self.limit
        kept_back = max(0, surplus)
        must(
            moved.total() == kept_back,
            "{} is cut off, and {} on line, with {} to the event",
            *(moved.total(), online, self.limit),
        )
        for winnings, share in self._winnings():
            is_shut = self.entry.is_frozen and self.rules.has_bank
            clamped = 0 if is_shut else min(kept_back, winnings - share)
            if (share, clamped) == (self.share, moved["clamp"]):
                break
        else:
            must(
                False,
                "of {} won a loan of {} took {} and the event cuts off {} (and {} more)",
                *(self.won, -self._before_share()["loan"]),
                *(self.share, moved["clamp"], moved["held"]),
            )
        self.counted["_loan shares of winnings"] += bool(self.share)
        self.counted["_winnings cut off"] += bool(moved["clamp"])
        self.counted["_winnings cut off before other time"] += len(moved) == 2
        if moved["held"]:
            self.counted["_time held"] += 1
            assert self.closed is not None  # something was cut off by it
            self.waits = self.closed[1]

    def _before_share(self) -> Balances:
        return self.entry.balances if self.settled is None else self.settled[0]

    def _winnings(self) -> Iterator[tuple[int, int]]:
        """Yield the possible winnings with the loan's share; several where it is uncertain."""
        if self.settled is None:
            yield 0, 0
            return
        balances, number = self.settled
        owed = -balances["loan"]
        own = self.entry.own
        for most in (self.won,) if own is None else own(balances, number):
            won = min(self.won, most)
            yield won, min(owed, won * self.rules.loan_share // 100)


class RulesOfTime:
    """Checks every step's additions to the books."""

    def __init__(self, counted: Counter[str], *, knows_all: bool = True) -> None:
        """Count into `counted`; without `knows_all` begin with the books as they are."""
        self.counted = counted
        self.rules: frozenset[Rules] = frozenset()  # in force at the last look
        self.knows_all = knows_all
        self._last = 0  # transfer
        self._last_mended = 0  # day
        self._balances: defaultdict[int, Balances] = defaultdict(lambda: defaultdict(int))
        self._callers: dict[int, _Caller] = {}  # as they were
        self._now: dict[int, _Caller] = {}  # and at this one
        # The rest after an entry depends on its process's rules, if they differ.
        self._left: defaultdict[int, set[Left]] = defaultdict(lambda: {Left()})
        self._taken_back: set[int] = set()  # callers whose days were begun by a wrong clock
        self._given: dict[tuple[int, str], int] = {}
        self._read: set[int] = set()  # instants
        self._early: Early | None = None  # as in the books
        # From and until when nothing is waited for that was started early, and taken back.
        self._let_go: list[tuple[int, int]] = []

    def step(self, file: sqlite3.Connection, rules: Iterable[Rules], readings: Readings) -> None:
        """Check the entries since the last step.

        `rules` are those of all present processes, `readings` are of their clocks.
        """
        self._now = {row[0]: _Caller(*row[1:]) for row in file.execute(CALLERS)}
        if not self.knows_all:
            self._take_over(file)
        now_in_force = frozenset(rules)
        in_force, self.rules = self.rules | now_in_force, now_in_force
        in_force = self._with_early(file, in_force)
        read = readings.taken()
        instants, self._read = self._read | read, read
        self._mended(file)
        for number, rows in self._entries(file):
            instants.add(rows[0].at)
            self._check(file, number, rows, in_force, readings.exact)
        self._waits_are_right(file, in_force, sorted(instants))
        self._stakes_are_parted(file)
        self._learn(file)

    def _with_early(self, file: sqlite3.Connection, in_force: frozenset[Rules]) -> frozenset[Rules]:
        """Return the rules with the early events of the books, before and after the step."""
        now = tuple(
            EarlyEvent(name, *(None if each is None else instant(each) for each in instants))
            for name, *instants in file.execute(EARLY)
        )
        before, self._early = now if self._early is None else self._early, now
        beforehand = {replace(rules, early=before) for rules in in_force}
        self._let_go = [
            (stamp(event.start), closed[1])
            for event in before
            if event not in now
            for rules in beforehand
            if (closed := rules.closed(stamp(event.start), None)) is not None
        ]
        self.counted["_events started early"] += len(set(now) - set(before))
        return frozenset(beforehand | {replace(rules, early=now) for rules in in_force})

    def _take_over(self, file: sqlite3.Connection) -> None:
        """Trust the restored books."""
        self.knows_all = True
        begun, days = {}, dict[int, Day]()
        for caller_id, after, carried, records in file.execute(DAYS):
            begun[caller_id] = after
            days[caller_id] = Day(carried, records)
        behind_grant = False
        for _, rows in self._entries(file):
            self._add(rows)
            for row in rows:
                of_grant = row.kind == "grant" or (behind_grant and row.kind == "loan share")
                behind_grant = row.kind == "grant"
                for owner in {row.giver, row.taker} & begun.keys():
                    if row.number > begun[owner]:
                        day = days[owner].after(row.of(owner), of_grant=of_grant)
                        days[owner] = day.without(_entry_back(file, row))
        for caller_id, caller in self._now.items():
            self._left[caller_id] = {Left(caller.waits, days.get(caller_id, Day()))}
        self._mended(file)
        self._learn(file)

    def _learn(self, file: sqlite3.Connection) -> None:
        self._callers = self._now
        for number, caller in self._now.items():
            self._left[number] = {replace(left, waits=caller.waits) for left in self._left[number]}
        self._given = _given(file)

    def _mended(self, file: sqlite3.Connection) -> None:
        """Record callers whose days begun by a wrong clock were cancelled by a sysop.

        A stake parted by such a day is no longer an earlier day's. Whether that was before or
        after the new entries, or between them, is unknown.
        """
        mended = file.execute(MENDED, (self._last_mended,)).fetchall()
        self._last_mended = max((number for number, _ in mended), default=self._last_mended)
        self._taken_back = {caller_id for _, caller_id in mended}
        for number, caller in self._now.items():
            known = self._callers.get(number)
            if known is not None and (caller.day or "") < (known.day or ""):
                self._taken_back.add(number)

    # Entries.

    def _entries(self, file: sqlite3.Connection) -> Iterator[tuple[int, list[Any]]]:
        """Yield the rows of every new entry."""
        entry: list[_Read] = []
        for row in file.execute(ROWS, (self._last,)).fetchall():
            each = _Read(*row)
            if entry and each.entry != entry[0].entry:
                yield entry[0].entry, entry
                entry = []
            entry.append(each)
            self._last = each.number
        if entry:
            yield entry[0].entry, entry

    def _check(
        self,
        file: sqlite3.Connection,
        number: int,
        rows: list[_Read],
        in_force: Collection[Rules],
        exact: Collection[int],
    ) -> None:
        owner = self._owner(file, rows)
        if owner is None:  # the sysop's, or another program's
            for row in rows:
                touched = row.is_time and {row.source, row.target} & {*PURSE}
                must(not touched, "{} {} is of no call and no hand", row.kind, row.amount)
                back = _entry_back(file, row)
                if back and row.taker is not None:
                    self._left[row.taker] = {
                        replace(left, day=left.day.without(back)) for left in self._left[row.taker]
                    }
            self._add(rows)
            return
        entry = self._entry(file, owner, rows, exact)
        left: set[Left] = set()
        wrongs = []
        befores = sorted(self._before(owner), key=repr)
        for before, is_frozen in product(befores, self._frozen(owner)):
            each = replace(entry, before=before, is_frozen=is_frozen)
            for rules in sorted(in_force, key=repr):
                for late in (1, 0) if entry.on_the_second else (1,):
                    try:
                        verdict = judge(each, rules, late)
                    except Wrong as wrong:
                        wrongs.append(str(wrong))
                        continue
                    self.counted += Counter() if left else verdict.counted
                    left.add(verdict.left)
        sentence = "; or ".join(dict.fromkeys(wrongs))
        must(left, "entry {} of caller {}: {}", number, owner, sentence)
        self._add(rows)
        self._left[owner] = left

    def _frozen(self, owner: int) -> list[bool]:
        """Return whether the owner's account was frozen: both where a sysop has just changed it."""
        now = self._now[owner]
        return sorted({now.is_frozen, self._callers.get(owner, now).is_frozen})

    def _before(self, owner: int) -> set[Left]:
        """Return a caller's possible time after the last entry."""
        left = self._left[owner]
        left = left | {replace(each, waits=None) for each in left if self._is_let_go(each.waits)}
        if owner in self._taken_back:
            mended = {replace(each, day=replace(each.day, standing=0)) for each in left}
            return left | mended
        return left

    def _is_let_go(self, waits: int | None) -> bool:
        """Return whether time held until then was or may have been released in this step."""
        return waits is not None and any(since < waits <= until for since, until in self._let_go)

    def _add(self, rows: list[_Read]) -> None:
        for row in rows:
            if row.is_time:
                for caller_id, kind, amount in (
                    (row.giver, row.source, -row.amount),
                    (row.taker, row.target, row.amount),
                ):
                    if caller_id is not None:
                        self._balances[caller_id][kind] += amount

    @staticmethod
    def _owner(file: sqlite3.Connection, rows: list[_Read]) -> int | None:
        """Return the owner of an entry.

        None for one outside calls and hands that mends no clock.
        """
        call_id = rows[0].call_id
        if call_id is not None:
            (owner,) = file.execute(
                "SELECT caller_id FROM calls WHERE id = ?", (call_id,)
            ).fetchone()
            return int(owner)
        for row in rows:
            if row.round_id is not None:
                asked = ("SELECT caller_id FROM rounds WHERE id = ?", (row.round_id,))
                (owner,) = file.execute(*asked).fetchone()
                return int(owner)
            if row.kind == "mend":
                return row.taker
        return None

    def _entry(
        self, file: sqlite3.Connection, owner: int, rows: list[_Read], exact: Collection[int]
    ) -> Entry:
        call_id, at, number = rows[0].call_id, rows[0].at, rows[-1].number
        until, is_guest = None, self._now[owner].is_guest
        if is_guest and call_id is not None:
            visit = file.execute(
                "SELECT until FROM visits WHERE call_id = ?", (call_id,)
            ).fetchone()
            until = None if visit is None else visit[0]
        mends = any(row.kind == "mend" for row in rows)
        enters = call_id is not None and not mends
        return Entry(
            rows=tuple(row.of(owner) for row in rows),
            balances=self._balances[owner],
            before=Left(),
            until=until,
            on_the_second=at in exact,
            enters=enters and not self._only_charges(file, rows[0].call_id, number),
            own=partial(self._own, file, owner, call_id, at) if is_guest else None,
            lent=file.execute(LENT, (owner, rows[0].number, number)).fetchone()[0],
        )

    @staticmethod
    def _only_charges(file: sqlite3.Connection, call_id: int | None, number: int) -> bool:
        """Whether an entry, by its last row, ended a call that was found dead or was taken over."""
        (reason,) = file.execute("SELECT reason FROM calls WHERE id = ?", (call_id,)).fetchone()
        if reason is None or not reason.startswith(NOT_IN_PEACE):
            return False
        asked = ("SELECT max(id) FROM transfers WHERE call_id = ?", (call_id,))
        return bool(file.execute(*asked).fetchone() == (number,))

    # Callers of other boards.

    def _own(
        self,
        file: sqlite3.Connection,
        caller_id: int,
        call_id: int | None,
        at: int,
        balances: Balances,
        behind: int,
    ) -> set[int]:
        """Return how much of a purse may be a guest's own, after row `behind`.

        Their debt to the host is read as it is now and as it was before the step.
        """
        purse = sum(balances[kind] for kind in PURSE)
        charged = taken = 0
        if call_id is None:
            visits = file.execute(VISITS_OF_HANDS, (caller_id, at)).fetchall()
        else:
            visits = file.execute(VISIT_OF_CALL, (call_id,)).fetchall()
            (charged,) = file.execute(CHARGED, (call_id, behind)).fetchone()
            (taken,) = file.execute(TAKEN_OUT, (call_id, behind)).fetchone()
        possible = set()
        now = _given(file)
        known = self._callers.get(caller_id)
        days_of_caller = {self._now[caller_id].day, known.day if known else None}
        for number, day, shown, clock, brought, score, standing_own in visits:
            gained = purse + charged - brought - score - standing_own - taken
            beyond = max(0, charged - max(clock, brought + score))
            total = standing_own + taken + gained - beyond
            of_days = {day}
            if call_id is None or shown is not None:
                of_days = {max(day, each or "") for each in days_of_caller}
            for of_day in of_days:
                (owed,) = file.execute(OWED, (caller_id, of_day, number)).fetchone()
                for given in (now, self._given):
                    debt = max(0, owed + 60 * given.get((caller_id, of_day), 0))
                    possible.add(max(0, total - max(0, min(gained, debt, total))))
        return possible

    # Expectations.

    def _waits_are_right(
        self, file: sqlite3.Connection, in_force: Collection[Rules], instants: Sequence[int]
    ) -> None:
        """Check that held time waits for its event, or for a later one that is next.

        This also holds after a sysop mended a wrong clock's wait.
        """
        for caller_id, caller in self._now.items():
            ends = {left.waits for left in self._left[caller_id]}
            if any(map(self._is_let_go, ends)):
                ends.add(None)
            if not self._balances[caller_id]["held"] or caller.waits in ends:
                continue
            untils = [None, *(until for (until,) in file.execute(UNTILS, (caller_id,)))]
            for rules in in_force:
                for until in untils:
                    ends |= rules.ends(instants, until)
            must(
                caller.waits in ends,
                "caller {} waits until {}, not {}",
                *(caller_id, caller.waits),
                ends,
            )

    def _stakes_are_parted(self, file: sqlite3.Connection) -> None:
        """Check that the books know each stake's part of an earlier day."""
        stands = dict(file.execute(STANDING))
        for caller_id in self._now:
            now_standing, left = stands.get(caller_id, 0), self._before(caller_id)
            self._left[caller_id] = {each for each in left if each.day.standing == now_standing}
            must(
                self._left[caller_id],
                "of the stake of caller {} {} is of an earlier day, not {}",
                *(caller_id, now_standing, {each.day.standing for each in left}),
            )


def _entry_back(file: sqlite3.Connection, row: _Read) -> int:
    """Return the refund in a row of a tournament entry paid on the same day.

    It goes to the bank, and there would count the entry's earnings twice.
    """
    if row.kind != "entry back":
        return 0
    return row.amount if file.execute(PAID_ON_THE_DAY, (row.number,)).fetchone() else 0


def _given(file: sqlite3.Connection) -> dict[tuple[int, str], int]:
    """Return the losses, in minutes, that clocks of hosts show, by caller and day."""
    return {(caller, day): minutes for caller, day, minutes in file.execute(SHOWN)}


@dataclass(frozen=True)
class _Caller:
    """A caller's rows in the books."""

    is_guest: bool
    day: str | None
    waits: int | None
    is_frozen: bool


@dataclass(frozen=True)
class _Read:
    """A transfer as it was read."""

    number: int
    entry: int
    at: int
    kind: str
    amount: int
    source: str
    giver: int | None
    target: str
    taker: int | None
    unit: str
    call_id: int | None
    round_id: int | None

    @property
    def is_time(self) -> bool:
        return self.unit == "second"

    def of(self, owner: int) -> Row:
        return Row(
            *(self.number, self.at, self.kind, self.amount, self.source, self.target),
            *(self.call_id, self.round_id, self.is_time),
            gives=self.giver == owner,
            takes=self.taker == owner,
        )


@contextmanager
def noticing(readings: Readings) -> Iterator[None]:
    """Record into `readings` the board's clocks at each access of a process to the books."""
    real = BelievedClock.reading

    def reading(self: BelievedClock) -> ClockReading:
        reading = real(self)
        readings.note(reading.now)
        return reading

    with mock.patch.object(BelievedClock, "reading", reading):
        yield


ROWS = """
SELECT t.id, t.entry, t.at, t.kind, t.amount, s.kind, s.caller_id, g.kind, g.caller_id, s.unit,
    t.call_id, t.round_id
FROM transfers t JOIN accounts s ON s.id = t.source JOIN accounts g ON g.id = t.target
WHERE t.id > ? ORDER BY t.id
"""
CALLERS = "SELECT id, board > '', day, held_until, frozen FROM callers"
DAYS = """
SELECT c.id, d.after, d.carried, d.standing
FROM callers c JOIN days d ON d.caller_id = c.id AND d.day = c.day
"""
STANDING = f"SELECT id, standing FROM ({DAYS}) WHERE standing > 0"
EARLY = "SELECT name, starts, ends, instead_of FROM early_events ORDER BY starts"
MENDED = "SELECT number, caller_id FROM mended_days WHERE number > ?"
UNTILS = "SELECT DISTINCT until FROM visits WHERE caller_id = ? AND until IS NOT NULL"
_VISIT = "SELECT id, day, shown, clock, brought, standing, standing_own FROM visits"
VISIT_OF_CALL = f"{_VISIT} WHERE call_id = ?"
VISITS_OF_HANDS = f"{_VISIT} WHERE caller_id = ? AND call_id IS NULL AND closed = ?"
CHARGED = """
SELECT coalesce(sum(amount), 0) FROM transfers WHERE call_id = ? AND id <= ? AND kind = 'elapsed'
"""
TAKEN_OUT = f"""
SELECT coalesce(sum(CASE WHEN s.kind IN {SAVINGS} AND g.kind IN {PURSE} THEN t.amount
    WHEN s.kind IN {PURSE} AND g.kind IN {SAVINGS} THEN -t.amount ELSE 0 END), 0)
FROM transfers t JOIN accounts s ON s.id = t.source JOIN accounts g ON g.id = t.target
WHERE t.call_id = ? AND t.id <= ? AND s.unit = 'second'
"""
OWED = """
SELECT coalesce(sum(debt_added - debt_paid), 0) FROM visits
WHERE caller_id = ? AND day = ? AND closed IS NOT NULL AND id < ?
"""
SHOWN = """
SELECT caller_id, day, sum(minutes) FROM given_back WHERE minutes < 0 AND state = 'written'
GROUP BY caller_id, day
"""
# Before the first row of an entry, on the day that is the caller's by its last row.
LENT = """
SELECT coalesce(sum(t.amount), 0) FROM transfers t JOIN accounts s ON s.id = t.source
WHERE s.caller_id = ?1 AND t.kind = 'loan' AND t.id < ?2 AND t.id > coalesce(
    (SELECT max(after) FROM days WHERE caller_id = ?1 AND after < ?3), 0)
"""
# By the transfer that gives it back. No day began in between: the caller's own day is meant.
PAID_ON_THE_DAY = """
SELECT 1 FROM contest_entries e WHERE e.back_id = ?1 AND NOT EXISTS (
    SELECT 1 FROM days d WHERE d.caller_id = e.caller_id AND d.after BETWEEN e.paid_id AND ?1)
"""
