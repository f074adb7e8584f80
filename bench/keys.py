"""Keys at the table of a board with many callers on line, next to a bare server's keys.

Three kinds: a digit and a backspace in the bet field; the rules page and back, which paints two
screens; and the three keys of a hand, each of which commits a transaction. The last is compared
with the ledger alone, on the same disk, doing the same transactions.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from bench.bettors import SLOW_COMMIT, Rate, at_the_books
from bench.load import (
    PATIENCE,
    Caller,
    Group,
    Keyboard,
    Pressed,
    Stroke,
    connect_all,
    drop_all,
    fewer,
    learn,
    log_on_all,
)
from bench.processes import Child, more_files
from bench.report import Goal, Row, Scale, median, percentile

FIRST = 20  # callers on line before memory is counted, so that shared memory is not
NEWS = 4.0  # seconds until all callers on line have read of the last arrivals
GAP = 0.5  # seconds from key to key of a caller who plays fast
TO_THE_BET, FROM_THE_BET = b"b", b"\x03"
KINDS = {"bet field": (b"7", b"\b"), "rules and back": (b"r", b"q")}
HAND = (b"b", b"\r", b"s")

CPU_GOAL = Goal("ratio", "<=", 4)
RATE_GOAL = Goal("ratio", ">=", 0.25)
WAIT_GOAL = Goal("ratio", "<=", 2.5)
MEMORY_GOAL = Goal("value", "<=", 40)
LEDGER_GOAL = Goal("ratio", ">=", 0.8)

MICRO, MILLI = 1e6, 1e3


@dataclass
class Side:
    """One server with its callers, and their results, a turn at a time."""

    child: Child
    callers: list[Caller]
    keyboard: Keyboard
    memory: float  # kB a caller
    cpu: list[float] = field(default_factory=list)  # seconds a key
    rate: list[float] = field(default_factory=list)  # keys a second
    busy: list[float] = field(default_factory=list)  # CPU seconds a second
    waits: list[float] = field(default_factory=list)  # median seconds, all callers at once
    leisure: list[float] = field(default_factory=list)  # median seconds, at leisure

    def press(self, callers: Sequence[Caller], strokes: Sequence[Stroke], seconds: float) -> None:
        before = self.child.usage()
        pressed = self.keyboard.press(callers, strokes, seconds)
        used = self.child.usage().cpu - before.cpu
        self.cpu.append(used / pressed.keys)
        self.rate.append(pressed.in_time / pressed.seconds)
        self.busy.append(used / pressed.whole)
        self.waits.append(_middle(pressed))

    def press_at_leisure(self, strokes: Sequence[Stroke], seconds: float) -> None:
        group = Group(self.callers, strokes, GAP)
        (pressed,) = self.keyboard.press_at_leisure([group], seconds)
        self.leisure.append(_middle(pressed))

    def forget(self) -> None:
        for figures in (self.cpu, self.rate, self.busy, self.waits, self.leisure):
            figures.clear()

    def close(self) -> None:
        self.keyboard.close()
        drop_all(self.callers)


def _middle(pressed: Pressed) -> float:
    return percentile(pressed.waits, 50)


def run(scale: Scale, disk: Path) -> Iterator[Row]:
    more_files()
    with (
        tempfile.TemporaryDirectory(prefix="bench-", dir=disk) as folder,
        Child("bench.board", folder, str(scale.callers), scale.loop) as board_child,
        Child("bench.bare") as bare_child,
        closing(_fill(board_child, scale.callers, log_on_all)) as board,
        closing(_fill(bare_child, scale.callers, connect_all)) as bare,
    ):
        yield Row(
            f"memory a caller, {scale.callers} on", "kB", board.memory, bare.memory, MEMORY_GOAL
        )
        yield _idle(board, scale)
        for kind, keys in KINDS.items():
            yield from _keys_that_commit_nothing(kind, keys, board, bare, scale)
        yield from _keys_that_commit(board, scale, disk)
        drop_all(board.callers)
        _see_them_off(board_child)


def _fill(child: Child, count: int, come: Callable[[int, range], list[Caller]]) -> Side:
    first = min(FIRST, count // 2)
    callers = come(child.port, range(first))
    before = child.usage().memory
    callers += come(child.port, range(first, count))
    memory = (child.usage().memory - before) / (count - first)
    return Side(child, callers, Keyboard(callers), memory)


def _see_them_off(board: Child) -> None:
    """Wait until the board has closed every call, so that it ends without hurry."""
    patience = time.perf_counter() + PATIENCE
    while board.ask("callers") and time.perf_counter() < patience:
        time.sleep(0.05)


def _idle(board: Side, scale: Scale) -> Row:
    """Measure the cost of idle callers' clocks, which tick once a second."""
    board.keyboard.rest(NEWS)
    before = board.child.usage().cpu
    board.keyboard.rest(scale.seconds)
    used = board.child.usage().cpu - before
    ticks = scale.callers * scale.seconds
    return Row("CPU a caller and second, no key pressed", "us", used / ticks * MICRO)


def _learn(side: Side, keys: Sequence[bytes]) -> list[Stroke]:
    """Have one caller show the replies to the keys while all the others wait."""
    side.keyboard.close()
    strokes = learn(side.callers[0], keys)
    side.keyboard = Keyboard(side.callers)
    return strokes


def _keys_that_commit_nothing(
    kind: str, keys: Sequence[bytes], board: Side, bare: Side, scale: Scale
) -> Iterator[Row]:
    in_bet_field = kind == "bet field"
    if in_bet_field:
        board.keyboard.press_once(board.callers, TO_THE_BET)
    strokes = _learn(board, keys)
    length = sum(stroke.length for stroke in strokes) // len(strokes)
    bare.child.ask(f"answer {length}")
    echo = [Stroke(b"x", length)]
    for side in (board, bare):
        side.forget()
    for _ in range(scale.rounds):
        board.press(board.callers, strokes, scale.seconds)
        bare.press(bare.callers, echo, scale.seconds)
        board.press_at_leisure(strokes, scale.seconds)
        bare.press_at_leisure(echo, scale.seconds)
    if in_bet_field:
        board.keyboard.press_once(board.callers, FROM_THE_BET)
    yield _row(f"{kind}: CPU a key, all at once", "us", board.cpu, bare.cpu, CPU_GOAL, MICRO)
    yield _row(f"{kind}: keys, all at once", "/s", board.rate, bare.rate, RATE_GOAL)
    yield _row(f"{kind}: busy meanwhile", "%", board.busy, bare.busy, None, 100)
    yield _row(f"{kind}: p50, all at once", "ms", board.waits, bare.waits, None, MILLI)
    yield _row(
        f"{kind}: p50, a key every {GAP:g} s", "ms", board.leisure, bare.leisure, WAIT_GOAL, MILLI
    )


def _row(
    what: str,
    unit: str,
    ours: Sequence[float],
    theirs: Sequence[float],
    goal: Goal | None,
    scale: float = 1,
) -> Row:
    return Row(what, unit, median(ours) * scale, median(theirs) * scale, goal)


def _keys_that_commit(board: Side, scale: Scale, disk: Path) -> Iterator[Row]:
    """The hand on this disk, and as it would be on one where every COMMIT takes 4 ms."""
    for name, commit in (("disk", 0.0), ("4 ms a commit", SLOW_COMMIT)):
        if commit:
            board.child.ask(f"slow {commit}")
        strokes = _learn(board, HAND)
        for count in (1, scale.pressing):
            yield from _hands(
                f"hands, {name}, {count} at it", count, board, strokes, scale, disk, commit
            )


def _hands(
    what: str,
    count: int,
    board: Side,
    strokes: Sequence[Stroke],
    scale: Scale,
    disk: Path,
    commit: float,
) -> Iterator[Row]:
    """Measure this many callers and, in turn with them, as many bettors without a screen."""
    pressing = fewer(board.callers, count)
    board.forget()
    ledger: list[Rate] = []
    for _ in range(scale.rounds):
        board.press(pressing, strokes, scale.seconds)
        ledger.append(at_the_books(disk, count, scale.seconds, elapsed=0, commit=commit))
    rates = [alone.a_second for alone in ledger]
    yield _row(f"{what}: keys", "/s", board.rate, rates, LEDGER_GOAL)
    if count > 1:
        cpu = [alone.cpu for alone in ledger]
        yield _row(f"{what}: CPU a key", "us", board.cpu, cpu, None, MICRO)
    yield Row(f"{what}: p50", "ms", median(board.waits) * MILLI)
