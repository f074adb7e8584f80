"""A reason for transfers of any kind that a test writes by hand; no program can read its facts."""

from __future__ import annotations

from dataclasses import dataclass

from timebank.ledger.reasons import Reason


@dataclass(frozen=True, slots=True)
class ByHand(Reason):
    moved_as: str
    words: str

    @property
    def kind(self) -> str:
        return self.moved_as


ByHand.CODE, ByHand.SENTENCE = "by-hand", "{words}"
