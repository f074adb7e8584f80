"""The public keys that log a caller on by SSH, as lines of OpenSSH's `authorized_keys`.

`door.defence.ssh_keys` reads them. They are stored in the caller's preferences. A new password
makes them void, and the recovery code too, so that it shuts out everybody else. A restore may
suspend them until their owner has logged on with the password.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping

from timebank.callers import callers, changes
from timebank.callers.callers import SSH_KEYS, CallerRecord
from timebank.errors import Refused
from timebank.language import N_, Phrase
from timebank.ledger.database import Desk

MOST = 8
LONGEST = 1024  # characters of a line
WAIT = "ssh_keys_wait"  # the preference that is true while the keys are suspended

VOID = N_("Your SSH keys are void. You can add them again in your settings.")


def lines_of(preferences: Mapping[str, object]) -> list[str]:
    """Return the lines of a caller's keys, oldest first, also while they are suspended."""
    lines = preferences.get(SSH_KEYS)
    return [each for each in lines if isinstance(each, str)] if isinstance(lines, list) else []


def are_suspended(preferences: Mapping[str, object]) -> bool:
    """Return whether a caller has keys that do not work before `resume`."""
    return bool(preferences.get(WAIT) and lines_of(preferences))


def owner(desk: Desk, name: str, key: bytes) -> CallerRecord | None:
    """Return the caller of this name if the key, in SSH's binary form, logs them on."""
    record = callers.find(desk, name)
    if record is None or are_suspended(record.preferences):
        return None
    text = base64.b64encode(key).decode("ascii")
    has_it = any(each.split()[1:2] == [text] for each in lines_of(record.preferences))
    return record if has_it else None


def add(desk: Desk, caller_id: int, line: str) -> CallerRecord:
    """Add a key for a caller who has given the password, and resume their other keys.

    Raises `Refused` if the caller has MOST keys, or is from another board.
    """
    record = callers.get(desk, caller_id)
    callers.refuse_of_board(record, N_("{name} is a caller of {board}, who logs on there."))
    lines = [each for each in lines_of(record.preferences) if not is_same(each, line)]
    if len(lines) >= MOST:
        raise Refused(Phrase("You have {number} SSH keys: take one away first.", number=MOST))
    return _keep(desk, record, [*lines, line[:LONGEST]], {WAIT: False})


def take_away(desk: Desk, caller_id: int, line: str) -> CallerRecord:
    """Remove a caller's key. A key that they do not have is ignored."""
    record = callers.get(desk, caller_id)
    left = [each for each in lines_of(record.preferences) if not is_same(each, line)]
    return _keep(desk, record, left, {})


def suspend(desk: Desk, caller_id: int) -> CallerRecord:
    """Suspend a caller's keys until `resume`."""
    return callers.change_preferences(desk, caller_id, {WAIT: True})


def resume(desk: Desk, caller_id: int) -> CallerRecord:
    """Resume a caller's keys after a log-on with the password."""
    return callers.change_preferences(desk, caller_id, {WAIT: False})


def is_same(one: str, other: str) -> bool:
    """Return whether two lines have the same key, ignoring their comments."""
    return one.split()[:2] == other.split()[:2]


def _keep(
    desk: Desk, record: CallerRecord, lines: list[str], also: Mapping[str, object]
) -> CallerRecord:
    now = changes.noted(desk, record.preferences, changes.KEYS)
    return callers.change_preferences(desk, record.id, now | {SSH_KEYS: lines, **also})
