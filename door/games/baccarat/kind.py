"""Baccarat as a `Kind`: one seat, the player's, against the bank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from door.games.baccarat.events import Event
from door.games.baccarat.round import (
    BACCARAT,
    BaccaratAction,
    BaccaratPhase,
    BaccaratRound,
    IllegalAction,
    ShoeTooShort,
    start,
)
from door.games.baccarat.rules import BaccaratRules, rules_from_mapping
from door.games.engine import shuffle
from door.games.engine.cards import Card
from door.games.engine.errors import RoundRefused, RulesRefused
from door.games.engine.game import BETS, Act, Totals
from door.games.engine.quoting import either, shown


@dataclass(frozen=True, slots=True)
class BaccaratKind:
    """The coups of baccarat."""

    name: str
    most_seats: int
    house_keys: Mapping[str, type]

    @staticmethod
    def read_rules(mapping: Mapping[str, object]) -> BaccaratRules:
        """Return the rules with the keys of `mapping`; `RoundRefused` when any is wrong."""
        try:
            return rules_from_mapping(mapping, BACCARAT)
        except RulesRefused as refused:
            raise RoundRefused(f"rules: {refused}") from None

    def deal(
        self, rules: Mapping[str, object], cards: Sequence[Card], stakes: Sequence[int], scale: int
    ) -> tuple[BaccaratRound, tuple[Event, ...]]:
        """Deal a coup (`Kind.deal`); nothing in its rules is counted in units."""
        (stake,) = stakes
        table = self.read_rules(rules)
        try:
            return start(table, cards, stake)
        except (ShoeTooShort, ValueError) as error:
            raise RoundRefused(_small(error)) from None

    def act(self, round_: BaccaratRound, act: Act) -> tuple[BaccaratRound, tuple[Event, ...]]:
        """Carry out an action of the caller, or of the bank where it tosses (`Kind.act`)."""
        try:
            action = BaccaratAction(act.word)
        except ValueError:
            raise RoundRefused(
                f"must be {either(tuple(BaccaratAction))}, is {shown(act.word)}"
            ) from None
        if act.seat not in (None, 1) or act.amount is not None:
            raise RoundRefused(f"{action} takes neither a seat nor an amount here")
        try:
            return round_.apply(action)
        except (IllegalAction, ShoeTooShort) as error:
            raise RoundRefused(_small(error)) from None

    def open_words(self, round_: BaccaratRound) -> tuple[str, ...]:
        """Return what may be decided now."""
        return round_.legal()

    def absent(self, round_: BaccaratRound) -> Act:
        """Take no card; the bank's toss is not the caller's to make."""
        return Act(
            BaccaratAction.NO_CARD
            if round_.phase is BaccaratPhase.CALLER
            else BaccaratAction.BANK_NO_CARD
        )

    def totals(self, round_: BaccaratRound, seat: int) -> Totals:
        """Return the money of the coup."""
        return round_.totals

    def outcome(self, round_: BaccaratRound, seat: int) -> str:
        """Return who has the coup, or that it is a stand-off."""
        return str(round_.outcome or "")

    def result(self, round_: BaccaratRound, seat: int) -> dict[str, object]:
        """Return outcome, cards, points and net of a coup that is over."""
        totals = round_.totals
        return {
            "outcome": str(round_.outcome),
            "player": list(round_.player),
            "bank": list(round_.bank_hand),
            "points": list(round_.points),
            "net": totals.won - totals.lost,
            "cards_used": round_.cards_used,
        }

    def replayed(self, round_: BaccaratRound) -> dict[str, object]:
        """Return what a replay tells of a coup."""
        result = self.result(round_, 0)
        del result["net"]
        return result

    def lies(self, round_: BaccaratRound, settled: bool) -> str:
        """Return both hands."""
        bank = round_.bank_hand if settled else round_.bank
        return f"player {' '.join(round_.player)}; bank {' '.join(card or '??' for card in bank)}"

    def cards(self, seed: bytes, cut: str, decks: int, position: int) -> tuple[Card, ...]:
        """Return the rest of the shoe: it is never shuffled in the middle of a coup."""
        return shuffle.shuffle(seed, cut, decks)[position:]

    def decks(self, rules: Mapping[str, object]) -> int:
        """Return the decks of the rules, which are four."""
        return self.read_rules(rules).decks

    def most_alike(self, decks: int) -> int:
        """Return the decks."""
        return decks

    def is_used_up(self, rules: Mapping[str, object], decks: int, dealt: int, seats: int) -> bool:
        """Tell whether 8 cards or fewer are left (baccarat-markland.txt, Rules of Play)."""
        return self.read_rules({**rules, "decks": decks}).shuffle_due(dealt)

    def by_chance(self, round_: BaccaratRound, seed: bytes, cut: str, position: int) -> Act | None:
        """Return what the toss for the bank's option comes to."""
        if round_.phase is not BaccaratPhase.BANK:
            return None
        draws = shuffle.toss(seed, cut, position + round_.cards_used)
        return Act(BaccaratAction.BANK_CARD if draws else BaccaratAction.BANK_NO_CARD)


def _small(error: Exception) -> str:
    sentence = str(error)
    return sentence[0].lower() + sentence[1:]


BACCARAT_KIND = BaccaratKind(
    name="baccarat", most_seats=1, house_keys={**BETS, "open": bool, "language": str}
)
