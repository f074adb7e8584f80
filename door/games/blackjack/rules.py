"""The rules of a black jack table, as data.

Everything in which two tables may differ is a field of `BlackjackRules`; the engine has no opinion
of its own. Each field that a sysop may set carries the name of its key in sysop.toml; docs/rules.md
says what every value means and which sentence of which text it reads.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

from door.games.engine.cards import CARDS_IN_DECK, Card, count
from door.games.engine.errors import RuleProblem, RulesRefused
from door.games.engine.rules import MOST_DECKS, Check, Halves, checked, choice, flag, whole

CHARLIE_CARDS = 5
"""Where there are Charlies, a hand of so many cards is complete (help file, The Play and The
Dealer's Turn)."""

LONGEST_HAND = 22
"""Elsewhere no hand is longer: 21 aces, and the card that is one too many."""

DEALER_STANDS = 17
"""The dealer draws below this; the rules differ only in what happens at it."""

MOST_SEATS = 7
MOST_PAID = 100

Paid = Literal["at once", "after dealer"]


@dataclass(frozen=True, slots=True)
class BlackjackRules:
    """One table's rules.

    What a hand `..._pays` is what comes back for one that was bet, the stake included: the help
    file's "2 to 1" gives back four for a bet of two. These are whole or half numbers from 1.
    """

    decks: int
    shuffle: Literal["hand", "shoe"]  # for every hand, or a shoe that runs on
    penetration: int  # percent of a shoe that runs on, after which it is shuffled
    ties: Literal["dealer", "push"]  # who has equal totals
    insurance_rounding: Literal["exact", "down"]  # half a bet that is not whole units
    insurance_unit: int  # what "down" rounds to, in the smallest unit: the value of a coin
    insurance_pays: int  # so many more for each one, besides the insurance itself
    insurance_on_natural: bool  # whether a natural is offered insurance
    peek_under_ace: bool  # whether the dealer looks under an ace as under a ten
    hit_on_21: bool  # whether a caller may draw at 21
    natural_paid: Paid
    charlie_paid: Paid
    twenty_one_paid: Paid
    twenty_one_beats: Literal["lower totals", "all totals"]  # of the dealer, who is not over
    five_card_21: Literal["twenty-one", "charlie"]  # what five cards that make 21 are
    win_pays: Fraction
    natural_pays: Fraction
    twenty_one_pays: Fraction
    charlie_pays: Fraction
    doubled_21_pays: Fraction
    dealer_over: Literal["pays", "push"]  # what a dealer who goes over owes a lower hand
    split: Literal["never", "once"]  # two cards of equal value
    split_cards: Literal["as played", "both first"]  # when the second of two hands gets its second
    split_aces: Literal["play on", "one card"]  # whether a split ace is played or just completed
    split_21: Literal["twenty-one", "natural"]  # what an ace and a ten are after a split
    double: Literal["always", "10-11"]  # on which first two cards; "10-11" are hard totals
    double_after_split: bool  # whether a hand of a split may double too
    insurance: Literal["half", "up to half"]  # of the bet: that much, or as much as they like
    # "hit 17": on until more than 17; "... with an ace": whatever the ace counts.
    dealer: Literal["stand 17", "hit soft 17", "hit 17 with an ace", "hit 17"]
    deal: Literal["seats first", "dealer first"]  # one card each in turn, or the dealer's two first
    charlie: bool  # whether five cards are a Charlie, and end every hand
    keys: tuple[str, ...]  # what a sysop may set in this game, in the order of its table

    def is_charlie(self, cards: tuple[Card, ...]) -> bool:
        if not self.is_full(cards):
            return False
        total = count(cards).total
        return total < 21 or (total == 21 and self.five_card_21 == "charlie")

    def is_full(self, cards: Sequence[Card]) -> bool:
        """Whether a hand that has not gone over has no room for another card."""
        return self.charlie and len(cards) == CHARLIE_CARDS

    def dealer_draws(self, cards: Sequence[Card]) -> bool:
        """Whether a dealer who holds these takes another card. Soft is a count in which an ace is
        eleven, not any hand that has an ace in it."""
        total, soft = count(cards)
        if self.is_full(cards) or total > DEALER_STANDS:
            return False
        if total < DEALER_STANDS or self.dealer == "hit 17":
            return True
        if self.dealer == "hit 17 with an ace":
            return any(card.is_ace for card in cards)
        return self.dealer == "hit soft 17" and soft

    def most_cards(self, seats: int) -> int:
        """No round of `seats` seats takes more cards, whatever they are.

        >>> BLACK_JACK_FOR_TIME.most_cards(1), UNIX_BJ.most_cards(1)
        (10, 66)
        """
        hands = seats if self.split == "never" else 2 * seats
        return (CHARLIE_CARDS if self.charlie else LONGEST_HAND) * (hands + 1)

    def shuffle_due(self, dealt: int, seats: int) -> bool:
        """Whether a shoe of which `dealt` cards are gone must be shuffled before the next round.

        That is when it has passed `penetration`, and in a game of Charlies, whose longest round is
        short, always when that round might not be finished from what is left: other games shuffle
        in the middle of a round. In a game shuffled for every hand, when a card is gone.

        >>> BLACK_JACK_FOR_TIME.shuffle_due(0, 1), BLACK_JACK_FOR_TIME.shuffle_due(4, 1)
        (False, True)
        """
        if self.shuffle == "hand":
            return dealt > 0
        cards = self.decks * CARDS_IN_DECK
        short = self.charlie and cards - dealt < self.most_cards(seats)
        return dealt * 100 >= cards * self.penetration or short

    def best_odds(self) -> float:
        """The most that one coin of the opening bet can win.

        >>> BLACK_JACK_FOR_TIME.best_odds(), UNIX_BJ.best_odds()
        (2.0, 2.0)
        """
        single = max(self.natural_pays, self.charlie_pays, self.twenty_one_pays, self.win_pays)
        doubled = max(self.win_pays, self.doubled_21_pays)
        return float(max(single - 1, 2 * (doubled - 1)))

    def refused_stake(self, stake: int) -> str | None:
        """Why a stake in the smallest unit cannot be played here, or None.

        Half of it is needed exactly for insurance of just that and for payments such as 3 to 2;
        nothing is ever rounded silently.
        """
        if stake <= 0:
            return f"The stake must be more than 0, is {stake}."
        insured = self.insurance == "half" and self.insurance_rounding == "exact"
        if stake % 2 and (insured or self._pays_halves()):
            return f"Half the stake is needed by these rules: it must be even, is {stake}."
        return None

    def _pays_halves(self) -> bool:
        pays = [self.win_pays, self.natural_pays, self.twenty_one_pays]
        if self.charlie:
            pays.append(self.charlie_pays)
        return any(each.denominator != 1 for each in pays)


# Less than 1 would take a part of a stake that has won.
_pays = Halves(MOST_PAID)
_paid = choice("at once", "after dealer")

VALUE_OF_COIN = "insurance_unit"
"""The key that stands only in the journal."""

_OF_1991: Mapping[str, Check] = {
    "decks": whole(1, MOST_DECKS),
    "shuffle": choice("hand", "shoe"),
    "penetration": whole(1, 100),
    "ties": choice("dealer", "push"),
    "insurance_rounding": choice("exact", "down"),
    "insurance_pays": whole(1, MOST_PAID),
    "insurance_on_natural": flag,
    "peek_under_ace": flag,
    "hit_on_21": flag,
    "natural_paid": _paid,
    "charlie_paid": _paid,
    "twenty_one_paid": _paid,
    "twenty_one_beats": choice("lower totals", "all totals"),
    "five_card_21": choice("twenty-one", "charlie"),
    "win_pays": _pays,
    "natural_pays": _pays,
    "twenty_one_pays": _pays,
    "charlie_pays": _pays,
    "doubled_21_pays": _pays,
    "dealer_over": choice("pays", "push"),
}
BLACK_JACK_FOR_TIME_KEYS = tuple(_OF_1991)
"""What a sysop may set under [games.black-jack-for-time]."""

_CHECKS: Mapping[str, Check] = {
    **_OF_1991,
    "split_cards": choice("as played", "both first"),
    "split_aces": choice("play on", "one card"),
    "split_21": choice("twenty-one", "natural"),
    "double": choice("always", "10-11"),
    "double_after_split": flag,
    "dealer": choice("stand 17", "hit soft 17", "hit 17 with an ace", "hit 17"),
    VALUE_OF_COIN: whole(1, 10**9),
}

VEGAS_KEYS = (
    "decks",
    "penetration",
    "dealer",
    "double",
    "double_after_split",
    "split_cards",
    "split_aces",
    "split_21",
    "insurance_on_natural",
    "natural_pays",
)
"""What a sysop may set under [games.vegas]."""

UNIX_BJ_KEYS = ("double_after_split", "split_aces")
"""What a sysop may set under [games.unix-bj]: it is played to the letter of the program, but where
its manual pages may be read otherwise."""

BLACK_JACK_FOR_TIME = BlackjackRules(
    decks=1,
    shuffle="hand",
    penetration=75,
    ties="dealer",
    insurance_rounding="exact",
    insurance_unit=1,
    insurance_pays=2,
    insurance_on_natural=True,
    peek_under_ace=True,
    hit_on_21=False,
    natural_paid="at once",
    charlie_paid="at once",
    twenty_one_paid="after dealer",
    twenty_one_beats="lower totals",
    five_card_21="twenty-one",
    win_pays=Fraction(2),
    natural_pays=Fraction(3),
    twenty_one_pays=Fraction(3),
    charlie_pays=Fraction(3),
    doubled_21_pays=Fraction(2),
    dealer_over="pays",
    split="never",
    split_cards="both first",
    split_aces="play on",
    split_21="twenty-one",
    double="always",
    double_after_split=True,
    insurance="half",
    dealer="stand 17",
    deal="seats first",
    charlie=True,
    keys=BLACK_JACK_FOR_TIME_KEYS,
)
"""The help file's rules; where it is silent, the defaults that docs/rules.md explains."""

UNIX_BJ = replace(
    BLACK_JACK_FOR_TIME,
    shuffle="shoe",
    penetration=100,
    ties="push",
    hit_on_21=True,
    natural_pays=Fraction(5, 2),
    twenty_one_pays=Fraction(2),
    split="once",
    split_cards="as played",
    split_aces="one card",
    double="10-11",
    deal="dealer first",
    charlie=False,
    keys=UNIX_BJ_KEYS,
)
"""The rules of the UNIX game bj, by its manual pages and by what the program did."""

UNIX_BJ_STAKE = 200
"""What it stakes on every hand, in cents: "The bet is $2 every hand"."""

VEGAS = replace(
    BLACK_JACK_FOR_TIME,
    decks=6,
    shuffle="shoe",
    ties="push",
    natural_paid="after dealer",
    natural_pays=Fraction(5, 2),
    twenty_one_pays=Fraction(2),
    split="once",
    split_cards="as played",
    insurance="up to half",
    charlie=False,
    keys=VEGAS_KEYS,
)
"""The rules of NEXTVegas; where it is silent or leaves a choice, what docs/rules.md explains."""


def checks_of(rules: BlackjackRules) -> dict[str, Check]:
    """What each key must hold in the game of these rules."""
    return {key: _CHECKS[key] for key in _journaled(rules)}


def rules_from_mapping(mapping: Mapping[str, object], base: BlackjackRules) -> BlackjackRules:
    """`base` with the keys of `mapping` (names and values as in sysop.toml) in place of its own.

    Raises `RulesRefused`, which names every wrong key, when any is: each game has its own
    (`base.keys`), besides `insurance_unit`, which stands only in the journal.

    >>> rules_from_mapping({"ties": "push", "decks": 6}, BLACK_JACK_FOR_TIME).decks
    6
    >>> try:
    ...     rules_from_mapping({"tie": "push", "decks": 0}, BLACK_JACK_FOR_TIME)
    ... except RulesRefused as error:
    ...     print(error)
    tie: is not a rule of this game; decks: must be a whole number from 1 to 8, is 0.
    """
    values = checked(mapping, checks_of(base))
    # Every value has been checked against its field; replace() cannot be told so.
    rules: BlackjackRules = replace(base, **values)  # type: ignore[arg-type]
    if rules.hit_on_21 and rules.twenty_one_paid == "at once":
        reason = 'cannot be true while twenty_one_paid is "at once": the hand would be over'
        raise RulesRefused((RuleProblem("hit_on_21", reason),))
    return rules


def rules_to_mapping(rules: BlackjackRules) -> dict[str, object]:
    """The keys and values, fit for JSON, from which `rules_from_mapping` makes these rules again
    out of those of their game. What belongs to the game and not to the house, as `split` does, is
    not among them."""
    mapping = {key: getattr(rules, key) for key in _journaled(rules)}
    return {
        key: _plain(value) if isinstance(value, Fraction) else value
        for key, value in mapping.items()
    }


def _journaled(rules: BlackjackRules) -> tuple[str, ...]:
    """The keys of a journal. The value of a coin is the table's to set, not the sysop's."""
    return (*rules.keys, VALUE_OF_COIN)


def _plain(number: Fraction) -> int | float:
    """A whole or half number as TOML and JSON write it; both are exact."""
    return int(number) if number.denominator == 1 else float(number)
