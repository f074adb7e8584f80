"""The `timebank` command: what is in the books, and whether they are right.

Whatever is heavy is imported by the command that needs it, so that `--help` comes at once.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from timebank.database import Desk


class Sentence(click.ClickException):
    """Why the command could not do its work, said to the sysop; exit 2."""

    exit_code = 2

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the sentence as it is."""
        click.echo(self.message, file=file or sys.stderr)


config_option = click.option(
    "--config",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("sysop.toml"),
    show_default=True,
    help="The settings of the board; they say where its database is.",
)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="blackjack-for-time", prog_name="timebank")
def main() -> None:
    """Read and check the books of the time bank."""


@main.command()
@config_option
def accounts(config: Path) -> None:
    """Show what every account holds."""
    from timebank import ledger, statements

    with _reading(config) as desk:
        for line in statements.accounts_table(ledger.balances(desk)):
            click.echo(line)


@main.command(name="ledger")
@config_option
@click.option("--caller", metavar="NAME", help="Only transfers of this caller.")
@click.option(
    "--since",
    metavar="DATE",
    type=click.DateTime(formats=["%Y-%m-%d"]),
    help="Only transfers of this day (YYYY-MM-DD, in the board's time zone) and later ones.",
)
def show_ledger(config: Path, caller: str | None, since: datetime | None) -> None:
    """Show transfers in the order they were made."""
    from timebank import callers, ledger, statements
    from timebank.model import stamp

    with _reading(config) as desk:
        caller_id = None
        if caller is not None:
            caller_id = callers.number_of(desk, caller)
            if caller_id is None:
                raise Sentence(f"There is no caller named {caller}. `timebank accounts` lists all.")
        schedule = desk.settings.schedule
        first = None if since is None else stamp(schedule.day_starts(since.date()))
        lines = ledger.lines(desk, caller_id=caller_id, round_id=None, since=first)
        for line in statements.ledger_table(lines, schedule):
            click.echo(line)


@main.command()
@config_option
def audit(config: Path) -> None:
    """Check the books from the rows up; exit 1 and name the rows when anything is off."""
    from timebank import ledger

    with _reading(config) as desk:
        findings = ledger.audit(desk)
        transfers = ledger.count(desk)
    for finding in findings:
        click.echo(str(finding))
    if findings:
        things = "thing is" if len(findings) == 1 else "things are"
        click.echo(f"{len(findings)} {things} wrong with the books.", err=True)
        sys.exit(1)
    click.echo(
        f"The books are in order: {transfers} transfers, and every balance follows from them."
    )


@contextmanager
def _reading(config: Path) -> Iterator[Desk]:
    """Open the books that the settings name, to read one moment of them."""
    from timebank.database import BooksUnavailable, Database, DatabaseRefused
    from timebank.settings import SettingsError, load

    try:
        settings = load(config)
    except SettingsError as error:
        raise Sentence(str(error)) from error
    database = Database(settings.database)
    try:
        database.open_existing()
        with database.reading(settings, datetime.now(UTC)) as desk:
            yield desk
    except (DatabaseRefused, BooksUnavailable) as error:
        raise Sentence(str(error)) from error
    finally:
        database.close()
