"""A line without a wire, for tests of a console alone."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from door.lines.line import Hints, OpenKeys, Receiver


class Wall:
    """A line that records its output."""

    kind, address, hints = "test", "192.0.2.7", Hints()

    def __init__(self) -> None:
        self.columns, self.rows = 80, 24
        self.written = bytearray()
        self.paused = False
        self.size_is_known = True

    def attach(self, receiver: Receiver) -> None:
        self.receiver = receiver

    def pause(self) -> None:
        self.paused = True

    def resume(self) -> None:
        self.paused = False

    def write(self, data: bytes) -> None:
        self.written += data

    def show_keys(self, keys: OpenKeys, language: str) -> None:
        pass

    def show_figures(self, figures: Mapping[str, int]) -> None:
        pass

    async def drain(self, seconds: float) -> None:
        pass

    def hang_up(self) -> None:
        pass

    def abort(self) -> None:
        pass

    def resize(self, columns: int, rows: int) -> None:
        self.columns, self.rows = columns, rows
        self.size_is_known = True
        self.receiver.resized(columns, rows)


class ObservedWall(Wall):
    """A line on which something can be waited for."""

    def __init__(self) -> None:
        super().__init__()
        self._news = asyncio.Event()

    def write(self, data: bytes) -> None:
        super().write(data)
        self._news.set()

    async def until(self, text: bytes) -> None:
        while text not in self.written:
            self._news.clear()
            await self._news.wait()
