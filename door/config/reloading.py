"""Which reloaded settings apply at once, and which only from the next start of the server."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from door.config.config import Config


def keep_begun(old: Config, new: Config) -> tuple[Config, Sequence[str]]:
    """Return the new settings, but with the old values of those that a running server cannot
    change, and a sentence about each such value that differs."""
    later = []
    if (new.board.data, new.listeners) != (old.board.data, old.listeners):
        later.append("a new data folder or new listeners count from the next start on")
        # Open ports stay, and so must the settings for their callers.
        board = replace(new.board, data=old.board.data)
        new = replace(new, board=board, listeners=old.listeners)
    begun = {name: getattr(old.server, name) for name in ("name", "health", "log_format")}
    server = replace(new.server, **begun)
    if server != new.server:
        words = "a new name, health or log_format of this server counts from the next start on"
        later.append(words)
        new = replace(new, server=server)
    if new.pages != old.pages:
        later.append("what [pages] says of the books in a browser counts from the next start on")
        new = replace(new, pages=old.pages)
    if new.bank.server != old.bank.server:
        later.append("a new database counts from the next start on")
        new = replace(new, bank=replace(new.bank, server=old.bank.server))
    return new, later
