"""The sentences of the Red Dog table, and its rules page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from door import wording
from door.games.red_dog import events as happened
from door.games.red_dog.events import Event, RedDogOutcome
from door.games.red_dog.rules import SPREAD_PAYS, THREE_OF_A_KIND_PAYS, WIDEST_PAYS, pays
from door.tables.card_names import the_card
from door.tables.words import (
    cards_rule,
    coins_rule,
    fair_rules,
    pay_lines,
    result_sentence,
)
from timebank.language import _, cached_text

if TYPE_CHECKING:
    from door.games.red_dog.game import RedDogSettings


def spread_words(spread: int) -> str:
    """Return the words for the spread of two cards.

    >>> spread_words(1), spread_words(0)
    ('Spread 1: a card in between pays 5 to 1.', 'Neighbours: no card fits in between.')
    """
    if spread < 0:
        return _("A pair: a third pays {odds} to 1.").format(odds=THREE_OF_A_KIND_PAYS)
    if not spread:
        return _("Neighbours: no card fits in between.")
    return _("Spread {spread}: a card in between pays {odds} to 1.").format(
        spread=spread, odds=pays(spread)
    )


def sentence(event: Event, coin: int) -> str:
    match event:
        case happened.RedDogDealt(card=card):
            return "|07" + _("You get {card}.").format(card=f"|15{the_card(card)}|07")
        case happened.Spread(spread=spread):
            return f"|07{spread_words(spread)}"
        case happened.RedDogRaised(amount=amount):
            coins = f"|15{wording.coins_of(amount, coin)}|07"
            return "|07" + _("You raise by {coins}.").format(coins=coins)
        case happened.RedDogDrew(card=card):
            return "|07" + _("The third card is {card}.").format(card=f"|15{the_card(card)}|07")
        case happened.RedDogSettled() as over:
            return _settled(over, coin)
    return ""


def _settled(event: happened.RedDogSettled, coin: int) -> str:
    result = result_sentence(event.won - event.lost, coin)
    match event.outcome:
        case RedDogOutcome.THREE_OF_A_KIND:
            return f"|14{_('THREE OF A KIND!')} {result}"
        case RedDogOutcome.WIN:
            return f"|10{_('In between!')} {result}"
        case RedDogOutcome.PUSH:
            return f"|14{_('Push: your bet comes back.')}"
    return f"|12{_('Not in between.')} {result}"


@cached_text
def rules_text(settings: RedDogSettings) -> str:
    rules = settings.rules
    cards = cards_rule(rules.decks, rules.shuffle, rules.penetration)
    paragraphs = (
        coins_rule(settings),
        f"|15{_('Cards')}|07  {cards} {_('Aces are high only; suits do not count.')}",
        f"|15{_('The bet')}|07  "
        + _("Two cards are dealt face up. You bet that the third falls between them.")
        + " "
        + _("If it falls outside, or matches either card, you lose."),
        f"|15{_('Raise')}|07  "
        + _("Before the third card you can raise, which doubles your bet, or stand."),
        _pay_table(),
        f"|15{_('Neighbours')}|07  " + _("Nothing fits between them: a push, your bet comes back."),
        f"|15{_('A pair')}|07  "
        + _("The third card is drawn at once. Three of a kind wins; anything else is a push."),
        *fair_rules(),
    )
    return "\n\n".join(paragraphs)


def _pay_table() -> str:
    rows = [(_("Three of a kind"), THREE_OF_A_KIND_PAYS)]
    rows += [
        (_("Spread {spread}").format(spread=spread), odds) for spread, odds in SPREAD_PAYS.items()
    ]
    widest = len(SPREAD_PAYS) + 1
    rows.append((_("Spread {spread} or more").format(spread=widest), WIDEST_PAYS))
    lines = pay_lines((name, _("{odds} to 1").format(odds=odds)) for name, odds in rows)
    spread = _("A spread is how many ranks lie between the two cards.")
    return "\n".join((f"|15{_('The house pays')}|07  {spread}", lines))
