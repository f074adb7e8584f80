"""How long a key waits next to ten callers whose tutor thinks, and without them.

One caller presses a digit and a backspace in the bet field, each key right after the last answer.
The board's own work for such a key is next to nothing, so the result is the tutor's share. The
same with the tutor in threads of the board shows why it has its own process.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from bench.keys import FROM_THE_BET, KINDS, TO_THE_BET
from bench.load import PATIENCE, Keyboard, drop_all, learn, log_on_all
from bench.processes import Child
from bench.report import Goal, Row, Scale, median, percentile

THINKERS = 10
START_SECONDS = 0.2
ALL = 100  # hundredths: the longest wait
USUAL_GOAL = Goal("value", "<=", 2)
WORST_GOAL = Goal("value", "<=", 5)
MILLI = 1e3

WAYS = {"": "nobody thinks", "process": f"{THINKERS} think", "threads": f"{THINKERS} in threads"}


def run(scale: Scale, disk: Path) -> Iterator[Row]:
    waits: dict[str, list[list[float]]] = {way: [] for way in WAYS}
    answered = dict.fromkeys(WAYS, 0)
    with (
        tempfile.TemporaryDirectory(prefix="bench-", dir=disk) as folder,
        Child("bench.board", folder, "1", scale.loop) as board,
    ):
        callers = log_on_all(board.port, range(1))
        with closing(Keyboard(callers)) as keyboard:
            keyboard.press_once(callers, TO_THE_BET)
        strokes = learn(callers[0], KINDS["bet field"])
        with closing(Keyboard(callers)) as keyboard:
            _start(board, keyboard)
            for _ in range(scale.rounds):
                for way in WAYS:
                    if way:
                        board.ask(f"think {THINKERS} {way}")
                    pressed = keyboard.press(callers, strokes, scale.seconds)
                    waits[way].append(list(pressed.waits))
                    if way:
                        answered[way] += board.ask("rest")
            keyboard.press_once(callers, FROM_THE_BET)
        drop_all(callers)
    yield from _rows(waits)
    seconds = scale.seconds * scale.rounds
    rates = [answered[way] / seconds for way in ("process", "threads")]
    yield Row("decisions weighed, in a process or in threads", "/s", *rates)


def _start(board: Child, keyboard: Keyboard) -> None:
    """Have the process weigh something first: it is started once in the life of a board."""
    answered, patience = 0, time.perf_counter() + PATIENCE
    while not answered and time.perf_counter() < patience:
        board.ask("think 1 process")
        keyboard.rest(START_SECONDS)
        answered = board.ask("rest")


def _rows(waits: dict[str, list[list[float]]]) -> Iterator[Row]:
    for way in ("process", "threads"):
        for name, hundredths, goal in (
            ("p50", 50, None),
            ("p99", 99, USUAL_GOAL),
            ("max", ALL, WORST_GOAL),
        ):
            measured, idle = (
                median(percentile(turn, hundredths) for turn in waits[each]) * MILLI
                for each in (way, "")
            )
            wanted = goal if way == "process" else None
            yield Row(f"a key beside {WAYS[way]}: {name}", "ms", measured, idle, wanted)
