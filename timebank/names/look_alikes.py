"""Which living callers' names look like a new one: found by an index, in the same transaction.

The books keep with each caller the skeleton of the name, behind the version of the tables that made
it. Skeletons of another version, older or newer, are renewed before any is compared.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from timebank.names import names

# Runs a statement with its parameters, as a cursor of the driver or of SQLAlchemy does.
Run = Callable[..., Any]

STALE = """
SELECT id, name FROM callers WHERE deleted IS NULL AND skeleton < ?
UNION ALL SELECT id, name FROM callers WHERE deleted IS NULL AND skeleton >= ?
"""
LIKE = "SELECT name FROM callers WHERE deleted IS NULL AND skeleton = ? AND id <> ? LIMIT 1"
NOBODY = 0  # a number that no caller has


def key(name: str) -> str:
    return f"{names.SKELETONS} {names.skeleton(name)}"


def renew(run: Run) -> None:
    """Renew the keys of another version; one look at the index where there are none."""
    bounds = (f"{names.SKELETONS} ", f"{names.SKELETONS}!")  # "!" comes right after " "
    for number, name in run(STALE, bounds).fetchall():
        run("UPDATE callers SET skeleton = ? WHERE id = ?", (key(name), number))


def holder(run: Run, name: str, but: int = NOBODY) -> str | None:
    """The name of a living caller, other than number `but`, that looks like `name`."""
    renew(run)
    row = run(LIKE, (key(name), but)).fetchone()
    return None if row is None else row[0]
