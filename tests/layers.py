"""Which of three layers a test belongs to, by what its module and the helpers behind it import.

- `process`: what may start processes, for their signals, pipes, terminals and locks: one of `WORDS`
  stands in its text.
- `board`: a board or a line with sockets of its own, within the test's process: it imports one of
  `BOARDS`.
- `unit`: everything else: functions, and books in a file in memory.

A module is in one layer with all its tests, the most costly that any of them needs.
"""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from types import ModuleType

LAYERS = ("process", "board", "unit")
WORDS = ("subprocess", "multiprocessing", "ProcessPool", "playwright")
BOARDS = {"tests.world", "tests.terminal", "tests.door.lines.board", "socket"}
OURS = ("tests", "bench", "verify")


def layer(module: ModuleType) -> str:
    """The layer of a test module."""
    behind = _behind(module.__name__)
    if any(_starts_processes(name) for name in behind):
        return "process"
    return "board" if behind & BOARDS else "unit"


@cache
def _starts_processes(name: str) -> bool:
    if not _is_ours(name):
        return False
    # `inspect.getsource` would keep every file, and whoever debugs looks at all that are kept.
    file = sys.modules[name].__file__
    text = Path(file).read_text("utf-8") if file else ""
    return any(word in text for word in WORDS)


@cache
def _behind(name: str) -> frozenset[str]:
    """The modules that a module of ours uses, and those that these use as far as they are ours."""
    found, left = {name}, [name]
    while left:
        for used in _used(sys.modules[left.pop()]) - found:
            found.add(used)
            if _is_ours(used):
                left.append(used)
    return frozenset(found)


def _is_ours(name: str) -> bool:
    return name.partition(".")[0] in OURS and name in sys.modules


def _used(module: ModuleType) -> set[str]:
    values = vars(module).values()
    return {
        value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
        for value in values
    } - {None}
