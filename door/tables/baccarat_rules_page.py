"""The rules of baccarat as a caller may read them at the table, in the language he plays in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from door.lobby.pages import IN_ENGLISH, Turning, read
from door.tables import baccarat_words as words
from door.tables.baccarat_dialogue import FRENCH
from timebank.play_money import FULL_BANK, NEW_BANKROLL

if TYPE_CHECKING:
    from door.config import Baccarat
    from door.console import Console
    from door.tables.baccarat_dialogue import Dialogue

OPTIONS = {
    "english": {"draw": "draws", "stand": "stands", "toss": "tosses for it"},
    "french": {"draw": "tire", "stand": "reste", "toss": "s'en remet au sort"},
}

_IN_FRENCH = Turning(
    {"N": "Suivante", "P": "Précédente", "Q": "Quitter"},
    "page {number} sur {pages}",
    FRENCH.any_key,
)


async def read_rules(console: Console, settings: Baccarat, said: Dialogue) -> None:
    """Show the rules under which this table plays."""
    titles = {"english": "The rules of baccarat", "french": "Les règles du baccara"}
    turning = IN_ENGLISH if said.language == "english" else _IN_FRENCH
    await read(console, titles[said.language], rules_text(settings, said), turning)


def rules_text(settings: Baccarat, said: Dialogue) -> str:
    """Return the rules in words, pipe codes inside; every figure is the sysop's."""
    paragraphs = _ENGLISH if said.language == "english" else _FRENCH
    options = OPTIONS[said.language]
    turns = settings.turns_per_day
    per_day = {"english": f", {turns} turns a day", "french": f", {turns} tours par jour"}
    return "\n".join(paragraphs).format(
        coin=words.length(said, settings.coin_minutes * 60),
        least=settings.smallest_bet,
        most=words.coins(said, settings.largest_bet),
        turns=per_day[said.language] if turns else "",
        bankroll=words.money(said, NEW_BANKROLL, said.unit),
        bank=words.money(said, FULL_BANK, said.unit),
        three=options[settings.rules.bank_option_3v9],
        five=options[settings.rules.bank_option_5v4],
    )


_ENGLISH = (
    "|15The point|07  Two or three cards that count nine, or nearer to nine than the bank's. Aces "
    "are one, tens and faces nothing, all others their number; tens of the total are dropped.",
    "|15The deal|07  Player, bank, player, bank. You hold the player's hand; the bank's cards lie "
    "face down until you are served. Eight or nine in two cards is a natural: it ends the coup at "
    "once, and nine beats eight.",
    "|15The player|07  draws on 0 to 4, stands on 6 and 7. On 5 you choose.",
    "|15The bank|07  draws on 0 to 2, stands on 7. When the player stood it draws on 3 to 5. Else "
    "the player's third card decides: on 3 the bank draws against 0 to 7, on 4 against 2 to 7, on "
    "5 against 5 to 7, on 6 against 6 and 7. On 3 against a 9 it {three}, on 5 against a 4 it "
    "{five}.",
    "|15The stakes|07  Even money. Equal points are a stand-off: all bets are off.",
    "|15For time|07  A coin is {coin} of yours, a wager {least} to {most}{turns}. Your last coin "
    "is never wagered.",
    "|15For the bank|07  A new player has {bankroll} and may wager all of it at once, but not more "
    "than the bank has. The bank has {bank} each time you come back, and can be broken. A bankroll "
    "that is gone is renewed the next day.",
    "|15Fair|07  Four decks run on from coup to coup. Their seal is shown when the shoe is opened, "
    "the seed behind it when the shoe is done, which it is after a coup that leaves eight cards or "
    "fewer. You may cut each new shoe with a few words of yours.",
    "|15Hang up|07  on your 5, and the coup waits for you as it was.",
)

_FRENCH = (
    "|15Le point|07  Deux ou trois cartes qui font neuf, ou plus près de neuf que la banque. L'as "
    "vaut un, les dix et les figures rien, les autres leur nombre ; les dizaines ne comptent pas.",
    "|15La donne|07  Joueur, banque, joueur, banque. Vous tenez la main du joueur ; les cartes de "
    "la banque restent cachées jusqu'à ce que vous soyez servi. Huit ou neuf en deux cartes est un "
    "abattage : le coup est fini, et neuf bat huit.",
    "|15Le joueur|07  tire de baccara à 4, reste à 6 et à 7. À 5, c'est à vous de choisir.",
    "|15La banque|07  tire de baccara à 2, reste à 7. Si le joueur est resté, elle tire à 3, 4 et "
    "5. Sinon la troisième carte du joueur décide : à 3 la banque tire contre 0 à 7, à 4 contre 2 "
    "à 7, à 5 contre 5 à 7, à 6 contre 6 et 7. À 3 contre un 9 elle {three}, à 5 contre un 4 elle "
    "{five}.",
    "|15Les mises|07  Payées un pour un. À points égaux, le coup est nul, les mises sont rendues.",
    "|15Pour du temps|07  Une pièce vaut {coin} de votre temps, la mise va de {least} à "
    "{most}{turns}. La dernière pièce ne se joue pas.",
    "|15Pour la banque|07  Un nouveau joueur a {bankroll} et peut tout miser d'un coup, mais "
    "jamais plus que la banque n'a. Elle a {bank} à chacun de vos retours, et on peut la faire "
    "sauter. Un capital épuisé est remplacé le lendemain.",
    "|15Franc jeu|07  Un sabot de quatre jeux sert de coup en coup. Son sceau est montré à "
    "l'ouverture, la graine à la fin : après un coup qui laisse huit cartes ou moins. Vous pouvez "
    "couper chaque nouveau sabot avec quelques mots.",
    "|15Raccrochez|07  sur votre 5, et le coup vous attend tel quel.",
)
