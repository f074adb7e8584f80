"""Words that tables share: keys, turns, rules, and how a hand ended."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from ansi.width import text_width
from door import wording
from door.call.scene import LAYOUT_COLUMNS
from door.games.engine.cards import Card, Count, count, is_natural
from door.games.registry import GAMES
from timebank.language import N_, _, ngettext
from timebank.words import MINUTE, field, span

if TYPE_CHECKING:
    from door.call.caller import Caller
    from door.games.blackjack.rules import BlackjackRules
    from door.games.engine.descriptor import Game
    from door.games.engine.settings import StakeSettings


# The keys of every table between two hands; in a hand, those that no action uses.
BET, RULES, FAIRNESS, CUT, TUTOR, STRATEGY, BANK, QUIT = "BRFCUGTQ"
_PAY_COLUMNS = 20  # the least width of the names in a pay table


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


def net_words(net: int, amount: str) -> str:
    """Return a sentence that the caller is up or down `amount`, or even; `net` has the sign.

    >>> net_words(-60, "1 minute"), net_words(0, "")
    ("You're down 1 minute.", "You're even.")
    """
    if not net:
        return _("You're even.")
    words = _("You're up {amount}.") if net > 0 else _("You're down {amount}.")
    return words.format(amount=amount)


# What cards count.


def count_words(cards: Sequence[Card | None]) -> str:
    """Return in words what the cards count, without those face down (`None`).

    >>> from door.games.engine.cards import parse_cards
    >>> [count_words(parse_cards(cards)) for cards in ("AS KD", "AS 6D", "AS KD TH", "AS 5D 5H")]
    ['blackjack', 'soft 17', '21', '21']
    >>> count_words(["AS", None])
    '11'
    """
    known = tuple(card for card in cards if card is not None)
    if len(known) == len(cards) and is_natural(known):
        return _("blackjack")
    # A lone ace is shown as 11, not as "soft 11".
    return total_words(count(known)) if len(known) > 1 else str(count(known).total)


def total_words(count: Count) -> str:
    if count.soft and count.total < 21:
        return _("soft {total}").format(total=count.total)
    return str(count.total)


# How many turns are left today, here and elsewhere.


def turns_are_used(caller: Caller, game: str, settings: StakeSettings) -> bool:
    limit = settings.turns_per_day
    return bool(limit) and caller.purse.turns(game) >= limit


def turns_so_far(turns: int, limit: int | None) -> str:
    """Return the turns of today, for a table: "Turns today: 1 of 20"; `limit` may be none."""
    used = _("{turns} of {limit}").format(turns=turns, limit=limit) if limit else str(turns)
    return field(_("Turns today"), used)


def turns_today(caller: Caller, game: str, settings: StakeSettings) -> str:
    """Return the turns of the caller today, for the main menu: "17 turns left today"."""
    turns, limit = caller.purse.turns(game), settings.turns_per_day
    if turns_are_used(caller, game, settings):
        words = ngettext("your one turn today is used", "all {limit} turns used today", limit)
        return words.format(limit=limit)
    if limit:
        left = limit - turns
        words = ngettext("{number} turn left today", "{number} turns left today", left)
        return words.format(number=left)
    return ngettext("{number} turn today", "{number} turns today", turns).format(number=turns)


def turns_and_bets(caller: Caller, game: str, stakes: StakeSettings) -> str:
    turns = turns_today(caller, game, stakes)
    if turns_are_used(caller, game, stakes):
        return turns
    most = wording.coins(stakes.largest_bet)
    return _("{turns}, bets up to {most}").format(turns=turns, most=most)


def other_tables(caller: Caller, game: str) -> str:
    """Return where a caller without turns in `game` may still bet, or when turns come back."""
    return still_open(caller, game) or _("Every table has fresh turns after midnight.")


def still_open(caller: Caller, except_game: str) -> str:
    """Return the other tables where a caller may still bet today, and how much; "" for none.

    "Still open: Baccarat (12 turns), Vegas (20). For play money: UNIX bj. You have 31 coins." Each
    table has its own number of coins where a coin's worth differs. A narrow screen shows only the
    tables.
    """
    games = games_left(caller, except_game)
    if not games:
        return ""
    console = caller.console
    has_room = not console.screen.is_painted or console.screen.page_columns >= LAYOUT_COLUMNS
    pots = {pot for _game, _turns, pot in games if pot} if has_room else set()
    named: dict[str, str] = {}
    counts_turns = False
    for game, turns, pot in games:
        details = []
        if turns and has_room:
            words = ngettext("{number} turn", "{number} turns", turns).format(number=turns)
            details.append(str(turns) if counts_turns else words)
            counts_turns = True
        if pot and len(pots) > 1:
            details.append(wording.coins(pot))
        name = _(game.title)
        named[game.name] = f"{name} ({', '.join(details)})" if details else name
    sentence = open_games(games, named)
    if len(pots) != 1:
        return sentence
    return f"{sentence} {_('You have {coins}.').format(coins=wording.coins(pots.pop()))}"


def open_games(games: Sequence[tuple[Game, int, int]], named: Mapping[str, str]) -> str:
    """Return the sentences that list `games`: those for time, then those for play money only.

    `named` has the words for each game by its name; "" where `games` is empty.
    """
    for_time = [named[game.name] for game, _turns, pot in games if pot]
    for_play = [named[game.name] for game, _turns, pot in games if not pot]
    sentences = [_("Still open: {games}.").format(games=", ".join(for_time))] if for_time else []
    if for_play:
        sentences.append(_("For play money: {games}.").format(games=", ".join(for_play)))
    return " ".join(sentences)


def games_left(
    caller: Caller, except_game: str = "", house: Mapping[str, StakeSettings] | None = None
) -> list[tuple[Game, int, int]]:
    """Return the games where the caller may still bet today, each with turns left and coins.

    Turns are 0 where they are unlimited. Both are 0 where only play money is bet. `house` replaces
    the settings that the call began with.
    """
    every = caller.config.games if house is None else house
    games = []
    for name, settings in every.items():
        if name == except_game or not settings.open:
            continue
        game = GAMES[name]
        pot = caller.purse.pot(settings.coin_minutes * MINUTE)
        has_turns = not turns_are_used(caller, name, settings)
        if settings.for_time and has_turns and pot > settings.smallest_bet:
            turns = max(0, settings.turns_per_day - caller.purse.turns(name))
            games.append((game, turns, pot))
        elif settings.for_play_money:
            games.append((game, 0, 0))
    return games


# Rules that games share.


def pay_lines(rows: Iterable[tuple[str, str]]) -> str:
    """Return a pay table in two columns; the first is as wide as its widest words.

    >>> pay_lines([("Push", "bet returned")])
    '|07  Push                |14bet returned'
    """
    every = list(rows)
    widest = max(_PAY_COLUMNS, *(text_width(name) + 2 for name, _pays in every))
    return "\n".join(
        f"|07  {name}{' ' * (widest - text_width(name))}|14{pays}" for name, pays in every
    )


def coins_rule(settings: StakeSettings) -> str:
    """Return the rule on coins and turns."""
    sentences = [
        _("You bet your time: one coin is {span}.").format(span=span(settings.coin_minutes * 60)),
        _("Bets are {least} to {most}.").format(
            least=settings.smallest_bet, most=wording.coins(settings.largest_bet)
        ),
    ]
    if settings.turns_per_day:
        limit = settings.turns_per_day
        words = ngettext("You have {number} turn a day.", "You have {number} turns a day.", limit)
        sentences.append(words.format(number=limit))
    sentences.append(_("Your last coin can't be bet."))
    return f"|15{_('Coins')}|07  {' '.join(sentences)}"


def cards_rule(decks: int, shuffle: str, penetration: int) -> str:
    """Return the rule on the number of decks and when they are shuffled."""
    cards = ngettext("One deck", "{number} decks", decks).format(number=decks)
    if shuffle == "hand":
        return _("{decks}, shuffled for every hand.").format(decks=cards)
    return _("{decks}, shuffled once {percent}% have been dealt.").format(
        decks=cards, percent=penetration
    )


def insurance_rule(rules: BlackjackRules) -> str:
    """Return what insurance costs and pays."""
    words = _(
        "When the dealer shows an ace, you can insure half your bet. It pays {odds} to 1 if the "
        "dealer has blackjack."
    )
    if rules.insurance == "up to half":
        words = _(
            "When the dealer shows an ace, you can insure up to half your bet. It pays {odds} to 1 "
            "if the dealer has blackjack."
        )
    return words.format(odds=rules.insurance_pays)


def fair_rules(fair: str = "") -> tuple[str, str]:
    """Return the rules of all tables on fair cards and on lost connections.

    `fair` replaces the words on fairness at a table without the key F.
    """
    fair = fair or _(
        "The shuffle is sealed before you bet and opened afterwards. Type F for the seal and how "
        "to check it, C to cut the cards with a phrase of your own."
    )
    waits = _("Lose your connection in mid-hand and it waits for you, just as it was.")
    return f"|15{_('Fair')}|07  {fair}", f"|15{_('Hang up')}|07  {waits}"


# How a hand ended. The robots of `verify` read the amounts in these sentences.


def result_sentence(net: int, coin: int) -> str:
    """Return what a hand won or lost without its bet, in coins of `coin` seconds and in time.

    >>> result_sentence(300, 60), result_sentence(-90, 60), result_sentence(72, 60)
    ('You win 5 coins: 5 minutes.', 'You lose 1.5 coins: 1 minute 30 seconds.', \
'You win 1 minute 12 seconds.')
    """
    time = span(abs(net))
    coins = wording.coins_of(abs(net), coin)
    if coins == time:
        return amount_sentence(net, time)
    words = _("You win {coins}: {span}.") if net > 0 else _("You lose {coins}: {span}.")
    return words.format(coins=coins, span=time)


def amount_sentence(net: int, amount: str) -> str:
    """Return that the caller wins or loses `amount`; `net` has the sign."""
    words = _("You win {amount}.") if net > 0 else _("You lose {amount}.")
    return words.format(amount=amount)
