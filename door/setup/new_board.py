"""Makes a board in a folder: settings, data folder, and books with the sysop in them."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from door.config import default_file, privacy
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


# Keys that a first board may want to change; all others have their defaults.
FIRST = {
    "[board]": ("name", "sysop", "time_zone", "language"),
    "[[listeners]]": ("kind", "port"),
    "[calls]": ("nodes", "minutes_per_day"),
    "[[events]]": ("name", "time", "days", "minutes"),
}
HEAD = """\
# Black Jack For Time: the settings of your board.
#
# Here are those to read first. All others have their defaults: `door config example` prints each
# with its meaning, and `door config set KEY VALUE` writes one into this file. `door check` names
# everything that is wrong with the file. A running server reads it again at SIGHUP, for new
# calls.
"""


def settings(answers: BoardAnswers) -> str:
    """Return the settings of a first board, with comments and these answers."""
    import tomlkit  # noqa: PLC0415 - only commands that write settings need it
    from tomlkit.items import AoT, Table  # noqa: PLC0415

    document = tomlkit.parse(HEAD + default_file.excerpt(FIRST))
    board, listeners = document["board"], document["listeners"]
    assert isinstance(board, Table)  # so it is in our template
    assert isinstance(listeners, AoT)
    board["name"] = answers.name
    board["sysop"] = answers.sysop
    board["time_zone"] = answers.zone
    listeners[0]["port"] = answers.port
    if answers.web_port is not None:
        page = tomlkit.table()
        page.add(tomlkit.comment("The page for browsers."))
        page.add("kind", "web")
        page.add("port", answers.web_port)
        page.add(tomlkit.nl())
        listeners.append(page)
    return tomlkit.dumps(document)


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
