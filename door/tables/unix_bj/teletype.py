"""The output and questions of the UNIX game bj, letter for letter.

A `Teletype` is the paper of one run. It turns rounds of the engine and their events into text, and
has no line, purse, clock or journal. So a caller's table, a sysop's terminal and a test print the
same letters. Words and layout are those of the program of the 1970s. The manual pages of 1971 and
1972 have a bare `?` where it later asked `Hit? `.

A shuffle does not end the line: when the deck runs out in the middle of a hand, `Shuffle` is
printed in place of the next card.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from door.games.blackjack import events as happened
from door.games.blackjack.events import Event
from door.games.blackjack.round import BlackjackAction, BlackjackRound
from door.games.engine.cards import CARDS_IN_DECK, Card

Prompts = Literal["1975", "1971"]

CARDS_DEALT = CARDS_IN_DECK - 1
"""Cards dealt from a deck: it is shuffled before the last card would be taken."""

FEWEST_LEFT = 15
"""With fewer cards left, the deck is shuffled before a hand."""

OPENING = "Black Jack\n"
"""The first output of the program."""

_HIT: dict[Prompts, str] = {"1975": "Hit? ", "1971": "?"}


def hand_start(position: int) -> int:
    """Return where a hand begins in the stream of cards after `position` cards.

    The stream is deck after deck, each without its last card.

    >>> hand_start(0), hand_start(37), hand_start(38), hand_start(51)
    (0, 37, 51, 51)
    """
    dealt = position % CARDS_DEALT
    if CARDS_IN_DECK - dealt >= FEWEST_LEFT:
        return position
    return position + CARDS_DEALT - dealt


def is_yes(typed: str) -> bool:
    """Return whether a typed line means yes: `y` does, the bare newline does not.

    >>> is_yes("y"), is_yes(""), is_yes("n")
    (True, False, False)
    """
    return typed.strip().lower().startswith("y")


@dataclass(slots=True)
class Score:
    """Action (all bets) and standing (`net`), in whole dollars."""

    action: int = 0
    net: int = 0


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    yes: BlackjackAction


class Teletype:
    """The paper of one run of the program."""

    def __init__(self, prompts: Prompts, dollar: int, score: Score) -> None:
        """Count on from `score`; a dollar is `dollar` of the smallest unit of the stakes."""
        self.score = score
        self._dollar = dollar
        self._questions = (
            Question("Insurance? ", BlackjackAction.INSURANCE),
            Question("Split pair? ", BlackjackAction.SPLIT),
            Question("Double down? ", BlackjackAction.DOUBLE),
            Question(_HIT[prompts], BlackjackAction.HIT),
        )
        self._start = self._position = (
            0  # positions in the stream of cards: the hand, the next card
        )
        self._held = [0]  # number of cards in each of the player's hands
        self._dealer_held = 0
        self._natural = self._doubling = False

    def deal(self, start: int, round_: BlackjackRound, events: Sequence[Event]) -> str:
        """Return the letters of a new hand that begins at `start` of the stream (`hand_start`)."""
        self._start = self._position = start
        self._held, self._dealer_held = [0], 0
        self._natural = self._doubling = False
        # The score of the shuffle does not count this hand's bet.
        shuffled = self._shuffled() if start % CARDS_DEALT == 0 else ""
        self._bet(round_.seats[0].bet)
        return f"new game\n{shuffled}{self.print_events(round_, events)}"

    def print_events(self, round_: BlackjackRound, events: Sequence[Event]) -> str:
        """Return the letters of `events`; `round_` is the round after them."""
        text = "".join(self._print_event(round_, event) for event in events)
        if not round_.over:
            return text
        if self._natural:
            text += "You have black jack!\n"
        totals = round_.totals
        return f"{text}\n{_result((totals.won - totals.lost) // self._dollar)}"

    def questions(self, round_: BlackjackRound) -> list[Question]:
        """Return the open questions, in order; the first yes ends them."""
        legal = round_.legal()
        return [question for question in self._questions if question.yes in legal]

    def account(self) -> str:
        """Return the lines for action and standing, "" before the first bet."""
        if not self.score.action:
            return ""
        return f"Action ${self.score.action}\n{_result(self.score.net)}"

    def _print_event(self, round_: BlackjackRound, event: Event) -> str:
        """Return the letters of one event; most payments are printed after the hand."""
        match event:
            case happened.BlackjackDealt(hand=hand, card=card):
                return self._players_card(hand, card)
            case happened.DealerDealt(card=card):
                return self._dealers_card(card)
            case happened.BlackjackNatural():
                self._natural = True
            case happened.Split(amount=amount):
                self._held = [1, 1]
                self._bet(amount)
            case happened.Doubled(amount=amount):
                self._doubling = True
                self._bet(amount)
            case happened.InsuranceBought(amount=amount):
                self._bet(amount)
            case happened.InsuranceSettled() | happened.BlackjackSettled():
                self.score.net += (event.won - event.lost) // self._dollar
            case happened.BlackjackStood(total=total):
                return f"You have {total}\n"
            case happened.TwentyOne(hand=hand) if round_.seats[0].hands[hand].has_stood:
                return "You have 21\n"
            case happened.Busted():
                return "You bust\n"
            case _:
                return "" if self._natural else _dealers_play(event)
        return ""

    def _players_card(self, hand: int, card: Card) -> str:
        self._held[hand] += 1
        after = "\n\n"
        if self._held[hand] == 1:
            after = "+"
        elif self._doubling:
            after, self._doubling = "\n", False
        return f"{self._taken()}{card}{after}"

    def _dealers_card(self, card: Card | None) -> str:
        self._dealer_held += 1
        if card is None:
            return self._taken()
        if self._dealer_held == 1:
            return f"{self._taken()}{card} up\n"
        return f"+{self._taken()}{card}"

    def _taken(self) -> str:
        """Take the next card; return the letters of a shuffle before it, "" for none."""
        due = self._position % CARDS_DEALT == 0 and self._position != self._start
        self._position += 1
        return self._shuffled() if due else ""

    def _shuffled(self) -> str:
        return f"Shuffle\n{self.account()}"

    def _bet(self, amount: int) -> None:
        self.score.action += amount // self._dollar


def decline(round_: BlackjackRound) -> BlackjackAction:
    return (
        BlackjackAction.NO_INSURANCE
        if BlackjackAction.NO_INSURANCE in round_.legal()
        else BlackjackAction.STAY
    )


def _dealers_play(event: Event) -> str:
    match event:
        case happened.BlackjackRevealed(card=card):
            return f"Dealer has {card}"
        case happened.DealerNatural():
            return " = blackjack\n"
        case happened.DealerStood(total=total):
            return f" = {total}\n"
        case happened.DealerBusted():
            return " = bust\n"
    return ""


def _result(dollars: int) -> str:
    if not dollars:
        return "You break even\n"
    return f"You {'win' if dollars > 0 else 'lose'} ${abs(dollars)}\n"
