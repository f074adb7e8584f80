"""The connection by which the sysop is beside a caller, as `door.server.attending` takes it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

from door.lines import link
from door.server.attending import ATTEND
from door.server.everywhere import COMMAND


class BesideLink:
    """A connection to the server for one caller."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, node: int, call: int
    ) -> None:
        """Begin to look at a call that is on a node, by a connection to its server."""
        self._reader, self._writer = reader, writer
        said = {COMMAND: ATTEND, "node": node, "call": call}
        writer.write(link.frame(link.HEADER, link.told(said)))

    @classmethod
    async def of(cls, data: Path, node: int, call: int) -> BesideLink:
        """Begin to look; OSError where no server listens."""
        return cls(*await link.dial(data), node, call)

    def say(self, **said: object) -> None:
        self._writer.write(link.frame(link.TYPED, json.dumps(said).encode() + b"\n"))

    async def told(self) -> AsyncIterator[Mapping[str, Any]]:
        """Give what the server tells, until it ends; raises as reading does."""
        waiting = b""
        while True:
            kind, content = await link.read_frame(self._reader)
            if kind == link.ENDED:
                return
            *lines, waiting = (waiting + content).split(b"\n")
            for line in lines:
                yield link.read_told(line)

    def close(self) -> None:
        self._writer.close()
