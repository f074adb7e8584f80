"""The board's clock: the wall clock, checked against the uptime of the machine and the books.

A wrong wall clock would grant days of a later year, release held time too early, and close accounts
of callers who seem to be gone. So the board believes the wall clock only while it advances with the
uptime. It has *leapt* if it differs by more than LEAP_SECONDS from the believed time plus the
uptime since. Then the board counts on by itself until

- the wall clock agrees with that count again;
- the kernel says twice, AGREEMENT_SECONDS apart, that time servers agree with the wall clock; or
- the sysop says so (`timebank clock --believe`).

The count starts again with each boot of the machine, from the last time in the books. A wall clock
behind that time is not believed. One ahead of it is, because a board may have been off for weeks.
If it is ahead by more than GAP_SECONDS, the clock is *in doubt*: nothing irreversible is done until
it has run well for TRIAL_SECONDS, or time servers or the sysop agree with it. `clock_mend` corrects
what a wrong clock did.

All processes of a machine share one belief, in the table `clocks`.
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

LEAP_SECONDS = 300.0  # smaller corrections of the wall clock are believed at once
GAP_SECONDS = 86_400.0  # a machine that was off for longer has a clock in doubt
AGREEMENT_SECONDS = 300.0  # between the two checks at which time servers must agree
TRIAL_SECONDS = 86_400.0  # for which a clock in doubt must run well
SAVE_SECONDS = 3_600.0  # after which `Belief.sure` is saved again
DRIFT_SECONDS = 10.0  # smaller corrections of `Belief.zero` are not saved
REPEAT_SECONDS = 60.0  # within which all processes notice the same leap

BY = "clock"
RIGHT = "The clock is right from here on"
DAY, HOUR, MINUTE = 86_400, 3_600, 60


@dataclass(frozen=True, slots=True)
class Belief:
    """The board's belief about the clock in one boot of the machine: a row of `clocks`.

    Instants are seconds since 1970, uptimes are seconds since the boot.
    """

    boot: str
    # The instant at which the uptime was 0.
    zero: float
    # The uptime at which the board first opened in this boot.
    since: float
    # False for a clock in doubt.
    certain: bool
    # An instant that has certainly passed.
    sure: float
    # Seconds by which the wall clock is ahead; None while it is believed.
    leap: float | None = None
    # The uptime at which time servers first agreed.
    agreed: float | None = None
    # The uptime at which a leap was last reported.
    noted: float | None = None
    # The last transfer before a leap was found to be right. Transfers up to it were written under a
    # wrong clock, so their times prove nothing.
    after: int | None = None


@dataclass(frozen=True, slots=True)
class Judgement:
    """The outcome of a check of the clock."""

    belief: Belief
    is_changed: bool
    # Sentences without a full stop, for the sysop.
    news: tuple[str, ...] = ()


class BelievedClock:
    """The clock of a board in one process. Any thread may read it."""

    def __init__(self, instruments: Instruments) -> None:
        """Believe the wall clock until `adopt` gets a judgement."""
        self.instruments = instruments
        self._zero = self._wall_zero()
        self._off = 0.0
        self._last_leap = 0.0  # seconds; kept after the leap has passed
        self._belief: Belief | None = None

    # Reading.

    def now(self) -> datetime:
        wall, uptime = self.instruments.now(), self.instruments.uptime()
        zero = wall.timestamp() - uptime
        off = zero - self._zero
        if -LEAP_SECONDS <= off <= LEAP_SECONDS:
            self._zero, self._off = zero, 0.0
            return wall
        self._off = self._last_leap = off
        return datetime.fromtimestamp(self._zero + uptime, UTC)

    def reading(self) -> ClockReading:
        machine = self.instruments
        return ClockReading(self.now(), machine.boot(), machine.uptime())

    @property
    def off(self) -> float:
        """Seconds by which the wall clock is ahead of the board's; 0 while it is believed."""
        self.now()
        return self._off

    @property
    def is_certain(self) -> bool:
        """Whether the clock is beyond doubt, so that irreversible work may be done."""
        return self._belief is not None and self._belief.certain

    def from_wall(self, at: datetime) -> datetime:
        """Convert a time of the wall clock to the board's time."""
        return datetime.fromtimestamp(at.timestamp() - self.off, UTC)

    def _wall_zero(self) -> float:
        return self.instruments.now().timestamp() - self.instruments.uptime()

    # Believing.

    def adopt(self, judgement: Judgement) -> None:
        belief = judgement.belief
        if abs(belief.zero - self._zero) > LEAP_SECONDS:
            self._zero = belief.zero
        self._belief = belief
        self._last_leap = 0.0
        self.now()

    def judge_and_save(self, desk: Desk) -> Judgement:
        """Judge the clock and save a changed belief. `adopt` the judgement after the commit."""
        judgement = self.judge(desk)
        if judgement.is_changed:
            _write(desk, judgement.belief)
        self._note(desk, BY, judgement)
        return judgement

    def _note(self, desk: Desk, by: str, judgement: Judgement) -> None:
        """Write the news into the sysop's log, by the clock that was believed until now.

        If the clock is set back, a line at the right time follows. It tells an audit why later rows
        have earlier times.
        """
        for words in judgement.news:
            sysop_log.note(desk, by, None, words)
        if self._zero - judgement.belief.zero > LEAP_SECONDS:
            right = datetime.fromtimestamp(judgement.belief.sure, UTC)
            sysop_log.note(desk, by, None, RIGHT, at=right)

    def judge(self, desk: Desk) -> Judgement:
        """Check the wall clock against uptime, books and time servers. Writes nothing."""
        known = _read_belief(desk, self.instruments.boot())
        if known is None:
            return self._first_look(desk)
        is_news = self._belief is None or known.zero != self._belief.zero
        if is_news and abs(known.zero - self._zero) > LEAP_SECONDS:
            # Another process has corrected the clock, or this one has just started.
            self._zero = known.zero
        self.now()
        belief, news = self._judge_leap(desk, known) if self._off else self._judge_time(known)
        return Judgement(belief, belief != known, tuple(news))

    def _first_look(self, desk: Desk) -> Judgement:
        uptime, shown = self.instruments.uptime(), self._wall_zero()
        wall = shown + uptime
        before = _LAST_BELIEF(desk.connection).first()
        last = _last_certain(desk, before)
        belief = Belief(self.instruments.boot(), shown, uptime, True, wall)
        if last is None or -LEAP_SECONDS <= wall - last <= GAP_SECONDS:
            # A clock in doubt was far ahead of what is known, so it was ahead of this one.
            was_ahead = before is not None and not before.certain
            return Judgement(belief, True, (RIGHT,) if was_ahead else ())
        if wall > last:
            news = f"The clock is {_length_words(wall - last)} ahead of the last entry in the books"
            doubt = "; until it is known to be right nothing is deleted"
            return Judgement(replace(belief, certain=False, sure=last), True, (news + doubt,))
        off = wall - last
        belief = replace(belief, zero=last - uptime, sure=last, leap=off, noted=uptime)
        return Judgement(belief, True, (_leap_words(off),))

    def _judge_leap(self, desk: Desk, known: Belief) -> tuple[Belief, list[str]]:
        uptime, off = self.instruments.uptime(), self._off
        if known.leap is None or abs(known.leap - off) > LEAP_SECONDS:
            leapt = replace(known, leap=off, agreed=None, noted=uptime)
            return leapt, [_leap_words(off)]
        if not self.instruments.is_synchronised():
            return replace(known, agreed=None), []
        if known.agreed is None:
            return replace(known, agreed=uptime), []
        if uptime - known.agreed < AGREEMENT_SECONDS:
            return known, []
        words = f"Time servers agree with the wall clock, so it is believed: {_change_words(off)}"
        return self._corrected(desk, known), [words]

    def _judge_time(self, known: Belief) -> tuple[Belief, list[str]]:
        uptime = self.instruments.uptime()
        now, belief, news = self._zero + uptime, known, []
        if known.leap is not None:
            belief = replace(belief, leap=None, agreed=None)
            news.append("The wall clock agrees with the board's again")
        elif self._last_leap and (known.noted is None or uptime - known.noted > REPEAT_SECONDS):
            belief = replace(belief, noted=uptime)
            news.append(f"{_leap_words(self._last_leap)}; it is right again")
        if not belief.certain:
            belief, words = self._judge_doubt(belief)
            news += words
        elif now - belief.sure > SAVE_SECONDS:
            belief = replace(belief, sure=now)
        if abs(self._zero - belief.zero) > DRIFT_SECONDS:
            belief = replace(belief, zero=self._zero)
        return belief, news

    def _judge_doubt(self, belief: Belief) -> tuple[Belief, list[str]]:
        uptime = self.instruments.uptime()
        if uptime - belief.since >= TRIAL_SECONDS:
            return self._trusted(belief), [
                "The clock has run well for a day, and is not doubted now"
            ]
        if not self.instruments.is_synchronised():
            return replace(belief, agreed=None), []
        if belief.agreed is None:
            return replace(belief, agreed=uptime), []
        if uptime - belief.agreed < AGREEMENT_SECONDS:
            return belief, []
        return self._trusted(belief), [
            "Time servers agree with the clock, and it is not doubted now"
        ]

    def _trusted(self, belief: Belief) -> Belief:
        now = self._zero + self.instruments.uptime()
        return replace(belief, certain=True, sure=now, agreed=None)

    def _corrected(self, desk: Desk, known: Belief) -> Belief:
        shown, uptime = self._wall_zero(), self.instruments.uptime()
        after = known.after
        if abs(shown - known.zero) > LEAP_SECONDS:
            after = _LAST_TRANSFER.one(desk.connection)
        right = replace(known, zero=shown, certain=True, sure=shown + uptime, after=after)
        return replace(right, leap=None, agreed=None)

    def believe(self, desk: Desk, by: str) -> Judgement:
        """Believe the wall clock, on the word of the sysop `by`; `adopt` the result afterwards."""
        judged = self.judge(desk)
        off = self._wall_zero() - judged.belief.zero
        words = "Believed the wall clock"
        if abs(off) > LEAP_SECONDS:
            words = f"Believed the wall clock: {_change_words(off)}"
        belief = self._corrected(desk, judged.belief)
        _write(desk, belief)
        mend_leases(desk, int(belief.sure))
        judgement = Judgement(belief, True, (words,))
        self._note(desk, by, judgement)
        return judgement


def is_certain(desk: Desk) -> bool:
    """Return whether the clock of this transaction is beyond doubt."""
    if desk.clock_reading is None:
        return True
    known = _read_belief(desk, desk.clock_reading.boot)
    return known is not None and known.certain


def _last_certain(desk: Desk, before: Row[Any] | None) -> float | None:
    """Return the latest time that certainly passed before this boot; None for new books.

    In seconds since 1970. `before` is the last boot's row of the clock's judgement. Times that a
    doubtful or wrong clock wrote are left out.
    """
    if before is not None and not before.certain:
        return float(before.sure)
    entries = _LAST_TIMES(desk.connection).one()
    known = [at for at in (*entries, before and before.sure) if at is not None]
    return float(max(known)) if known else None


def _last_times() -> sql.Query:
    """Select the times of the last transfer under a right clock and of the last lease renewal."""
    wrong = select(sql.highest(clocks.c.after)).scalar_subquery()
    last = transfers.c.id.desc()
    moved = select(transfers.c.at).where(transfers.c.id > wrong).order_by(last).limit(1)
    renewed = select(func.max(calls.c.renewed)).where(calls.c.closed.is_(None))
    return select(moved.scalar_subquery(), renewed.scalar_subquery())


_LAST_TIMES = sql.Prepared(_last_times)
_LAST_TRANSFER: sql.Reader[int | None] = sql.value(lambda: select(func.max(transfers.c.id)))
_LAST_BELIEF = sql.Prepared(
    lambda: select(clocks.c.certain, clocks.c.sure).order_by(clocks.c.number.desc()).limit(1)
)
_COLUMNS = " ".join(each.name for each in fields(Belief))
_BELIEF = sql.Reader(
    lambda row: Belief(*row),
    lambda: select(*sql.columns_of(clocks, _COLUMNS)).where(sql.equal(clocks.c.boot)),
)
_RENEW = sql.Prepared(lambda: sql.change(clocks, _COLUMNS, sql.equal(clocks.c.boot)))
_ADD = sql.Prepared(lambda: sql.insert_into(clocks, _COLUMNS))


def _read_belief(desk: Desk, boot: str) -> Belief | None:
    belief = _BELIEF.first(desk.connection, boot=boot)
    return None if belief is None else replace(belief, certain=bool(belief.certain))


def _write(desk: Desk, belief: Belief) -> None:
    values = {**asdict(belief), "certain": int(belief.certain)}
    if not _RENEW(desk.connection, **values).rowcount:
        _ADD(desk.connection, **values)


def _leap_words(off: float) -> str:
    side = "ahead of" if off > 0 else "behind"
    return (
        f"The wall clock leapt and is {_length_words(abs(off))} {side} what has passed:"
        " it is not believed, and the board goes on by its own count (see `timebank clock`)"
    )


def _change_words(off: float) -> str:
    """Return a clause that says how the board's clock is set, by `off` seconds.

    >>> _change_words(7200.0), _change_words(-86400.0 * 366)
    ("the board's clock is set forward by 2 hours", "the board's clock is set back by 366 days")
    """
    return (
        f"the board's clock is set {'forward' if off > 0 else 'back'} by {_length_words(abs(off))}"
    )


def _length_words(seconds: float) -> str:
    """Return a length of time in words, in a unit that suits it.

    >>> [_length_words(seconds) for seconds in (400.0, 7200.0, 86400.0, 86400.0 * 366 + 5)]
    ['6 minutes 40 seconds', '2 hours', '24 hours', '366 days']
    """
    whole = round(seconds)
    if whole >= 2 * DAY:
        return f"{whole // DAY} days"
    if whole >= 2 * HOUR:
        return f"{whole // HOUR} hours"
    return span(whole)


def offset_words(off: float) -> str:
    """Return in words by how many seconds the wall clock is ahead or behind.

    >>> offset_words(-7200.0)
    '2 hours behind'
    """
    return f"{_length_words(abs(off))} {'ahead' if off > 0 else 'behind'}"
