"""Finds callers whose names look like a new one, by an index, in the same transaction.

The books store the skeleton of each caller's name, after the version of its tables. Skeletons of
another version are renewed before a comparison.
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
    """Renew the keys of other versions. Costs one look at the index if there are none."""
    bounds = (f"{names.SKELETONS} ", f"{names.SKELETONS}!")  # "!" comes right after " "
    for number, name in run(STALE, bounds).fetchall():
        run("UPDATE callers SET skeleton = ? WHERE id = ?", (key(name), number))


def holder(run: Run, name: str, ignored_id: int = NOBODY) -> str | None:
    """Return the name of a caller that looks like `name`; None if there is none.

    Deleted callers and the caller with the number `ignored_id` are left out.
    """
    renew(run)
    row = run(LIKE, (key(name), ignored_id)).fetchone()
    return None if row is None else row[0]
