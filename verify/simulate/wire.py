"""The line between a caller and the board, and the screen at its far end, without a socket.

`Wire` is a `door.lines.line.Line` for the board. Its output is on the caller's screen at once,
unless the carrier is lost on the way: at any byte, in either direction.
"""

from __future__ import annotations

import asyncio
import random
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from door.errors import Hangup
from door.lines.line import Hints, OpenKeys, Receiver
from verify.robots import screen

LONGEST_MEMORY = 12_000  # characters of scrolled text


@dataclass(frozen=True)
class Telephone:
    """The hints of a caller's terminal program."""

    terminal: str
    charset: str
    paints: bool


TELEPHONES = (
    Telephone("", "ascii", paints=False),
    Telephone("xterm-256color", "utf-8", paints=True),
    Telephone("syncterm", "cp437", paints=True),
)


class Screen(screen.Screen):
    """The same screen as the robots' of the bench, with all that has scrolled by."""

    def __init__(self, charset: str) -> None:
        super().__init__(charset)
        self.memory = ""  # all that came, without escape sequences
        self.came = 0  # bytes
        self.characters = 0  # characters that were ever in the memory
        self._new: list[str] = []

    def feed(self, data: bytes) -> None:
        self.came += len(data)
        super().feed(data)
        new = "".join(self._new)
        self.characters += len(new)
        self.memory = (self.memory + new)[-LONGEST_MEMORY:]
        self._new.clear()

    def _show(self, piece: str) -> None:
        super()._show(piece)
        self._new.append(piece)


class ShowsNothing:
    """A line whose other end shows neither keys nor figures."""

    def show_keys(self, keys: OpenKeys, language: str) -> None:
        pass

    def show_figures(self, figures: Mapping[str, int]) -> None:
        pass


class Wire(ShowsNothing):
    """A connection. `loses_after` bytes more from the board, the carrier is lost."""

    kind = "telnet"
    size_is_known = True

    def __init__(
        self,
        telephone: Telephone,
        address: str,
        chance: random.Random,
        loop: asyncio.AbstractEventLoop,
        is_dead: Callable[[], bool],
    ) -> None:
        self.telephone = telephone
        self.address = address
        self.hints = Hints((telephone.terminal,) if telephone.terminal else ())
        self.columns, self.rows = screen.COLUMNS, screen.ROWS
        self.screen = Screen(telephone.charset)
        self.closed = False  # for the caller: no more input
        self.loses_after: int | None = None
        self.looked_at = 0  # bytes received at the last check of the screen
        self.reads = True  # whether the caller reads the output
        self._chance = chance
        self.holder: object = None  # the process that uses it, where others may
        self._is_dead = is_dead
        self._loop = loop
        self._receiver: Receiver | None = None
        self._waiting: deque[bytes] = deque()
        self._paused = self._ended = False
        self._reason = ""

    # The board's side.

    def pass_to(self, holder: object, is_dead: Callable[[], bool]) -> None:
        """Be read and written by another process from now on."""
        self.holder, self._is_dead = holder, is_dead
        self._receiver, self._paused = None, False

    @property
    def ended(self) -> str:
        """Why the line has ended, as a process that holds it knows; "" if it has not."""
        return self._reason

    def attach(self, receiver: Receiver) -> None:
        self._receiver = receiver
        self._hand_over()
        if self._ended:
            self._loop.call_soon(receiver.hung_up, self._reason)

    def pause(self) -> None:
        self._paused = True

    def resume(self) -> None:
        self._paused = False
        self._hand_over()

    def write(self, data: bytes) -> None:
        if self.closed or self._is_dead():
            return
        if self.loses_after is not None:
            if len(data) >= self.loses_after:
                self.screen.feed(data[: self.loses_after])
                self.lose("connection reset")
                return
            self.loses_after -= len(data)
        self.screen.feed(data)

    async def drain(self, seconds: float) -> None:
        if not self._ended and not self.reads:
            await asyncio.sleep(seconds)
            self.lose("the caller did not read")
        if self._ended:
            raise Hangup(self._reason)

    def hang_up(self) -> None:
        self._end("hung up")

    def abort(self) -> None:
        self._end("aborted")

    # The caller's side.

    def type(self, data: bytes) -> None:
        """Send keys; they arrive in one piece or in several."""
        if self.closed:
            return
        while data:
            size = self._chance.choice((1, 3, len(data), len(data)))
            self._waiting.append(data[:size])
            data = data[size:]
        self._loop.call_soon(self._hand_over)

    def lose(self, reason: str = "carrier lost") -> None:
        self._end(reason)

    def hang_up_in_peace(self) -> None:
        """Hang up; keys typed before still arrive."""
        self._hand_over()
        self._end("the caller hung up")

    def _end(self, reason: str) -> None:
        if self._ended:
            return
        self._ended = self.closed = True
        self._reason = reason
        self._waiting.clear()
        if self._receiver is not None:
            self._loop.call_soon(self._receiver.hung_up, reason)

    def _hand_over(self) -> None:
        if self._is_dead():
            return
        while self._waiting and not self._paused and self._receiver is not None:
            self._receiver.received(self._waiting.popleft())


class Lent(ShowsNothing):
    """A caller's line in the process they were handed over to, which can release it unended."""

    kind, size_is_known = "socket", True

    def __init__(
        self,
        door: object,
        wire: Wire,
        loop: asyncio.AbstractEventLoop,
        is_dead: Callable[[], bool],
    ) -> None:
        self.door = door  # the caller's door
        self.wire = wire
        self.address, self.hints = wire.address, wire.hints
        self.columns, self.rows = wire.columns, wire.rows
        self._loop = loop
        self._receiver: Receiver | None = None
        self._reason = ""
        wire.pass_to(self, is_dead)

    @property
    def is_held(self) -> bool:
        return self.wire.holder is self

    def attach(self, receiver: Receiver) -> None:
        self._receiver = receiver
        if self.is_held:
            self.wire.attach(receiver)
        else:
            self._loop.call_soon(receiver.hung_up, self._reason)

    def pause(self) -> None:
        if self.is_held:
            self.wire.pause()

    def resume(self) -> None:
        if self.is_held:
            self.wire.resume()

    def write(self, data: bytes) -> None:
        if self.is_held:
            self.wire.write(data)

    async def drain(self, seconds: float) -> None:
        if self.is_held and not self.wire.reads:
            await asyncio.sleep(seconds)
            self.lose_carrier("the caller did not read")
        if self.is_held:
            await self.wire.drain(seconds)
        else:
            raise Hangup(self._reason)

    def hang_up(self) -> None:
        self.lose_carrier("the board hung up")

    def abort(self) -> None:
        self.lose_carrier("the board broke the connection")

    def lose_carrier(self, reason: str) -> None:
        """Release the line."""
        if not self.is_held:
            return
        self._reason = reason
        if self._receiver is not None and not self.wire.ended:
            self._loop.call_soon(self._receiver.hung_up, reason)
        self.wire.pass_to(None, lambda: True)

    def look(self) -> None:
        """Report the window's size, which has changed according to the host."""
        if self.is_held and self._receiver is not None:
            self._receiver.resized(self.columns, self.rows)
