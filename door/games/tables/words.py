"""Sentences that tables for time have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from door import wording
from timebank.words import span

if TYPE_CHECKING:
    from door.games.engine.settings import StakeSettings


def coins_rule(settings: StakeSettings) -> str:
    """Return the first line of the rules: what may be bet."""
    turns = f", {settings.turns_per_day} turns a day" if settings.turns_per_day else ""
    return (
        f"|15Coins|07  You bet your time: a coin is {span(settings.coin_minutes * 60)}. "
        f"A bet is {settings.smallest_bet} to {wording.coins(settings.largest_bet)}{turns}. "
        "Your last coin is never bet."
    )


def cards_rule(decks: int, shuffle: str, penetration: int) -> str:
    """Return how many cards there are and when they are shuffled, by rules that games share."""
    cards = "one deck" if decks == 1 else f"{decks} decks"
    if shuffle == "hand":
        return f"{cards}, shuffled for every hand"
    return f"{cards}, shuffled when {penetration} percent have been dealt"


def settled(ending: str, event: Any, coin: int) -> str:
    """Return how a hand ended, and what it brought as `lost`, `returned` and `won` of `event`.

    Robots listen for the end of it.
    """
    if event.won:
        paid = wording.coins_of(event.won + event.returned, coin)
        return f"{ending}: the dealer pays |15{paid}|10 ({span(event.won)} won)."
    if event.lost:
        return f"{ending}: |15{wording.coins_of(event.lost, coin)}|12 lost."
    return f"{ending}."
