"""The shipped tables of UTS 39: complete, of the stated version, renewable."""

from __future__ import annotations

import re
import unicodedata

import pytest

from timebank.names import confusables
from timebank.names.confusables import skeleton
from tools import confusables as renewing

# The published form of the Unicode Consortium.
PUBLISHED = """\
\ufeff# confusables.txt
# Date: 2031-02-03, 04:05:06 GMT
# Version: 99.0.0

05AD ;\t0596 ;\tMA\t# ( ֭ → ֖ ) HEBREW ACCENT DEHI → HEBREW ACCENT TIPEHA\t#

1D426 ;\t0072 006E ;\tMA\t# ( 𝐦 → rn ) MATHEMATICAL BOLD SMALL M →\t# →m→
006D ;\t0072 006E ;\tMA\t# ( m → rn ) LATIN SMALL LETTER M →\t#

# total: 3
"""


def lines() -> list[str]:
    text = confusables.TABLES.read_text(encoding="utf-8").splitlines()
    return [line for line in text if not line.startswith("#")]


class TestTables:
    def test_have_the_stated_version(self):
        heading = confusables.TABLES.read_text(encoding="utf-8")
        assert re.findall(r"^# Version: (\S+)$", heading, re.MULTILINE) == [confusables.VERSION]
        assert "SPDX-License-Identifier: Unicode-3.0" in heading

    def test_are_sorted_for_the_search(self):
        assert lines() == sorted(lines())
        assert len(lines()) == len({line[:6] for line in lines()}) > 6000

    def test_agree_with_the_program_on_ascii(self):
        table = {}
        for line in lines():
            point, *prototype = (int(each, 16) for each in line.split(" "))
            if point < 0x80:
                table[point] = "".join(map(chr, prototype))
        assert table == confusables.ASCII

    def test_agree_with_the_lookup(self):
        for line in lines()[:: len(lines()) // 97]:
            point, *prototype = (chr(int(each, 16)) for each in line.split(" "))
            if unicodedata.normalize("NFD", point) == point and point.isalpha():
                assert skeleton(point) == skeleton("".join(prototype))


class TestSkeletons:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            *(("paypal", "paypal"), ("p\u0430yp\u0430l", "paypal"), ("modern", "rnodern")),
            *(("1O0", "lOO"), ("I", "l"), ("i", "i"), ("J\u00f3se", "Jose"), ("\u212c", "B")),
            *(("a\u200bb\u3164c\ufe0f", "abc"), ("a\x07b", "ab"), ("", "")),
        ],
    )
    def test_equal_the_visible_text(self, text, expected):
        assert skeleton(text) == expected


class TestRenewing:
    def test_takes_the_mappings_and_leaves_the_rest(self):
        text = "".join(renewing.condensed(PUBLISHED))
        assert "# Version: 99.0.0\n# Date: 2031-02-03\n" in text
        assert "Copyright © 1991-2031 Unicode, Inc." in text
        mappings = [line for line in text.splitlines() if not line.startswith("#")]
        assert mappings == ["0006D 0072 006E", "005AD 0596", "1D426 0072 006E"]

    @pytest.mark.parametrize(
        "published", ["", "<html>", PUBLISHED.replace("total: 3", "total: 4"), PUBLISHED[:-12]]
    )
    def test_refuses_an_incomplete_file(self, published):
        with pytest.raises(ValueError, match="or a part"):
            "".join(renewing.condensed(published))

    def test_leaves_the_file_where_it_cannot_be_read(self, tmp_path, monkeypatch, capsys):
        path = tmp_path / "confusables.txt"
        path.write_text("as it was")
        monkeypatch.setattr(renewing, "TARGET", path)
        assert renewing.main([str(tmp_path / "nothing.txt")]) == 2
        assert "stays as it was" in capsys.readouterr().err
        assert path.read_text() == "as it was"
        (tmp_path / "new.txt").write_text(PUBLISHED, encoding="utf-8")
        assert renewing.main([str(tmp_path / "new.txt")]) == 0
        assert path.read_text(encoding="utf-8").endswith("1D426 0072 006E\n")
