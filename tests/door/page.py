"""A browser at our page, without its screen: its keys, its messages and the open keys."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pyte
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Origin, Subprotocol

from door.lines.web.web import SUBPROTOCOL
from tests.world import BOARD, PASSWORD, World

PATIENCE = 60.0
WEB = BOARD + '[[listeners]]\nkind = "web"\nhost = "127.0.0.1"\nport = 0\n'


class PageCaller:
    """A caller at the page; `keys` and `ask` are the open keys."""

    def __init__(self, board: World, socket: ClientConnection, columns: int, rows: int) -> None:
        self.board = board
        self.socket = socket
        self.screen = pyte.Screen(columns, rows)
        self.stream = pyte.ByteStream(self.screen)
        self.ask = ""
        self.keys: dict[str, str] = {}
        self.typed: dict[str, str] = {}  # bytes of keys whose label is not what they type
        self.default = ""
        self.offer = 0  # its number
        self.ticket = ""
        self.said = ""  # the whole output, with cursor movements
        self._news = asyncio.Event()

    async def listen(self) -> None:
        with contextlib.suppress(ConnectionClosed):
            async for data in self.socket:
                if isinstance(data, bytes):
                    self.stream.feed(data)
                    self.said += data.decode()
                else:
                    self._hear(json.loads(data))
                self._news.set()
        self._news.set()

    def _hear(self, message: dict[str, Any]) -> None:
        if message["t"] == "open":
            self.ask, self.default, self.offer = (
                message["ask"],
                message["default"],
                message["offer"],
            )
            self.keys = {key: label for key, label, *_ in message["keys"]}
            self.typed = {key: typed for key, _, *more in message["keys"] for typed in more}
        elif message["t"] == "ticket":
            self.ticket = message["ticket"]

    def shows(self, text: str) -> bool:
        return any(text in line for line in self.screen.display)

    async def sees(self, text: str) -> None:
        await self.until(lambda: self.shows(text), text)

    async def may_press(self, *keys: str) -> None:
        await self.until(lambda: set(keys) <= set(self.keys), f"the keys {keys}")

    async def is_asked(self, ask: str) -> None:
        await self.until(lambda: self.ask == ask, f"the question for {ask}")

    async def until(self, reached: Any, what: str) -> None:
        try:
            async with asyncio.timeout(PATIENCE):
                while not reached():
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            shown = "\n".join(self.screen.display)
            raise AssertionError(f"{what} never came; {self.ask} {self.keys}\n{shown}") from None

    async def types(self, text: str) -> None:
        self.ask, self.keys = "", {}
        await self.socket.send(text.encode())

    async def taps(self, keys: str, offer: int | None = None) -> None:
        """Press keys of the page, of the last offer or of another."""
        number = self.offer if offer is None else offer
        await self.socket.send(json.dumps({"t": "press", "offer": number, "keys": keys}))

    async def logs_on(self, name: str) -> None:
        await self.is_asked("text")
        await self.types(f"{name}\r")
        await self.is_asked("secret")
        await self.types(f"{PASSWORD}\r")

    async def loses_the_network(self) -> None:
        """Be gone, and wait until the board has noticed."""
        callers = self.board.server.board.callers()
        self.socket.transport.abort()
        for caller in callers:
            await caller.ended.wait()


@asynccontextmanager
async def page_caller(
    board: World, ticket: str = "", columns: int = 80, rows: int = 24, origin: str | None = None
) -> AsyncIterator[PageCaller]:
    port = board.server.ports[1]
    async with connect(
        f"ws://127.0.0.1:{port}/call",
        subprotocols=[Subprotocol(SUBPROTOCOL)],
        origin=Origin(f"http://127.0.0.1:{port}" if origin is None else origin) or None,
        proxy=None,
        max_size=None,
    ) as socket:
        caller = PageCaller(board, socket, columns, rows)
        hello = {"t": "hello", "columns": columns, "rows": rows, "language": "en"}
        await socket.send(json.dumps({**hello, **({"ticket": ticket} if ticket else {})}))
        listening = asyncio.create_task(caller.listen())
        try:
            yield caller
        finally:
            await socket.close()
            await listening
