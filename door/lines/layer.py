"""A layer between a socket and the protocol of a line, such as TLS or a WebSocket.

It is a protocol to the socket's transport, and a transport to the protocol inside. Unsent bytes
wait only in the socket's transport. Reading stops there when the protocol inside pauses it.
"""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from typing import cast

from door.lines.flow import Stage


class Layer(Stage, asyncio.Transport):
    _inside: Stage | None  # the protocol inside, once it is made

    def __init__(self, address: str) -> None:
        super().__init__()
        self.address = address
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport
        self._inside = None
        self._reading = True  # whether the protocol inside wants more
        self._yields = False
        self._ended = False  # whether the caller sends no more bytes

    @abstractmethod
    def _read_on(self) -> None:
        """Give the waiting bytes to the protocol inside, until it pauses."""

    def _may_read_again(self) -> bool:
        """Return whether the socket is read again in the next turn."""
        return self._reading

    # A protocol to the socket's transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports don't subclass asyncio's.
        self._transport = cast("asyncio.Transport", transport)
        self._transport.set_write_buffer_limits(high=0)

    def eof_received(self) -> None:
        if not self._ended:
            self._ended = True
            if self._inside is not None:
                self._inside.eof_received()

    def pause_writing(self) -> None:
        if self._inside is not None:
            self._inside.pause_writing()

    def resume_writing(self) -> None:
        if self._inside is not None:
            self._inside.resume_writing()

    def yield_turn(self) -> None:
        if not (self._yields or self._transport.is_closing()):
            self._yields = True
            self._transport.pause_reading()
            self._loop.call_soon(self._read_again)

    def _read_again(self) -> None:
        self._yields = False
        if self._may_read_again() and not self._transport.is_closing():
            self._transport.resume_reading()

    # A transport to the protocol inside

    def get_extra_info(self, name: str, default: object = None) -> object:
        return self._transport.get_extra_info(name, default)

    def is_closing(self) -> bool:
        return self._transport.is_closing()

    def pause_reading(self) -> None:
        self._reading = False
        self._transport.pause_reading()

    def resume_reading(self) -> None:
        """Read on, waiting bytes first."""
        if not self._reading:
            self._reading = True
            self._loop.call_soon(self._resume)

    def _resume(self) -> None:
        if self._reading and not self._transport.is_closing():
            self._read_on()
            if self._reading:
                self._transport.resume_reading()

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """Do nothing: the protocol is paused while any byte waits."""

    def get_write_buffer_size(self) -> int:
        return self._transport.get_write_buffer_size()

    def can_write_eof(self) -> bool:
        return True  # each layer has a goodbye of its own
