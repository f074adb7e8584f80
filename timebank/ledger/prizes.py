"""How the prizes of a tournament are divided.

The house's prizes are fixed by place. The entry fees are added in the same proportions, over the
places that are taken. Without prizes of the house the first place wins all fees. Callers with equal
results share the sum of their places. Shares are whole seconds; the remainder is not paid out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence


def shared_places(results: Sequence[object]) -> list[int]:
    """Return the place of each result, from 1; `results` are in order and equal ones share a place.

    >>> shared_places(["a", "b", "b", "c"])
    [1, 2, 2, 4]
    """
    places: list[int] = []
    for number, result in enumerate(results, 1):
        is_equal = number > 1 and results[number - 2] == result
        places.append(places[-1] if is_equal else number)
    return places


def prize_shares(put_up: Sequence[int], entries: int, places: Sequence[int]) -> list[int]:
    """Return the seconds that each place of `places` wins.

    `put_up` are the house's prizes by place, and `entries` is the sum of the fees, all in seconds.
    `places` are the places of the callers who can win, in order, as from `shared_places`.

    >>> prize_shares([900, 600, 300], 600, [1, 2, 3, 4])
    [1200, 800, 400, 0]
    >>> prize_shares([900, 600], 0, [1, 1, 1]), prize_shares([], 100, [1, 1, 3])
    ([500, 500, 500], [50, 50, 0])
    >>> prize_shares([900, 600], 300, [1]), prize_shares([900], 300, [])
    ([1200], [])
    """
    won_places = [*put_up[: len(places)]]
    shares = won_places or [1]
    by_place = [
        each + entries * share // sum(shares)
        for each, share in zip(won_places or [0], shares, strict=True)
    ]
    sharers = Counter(places)
    won = {
        place: sum(by_place[place - 1 : place - 1 + count]) // count
        for place, count in sharers.items()
    }
    return [won[place] for place in places]
