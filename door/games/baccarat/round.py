"""Baccarat as a state machine: rules, a shoe and actions in; events and the next round out.

The caller plays the player's hand against the bank. A round, here a coup, is a function of its
rules, shoe and actions alone. It has no purse, clock, screen or random numbers. `rules` decides who
draws a third card.

The phases of a coup, with the legal actions::

    phase    legal                     leads to
    CALLER   card, no-card             BANK if the bank tosses for its option, else OVER
    BANK     bank-card, bank-no-card   OVER
    OVER     nothing

`start` deals and goes to the first decision. CALLER occurs only on the player's 5, BANK only on an
option of the bank that the rules leave to a toss. Most coups are over at once. A round is
immutable: `apply` returns a new one, or raises `IllegalAction`.

>>> from door.games.baccarat.rules import BACCARAT
>>> from door.games.engine.cards import parse_cards
>>> coup, events = start(BACCARAT, parse_cards("5S 7H TD JC 4D"), 100)
>>> coup.player_point, coup.bank, [str(action) for action in coup.legal()]
(5, (None, None), ['card', 'no-card'])
>>> coup, events = coup.apply(BaccaratAction.CARD)
>>> coup.points, events[-1].outcome.value
((9, 7), 'player')
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, StrEnum

from door.games.baccarat import events as happened
from door.games.baccarat.events import BaccaratOutcome, BaccaratSettled, Event, Side
from door.games.baccarat.rules import (
    NATURALS,
    PLAYER_TABLE,
    BaccaratRules,
    Draw,
    bank_draw,
    point_of,
    value_of,
)
from door.games.engine.cards import Card
from door.games.engine.game import Totals, card_at, refuse_no_stake, refuse_unless_open


class BaccaratAction(StrEnum):
    CARD = "card"
    NO_CARD = "no-card"
    BANK_CARD = "bank-card"
    BANK_NO_CARD = "bank-no-card"


class BaccaratPhase(Enum):
    CALLER = "caller"
    BANK = "bank"
    OVER = "over"


_LEGAL = {
    BaccaratPhase.CALLER: (BaccaratAction.CARD, BaccaratAction.NO_CARD),
    BaccaratPhase.BANK: (BaccaratAction.BANK_CARD, BaccaratAction.BANK_NO_CARD),
    BaccaratPhase.OVER: (),
}


@dataclass(frozen=True, slots=True)
class BaccaratRound:
    """The state of a coup. Its repr hides the shoe and the cards face down."""

    rules: BaccaratRules
    shoe: tuple[Card, ...] = field(repr=False)  # from the top; the first `cards_used` are dealt
    stake: int
    player: tuple[Card, ...]
    bank_hand: tuple[Card, ...] = field(repr=False)  # also the cards face down, for the journal
    revealed: bool  # whether the bank's cards are turned up
    phase: BaccaratPhase
    settled: BaccaratSettled | None

    @property
    def over(self) -> bool:
        return self.phase is BaccaratPhase.OVER

    @property
    def cards_used(self) -> int:
        return len(self.player) + len(self.bank_hand)

    @property
    def bank(self) -> tuple[Card | None, ...]:
        """The bank's cards as the caller sees them: None is a card face down."""
        return self.bank_hand if self.revealed else (None,) * len(self.bank_hand)

    @property
    def player_point(self) -> int:
        return point_of(self.player)

    @property
    def bank_point(self) -> int | None:
        """The bank's point; None while its cards lie face down."""
        return point_of(self.bank_hand) if self.revealed else None

    @property
    def points(self) -> tuple[int, int | None]:
        return self.player_point, self.bank_point

    @property
    def outcome(self) -> BaccaratOutcome | None:
        return None if self.settled is None else self.settled.outcome

    @property
    def natural(self) -> bool:
        return self.over and any(
            len(hand) == 2 and point_of(hand) in NATURALS for hand in (self.player, self.bank_hand)
        )

    @property
    def totals(self) -> Totals:
        if self.settled is None:
            return Totals(self.stake, 0, 0, 0)
        return Totals(self.stake, self.settled.lost, self.settled.returned, self.settled.won)

    def legal(self) -> tuple[BaccaratAction, ...]:
        return _LEGAL[self.phase]

    def apply(self, action: BaccaratAction) -> tuple["BaccaratRound", tuple[Event, ...]]:
        """Return the coup after `action`, and the events.

        Raises `IllegalAction` unless the action is in `legal()`, and `ShoeTooShort` without enough
        cards.
        """
        refuse_unless_open(action, self.legal(), "the coup is over")
        working = _WorkingCoup(self)
        if self.phase is BaccaratPhase.CALLER:
            working.serve_player(draws=action is BaccaratAction.CARD)
        else:
            working.serve_bank(draws=action is BaccaratAction.BANK_CARD)
        return working.result()


def start(
    rules: BaccaratRules, shoe: Sequence[Card], stake: int
) -> tuple[BaccaratRound, tuple[Event, ...]]:
    """Deal from the top of `shoe` for a stake in the smallest unit; return the coup and the events.

    Raises ValueError for a stake of 0 or less, and `ShoeTooShort` without enough cards.
    """
    refuse_no_stake(stake)
    working = _WorkingCoup(
        BaccaratRound(rules, tuple(shoe), stake, (), (), False, BaccaratPhase.CALLER, None)
    )
    working.deal()
    return working.result()


class _WorkingCoup:
    """The working copy of a coup from one decision to the next."""

    def __init__(self, coup: BaccaratRound) -> None:
        self.coup = coup
        self.player = list(coup.player)
        self.bank = list(coup.bank_hand)
        self.revealed = coup.revealed
        self.phase = coup.phase
        self.settled = coup.settled
        self.events: list[Event] = []

    def result(self) -> tuple[BaccaratRound, tuple[Event, ...]]:
        after = replace(
            self.coup,
            player=tuple(self.player),
            bank_hand=tuple(self.bank),
            revealed=self.revealed,
            phase=self.phase,
            settled=self.settled,
        )
        return after, tuple(self.events)

    def deal(self) -> None:
        """Deal two cards to each side, the bank's face down; then settle naturals or serve."""
        for _ in range(2):
            self.player.append(self._card())
            self.events.append(happened.BaccaratDealt(Side.PLAYER, self.player[-1]))
            self.bank.append(self._card())
            self.events.append(happened.BaccaratDealt(Side.BANK, None))
        mine, banks = point_of(self.player), point_of(self.bank)
        if mine in NATURALS or banks in NATURALS:
            if mine in NATURALS:
                self.events.append(happened.BaccaratNatural(Side.PLAYER, mine))
            self._reveal()
            if banks in NATURALS:
                self.events.append(happened.BaccaratNatural(Side.BANK, banks))
            self._settle()
            return
        draw = PLAYER_TABLE[mine]
        if draw is Draw.MAY:
            self.phase = BaccaratPhase.CALLER
        else:
            self.serve_player(draws=draw is Draw.MUST)

    def serve_player(self, *, draws: bool) -> None:
        """Give the player a third card or none, turn up the bank's cards, and serve the bank."""
        self._serve(Side.PLAYER, self.player, draws=draws)
        self._reveal()
        third = value_of(self.player[2]) if draws else None
        point = point_of(self.bank)
        draw = bank_draw(point, third)
        if draw is not Draw.MAY:
            self.serve_bank(draws=draw is Draw.MUST)
            return
        option = self.coup.rules.option(point)
        if option == "toss":
            self.phase = BaccaratPhase.BANK
        else:
            self.serve_bank(draws=option == "draw")

    def serve_bank(self, *, draws: bool) -> None:
        """Give the bank a third card or none, and settle the coup."""
        self._serve(Side.BANK, self.bank, draws=draws)
        self._settle()

    def _serve(self, side: Side, hand: list[Card], *, draws: bool) -> None:
        if draws:
            hand.append(self._card())
            self.events.append(happened.BaccaratDrew(side, hand[-1], point_of(hand)))
        else:
            self.events.append(happened.BaccaratStood(side, point_of(hand)))

    def _reveal(self) -> None:
        self.revealed = True
        self.events.append(happened.BaccaratRevealed(tuple(self.bank), point_of(self.bank)))

    def _settle(self) -> None:
        mine, banks, stake = point_of(self.player), point_of(self.bank), self.coup.stake
        if mine > banks:
            self.settled = BaccaratSettled(
                BaccaratOutcome.PLAYER, mine, banks, lost=0, returned=stake, won=stake
            )
        elif mine < banks:
            self.settled = BaccaratSettled(
                BaccaratOutcome.BANK, mine, banks, lost=stake, returned=0, won=0
            )
        else:
            self.settled = BaccaratSettled(
                BaccaratOutcome.STAND_OFF, mine, banks, lost=0, returned=stake, won=0
            )
        self.phase = BaccaratPhase.OVER
        self.events.append(self.settled)

    def _card(self) -> Card:
        return card_at(self.coup.shoe, len(self.player) + len(self.bank))
