"""Small files beside the books, in which commands note what the pages show of them.

They are no part of the books: a restore says nothing of what was noted later. What cannot be read
is as if nothing had been noted.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from timebank import files
from timebank.settings.settings import BankSettings


def place_of(database: Path, name: str) -> Path:
    return database.with_name(f"{database.name}.{name}")


def note(settings: BankSettings, name: str, at: datetime, facts: Mapping[str, Any]) -> None:
    """Note what was done at an instant, in the place of what was done before. Raises `OSError`.

    Books on a server may have a board whose folder is elsewhere: nothing is noted then.
    """
    place = place_of(settings.database, name)
    if not place.parent.is_dir():
        return
    files.replace(place, json.dumps({"at": at.isoformat(), **facts}).encode())


def noted(settings: BankSettings, name: str) -> tuple[datetime, Mapping[str, Any]] | None:
    try:
        facts = json.loads(place_of(settings.database, name).read_text("utf-8"))
        at = datetime.fromisoformat(facts["at"])
    except (OSError, ValueError, TypeError, KeyError):
        return None
    return (at, facts) if at.tzinfo is not None else None
