"""The annotated default of sysop.toml in the package: every key with its default."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from importlib.resources import files

NAME = "sysop.toml"

_HEADER = re.compile(r"(# )?(\[\[?[A-Za-z0-9._-]+\]\]?)")
_KEY = re.compile(r"(# )?([a-z0-9_]+) = ")


def text() -> str:
    return files("door.config").joinpath(NAME).read_text(encoding="utf-8")


def comments() -> dict[tuple[str, str], str]:
    """Return the comment above each key and each header, in one line. The index is the header and
    the key, or "" for the header itself.

    >>> comments()["[calls]", "nodes"]
    'How many callers can be online at once, 1 to 9999.'
    """
    return {
        (header, key): " ".join(line.removeprefix("#").strip() for line in lines[:-1])
        for header, key, lines in _parts()
    }


def excerpt(wanted: Mapping[str, Collection[str]]) -> str:
    """Return some keys of some headers, with their comments from the file."""
    lines = list[str]()
    for header, key, part in _parts():
        if header in wanted and (not key or key in wanted[header]):
            lines += part if key else ["", *part]
    return "\n".join([*lines, ""])


def _parts() -> Iterator[tuple[str, str, list[str]]]:
    """Yield each header and each key with its comment and its line. A header's key is ""."""
    header, above = "", list[str]()
    for line in text().splitlines():
        if match := _HEADER.fullmatch(line):
            header = match[2]
            yield header, "", [*above, line]
        elif match := _KEY.match(line):
            yield header, match[2], [*above, line]
        elif line.startswith("#") and line != "#":
            above.append(line)
            continue
        above = []
