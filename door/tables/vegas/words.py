"""The news of a Vegas table in sentences for one caller.

The caller is "you": "You stand", "Ada stands". Amounts are in coins.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from door import wording
from door.call.markup import hanging, literal
from door.games.blackjack import events as happened
from door.games.blackjack.blackjack_hand import Hand, is_complete
from door.games.blackjack.events import BlackjackOutcome, Event
from door.games.blackjack.round import BlackjackRound
from door.games.engine.cards import Card
from door.tables.card_names import listed_cards, the_card
from door.tables.scene import BIG_WIN
from door.tables.vegas import news
from door.tables.vegas.news import News, RoundNews
from door.tables.words import (
    cards_rule,
    coins_rule,
    insurance_rule,
    pay_lines,
    result_sentence,
    total_words,
)
from timebank.language import N_, _, cached_text
from timebank.words import span

if TYPE_CHECKING:
    from door.games.blackjack.rules import BlackjackRules
    from door.games.vegas.game import VegasSettings


DOUBLE_WINS = N_("YOUR DOUBLE WINS!")


def total_of(hand: Hand) -> str:
    """Return the total of a hand in words: "blackjack", "soft 17", "21"."""
    return _("blackjack") if hand.is_natural else total_words(hand.count)


def sentences_for(item: News, me: str) -> list[str]:
    """Return all sentences on `item` for the caller called `me`, with pipe codes."""
    match item:
        case news.RoundDealt():
            dealt = 2 * len(item.names) + 2  # card events, replaced by the lines of hands
            return [*_hands(item.names, item.round), *_events(item, item.events[dealt:], me)]
        case news.RoundWentOn():
            return list(_events(item, item.events, me))
        case news.RoundResumed():
            words = _("A round is still on the table. Seats are kept for {time}.")
            seats = f"|14{words.format(time=span(item.seconds))}"
            return [seats, *_hands(item.names, item.round)]
        case news.TableTalk(name, text):
            words = _("You say: {text}") if name == me else _("{name} says: {text}")
            return [hanging(f"|11{words.format(name=literal(name), text=f'|07{text}')}")]
        case news.Whispered(name, to, text):
            return [hanging(f"|13{_whisper(name, to, me, text)}")]
    sentence = _at_the_table(item, me)
    return [sentence] if sentence else []


def _whisper(name: str, to: str, me: str, text: str) -> str:
    words = (
        _("You whisper to {name}: {text}") if name == me else _("{name} whispers to you: {text}")
    )
    return words.format(name=literal(to if name == me else name), text=f"|07{text}")


def painted_sentences(item: News, me: str) -> list[str]:
    """Return the sentences on `item` that a painted screen needs as well."""
    if isinstance(item, RoundNews):
        return list(
            _events(item, [event for event in item.events if _matters(item, event, me)], me)
        )
    if isinstance(item, news.BetAnnounced | news.TableTalk | news.Whispered | news.TurnBegan):
        return []
    if isinstance(item, news.ShoeSealed | news.ShoeDone | news.RoundResumed | news.BellSet):
        return []
    if isinstance(item, news.StoodFor) and item.name != me:
        return []
    sentence = _at_the_table(item, me)
    return [sentence] if sentence else []


@dataclass(frozen=True, slots=True)
class SeatEnding:
    """How a round ended for one seat: words in English, and the net in seconds and coins."""

    words: str
    net: int
    coins: int
    amount: str
    is_big: bool  # whether a double wins, or ten coins


def ending_of(round_: BlackjackRound, place: int, coin: int) -> SeatEnding:
    """Return the banner for a seat of a finished round."""
    totals = round_.totals_of(place)
    net = totals.won - totals.lost
    amount = f"{'+' if net > 0 else '-'}{wording.coins_of(abs(net), coin)}" if net else ""
    words = _banner(round_, place, net)
    is_big = net > 0 and (net >= BIG_WIN * coin or words == DOUBLE_WINS)
    return SeatEnding(words, net, abs(net) // coin, amount, is_big)


def _banner(round_: BlackjackRound, place: int, net: int) -> str:
    outcomes, hands = round_.outcomes_of(place), round_.seats[place].hands
    if BlackjackOutcome.NATURAL in outcomes:
        return N_("BLACKJACK!")
    if BlackjackOutcome.DEALER_NATURAL in outcomes:
        return N_("DEALER HAS BLACKJACK") if net < 0 else N_("SAVED BY INSURANCE")
    if net > 0 and any(hand.doubled and hand.settled and hand.settled.won for hand in hands):
        return DOUBLE_WINS
    if set(outcomes) == {BlackjackOutcome.BUST}:
        return N_("BUST!")
    if not net:
        return N_("PUSH")
    return N_("YOU WIN!") if net > 0 else N_("DEALER WINS")


def net_of(round_: BlackjackRound, place: int, coin: int) -> str:
    """Return the net of a seat in a finished round, for the felt: "+3", "-1.5", "push"."""
    totals = round_.totals_of(place)
    net = totals.won - totals.lost
    if not net:
        return f"|00|23 {_('push')} |18"
    exact = abs(net) * 2 % coin == 0
    number = (wording.coin_number if exact else _minutes)(abs(net), coin)
    return f"|14|17 +{number} |18" if net > 0 else f"|15|20 -{number} |18"


def _minutes(seconds: int, _coin: int) -> str:
    return wording.clock_time(seconds)


class LastCard:
    """The end of a hand that gets no further card, so that its caller had no choice."""


# For each event: colour, the sentence for the caller, the sentence for others.
YOURS_AND_THEIRS = {
    news.SatDown: ("|07", N_("You sit down."), N_("{name} sits down.")),
    news.CameBack: ("|14", N_("You're back at your hand."), N_("{name} is back.")),
    news.GotUp: ("|07", N_("You have left the table."), N_("{name} has left the table.")),
    news.StoodFor: ("|14", N_("The dealer plays for you."), N_("The dealer plays for {name}.")),
    happened.BlackjackNatural: ("|10", N_("BLACKJACK!"), N_("{name} has blackjack!")),
    happened.InsuranceDeclined: ("|07", N_("No insurance."), N_("{name} takes no insurance.")),
    happened.Doubled: ("|07", N_("You double."), N_("{name} doubles.")),
    happened.Split: ("|07", N_("You split."), N_("{name} splits.")),
    happened.BlackjackDealt: ("|07", N_("You get {card}."), N_("{name} gets {card}.")),
    happened.BlackjackStood: ("|07", N_("You stand on {total}."), N_("{name} stands on {total}.")),
    LastCard: ("|07", N_("You have {total}."), N_("{name} has {total}.")),
    happened.TwentyOne: ("|10", N_("You have 21."), N_("{name} has 21.")),
}


def _sentence(kind: type, name: str, me: str, **values: str) -> str:
    colour, mine, theirs = YOURS_AND_THEIRS[kind]
    words = _(mine) if name == me else _(theirs)
    return colour + words.format(name=literal(name), **values)


def _at_the_table(item: News, me: str) -> str:
    """Return the sentence on news other than cards and talk, "" for none."""
    match item:
        case news.SatDown(name) | news.CameBack(name) | news.GotUp(name) | news.StoodFor(name):
            return _sentence(type(item), name, me)
        case news.LineLost(name, seconds):
            words = _("{name} was disconnected and has {time} to come back.")
            return f"|14{words.format(name=literal(name), time=span(seconds))}"
        case news.BetAnnounced(name, coins):
            words = _("You bet {coins}.") if name == me else _("{name} bets {coins}.")
            return f"|07{words.format(name=literal(name), coins=wording.coins(coins))}"
        case news.BetRefused(name, reason) if name == me:
            return f"|12{reason}"
        case news.BetRefused(name):
            return f"|07{_('{name} sits this one out.').format(name=literal(name))}"
        case news.CutMade(names):
            return f"|07{_('Cut by {names}.').format(names=_listed(names))}"
        case news.BellSet(seconds):
            return f"|14{_('Cards in {time}.').format(time=span(seconds))}"
        case news.TurnBegan(name, seconds) if name == me:
            return f"|14{_('Your turn: {time}.').format(time=span(seconds))}"
    words = _HOUSE.get(type(item), "")
    return f"|14{_(words)}" if words else ""


def _listed(names: Sequence[str]) -> str:
    """Return names in a sentence: "Ann, Bob and Cleo"."""
    *before, last = map(literal, names)
    if not before:
        return last
    return _("{names} and {last}").format(names=", ".join(before), last=last)


# Sentences of the house, the same for all callers.
_HOUSE = {
    news.BellRang: N_("No more bets."),
    news.ShoeSealed: N_("The dealer shuffles."),
    news.ShoeDone: N_("That was the last of the shoe. Type F to check it."),
    news.BooksBusy: N_("The books are busy. The dealer waits."),
    news.BooksClosed: N_("The books can't be written right now. The dealer waits."),
    news.TableLost: N_(
        "This table was stuck for too long. If you had an open hand, the dealer stands it; "
        "you'll hear how it ended."
    ),
    news.BooksInDoubt: N_("The books can't say yet if your last move counts. The dealer waits."),
}


def _hands(names: Sequence[str], round_: BlackjackRound) -> Iterator[str]:
    for name, seat in zip(names, round_.seats, strict=True):
        for hand in seat.hands:
            words = _("{name}: {cards} ({total})")
            cards, total = card_words(hand.cards), total_of(hand)
            yield f"|07{words.format(name=literal(name), cards=cards, total=total)}"
    yield f"|07{_('Dealer: {cards}').format(cards=card_words(round_.dealer))}"


def card_words(cards: Sequence[Card | None]) -> str:
    """Return cards in words, brighter than the sentence around them."""
    return f"|15{listed_cards(cards)}|07"


def _matters(item: RoundNews, event: Event, me: str) -> bool:
    """Return whether a painted screen needs a sentence on an event."""
    match event:
        case happened.Peeked() | happened.DealerNatural():
            return me in item.names
        case happened.DealerStood() | happened.DealerBusted() | happened.BlackjackNatural():
            return True
        case (
            happened.BlackjackDealt()
            | happened.DealerDealt()
            | happened.BlackjackRevealed()
            | happened.BlackjackStood()
        ):
            return False
        case happened.InsuranceOffered() | happened.DealerCharlie():
            return False
    return item.names[event.seat] == me


def _events(item: RoundNews, events: Sequence[Event], me: str) -> Iterator[str]:
    for event in events:
        sentence = _dealers(event) or _callers(item, event, me)
        if sentence:
            yield sentence


def _dealers(event: Event) -> str:
    match event:
        case happened.DealerDealt(card=str(card)):
            return f"|07{_('The dealer draws {card}.').format(card=the_card(card))}"
        case happened.Peeked(natural=False):
            return f"|07{_('The dealer peeks: no blackjack.')}"
        case happened.BlackjackRevealed(card=card):
            return f"|07{_('The dealer turns over {card}.').format(card=the_card(card))}"
        case happened.DealerNatural():
            return f"|12{_('The dealer has blackjack.')}"
        case happened.DealerStood(total=total):
            return f"|07{_('The dealer stands on {total}.').format(total=total)}"
        case happened.DealerBusted(total=total):
            return f"|10{_('The dealer busts with {total}!').format(total=total)}"
    return ""


def _callers(item: RoundNews, event: Event, me: str) -> str:
    match event:
        case happened.BlackjackDealt(seat, hand, card):
            sentence = _sentence(type(event), item.names[seat], me, card=the_card(card))
            return _on_hand(sentence, item, seat, hand)
        case happened.BlackjackStood(seat, hand, total):
            is_forced = is_complete(item.round.rules, item.round.seats[seat].hands[hand])
            kind = LastCard if is_forced else type(event)
            sentence = _sentence(kind, item.names[seat], me, total=str(total))
            return _on_hand(sentence, item, seat, hand)
        case happened.Doubled(seat, hand) | happened.TwentyOne(seat, hand):
            return _on_hand(_sentence(type(event), item.names[seat], me), item, seat, hand)
        case (
            happened.BlackjackNatural(seat)
            | happened.InsuranceDeclined(seat)
            | happened.Split(seat)
        ):
            sentence = _sentence(type(event), item.names[seat], me)
            is_cheered = isinstance(event, happened.BlackjackNatural) and len(item.names) > 1
            return f"{sentence} {_('The table cheers.')}" if is_cheered else sentence
        case happened.InsuranceBought(seat, amount):
            name = item.names[seat]
            words = _("You insure for {coins}.") if name == me else _("{name} insures for {coins}.")
            coins = wording.coins_of(amount, item.coin)
            return f"|07{words.format(name=literal(name), coins=coins)}"
        case happened.InsuranceSettled():
            return _insurance(item, event, me)
        case happened.BlackjackSettled():
            return _settled(item, event, me)
    return ""  # the settlement has the sentence for a bust


def _insurance(item: RoundNews, event: happened.InsuranceSettled, me: str) -> str:
    name = item.names[event.seat]
    coins = wording.coins_of(event.won or event.lost, item.coin)
    if event.won and name == me:
        return f"|10{_('Your insurance pays.')} {result_sentence(event.won, item.coin)}"
    if event.won:
        words = _("{name}'s insurance wins {coins}.")
        return f"|10{words.format(name=literal(name), coins=coins)}"
    words = (
        _("Your insurance of {coins} is lost.")
        if name == me
        else _("{name}'s insurance of {coins} is lost.")
    )
    return f"|12{words.format(name=literal(name), coins=coins)}"


def _settled(item: RoundNews, event: happened.BlackjackSettled, me: str) -> str:
    name, outcome = item.names[event.seat], event.outcome
    coins = wording.coins_of(event.won or event.lost, item.coin)
    result = result_sentence(event.won - event.lost, item.coin)
    total = item.round.seats[event.seat].hands[event.hand].count.total
    if outcome is BlackjackOutcome.PUSH:
        colour, mine, theirs = "|14", _("Push: your bet comes back."), _("{name} pushes.")
    elif event.won:
        colour, mine, theirs = "|10", result, _("{name} wins {coins}.")
    elif outcome is BlackjackOutcome.BUST:
        colour, mine = "|12", f"{_('You bust with {total}.')} {result}"
        theirs = _("{name} busts with {total} and loses {coins}.")
    else:
        colour, mine, theirs = "|12", result, _("{name} loses {coins}.")
    words = (mine if name == me else theirs).format(name=literal(name), total=total, coins=coins)
    return _on_hand(f"{colour}{words}", item, event.seat, event.hand)


def _on_hand(sentence: str, item: RoundNews, seat: int, hand: int) -> str:
    """Return a sentence with the number of the hand after a split."""
    if len(item.round.seats[seat].hands) == 1:
        return sentence
    which = _("First hand: {outcome}") if hand == 0 else _("Second hand: {outcome}")
    return f"|07{which.format(outcome=sentence)}"


# The rules page of the table.

DEALER = {
    "stand 17": N_("The dealer draws to 16 and stands on every 17."),
    "hit soft 17": N_("The dealer draws to 16 and hits soft 17, a 17 with an ace that counts 11."),
    "hit 17 with an ace": N_(
        "The dealer draws to 16 and hits a 17 with an ace in it, whatever the ace counts."
    ),
    "hit 17": N_("The dealer hits every 17."),
}


# By whether any two cards may be doubled, and whether after a split too.
DOUBLE = {
    (True, True): N_("Any two cards, also after a split: twice the bet, one last card."),
    (True, False): N_("Any two cards, not after a split: twice the bet, one last card."),
    (False, True): N_(
        "A hard 10 or 11 in two cards, also after a split: twice the bet, one last card."
    ),
    (False, False): N_(
        "A hard 10 or 11 in two cards, not after a split: twice the bet, one last card."
    ),
}


@cached_text
def rules_text(settings: VegasSettings) -> str:
    """Return the rules page."""
    rules = settings.rules
    together = _(
        "Everybody sees every card. The cards come when everybody has bet, or {bell} after the "
        "first bet. You have {turn} for each decision, then the dealer stands your hand. No "
        "clock when you play alone."
    ).format(bell=span(settings.bell_seconds), turn=span(settings.turn_seconds))
    double = DOUBLE[rules.double == "always", rules.double_after_split]
    aces = (
        _("Split aces play like any hand.")
        if rules.split_aces == "play on"
        else _("Split aces get one card each.")
    )
    sections = (
        (
            _("Blackjack"),
            _("An ace and a ten-card on the deal. After a split, that's just 21.")
            if rules.split_21 == "twenty-one"
            else _("An ace and a ten-card on the deal, or after a split."),
        ),
        (_("Together"), together),
        (_("Cards"), cards_rule(rules.decks, rules.shuffle, rules.penetration)),
        (_("Dealer"), _(DEALER[rules.dealer])),
        (_("Double"), _(double)),
        (_("Split"), f"{_('Two cards of equal value, once: two hands, two bets.')} {aces}"),
        (
            _("Insurance"),
            insurance_rule(rules),
        ),
        (
            _("Talk"),
            _(
                "K talks to the table. /name message whispers to one player. /p, /r and /w work "
                "as everywhere."
            ),
        ),
        (
            _("Fairness"),
            _(
                "The seal of the shoe is set before you bet. F shows it, and the seed when the "
                "shoe is done. C cuts a fresh shoe."
            ),
        ),
        (
            _("Hang up"),
            _("Your hand waits for the rest of your turn. Then the dealer stands it."),
        ),
    )
    sentences_for = [f"|15{name}|07  {text}" for name, text in sections]
    return "\n\n".join((coins_rule(settings), _pay_table(rules), *sentences_for))


def _pay_table(rules: BlackjackRules) -> str:
    rows = (
        (_("Blackjack"), natural_odds(rules)),
        (_("Any other win"), odds(1, 1)),
        (_("Insurance"), odds(rules.insurance_pays, 1)),
        (_("Push"), _("bet returned")),
    )
    return f"|15{_('The house pays')}\n{pay_lines(rows)}"


def odds(wins: int, stake: int) -> str:
    """Return the odds in words.

    >>> odds(2, 1)
    '2 to 1'
    """
    return _("{wins} to {stake}").format(wins=wins, stake=stake)


def natural_odds(rules: BlackjackRules) -> str:
    """Return the odds that a natural pays.

    >>> from door.games.blackjack.rules import VEGAS
    >>> natural_odds(VEGAS)
    '3 to 2'
    """
    profit = rules.natural_pays - 1
    return odds(profit.numerator, profit.denominator)
