"""What a played hand is checked with, by docs/fairness.md: as JSON, and as a link to the page that
checks hands."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from door.errors import NoSuchHand
from door.games.engine import shuffle
from door.games.engine.journaled import acts_of, mixed_into, seat_of
from door.games.rounds import found, kind_of
from timebank.errors import JournalDamaged
from timebank.wagers import journal
from timebank.wagers.rounds import VOID

if TYPE_CHECKING:
    from door.games.engine.game import Act
    from door.games.engine.journaled import TableRound
    from timebank.ledger.database import Desk
    from timebank.wagers.journal import Shoe, StoredRound

# How a link counts games, units, moves, keys and values; the page has the same lists (payments.js,
# packed.js). Links are kept for years: never reorder one, and put what is new at its end.
GAMES = ("black-jack-for-time", "vegas", "unix-bj", "baccarat", "red-dog")
UNITS = ("second", "usd-cent", "frf-cent")
MOVES = (
    *("insurance", "no-insurance", "double", "split", "hit", "stay"),
    *("card", "no-card", "bank-card", "bank-no-card", "raise"),
)
LETTERS = "abcdefghijklmnopqrstuvwxyz -',.\n"
HALVES = "halves"
WHOLE = "whole"
_PAID = ("at once", "after dealer")
_OPTION = ("draw", "stand", "toss")
# Of each key, all values that it may have, or how its numbers are counted.
RULES: Mapping[str, Mapping[str, tuple[object, ...] | str]] = {
    "black-jack-for-time": {
        "decks": WHOLE,
        "shuffle": ("hand", "shoe"),
        "penetration": WHOLE,
        "ties": ("dealer", "push"),
        "insurance_rounding": ("exact", "down"),
        "insurance_pays": WHOLE,
        "insurance_on_natural": (True, False),
        "peek_under_ace": (True, False),
        "hit_on_21": (False, True),
        "natural_paid": _PAID,
        "charlie_paid": _PAID,
        "twenty_one_paid": ("after dealer", "at once"),
        "twenty_one_beats": ("lower totals", "all totals"),
        "five_card_21": ("twenty-one", "charlie"),
        "win_pays": HALVES,
        "natural_pays": HALVES,
        "twenty_one_pays": HALVES,
        "charlie_pays": HALVES,
        "doubled_21_pays": HALVES,
        "dealer_over": ("pays", "push"),
        "insurance_unit": WHOLE,
    },
    "vegas": {
        "decks": WHOLE,
        "penetration": WHOLE,
        "dealer": ("stand 17", "hit soft 17", "hit 17 with an ace", "hit 17"),
        "double": ("always", "10-11"),
        "double_after_split": (True, False),
        "split_cards": ("as played", "both first"),
        "split_aces": ("play on", "one card"),
        "split_21": ("twenty-one", "natural"),
        "insurance_on_natural": (True, False),
        "natural_pays": HALVES,
        "insurance_unit": WHOLE,
    },
    "unix-bj": {
        "double_after_split": (True, False),
        "split_aces": ("one card", "play on"),
        "insurance_unit": WHOLE,
    },
    "baccarat": {"bank_option_3v9": _OPTION, "bank_option_5v4": _OPTION, "decks": WHOLE},
    "red-dog": {"decks": WHOLE, "shuffle": ("hand", "shoe"), "penetration": WHOLE},
}
_VERSION = 1
_SEAL_DIGITS = 4  # of the seal, which tell a link that was damaged
_MOST_DIGITS = 2000  # no terminal, phone or person wants a longer one


def as_proof(desk: Desk, number: int) -> str:
    """Return `proof` of a hand as JSON, for the page that checks hands. `NoSuchHand` when there is
    none, or when it has no seal."""
    try:
        stored = journal.stored_round(desk, number)
        if stored is None:
            raise NoSuchHand(f"There is no hand {number} in the books.")
        if stored.shoe is None:
            raise NoSuchHand(f"Hand {number} has no seal.")
        return json.dumps(proof(stored), ensure_ascii=False)
    except JournalDamaged as damaged:
        raise NoSuchHand(f"Hand {number}: {str(damaged).rstrip('.')}.") from damaged


def proof(stored: StoredRound) -> dict[str, object]:
    """Return what a hand is checked with, {} for one without a seal. Seed, cards, moves and what
    was paid are there once the shoe is done. Raises `JournalDamaged`."""
    shoe = stored.shoe
    if shoe is None:
        return {}
    cut = mixed_into(shoe)
    told: dict[str, object] = {
        "seal": shoe.seal,
        "cut": cut if isinstance(cut, str) else {"text": cut.text, "link": cut.link},
        "anchor": shoe.anchor or "",
        **({"beacon": {"signature": shoe.signature}} if shoe.signature else {}),
        "decks": shoe.decks,
        "position": shoe.position,
        "undealt": kind_of(stored).undealt or 0,
    }
    hand = found(stored)
    if not shoe.done:
        return told
    return {
        **told,
        "seed": shoe.shown_seed,
        "cards": list(hand.round.shoe[: hand.round.cards_used]),
        "tosses": _tosses(hand, stored),
        "game": stored.game,
        "rules": whole_rules(hand),
        "unit": stored.unit,
        "coin": stored.coin,
        "stakes": [bet.amount for bet in hand.bets],
        "seat": seat_of(stored) + 1,
        "actions": [str(act) for act in acts_of(stored)],
        **({"paid": _paid(stored, hand)} if _is_paid(stored, hand) else {}),
    }


def whole_rules(hand: TableRound[Any]) -> dict[str, object]:
    """Return the rules of a hand with every key that its game has, fit for JSON."""
    rules = asdict(hand.kind.read_rules(hand.rules))
    return {key: _plain(rules[key]) for key in RULES[hand.kind.name]}


def _plain(value: object) -> object:
    if isinstance(value, Fraction):
        return int(value) if value.denominator == 1 else float(value)
    return value


def _is_paid(stored: StoredRound, hand: TableRound[Any]) -> bool:
    return stored.settled and stored.outcome != VOID and hand.over


def _paid(stored: StoredRound, hand: TableRound[Any]) -> dict[str, object]:
    """Return what the books have of a hand that is over, in the unit of its stake."""
    result = stored.result or {}
    laid = {name: result.get(name) for name in hand.kind.laid(hand.round, seat_of(stored))}
    return {
        "outcome": stored.outcome,
        "lost": stored.lost,
        "returned": stored.returned,
        "won": stored.won,
        "net": stored.won - stored.lost,
        "laid": laid,
    }


def _tosses(hand: TableRound[Any], stored: StoredRound) -> list[tuple[int, bool]]:
    """Return before which card of the shoe, from 0, the seed decided for a card or for none."""
    kind, shoe, cut = hand.kind, hand.shoe, mixed_into(hand.shoe)
    stakes = [bet.amount for bet in hand.bets]
    round_, _ = kind.deal(stored.rules, hand.round.shoe, stakes, 1)
    tossed = []
    for act in acts_of(stored):
        if kind.by_chance(round_, shoe.seed, cut, shoe.position) is not None:
            is_for_a_card = shuffle.toss(shoe.seed, cut, shoe.position + round_.cards_used)
            tossed.append((shoe.position + round_.cards_used, is_for_a_card))
        round_, _ = kind.act(round_, act)
    return tossed


# A hand as digits, short enough for a code that a phone reads.


def packed(stored: StoredRound) -> str:
    """Return the digits behind the # of a link to a hand, "" for one that is not to be checked yet,
    was never paid, is of a shoe that has a round of drand in it, or is too long for a link. Raises
    `JournalDamaged`.

    What the page works out itself is left out: seal, anchor, cards and tosses.
    """
    shoe = stored.shoe
    if shoe is None or not shoe.done or shoe.signature or stored.game not in RULES:
        return ""
    hand = found(stored)
    if not _is_paid(stored, hand):
        return ""
    writer = _Writer()
    writer.put(_VERSION, 8)
    writer.choose(stored.game, GAMES)
    writer.choose(stored.unit, UNITS)
    writer.whole(stored.coin)
    _write_shoe(writer, shoe)
    writer.whole(len(hand.bets))
    for bet in hand.bets:
        writer.whole(bet.amount)
    writer.put(seat_of(stored), 7)
    _write_moves(writer, acts_of(stored))
    _write_rules(writer, hand)
    net = stored.won - stored.lost
    writer.whole(2 * net if net >= 0 else -2 * net - 1)
    return writer.digits()


def _write_shoe(writer: _Writer, shoe: Shoe) -> None:
    writer.put(int.from_bytes(shoe.seed, "big"), 2 ** (8 * shuffle.SEED_BYTES))
    writer.put(int(shoe.seal[:_SEAL_DIGITS], 16), 16**_SEAL_DIGITS)
    writer.put(shoe.decks - 1, 8)
    writer.whole(shoe.position)
    writer.whole(shoe.link)
    writer.text(shoe.cut or "")


def _write_moves(writer: _Writer, acts: tuple[Act, ...]) -> None:
    """Write moves without their seats, which the rules tell."""
    writer.whole(len(acts))
    for act in acts:
        if act.amount is None:
            writer.put(MOVES.index(act.word), len(MOVES) + 1)
        else:  # the one move that has one
            assert act.word == MOVES[0]
            writer.put(len(MOVES), len(MOVES) + 1)
            writer.whole(act.amount)


def _write_rules(writer: _Writer, hand: TableRound[Any]) -> None:
    """Write the rules that are not as the game has them by itself."""
    known = RULES[hand.kind.name]
    usual = asdict(hand.kind.base)
    changed = [
        (key, value)
        for key, value in whole_rules(hand).items()
        if value != usual[key] or isinstance(value, bool) != isinstance(usual[key], bool)
    ]
    writer.whole(len(changed))
    for key, value in changed:
        writer.choose(key, tuple(known))
        values = known[key]
        if isinstance(values, tuple):
            writer.choose(value, values)
        else:
            assert isinstance(value, int | float)
            writer.whole(int(value * 2) if values == HALVES else int(value))


class _Writer:
    """Puts a number together digit by digit, each of a base of its own; the first is the lowest.

    >>> writer = _Writer()
    >>> writer.put(3, 8), writer.whole(40), writer.text("ace")
    (None, None, None)
    >>> writer.digits()
    '154887455555'
    """

    def __init__(self) -> None:
        self._put: list[tuple[int, int]] = []

    def put(self, digit: int, base: int) -> None:
        assert 0 <= digit < base
        self._put.append((digit, base))

    def choose(self, one: object, among: tuple[object, ...]) -> None:
        self.put(among.index(one), len(among))

    def whole(self, number: int) -> None:
        """5 bits at a time, the lowest first, and whether more follow."""
        while number >= 32:
            self.put(number % 32 + 32, 64)
            number //= 32
        self.put(number, 64)

    def text(self, text: str) -> None:
        """Of the letters that most phrases are made of, or else of UTF-8."""
        is_simple = all(letter in LETTERS for letter in text)
        self.put(0 if is_simple else 1, 2)
        codes = [LETTERS.index(letter) for letter in text] if is_simple else list(text.encode())
        self.whole(len(codes))
        for code in codes:
            self.put(code, len(LETTERS) if is_simple else 256)

    def digits(self) -> str:
        number = 1  # what is left when all is read
        for digit, base in reversed(self._put):
            number = number * base + digit
        return str(number) if number < 10**_MOST_DIGITS else ""
