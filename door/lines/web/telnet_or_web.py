"""Telnet and the web on one port with TLS: who is it?

A browser says so in the handshake (ALPN). Other programs that want a page or a WebSocket begin with
a request; whoever says anything else, or nothing for a moment, has called by telnet.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import cast

from door.errors import CallRefused
from door.lines.flow import Answer, StreamLine
from door.lines.port.gate import Blame

SILENCE = 0.25  # seconds after which a caller who says nothing is one by telnet
HTTP = "http/1.1"  # in ALPN
_REQUESTS = (b"GET ", b"HEAD ", b"POST ", b"OPTIONS ")


class Either(Answer):
    """`web` makes what answers a browser. `telnet` lets a caller by telnet in, or raises
    `CallRefused`, and makes what answers them. `gone` is called if neither was ever made."""

    def __init__(
        self,
        address: str,
        web: Callable[[], Answer],
        telnet: Callable[[], Answer],
        gone: Callable[[], None],
    ) -> None:
        super().__init__()
        self.address = address
        self._web = web
        self._telnet = telnet
        self._gone = gone
        self._read = b""
        self._inside: Answer | None = None

    @property
    def line(self) -> StreamLine:  # type: ignore[override]
        """Raise `AttributeError` where nobody is on the line yet."""
        if self._inside is None:
            raise AttributeError("nobody is on the line yet")
        return self._inside.line

    @property
    def blame(self) -> Blame | None:  # type: ignore[override]
        return None if self._inside is None else self._inside.blame

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(SILENCE, self._choose, self._telnet)
        tls = transport.get_extra_info("ssl_object")
        if tls is not None and tls.selected_alpn_protocol() == HTTP:
            self._choose(self._web)

    def take(self, data: bytes) -> None:
        self._read += data
        begun = [each for each in _REQUESTS if each.startswith(self._read[: len(each)])]
        if not begun:
            self._choose(self._telnet)
        elif any(self._read.startswith(each) for each in begun):
            self._choose(self._web)

    def get_buffer(self, sizehint: int) -> memoryview:
        if self._inside is None:
            return super().get_buffer(sizehint)
        return self._inside.get_buffer(sizehint)

    def buffer_updated(self, nbytes: int) -> None:
        if self._inside is None:
            super().buffer_updated(nbytes)
        else:
            self._inside.buffer_updated(nbytes)

    def eof_received(self) -> None:
        if self._inside is not None:
            self._inside.eof_received()

    def pause_writing(self) -> None:
        if self._inside is not None:
            self._inside.pause_writing()

    def resume_writing(self) -> None:
        if self._inside is not None:
            self._inside.resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        self._timer.cancel()
        gone, self._gone = self._gone, _nothing
        if self._inside is None:
            gone()
        else:
            self._inside.connection_lost(exc)
        self._web = self._telnet = _no_answer
        self._inside = None

    def _choose(self, make: Callable[[], Answer]) -> None:
        self._timer.cancel()
        if self._inside is not None or self._transport.is_closing():
            return
        try:
            self._inside = make()
        except CallRefused as refused:
            self._transport.write(str(refused).encode("ascii", "replace") + b"\r\n")
            self._transport.close()
            return
        self._inside.connection_made(self._transport)
        if self._read:
            self._inside.take(self._read)


def _no_answer() -> Answer:
    raise CallRefused("")


def _nothing() -> None:
    """Be told of the end a second time."""
