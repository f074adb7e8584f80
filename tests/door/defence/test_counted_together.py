"""What one server counts about strangers holds at the others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from door.config.defence import USUAL
from door.defence.counts import (
    BELIEVED_SECONDS,
    DAY,
    FIRST,
    MOST_ADDRESSES,
    Defence,
    StrangerCount,
    after,
)
from door.errors import Fault, NotTaken

RULES = replace(USUAL, allow=(), wrong_passwords=5, try_minutes=3, calls_per_address=3)
HOME, VILLAIN = "192.0.2.7", "203.0.113.66"
NAMES = ("ada", "bob")


class Pair:
    """Two servers; `north` tells `south` what it counts."""

    def __init__(self) -> None:
        self.now = 0.0
        self.told: list[StrangerCount] = []
        self.north = Defence(RULES, self.told.append)
        self.echo: list[StrangerCount] = []
        self.south = Defence(RULES, self.echo.append)

    def tell(self) -> None:
        told, self.told[:] = self.told[:], []
        self.echo.clear()
        self.south.hear(told, "north", self.now)
        assert self.echo == []

    def seen(self) -> list[object]:
        return [_seen(each, self.now) for each in (self.north, self.south)]


def _seen(at: Defence, now: float) -> list[object]:
    """All that can be asked of a server about two strangers and two names."""
    seen: list[object] = [at.held(now, 9), at.names_held(now)]
    for address in (HOME, VILLAIN):
        seen += [at.callers_live_at(address), at.wrong_lately(address, now)]
        who = at.counted(address)
        assert who is not None
        for name in map(at.digest, NAMES):
            seen += [
                *(at.wait_for_name(name, now, clean=clean) for clean in (False, True)),
                *(at.failures(at.about(who, name), now), at.is_at_home(who, name)),
                *(at.wait_on_call(address, name, now), at.last_wrong(name)),
            ]
    return seen


def _guesses(at: Defence) -> None:
    who, name = at.counted(VILLAIN), at.digest("ada")
    assert who is not None
    for _ in range(7):
        at.begin(who, name, 0.0)
        at.blame(who, name)


def _is_right(at: Defence) -> None:
    who = at.counted(HOME)
    assert who is not None
    at.take_back(at.begin(who, at.digest("ada"), 0.0))
    at.logged_on(HOME, at.digest("ada"))


def _looks_early(at: Defence) -> None:
    at.logged_on(HOME, at.digest("ada"))
    who = at.counted(HOME)
    assert who is not None
    while at.may_look_early(who, at.digest("ada"), 0.0):
        pass


def _is_forgiven(at: Defence) -> None:
    _guesses(at)
    at.wrong_on_call(VILLAIN, at.digest("bob"), 0.0)
    at.forgive_address(VILLAIN)
    at.forgive_name("ada")


def _asks_for_names(at: Defence) -> None:
    while at.may_ask_for_a_name(VILLAIN, 0.0):
        pass


def _calls(at: Defence) -> None:
    for _ in range(3):
        at.take(VILLAIN, 0, 0.0)
    at.end(at.take(HOME, 0, 0.0))


@pytest.mark.parametrize(
    "happens", [_guesses, _is_right, _looks_early, _is_forgiven, _asks_for_names, _calls]
)
def test_what_is_counted_at_one_server_is_known_at_another(
    happens: Callable[[Defence], None],
) -> None:
    pair = Pair()
    happens(pair.north)
    pair.tell()
    north, south = pair.seen()
    assert north == south
    assert pair.north.rank(1, 2, 0.0) != FIRST  # who is unknown is not first


@pytest.mark.parametrize("happens", [_guesses, _is_right, _is_forgiven, _asks_for_names, _calls])
def test_it_may_be_put_together_before_it_is_told(happens: Callable[[Defence], None]) -> None:
    pair = Pair()
    happens(pair.north)
    together: dict[tuple[str, int], StrangerCount] = {}
    for count in pair.told:
        key = count.table, count.what
        together[key] = after(together[key], count) if key in together else count
    assert len(together) < len(pair.told)
    pair.told[:] = together.values()
    pair.tell()
    north, south = pair.seen()
    assert north == south


def test_debts_at_two_servers_add_up_and_are_never_more_than_anybody_owes() -> None:
    pair = Pair()
    _guesses(pair.north)
    _guesses(pair.south)
    alone = pair.south.wrong_lately(VILLAIN, 0.0)
    for _ in range(9):
        _guesses(pair.north)
        pair.tell()
    assert pair.south.wrong_lately(VILLAIN, 0.0) == pair.north.wrong_lately(VILLAIN, 0.0) >= alone


def test_a_caller_has_so_many_lines_at_all_servers_together() -> None:
    pair = Pair()
    first = pair.north.take(VILLAIN, 0, 0.0)
    pair.north.take(VILLAIN, 0, 0.0)
    pair.tell()
    pair.south.take(HOME, 0, 0.0)
    pair.south = _listening(pair)
    pair.south.take(VILLAIN, 0, 0.0)
    with pytest.raises(NotTaken) as refused:
        pair.south.take(VILLAIN, 0, 0.0)
    assert refused.value.fault is Fault.AT_ONCE
    pair.north.end(first)
    pair.tell()
    assert pair.south.take(VILLAIN, 0, 0.0) is not None


def _listening(pair: Pair) -> Defence:
    """A server that has begun a moment ago: it hears of lines when they are told again."""
    south = Defence(RULES)
    pair.north.lines.tell_again()
    south.hear(pair.told, "north", 0.0)
    return south


def test_lines_of_a_server_that_died_are_believed_for_a_while() -> None:
    pair = Pair()
    for _ in range(3):
        pair.north.take(VILLAIN, 0, 0.0)
    pair.tell()
    who = pair.south.counted(VILLAIN)
    assert who is not None
    assert pair.south.lines.of(who, BELIEVED_SECONDS - 1) == 3
    assert pair.south.lines.of(who, BELIEVED_SECONDS) == 0


def test_what_is_heard_of_lines_has_its_bounds() -> None:
    south = Defence(RULES)
    south.hear(
        [StrangerCount("lines", who, 1, 0) for who in range(MOST_ADDRESSES + 9)], "north", 0.0
    )
    assert south.lines.of(8, 1.0) == 0
    assert south.lines.of(9, 1.0) == 1


def test_a_table_that_there_is_not_is_nothing() -> None:
    south = Defence(RULES)
    south.hear([StrangerCount("moon", 1, DAY, DAY)], "north", 0.0)
    assert south.held(0.0, 9) == ([], 0)
