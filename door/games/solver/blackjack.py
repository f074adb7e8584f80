"""The odds of a black jack table: every hand against every up card, with four strategies.

Only splits are not exact. Each of their two hands is played by its own cards alone, and the mean is
exact for this strategy. Given the dealer's result, the outcomes of both hands are taken to be
independent; docs/odds.md has the possible error.
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

_SAFE = 11  # the highest hard total, aces as 1, that no card busts
_USED_CARDS = 9
"""More than the mean number of cards that a hand with the best play and the dealer take.

A missing card shifts the lead of a hit only if it would have been one of these cards. So the shift
is at most this number divided by the cards of the shoe, for each unit between the gains."""

_DEALER_CARDS = 3.0
"""More than the mean number of cards that the dealer draws, including the hole card."""

_MAX_OUT = 12
"""Cards that may be out when a card is drawn; more are very rare."""

_BY_CARDS = ("perfect", "never-bust")

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
    """Return the odds of one caller against the dealer, by default from full decks.

    Other seats do not matter, because any unseen card is as likely to come next.
    """
    shoe = shoe or full(rules.decks)
    hands = every_hand(rules, shoe)
    as_dealer = Strategy(_dealer_hits(rules, hands), set(), set())
    counts = {strategy: _Count(rules) for strategy in STRATEGIES}
    for up in range(1, 11):
        if not shoe[up - 1]:
            continue
        matchup = Matchup(hands, UpCard(rules, shoe, up))
        plays = {
            "perfect": matchup.best(),
            "totals": matchup.by_totals(),
            "dealer": as_dealer,
            "never-bust": matchup.best(safe=True),
        }
        for strategy, play in plays.items():
            matchup.count(play, counts[strategy])
    strategies = {
        strategy: count.figures(is_by_cards=strategy in _BY_CARDS)
        for strategy, count in counts.items()
    }
    mapping = dict(rules_to_mapping(rules))
    del mapping["insurance_unit"]  # the value of a coin is no rule
    return Odds(game, mapping, strategies, _insurance(rules, shoe, hands), _notes(rules))


def full(decks: int) -> Counts:
    """Return the counts of full decks.

    >>> full(1)
    (4, 4, 4, 4, 4, 4, 4, 4, 4, 16)
    """
    copies = decks * CARDS_IN_DECK // len(RANKS)
    return (*[copies] * 9, 4 * copies)


def _dealer_hits(rules: BlackjackRules, hands: Hands) -> list[bool]:
    """Return which hands the dealer would hit."""
    hits: dict[Cards, bool] = {}
    for cards, counts in zip(hands.cards, hands.counts, strict=True):
        if cards not in hits:
            shown = [_CARDS[value] for value in range(10) for _ in range(counts[value])]
            hits[cards] = rules.dealer_draws(shown)
    return [hits[cards] for cards in hands.cards]


@dataclass
class Strategy:
    """The decisions against one up card. Hands are places in `Hands`."""

    hits: Sequence[bool]
    doubles: set[int]
    splits: set[int]  # the values of pairs
    half_hits: dict[int, Sequence[bool]] = field(default_factory=dict)  # by the pair's value
    half_doubles: dict[int, set[int]] = field(default_factory=dict)


class Matchup:
    """All hands of a caller against one up card."""

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
        self.doubt = _USED_CARDS * (self.main.pays.most + 1) / (up.cards - 2)
        self.anything = [True] * len(hands.cards)
        self.safe = [cards.hard <= _SAFE for cards in hands.cards]

    # Strategies.

    def best(self, *, safe: bool = False) -> Strategy:
        """Return the best strategy by the cards in sight, for a caller who can stake two more bets.

        With `safe` it hits and doubles only hands that cannot bust. It doubles a split hand only if
        both hands may be doubled.
        """
        may_hit = self.safe if safe else self.anything
        worth, hits, _ = self._whole(safe)
        doubles, splits = set(), set()
        half_hits: dict[int, Sequence[bool]] = {}
        half_doubles: dict[int, set[int]] = {}
        for place, _ in self.decided_roots():
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
        """Return the best play of hands without a split or a double, and the leads of a hit."""
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
        """The lead of a hit over standing for a unit, for hands without a split."""
        return self._whole(safe=False)[2]

    def by_totals(self) -> Strategy:
        """Return the best strategy by totals alone.

        It plays hands with the same count, hard or soft, alike. It splits pairs by their value.
        """
        return _TotalsSearch(self).strategy()

    # The outcomes of a strategy.

    def count(self, play: Strategy, count: _Count) -> None:
        """Add the outcomes of a strategy to `count`."""
        main, chance = self.main, self.up.chance
        roots = [
            (place, times) for place, times in self.decided_roots() if not self.leaves(place, play)
        ]
        doubles = [(place, times) for place, times in self.decided_roots() if place in play.doubles]
        ends = main.distribution(main.orders(roots, play.hits), play.hits, doubles)
        count.hands(ends, chance)
        count.staked += chance * sum(times * main.clear[place] for place, times in doubles)
        for place, times in self.roots:
            natural = self.hands.cards[place].total == 21
            if natural:
                count.natural(main.joint(place), times * chance)
            looked = main.chance[place] - main.clear[place]  # a natural, by the dealer's look
            count.result(NATURAL if natural else 20, _DEALER_NATURAL, times * chance * looked)
        for value in play.splits:
            self._count_split(play, value, count)

    def _count_split(self, play: Strategy, value: int, count: _Count) -> None:
        half, pair = self.half(value), self.hands.pair(value)
        hits, doubling = play.half_hits[value], play.half_doubles[value]
        roots = [(place, 1) for place in half.seconds if place not in doubling]
        doubles = [(place, 1) for place in half.seconds if place in doubling]
        orders = half.orders(roots, hits)
        ends = half.distribution(orders, hits, doubles)
        drawn = half.drawn(orders, hits, doubles) / self.main.clear[pair]
        dependence = min(
            1.0, drawn * (drawn + 2 * _DEALER_CARDS) / max(1.0, self.up.cards - _MAX_OUT)
        )
        count.split(ends, self.main.joint(pair), self.up.chance, dependence)
        added = self.main.clear[pair] + 2 * sum(half.clear[place] for place in doubling)
        count.staked += self.up.chance * added

    def decided_roots(self) -> list[tuple[int, int]]:
        """Return the first two cards with a decision, and the number of orders of each."""
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
        """Return the worth of one hand of a split."""
        half.weigh(child for place in doubles for child in self.hands.children[place])
        return sum(
            half.doubled(place) if place in doubles else worth[place] for place in half.seconds
        )

    def doubling(self, half: HandTree, may_hit: Sequence[bool]) -> list[int]:
        """Return the split hands that may double."""
        return [
            place
            for place in half.seconds
            if half.final_kinds[place] is None
            and may_hit[place]
            and self.may_double(place, from_split=True)
        ]

    def _worth_doubling(
        self, half: HandTree, worth: Sequence[float], may_hit: Sequence[bool]
    ) -> set[int]:
        doubling = self.doubling(half, may_hit)
        half.weigh(child for place in doubling for child in self.hands.children[place])
        return {
            place
            for place in doubling
            if half.doubled(place) > worth[place] + SAME * half.clear[place]
        }


class _OpenTable:
    """A table with open entries, which each hand decides for itself.

    No table with the same decided entries gains more.
    """

    def __init__(self, totals: Sequence[Total], decided: _Table) -> None:
        self.totals = totals
        self.decided = decided
        self.may_hit = [decided.get((_HIT, total), True) for total in totals]
        self.must_hit = [decided.get((_HIT, total), False) for total in totals]
        self.gain = 0.0
        self.splits: set[int] = set()
        # By entry: what hands gain by deciding against it, and what others gain by deciding for it.
        self.stakes: dict[_Entry, list[float]] = defaultdict(lambda: [0.0, 0.0])

    @property
    def table(self) -> dict[_Entry, bool]:
        """Return the table, with each open entry decided by the higher gain."""
        wanted = {entry: gain > loss for entry, (loss, gain) in self.stakes.items()}
        return {**wanted, **self.decided}

    def disputed(self) -> _Entry | None:
        """Return the open entry with most at stake between its hands; None if all agree."""
        least = {
            entry: min(stakes) for entry, stakes in self.stakes.items() if entry not in self.decided
        }
        entry = max(least, key=least.__getitem__, default=None)
        return entry if entry is not None and least[entry] > SAME else None

    def doubles(self, leads: Mapping[int, float]) -> set[int]:
        """Return the hands that double, given the leads of a double."""
        return {
            place
            for place, lead in leads.items()
            if self.decided.get((_DOUBLE, self.totals[place]), lead > 0)
        }

    def count(self, entry: str, place: int, chosen: bool, lead: float) -> None:
        self.stakes[entry, self.totals[place]][chosen] += abs(lead)


class _TotalsSearch:
    """The search for the best strategy by totals against one up card, by branch and bound.

    A table has for each total, hard or soft, whether to hit and whether to double. Each pair is
    split or not. While an entry is open, each hand decides it for itself. The search tries both
    decisions of the disputed entry with most at stake, until all hands agree.
    """

    def __init__(self, matchup: Matchup) -> None:
        self.matchup = matchup
        self.main, self.totals = matchup.main, matchup.hands.totals
        self.roots = dict(matchup.decided_roots())
        self.doubled = {
            place: self.main.doubled(place) for place in self.roots if matchup.may_double(place)
        }
        self._halves: dict[int, float] = {}  # the gain of a split hand with all entries open
        self._best: _OpenTable | None = None
        self._search({})

    def _search(self, decided: _Table) -> None:
        free = self._open_table(decided)
        if self._best is not None and free.gain <= self._best.gain + SAME:
            return
        disputed = free.disputed()
        if disputed is None:
            self._best = free
            return
        wanted = free.table[disputed]
        for choice in (wanted, not wanted):
            self._search({**decided, disputed: choice})

    def _open_table(self, decided: _Table) -> _OpenTable:
        free, main, pairs = _OpenTable(self.totals, decided), self.main, self.matchup.pairs
        worth, hits = main.best(free.may_hit, must_hit=free.must_hit)
        leads = {place: doubled - worth[place] for place, doubled in self.doubled.items()}
        doubles = free.doubles(leads)
        roots = []
        for place, times in self.roots.items():
            gain = worth[place] + (leads[place] if place in doubles else 0.0)
            if place in pairs and self._count_better_split(pairs[place], gain, free):
                continue
            free.gain += times * gain
            if place in leads:
                free.count(_DOUBLE, place, place in doubles, times * leads[place])
            if place not in doubles:
                roots.append((place, times))
        orders = main.orders(roots, hits)
        for place in main.places:
            if orders[place] and main.final_kinds[place] is None:
                lead = main.hit(place, worth) - main.stand_worth[place]
                free.count(_HIT, place, hits[place], orders[place] * lead)
        return free

    def _count_better_split(self, value: int, gain: float, free: _OpenTable) -> bool:
        """Count a pair in `free` if its split gains more than `gain`; return whether it does."""
        if not self.main.clear[self.matchup.hands.pair(value)]:
            return False
        if value not in self._halves:
            self._halves[value] = self._count_half(value, _OpenTable(self.totals, {}))
        if 2 * self._halves[value] <= gain:
            return False
        half = _OpenTable(self.totals, free.decided)
        split = 2 * self._count_half(value, half)
        if split <= gain:
            return False
        free.gain += split
        free.splits.add(value)
        for entry, stakes in half.stakes.items():
            for choice, stake in enumerate(stakes):
                free.stakes[entry][choice] += 2 * stake
        return True

    def _count_half(self, value: int, free: _OpenTable) -> float:
        """Count one hand of a split in `free`; return its gain."""
        matchup, half = self.matchup, self.matchup.half(value)
        clue, doubt = matchup.clue, matchup.doubt
        worth, hits = half.best(free.may_hit, clue, doubt, must_hit=free.must_hit)
        may_double = matchup.doubling(half, matchup.anything)
        half.weigh(child for place in may_double for child in matchup.hands.children[place])
        leads = {place: half.doubled(place) - worth[place] for place in may_double}
        doubles = free.doubles(leads)
        for place, lead in leads.items():
            free.count(_DOUBLE, place, place in doubles, lead)
        orders = half.orders([(place, 1) for place in half.seconds if place not in doubles], hits)
        for place in half.places:
            if orders[place] and half.final_kinds[place] is None:
                lead = clue[place] * half.clear[place]
                if abs(clue[place]) <= doubt:
                    lead = half.hit(place, worth) - half.stand_worth[place]
                free.count(_HIT, place, hits[place], orders[place] * lead)
        return sum(worth[place] for place in half.seconds) + sum(leads[place] for place in doubles)

    def strategy(self) -> Strategy:
        assert self._best is not None
        matchup, best = self.matchup, self._best
        table = {**self._unreached_entries(best), **best.table}
        hits = [table.get((_HIT, total), False) for total in self.totals]
        doubling = {
            total for (entry, total), doubles in table.items() if entry is _DOUBLE and doubles
        }
        doubles = {
            place
            for place in self.doubled
            if self.totals[place] in doubling and matchup.pairs.get(place) not in best.splits
        }
        play = Strategy(hits, doubles, best.splits)
        for value in best.splits:
            half = matchup.half(value)
            play.half_hits[value] = hits
            play.half_doubles[value] = {
                place
                for place in matchup.doubling(half, matchup.anything)
                if self.totals[place] in doubling
            }
            matchup.dealt(half, half.played(hits), play.half_doubles[value])  # weighs them
        return play

    def _unreached_entries(self, free: _OpenTable) -> dict[_Entry, bool]:
        """Return whether to hit at each total, by the gain of all its hands together.

        `strategy` uses this for totals that do not occur, because their hands split or double.
        """
        main = self.main
        worth, _ = main.best(free.may_hit, must_hit=free.must_hit)
        leads: dict[Total, float] = defaultdict(float)
        for place in main.places:
            if main.final_kinds[place] is None:
                leads[self.totals[place]] += main.hit(place, worth) - main.stand_worth[place]
        return {(_HIT, total): lead > 0 for total, lead in leads.items()}


class _Count:
    """The outcomes of a strategy against all up cards."""

    def __init__(self, rules: BlackjackRules) -> None:
        self.pays = payments(rules)
        self.net: dict[float, float] = defaultdict(float)
        self.outcomes: dict[str, float] = defaultdict(float)
        self.staked = 1.0
        self.max_more = 0.0  # the most that play by both hands of a split gains
        self.square_error = 0.0  # the largest error of the mean square

    def result(self, kind: int, result: int, chance: float) -> None:
        """Count a hand of a kind (`payments`) against a place in `RESULTS`."""
        payment = self.pays.single[kind]
        self.net[payment.against[result]] += chance
        self.outcomes[str(payment.outcomes[result])] += chance

    def natural(self, ends: Sequence[float], times: float) -> None:
        for result, chance in enumerate(ends):
            self.result(NATURAL, result, times * chance)

    def hands(self, ends: Distribution, times: float) -> None:
        for ending in self._endings(ends):
            self.net[ending.gain] += times * ending.chance
            self.outcomes[ending.outcome] += times * ending.chance

    def split(
        self, hand: Distribution, results: Sequence[float], times: float, dependence: float
    ) -> None:
        """Count two hands that each end like `hand`.

        `results` are the chances of the dealer's results. A hand that ends before the dealer plays
        gets the rest of each. `dependence` is the largest chance that one hand needs a card of the
        other or of the dealer. Without this the hands are independent.
        """
        against_result = [defaultdict[float, float](float) for _ in results]
        before: dict[float, float] = defaultdict(float)
        square = most = 0.0
        for ending in self._endings(hand):
            self.outcomes[ending.outcome] += 2 * times * ending.chance
            gains = before if ending.result is None else against_result[ending.result]
            gains[ending.gain] += ending.chance
            square += ending.gain**2 * ending.chance
            most = max(most, abs(ending.gain)) if ending.chance else most
        over = sum(before.values())
        # The error of the product is at most its range times the dependence, and at most possible.
        whole = sum(results)
        self.square_error += times * 2 * min(2 * most**2 * dependence * whole, 2 * square)
        self.max_more += times * 2 * most * dependence * whole
        for chance, gains in zip(results, against_result, strict=True):
            if not chance:
                continue
            left = chance - sum(gains.values())
            for gain, share in before.items() if over else ():
                gains[gain] += left * share / over
            for first, first_share in gains.items():
                for second, second_share in gains.items():
                    self.net[first + second] += times * first_share * second_share / chance

    def _endings(self, ends: Distribution) -> Iterator[_Ending]:
        for kinds, pays in ((ends.single, self.pays.single), (ends.doubled, self.pays.doubled)):
            for kind, chances in kinds.items():
                payment = pays[kind]
                for result, chance in enumerate(chances):
                    gain, outcome = payment.against[result], payment.outcomes[result]
                    yield _Ending(gain, str(outcome), result, chance)
        for kind, chance in ends.paid.items():
            payment = self.pays.single[kind]
            yield _Ending(payment.against[0], str(payment.outcomes[0]), None, chance)
        yield _Ending(-1.0, str(BlackjackOutcome.BUST), None, ends.busts)
        yield _Ending(-2.0, str(BlackjackOutcome.BUST), None, ends.doubled_busts)

    def figures(self, *, is_by_cards: bool) -> Figures:
        """Return the figures. `is_by_cards` is whether the strategy is the best by all cards."""
        figures = figures_of(self.net, self.outcomes, self.staked)
        variance = figures.sd**2
        errors = (
            math.sqrt(variance + self.square_error) - figures.sd,
            figures.sd - math.sqrt(max(0.0, variance - self.square_error)),
        )
        mean_within = self.max_more if is_by_cards else 0.0
        return replace(figures, mean_within=mean_within, sd_within=max(errors))


class _Ending(NamedTuple):
    gain: float
    outcome: str
    result: int | None  # of the dealer; None if the hand ended before
    chance: float


def _notes(rules: BlackjackRules) -> tuple[str, ...]:
    notes = []
    if rules.split != "never":
        notes.append(SPLITS)
    if rules.shuffle == "shoe":
        notes.append(RUNS_ON)
    return tuple(notes)


def _insurance(rules: BlackjackRules, shoe: Counts, hands: Hands) -> Insurance:
    """Return the odds of insurance under an ace, over all first two cards."""
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
        copies = up.unseen[second] - (first == second)
        chance = up.chance * orders * up.unseen[first] * copies / (up.cards * (up.cards - 1))
        gain = (up.unseen[TEN] - counts[TEN]) * (rules.insurance_pays + 1) / side_cards - 1
        offered += chance
        mean += chance * gain
        adds += chance * max(0.0, gain) / 2
    return Insurance(offered, mean / offered if offered else 0.0, adds)
