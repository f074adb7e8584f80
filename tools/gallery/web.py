"""Pictures of the page and of the books in a real browser: `python -m tools.gallery.web`.

A board of its own, under a clock of its own, with shuffles that are found to order; Debian's
Chromium, driven by Playwright. Everything goes into docs/screens/web.
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from playwright.async_api import async_playwright

from tests.door.lines.web.visitor import DESK, PHONE, Visitor, served_pages
from tests.door.page import WEB
from tests.world import PASSWORD, World, world
from tools.gallery.__main__ import SCREENS
from tools.gallery.seeds import SPARE, hand

TOML = WEB.replace('name = "The Test Board"', 'name = "The Midnight Oil"')
SYSOP = "Sysop"
CALLER, BALANCE = "Ada", 3600
ON_ITS_SIDE = {"width": 844, "height": 390}
# Of the books: the name of a picture, and the page.
BOOKS = (
    ("today", ""),
    ("ledger", "ledger?caller=Ada"),
    ("hand", "hand/2"),
)
# Sharp on screens of today. An emulated ratio would not do: WebGL asks the real one.
RATIO = "--force-device-scale-factor=2"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.gallery.web", description=__doc__)
    parser.add_argument("--into", type=Path, default=SCREENS / "web", help="folder")
    into = parser.parse_args(arguments).into
    into.mkdir(parents=True, exist_ok=True)
    asyncio.run(draw(into))


async def draw(into: Path) -> None:
    program = shutil.which("chromium")
    with TemporaryDirectory() as folder:
        async with async_playwright() as drives, world(Path(folder), toml=TOML) as board:
            browser = await drives.chromium.launch(
                executable_path=program, args=["--no-sandbox", "--disable-gpu", RATIO]
            )
            board.enter(SYSOP)
            board.enter(CALLER, saved=BALANCE)
            await _phone(browser, board, into)
            await _desk(browser, board, into)
            await _books(browser, board, into)
            await browser.close()


async def _visitor(browser: Any, board: World, how: dict[str, Any]) -> Visitor:
    context = await browser.new_context(**how, device_scale_factor=2)
    visitor = Visitor(await context.new_page(), board)
    await visitor.opens_the_page()
    return visitor


async def _keep(visitor: Visitor, file: Path) -> None:
    """Keep a picture of what is drawn, once nothing moves."""
    await visitor.page.evaluate("() => new Promise((done) => setTimeout(done, 400))")
    await visitor.page.screenshot(path=file)


async def _phone(browser: Any, board: World, into: Path) -> None:
    ada = await _visitor(browser, board, PHONE)
    await ada.answers("Name:", CALLER)
    await ada.answers("Password:", PASSWORD)
    await ada.sees("Press any key")
    await ada.page.locator("#keys .enter").tap()
    await ada.sees("<G>oodbye")
    board.seeds = [hand("hit", "stay", ends="win"), hand("hit", "stay", ends="win"), *SPARE]
    await ada.taps("B")
    await ada.sees("<F>airness")
    await ada.taps("B")
    await ada.answers("Coins", "5")
    await ada.sees("<H>it")
    await _keep(ada, into / "phone.png")
    await ada.taps("H")
    await ada.sees("<S>tay")
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
    board.seeds = [hand("hit", "stay", ends="win"), *SPARE]
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


async def _books(browser: Any, board: World, into: Path) -> None:
    async with served_pages(board) as place:
        context = await browser.new_context(**DESK, device_scale_factor=2)
        page = await context.new_page()
        await page.goto(place)
        await page.get_by_label("Your name on the board").fill(SYSOP)
        await page.get_by_label("Password").fill(PASSWORD)
        await page.keyboard.press("Enter")
        await page.get_by_role("heading", name="Today", exact=True).wait_for()
        for name, path in BOOKS:
            await page.goto(f"{place}{path}")
            if name == "hand":
                await page.get_by_text("Your browser has checked it").wait_for()
                for _ in range(8):
                    await page.get_by_role("button", name="Step").click()
            await page.evaluate("() => new Promise((done) => setTimeout(done, 400))")
            await page.screenshot(path=into / f"{name}.png", full_page=name == "hand")
        await context.close()


if __name__ == "__main__":
    main()
