"""A right password at the pages waits after others' wrong ones, but is never refused."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from door.desk.pages.access import PATIENCE_SECONDS
from tests.door.desk.pages.test_pages import Answer, Browser, shown
from tests.door.desk.pages.test_second_step import code_now, sets_up
from tests.world import PASSWORD, World, logged_on

STRANGERS = 24
AT_ONCE = 20  # wrong passwords for one name, each from another address, that are checked at once
TURN_SECONDS = 180  # until one more password is checked
HOME = "198.51.100.1"
ELSEWHERE = "203.0.113.9"


async def guess(browser: Browser, number: int, name: str = "Sysop") -> Answer:
    """Guess from one of many addresses."""
    stranger = Browser(browser.pages, address=f"192.0.2.{number}")
    return await stranger.logs_on(name, "guessed")


@asynccontextmanager
async def attacked(folder: Path) -> AsyncIterator[tuple[World, Browser]]:
    """Strangers at many addresses guess the sysop's password, and stay in the queue."""
    async with shown(folder) as (board, browser):
        browser.address = HOME
        assert (await browser.logs_on()).status == 303
        browser.cookies.clear()
        pages = [await guess(browser, number) for number in range(STRANGERS)]
        assert "is checked in about" in pages[-1].text
        yield board, browser


async def in_turn(board: World, browser: Browser) -> Answer:
    """Ask every ten seconds until the password was checked."""
    for _ in range(TURN_SECONDS // 10 + 1):
        if (answer := await browser.get("/log-on/turn")).status != 200:
            return answer
        assert "Yours is in the queue" in answer.text
        await board.clock.advance(10)
    raise AssertionError("it was never checked")


async def test_a_right_password_from_a_known_address_is_taken_at_once(tmp_path: Path) -> None:
    async with attacked(tmp_path) as (_, browser):
        for _ in range(STRANGERS):
            assert (await browser.logs_on()).status == 303
            assert (await browser.get("/")).status == 200


async def test_an_address_is_known_by_a_call_to_the_board(tmp_path: Path) -> None:
    async with shown(tmp_path) as (board, browser):
        terminal = await logged_on(board, "Sysop")
        await terminal.until("minutes today")
        for number in range(STRANGERS):
            await guess(browser, number)
        browser.address = "127.0.0.1"
        assert (await browser.logs_on()).status == 303


async def test_wrong_ones_from_there_use_up_its_tries(tmp_path: Path) -> None:
    async with attacked(tmp_path) as (_, browser):
        for _ in range(2):
            assert (await browser.logs_on(word="guessed")).status == 403
        assert (await browser.logs_on()).status == 200


@pytest.mark.parametrize("name", ["Sysop", "Nobody"])
async def test_elsewhere_it_waits_and_is_taken_in_its_turn(tmp_path: Path, name: str) -> None:
    """Later strangers wait longer, from any number of addresses."""
    async with shown(tmp_path) as (board, browser):
        for number in range(AT_ONCE):
            assert (await guess(browser, number, name)).status == 403
        browser.address = ELSEWHERE
        assert (await browser.logs_on(name)).status == 200
        for number in range(AT_ONCE, STRANGERS):
            assert (await guess(browser, number, name)).status == 200
        answer = await in_turn(board, browser)
        assert answer.status == (303 if name == "Sysop" else 403)
        assert ((await browser.get("/")).status == 200) == (name == "Sysop")
        assert (await browser.get("/log-on/turn")).headers["location"] == "/log-on"


async def test_a_client_that_stops_polling_loses_its_place(tmp_path: Path) -> None:
    async with attacked(tmp_path) as (board, browser):
        browser.address = ELSEWHERE
        assert (await browser.logs_on()).status == 200
        await board.clock.advance(PATIENCE_SECONDS - 1)
        assert (await browser.get("/log-on/turn")).status == 200
        await board.clock.advance(PATIENCE_SECONDS)
        answer = await browser.get("/log-on/turn")
        assert (answer.status, answer.headers["location"]) == (303, "/log-on")
        await board.clock.advance(TURN_SECONDS)
        assert (await browser.logs_on()).status == 303, "nobody is before it any more"


async def test_a_full_queue_drops_a_stranger_for_a_known_address(tmp_path: Path) -> None:
    async with shown(tmp_path, more="logons = 4\n") as (_, browser):
        browser.address = HOME
        assert (await browser.logs_on()).status == 303
        for number in range(AT_ONCE):
            await guess(browser, number)
        waiting = [Browser(browser.pages, address=f"203.0.113.{number}") for number in range(4)]
        for each in waiting:
            assert (await each.logs_on(word="guessed")).status == 200
        assert (await browser.logs_on()).status == 303
        result = await waiting[0].get("/log-on/turn")
        assert (result.status, "Too many callers" in result.text) == (403, True)
        assert (await waiting[1].get("/log-on/turn")).status == 200


async def test_a_code_is_good_that_was_typed_in_time(tmp_path: Path) -> None:
    async with shown(tmp_path) as (board, browser):
        await browser.logs_on()
        secret = await sets_up(board, browser)
        await board.clock.advance(60)
        for number in range(100, 100 + AT_ONCE):
            await guess(browser, number)
        browser.address = ELSEWHERE
        browser.cookies.clear()
        form = {"name": "Sysop", "word": PASSWORD, "code": code_now(board, secret)}
        assert (await browser.post("/log-on", form)).status == 200
        assert (await in_turn(board, browser)).status == 303
        assert (await browser.get("/")).status == 200
