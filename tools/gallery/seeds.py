"""Shuffles that are found to order, from seeds that look as a board draws them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from hashlib import sha256

from door.games.blackjack import round as blackjack
from door.games.blackjack.rules import BLACK_JACK_FOR_TIME
from door.games.engine import shuffle
from door.games.engine.cards import Card
from door.games.red_dog import round as red_dog_round
from door.games.red_dog.events import RedDogOutcome
from door.games.red_dog.round import RedDogAction, RedDogRound
from door.games.red_dog.rules import RedDogRules
from tests.door.playing import _goes
from tests.world import cut_with
from timebank.wagers.chains import link_seed

# Seeds as a board draws them: any number of any digits. The tests' own are nearly all zeros.
SPARE = [sha256(b"spare %d" % number).digest() for number in range(40)]


CUT = "seven come eleven"


@cache
def hand(*actions: str, ends: str = "", cut: str = "") -> bytes:
    """Return a seed whose hand at Black Jack For Time takes `actions` and ends so."""
    rules = BLACK_JACK_FOR_TIME
    return seed_where(
        lambda cards: _goes(blackjack.start(rules, cards, [600])[0], actions, ends, None), cut
    )


@cache
def insurance() -> bytes:
    """Return a seed whose hand at Black Jack For Time offers insurance, and wins without it."""
    rules = BLACK_JACK_FOR_TIME
    return seed_where(
        lambda cards: _goes(
            blackjack.start(rules, cards, [600])[0], ("no-insurance", "stay"), "win", None
        )
    )


@cache
def raised() -> bytes:
    """Return a seed of Red Dog whose third card falls between the first two."""
    return seed_where(lambda cards: _wins_a_raise(red_dog_round.start(RedDogRules(), cards, 60)[0]))


def _wins_a_raise(dealt: RedDogRound) -> bool:
    return not dealt.over and dealt.apply(RedDogAction.RAISE)[0].outcome is RedDogOutcome.WIN


@cache
def chain(*actions: str, ends: str, hands: int, length: int) -> bytes:
    """Return the root of such a chain whose first hands, cut with `CUT`, take `actions`."""
    rules = BLACK_JACK_FOR_TIME
    for number in range(1_000_000):
        root = sha256(b"root %d" % number).digest()
        seed = link_seed(root, length, hands)
        for link in range(hands, 0, -1):
            cards = shuffle.shuffle(seed, shuffle.Phrases(CUT, link), 1)
            if not _goes(blackjack.start(rules, cards, [600])[0], actions, ends, None):
                break
            seed = sha256(seed).digest()
        else:
            return root
    raise AssertionError("no root gives these hands")


def seed_where(wanted: Callable[[Sequence[Card]], bool], cut: str = "") -> bytes:
    """Return a seed whose deck, cut so, is as wanted."""
    for number in range(100_000):
        seed = sha256(b"deck %d" % number).digest()
        if wanted(shuffle.shuffle(seed, cut_with(cut), 1)):
            return seed
    raise AssertionError("no seed gives that deck")
