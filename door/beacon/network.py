"""A network of drand: which round comes when, and what its public key is.

The League of Entropy runs quicknet. Its constants are those of <https://docs.drand.love> and of
every relay's `/info`; a network's chain hash is the SHA-256 of period, genesis, public key, group
hash and name (tests/door/beacon/test_network.py works it out).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from timebank.wagers.beacons import BeaconRound

# Seconds from the bet until a round may be published that its shoe is shuffled with. So much may
# the machine's clock be slow, and so long may the books take for the bet.
MARGIN = 2.0


@dataclass(frozen=True)
class Network:
    """A network of the scheme bls-unchained-g1-rfc9380."""

    name: str
    # What relays call its chain.
    chain: str
    key: str
    # When round 1 was published, in seconds since 1970, and how many seconds each comes after the
    # one before.
    genesis: int
    period: int

    @property
    def longest_wait(self) -> float:
        """The most seconds from a bet until the round that it fixes is published."""
        return MARGIN + self.period

    def published(self, number: int) -> int:
        """Return when a round is published, in seconds since 1970."""
        return self.genesis + (number - 1) * self.period

    def after(self, bet: datetime) -> BeaconRound:
        """Return the first round that is published `MARGIN` seconds or more after a bet."""
        seconds = bet.timestamp() + MARGIN - self.genesis
        number = max(1, 1 + int(-(-seconds // self.period)))
        return BeaconRound(self.key, number, self.published(number))


QUICKNET = Network(
    name="drand quicknet",
    chain="52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971",
    key=(
        "83cf0f2896adee7eb8b5f01fcad3912212c437e0073e911fb90022d3e760183c"
        "8c4b450b6a0a6c3ac6a5776a2d1064510d1fec758c921cc22b0e17e63aaf4bcb"
        "5ed66304de9cf809bd274ca73bab4af5a6e9c76a4bc09e76eae8991ef5ece45a"
    ),
    genesis=1692803367,
    period=3,
)
# Those whose rounds a hand may be checked with, by their keys.
KNOWN = {QUICKNET.key: QUICKNET}
