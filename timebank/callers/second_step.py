"""The second step of a caller's log-on to the sysop's pages, in the caller's preferences.

`door.defence.totp` makes and checks its codes. A new password does not turn it off, because anybody
who knows the old password can set a new one at the board. A recovery code and the sysop can turn it
off. Each change is in the sysop's log.
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
    last: int  # the step of the last used code; codes up to it are invalid


def of_caller(record: CallerRecord) -> SecondStep | None:
    return in_preferences(record.preferences)


def in_preferences(preferences: Mapping[str, object]) -> SecondStep | None:
    match preferences.get(SECOND_STEP):
        case {"secret": str(secret), "last": int(last)}:
            return SecondStep(secret, last)
    return None


def turn_on(desk: Desk, caller_id: int, step: SecondStep, by: str) -> CallerRecord:
    """Require a code from now on. Raises `UnknownCaller`."""
    record = _change(desk, caller_id, step)
    sysop_log.note(desk, by, caller_id, "Set up an authenticator for the pages")
    return record


def use(desk: Desk, caller_id: int, step: SecondStep) -> bool:
    """Use up a code. Return False if it was used before, or if the secret was changed.

    `step` has the secret, and the step of the typed code.
    """
    stored = of_caller(callers.get(desk, caller_id))
    if stored is None or stored.secret != step.secret or stored.last >= step.last:
        return False
    keep(desk, caller_id, step)
    return True


def turn_off(desk: Desk, caller_id: int, why: str, by: str) -> bool:
    """Turn the second step off, and leave the caller a notice. Return False if it was off."""
    if of_caller(callers.get(desk, caller_id)) is None:
        return False
    _change(desk, caller_id, None)
    sysop_log.note(desk, by, caller_id, f"The pages ask for no code any more: {why}")
    add_notice(desk, caller_id, N_("The pages no longer ask you for an authenticator code."))
    return True


def _change(desk: Desk, caller_id: int, step: SecondStep | None) -> CallerRecord:
    preferences = callers.get(desk, caller_id).preferences
    now = changes.noted(desk, preferences, changes.SECOND_STEP)
    callers.change_preferences(desk, caller_id, now)
    return keep(desk, caller_id, step)


def keep(desk: Desk, caller_id: int, step: SecondStep | None) -> CallerRecord:
    """Store a caller's second step, None for none, without a line in the log."""
    stored = None if step is None else {"secret": step.secret, "last": step.last}
    return callers.change_preferences(desk, caller_id, {SECOND_STEP: stored})
