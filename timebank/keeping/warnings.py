"""Warnings for the sysop: audits, backups, the disk of the books, records in doubt."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Iterator
from datetime import timedelta

from timebank.callers import callers
from timebank.keeping import last_runs
from timebank.keeping.last_runs import LastAudit
from timebank.ledger import generations
from timebank.ledger.database import Desk
from timebank.ledger.schema import instant
from timebank.reports import ledger_pages
from timebank.settings.settings import BankSettings
from timebank.thebank import outbox

OLD_COPY = OLD_AUDIT = timedelta(days=7)  # ages from which they are a warning
LOW_DISK = 500  # megabytes


def warnings(desk: Desk) -> list[str]:
    """Return all warnings that hold now, each a sentence; one about an age changes by the day."""
    audits = ((each, last_runs.last_audit(desk.settings, each)) for each in last_runs.AUDITS)
    return [
        *(words for command, audit in audits for words in _of_audit(desk, command, audit)),
        *_of_outbox(desk),
        *_of_copies(desk),
        *_of_disk(desk.settings),
        *_of_callers(desk),
    ]


def free_bytes(settings: BankSettings) -> int | None:
    """Return the bytes free on the disk of the books; None for books on a server."""
    if settings.server is not None:
        return None
    return shutil.disk_usage(settings.database.parent).free


def _of_audit(desk: Desk, command: str, audit: LastAudit | None) -> Iterator[str]:
    """Yield an audit's findings, or that it is old, missing or of restored books."""
    if audit is None:
        if (age := _age(desk)) >= OLD_AUDIT:
            yield f"The books are {age.days} days old and `{command}` never checked them."
        return
    for words in audit.findings:
        yield f"{words} (`{audit.command}`)"
    if audit.wrong > len(audit.findings):
        yield f"`{audit.command}` found {audit.wrong - len(audit.findings)} more things wrong."
    if generations.current(desk.connection) != audit.generation:
        yield f"The books were restored after the last `{audit.command}`."
    elif desk.now - audit.at >= OLD_AUDIT:
        yield f"The last `{audit.command}` was {(desk.now - audit.at).days} days ago."


def _of_outbox(desk: Desk) -> Iterator[str]:
    for row in outbox.undelivered(desk):
        if row.state == "doubtful":
            yield (
                f"Nobody knows whether record {row.number} of THEBANK.EXT was written:"
                " `timebank outbox`."
            )


def _of_copies(desk: Desk) -> Iterator[str]:
    copy = last_runs.last_copy(desk.settings)
    if copy is None:
        if (age := _age(desk)) >= OLD_COPY:
            yield f"The books are {age.days} days old and were never copied: `timebank backup`."
    elif (age := desk.now - copy.at) >= OLD_COPY:
        yield f"The last copy of the books is {age.days} days old: `timebank backup`."


def _of_disk(settings: BankSettings) -> Iterator[str]:
    free = free_bytes(settings)
    if free is not None and free < LOW_DISK * 1_000_000:
        yield (
            f"Less than {LOW_DISK} MB are free on the disk of the books,"
            f" {settings.database.parent}: make room before it is full."
        )


def _of_callers(desk: Desk) -> Iterator[str]:
    for name in callers.waiting(desk):
        yield f"{name} waits for your approval: `door callers approve {shlex.quote(name)}`."


def _age(desk: Desk) -> timedelta:
    begun = ledger_pages.begun(desk)
    return timedelta() if begun is None else desk.now - instant(begun)
