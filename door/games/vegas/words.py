"""What is said at the Vegas table: everything that happens there, in sentences for one listener.

Each sentence is told from where they sit: "You stand", "Ada stands". Amounts are spoken in coins.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ansi.cards import plain
from door import wording
from door.call.display import literal
from door.games.blackjack import events as happened
from door.games.blackjack.events import BlackjackOutcome, Event
from door.games.blackjack.round import BlackjackRound
from door.games.tables.words import coins_rule
from door.games.vegas import news
from door.games.vegas.news import News, RoundNews
from timebank.words import span

if TYPE_CHECKING:
    from door.games.blackjack.rules import BlackjackRules
    from door.games.vegas.game import VegasSettings

OUTCOMES = {
    BlackjackOutcome.NATURAL: "|10Black Jack",
    BlackjackOutcome.TWENTY_ONE: "|10Twenty-one wins",
    BlackjackOutcome.WIN: "|10{} won",
    BlackjackOutcome.PUSH: "|14Push",
    BlackjackOutcome.LOSE: "|12{} lost",
    BlackjackOutcome.BUST: "|12Bust",
    BlackjackOutcome.DEALER_NATURAL: "|12The dealer's Black Jack takes it",
}


def told(item: News, me: str) -> list[str]:
    """Return everything that is said of `item` to the caller called `me`, pipe codes inside."""
    match item:
        case news.RoundDealt():
            dealt = 2 * len(item.names) + 2  # cards: they are told by hands
            return [*_hands(item.names, item.round), *_events(item, item.events[dealt:], me)]
        case news.RoundWentOn():
            return list(_events(item, item.events, me))
        case news.RoundResumed():
            kept = span(item.seconds)
            seats = [f"|14A round lies on the table; its seats are kept for {kept}."]
            return [*seats, *_hands(item.names, item.round)]
        case news.Said(name, text):
            return [f"|11{_who(name, me, 'says', 'say')}:|07 {text}"]
        case news.Whispered(name, to, text):
            whom = "you" if to == me else literal(to)
            return [f"|13{_who(name, me, 'whispers', 'whisper')} to {whom}:|07 {text}"]
    said = _at_the_table(item, me)
    return [said] if said else []


def told_beside_the_scene(item: News, me: str) -> list[str]:
    """Return what is said of `item` to one who sees the table painted: what concerns them."""
    if isinstance(item, RoundNews):
        return list(
            _events(item, [event for event in item.events if _matters(item, event, me)], me)
        )
    if isinstance(item, news.BetAnnounced | news.IsReady | news.Said | news.Whispered):
        return []
    if isinstance(item, news.ShoeSealed | news.ShoeDone | news.RoundResumed | news.BellSet):
        return []
    if isinstance(item, news.StoodFor | news.TurnBegan) and item.name != me:
        return []
    said = _at_the_table(item, me)
    return [said] if said else []


def standing_of(round_: BlackjackRound, place: int, coin: int) -> str:
    """Return what a seat won or lost in a round that is over: "wins 3 coins", "even"."""
    totals = round_.totals_of(place)
    net = totals.won - totals.lost
    if not net:
        return "|14even"
    return f"{'|10wins' if net > 0 else '|12loses'} {wording.coins_of(abs(net), coin)}"


def _at_the_table(item: News, me: str) -> str:
    """Return what is said of a thing that is neither cards nor talk, "" when nothing is."""
    match item:
        case news.SatDown(name):
            return f"|07{_who(name, me, 'sits', 'sit')} down."
        case news.CameBack(name):
            return f"|14{_who(name, me, 'is back at the hand', 'are back at your hand')}."
        case news.GotUp(name):
            return f"|07{_who(name, me, 'has', 'have')} left the table."
        case news.BetAnnounced(name, coins):
            return f"|07{_who(name, me, 'bets', 'bet')} |15{wording.coins(coins)}|07."
        case news.IsReady(name):
            return f"|07{_who(name, me, 'is', 'are')} ready."
        case news.BetRefused(name, reason):
            return f"|12{reason}" if name == me else f"|07{literal(name)} sits this one out."
        case news.BellSet(seconds):
            return f"|14The bell rings in {span(seconds)}."
        case news.BellRang():
            return "|14The bell rings."
        case news.ShoeSealed(seal):
            return f"|08Seal {seal}"
        case news.ShoeDone(seed):
            return f"|07The shoe is done. |08Seed {seed}"
        case news.CutMade(name, words):
            cut = f"cuts the cards with: {literal(words)}" if words else "takes the cut back."
            return f"|07{literal(name)} {cut}"
        case news.StoodFor(name):
            return f"|14The dealer goes on for {'you' if name == me else literal(name)}."
        case news.TurnBegan(name, seconds) if name == me:
            return f"|14It is your turn: {span(seconds)}."
        case news.BooksBusy():
            return "|14The books are busy just now; the dealer waits."
        case news.BooksClosed():
            return "|12The books cannot be written just now; the dealer waits."
        case news.BooksInDoubt():
            return "|12The books cannot say yet whether what was done counts; the dealer waits."
        case news.ShoeInUse():
            return (
                "|14Another process of this board deals from this shoe. The dealer waits until its "
                "round is over."
            )
    return ""


def _hands(names: Sequence[str], round_: BlackjackRound) -> Iterator[str]:
    for name, seat in zip(names, round_.seats, strict=True):
        for hand in seat.hands:
            cards = ", ".join(plain(card) for card in hand.cards)
            yield f"|07{literal(name)}: |15{cards}|07 ({hand.count})"
    dealer = ", ".join(plain(card) if card else "face down" for card in round_.dealer)
    yield f"|07Dealer: |15{dealer}"


def _matters(item: RoundNews, event: Event, me: str) -> bool:
    """Whether an event is told to one who sees the cards: their own, and the dealer's last."""
    match event:
        case happened.Peeked() | happened.DealerNatural():
            return me in item.names
        case happened.DealerStood() | happened.DealerBusted():
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
        said = _dealers(event) or _callers(item, event, me)
        if said:
            yield said


def _dealers(event: Event) -> str:
    match event:
        case happened.DealerDealt(card=str(card)):
            return f"|07The dealer draws |15{plain(card)}|07."
        case happened.Peeked(natural=False):
            return "|07The dealer looks at his hole card: no Black Jack."
        case happened.BlackjackRevealed(card=card):
            return f"|07The dealer turns up |15{plain(card)}|07."
        case happened.DealerNatural():
            return "|12Black Jack for the dealer."
        case happened.DealerStood(total=total):
            return f"|07The dealer stands on |15{total}|07."
        case happened.DealerBusted(total=total):
            return f"|10The dealer busts with {total}."
    return ""


def _callers(item: RoundNews, event: Event, me: str) -> str:
    match event:
        case happened.BlackjackDealt(seat, hand, card):
            who = _who(item.names[seat], me, "gets", "get")
            return f"|07{who} |15{plain(card)}|07{_which(item, seat, hand)}."
        case happened.BlackjackNatural(seat):
            return f"|10{_who(item.names[seat], me, 'has', 'have')} Black Jack!"
        case happened.InsuranceBought(seat, amount):
            who = _who(item.names[seat], me, "insures", "insure")
            return f"|07{who} for {wording.coins_of(amount, item.coin)}."
        case happened.InsuranceDeclined(seat):
            return f"|07{_who(item.names[seat], me, 'takes', 'take')} no insurance."
        case happened.Doubled(seat, hand):
            who = _who(item.names[seat], me, "doubles", "double")
            return f"|07{who} down{_which(item, seat, hand)}."
        case happened.Split(seat):
            return f"|07{_who(item.names[seat], me, 'splits', 'split')}."
        case happened.BlackjackStood(seat, hand, total):
            who = _who(item.names[seat], me, "stands", "stand")
            return f"|07{who} on |15{total}|07{_which(item, seat, hand)}."
        case happened.TwentyOne(seat, hand):
            who = _who(item.names[seat], me, "has", "have")
            return f"|10{who} twenty-one{_which(item, seat, hand)}."
        case happened.Busted(seat, hand, total):
            who = _who(item.names[seat], me, "busts", "bust")
            return f"|12{who} with {total}{_which(item, seat, hand)}."
        case happened.InsuranceSettled(seat):
            return _insurance(item, event, me)
        case happened.BlackjackSettled():
            return _settled(item, event, me)
    return ""


def _insurance(item: RoundNews, event: happened.InsuranceSettled, me: str) -> str:
    whose = "Your" if item.names[event.seat] == me else f"{literal(item.names[event.seat])}'s"
    if event.won:
        return f"|10{whose} insurance wins {wording.coins_of(event.won, item.coin)}."
    return f"|12{whose} insurance of {wording.coins_of(event.lost, item.coin)} is lost."


def _settled(item: RoundNews, event: happened.BlackjackSettled, me: str) -> str:
    whose = "" if item.names[event.seat] == me else f"|07{literal(item.names[event.seat])}: "
    amount = event.won or event.lost
    words = OUTCOMES[event.outcome].format(wording.coins_of(amount, item.coin))
    if "{}" not in OUTCOMES[event.outcome] and amount:
        words += f": {wording.coins_of(amount, item.coin)} {'won' if event.won else 'lost'}"
    return f"{whose}{words}{_which(item, event.seat, event.hand)}."


def _which(item: RoundNews, seat: int, hand: int) -> str:
    """Return which of two hands it is, after a split."""
    if len(item.round.seats[seat].hands) == 1:
        return ""
    return f" on the {('first', 'second')[hand]} hand"


def _who(name: str, me: str, does: str, do: str) -> str:
    return f"You {do}" if name == me else f"{literal(name)} {does}"


# The rules of the table as a caller may read them there, as they are set here.

DEALER = {
    "stand 17": "draws to 16 and stands on every 17, soft or not",
    "hit soft 17": "draws to 16, and on a 17 in which an ace counts eleven",
    "hit 17": "draws until he has more than 17",
}


def rules_text(settings: VegasSettings) -> str:
    rules = settings.rules
    decks = "One deck" if rules.decks == 1 else f"{rules.decks} decks"
    doubled = "any two cards" if rules.double == "always" else "a hard ten or eleven in two cards"
    after = "also" if rules.double_after_split else "but not"
    aces = "like any hand" if rules.split_aces == "play on" else "with one card each"
    return "\n".join(
        (
            coins_rule(settings, "rounds"),
            "|15Together|07  Everybody sees every card. The cards are dealt when all are ready, or "
            f"{span(settings.bell_seconds)} after the first bet, when the bell rings. Decisions go "
            f"round; who says nothing for {span(settings.turn_seconds)} stands. Alone, nobody "
            "hurries you.",
            f"|15Cards|07  {decks} that run on, shuffled after the round that passes "
            f"{rules.penetration} percent. Two cards for each, the dealer's second face down.",
            f"|15Black Jack|07  An ace and a ten pay {natural_words(rules)}; not after a split. "
            "The dealer looks under an ace or a ten; his own ends the round, and yours pushes.",
            "|15Insurance|07  When the dealer shows an ace: any amount up to half of your bet. It "
            "pays 2 to 1 if he has Black Jack.",
            f"|15Double|07  on {doubled}, {after} after a split: twice the bet, one last card.",
            f"|15Split|07  two cards of equal value, once: two hands, paid separately. Split aces "
            f"play {aces}.",
            f"|15The dealer|07  {DEALER[rules.dealer]}. Ties push. At 21 nobody draws.",
            "|15Talk|07  <T> says it to all; a line that begins with /name is whispered to one.",
            "|15Fair|07  The seal of the shoe is there before you bet, its seed when the shoe is "
            "done. The first seat may cut a fresh one. docs/fairness.md tells how to check.",
            "|15Hang up|07  and the hand is stood at its turns; come back during the round, and it "
            "is yours again.",
        )
    )


def natural_words(rules: BlackjackRules) -> str:
    """Return what a natural pays, in the way a table says it.

    >>> from door.games.blackjack.rules import VEGAS
    >>> natural_words(VEGAS)
    '3 to 2'
    """
    profit = rules.natural_pays - 1
    return f"{profit.numerator} to {profit.denominator}"
