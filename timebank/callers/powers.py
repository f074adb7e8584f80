"""The sysop's powers: the callers who have them, and who gave or took them.

Powers open the pages with their acts, and a node on a full board. They belong to a
caller's number, so they stay when the caller is renamed, and a name gives nobody powers. The
database ensures that deleted callers and callers of other boards have none.
"""

from __future__ import annotations

from timebank.callers import callers, sysop_log
from timebank.callers.callers import CallerRecord
from timebank.callers.notices import add_notice
from timebank.errors import Refused
from timebank.language import N_, Phrase
from timebank.ledger import schema
from timebank.ledger.database import Desk
from timebank.ledger.sql import Prepared, change, equal

GIVEN = N_("You have sysop powers now.")
TAKEN = N_("You no longer have sysop powers.")

_CALLERS = schema.callers
_SET = Prepared(lambda: change(_CALLERS, "powers", equal(_CALLERS.c.id)))


def holders(desk: Desk) -> list[CallerRecord]:
    return [record for record in callers.listing(desk) if record.powers]


def grant(desk: Desk, caller_id: int, by: str) -> CallerRecord:
    """Give a caller the sysop's powers. `by` is for the log.

    Raises `UnknownCaller`, and `Refused` for a caller who has powers already, or is from another
    board, because this board cannot check their identity.
    """
    record = callers.get(desk, caller_id)
    if record.board is not None:
        raise Refused(
            Phrase(
                "{name} is a caller of {board}, whose sysop vouches for them: only callers of this"
                " board can have sysop powers.",
                name=record.name,
                board=record.board,
            )
        )
    return _set(desk, record, True, by)


def revoke(desk: Desk, caller_id: int, by: str) -> CallerRecord:
    """Take the sysop's powers from a caller. Raises `UnknownCaller`, and `Refused` if none."""
    return _set(desk, callers.get(desk, caller_id), False, by)


def numbered(record: CallerRecord) -> str:
    return f"{record.name}, caller number {record.id}"


def _set(desk: Desk, record: CallerRecord, powers: bool, by: str) -> CallerRecord:
    if record.powers == powers:
        refusal = (
            Phrase("{who}, already has sysop powers.", who=numbered(record))
            if powers
            else Phrase("{who}, has no sysop powers.", who=numbered(record))
        )
        raise Refused(refusal)
    _SET(desk.connection, powers=int(powers), id=record.id)
    add_notice(desk, record.id, GIVEN if powers else TAKEN)
    done = "was given sysop powers" if powers else "no longer has sysop powers"
    sysop_log.note(desk, by, record.id, f"{numbered(record)}, {done}")
    return callers.get(desk, record.id)
