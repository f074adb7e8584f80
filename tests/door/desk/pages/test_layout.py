"""What all pages share: the header that marks the page, and tables that fold on a phone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from door.desk.pages.rendering import folding
from tests.door.desk.pages.test_pages import shown

MARKED = re.compile(r'<a href="/(\w*)" aria-current="(\w+)">')


async def test_the_header_marks_the_page_or_the_one_that_it_is_within(tmp_path: Path) -> None:
    async with shown(tmp_path) as (_, browser):
        await browser.logs_on()
        for path, marked in {
            "/": [("", "page")],
            "/plots": [("plots", "page")],
            "/callers": [("callers", "page")],
            "/caller/2": [("callers", "true")],
            "/entry/1": [("ledger", "true")],
            "/second-step": [],
        }.items():
            assert MARKED.findall((await browser.get(path)).body) == marked, path


def test_cells_of_many_columns_have_the_words_of_their_head() -> None:
    heads = '<thead><tr><th><a href="/">A</a></th><th>B &amp; "b"</th><th>C</th><th>D</th></tr>'
    rows = '<tr><td class="number">1</td><td>\n</td><td><b>3</b></td><td>4</td></tr>'
    table = folding(f"<table>{heads}</thead>{rows}{rows}</table>")
    labels = ["A", "B &amp; &#34;b&#34;", "C", "D"]
    assert re.findall(r'<td role="cell" data-label="([^"]*)"', table) == 2 * labels
    assert table.startswith('<table role="table" class="folds">')
    assert table.count('role="row"') == 3
    assert table.count('"></td>') == 2, "an empty cell is left out of a card"


@pytest.mark.parametrize("columns", [1, 3])
def test_few_columns_stay_a_table(columns: int) -> None:
    table = f"<table><tr>{columns * '<th>A</th>'}</tr><tr>{columns * '<td>1</td>'}</tr></table>"
    assert folding(table) == table
