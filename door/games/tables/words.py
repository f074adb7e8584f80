"""What a table says between hands; a game, or a language, gives its own where it says it otherwise.

Pipe codes stand inside, names in braces. Of an amount there is its number besides: `{least}` is
"5 coins", `{least_coins}` 5.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Words:
    """Sentences of every table."""

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
