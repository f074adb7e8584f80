"""A relay to a distant port: bytes arrive a while later, in both directions.

It replaces a network of two machines where the kernel has no netem. Its event loop can wait for
parts of a millisecond, unlike epoll, which counts whole ones.
"""

from __future__ import annotations

import asyncio
import selectors
import sys

from bench.processes import obey


class _End(asyncio.Protocol):
    """One end of a connection that is relayed."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._loop = asyncio.get_running_loop()
        self.other: asyncio.Future[asyncio.Transport] = self._loop.create_future()
        self.transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self._loop.call_later(self._seconds, self._send, data)

    def connection_lost(self, error: Exception | None) -> None:
        if self.other.done():
            self._loop.call_later(self._seconds, self.other.result().close)

    def _send(self, data: bytes) -> None:
        self.other.add_done_callback(lambda other: other.result().write(data))


async def relay(port: int, seconds: float) -> None:
    """Accept connections, and relay each to a port with this delay in seconds either way."""
    loop = asyncio.get_running_loop()

    class Caller(_End):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            super().connection_made(transport)
            joining.add(task := loop.create_task(self._join()))
            task.add_done_callback(joining.discard)

        async def _join(self) -> None:
            transport, end = await loop.create_connection(lambda: _End(seconds), "127.0.0.1", port)
            end.other.set_result(self.transport)
            self.other.set_result(transport)

    joining: set[asyncio.Task[None]] = set()
    listening = await loop.create_server(lambda: Caller(seconds), "127.0.0.1", 0)
    await obey(listening.sockets[0].getsockname()[1], {})
    listening.close()


if __name__ == "__main__":
    with asyncio.Runner(
        loop_factory=lambda: asyncio.SelectorEventLoop(selectors.SelectSelector())
    ) as runner:
        runner.run(relay(int(sys.argv[1]), float(sys.argv[2])))
