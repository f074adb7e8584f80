"""What the `timebank` commands share: opening the books, options, amounts, and how they refuse.

Like all of the command's files it imports nothing heavy before a command needs it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from timebank.cli.errors import UserError, refusing

if TYPE_CHECKING:
    from timebank.calls.clock import BelievedClock
    from timebank.ledger.database import Database, Desk
    from timebank.reports.exports import Record
    from timebank.settings.settings import BankSettings


BATCH = 500
FORMATS = ("text", "csv", "json")


config_option = click.option(
    "--config",
    type=click.Path(path_type=Path),
    default=Path("sysop.toml"),
    show_default=True,
    envvar="BJFT_CONFIG",
    show_envvar=True,
    help="The board's settings, which name its data folder.",
)
format_option = click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="text",
    show_default=True,
    help="The output format.",
)
# The number of a transfer, call or hand: whatever SQLite can count to.
NUMBER = click.IntRange(1, 2**63 - 1)
DATE = click.DateTime(formats=["%Y-%m-%d"])
since_option = click.option(
    "--since",
    metavar="DATE",
    type=DATE,
    help="Only from this day on (YYYY-MM-DD in the board's time zone).",
)
until_option = click.option(
    "--until",
    metavar="DATE",
    type=DATE,
    help="Only up to and including this day.",
)


@dataclass(frozen=True)
class OpenBooks:
    database: Database
    settings: BankSettings
    clock: BelievedClock
    _taken_up: list[bool] = field(default_factory=list, repr=False)

    def look(self) -> AbstractContextManager[Desk]:
        return self.database.reading(self.settings, self.clock.reading())

    @contextmanager
    def work(self) -> Iterator[Desk]:
        """Open the books for one transaction; those put back by hand are treated as such first."""
        self.take_up()
        with self.database.transaction(self.settings, self.clock.reading()) as desk:
            judgement = self.clock.keep(desk)
            yield desk
        self.clock.adopt(judgement)

    def settle(self, *answers: tuple[Callable[[Desk, int], object], int | None]) -> None:
        """Do what the sysop says of the numbers that are given."""
        if any(number is not None for _, number in answers):
            with self.work() as desk:
                for do, number in answers:
                    if number is not None:
                        do(desk, number)

    def take_up(self) -> None:
        """Do what is owed to the books before the first thing is written into them."""
        from timebank.keeping import restoring

        if not self._taken_up:
            self._taken_up.append(True)
            treated = restoring.take_up(self.database, self.settings, self.clock.now())
            for sentence in () if treated is None else treated.sentences():
                click.echo(sentence, err=True)

    def span(self, since: datetime | None, until: datetime | None) -> tuple[int | None, int | None]:
        """Turn the days of --since and --until into seconds since 1970, the second not included."""
        if since is not None and until is not None and since > until:
            raise UserError("--since must not be after --until.")
        following = None if until is None else _day_after(until.date())
        return self._start(None if since is None else since.date()), self._start(following)

    def _start(self, day: date | None) -> int | None:
        if day is None:
            return None
        from timebank.ledger.schema import stamp

        try:
            return stamp(self.settings.schedule.day_starts(day))
        except OverflowError as error:
            raise UserError(f"{day} is out of range.") from error


def _day_after(day: date) -> date:
    return day if day == date.max else day + timedelta(days=1)


def _whoever(_context: click.Context, _parameter: click.Parameter, typed: str | None) -> str:
    """Name who types a command, for the books: `--by`, or the user that the system knows."""
    import os
    import pwd

    from timebank.words import at_command_line

    if typed is None:
        typed = os.environ.get("SUDO_USER", "")
        with suppress(KeyError):  # a number that has no name
            typed = typed or pwd.getpwuid(os.getuid()).pw_name
    return at_command_line(typed)


by_option = click.option(
    "--by",
    metavar="NAME",
    callback=_whoever,
    help="Who does it, for the sysop's log.  [default: your user name]",
)


def load(config: Path) -> BankSettings:
    from timebank.errors import SettingsError
    from timebank.settings.settings import load as load_settings

    with refusing(SettingsError):
        return load_settings(config)


def opened(config: Path) -> AbstractContextManager[OpenBooks]:
    return open_books(load(config))


@contextmanager
def open_books(settings: BankSettings) -> Iterator[OpenBooks]:
    """Open the books that the settings name; whatever they refuse with becomes a sentence."""
    from sqlalchemy.exc import DBAPIError

    from timebank.errors import BooksFailed, DatabaseRefused, EventRefused, Refused
    from timebank.ledger.engines import books_of

    database = books_of(settings)
    try:
        with refusing(DatabaseRefused, BooksFailed, EventRefused, Refused):
            database.open_existing()
            yield OpenBooks(database, settings, _board_clock(database, settings))
    except UnicodeEncodeError as error:  # bytes from the command line that are no text
        raise UserError(f"{error.object!a} is not readable text.") from error
    except DBAPIError as error:  # tables that are not as they should be
        raise UserError(f"Can't use the database {database.place}: {error.orig}.") from error
    finally:
        database.close()


def _board_clock(database: Database, settings: BankSettings) -> BelievedClock:
    """Give the clock by which the board goes; when that is not the wall clock's time, say so."""
    from timebank.calls.clock import BelievedClock, told
    from timebank.ledger import early_events
    from timebank.ledger.machine import Machine

    clock = BelievedClock(Machine())
    with database.reading(settings, clock.reading()) as desk:
        clock.adopt(clock.judge(desk))
        settings.schedule.adopt_early(early_events.standing(desk))
    if clock.off:
        click.echo(
            f"The wall clock is {told(clock.off)}, and is not believed:"
            f" the board's time is {settings.schedule.local(clock.now()):%Y-%m-%d %H:%M}."
            " `timebank clock` says more.",
            err=True,
        )
    return clock


@contextmanager
def noting(what: str) -> Iterator[None]:
    """Note for the pages what was done; where that cannot be written, it is done all the same."""
    try:
        yield
    except OSError as error:
        click.echo(f"Nothing could be noted of this {what} ({error}).", err=True)


def note_audit(
    settings: BankSettings, command: str, at: datetime, generation: int, findings: Sequence[str]
) -> None:
    from timebank.keeping import last_audit

    with noting("audit"):
        last_audit.note(settings, command, at, generation, findings)


Found = TypeVar("Found")


def found(what: Found | None, name: str) -> Found:
    """Give what was found of the caller of this name."""
    if what is None:
        raise UserError(f"There is no caller named {name}. `timebank accounts` lists them all.")
    return what


def say(lines: Iterable[str]) -> None:
    pour(f"{line}\n" for line in lines)


def pour(pieces: Iterable[str]) -> None:
    """Print pieces of text that have their line ends, many at a time: each print is flushed."""
    rest = iter(pieces)
    while batch := "".join(islice(rest, BATCH)):
        click.echo(batch, nl=False)


def tell(
    form: str,
    table: Iterable[str],
    fields: Sequence[str],
    lines: Iterable[Record],
    records: Iterable[Record] | None = None,
    *,
    paged: bool = True,
) -> None:
    """Show a table as text, write its lines as CSV, or its records as JSON (else its lines)."""
    from timebank.reports import exports

    if form == "text":
        (show if paged else say)(table)
    elif form == "csv":
        pour(exports.as_csv(fields, lines))
    else:
        pour(exports.as_json(lines if records is None else records))


def show(lines: Iterable[str]) -> None:
    """Let lines be leafed through on a terminal; print them where nobody looks."""
    if sys.stdout.isatty():
        # The pager ends the last line by itself.
        click.echo_via_pager(f"\n{line}" if number else line for number, line in enumerate(lines))
    else:
        say(lines)


# More hours or minutes than anybody means, and SQLite counts far beyond them.
AMOUNT = re.compile(
    r"(?P<sign>[-+]?)(?:(?P<hours>[0-9]{1,6}):(?P<minutes>[0-5][0-9])|(?P<all>[0-9]{1,8}))"
)


class WithAmount(click.Command):
    """A command in which -5 is an amount and no option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.ignore_unknown_options = any(word[0] == "-" for word in args if AMOUNT.fullmatch(word))
        return super().parse_args(ctx, args)


def amount(_context: click.Context, _parameter: click.Parameter, typed: str) -> int:
    """Read an amount as it is typed, minutes or h:mm, and give seconds above zero."""
    seconds = signed_amount(_context, _parameter, typed)
    if seconds < 0:
        raise click.BadParameter(f"{typed!r} is below zero. `timebank adjust` takes it.")
    return seconds


def signed_amount(_context: click.Context, _parameter: click.Parameter, typed: str) -> int:
    """Read an amount with or without a sign, and give seconds that are not zero."""
    match = AMOUNT.fullmatch(typed)
    if match is None:
        raise click.BadParameter(
            f"{typed!r} is not an amount: write minutes (90) or hours and minutes (1:30)."
        )
    minutes = int(match["hours"] or 0) * 60 + int(match["minutes"] or match["all"])
    if minutes == 0:
        raise click.BadParameter("zero is not an amount.")
    return minutes * (-60 if match["sign"] == "-" else 60)
