"""Proofs of hands (docs/fairness.md): as JSON, and as a link to the page that checks hands."""

from __future__ import annotations

import json
from functools import reduce
from typing import TYPE_CHECKING, Any

from door.errors import NoSuchHand
from door.games.engine import shuffle
from door.games.engine.journaled import acts_of, mixed_into, seat_of
from door.games.engine.rules import Halves, plain
from door.games.rounds import kind_of, readable, rebuild, the_hand
from timebank.wagers.rounds import VOID

if TYPE_CHECKING:
    from door.games.engine.game import Act, Kind
    from door.games.engine.journaled import TableRound
    from timebank.ledger.database import Desk
    from timebank.wagers.journal import Shoe, StoredRound

LETTERS = "abcdefghijklmnopqrstuvwxyz -',.\n"
NAMES = 1021
"""A link has a number below this for each name: see `number_of`."""
_VERSION = 3
_SEAL_DIGITS = 4  # digits of the seal, which detect a damaged link
_MOST_DIGITS = 2000  # longer links are unusable


def as_proof(desk: Desk, number: int) -> str:
    """Return the proof of a hand as JSON. Raises `NoSuchHand`, also for a hand without a seal."""
    stored = the_hand(desk, number)
    if stored.shoe is None:
        raise NoSuchHand(f"Hand {number} has no seal.")
    with readable(number):
        return json.dumps(proof(stored), ensure_ascii=False)


def proof(stored: StoredRound) -> dict[str, object]:
    """Return the proof of a hand, {} without a seal. Raises `JournalDamaged`.

    It has seed, cards, moves and payments once the shoe is done.
    """
    shoe = stored.shoe
    if shoe is None:
        return {}
    cut = mixed_into(shoe)
    facts: dict[str, object] = {
        "seal": shoe.seal,
        "cut": cut if isinstance(cut, str) else {"text": cut.text, "link": cut.link},
        "anchor": shoe.anchor or "",
        **({"beacon": {"signature": shoe.signature}} if shoe.signature else {}),
        "decks": shoe.decks,
        "position": shoe.position,
        "undealt": kind_of(stored).undealt or 0,
    }
    hand = rebuild(stored)
    if not shoe.done:
        return facts
    return {
        **facts,
        "seed": shoe.shown_seed,
        "cards": list(hand.round.shoe[: hand.round.cards_used]),
        "tosses": _tosses(hand, stored),
        "game": stored.game,
        "rules": whole_rules(hand.kind, hand.kind.read_rules(hand.rules)),
        "unit": stored.unit,
        "coin": stored.coin,
        "stakes": [bet.amount for bet in hand.bets],
        "seat": seat_of(stored) + 1,
        "actions": [str(act) for act in acts_of(stored)],
        **({"paid": _paid(stored, hand)} if _is_paid(stored, hand) else {}),
    }


def whole_rules(kind: Kind, rules: Any) -> dict[str, object]:
    """Return rules with every key that a journal of their game has, fit for JSON."""
    return {key: plain(getattr(rules, key)) for key in kind.checks}


def _is_paid(stored: StoredRound, hand: TableRound[Any]) -> bool:
    return stored.settled and stored.outcome != VOID and hand.over


def _paid(stored: StoredRound, hand: TableRound[Any]) -> dict[str, object]:
    """Return the payments of a finished hand from the books, in the unit of its stake."""
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
    """Return the positions, from 0, at which the seed tossed for a card."""
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


# A hand as digits, for links.


def packed(stored: StoredRound) -> str:
    """Return the digits after the # of a link to a hand. Raises `JournalDamaged`.

    Return "" for a hand that is hidden or unpaid, that has a round of drand, or that is too long.
    The page computes seal, anchor, cards and tosses itself.
    """
    shoe = stored.shoe
    if shoe is None or not shoe.done or shoe.signature:
        return ""
    hand = rebuild(stored)
    if not _is_paid(stored, hand):
        return ""
    writer = _Writer()
    writer.put(_VERSION, 8)
    writer.name(stored.game)
    writer.name(stored.unit)
    writer.whole(stored.coin)
    _write_shoe(writer, shoe)
    writer.whole(len(hand.bets))
    for bet in hand.bets:
        writer.whole(bet.amount)
    writer.whole(seat_of(stored))
    _write_moves(writer, acts_of(stored))
    _write_rules(writer, hand)
    net = stored.won - stored.lost
    writer.whole(2 * net if net >= 0 else -2 * net - 1)
    return writer.digits()


def _write_shoe(writer: _Writer, shoe: Shoe) -> None:
    writer.put(int.from_bytes(shoe.seed, "big"), 2 ** (8 * shuffle.SEED_BYTES))
    writer.put(int(shoe.seal[:_SEAL_DIGITS], 16), 16**_SEAL_DIGITS)
    writer.whole(shoe.decks)
    writer.whole(shoe.position)
    writer.whole(shoe.link)
    writer.text(shoe.cut or "")


def _write_moves(writer: _Writer, acts: tuple[Act, ...]) -> None:
    """Write moves without their seats, which follow from the rules."""
    writer.whole(len(acts))
    for act in acts:
        if act.amount is None:
            writer.name(act.word)
        else:
            writer.name(f"{act.word}:")
            writer.whole(act.amount)


def _write_rules(writer: _Writer, hand: TableRound[Any]) -> None:
    """Write the rules that differ from the game's own."""
    kind = hand.kind
    usual = whole_rules(kind, kind.base)
    rules = whole_rules(kind, kind.read_rules(hand.rules))
    changed = [(key, value) for key, value in rules.items() if value != usual[key]]
    writer.whole(len(changed))
    for key, value in changed:
        writer.name(key)
        if isinstance(value, bool):
            writer.name(json.dumps(value))
        elif isinstance(value, int | float):
            writer.whole(int(value * 2) if isinstance(kind.checks[key], Halves) else int(value))
        else:
            writer.name(str(value))


def number_of(name: str) -> int:
    """Return the number of a name in links, which new names never change.

    A name is a game, a unit, a move, a key or a value. Numbers are unique within each of these.

    >>> number_of("vegas"), number_of("hit")
    (73, 194)
    """
    return reduce(lambda number, letter: (number * 31 + letter) % NAMES, name.encode(), 0)


class _Writer:
    """Builds a number from digits, each with a base of its own; the lowest comes first.

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

    def name(self, name: str) -> None:
        self.put(number_of(name), NAMES)

    def whole(self, number: int) -> None:
        """Write a whole number in groups of 5 bits, the lowest first."""
        while number >= 32:
            self.put(number % 32 + 32, 64)
            number //= 32
        self.put(number, 64)

    def text(self, text: str) -> None:
        """Write a text in a small alphabet where that suffices, or else in UTF-8."""
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
