"""A transport without a socket, for protocols fed from memory."""

from __future__ import annotations

import asyncio


class NoWire(asyncio.Transport):
    """Stores a protocol's output in `sent`, and obeys it as its transport."""

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
        """Do nothing: the other end reads the end."""

    def can_write_eof(self) -> bool:
        """Say that one end can be closed alone."""
        return True

    def is_closing(self) -> bool:
        """Return whether it was closed."""
        return self._closing

    def close(self) -> None:
        """Close; the protocol is notified once."""
        if not self._closing:
            self._closing = True
            if self.protocol is not None:
                asyncio.get_running_loop().call_soon(self.protocol.connection_lost, None)

    def abort(self) -> None:
        """Close at once."""
        self.close()

    def get_protocol(self) -> asyncio.BaseProtocol:
        """Return the fed protocol."""
        assert self.protocol is not None
        return self.protocol

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        """Set the fed protocol."""
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
    """A receiver that records the input of a line."""

    def __init__(self) -> None:
        """Begin with an empty record."""
        self.typed = bytearray()
        self.sizes: list[tuple[int, int]] = []
        self.ends: list[str] = []

    def received(self, data: bytes) -> None:
        """Record the keys."""
        assert not self.ends, "bytes came after the end"
        self.typed += data

    def hung_up(self, reason: str) -> None:
        """Note the end."""
        self.ends.append(reason)

    def resized(self, columns: int, rows: int) -> None:
        """Note the size."""
        self.sizes.append((columns, rows))
