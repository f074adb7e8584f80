"""The public keys that log a caller on by SSH, as lines of OpenSSH's `authorized_keys`.

`door.defence.ssh_keys` reads them. They are kept with what the caller prefers, and void with a new
password, as the recovery code is: whoever sets one shuts out all who came in otherwise. After a
restore they may have to wait: then none logs anybody on until their owner has shown the password.
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
WAIT = "ssh_keys_wait"  # the preference that is true while the keys wait

VOID = N_("Your SSH keys are void. You can add them again in your settings.")


def of(preferences: Mapping[str, object]) -> list[str]:
    """Return the lines among what a caller prefers, the oldest first, also while they wait."""
    lines = preferences.get(SSH_KEYS)
    return [each for each in lines if isinstance(each, str)] if isinstance(lines, list) else []


def must_wait(preferences: Mapping[str, object]) -> bool:
    """Return whether a caller has keys that log nobody on before `work_again`."""
    return bool(preferences.get(WAIT) and of(preferences))


def owner(desk: Desk, name: str, key: bytes) -> CallerRecord | None:
    """Return the caller of this name if the key, in SSH's own bytes, logs them on."""
    record = callers.find(desk, name)
    if record is None or must_wait(record.preferences):
        return None
    text = base64.b64encode(key).decode("ascii")
    has_it = any(each.split()[1:2] == [text] for each in of(record.preferences))
    return record if has_it else None


def add(desk: Desk, caller_id: int, line: str) -> CallerRecord:
    """Add a key to those of a caller who has shown the password, which lets all of them work.

    Raises `Refused` with MOST of them, and for callers of other boards.
    """
    record = callers.get(desk, caller_id)
    callers.refuse_of_board(record, N_("{name} is a caller of {board}, who logs on there."))
    lines = [each for each in of(record.preferences) if not is_same(each, line)]
    if len(lines) >= MOST:
        raise Refused(Phrase("You have {number} SSH keys: take one away first.", number=MOST))
    return _keep(desk, record, [*lines, line[:LONGEST]], {WAIT: False})


def take_away(desk: Desk, caller_id: int, line: str) -> CallerRecord:
    """Take away a key of a caller's; one that they do not have is no error."""
    record = callers.get(desk, caller_id)
    left = [each for each in of(record.preferences) if not is_same(each, line)]
    return _keep(desk, record, left, {})


def let_wait(desk: Desk, caller_id: int) -> CallerRecord:
    """Let no key of a caller's work until `work_again`."""
    return callers.change_preferences(desk, caller_id, {WAIT: True})


def work_again(desk: Desk, caller_id: int) -> CallerRecord:
    """Let the keys of a caller work again: their owner has logged on with the password."""
    return callers.change_preferences(desk, caller_id, {WAIT: False})


def is_same(one: str, other: str) -> bool:
    """Tell whether two lines have the same key, whatever it is called in them."""
    return one.split()[:2] == other.split()[:2]


def _keep(
    desk: Desk, record: CallerRecord, lines: list[str], also: Mapping[str, object]
) -> CallerRecord:
    now = changes.noted(desk, record.preferences, changes.KEYS)
    return callers.change_preferences(desk, record.id, now | {SSH_KEYS: lines, **also})
