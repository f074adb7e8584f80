"""Makes a board in a folder: settings, data folder, and books with the sysop in them."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from door.config import privacy
from door.config.editing import toml
from door.config.schema import default_keys, header
from door.setup.writing import Fate, put
from timebank import files
from timebank.callers import callers
from timebank.keeping import caller_acts
from timebank.ledger.engines import books_of

if TYPE_CHECKING:
    from door.config.config import Config
    from door.setup.answers import BoardAnswers

SETTINGS = "sysop.toml"
BACKUPS = "backups"
# The settings may hold the secrets of other boards.
SETTINGS_MODE = 0o600


HEAD = """\
# Black Jack For Time: the settings that boards change. All others have their defaults.
# `door config list` shows and explains every setting, `door config set KEY VALUE` writes one into
# this file, `door check` names its mistakes, and `door reload` makes a running board use it.
"""
KEYS = {
    "board": ("name", "sysop", "time_zone"),
    "listeners": ("kind", "port"),
    "calls": ("minutes_per_day",),
    "timebank": ("mode",),
    "events": ("name", "time", "days", "minutes"),
    "games": ("coin_minutes", "largest_bet", "turns_per_day"),
}


def settings(answers: BoardAnswers) -> str:
    """Return the settings of a first board: these answers, and the keys that boards change."""
    values = {
        "board.name": answers.name,
        "board.sysop": answers.sysop,
        "board.time_zone": answers.zone,
        "listeners.1.port": answers.port,
    }
    lines, table = [HEAD.rstrip()], ""
    for key in default_keys():
        if key.path[-1] not in KEYS.get(str(key.path[0]), ()):
            continue
        if header(key.table) != table:
            if table == "[[listeners]]" and answers.web_port is not None:
                lines += ["", table, 'kind = "web"', f"port = {answers.web_port}"]
            table = header(key.table)
            lines += ["", table]
        if f"# {key.meaning}" not in lines:  # once for all tables
            lines.append(f"# {key.meaning}")
        lines.append(f"{key.path[-1]} = {toml(values.get(key.name, key.value))}")
    return "\n".join([*lines, ""])


def write_settings(folder: Path, answers: BoardAnswers) -> Fate:
    """Write sysop.toml unless the folder has one. Raises `OSError`."""
    return put(folder / SETTINGS, settings(answers), SETTINGS_MODE)


def make_folders(config: Config) -> None:
    """Make the folders for data, for the board's own screens and for backups. Raises `OSError`."""
    privacy.make_folder(config)
    files.make_folder(config.board.texts)
    files.make_folder(backups(config), 0o700)


def backups(config: Config) -> Path:
    return config.path.absolute().parent / BACKUPS


def is_entered(config: Config) -> bool:
    """Return whether the sysop is registered already; create the books if there are none.

    Raises `DatabaseRefused` and `BooksFailed`.
    """
    with closing(books_of(config.bank)) as database:
        database.open()
        with database.reading(config.bank, datetime.now(UTC)) as desk:
            return callers.find(desk, config.board.sysop) is not None


def enter_sysop(config: Config, password_hash: str, by: str) -> None:
    """Register the sysop, with powers. Raises the errors of `is_entered`, and `NameTaken`."""
    with closing(books_of(config.bank)) as database:
        database.open()
        with database.transaction(config.bank, datetime.now(UTC)) as desk:
            caller_acts.enter(desk, config.board.sysop, password_hash, by, with_powers=True)
