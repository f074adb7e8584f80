"""Robots' screens compared with the books: everything shown is there, to the second.

The reverse does not hold: after a hang-up a caller does not see how the hand was stood. Screens
lag behind the books, and the machine decides by how much. So a ticking figure is compared with all
its values in the moments before.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from verify.robots import books
from verify.robots.books import Account, Hand
from verify.robots.seen import Movement, Purse, Seen, Settlement

LAG = 15.0  # seconds that a screen may be behind the books, on a machine that is overloaded
HEARS_OF_IT = 60.0  # seconds until a screen shows deposits by other callers
ROUNDING = 2  # seconds: two clocks are rounded down

PLAYED_DUELS = "SELECT count(*) FROM duels WHERE outcome IN ('won', 'even')"

T = TypeVar("T")
R = TypeVar("R")


@dataclass
class Result:
    """The number of comparisons, and the mismatches."""

    settlements: int = 0
    hands: int = 0  # in the books, that are over
    movements: int = 0
    duels: int = 0  # in the books, won or even
    purses: int = 0
    cards: int = 0
    seals: int = 0
    seeds: int = 0
    wrong: list[str] = field(default_factory=list)


def against_the_books(file: Path, all_seen: Iterable[Seen], lag: float = LAG) -> Result:
    """Compare robots' screens with the database in this file, which is only read.

    `lag` is how many seconds a screen may be behind it.
    """
    result = Result()
    with books.opened(file) as opened:
        (result.duels,) = opened.execute(PLAYED_DUELS).fetchone()
        seeds = books.seeds(opened)
        for trace in all_seen:
            result.wrong += [f"{trace.name} read: {words}" for words in trace.complaints]
            account = books.account(opened, trace.name)
            if account is not None:
                _count(result, trace, account)
                mismatches = _check(trace, account, seeds, lag)
                result.wrong += [f"{trace.name}: {words}" for words in mismatches]
            elif trace.is_registered:
                result.wrong.append(f"{trace.name} was told that the name is theirs, and it is not")
    return result


def nobody_is_on(file: Path) -> list[str]:
    """Name the calls open in the books after the server has ended."""
    with books.opened(file) as opened:
        return [
            f"call {number} of {name} is open"
            for number, name in opened.execute(
                "SELECT calls.id, callers.name FROM calls JOIN callers ON callers.id = caller_id"
                " WHERE closed IS NULL"
            )
        ]


def _count(result: Result, trace: Seen, account: Account) -> None:
    result.settlements += len(trace.settlements)
    result.hands += sum(hand.settled is not None for hand in account.hands)
    result.movements += len(trace.movements)
    result.purses += len(trace.purses)
    result.cards += sum(map(len, trace.cards.values()))
    result.seals += len(trace.seals)
    result.seeds += len(trace.seeds)


def _check(trace: Seen, account: Account, seeds: Mapping[str, str], lag: float) -> Iterator[str]:
    yield from _settlements(trace.settlements, account)
    yield from _in_order(trace.movements, account.moved, _is_movement)
    for purse in trace.purses:
        if not _is_purse(purse, account, lag):
            yield f"the screen had {purse}, and the books never had that"
    yield from _cards(trace, account)
    yield from _fairness(trace, seeds)
    yield from _calls(account, lag)


# Hands.


def _settlements(shown: Sequence[Settlement], account: Account) -> Iterator[str]:
    """Look up each hand by its turn of the day, or by its place in its shoe or stakes."""
    turns = _turns(account)
    others: dict[tuple[str, str, str], list[Settlement]] = defaultdict(list)
    for settlement in shown:
        if settlement.number is None:
            seal = settlement.seal if settlement.game == "unix-bj" else ""
            others[settlement.game, settlement.unit, seal].append(settlement)
        elif not any(
            len(hands) >= settlement.number and _is_hand(settlement, hands[settlement.number - 1])
            for (game, _), hands in turns.items()
            if game == settlement.game
        ):
            yield f"the screen had {settlement}, and the books have another hand or none"
    for (game, unit, seal), several in others.items():
        known = [
            hand
            for hand in account.hands
            if (hand.game, hand.unit) == (game, unit) and hand.seal.startswith(seal)
        ]
        yield from _in_order(several, known, _is_hand)


def _turns(account: Account) -> dict[tuple[str, str], list[Hand]]:
    """Return the hands for time in their order, by game and day."""
    turns: dict[tuple[str, str], list[Hand]] = defaultdict(list)
    for hand in account.hands:
        if hand.unit == "second":
            turns[hand.game, hand.day].append(hand)
    return turns


def _is_hand(shown: Settlement, hand: Hand) -> bool:
    return (
        hand.settled is not None
        and shown.net == hand.net
        and shown.at >= hand.settled - ROUNDING
        and hand.seal.startswith(shown.seal)
        and hand.seed.startswith(shown.seed)
        and shown.balance in (None, hand.balance)
    )


def _cards(trace: Seen, account: Account) -> Iterator[str]:
    """Every card on the robot's table is in the hand that the books have dealt for that turn."""
    turns = _turns(account)
    for place, cards in trace.cards.items():
        numbers = (place.number,) if place.is_sure else (place.number, place.number + 1)
        for (game, _day), hands in turns.items():
            dealt = [hands[number - 1] for number in numbers if 0 < number <= len(hands)]
            is_known = len(dealt) == len([number for number in numbers if number]) and all(
                hand.cards and hand.settled is not None for hand in dealt
            )
            strange = cards - set[str]().union(*(hand.cards for hand in dealt))
            if game == place.game and is_known and strange:
                yield f"the screen had {sorted(strange)} at {place}, which were not dealt"


# The bank's window, and the clock.


def _is_movement(shown: Movement, moved: tuple[str, int, str]) -> bool:
    kind, amount, to = moved
    if kind == "repay":  # of the last minute at most the debt is paid
        return shown.kind == kind and shown.amount - 60 < amount <= shown.amount
    return (shown.kind, shown.amount, shown.to) == (kind, amount, to)


def _is_purse(purse: Purse, account: Account, lag: float) -> bool:
    """Return whether time left and savings were so, a moment before they were noted."""
    first, last = purse.at - lag, purse.at + ROUNDING
    if purse.bank not in account.bank.between(first - HEARS_OF_IT, last):
        return False
    if not purse.left:
        return True
    used = 0
    for call in account.calls:
        if call.opened - ROUNDING <= purse.at and (call.closed is None or call.closed >= first):
            since = purse.at - call.opened
            for online in account.online.between(first, last):
                if -ROUNDING <= purse.left - (online - used - since) <= lag:
                    return True
        used += call.charged
    return False


def _calls(account: Account, lag: float) -> Iterator[str]:
    """Check that no call is charged for more than it lasted, or for less after a clean end."""
    for call in account.calls:
        if call.closed is None:
            continue
        lasted = call.closed - call.opened
        if call.ticked > lasted + ROUNDING:
            yield f"a call of {lasted} seconds counts {call.ticked} ({call.reason})"
        if call.reason == "log-off" and call.ticked < lasted - lag:
            yield f"a call of {lasted} seconds counts only {call.ticked}"


# Seals and seeds.


def _fairness(trace: Seen, seeds: Mapping[str, str]) -> Iterator[str]:
    for seal in trace.seals - seeds.keys():
        yield f"the seal {seal} was shown, and is in no book"
    for seal, seed in trace.seeds.items():
        if seeds.get(seal) != seed:
            yield f"the seed {seed} was shown behind the seal {seal}, and the books say otherwise"


def _in_order(
    shown: Sequence[T], known: Sequence[R], fits: Callable[[T, R], bool]
) -> Iterator[str]:
    """Look up all seen values among the known ones, in the same order."""
    left = iter(known)
    for each in shown:
        if not any(fits(each, one) for one in left):
            yield f"the screen had {each}, and the books have nothing like it in its place"
            return
