"""What tables say alike: of their keys, of turns, of their rules, of how a hand ended."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from ansi.width import text_width
from door import wording
from door.call.scene import LAYOUT_COLUMNS
from door.games.engine.cards import Card, Count, count, is_natural
from door.games.registry import GAMES
from timebank.language import N_, _, ngettext
from timebank.words import MINUTE, span

if TYPE_CHECKING:
    from door.call.caller import Caller
    from door.games.engine.descriptor import Game
    from door.games.engine.settings import StakeSettings


# The keys of every table between two hands, and in a hand those that mean no play.
BET, RULES, FAIRNESS, CUT, TUTOR, STRATEGY, BANK, QUIT = "BRFCUGTQ"
_PAY_COLUMNS = 20  # of the names in a pay table, where they are short


# What the keys mean at every table.
MEANINGS = {
    RULES: N_("Read the rules of this house, and what it pays."),
    FAIRNESS: N_("See how the shuffle is sealed, and check it."),
    CUT: N_("Turn your own cut on or off."),
    TUTOR: N_("Turn the tutor on or off: it tells you what the book would do."),
    STRATEGY: N_("See the strategy card: what to do with which hand, by these rules."),
    BANK: N_("Go to the time bank. Your place is kept."),
    QUIT: N_("Leave the table."),
}
STRATEGY_LABEL = N_("Strategy")
TUTOR_ON = N_("Tutor is on: it tells you what the book would do. G shows the whole card.")
TUTOR_OFF = N_("Tutor is off.")


def standing(net: int, amount: str) -> str:
    """Say that somebody is up or down an amount, or even.

    >>> standing(-60, "1 minute"), standing(0, "")
    ("You're down 1 minute.", "You're even.")
    """
    if not net:
        return _("You're even.")
    told = _("You're up {amount}.") if net > 0 else _("You're down {amount}.")
    return told.format(amount=amount)


# What cards count.


def counted(cards: Sequence[Card | None]) -> str:
    """Say what cards count, those face down not: a natural is a blackjack.

    >>> from door.games.engine.cards import parse_cards
    >>> [counted(parse_cards(cards)) for cards in ("AS KD", "AS 6D", "AS KD TH", "AS 5D 5H")]
    ['blackjack', 'soft 17', '21', '21']
    >>> counted(["AS", None])
    '11'
    """
    known = tuple(card for card in cards if card is not None)
    if len(known) == len(cards) and is_natural(known):
        return _("blackjack")
    # An ace alone is eleven, and nothing yet to be soft with.
    return total_words(count(known)) if len(known) > 1 else str(count(known).total)


def total_words(count: Count) -> str:
    if count.soft and count.total < 21:
        return _("soft {total}").format(total=count.total)
    return str(count.total)


# How many turns are left today, here and elsewhere.


def turns_are_used(caller: Caller, game: str, settings: StakeSettings) -> bool:
    limit = settings.turns_per_day
    return bool(limit) and caller.purse.turns(game) >= limit


def turns_today(caller: Caller, game: str, settings: StakeSettings) -> str:
    """Say in the main menu how often the caller has bet: "3 of 20 turns today"."""
    turns, limit = caller.purse.turns(game), settings.turns_per_day
    if turns_are_used(caller, game, settings):
        told = ngettext("your one turn today is used", "all {limit} turns used today", limit)
        return told.format(limit=limit)
    if limit:
        return _("{turns} of {limit} turns today").format(turns=turns, limit=limit)
    return ngettext("{number} turn today", "{number} turns today", turns).format(number=turns)


def turns_and_bets(caller: Caller, game: str, stakes: StakeSettings) -> str:
    turns = turns_today(caller, game, stakes)
    if turns_are_used(caller, game, stakes):
        return turns
    most = wording.coins(stakes.largest_bet)
    return _("{turns}, bets up to {most}").format(turns=turns, most=most)


def elsewhere(caller: Caller, game: str) -> str:
    """Say where there is something to bet yet today, to a caller who has no turns in `game`."""
    return still_open(caller, game) or _("Every table has fresh turns after midnight.")


def still_open(caller: Caller, besides: str) -> str:
    """Say at which other tables a caller may still bet today, and how much; "" for none.

    "Still open: Baccarat (12 turns), Vegas (20). For play money: UNIX bj. You have 31 coins." Where
    coins differ, each table has its own; a narrow screen has room for the tables alone.
    """
    found = games_left(caller, besides)
    if not found:
        return ""
    console = caller.console
    has_room = not console.screen.is_painted or console.screen.page_columns >= LAYOUT_COLUMNS
    pots = {pot for _game, _turns, pot in found if pot} if has_room else set()
    others: dict[str, str] = {}
    counts_turns = False
    for game, turns, pot in found:
        told = []
        if turns and has_room:
            told.append(str(turns) if counts_turns else _of_turns(turns))
            counts_turns = True
        if pot and len(pots) > 1:
            told.append(wording.coins(pot))
        others[game.name] = f"{game.title} ({', '.join(told)})" if told else game.title
    words = open_words(found, others)
    if len(pots) != 1:
        return words
    return f"{words} {_('You have {coins}.').format(coins=wording.coins(pots.pop()))}"


def open_words(found: Sequence[tuple[Game, int, int]], named: Mapping[str, str]) -> str:
    """Say which of `games_left` there are to bet time at, and which are for play money alone, each
    as it is `named`; "" for none."""
    for_time = [named[game.name] for game, _turns, pot in found if pot]
    for_play = [named[game.name] for game, _turns, pot in found if not pot]
    told = [_("Still open: {games}.").format(games=", ".join(for_time))] if for_time else []
    if for_play:
        told.append(_("For play money: {games}.").format(games=", ".join(for_play)))
    return " ".join(told)


def games_left(
    caller: Caller, besides: str = "", house: Mapping[str, StakeSettings] | None = None
) -> list[tuple[Game, int, int]]:
    """Return the games where the caller may still bet today, each with the turns and the coins that
    they have there: 0 where those are not counted, or play money alone is wagered. `house` are the
    settings that count now, where those of the call do not."""
    every = caller.config.games if house is None else house
    found = []
    for name, settings in every.items():
        if name == besides or not settings.open:
            continue
        game = GAMES[name]
        pot = caller.purse.pot(settings.coin_minutes * MINUTE)
        has_turns = not turns_are_used(caller, name, settings)
        if settings.for_time and has_turns and pot > settings.smallest_bet:
            turns = max(0, settings.turns_per_day - caller.purse.turns(name))
            found.append((game, turns, pot))
        elif settings.for_play_money:
            found.append((game, 0, 0))
    return found


def _of_turns(turns: int) -> str:
    return ngettext("{number} turn", "{number} turns", turns).format(number=turns)


# Rules that games share.


def pay_lines(rows: Iterable[tuple[str, str]]) -> str:
    """Set what a table pays, and for what, in two columns: as wide as the words of a language are.

    >>> pay_lines([("Push", "bet returned")])
    '|07  Push                |14bet returned'
    """
    every = list(rows)
    widest = max(_PAY_COLUMNS, *(text_width(name) + 2 for name, _pays in every))
    return "\n".join(
        f"|07  {name}{' ' * (widest - text_width(name))}|14{pays}" for name, pays in every
    )


def coins_rule(settings: StakeSettings, turns: Literal["turns", "rounds"] = "turns") -> str:
    """Return what is bet, and how often; `turns` is what this table calls them."""
    told = [
        _("You bet your time: one coin is {span}.").format(span=span(settings.coin_minutes * 60)),
        _("Bets are {least} to {most}.").format(
            least=settings.smallest_bet, most=wording.coins(settings.largest_bet)
        ),
    ]
    if settings.turns_per_day:
        told.append(_turns_a_day(settings.turns_per_day, turns))
    told.append(_("Your last coin can't be bet."))
    return f"|15{_('Coins')}|07  {' '.join(told)}"


def _turns_a_day(number: int, turns: str) -> str:
    told = (
        ngettext("You have {number} round a day.", "You have {number} rounds a day.", number)
        if turns == "rounds"
        else ngettext("You have {number} turn a day.", "You have {number} turns a day.", number)
    )
    return told.format(number=number)


def cards_rule(decks: int, shuffle: str, penetration: int) -> str:
    """Return how many cards there are and when they are shuffled."""
    cards = ngettext("One deck", "{number} decks", decks).format(number=decks)
    if shuffle == "hand":
        return _("{decks}, shuffled for every hand.").format(decks=cards)
    return _("{decks}, shuffled once {percent}% have been dealt.").format(
        decks=cards, percent=penetration
    )


def fair_rules(fair: str = "") -> tuple[str, str]:
    """Return what all tables promise: fair cards, and a hand that waits. `fair` says how it is
    shown where that is not behind F."""
    fair = fair or _(
        "The shuffle is sealed before you bet and opened afterwards. Press F for the seal and how "
        "to check it, C to cut the cards with a phrase of your own."
    )
    waits = _("Lose your connection in mid-hand and it waits for you, just as it was.")
    return f"|15{_('Fair')}|07  {fair}", f"|15{_('Hang up')}|07  {waits}"


# How a hand ended. Robots listen for amounts in this sentence.


def lost(event: Any, coin: int) -> str:
    """Say what a hand that was lost took: "You lose 15 coins."."""
    return _("You lose {coins}.").format(coins=wording.coins_of(event.lost, coin))


def paid(event: Any, coin: int) -> str:
    """Say what a hand that was won brought: "You get 15 coins: 10 minutes won."."""
    return _("You get {coins}: {span} won.").format(
        coins=wording.coins_of(event.won + event.returned, coin), span=span(event.won)
    )
