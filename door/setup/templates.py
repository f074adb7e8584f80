"""Fills in the templates in `files/` for a board."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from door.errors import SetupRefused

FOLDER = Path(__file__).with_name("files")

# Paths that need no quotes in units, scripts and other programs' settings, and mean the same in all
# of them.
_PLAIN = re.compile(r"/[A-Za-z0-9._/+@:,=-]*")


def shipped(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def fitted(name: str, instead: Mapping[str, str]) -> str:
    """Return a template in which each text that is a key of `instead` is replaced by its value."""
    places = "|".join(map(re.escape, sorted(instead, key=len, reverse=True)))
    return re.sub(places, lambda found: instead[found[0]], shipped(name))


def plain(path: Path) -> str:
    """Return a path for other programs' files; raise `SetupRefused` if it would need quotes."""
    if _PLAIN.fullmatch(str(path)) is None:
        raise SetupRefused(
            f"{path} has a blank or a sign in it that other programs misread. Use a folder whose"
            " path has only letters, digits and . _ / + @ : , = -."
        )
    return str(path)
