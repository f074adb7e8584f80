"""The second step of a caller's log-on to the pages, as the books keep it.

`door.defence.totp` makes and checks its codes. It is kept with what the caller prefers. A new
password leaves it, since whoever knows the old one can set that at the board; a recovery code ends
it, and so can the sysop. Each change stands in the sysop's log.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from timebank.callers import callers, changes, sysop_log
from timebank.callers.callers import CallerRecord
from timebank.callers.notices import add_notice
from timebank.language import N_
from timebank.ledger.database import Desk

SECOND_STEP = "second_step"  # among the preferences


@dataclass(frozen=True, slots=True)
class SecondStep:
    secret: str = field(repr=False)  # in base 32
    last: int  # the step whose code was used last; no code up to it is taken again


def of(record: CallerRecord) -> SecondStep | None:
    return in_preferences(record.preferences)


def in_preferences(preferences: Mapping[str, object]) -> SecondStep | None:
    match preferences.get(SECOND_STEP):
        case {"secret": str(secret), "last": int(last)}:
            return SecondStep(secret, last)
    return None


def turn_on(desk: Desk, caller_id: int, step: SecondStep, by: str) -> CallerRecord:
    """Ask for a code from now on; raises `UnknownCaller`."""
    record = _change(desk, caller_id, step)
    sysop_log.note(desk, by, caller_id, "Set up an authenticator for the pages")
    return record


def use(desk: Desk, caller_id: int, step: SecondStep) -> bool:
    """Use up a code: False where another log-on has used it, or the second step is another by now.

    `step` has the secret, and the step whose code was typed.
    """
    kept = of(callers.get(desk, caller_id))
    if kept is None or kept.secret != step.secret or kept.last >= step.last:
        return False
    keep(desk, caller_id, step)
    return True


def turn_off(desk: Desk, caller_id: int, why: str, by: str) -> bool:
    """Ask for no code any more, and tell the caller; False where none was asked for."""
    if of(callers.get(desk, caller_id)) is None:
        return False
    _change(desk, caller_id, None)
    sysop_log.note(desk, by, caller_id, f"The pages ask for no code any more: {why}")
    add_notice(desk, caller_id, N_("The pages ask you for no authenticator's code any more."))
    return True


def _change(desk: Desk, caller_id: int, step: SecondStep | None) -> CallerRecord:
    kept = callers.get(desk, caller_id).preferences
    now = changes.noted(desk, kept, changes.SECOND_STEP)
    callers.change_preferences(desk, caller_id, now)
    return keep(desk, caller_id, step)


def keep(desk: Desk, caller_id: int, step: SecondStep | None) -> CallerRecord:
    """Keep a caller's second step, None for none, which counts as no change and is not logged."""
    kept = None if step is None else {"secret": step.secret, "last": step.last}
    return callers.change_preferences(desk, caller_id, {SECOND_STEP: kept})
