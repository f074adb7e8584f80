"""What the last audits of the books have found: noted beside them by the commands that audit.

An audit that begins with a checkpoint does not see what is wrong before it. So what was found once
is told by every such audit, until one of everything finds nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from timebank.audit.findings import Finding
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
    # How many of the first findings are about the file, not about a row: the next start of the
    # board sees to it that they are so no more.
    of_file: int = 0

    def of_rows(self) -> Iterator[Finding]:
        """Give what it found in the rows, as far as that was noted."""
        for words in self.findings[self.of_file :]:
            where, _, sentence = words.partition(": ")
            yield Finding(where, sentence)

    @property
    def more(self) -> int:
        """Count what was found and not noted."""
        return max(0, self.wrong - len(self.findings))


def note(
    settings: BankSettings,
    command: str,
    at: datetime,
    generation: int,
    findings: Sequence[str],
    hand: int | None = None,
    of_file: int = 0,
    more: int = 0,
) -> None:
    """Note an audit that has come to its end, in the place of the one before. Raises `OSError`.

    `more` were found beside the `findings`, and are counted alone.
    """
    count = len(findings) + more
    kept = {"generation": generation, "count": count, "findings": findings[:MOST_KEPT]}
    side_files.note(settings, NAMES[command], at, {**kept, "hand": hand, "of_file": of_file})


def last_audit(settings: BankSettings, command: str) -> LastAudit | None:
    match side_files.noted(settings, NAMES[command]):
        case (
            at,
            {"generation": int(generation), "count": int(wrong), "findings": list(found)} as facts,
        ):
            hand, of_file = (
                value if isinstance(value, int) else None
                for value in (facts.get("hand"), facts.get("of_file"))
            )
            told = list(map(str, found))
            return LastAudit(command, at, generation, wrong, told, hand, of_file or 0)
    return None
