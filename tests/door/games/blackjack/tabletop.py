"""Helpers that stack a shoe, play a hand and read its settlement."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf

from door.games.blackjack.events import BlackjackOutcome, BlackjackSettled, Event, InsuranceSettled
from door.games.blackjack.round import BlackjackAction, BlackjackRound, start
from door.games.blackjack.rules import (
    BLACK_JACK_FOR_TIME,
    UNIX_BJ,
    UNIX_BJ_STAKE,
    VEGAS,
    BlackjackRules,
    rules_from_mapping,
)
from door.games.engine.cards import Card, parse_cards
from door.games.solver.tutor.tutor import Advice

STAKE = 600  # two coins of five minutes

HIT, STAY, DOUBLE, SPLIT = (
    BlackjackAction.HIT,
    BlackjackAction.STAY,
    BlackjackAction.DOUBLE,
    BlackjackAction.SPLIT,
)
INSURE, DECLINE = BlackjackAction.INSURANCE, BlackjackAction.NO_INSURANCE


def house(**keys: object) -> BlackjackRules:
    """Black Jack For Time with keys as in sysop.toml."""
    return rules_from_mapping(keys, BLACK_JACK_FOR_TIME)


def stacked(player: str, dealer: str, rest: str = "") -> tuple[Card, ...]:
    """A shoe that deals these two hands, and the rest after them."""
    first, second = parse_cards(player)
    up, hole = parse_cards(dealer)
    return (first, up, second, hole, *parse_cards(rest))


def bj(up: str, hole: str, player: str, rest: str, *actions: BlackjackAction) -> "Played":
    """Play a hand of the UNIX game with cards in dealing order."""
    shoe = parse_cards(f"{up} {hole} {player} {rest}")
    return play(shoe, *actions, rules=UNIX_BJ, stakes=(UNIX_BJ_STAKE,))


def vegas(
    player: str,
    dealer: str,
    rest: str,
    /,
    *actions: BlackjackAction,
    bet: int = STAKE,
    **keys: object,
) -> "Played":
    """A round of one seat at a Vegas table with keys as in sysop.toml."""
    rules = rules_from_mapping(keys, VEGAS)
    return play(stacked(player, dealer, rest), *actions, rules=rules, stakes=(bet,))


@dataclass(frozen=True)
class Played:
    round: BlackjackRound
    events: tuple[Event, ...]

    def of(self, kind: type) -> list[Event]:
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def settled(self) -> BlackjackSettled:
        (event,) = self.of(BlackjackSettled)
        assert isinstance(event, BlackjackSettled)
        return event

    @property
    def insurance(self) -> InsuranceSettled:
        (event,) = self.of(InsuranceSettled)
        assert isinstance(event, InsuranceSettled)
        return event

    @property
    def outcome(self) -> BlackjackOutcome:
        return self.settled.outcome

    @property
    def moved(self) -> tuple[int, int, int]:
        """Lost, returned and won on the hand."""
        return (self.settled.lost, self.settled.returned, self.settled.won)

    @property
    def net(self) -> int:
        """What the whole round has won or, below zero, lost so far."""
        return self.round.totals.won - self.round.totals.lost

    @property
    def cards(self) -> str:
        return " ".join(self.round.seats[0].hands[0].cards)

    @property
    def hands(self) -> list[str]:
        """The cards of each hand of the first seat."""
        return [" ".join(hand.cards) for hand in self.round.seats[0].hands]

    @property
    def asked(self) -> bool:
        """Whether the caller has something to decide."""
        return self.round.legal() != ()


def play(
    shoe: Iterable[Card],
    *actions: BlackjackAction,
    rules: BlackjackRules = BLACK_JACK_FOR_TIME,
    stakes: tuple[int, ...] = (STAKE,),
) -> Played:
    game, happened = start(rules, tuple(shoe), stakes)
    events = list(happened)
    for action in actions:
        game, happened = game.apply(action)
        events += happened
    return Played(game, tuple(events))


def lead(advice: Advice) -> float:
    """Return by how much the best action beats the second best; infinite for a single action."""
    others = [value for action, value in advice.values.items() if action is not advice.best]
    return advice.values[advice.best] - max(others, default=-inf)
