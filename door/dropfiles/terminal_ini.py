"""terminal.ini, in which Synchronet stores the caller's window in the folder of a node.

Synchronet writes it at the log-on and when the terminal changes, so it may be much older than the
drop file of a call. `cols` and `rows` come before any section. Its character set is the terminal's,
not the one that Synchronet takes from a door.
"""

from __future__ import annotations

from pathlib import Path

from door.dropfiles.disk import HostFiles
from door.dropfiles.lines import raw
from door.errors import DropFileRefused

NAME = "terminal.ini"
_MOST = 999


def read(folder: Path, at: HostFiles | None = None) -> tuple[int, int] | None:
    """Return columns and rows; None if the file is missing or lacks one of them."""
    try:
        text = raw(folder / NAME, at).content.decode("cp437")
    except DropFileRefused:
        return None
    values: dict[str, str] = {}
    for line in text.splitlines():
        if line.lstrip().startswith("["):
            break
        key, _, value = line.partition("=")
        values.setdefault(key.strip().casefold(), value.strip())
    size = [values.get(key, "") for key in ("cols", "rows")]
    if not all(each.isascii() and each.isdigit() and 0 < int(each[:4]) <= _MOST for each in size):
        return None
    columns, rows = map(int, size)
    return columns, rows
