"""Whether the sysop has closed a board: a file in the data folder says so.

`door stop`, `door drain` and the end of `door serve` make it. `door serve` and `door open` remove
it. While it exists, doors let nobody in and start no server. Light: doors load this.
"""

from __future__ import annotations

import os
import time

NAME = "closed"  # in the data folder
LONGEST = 1024  # bytes


def close(folder: str, by: str) -> str:
    """Close a board, unless it is closed already; return a sentence where that cannot be noted.

    `by` says what has closed it, in words that follow "by". The time is that of the machine, with
    the name of its zone: no settings are read here, and the board may be in another zone.
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
        os.write(file, os.fsencode(text)[:LONGEST])
    except OSError:
        return ""  # it is there, and that is what counts
    finally:
        os.close(file)
    return ""


def reopen(folder: str) -> str:
    """Open a board again, if it is closed; return a sentence where that cannot be done."""
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
    """Say to the sysop since when a board is closed, and by what; "" where it is open. Of several
    servers of a board others may be open: the file is that of a machine."""
    if not is_closed(folder):
        return ""
    try:
        file = os.open(os.path.join(folder, NAME), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            said = os.read(file, LONGEST).decode("utf-8", "replace").strip()
        finally:
            os.close(file)
    except OSError:
        said = ""
    since = f" {said}" if said.isprintable() and said else ""
    return (
        f"The board has been closed on this machine{since}. `door open` opens it for doors, and"
        " `door serve` for all callers."
    )


def _problem(folder: str, error: OSError) -> str:
    return f"{os.path.join(folder, NAME)} cannot be changed: {error.strerror}."
