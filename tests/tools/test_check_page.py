"""The page that checks a hand, as one file."""

from __future__ import annotations

from tools import check_page


def test_the_one_file_is_made_of_its_parts_and_imports_nothing() -> None:
    page = check_page.TARGET.read_text(encoding="utf-8")
    assert page == check_page.built(), "python -m tools.check_page writes it anew"
    assert "://" not in page
    assert not any(line.startswith(("import ", "export ")) for line in page.splitlines())
