"""The `timebank` commands that correct accounts; each needs a reason.

They use the same transactions as callers at the window. So they work while the board serves, also
for callers who are online, whose processes notice the change.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from timebank.callers import callers, sysop_log
from timebank.cli import common
from timebank.cli.common import (
    OpenBooks,
    WithAmount,
    amount,
    by_option,
    config_option,
    format_option,
    opened,
)
from timebank.ledger import transfers
from timebank.reports.statements import NAME, SHORT, WORDS, printable
from timebank.reports.tables import Column, Listing
from timebank.window import corrections
from timebank.words import clock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from timebank.callers.sysop_log import LogEntry
    from timebank.ledger.database import Desk
    from timebank.ledger.transfers import TransferRow
    from timebank.reports.tables import Row

why_option = click.option(
    "--why",
    required=True,
    metavar="TEXT",
    help="The reason, shown to the caller and kept in the books.",
)
amount_argument = click.argument("amount", metavar="AMOUNT", callback=amount)
at_window = partial(corrections.adjust, at_window=True)
F = TypeVar("F", bound="Callable[..., object]")


def correction(command: F) -> F:
    """Give a command the options and the name of a correction."""
    return config_option(why_option(by_option(click.argument("name")(command))))


@click.command(cls=WithAmount)
@correction
@amount_argument
def deposit(config: Path, why: str, by: str, name: str, amount: int) -> None:
    """Put minutes into a caller's account.

    AMOUNT is minutes (90, 90m), or hours and minutes (2h, 1h30m, 1:30:00).
    """
    _move(config, [name], lambda desk, who: at_window(desk, who[0], amount, why, by))


@click.command(cls=WithAmount)
@correction
@amount_argument
def withdraw(config: Path, why: str, by: str, name: str, amount: int) -> None:
    """Take minutes out of a caller's account.

    AMOUNT is minutes (90, 90m), or hours and minutes (2h, 1h30m, 1:30:00).
    """
    _move(config, [name], lambda desk, who: at_window(desk, who[0], -amount, why, by))


@click.command(cls=WithAmount)
@correction
@click.argument("to_name", metavar="TO")
@amount_argument
def transfer(config: Path, why: str, by: str, name: str, to_name: str, amount: int) -> None:
    """Move minutes from NAME's account to TO's. NAME must not owe a loan.

    AMOUNT is minutes (90, 90m), or hours and minutes (2h, 1h30m, 1:30:00).
    """
    _move(
        config,
        [name, to_name],
        lambda desk, both: corrections.sysop_transfer(desk, both[0], both[1], amount, why, by),
    )


@click.command(cls=WithAmount)
@correction
@click.argument("amount", metavar="AMOUNT", callback=common.signed_amount)
def adjust(config: Path, why: str, by: str, name: str, amount: int) -> None:
    """Correct a caller's account, up or down.

    AMOUNT is minutes (90, 90m), or hours and minutes (2h, 1h30m, 1:30:00); a minus sign takes
    them out. Unlike a deposit, a correction may exceed the largest balance. It also works on frozen
    accounts, and in every mode of the bank.
    """
    _move(config, [name], lambda desk, who: corrections.adjust(desk, who[0], amount, why, by))


def _move(
    config: Path, names: Sequence[str], work: Callable[[Desk, list[int]], tuple[TransferRow, ...]]
) -> None:
    """Run `work` on the accounts of `names`, and print its transfers and the new balances."""
    with opened(config) as books, books.work() as desk:
        records = [callers.named(desk, name) for name in names]
        rows = work(desk, [record.id for record in records])
        banks = {
            balance.caller_id: balance.amount
            for balance in transfers.balances(desk)
            if balance.kind == "bank" and balance.unit == "second"
        }
    for row in rows:
        click.echo(f"Transfer {row.number}: {row.why}.")
    for record in records:
        click.echo(f"{record.name}'s account holds {clock(banks[record.id])}.")


@click.command()
@correction
def freeze(config: Path, why: str, by: str, name: str) -> None:
    """Freeze an account: nothing goes in or out.

    Its caller plays as before. Minutes that they earn stay on their clock, and are banked at the
    end of a day on which the account is open again.
    """
    _set(config, name, lambda desk, who: corrections.freeze(desk, who, why, by))


@click.command()
@correction
def unfreeze(config: Path, why: str, by: str, name: str) -> None:
    """Unfreeze an account."""
    _set(config, name, lambda desk, who: corrections.unfreeze(desk, who, why, by))


def _set(config: Path, name: str, work: Callable[[Desk, int], str]) -> None:
    with opened(config) as books, books.work() as desk:
        done = work(desk, callers.named(desk, name).id)
    click.echo(done)


LOG_FIELDS = ("number", "at", "by", "caller", "what")
LOG_PAGE = 500


@click.command(name="log")
@config_option
@format_option
def show_log(config: Path, form: str) -> None:
    """Show the sysop's log: what was changed by hand, newest first."""
    with opened(config) as books:
        entries = _log(books)
        local = books.settings.schedule.local
        records = ({**each._asdict(), "at": local(each.at).isoformat()} for each in entries)
        table = _log_table(books, entries)
        common.tell(form, [table], LOG_FIELDS, records)


def _log(books: OpenBooks) -> Iterator[LogEntry]:
    """Yield the log, page by page, so that no transaction waits for a reader."""
    before = None
    while True:
        with books.look() as desk:
            page = sysop_log.entries(desk, before, LOG_PAGE)
        if not page:
            return
        yield from page
        before = page[-1].number


def _log_table(books: OpenBooks, entries: Iterator[LogEntry]) -> Listing:
    columns = (
        *(Column("When"), Column("By", least=SHORT), Column("Caller", least=NAME)),
        Column("What", least=WORDS),
    )
    rows = (_log_row(books, entry) for entry in entries)
    return Listing(columns, rows, "Nothing has been done by hand.")


def _log_row(books: OpenBooks, entry: LogEntry) -> Row:
    when = books.settings.schedule.local(entry.at)
    who = printable(entry.by), printable(entry.caller or "-")
    return f"{when:%Y-%m-%d %H:%M:%S}", *who, printable(entry.what)
