"""`door top`: shows the running board in a terminal."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

import click

from door.cli.common import config_option, load_config
from door.clock import SystemClock
from door.desk.pages.operations import SysopActs
from door.desk.pages.queries import BooksReader
from door.desk.top.snapshot import BoardWatch
from timebank.cli.common import by_option
from timebank.cli.errors import UserError, refusing
from timebank.errors import BooksFailed, DatabaseRefused
from timebank.extras import install_command
from timebank.ledger.engines import books_of

NOT_INSTALLED = (
    f"`door top` needs a library that is not installed: run {install_command('console')}."
    " `door nodes --watch` shows who is on without it."
)


@click.command()
@config_option
@by_option
def top(config_path: Path, by: str) -> None:
    """Watch the running board, with keys to act.

    It shows who is on, bets, the house and refusals.
    """
    try:
        from door.desk.top.app import Top
    except ImportError as missing:
        raise UserError(NOT_INSTALLED) from missing

    config = load_config(config_path)
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UserError("`door top` needs a terminal; `door nodes` shows who is on without one.")
    with (
        refusing(DatabaseRefused, BooksFailed),
        contextlib.closing(books_of(config.bank)) as database,
    ):
        database.open_existing()
        reading = BooksReader(config, database, SystemClock())
        Top(BoardWatch(config, reading, SysopActs(reading)), by).run()
