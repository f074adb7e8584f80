"""The port of our page, and its connections."""

from __future__ import annotations

import asyncio
import json
import re
from collections import ChainMap
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

from door.lines.addresses import Network
from door.lines.flow import LineLimits, StreamLine
from door.lines.line import Hints, Line, OpenKeys, bounded_size, printable
from door.lines.port.connection import OPEN, Entrance, LineConnection
from door.lines.port.listener import Listener
from door.lines.telnet.telnet import USUAL_LIMITS as TELNET_LIMITS
from door.lines.telnet.telnet import NegotiatingTelnet, TelnetLimits, quieten_library
from door.lines.web import pages
from door.lines.web.connection import (
    USUAL_CONNECTION,
    ConnectionLimits,
    Inside,
    Site,
    WebConnection,
)
from door.lines.web.pages import File
from door.lines.web.visitors import USUAL_VISITORS, VisitorLimits, Visitors, nobody
from timebank.language import ENGLISH

# The line of a caller on our own page.
#
# Terminal bytes travel in binary messages, both ways and in UTF-8. Text messages are JSON, for all
# else: the page's introduction ("hello", the first of all), the size of the screen, signs of life,
# the keys on offer, and those that were pressed.
#
# Each offer of keys has a number, and a key of the page names its offer. It counts once, and only
# for the latest offer: a second tap must not answer the next question. Keys of a keyboard are bytes
# of the terminal, and may be typed ahead.

SUBPROTOCOL = "bjft.1"
TERMINAL = "xterm.js"
LONGEST_TICKET = 64
_ORIGIN = re.compile(r"https?://[a-z0-9.\-\[\]:]{1,200}")
READ_ALOUD = "MTTS 64"  # how terminals report a screen reader


class PageLine(StreamLine):
    """A line whose other end shows the keys on offer, and stores a ticket to come back with."""

    ticket = ""  # sent by the page

    def __init__(
        self, transport: asyncio.Transport, limits: LineLimits, address: str | None
    ) -> None:
        super().__init__("web", transport, limits, address)
        self._page = cast("WebConnection", transport)
        self._offer = 0  # the number of the latest offer
        self._offered: OpenKeys | None = None
        self._is_pressed = False  # whether one of its keys was pressed

    @property
    def origin(self) -> str:
        return self._page.origin

    @property
    def own_page(self) -> str:
        """The origin of the calling page if it is the board's own."""
        is_own = self._page.is_own_page and _ORIGIN.fullmatch(self.origin)
        return self.origin if is_own else ""

    def show_keys(self, keys: OpenKeys, language: str) -> None:
        if keys is self._offered and not self._is_pressed:
            return
        self._offer, self._offered, self._is_pressed = self._offer + 1, keys, False
        typed = dict(keys.typed)
        labels = [[key, label, *filter(None, [typed.get(key)])] for key, label in keys.keys]
        now = {"ask": keys.ask, "keys": labels, "default": keys.default, "language": language}
        self.tell({"t": "open", "offer": self._offer, **now, "fills": keys.fills})

    def pressed(self, offer: object, keys: str) -> None:
        """Take keys pressed on the page, unless they belong to an earlier offer."""
        if offer == self._offer and not self._is_pressed:
            self._is_pressed = True
            self.deliver(keys.encode("utf-8", "replace"))

    def give_ticket(self, ticket: str) -> None:
        self.tell({"t": "ticket", "ticket": ticket})

    def tell(self, message: dict[str, object]) -> None:
        """Send a text message."""
        if not self.ended:
            words = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
            self._page.say(words.encode("utf-8", "replace"))


class PageProtocol(Inside):
    """The protocol of our page. Calls `ready` with the line when the page has said hello."""

    line: PageLine

    def __init__(
        self, limits: LineLimits, ready: Callable[[PageLine], None], address: str, seconds: float
    ) -> None:
        """`seconds` is how long the page may take to introduce itself."""
        super().__init__(lambda transport: PageLine(transport, limits, address))
        self._ready: Callable[[PageLine], None] | None = ready
        self._seconds = seconds

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._timer = asyncio.get_running_loop().call_later(
            self._seconds, self._refuse, f"no hello in {self._seconds:g} seconds"
        )

    def take(self, data: bytes) -> None:
        if self._ready is not None:
            self._refuse("keys before a hello")
        else:
            super().take(data)

    def take_words(self, words: bytes) -> None:
        if self.line.ended:
            return
        try:
            message = json.loads(words)
        except (ValueError, RecursionError):
            self._refuse("words that are not JSON")
            return
        about = message.get("t") if isinstance(message, dict) else None
        if about == "hello" and self._ready is not None:
            self._meet(message)
        elif about == "size" and self._ready is None:
            self._resize(message)
        elif about == "press" and self._ready is None:
            self._press(message)
        elif about == "beat":
            self.line.tell({"t": "beat"})
        else:
            self._refuse("words that mean nothing")

    def connection_lost(self, exc: Exception | None) -> None:
        self._timer.cancel()
        self._ready = None
        super().connection_lost(exc)

    def _meet(self, message: dict[str, Any]) -> None:
        self._timer.cancel()
        kinds = (TERMINAL, READ_ALOUD) if message.get("reader") is True else (TERMINAL,)
        language = _language(message.get("language"))
        self.line.hints = Hints(kinds, language=language, page=self.line.own_page)
        ticket = message.get("ticket")
        if isinstance(ticket, str) and len(ticket) <= LONGEST_TICKET:
            self.line.ticket = ticket
        self._resize(message)
        ready, self._ready = self._ready, None
        assert ready is not None  # the page introduces itself once
        ready(self.line)

    def _resize(self, message: dict[str, Any]) -> None:
        size = message.get("columns"), message.get("rows")
        if all(type(side) is int and 0 < side < 65536 for side in size):
            self.line.resize(*bounded_size(*cast("tuple[int, int]", size)))

    def _press(self, message: dict[str, Any]) -> None:
        keys = message.get("keys")
        if not isinstance(keys, str):
            self._refuse("keys that mean nothing")
        else:
            self.line.pressed(message.get("offer"), keys)

    def _refuse(self, reason: str) -> None:
        self._timer.cancel()
        self.line.cut_off(reason)


def _language(tag: object) -> str:
    """Return a language as a locale.

    >>> _language("fr-FR"), _language("de"), _language(7)
    ('fr_FR.UTF-8', 'de.UTF-8', '')
    """
    if not isinstance(tag, str) or not tag:
        return ""
    return f"{printable(tag[:16]).replace('-', '_')}.UTF-8"


TELNET_INSIDE = "binary"  # fTelnet's name for it


@dataclass(frozen=True)
class WebLimits:
    """`hello` is the number of seconds that the page may take to introduce itself."""

    line: LineLimits
    telnet: TelnetLimits
    connection: ConnectionLimits
    visitors: VisitorLimits
    hello: float


USUAL_LIMITS = WebLimits(
    line=LineLimits(unsent=256 * 1024, farewell=5.0),
    telnet=TELNET_LIMITS,
    connection=USUAL_CONNECTION,
    visitors=USUAL_VISITORS,
    hello=10.0,
)


class WebListener(Listener):
    """A port for browsers. `on_line` serves each call in a task of its own.

    `limits` are `USUAL_LIMITS`, except in tests.
    """

    def __init__(
        self,
        on_line: Callable[[Line], Awaitable[None]],
        limits: WebLimits,
        entrance: Entrance = OPEN,
        *,
        board: str = "",
        language: str = ENGLISH,
        more: MutableMapping[str, File] | None = None,
        forwarded: tuple[Network, ...] = (),
        origins: tuple[str, ...] = (),
        is_blocked: Callable[[str], bool] = nobody,
    ) -> None:
        """`board` is its name, and `language` its own. `more` are files besides the page's, or in
        place of them, and may change. `forwarded` are front ends that name the caller in
        X-Forwarded-For. `origins` are those of pages that may call, besides the page of this port.
        """
        clock = asyncio.get_running_loop().time
        visitors = Visitors(entrance.gate, clock, forwarded, is_blocked, limits.visitors)
        super().__init__(replace(entrance, gate=visitors, kind="web"))
        self._gate = entrance.gate
        self._on_line = on_line
        self._limits = limits
        self._site = Site(
            files=ChainMap({} if more is None else more, dict(pages.load(board, language))),
            visitors=visitors,
            origins=origins,
            protocols={
                SUBPROTOCOL: self._page,
                TELNET_INSIDE: self._telnet,
                "": self._telnet,
            },
            limits=limits.connection,
        )
        quieten_library()

    def answer(self, address: str, visit: LineConnection) -> WebConnection:
        enter = partial(visit.enter_as_caller, self._gate)
        return WebConnection(self._site, address, enter, visit.end)

    def farewell(self, words: str) -> bytes:
        return b""

    def _page(self, address: str) -> PageProtocol:
        return PageProtocol(self._limits.line, self._serve, address, self._limits.hello)

    def _telnet(self, address: str) -> NegotiatingTelnet:
        return NegotiatingTelnet(self._limits.telnet, self._serve, lambda: None, address)

    def _serve(self, line: StreamLine) -> None:
        self.begin_call(line, partial(self._on_line, line))
