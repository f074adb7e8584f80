"""The sentences of the dealer on each event of a hand, and the rules page."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from door import wording
from door.games.blackjack import events as happened
from door.games.blackjack.events import BlackjackOutcome, Event
from door.games.engine.cards import Card, count
from door.tables.card_names import the_card
from door.tables.words import (
    cards_rule,
    coins_rule,
    fair_rules,
    insurance_rule,
    pay_lines,
    result_sentence,
)
from timebank.language import _, cached_text
from timebank.words import decimal

if TYPE_CHECKING:
    from door.games.black_jack_for_time.game import BlackJackForTimeSettings
    from door.games.blackjack.rules import BlackjackRules


# The rules page.


@cached_text
def rules_text(settings: BlackJackForTimeSettings) -> str:
    rules = settings.rules
    cards = cards_rule(rules.decks, rules.shuffle, rules.penetration)
    return "\n\n".join((coins_rule(settings), *_hand_rules(rules, cards), *fair_rules()))


def sealed_rules(rules: BlackjackRules, *, is_worlds: bool) -> str:
    """Return the rules of shared hands, which all callers play with the same cards.

    Each hand has a shuffle of its own, and no time is at stake.
    """
    cards = cards_rule(rules.decks, "hand", rules.penetration)
    fair = _(
        "All hands are sealed before anybody plays. The seal is below, and the seed is shown when "
        "it's all over."
    )
    if is_worlds:
        fair = _("Nobody chose these cards: they follow from the name below.")
    return "\n\n".join((*_hand_rules(rules, cards), *fair_rules(fair)))


def _hand_rules(rules: BlackjackRules, cards: str) -> tuple[str, ...]:
    shown = _("You and the dealer get two cards each; the dealer's second stays face down.")
    return (
        f"|15{_('Cards')}|07  {cards} {shown}",
        _pay_table(rules),
        f"|15{_('Blackjack')}|07  {_natural_rule(rules)}",
        f"|15{_('Insurance')}|07  " + insurance_rule(rules),
        f"|15{_('Double')}|07  "
        + _("On your first two cards, below 21: double your bet for one last card."),
        f"|15{_('Charlie')}|07  " + _charlie_rule(rules),
        f"|15{_('The dealer')}|07  {_dealer_rule(rules)}",
    )


def _pay_table(rules: BlackjackRules) -> str:
    rows = (
        (_("Blackjack"), rules.natural_pays),
        (_("Five-Card Charlie"), rules.charlie_pays),
        (_("21"), rules.twenty_one_pays),
        (_("21 on a double"), rules.doubled_21_pays),
        (_("Any other win"), rules.win_pays),
    )
    lines = pay_lines((name, _("{odds} to 1").format(odds=_odds(pays - 1))) for name, pays in rows)
    return f"|15{_('The house pays')}\n{lines}"


def _natural_rule(rules: BlackjackRules) -> str:
    peeks = (
        _("With a ten or an ace showing, the dealer peeks at the hole card.")
        if rules.peek_under_ace
        else _("With a ten showing, the dealer peeks at the hole card.")
    )
    return f"{peeks} {_('Blackjack ends the hand; if you have one too, it is a push.')}"


def main_rules(rules: BlackjackRules) -> str:
    """Return in three sentences what a newcomer to this table does not expect."""
    pays = _("21 pays {odds} to 1.").format(odds=_odds(rules.twenty_one_pays - 1))
    return f"{_ties(rules)} {pays} {_five_cards(rules)}"


def _ties(rules: BlackjackRules) -> str:
    return _("The dealer wins ties.") if rules.ties == "dealer" else _("Ties push.")


def _five_cards(rules: BlackjackRules) -> str:
    if rules.five_card_21 == "charlie":
        return _("Five cards up to 21 win at once.")
    return _("Five cards below 21 win at once.")


def _charlie_rule(rules: BlackjackRules) -> str:
    return f"{_five_cards(rules)} {_('The dealer can draw one too, and it beats even your 21.')}"


def _dealer_rule(rules: BlackjackRules) -> str:
    ties = _ties(rules)
    if rules.twenty_one_beats == "all totals":
        ties += " " + _("Your 21 wins even against the dealer's 21.")
    over = (
        _("When the dealer busts, every hand still standing wins.")
        if rules.dealer_over == "pays"
        else _("When the dealer busts, hands still standing push.")
    )
    return f"{_('Draws to 16, stands on every 17, soft or not.')} {ties} {over}"


def _odds(pays: Fraction) -> str:
    return decimal(float(pays))


def printed(rules: BlackjackRules) -> Sequence[str]:
    """Return the print on the felt, the most important line first."""
    return (
        _("BLACKJACK PAYS {odds} TO 1").format(odds=_odds(rules.natural_pays - 1)),
        _("DEALER DRAWS TO 16 AND STANDS ON EVERY 17"),
        _("INSURANCE PAYS {odds} TO 1").format(odds=rules.insurance_pays),
    )


# The hand.


def sentence(event: Event, coin: int, mine: Sequence[Card], dealer: Sequence[Card | None]) -> str:
    """Return the sentence on an event; `mine` and `dealer` are the cards after it."""
    match event:
        case happened.BlackjackDealt(card=card):
            return "|07" + _("You get {card}.").format(card=f"|15{the_card(card)}|07")
        case happened.DealerDealt(card=None):
            return "|07" + _("The dealer takes a card face down.")
        case happened.DealerDealt(card=str(card)):
            words = (
                _("The dealer draws {card}.") if len(dealer) > 2 else _("The dealer has {card}.")
            )
            return f"|07{words.format(card=f'|15{the_card(card)}|07')}"
        case happened.Peeked(natural=False):
            return "|07" + _("The dealer peeks: no blackjack.")
        case happened.BlackjackRevealed(card=card):
            return "|07" + _("The dealer turns over {card}.").format(card=f"|15{the_card(card)}|07")
        case happened.DealerStood(total=total):
            return "|07" + _("Dealer stands on {total}.").format(total=total)
        case happened.DealerBusted(total=total):
            return "|10" + _("Dealer busts with {total}!").format(total=total)
        case happened.InsuranceSettled() as insurance:
            return _insurance(insurance, coin)
        case happened.BlackjackSettled() as over:
            return _settled(over, coin, mine, dealer)
    return ""


def _settled(
    event: happened.BlackjackSettled,
    coin: int,
    mine: Sequence[Card],
    dealer: Sequence[Card | None],
) -> str:
    total = count(mine).total
    theirs = count(card for card in dealer if card is not None).total
    result = result_sentence(event.won - event.lost, coin)
    match event.outcome:
        case BlackjackOutcome.NATURAL:
            return f"|14{_('BLACKJACK!')} {result}"
        case BlackjackOutcome.TWENTY_ONE:
            return f"|10{_('21!')} {result}"
        case BlackjackOutcome.CHARLIE:
            return f"|14{_('FIVE-CARD CHARLIE!')} {result}"
        case BlackjackOutcome.WIN if theirs > 21:
            return f"|10{result}"
        case BlackjackOutcome.WIN:
            won = _("{mine} beats {dealer}.").format(mine=total, dealer=theirs)
            return f"|10{won} {result}"
        case BlackjackOutcome.PUSH:
            return f"|14{_('Push: your bet comes back.')}"
        case BlackjackOutcome.BUST:
            why = _("You bust with {total}.").format(total=total)
        case BlackjackOutcome.DEALER_NATURAL:
            why = _("Dealer has blackjack.")
        case BlackjackOutcome.DEALER_CHARLIE:
            why = _("Dealer has a Five-Card Charlie.")
        case _ if total == theirs:
            why = _("A tie at {total} goes to the dealer.").format(total=total)
        case _:
            why = _("Dealer wins, {dealer} to {mine}.").format(dealer=theirs, mine=total)
    return f"|12{why} {result}"


def _insurance(event: happened.InsuranceSettled, coin: int) -> str:
    if event.won:
        return f"|10{_('Your insurance pays.')} {result_sentence(event.won, coin)}"
    gone = wording.coins_of(event.lost, coin)
    return "|12" + _("Your insurance of {coins} is lost.").format(coins=gone)
