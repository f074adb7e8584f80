"""A person at a real browser, by Playwright; and the pages of the books at a port."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import pytest
import uvicorn

from door.config.config import Config
from door.desk.pages.pages_server import Pages
from door.desk.pages.queries import BooksReader
from tests.clock import FakeClock
from tests.world import World
from timebank.ledger.database import Database

playwright = pytest.importorskip("playwright.async_api", reason="Playwright is not installed")

PATIENCE = 60_000  # milliseconds
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
DESK = {"viewport": {"width": 1280, "height": 800}}
MOST_TABS = 60
FOCUSED = """() => {
    const here = document.activeElement;
    const name = here.getAttribute("aria-label") || here.labels?.[0]?.innerText || here.innerText;
    return here.matches(":focus-visible") ? (name || "").trim() : "";
}"""
READ_SCREEN = """() => {
    const buffer = document.getElementById("screen").terminal?.buffer.active;
    const rows = [];
    for (let row = 0; buffer && row < buffer.length; row += 1) {
        rows.push(buffer.getLine(row).translateToString(true));
    }
    return rows.join("\\n");
}"""


class Visitor:
    """A person at a browser."""

    def __init__(self, page: Any, board: World) -> None:
        self.page = page
        self.board = board
        self.complaints: list[str] = []
        self.asked_for: list[str] = []
        page.on("console", self._note)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", lambda request: self.asked_for.append(request.url))

    def _note(self, message: Any) -> None:
        if message.type == "error":
            self.complaints.append(message.text)

    @property
    def port(self) -> int:
        return self.board.server.ports[1]

    async def opens_the_page(self) -> None:
        await self.page.goto(f"http://127.0.0.1:{self.port}/")
        await self.sees("Name:")

    async def sees(self, text: str) -> None:
        try:
            await self.page.wait_for_function(
                f"text => ({READ_SCREEN})().includes(text)", arg=text, timeout=PATIENCE
            )
        except playwright.TimeoutError:
            shown = await self.page.evaluate(READ_SCREEN)
            raise AssertionError(f"{text!r} never came to the screen:\n{shown}") from None

    async def types(self, *texts: str, then: str = "") -> None:
        for text in texts:
            await self.page.keyboard.type(text)
        if then:
            await self.sees(then)

    async def tabs_to(self, name: str) -> None:
        """Press Tab until the element of this name has a visible focus."""
        been = []
        for _ in range(MOST_TABS):
            await self.page.keyboard.press("Tab")
            been.append(await self.page.evaluate(FOCUSED))
            if been[-1].startswith(name):
                return
        raise AssertionError(f"the Tab key does not lead to {name!r}, but to {been}")

    async def taps(self, key: str, then: str = "") -> None:
        letter = self.page.locator("#keys b").get_by_text(key, exact=True)
        await letter.tap(timeout=PATIENCE)
        if then:
            await self.sees(then)

    async def answers(self, question: str, text: str) -> None:
        await self.sees(question)
        await self.page.locator("#text").fill(text, timeout=PATIENCE)
        await self.page.locator("#send").tap()

    async def may_tap(self) -> list[str]:
        return await self.page.locator("#keys b").all_text_contents()


class Network:
    """The network between a browser and the board.

    Shut like a lid, it carries nothing more on open connections and ends none of them.
    """

    def __init__(self, port: int) -> None:
        self._there = port
        self._carries = asyncio.Event()
        self._carries.set()
        self._lines: set[asyncio.Task[None]] = set()
        self.port = 0

    def shut(self) -> None:
        self._carries.clear()
        self._carries = asyncio.Event()
        self._carries.set()

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[Network]:
        server = await asyncio.start_server(self._join, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            server.close()
            for line in self._lines:
                line.cancel()
            await asyncio.gather(*self._lines, return_exceptions=True)

    async def _join(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        from_there, to_there = await asyncio.open_connection("127.0.0.1", self._there)
        for way in ((reader, to_there), (from_there, writer)):
            self._lines.add(asyncio.create_task(self._carry(*way, self._carries)))

    @staticmethod
    async def _carry(
        here: asyncio.StreamReader, there: asyncio.StreamWriter, carries: asyncio.Event
    ) -> None:
        try:
            while data := await here.read(65_536):
                await carries.wait()
                there.write(data)
            await carries.wait()
        finally:
            there.close()


class Served(NamedTuple):
    """Books that no server runs for."""

    config: Config
    database: Database
    clock: FakeClock


@asynccontextmanager
async def served_pages(board: World | Served) -> AsyncIterator[str]:
    """Serve the pages of the books at a free port."""
    reading = BooksReader(board.config, board.database, board.clock)
    pages = Pages(reading, board.clock)
    wire = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(pages.app(), http="h11", ws="none", lifespan="off", log_config=None)
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve([wire]))
    try:
        yield f"http://127.0.0.1:{wire.getsockname()[1]}/"
    finally:
        server.should_exit = True
        await serving
        pages.close()
