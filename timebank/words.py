"""Words for amounts, times, dates, games and authors."""

from __future__ import annotations

import unicodedata
from datetime import date, datetime, time
from functools import cache
from typing import Literal

from timebank.language import N_, Phrase, _, pgettext

# The unit of an account; play money is in cents.
Unit = Literal["second", "usd-cent", "frf-cent"]

MINUTE = 60
HOUR = 3600
# Entry points of packages that have games: functions that return the title of a game by its key,
# or "" for a game of another package.
TITLE = "timebank.title"


def span(seconds: int) -> str:
    """Return a length of time, zero or more seconds, in words.

    >>> span(60), span(150), span(45), span(7200)
    ('1 minute', '2 minutes 30 seconds', '45 seconds', '120 minutes')
    """
    return str(span_phrase(seconds))


def span_phrase(seconds: int) -> Phrase:
    """Return a length of time, zero or more seconds, as a phrase for a later reader."""
    minutes, rest = divmod(seconds, MINUTE)
    in_minutes = Phrase.counted("{number} minute", "{number} minutes", minutes)
    in_seconds = Phrase.counted("{number} second", "{number} seconds", rest)
    if minutes and rest:
        return Phrase("{minutes} {seconds}", minutes=in_minutes, seconds=in_seconds)
    return in_minutes if minutes else in_seconds


_MONTHS = (
    *(N_("January"), N_("February"), N_("March"), N_("April"), N_("May"), N_("June"), N_("July")),
    *(N_("August"), N_("September"), N_("October"), N_("November"), N_("December")),
)
_WEEKDAYS = (
    *(N_("Monday"), N_("Tuesday"), N_("Wednesday"), N_("Thursday")),
    *(N_("Friday"), N_("Saturday"), N_("Sunday")),
)


def weekday_name(number: int) -> str:
    """Return the name of a day of the week; 0 is Monday."""
    return _(_WEEKDAYS[number])


def short_weekday(day: date) -> str:
    """Return the short name of the day of the week, for a status line."""
    return (
        *(pgettext("short", "Mon"), pgettext("short", "Tue"), pgettext("short", "Wed")),
        *(pgettext("short", "Thu"), pgettext("short", "Fri"), pgettext("short", "Sat")),
        pgettext("short", "Sun"),
    )[day.weekday()]


def _short_months() -> tuple[str, ...]:
    """Return the short names of the months."""
    return (
        *(pgettext("short", "Jan"), pgettext("short", "Feb"), pgettext("short", "Mar")),
        *(pgettext("short", "Apr"), pgettext("short", "May"), pgettext("short", "Jun")),
        *(pgettext("short", "Jul"), pgettext("short", "Aug"), pgettext("short", "Sep")),
        *(pgettext("short", "Oct"), pgettext("short", "Nov"), pgettext("short", "Dec")),
    )


def short_month(day: date) -> str:
    return _short_months()[day.month - 1]


def _day_number(day: date) -> str:
    # For translators: the first day of a month, as in "1 December".
    return pgettext("first of the month", "1") if day.day == 1 else str(day.day)


def time_words(local: datetime | time) -> str:
    """Return a time of day.

    >>> time_words(time(3)), time_words(datetime(2026, 11, 9, 14, 5))
    ('03:00', '14:05')
    """
    words = _("{hour:02}:{minute:02}") if local.minute else _("{hour:02}:00")
    return words.format(hour=local.hour, minute=local.minute)


def moment(local: datetime) -> str:
    """Return a local time with its day, for a column.

    >>> moment(datetime(2026, 11, 9, 14, 5))
    '09 Nov 14:05'
    """
    months = _short_months()
    month = months[local.month - 1].ljust(max(map(len, months)))
    return _("{day} {month} {time}").format(day=f"{local:%d}", month=month, time=f"{local:%H:%M}")


def whole_date(day: date) -> str:
    """Return a full date with its weekday, for a heading.

    >>> whole_date(date(2026, 11, 22))
    'Sunday 22 November 2026'
    """
    return _("{weekday} {day} {month} {year}").format(
        weekday=weekday_name(day.weekday()),
        day=_day_number(day),
        month=_(_MONTHS[day.month - 1]),
        year=day.year,
    )


def day_words(iso: str) -> str:
    """Return a day of this or the last year in words, from its ISO form in the books.

    Other texts, in books that were edited, are returned unchanged.

    >>> day_words("2026-11-29"), day_words("tomorrow")
    ('29 November', 'tomorrow')
    """
    try:
        day = date.fromisoformat(iso)
    except ValueError:
        return iso
    return _("{day} {month}").format(day=_day_number(day), month=_(_MONTHS[day.month - 1]))


def date_words(day: date) -> str:
    """Return a day of any year in words.

    >>> date_words(date(2026, 11, 29))
    '29 November 2026'
    """
    return _("{day} {month} {year}").format(
        day=_day_number(day), month=_(_MONTHS[day.month - 1]), year=day.year
    )


def day_time_words(local: datetime) -> str:
    """Return a local time of this year with its day in few words, for a sentence.

    >>> day_time_words(datetime(2026, 11, 9, 14, 5))
    '9 Nov at 14:05'
    """
    month = _short_months()[local.month - 1]
    day = _("{day} {month}").format(day=_day_number(local), month=month)
    return _("{day} at {time}").format(day=day, time=time_words(local))


def date_time_words(local: datetime) -> str:
    """Say a local time with its day.

    >>> date_time_words(datetime(2026, 11, 9, 14, 5))
    '9 November 2026 at 14:05'
    """
    return _("{day} at {time}").format(day=date_words(local.date()), time=time_words(local))


def money(amount: int, unit: Unit) -> str:
    """Return an amount of play money, given in cents, without needless decimals.

    >>> money(10_000_000, "usd-cent"), money(-150, "usd-cent"), money(100_000, "frf-cent")
    ('$100,000', '-$1.50', 'FR 1,000')
    """
    whole, cents = divmod(abs(amount), 100)
    number = f"{whole:,}".replace(",", pgettext("between thousands", ","))
    if cents:
        number = f"{number}{_point()}{cents:02}"
    written = _("FR {amount}") if unit == "frf-cent" else _("${amount}")
    return f"{'-' if amount < 0 else ''}{written.format(amount=number)}"


def decimal(number: float) -> str:
    """Return a number without needless decimals.

    >>> decimal(1.5), decimal(2)
    ('1.5', '2')
    """
    return str(number).removesuffix(".0").replace(".", _point())


def percentage(number: float) -> str:
    """Return a percentage without needless decimals.

    >>> percentage(5.25), percentage(-11)
    ('5.25%', '-11%')
    """
    # For translators: a share of something, as in "5.3%".
    return _("{number}%").format(number=decimal(number))


def _point() -> str:
    # For translators: what stands in "1.5" before the 5.
    return pgettext("before decimals", ".")


def field(name: str, value: str) -> str:
    """Return a name and its value in a line: "Bankroll: $100,000".

    >>> field("Pot", "12 coins")
    'Pot: 12 coins'
    """
    # For translators: what stands between the name of a figure and the figure.
    return _("{field}: {value}").format(field=name, value=value)


def amount_words(amount: int, unit: Unit) -> str:
    """Return an amount of any unit, zero or more, in words for a sentence.

    >>> amount_words(150, "second"), amount_words(200, "usd-cent")
    ('2 minutes 30 seconds', '$2')
    """
    return span(amount) if unit == "second" else money(amount, unit)


def clock(seconds: int) -> str:
    """Return seconds as h:mm:ss, with a sign if they are negative.

    >>> clock(3725), clock(-59), clock(360000)
    ('1:02:05', '-0:00:59', '100:00:00')
    """
    sign = "-" if seconds < 0 else ""
    hours, rest = divmod(abs(seconds), HOUR)
    return f"{sign}{hours}:{rest // MINUTE:02}:{rest % MINUTE:02}"


@cache
def title(game: str) -> str:
    """Return the title of a game by its key.

    >>> title("black-jack-for-time"), title("a-game-of-another-house")
    ('Black Jack For Time', 'A Game Of Another House')
    """
    from importlib.metadata import entry_points  # noqa: PLC0415 - slow, and a door reads this file

    titles = (point.load()(game) for point in entry_points(group=TITLE))
    return next(filter(None, titles), "") or game.replace("-", " ").title()


def clock_time(seconds: int) -> str:
    """Return seconds as m:ss, or as h:mm:ss from an hour on, with a sign if they are negative.

    >>> clock_time(720), clock_time(3725), clock_time(-5)
    ('12:00', '1:02:05', '-0:05')
    """
    sign, seconds = ("-", -seconds) if seconds < 0 else ("", seconds)
    hours, rest = divmod(seconds, HOUR)
    if hours:
        return f"{sign}{hours}:{rest // MINUTE:02}:{rest % MINUTE:02}"
    return f"{sign}{rest // MINUTE}:{rest % MINUTE:02}"


def short_amount(amount: int, unit: Unit) -> str:
    """Return an amount of any unit as sentences have it: "12:00", "$5"."""
    return clock_time(amount) if unit == "second" else money(amount, unit)


def clean(text: str, longest: int) -> str:
    """Return typed text as one line of at most `longest` characters, all of them visible.

    >>> clean("  thanks\\x1b[2J for\\nthe hint ", 60)
    'thanks[2J for the hint'
    """
    visible = "".join(
        " " if letter.isspace() else letter
        for letter in unicodedata.normalize("NFC", text)
        if letter.isspace() or unicodedata.category(letter)[0] != "C"
    )
    return " ".join(visible.split())[:longest].rstrip()


# Authors of changes by commands: the part after a system user's name, and the author without one.
AT_COMMAND_LINE = "(command line)"
BY_COMMAND = "the command line"
LONGEST_BY = 40


def at_command_line(user: str) -> str:
    """Return the author of a command for the books, from the system user's name, which may be "".

    No caller can have such a name.

    >>> at_command_line("jane"), at_command_line("")
    ('jane (command line)', 'the command line')
    """
    user = clean(user, LONGEST_BY - len(AT_COMMAND_LINE) - 1)
    return f"{user} {AT_COMMAND_LINE}" if user else BY_COMMAND


def is_at_command_line(by: str) -> bool:
    """Return whether an author in the books is a command, which only the sysop can run."""
    return by == BY_COMMAND or by.endswith(f" {AT_COMMAND_LINE}")
