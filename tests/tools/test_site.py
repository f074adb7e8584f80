"""The documentation's site: what is made for it, and that nothing is left out of it."""

from __future__ import annotations

import re

from door.config import describing
from tests import ROOT
from tools import site


def test_every_key_is_in_the_reference() -> None:
    page = site.settings_page()
    for key in describing.of_the_house():
        assert f"| `{key.path[-1]}` |" in page, key.name
    assert "| `nodes` | a whole number, 1 to 9,999 | `16` |" in page
    assert page.index("## `[board]`") < page.index("## `[calls]`") < page.index("## `[timebank]`")


def test_the_menu_has_every_document_and_no_other() -> None:
    menu = re.findall(r": (\S+\.md)$", (ROOT / "mkdocs.yml").read_text("utf-8"), re.MULTILINE)
    docs = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    assert sorted(menu) == sorted(docs | site.pages().keys())


def test_links_lead_to_where_things_are_on_the_site() -> None:
    said = "[a](../bench/README.md#x) [b](../door/cli) ![c](tutor.md) [d](https://example.org)"
    assert site.turned(said, "odds.md") == (
        "[a](repository/bench/README.md#x) b ![c](tutor.md) [d](https://example.org)"
    )
    said = "[a](../docs/scale.md) [b](../README.md) [c](robots/README.md)"
    assert site.turned(said, "repository/verify/README.md") == (
        "[a](../../scale.md) [b](../../index.md) [c](robots/README.md)"
    )
