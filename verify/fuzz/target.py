"""A fuzz target: a function of bytes that raises when a reader breaks its promise.

A target does not only wait for exceptions. It states invariants for any input: no cursor movement
gets through, cutting into packets changes nothing, a refusal is the reader's own. Two bounds hold
for every target and are checked here: time and memory.
"""

from __future__ import annotations

import gc
import importlib
import time
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

CASES = Path(__file__).resolve().parent / "cases"
MEMORY = 1_000_000  # bytes that one caller may cost the board
TRIES = 3  # of a measurement; the best one counts, because others may be disturbed

# Each is a module of this name in `targets`, with its `TARGET`. A module is imported when it is
# fuzzed and not before, because its readers must be watched from their first line on.
NAMES = (
    "talk",
    "telnet",
    "web",
    "rlogin",
    "proxy",
    "config",
    "replay",
)


class TooSlow(AssertionError):
    """An input took longer than any input of its length may."""


class TooLarge(AssertionError):
    """An input made the reader hold more memory than one caller may cost."""


@dataclass(frozen=True)
class Target:
    """One reader of bytes.

    `check` raises for an input that is treated wrongly. `seeds` are inputs to begin with; `tokens`
    are probable words of an input; `longest` bounds an input (bytes); `seconds` is the processor
    time allowed for `check`, which reads an input several times.
    """

    name: str
    check: Callable[[bytes], None]
    seeds: Callable[[], Iterator[bytes]]
    tokens: tuple[bytes, ...]
    longest: int
    seconds: float

    def cases(self) -> list[Path]:
        """List the inputs that once went wrong."""
        return sorted(path for path in (CASES / self.name).glob("*") if path.is_file())


def load(name: str) -> Target:
    """Import a target by one of `NAMES`."""
    target = importlib.import_module(f"verify.fuzz.targets.{name}").TARGET
    assert isinstance(target, Target)
    return target


def check_in_time(target: Target, data: bytes, allowed: float) -> float:
    """Check an input and return the processor time it took (s); `TooSlow` above `allowed`."""
    took = _seconds(target, data)
    if took > allowed:
        gc.disable()
        try:
            took = min(_seconds(target, data) for _ in range(TRIES))
        finally:
            gc.enable()
        if took > allowed:
            raise TooSlow(f"{len(data)} bytes took {took:.3f} s, {allowed:g} s are allowed")
    return took


def check_in_memory(target: Target, data: bytes) -> int:
    """Check an input and return the most memory it held (bytes); `TooLarge` above `MEMORY`."""
    tracemalloc.start()
    try:
        target.check(data)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    if peak > MEMORY:
        raise TooLarge(f"{len(data)} bytes made it hold {peak} bytes, {MEMORY} are allowed")
    return peak


def _seconds(target: Target, data: bytes) -> float:
    began = time.thread_time()
    target.check(data)
    return time.thread_time() - began
