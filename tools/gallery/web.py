"""Pictures of the pages in a real browser, and of a call by SSH: `python -m tools.gallery.web`.

A board of its own, with the books of three weeks, under a clock of its own; its seeds are sealed
ahead, and found to order. Debian's Chromium, driven by Playwright.
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

from playwright.async_api import async_playwright

from bench import large
from door.call import phrases
from door.games.blackjack.world import world_shoe
from tests.door.by_ssh import LISTENER, by_ssh
from tests.door.lines.web.visitor import DESK, PHONE, Visitor, served_pages
from tests.door.page import WEB
from tests.world import PASSWORD, World, world
from timebank.callers import callers
from timebank.ledger.database import Desk
from timebank.wagers import contests, deals
from tools.gallery import kept
from tools.gallery.paint import picture
from tools.gallery.seeds import CUT, SPARE, chain

TOML = (
    WEB.replace('name = "The Test Board"', 'name = "The Midnight Oil"')
    + """
[public]
page = true
address = "https://midnight.example"
calls = ["https://midnight.example", "telnet midnight.example", "ssh new@midnight.example"]
"""
    + LISTENER
)
TRANSFERS = 20_000  # in the books before anybody calls
# Those who made them.
NAMES = (
    *("Alma", "Bruno", "Carla", "Dmitri", "Edith", "Farid", "Greta", "Hugo", "Ines", "Jonas"),
    *("Kira", "Lars", "Mona", "Nils", "Olga", "Paolo", "Rosa", "Sven", "Tilda", "Ugo"),
)
SAVED = {"Carla": 25_980, "Hugo": 14_400, "Mona": 9_360, "Tilda": 3_720}  # seconds, a gift of ours
SYSOP = "Sysop"
CALLER, BALANCE = "Ada", 3600
DEAL_COSTS = {"Mona": 120, "Carla": 340}  # 1.2% and 3.4% of a bet
ON_ITS_SIDE = {"width": 844, "height": 390}
NARROW = {"width": 360, "height": 740}
# Of the books: the name of a picture, and the page; `{caller}` is Ada's number, `{hand}` that of
# her first hand.
BOOKS: Mapping[str, str] = {
    "today": "",
    "ledger": "ledger?caller=Ada",
    "caller": "caller/{caller}",
    "plots": "plots",
    "balances": "balances",
    "hand": "hand/{hand}",
}
# In dark, and as wide as the smallest phone.
ON_A_PHONE = ("ledger", "caller", "plots")
# Sharp on screens of today. An emulated ratio would not do: WebGL asks the real one.
RATIO = "--force-device-scale-factor=2"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.gallery.web", description=__doc__)
    parser.add_argument("--into", type=Path, default=kept.BUILT, help="folder (build/screens)")
    parser.add_argument("--keep", action="store_true", help="renew docs/screens/web from it")
    asked = parser.parse_args(arguments)
    (asked.into / "web").mkdir(parents=True, exist_ok=True)
    asyncio.run(draw(asked.into / "web"))
    if asked.keep:
        kept.keep_pictures(asked.into)


async def draw(into: Path) -> None:
    program = shutil.which("chromium")
    with TemporaryDirectory() as folder, mock.patch("tests.world.lay_new_books", _lay_books):
        async with (
            async_playwright() as drives,
            world(Path(folder), toml=TOML, is_planted=False) as board,
        ):
            browser = await drives.chromium.launch(
                executable_path=program, args=["--no-sandbox", "--disable-gpu", RATIO]
            )
            _enter(board)
            await _phone(browser, board, into)
            await _desk(browser, board, into)
            await _by_ssh(board, into)
            await _about(browser, board, into)
            await _books(browser, board, into)
            await browser.close()


def _lay_books(path: Path) -> None:
    large.write(path, TRANSFERS)


def _enter(board: World) -> None:
    """Register players of the deals, and bring in Ada with a phrase of hers, and the sysop."""
    with board.books() as desk:
        for number, name in enumerate(NAMES, 1):
            callers.rename(desk, number, name)
    for name, seconds in SAVED.items():
        board.give(name, seconds)
    board.enter(SYSOP)
    board.enter(CALLER, saved=BALANCE)
    phrase = {phrases.PREFERENCE: {"text": CUT, "own": True, "after": []}}
    with board.books() as desk:
        callers.change_preferences(desk, callers.number_named(desk, CALLER), phrase)
    board.seeds = [chain("hit", "stay", ends="win", hands=4, length=500), *SPARE]


async def _visitor(browser: Any, board: World, how: dict[str, Any]) -> Visitor:
    context = await browser.new_context(**how, device_scale_factor=2)
    visitor = Visitor(await context.new_page(), board)
    await visitor.opens_the_page()
    return visitor


async def _keep(visitor: Visitor, file: Path) -> None:
    """Store a picture of the page, once nothing moves."""
    await visitor.page.evaluate("() => new Promise((done) => setTimeout(done, 400))")
    await visitor.page.screenshot(path=file)


async def _phone(browser: Any, board: World, into: Path) -> None:
    ada = await _visitor(browser, board, PHONE)
    await ada.answers("Name:", CALLER)
    await ada.answers("Password:", PASSWORD)
    await ada.sees("Press any key")
    await ada.page.locator("#keys .enter").tap()
    await ada.sees("<G>oodbye")
    await ada.taps("B")
    await ada.sees("<F>airness")
    await ada.taps("B")
    await ada.answers("Coins", "5")
    await ada.sees("<H>it")
    await _keep(ada, into / "phone.png")
    await ada.taps("H")
    await ada.sees("<S>tand")
    await ada.taps("S")
    await ada.sees("<B>et")
    await ada.page.set_viewport_size(ON_ITS_SIDE)
    await ada.page.wait_for_function("() => document.body.classList.contains('lying')")
    await _keep(ada, into / "phone-on-its-side.png")
    (caller,) = board.server.board.callers()
    await ada.page.context.close()
    await caller.ended.wait()


async def _desk(browser: Any, board: World, into: Path) -> None:
    ada = await _visitor(browser, board, DESK)
    await ada.types(f"{CALLER}\r")
    await ada.sees("Password:")
    await ada.types(f"{PASSWORD}\r")
    await ada.sees("<G>oodbye")
    await ada.types("b")
    await ada.sees("<F>airness")
    await ada.types("b5\r")
    await ada.sees("<H>it")
    await ada.types("hs")
    await ada.sees("YOU WIN")
    await _keep(ada, into / "desktop.png")
    (caller,) = board.server.board.callers()
    await ada.page.context.close()
    await caller.ended.wait()


async def _by_ssh(board: World, into: Path) -> None:
    terminal = await by_ssh(board, CALLER)
    await terminal.until("oodbye")
    terminal.send("b")
    await terminal.until("airness")
    terminal.send("b5\r")
    await terminal.until("<S>tand")
    terminal.send("hs")
    await terminal.until("YOU WIN")
    await board.at_rest()
    picture(terminal.screen).save(into / "ssh.png", optimize=True)
    (caller,) = board.server.board.callers()
    terminal.send("qgy")
    await caller.ended.wait()


def _play_the_deal(desk: Desk) -> None:
    """Enter tries at today's deal with the costs that the page about the board shows."""
    deal = deals.todays(desk, world_shoe)
    for name, cost in DEAL_COSTS.items():
        number = callers.number_named(desk, name)
        contests.begin(desk, deal, number)
        contests.act(desk, deal, number, (), "stay", 5)
        contests.weigh(desk, deal.seal, number, cost)


async def _about(browser: Any, board: World, into: Path) -> None:
    await board.server.board.books.run(_play_the_deal)
    await board.server.public_page.renew()
    place = f"http://127.0.0.1:{board.server.ports[1]}/about"
    for name, how in (
        ("about", {**DESK, "color_scheme": "light"}),
        ("about-phone", {**PHONE, "viewport": NARROW, "color_scheme": "dark"}),
    ):
        context = await browser.new_context(**how, device_scale_factor=2)
        page = await context.new_page()
        await page.goto(place)
        await page.screenshot(path=into / f"{name}.png", full_page=True)
        await context.close()
    with board.books() as desk:  # they were not played, which an audit would find
        desk.connection.exec_driver_sql("DELETE FROM deal_tries")


async def _books(browser: Any, board: World, into: Path) -> None:
    with board.books() as desk:
        number = callers.number_named(desk, CALLER)
        query = f"SELECT min(id) FROM rounds WHERE caller_id = {number}"
        hand = desk.connection.exec_driver_sql(query).scalar_one()
    paths = {name: path.format(caller=number, hand=hand) for name, path in BOOKS.items()}
    async with served_pages(board) as place:
        page = await _sysop(browser, place, {**DESK, "color_scheme": "light"})
        for name, path in paths.items():
            await page.goto(f"{place}{path}")
            while await page.get_by_text("still being added up").count():
                await page.reload()
            if name == "hand":
                await page.get_by_text("Your browser has checked it").wait_for()
                for _ in range(8):
                    await page.get_by_role("button", name="Step").click()
            await _keep_page(page, into / f"{name}.png", whole=name in ("hand", "caller", "plots"))
        await page.goto(f"{place}caller/{number}/acts")
        await _confirm(page)
        await _keep_page(page, into / "act.png")
        await page.context.close()
        page = await _sysop(browser, place, {**PHONE, "viewport": NARROW, "color_scheme": "dark"})
        for name in ON_A_PHONE:
            await page.goto(f"{place}{paths[name]}")
            await _keep_page(page, into / f"{name}-phone.png")
        await page.context.close()


async def _sysop(browser: Any, place: str, how: dict[str, Any]) -> Any:
    """Log on to the pages as the sysop does."""
    context = await browser.new_context(**how, device_scale_factor=2)
    page = await context.new_page()
    await page.goto(place)
    await page.get_by_label("Your name on the board").fill(SYSOP)
    await page.get_by_label("Password").fill(PASSWORD)
    await page.keyboard.press("Enter")
    await page.get_by_role("heading", name="Today", exact=True).wait_for()
    return page


async def _confirm(page: Any) -> None:
    """Ask for an act, as far as the page that asks whether it is meant."""
    form = page.locator("form[action$='/adjust']")
    await form.get_by_label("Minutes").fill("15")
    await form.get_by_label("Why").fill("The line broke in the middle of a win")
    await form.get_by_role("button").click()
    await page.get_by_role("button", name="Do it").wait_for()


async def _keep_page(page: Any, file: Path, *, whole: bool = False) -> None:
    await page.evaluate("() => new Promise((done) => setTimeout(done, 400))")
    await page.screenshot(path=file, full_page=whole)


if __name__ == "__main__":
    main()
