"""The board: its settings, its books, its nodes, and who is on them."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, TypeVar

from door.call import passwords
from door.call.caller import TAKEN_OVER, Caller
from door.call.console import Console
from door.call.guest_caller import HostCaller, brought_by
from door.call.process import this_process
from door.call.purse import TickingPurse
from door.defence.counts import FIRST, Rank
from door.defence.reception import Reception
from door.errors import BoardFull, Interruption, TakenOver
from door.games.engine.shuffle import SEED_BYTES
from timebank.callers import callers
from timebank.callers.notices import note_seen
from timebank.calls import calls
from timebank.calls.arrival import open_host_call
from timebank.calls.calls import open_call, open_calls
from timebank.errors import AlreadyOnline, BooksFailed, NameRefused
from timebank.language import Phrase
from timebank.names import names

if TYPE_CHECKING:
    from door.call.board_clock import BoardClock
    from door.call.books import Books
    from door.call.guest import Guest
    from door.config.config import Config
    from door.games.engine.descriptor import Shared
    from timebank.callers.callers import CallerRecord
    from timebank.calls.calls import Opened
    from timebank.ledger.database import Desk

C = TypeVar("C", bound=Caller)

HANDOVER_SECONDS = 2.0  # how long an old call may take to post its time before it is closed for it


def new_seed() -> bytes:
    return secrets.token_bytes(SEED_BYTES)


class Board:
    def __init__(
        self,
        config: Config,
        books: Books,
        clock: BoardClock,
        lay_tables: Callable[[Board], Mapping[str, Shared]],
        new_seed: Callable[[], bytes] = new_seed,
        only_node: int | None = None,
    ) -> None:
        """`lay_tables` makes what callers share at the games, by name. `only_node` is set in a
        process that serves one caller: the number of their node elsewhere."""
        self.config = config
        self.books = books
        self.clock = clock
        self.new_seed = new_seed
        self.passwords = passwords.PasswordDesk()
        self.process = this_process()
        self._only_node = only_node
        self.nodes: dict[int, Caller | None] = {}  # None: taken by a log-on that is under way
        self.by_doors: list[Caller] = []  # on nodes of their own boards
        self.consoles: set[Console] = set()  # of everybody on a line, at the log-on as well
        self.reception = Reception(config, clock, lambda: len(self.nodes))
        self.draining = False  # whether no new calls are taken
        self._visitors: list[Caller] = []
        self.shared = lay_tables(self)

    def callers(self) -> list[Caller]:
        """Return who is on line here, by node, then those who visit from other processes."""
        return [*self._own_callers(), *self._visitors]

    @contextlib.contextmanager
    def visited_by(self, caller: Caller) -> Iterator[None]:
        """Have a caller here whose call and lease are another process's."""
        self._visitors.append(caller)
        self.consoles.add(caller.console)
        try:
            yield
        finally:
            self._visitors.remove(caller)
            self.consoles.discard(caller.console)

    @property
    def serves_one(self) -> bool:
        """Whether this is the process of one caller, and the board's server is another."""
        return self._only_node is not None

    # What callers share at the games.

    async def resume_games(self) -> None:
        for shared in self.shared.values():
            await shared.resume()

    async def stop_games(self) -> None:
        """Begin nothing more at any table; what is in play stays in the journal."""
        for shared in self.shared.values():
            await shared.stop()

    async def close_games(self) -> None:
        for shared in self.shared.values():
            await shared.close()

    def _own_callers(self) -> list[Caller]:
        on_nodes = [caller for _, caller in sorted(self.nodes.items()) if caller is not None]
        return on_nodes + self.by_doors

    # Names and passwords.

    def check_new_name(self, typed: str) -> str:
        """Return the name as it will be kept; `NameRefused` says why it cannot be."""
        name = names.check(typed)
        if names.is_reserved(name):
            raise NameRefused(Phrase("That name is reserved for the house. Please choose another."))
        return name

    async def authenticate(
        self, name: str, password: str, rank: Rank = FIRST
    ) -> CallerRecord | None:
        """Return the caller whose name and password these are, else `None`, equally slowly."""
        record = await self.books.run(lambda desk: callers.find(desk, name))
        stored = record.password_hash if record is not None else None
        return record if await self.passwords.verify(stored, password, rank) else None

    async def renew_hash(self, record: CallerRecord, password: str) -> None:
        """Hash a caller's password anew if that was done at another cost, once they are believed.

        A password that was changed meanwhile stays as it is. Where the books cannot be written,
        there is a next time: that is no reason to refuse them.
        """
        if not passwords.is_outdated(record.password_hash):
            return
        renewed = await self.passwords.hash(password)
        with contextlib.suppress(BooksFailed):
            await self.books.run(
                lambda desk: callers.renew_password_hash(
                    desk, record.id, record.password_hash, renewed
                )
            )

    # Calls.

    async def open_call(self, console: Console, record: CallerRecord, *, take_over: bool) -> Caller:
        """Raises `AlreadyOnline` when they have a call and do not take it over, and `BoardFull`."""

        def opening(desk: Desk, node: int) -> Opened:
            return open_call(desk, record.id, node, self.process, console.line.address, take_over)

        def on_call(node: int, opened: Opened, logged_on: float) -> Caller:
            purse = TickingPurse(self.books, self.clock, opened.receipt.purse, logged_on)
            return Caller(
                console, self.books, self.config, record, node, opened, purse, self.new_seed
            )

        return await self._open(record, opening, on_call, take_over=take_over)

    async def open_guest_call(
        self, console: Console, record: CallerRecord, guest: Guest, *, take_over: bool
    ) -> HostCaller:
        """Open a call of another board's caller with what they bring; else as `open_call`."""
        brought = brought_by(guest, self.clock.monotonic())

        def opening(desk: Desk, node: int) -> Opened:
            address = console.line.address
            return open_host_call(desk, record.id, node, self.process, address, brought, take_over)

        def on_call(node: int, opened: Opened, _: float) -> HostCaller:
            return HostCaller(
                console, self.books, self.config, record, node, opened, self.new_seed, guest
            )

        if guest.by_door:
            return await self._open_elsewhere(
                record, guest.node or 1, opening, on_call, take_over=take_over
            )
        return await self._open(record, opening, on_call, take_over=take_over)

    async def _open_elsewhere(
        self,
        record: CallerRecord,
        node: int,
        opening: Callable[[Desk, int], Opened],
        on_call: Callable[[int, Opened, float], C],
        *,
        take_over: bool,
    ) -> C:
        """Open the call of a caller who is on a node of their own board, and on none of ours."""
        other = self._caller_here(record.id)
        if not take_over:
            await self._refuse_second_call(record)
        elif other is not None:
            await self._end_for_another(other)
        opened = await self.books.run(lambda desk: opening(desk, node))
        caller = on_call(node, opened, self.clock.monotonic())
        self._end_raced(record)
        self.by_doors.append(caller)
        return caller

    async def _open(
        self,
        record: CallerRecord,
        opening: Callable[[Desk, int], Opened],
        on_call: Callable[[int, Opened, float], C],
        *,
        take_over: bool,
    ) -> C:
        other = self._caller_here(record.id)
        if take_over and other is not None:
            node = await self._take_over_node(other)
        elif take_over:
            # Their ghost is in another process: it is one caller, wherever it is counted.
            node = self._take_node(beyond=True)
        else:
            # Asked before a node is looked for: on a full board they may have the one they want.
            await self._refuse_second_call(record)
            node = self._take_node(beyond=record.powers)
        logged_on = self.clock.monotonic()
        try:
            opened = await self.books.run(lambda desk: opening(desk, node))
            caller = on_call(node, opened, logged_on)
        except BaseException:
            del self.nodes[node]
            raise
        self._end_raced(record)
        self.nodes[node] = caller
        return caller

    def _end_raced(self, record: CallerRecord) -> None:
        """End the call of another log-on of theirs that was let in, and is closed by this one."""
        raced = self._caller_here(record.id)
        if raced is not None:
            raced.console.interrupt(TakenOver(TAKEN_OVER))

    async def close_call(self, caller: Caller, reason: str) -> None:
        try:
            await caller.close(reason)
        finally:
            if caller in self.by_doors:
                self.by_doors.remove(caller)
            elif self.nodes.get(caller.node) is caller:
                if caller.hands_over:
                    self.nodes[caller.node] = None
                else:
                    del self.nodes[caller.node]
            caller.ended.set()

    async def renew_leases(self) -> None:
        """Tell the books that these calls live; callers whose call is closed are interrupted."""
        living = {caller.call_id: caller for caller in self._own_callers()}
        if not living:
            return
        ticks = [(call_id, caller.purse.ticked()) for call_id, caller in living.items()]
        seen = [(caller, caller.last_hand.seen()) for caller in living.values()]

        def renew(desk: Desk) -> list[int]:
            for caller, number in seen:
                if number:
                    note_seen(desk, caller.record.id, number)
            return calls.renew(desk, self.process, ticks)

        closed = await self.books.run(renew)
        for caller, number in seen:
            caller.last_hand.noted(number)
        for call_id in closed:
            living[call_id].console.interrupt(TakenOver(TAKEN_OVER))

    def interrupt_all(self, interruption: Interruption) -> None:
        for console in self.consoles:
            console.interrupt(interruption)

    async def _refuse_second_call(self, record: CallerRecord) -> None:
        for call in await self.books.run(open_calls):
            if call.caller_id == record.id and call.live:
                raise AlreadyOnline(call.node, call.since, call.call_id)

    def _caller_here(self, caller_id: int) -> Caller | None:
        return next((c for c in self._own_callers() if c.record.id == caller_id), None)

    async def _take_over_node(self, other: Caller) -> int:
        """Let the old call of this server end, charged to the second, and reserve its node.

        Of two log-ons that take over the same call, the first has the node.
        """
        other.hands_over = other not in self.by_doors
        await self._end_for_another(other)
        if not (other.hands_over and other.ended.is_set()):
            return self._take_node(beyond=True)
        other.hands_over = False
        return other.node

    @staticmethod
    async def _end_for_another(other: Caller) -> None:
        """Let the old call of this server end, as far as it does in time."""
        other.console.interrupt(TakenOver(TAKEN_OVER))
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(HANDOVER_SECONDS):
                await other.ended.wait()

    def _take_node(self, *, beyond: bool) -> int:
        """Reserve the lowest free node; on a full board one more, if `beyond` is set."""
        if self._only_node is not None:
            self.nodes[self._only_node] = None
            return self._only_node
        nodes = self.config.calls.nodes
        node = next((free for free in range(1, nodes + 1) if free not in self.nodes), None)
        if node is None:
            if not beyond:
                raise BoardFull(
                    Phrase("All {number} nodes are busy. Please try again soon.", number=nodes)
                )
            node = max(self.nodes) + 1
        self.nodes[node] = None
        return node
