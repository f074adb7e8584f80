"""Notes on the last backup and the last audits, in files next to the books, for the sysop's pages.

The notes are not part of the books, so a restore leaves them unchanged. An unreadable note counts
as missing.
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
MAX_FINDINGS = 20  # sentences


class LastCopy(NamedTuple):
    at: datetime
    file: str


class LastAudit(NamedTuple):
    command: str
    at: datetime
    generation: int  # of the books at the time
    wrong: int  # the number of findings
    findings: Sequence[str]  # the first `MAX_FINDINGS`
    # For an audit of hands, the first open hand: all before it agreed. None if unknown.
    hand: int | None = None


def place_of(database: Path, name: str) -> Path:
    return database.with_name(f"{database.name}.{name}")


def note_copy(settings: BankSettings, at: datetime, file: Path) -> None:
    """Note a complete backup, and replace the note before. Raises `OSError`."""
    _note(settings, COPY, at, {"file": os.fsdecode(file.absolute())})


def last_copy(settings: BankSettings) -> LastCopy | None:
    match _read_note(settings, COPY):
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
    """Note a finished audit, and replace the note before. Raises `OSError`."""
    facts = {"generation": generation, "count": len(findings), "findings": findings[:MAX_FINDINGS]}
    _note(settings, AUDITS[command], at, {**facts, "hand": hand})


def last_audit(settings: BankSettings, command: str) -> LastAudit | None:
    match _read_note(settings, AUDITS[command]):
        case at, {"generation": int(number), "count": int(wrong), "findings": list(lines)} as facts:
            hand = facts.get("hand")
            known = hand if isinstance(hand, int) else None
            return LastAudit(command, at, number, wrong, list(map(str, lines)), known)
    return None


def _note(settings: BankSettings, name: str, at: datetime, facts: Mapping[str, Any]) -> None:
    """Write a note, except where the folder is missing: books on a server may need none here."""
    place = place_of(settings.database, name)
    if place.parent.is_dir():
        files.replace(place, json.dumps({"at": at.isoformat(), **facts}).encode())


def _read_note(settings: BankSettings, name: str) -> tuple[datetime, Mapping[str, Any]] | None:
    try:
        facts = json.loads(place_of(settings.database, name).read_text("utf-8"))
        at = datetime.fromisoformat(facts["at"])
    except (OSError, ValueError, TypeError, KeyError):
        return None
    return (at, facts) if at.tzinfo is not None else None
