"""What is said at the Red Dog table, and its rules as a caller reads them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from ansi.cards import plain
from door import wording
from door.games.red_dog import events as happened
from door.games.red_dog.events import Event, RedDogOutcome
from door.games.red_dog.rules import SPREAD_PAYS, THREE_OF_A_KIND_PAYS, WIDEST_PAYS, pays
from door.games.tables.words import cards_rule, coins_rule, settled

if TYPE_CHECKING:
    from door.games.red_dog.game import RedDogSettings

OUTCOMES = {
    RedDogOutcome.THREE_OF_A_KIND: "|10Three of a kind",
    RedDogOutcome.WIN: "|10In between, you win",
    RedDogOutcome.PUSH: "|14Push: your bet comes back",
    RedDogOutcome.LOSE: "|12Not in between",
}


def spread_words(spread: int) -> str:
    """Say what two cards leave between them.

    >>> spread_words(1), spread_words(0)
    ('Spread 1: a card in between pays 5 to 1.', 'Neighbours: no card fits in between.')
    """
    if spread < 0:
        return f"A pair: a third pays {THREE_OF_A_KIND_PAYS} to 1."
    if not spread:
        return "Neighbours: no card fits in between."
    return f"Spread {spread}: a card in between pays {pays(spread)} to 1."


def sentences(events: Sequence[Event], coin: int) -> list[str]:
    dealt = [event.card for event in events if isinstance(event, happened.RedDogDealt)]
    said = (
        [f"|07You are dealt |15{'|07 and |15'.join(f'the {plain(card)}' for card in dealt)}|07."]
        if dealt
        else []
    )
    return said + [sentence for event in events if (sentence := _sentence(event, coin))]


def _sentence(event: Event, coin: int) -> str:
    match event:
        case happened.Spread(spread=spread):
            return f"|07{spread_words(spread)}"
        case happened.RedDogRaised(amount=amount):
            return f"|07You raise by |15{wording.coins_of(amount, coin)}|07."
        case happened.RedDogDrew(card=card):
            return f"|07The third card is |15the {plain(card)}|07."
        case happened.RedDogSettled() as over:
            return settled(OUTCOMES[over.outcome], over, coin)
    return ""


@lru_cache(maxsize=8)
def rules_text(settings: RedDogSettings) -> str:
    rules = settings.rules
    cards = cards_rule(rules.decks, rules.shuffle, rules.penetration).capitalize()
    odds = ", ".join(f"{spread} pays {odds} to 1" for spread, odds in SPREAD_PAYS.items())
    return "\n".join(
        (
            coins_rule(settings),
            f"|15Cards|07  {cards}. Aces are high only. Suits do not count.",
            "|15The bet|07  Two cards are dealt face up. You bet that the third falls between "
            "them.",
            "|15Raise|07  Before the third card you may double your bet, or stay.",
            f"|15Spread|07  So many ranks lie between the two. A spread of {odds}, a wider one "
            f"{WIDEST_PAYS} to 1. Outside, or on either card, you lose.",
            "|15Neighbours|07  Nothing fits between them: a push, your bet comes back.",
            f"|15A pair|07  The third card is drawn at once. Three of a kind pay "
            f"{THREE_OF_A_KIND_PAYS} to 1; any other card is a push.",
            "|15Fair|07  Before you bet you see the seal of the shuffle, and when the cards are "
            "done the seed behind it. Cut the cards with a few words of yours and not even the "
            "house can have chosen their order.",
            "|15Hang up|07  in the middle of a hand, and it waits for you as it was.",
        )
    )
