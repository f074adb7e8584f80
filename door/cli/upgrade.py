"""`door upgrade`: moves books of an earlier release forward, or says what that takes."""

from __future__ import annotations

import json
import os
import shutil
import struct
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from socket import AF_UNIX, socket
from typing import TYPE_CHECKING

import click

from door.cli.common import config_option, load_config
from door.errors import NoAnswer
from door.server import control_client, server_note
from timebank import serving
from timebank.cli.common import by_option, say
from timebank.cli.errors import UserError, refusing
from timebank.cli.keeping import move_books_forward
from timebank.cli.progress import working
from timebank.errors import BooksFailed, DatabaseRefused, OlderBooks
from timebank.ledger import migrations
from timebank.ledger.database import BUSY_SECONDS, going_back
from timebank.ledger.engines import books_of
from timebank.ledger.sqlite import upgrade as of_file
from timebank.words import span

if TYPE_CHECKING:
    from door.config.config import Config

SOCKET_OF_1_0 = "vegas.sock"  # in the data folder; each later release has another
ANSWER_SECONDS = 10.0
POLL_SECONDS = 0.5


@click.command()
@config_option
@by_option
@click.option("--check", is_flag=True, help="Try it on a copy, and say what it takes.")
def upgrade(config_path: Path, by: str, check: bool) -> None:
    """Move books of an earlier release forward to this one.

    A server that runs takes no more calls, and ends when its last caller has gone. Books in a file
    are copied first. If no server runs, `door serve` upgrades the books too.
    """
    settings = load_config(config_path)
    if check:
        _check(settings)
        return
    if _is_due(settings):
        _drain(settings, by)
    say(move_books_forward(settings.bank))


def _is_due(settings: Config) -> bool:
    with refusing(BooksFailed, DatabaseRefused), closing(books_of(settings.bank)) as database:
        try:
            database.open_existing()
        except OlderBooks:
            return True
    return False


def _check(settings: Config) -> None:
    """Print what the upgrade would do."""
    newest = migrations.newest_version()
    lines = [f"This is release {server_note.version()}, with books of version {newest}."]
    if settings.bank.server is not None:
        older = "an earlier version: they would be moved forward"
        state = older if _is_due(settings) else "this version already"
        lines.append(f"The books in {settings.bank.server} are of {state}.")
        lines.append("No copy is made on a server: run the earlier release's `timebank backup`.")
    elif not settings.database.is_file() or not settings.database.stat().st_size:
        lines.append(f"There are no books at {settings.database} yet.")
    else:
        with refusing(BooksFailed, DatabaseRefused), working("Trying it on a copy"):
            trial = of_file.rehearse(settings.database, BUSY_SECONDS)
        if trial is None:
            lines.append(f"The books in {settings.database} are of this version already.")
        else:
            lines += _trial_words(settings.database, trial)
    say([*lines, _server_words(settings), *settings.retired])


def _trial_words(books: Path, trial: of_file.TrialUpgrade) -> Iterator[str]:
    yield f"The books in {books} are of version {trial.version}: they would be moved forward."
    free = shutil.disk_usage(books.parent).free
    yield (
        f"On a copy that took {span(max(1, round(trial.seconds)))} and"
        f" {_megabytes(trial.room)} of room; {_megabytes(free)} are free."
    )
    copy = of_file.copy_path(books, trial.version)
    yield f"A copy of them as they are would stay in {copy}."
    yield going_back(copy)


def _megabytes(size: int) -> str:
    return f"{size / 1_000_000:,.1f} MB"


def _server_words(settings: Config) -> str:
    server = server_note.server_in(settings.board.data)
    if server is not None and server.runs:
        release = server.version
    elif _tell_release_1_0(settings.board.data / SOCKET_OF_1_0, "here"):
        release = "1.0"
    else:
        return "No server runs."
    return (
        f"A server of release {release} runs. `door upgrade` waits until its callers have gone, and"
        " no more calls are taken meanwhile."
    )


def _drain(settings: Config, by: str) -> None:
    """Let the server that runs take no more calls, and wait until its last caller has gone."""
    path = settings.board.data / SOCKET_OF_1_0
    if serving.is_held(settings.bank.lock):
        with refusing(NoAnswer):
            answer = control_client.ask_server(settings.path, None, "drain", {"by": by})
        click.echo(answer["words"])
    elif _tell_release_1_0(path, "drain"):
        click.echo("The server of release 1.0 takes no more calls, and ends with the last one.")
    else:
        return
    click.echo("Waiting for that. Ctrl-C stops the waiting; the server ends all the same.")
    while serving.is_held(settings.bank.lock) or _tell_release_1_0(path, "here"):
        time.sleep(POLL_SECONDS)


def _tell_release_1_0(path: Path, command: str) -> bool:
    """Give a command to a server of release 1.0; return whether one runs.

    Its protocol is another: frames of a kind, a length and JSON.
    """
    request = json.dumps({"control": command}).encode()
    with socket(AF_UNIX) as wire:
        wire.settimeout(ANSWER_SECONDS)
        try:
            wire.connect(os.fspath(path))
            wire.sendall(struct.pack(">cI", b"H", len(request)) + request)
            return bool(wire.recv(1))
        except TimeoutError:
            raise UserError("The server of release 1.0 does not answer. Close it first.") from None
        except OSError:  # no socket, one of a killed server, or the server ends
            return False
