"""What the last copy and the last audits came to, noted beside the books for the pages.

The notes are no part of the books: a restore leaves them as they are. A note that cannot be read
counts as none.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from timebank import files
from timebank.settings.settings import BankSettings

BOOKS, HANDS = "timebank audit", "door audit"  # the commands
AUDITS = {BOOKS: "last-audit", HANDS: "last-audit-of-hands"}
COPY = "last-copy"
MOST_KEPT = 20  # sentences


class LastCopy(NamedTuple):
    at: datetime
    file: str


class LastAudit(NamedTuple):
    command: str
    at: datetime
    generation: int  # of the books then
    wrong: int  # how many things were
    findings: Sequence[str]  # the first of them
    # Of hands, the first that was not over then: those before it agreed. None if that is unknown.
    hand: int | None = None


def place_of(database: Path, name: str) -> Path:
    return database.with_name(f"{database.name}.{name}")


def note_copy(settings: BankSettings, at: datetime, file: Path) -> None:
    """Note a copy that is whole, in the place of the one before. Raises `OSError`."""
    _note(settings, COPY, at, {"file": os.fsdecode(file.absolute())})


def last_copy(settings: BankSettings) -> LastCopy | None:
    match _noted(settings, COPY):
        case at, {"file": str(file)}:
            return LastCopy(at, file)
    return None


def note_audit(
    settings: BankSettings,
    command: str,
    at: datetime,
    generation: int,
    findings: Sequence[str],
    hand: int | None = None,
) -> None:
    """Note an audit that has come to its end, in the place of the one before. Raises `OSError`."""
    kept = {"generation": generation, "count": len(findings), "findings": findings[:MOST_KEPT]}
    _note(settings, AUDITS[command], at, {**kept, "hand": hand})


def last_audit(settings: BankSettings, command: str) -> LastAudit | None:
    match _noted(settings, AUDITS[command]):
        case at, {"generation": int(of), "count": int(wrong), "findings": list(found)} as facts:
            hand = facts.get("hand")
            known = hand if isinstance(hand, int) else None
            return LastAudit(command, at, of, wrong, list(map(str, found)), known)
    return None


def _note(settings: BankSettings, name: str, at: datetime, facts: Mapping[str, Any]) -> None:
    """Write a note. Books on a server may have a board whose folder is elsewhere: nothing is noted
    then."""
    place = place_of(settings.database, name)
    if place.parent.is_dir():
        files.replace(place, json.dumps({"at": at.isoformat(), **facts}).encode())


def _noted(settings: BankSettings, name: str) -> tuple[datetime, Mapping[str, Any]] | None:
    try:
        facts = json.loads(place_of(settings.database, name).read_text("utf-8"))
        at = datetime.fromisoformat(facts["at"])
    except (OSError, ValueError, TypeError, KeyError):
        return None
    return (at, facts) if at.tzinfo is not None else None
