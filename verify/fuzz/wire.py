"""A transport without a socket, for protocols that are fed straight from memory."""

from __future__ import annotations

import asyncio


class NoWire(asyncio.Transport):
    """What a protocol writes is kept in `sent`, and what it wants of its transport is done."""

    def __init__(self) -> None:
        """Begin connected, with nothing sent."""
        super().__init__(extra={"peername": ("192.0.2.7", 4096)})
        self.sent = bytearray()
        self.protocol: asyncio.BaseProtocol | None = None
        self._closing = False

    def write(self, data: bytes | bytearray | memoryview[int]) -> None:
        """Keep the bytes."""
        self.sent += data

    def write_eof(self) -> None:
        """Let the other end read the end."""

    def can_write_eof(self) -> bool:
        """Say that one end can be closed alone."""
        return True

    def is_closing(self) -> bool:
        """Tell whether it was closed."""
        return self._closing

    def close(self) -> None:
        """Be closed; the protocol hears of it once."""
        if not self._closing:
            self._closing = True
            if self.protocol is not None:
                asyncio.get_running_loop().call_soon(self.protocol.connection_lost, None)

    def abort(self) -> None:
        """Be closed at once."""
        self.close()

    def get_protocol(self) -> asyncio.BaseProtocol:
        """Return what is fed."""
        assert self.protocol is not None
        return self.protocol

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        """Take what is fed."""
        self.protocol = protocol

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """Buffer nothing: the other end reads at once."""

    def get_write_buffer_size(self) -> int:
        """Return 0."""
        return 0

    def pause_reading(self) -> None:
        """Read on: bytes come when they are fed."""

    def resume_reading(self) -> None:
        """Read on."""


class Notebook:
    """A receiver that notes what arrived on a line."""

    def __init__(self) -> None:
        """Begin with nothing noted."""
        self.typed = bytearray()
        self.sizes: list[tuple[int, int]] = []
        self.ends: list[str] = []

    def received(self, data: bytes) -> None:
        """Note what was typed."""
        assert not self.ends, "bytes came after the end"
        self.typed += data

    def hung_up(self, reason: str) -> None:
        """Note the end."""
        self.ends.append(reason)

    def resized(self, columns: int, rows: int) -> None:
        """Note the size."""
        self.sizes.append((columns, rows))
