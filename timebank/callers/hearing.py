"""The rule for showing one caller's words to another.

It covers messages, one-liners, texts sent with minutes, and talk and phrases at a table. Words are
held back while the sysop has muted their writer, and while their reader ignores the writer.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from sqlalchemy import select

from timebank.callers import callers
from timebank.callers.callers import CallerRecord
from timebank.language import N_, Phrase
from timebank.ledger import schema
from timebank.ledger.database import Desk
from timebank.ledger.sql import Prepared, among

MUTED = N_("The sysop has muted you: nobody sees what you say.")
IGNORES = "ignores"  # the preference with the numbers of callers that a caller ignores
_MUTED = Prepared(
    lambda: select(schema.callers.c.id).where(
        among(schema.callers.c.id, "caller_ids"), schema.callers.c.muted.is_not(None)
    )
)


def ignored(preferences: Mapping[str, object]) -> frozenset[int]:
    """Return the numbers of the callers that a caller ignores."""
    numbers = preferences.get(IGNORES)
    return (
        frozenset(each for each in numbers if isinstance(each, int))
        if isinstance(numbers, list)
        else frozenset()
    )


def unheard(desk: Desk, reader_id: int, writer_ids: Iterable[int]) -> frozenset[int]:
    """Return the numbers of the writers whose words the reader does not see."""
    writers = frozenset(writer_ids) - {reader_id}
    if not writers:
        return writers
    reader = callers.get(desk, reader_id)
    return writers & (muted(desk, writers) | ignored(reader.preferences))


def muted(desk: Desk, writer_ids: Iterable[int]) -> frozenset[int]:
    """Return the numbers of the muted writers."""
    rows = _MUTED(desk.connection, caller_ids=json.dumps(sorted(writer_ids)))
    return frozenset(number for (number,) in rows)


def refusal(writer: CallerRecord, reader: CallerRecord) -> Phrase | None:
    """Return the reason why the reader does not see the writer's words, or None."""
    if writer.muted:
        return Phrase(MUTED)
    if writer.id in ignored(reader.preferences):
        return Phrase("{name} doesn't take messages from you.", name=reader.name)
    return None
