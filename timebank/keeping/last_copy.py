"""When the books were last copied by `timebank backup`, and where to: noted beside them."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from timebank.keeping.side_files import note as note_beside
from timebank.keeping.side_files import noted, place_of
from timebank.settings.settings import BankSettings

NAME = "last-copy"


class LastCopy(NamedTuple):
    at: datetime
    file: str


def beside(database: Path) -> Path:
    return place_of(database, NAME)


def note(settings: BankSettings, at: datetime, file: Path) -> None:
    """Note a copy that is whole, in the place of the one before. Raises `OSError`."""
    note_beside(settings, NAME, at, {"file": os.fsdecode(file.absolute())})


def last_copy(settings: BankSettings) -> LastCopy | None:
    found = noted(settings, NAME)
    if found is None or not isinstance(found[1].get("file"), str):
        return None
    return LastCopy(found[0], found[1]["file"])
