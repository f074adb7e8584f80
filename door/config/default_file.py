"""The annotated default of sysop.toml, as the wheel has it: every key with its default."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.resources import files

NAME = "sysop.toml"

_HEADER = re.compile(r"(# )?(\[\[?[A-Za-z0-9._-]+\]\]?)")
_KEY = re.compile(r"(# )?([a-z0-9_]+) = ")


def text() -> str:
    return files("door.config").joinpath(NAME).read_text(encoding="utf-8")


def comments() -> dict[tuple[str, str], str]:
    """What stands above each key and each header, in one line: by the header and the key, which is
    empty for the header itself.

    >>> comments()["[calls]", "nodes"]
    'How many callers can be online at once, 1 to 9999.'
    """
    return dict(_comments())


def _comments() -> Iterator[tuple[tuple[str, str], str]]:
    header, said = "", list[str]()
    for line in text().splitlines():
        if match := _HEADER.fullmatch(line):
            header = match[2]
            yield (header, ""), " ".join(said)
        elif match := _KEY.match(line):
            yield (header, match[2]), " ".join(said)
        elif line.startswith("#") and line != "#":
            said.append(line.removeprefix("#").strip())
            continue
        said = []
