"""The odds as text, for `door odds`."""

from __future__ import annotations

from collections.abc import Iterator

from door.games.solver.odds import Figures, Odds
from timebank.reports.tables import Column, Listing, Piece

_NAMES = {
    "perfect": "perfect play",
    "totals": "play by totals",
    "dealer": "the dealer's play",
    "never-bust": "never bust",
}
_NEGLIGIBLE = 0.0005  # smaller errors are not printed
COLUMNS = (
    Column("Play"),
    Column("Caller gains", right=True),
    Column("Deviation", right=True, goes=3),
    Column("Staked", right=True, goes=2),
)
NOT_EXACT = Column("Not exact", goes=1, least=24)


def pieces(title: str, odds: Odds) -> Iterator[Piece]:
    """Yield the output of `door odds` for a table. Percentages are of the opening bet."""
    yield title
    changed = ", ".join(f"{key} = {_toml(value)}" for key, value in odds.rules.items())
    if changed:
        yield f"  {changed}"
    yield ""
    is_exact = not any(map(_within, odds.strategies.values()))
    columns = COLUMNS if is_exact else (*COLUMNS, NOT_EXACT)
    rows = [_row(_NAMES[name], each)[: len(columns)] for name, each in odds.strategies.items()]
    yield Listing(columns, rows, "")
    yield ""
    insurance = odds.insurance
    if insurance is not None:
        yield (
            f"Insurance, offered in {insurance.offered * 100:.2f}% of hands:"
            f" {percent(insurance.mean)} of what is insured; bought only where it gains it adds"
            f" {percent(insurance.adds)} to the bet."
        )
    yield ""
    best = odds.strategies["perfect"]
    yield Listing(
        (Column("Hands of perfect play"), Column("Share", right=True)),
        [(name, _share(chance)) for name, chance in best.outcomes.items()],
        "",
    )
    yield ""
    yield Listing(
        (Column("What they win", right=True), Column("Share", right=True)),
        [(f"{gain:+g}" if gain else "0", _share(chance)) for gain, chance in best.net.items()],
        "",
    )
    if odds.notes:
        yield ""
    yield from odds.notes


def _row(name: str, figures: Figures) -> tuple[str, ...]:
    return (
        name,
        percent(figures.mean),
        f"{figures.sd:.4f}",
        f"{figures.staked:.4f}",
        _within(figures),
    )


def percent(share: float) -> str:
    """Return a share of the bet in percent, with its sign.

    >>> percent(0.0096997), percent(-0.0119), percent(0.0)
    ('+0.970%', '-1.190%', '0.000%')
    """
    return f"{share * 100:+.3f}%" if round(share, 5) else "0.000%"


def _within(figures: Figures) -> str:
    parts = []
    if figures.mean_within * 100 > _NEGLIGIBLE:
        parts.append(f"gain at most {percent(figures.mean_within)} more")
    if figures.sd_within > _NEGLIGIBLE:
        parts.append(f"deviation within {figures.sd_within:.4f}")
    return "; ".join(parts)


def _share(chance: float) -> str:
    return f"{chance * 100:.3f}%"


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f'"{value}"' if isinstance(value, str) else str(value)
