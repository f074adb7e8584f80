"""What is fuzzed: a function of bytes that raises when a reader does what it must not.

A target does not only wait for exceptions. It says what has to hold for any input (nothing that
moves a cursor gets through, however it was cut into packets the same comes out, a refusal is one
of the reader's own), and the two bounds that hold for every target are kept here: time and memory.
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
TRIES = 3  # of a measurement, of which the best one counts: the others met somebody else's work

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

    `check` raises for an input that is not dealt with as it should be. `seeds` are inputs to begin
    with; `tokens` words that an input may well contain; `longest` bounds an input (bytes);
    `seconds` is the processor time that `check`, which reads an input several times over, may take.
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
