"""What tables say alike: between hands, of their rules, of how a hand ended.

A game, or a language, gives its own `Words` where it says them otherwise. Pipe codes stand inside,
names in braces. Of an amount there is its number besides: `{least}` is "5 coins", `{least_coins}`
5.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from door import wording
from timebank.words import span

if TYPE_CHECKING:
    from door.call.caller import Caller
    from door.games.engine.settings import StakeSettings


# The keys of every table between two hands, and in a hand those that mean no play.
BET, RULES, FAIRNESS, CUT, TUTOR, BANK, QUIT = "BRFCUTQ"


@dataclass(frozen=True, kw_only=True)
class Words:
    fairness: tuple[str, str, str] = ("Seal", "Seed", "Cut with:")
    new_shoe: str = "|07The dealer shuffles."
    cut_words: str = "|07A few words to cut the cards (Enter for none):|15"
    cut_on: str = (
        "|07From now on you are asked for a few words that cut the cards before each shuffle."
    )
    cut_off: str = "|07From now on you are not asked to cut the cards before each shuffle."
    bets: str = (
        "|07Coins to bet, |15{least_coins}|07 to |15{most_coins}|07 (Enter for {last_coins}):|15"
    )
    no_bet: str = "|07No bet placed."
    which_amount: str = "|12A bet is a whole number of coins."
    least: str = "|12The smallest bet is {least}."
    most_of_table: str = "|12The largest bet here is {most}."
    most_of_pot: str = "|12You may bet up to {most}: your last coin stays with you."
    pot_too_small: str = (
        "|12Your pot holds {pot}; the smallest bet is {least}, and your last coin cannot be bet."
    )
    last_turn: str = "|14That was your last turn for today: {limit} a day."
    trimmed: str = "|14{event}: of a full win of {full} on {bet}, {surplus} {where}."
    # What becomes of the surplus, by the mode of the bank.
    where: Mapping[str, str] = field(
        default_factory=lambda: {
            "built-in": "would go to your time bank",
            "external": "would go to your time bank elsewhere",
            "none": "would be trimmed",
        }
    )
    resumed: str = "|14The hand you left is still on the table."
    any_key: str = "|08Press any key"
    try_again: str = "|07Press any key to try again"
    no_books: str = "The books cannot be written just now. Nothing has changed."


def turns_today(caller: Caller, game: str, settings: StakeSettings) -> str:
    """Say in the main menu how often the caller has bet: "3 of 20 turns today"."""
    limit = f" of {settings.turns_per_day}" if settings.turns_per_day else ""
    return f"{caller.purse.turns(game)}{limit} turns today"


def turns_and_bets(caller: Caller, game: str, stakes: StakeSettings) -> str:
    most = wording.coins(stakes.largest_bet)
    return f"{turns_today(caller, game, stakes)}, bets up to {most}"


def coins_rule(settings: StakeSettings, turns: str = "turns") -> str:
    per_day = f", {settings.turns_per_day} {turns} a day" if settings.turns_per_day else ""
    return (
        f"|15Coins|07  You bet your time: a coin is {span(settings.coin_minutes * 60)}. "
        f"A bet is {settings.smallest_bet} to {wording.coins(settings.largest_bet)}{per_day}. "
        "Your last coin is never bet."
    )


def cards_rule(decks: int, shuffle: str, penetration: int) -> str:
    """Return how many cards there are and when they are shuffled, by rules that games share."""
    cards = "one deck" if decks == 1 else f"{decks} decks"
    if shuffle == "hand":
        return f"{cards}, shuffled for every hand"
    return f"{cards}, shuffled when {penetration} percent have been dealt"


def settled(ending: str, event: Any, coin: int) -> str:
    """Return how a hand ended, and what it brought as `event` says. Robots listen for the end of
    it."""
    if event.won:
        paid = wording.coins_of(event.won + event.returned, coin)
        return f"{ending}: the dealer pays |15{paid}|10 ({span(event.won)} won)."
    if event.lost:
        return f"{ending}: |15{wording.coins_of(event.lost, coin)}|12 lost."
    return f"{ending}."
