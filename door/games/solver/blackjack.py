"""The odds of a black jack table: every hand against every up card, and four ways to play them.

All of it is exact but splits. Their two hands are played each by its own cards alone: the mean is
exact for whoever plays so. How they end together is taken as if, once it is known how the dealer
ends, one hand told nothing of the other; docs/odds.md says how far that may be wrong.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from door.games.blackjack.events import BlackjackOutcome
from door.games.blackjack.rules import BlackjackRules, rules_to_mapping
from door.games.engine.cards import CARDS_IN_DECK, RANKS, parse_cards
from door.games.solver.hand_list import Hands, Total, every_hand
from door.games.solver.hand_tree import SAME, Distribution, HandTree, UpCard
from door.games.solver.odds import RUNS_ON, STRATEGIES, Figures, Insurance, Odds, figures_of
from door.games.solver.tutor.dealer import RESULTS, TEN, Counts
from door.games.solver.tutor.payments import NATURAL, payments
from door.games.solver.tutor.spot import Cards, may_double

_SAFE = 11  # hard, or an ace as one: no card takes such a hand over 21
_USED = 9
"""More cards than a hand, hit as it is best and then stood on, and the dealer after either take on
average. So far, in cards of the shoe, may one card that is out shift the lead of one above the
other, for each unit between what they may gain: where none of these cards is it, nothing shifts."""

_DEALT = 3.0
"""More cards than the dealer draws on average, the hole card included."""

_MOST_OUT = 12
"""Cards that may be out when one is drawn; more are next to never."""

_HEEDING = ("perfect", "never-bust")

_DEALER_NATURAL = RESULTS.index("natural")
_CARDS = parse_cards("AS 2S 3S 4S 5S 6S 7S 8S 9S TS")

SPLITS = (
    "Each hand of a split is played by its own cards: the gain is exact for who plays so, and the"
    " figures beside it say how much more heeding the other hand may bring, and how far off the"
    " deviation may be."
)

_Best = tuple[list[float], list[bool], list[float]]

_HIT, _DOUBLE = "hit", "double"
_Entry = tuple[str, Total]
_Table = Mapping[_Entry, bool]


def odds(game: str, rules: BlackjackRules, shoe: Counts | None = None) -> Odds:
    """The odds of one caller and the dealer, out of full decks unless another shoe is given.

    Callers beside them do not matter: any unseen card is as likely to come next, whoever draws it.
    """
    shoe = shoe or full(rules.decks)
    hands = every_hand(rules, shoe)
    as_dealer = Strategy(_drawn_to(rules, hands), set(), set())
    counts = {strategy: _Count(rules) for strategy in STRATEGIES}
    for up in range(1, 11):
        if not shoe[up - 1]:
            continue
        against = Against(hands, UpCard(rules, shoe, up))
        plays = {
            "perfect": against.best(),
            "totals": against.by_totals(),
            "dealer": as_dealer,
            "never-bust": against.best(safe=True),
        }
        for strategy, play in plays.items():
            against.count(play, counts[strategy])
    strategies = {
        strategy: count.figures(heeds=strategy in _HEEDING) for strategy, count in counts.items()
    }
    mapping = rules_to_mapping(rules)
    del mapping["insurance_unit"]  # the value of a coin, which is no rule of the house
    return Odds(game, mapping, strategies, _insurance(rules, shoe, hands), _notes(rules))


def full(decks: int) -> Counts:
    """So many decks.

    >>> full(1)
    (4, 4, 4, 4, 4, 4, 4, 4, 4, 16)
    """
    copies = decks * CARDS_IN_DECK // len(RANKS)
    return (*[copies] * 9, 4 * copies)


def _drawn_to(rules: BlackjackRules, hands: Hands) -> list[bool]:
    """Which hands a caller hits who draws as the dealer does."""
    known: dict[Cards, bool] = {}
    for cards, counts in zip(hands.cards, hands.counts, strict=True):
        if cards not in known:
            shown = [_CARDS[value] for value in range(10) for _ in range(counts[value])]
            known[cards] = rules.dealer_draws(shown)
    return [known[cards] for cards in hands.cards]


@dataclass
class Strategy:
    """What is done under one up card: with the first two cards, and with every hand after."""

    hits: Sequence[bool]
    doubles: set[int]
    splits: set[int]  # values of pairs
    half_hits: dict[int, Sequence[bool]] = field(default_factory=dict)  # by the pair's value
    half_doubles: dict[int, set[int]] = field(default_factory=dict)


class Against:
    """All hands of a caller under one up card."""

    def __init__(self, hands: Hands, up: UpCard) -> None:
        self.hands = hands
        self.up = up
        self.rules = up.rules
        self.main = HandTree(hands, up)
        self.halves: dict[int, HandTree] = {}
        self._wholes: dict[bool, _Best] = {}
        self._halves_best: dict[tuple[int, bool], tuple[list[float], list[bool]]] = {}
        self.roots = [
            (place, 1 if max(hands.counts[place]) == 2 else 2)
            for place, cards in enumerate(hands.cards)
            if cards.cards == 2
        ]
        self.pairs = {} if self.rules.split == "never" else hands.pairs
        self.doubt = _USED * (self.main.pays.most + 1) / (up.cards - 2)
        self.anything = [True] * len(hands.cards)
        self.safe = [cards.hard <= _SAFE for cards in hands.cards]

    # Ways to play.

    def best(self, *, safe: bool = False) -> Strategy:
        """Return the best play by the cards in sight, by a caller who can stake two more bets.

        `safe` hits and doubles only what cannot bust. The hands of a split are doubled where both
        could be.
        """
        may_hit = self.safe if safe else self.anything
        worth, hits, _ = self._whole(safe)
        doubles, splits = set(), set()
        half_hits: dict[int, Sequence[bool]] = {}
        half_doubles: dict[int, set[int]] = {}
        for place, _ in self.asked():
            best = worth[place]
            if may_hit[place] and self.may_double(place):
                doubled = self.main.doubled(place)
                if doubled > best + SAME * self.main.clear[place]:
                    best = doubled
                    doubles.add(place)
            value = self.pairs.get(place)
            if value is None or not self.main.clear[place]:
                continue
            half = self.half(value)
            half_worth, half_hits[value] = self._half_best(value, safe)
            half_doubles[value] = self._worth_doubling(half, half_worth, may_hit)
            if 2 * self.dealt(half, half_worth, half_doubles[value]) > best + SAME:
                splits.add(value)
                doubles.discard(place)
        return Strategy(hits, doubles, splits, half_hits, half_doubles)

    def _whole(self, safe: bool) -> _Best:
        """The hands that are not split, neither doubled; and by how much hitting leads."""
        if safe not in self._wholes:
            worth, hits = self.main.best(self.safe if safe else self.anything)
            self._wholes[safe] = worth, hits, self.main.leads(worth)
        return self._wholes[safe]

    def _half_best(self, value: int, safe: bool) -> tuple[list[float], list[bool]]:
        if (value, safe) not in self._halves_best:
            _, _, clue = self._whole(safe)
            may_hit = self.safe if safe else self.anything
            self._halves_best[value, safe] = self.half(value).best(may_hit, clue, self.doubt)
        return self._halves_best[value, safe]

    @property
    def clue(self) -> list[float]:
        """By how much hitting leads for a unit, of the hands that are not split."""
        return self._whole(safe=False)[2]

    def by_totals(self) -> Strategy:
        """The best by totals alone: hands that count alike, hard or soft, are played alike and
        doubled alike, whatever their cards; pairs are split by their value."""
        return _Totals(self).strategy()

    # What becomes of a play.

    def count(self, play: Strategy, count: _Count) -> None:
        main, chance = self.main, self.up.chance
        staying = [(place, times) for place, times in self.asked() if not self.leaves(place, play)]
        doubles = [(place, times) for place, times in self.asked() if place in play.doubles]
        count.hands(main.spread(main.orders(staying, play.hits), play.hits, doubles), chance)
        count.staked += chance * sum(times * main.clear[place] for place, times in doubles)
        for place, times in self.roots:
            natural = self.hands.cards[place].total == 21
            if natural:
                count.natural(main.joint(place), times * chance)
            found = main.chance[place] - main.clear[place]  # by the dealer's look
            count.result(NATURAL if natural else 20, _DEALER_NATURAL, times * chance * found)
        for value in play.splits:
            self._count_split(play, value, count)

    def _count_split(self, play: Strategy, value: int, count: _Count) -> None:
        half, pair = self.half(value), self.hands.pair(value)
        hits, doubling = play.half_hits[value], play.half_doubles[value]
        roots = [(place, 1) for place in half.seconds if place not in doubling]
        doubles = [(place, 1) for place in half.seconds if place in doubling]
        orders = half.orders(roots, hits)
        spread = half.spread(orders, hits, doubles)
        drawn = half.drawn(orders, hits, doubles) / self.main.clear[pair]
        met = min(1.0, drawn * (drawn + 2 * _DEALT) / max(1.0, self.up.cards - _MOST_OUT))
        count.split(spread, self.main.joint(pair), self.up.chance, met)
        added = self.main.clear[pair] + 2 * sum(half.clear[place] for place in doubling)
        count.staked += self.up.chance * added

    def asked(self) -> list[tuple[int, int]]:
        """The first two cards that are asked, and in how many orders they come."""
        return [each for each in self.roots if self.hands.cards[each[0]].total < 21]

    def leaves(self, place: int, play: Strategy) -> bool:
        return place in play.doubles or self.pairs.get(place) in play.splits

    def may_double(self, place: int, *, from_split: bool = False) -> bool:
        return may_double(self.rules, self.hands.cards[place], from_split=from_split)

    def half(self, value: int) -> HandTree:
        if value not in self.halves:
            self.halves[value] = HandTree(self.hands, self.up, value, self.main)
        return self.halves[value]

    def dealt(self, half: HandTree, worth: Sequence[float], doubles: set[int]) -> float:
        """What one hand of a split is worth."""
        half.weigh(kid for place in doubles for kid in self.hands.kids[place])
        return sum(
            half.doubled(place) if place in doubles else worth[place] for place in half.seconds
        )

    def doubling(self, half: HandTree, may_hit: Sequence[bool]) -> list[int]:
        """The hands of a split that may double."""
        return [
            place
            for place in half.seconds
            if half.stops[place] is None
            and may_hit[place]
            and self.may_double(place, from_split=True)
        ]

    def _worth_doubling(
        self, half: HandTree, worth: Sequence[float], may_hit: Sequence[bool]
    ) -> set[int]:
        asked = self.doubling(half, may_hit)
        half.weigh(kid for place in asked for kid in self.hands.kids[place])
        return {
            place
            for place in asked
            if half.doubled(place) > worth[place] + SAME * half.clear[place]
        }


class _Freely:
    """A play by a table in which each hand decides open entries for itself.

    No table with the same decided entries gains more.
    """

    def __init__(self, totals: Sequence[Total], decided: _Table) -> None:
        self.totals = totals
        self.decided = decided
        self.may_hit = [decided.get((_HIT, total), True) for total in totals]
        self.must_hit = [decided.get((_HIT, total), False) for total in totals]
        self.gain = 0.0
        self.splits: set[int] = set()
        # By entry: what hands gain that decide against it, and what those gain that decide for it.
        self.stakes: dict[_Entry, list[float]] = defaultdict(lambda: [0.0, 0.0])

    @property
    def table(self) -> dict[_Entry, bool]:
        """Return the table; an open entry is decided as more is gained by it."""
        wanted = {entry: wants > other for entry, (other, wants) in self.stakes.items()}
        return {**wanted, **self.decided}

    def disputed(self) -> _Entry | None:
        """Return the open entry on which hands disagree with most at stake; None if all agree."""
        least = {
            entry: min(stakes) for entry, stakes in self.stakes.items() if entry not in self.decided
        }
        entry = max(least, key=least.__getitem__, default=None)
        return entry if entry is not None and least[entry] > SAME else None

    def doubles(self, leads: Mapping[int, float]) -> set[int]:
        """The hands that double, by how much doubling leads."""
        return {
            place
            for place, lead in leads.items()
            if self.decided.get((_DOUBLE, self.totals[place]), lead > 0)
        }

    def count(self, entry: str, place: int, chosen: bool, lead: float) -> None:
        self.stakes[entry, self.totals[place]][chosen] += abs(lead)


class _Totals:
    """The best play by totals under one up card, by branch and bound.

    A play is a table: for each total, hard or soft, whether to hit and whether to double. Each pair
    is split or not. While an entry is open, each hand decides it for itself. When all hands agree,
    their play is a table; until then the entry about which most is at stake is decided both ways.
    """

    def __init__(self, against: Against) -> None:
        self.against = against
        self.main, self.totals = against.main, against.hands.totals
        self.asked = dict(against.asked())
        self.doubled = {
            place: self.main.doubled(place) for place in self.asked if against.may_double(place)
        }
        self._halves: dict[int, float] = {}  # what half a pair gains while all entries are open
        self._best: _Freely | None = None
        self._search({})

    def _search(self, decided: _Table) -> None:
        free = self._freely(decided)
        if self._best is not None and free.gain <= self._best.gain + SAME:
            return
        disputed = free.disputed()
        if disputed is None:
            self._best = free
            return
        wanted = free.table[disputed]
        for choice in (wanted, not wanted):
            self._search({**decided, disputed: choice})

    def _freely(self, decided: _Table) -> _Freely:
        free, main, pairs = _Freely(self.totals, decided), self.main, self.against.pairs
        worth, hits = main.best(free.may_hit, must_hit=free.must_hit)
        leads = {place: doubled - worth[place] for place, doubled in self.doubled.items()}
        doubles = free.doubles(leads)
        staying = []
        for place, times in self.asked.items():
            gain = worth[place] + (leads[place] if place in doubles else 0.0)
            if place in pairs and self._splits(pairs[place], gain, free):
                continue
            free.gain += times * gain
            if place in leads:
                free.count(_DOUBLE, place, place in doubles, times * leads[place])
            if place not in doubles:
                staying.append((place, times))
        orders = main.orders(staying, hits)
        for place in main.places:
            if orders[place] and main.stops[place] is None:
                lead = main.hit(place, worth) - main.stood[place]
                free.count(_HIT, place, hits[place], orders[place] * lead)
        return free

    def _splits(self, value: int, gain: float, free: _Freely) -> bool:
        """Count a pair that gains more by a split than `gain`; tell whether it does."""
        if not self.main.clear[self.against.hands.pair(value)]:
            return False
        if value not in self._halves:
            self._halves[value] = self._half(value, _Freely(self.totals, {}))
        if 2 * self._halves[value] <= gain:
            return False
        half = _Freely(self.totals, free.decided)
        split = 2 * self._half(value, half)
        if split <= gain:
            return False
        free.gain += split
        free.splits.add(value)
        for entry, stakes in half.stakes.items():
            for choice, stake in enumerate(stakes):
                free.stakes[entry][choice] += 2 * stake
        return True

    def _half(self, value: int, free: _Freely) -> float:
        """Count one hand of a split; return its gain."""
        against, half = self.against, self.against.half(value)
        clue, doubt = against.clue, against.doubt
        worth, hits = half.best(free.may_hit, clue, doubt, must_hit=free.must_hit)
        may_double = against.doubling(half, against.anything)
        half.weigh(kid for place in may_double for kid in against.hands.kids[place])
        leads = {place: half.doubled(place) - worth[place] for place in may_double}
        doubles = free.doubles(leads)
        for place, lead in leads.items():
            free.count(_DOUBLE, place, place in doubles, lead)
        orders = half.orders([(place, 1) for place in half.seconds if place not in doubles], hits)
        for place in half.places:
            if orders[place] and half.stops[place] is None:
                lead = clue[place] * half.clear[place]
                if abs(clue[place]) <= doubt:
                    lead = half.hit(place, worth) - half.stood[place]
                free.count(_HIT, place, hits[place], orders[place] * lead)
        return sum(worth[place] for place in half.seconds) + sum(leads[place] for place in doubles)

    def strategy(self) -> Strategy:
        assert self._best is not None
        against, best = self.against, self._best
        table = {**self._alike(best), **best.table}
        hits = [table.get((_HIT, total), False) for total in self.totals]
        doubling = {
            total for (entry, total), doubles in table.items() if entry is _DOUBLE and doubles
        }
        doubles = {
            place
            for place in self.doubled
            if self.totals[place] in doubling and against.pairs.get(place) not in best.splits
        }
        play = Strategy(hits, doubles, best.splits)
        for value in best.splits:
            half = against.half(value)
            play.half_hits[value] = hits
            play.half_doubles[value] = {
                place
                for place in against.doubling(half, against.anything)
                if self.totals[place] in doubling
            }
            against.dealt(half, half.played(hits), play.half_doubles[value])  # weighs them
        return play

    def _alike(self, free: _Freely) -> dict[_Entry, bool]:
        """Decide whether to hit at totals that never come, because their hands are split or
        doubled: as all hands of that total together gain more."""
        main = self.main
        worth, _ = main.best(free.may_hit, must_hit=free.must_hit)
        leads: dict[Total, float] = defaultdict(float)
        for place in main.places:
            if main.stops[place] is None:
                leads[self.totals[place]] += main.hit(place, worth) - main.stood[place]
        return {(_HIT, total): lead > 0 for total, lead in leads.items()}


class _Count:
    """What comes of a way to play, over all up cards."""

    def __init__(self, rules: BlackjackRules) -> None:
        self.pays = payments(rules)
        self.net: dict[float, float] = defaultdict(float)
        self.outcomes: dict[str, float] = defaultdict(float)
        self.staked = 1.0
        self.more = 0.0  # that heeding the other hand of splits may gain at most
        self.spread = 0.0  # how far the mean square may be off

    def result(self, kind: int, result: int, chance: float) -> None:
        """Count a hand that is paid as `kind` against one of the dealer's results."""
        payment = self.pays.single[kind]
        self.net[payment.against[result]] += chance
        self.outcomes[str(payment.outcomes[result])] += chance

    def natural(self, ends: Sequence[float], times: float) -> None:
        for result, chance in enumerate(ends):
            self.result(NATURAL, result, times * chance)

    def hands(self, spread: Distribution, times: float) -> None:
        for ending in self._endings(spread):
            self.net[ending.gain] += times * ending.chance
            self.outcomes[ending.outcome] += times * ending.chance

    def split(self, spread: Distribution, ends: Sequence[float], times: float, met: float) -> None:
        """Count two hands that each end like this, `ends` being how the dealer does. What is said
        of a hand that is over before, against each end, is what is left of all.

        `met`: how likely it is at most that one hand would have met a card that the other, or the
        dealer, has; where it would not, it tells nothing of them.
        """
        known = [defaultdict[float, float](float) for _ in ends]
        before: dict[float, float] = defaultdict(float)
        square = most = 0.0
        for ending in self._endings(spread):
            self.outcomes[ending.outcome] += 2 * times * ending.chance
            where = before if ending.result is None else known[ending.result]
            where[ending.gain] += ending.chance
            square += ending.gain**2 * ending.chance
            most = max(most, abs(ending.gain)) if ending.chance else most
        over = sum(before.values())
        # The product of both is off by no more than its range where they met, nor than can be.
        whole = sum(ends)
        self.spread += times * 2 * min(2 * most**2 * met * whole, 2 * square)
        self.more += times * 2 * most * met * whole
        for chance, gains in zip(ends, known, strict=True):
            if not chance:
                continue
            left = chance - sum(gains.values())
            for gain, share in before.items() if over else ():
                gains[gain] += left * share / over
            for one, of_one in gains.items():
                for other, of_other in gains.items():
                    self.net[one + other] += times * of_one * of_other / chance

    def _endings(self, spread: Distribution) -> Iterator[_Ending]:
        for kinds, pays in ((spread.single, self.pays.single), (spread.doubled, self.pays.doubled)):
            for kind, ends in kinds.items():
                payment = pays[kind]
                for result, chance in enumerate(ends):
                    gain, outcome = payment.against[result], payment.outcomes[result]
                    yield _Ending(gain, str(outcome), result, chance)
        for kind, chance in spread.paid.items():
            payment = self.pays.single[kind]
            yield _Ending(payment.against[0], str(payment.outcomes[0]), None, chance)
        yield _Ending(-1.0, str(BlackjackOutcome.BUST), None, spread.busts)
        yield _Ending(-2.0, str(BlackjackOutcome.BUST), None, spread.doubled_busts)

    def figures(self, *, heeds: bool) -> Figures:
        """`heeds`: whether the play is one that could look at the other hand of a split."""
        found = figures_of(self.net, self.outcomes, self.staked)
        variance = found.sd**2
        off = (
            math.sqrt(variance + self.spread) - found.sd,
            found.sd - math.sqrt(max(0.0, variance - self.spread)),
        )
        return replace(found, mean_within=self.more if heeds else 0.0, sd_within=max(off))


class _Ending(NamedTuple):
    gain: float
    outcome: str
    result: int | None  # of the dealer; None: the hand was over before
    chance: float


def _notes(rules: BlackjackRules) -> tuple[str, ...]:
    notes = []
    if rules.split != "never":
        notes.append(SPLITS)
    if rules.shuffle == "shoe":
        notes.append(RUNS_ON)
    return tuple(notes)


def _insurance(rules: BlackjackRules, shoe: Counts, hands: Hands) -> Insurance:
    """Insurance under an ace, for two cards of every kind in sight."""
    up = UpCard(rules, shoe, 1)
    side_cards = up.cards - 2
    offered = mean = adds = 0.0
    for place, cards in enumerate(hands.cards):
        if cards.cards != 2 or (cards.total == 21 and not rules.insurance_on_natural):
            continue
        counts = hands.counts[place]
        first = next(value for value in range(10) if counts[value])
        second = max(value for value in range(10) if counts[value])
        orders = 1 if first == second else 2
        had = up.unseen[second] - (first == second)
        chance = up.chance * orders * up.unseen[first] * had / (up.cards * (up.cards - 1))
        gain = (up.unseen[TEN] - counts[TEN]) * (rules.insurance_pays + 1) / side_cards - 1
        offered += chance
        mean += chance * gain
        adds += chance * max(0.0, gain) / 2
    return Insurance(offered, mean / offered if offered else 0.0, adds)
