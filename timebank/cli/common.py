"""What the `timebank` commands share: opening the books, options, amounts, and how they refuse.

It imports nothing heavy before a command needs it: `door odds` uses it too, without the books.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from timebank.cli.errors import UserError, refusing
from timebank.cli.progress import working

if TYPE_CHECKING:
    from timebank.audit.findings import Finding
    from timebank.calls.clock import BelievedClock
    from timebank.ledger.database import Database, Desk
    from timebank.reports.exports import Record
    from timebank.reports.tables import Piece, Sheet
    from timebank.settings.settings import BankSettings


F = TypeVar("F", bound=Callable[..., object])

BATCH = 500
FORMATS = ("text", "csv", "json")
READING = "Reading the books"


config_option = click.option(
    "--config",
    # What cannot be read is said with whose it is, by who reads it.
    type=click.Path(path_type=Path, readable=False),
    default=Path("sysop.toml"),
    show_default=True,
    envvar="BJFT_CONFIG",
    show_envvar=True,
    help="The board's settings, which name its data folder.",
)
WIDE = "timebank.wide"  # where a command keeps that its tables may be wider than the window


def _widen(context: click.Context, _parameter: click.Parameter, wide: bool) -> None:
    context.meta[WIDE] = wide


def format_option(command: F) -> F:
    """Give a command that prints rows the options by which it does: `form`, for `tell`, and
    `--wide`, of which only `sheet` wants to know."""
    form = click.option(
        "--format",
        "form",
        type=click.Choice(FORMATS),
        default="text",
        show_default=True,
        help="The output format.",
    )
    wide = click.option(
        "--wide",
        is_flag=True,
        expose_value=False,
        callback=_widen,
        help="All columns in full, however wide the window is.",
    )
    return form(wide(command))


class WholeNumber(click.IntRange):
    """A whole number, refused in plain words."""

    name = "number"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        try:
            return self._within(int(str(value)))
        except ValueError:
            self.fail(f"{value!r} is not a number.", param, ctx)
        except click.BadParameter as error:
            self.fail(error.message, param, ctx)

    def _within(self, number: int) -> int:
        least, most = self.min, self.max
        if (least is not None and number < least) or (most is not None and number > most):
            within = f"{least} or more" if most in (None, MOST) else f"from {least} to {most}"
            raise click.BadParameter(f"it is {within}, and not {number}.")
        return number


MOST = 2**63 - 1  # whatever SQLite can count to
# The number of a transfer, call or hand.
NUMBER = WholeNumber(1, MOST)


def retired_option(name: str, **form: Any) -> Callable[[F], F]:
    """Take an option that an earlier release had, and say that it counts no more."""
    return click.option(name, hidden=True, expose_value=False, callback=_retired, **form)


def _retired(_context: click.Context, option: click.Parameter, value: object) -> None:
    if value:
        click.echo(f"{option.opts[0]} is ignored: this release has no such option.", err=True)


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
        from timebank.keeping import restore

        if not self._taken_up:
            self._taken_up.append(True)
            treated = restore.take_up(self.database, self.settings, self.clock.now())
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
    help="Who does it, for the log.  [default: your user name]",
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
    from timebank.ledger import failures
    from timebank.ledger.engines import books_of

    database = books_of(settings)
    try:
        with refusing(DatabaseRefused, BooksFailed, EventRefused, Refused):
            database.open_existing()
            yield OpenBooks(database, settings, _board_clock(database, settings))
    except UnicodeEncodeError as error:  # bytes from the command line that are no text
        raise UserError(f"{error.object!a} is not readable text.") from error
    except DBAPIError as error:  # tables that are not as they should be
        said = failures.sentence(error)
        raise UserError(f"Can't use the database {database.place}: {said}.") from error
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


def say_wrong(findings: Sequence[Finding]) -> None:
    say(map(str, findings))
    count = "1 thing is" if len(findings) == 1 else f"{len(findings)} things are"
    click.echo(f"{count} wrong in the books.", err=True)


def note_audit(
    settings: BankSettings,
    command: str,
    at: datetime,
    generation: int,
    findings: Iterable[object],
    *,
    hand: int | None = None,
) -> None:
    """Note for the pages what an audit has found.

    `hand` is the first that was not over: those before it count as replayed if nothing is wrong.
    """
    from timebank.keeping import last_runs

    found = list(map(str, findings))
    with noting("audit"):
        last_runs.note_audit(settings, command, at, generation, found, None if found else hand)


AUDIT_FIELDS = ("where", "sentence")


def write_audit(form: str, facts: Record, findings: Iterable[Finding]) -> None:
    """Write what an audit found, with its facts, or in CSV behind it the digest."""
    from timebank.reports.exports import one_as_json

    found = [finding._asdict() for finding in findings]
    if form == "csv":
        found.append({"where": "digest", "sentence": facts["digest"]})
        tell(form, (), AUDIT_FIELDS, found)
    else:
        click.echo(one_as_json({**facts, "findings": found}, indent=2))


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


def sheet() -> Sheet:
    """Say what tables are written on: the window, or where nobody looks, for a file or another
    program, something as wide as they want.

    Colours are for eyes alone, and for those who have not set NO_COLOR (no-color.org).
    """
    import os
    import shutil

    from timebank.reports.tables import NARROWEST, Sheet

    looked_at, width = sys.stdout.isatty(), None
    if looked_at and not click.get_current_context().meta.get(WIDE):
        width = max(shutil.get_terminal_size().columns, NARROWEST)
    is_plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    return Sheet(width, looked_at and not is_plain)


def tell(
    form: str,
    table: Iterable[Piece],
    fields: Sequence[str],
    lines: Iterable[Record],
    records: Iterable[Record] | None = None,
    *,
    paged: bool = True,
) -> None:
    """Show a table as text, write its lines as CSV, or its records as JSON (else its lines)."""
    from timebank.reports import exports, tables

    if form == "text":
        (show if paged else say)(watched(tables.written(table, sheet())))
    elif form == "csv":
        pour(watched(exports.as_csv(fields, lines)))
    else:
        pour(watched(exports.as_json(lines if records is None else records)))


def watched(lines: Iterator[str]) -> Iterator[str]:
    """Show progress until the first row stands behind its heading: from then on rows are progress
    themselves. Where the output goes elsewhere than to the terminal, show it to the end."""
    if not sys.stdout.isatty():
        return _with_progress(lines)
    with working(READING):
        begun = list(islice(lines, 2))
    return chain(begun, lines)


def _with_progress(lines: Iterator[str]) -> Iterator[str]:
    with working(READING):
        yield from lines


def show(lines: Iterable[str]) -> None:
    """Let lines be leafed through on a terminal; print them where nobody looks."""
    if sys.stdout.isatty():
        import os

        # `less` chops what is wider than the window, and the arrows lead to it.
        os.environ.setdefault("LESS", "-RS")
        # The pager ends the last line by itself.
        click.echo_via_pager(f"\n{line}" if number else line for number, line in enumerate(lines))
    else:
        say(lines)


# More hours or minutes than anybody means, and SQLite counts far beyond them.
AMOUNT = re.compile(
    r"(?P<sign>[-+]?)(?:(?P<all>[0-9]{1,8})|(?P<clock>[0-9]{1,6}:[0-5]?[0-9](?::[0-5][0-9])?)"
    r"|(?:(?P<hours>[0-9]{1,6})h)?(?:(?P<minutes>[0-9]{1,8})m)?)",
    re.ASCII | re.IGNORECASE,
)


class WithAmount(click.Command):
    """A command in which -5 is an amount and no option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.ignore_unknown_options = any(word[:1] == "-" and _minutes_of(word) for word in args)
        return super().parse_args(ctx, args)


def _minutes_of(typed: str) -> int | None:
    """Read a length of time in whole minutes; None for what is none, or is two."""
    match = AMOUNT.fullmatch(typed.strip())
    if match is None or not (match["all"] or match["clock"] or match["hours"] or match["minutes"]):
        return None
    if match["clock"]:
        hours, minutes, *seconds = match["clock"].split(":")
        if seconds != ["00"]:  # "15:00" is either
            return None
    else:
        hours, minutes = match["hours"] or "0", match["all"] or match["minutes"] or "0"
    return (int(hours) * 60 + int(minutes)) * (-1 if match["sign"] == "-" else 1)


def whole_minutes(typed: str) -> int:
    """Read a length of time as it is typed, and give minutes; `BadParameter` says what is wrong."""
    minutes = _minutes_of(typed)
    if minutes is not None:
        return minutes
    match = AMOUNT.fullmatch(typed.strip())
    if match is None or not match["clock"]:
        raise click.BadParameter(
            f"{typed!r} is not an amount: write minutes (90, 90m), or hours and minutes"
            " (2h, 1h30m)."
        )
    first, second, *seconds = match["clock"].split(":")
    if seconds:
        raise click.BadParameter(f"{typed!r} is not in whole minutes.")
    if int(second) == 0:
        raise click.BadParameter(
            f"{typed!r} is {int(first)} hours or {int(first)} minutes:"
            f" write {int(first)}h or {int(first)}m."
        )
    raise click.BadParameter(
        f"{typed!r} is hours and minutes, or minutes and seconds: write"
        f" {int(first)}h{int(second)}m, or whole minutes ({int(first)}m)."
    )


def amount(_context: click.Context, _parameter: click.Parameter, typed: str) -> int:
    """Read an amount as it is typed, and give seconds above zero."""
    seconds = signed_amount(_context, _parameter, typed)
    if seconds < 0:
        raise click.BadParameter(f"{typed!r} is below zero. `timebank adjust` takes it.")
    return seconds


def signed_amount(_context: click.Context, _parameter: click.Parameter, typed: str) -> int:
    """Read an amount with or without a sign, and give seconds that are not zero."""
    minutes = whole_minutes(typed)
    if minutes == 0:
        raise click.BadParameter("zero is not an amount.")
    return minutes * 60


class Minutes(WholeNumber):
    """A length of time in whole minutes, for an option."""

    name = "minutes"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        try:
            return self._within(whole_minutes(str(value)))
        except click.BadParameter as error:
            self.fail(error.message, param, ctx)
