"""A reason for transfers of any kind that a test writes by hand; no program can read its facts."""

from __future__ import annotations

from dataclasses import dataclass

from timebank.ledger.reasons import Reason


@dataclass(frozen=True, slots=True)
class ByHand(Reason):
    stored_kind: str
    words: str

    @property
    def kind(self) -> str:
        return self.stored_kind


ByHand.CODE, ByHand.SENTENCE = "by-hand", "{words}"
