"""`door check`: the settings, and what they name that must be there before the board opens.

A server and a door read their settings quickly and often; here there is time to open the files.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click
from sqlalchemy.exc import DBAPIError

from door import closed
from door.cli.common import config_option, need
from door.config import config, privacy
from door.config import people as named
from door.config.listeners import DOORS_ALONE
from door.defence.front_ends import Lookout, signs_in
from door.errors import CertificateRefused
from door.lines.registry import KINDS
from door.lines.tls.tls import Certificate
from door.server.server_note import release_warning
from timebank import files, serving
from timebank.calls.calls import latest_addresses
from timebank.cli.errors import refusing
from timebank.errors import BooksUnavailable, DatabaseRefused, SettingsError
from timebank.ledger import failures
from timebank.ledger.database import Desk, refuse_other
from timebank.ledger.engines import books_of
from timebank.ledger.sqlite import dialect as sqlite
from timebank.settings.toml import TomlTable, open_table

if TYPE_CHECKING:
    from door.config.config import Config

LATEST = 500  # calls that are looked through for signs of a front end


def looked_at(path: Path) -> tuple[Config, list[str]]:
    """Return the settings, and what is right but should be known; raises `SettingsError`."""
    root = open_table(path)
    settings = config.read(root, path)
    _look_at_certificates(root, settings)
    root.finish()
    doubts = [*settings.unheeded]
    doubts += privacy.doubts(settings)
    doubts += _look_at_folders(settings)
    doubts += _look_at_lock(settings)
    doubts += _look_at_exchanged(settings)
    doubts += _look_for_front_ends(settings)
    for kind in dict.fromkeys(listener.kind for listener in settings.listeners):
        look = KINDS[kind].look
        doubts += [] if look is None else look(settings.board.data)
    doubts += filter(None, [release_warning(settings.board.data)])
    return settings, [*doubts, *_look_at_people(settings, path)]


def report(path: Path) -> list[str]:
    """Return all that is said of settings that are in order; raises `SettingsError`."""
    settings, doubts = looked_at(path)
    board, bank = settings.board, settings.bank
    nodes = f", {settings.calls.nodes} nodes" if settings.listeners else ""  # of callers by a port
    events = ", ".join(event.name for event in bank.events) or "none"
    return [
        f"{path} is in order.",
        f"Board {board.name}{nodes}, data in {board.data}.",
        f"Time zone {bank.zone.key}, time bank {bank.mode}, events: {events}.",
        *([] if settings.listeners else [DOORS_ALONE]),
        *doubts,
    ]


def _look_at_people(settings: Config, path: Path) -> list[str]:
    """Say who has the sysop's powers, and which names in the settings have no effect.

    The books are only read.
    """
    if settings.bank.server is not None:
        return _look_at_people_on_a_server(settings, path)
    if not settings.database.exists():
        return named.unregistered(settings.bank, path)
    try:
        with contextlib.closing(sqlite.opened(settings.database, mode="ro")) as connection:
            program, version = sqlite.program_of(connection), sqlite.version_of(connection)
        refuse_other(settings.database, program, version)
        return _people(settings, path)
    except DatabaseRefused as refused:
        return [str(refused)]
    except (sqlite3.Error, DBAPIError, BooksUnavailable) as error:
        said = files.forbidden(settings.database, writes=True)
        why = failures.sentence(error)
        return [said or f"Can't look into the database {settings.database}: {why}."]


def _look_at_people_on_a_server(settings: Config, path: Path) -> list[str]:
    try:
        with contextlib.closing(books_of(settings.bank)) as database:
            database.open_existing()
        return _people(settings, path)
    except (DatabaseRefused, BooksUnavailable, DBAPIError) as error:
        return [f"{failures.sentence(error)}."]


def _people(settings: Config, path: Path) -> list[str]:
    with _reading(settings) as desk:
        return [named.holders(desk), *named.doubts(desk, path)]


@contextlib.contextmanager
def _reading(settings: Config) -> Iterator[Desk]:
    with (
        contextlib.closing(books_of(settings.bank)) as database,
        database.reading(settings.bank, datetime.now(UTC)) as desk,
    ):
        yield desk


def _look_at_folders(settings: Config) -> list[str]:
    """Tell of folders that the board writes into, and that whoever runs this may not."""
    kept = {settings.board.data: "its books"}
    if settings.bank.thebank_ext is not None:
        kept.setdefault(settings.bank.thebank_ext.parent, "THEBANK.EXT")
    doubts = []
    for folder, what in kept.items():
        there = next(each for each in (folder, *folder.parents) if each.exists())
        if not os.access(there, os.W_OK | os.X_OK):
            doubts.append(
                f"You may not write into {there}, where the board keeps {what}: run this command"
                " as the user that the board runs as, or give that user the folder."
            )
    return doubts


def _look_at_lock(settings: Config) -> list[str]:
    """Say that the board is closed, and why no server could hold the lock of its books."""
    doubts = (closed.sentence(str(settings.board.data)), serving.doubt(settings.bank.lock))
    return [words for words in doubts if words]


def _look_at_exchanged(settings: Config) -> list[str]:
    """Report paths of imports and THEBANK.EXT at which something other than a file lies."""
    doubts = []
    for path in (*settings.bank.imports, settings.bank.thebank_ext):
        if path is not None:
            beside = (path.with_name(path.name + end) for end in ("", ".lock"))
            found = ((each, files.fault(each)) for each in beside)
            doubts += [f"{each} is left alone: {why}." for each, why in found if why is not None]
    return [*doubts, *_look_at_screens(settings.board.texts)]


def _look_at_screens(folder: Path) -> Iterator[str]:
    for path in sorted((*folder.glob("*.ans"), *folder.glob("*.asc"))):
        try:
            why = files.fault(files.own_links_followed(path))
        except OSError as error:
            why = error.strerror
        if why is not None:
            yield f"{path} is not shown: {why}."


def _look_for_front_ends(settings: Config) -> list[str]:
    """Tell of ports that front ends reach alone, and of calls that came through such a port."""
    doubts = []
    for listener in settings.listeners:
        host = listener.host
        named = listener.proxies or listener.forwarded
        named_by = KINDS[listener.kind].named_by
        if named_by is not None and not named and Lookout(settings).watches(host):
            said, key = named_by
            doubts.append(
                f"Port {listener.port} on {host} is for this machine only, and {host} is in"
                " `allow`: [defence] limits nobody who calls there. If a front end"
                f" passes callers on, have it send {said}, and set"
                f' {key} = ["{host}"] in that table of [[listeners]].'
            )
    return doubts + [str(sign) for sign in signs_in(settings, _latest_calls(settings))]


def _latest_calls(settings: Config) -> list[tuple[str, str]]:
    """Return (name, address) of the last calls; none where the books cannot be read."""
    if settings.bank.server is None and not settings.database.is_file():
        return []
    try:
        with _reading(settings) as desk:
            return latest_addresses(desk, LATEST)
    except (DatabaseRefused, BooksUnavailable, DBAPIError):
        return []  # that is told by whoever opens them


def _look_at_certificates(root: TomlTable, settings: Config) -> None:
    for table, listener in zip(root.tables("listeners") or (), settings.listeners, strict=False):
        if listener.certificate is None or listener.key is None:
            continue
        try:
            Certificate(listener.certificate, listener.key)
        except CertificateRefused as refused:
            table.refuse(refused.which, refused.reason)


@click.command()
@config_option
def check(config_path: Path) -> None:
    """Check the settings and their certificates; report every mistake."""
    need(config_path)
    with refusing(SettingsError):
        said = report(config_path)
    for words in said:
        click.echo(words)
