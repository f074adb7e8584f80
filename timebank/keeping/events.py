"""System events that the sysop starts early or takes back.

An early event closes the board like a scheduled one: callers can use, stake, borrow and withdraw
only the minutes before it, minutes past it are held for them, and the board opens again by itself.
It replaces the next event of its name. If the sysop takes it back, the scheduled event comes at its
time, and the held minutes can be used again.

Each early event is a row in the books, which every entry reads (ledger/early_events.py). So all
servers of a board know it, also after a restart.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import NamedTuple

from sqlalchemy import bindparam, delete, or_

from timebank.callers import sysop_log
from timebank.errors import EventRefused
from timebank.ledger import early_events
from timebank.ledger.database import Desk
from timebank.ledger.schema import callers, instant, stamp
from timebank.ledger.schema import early_events as rows
from timebank.ledger.sql import Prepared, change, equal, insert_into
from timebank.settings.schedule import ClosedPeriod, EarlyEvent, Event, Schedule
from timebank.words import MINUTE, span

LEAST_MINUTES, MOST_MINUTES = 1, 7 * 24 * 60  # the length of an event, as in sysop.toml
USUAL_NOTICE = 1  # minutes between the command and the event
MOST_NOTICE = 60
LONGEST_NAME = 40
# A row stays for some time after its event, because the clock may be set back.
RETENTION = timedelta(days=2)

_ADD = Prepared(lambda: insert_into(rows, "starts ends name instead_of"))
_TAKE_BACK = Prepared(lambda: delete(rows).where(equal(rows.c.starts)))
_FORGET = Prepared(
    lambda: delete(rows).where(
        rows.c.ends < bindparam("before"),
        or_(rows.c.instead_of.is_(None), rows.c.instead_of < bindparam("before")),
    )
)
# Held minutes without an event to wait for come back with the caller's next entry.
_LET_GO = Prepared(
    lambda: change(
        callers,
        "",
        callers.c.held_until > bindparam("since"),
        callers.c.held_until <= bindparam("until"),
        held_until=None,
    )
)


class EventAsked(NamedTuple):
    """The sysop's request. `name` None is the next event, `minutes` None its scheduled length."""

    name: str | None = None
    minutes: int | None = None
    notice: int = USUAL_NOTICE


class Started(NamedTuple):
    event: EarlyEvent
    words: str  # a sentence that describes the event


def plan(desk: Desk, asked: EventAsked) -> Started:
    """Return what `start` would do, and change nothing. Raises `EventRefused` as `start` does."""
    schedule = early_events.current_schedule(desk)
    _refuse_second(desk, schedule)
    starts = stamp(desk.now) + asked.notice * MINUTE
    upcoming = _next(schedule, asked, desk.now)
    if upcoming is None:
        event = _unknown(schedule, asked, starts)
    else:
        event = _early(schedule, asked, upcoming, starts)
    return Started(event, _words(schedule, event))


def start(desk: Desk, asked: EventAsked, by: str) -> Started:
    """Start an event early, and write a line into the sysop's log.

    Raises `EventRefused` if the name is unknown and `minutes` are missing, if the scheduled event
    would come first, if the board is closed, or if another event was started early.
    """
    planned = plan(desk, asked)
    event, before = planned.event, stamp(desk.now - RETENTION)
    _FORGET(desk.connection, before=before)
    _ADD(
        desk.connection,
        starts=stamp(event.start),
        ends=stamp(event.end),
        name=event.name,
        instead_of=None if event.instead_of is None else stamp(event.instead_of),
    )
    sysop_log.note(desk, by, None, f"Event started early: {planned.words.rstrip('.')}")
    desk.nudge()
    return planned


def take_back(desk: Desk, by: str) -> str:
    """Take back the early event, and write a line into the sysop's log. Return a sentence.

    Raises `EventRefused` if there is no early event, or it is over.
    """
    event = early_event(desk)
    if event is None:
        raise EventRefused("No event that was started early is on, or about to begin.")
    closed = early_events.current_schedule(desk).closed_at_or_after(event.start)
    assert closed is not None  # this very event
    _TAKE_BACK(desk.connection, starts=stamp(event.start))
    _LET_GO(desk.connection, since=stamp(event.start), until=stamp(closed.end))
    words = f"{event.name} is taken back"
    following = early_events.current_schedule(desk).closed_at_or_after(desk.now)
    if following is not None:
        words += f"; {closed_words(desk, following)}"
    sysop_log.note(desk, by, None, f"Event taken back: {words}")
    desk.nudge()
    return f"{words}."


def early_event(desk: Desk) -> EarlyEvent | None:
    """Return the early event that is coming or on, or None."""
    events = early_events.load(desk)
    return next((event for event in events if not event.is_over(desk.now)), None)


def next_words(desk: Desk) -> str:
    """Return sentences about the next closed period, and whether the sysop started it early."""
    closed = early_events.current_schedule(desk).closed_at_or_after(desk.now)
    if closed is None:
        return "No system event is to come."
    words = closed_words(desk, closed)
    early = early_event(desk)
    sequel = ""
    if early is not None and closed.start <= early.start < closed.end:
        sequel = " It was started early: `door event end` takes it back."
    return f"{words[0].upper()}{words[1:]}.{sequel}"


def closed_words(desk: Desk, closed: ClosedPeriod) -> str:
    """Return a clause about a closed period, in the board's local time."""
    local = desk.settings.schedule.local
    end = f"until {_time(local(closed.end), local(desk.now))}"
    if closed.start <= desk.now:
        return f"the board is closed for {closed.name} {end}"
    return f"{closed.name} is from {_time(local(closed.start), local(desk.now))} {end}"


def _refuse_second(desk: Desk, schedule: Schedule) -> None:
    """Raise `EventRefused` if the board is closed or an event was started early already."""
    closed = schedule.closed_at_or_after(desk.now)
    if closed is not None and closed.start <= desk.now:
        words = closed_words(desk, closed)
        raise EventRefused(f"{words[0].upper()}{words[1:]}.")
    event = early_event(desk)
    if event is not None:
        local = schedule.local
        begins = _time(local(event.start), local(desk.now))
        raise EventRefused(f"{event.name} was started early already, and begins at {begins}.")


def _next(schedule: Schedule, asked: EventAsked, now: datetime) -> tuple[datetime, Event] | None:
    if asked.name is None:
        return schedule.next_occurrence(None, now)
    wanted = asked.name.casefold()
    names = {event.name for event in schedule.events if event.name.casefold() == wanted}
    return schedule.next_occurrence(min(names), now) if names else None


def _early(
    schedule: Schedule, asked: EventAsked, upcoming: tuple[datetime, Event], starts: int
) -> EarlyEvent:
    begins, event = upcoming
    if stamp(begins) <= starts:
        raise EventRefused(f"{event.name} begins at {schedule.local(begins):%H:%M} by itself.")
    seconds = (asked.minutes or event.minutes) * MINUTE
    return EarlyEvent(event.name, instant(starts), instant(starts + seconds), begins)


def _unknown(schedule: Schedule, asked: EventAsked, starts: int) -> EarlyEvent:
    """Return an unscheduled event of the sysop's name and minutes. Raises `EventRefused`."""
    names = sorted({event.name for event in schedule.events})
    known = f"sysop.toml has: {', '.join(names)}." if names else "sysop.toml has none."
    if asked.name is None:
        raise EventRefused(f"There is no event to start early: name one, with its minutes. {known}")
    name = " ".join(asked.name.split())
    if asked.minutes is None:
        raise EventRefused(f"There is no event {name}. {known} For one of its own say its minutes.")
    if not (name and name.isprintable() and "|" not in name and len(name) <= LONGEST_NAME):
        raise EventRefused(
            f"The name of an event has 1 to {LONGEST_NAME} characters that can be shown, and no |."
        )
    return EarlyEvent(name, instant(starts), instant(starts + asked.minutes * MINUTE), None)


def _words(schedule: Schedule, event: EarlyEvent) -> str:
    start, end = schedule.local(event.start), schedule.local(event.end)
    words = (
        f"{event.name} closes the board from {start:%H:%M} to {_time(end, start)},"
        f" {span(int((event.end - event.start).total_seconds()))}"
    )
    if event.instead_of is not None:
        words += f", in place of the one at {_time(schedule.local(event.instead_of), start)}"
    return f"{words}."


def _time(local: datetime, now: datetime) -> str:
    return f"{local:%H:%M}" if local.date() == now.date() else f"{local:%Y-%m-%d %H:%M}"
