"""What a clock did that was wrong after all, set right.

A board that was opened under a wrong clock, or whose sysop believed one, has begun days that are
not to come for a long time. Their callers would be granted nothing until then, and what is held
for them would wait. Mending takes such a day back: it becomes the last one that was theirs by the
right clock, so that the next day brings its minutes. What they were granted stays theirs; what
those days took from them beyond that is given back.

A day that is ahead by one is left alone: it was granted early, and no grant is missed.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta

from timebank.callers import sysop_log
from timebank.calls.calls import live_call
from timebank.guests.departure import leave_without_call
from timebank.ledger.database import Desk
from timebank.ledger.entry import Posting
from timebank.ledger.reasons import Cutoff, Mended
from timebank.ledger.schema import instant, stamp
from timebank.ledger.transfers import ADJUSTMENT
from timebank.words import span

DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Ahead:
    """A caller for whom the clock has gone too far, and how that is mended."""

    caller_id: int
    name: str
    # Days that are taken back, oldest first, and the one that he is on then; none of them where
    # only what is held waits too long.
    days: tuple[str, ...]
    back_to: str | None
    # Seconds that these days took from him beyond what they granted.
    missing: int
    # When what is held was to come back, and when it will, and behind what; None where it is not
    # mended. `held_to` is None when it comes back at once.
    held_until: int | None
    held_to: int | None
    held_behind: Cutoff | None

    def words(self, desk: Desk) -> str:
        """Say what is mended, without a full stop."""
        said = []
        if self.days:
            said.append(f"day set back from {self.days[-1]} to {self.back_to}")
        if self.missing:
            said.append(f"{span(self.missing)} given back")
        if self.held_until is not None:
            schedule = desk.settings.schedule
            to = "now"
            if self.held_to is not None:
                to = f"{schedule.local(instant(self.held_to)):%Y-%m-%d %H:%M}"
            was = f"{schedule.local(instant(self.held_until)):%Y-%m-%d %H:%M}"
            said.append(f"what is held comes back at {to} and not at {was}")
        return ", ".join(said)


CALLERS = """
SELECT c.id, c.name, c.day, c.held_until, (SELECT balance FROM accounts
    WHERE caller_id = c.id AND unit = 'second' AND kind = 'held')
FROM callers c WHERE c.deleted IS NULL AND (c.day > ?1 OR c.held_until > ?2) ORDER BY c.id
"""


def ahead(desk: Desk) -> list[Ahead]:
    """List for whom the clock of this transaction says that another has gone too far."""
    schedule = desk.settings.schedule
    today = schedule.day_of(desk.now)
    tomorrow = (today + DAY).isoformat()
    closing = schedule.closed_at_or_after(desk.now)
    ends = stamp(desk.now) if closing is None else stamp(closing.end)
    behind = None
    if closing is not None:
        behind = Cutoff(closing.name, f"{schedule.local(closing.start):%H:%M}", host=False)
    found = []
    for number, name, day, held_until, held in desk.connection.exec_driver_sql(
        CALLERS, (tomorrow, ends)
    ).all():
        days: tuple[str, ...] = ()
        back_to, missing = None, 0
        if day is not None and day > tomorrow:
            days, back_to = _days(desk, number, today)
            missing = _missing(desk, number, days)
        waits = bool(held) and held_until is not None and held_until > ends
        if days or waits:
            to = ends if closing is not None else None
            ways = (held_until, to, behind) if waits else (None, None, None)
            found.append(Ahead(number, name, days, back_to, missing, *ways))
    return found


def mend(desk: Desk, by: str) -> list[Ahead]:
    """Set everything right that `ahead` lists, each in the sysop's log; returns it."""
    mended = ahead(desk)
    for each in mended:
        if each.days:
            _take_back(desk, each)
        if each.missing:
            _give_back(desk, each)
        if each.held_until is not None:
            behind = None if each.held_behind is None else each.held_behind.encode()
            desk.connection.exec_driver_sql(
                "UPDATE callers SET held_until = ?, held_behind = coalesce(?, held_behind)"
                " WHERE id = ?",
                (each.held_to, behind, each.caller_id),
            )
        words = each.words(desk)
        sysop_log.note(desk, by, each.caller_id, f"Mended the clock: {words}")
    return mended


def _days(desk: Desk, caller_id: int, today: date) -> tuple[tuple[str, ...], str]:
    """Tell which days of a caller are to be taken back, and to which one."""
    run = desk.connection.exec_driver_sql
    tomorrow = (today + DAY).isoformat()
    wrong = run(
        "SELECT day FROM days WHERE caller_id = ? AND day > ? ORDER BY day", (caller_id, tomorrow)
    ).scalars()
    right = run(
        "SELECT max(day) FROM days WHERE caller_id = ? AND day <= ?", (caller_id, tomorrow)
    ).scalar()
    # Whoever has no other day has had the minutes of today.
    return tuple(wrong), right or today.isoformat()


# What the beginning of a day took from a caller: rows of its entry, up to the last before the day.
TAKEN = """
SELECT coalesce(sum(t.amount), 0) FROM transfers t
JOIN accounts s ON s.id = t.source AND s.caller_id = ?1 AND s.kind IN ('online', 'held')
JOIN accounts g ON g.id = t.target AND g.kind = 'forfeit'
JOIN days d ON d.caller_id = ?1 AND d.day = ?2
WHERE t.id <= d.after AND t.kind IN ('forfeit', 'carry') AND t.entry = (
    SELECT entry FROM transfers WHERE id = coalesce(d.grant_id, d.after))
"""
GRANTED = """
SELECT t.amount FROM days d JOIN transfers t ON t.id = d.grant_id
WHERE d.caller_id = ? AND d.day = ?
"""


def _missing(desk: Desk, caller_id: int, days: tuple[str, ...]) -> int:
    run = desk.connection.exec_driver_sql
    missing = 0
    for day in days:
        missing += run(TAKEN, (caller_id, day)).scalar_one()
        missing -= run(GRANTED, (caller_id, day)).scalar() or 0
    return max(0, missing)


def _take_back(desk: Desk, each: Ahead) -> None:
    """Make the last of the days that are taken back the one that the caller is on.

    It counts what he earned since it began. The days between, and the one whose place it takes,
    are kept apart for their grants.
    """
    run = desk.connection.exec_driver_sql
    caller_id, last = each.caller_id, each.days[-1]
    for day in (each.back_to, *each.days[:-1]):
        run(
            "INSERT INTO mended_days (caller_id, day, grant_id, mended)"
            " SELECT caller_id, day, grant_id, ? FROM days WHERE caller_id = ? AND day = ?",
            (stamp(desk.now), caller_id, day),
        )
        run("DELETE FROM days WHERE caller_id = ? AND day = ?", (caller_id, day))
    # A stake that it parted is no earlier day's any more.
    run(
        "UPDATE days SET day = ?, standing = 0 WHERE caller_id = ? AND day = ?",
        (each.back_to, caller_id, last),
    )
    run("UPDATE callers SET day = ? WHERE id = ?", (each.back_to, caller_id))
    run(
        "UPDATE rounds SET day = ? WHERE caller_id = ? AND settled IS NULL AND day > ?",
        (each.back_to, caller_id, each.back_to),
    )


def _give_back(desk: Desk, each: Ahead) -> None:
    call_id = live_call(desk, each.caller_id)
    if call_id is None:
        posting = Posting.of_caller(desk, each.caller_id, leave_without_call)
    else:
        posting = Posting.of_call(desk, call_id)
    posting.move(ADJUSTMENT, posting.online, each.missing, Mended())
    posting.finish(0, "")
