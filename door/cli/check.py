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
from door.config.schema import noted
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
from timebank.ledger.database import Desk
from timebank.ledger.engines import books_of
from timebank.settings.toml import TomlTable, open_table

if TYPE_CHECKING:
    from door.config.config import Config

LATEST = 500  # last calls that are searched for a front end


def looked_at(path: Path) -> tuple[Config, list[str]]:
    """Return the settings and warnings about them; raise `SettingsError`."""
    root = open_table(path)
    settings = config.read(root, path)
    _look_at_certificates(root, settings)
    root.finish()
    doubts = [*settings.unheeded, *dead_ends.doubts(settings)]
    doubts += privacy.doubts(settings)
    doubts += _look_at_machine(settings)
    doubts += _look_at_lock(settings)
    doubts += _look_at_exchanged(settings)
    doubts += _look_for_front_ends(settings)
    for kind in dict.fromkeys(listener.kind for listener in settings.listeners):
        look = KINDS[kind].look
        if words := lacks(kind):
            doubts.append(words)
        elif look is not None:
            of_kind = [each for each in settings.listeners if each.kind == kind]
            doubts += look(settings.board.data, of_kind)
    doubts += filter(None, [release_warning(settings.board.data)])
    return settings, [*doubts, *_look_at_people(settings, path)]


def report(path: Path) -> list[str]:
    """Return the lines printed for settings without mistakes; raise `SettingsError`."""
    settings, doubts = looked_at(path)
    board, bank = settings.board, settings.bank
    nodes = f", {settings.calls.nodes} nodes" if settings.listeners else ""  # for callers by a port
    events = ", ".join(event.name for event in bank.events) or "none"
    return [
        f"{path} is in order.",
        f"Board {board.name}{nodes}, data in {board.data}.",
        f"Time zone {bank.zone.key}, time bank {bank.mode}, events: {events}.",
        *([] if settings.listeners else [DOORS_ALONE]),
        *_rules(settings),
        *doubts,
    ]


def _rules(settings: Config) -> list[str]:
    """Return a sentence about the tables that play by other rules than the old texts."""
    keys = noted(settings.text, settings.path)
    sets = {key.path[1]: key.value for key in keys if key.path[2:] == ("rules",)}
    other = [f"{GAMES[str(game)].title} {name}" for game, name in sets.items() if name != TEXT]
    return [f"Rules: {', '.join(other)}."] if other else []


def _look_at_people(settings: Config, path: Path) -> list[str]:
    """Return sentences about who has sysop powers, and which names in the settings do nothing."""
    if settings.bank.server is None and not settings.database.exists():
        return people.unregistered(settings.bank, path)
    try:
        with _reading(settings) as desk:
            return [people.holders(desk), *people.doubts(desk, path)]
    except (DatabaseRefused, BooksUnavailable, DBAPIError) as error:
        return [f"{failures.sentence(error)}."]


@contextlib.contextmanager
def _reading(settings: Config) -> Iterator[Desk]:
    with contextlib.closing(books_of(settings.bank)) as database:
        database.open_existing()
        with database.reading(settings.bank, datetime.now(UTC)) as desk:
            yield desk


def _look_at_machine(settings: Config) -> list[str]:
    """Return warnings about folders that this user may not write into, and a missing program."""
    contents = {settings.board.data: "its books"}
    if settings.bank.thebank_ext is not None:
        contents.setdefault(settings.bank.thebank_ext.parent, "THEBANK.EXT")
    doubts = []
    for folder, what in contents.items():
        there = next(each for each in (folder, *folder.parents) if each.exists())
        if not os.access(there, os.W_OK | os.X_OK):
            doubts.append(
                f"You may not write into {there}, where the board keeps {what}: run this command"
                " as the user that the board runs as, or give that user the folder."
            )
    command = settings.notify.command
    if command and shutil.which(command[0]) is None:
        doubts.append(f"[notify] command: there is no program {command[0]} that you may run.")
    return doubts


def _look_at_lock(settings: Config) -> list[str]:
    """Return a sentence if the board is closed, and why no server could lock its books."""
    doubts = (closed.sentence(str(settings.board.data)), serving.doubt(settings.bank.lock))
    return [words for words in doubts if words]


def _look_at_exchanged(settings: Config) -> list[str]:
    """Return warnings about paths of imports and THEBANK.EXT that are not files."""
    doubts = []
    for path in (*settings.bank.imports, settings.bank.thebank_ext):
        if path is not None:
            paths = (path.with_name(path.name + end) for end in ("", ".lock"))
            faults = ((each, files.fault(each)) for each in paths)
            doubts += [f"{each} is left alone: {why}." for each, why in faults if why is not None]
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
    """Return warnings about ports that front ends alone use, and about calls through such ports."""
    doubts = []
    for listener in settings.listeners:
        host, named_by = listener.host, KINDS[listener.kind].named_by
        if listener.proxies or listener.forwarded or named_by is None:
            continue
        if front_ends.hides_callers(settings, host):
            header, key = named_by
            doubts.append(
                f"Port {listener.port} on {host} is for this machine only, and {host} is in"
                " `allow`: [defence] limits nobody who calls there. If a front end"
                f" passes callers on, have it send {header}, and set"
                f' {key} = ["{host}"] in that table of [[listeners]].'
            )
    return doubts + front_ends.warnings(settings, _latest_calls(settings))


def _latest_calls(settings: Config) -> list[tuple[str, str]]:
    """Return (name, address) of the last calls; none if the books cannot be read."""
    try:
        with _reading(settings) as desk:
            return latest_addresses(desk, LATEST)
    except (DatabaseRefused, BooksUnavailable, DBAPIError):
        return []  # another check reports that the books cannot be opened


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
