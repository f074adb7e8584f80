"""What reloaded settings change at once, and what waits for the next start of the server."""

from __future__ import annotations

from dataclasses import replace

from door.config import dead_ends
from door.config.config import Config
from door.config.editing import differences, shown

# The keys, and tables of keys, that a running server keeps as they were at its start.
UNTIL_RESTART = (
    *("listeners", "pages", "metrics", "board.data", "board.data_mode"),
    *("server.loop", "server.log_format", "server.name", "server.health"),
    *("timebank.database", "timebank.database_password_file"),
)


def needs_restart(name: str) -> bool:
    """Return whether a change of a key counts only from the next start of a server on."""
    return any(name == each or name.startswith(f"{each}.") for each in UNTIL_RESTART)


def keep_until_restart(old: Config, new: Config) -> Config:
    """Return the new settings with the old values of those in `UNTIL_RESTART`."""
    stays = new.server.start_for_doors_minutes
    board = replace(new.board, data=old.board.data, data_mode=old.board.data_mode)
    return replace(
        new,
        board=board,
        bank=replace(new.bank, database=old.bank.database, server=old.bank.server),
        server=replace(old.server, start_for_doors_minutes=stays),
        # Open ports stay, and so must the settings for their callers.
        listeners=old.listeners,
        pages=old.pages,
        metrics=old.metrics,
    )


def changes(at_start: str, old: Config, new: Config) -> list[str]:
    """Return sentences about a reload: what changed, what waits, and what has no effect.

    `at_start` is the text of sysop.toml when the server started.
    """
    changed = [_change(*each) for each in _differences(old.text, new) if not needs_restart(each[0])]
    later = [_waiting(*each) for each in _differences(at_start, new) if needs_restart(each[0])]
    what = "new calls go by it" if changed else "nothing has changed for new calls"
    head = f"{new.path} was read again: {what}."
    return [head, *dict.fromkeys(changed + later), *new.retired, *dead_ends.doubts(new)]


def _differences(text: str, new: Config) -> list[tuple[str, object, object]]:
    return differences(text, new.text, new.path)


def _change(name: str, before: object, after: object) -> str:
    if before is None or after is None:
        return f"{name.rpartition('.')[0]} is {'gone' if after is None else 'new'}."
    return f"{name} is {shown(name, after)} now, was {shown(name, before)}."


def _waiting(name: str, before: object, after: object) -> str:
    if before is None or after is None:
        words = f"{name.rpartition('.')[0]} is {'gone' if after is None else 'new'}"
        return f"{words}, which waits for a restart."
    return f"{name} is {shown(name, after)} after a restart, and {shown(name, before)} until then."
