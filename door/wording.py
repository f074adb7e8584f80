"""The words for times, coins, events and rows of the ledger, the same on every screen."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING

from timebank import words as plain_words
from timebank.language import N_, Phrase, _, ngettext
from timebank.ledger.reasons import Cutoff, Earned, HeldBack, LeftOfDay, OldStake
from timebank.ledger.sentences import cutoff_words
from timebank.words import (
    date_time_words,
    day_words,
    decimal,
    short_weekday,
    span,
    time_words,
)

if TYPE_CHECKING:
    from timebank.callers.own_limits import HourlySummary
    from timebank.ledger.purse import Purse, Receipt
    from timebank.ledger.transfers import TransferRow
    from timebank.settings.schedule import EarlyEvent, Schedule
    from timebank.settings.settings import BankSettings

DAY = timedelta(days=1)

clock_time = plain_words.clock_time

IN_DOUBT = Phrase("The books can't say yet if your last move counts. Please wait.")
NEVER_KNOWN = N_("The books can't say if your last move counts. Your next call will show.")
BOOKS_DAMAGED = N_("The board has to close: its books are damaged. The sysop has been told.")


def coins(count: int) -> str:
    """Return a number of coins in words.

    >>> coins(1), coins(12)
    ('1 coin', '12 coins')
    """
    return ngettext("{number} coin", "{number} coins", abs(count)).format(number=count)


def coins_of(seconds: int, coin: int) -> str:
    """Return an amount of seconds in coins of `coin` seconds; half coins in ASCII, others as time.

    >>> coins_of(90, 60), coins_of(30, 60), coins_of(120, 60)
    ('1.5 coins', '0.5 coins', '2 coins')
    """
    whole, rest = divmod(seconds, coin)
    if not rest:
        return coins(whole)
    if rest * 2 != coin:
        return span(seconds)
    # For translators: a number with a half, such as 1.5; the form is that of the 1 before the half.
    words = ngettext("{decimal} coins", "{decimal} coins", whole)
    return words.format(decimal=decimal(whole + 0.5))


def coin_number(seconds: int, coin: int) -> str:
    """Return an amount of seconds as a number of coins of `coin` seconds, rounded down to a half.

    >>> coin_number(90, 60), coin_number(120, 60)
    ('1.5', '2')
    """
    return decimal(2 * seconds // coin / 2)


def local_time(instant: datetime, schedule: Schedule, now: datetime) -> str:
    """Return the board's local time of `instant` with the weekday from a day ahead on."""
    local = _local(instant, schedule)
    time = time_words(local)
    if instant - now < DAY:
        return time
    return _("{day} {time}").format(day=short_weekday(local), time=time)


def hourly_summary_words(word: HourlySummary, schedule: Schedule, now: datetime) -> str:
    """Return what a caller has staked, and lost or won, since the last hourly summary."""
    time = local_time(word.since, schedule, now)
    if word.since.date() != now.date():
        time = date_time_words(schedule.local(word.since))
    if not word.staked:
        return _("Your hourly summary: you've bet nothing since {time}.").format(time=time)
    if word.net > 0:
        words = _("Your hourly summary: since {time} you've bet {staked} and won {amount}.")
    elif word.net < 0:
        words = _("Your hourly summary: since {time} you've bet {staked} and lost {amount}.")
    else:
        words = _("Your hourly summary: since {time} you've bet {staked} and lost nothing.")
    return words.format(time=time, staked=span(word.staked), amount=span(abs(word.net)))


def early_event_notice(event: EarlyEvent, schedule: Schedule, now: datetime) -> str:
    """Return the notice that the sysop starts an event early, with its begin and end."""
    words = _("The sysop starts {event} early: the board is closed from {time} until {end}.")
    times = {
        "time": local_time(event.start, schedule, now),
        "end": local_time(event.end, schedule, now),
    }
    return words.format(event=event.name, **times)


def withdrawn_event_notice(event: EarlyEvent) -> str:
    return _("The sysop takes {event} back: the board stays open.").format(event=event.name)


@lru_cache(maxsize=64)
def _local(instant: datetime, schedule: Schedule) -> datetime:
    """Return a local time. Cached, because every status line needs the next one."""
    return schedule.local(instant)


def fresh_minutes(schedule: Schedule, now: datetime) -> str:
    """Return when a caller gets new minutes: at the next day, or after the event at that time."""
    begins = schedule.next_day(now)
    closed = schedule.closed_at_or_after(begins)
    if closed is not None and closed.start <= begins:
        time = local_time(closed.end, schedule, now)
        return _("Fresh minutes at {time}, after {event}.").format(time=time, event=closed.name)
    local = schedule.local(begins)
    if local.hour or local.minute:  # where summer time leaves out midnight
        return _("Fresh minutes at {time}.").format(time=time_words(local))
    return _("Fresh minutes at midnight.")


def expiry(settings: BankSettings) -> str:
    """Return what becomes of the minutes of the day that a caller does not use."""
    if settings.mode == "built-in" and settings.limits.deposit:
        return _("Today's minutes are gone at midnight unless you use or bank them.")
    return _("Today's minutes are gone at midnight unless you use them.")


def releasing_event(purse: Purse, schedule: Schedule) -> str:
    """Return the name of the event after which held time comes back; "" if none does.

    Time does not come back after an event that ends on a later day, because it expires with its
    own day.
    """
    closing = purse.closing
    if not purse.held or closing is None or schedule.day_of(closing.end) > purse.day:
        return ""
    return str(closing.name)


def sentences(receipt: Receipt) -> list[str]:
    """Return the sentences for a caller about an entry, without its awards: see `Caller.earned`."""
    rows = (sentence for row in receipt.rows if (sentence := row_sentence(row)))
    return [*rows, *map(str, receipt.remarks)]


def row_sentence(row: TransferRow) -> str:
    """Return the sentence for a caller about a row of their ledger; "" if they see it anyway."""
    match row.kind:
        case "grant":
            return _("You have {amount} today.").format(amount=span(row.amount))
        case "forfeit" | "carry":
            return _past_day_sentence(row)
        case "release" | "held" if row.amount == 1:
            return ""  # wall clock and call are rounded differently
        case "held" if isinstance(row.reason, HeldBack) and row.reason.another_day:
            event = cutoff_words(Cutoff(row.reason.event, row.reason.at, row.reason.host))
            return _("You can't use {amount} today: {event} ends on another day.").format(
                amount=span(row.amount), event=event
            )
        case "release" | "clamp" | "held" | "external" | "loan share" | "loan paid":
            return f"{row.why}."
    return ""


def _past_day_sentence(row: TransferRow) -> str:
    """Return what became of the minutes that were left of an earlier day."""
    match row.reason:
        case LeftOfDay(day):
            words = _("{amount} left over from {day} expired.")
        case OldStake():
            words, day = _("{amount} from an old bet expired."), ""
        case Earned(day, True):
            words = _("{amount} earned on {day} went to your bank.")
        case Earned(day, False):
            words = _("{amount} earned on {day} expired: this board has no time bank.")
        case Earned(day):
            words = _("{amount} earned on {day} left these games.")
        case _other:
            words, day = _("{amount}: {why}."), ""
    return words.format(amount=span(row.amount), day=day and day_words(day), why=row.why)
