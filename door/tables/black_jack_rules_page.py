"""The rules of Black Jack For Time as a caller may read them at the table, as they are set here."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from door import wording
from door.lobby.pages import read
from timebank.words import span

if TYPE_CHECKING:
    from door.config import BlackJackForTime
    from door.console import Console


async def read_rules(console: Console, settings: BlackJackForTime) -> None:
    """Show the rules under which this table plays."""
    await read(console, "The rules of Black Jack For Time", rules_text(settings))


@lru_cache(maxsize=8)
def rules_text(settings: BlackJackForTime) -> str:
    """Return the rules in words, pipe codes inside; every figure is the sysop's."""
    rules = settings.rules
    turns = f", {settings.turns_per_day} turns a day" if settings.turns_per_day else ""
    decks = "one deck" if rules.decks == 1 else f"{rules.decks} decks"
    shuffled = (
        "shuffled for every hand"
        if rules.shuffle == "hand"
        else f"shuffled when {rules.penetration} percent have been dealt"
    )
    ties = "goes to the dealer" if rules.ties == "dealer" else "is a stand-off"
    over = "pays every hand still standing" if rules.dealer_over == "pays" else "pays nobody"
    return "\n".join(
        (
            f"|15Coins|07  You bet your time: a coin is {span(settings.coin_minutes * 60)}. "
            f"A bet is {settings.smallest_bet} to {wording.coins(settings.largest_bet)}{turns}. "
            "Your last coin is never bet.",
            f"|15Cards|07  {decks}, {shuffled}. You get a card, the dealer one face up, you a "
            "second, the dealer one face down.",
            "|15Twenty-One|07  Under a ten"
            + (" or an ace" if rules.peek_under_ace else "")
            + " the dealer looks at his hole card; with Twenty-One he faces it and the hand is "
            "over. Yours too? A stand-off.",
            "|15Insurance|07  When the dealer shows an ace you may insure half of your bet. "
            f"Against his Twenty-One it brings itself and {rules.insurance_pays} more for each.",
            "|15Double down|07  On your first two cards, below 21: the bet is doubled, you get one "
            "last card.",
            "|15Charlie|07  Five cards "
            + ("up to 21" if rules.five_card_21 == "charlie" else "below 21")
            + " are a Five-Card Charlie; the dealer's beats even your 21.",
            "|15The dealer|07  draws to 16 and stays on every 17, soft or not. An equal count "
            f"{ties}. A dealer who goes over {over}.",
            "|15What comes back for one coin|07  "
            f"a win {_odds(rules.win_pays)}, Twenty-One in two cards {_odds(rules.natural_pays)}, "
            f"a count of 21 {_odds(rules.twenty_one_pays)}, "
            f"a Charlie {_odds(rules.charlie_pays)}, "
            f"a doubled 21 {_odds(rules.doubled_21_pays)}.",
            "|15Fair|07  Before you bet you see the seal of the shuffle, after it the seed behind "
            "the seal. Cut the cards with a few words of yours and not even the house can have "
            "chosen their order: docs/fairness.md tells how to check.",
            "|15Hang up|07  in the middle of a hand, and it waits for you as it was.",
        )
    )


def _odds(pays: Fraction) -> str:
    return str(pays) if pays.denominator == 1 else f"{float(pays)}"
