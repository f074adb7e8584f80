"""The rules of a black jack table, as data.

Everything in which two tables may differ is a field of `Rules`; the engine in `blackjack` reads
the fields and has no opinion of its own. A sysop's variations change the data, never the code.
Each field that a sysop may set carries the name of its key in sysop.toml; docs/rules.md says what
every value means and which sentence of the help file it reads.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from decimal import Decimal
from fractions import Fraction
from math import isfinite
from typing import Literal, NamedTuple

from door.games.cards import CARDS_IN_DECK, Card, count
from door.games.quoting import either, shown, shown_key

CHARLIE_CARDS = 5
"""A hand of so many cards is complete (help file, The Play and The Dealer's Turn)."""

MOST_SEATS = 7
MOST_DECKS = 8
MOST_PAID = 100

Paid = Literal["at once", "after dealer"]


@dataclass(frozen=True, slots=True)
class Rules:
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
    peek_under_ace: bool  # whether the dealer looks under an ace as he does under a ten
    hit_on_21: bool  # whether a caller may draw at 21
    natural_paid: Paid
    charlie_paid: Paid
    twenty_one_paid: Paid
    five_card_21: Literal["twenty-one", "charlie"]  # what five cards that make 21 are
    win_pays: Fraction
    natural_pays: Fraction
    twenty_one_pays: Fraction
    charlie_pays: Fraction
    doubled_21_pays: Fraction
    dealer_over: Literal["pays", "push"]  # what a dealer who goes over owes a lower hand
    split: Literal["never", "once"]  # two cards of equal value; never, in Black Jack For Time

    def is_charlie(self, cards: tuple[Card, ...]) -> bool:
        """Whether these are a Five-Card Charlie, a dealer's or a caller's."""
        if len(cards) != CHARLIE_CARDS:
            return False
        total = count(cards).total
        return total < 21 or (total == 21 and self.five_card_21 == "charlie")

    def most_cards(self, seats: int) -> int:
        """So many cards a round of `seats` seats can use and no more.

        >>> BLACK_JACK_FOR_TIME.most_cards(1)
        10
        """
        hands = seats if self.split == "never" else 2 * seats
        return CHARLIE_CARDS * (hands + 1)

    def shuffle_due(self, dealt: int, seats: int) -> bool:
        """Whether a shoe of which `dealt` cards are gone must be shuffled before the next round.

        That is when it has passed `penetration`, and always when the round might not be finished
        from what is left; in a game shuffled for every hand, when a card is gone.

        >>> BLACK_JACK_FOR_TIME.shuffle_due(0, 1), BLACK_JACK_FOR_TIME.shuffle_due(4, 1)
        (False, True)
        """
        if self.shuffle == "hand":
            return dealt > 0
        cards = self.decks * CARDS_IN_DECK
        return dealt * 100 >= cards * self.penetration or cards - dealt < self.most_cards(seats)

    def refused_stake(self, stake: int) -> str | None:
        """Why a stake in the smallest unit cannot be played here, or None.

        Half of it is needed exactly for insurance and for payments such as 3 to 2; nothing is
        ever rounded silently.
        """
        if stake <= 0:
            return f"The stake must be more than 0, is {stake}."
        if stake % 2 and (self.insurance_rounding == "exact" or self._pays_halves()):
            return f"Half the stake is needed by these rules: it must be even, is {stake}."
        return None

    def _pays_halves(self) -> bool:
        pays = (self.win_pays, self.natural_pays, self.twenty_one_pays, self.charlie_pays)
        return any(each.denominator != 1 for each in pays)


BLACK_JACK_FOR_TIME = Rules(
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
    five_card_21="twenty-one",
    win_pays=Fraction(2),
    natural_pays=Fraction(3),
    twenty_one_pays=Fraction(3),
    charlie_pays=Fraction(3),
    doubled_21_pays=Fraction(2),
    dealer_over="pays",
    split="never",
)
"""The help file's rules; where it is silent, the defaults that docs/rules.md explains."""


class RuleProblem(NamedTuple):
    """One wrong key and what is wrong with it: "ties", 'must be "dealer" or "push", is 3'."""

    key: str
    reason: str


class RulesRefused(ValueError):
    """Every key of a mapping that is wrong, at once."""

    def __init__(self, problems: tuple[RuleProblem, ...]) -> None:
        """Hold the problems; the text is one sentence that names them all."""
        super().__init__("; ".join(f"{key}: {reason}" for key, reason in problems) + ".")
        self.problems = problems


def rules_from_mapping(mapping: Mapping[str, object], base: Rules) -> Rules:
    """`base` with the keys of `mapping` (names and values as in sysop.toml) in place of its own.

    Raises `RulesRefused`, which names every wrong key, when any is.

    >>> rules_from_mapping({"ties": "push", "decks": 6}, BLACK_JACK_FOR_TIME).decks
    6
    >>> try:
    ...     rules_from_mapping({"tie": "push", "decks": 0}, BLACK_JACK_FOR_TIME)
    ... except RulesRefused as error:
    ...     print(error)
    tie: is no rule of this game; decks: must be a whole number from 1 to 8, is 0.
    """
    values: dict[str, object] = {}
    problems: list[RuleProblem] = []
    for key, value in mapping.items():
        check = _CHECKS.get(key)
        if check is None:
            problems.append(RuleProblem(shown_key(key), "is no rule of this game"))
            continue
        try:
            values[key] = check(value)
        except ValueError as error:
            problems.append(RuleProblem(key, str(error)))
    if not problems:
        # Every value has been checked against its field; replace() cannot be told so.
        rules: Rules = replace(base, **values)  # type: ignore[arg-type]
        if rules.hit_on_21 and rules.twenty_one_paid == "at once":
            reason = 'cannot be true while twenty_one_paid is "at once": the hand would be over'
            problems.append(RuleProblem("hit_on_21", reason))
    if problems:
        raise RulesRefused(tuple(problems))
    return rules


def rules_to_mapping(rules: Rules) -> dict[str, object]:
    """The keys and values, fit for JSON, from which `rules_from_mapping` makes these rules again
    (`split` is not among them: it belongs to the game, not to the house)."""
    values = asdict(rules)
    mapping = {key: values[key] for key in _CHECKS}
    return {
        key: _plain(value) if isinstance(value, Fraction) else value
        for key, value in mapping.items()
    }


def _plain(number: Fraction) -> int | float:
    """A whole or half number as TOML and JSON write it; both are exact."""
    return int(number) if number.denominator == 1 else float(number)


def _choice(*words: str) -> Callable[[object], object]:
    listed = either([f'"{word}"' for word in words])

    def check(value: object) -> object:
        if not isinstance(value, str) or value not in words:
            raise ValueError(f"must be {listed}, is {shown(value)}")
        return value

    return check


def _flag(value: object) -> object:
    if not isinstance(value, bool):
        raise ValueError(f"must be true or false, is {shown(value)}")
    return value


def _whole(least: int, most: int) -> Callable[[object], object]:
    def check(value: object) -> object:
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise ValueError(f"must be a whole number from {least} to {most}, is {shown(value)}")
        return value

    return check


def _pays(value: object) -> object:
    """A whole or half number; less than 1 would take a part of a stake that has won."""
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float | Decimal)
        # The range is asked first: a power of ten without end must not be written out.
        or not (isinstance(value, int) or isfinite(value))
        or not 1 <= value <= MOST_PAID
        or Fraction(value).denominator > 2
    ):
        raise ValueError(
            f"must be a number from 1 to {MOST_PAID} in steps of one half, is {shown(value)}"
        )
    return Fraction(value)


_paid = _choice("at once", "after dealer")

_CHECKS: Mapping[str, Callable[[object], object]] = {
    "decks": _whole(1, MOST_DECKS),
    "shuffle": _choice("hand", "shoe"),
    "penetration": _whole(1, 100),
    "ties": _choice("dealer", "push"),
    "insurance_rounding": _choice("exact", "down"),
    "insurance_pays": _whole(1, MOST_PAID),
    "insurance_on_natural": _flag,
    "peek_under_ace": _flag,
    "hit_on_21": _flag,
    "natural_paid": _paid,
    "charlie_paid": _paid,
    "twenty_one_paid": _paid,
    "five_card_21": _choice("twenty-one", "charlie"),
    "win_pays": _pays,
    "natural_pays": _pays,
    "twenty_one_pays": _pays,
    "charlie_pays": _pays,
    "doubled_21_pays": _pays,
    "dealer_over": _choice("pays", "push"),
    "insurance_unit": _whole(1, 10**9),
}

SYSOP_KEYS = tuple(key for key in _CHECKS if key != "insurance_unit")
"""The keys that belong in sysop.toml. `insurance_unit` is the table's to set, from the value of
its coin, and stands only in the journal."""
