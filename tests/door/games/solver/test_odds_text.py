"""Odds in words: no wider than the window, and without empty columns."""

from __future__ import annotations

from dataclasses import replace

import pytest

from door.games.solver.odds import Figures, Insurance, Odds
from door.games.solver.odds_text import pieces
from timebank.reports.tables import Sheet, written

WAY = Figures(
    mean=-0.0137,
    sd=1.1072,
    outcomes={f"outcome-{number}": 0.1 for number in range(10)},
    net={float(number): 0.125 for number in range(-4, 4)},
    staked=1.0951,
)
WAYS = ("perfect", "totals", "dealer", "never-bust")
EXACT = Odds(
    "unix-bj",
    {f"rule_{number}": "as it was played on UNIX" for number in range(9)},
    dict.fromkeys(WAYS, WAY),
    Insurance(0.0769, -0.0588, 0.0),
    ("The shoe runs on, and these are the odds of a fresh one, for all rounds that are sure.",),
)
NOT_EXACT = replace(
    EXACT, strategies=dict.fromkeys(WAYS, replace(WAY, mean_within=0.02141, sd_within=0.0343))
)


def odds_lines(odds: Odds, columns: int | None) -> list[str]:
    return list(written(pieces("UNIX bj", odds), Sheet(columns)))


@pytest.mark.parametrize("odds", [EXACT, NOT_EXACT])
@pytest.mark.parametrize("columns", [40, 80, 200])
def test_nothing_is_wider_than_the_window(odds: Odds, columns: int) -> None:
    lines, wide = odds_lines(odds, columns), odds_lines(odds, None)
    assert max(map(len, lines)) <= columns < max(map(len, wide))
    if columns == 40:
        assert any(line.startswith("No room for: ") for line in lines)
    else:
        assert sorted(" ".join(lines).split()) == sorted(" ".join(wide).split())


def test_how_far_off_figures_may_be_has_a_column_where_they_are_not_exact() -> None:
    def heading(odds: Odds) -> str:
        return next(line for line in odds_lines(odds, 80) if line.startswith("Play"))

    assert heading(EXACT).endswith("Staked")
    assert heading(NOT_EXACT).endswith("Staked  Not exact")
