"""The common parts of `timebank` commands: opening the books, options, amounts and output.

Heavy modules are imported when a command needs them, because `door odds` uses this without books.
"""

from __future__ import annotations

import re
import sys
from calendar import monthrange
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


DEFAULT_CONFIG = Path("sysop.toml")
CONFIG: dict[str, Any] = {
    # The reader of the file reports whose it is, if it cannot be read.
    "type": click.Path(path_type=Path, readable=False),
    "default": DEFAULT_CONFIG,
    "show_default": True,
    "envvar": "BJFT_CONFIG",
    "show_envvar": True,
    "help": "The board's settings.",
}
config_option = click.option("--config", **CONFIG)
WIDE = "timebank.wide"  # the key of --wide in a context's `meta`


def _widen(context: click.Context, _parameter: click.Parameter, wide: bool) -> None:
    context.meta[WIDE] = wide


def format_option(command: F) -> F:
    """Add `--format`, an argument for `tell`, and `--wide`, which `sheet` reads."""
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
        least, most = self.min or 0, LARGEST if self.max is None else self.max
        if not least <= number <= most:
            is_open = self.max is None and number < least
            within = f"{least} or more" if is_open else f"from {least} to {most}"
            raise click.BadParameter(f"it is {within}, and not {number}.")
        return number


LARGEST = 2**63 - 1  # the largest integer of SQLite
NUMBER = WholeNumber(1)  # of a transfer, call or hand
last_option = click.option(
    "--last", type=WholeNumber(1, 10_000), default=10, help="How many to show."
)


def retired_option(name: str, **form: Any) -> Callable[[F], F]:
    """Accept an option of an earlier release, and print that it is ignored."""
    return click.option(name, hidden=True, expose_value=False, callback=_retired, **form)


def _retired(_context: click.Context, option: click.Parameter, value: object) -> None:
    if value:
        click.echo(f"{option.opts[0]} is ignored: this release has no such option.", err=True)


since_option = click.option(
    "--since",
    metavar="DAY",
    help="Only from this day on: 2026-11-05, 2026-11, 2026, today, yesterday, or 7d for seven days"
    " ago, in the board's time zone.",
)
until_option = click.option(
    "--until",
    metavar="DAY",
    help="Only up to the end of this day, month or year.",
)
_DAYS_AGO = re.compile("([0-9]{1,5})d", re.ASCII)
_DATE = re.compile("([0-9]{4})(?:-(0?[1-9]|1[0-2])(?:-(0?[1-9]|[123][0-9]))?)?", re.ASCII)


def days_in(typed: str, today: date) -> tuple[date, date]:
    """Return the first and the last day of a typed day, month or year. Raises `UserError`.

    >>> [str(day) for day in days_in("2026-11", date(2026, 12, 24))]
    ['2026-11-01', '2026-11-30']
    >>> [str(day) for day in days_in("7d", date(2026, 12, 24))]
    ['2026-12-17', '2026-12-17']
    """
    word = typed.strip().lower()
    ago = _DAYS_AGO.fullmatch({"today": "0d", "yesterday": "1d"}.get(word, word))
    written = _DATE.fullmatch(word)
    try:
        if ago is not None:
            return (today - timedelta(int(ago[1])),) * 2
        if written is not None:
            year, month, day = (int(part or 0) for part in written.groups())
            last = day or monthrange(year, month or 12)[1]
            return date(year, month or 1, day or 1), date(year, month or 12, last)
    except (ValueError, OverflowError):  # month 13, 31 February, or before the year 1
        pass
    raise UserError(
        f"{typed!r} is not a day: write 2026-11-05, a month or year (2026-11, 2026), today,"
        " yesterday, or 7d for seven days ago."
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
        """Open the books for one transaction, after `take_up`."""
        self.take_up()
        with self.database.transaction(self.settings, self.clock.reading()) as desk:
            judgement = self.clock.judge_and_save(desk)
            yield desk
        self.clock.adopt(judgement)

    def settle(self, *answers: tuple[Callable[[Desk, int], object], int | None]) -> None:
        """Call each function with its number, in one transaction, unless the number is None."""
        if any(number is not None for _, number in answers):
            with self.work() as desk:
                for do, number in answers:
                    if number is not None:
                        do(desk, number)

    def take_up(self) -> None:
        """Treat books put back by hand as restored, once before the first write."""
        from timebank.keeping import restored_books

        if not self._taken_up:
            self._taken_up.append(True)
            settled_copy = restored_books.take_up(self.database, self.settings, self.clock.now())
            for sentence in () if settled_copy is None else settled_copy.sentences():
                click.echo(sentence, err=True)

    def days(self, since: str | None, until: str | None) -> tuple[date | None, date | None]:
        """Return the first day of --since and the last of --until, None where not given."""
        today = self.settings.schedule.day_of(self.clock.now())
        first = None if since is None else days_in(since, today)[0]
        last = None if until is None else days_in(until, today)[1]
        if first is not None and last is not None and first > last:
            raise UserError("--since must not be after --until.")
        return first, last

    def span(self, since: str | None, until: str | None) -> tuple[int | None, int | None]:
        """Return the start of --since and the end of --until as seconds since 1970."""
        first, last = self.days(since, until)
        return self._start(first), self._start(None if last is None else _day_after(last))

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


def _typed_by(_context: click.Context, _parameter: click.Parameter, typed: str | None) -> str:
    """Return the name for the log: `--by`, or the name of the system's user."""
    import os
    import pwd

    from timebank.words import at_command_line

    if typed is None:
        typed = os.environ.get("SUDO_USER", "")
        with suppress(KeyError):  # the user has no name
            typed = typed or pwd.getpwuid(os.getuid()).pw_name
    return at_command_line(typed)


by_option = click.option(
    "--by",
    metavar="NAME",
    callback=_typed_by,
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
    """Open the books of these settings. Errors of the books become `UserError`."""
    from sqlalchemy.exc import DBAPIError

    from timebank.errors import BooksFailed, DatabaseRefused, EventRefused, Refused
    from timebank.ledger import failures
    from timebank.ledger.engines import books_of

    database = books_of(settings)
    try:
        with refusing(DatabaseRefused, BooksFailed, EventRefused, Refused):
            database.open_existing()
            yield OpenBooks(database, settings, _board_clock(database, settings))
    except UnicodeEncodeError as error:  # an argument is not text
        raise UserError(f"{error.object!a} is not readable text.") from error
    except DBAPIError as error:  # tables are damaged or missing
        reason = failures.sentence(error)
        raise UserError(f"Can't use the database {database.place}: {reason}.") from error
    finally:
        database.close()


def _board_clock(database: Database, settings: BankSettings) -> BelievedClock:
    """Return the board's clock. Print a warning if it differs from the wall clock."""
    from timebank.calls.clock import BelievedClock, offset_words
    from timebank.ledger import early_events
    from timebank.ledger.machine import Machine

    clock = BelievedClock(Machine())
    with database.reading(settings, clock.reading()) as desk:
        clock.adopt(clock.judge(desk))
        settings.schedule.adopt_early(early_events.load(desk))
    if clock.off:
        click.echo(
            f"The wall clock is {offset_words(clock.off)}, and the board does not trust it:"
            f" the board's time is {settings.schedule.local(clock.now()):%Y-%m-%d %H:%M}."
            " `timebank clock` says more.",
            err=True,
        )
    return clock


@contextmanager
def ignoring_note_errors(what: str) -> Iterator[None]:
    """Print a warning if the block cannot write its note for the sysop's pages."""
    try:
        yield
    except OSError as error:
        click.echo(f"This {what} could not be noted for the sysop's pages ({error}).", err=True)


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
    """Note an audit's findings for the sysop's pages.

    `hand` is the first open hand. The hands before it count as replayed if nothing is wrong.
    """
    from timebank.keeping import last_runs

    sentences = list(map(str, findings))
    with ignoring_note_errors("audit"):
        last_runs.note_audit(
            settings, command, at, generation, sentences, None if sentences else hand
        )


AUDIT_FIELDS = ("where", "sentence")


def write_audit(form: str, facts: Record, findings: Iterable[Finding]) -> None:
    """Print an audit's findings as JSON with `facts`, or as CSV with the digest as last line."""
    from timebank.reports.exports import one_as_json

    rows = [finding._asdict() for finding in findings]
    if form == "csv":
        rows.append({"where": "digest", "sentence": facts["digest"]})
        tell(form, (), AUDIT_FIELDS, rows)
    else:
        click.echo(one_as_json({**facts, "findings": rows}, indent=2))


def say(lines: Iterable[str]) -> None:
    pour(f"{line}\n" for line in lines)


def pour(pieces: Iterable[str]) -> None:
    """Print pieces of text with their line ends, in batches, because each print is flushed."""
    rest = iter(pieces)
    while batch := "".join(islice(rest, BATCH)):
        click.echo(batch, nl=False)


def sheet() -> Sheet:
    """Return the sheet for tables: the window's, or one of any width for files and programs.

    Only terminals get colours, unless NO_COLOR is set (no-color.org).
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
        (show if paged else say)(with_progress(tables.written(table, sheet())))
    elif form == "csv":
        pour(with_progress(exports.as_csv(fields, lines)))
    else:
        pour(with_progress(exports.as_json(lines if records is None else records)))


def with_progress(lines: Iterator[str]) -> Iterator[str]:
    """Show progress until the first row is ready, or to the end if the output is not a terminal."""
    if not sys.stdout.isatty():
        return _until_the_end(lines)
    with working(READING):
        begun = list(islice(lines, 2))
    return chain(begun, lines)


def _until_the_end(lines: Iterator[str]) -> Iterator[str]:
    with working(READING):
        yield from lines


def show(lines: Iterable[str]) -> None:
    """Show lines in a pager on a terminal; print them otherwise."""
    if sys.stdout.isatty():
        import os

        # `less` cuts lines that are wider than the window; the arrow keys scroll them.
        os.environ.setdefault("LESS", "-RS")
        # The pager adds the last line end.
        click.echo_via_pager(f"\n{line}" if number else line for number, line in enumerate(lines))
    else:
        say(lines)


# Longer amounts than anybody types, far below the largest integer of SQLite.
AMOUNT = re.compile(
    r"([-+]?)(?:([0-9]{1,8})m?|([0-9]{1,6})h(?:([0-9]{1,8})m)?"
    r"|([0-9]{1,6}):([0-5]?[0-9])(?::([0-5][0-9]))?)",
    re.ASCII | re.IGNORECASE,
)


class WithAmount(click.Command):
    """A command that takes -5 as an amount, not as an option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.ignore_unknown_options = any(re.match("-[0-9]", word) for word in args)
        return super().parse_args(ctx, args)


def parse_minutes(typed: str) -> int:
    """Return a typed length of time in minutes. Raises `BadParameter` with the reason."""
    match = AMOUNT.fullmatch(typed.strip())
    if match is None:
        raise click.BadParameter(
            f"{typed!r} is not an amount: write minutes (90, 90m), or hours and minutes"
            " (2h, 1h30m)."
        )
    sign, alone, hours, rest, *clock = match.groups()
    first, second, seconds = (None if part is None else int(part) for part in clock)
    if first is None or second is None:
        total = 60 * int(hours or 0) + int(alone or rest or 0)
    elif seconds == 0:
        total = 60 * first + second
    elif seconds is not None:
        raise click.BadParameter(f"{typed!r} is not in whole minutes.")
    else:  # "15:00" may be hours or minutes
        either, other = f"{first}h{second}m", f"whole minutes ({first}m)"
        means = "hours and minutes, or minutes and seconds"
        if second == 0:
            means, either, other = f"{first} hours or {first} minutes", f"{first}h", f"{first}m"
        raise click.BadParameter(f"{typed!r} is {means}: write {either}, or {other}.")
    return -total if sign == "-" else total


def amount(_context: click.Context, _parameter: click.Parameter, typed: str) -> int:
    """Return a typed amount in seconds, above zero. Raises `BadParameter`."""
    seconds = signed_amount(_context, _parameter, typed)
    if seconds < 0:
        raise click.BadParameter(f"{typed!r} is below zero. `timebank adjust` takes it.")
    return seconds


def signed_amount(_context: click.Context, _parameter: click.Parameter, typed: str) -> int:
    """Return a typed amount in seconds, above or below zero. Raises `BadParameter`."""
    minutes = parse_minutes(typed)
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
            return self._within(parse_minutes(str(value)))
        except click.BadParameter as error:
            self.fail(error.message, param, ctx)
