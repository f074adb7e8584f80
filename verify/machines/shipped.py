"""The files that docs/many-machines.md has a sysop install, made to fit the machines of a run.

So it is these files that are tested. What has to be different here is put in the place of what
stands there; a place that is not there, or twice, is an error, and so is one that was left.
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
    """Return a shipped file with `own` for its names in @, and what stands there `instead`.

    Raises `CannotBeDone` where the file has changed, so that it does not fit any more.
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
