"""The files that our pictures are shipped as."""

from __future__ import annotations

from pathlib import Path

from tools.draw import pictures, typewriter
from tools.draw.paper import plain

FOLDER = Path(__file__).parents[2] / "door" / "screens"


def files() -> dict[str, bytes]:
    """Return every file by its name: each picture painted and in letters, wide and narrow."""
    made: dict[str, bytes] = {}
    for name, (wide, narrow) in pictures.PICTURES.items():
        title = name.partition(".")[0].replace("-", " ").capitalize()
        wide_lines, narrow_lines = typewriter.PICTURES[name]
        made[f"{name}.ans"] = wide().ansi(title)
        made[f"{name}.40.ans"] = narrow().ansi(title)
        made[f"{name}.asc"] = plain(wide_lines(), title, pictures.WIDE)
        made[f"{name}.40.asc"] = plain(narrow_lines(), title, pictures.NARROW)
    return made
