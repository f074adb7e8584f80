"""The public keys that log a caller on by SSH, as lines of OpenSSH's `authorized_keys`.

`door.defence.ssh_keys` reads them. They are kept with what the caller prefers, and void with a new
password, as the recovery code is: whoever sets one shuts out all who came in otherwise.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence

from timebank.callers import callers
from timebank.callers.callers import SSH_KEYS, WAITING_KEYS, CallerRecord
from timebank.errors import Refused
from timebank.language import N_, Phrase
from timebank.ledger.database import Desk

MOST = 8
LONGEST = 1024  # characters of a line

VOID = N_("Your SSH keys are void. You can add them again in your settings.")


def of(preferences: Mapping[str, object]) -> list[str]:
    """Return the lines among what a caller prefers, the oldest first."""
    return _lines(preferences, SSH_KEYS)


def waiting(preferences: Mapping[str, object]) -> list[str]:
    """Return the lines that log nobody on until their owner has logged on with the password."""
    return _lines(preferences, WAITING_KEYS)


def _lines(preferences: Mapping[str, object], name: str) -> list[str]:
    lines = preferences.get(name)
    return [each for each in lines if isinstance(each, str)] if isinstance(lines, list) else []


def owner(desk: Desk, name: str, key: bytes) -> CallerRecord | None:
    """Return the caller of this name if the key, in SSH's own bytes, is one of theirs."""
    record = callers.find(desk, name)
    text = base64.b64encode(key).decode("ascii")
    has_it = record is not None and any(
        each.split()[1:2] == [text] for each in of(record.preferences)
    )
    return record if has_it else None


def add(desk: Desk, caller_id: int, line: str) -> CallerRecord:
    """Add a key to a caller's; `Refused` with MOST of them, and for callers of other boards."""
    record = callers.get(desk, caller_id)
    callers.refuse_of_board(record, N_("{name} is a caller of {board}, who logs on there."))
    lines = [each for each in of(record.preferences) if not is_same(each, line)]
    if len(lines) >= MOST:
        raise Refused(Phrase("You have {number} SSH keys: take one away first.", number=MOST))
    return _set(desk, caller_id, [*lines, line[:LONGEST]])


def take_away(desk: Desk, caller_id: int, line: str) -> CallerRecord:
    """Take away a key of a caller's; one that they do not have is no error."""
    preferences = callers.get(desk, caller_id).preferences
    lines, others = (
        [each for each in found if not is_same(each, line)]
        for found in (of(preferences), waiting(preferences))
    )
    return _set(desk, caller_id, lines, others)


def let_wait(desk: Desk, caller_id: int) -> CallerRecord:
    """Let no key of a caller's work until `work_again`."""
    preferences = callers.get(desk, caller_id).preferences
    return _set(desk, caller_id, [], [*waiting(preferences), *of(preferences)])


def work_again(desk: Desk, caller_id: int) -> CallerRecord:
    """Let the keys work that have waited: their owner has logged on with the password."""
    preferences = callers.get(desk, caller_id).preferences
    kept = of(preferences)
    more = [each for each in waiting(preferences) if not any(is_same(each, one) for one in kept)]
    return _set(desk, caller_id, [*more, *kept][-MOST:], [])


def is_same(one: str, other: str) -> bool:
    """Tell whether two lines have the same key, whatever it is called in them."""
    return one.split()[:2] == other.split()[:2]


def _set(
    desk: Desk, caller_id: int, lines: Sequence[str], others: Sequence[str] | None = None
) -> CallerRecord:
    changes = {SSH_KEYS: list(lines)}
    if others is not None:
        changes[WAITING_KEYS] = list(others)
    return callers.change_preferences(desk, caller_id, changes)
