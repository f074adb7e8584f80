"""What the last audits of the books have found: noted beside them by the commands that audit."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from timebank.keeping import side_files
from timebank.settings.settings import BankSettings

BOOKS, HANDS = "timebank audit", "door audit"  # the commands
NAMES = {BOOKS: "last-audit", HANDS: "last-audit-of-hands"}
MOST_KEPT = 20  # sentences


class LastAudit(NamedTuple):
    command: str
    at: datetime
    generation: int  # of the books then
    wrong: int  # how many things were
    findings: Sequence[str]  # the first of them
    # Of hands, the first that was not over then: those before it agreed. None if that is unknown.
    hand: int | None = None


def note(
    settings: BankSettings,
    command: str,
    at: datetime,
    generation: int,
    findings: Sequence[str],
    hand: int | None = None,
) -> None:
    """Note an audit that has come to its end, in the place of the one before. Raises `OSError`."""
    kept = {"generation": generation, "count": len(findings), "findings": findings[:MOST_KEPT]}
    side_files.note(settings, NAMES[command], at, {**kept, "hand": hand})


def last_audit(settings: BankSettings, command: str) -> LastAudit | None:
    match side_files.noted(settings, NAMES[command]):
        case (
            at,
            {"generation": int(generation), "count": int(wrong), "findings": list(found)} as facts,
        ):
            hand = facts.get("hand")
            told = list(map(str, found))
            return LastAudit(
                *(command, at, generation, wrong, told),
                hand if isinstance(hand, int) else None,
            )
    return None
