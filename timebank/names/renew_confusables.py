"""Renew `confusables.txt` beside this file from that of the Unicode Consortium.

    python -m timebank.names.renew_confusables            # the latest, from unicode.org
    python -m timebank.names.renew_confusables FILE       # one that is on this machine

Only the characters are written, sorted, so that one is found without reading all. When the version
has changed, `VERSION` in confusables.py has to follow; a test compares the two.
"""

from __future__ import annotations

import re
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

SOURCE = "https://www.unicode.org/Public/security/latest/confusables.txt"
TARGET = Path(__file__).with_name("confusables.txt")
SECONDS = 60  # that the consortium's server may take to answer

HEADING = """\
# Characters that can be taken for others: the prototypes of UTS 39, Unicode Security Mechanisms
# (https://www.unicode.org/reports/tr39/), in their confusables.txt.
# Version: {version}
# Date: {date}
# `python -m timebank.names.renew_confusables` made this file and renews it.
#
# A line is a character, and the prototype that it looks like, in hexadecimal; lines are sorted.
#
# UNICODE LICENSE V3
#
# COPYRIGHT AND PERMISSION NOTICE
#
# Copyright © 1991-{year} Unicode, Inc.
#
# NOTICE TO USER: Carefully read the following legal agreement. BY
# DOWNLOADING, INSTALLING, COPYING OR OTHERWISE USING DATA FILES, AND/OR
# SOFTWARE, YOU UNEQUIVOCALLY ACCEPT, AND AGREE TO BE BOUND BY, ALL OF THE
# TERMS AND CONDITIONS OF THIS AGREEMENT. IF YOU DO NOT AGREE, DO NOT
# DOWNLOAD, INSTALL, COPY, DISTRIBUTE OR USE THE DATA FILES OR SOFTWARE.
#
# Permission is hereby granted, free of charge, to any person obtaining a
# copy of data files and any associated documentation (the "Data Files") or
# software and any associated documentation (the "Software") to deal in the
# Data Files or Software without restriction, including without limitation
# the rights to use, copy, modify, merge, publish, distribute, and/or sell
# copies of the Data Files or Software, and to permit persons to whom the
# Data Files or Software are furnished to do so, provided that either (a)
# this copyright and permission notice appear with all copies of the Data
# Files or Software, or (b) this copyright and permission notice appear in
# associated Documentation.
#
# THE DATA FILES AND SOFTWARE ARE PROVIDED "AS IS", WITHOUT WARRANTY OF ANY
# KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF
# MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT OF
# THIRD PARTY RIGHTS.
#
# IN NO EVENT SHALL THE COPYRIGHT HOLDER OR HOLDERS INCLUDED IN THIS NOTICE
# BE LIABLE FOR ANY CLAIM, OR ANY SPECIAL INDIRECT OR CONSEQUENTIAL DAMAGES,
# OR ANY DAMAGES WHATSOEVER RESULTING FROM LOSS OF USE, DATA OR PROFITS,
# WHETHER IN AN ACTION OF CONTRACT, NEGLIGENCE OR OTHER TORTIOUS ACTION,
# ARISING OUT OF OR IN CONNECTION WITH THE USE OR PERFORMANCE OF THE DATA
# FILES OR SOFTWARE.
#
# Except as contained in this notice, the name of a copyright holder shall
# not be used in advertising or otherwise to promote the sale, use or other
# dealings in these Data Files or Software without prior written
# authorization of the copyright holder.
#
# SPDX-License-Identifier: Unicode-3.0
"""
VERSION = re.compile(r"^# Version: (\S+)$", re.MULTILINE)
DATE = re.compile(r"^# Date: ((\d{4})-\d\d-\d\d)", re.MULTILINE)
MAPPING = re.compile(r"^([0-9A-F]+) ;\t([0-9A-F]+(?: [0-9A-F]+)*) ;\tMA\t", re.MULTILINE)
TOTAL = re.compile(r"^# total: (\d+)$", re.MULTILINE)


def condensed(published: str) -> Iterator[str]:
    """Our file, a piece at a time, from the consortium's; ValueError when that is not whole."""
    version, date = VERSION.search(published), DATE.search(published)
    total = TOTAL.search(published)
    found = MAPPING.findall(published)
    if version is None or date is None or total is None or len(found) != int(total[1]):
        raise ValueError("this is not the confusables.txt of the Unicode Consortium, or a part")
    yield HEADING.format(version=version[1], date=date[1], year=date[2])
    yield from sorted(f"{character:0>5} {prototype}\n" for character, prototype in found)


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
