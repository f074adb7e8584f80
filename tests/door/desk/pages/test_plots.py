"""The plots: their tables, which lead to the ledger, and days that are added up once."""

from __future__ import annotations

import contextlib
import html
import re
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest import mock

from door.desk.pages import plots
from door.desk.pages.queries import BooksReader
from tests.door.desk.pages.test_pages import ADA, GAME, Answer, Browser, pages_of, shown
from tests.door.playing import Table, hand
from tests.world import logged_on
from timebank.callers import callers
from timebank.ledger import generations
from timebank.reports import plots as plot_data
from timebank.window import corrections as sysop
from timebank.words import clock

DAY = timedelta(days=1)
CLOCK = r"(-?\d+:\d\d:\d\d)"


def table(page: Answer, name: str) -> Answer:
    """Return the section of a plot."""
    (found,) = re.findall(rf"<section>\n<h2[^>]*>{name}</h2>.*?</section>", page.body, re.DOTALL)
    return Answer(page.status, {}, found)


def links(page: Answer) -> list[str]:
    return [html.unescape(link) for link in re.findall(r'href="([^"]+)"', page.body)]


async def whole(browser: Browser) -> Answer:
    """Look until all days are added up."""
    while "being added up" in (page := await browser.get("/plots")).text:
        pass
    return page


async def test_plots_have_their_numbers_as_tables(tmp_path: Path) -> None:
    async with shown(tmp_path) as (board, browser):
        terminal = await logged_on(board, "Ada")
        await terminal.until("minutes today")
        await browser.logs_on()
        page = await browser.get("/plots")
        schedule = board.config.bank.schedule
        today = schedule.day_of(board.clock.now()).isoformat()
        hour = f"{schedule.local(board.clock.now()).hour:02}:00"
        saved = table(page, "Savings and loans outstanding")
        assert f"{today} 2:00:00 1:00:00 0:00:00" in saved.text, "an hour granted, one saved"
        assert f"/ledger?day={today}" in links(saved)
        assert f"/ledger?day={today}&kind=grant" in links(table(page, "Minutes by day"))
        assert f"{hour} 1 " in table(page, "Calls by hour").text
        assert f"{hour} 0 " in table(page, "Bets by hour").text
        for name in ("The house by day", "The house so far", "The house by table"):
            assert "No hand was settled in these days." in table(page, name).text
        for query, words in (
            ({"day": "yesterday"}, "The field day needs a day"),
            (
                {"since": "2026-11-20", "until": "2026-11-19"},
                "The last day is before the first one",
            ),
        ):
            answer = await browser.get("/plots", **query)
            assert (answer.status, words in answer.text) == (400, True), query
        before = await browser.get("/plots", until="2020-01-01")
        assert before.status == 200, "the books begin later"


async def test_the_house_and_each_caller_have_the_band_of_their_odds(ada: Table) -> None:
    board = ada.board
    await ada.bets(1, hand("stay", ends="win"))
    await ada.stands()
    board.enter("Sysop")
    with board.books() as desk:
        number = callers.number_named(desk, "Ada")
    with contextlib.closing(pages_of(board)) as pages:
        browser = Browser(pages)
        await browser.logs_on()
        page = await browser.get("/plots")
    today = board.config.bank.schedule.day_of(board.clock.now()).isoformat()
    (luck,) = BooksReader(board.config, board.database, board.clock).today().house
    band = [luck.given - 2 * luck.deviation, luck.given + 2 * luck.deviation]
    figures = " ".join(clock(round(each)) for each in (-60, luck.given, *band))
    for name in ("The house by day", "The house so far"):
        assert f"{today} {figures}" in table(page, name).text, "as the page of today has it"
    funnel = table(page, "Luck of callers")
    found = re.search(rf"Ada {' '.join(6 * [CLOCK])}", funnel.text)
    assert found is not None
    assert found[1] == "0:01:00"
    assert found[3] == clock(-round(band[1]))
    assert found[6] > found[4], "five deviations are a wider band than two"
    days = f"since=2026-10-22&until={today}"
    assert f"/ledger?caller=%23{number}&{days}&kind=won&kind=lost" in links(funnel)
    tables = links(table(page, "The house by table"))
    assert f"/ledger?day={today}&kind=won&kind=lost&game={GAME}" in tables
    assert f"/ledger?day={today}" in tables


async def test_a_day_that_has_ended_is_added_up_once_until_the_books_are_restored(
    tmp_path: Path,
) -> None:
    added: list[Any] = []

    def noting(desk: Any, day: Any, *more: Any) -> Any:
        added.append(day)
        return day_sums(desk, day, *more)

    day_sums = plot_data.day_sums
    async with shown(tmp_path) as (board, browser):
        first = board.config.bank.schedule.day_of(board.clock.now())
        board.clock.suspend(3 * 86400)
        with board.books() as desk:
            sysop.adjust(desk, ADA, 60, "a gift", "Wanda")
        today = first + 3 * DAY
        await browser.logs_on()
        with mock.patch.object(plot_data, "day_sums", noting):
            page = await whole(browser)
            assert sorted(set(added)) == [first + number * DAY for number in range(4)]
            assert [added.count(today - number * DAY) for number in (1, 2, 3)] == [1, 1, 1]
            added.clear()
            again = await browser.get("/plots")
            assert added == [today]
            assert again.body == page.body
            saved = table(page, "Savings and loans outstanding").text
            assert f"{first} 1:00:00 1:00:00" in saved
            assert f"{today - DAY} 1:00:00 1:00:00" in saved
            assert f"{today} 1:01:00 1:01:00" in saved
            added.clear()
            with mock.patch.object(generations, "current", return_value=2):
                await whole(browser)
            assert set(added) == {first + number * DAY for number in range(4)}


async def test_a_page_shows_no_plot_before_its_days_are_added_up(tmp_path: Path) -> None:
    async with shown(tmp_path) as (board, browser):
        first = board.config.bank.schedule.day_of(board.clock.now())
        board.clock.suspend(3 * 86400)
        await browser.logs_on()
        with mock.patch.object(plots.PastDays, "add_one", return_value=False):  # not one yet
            page = await browser.get("/plots")
        assert "are still being added up: look again in a moment." in page.text
        for hasty in ("<figure", "<h2", "No hand was settled"):
            assert hasty not in page.body
        assert f"{first} 1:00:00" in (await whole(browser)).text
