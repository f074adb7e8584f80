"""What one stranger can cost the whole board: `door serve` in a process of its own, attacked.

The attacks are those of verify/fuzz/hostile.py. What is measured is measured in the server: the
processor time of its event loop's thread in its longest round, which a busy machine does not
change, and the most memory that it held beyond what it had before.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bench.processes import Child
from tests.certificates import NEED_CLIENTS
from verify.fuzz.hostile import TLS, Attack, Target, attacks
from verify.fuzz.target import MEMORY

pytestmark = pytest.mark.long

STALL = 0.05  # seconds that one connection may keep the others waiting
SIZE = 30_000  # bytes of a flood: some eight reads
# The best one counts: others met a collection of somebody else's garbage, and at the first one the
# caches of the whole process still hold things that nobody counted when they came in.
TRIES = 4
ATTACKS = dict(attacks(SIZE))
ENDING = 20.0  # seconds until a call that was broken off is closed in the books at the latest
# A loop that reads as much as it finds would read all of these at once.
LARGE = 300_000
AT_ONCE = ("zeros", "reports", "doubled IAC", "endless sequence", "NOP")
LARGE_ATTACKS = {
    name: attack
    for name, attack in attacks(LARGE)
    if name.endswith("question for the name") and name.startswith(AT_ONCE)
}


class Besieged:
    """A board that is attacked."""

    def __init__(self, board: Child, folder: Path) -> None:
        self.board = board
        self.folder = folder
        self.target = Target(*board.ask("ports"))

    def measured(self, attack: Attack, order: str, key: str) -> float:
        self.board.ask(order)
        attack(self.target)
        cost = self.board.ask("report")[key]
        assert isinstance(cost, int | float)
        return cost

    @property
    def log(self) -> str:
        return (self.folder / "log").read_text(encoding="utf-8")


@contextmanager
def siege(folder: Path, *words: str) -> Iterator[Besieged]:
    with Child("verify.fuzz.served", str(folder), *words) as board:
        here = Besieged(board, folder)
        for connect in (here.target.stranger, here.target.caller, here.target.guest):
            with connect():
                pass  # what is imported at the first caller is there from now on
        yield here


@pytest.fixture(scope="module")
def besieged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Besieged]:
    with siege(tmp_path_factory.mktemp("besieged")) as here:
        yield here


@pytest.fixture(scope="module")
def besieged_on_uvloop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Besieged]:
    pytest.importorskip("uvloop", reason="there are no wheels of uvloop for this machine")
    with siege(tmp_path_factory.mktemp("besieged"), "uvloop") as here:
        yield here


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_costs_the_others_next_to_nothing(besieged: Besieged, name: str) -> None:
    if name.endswith(TLS) and besieged.target.telnets is None:
        assert not os.environ.get(NEED_CLIENTS), "openssl must be here: apt-get install openssl"
        pytest.skip("there is no openssl to make a certificate with")
    costs_next_to_nothing(besieged, ATTACKS[name])
    with besieged.target.caller():
        pass  # the next one is served
    for line in besieged.log.split("\n"):
        assert line.isprintable()
        assert "Traceback" not in line


@pytest.mark.parametrize("name", LARGE_ATTACKS)
def test_a_flood_on_uvloop_does_so_too(besieged_on_uvloop: Besieged, name: str) -> None:
    costs_next_to_nothing(besieged_on_uvloop, LARGE_ATTACKS[name])


def costs_next_to_nothing(besieged: Besieged, attack: Attack) -> None:
    for order, key, limit in (("watch", "longest", STALL), ("memory", "peak", MEMORY)):
        best = float("inf")
        for _ in range(TRIES):
            best = min(best, besieged.measured(attack, order, key))
            if best <= limit:
                break
        assert best <= limit, key


def test_nothing_is_left_of_an_attack_when_its_calls_are_closed(besieged: Besieged) -> None:
    with besieged.target.caller():
        before = besieged.board.ask("tasks")
        for attack in ATTACKS.values():
            attack(besieged.target)
        end = time.monotonic() + ENDING
        while besieged.board.ask("tasks") > before:
            assert time.monotonic() < end


def test_the_watch_sees_a_loop_that_is_kept_busy(besieged: Besieged) -> None:
    def visit(target: Target) -> None:
        with target.caller():
            pass

    assert besieged.measured(visit, "watch", "longest") > 0.0001
    assert besieged.measured(visit, "watch", "rounds") > 3
    besieged.measured(visit, "memory", "peak")
    assert besieged.measured(visit, "memory", "peak") > 1000
