"""When callers last changed their password, authenticator, SSH keys and own limits.

It is kept with what they prefer. A restore compares it between the copy and the books that are
replaced (keeping/access.py), which may be of an older copy: then the copy has the later change.
"""

from __future__ import annotations

from collections.abc import Mapping

from timebank.ledger.database import Desk
from timebank.ledger.schema import stamp

PASSWORD, KEYS, SECOND_STEP, OWN_LIMITS = "password", "ssh_keys", "second_step", "own_limits"
CHANGED = "changed"  # among the preferences


def noted(desk: Desk, preferences: Mapping[str, object], *what: str) -> dict[str, object]:
    """Return the preference by which these are changed now, whatever the clock says after the
    last change."""
    then, now = _instants(preferences), stamp(desk.now)
    return {CHANGED: then | {each: max(now, then.get(each, 0) + 1) for each in what}}


def later(one: Mapping[str, object], other: Mapping[str, object]) -> frozenset[str]:
    """Return what was changed last in the first of two preferences.

    >>> sorted(later({"changed": {"password": 2, "ssh_keys": 1}}, {"changed": {"ssh_keys": 1}}))
    ['password']
    """
    ours, theirs = _instants(one), _instants(other)
    return frozenset(each for each in ours if ours[each] > theirs.get(each, 0))


def latest(one: Mapping[str, object], other: Mapping[str, object]) -> dict[str, object]:
    """Return the preference that has the later instant of both for each of them."""
    ours, theirs = _instants(one), _instants(other)
    return {CHANGED: theirs | {each: max(ours[each], theirs.get(each, 0)) for each in ours}}


def _instants(preferences: Mapping[str, object]) -> dict[str, int]:
    found = preferences.get(CHANGED)
    if not isinstance(found, dict):
        return {}
    return {each: at for each, at in found.items() if isinstance(at, int)}
