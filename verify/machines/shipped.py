"""The files that docs/many-machines.md has a sysop install, adapted to a run's machines.

So these very files are tested. Each local difference replaces a text in them. A text that is
missing or occurs twice is an error, and so is a placeholder left over.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from pathlib import Path

from verify.machines.networks import CannotBeDone

FOLDER = Path(__file__).parents[2] / "docs" / "machines"
_EXAMPLE = re.compile(r"10\.0\.0\.\d+|@[A-Z]+@")


def fitted(name: str, own: Mapping[str, str], instead: Mapping[str, str]) -> str:
    """Return a shipped file with `own` for its names in @, and the replacements of `instead`.

    Raises `CannotBeDone` when the file has changed and no longer fits.
    """
    text = (FOLDER / name).read_text("utf-8")
    for place, what in instead.items():
        if text.count(place) != 1:
            raise CannotBeDone(f"{name} has {place!r} {text.count(place)} times, not once.")
        text = text.replace(place, what)
    text = "".join(line for line in text.splitlines(keepends=True) if not _is_comment(line))
    for word, what in own.items():
        text = text.replace(f"@{word}@", what)
    left = _EXAMPLE.findall(text)
    if left:
        raise CannotBeDone(f"{name} still has {', '.join(sorted(set(left)))}.")
    return text


def environment(text: str) -> dict[str, str]:
    """Read a file for EnvironmentFile= of systemd.

    >>> environment('# etcd\\nETCD_NAME="db1"\\n')
    {'ETCD_NAME': 'db1'}
    """
    pairs = (each.partition("=") for each in shlex.split(text, comments=True))
    return {name: value for name, _, value in pairs}


def _is_comment(line: str) -> bool:
    return line.lstrip().startswith("#")
