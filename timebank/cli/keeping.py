"""The `timebank` commands for backups, the move of books, THEBANK.EXT and the nightly work."""

from __future__ import annotations

import sys
from codecs import BOM_UTF8
from contextlib import closing, nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click

from timebank import serving
from timebank.cli.common import (
    NUMBER,
    by_option,
    config_option,
    format_option,
    ignoring_note_errors,
    load,
    opened,
    say,
    tell,
)
from timebank.cli.errors import EXIT_WRONG, UserError, refusing
from timebank.cli.progress import working
from timebank.errors import (
    BackupRefused,
    BooksFailed,
    BooksTaken,
    DatabaseRefused,
    NoPlace,
    NotInOrder,
)
from timebank.keeping import backup as file_copies
from timebank.keeping import book_move, last_runs, whole_board
from timebank.keeping import maintain as nightly
from timebank.ledger.engines import books_of
from timebank.ledger.schema import instant
from timebank.reports.exports import iso
from timebank.reports.statements import NAME, WORDS, printable
from timebank.reports.tables import Column, Listing
from timebank.settings.place import is_server, read_place
from timebank.thebank import importer
from timebank.thebank import outbox as thebank_ext

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from timebank.keeping.backup import Restored
    from timebank.ledger.database import Database
    from timebank.reports.exports import Record
    from timebank.reports.tables import Row
    from timebank.settings.schedule import Schedule
    from timebank.settings.settings import BankSettings
    from timebank.thebank.outbox import OutboxRow

LONGEST_LINE = 2048  # bytes to read of a passphrase; too long for one, it is refused


@click.command()
@config_option
@click.option("--all", "is_all", is_flag=True, help="Also sysop.toml, screens and the SSH keys.")
@click.option(
    "--passphrase-file",
    type=click.File("rb"),
    help="With --all: the passphrase that seals the SSH keys, - for standard input.",
)
@click.argument("file", type=click.Path(path_type=Path))
def backup(config: Path, is_all: bool, passphrase_file: BinaryIO | None, file: Path) -> None:
    """Copy the books to a new FILE; with --all the whole board.

    The board can stay open. The copy is of one moment, and audited. With --all, FILE is a tar file
    whose CONTENTS.txt says what it holds. Without a passphrase the SSH keys are left out.
    """
    if passphrase_file is not None and not is_all:
        raise UserError("--passphrase-file seals keys, which only --all copies.")
    with opened(config) as books, refusing(BackupRefused):
        back_up = _copies(books.settings).back_up
        begun, settings, contents = books.clock.now(), books.settings, ""
        copy = partial(back_up, books.database, settings, begun)
        for sentence in file_copies.unfinished(file.parent):
            click.echo(sentence, err=True)
        with working("Copying and checking the books"):
            if is_all:
                line = passphrase_file.readline(LONGEST_LINE) if passphrase_file else None
                passphrase = line and line.removeprefix(BOM_UTF8).rstrip(b"\r\n")
                copied, contents = whole_board.back_up(
                    config, settings, begun, file, passphrase, copy
                )
            else:
                copied = copy(file)
        with ignoring_note_errors("copy"):  # for the sysop's pages
            last_runs.note_copy(settings, begun, file)
    if copied.findings:
        say(map(str, copied.findings))
        click.echo(f"{file} is a true copy, but the books have faults.", err=True)
        sys.exit(EXIT_WRONG)
    click.echo(
        f"{file} holds {_transfers(copied.transfers)}, and is in order.\n{contents}".rstrip()
    )


def _copies(settings: BankSettings) -> ModuleType:
    """Return the module that copies the books: for a file, or for a server."""
    if settings.server is None:
        return file_copies

    books_of(settings)  # raises a sentence if the extra is not installed
    from timebank.keeping import dumps  # noqa: PLC0415 - it needs the extra `postgres`

    return dumps


@click.command()
@config_option
@click.argument("source")
@click.argument("target")
def move(config: Path, source: str, target: str) -> None:
    """Move the books from SOURCE to TARGET.

    Each is a file of SQLite or a postgresql:// URL. The board must be closed, and TARGET must be
    new or empty. All rows are compared and audited. Nobody can serve from SOURCE afterwards; name
    TARGET in sysop.toml.
    """
    settings = load(config)
    with (
        refusing(BackupRefused, BooksFailed, DatabaseRefused),
        closing(_books_at(source, settings)) as old,
        closing(_books_at(target, settings)) as new,
        working("Moving and checking the books"),
    ):
        moved = book_move.move(old, new, settings, datetime.now(UTC))
    click.echo(f"{new.place} holds the books: {moved.rows} rows, the same as in {old.place}.")
    if moved.findings:
        click.echo("The books had errors before, and still have: see `timebank audit`.", err=True)
        sys.exit(EXIT_WRONG)


def _books_at(place: str, settings: BankSettings) -> Database:
    if not is_server(place):
        if not place or Path(place).is_dir():
            raise UserError(f'"{place}" cannot hold the books: name a file, or a URL.')
        return books_of(replace(settings, database=Path(place), server=None))
    known = settings.server
    try:
        server = read_place(place, None if known is None else known.password_file)
    except NoPlace as error:
        raise UserError(f"The place of the books {error}.") from error
    return books_of(replace(settings, server=server))


@click.command()
@config_option
@by_option
@click.option(
    "--dry-run",
    is_flag=True,
    help="Show what a restore would do, and change nothing; the board can stay open.",
)
@click.option("--yes", is_flag=True, help="Don't show what would be undone, and don't ask.")
@click.argument("file", type=click.Path(path_type=Path))
def restore(config: Path, by: str, dry_run: bool, yes: bool, file: Path) -> None:
    """Replace the books with the backup FILE.

    The command shows what that undoes, and asks. The board must be closed. The backup is audited
    first, and the old books stay next to the new. Everything open in the backup is closed: shoes
    end, hands are void and their stakes return. Numbers continue past any ever given, in a new
    generation. Recovery codes become void. Rights that were taken from callers since are not given
    back. Locks, freezes and mutes hold if they are in either books. The command lists each change.
    From a backup of the whole board it takes the books alone; CONTENTS.txt in it says how the rest
    goes back.
    """
    if not config.exists():
        raise UserError(
            f"There is no {config} here. `tar xf FILE` unpacks it from a backup of the whole board."
        )
    settings = load(config)
    with refusing(BackupRefused), whole_board.books_in(file) as source:
        copies, now = _copies(settings), datetime.now(UTC)
        if not dry_run and serving.is_held(settings.lock):
            with file_copies.locked_for_restore(settings):  # refuse before the question
                pass
        if dry_run or not yes:
            tried = _restored(copies.rehearse, file, source, settings, now)
            if dry_run or tried.undone:
                _say_rehearsed(tried, settings, file)
            if dry_run:
                return
            if tried.undone:
                click.confirm("Restore?", abort=True)
        restored = _restored(copies.restore, file, source, settings, now, by)
    _say_restored(restored, settings, file)


def _restored(
    work: Callable[..., Restored], file: Path, source: Path, *settings: object
) -> Restored:
    """Do the work; exit with the findings if the backup is not in order.

    A refusal names the sysop's `file`, and not the `source` that was unpacked from it.
    """
    try:
        with working("Checking the backup"):
            return work(source, *settings)
    except (BackupRefused, DatabaseRefused) as refusal:
        sentence = str(refusal).replace(str(source), str(file))
        if isinstance(refusal, NotInOrder):
            say(map(str, refusal.findings))
            click.echo(sentence, err=True)
            sys.exit(EXIT_WRONG)
        raise UserError(sentence) from refusal


def _say_rehearsed(tried: Restored, settings: BankSettings, file: Path) -> None:
    click.echo("Nothing was changed. A restore would do this:")
    if tried.on_call:
        click.echo(f"Online right now: {', '.join(tried.on_call)}. Close the board first.")
    if tried.undone:
        click.echo(tried.undone)
    _say_restored(tried, settings, file)


def _say_restored(restored: Restored, settings: BankSettings, file: Path) -> None:
    place = settings.server or settings.database
    click.echo(f"{place} holds {_transfers(restored.transfers)} from {file}.")
    if restored.aside is not None:
        click.echo(f"The old books are in {restored.aside}.")
    say(restored.settled_copy.sentences())


def _transfers(count: int) -> str:
    return "1 transfer" if count == 1 else f"{count} transfers"


@click.command()
@config_option
@format_option
@click.option("--repeat", type=NUMBER, help="This record never arrived: send it again.")
@click.option("--delivered", type=NUMBER, help="This record did arrive: do nothing.")
def outbox(config: Path, form: str, repeat: int | None, delivered: int | None) -> None:
    """Show records not in THEBANK.EXT yet, and settle doubts.

    A record is in doubt if the file was removed while it was being written. Look for it in your
    time bank, then use --repeat or --delivered.
    """
    with opened(config) as books:
        books.settle((thebank_ext.retry_record, repeat), (thebank_ext.confirm_record, delivered))
        with books.look() as desk:
            rows = thebank_ext.undelivered(desk)
        settings = books.settings
    records = [_outbox_record(row, settings.schedule) for row in rows]
    tell(form, [_outbox_table(rows, settings)], OUTBOX_FIELDS, records, paged=False)


OUTBOX_FIELDS = ("number", "caller", "minutes", "source", "at", "state", "doubt")


def _outbox_record(row: OutboxRow, schedule: Schedule) -> Record:
    doubt = row.mark if row.state == "doubtful" else None
    at = iso(row.at, schedule)
    values = (row.number, row.name, row.minutes, row.source, at, row.state, doubt)
    return dict(zip(OUTBOX_FIELDS, values, strict=True))


def _outbox_table(rows: list[OutboxRow], settings: BankSettings) -> Listing:
    columns = (
        *(Column("Record", right=True), Column("When", goes=1), Column("Caller", least=NAME)),
        *(Column("Minutes", right=True), Column("State", least=WORDS)),
    )
    empty = "Every record is in THEBANK.EXT."
    if settings.mode != "external":
        empty = f'[timebank] mode is "{settings.mode}": nothing goes to THEBANK.EXT.'
    return Listing(columns, [_outbox_row(row, settings.schedule) for row in rows], empty)


def _outbox_row(row: OutboxRow, schedule: Schedule) -> Row:
    when = schedule.local(instant(row.at))
    doubt = f": {printable(row.mark)}" if row.state == "doubtful" and row.mark else ""
    return (
        *(str(row.number), f"{when:%Y-%m-%d %H:%M:%S}", printable(row.name), str(row.minutes)),
        f"{row.state}{doubt}",
    )


@click.command(name="import")
@config_option
@click.argument("file", type=click.Path(path_type=Path))
def import_file(config: Path, file: Path) -> None:
    """Import a THEBANK.EXT from another program.

    Each deposit and withdrawal is applied once, even if the command is interrupted and repeated.
    The file is kept as .BAK. Lines that cannot be applied are reported here and in the sysop's log.
    Exits with 1 if there are any, and with 2 if the file could not be imported.
    """
    with opened(config) as books:
        books.take_up()
        with working("Importing"):
            report = importer.import_file(books.database, books.settings, books.clock.now(), file)
    *lines, last = report.sentences()
    say(lines)
    if report.problem is not None:
        raise UserError(last)
    click.echo(last)
    if report.refused:
        sys.exit(EXIT_WRONG)


@click.command()
@config_option
def maintain(config: Path) -> None:
    """Do the nightly work; safe to repeat at any time.

    Closes the calls of dead processes, stands hands left open past their day, settles a tournament
    that is over, closes empty accounts of callers who are gone, removes deleted callers, drops old
    notices and log lines, and repairs running totals of hands. Exits with 1 if a hand could not be
    stood, or if the clock is in doubt. With a doubtful clock, only steps are taken that can be
    undone.
    """
    with opened(config) as books, working("Doing the nightly work"):
        done = nightly.maintain(
            books.work, books.look, nightly.installed_stand(), nightly.installed_weigh()
        )
        counted = nightly.count_results(books.work, books.look)
    lines = list(done.sentences())
    if counted:
        lines.append(f"Recounted {counted} running total{'s'[: counted > 1]} of hands.")
    say(lines or ["Nothing to do."])
    if done.left or done.held_up:
        sys.exit(EXIT_WRONG)


@click.command()
@config_option
def upgrade(config: Path) -> None:
    """Move books of an earlier release forward to this one.

    Books in a file are copied first, and the copy stays. The command refuses while a board of the
    earlier release may still run. `door serve` upgrades the books too.
    """
    say(move_books_forward(load(config)))


def move_books_forward(settings: BankSettings) -> list[str]:
    """Upgrade the books, and return the sentences about it; raise `UserError` if that fails."""
    is_there = settings.database.parent.is_dir()
    with (
        refusing(BooksFailed, BooksTaken, DatabaseRefused),
        closing(books_of(settings)) as database,
        serving.take(settings.lock, serving.MIGRATING) if is_there else nullcontext(),
    ):
        with working("Moving the books forward"):
            upgraded = database.upgrade()
        database.open_existing()
    if upgraded is None:
        return [f"The books in {database.place} are of this version already."]
    return upgraded.sentences()
