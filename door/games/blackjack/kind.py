"""Black jack as a `Kind`: one engine for the rules of three tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from door.games.blackjack.events import Event
from door.games.blackjack.round import BlackjackAction, BlackjackRound, start
from door.games.blackjack.rules import VALUE_OF_COIN, BlackjackRules, rules_from_mapping
from door.games.engine import shuffle
from door.games.engine.cards import Card
from door.games.engine.errors import RoundRefused
from door.games.engine.game import Act, Kind, Start, Totals


@dataclass(frozen=True, kw_only=True)
class BlackJackKind(Kind):
    base: BlackjackRules
    only_journaled: frozenset[str] = frozenset({VALUE_OF_COIN})
    start: Start = start
    actions: type[StrEnum] = BlackjackAction
    # Whether each visit has a new shoe, which the table closes when the caller leaves.
    shoe_of_visit: bool = False
    # Whether a replay lists the outcome of a single hand too.
    outcomes_listed: bool = False

    def vary(self, mapping: Mapping[str, object], base: BlackjackRules) -> BlackjackRules:
        return rules_from_mapping(mapping, base)

    def deal(
        self, rules: Mapping[str, object], cards: Sequence[Card], stakes: Sequence[int], scale: int
    ) -> tuple[BlackjackRound, Sequence[Event]]:
        table: BlackjackRules = self.read_rules(rules)
        if scale != 1:
            table = replace(table, insurance_unit=table.insurance_unit * scale)
        dealt: tuple[BlackjackRound, Sequence[Event]] = self.begin(table, cards, stakes)
        return dealt

    def apply(
        self, round_: BlackjackRound, action: BlackjackAction, act: Act
    ) -> tuple[BlackjackRound, Sequence[Event]]:
        if round_.turn is not None and act.seat not in (None, round_.turn.seat + 1):
            raise RoundRefused(
                f"it is seat {round_.turn.seat + 1} that decides now, not {act.seat}"
            )
        insured = act.amount
        # Without the amount, because a replay counts in smaller units than its author.
        if insured is not None and action in round_.legal() and insured > round_.amount(action) > 0:
            raise RoundRefused(f"{action} is at most half of the bet here")
        return round_.apply(action, act.amount)

    def absent(self, round_: BlackjackRound) -> Act:
        declines = BlackjackAction.NO_INSURANCE in round_.legal()
        word = BlackjackAction.NO_INSURANCE if declines else BlackjackAction.STAY
        seated = len(round_.seats) > 1 and round_.turn is not None
        return Act(word, round_.turn.seat + 1 if seated and round_.turn else None)

    def totals(self, round_: BlackjackRound, seat: int) -> Totals:
        return round_.totals_of(seat)

    def outcome(self, round_: BlackjackRound, seat: int) -> str:
        return " ".join(round_.outcomes_of(seat))

    def laid(self, round_: BlackjackRound, seat: int) -> dict[str, object]:
        return {
            "player": [list(hand.cards) for hand in round_.seats[seat].hands],
            "dealer": list(round_.dealer_hand),
        }

    def result(self, round_: BlackjackRound, seat: int) -> dict[str, object]:
        totals = round_.totals_of(seat)
        return {
            "outcomes": [str(outcome) for outcome in round_.outcomes_of(seat)],
            **self.laid(round_, seat),
            "net": totals.won - totals.lost,
            "cards_used": round_.cards_used,
        }

    def replayed(self, round_: BlackjackRound) -> dict[str, object]:
        """Return the result of a replay. One hand's outcome is a word; several are a list."""
        outcomes = [str(outcome) for outcome in round_.outcomes]
        listed = self.outcomes_listed or len(outcomes) > 1
        return {
            "outcome": outcomes if listed else outcomes[0],
            "player": [list(hand.cards) for seat in round_.seats for hand in seat.hands],
            "dealer": list(round_.dealer_hand),
            "cards_used": round_.cards_used,
        }

    def lies(self, round_: BlackjackRound, settled: bool) -> str:
        hands = [" and ".join(" ".join(hand.cards) for hand in seat.hands) for seat in round_.seats]
        if len(hands) == 1:
            players = f"player {hands[0]}"
        else:
            players = "; ".join(f"seat {number} {hand}" for number, hand in enumerate(hands, 1))
        cards = round_.dealer_hand if settled else round_.dealer
        return f"{players}; dealer {' '.join(card or '??' for card in cards)}"

    def face_down(self, round_: BlackjackRound) -> tuple[Card, ...]:
        return () if round_.revealed else round_.dealer_hand[1:2]

    def cards(self, seed: bytes, cut: shuffle.Cut, decks: int, position: int) -> tuple[Card, ...]:
        if self.undealt is None:
            return shuffle.shuffle(seed, cut, decks)[position:]
        least = self.base.most_cards(self.most_seats)
        return shuffle.run_on(seed, cut, decks, self.undealt, position, least)

    def most_alike(self, decks: int) -> int:
        """Return the decks, or twice as many if a round may contain a shuffle."""
        return decks if self.undealt is None else 2 * decks

    def is_used_up(self, rules: Mapping[str, object], decks: int, dealt: int, seats: int) -> bool:
        table: BlackjackRules = self.read_rules_of(rules, decks)
        return not self.shoe_of_visit and table.shuffle_due(dealt, seats)
