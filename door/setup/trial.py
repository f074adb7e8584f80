"""A board to try: in a folder for temporary files, and gone when it closes."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from door.setup.answers import free_port
from door.setup.new_board import SETTINGS

# Nobody from elsewhere calls it, it is open at any hour, and nothing is asked of a night.
_SETTINGS = """events = []
[board]
name = "A board to try"
[[listeners]]
kind = "telnet"
host = "127.0.0.1"
port = {port}
"""


@contextmanager
def board() -> Iterator[Path]:
    """Give the settings of a new board, on the usual port where that is free."""
    with tempfile.TemporaryDirectory(prefix="bjft-try-") as folder:
        path = Path(folder) / SETTINGS
        path.write_text(_SETTINGS.format(port=free_port()), encoding="utf-8")
        yield path
