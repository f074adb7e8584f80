"""The table of the boards whose callers have played a deal: the mean of each board's three best."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from door.call.markup import literal
from door.config.config import LONGEST_BOARD_NAME
from door.tables.scoring import percent
from timebank.language import _
from timebank.ledger.prizes import shared_places

if TYPE_CHECKING:
    from timebank.wagers.contests import ContestResult

COUNTED = 3  # tries of a board


class BoardResult(NamedTuple):
    """A board's result; `place` and `mean` are None until `COUNTED` of its callers have played."""

    place: int | None
    name: str
    played: int
    mean: int | None


def board_results(placed: Sequence[ContestResult], own_name: str) -> list[BoardResult]:
    """Rank the boards by the mean of their lowest costs. Equal means share a place."""
    costs = defaultdict[str, list[int]](list)
    for each in placed:
        if each.cost is not None:
            costs[each.board or own_name].append(each.cost)
    full = {name: sum(sorted(own)[:COUNTED]) for name, own in costs.items() if len(own) >= COUNTED}
    ranked = sorted(full, key=lambda name: (full[name], name))
    places = shared_places([full[name] for name in ranked])
    others = sorted(costs.keys() - full.keys(), key=lambda name: (-len(costs[name]), name))
    return [
        *(
            BoardResult(place, name, len(costs[name]), round(full[name] / COUNTED))
            for place, name in zip(places, ranked, strict=True)
        ),
        *(BoardResult(None, name, len(costs[name]), None) for name in others),
    ]


def board_rows(found: Sequence[BoardResult], columns: int) -> Iterator[str]:
    """Return the rows of the table, in so many `columns`."""
    yield f"|07{_('The mean cost of the three best tries of each board.')}"
    yield ""
    cells = min(LONGEST_BOARD_NAME, columns - 20)
    for place, name, played, mean in found:
        result = _("{number} of {all}").format(number=played, all=COUNTED)
        if mean is not None:
            result = percent(mean)
        number = "-" if place is None else place
        yield f"|07{number:>2} |15{literal(name[:cells]):<{cells}}|07 {result:>9}"
