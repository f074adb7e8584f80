"""The files that come with the program, made to fit a board. What they hold is in `files/`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from door.errors import DoesNotFit

FOLDER = Path(__file__).with_name("files")

# What can be written without quotes into units, scripts and the settings of other programs, and
# means itself in all of them.
_PLAIN = re.compile(r"/[A-Za-z0-9._/+@:,=-]*")


def shipped(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def fitted(name: str, instead: Mapping[str, str]) -> str:
    """Return a shipped file with something else for each of the places in it that `instead` names.

    A place that is not in the file is an error of ours.
    """
    text = shipped(name)
    for place, what in instead.items():
        if place not in text:
            raise LookupError(f"{name} has no {place!r}")
        text = text.replace(place, what)
    return text


def plain(path: Path) -> str:
    """Return a path as it stands in files of other programs; raises `DoesNotFit`."""
    if _PLAIN.fullmatch(str(path)) is None:
        raise DoesNotFit(
            f"{path} has a blank or a sign in it that means something else to other programs. Use a"
            " folder whose path has letters, digits and . _ / + @ : , = - alone."
        )
    return str(path)
