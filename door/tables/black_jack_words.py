"""What the dealer says: each event of a round of black jack as a sentence for the caller."""

from __future__ import annotations

from collections.abc import Sequence

from ansi.cards import plain
from door import wording
from door.games import blackjack_events as happened
from door.games.blackjack_events import Event, Outcome
from timebank.words import span

OUTCOMES = {
    Outcome.NATURAL: "|10Your Twenty-One in two cards wins",
    Outcome.TWENTY_ONE: "|10Your twenty-one wins",
    Outcome.CHARLIE: "|10Your Five-Card Charlie wins",
    Outcome.WIN: "|10You win",
    Outcome.PUSH: "|14Stand-off: your bet comes back",
    Outcome.LOSE: "|12The dealer wins",
    Outcome.BUST: "|12You went over",
    Outcome.DEALER_NATURAL: "|12The dealer's Twenty-One takes it",
    Outcome.DEALER_CHARLIE: "|12The dealer's Five-Card Charlie takes it",
}


def sentences(events: Sequence[Event], coin: int) -> list[str]:
    """Return what is said of `events`, amounts in coins of `coin` seconds; pipe codes inside."""
    return [said for event in events if (said := sentence(event, coin))]


def sentence(event: Event, coin: int) -> str:
    """Return what is said of one event, "" when nothing is."""
    match event:
        case happened.Dealt(card=card):
            return f"|07You are dealt |15{plain(card)}|07."
        case happened.DealerDealt(card=None):
            return "|07The dealer takes a card face down."
        case happened.DealerDealt(card=str(card)):
            return f"|07The dealer has |15{plain(card)}|07."
        case happened.Peeked(natural=False):
            return "|07The dealer looks at his hole card: no Twenty-One."
        case happened.Revealed(card=card):
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
        case happened.Settled() as settled:
            return _settled(settled, coin)
    return ""


def _insurance(event: happened.InsuranceSettled, coin: int) -> str:
    if event.won:
        back = wording.coins_of(event.won + event.returned, coin)
        return f"|10The insurance brings {back}."
    return f"|12The insurance of {wording.coins_of(event.lost, coin)} is lost."


def _settled(event: happened.Settled, coin: int) -> str:
    words = OUTCOMES[event.outcome]
    if event.won:
        paid = wording.coins_of(event.won + event.returned, coin)
        return f"{words}: the dealer pays |15{paid}|10 ({span(event.won)} won)."
    if event.lost:
        return f"{words}: |15{wording.coins_of(event.lost, coin)}|12 lost."
    return f"{words}."
