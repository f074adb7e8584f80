"""The rules of the Vegas table as a caller may read them there, as they are set here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from door import wording
from door.games.vegas.scene import natural_words
from door.lobby.pages import read
from timebank.words import span

if TYPE_CHECKING:
    from door.call.console import Console
    from door.games.vegas.game import VegasSettings

DEALER = {
    "stand 17": "draws to 16 and stands on every 17, soft or not",
    "hit soft 17": "draws to 16, and on a 17 in which an ace counts eleven",
    "hit 17": "draws until he has more than 17",
}


async def read_rules(console: Console, settings: VegasSettings) -> None:
    await read(console, "The rules of the Vegas table", rules_text(settings))


def rules_text(settings: VegasSettings) -> str:
    rules = settings.rules
    turns = f", {settings.turns_per_day} rounds a day" if settings.turns_per_day else ""
    decks = "One deck" if rules.decks == 1 else f"{rules.decks} decks"
    doubled = "any two cards" if rules.double == "always" else "a hard ten or eleven in two cards"
    after = "also" if rules.double_after_split else "but not"
    aces = "like any hand" if rules.split_aces == "play on" else "with one card each"
    return "\n".join(
        (
            f"|15Coins|07  You bet your time: a coin is {span(settings.coin_minutes * 60)}. A bet "
            f"is {settings.smallest_bet} to {wording.coins(settings.largest_bet)}{turns}. Your "
            "last coin is never bet.",
            "|15Together|07  Everybody sees every card. The cards are dealt when all are ready, or "
            f"{span(settings.bell_seconds)} after the first bet, when the bell rings. Decisions go "
            f"round; who says nothing for {span(settings.turn_seconds)} stands. Alone, nobody "
            "hurries you.",
            f"|15Cards|07  {decks} that run on, shuffled after the round that passes "
            f"{rules.penetration} percent. Two cards for each, the dealer's second face down.",
            f"|15Black Jack|07  An ace and a ten pay {natural_words(rules)}; not after a split. "
            "The dealer looks under an ace or a ten; his own ends the round, and yours pushes.",
            "|15Insurance|07  When the dealer shows an ace: any amount up to half of your bet. It "
            "pays 2 to 1 if he has Black Jack.",
            f"|15Double|07  on {doubled}, {after} after a split: twice the bet, one last card.",
            f"|15Split|07  two cards of equal value, once: two hands, paid separately. Split aces "
            f"play {aces}.",
            f"|15The dealer|07  {DEALER[rules.dealer]}. Ties push. At 21 nobody draws.",
            "|15Talk|07  <T> says it to all; a line that begins with /name is whispered to one.",
            "|15Fair|07  The seal of the shoe is there before you bet, its seed when the shoe is "
            "done. The first seat may cut a fresh one. docs/fairness.md tells how to check.",
            "|15Hang up|07  and the hand is stood at its turns; come back during the round, and it "
            "is yours again.",
        )
    )
