"""Who gets how much of what there is to be won in a tournament.

What has been put up is given by place. The entries come on top, shared out in the same proportions
among the places that somebody has; without anything put up all of them are the first one's. Callers
who are alike share what their places win together. All of it in whole seconds; what remains stays
where it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence


def shared_places(results: Sequence[object]) -> list[int]:
    """Number results that are in order; those that are alike share the place.

    >>> shared_places(["a", "b", "b", "c"])
    [1, 2, 2, 4]
    """
    places: list[int] = []
    for number, result in enumerate(results, 1):
        is_alike = number > 1 and results[number - 2] == result
        places.append(places[-1] if is_alike else number)
    return places


def prize_shares(put_up: Sequence[int], entries: int, places: Sequence[int]) -> list[int]:
    """Return what each of these wins, in seconds: `put_up` and `entries` are seconds, and `places`
    those of the callers who can win, in order.

    >>> prize_shares([900, 600, 300], 600, [1, 2, 3, 4])
    [1200, 800, 400, 0]
    >>> prize_shares([900, 600], 0, [1, 1, 1]), prize_shares([], 100, [1, 1, 3])
    ([500, 500, 500], [50, 50, 0])
    >>> prize_shares([900, 600], 300, [1]), prize_shares([900], 300, [])
    ([1200], [])
    """
    won_places = [*put_up[: len(places)]]
    shares = won_places or [1]
    of_place = [
        each + entries * share // sum(shares)
        for each, share in zip(won_places or [0], shares, strict=True)
    ]
    alike = Counter(places)
    won = {
        place: sum(of_place[place - 1 : place - 1 + many]) // many for place, many in alike.items()
    }
    return [won[place] for place in places]
