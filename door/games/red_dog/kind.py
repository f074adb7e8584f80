"""Red Dog as a `Kind`: one seat against the house."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from door.games.engine import shuffle
from door.games.engine.cards import Card
from door.games.engine.errors import IllegalAction, RoundRefused, RulesRefused, ShoeTooShort
from door.games.engine.game import BETS, Act, Totals
from door.games.engine.quoting import either, shown
from door.games.red_dog.events import Event
from door.games.red_dog.round import RedDogAction, RedDogRound, start
from door.games.red_dog.rules import RED_DOG, RedDogRules, rules_from_mapping


@dataclass(frozen=True, slots=True)
class RedDogKind:
    """The hands of Red Dog."""

    name: str
    most_seats: int
    house_keys: Mapping[str, type]

    @staticmethod
    def read_rules(mapping: Mapping[str, object]) -> RedDogRules:
        """Return the rules with the keys of `mapping`; `RoundRefused` when any is wrong."""
        try:
            return rules_from_mapping(mapping, RED_DOG)
        except RulesRefused as refused:
            raise RoundRefused(f"rules: {refused}") from None

    def deal(
        self, rules: Mapping[str, object], cards: Sequence[Card], stakes: Sequence[int], scale: int
    ) -> tuple[RedDogRound, tuple[Event, ...]]:
        """Deal a round (`Kind.deal`); nothing in its rules is counted in units."""
        (stake,) = stakes
        table = self.read_rules(rules)
        try:
            return start(table, cards, stake)
        except (ShoeTooShort, ValueError) as error:
            raise RoundRefused(_small(error)) from None

    def act(self, round_: RedDogRound, act: Act) -> tuple[RedDogRound, tuple[Event, ...]]:
        """Carry out an action of the caller (`Kind.act`)."""
        try:
            action = RedDogAction(act.word)
        except ValueError:
            raise RoundRefused(
                f"must be {either(tuple(RedDogAction))}, is {shown(act.word)}"
            ) from None
        if act.seat not in (None, 1) or act.amount is not None:
            raise RoundRefused(f"{action} takes neither a seat nor an amount here")
        try:
            return round_.apply(action)
        except (IllegalAction, ShoeTooShort) as error:
            raise RoundRefused(_small(error)) from None

    def open_words(self, round_: RedDogRound) -> tuple[str, ...]:
        """Return what may be decided now."""
        return round_.legal()

    def absent(self, round_: RedDogRound) -> Act:
        """Stay: nothing more is staked for one who is not there."""
        return Act(RedDogAction.STAY)

    def totals(self, round_: RedDogRound, seat: int) -> Totals:
        """Return the money of the round."""
        return round_.totals

    def outcome(self, round_: RedDogRound, seat: int) -> str:
        """Return how the round ended."""
        return str(round_.outcome or "")

    def result(self, round_: RedDogRound, seat: int) -> dict[str, object]:
        """Return outcome, cards, spread and net of a round that is over."""
        totals = round_.totals
        return {
            "outcome": str(round_.outcome),
            "cards": list(round_.cards),
            "spread": round_.spread,
            "net": totals.won - totals.lost,
            "cards_used": round_.cards_used,
        }

    def replayed(self, round_: RedDogRound) -> dict[str, object]:
        """Return what a replay tells of a round."""
        result = self.result(round_, 0)
        del result["net"]
        return result

    def lies(self, round_: RedDogRound, settled: bool) -> str:
        """Return the cards, all of them open."""
        return f"cards {' '.join(round_.cards)}"

    def cards(self, seed: bytes, cut: str, decks: int, position: int) -> tuple[Card, ...]:
        """Return the rest of the shoe: it is never shuffled in the middle of a round."""
        return shuffle.shuffle(seed, cut, decks)[position:]

    def decks(self, rules: Mapping[str, object]) -> int:
        """Return the decks of the rules."""
        return self.read_rules(rules).decks

    def most_alike(self, decks: int) -> int:
        """Return the decks."""
        return decks

    def is_used_up(self, rules: Mapping[str, object], decks: int, dealt: int, seats: int) -> bool:
        """Tell whether the cards are shuffled before the next round (`Kind.is_used_up`)."""
        return self.read_rules({**rules, "decks": decks}).shuffle_due(dealt)

    def by_chance(self, round_: RedDogRound, seed: bytes, cut: str, position: int) -> Act | None:
        """Return None: Red Dog does not toss."""
        return None


def _small(error: Exception) -> str:
    sentence = str(error)
    return sentence[0].lower() + sentence[1:]


RED_DOG_KIND = RedDogKind(name="red-dog", most_seats=1, house_keys={**BETS, "open": bool})
