"""Whether the round of a shoe that was dealt from is what it has to be, for audits."""

from __future__ import annotations

from datetime import datetime, timedelta

from door.beacon.network import KNOWN
from door.beacon.signed import INSTALL, can_check, is_signed
from timebank.wagers.beacons import BeaconRound

SECOND = timedelta(seconds=1)


def problem(beacon: BeaconRound) -> str:
    """Return what is wrong with the round of a shoe, as a clause; "" where it is what it should be:
    signed, where it came."""
    network = KNOWN.get(beacon.key)
    if network is None:
        return "its beacon is of a network that this program does not know"
    if beacon.number and network.published(beacon.number) != beacon.due:
        return f"round {beacon.number} of its beacon was published at another time"
    if not beacon.signature:
        return ""
    if not can_check():
        return f"nothing here can check its round of {network.name}: {INSTALL}"
    if not is_signed(beacon.key, beacon.number, beacon.signature):
        return f"its signature is not that of round {beacon.number} of {network.name}"
    return ""


def is_fixed_by(bet: datetime, beacon: BeaconRound) -> bool:
    """Tell whether a round is the one that the first bet on its shoe fixes. `bet` has no fractions
    of its second."""
    network = KNOWN.get(beacon.key)
    if network is None or not beacon.number:
        return True  # `problem` says it, or nothing was fixed
    return network.after(bet).number <= beacon.number <= network.after(bet + SECOND).number
