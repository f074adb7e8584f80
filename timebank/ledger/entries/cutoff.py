"""The rules of the next event: time online never reaches past it.

Winnings that do not fit go to the bank, or are forfeited on a board without one. Other time is held
and released after the event. So are a frozen account's winnings on a board with a bank, and those
that a guest may not save here.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial

from timebank.language import Phrase
from timebank.ledger import reasons
from timebank.ledger.entries.state import CallerState, Leg, Ruling, UpcomingEvent, move
from timebank.ledger.reasons import Cutoff, PutAwayReason
from timebank.ledger.schema import instant, stamp
from timebank.ledger.sentences import call_end, cutoff_words
from timebank.settings.schedule import ClosedPeriod, Schedule
from timebank.settings.settings import BankSettings
from timebank.words import MINUTE, title

SECOND = timedelta(seconds=1)
DAY = timedelta(days=1)


def next_event(
    schedule: Schedule, now: datetime, until: int | None = None, board: str | None = None
) -> UpcomingEvent | None:
    """Return the next event, or None. `until` is the end of the call of a guest of `board`.

    `until` is in whole seconds since 1970. The end of a guest's call counts as an event.
    """
    closing, host = schedule.closed_at_or_after(now), None
    if until is not None and board is not None:
        start = instant(until)
        if closing is None or start < closing.start:
            closing, host = ClosedPeriod(start, start + DAY, call_end(board)), board
    if closing is None:
        return None
    return UpcomingEvent(closing, max(0, (closing.start - now) // SECOND), host)


def cutoff_of(event: UpcomingEvent, settings: BankSettings) -> Cutoff:
    """Return an event's name and local time for the reason of a movement."""
    local = settings.schedule.local(event.period.start)
    name = str(event.period.name) if event.host is None else event.host
    return Cutoff(name, f"{local:%H:%M}", event.host is not None)


def event_phrase(event: UpcomingEvent, settings: BankSettings) -> Phrase:
    """Return an event's name and local time as a phrase, "Mail hour at 03:00"."""
    return Phrase("{event}", event=partial(cutoff_words, cutoff_of(event, settings)))


def release(state: CallerState, settings: BankSettings) -> Ruling:
    """Release the time held for an event that is no longer the next one.

    If the next closed period ends later than `held_until`, the awaited one is over or was removed
    from the schedule. A clock that stepped back releases nothing.
    """
    room, event = state.held, state.event
    if room == 0:
        return Ruling(state)
    if event is not None:
        if state.held_until is not None and stamp(event.period.end) <= state.held_until:
            return Ruling(state)
        room = min(room, max(0, event.seconds - state.online))
    behind = Cutoff.decode(state.held_behind)
    released = move(state, Leg("held", "online", room, reasons.Released(*behind)))
    if room and event is not None and released.state.held:
        # Without room the state stays as it was for the next entry.
        return released.then(_note_wait, event, settings)
    return released


def clamp(
    state: CallerState, now: datetime, settings: BankSettings, winnings: int = 0, source: str = ""
) -> Ruling:
    """Move the time that would reach past the event: put winnings away and hold the rest.

    All of it is held if the winnings must stay in the purse (`must_stay_in_purse`). `winnings` are
    the seconds won in this entry that may be put away, `source` is their game.
    """
    event = state.event
    if event is None or state.online <= event.seconds:
        return Ruling(state)
    surplus = state.online - event.seconds
    won = 0 if must_stay_in_purse(state, settings) else min(surplus, winnings)
    cutoff = cutoff_of(event, settings)
    clamped = put_away(state, "online", won, reasons.Clamped(*cutoff), title(source), settings)
    if surplus == won:
        return clamped
    # A guest has no day on this board.
    day_of, today = settings.schedule.day_of, state.day or settings.schedule.day_of(now).isoformat()
    another_day = not state.is_guest and day_of(event.period.end).isoformat() > today
    held = reasons.HeldBack(*cutoff, another_day=another_day)
    clamped = clamped.then(move, Leg("online", "held", surplus - won, held))
    return clamped.then(_note_wait, event, settings)


def _note_wait(state: CallerState, event: UpcomingEvent, settings: BankSettings) -> Ruling:
    behind = cutoff_of(event, settings).encode()
    return Ruling(state._replace(held_until=stamp(event.period.end), held_behind=behind))


def must_stay_in_purse(state: CallerState, settings: BankSettings) -> bool:
    """Return whether a frozen account keeps time in the purse instead of putting it away.

    A board without a bank forfeits the time even then.
    """
    return state.is_frozen and settings.mode != "none"


def put_away(
    state: CallerState,
    account: str,
    amount: int,
    reason: PutAwayReason,
    source: str,
    settings: BankSettings,
) -> Ruling:
    """Move time that a caller cannot use now to the bank, or forfeit it in time bank mode "none".

    A guest's time pays the guest's loan first, because no grant will ever pay it here.
    """
    if amount == 0:
        return Ruling(state)
    if settings.mode == "none":
        return move(state, Leg(account, "forfeit", amount, replace(reason, banked=False)))
    waiting = state.bank % MINUTE
    banked = move(state, Leg(account, "bank", amount, replace(reason, banked=True)))
    if state.is_guest:
        paid = min(amount, -state.loan)
        banked = banked.then(move, Leg("bank", "loan", paid, reasons.PaidFromBank()))
        amount -= paid
    if settings.mode == "external":
        return banked.then(pass_on, waiting + amount, source)
    return banked


def pass_on(state: CallerState, seconds: int, source: str) -> Ruling:
    """Pass the whole minutes of `seconds` in the bank on through THEBANK.EXT.

    The rest below a minute stays in the bank until later time completes the minute.
    """
    whole = seconds // MINUTE * MINUTE
    return move(state, Leg("bank", "external", whole, reasons.PassedOn(), source))
