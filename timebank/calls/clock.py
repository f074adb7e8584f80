"""Which time the board believes it is: the wall clock, held against what cannot be set.

A wall clock may be wrong, and whoever believed it would grant the days of a year to come, give
back what is held, and close the accounts of callers who seem to be gone. So it is believed as long
as it moves on with the uptime of the machine. When it differs by more than LEAP seconds from what
was believed and has passed since, it has *leapt*: the board goes on by its own count, as if nothing
had happened, until

- the wall clock is right again;
- the kernel says twice, AGREED seconds apart, that time servers agree with it; or
- the sysop says so (`timebank clock --believe`).

A new start of the machine begins a new count. What is known then is how far the books have come. A
wall clock behind that is not believed. One that is ahead of it is: a board may have been off for
two weeks. When it is ahead by more than GAP seconds the board goes on, but its clock is *in doubt*:
nothing is done that nobody could mend, until it has run well for a day, or time servers or the
sysop have agreed. What a clock did that was wrong after all, `clock_mend` sets right.

All processes of a machine share what is believed, in the table `clocks`.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import Row, func, select

from timebank.callers import sysop_log
from timebank.calls.calls import mend_leases
from timebank.ledger import sql
from timebank.ledger.machine import ClockReading, Instruments
from timebank.ledger.schema import calls, clocks, transfers
from timebank.words import span

if TYPE_CHECKING:
    from timebank.ledger.database import Desk

LEAP = 300.0  # seconds by which the wall clock may be set and is believed at once
GAP = 86_400.0  # seconds that a machine may be off without a doubt
AGREED = 300.0  # seconds between two looks at which time servers must agree
SURE = 86_400.0  # seconds for which a clock in doubt must have run well
KEPT = 3_600.0  # seconds after which it is written down anew how far the books have come
NEAR = 10.0  # seconds by which the clock may have been corrected before that is written down
ONCE = 60.0  # seconds within which all processes tell of the same leap

BY = "clock"
RIGHT = "The clock is right from here on"
DAY, HOUR, MINUTE = 86_400, 3_600, 60


@dataclass(frozen=True, slots=True)
class Belief:
    """What is believed of the clock in one boot of the machine: a row of `clocks`.

    Instants are seconds since 1970, uptimes seconds since the boot.
    """

    boot: str
    # The instant at which the uptime was 0.
    zero: float
    # The uptime at which the board was first open in this boot.
    since: float
    # False: nothing is done that nobody could mend.
    certain: bool
    # An instant that has passed for certain.
    sure: float
    # By how much the wall clock is off, while it is not believed; None while it is.
    leap: float | None = None
    # The uptime at which time servers were first seen to agree.
    agreed: float | None = None
    # The uptime at which a leap was last told of.
    noted: float | None = None
    # The last transfer there was when a leap was last found to be right: it and those before it
    # were written under a clock that was wrong, and prove nothing.
    after: int | None = None


@dataclass(frozen=True, slots=True)
class Judgement:
    belief: Belief
    is_changed: bool
    # Sentences without a full stop, for the sysop.
    news: tuple[str, ...] = ()


class BelievedClock:
    """The clock of a board in one process. Any thread may read it."""

    def __init__(self, instruments: Instruments) -> None:
        """Read the wall clock, which is believed until `adopt` has heard better."""
        self.instruments = instruments
        self._zero = self._shown()
        self._off = 0.0
        self._noticed = 0.0  # the last leap, whether it has passed or not
        self._belief: Belief | None = None

    # Reading.

    def now(self) -> datetime:
        wall, uptime = self.instruments.now(), self.instruments.uptime()
        zero = wall.timestamp() - uptime
        off = zero - self._zero
        if -LEAP <= off <= LEAP:
            self._zero, self._off = zero, 0.0
            return wall
        self._off = self._noticed = off
        return datetime.fromtimestamp(self._zero + uptime, UTC)

    def reading(self) -> ClockReading:
        machine = self.instruments
        return ClockReading(self.now(), machine.boot(), machine.uptime())

    @property
    def off(self) -> float:
        """By how many seconds the wall clock is ahead of the board's, 0 while it is believed."""
        self.now()
        return self._off

    @property
    def is_certain(self) -> bool:
        """Whether what nobody could mend may be done by this clock."""
        return self._belief is not None and self._belief.certain

    def from_wall(self, at: datetime) -> datetime:
        """Return when the board's clock will show what the wall clock calls `at`."""
        return datetime.fromtimestamp(at.timestamp() - self.off, UTC)

    def _shown(self) -> float:
        return self.instruments.now().timestamp() - self.instruments.uptime()

    # Believing.

    def adopt(self, judgement: Judgement) -> None:
        belief = judgement.belief
        if abs(belief.zero - self._zero) > LEAP:
            self._zero = belief.zero
        self._belief = belief
        self._noticed = 0.0
        self.now()

    def keep(self, desk: Desk) -> Judgement:
        """Judge the clock, and write down what has changed; `adopt` it once that is durable."""
        judgement = self.judge(desk)
        if judgement.is_changed:
            _write(desk, judgement.belief)
        self._note(desk, BY, judgement)
        return judgement

    def _note(self, desk: Desk, by: str, judgement: Judgement) -> None:
        """Write the news into the log, by the clock until now. If that is set back, a line of the
        right time follows: by it an audit knows why later rows have earlier times."""
        for words in judgement.news:
            sysop_log.note(desk, by, None, words)
        if self._zero - judgement.belief.zero > LEAP:
            right = datetime.fromtimestamp(judgement.belief.sure, UTC)
            sysop_log.note(desk, by, None, RIGHT, at=right)

    def judge(self, desk: Desk) -> Judgement:
        """Hold the wall clock against uptime, books and time servers; writes nothing."""
        known = _belief_of(desk, self.instruments.boot())
        if known is None:
            return self._first_look(desk)
        is_news = self._belief is None or known.zero != self._belief.zero
        if is_news and abs(known.zero - self._zero) > LEAP:
            # Another process has believed it, or this one has just begun.
            self._zero = known.zero
        self.now()
        belief, news = self._of_leap(desk, known) if self._off else self._of_time(known)
        return Judgement(belief, belief != known, tuple(news))

    def _first_look(self, desk: Desk) -> Judgement:
        uptime, shown = self.instruments.uptime(), self._shown()
        wall = shown + uptime
        before = _LAST_BELIEF(desk.connection).first()
        last = _last_known(desk, before)
        belief = Belief(self.instruments.boot(), shown, uptime, True, wall)
        if last is None or -LEAP <= wall - last <= GAP:
            # A clock in doubt was far ahead of what is known, so it was ahead of this one.
            was_ahead = before is not None and not before.certain
            return Judgement(belief, True, (RIGHT,) if was_ahead else ())
        if wall > last:
            news = f"The clock is {_length(wall - last)} ahead of the last entry in the books"
            doubt = "; until it is known to be right nothing is deleted"
            return Judgement(replace(belief, certain=False, sure=last), True, (news + doubt,))
        off = wall - last
        belief = replace(belief, zero=last - uptime, sure=last, leap=off, noted=uptime)
        return Judgement(belief, True, (_told_of_leap(off),))

    def _of_leap(self, desk: Desk, known: Belief) -> tuple[Belief, list[str]]:
        uptime, off = self.instruments.uptime(), self._off
        if known.leap is None or abs(known.leap - off) > LEAP:
            told = replace(known, leap=off, agreed=None, noted=uptime)
            return told, [_told_of_leap(off)]
        if not self.instruments.is_synchronised():
            return replace(known, agreed=None), []
        if known.agreed is None:
            return replace(known, agreed=uptime), []
        if uptime - known.agreed < AGREED:
            return known, []
        words = f"Time servers agree with the wall clock, so it is believed: {_way(off)}"
        return self._believed(desk, known), [words]

    def _of_time(self, known: Belief) -> tuple[Belief, list[str]]:
        uptime = self.instruments.uptime()
        now, belief, news = self._zero + uptime, known, []
        if known.leap is not None:
            belief = replace(belief, leap=None, agreed=None)
            news.append("The wall clock agrees with the board's again")
        elif self._noticed and (known.noted is None or uptime - known.noted > ONCE):
            belief = replace(belief, noted=uptime)
            news.append(f"{_told_of_leap(self._noticed)}; it is right again")
        if not belief.certain:
            belief, words = self._of_doubt(belief)
            news += words
        elif now - belief.sure > KEPT:
            belief = replace(belief, sure=now)
        if abs(self._zero - belief.zero) > NEAR:
            belief = replace(belief, zero=self._zero)
        return belief, news

    def _of_doubt(self, belief: Belief) -> tuple[Belief, list[str]]:
        uptime = self.instruments.uptime()
        if uptime - belief.since >= SURE:
            return self._sure(belief), ["The clock has run well for a day, and is not doubted now"]
        if not self.instruments.is_synchronised():
            return replace(belief, agreed=None), []
        if belief.agreed is None:
            return replace(belief, agreed=uptime), []
        if uptime - belief.agreed < AGREED:
            return belief, []
        return self._sure(belief), ["Time servers agree with the clock, and it is not doubted now"]

    def _sure(self, belief: Belief) -> Belief:
        now = self._zero + self.instruments.uptime()
        return replace(belief, certain=True, sure=now, agreed=None)

    def _believed(self, desk: Desk, known: Belief) -> Belief:
        shown, uptime = self._shown(), self.instruments.uptime()
        after = known.after
        if abs(shown - known.zero) > LEAP:
            after = _LAST_TRANSFER.one(desk.connection)
        right = replace(known, zero=shown, certain=True, sure=shown + uptime, after=after)
        return replace(right, leap=None, agreed=None)

    def believe(self, desk: Desk, by: str) -> Judgement:
        """Take the wall clock for right, because the sysop says so; `adopt` it afterwards."""
        judged = self.judge(desk)
        off = self._shown() - judged.belief.zero
        words = "Said that the clock is right"
        if abs(off) > LEAP:
            words = f"Said that the wall clock is right: {_way(off)}"
        belief = self._believed(desk, judged.belief)
        _write(desk, belief)
        mend_leases(desk, int(belief.sure))
        judgement = Judgement(belief, True, (words,))
        self._note(desk, by, judgement)
        return judgement


def is_certain(desk: Desk) -> bool:
    """Tell whether what nobody could mend may be done by the clock of this transaction."""
    if desk.reading is None:
        return True
    known = _belief_of(desk, desk.reading.boot)
    return known is not None and known.certain


def _last_known(desk: Desk, before: Row[Any] | None) -> float | None:
    """Tell an instant that had passed for certain when the books were last written; `before` is
    what was believed of the clock in the last boot.

    What was written while the clock was in doubt proves nothing, and neither does what was written
    before another one was found to be right.
    """
    if before is not None and not before.certain:
        return float(before.sure)
    entries = _LAST_ENTRIES(desk.connection).one()
    known = [at for at in (*entries, before and before.sure) if at is not None]
    return float(max(known)) if known else None


def _last_entries() -> sql.Query:
    """Choose when the last transfer that proves something was made, and the last lease renewed."""
    wrong = select(sql.highest(clocks.c.after)).scalar_subquery()
    last = transfers.c.id.desc()
    moved = select(transfers.c.at).where(transfers.c.id > wrong).order_by(last).limit(1)
    renewed = select(func.max(calls.c.renewed)).where(calls.c.closed.is_(None))
    return select(moved.scalar_subquery(), renewed.scalar_subquery())


_LAST_ENTRIES = sql.Prepared(_last_entries)
_LAST_TRANSFER: sql.Reader[int | None] = sql.value(lambda: select(func.max(transfers.c.id)))
_LAST_BELIEF = sql.Prepared(
    lambda: select(clocks.c.certain, clocks.c.sure).order_by(clocks.c.number.desc()).limit(1)
)
_COLUMNS = " ".join(each.name for each in fields(Belief))  # of the table, too
_BELIEF = sql.Reader(
    lambda row: Belief(*row),
    lambda: select(*sql.columns_of(clocks, _COLUMNS)).where(sql.equal(clocks.c.boot)),
)
_RENEW = sql.Prepared(lambda: sql.change(clocks, _COLUMNS, sql.equal(clocks.c.boot)))
_ADD = sql.Prepared(lambda: sql.insert_into(clocks, _COLUMNS))


def _belief_of(desk: Desk, boot: str) -> Belief | None:
    found = _BELIEF.first(desk.connection, boot=boot)
    return None if found is None else replace(found, certain=bool(found.certain))


def _write(desk: Desk, belief: Belief) -> None:
    values = {**asdict(belief), "certain": int(belief.certain)}
    if not _RENEW(desk.connection, **values).rowcount:
        _ADD(desk.connection, **values)


def _told_of_leap(off: float) -> str:
    way = "ahead of" if off > 0 else "behind"
    return (
        f"The wall clock leapt and is {_length(abs(off))} {way} what has passed:"
        " it is not believed, and the board goes on by its own count (see `timebank clock`)"
    )


def _way(off: float) -> str:
    """Say how the board's clock is set.

    >>> _way(7200.0), _way(-86400.0 * 366)
    ("the board's clock is set forward by 2 hours", "the board's clock is set back by 366 days")
    """
    return f"the board's clock is set {'forward' if off > 0 else 'back'} by {_length(abs(off))}"


def _length(seconds: float) -> str:
    """Say a length of time as coarsely as it is long.

    >>> _length(400.0), _length(7200.0), _length(86400.0), _length(86400.0 * 366 + 5)
    ('6 minutes 40 seconds', '2 hours', '24 hours', '366 days')
    """
    whole = round(seconds)
    if whole >= 2 * DAY:
        return f"{whole // DAY} days"
    if whole >= 2 * HOUR:
        return f"{whole // HOUR} hours"
    return span(whole)


def told(off: float) -> str:
    """Say by how much the wall clock is off.

    >>> told(-7200.0)
    '2 hours behind'
    """
    return f"{_length(abs(off))} {'ahead' if off > 0 else 'behind'}"
