"""Odds in words, for the sysop at a shell."""

from __future__ import annotations

from collections.abc import Iterator

from door.odds.odds import Figures, Odds

_NAMES = {
    "perfect": "perfect play",
    "totals": "play by totals",
    "dealer": "the dealer's play",
    "never-bust": "never bust",
}
_SURE = 0.0005  # percent that do not show


def lines(title: str, odds: Odds) -> Iterator[str]:
    """What `door odds` prints of a table; percentages are of the opening bet."""
    yield title
    changed = ", ".join(f"{key} = {_toml(value)}" for key, value in odds.rules.items())
    if changed:
        yield f"  {changed}"
    yield ""
    yield f"  {'':<20}{'caller gains':>14}{'deviation':>12}{'staked':>10}"
    for name, figures in odds.strategies.items():
        yield (
            f"  {_NAMES[name]:<20}{percent(figures.mean):>14}{figures.sd:>12.4f}"
            f"{figures.staked:>10.4f}{_within(figures)}"
        )
    insurance = odds.insurance
    if insurance is not None:
        yield (
            f"  Insurance, offered in {insurance.offered * 100:.2f}% of hands:"
            f" {percent(insurance.mean)} of what is insured; bought only where it gains it adds"
            f" {percent(insurance.adds)} to the bet."
        )
    yield ""
    yield "  With perfect play:"
    best = odds.strategies["perfect"]
    yield f"    {_shares(best.outcomes)}"
    yield f"    net {_shares({f'{gain:+g}': chance for gain, chance in best.net.items()})}"
    for note in odds.notes:
        yield f"  {note}"


def percent(share: float) -> str:
    """A share of the bet, with its sign.

    >>> percent(0.0096997), percent(-0.0119), percent(0.0)
    ('+0.970%', '-1.190%', '0.000%')
    """
    return f"{share * 100:+.3f}%" if round(share, 5) else "0.000%"


def _within(figures: Figures) -> str:
    parts = []
    if figures.mean_within * 100 > _SURE:
        parts.append(f"gain at most {percent(figures.mean_within)} more")
    if figures.sd_within > _SURE:
        parts.append(f"deviation within {figures.sd_within:.4f}")
    return f"  ({'; '.join(parts)})" if parts else ""


def _shares(chances: object) -> str:
    assert isinstance(chances, dict)
    return ", ".join(f"{what} {chance * 100:.3f}%" for what, chance in chances.items())


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f'"{value}"' if isinstance(value, str) else str(value)
