"""Every deal of a shoe of a few cards, played by the engine card by card.

A world is one order of the cards dealt so far. The shoe of its round grows by a card on demand.
The module uses nothing of `door.games.solver`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from door.games.blackjack.phases import BlackjackAction
from door.games.blackjack.round import BlackjackRound, start
from door.games.blackjack.rules import BlackjackRules
from door.games.engine.cards import Card, parse_cards
from door.games.engine.errors import ShoeTooShort
from door.games.solver.tutor.dealer import Counts
from tests.door.games.blackjack.tabletop import DECLINE, INSURE, STAKE
from timebank.reports.house import FinishedHand

FACES = parse_cards("AS 2S 3S 4S 5S 6S 7S 8S 9S TS")

FLAGS = (False, True)
PAID = ("at once", "after dealer")
PAYS = tuple(map(Fraction, ("1", "1.5", "2", "2.5", "3", "4.5")))
CHOICES: Mapping[str, tuple[object, ...]] = {
    "ties": ("dealer", "push"),
    "insurance_rounding": ("exact", "down"),
    "insurance_pays": (1, 2, 3),
    "insurance_on_natural": FLAGS,
    "peek_under_ace": FLAGS,
    "hit_on_21": FLAGS,
    "natural_paid": PAID,
    "charlie_paid": PAID,
    "twenty_one_paid": PAID,
    "twenty_one_beats": ("lower totals", "all totals"),
    "five_card_21": ("twenty-one", "charlie"),
    "win_pays": PAYS,
    "natural_pays": PAYS,
    "twenty_one_pays": PAYS,
    "charlie_pays": PAYS,
    "doubled_21_pays": PAYS,
    "dealer_over": ("pays", "push"),
    "split": ("never", "once"),
    "split_cards": ("as played", "both first"),
    "split_aces": ("play on", "one card"),
    "split_21": ("twenty-one", "natural"),
    "double": ("always", "10-11"),
    "double_after_split": FLAGS,
    "insurance": ("half", "up to half"),
    "dealer": ("stand 17", "hit soft 17", "hit 17 with an ace", "hit 17"),
    "deal": ("seats first", "dealer first"),
    "charlie": FLAGS,
}
"""What each rule may be, but those of the shoe."""

Decide = Callable[[BlackjackRound], BlackjackAction]


class NoSuchRound(Exception):
    """The cards do not suffice to play each round to its end."""


@dataclass(frozen=True)
class World:
    """`chance` is out of all worlds that are looked at."""

    chance: float
    round: BlackjackRound
    left: Counts  # of each value, not dealt yet
    actions: tuple[BlackjackAction, ...] = ()

    @property
    def net(self) -> float:
        """What the round won per unit bet."""
        totals = self.round.totals
        return (totals.won - totals.lost) / STAKE


def without(left: Counts, place: int) -> Counts:
    return (*left[:place], left[place] - 1, *left[place + 1 :])


def next_cards(left: Counts) -> Iterator[tuple[float, Card, Counts]]:
    cards = sum(left)
    if not cards:
        raise NoSuchRound
    for place, copies in enumerate(left):
        if copies:
            yield copies / cards, FACES[place], without(left, place)


def deals(
    rules: BlackjackRules, left: Counts, cards: tuple[Card, ...] = (), chance: float = 1.0
) -> Iterator[World]:
    try:
        game, _ = start(rules, cards, [STAKE])
    except ShoeTooShort:
        for share, card, rest in next_cards(left):
            yield from deals(rules, rest, (*cards, card), chance * share)
    else:
        yield World(chance, game, left)


def after(world: World, action: BlackjackAction) -> Iterator[World]:
    try:
        game, _ = world.round.apply(action)
    except ShoeTooShort:
        for share, card, rest in next_cards(world.left):
            longer = replace(world.round, shoe=(*world.round.shoe, card))
            grown = replace(world, chance=world.chance * share, round=longer, left=rest)
            yield from after(grown, action)
    else:
        yield World(world.chance, game, world.left, (*world.actions, action))


def ends(worlds: Iterable[World], decide: Decide) -> Iterator[World]:
    """Play every world to its end with a strategy that sees the open cards only."""
    for world in worlds:
        if world.round.over:
            yield world
        else:
            yield from ends(after(world, decide(world.round)), decide)


def best(worlds: Iterable[World]) -> float:
    """Return the gain of the best play per unit bet, without insurance.

    Worlds that look alike to the caller get the same action.
    """
    gain = 0.0
    alike: dict[object, list[World]] = defaultdict(list)
    for world in worlds:
        game = world.round
        if game.over:
            gain += world.chance * world.net
        else:
            alike[game.seats, game.dealer, game.phase, game.turn].append(world)
    for group in alike.values():
        legal = group[0].round.legal()
        actions = (DECLINE,) if INSURE in legal else legal
        gain += max(
            best([later for world in group for later in after(world, action)]) for action in actions
        )
    return gain


def finished(
    game: str,
    rules: str,
    decks: int,
    bet: int,
    staked: int,
    result: str,
    words: tuple[str, ...] = (),
) -> FinishedHand:
    """A hand as the time bank gives it to the odds, without what they do not read."""
    return FinishedHand(0, game, "second", 0, rules, decks, bet, staked, 0, result, words)
