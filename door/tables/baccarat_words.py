"""What the croupier says: events, cards and amounts put into the sentences of a dialogue."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from door import wording
from door.games import baccarat_events as happened
from door.games.baccarat_events import Event, Outcome, Side
from timebank.words import money as books_money
from timebank.words import span

if TYPE_CHECKING:
    from door.games.cards import Card
    from door.tables.baccarat_dialogue import Dialogue
    from timebank.model import Unit

CENTS = 100  # in a dollar or a franc

_GROUPED = re.compile(r"[0-9]{1,3}(?:([ .,])[0-9]{3})(?:\1[0-9]{3})*|[0-9]+")


def money(said: Dialogue, cents: int, unit: Unit) -> str:
    """Return an amount of whole dollars or francs as it is written in that language.

    >>> from door.tables.baccarat_dialogue import ENGLISH, FRENCH
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

    >>> from door.tables.baccarat_dialogue import ENGLISH, FRENCH
    >>> signed_money(ENGLISH, 500_000, "usd-cent"), signed_money(FRENCH, -500_000, "frf-cent")
    ('+$5,000', '-5 000 F')
    """
    sign = "-" if cents < 0 else "+" if cents else ""
    return sign + money(said, abs(cents), unit)


def coins(said: Dialogue, count: int) -> str:
    """Return a number of coins in words; French counts more than one from two on.

    >>> from door.tables.baccarat_dialogue import ENGLISH, FRENCH
    >>> coins(ENGLISH, 0), coins(FRENCH, 0), coins(FRENCH, 2)
    ('0 coins', '0 pièce', '2 pièces')
    """
    several = count != 1 if said.language == "english" else count > 1
    return f"{count} {said.coins if several else said.coin}"


def length(said: Dialogue, seconds: int) -> str:
    """Return a length of time in words, on a clock where it is not English.

    >>> from door.tables.baccarat_dialogue import ENGLISH, FRENCH
    >>> length(ENGLISH, 150), length(FRENCH, 150)
    ('2 minutes 30 seconds', '2:30')
    """
    return span(seconds) if said.language == "english" else wording.clock_time(seconds)


def coups(said: Dialogue, count: int) -> str:
    """Return a number of coups, which are coups in both languages.

    >>> from door.tables.baccarat_dialogue import ENGLISH, FRENCH
    >>> coups(ENGLISH, 1), coups(FRENCH, 12)
    ('1 coup', '12 coups')
    """
    return wording.counted(count, "coup")


def amount_typed(text: str) -> int | None:
    """Return the whole number that somebody typed, thousands parted as in either language or not.

    >>> amount_typed("100,000"), amount_typed(" 100 000 "), amount_typed("1.000.000")
    (100000, 100000, 1000000)
    >>> amount_typed("1.50"), amount_typed("1,000 000"), amount_typed("")
    (None, None, None)
    """
    text = text.strip()
    if not _GROUPED.fullmatch(text):
        return None
    return int(re.sub(r"[ .,]", "", text))


def card(said: Dialogue, card: Card) -> str:
    """Return a card in words.

    >>> from door.games.cards import parse_card
    >>> from door.tables.baccarat_dialogue import ENGLISH, FRENCH
    >>> card(ENGLISH, parse_card("TS")), card(FRENCH, parse_card("QH"))
    ('the 10 of spades', 'la dame de cœur')
    """
    return f"{said.ranks[card.rank]} {said.of} {said.suits[card.suit]}"


def cards(said: Dialogue, several: Sequence[Card]) -> str:
    """Return two cards or more in words, "..., ... and ..."."""
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
        case happened.Dealt(card=dealt):
            return said.dealt.format(card=card(said, dealt)) if dealt else said.face_down
        case happened.Natural(side=side, point=point):
            called = call(said, side, point)
            return said.natural.format(call=called[0].lower() + called[1:])
        case happened.Revealed(cards=both, point=point):
            return said.bank_turns_up.format(cards=cards(said, both), point=said.points[point])
        case happened.Drew(side=side, card=drawn, point=point):
            words = said.player_draws if side is Side.PLAYER else said.bank_draws
            return words.format(card=card(said, drawn), call=call(said, side, point))
        case happened.Stood(side=side, point=point):
            words = said.player_stands if side is Side.PLAYER else said.bank_stands
            called = call(said, side, point)
            return words.format(call=called[0].lower() + called[1:])
        case happened.Settled(outcome=Outcome.PLAYER, won=won):
            return said.player_wins.format(amount=amount(won))
        case happened.Settled(outcome=Outcome.BANK, lost=lost):
            return said.bank_wins.format(amount=amount(lost))
        case happened.Settled():
            return said.equal
