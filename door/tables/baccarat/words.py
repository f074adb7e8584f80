"""The words of the croupier: labels, calls, sentences on events, and the rules.

Texts are in English; the croupier's French is in the catalogue, as all French is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from door.games.baccarat import events as happened
from door.games.baccarat.events import BaccaratOutcome, Event, Side
from door.tables import words as tables
from door.tables.card_names import the_card
from door.tables.scene import bet_name
from door.tables.words import coins_rule, pay_lines
from timebank.language import N_, _, pgettext
from timebank.wagers.play_money import FULL_BANK, NEW_BANKROLL
from timebank.words import money

if TYPE_CHECKING:
    from door.games.baccarat.game import BaccaratSettings
    from timebank.words import Unit

CENTS = 100  # in a dollar or a franc

# Keys of this table in addition to those of every table.
MODE, LANGUAGE, SHOE = "MLS"
MEANINGS = {
    **tables.MEANINGS,
    tables.BET: N_("Place a bet, and have the coup dealt."),
    MODE: N_("Play for time, or for dollars or francs to break the bank."),
    LANGUAGE: N_("Change to French, or back to English. Your stakes stay the same."),
    SHOE: N_("See how many cards are left in the shoe."),
}
FOR_TIME, DOLLARS, FRANCS = "TDF"
UNITS: dict[str, Unit] = {DOLLARS: "usd-cent", FRANCS: "frf-cent"}
CARD, NO_CARD = "Y", "N"


# Names and amounts.


def title() -> str:
    return _("Baccarat")


def name_of(side: Side) -> str:
    return pgettext("baccarat", "Player") if side is Side.PLAYER else pgettext("baccarat", "Bank")


def tie() -> str:
    return _("Tie")


def point_name(point: int) -> str:
    """Return the name of a point.

    >>> point_name(0), point_name(9)
    ('zero', 'nine')
    """
    return (
        pgettext("point", "zero"),
        pgettext("point", "one"),
        pgettext("point", "two"),
        pgettext("point", "three"),
        pgettext("point", "four"),
        pgettext("point", "five"),
        pgettext("point", "six"),
        pgettext("point", "seven"),
        pgettext("point", "eight"),
        pgettext("point", "nine"),
    )[point]


# The calls.


def call(side: Side, point: int) -> str:
    """Return the croupier's call of a point.

    >>> call(Side.BANK, 7)
    'Seven for the bank'
    """
    called = _called(side, point)
    return called[0].upper() + called[1:]


def _called(side: Side, point: int) -> str:
    to = _("{point} for the player") if side is Side.PLAYER else _("{point} for the bank")
    return to.format(point=point_name(point))


def sentence(event: Event, result: Callable[[int], str]) -> str:
    """Return the sentence on an event; `result` says what a coup won or lost."""
    match event:
        case happened.BaccaratDealt(card=dealt):
            if dealt is None:
                return f"|07{_('The bank takes a card, face down.')}"
            words = _("You get {card}.").format(card=f"|15{the_card(dealt)}|07")
            return f"|07{words}"
        case happened.BaccaratNatural(side=side, point=point):
            return f"|15{_('A natural: {call}!').format(call=_called(side, point))}"
        case happened.BaccaratRevealed(cards=(first, second), point=point):
            both = _("{card} and {other}").format(card=the_card(first), other=the_card(second))
            words = _("The bank turns up {cards}: {point}.")
            return f"|07{words.format(cards=f'|15{both}|07', point=point_name(point))}"
        case happened.BaccaratDrew(side=side, card=drawn, point=point):
            words = (
                _("A card for the player: {card}. {call}.")
                if side is Side.PLAYER
                else _("The bank draws {card}. {call}.")
            )
            return f"|07{words.format(card=f'|15{the_card(drawn)}|07', call=call(side, point))}"
        case happened.BaccaratStood(side=side, point=point):
            stands = (
                _("The player stands: {call}.")
                if side is Side.PLAYER
                else _("The bank stands: {call}.")
            )
            return f"|07{stands.format(call=_called(side, point))}"
        case happened.BaccaratSettled():
            return _settled(event, result)
    return ""


def _settled(event: happened.BaccaratSettled, result: Callable[[int], str]) -> str:
    points = {"player": event.player_point, "bank": event.bank_point}
    if event.outcome is BaccaratOutcome.PLAYER:
        words = _("Player wins, {player} to {bank}.").format(**points)
        return f"|10{words} {result(event.won)}"
    if event.outcome is BaccaratOutcome.BANK:
        words = _("Bank wins, {bank} to {player}.").format(**points)
        return f"|12{words} {result(-event.lost)}"
    return f"|14{_('Tie: your bet comes back.')}"


def banner(event: happened.BaccaratSettled, amount: Callable[[int], str]) -> str:
    """Return the banner for the end of a coup."""
    if event.outcome is BaccaratOutcome.PLAYER:
        return _("You win {amount}").format(amount=amount(event.won))
    if event.outcome is BaccaratOutcome.BANK:
        return _("You lose {amount}").format(amount=amount(event.lost))
    return _("Tie: your bet comes back")


# The keys and their meanings.


def menu(*, can_bet: bool) -> dict[str, str]:
    """Return the labels of the menu between two coups; `can_bet` adds the bet."""
    return {
        **({tables.BET: _("Bet")} if can_bet else {}),
        tables.RULES: _("Rules"),
        tables.FAIRNESS: _("Fairness"),
        tables.CUT: _("Cut"),
        MODE: _("Mode"),
        LANGUAGE: _("Language"),
        SHOE: _("Shoe"),
        tables.BANK: _("Time bank"),
        tables.QUIT: _("Quit"),
    }


def modes() -> dict[str, str]:
    return {FOR_TIME: pgettext("mode", "Time"), DOLLARS: _("Dollars"), FRANCS: _("Francs")}


MODE_MEANINGS = {
    FOR_TIME: N_("Bet your own minutes, in coins."),
    DOLLARS: N_("Bet play dollars, and try to break the bank."),
    FRANCS: N_("Bet play francs, and try to break the bank."),
    tables.QUIT: tables.MEANINGS[tables.QUIT],
}


def card_choices() -> dict[str, str]:
    return {CARD: _("Yes"), NO_CARD: _("No card")}


CARD_MEANINGS = {
    CARD: N_("Take a third card."),
    NO_CARD: N_("Stand on five, and let the bank play."),
    **tables.MEANINGS,
}


# The rules page.


def rules_text(settings: BaccaratSettings, unit: Unit, plate: Sequence[str] = ()) -> str:
    """Return rules, pay table and settings; `plate` has the names of bank breakers."""
    point, *deal = _cards_rules(settings)
    paragraphs = (
        point,
        (_("The table pays"), f"\n{_pay_table()}"),
        *deal,
        (_("For the bank"), _bank_rule(unit)),
        (
            _("Fair"),
            _(
                "A shoe of four decks serves coup after coup. You see its seal before you bet, "
                "and its seed when the shoe is done: after a coup that leaves eight cards or "
                "fewer. Type F to read both, C to cut each new shoe with a phrase."
            ),
        ),
        (_("Hang up"), _("If you are cut off on your 5, the coup waits for you as it was.")),
        (_("Brass plate"), brass_plate(plate)),
    )
    lines = (f"|15{head}|07  {text}" for head, text in paragraphs)
    return "\n\n".join((coins_rule(settings), *lines))


def _pay_table() -> str:
    rows = (
        (_("Your point is higher"), _("{odds} to 1").format(odds=1)),
        (_("Equal points"), _("bet returned")),
        (_("The bank's is higher"), _("bet is lost")),
    )
    return pay_lines(rows)


def brass_plate(names: Sequence[str]) -> str:
    if not names:
        return _("Nobody has broken the bank yet.")
    return _("They broke the bank: {names}.").format(names=", ".join(names))


def _cards_rules(settings: BaccaratSettings) -> Sequence[tuple[str, str]]:
    options = {
        "draw": _("draws"),
        "stand": _("stands"),
        "toss": _("leaves it to a toss"),
    }
    bank = _(
        "It draws on 0 to 2 and stands on 7. If the player stood, it draws on 3 to 5. "
        "Otherwise the player's third card decides: on 3 the bank draws against 0 to 7, on 4 "
        "against 2 to 7, on 5 against 5 to 7, on 6 against 6 and 7. In this house, on 3 against a "
        "9 it {three}, on 5 against a 4 it {five}."
    )
    return (
        (
            _("The point"),
            _(
                "Get nine, or nearer to nine than the bank, with two or three cards. An ace "
                "counts one, tens and faces nothing, all others their number. Drop the tens of "
                "the total: 6 and 8 make 4."
            ),
        ),
        (
            _("The deal"),
            _(
                "Player, bank, player, bank. You play the player's hand. The bank's cards lie "
                "face down until you are served. Eight or nine in two cards is a natural: it ends "
                "the coup at once, and nine beats eight."
            ),
        ),
        (_("The player"), _("Draws on 0 to 4, stands on 6 and 7. On 5 you choose.")),
        (
            _("The bank"),
            bank.format(
                three=options[settings.rules.bank_option_3v9],
                five=options[settings.rules.bank_option_5v4],
            ),
        ),
    )


def _bank_rule(unit: Unit) -> str:
    words = _(
        "New players get {bankroll}. You may bet all of it at once, but no more than the bank "
        "has. The bank has {bank} each time you come back, and can be broken. If you lose your "
        "bankroll, you get a fresh one the next day."
    )
    return words.format(bankroll=money(NEW_BANKROLL, unit), bank=money(FULL_BANK, unit))


def explained(*, for_time: bool) -> list[str]:
    """Return the meaning of each field."""
    cards = (_("Player, Bank"), _("Each side's cards and points. Nine is best."))
    meaning = _("The last coups, the latest last: the winner, and the winning point.")
    coups = (_("Scoreboard"), meaning)
    net = (_("Net"), _("How far you're up or down since you sat down."))
    bet = (bet_name(), _("What you have on the table."))
    own = (
        (
            (_("Pot"), _("Your time left, in whole coins.")),
            (_("A coin"), _("What a coin is worth.")),
        )
        if for_time
        else (
            (_("Bankroll"), _("Your play money. It is kept from call to call.")),
            (_("The bank"), _("What the bank has left. Win it all and you have broken the bank.")),
        )
    )
    plate = (_("Brass plate"), _("Those who broke the bank last."))
    return [f"|15{head}|07  {text}" for head, text in (cards, *own, bet, net, coups, plate)]
