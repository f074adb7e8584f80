"""Short ways for the tests to stack a shoe for baccarat and play a coup of it."""

from dataclasses import dataclass

from door.games.baccarat.events import BaccaratOutcome, BaccaratSettled, Event
from door.games.baccarat.game import BACCARAT_KIND
from door.games.baccarat.round import BaccaratAction, BaccaratRound, start
from door.games.baccarat.rules import BACCARAT, BaccaratRules
from door.games.engine.cards import Card, parse_card, parse_cards

STAKE = 100
MOST_CARDS = 6  # of a coup: three on either side

CARD, NO_CARD = BaccaratAction.CARD, BaccaratAction.NO_CARD
BANK_CARD, BANK_NO_CARD = BaccaratAction.BANK_CARD, BaccaratAction.BANK_NO_CARD


def house(**keys: object) -> BaccaratRules:
    """The house's baccarat with keys as in sysop.toml."""
    return BACCARAT_KIND.vary(keys, BACCARAT)


def card_of(value: int) -> Card:
    """A card that counts so much."""
    return parse_card({0: "K", 1: "A"}.get(value, str(value)) + "S")


def cards_of(*values: int) -> tuple[Card, ...]:
    return tuple(map(card_of, values))


def shoe_of_points(player: int, bank: int, *thirds: int) -> tuple[Card, ...]:
    """A shoe that deals the sides these points in two cards, then cards of these values."""
    return cards_of(player, bank, 0, 0, *thirds)


def stacked(player: str, bank: str, rest: str = "") -> tuple[Card, ...]:
    """A shoe that deals these two hands, and the rest after them."""
    first, second = parse_cards(player)
    third, fourth = parse_cards(bank)
    return (first, third, second, fourth, *parse_cards(rest))


@dataclass(frozen=True)
class Played:
    round: BaccaratRound
    events: tuple[Event, ...]

    @property
    def settled(self) -> BaccaratSettled:
        (event,) = [event for event in self.events if isinstance(event, BaccaratSettled)]
        return event

    @property
    def outcome(self) -> BaccaratOutcome | None:
        return self.round.outcome

    @property
    def moved(self) -> tuple[int, int, int]:
        """Lost, returned and won."""
        return (self.settled.lost, self.settled.returned, self.settled.won)

    @property
    def player_drew(self) -> bool:
        return len(self.round.player) == 3

    @property
    def bank_drew(self) -> bool:
        return len(self.round.bank_hand) == 3


def play(
    shoe: tuple[Card, ...], *actions: BaccaratAction, rules: BaccaratRules = BACCARAT
) -> Played:
    coup, happened = start(rules, shoe, STAKE)
    events = list(happened)
    for action in actions:
        coup, happened = coup.apply(action)
        events += happened
    return Played(coup, tuple(events))
