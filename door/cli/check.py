"""`door check`: checks the settings, and the files that must exist before the board opens.

A server and a door read their settings often and must be quick. This command has time to open the
files.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click
from sqlalchemy.exc import DBAPIError

from door import closed
from door.cli.common import config_option, need
from door.config import config, dead_ends, people, privacy
from door.config.listeners import DOORS_ALONE
from door.config.schema import keys_in
from door.defence import front_ends
from door.errors import CertificateRefused
from door.games.engine.game import TEXT
from door.games.registry import GAMES
from door.lines.registry import KINDS, lacks
from door.lines.tls.tls import Certificate
from door.server.server_note import release_warning
from timebank import files, serving
from timebank.calls.calls import latest_addresses
from timebank.cli.common import say
from timebank.cli.errors import refusing
from timebank.errors import BooksUnavailable, DatabaseRefused, SettingsError
from timebank.ledger import failures
from timebank.ledger.engines import books_of
from timebank.settings.toml import TomlTable, open_table

if TYPE_CHECKING:
    from door.config.config import Config

LATEST = 500  # last calls that are searched for a front end


def report(path: Path) -> list[str]:
    """Return the lines printed for settings without mistakes; raise `SettingsError`."""
    root = open_table(path)
    settings = config.read(root, path)
    _look_at_certificates(root, settings)
    root.finish()
    board, bank = settings.board, settings.bank
    nodes = f", {settings.calls.nodes} nodes" if settings.listeners else ""  # for callers by a port
    events = ", ".join(event.name for event in bank.events) or "none"
    return [
        f"{path} is in order.",
        f"Board {board.name}{nodes}, data in {board.data}.",
        f"Time zone {bank.zone.key}, time bank {bank.mode}, events: {events}.",
        *([] if settings.listeners else [DOORS_ALONE]),
        *_rules(settings),
        *_doubts(settings),
        *_look_into_books(settings),
    ]


def _doubts(settings: Config) -> Iterator[str]:
    """Yield a sentence about each setting that may not do what the sysop wants."""
    data = settings.board.data
    yield from settings.retired
    yield from dead_ends.doubts(settings)
    yield from privacy.doubts(settings)
    yield from _look_at_machine(settings)
    yield from filter(None, [closed.sentence(str(data)), serving.doubt(settings.bank.lock)])
    yield from _look_at_exchanged(settings)
    yield from _look_at_screens(settings.board.texts)
    yield from _look_for_front_ends(settings)
    for kind in dict.fromkeys(listener.kind for listener in settings.listeners):
        look = KINDS[kind].check
        if words := lacks(kind):
            yield words
        elif look is not None:
            yield from look(data, [each for each in settings.listeners if each.kind == kind])
    yield from filter(None, [release_warning(data)])


def _rules(settings: Config) -> list[str]:
    """Return a sentence about the tables that play by other rules than the old texts."""
    keys = keys_in(settings.text, settings.path)
    sets = {key.path[1]: key.value for key in keys if key.path[2:] == ("rules",)}
    other = [f"{GAMES[str(game)].title} {name}" for game, name in sets.items() if name != TEXT]
    return [f"Rules: {', '.join(other)}."] if other else []


def _look_into_books(settings: Config) -> list[str]:
    """Return sentences about front ends, powers, and names in the settings that do nothing."""
    path, bank = settings.path, settings.bank
    if bank.server is None and not bank.database.exists():
        return people.unregistered(bank, path)
    try:
        with contextlib.closing(books_of(bank)) as database:
            database.open_existing()
            with database.reading(bank, datetime.now(UTC)) as desk:
                by_front_ends = front_ends.warnings(settings, latest_addresses(desk, LATEST))
                return [*by_front_ends, people.holders(desk), *people.doubts(desk, path)]
    except (DatabaseRefused, BooksUnavailable, DBAPIError) as error:
        return [f"{failures.sentence(error)}."]


def _look_at_machine(settings: Config) -> Iterator[str]:
    """Yield warnings about folders that this user may not write into, and a missing program."""
    contents = {settings.board.data: "its books"}
    if settings.bank.thebank_ext is not None:
        contents.setdefault(settings.bank.thebank_ext.parent, "THEBANK.EXT")
    for folder, what in contents.items():
        there = next(each for each in (folder, *folder.parents) if each.exists())
        if not os.access(there, os.W_OK | os.X_OK):
            yield (
                f"You may not write into {there}, where the board keeps {what}: run this command"
                " as the user that the board runs as, or give that user the folder."
            )
    command = settings.notify.command
    if command and shutil.which(command[0]) is None:
        yield f"[notify] command: there is no program {command[0]} that you may run."


def _look_at_exchanged(settings: Config) -> Iterator[str]:
    """Yield warnings about paths of imports and THEBANK.EXT that are not files."""
    for path in (*settings.bank.imports, settings.bank.thebank_ext):
        if path is not None:
            for each in (path, path.with_name(f"{path.name}.lock")):
                if why := files.fault(each):
                    yield f"{each} is left alone: {why}."


def _look_at_screens(folder: Path) -> Iterator[str]:
    for path in sorted((*folder.glob("*.ans"), *folder.glob("*.asc"))):
        try:
            why = files.fault(files.own_links_followed(path))
        except OSError as error:
            why = error.strerror
        if why is not None:
            yield f"{path} is not shown: {why}."


def _look_for_front_ends(settings: Config) -> Iterator[str]:
    """Yield warnings about ports that front ends alone use."""
    for listener in settings.listeners:
        host, named_by = listener.host, KINDS[listener.kind].front_ends
        if listener.proxies or listener.forwarded or named_by is None:
            continue
        if front_ends.hides_callers(settings, host):
            header, key = named_by
            yield (
                f"Port {listener.port} on {host} is for this machine only, and {host} is in"
                " `allow`: [defence] limits nobody who calls there. If a front end"
                f" passes callers on, have it send {header}, and set"
                f' {key} = ["{host}"] in that table of [[listeners]].'
            )


def _look_at_certificates(root: TomlTable, settings: Config) -> None:
    for table, listener in zip(root.tables("listeners"), settings.listeners, strict=False):
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
        say(report(config_path))
