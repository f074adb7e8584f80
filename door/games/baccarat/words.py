"""What the croupier says: events, cards and amounts put into the sentences of a dialogue."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from door import wording
from door.games.baccarat import events as happened
from door.games.baccarat.events import BaccaratOutcome, Event, Side
from timebank.wagers.play_money import FULL_BANK, NEW_BANKROLL
from timebank.words import money as books_money
from timebank.words import span

if TYPE_CHECKING:
    from door.call.console import Console
    from door.games.baccarat.dialogue import Dialogue
    from door.games.baccarat.game import BaccaratSettings
    from door.games.engine.cards import Card
    from timebank.words import Unit


CENTS = 100  # in a dollar or a franc


def money(said: Dialogue, cents: int, unit: Unit) -> str:
    """Return an amount of whole dollars or francs as it is written in that language.

    >>> from door.games.baccarat.dialogue import ENGLISH, FRENCH
    >>> money(ENGLISH, 10_000_000, "usd-cent"), money(ENGLISH, 10_000_000, "frf-cent")
    ('$100,000', 'FR 100,000')
    >>> money(FRENCH, 10_000_000, "frf-cent"), money(FRENCH, 10_000_000, "usd-cent")
    ('100 000 F', '100 000 $')
    """
    if said.language == "english":
        return books_money(cents, unit)
    grouped = f"{cents // CENTS:,}".replace(",", " ")
    return f"{grouped} {'F' if unit == 'frf-cent' else '$'}"


def signed_money(said: Dialogue, cents: int, unit: Unit) -> str:
    """Return what somebody is up, or down when negative.

    >>> from door.games.baccarat.dialogue import ENGLISH, FRENCH
    >>> signed_money(ENGLISH, 500_000, "usd-cent"), signed_money(FRENCH, -500_000, "frf-cent")
    ('+$5,000', '-5 000 F')
    """
    sign = "-" if cents < 0 else "+" if cents else ""
    return sign + money(said, abs(cents), unit)


def coins(said: Dialogue, count: int) -> str:
    """Return a number of coins in words; French counts more than one from two on.

    >>> from door.games.baccarat.dialogue import ENGLISH, FRENCH
    >>> coins(ENGLISH, 0), coins(FRENCH, 0), coins(FRENCH, 2)
    ('0 coins', '0 pièce', '2 pièces')
    """
    several = count != 1 if said.language == "english" else count > 1
    return f"{count} {said.coins if several else said.coin}"


def length(said: Dialogue, seconds: int) -> str:
    """Return a length of time in words, on a clock where it is not English.

    >>> from door.games.baccarat.dialogue import ENGLISH, FRENCH
    >>> length(ENGLISH, 150), length(FRENCH, 150)
    ('2 minutes 30 seconds', '2:30')
    """
    return span(seconds) if said.language == "english" else wording.clock_time(seconds)


def card(said: Dialogue, card: Card) -> str:
    """Return a card in words.

    >>> from door.games.engine.cards import parse_card
    >>> from door.games.baccarat.dialogue import ENGLISH, FRENCH
    >>> card(ENGLISH, parse_card("TS")), card(FRENCH, parse_card("QH"))
    ('the 10 of spades', 'la dame de cœur')
    """
    return f"{said.ranks[card.rank]} {said.of} {said.suits[card.suit]}"


def cards(said: Dialogue, several: Sequence[Card]) -> str:
    *most, last = (card(said, each) for each in several)
    return f"{', '.join(most)} {said.conjunction} {last}"


def call(said: Dialogue, side: Side, point: int) -> str:
    """Return a point as the croupier calls it: "Sept à la banque"."""
    words = said.at_player if side is Side.PLAYER else said.at_bank
    called = words.format(point=said.points[point])
    return called[0].upper() + called[1:]


def sentence(said: Dialogue, event: Event, amount: Callable[[int], str]) -> str:
    """Return what is said of an event; `amount` puts what was won or lost into words."""
    match event:
        case happened.BaccaratDealt(card=dealt):
            return said.dealt.format(card=card(said, dealt)) if dealt else said.face_down
        case happened.BaccaratNatural(side=side, point=point):
            called = call(said, side, point)
            return said.natural.format(call=called[0].lower() + called[1:])
        case happened.BaccaratRevealed(cards=both, point=point):
            return said.bank_turns_up.format(cards=cards(said, both), point=said.points[point])
        case happened.BaccaratDrew(side=side, card=drawn, point=point):
            words = said.player_draws if side is Side.PLAYER else said.bank_draws
            return words.format(card=card(said, drawn), call=call(said, side, point))
        case happened.BaccaratStood(side=side, point=point):
            words = said.player_stands if side is Side.PLAYER else said.bank_stands
            called = call(said, side, point)
            return words.format(call=called[0].lower() + called[1:])
        case happened.BaccaratSettled(outcome=BaccaratOutcome.PLAYER, won=won):
            return said.player_wins.format(amount=amount(won))
        case happened.BaccaratSettled(outcome=BaccaratOutcome.BANK, lost=lost):
            return said.bank_wins.format(amount=amount(lost))
        case happened.BaccaratSettled():
            return said.equal


# The rules of baccarat as a caller may read them at the table, in the language they play in.

OPTIONS = {
    "english": {"draw": "draws", "stand": "stands", "toss": "tosses for it"},
    "french": {"draw": "tire", "stand": "reste", "toss": "s'en remet au sort"},
}


async def read_rules(console: Console, settings: BaccaratSettings, said: Dialogue) -> None:
    titles = {"english": "The rules of baccarat", "french": "Les règles du baccara"}
    await console.read(titles[said.language], rules_text(settings, said))


def rules_text(settings: BaccaratSettings, said: Dialogue) -> str:
    paragraphs = _ENGLISH if said.language == "english" else _FRENCH
    options = OPTIONS[said.language]
    turns = settings.turns_per_day
    per_day = {"english": f", {turns} turns a day", "french": f", {turns} tours par jour"}
    return "\n".join(paragraphs).format(
        coin=length(said, settings.coin_minutes * 60),
        least=settings.smallest_bet,
        most=coins(said, settings.largest_bet),
        turns=per_day[said.language] if turns else "",
        bankroll=money(said, NEW_BANKROLL, said.unit),
        bank=money(said, FULL_BANK, said.unit),
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
