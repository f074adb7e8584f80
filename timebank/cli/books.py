"""The `timebank` commands that read the books."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from timebank.audit import accounts as book_audit
from timebank.callers import callers, own_limits
from timebank.cli import common
from timebank.cli.common import NUMBER, config_option, format_option, opened, since_option, tell
from timebank.cli.errors import EXIT_WRONG, refusing
from timebank.cli.progress import working
from timebank.errors import BackupRefused, BooksUnavailable
from timebank.guests import claims
from timebank.keeping import backup, last_runs, restored_books
from timebank.ledger import chain as digests
from timebank.ledger import transfers as ledger
from timebank.ledger.generations import generations
from timebank.reports import beancount, exports, statements
from timebank.reports import boards as board_reports
from timebank.reports import house as house_report
from timebank.reports import summary as summary_report
from timebank.reports.extracts import entries, extracts, known_game, known_kind, last_number
from timebank.reports.ledger_pages import Sought, numbers_between
from timebank.reports.person import held_before

if TYPE_CHECKING:
    from timebank.audit.findings import Finding
    from timebank.ledger.database import Desk
    from timebank.ledger.generations import Generation
    from timebank.reports.summary import By
    from timebank.reports.tables import Piece


@click.command()
@config_option
@format_option
@click.option("--again", type=NUMBER, help="These minutes never arrived: give them again.")
@click.option("--given", type=NUMBER, help="These minutes did arrive: do nothing.")
def boards(config: Path, form: str, again: int | None, given: int | None) -> None:
    """Show the minutes of other boards' callers, and settle doubts.

    The lines under each board show how gains went back to it, and which minutes are still due.
    Minutes are in doubt if the program died while writing them. Ask the caller or look at their
    board, then use --again or --given.
    """
    with opened(config) as books:
        books.settle((claims.retry_payment, again), (claims.confirm_payment, given))
        with books.look() as desk:
            reports = board_reports.boards(desk)
            rows = claims.outstanding_payments(desk)
        table: list[Piece] = [board_reports.boards_table(reports)]
        if rows:
            table += ["", board_reports.outstanding_table(rows, books.settings.schedule)]
        lines = map(board_reports.board_line, reports)
        records = map(board_reports.board_record, reports)
        tell(form, table, board_reports.FIELDS, lines, records, paged=False)


@click.command()
@config_option
@format_option
@click.option("--caller", metavar="NAME", help="Only the accounts of this caller.")
def accounts(config: Path, form: str, caller: str | None) -> None:
    """Show the balance of every account, and callers' own limits.

    Frozen accounts and callers who are locked out are marked.
    """
    with opened(config) as books:
        with books.look() as desk, working(common.READING):
            number = None
            if caller is not None:
                number = callers.number_named(desk, caller)
            states = callers.states(desk)
            balances = ledger.balances(desk, number)
            limits = [
                (name, sentence)
                for caller_id, (name, own) in own_limits.everybody(desk).items()
                if number in (None, caller_id)
                for sentence in own_limits.clauses(own, desk)
            ]
        records = (exports.account_record(each, states) for each in balances)
        table = [*statements.accounts_table(balances, states)]
        if limits:
            table += ["", statements.limits_table(limits)]
        tell(form, table, exports.ACCOUNT_FIELDS, records)


@click.command(name="ledger")
@config_option
@format_option
@click.option("--caller", metavar="NAME", help="Only transfers of this caller.")
@click.option("--game", metavar="GAME", help="Only transfers of this game.")
@click.option(
    "--kind",
    metavar="KIND",
    help='Only transfers of this kind, such as "grant" or "clamp"; CSV and JSON name it.',
)
@click.option("--call", type=NUMBER, help="Only transfers made on this call.")
@click.option("--hand", type=NUMBER, help="Only transfers of this hand.")
@since_option
@common.until_option
@click.option("--newest-first", is_flag=True, help="Start with the last transfer.")
def show_ledger(config: Path, form: str, newest_first: bool, **filters: str | int | None) -> None:
    """Show transfers in the order they were made."""
    with opened(config) as books:
        sought = _filters(books, **filters)  # type: ignore[arg-type]  # as click read them
        rows = extracts(books.look, sought, newest_first=newest_first)
        schedule = books.settings.schedule
        records = (exports.ledger_record(row, schedule) for row in rows)
        tell(form, [statements.ledger_table(rows, schedule)], exports.LEDGER_FIELDS, records)


def _filters(
    books: common.OpenBooks,
    *,
    caller: str | None,
    game: str | None,
    kind: str | None,
    call: int | None,
    hand: int | None,
    since: str | None,
    until: str | None,
) -> Sought:
    books.span(since, until)  # refuses days that cannot be
    first, last = books.days(since, until)
    with books.look() as desk:
        return Sought(
            callers=() if caller is None else (callers.number_named(desk, caller),),
            games=() if game is None else (known_game(desk, game),),
            kinds=() if kind is None else (known_kind(desk, kind),),
            call=call,
            hand=hand,
            since=first,
            until=last,
        )


@click.command()
@config_option
@format_option
@since_option
@common.until_option
@click.argument("name")
def statement(config: Path, form: str, since: str | None, until: str | None, name: str) -> None:
    """Show a caller's entries and balances.

    Each entry is one line in words, with the balances after it. The limits that callers have set
    for themselves follow.
    """
    with opened(config) as books:
        with books.look() as desk:
            caller_id = callers.number_named(desk, name)
            called = callers.name_of(desk, caller_id)
            limits = own_limits.clauses(own_limits.current(desk, caller_id), desk)
            first, end = numbers_between(desk, *books.span(since, until))
            opening = held_before(desk, ledger.balances(desk, caller_id), first)
        rows = extracts(books.look, Sought(callers=(caller_id,)), within=(first, end))
        followed = statements.statement(entries(rows), caller_id, opening)
        schedule = books.settings.schedule
        table = statements.statement_table(followed, called, schedule)
        if limits:
            own_table = statements.limits_table([(called, sentence) for sentence in limits])
            table = chain(table, ("", own_table))
        records = (exports.statement_record(entry, schedule) for entry in followed)
        tell(form, table, exports.STATEMENT_FIELDS, records)


@click.command()
@config_option
@format_option
@click.option(
    "--by",
    type=click.Choice(["day", "week", "month", "year"]),
    default="day",
    show_default=True,
    help="The period of each line.",
)
@since_option
@common.until_option
def summary(config: Path, form: str, by: By, since: str | None, until: str | None) -> None:
    """Show totals by day, week, month or year.

    These are minutes granted, used, banked, withdrawn, lent, repaid and forfeited, minutes won and
    lost by game, and the house's result.
    """
    with opened(config) as books:
        first, end = books.span(since, until)
        with books.look() as desk, working("Adding up"):
            periods = summary_report.summary(desk, by, first, end)
    table, lines = (
        summary_report.summary_table(periods, _bar()),
        summary_report.summary_lines(periods),
    )
    records = map(summary_report.summary_record, periods)
    tell(form, [table], summary_report.SUMMARY_FIELDS, lines, records, paged=False)


@click.command(name="house")
@config_option
@format_option
@click.option("--caller", metavar="NAME", help="Only hands of this caller.")
@since_option
@common.until_option
def show_house(
    config: Path, form: str, caller: str | None, since: str | None, until: str | None
) -> None:
    """Show what the house won at each table, next to exact odds.

    Exits with 1 if luck does not explain a result, and names the tables and callers: it is a cheat
    or a bug.
    """
    with opened(config) as books:
        first, end = books.span(since, until)
        with books.look() as desk:
            number = None
            if caller is not None:
                number = callers.number_named(desk, caller)
            with working("Adding up"):
                tables, doubted = house_report.house(
                    desk, house_report.installed_odds(), first, end, number
                )
            named = house_report.names(desk, doubted)
    shown = house_report.lines([*tables, *doubted], named)
    tell(form, house_report.table(tables, doubted, named), house_report.FIELDS, shown, paged=False)
    if doubted or not all(luck.is_believable for luck in tables):
        sys.exit(EXIT_WRONG)


def _bar() -> str:
    """Return the character for bars, "" if the output is not a terminal."""
    if not sys.stdout.isatty():
        return ""
    try:
        "█".encode(sys.stdout.encoding)
    except UnicodeEncodeError:
        return "#"
    return "█"


@click.command()
@config_option
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write to this new file instead of the screen.",
)
@click.argument(
    "form", metavar="[csv|json|beancount]", type=click.Choice(["csv", "json", "beancount"])
)
def export(config: Path, output: Path | None, form: str) -> None:
    """Export the whole books for other programs."""
    with opened(config) as books:
        pieces = _exported(books, form)
        if output is None:
            common.pour(common.with_progress(pieces))
            return
        _write_new(output, pieces)
    click.echo(f"The books are in {output}.")


def _exported(books: common.OpenBooks, form: str) -> Iterator[str]:
    """Return the pieces of the export. All of it is of one moment."""
    schedule = books.settings.schedule
    with books.look() as desk:
        balances = ledger.balances(desk)
        states = callers.states(desk)
        used = beancount.used_accounts(desk, balances)
        latest = beancount.last_instant(desk)
        within = 1, last_number(desk) + 1
    rows = extracts(books.look, Sought(), within=within)
    if form == "beancount":
        return beancount.as_beancount(used, latest, entries(rows), schedule)
    if form == "json":
        return exports.books_as_json(balances, states, rows, schedule)
    records = (exports.ledger_record(row, schedule) for row in rows)
    return exports.as_csv(exports.LEDGER_FIELDS, records)


def _write_new(path: Path, pieces: Iterable[str]) -> None:
    """Write a new file, complete or not at all."""
    with (
        refusing(BackupRefused),
        working("Writing"),
        backup.new_file(path) as part,
        part.open("w", encoding="utf-8", newline="\n") as file,
    ):
        file.writelines(pieces)


def _digest(_context: click.Context, _parameter: click.Parameter, typed: str | None) -> str | None:
    """Return a typed digest in lower case. Raises `BadParameter`."""
    if typed is not None and re.fullmatch("[0-9a-fA-F]{64}", typed.strip()) is None:
        raise click.BadParameter(f"{typed!r} is not a digest, which is 64 hexadecimal digits.")
    return None if typed is None else typed.strip().lower()


@click.command()
@config_option
@format_option
@click.option(
    "--since-digest",
    metavar="DIGEST",
    callback=_digest,
    help="Prove that the books still continue those with this digest.",
)
@common.retired_option("--since-last", is_flag=True)
@common.retired_option("--jobs", type=int)
def audit(config: Path, form: str, since_digest: str | None) -> None:
    """Check the books, row by row.

    Exits with 1 and names the rows if anything is wrong. Otherwise it shows the digest of the last
    transfer. Note it down, and you can prove later that the ledger up to it is unchanged. JSON and
    CSV always have the digest; in CSV it is the last line.
    """
    with opened(config) as books, books.look() as desk:
        audited = _audited(books, desk, since_digest)
    if form == "text":
        _say_audited(audited, since_digest)
    else:
        facts = {
            "transfers": audited.transfers,
            "digest": audited.digest,
            "generation": audited.generation,
        }
        common.write_audit(form, facts, audited.findings)
    sys.exit(EXIT_WRONG if audited.findings else 0)


class _Audited(NamedTuple):
    findings: list[Finding]
    transfers: int
    digest: str
    restores: list[Generation]
    remark: str | None  # why these books may have been put back by hand

    @property
    def generation(self) -> int:
        return self.restores[-1].number if self.restores else 1


def _audited(books: common.OpenBooks, desk: Desk, since_digest: str | None) -> _Audited:
    """Check the books, and note the findings next to them."""
    with working("Checking the books"):
        findings = book_audit.audit(desk, since_digest)
    head = digests.head(desk.connection)
    restores, remark = generations(desk.connection), _remark(books, desk)
    audited = _Audited(findings, ledger.count(desk), head.digest, restores, remark)
    sentences = findings if remark is None else [f"{remark}.", *findings]
    common.note_audit(books.settings, last_runs.BOOKS, desk.now, audited.generation, sentences)
    return audited


def _remark(books: common.OpenBooks, desk: Desk) -> str | None:
    """Return why these books may have been put back by hand, or None."""
    remark = None
    # Other users than the board's may be able to read the books but not the notes next to them. Try
    # twice, because the board may change its mark during the first try.
    with suppress(BooksUnavailable):
        for _ in range(2):
            remark = restored_books.suspicion(books.database, books.settings, desk.now)
            if remark is None:
                break
    return remark


def _say_audited(audited: _Audited, since_digest: str | None) -> None:
    if audited.remark is not None:
        click.echo(f"{audited.remark}. The next start treats it as restored.", err=True)
    if audited.findings:
        common.say_wrong(audited.findings)
        return
    rows = "1 transfer" if audited.transfers == 1 else f"{audited.transfers} transfers"
    click.echo(f"The books are in order: {rows}, and every balance follows from them.")
    if audited.restores:
        last = audited.restores[-1]
        click.echo(
            f"They are in generation {last.number}, which begins with transfer {last.first}"
            f" ({last.why})."
        )
    if since_digest is not None:
        click.echo("They continue the books with your digest.")
    click.echo(
        f"The last digest is {audited.digest}. Note it down for `timebank audit --since-digest`."
    )
