"""The cost of dealing cards one by one: many callers with animation on, and with it off.

They play at leisure, as people do: each presses a key every few seconds, once the last card is
down. A few others sit in the bet field and press keys all the time, as in `keys.py`. Their wait is
compared with a bare server's, and with the same board without players. Board and callers are the
same in all turns; only the pace of the cards changes.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from bench.keys import (
    CPU_GOAL,
    FIRST,
    FROM_THE_BET,
    GAP,
    HAND,
    KINDS,
    MEMORY_GOAL,
    MICRO,
    MILLI,
    TO_THE_BET,
    WAIT_GOAL,
)
from bench.load import (
    PATIENCE,
    Caller,
    Group,
    Keyboard,
    Pressed,
    Stroke,
    connect_all,
    drop_all,
    learn,
    log_on_all,
)
from bench.processes import Child, Usage, more_files
from bench.report import Goal, Row, Scale, median, percentile

OTHERS = 20  # callers in the bet field
PLAYING_GAP = 5.0  # seconds from key to key of a caller who plays
OFF, NORMAL = "off", "normal"
BYTES_GOAL = Goal("ratio", "<=", 4)


@dataclass
class Turns:
    """The results of a callers' same activity, a turn at a time."""

    waits: list[float] = field(default_factory=list)  # median seconds of those in the bet field
    late: list[float] = field(default_factory=list)  # and at the 99th of a hundred
    busy: list[float] = field(default_factory=list)  # CPU seconds a second
    cpu: list[float] = field(default_factory=list)  # seconds a hand
    bytes: list[float] = field(default_factory=list)  # a hand
    memory: float = 0.0  # kB a caller, after the last

    def note_waits(self, others: Pressed) -> None:
        self.waits.append(percentile(others.waits, 50))
        self.late.append(percentile(others.waits, 99))


class Floor:
    """A board with callers at its table: some in the bet field, the others free to play."""

    def __init__(self, child: Child, count: int) -> None:
        first = min(FIRST, count // 2)
        callers = log_on_all(child.port, range(first))
        self._child = child
        self._memory = child.usage().memory  # shared by all callers, and used by none of the rest
        self._rest = count - first
        callers += log_on_all(child.port, range(first, count))
        self.memory_of_idle = self._memory_a_caller(child.usage())
        self.callers: Sequence[Caller] = callers
        self.others, self.players = callers[: min(OTHERS, first)], callers[min(OTHERS, first) :]
        self._hand = [Stroke(key, 0) for key in HAND]
        self._press_once(TO_THE_BET)
        self.strokes = learn(self.others[0], KINDS["bet field"])
        self._keyboard = Keyboard(callers)

    def close(self) -> None:
        self._keyboard.close()
        self._press_once(FROM_THE_BET)
        drop_all(self.callers)
        patience = time.perf_counter() + PATIENCE
        while self._child.ask("callers") and time.perf_counter() < patience:
            time.sleep(0.05)

    def while_nobody_plays(self, turns: Turns, seconds: float) -> None:
        (others,), used = self._press([Group(self.others, self.strokes, GAP)], seconds)
        turns.note_waits(others)
        turns.busy.append(used / others.whole)

    def while_they_play(self, turns: Turns, pace: str, idle: float, seconds: float) -> None:
        """Let them play at this pace.

        `idle` is the board's load without them (CPU seconds a second), which is no part of a
        hand's cost.
        """
        self._child.ask(f"pace {pace}")
        groups = [
            Group(self.others, self.strokes, GAP),
            Group(self.players, self._hand, PLAYING_GAP),
        ]
        (others, played), used = self._press(groups, seconds)
        hands = played.keys / len(HAND)
        turns.note_waits(others)
        turns.busy.append(used / others.whole)
        turns.cpu.append((used - idle * played.whole) / hands)
        turns.bytes.append(played.bytes / hands)
        turns.memory = self._memory_a_caller(self._child.usage())

    def _press(self, groups: Sequence[Group], seconds: float) -> tuple[list[Pressed], float]:
        before = self._child.usage().cpu
        pressed = self._keyboard.press_at_leisure(groups, seconds, sleeps=True)
        return pressed, self._child.usage().cpu - before

    def _press_once(self, key: bytes) -> None:
        with closing(Keyboard(self.others)) as keyboard:
            keyboard.press_once(self.others, key)

    def _memory_a_caller(self, usage: Usage) -> float:
        return (usage.memory - self._memory) / self._rest


def run(scale: Scale, disk: Path) -> Iterator[Row]:
    more_files()
    idle, off, normal, bare = Turns(), Turns(), Turns(), Turns()
    with (
        tempfile.TemporaryDirectory(prefix="bench-", dir=disk) as folder,
        Child("bench.board", folder, str(scale.callers), scale.loop) as child,
        Child("bench.bare") as bare_child,
        closing(Floor(child, scale.callers)) as floor,
    ):
        for _ in range(scale.rounds):
            floor.while_nobody_plays(idle, scale.playing_seconds / 2)
            _echo(bare, bare_child, floor, scale.playing_seconds / 2)
            for turns, pace in ((off, OFF), (normal, NORMAL)):
                floor.while_they_play(turns, pace, idle.busy[-1], scale.playing_seconds)
        players = len(floor.players)
        memory = floor.memory_of_idle
    yield from _hand_rows(off, normal)
    yield from _board_rows(players, idle, off, normal, memory)
    yield from _others_rows(idle, off, normal, bare)


def _echo(turns: Turns, child: Child, floor: Floor, seconds: float) -> None:
    """Let as many callers press keys as often at a server that does nothing."""
    length = sum(stroke.length for stroke in floor.strokes) // len(floor.strokes)
    child.ask(f"answer {length}")
    callers = connect_all(child.port, range(len(floor.others)))
    with closing(Keyboard(callers)) as keyboard:
        echo = Group(callers, [Stroke(b"x", length)], GAP)
        turns.note_waits(keyboard.press_at_leisure([echo], seconds, sleeps=True)[0])
    drop_all(callers)


def _hand_rows(off: Turns, normal: Turns) -> Iterator[Row]:
    yield Row(
        "a hand, normal or off: bytes", "B", median(normal.bytes), median(off.bytes), BYTES_GOAL
    )
    yield Row(
        "a hand, normal or off: CPU",
        "us",
        median(normal.cpu) * MICRO,
        median(off.cpu) * MICRO,
        CPU_GOAL,
    )


def _board_rows(
    players: int, idle: Turns, off: Turns, normal: Turns, memory: float
) -> Iterator[Row]:
    yield Row(
        f"{players} play, normal or off: busy",
        "%",
        median(normal.busy) * 100,
        median(off.busy) * 100,
    )
    yield Row("nobody plays: busy", "%", median(idle.busy) * 100)
    yield Row("memory a caller who has not played yet", "kB", memory, goal=MEMORY_GOAL)
    yield Row("memory a caller after play, normal or off", "kB", normal.memory, off.memory)


def _others_rows(idle: Turns, off: Turns, normal: Turns, bare: Turns) -> Iterator[Row]:
    for name, turns in (("nobody plays", idle), ("off", off), ("normal", normal)):
        yield Row(
            f"bet field beside them, {name}: p50",
            "ms",
            median(turns.waits) * MILLI,
            median(bare.waits) * MILLI,
            WAIT_GOAL,
        )
    for name, turns in (("off", off), ("normal", normal)):
        yield Row(
            f"bet field beside them, {name}: p99",
            "ms",
            median(turns.late) * MILLI,
            median(idle.late) * MILLI,
        )
