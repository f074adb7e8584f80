"""The order of the cards, and the seal that fixes it before a bet is made.

A shoe is a function of a 32-byte seed, the words of a cut, and the number of decks.
docs/fairness.md defines it to the byte, so that anyone can check a shoe in any language. A change
here needs a new version there.
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
    """The cut of a shoe of the second version, whose seed is a link of a chain.

    `text` has a phrase a line, in the order of commitments. `link` is the number of the seed in the
    chain, from 1. `beacon`, the randomness of a round of drand in 64 lower-case hexadecimal digits,
    makes it the third version, which release 1.0 dealt.
    """

    text: str
    link: int
    beacon: str = ""


# The cut of a shoe of the first version, or of a later one.
Cut: TypeAlias = str | Phrases

_SPAN = 2**32
# The key bytes of the two hashes of HMAC.
_INNER, _OUTER = (bytes(byte ^ pad for byte in range(256)) for pad in (0x36, 0x5C))


def seal(seed: bytes) -> str:
    """Return the SHA-256 of a seed in 64 hexadecimal digits, which is shown before the bet.

    >>> seal(bytes(32))[:16]
    '66687aadf862bd77'
    """
    return hashlib.sha256(_checked(seed)).hexdigest()


def fits(seed: bytes, sealed: str) -> bool:
    """Return whether a seed from the books has this seal; False for no seed."""
    try:
        return seal(seed) == sealed
    except (ValueError, TypeError):  # no 32 bytes
        return False


def normal_cut(text: str) -> str:
    """Return a caller's cut in NFC, without spaces at its ends; "" is no cut.

    Raises ValueError for text that UTF-8 cannot encode.

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
    """Return the end of the chain in which `seed` is number `link`, from 1, in hexadecimal.

    >>> anchor(bytes(32), 1) == seal(bytes(32))
    True
    """
    for _ in range(link):
        seed = hashlib.sha256(_checked(seed)).digest()
    return seed.hex()


def randomness(signature: str) -> str:
    """Return the randomness of a round of drand from its signature, both in hexadecimal.

    >>> randomness("00")[:16]
    '6e340b9cffb37a98'
    """
    return hashlib.sha256(bytes.fromhex(signature)).hexdigest()


def commitment(seed: bytes, phrase: str, link: int) -> str:
    """Return the commitment to a phrase at a shared table, in 64 hexadecimal digits.

    It hides the phrase without the seed, and proves it with the seed.

    >>> commitment(bytes(32), "three blind mice", 1)[:16]
    '24cf5dc4e5cc9035'
    """
    message = _message_prefix(SECOND_VERSION, "commit", Phrases(phrase, link))
    return hmac.digest(_checked(seed), message, "sha256").hex()


def shuffle(seed: bytes, cut: Cut, decks: int, number: int = 1) -> tuple[Card, ...]:
    """Return the cards of a shoe from the top: a Fisher-Yates shuffle of `deck(decks)`.

    `number`, from 1, is for a shoe that is shuffled again from the same seed (`run_on`).

    >>> shuffle(bytes(32), "", 1)[:4]
    ('2H', '8D', 'AD', '7H')
    """
    return _shuffled(seed, cut, decks, number)


def run_on(
    seed: bytes, cut: Cut, decks: int, undealt: int, position: int, least: int
) -> tuple[Card, ...]:
    """Return at least `least` cards of a shoe after the first `position` ones.

    When only `undealt` cards of a shuffle are left, all cards are shuffled again from the same
    seed. So one seal covers every shuffle, even in the middle of a round.

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
    """Return whether a toss from this seed before card `position`, from 0, draws a card.

    >>> [toss(bytes(32), "", position) for position in (4, 5)]
    [False, True]
    """
    return draws(seed, f"toss {position}", cut)(2) == 1


@lru_cache(maxsize=64)
def _shuffled(seed: bytes, cut: Cut, decks: int, number: int) -> tuple[Card, ...]:
    """Return shuffle `number` (from 1) of a seed."""
    cards = list(deck(decks))
    below = draws(seed, "shuffle" if number == 1 else f"shuffle {number}", cut)
    for last in range(len(cards) - 1, 0, -1):
        other = below(last + 1)
        cards[last], cards[other] = cards[other], cards[last]
    return tuple(cards)


def draws(seed: bytes, label: str, cut: Cut) -> Callable[[int], int]:
    """Return a function that draws a whole number below its argument (1 to 2**32).

    All numbers are equally likely. `label` separates draws for different purposes.
    """
    numbers = _numbers(_checked(seed), _message_prefix(_version_of(cut), label, cut))

    def below(bound: int) -> int:
        # Numbers past the last whole multiple would favour the low results: draw again.
        limit = _SPAN - _SPAN % bound
        number = next(numbers)
        while number >= limit:
            number = next(numbers)
        return number % bound

    return below


def _numbers(key: bytes, start: bytes) -> Iterator[int]:
    """Yield the first four bytes of the HMAC-SHA-256 of `start` and a counter, as numbers.

    The key is hashed once for all numbers, as RFC 2104 (section 4) proposes, which halves the time
    of a shoe compared with `hmac.digest`.
    """
    block = key.ljust(hashlib.sha256().block_size, b"\0")
    inner = hashlib.sha256(block.translate(_INNER) + start)
    outer = hashlib.sha256(block.translate(_OUTER))
    for counter in count():
        message, mac = inner.copy(), outer.copy()
        message.update(counter.to_bytes(8, "big"))
        mac.update(message.digest())
        yield int.from_bytes(mac.digest()[:4], "big")


def _version_of(cut: Cut) -> str:
    if isinstance(cut, str):
        return VERSION
    return THIRD_VERSION if cut.beacon else SECOND_VERSION


def _message_prefix(version: str, label: str, cut: Cut) -> bytes:
    """Return the message before the counter in every block."""
    if isinstance(cut, str):
        return f"{version}{label}\0{normal_cut(cut)}\0".encode()
    phrases = "\n".join(map(normal_cut, cut.text.split("\n")))
    mixed_in = f"{cut.beacon}\0" if cut.beacon else ""
    return f"{version}{label}\0{cut.link}\0{phrases}\0{mixed_in}".encode()


def _checked(seed: bytes) -> bytes:
    if len(seed) != SEED_BYTES:
        raise ValueError(f"A seed is {SEED_BYTES} bytes, this one is {len(seed)}.")
    return seed
