"""The baseline of everything on the line: an `asyncio.Protocol` that answers each read at once."""

from __future__ import annotations

import asyncio

from bench.processes import more_files, obey

BANNER = b"Welcome.\r\n"
LAST = b"!"  # of every answer


class Bare(asyncio.Protocol):
    """Answers any input with the same bytes."""

    answer = LAST  # for all of them; the parent says how long

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        transport.write(BANNER)

    def data_received(self, data: bytes) -> None:
        self.transport.write(Bare.answer)


def _answer_with(length: str) -> int:
    Bare.answer = LAST.rjust(int(length), b".")
    return len(Bare.answer)


async def main() -> None:
    more_files()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Bare, "127.0.0.1", 0, backlog=4096)
    await obey(server.sockets[0].getsockname()[1], {"answer": _answer_with})
    server.close()


if __name__ == "__main__":
    asyncio.run(main())
