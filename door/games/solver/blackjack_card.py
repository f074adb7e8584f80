"""The strategy card of a black jack table: the best play by totals against each up card."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from door.games.blackjack.rules import BlackjackRules
from door.games.solver.blackjack import Matchup, Strategy, full
from door.games.solver.hand_list import Hands, Total, every_hand
from door.games.solver.hand_tree import UpCard
from door.games.solver.odds import Odds
from door.games.solver.odds_text import percent
from door.games.solver.strategy_card import Section, StrategyCard, joined
from door.games.solver.tutor.dealer import Counts
from timebank.language import N_

UPS = (2, 3, 4, 5, 6, 7, 8, 9, 10, 1)
_NAMES = {1: "A"}


def card(title: str, rules: BlackjackRules, odds: Odds, shoe: Counts | None = None) -> StrategyCard:
    """Return the strategy card. `odds` are for the gains in its notes."""
    shoe = shoe or full(rules.decks)
    hands = every_hand(rules, shoe)
    plays = [_column(Matchup(hands, UpCard(rules, shoe, up))) for up in UPS]
    columns = tuple(_NAMES.get(up, str(up)) for up in UPS)
    decided = sorted({total for play in plays for total in play.hits})
    hard = [(str(total), _row(plays, (total, soft))) for total, soft in decided if not soft]
    soft = [(f"soft {total}", _row(plays, (total, soft))) for total, soft in decided if soft]
    sections = [
        Section(N_("You have"), columns, joined(hard)),
        Section(N_("An ace as 11"), columns, tuple(soft)),
    ]
    if rules.split != "never":
        pairs = [
            _pair_row(plays, hands, value)
            for value in (*range(1, 10), 0)
            if value in hands.pairs.values()
        ]
        sections.append(Section(N_("A pair of"), columns, tuple(pairs)))
    best, totals = odds.strategies["perfect"].mean, odds.strategies["totals"].mean
    notes = [
        f"Played so, a caller gains {percent(totals)} of the bet on average; by every card in"
        f" sight {percent(best)}."
    ]
    gains = {"played": totals, "careful": best}
    insurance = odds.insurance
    if insurance is not None:
        gains["insurance"] = insurance.mean
        gain = percent(insurance.mean)
        advice = f"Insure: it gains {gain[1:]}"
        if insurance.mean <= 0:
            advice = f"Do not insure: it loses {gain.lstrip('-')}"
        notes.append(f"{advice} of what is insured, on average.")
    if rules.charlie:
        notes.append("It does not count how many cards make a total; the tutor does.")
    return StrategyCard(f"{title}: what to do, by totals", tuple(sections), tuple(notes), gains)


@dataclass(frozen=True)
class _Column:
    """The decisions against one up card."""

    hits: Mapping[Total, bool]
    doubles: frozenset[Total]
    splits: frozenset[int]

    def move(self, total: Total) -> str:
        hits = self.hits.get(total, False)
        if total in self.doubles:
            return "D" if hits else "Ds"
        return "H" if hits else "S"


def _column(matchup: Matchup) -> _Column:
    play: Strategy = matchup.by_totals()
    totals = matchup.hands.totals
    decided = [
        place
        for place in matchup.main.places
        if matchup.main.final_kinds[place] is None and matchup.hands.cards[place].cards > 1
    ]
    return _Column(
        {totals[place]: play.hits[place] for place in decided},
        frozenset(totals[place] for place in play.doubles.union(*play.half_doubles.values())),
        frozenset(play.splits),
    )


def _row(plays: Sequence[_Column], total: Total) -> tuple[str, ...]:
    return tuple(play.move(total) for play in plays)


def _pair_row(plays: Sequence[_Column], hands: Hands, value: int) -> tuple[str, tuple[str, ...]]:
    cards = hands.cards[hands.pair(value)]
    total = cards.total, cards.soft
    name = _NAMES.get(value + 1, str(value + 1))
    return f"{name} {name}", tuple(
        "P" if value in play.splits else play.move(total) for play in plays
    )
