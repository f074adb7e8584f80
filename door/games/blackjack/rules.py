"""The rules of a black jack table as data.

All differences between tables are fields of `BlackjackRules`. A field that a sysop may set has the
name of its key in sysop.toml. docs/rules.md explains every value and quotes its source.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Literal

from door.games.engine.cards import CARDS_IN_DECK, Card, count
from door.games.engine.errors import RuleProblem, RulesRefused
from door.games.engine.rules import MOST_DECKS, Check, Halves, checked, choice, flag, plain, whole

CHARLIE_CARDS = 5
"""The cards of a complete hand in a game with Charlies (help file, The Play and The Dealer's
Turn)."""

LONGEST_HAND = 22
"""The most cards of a hand in other games: 21 aces and the card that busts."""

DEALER_STANDS = 17
"""The dealer draws below this total, and the rules decide what happens at it."""

MOST_SEATS = 7
MOST_PAID = 100

Paid = Literal["at once", "after dealer"]


@dataclass(frozen=True, slots=True)
class BlackjackRules:
    """The rules of one table.

    The fields `..._pays` are what comes back for each one bet, including the stake. So the help
    file's "2 to 1" returns four for a bet of two. They are whole or half numbers from 1.
    """

    decks: int
    shuffle: Literal["hand", "shoe"]  # for each hand, or after `penetration`
    penetration: int  # percent of the shoe
    ties: Literal["dealer", "push"]  # the winner of equal totals, or none
    insurance_rounding: Literal["exact", "down"]  # of half a bet that is not whole units
    insurance_unit: int  # for "down", in the smallest unit: the value of a coin
    insurance_pays: int  # winnings for each one, besides the insurance itself
    insurance_on_natural: bool  # whether a natural is offered insurance
    peek_under_ace: bool  # whether the dealer looks under an ace as under a ten
    hit_on_21: bool  # whether a caller may draw at 21
    natural_paid: Paid
    charlie_paid: Paid
    twenty_one_paid: Paid
    twenty_one_beats: Literal["lower totals", "all totals"]  # of a dealer who has not bust
    five_card_21: Literal["twenty-one", "charlie"]  # the rank of 21 in five cards
    win_pays: Fraction
    natural_pays: Fraction
    twenty_one_pays: Fraction
    charlie_pays: Fraction
    doubled_21_pays: Fraction
    dealer_over: Literal["pays", "push"]  # what a bust dealer owes a lower hand
    split: Literal["never", "once"]  # two cards of equal value
    split_cards: Literal["as played", "both first"]  # when the second hand gets a card
    split_aces: Literal["play on", "one card"]  # after the second card
    split_21: Literal["twenty-one", "natural"]  # of a split's ace and ten
    double: Literal["always", "10-11"]  # on which first two cards; "10-11" are hard totals
    double_after_split: bool  # whether a hand of a split may double too
    insurance: Literal["half", "up to half"]  # of the bet
    # "hit 17" also hits a hard 17; "... with an ace" also if the ace counts 1.
    dealer: Literal["stand 17", "hit soft 17", "hit 17 with an ace", "hit 17"]
    deal: Literal["seats first", "dealer first"]  # one card each in turn, or the dealer's two
    charlie: bool  # whether five cards are a Charlie, and end every hand
    keys: tuple[str, ...]  # the keys that a sysop may set, in the order of sysop.toml

    def is_charlie(self, cards: tuple[Card, ...]) -> bool:
        if not self.is_full(cards):
            return False
        total = count(cards).total
        return total < 21 or (total == 21 and self.five_card_21 == "charlie")

    def is_full(self, cards: Sequence[Card]) -> bool:
        """Return whether a hand of 21 or less may have no further card."""
        return self.charlie and len(cards) == CHARLIE_CARDS

    def dealer_draws(self, cards: Sequence[Card]) -> bool:
        """Return whether the dealer draws to these cards. In a soft count an ace is 11."""
        total, soft = count(cards)
        if self.is_full(cards) or total > DEALER_STANDS:
            return False
        if total < DEALER_STANDS or self.dealer == "hit 17":
            return True
        if self.dealer == "hit 17 with an ace":
            return any(card.is_ace for card in cards)
        return self.dealer == "hit soft 17" and soft

    def most_cards(self, seats: int) -> int:
        """Return the most cards of a round with `seats` seats.

        >>> BLACK_JACK_FOR_TIME.most_cards(1), UNIX_BJ.most_cards(1)
        (10, 66)
        """
        hands = seats if self.split == "never" else 2 * seats
        return (CHARLIE_CARDS if self.charlie else LONGEST_HAND) * (hands + 1)

    def shuffle_due(self, dealt: int, seats: int) -> bool:
        """Return whether the shoe must be shuffled before the next round, after `dealt` cards.

        That is so after `penetration` percent of it. A game with Charlies has short rounds, and
        also shuffles if the longest might not be finished; other games shuffle in the middle of a
        round. A game that shuffles for each hand does so after any card.

        >>> BLACK_JACK_FOR_TIME.shuffle_due(0, 1), BLACK_JACK_FOR_TIME.shuffle_due(4, 1)
        (False, True)
        """
        if self.shuffle == "hand":
            return dealt > 0
        cards = self.decks * CARDS_IN_DECK
        short = self.charlie and cards - dealt < self.most_cards(seats)
        return dealt * 100 >= cards * self.penetration or short

    def best_odds(self) -> float:
        """Return the most that one coin of the opening bet can win.

        >>> BLACK_JACK_FOR_TIME.best_odds(), UNIX_BJ.best_odds()
        (2.0, 2.0)
        """
        single = max(self.natural_pays, self.charlie_pays, self.twenty_one_pays, self.win_pays)
        doubled = max(self.win_pays, self.doubled_21_pays)
        return float(max(single - 1, 2 * (doubled - 1)))

    def refused_stake(self, stake: int) -> str | None:
        """Return why these rules refuse a stake in the smallest unit, or None.

        Insurance of exactly half the bet and payments such as 3 to 2 need an even stake, because
        no amount is rounded silently.
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


# Payments are 1 or more, because less would take part of a winning stake.
_pays = Halves(MOST_PAID)
_paid = choice("at once", "after dealer")

VALUE_OF_COIN = "insurance_unit"
"""A key of the journal, which no sysop sets."""

_CHECKS_OF_1991: Mapping[str, Check] = {
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
BLACK_JACK_FOR_TIME_KEYS = tuple(_CHECKS_OF_1991)
"""The keys of [games.black-jack-for-time]."""

_CHECKS: Mapping[str, Check] = {
    **_CHECKS_OF_1991,
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
"""The keys of [games.vegas]."""

UNIX_BJ_KEYS = ("double_after_split", "split_aces")
"""The keys of [games.unix-bj]. The program decides the other rules, and its manual pages are
ambiguous about these."""

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
"""The rules of the help file. docs/rules.md explains the defaults that it leaves open."""

BLACK_JACK_IN_CASINOS: Mapping[str, object] = {
    "decks": 6,
    "shuffle": "shoe",
    "ties": "push",
    "natural_pays": 2.5,
    "twenty_one_pays": 2,
    "charlie_pays": 2,
}
"""The keys of the rules "casino": a shoe of six decks, pushes, and 3 to 2 for a natural alone."""

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
"""The rules of the UNIX game bj, by its manual pages and its program."""

UNIX_BJ_STAKE = 200
"""The stake of each hand, in cents: "The bet is $2 every hand"."""

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
"""The rules of NEXTVegas. docs/rules.md explains the choices that it leaves open."""

VEGAS_IN_CASINOS: Mapping[str, object] = {"dealer": "hit soft 17", "split_aces": "one card"}
"""The keys of the rules "casino"."""


def checks_of(rules: BlackjackRules) -> dict[str, Check]:
    """Return the valid values of each key in the game of these rules."""
    return {key: _CHECKS[key] for key in _journaled(rules)}


def rules_from_mapping(mapping: Mapping[str, object], base: BlackjackRules) -> BlackjackRules:
    """Return `base` with the values of `mapping`, as in sysop.toml.

    Raises `RulesRefused`, which names all wrong keys. A game has the keys `base.keys`, and
    `insurance_unit` in its journal.

    >>> rules_from_mapping({"ties": "push", "decks": 6}, BLACK_JACK_FOR_TIME).decks
    6
    >>> try:
    ...     rules_from_mapping({"tie": "push", "decks": 0}, BLACK_JACK_FOR_TIME)
    ... except RulesRefused as error:
    ...     print(error)
    tie: is not a rule of this game; decks: must be a whole number from 1 to 8, is 0.
    """
    values = checked(mapping, checks_of(base))
    # `checked` has checked the type of each value, which mypy cannot see.
    rules: BlackjackRules = replace(base, **values)  # type: ignore[arg-type]
    if rules.hit_on_21 and rules.twenty_one_paid == "at once":
        reason = 'cannot be true while twenty_one_paid is "at once": the hand would be over'
        raise RulesRefused((RuleProblem("hit_on_21", reason),))
    return rules


@lru_cache(maxsize=64)  # callers at the same table share it
def rules_to_mapping(rules: BlackjackRules) -> Mapping[str, object]:
    """Return the keys and values, for JSON, from which `rules_from_mapping` restores the rules.

    Fields without a key, such as `split`, come from the game's base rules.
    """
    return {key: plain(getattr(rules, key)) for key in _journaled(rules)}


def _journaled(rules: BlackjackRules) -> tuple[str, ...]:
    """Return the keys of the journal: those of the game, and the value of a coin."""
    return (*rules.keys, VALUE_OF_COIN)
