"""How amounts and games are written and said."""

from __future__ import annotations

import unicodedata
from datetime import date, datetime
from functools import cache
from typing import Literal

from timebank.language import N_, Phrase, _, pgettext

# What an account counts; play money is in cents.
Unit = Literal["second", "usd-cent", "frf-cent"]

MINUTE = 60
HOUR = 3600
# Who keeps games beside the bank, and says what they are called: a function of this entry point
# gives the title of a game by its key, "" for one that it has not got.
TITLE = "timebank.title"


def span(seconds: int) -> str:
    """Say a length of time in words, zero or more seconds.

    >>> span(60), span(150), span(45), span(7200)
    ('1 minute', '2 minutes 30 seconds', '45 seconds', '120 minutes')
    """
    return str(span_phrase(seconds))


def span_phrase(seconds: int) -> Phrase:
    """Say a length of time, zero or more seconds, to somebody who is not known yet."""
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
    """Name a day of the week, Monday being 0."""
    return _(_WEEKDAYS[number])


def short_weekday(day: date) -> str:
    """Name the day of the week in as few letters as a status line has room for."""
    return (
        *(pgettext("short", "Mon"), pgettext("short", "Tue"), pgettext("short", "Wed")),
        *(pgettext("short", "Thu"), pgettext("short", "Fri"), pgettext("short", "Sat")),
        pgettext("short", "Sun"),
    )[day.weekday()]


def short_month(day: date) -> str:
    """Name the month in as few letters as a column has room for."""
    return (
        *(pgettext("short", "Jan"), pgettext("short", "Feb"), pgettext("short", "Mar")),
        *(pgettext("short", "Apr"), pgettext("short", "May"), pgettext("short", "Jun")),
        *(pgettext("short", "Jul"), pgettext("short", "Aug"), pgettext("short", "Sep")),
        *(pgettext("short", "Oct"), pgettext("short", "Nov"), pgettext("short", "Dec")),
    )[day.month - 1]


def moment(local: datetime) -> str:
    """Write a local time with its day, for a column of them.

    >>> moment(datetime(2026, 11, 9, 14, 5))
    '09 Nov 14:05'
    """
    return _("{day} {month} {time}").format(
        day=f"{local:%d}", month=short_month(local), time=f"{local:%H:%M}"
    )


def whole_date(day: date) -> str:
    """Write a day with all its parts, for a heading.

    >>> whole_date(date(2026, 11, 22))
    'Sunday 22 November 2026'
    """
    return _("{weekday} {day} {month} {year}").format(
        weekday=weekday_name(day.weekday()),
        day=f"{day:%d}",
        month=_(_MONTHS[day.month - 1]),
        year=day.year,
    )


def day_words(iso: str) -> str:
    """Say a day of this year or the one before, given as the books write it.

    What is no day, in books that somebody has changed, stays as it is.

    >>> day_words("2026-11-29"), day_words("tomorrow")
    ('29 November', 'tomorrow')
    """
    try:
        day = date.fromisoformat(iso)
    except ValueError:
        return iso
    return _("{day} {month}").format(day=day.day, month=_(_MONTHS[day.month - 1]))


def date_words(day: date) -> str:
    """Say a day of any year.

    >>> date_words(date(2026, 11, 29))
    '29 November 2026'
    """
    return _("{day} {month} {year}").format(
        day=day.day, month=_(_MONTHS[day.month - 1]), year=day.year
    )


def money(amount: int, unit: Unit) -> str:
    """Write an amount of play money, given in its cents, as briefly as it can be.

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
    """Write a number as briefly as it can be.

    >>> decimal(1.5), decimal(2)
    ('1.5', '2')
    """
    return str(number).removesuffix(".0").replace(".", _point())


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
    """Say an amount of any unit in a sentence, zero or more.

    >>> amount_words(150, "second"), amount_words(200, "usd-cent")
    ('2 minutes 30 seconds', '$2')
    """
    return span(amount) if unit == "second" else money(amount, unit)


def clock(seconds: int) -> str:
    """Write an amount of seconds as h:mm:ss, with a sign when it is negative.

    >>> clock(3725), clock(-59), clock(360000)
    ('1:02:05', '-0:00:59', '100:00:00')
    """
    sign = "-" if seconds < 0 else ""
    hours, rest = divmod(abs(seconds), HOUR)
    return f"{sign}{hours}:{rest // MINUTE:02}:{rest % MINUTE:02}"


@cache
def title(game: str) -> str:
    """Turn the key of a game into its title, as its house writes it.

    >>> title("black-jack-for-time"), title("a-game-of-another-house")
    ('Black Jack For Time', 'A Game Of Another House')
    """
    from importlib.metadata import entry_points  # noqa: PLC0415 - slow, and a door reads this file

    said = (point.load()(game) for point in entry_points(group=TITLE))
    return next(filter(None, said), "") or game.replace("-", " ").title()


def minutes(seconds: int) -> str:
    """Write an amount of time as callers read it, m:ss, or h:mm:ss from an hour on.

    >>> minutes(720), minutes(45), minutes(3725)
    ('12:00', '0:45', '1:02:05')
    """
    hours, rest = divmod(seconds, HOUR)
    if hours:
        return f"{hours}:{rest // MINUTE:02}:{rest % MINUTE:02}"
    return f"{rest // MINUTE}:{rest % MINUTE:02}"


def clean(text: str, longest: int) -> str:
    """Make one line of what somebody typed: no controls, no invisible characters, not too long.

    >>> clean("  thanks\\x1b[2J for\\nthe hint ", 60)
    'thanks[2J for the hint'
    """
    visible = "".join(
        " " if letter.isspace() else letter
        for letter in unicodedata.normalize("NFC", text)
        if letter.isspace() or unicodedata.category(letter)[0] != "C"
    )
    return " ".join(visible.split())[:longest].rstrip()


# Who did something by a command: with the name that the system has for them, and without.
AT_COMMAND_LINE = "(command line)"
BY_COMMAND = "the command line"
LONGEST_BY = 40


def at_command_line(user: str) -> str:
    """Name whoever types a command, for the books; no caller can be called so.

    >>> at_command_line("jane"), at_command_line("")
    ('jane (command line)', 'the command line')
    """
    user = clean(user, LONGEST_BY - len(AT_COMMAND_LINE) - 1)
    return f"{user} {AT_COMMAND_LINE}" if user else BY_COMMAND


def is_at_command_line(by: str) -> bool:
    """Tell whether a command did it, which only whoever keeps the board can type."""
    return by == BY_COMMAND or by.endswith(f" {AT_COMMAND_LINE}")
