"""When the books were last copied by `timebank backup`, and where to: a small file beside them.

It is no part of the books: a restore says nothing of later copies. What cannot be read is as if no
copy had been made.
"""

from __future__ import annotations

import json
import os
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from timebank import files
from timebank.settings.settings import BankSettings


class LastCopy(NamedTuple):
    at: datetime
    file: str


def beside(database: Path) -> Path:
    return database.with_name(f"{database.name}.last-copy")


def note(settings: BankSettings, at: datetime, file: Path) -> None:
    """Note a copy that is whole, in the place of the one before. Raises `OSError`.

    Books on a server may have a board whose folder is elsewhere: nothing is noted then.
    """
    place = beside(settings.database)
    if not place.parent.is_dir():
        return
    part = place.with_name(f"{place.name}.part")
    written = {"at": at.isoformat(), "file": os.fsdecode(file.absolute())}
    files.write(part, json.dumps(written).encode())
    part.replace(place)


def last_copy(settings: BankSettings) -> LastCopy | None:
    try:
        noted = json.loads(beside(settings.database).read_text("utf-8"))
        at = datetime.fromisoformat(noted["at"])
        return LastCopy(at, str(noted["file"])) if at.tzinfo is not None else None
    except (OSError, ValueError, TypeError, KeyError):
        return None
