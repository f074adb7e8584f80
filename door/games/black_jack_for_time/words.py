"""What the dealer says: each event of a round of black jack as a sentence for the caller."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from ansi.cards import plain
from door import wording
from door.games.blackjack import events as happened
from door.games.blackjack.events import BlackjackOutcome, Event
from door.games.tables.words import cards_rule, coins_rule, settled

if TYPE_CHECKING:
    from door.games.black_jack_for_time.game import BlackJackForTimeSettings


# The rules of Black Jack For Time as a caller may read them at the table, as they are set here.


@lru_cache(maxsize=8)
def rules_text(settings: BlackJackForTimeSettings) -> str:
    rules = settings.rules
    cards = cards_rule(rules.decks, rules.shuffle, rules.penetration)
    ties = "goes to the dealer" if rules.ties == "dealer" else "is a stand-off"
    over = "pays every hand still standing" if rules.dealer_over == "pays" else "pays nobody"
    return "\n".join(
        (
            coins_rule(settings),
            f"|15Cards|07  {cards}. You get a card, the dealer one face up, you a "
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


OUTCOMES = {
    BlackjackOutcome.NATURAL: "|10Your Twenty-One in two cards wins",
    BlackjackOutcome.TWENTY_ONE: "|10Your twenty-one wins",
    BlackjackOutcome.CHARLIE: "|10Your Five-Card Charlie wins",
    BlackjackOutcome.WIN: "|10You win",
    BlackjackOutcome.PUSH: "|14Stand-off: your bet comes back",
    BlackjackOutcome.LOSE: "|12The dealer wins",
    BlackjackOutcome.BUST: "|12You went over",
    BlackjackOutcome.DEALER_NATURAL: "|12The dealer's Twenty-One takes it",
    BlackjackOutcome.DEALER_CHARLIE: "|12The dealer's Five-Card Charlie takes it",
}


def sentences(events: Sequence[Event], coin: int) -> list[str]:
    return [said for event in events if (said := sentence(event, coin))]


def sentence(event: Event, coin: int) -> str:
    match event:
        case happened.BlackjackDealt(card=card):
            return f"|07You are dealt |15{plain(card)}|07."
        case happened.DealerDealt(card=None):
            return "|07The dealer takes a card face down."
        case happened.DealerDealt(card=str(card)):
            return f"|07The dealer has |15{plain(card)}|07."
        case happened.Peeked(natural=False):
            return "|07The dealer looks at his hole card: no Twenty-One."
        case happened.BlackjackRevealed(card=card):
            return f"|07The dealer turns up |15{plain(card)}|07."
        case happened.DealerNatural():
            return '|12"Twenty-One," announces the dealer.'
        case happened.TwentyOne():
            return "|10You have twenty-one."
        case happened.Charlie():
            return '|10"Five-Card Charlie!" declares the dealer.'
        case happened.Busted(total=total):
            return f'|12"{total}: bust," says the dealer.'
        case happened.DealerStood(total=total):
            return f"|07The dealer stays on |15{total}|07."
        case happened.DealerBusted(total=total):
            return f"|10The dealer has {total} and goes over."
        case happened.DealerCharlie():
            return '|12"Five-Card Charlie," says the dealer, and it is his.'
        case happened.InsuranceSettled() as insurance:
            return _insurance(insurance, coin)
        case happened.BlackjackSettled() as over:
            return settled(OUTCOMES[over.outcome], over, coin)
    return ""


def _insurance(event: happened.InsuranceSettled, coin: int) -> str:
    if event.won:
        back = wording.coins_of(event.won + event.returned, coin)
        return f"|10The insurance brings {back}."
    return f"|12The insurance of {wording.coins_of(event.lost, coin)} is lost."
