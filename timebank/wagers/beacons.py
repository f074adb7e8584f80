"""Rounds of a public randomness beacon that shoes are shuffled with, fixed with the first bet.

The number of the round is written in the transaction of the bet, before the round is published, so
that nobody can choose among rounds. What comes of it is written with the deal, once: the round's
signature, or why there is none. Until then the hand has its stakes and no cards. What a signature
means is not this file's business.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from sqlalchemy import Integer, Text, bindparam, update

from timebank.errors import OutOfStep
from timebank.language import Phrase
from timebank.ledger.database import Desk
from timebank.ledger.schema import shoes
from timebank.ledger.sql import Prepared


@dataclass(frozen=True, slots=True)
class BeaconRound:
    """A round of a beacon, and what came of it."""

    # The network's public key and the round's signature, in hexadecimal; '' while there is none.
    key: str
    # 0 where none was asked for, because the beacon had failed just before.
    number: int
    # When it is published, in seconds since 1970.
    due: int
    signature: str = ""
    # Why the shoe is shuffled without it, as a code; '' where it is not.
    failed: str = ""

    @property
    def is_awaited(self) -> bool:
        return not (self.signature or self.failed)

    @property
    def published(self) -> datetime:
        return datetime.fromtimestamp(self.due, UTC)

    def signed(self, signature: str) -> BeaconRound:
        return replace(self, signature=signature)

    def without(self, why: str) -> BeaconRound:
        return replace(self, failed=why)

    def text(self) -> str:
        """Return it as the books keep it, which `read` reads."""
        said: dict[str, object] = {"key": self.key, "round": self.number, "due": self.due}
        if self.signature:
            said["signature"] = self.signature
        if self.failed:
            said["failed"] = self.failed
        return json.dumps(said, separators=(",", ":"))


def read(text: str | None) -> BeaconRound | None:
    """Read what the books keep; ValueError for what is no round."""
    if text is None:
        return None
    said = json.loads(text)
    try:
        found = BeaconRound(
            said["key"],
            said["round"],
            said["due"],
            said.get("signature", ""),
            said.get("failed", ""),
        )
    except (TypeError, KeyError, AttributeError):
        raise ValueError("the round of the beacon cannot be read") from None
    texts = (found.key, found.signature, found.failed)
    if not all(isinstance(each, str) for each in texts) or not (
        type(found.number) is int and type(found.due) is int
    ):
        raise ValueError("the round of the beacon cannot be read")
    return found


_SHOE = bindparam("shoe", type_=Integer)
_NOW = bindparam("now", type_=Text)
_FIX = Prepared(
    lambda: update(shoes).values(beacon=_NOW).where(shoes.c.id == _SHOE, shoes.c.beacon.is_(None)),
    gathered="one",
)
_SETTLE = Prepared(
    lambda: (
        update(shoes)
        .values(beacon=_NOW)
        .where(shoes.c.id == _SHOE, shoes.c.beacon == bindparam("before", type_=Text))
    ),
    gathered="one",
)


def fix(desk: Desk, shoe_id: int, beacon: BeaconRound) -> None:
    """Write which round a shoe is shuffled with; ValueError, our bug, where one stands there."""
    if not _FIX(desk.connection, shoe=shoe_id, now=beacon.text()).rowcount:
        raise ValueError(f"shoe {shoe_id} has a round of a beacon already")


def settle(desk: Desk, shoe_id: int, before: BeaconRound, after: BeaconRound) -> None:
    """Write what came of the round that a shoe waits for; `OutOfStep` where that is known."""
    changed = _SETTLE(desk.connection, shoe=shoe_id, now=after.text(), before=before.text())
    if not changed.rowcount:
        raise OutOfStep(Phrase("This hand has moved on in the meantime."))
