"""A black jack of the house as a `Kind`: one engine under the rules of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from door.games.blackjack.events import Event
from door.games.blackjack.round import BlackjackAction, BlackjackRound, start
from door.games.blackjack.rules import BlackjackRules, rules_from_mapping
from door.games.engine import shuffle
from door.games.engine.cards import Card
from door.games.engine.errors import IllegalAction, RoundRefused, RulesRefused, ShoeTooShort
from door.games.engine.game import Act, Totals
from door.games.engine.quoting import either, shown


@dataclass(frozen=True, slots=True)
class BlackJackKind:
    """One black jack: its name, and its rules before a house varies them."""

    name: str
    base: BlackjackRules
    most_seats: int
    house_keys: Mapping[str, type]
    # Cards of each shuffle that are never dealt; None where every shuffle has a seed of its own.
    undealt: int | None
    # Whether a visit has one shoe, closed by the table when the caller gets up.
    shoe_of_visit: bool
    # Whether outcomes of a replay are a list even for a single hand.
    outcomes_listed: bool

    def read_rules(self, mapping: Mapping[str, object]) -> BlackjackRules:
        """Return this game's rules with the keys of `mapping` in place; `RoundRefused` when any is
        wrong."""
        try:
            # With their types, for True is equal to 1.
            entries = tuple((key, type(value), value) for key, value in mapping.items())
            if any(isinstance(value, list | dict) for value in mapping.values()):
                return rules_from_mapping(mapping, self.base)  # which says that it is no rule
            return _rules_of(self.base, entries)
        except RulesRefused as refused:
            raise RoundRefused(f"rules: {refused}") from None

    def deal(
        self, rules: Mapping[str, object], cards: Sequence[Card], stakes: Sequence[int], scale: int
    ) -> tuple[BlackjackRound, tuple[Event, ...]]:
        """Deal a round (`Kind.deal`)."""
        table = self.read_rules(rules)
        if scale != 1:
            table = replace(table, insurance_unit=table.insurance_unit * scale)
        try:
            return start(table, cards, stakes)
        except (ShoeTooShort, ValueError) as error:
            raise RoundRefused(_small(str(error))) from None

    def act(self, round_: BlackjackRound, act: Act) -> tuple[BlackjackRound, tuple[Event, ...]]:
        """Carry out an action of the seat at turn (`Kind.act`)."""
        try:
            action = BlackjackAction(act.word)
        except ValueError:
            raise RoundRefused(
                f"must be {either(tuple(BlackjackAction))}, is {shown(act.word)}"
            ) from None
        if round_.turn is not None and act.seat not in (None, round_.turn.seat + 1):
            raise RoundRefused(
                f"it is seat {round_.turn.seat + 1} that decides now, not {act.seat}"
            )
        insured = act.amount if action in round_.legal() else None
        # In words: a replay counts in smaller parts than he who wrote it.
        if insured is not None and insured > round_.amount(action) > 0:
            raise RoundRefused(f"{action} is at most half of the bet here")
        try:
            return round_.apply(action, act.amount)
        except (IllegalAction, ShoeTooShort, ValueError) as error:
            raise RoundRefused(_small(str(error))) from None

    def open_words(self, round_: BlackjackRound) -> tuple[str, ...]:
        """Return what the seat at turn may do."""
        return round_.legal()

    def absent(self, round_: BlackjackRound) -> Act:
        """Decline insurance, and stand."""
        declines = BlackjackAction.NO_INSURANCE in round_.legal()
        word = BlackjackAction.NO_INSURANCE if declines else BlackjackAction.STAY
        seated = len(round_.seats) > 1 and round_.turn is not None
        return Act(word, round_.turn.seat + 1 if seated and round_.turn else None)

    def totals(self, round_: BlackjackRound, seat: int) -> Totals:
        """Return the money of a seat."""
        return round_.totals_of(seat)

    def outcome(self, round_: BlackjackRound, seat: int) -> str:
        """Return how the hands of a seat ended."""
        return " ".join(round_.outcomes_of(seat))

    def result(self, round_: BlackjackRound, seat: int) -> dict[str, object]:
        """Return outcomes, cards and net of a seat whose round is over."""
        totals = round_.totals_of(seat)
        return {
            "outcomes": [str(outcome) for outcome in round_.outcomes_of(seat)],
            "player": [list(hand.cards) for hand in round_.seats[seat].hands],
            "dealer": list(round_.dealer_hand),
            "net": totals.won - totals.lost,
            "cards_used": round_.cards_used,
        }

    def replayed(self, round_: BlackjackRound) -> dict[str, object]:
        """Return what a replay tells: a single hand's outcome is a word, several are a list."""
        outcomes = [str(outcome) for outcome in round_.outcomes]
        listed = self.outcomes_listed or len(outcomes) > 1
        return {
            "outcome": outcomes if listed else outcomes[0],
            "player": [list(hand.cards) for seat in round_.seats for hand in seat.hands],
            "dealer": list(round_.dealer_hand),
            "cards_used": round_.cards_used,
        }

    def lies(self, round_: BlackjackRound, settled: bool) -> str:
        """Return the players' hands and the dealer's."""
        hands = [" and ".join(" ".join(hand.cards) for hand in seat.hands) for seat in round_.seats]
        if len(hands) == 1:
            players = f"player {hands[0]}"
        else:
            players = "; ".join(f"seat {number} {hand}" for number, hand in enumerate(hands, 1))
        cards = round_.dealer_hand if settled else round_.dealer
        return f"{players}; dealer {' '.join(card or '??' for card in cards)}"

    def cards(self, seed: bytes, cut: str, decks: int, position: int) -> tuple[Card, ...]:
        """Return the cards from `position` on."""
        if self.undealt is None:
            return shuffle.shuffle(seed, cut, decks)[position:]
        least = self.base.most_cards(self.most_seats)
        return shuffle.run_on(seed, cut, decks, self.undealt, position, least)

    def decks(self, rules: Mapping[str, object]) -> int:
        """Return the decks of the rules."""
        return self.read_rules(rules).decks

    def most_alike(self, decks: int) -> int:
        """Return the decks; twice as many where a shuffle may come in the middle of a round."""
        return decks if self.undealt is None else 2 * decks

    def is_used_up(self, rules: Mapping[str, object], decks: int, dealt: int, seats: int) -> bool:
        """Tell whether the cards are shuffled before the next round (`Kind.is_used_up`)."""
        if self.shoe_of_visit:
            return False
        table = self.read_rules(rules)
        if table.decks != decks:
            table = replace(table, decks=decks)
        return table.shuffle_due(dealt, seats)

    def by_chance(self, round_: BlackjackRound, seed: bytes, cut: str, position: int) -> Act | None:
        """Return None: no black jack tosses."""
        return None


@lru_cache(maxsize=64)
def _rules_of(
    base: BlackjackRules, entries: tuple[tuple[str, type, object], ...]
) -> BlackjackRules:
    """Read rules once: every hand asks for those of its table a few times."""
    return rules_from_mapping({key: value for key, _, value in entries}, base)


def _small(sentence: str) -> str:
    return sentence[0].lower() + sentence[1:]
