"""When callers last changed their password, authenticator, SSH keys and own limits.

The times are in their preferences. A restore compares them between the copy and the replaced books
(keeping/access.py), because the replaced books may continue an older copy.
"""

from __future__ import annotations

from collections.abc import Mapping

from timebank.ledger.database import Desk
from timebank.ledger.schema import stamp

PASSWORD, KEYS, SECOND_STEP, OWN_LIMITS = "password", "ssh_keys", "second_step", "own_limits"
CHANGED = "changed"  # among the preferences


def noted(desk: Desk, preferences: Mapping[str, object], *what: str) -> dict[str, object]:
    """Return the preference that notes a change of `what` now, and always after the last change."""
    then, now = _instants(preferences), stamp(desk.now)
    return {CHANGED: then | {each: max(now, then.get(each, 0) + 1) for each in what}}


def later(one: Mapping[str, object], other: Mapping[str, object]) -> frozenset[str]:
    """Return the things that were changed later in `one` than in `other`.

    >>> sorted(later({"changed": {"password": 2, "ssh_keys": 1}}, {"changed": {"ssh_keys": 1}}))
    ['password']
    """
    ours, theirs = _instants(one), _instants(other)
    return frozenset(each for each in ours if ours[each] > theirs.get(each, 0))


def latest(one: Mapping[str, object], other: Mapping[str, object]) -> dict[str, object]:
    """Return the preference with the later time of both for each thing."""
    ours, theirs = _instants(one), _instants(other)
    return {CHANGED: theirs | {each: max(ours[each], theirs.get(each, 0)) for each in ours}}


def _instants(preferences: Mapping[str, object]) -> dict[str, int]:
    instants = preferences.get(CHANGED)
    if not isinstance(instants, dict):
        return {}
    return {each: at for each, at in instants.items() if isinstance(at, int)}
