"""The order of the cards, and the seal that fixes it before a bet is made.

A shoe is a function of a 32-byte seed, of the few words a caller may have cut the cards with, and
of the number of decks. docs/fairness.md defines it to the byte, so that anyone can check a shoe in
any language; a change here is a change there and another version. Where seeds come from and who
may see them is not this file's business.
"""

import hashlib
import hmac
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import count
from typing import NamedTuple, TypeAlias
from unicodedata import normalize

from door.games.engine.cards import CARDS_IN_DECK, Card, deck

SEED_BYTES = 32
VERSION = "blackjack-for-time/1/"
SECOND_VERSION = "blackjack-for-time/2/"
THIRD_VERSION = "blackjack-for-time/3/"


class Phrases(NamedTuple):
    """What a shoe of the second version is cut with, whose seed is a link of a chain.

    `text` has the phrases of all who cut it, a line each in the order of their commitments; `link`
    is the number of its seed in the chain, from 1. With `beacon`, the randomness of a round of
    drand in 64 lower-case hexadecimal digits, it is of the third version, which release 1.0 dealt.
    """

    text: str
    link: int
    beacon: str = ""


# What is mixed into the shuffle of a shoe of the first version, or of a later one.
Cut: TypeAlias = str | Phrases

_SPAN = 2**32
# What the bytes of a key become in the two hashes of HMAC.
_INNER, _OUTER = (bytes(byte ^ pad for byte in range(256)) for pad in (0x36, 0x5C))


def seal(seed: bytes) -> str:
    """The SHA-256 of a seed in 64 hexadecimal digits: shown before the bet, binds the house.

    >>> seal(bytes(32))[:16]
    '66687aadf862bd77'
    """
    return hashlib.sha256(_checked(seed)).hexdigest()


def fits(seed: bytes, sealed: str) -> bool:
    """Whether a seed out of the books is that of its seal; what is no seed is of none."""
    try:
        return seal(seed) == sealed
    except (ValueError, TypeError):  # no 32 bytes
        return False


def normal_cut(text: str) -> str:
    """A caller's cut as it is mixed in, stored and shown: in NFC, without spaces at its ends.

    The empty text is no cut. ValueError when it cannot be written as UTF-8.

    >>> normal_cut("  Cafe\\u0301 ") == "Caf\\u00e9"
    True
    """
    cut = normalize("NFC", text).strip(" ")
    try:
        cut.encode()
    except UnicodeEncodeError:
        raise ValueError("The cut holds a character that is not text.") from None
    return cut


def anchor(seed: bytes, link: int) -> str:
    """The end of the chain that a seed is link number `link` of, from 1, in hexadecimal digits.

    >>> anchor(bytes(32), 1) == seal(bytes(32))
    True
    """
    for _ in range(link):
        seed = hashlib.sha256(_checked(seed)).digest()
    return seed.hex()


def randomness(signature: str) -> str:
    """What a round of drand is worth whose signature this is, both in hexadecimal digits.

    >>> randomness("00")[:16]
    '6e340b9cffb37a98'
    """
    return hashlib.sha256(bytes.fromhex(signature)).hexdigest()


def commitment(seed: bytes, phrase: str, link: int) -> str:
    """What is told of a phrase before any is shown at a table of several: 64 hexadecimal digits.

    Nobody who lacks the seed learns the phrase from it; whoever has the seed can check it.

    >>> commitment(bytes(32), "three blind mice", 1)[:16]
    '24cf5dc4e5cc9035'
    """
    said = _said(SECOND_VERSION, "commit", Phrases(phrase, link))
    return hmac.digest(_checked(seed), said, "sha256").hex()


def shuffle(seed: bytes, cut: Cut, decks: int, number: int = 1) -> tuple[Card, ...]:
    """The cards of a shoe from the top: a Fisher-Yates shuffle of `deck(decks)`.

    `number`, from 1, is for a shoe that is shuffled again from the same seed (`run_on`).

    >>> shuffle(bytes(32), "", 1)[:4]
    ('2H', '8D', 'AD', '7H')
    """
    return _shuffled(seed, cut, decks, number)


def run_on(
    seed: bytes, cut: Cut, decks: int, undealt: int, position: int, least: int
) -> tuple[Card, ...]:
    """The next `least` cards or more of a shoe that runs on, when `position` were dealt from it.

    When all but the last `undealt` cards of a shuffle are dealt, all the cards are shuffled again
    from the same seed: one seal covers every shuffle, one in the middle of a round included.

    >>> once = shuffle(bytes(32), "", 1)
    >>> run_on(bytes(32), "", 1, 0, 50, 4)[:2] == once[50:]
    True
    >>> run_on(bytes(32), "", 1, 1, 50, 4)[0] == once[50]
    True
    """
    size = decks * CARDS_IN_DECK - undealt
    number, gone = divmod(position, size)
    cards: list[Card] = []
    while len(cards) - gone < least:
        number += 1
        cards += _shuffled(seed, cut, decks, number)[:size]
    return tuple(cards[gone:])


def toss(seed: bytes, cut: Cut, position: int) -> bool:
    """Whether a toss out of this seed before card number `position`, from 0, is for a card.

    >>> [toss(bytes(32), "", position) for position in (4, 5)]
    [False, True]
    """
    return draws(seed, f"toss {position}", cut)(2) == 1


@lru_cache(maxsize=64)
def _shuffled(seed: bytes, cut: Cut, decks: int, number: int) -> tuple[Card, ...]:
    """Shuffle `number` (from 1) of a seed; the first is what `shuffle` gives."""
    cards = list(deck(decks))
    below = draws(seed, "shuffle" if number == 1 else f"shuffle {number}", cut)
    for last in range(len(cards) - 1, 0, -1):
        other = below(last + 1)
        cards[last], cards[other] = cards[other], cards[last]
    return tuple(cards)


def draws(seed: bytes, label: str, cut: Cut) -> Callable[[int], int]:
    """A function that gives at each call the next whole number from 0 to below its argument
    (1 to 2**32), each equally likely; the label keeps the draws for one purpose apart from those
    for another out of the same seed.
    """
    numbers = _numbers(_checked(seed), _said(_version_of(cut), label, cut))

    def below(bound: int) -> int:
        # Numbers past the last whole multiple would favour the low results: draw again.
        limit = _SPAN - _SPAN % bound
        number = next(numbers)
        while number >= limit:
            number = next(numbers)
        return number % bound

    return below


def _numbers(key: bytes, start: bytes) -> Iterator[int]:
    """The first four bytes of the HMAC-SHA-256 of `start` and a counter, as numbers.

    A key of at most a block is hashed once for all of them, as RFC 2104 (section 4) proposes: a
    shoe takes half the time that it takes by `hmac.digest`.
    """
    block = key.ljust(hashlib.sha256().block_size, b"\0")
    inner = hashlib.sha256(block.translate(_INNER) + start)
    outer = hashlib.sha256(block.translate(_OUTER))
    for counter in count():
        said, mac = inner.copy(), outer.copy()
        said.update(counter.to_bytes(8, "big"))
        mac.update(said.digest())
        yield int.from_bytes(mac.digest()[:4], "big")


def _version_of(cut: Cut) -> str:
    if isinstance(cut, str):
        return VERSION
    return THIRD_VERSION if cut.beacon else SECOND_VERSION


def _said(version: str, label: str, cut: Cut) -> bytes:
    """What stands before the counter in every block."""
    if isinstance(cut, str):
        return f"{version}{label}\0{normal_cut(cut)}\0".encode()
    phrases = "\n".join(map(normal_cut, cut.text.split("\n")))
    mixed_in = f"{cut.beacon}\0" if cut.beacon else ""
    return f"{version}{label}\0{cut.link}\0{phrases}\0{mixed_in}".encode()


def _checked(seed: bytes) -> bytes:
    if len(seed) != SEED_BYTES:
        raise ValueError(f"A seed is {SEED_BYTES} bytes, this one is {len(seed)}.")
    return seed
