"""`door docs`: the documents are found in a clone too, by the names that sentences use."""

from __future__ import annotations

import pytest

from tests import ROOT
from tests.door.shell import door


def test_every_document_is_listed_with_its_title() -> None:
    lines = door("docs").output.splitlines()
    assert lines[0].startswith(f"The documents are in {ROOT / 'docs'}.")
    documents = [path for path in (ROOT / "docs").rglob("*.md") if "screens" not in path.parts]
    assert len(lines) == 1 + len(documents) + len(["changelog"])
    assert "    guide/running             Running" in lines


@pytest.mark.parametrize("name", ["boards/wwiv", "wwiv", "docs/boards/wwiv.md"])
def test_a_page_is_shown_by_any_of_its_names(name: str) -> None:
    shown = door("docs", name)
    assert (shown.status, shown.error) == (0, "")
    assert shown.output == (ROOT / "docs/boards/wwiv.md").read_text("utf-8")


def test_the_changes_of_a_release_are_a_page_too() -> None:
    """The page about upgrades tells to read them, and a wheel has no repository around it."""
    assert door("docs", "changelog").output == (ROOT / "CHANGELOG.md").read_text("utf-8")


def test_a_page_that_is_not_there_is_refused_with_the_closest_name() -> None:
    refused = door("docs", "mystik")
    assert (refused.status, refused.error) == (
        2,
        'There is no page "mystik"; did you mean "mystic"?\n',
    )
