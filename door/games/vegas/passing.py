"""How a caller is passed on to the server that deals: what is asked of it, and what it answers.

Whoever passes a caller on sends their keys and shows what comes back (`Link`), as in
`door.lines.link`: a door process to the server on its machine, that one to the server whose table
it is.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeAlias

from ansi.charset import Charset
from door.call.console import Look, Paint
from door.errors import LinkBroken, NoServer, Unreachable
from door.lines import link
from door.lines.line import Hints

if TYPE_CHECKING:
    from door.call.board import Board
    from door.call.caller import Caller
    from door.lines.line import Line
    from door.lines.link import Said

# What may be wanted of the server that deals, and how that may have ended.
VISIT, FIND, STAND, COUNT = "visit", "find", "stand", "count"
LEFT, TIME_UP, IDLE, TAKEN_OVER, MOVED = "left", "time up", "idle", "taken over", "moved"
KICKED, CLOSED, GONE, FAILED = "kicked", "closed", "gone", "failed"
# What is said of a caller besides TAKEN_OVER: they closed their line, having seen all of it.
HUNG_UP = "hung up"

# By the clock of the event loop: for a server to answer, and for what was sent to leave.
ANSWER_SECONDS, PARTING_SECONDS = 5.0, 1.0

Ends: TypeAlias = tuple[asyncio.StreamReader, asyncio.StreamWriter]

log = logging.getLogger("door.tables")

# What a header says as it is.
PLAIN = [
    "wants",
    "call_id",
    "caller_id",
    "node",
    "ticked",
    "limit",
    "address",
    "columns",
    "rows",
    "language",
]


@dataclass(frozen=True)
class Visitor:
    """A caller who is passed on. Times are seconds from now: `ticked` is how long they have been
    on; `limit` how long their host lets them, None for no limit; `until` when its event begins.
    `table` is where they go, None for wherever they sit; `has_moved` whether they sat at it, on
    another server; `waited` for how long they have waited already for something to answer."""

    wants: str
    call_id: int
    caller_id: int
    node: int
    ticked: float
    limit: int | None
    until: datetime | None
    look: Look
    address: str
    hints: Hints
    columns: int
    rows: int
    language: str
    table: int | None = None
    has_moved: bool = False
    waited: float = 0.0

    @classmethod
    def of(
        cls, caller: Caller, wants: str, table: int | None = None, *, has_moved: bool = False
    ) -> Visitor:
        line = caller.console.line
        return cls(
            wants=wants,
            call_id=caller.call_id,
            caller_id=caller.record.id,
            node=caller.node,
            ticked=caller.purse.on_for(),
            limit=caller.purse.limit,
            until=caller.purse.until,
            look=caller.console.look,
            address=line.address,
            hints=line.hints,
            columns=line.columns,
            rows=line.rows,
            language=caller.console.viewer.language,
            table=table,
            has_moved=has_moved,
            waited=caller.console.clock.monotonic() - caller.console.waits_from,
        )

    def said(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in PLAIN} | {
            "until": None if self.until is None else self.until.isoformat(),
            "charset": self.look.charset.value,
            "paint": self.look.paint.value,
            "terminals": self.hints.terminal_types,
            "table": self.table,
            "moved": self.has_moved,
            "waited": self.waited,
        }

    @classmethod
    def read(cls, said: Said) -> Visitor:
        """Read a header; `LinkBroken` when it is that of another version."""
        try:
            return cls(
                **{name: said[name] for name in PLAIN},
                until=said["until"] and datetime.fromisoformat(said["until"]),
                look=Look(Charset(said["charset"]), Paint(said["paint"])),
                hints=Hints(terminal_types=tuple(said["terminals"])),
                table=said.get("table"),
                has_moved=bool(said.get("moved")),
                waited=max(0.0, float(said.get("waited", 0.0))),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise LinkBroken("its header is not one of this version") from error


async def reach(dialled: Awaitable[Ends]) -> Ends:
    """Return the two ends of a link that is being dialled; `NoServer` when nobody answers."""
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            return await dialled
    except (OSError, Unreachable) as error:  # a timeout too
        log.info("no server for the Vegas table: %s", getattr(error, "strerror", None) or error)
        raise NoServer from error


async def asked(board: Board, server: int, said: Said) -> Said:
    """Ask something of another server; `NoServer` when it does not answer."""
    async with linked(await reach(board.peers.dial(server)), said, None) as end:
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                return await end.ended()
        except TimeoutError as error:
            raise NoServer from error


@contextlib.asynccontextmanager
async def linked(
    ends: Ends, header: Said, line: Line | None, make: Callable[..., Link] | None = None
) -> AsyncIterator[Link]:
    """Give our end of a link over which `header` was sent; what comes is shown on `line`."""
    reader, writer = ends
    end = (make or Link)(line, reader, writer)
    try:
        end.say(link.frame(link.HEADER, link.told(header)))
        yield end
    finally:
        writer.close()
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(PARTING_SECONDS):
                await writer.wait_closed()


class Link:
    """Our end: what hears a caller's line while they are at the table of another server."""

    def __init__(
        self, line: Line | None, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._line = line
        self._reader = reader
        self._writer = writer
        self._left: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.has_shown = False  # whether the visit began

    def say(self, data: bytes) -> None:
        """Send a frame; one to a server that is gone is lost."""
        if not self._writer.is_closing():
            self._writer.write(data)

    def interrupted(self, why: str) -> None:
        """Say what ends the visit besides the caller."""
        self.say(link.frame(link.INTERRUPTED, why.encode()))

    def waits(self, *, is_late: bool) -> None:
        """Learn whether nothing was heard of the server for longer than there should be."""

    def shows(self, content: bytes) -> None:
        """Show what the server sends."""
        assert self._line is not None  # it was asked to serve somebody on a line
        self.has_shown = True
        self._line.write(content)

    def leave(self) -> None:
        """Let it be over here: the table is not there any more."""
        if not self._left.done():
            self._left.set_result(None)

    async def ended(self) -> Said:
        """Show what comes until the server says how it ended; it has `MOVED` when it is gone, or
        was left."""
        showing = asyncio.ensure_future(self._shown())
        either: set[asyncio.Future[Any]] = {showing, self._left}
        try:
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            return showing.result() if showing.done() else {"how": MOVED}
        finally:
            showing.cancel()
            await asyncio.gather(showing, return_exceptions=True)

    async def _shown(self) -> Said:
        frames = link.Frames()
        try:
            while data := await self._reader.read(link.LARGEST):
                for kind, content in frames.feed(data):
                    if kind == link.SHOWN and self._line is not None:
                        self.shows(content)
                    elif kind == link.ENDED:
                        return link.read_told(content)
        except (OSError, LinkBroken) as error:
            log.warning("the link to the server broke: %s", error)
        return {"how": MOVED}

    # What the caller's line tells.

    def received(self, data: bytes) -> None:
        self.say(link.frame(link.TYPED, data))

    def hung_up(self, reason: str) -> None:
        """Be over: the server hears of it when the link closes."""
        self.leave()

    def resized(self, columns: int, rows: int) -> None:
        self.say(link.frame(link.SIZED, link.size(columns, rows)))
