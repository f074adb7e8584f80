"""How times, coins and events are put into words, the same way everywhere."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING

from timebank.language import N_, Phrase, _, ngettext
from timebank.ledger.reasons import Cutoff, Earned, HeldBack, LeftOfDay, OldStake
from timebank.ledger.sentences import cutoff_words
from timebank.words import day_words, decimal, short_weekday, span

if TYPE_CHECKING:
    from timebank.callers.own_limits import HourlySummary
    from timebank.ledger.purse import Purse, Receipt
    from timebank.ledger.transfers import TransferRow
    from timebank.settings.schedule import EarlyEvent, Schedule

DAY = timedelta(days=1)

IN_DOUBT = Phrase("The books can't say yet if your last move counts. Please wait.")
NEVER_KNOWN = N_("The books can't say if your last move counts. Your next call will show.")
GONE = N_("The board has to close: its books are damaged. The sysop has been told.")


def clock_time(seconds: int) -> str:
    """Return a span of seconds as m:ss, or h:mm:ss from an hour on.

    >>> clock_time(61), clock_time(3600), clock_time(-5)
    ('1:01', '1:00:00', '-0:05')
    """
    sign, seconds = ("-", -seconds) if seconds < 0 else ("", seconds)
    hours, rest = divmod(seconds, 3600)
    if hours:
        return f"{sign}{hours}:{rest // 60:02}:{rest % 60:02}"
    return f"{sign}{rest // 60}:{rest % 60:02}"


def coins(count: int) -> str:
    """Return a number of coins in words.

    >>> coins(1), coins(12)
    ('1 coin', '12 coins')
    """
    return ngettext("{number} coin", "{number} coins", abs(count)).format(number=count)


def coins_of(seconds: int, coin: int) -> str:
    """Return an amount of seconds in coins of `coin` seconds; a half as every terminal has it.

    >>> coins_of(90, 60), coins_of(30, 60), coins_of(120, 60)
    ('1.5 coins', '0.5 coins', '2 coins')
    """
    whole, rest = divmod(seconds, coin)
    if not rest:
        return coins(whole)
    if rest * 2 != coin:
        return span(seconds)
    # For translators: a number with a half, such as 1.5; the form is that of the 1 before the half.
    told = ngettext("{decimal} coins", "{decimal} coins", whole)
    return told.format(decimal=decimal(whole + 0.5))


def coin_number(seconds: int, coin: int) -> str:
    """Return how many coins of `coin` seconds there are in an amount, as a number alone, to a half.

    >>> coin_number(90, 60), coin_number(120, 60)
    ('1.5', '2')
    """
    return decimal(2 * seconds // coin / 2)


def when(instant: datetime, schedule: Schedule, now: datetime) -> str:
    """Return the board's local time of `instant`: HH:MM, with the weekday beyond a day ahead."""
    local, time = _local(instant, schedule)
    if instant - now < DAY:
        return time
    return _("{day} {time}").format(day=short_weekday(local), time=time)


def hourly_word(word: HourlySummary, schedule: Schedule, now: datetime) -> str:
    """Say what a caller has staked, and lost or won, since they last heard it."""
    time = when(word.since, schedule, now)
    if word.since.date() != now.date():
        time = f"{schedule.local(word.since):%Y-%m-%d %H:%M}"
    if not word.staked:
        return _("Your hourly word: you've staked nothing since {time}.").format(time=time)
    if word.net > 0:
        told = _("Your hourly word: since {time} you've staked {staked} and won {amount}.")
    elif word.net < 0:
        told = _("Your hourly word: since {time} you've staked {staked} and lost {amount}.")
    else:
        told = _("Your hourly word: since {time} you've staked {staked} and lost nothing.")
    return told.format(time=time, staked=span(word.staked), amount=span(abs(word.net)))


def starts_early(event: EarlyEvent, schedule: Schedule, now: datetime) -> str:
    """Say when an event begins that the sysop has just started early, and when it is over."""
    words = _("The sysop starts {event} early: the board is closed from {time} until {end}.")
    times = {"time": when(event.start, schedule, now), "end": when(event.end, schedule, now)}
    return words.format(event=event.name, **times)


def taken_back(event: EarlyEvent) -> str:
    return _("The sysop takes {event} back: the board stays open.").format(event=event.name)


@lru_cache(maxsize=64)
def _local(instant: datetime, schedule: Schedule) -> tuple[datetime, str]:
    """Return a local time, and as HH:MM; every status line names the next event's."""
    local = schedule.local(instant)
    return local, f"{local:%H:%M}"


def fresh_minutes(schedule: Schedule, now: datetime) -> str:
    """Say when a caller has minutes again: when the next day begins, or the event of that time is
    over."""
    begins = schedule.next_day(now)
    closed = schedule.closed_at_or_after(begins)
    if closed is not None and closed.start <= begins:
        time = when(closed.end, schedule, now)
        return _("Fresh minutes at {time}, after {event}.").format(time=time, event=closed.name)
    local = schedule.local(begins)
    if local.hour or local.minute:  # where summer time leaves out midnight
        return _("Fresh minutes at {time}.").format(time=f"{local:%H:%M}")
    return _("Fresh minutes at midnight.")


def comes_back_after(purse: Purse, schedule: Schedule) -> str:
    """Name the event after which the time that is held comes back, "" where nothing is promised.

    What an event of more than one day holds belongs to the day that is over then.
    """
    closing = purse.closing
    if not purse.held or closing is None or schedule.day_of(closing.end) > purse.day:
        return ""
    return closing.name


def sentences(receipt: Receipt) -> list[str]:
    """Return what a caller is told of an entry: in the order of its rows, then what no row has."""
    return [*(said for row in receipt.rows if (said := told(row))), *map(str, receipt.told)]


def told(row: TransferRow) -> str:
    """Return what a caller is told of a row of their ledger, "" for what they see anyway."""
    match row.kind:
        case "grant":
            return _("You have {amount} today.").format(amount=span(row.amount))
        case "forfeit" | "carry":
            return _of_another_day(row)
        case "release" | "held" if row.amount == 1:
            return ""  # wall clock and call, rounded against each other
        case "held" if isinstance(row.reason, HeldBack) and row.reason.another_day:
            event = cutoff_words(Cutoff(row.reason.event, row.reason.at, row.reason.host))
            return _("You can't use {amount} today: {event} ends on another day.").format(
                amount=span(row.amount), event=event
            )
        case "release" | "clamp" | "held" | "external" | "loan share" | "loan paid":
            return f"{row.why}."
    return ""


def _of_another_day(row: TransferRow) -> str:
    """Say what became of minutes that a day has left behind."""
    match row.reason:
        case LeftOfDay(day):
            words = _("{amount} left over from {day} expired.")
        case OldStake():
            words, day = _("{amount} from an old stake expired."), ""
        case Earned(day, True):
            words = _("{amount} earned on {day} went to your bank.")
        case Earned(day, False):
            words = _("{amount} earned on {day} expired: this board has no time bank.")
        case Earned(day):
            words = _("{amount} earned on {day} left these games.")
        case _other:
            words, day = _("{amount}: {why}."), ""
    return words.format(amount=span(row.amount), day=day and day_words(day), why=row.why)
