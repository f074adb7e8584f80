"""The two languages of the baccarat table: everything that is said or written there.

A `Dialogue` holds sentences and nothing else; `words.py` puts cards and amounts into them.
The French is a croupier's, typed as French is: a blank before ? ! : ; and none inside a word.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ansi.charset import Charset
from door.games.engine.cards import RANKS
from door.games.tables.words import Words

if TYPE_CHECKING:
    from door.games.baccarat.game import Language
    from timebank.words import Unit


# The letters of the menus are the same in both languages: a hand that knows one knows the other.
PLACE, MODE, LANGUAGE, SHOE, CUT, RULES, BANK, QUIT = "PMLSCRTQ"
FOR_TIME, FOR_THE_BANK = "T", "B"
CARD, NO_CARD = "C", "N"


@dataclass(frozen=True, kw_only=True)
class Dialogue(Words):
    """What is said at the table in one language: in English, where it is not given.

    Pipe codes stand inside, names in braces.
    """

    language: Language = "english"
    # What the bank is played for.
    unit: Unit = "usd-cent"
    # Names of things.
    title: str = "Baccarat"
    player: str = "Player"
    bank: str = "Bank"
    stand_off: str = "Stand-off"
    points: tuple[str, ...] = (
        *("zero", "one", "two", "three", "four"),
        *("five", "six", "seven", "eight", "nine"),
    )
    ranks: Mapping[str, str] = field(
        default_factory=lambda: (
            {"A": "the ace", "J": "the jack", "Q": "the queen", "K": "the king"}
            | {rank: f"the {rank}" for rank in "23456789"}
            | {"T": "the 10"}
        )
    )
    suits: Mapping[str, str] = field(
        default_factory=lambda: {"H": "hearts", "S": "spades", "D": "diamonds", "C": "clubs"}
    )
    of: str = "of"
    colon: str = ": "
    coin: str = "coin"
    coins: str = "coins"
    played_for_time: str = "Played for time"
    played_for_bank: str = "Played in dollars"
    last_twenty: str = "The last twenty coups"
    turns: str = "turns today: {turns}"
    turns_of: str = "turns today: {turns} of {limit}"
    # Figures beside the cards.
    bankroll: str = "Bankroll"
    casino: str = "The bank"
    wager: str = "Wager"
    pot: str = "Pot"
    one_coin: str = "A coin"
    ahead: str = "Net"
    # Menus.
    menu: Mapping[str, str] = field(
        default_factory=lambda: {
            PLACE: "Place bet",
            MODE: "Mode",
            LANGUAGE: "Langue",
            SHOE: "Shoe",
            CUT: "Cut",
            RULES: "Rules",
            BANK: "Time bank",
            QUIT: "Quit",
        }
    )
    ask_mode: str = "Play for time, or to break the bank?"
    modes: Mapping[str, str] = field(
        default_factory=lambda: {FOR_TIME: "Time", FOR_THE_BANK: "Bank"}
    )
    ask_card: str = "Card?"
    card_choices: Mapping[str, str] = field(
        default_factory=lambda: {CARD: "Card", NO_CARD: "No card"}
    )
    # Before the deal.
    new_bankroll: str = "|14The house stakes you to |15{amount}|14: welcome to the table."
    renewed: str = "|14A new day, and a new bankroll: |15{amount}|14."
    bets: str = "|07Place your bets: |15{least}|07 to |15{most}|07 (Enter for {last}):|15"
    which_amount: str = "|12Whole amounts only, such as {example}."
    least: str = "|12The smallest wager is {least}."
    most_of_bankroll: str = "|12Your bankroll is {most}: you cannot wager more."
    most_of_bank: str = "|12The bank has only {most} left to win."
    most_of_table: str = "|12The largest wager here is {most}."
    most_of_pot: str = "|12You may wager up to {most}: your last coin stays with you."
    pot_too_small: str = (
        "|12Your pot holds {pot}; the smallest wager is {least}, and your last coin "
        "cannot be wagered."
    )
    broken: str = (
        "|14The bank is broken. It opens again with {bank} when you come back to this table."
    )
    gone: str = (
        "|12Your bankroll is gone. From midnight on the house stakes you to another {bankroll}."
    )
    cut_on: str = "|07From now on you are asked for a few words that cut each new shoe."
    cut_off: str = "|07From now on you are not asked to cut."
    left: str = (
        "|07|15{cards}|07 cards are left in the shoe. A coup that leaves {last} or fewer is its "
        "last."
    )
    shoe_done: str = "|07The shoe is done: the next coup comes from a new one."
    new_shoe: str = "|07The cards are shuffled: a new shoe."
    resumed: str = "|14The coup you left is still on the table."
    trimmed: str = "|14{event}: of a win of {full}, {surplus} {where}."
    # The coup.
    no_more_bets: str = "|07No more bets."
    banco: str = "|15Banco!"
    dealt: str = "|07You are dealt |15{card}|07."
    face_down: str = "|07The bank takes a card, face down."
    at_player: str = "{point} for the player"
    at_bank: str = "{point} for the bank"
    natural: str = "|15A natural: {call}!"
    player_draws: str = "|07A card for the player: |15{card}|07. {call}."
    player_stands: str = "|07The player stands: {call}."
    bank_turns_up: str = "|07The bank turns up |15{cards}|07: {point}."
    bank_draws: str = "|07The bank draws |15{card}|07. {call}."
    bank_stands: str = "|07The bank stands: {call}."
    toss: str = "|07The bank may draw or stand, and leaves it to a toss."
    conjunction: str = "and"
    player_wins: str = "|10The player wins: |15{amount}|10 for you."
    bank_wins: str = "|12The bank wins and takes |15{amount}|12."
    equal: str = "|14A stand-off: all bets are off."
    time_up: str = "|14Your time was up: you took no card."
    # Leaving, and trouble.
    statement: str = (
        "{title}: {coups} played, {player} for the player, {bank} for the bank, "
        "{stand_off} off; {ended}."
    )
    ended_with: str = "your bankroll is {amount}"
    ended_ahead: str = "you leave the table ahead by {amount}"
    ended_behind: str = "you leave the table behind by {amount}"
    ended_even: str = "you leave the table even"
    ended_open: str = "you leave the table with a coup still open"
    also_open: str = "with a coup still open"
    # The bank is broken.
    bank_breaks: str = "Ladies and gentlemen, the bank is broken!"
    black_cloth: str = "The chef de partie has the table covered with the black cloth."
    plaque: tuple[str, ...] = (
        "{name}",
        "has broken the bank of this table",
        "and leaves it with {bankroll}",
        "It took {coups} and nerves of steel.",
        "Champagne! The name goes on the brass plate by the door.",
    )


ENGLISH = Dialogue()

_RANGS = (
    *("l'as", "le deux", "le trois", "le quatre", "le cinq", "le six", "le sept", "le huit"),
    *("le neuf", "le dix", "le valet", "la dame", "le roi"),
)
FRENCH = Dialogue(
    language="french",
    unit="frf-cent",
    title="Baccara",
    player="Joueur",
    bank="Banque",
    stand_off="Égalité",
    points=("baccara", "un", "deux", "trois", "quatre", "cinq", "six", "sept", "huit", "neuf"),
    ranks=dict(zip(RANKS, _RANGS, strict=True)),
    suits={"H": "cœur", "S": "pique", "D": "carreau", "C": "trèfle"},
    of="de",
    colon=" : ",
    coin="pièce",
    coins="pièces",
    played_for_time="Pour du temps",
    played_for_bank="En francs",
    last_twenty="Les vingt derniers coups",
    fairness=("Sceau", "Graine", "Coupe :"),
    turns="tours du jour : {turns}",
    turns_of="tours du jour : {turns} sur {limit}",
    bankroll="Capital",
    casino="Banque",
    wager="Mise",
    pot="Pot",
    one_coin="La pièce",
    ahead="Bilan",
    menu={
        PLACE: "Ponter",
        MODE: "Mode",
        LANGUAGE: "Language",
        SHOE: "Sabot",
        CUT: "Coupe",
        RULES: "Règles",
        BANK: "Temps",
        QUIT: "Quitter",
    },
    ask_mode="Jouer pour du temps, ou pour faire sauter la banque ?",
    modes={FOR_TIME: "Temps", FOR_THE_BANK: "Banque"},
    ask_card="Carte ?",
    card_choices={CARD: "Carte", NO_CARD: "Non, merci"},
    new_bankroll="|14La maison vous avance |15{amount}|14 : bienvenue à la table.",
    renewed="|14Un nouveau jour, un nouveau capital : |15{amount}|14.",
    bets="|07Faites vos jeux : |15{least}|07 à |15{most}|07 (Entrée pour {last}) :|15",
    which_amount="|12Un montant entier, par exemple {example}.",
    least="|12La mise minimum est de {least}.",
    most_of_bankroll="|12Votre capital est de {most} : vous ne pouvez miser davantage.",
    most_of_bank="|12La banque n'a plus que {most} à perdre.",
    most_of_table="|12La mise maximum est ici de {most}.",
    most_of_pot="|12Vous pouvez miser jusqu'à {most} : la dernière pièce vous reste.",
    pot_too_small="|12Votre pot contient {pot} ; la mise minimum est de {least}, et la dernière "
    "pièce ne se joue pas.",
    last_turn="|14C'était votre dernier tour du jour : {limit} par jour.",
    broken="|14La banque a sauté. Elle rouvrira avec {bank} à votre retour à cette table.",
    gone="|12Votre capital est épuisé. Dès minuit, la maison vous avance {bankroll}.",
    no_bet="|07Aucune mise.",
    cut_words="|07Quelques mots pour couper (Entrée pour aucun) :|15",
    cut_on="|07Désormais on vous demande quelques mots pour couper chaque nouveau sabot.",
    cut_off="|07Désormais on ne vous demande plus de couper.",
    left="|07Il reste |15{cards}|07 cartes dans le sabot. Un coup qui en laisse {last} ou moins "
    "est le dernier.",
    shoe_done="|07Le sabot est fini : le prochain coup viendra d'un autre.",
    new_shoe="|07Les cartes sont mêlées : nouveau sabot.",
    resumed="|14Le coup que vous avez quitté est toujours sur la table.",
    trimmed="|14{event} : d'un gain de {full}, {surplus} {where}.",
    where={
        "built-in": "iraient à votre banque de temps",
        "external": "iraient à votre banque de temps, ailleurs",
        "none": "seraient perdus",
    },
    no_more_bets="|07Rien ne va plus.",
    banco="|15Banco !",
    dealt="|07Vous recevez |15{card}|07.",
    face_down="|07La banque prend une carte, face cachée.",
    at_player="{point} au joueur",
    at_bank="{point} à la banque",
    natural="|15Abattage : {call} !",
    player_draws="|07Carte au joueur : |15{card}|07. {call}.",
    player_stands="|07Le joueur reste : {call}.",
    bank_turns_up="|07La banque découvre |15{cards}|07 : {point}.",
    bank_draws="|07La banque tire : |15{card}|07. {call}.",
    bank_stands="|07La banque reste : {call}.",
    toss="|07La banque peut tirer ou rester : elle s'en remet au sort.",
    conjunction="et",
    player_wins="|10Le joueur gagne : |15{amount}|10 pour vous.",
    bank_wins="|12La banque gagne et ramasse |15{amount}|12.",
    equal="|14Égalité : le coup est nul, votre mise vous est rendue.",
    time_up="|14Votre temps était écoulé : vous n'avez pas pris de carte.",
    any_key="|08Appuyez sur une touche",
    try_again="|07Appuyez sur une touche pour recommencer",
    no_books="Les livres ne peuvent être tenus en ce moment. Rien n'a changé.",
    statement="{title} : {coups}, {player} au joueur, {bank} à la banque, {stand_off} à égalité ; "
    "{ended}.",
    ended_with="votre capital est de {amount}",
    ended_ahead="vous quittez la table avec un gain de {amount}",
    ended_behind="vous quittez la table avec une perte de {amount}",
    ended_even="vous quittez la table sans gain ni perte",
    ended_open="vous quittez la table avec un coup en cours",
    also_open="un coup en cours",
    bank_breaks="Mesdames, messieurs, la banque a sauté !",
    black_cloth="Le chef de partie fait couvrir la table du drap noir.",
    plaque=(
        "{name}",
        "a fait sauter la banque de cette table",
        "et la quitte avec {bankroll}",
        "Il y a fallu {coups} et des nerfs d'acier.",
        "Champagne ! Le nom est gravé dans le cuivre, près de la porte.",
    ),
)


def dialogue(language: Language, charset: Charset) -> Dialogue:
    """Return what is said in `language` on a terminal of this character set.

    The letter œ is no part of CP437 nor of ASCII, and no letter stands in for it: it is two there.

    >>> dialogue("french", Charset.CP437).suits["H"]
    'coeur'
    """
    if language == "english":
        return ENGLISH
    if charset is Charset.UTF8:
        return FRENCH
    return replace(
        FRENCH, suits={suit: name.replace("œ", "oe") for suit, name in FRENCH.suits.items()}
    )
