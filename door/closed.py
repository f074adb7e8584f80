"""The file in the data folder that marks a board as closed on this machine.

`door stop`, `door drain` and the end of `door serve` create it. `door serve` and `door open` remove
it. While it exists, doors let no caller in and start no server. Doors load this module, so it
imports little.
"""

from __future__ import annotations

import os
import time

NAME = "closed"  # in the data folder
MAX_BYTES = 1024


def close(folder: str, by: str) -> str:
    """Close a board, unless it is closed already. Return a sentence if the file cannot be made.

    `by` are words that follow "by". The file names the machine's time and zone. The board may be in
    another zone, but its settings are not read here.
    """
    if is_closed(folder):
        return ""
    text = f"since {time.strftime('%Y-%m-%d %H:%M %Z')}, by {by}\n"
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        file = os.open(os.path.join(folder, NAME), flags, 0o644)
    except FileExistsError:
        return ""
    except OSError as error:
        return _problem(folder, error)
    try:
        os.write(file, os.fsencode(text)[:MAX_BYTES])
    except OSError:
        return ""  # an empty file closes the board too
    finally:
        os.close(file)
    return ""


def reopen(folder: str) -> str:
    """Open a closed board. Return a sentence if the file cannot be removed."""
    try:
        os.unlink(os.path.join(folder, NAME))
    except FileNotFoundError:
        return ""
    except OSError as error:
        return _problem(folder, error)
    return ""


def is_closed(folder: str) -> bool:
    return os.path.lexists(os.path.join(folder, NAME))


def sentence(folder: str) -> str:
    """Return a sentence for the sysop: since when the board is closed, and by what; "" if open.

    It is about this machine. Servers of the board on other machines may be open.
    """
    if not is_closed(folder):
        return ""
    try:
        file = os.open(os.path.join(folder, NAME), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            content = os.read(file, MAX_BYTES).decode("utf-8", "replace").strip()
        finally:
            os.close(file)
    except OSError:
        content = ""
    since = f" {content}" if content.isprintable() and content else ""
    return (
        f"The board has been closed on this machine{since}. `door open` opens it for doors, and"
        " `door serve` for all callers."
    )


def _problem(folder: str, error: OSError) -> str:
    return f"{os.path.join(folder, NAME)} cannot be changed: {error.strerror}."
