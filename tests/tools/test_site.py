"""The documentation's site: its generated pages, and that none is missing."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

from door.config import schema
from tests import ROOT
from tools import site


def test_every_key_is_in_the_reference() -> None:
    page = site.settings_page()
    for key in schema.default_keys():
        assert key.path[0] == "rules" or f"| `{key.path[-1]}` |" in page, key.name
    row = "| `nodes` | `16` | How many callers can be online at once (1 to 9999). |"
    assert row in page
    assert page.index("## `[board]`") < page.index("## `[calls]`") < page.index("## `[timebank]`")


def test_the_menu_has_every_document_and_no_other() -> None:
    menu = re.findall(r": (\S+\.md)$", (ROOT / "mkdocs.yml").read_text("utf-8"), re.MULTILINE)
    docs = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    made = {place for place in site.pages() if place.endswith(".md")}
    assert sorted(menu) == sorted(docs | made)


def test_links_lead_to_where_things_are_on_the_site() -> None:
    links = "[a](../bench/README.md#x) [b](../door/cli) ![c](tutor.md) [d](https://example.org)"
    assert site.turned(links, "odds.md") == (
        "[a](repository/bench/README.md#x) b ![c](tutor.md) [d](https://example.org)"
    )
    links = "[a](../docs/scale.md) [b](../README.md#test-it) [c](robots/README.md)"
    assert site.turned(links, "repository/verify/README.md") == (
        "[a](../../scale.md) [b](../README.md#test-it) [c](robots/README.md)"
    )
    links = f"[a](../{site.CHECK_SOURCE}#x)"
    assert site.turned(links, "fairness.md") == "[a](check.html#x)"
    assert site.turned("[the files](machines)", "many-machines.md") == "the files"


# A fence or a span of code, where there are no links; or a link with its anchor.
LINK = re.compile(r"^( *```).*?^\1|``.*?``|`[^`]*`|\]\(([^)\s:#]*)(#[^)\s]*)?\)", re.M | re.S)
FILLED = {"reference/door.md", "reference/timebank.md"}  # by mkdocs-click, with anchors of its own


def clone_documents() -> dict[str, str]:
    """The documents by their places in a clone."""
    paths = [*(ROOT / "docs").rglob("*.md"), *(ROOT / path for path in site.BESIDE)]
    return {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in paths}


def site_documents() -> dict[str, str]:
    docs = {
        place.removeprefix("docs/"): text
        for place, text in clone_documents().items()
        if place.startswith("docs/")
    }
    every = docs | site.pages() | {site.CHECK_PAGE: ""}
    return {place: site.turned(text, place) for place, text in every.items()}


@cache
def anchors(text: str) -> set[str]:
    """The anchors of a document's headings, as mkdocs.yml and hosts of repositories make them."""
    prose = re.sub(r"^( *```).*?^\1", "", text, flags=re.M | re.S)
    headings = re.findall(r"^#+ (.*)$", prose, re.MULTILINE)
    plain = (re.sub(r"\[([^]]*)\]\([^)]*\)|[`*]", r"\1", heading) for heading in headings)
    return {re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in plain}


def dead_links(
    documents: dict[str, str], is_there: Callable[[Path], bool], root: Path
) -> Iterator[str]:
    for place, text in documents.items():
        for match in LINK.finditer(text):
            link, anchor = match[2], match[3]
            if link is None or not (link or anchor):
                continue
            target = posixpath.normpath(posixpath.join(posixpath.dirname(place), link))
            target = target if link else place
            if target not in documents and not is_there(root / target):
                yield f"{place}: {link}"
            elif anchor and target not in FILLED and anchor[1:] not in anchors(documents[target]):
                yield f"{place}: {link}{anchor}"


def test_no_link_of_the_site_is_dead() -> None:
    """`mkdocs build --strict` refuses them, in the words of the README."""
    assert list(dead_links(site_documents(), Path.is_file, ROOT / "docs")) == []


def test_no_link_of_a_clone_is_dead() -> None:
    """Pages that are made for the site are on the site alone."""
    documents = clone_documents() | {f"docs/{place}": text for place, text in site.pages().items()}
    links = dead_links(documents, Path.exists, ROOT)
    assert [link for link in links if not link.startswith("docs/repository/")] == []
