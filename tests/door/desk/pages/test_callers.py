"""The list of callers: as people count, with balances, sorted by any column, and forgiving."""

from __future__ import annotations

import html
import re
from contextlib import closing
from pathlib import Path

import pytest

from tests.door.desk.pages.test_pages import ADA, Answer, Browser, pages_of, shown
from tests.door.playing import Table
from tests.world import World
from timebank.callers import callers
from timebank.calls.calls import open_calls
from timebank.window import corrections, teller


def cells(page: Answer, head: str) -> list[str]:
    """Return the texts of a column of a table that folds."""
    found = re.findall(rf'<td [^>]*data-label="{head}"[^>]*>(.*?)</td>', page.body, re.DOTALL)
    return [" ".join(html.unescape(re.sub("<[^>]+>", " ", each)).split()) for each in found]


def listed(page: Answer) -> list[str]:
    return cells(page, "Caller")


def link(page: Answer, words: str) -> str:
    (place,) = re.findall(rf'<a [^>]*href="([^"]+)"[^>]*>{words}</a>', page.body)
    return html.unescape(place)


async def follow(browser: Browser, page: Answer, words: str) -> Answer:
    place, _, asked = link(page, words).partition("?")
    return await browser.ask("GET", place, asked)


def enter(board: World, *names: str) -> None:
    with board.books() as desk:
        for name in names:
            callers.register(desk, name, "hash")


async def test_callers_are_sorted_as_people_count(tmp_path: Path) -> None:
    async with shown(tmp_path) as (board, browser):
        enter(board, *(f"Ann {number}" for number in (10, 2, 1, 33)), "\u00c9mile", "dora", "Emma")
        await browser.logs_on()
        by_name = [
            "Ada",
            "Ann 1",
            "Ann 2",
            "Ann 10",
            "Ann 33",
            "dora",
            "\u00c9mile",
            "Emma",
            "Sysop",
        ]
        page = await browser.get("/callers")
        assert listed(page) == by_name
        assert "9 callers" in page.text
        assert listed(await follow(browser, page, "Caller")) == by_name[::-1]


async def test_callers_are_listed_with_balances_calls_and_states(ada: Table) -> None:
    board = ada.board
    board.enter("Sysop")
    board.enter("Bob", saved=3600)
    with board.books() as desk:
        (call,) = open_calls(desk)
        desk.connection.exec_driver_sql("UPDATE callers SET created = created - 864000")
        teller.borrow(desk, call.call_id, 0, 600)
        bob = callers.number_named(desk, "Bob")
        corrections.freeze(desk, bob, "a dispute", "Wanda")
        callers.set_locked(desk, bob, True)
    with closing(pages_of(board)) as pages:
        browser = Browser(pages)
        await browser.logs_on()
        page = await browser.get("/callers")
        assert re.search(r"Ada \S+ online 1:\d\d:\d\d 0:00:00 0:10:00", page.text), page.text
        assert re.search(r"Bob \S+ never 0:00:00 1:00:00 0:00:00 locked out, frozen", page.text)
        for column, names in (
            ("Bank", ["Bob", "Ada", "Sysop"]),
            ("Owing", ["Ada", "Bob", "Sysop"]),
            ("Online", ["Ada", "Bob", "Sysop"]),
            ("Last call", ["Ada", "Bob", "Sysop"]),
            ("State", ["Bob", "Sysop", "Ada"]),
        ):
            sorted_page = await follow(browser, page, column)
            assert listed(sorted_page) == names, column
            assert 'aria-sort="descending"' in sorted_page.body
            assert listed(await follow(browser, sorted_page, column))[-1] == names[0], column
        assert (await browser.get("/callers", sort="luck")).status == 400


async def test_many_callers_come_in_pages_and_keep_their_order(tmp_path: Path) -> None:
    async with shown(tmp_path) as (board, browser):
        enter(board, *(f"Ann {number}" for number in range(1, 251)))
        await browser.logs_on()
        page = await browser.get("/callers", sort="-number")
        names = listed(page)
        assert "252 callers, page 1 of 3" in page.text
        while "Next" in page.text:
            page = await follow(browser, page, "Next")
            names += listed(page)
        assert names == [f"Ann {number}" for number in range(250, 0, -1)] + ["Ada", "Sysop"]
        assert listed(await follow(browser, page, "Previous"))[0] == "Ann 150"
        beyond = await browser.get("/callers", page=9)
        assert (beyond.status, "page 3 of 3" in beyond.text) == (200, True)


@pytest.mark.parametrize(
    ("typed", "names"),
    [
        ("anne", ["Anne-Lise", "Joanne"]),
        ("ANNELISE", ["Anne-Lise"]),
        ("anne  lise", ["Anne-Lise"]),
        ("zola", ["\u00c9mile Zola"]),
        ("anne-lies", ["Anne-Lise"]),
        ("emle zola", ["\u00c9mile Zola"]),
        ("zolla", ["\u00c9mile Zola"]),
        ("jonane", ["Joanne"]),
        ("adda", ["Ada"]),
    ],
)
async def test_a_search_forgives(tmp_path: Path, typed: str, names: list[str]) -> None:
    async with shown(tmp_path) as (board, browser):
        enter(board, "Anne-Lise", "Joanne", "\u00c9mile Zola", "Bob")
        await browser.logs_on()
        page = await browser.get("/callers", name=typed)
        assert listed(page) == names
        ledger = await browser.get("/ledger", caller=typed)
        assert "Do you mean" in ledger.text


async def test_a_search_that_finds_nobody_says_so(tmp_path: Path) -> None:
    async with shown(tmp_path) as (_, browser):
        await browser.logs_on()
        for typed in ("Zebedee", "#99", "-", "x"):
            page = await browser.get("/callers", name=typed)
            assert f"There is no caller named {typed}" in page.text
            assert listed(page) == []
        assert (await browser.get("/callers", name="ada")).headers["location"] == f"/caller/{ADA}"
