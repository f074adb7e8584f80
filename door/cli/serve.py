"""`door serve`: opens the board."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from door.cli.common import (
    announce,
    config_option,
    failures_in_the_log,
    load_config,
    log_to_stderr,
)
from door.errors import BoardClosed, CannotJoin, CannotListen
from door.server import server
from door.setup.answers import free_port
from door.setup.new_board import SETTINGS
from timebank.cli.errors import UserError, refusing
from timebank.errors import BooksFailed, BooksTaken, DatabaseRefused

if TYPE_CHECKING:
    from door.config.config import Config

NO_WORKERS = (
    "--workers is ignored: one process serves the board. To use more cores, run a second server on"
    " PostgreSQL, behind HAProxy (`door docs many-machines`)."
)
# A trial takes calls from this machine alone, is open at any hour, and has no nightly event.
TRIAL_SETTINGS = """events = []
[board]
name = "A board to try"
[[listeners]]
kind = "telnet"
host = "127.0.0.1"
port = {port}
"""


@click.command()
@config_option
@click.option("--verbose", is_flag=True, help="Log every call.")
@click.option("--workers", hidden=True)  # of the unit files of earlier releases
@click.option("--try", "tries", is_flag=True, help="Play at once, on a board that is not saved.")
def serve(config_path: Path, verbose: bool, workers: str | None, tries: bool) -> None:
    """Open the board. Ctrl-C or SIGTERM closes it; SIGHUP reloads the settings."""
    if workers is not None:
        click.echo(NO_WORKERS, err=True)
    if tries:
        with _trial() as settings:
            announce("This board is for trying the games: nothing is saved when it closes.")
            _serve(load_config(settings), verbose, is_trial=True)
        return
    if not config_path.exists():
        raise UserError(
            f"There is no {config_path} here. `door init` makes a board in this folder, `door serve"
            " --try` plays at once on a board that is not saved, and --config names the settings"
            " of a board elsewhere."
        )
    with failures_in_the_log(config_path):
        _serve(load_config(config_path), verbose)


def _serve(config: Config, verbose: bool, *, is_trial: bool = False) -> None:
    say = log_to_stderr(config, verbose, is_trial=is_trial)
    with (
        refusing(DatabaseRefused, BooksTaken, BooksFailed, CannotJoin, CannotListen),
        refusing(BoardClosed, OSError),
        asyncio.Runner(loop_factory=server.loop_of(config)) as runner,
    ):
        runner.run(server.serve(config, say, is_trial=is_trial))


@contextmanager
def _trial() -> Iterator[Path]:
    """Yield the settings file of a new board, on the usual port if that is free."""
    with tempfile.TemporaryDirectory(prefix="bjft-try-") as folder:
        path = Path(folder) / SETTINGS
        path.write_text(TRIAL_SETTINGS.format(port=free_port()), encoding="utf-8")
        yield path
