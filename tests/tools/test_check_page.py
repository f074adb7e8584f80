"""The page that checks a hand, as one file."""

from __future__ import annotations

import re

from tools import check_page, page_rules


def test_the_one_file_is_made_of_its_parts_and_imports_nothing() -> None:
    page = check_page.built()
    assert not re.search(r"<(link|script)\b[^>]*\b(src|href)=", page)
    assert "://" not in page
    assert not any(line.startswith(("import ", "export ")) for line in page.splitlines())


def test_the_page_knows_the_rules_of_today() -> None:
    """`python -m tools.page_rules` writes them."""
    assert page_rules.RULES.read_text(encoding="utf-8") == page_rules.built()
