"""Renew `timebank/names/confusables.txt` from that of the Unicode Consortium.

    python -m tools.confusables            # the latest, from unicode.org
    python -m tools.confusables FILE       # one that is on this machine

It writes only the characters, sorted for a search, after the file's heading with its licence. When
the version changes, update `VERSION` in timebank/names/confusables.py; a test compares the two.
"""

from __future__ import annotations

import re
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from timebank.names.confusables import TABLES

SOURCE = "https://www.unicode.org/Public/security/latest/confusables.txt"
TARGET = TABLES
SECONDS = 60  # for an answer of the consortium's server

VERSION = re.compile(r"^# Version: (\S+)$", re.MULTILINE)
DATE = re.compile(r"^# Date: ((\d{4})-\d\d-\d\d)", re.MULTILINE)
YEARS = re.compile(r"\b1991-\d{4}\b")
MAPPING = re.compile(r"^([0-9A-F]+) ;\t([0-9A-F]+(?: [0-9A-F]+)*) ;\tMA\t", re.MULTILINE)
TOTAL = re.compile(r"^# total: (\d+)$", re.MULTILINE)


def condensed(published: str) -> Iterator[str]:
    """Our file, a piece at a time, from the consortium's; ValueError when that is not whole."""
    version, date = VERSION.search(published), DATE.search(published)
    total = TOTAL.search(published)
    matches = MAPPING.findall(published)
    if version is None or date is None or total is None or len(matches) != int(total[1]):
        raise ValueError("this is not the confusables.txt of the Unicode Consortium, or a part")
    lines = TABLES.read_text(encoding="utf-8").splitlines(keepends=True)
    heading = "".join(line for line in lines if line.startswith("#"))
    heading = VERSION.sub(f"# Version: {version[1]}", heading)
    heading = DATE.sub(f"# Date: {date[1]}", heading)
    yield YEARS.sub(f"1991-{date[2]}", heading)
    yield from sorted(f"{character:0>5} {prototype}\n" for character, prototype in matches)


def main(arguments: list[str]) -> int:
    try:
        if arguments:
            published = Path(arguments[0]).read_text(encoding="utf-8-sig")
        else:
            with urllib.request.urlopen(SOURCE, timeout=SECONDS) as answer:
                published = answer.read().decode("utf-8-sig")
        text = "".join(condensed(published))
    except (OSError, ValueError) as error:
        print(f"{TARGET} stays as it was: {error}.", file=sys.stderr)
        return 2
    TARGET.write_text(text, encoding="utf-8", newline="\n")
    print(f"{TARGET} is renewed. VERSION in confusables.py must be the version in its heading.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
