"""The board: its settings, its books, its nodes and the callers on them."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import socket
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from door.call import passwords
from door.call.arrivals import Arrivals
from door.call.caller import TAKEN_OVER, Caller, closed
from door.call.chair import SWITCHED_OFF
from door.call.console import Console
from door.call.guest_caller import HostCaller, brought_by
from door.call.purse import TickingPurse
from door.call.tickets import Tickets
from door.defence.counts import FIRST, Rank
from door.defence.reception import Reception
from door.errors import BoardFull, Interruption, TakenOver
from door.games.engine.shuffle import SEED_BYTES
from timebank.callers import callers, ssh_keys
from timebank.callers.notices import note_seen
from timebank.calls import calls
from timebank.calls.arrival import open_host_call
from timebank.calls.calls import Nodes, open_call
from timebank.errors import BooksFailed, NameRefused, NodesTaken
from timebank.language import Phrase
from timebank.names import names
from timebank.servers import registry
from timebank.serving import this_process

if TYPE_CHECKING:
    from door.call.board_clock import BoardClock
    from door.call.books import Books
    from door.call.guest import Guest
    from door.call.shared import Shared
    from door.config.config import Config
    from timebank.callers.callers import CallerRecord
    from timebank.calls.calls import OpenedCall
    from timebank.ledger.database import Desk
    from timebank.servers.registry import ServerRecord
    from timebank.wagers.tournaments import Champion

C = TypeVar("C", bound=Caller)

HANDOVER_SECONDS = 2.0  # for an old call to post its time before the new one closes it


def new_seed() -> bytes:
    return secrets.token_bytes(SEED_BYTES)


class Peers:
    """The other live servers of the board, by their rows in the books."""

    def __init__(self, rows: Callable[[], Awaitable[Sequence[ServerRecord]]], name: str) -> None:
        """`rows` reads the live servers from the books; `name` is this server's name."""
        self._rows = rows
        self.own_id = 0  # of this server's row; 0 for books in a file
        self.own_name = name  # with a number behind it if another server has the same name
        self.others: list[ServerRecord] = []  # at the last look

    async def look(self) -> None:
        """Read the live servers from the books, and raise the errors of the books."""
        self.adopt(await self._rows())

    def adopt(self, living: Sequence[ServerRecord]) -> None:
        """Keep the other servers among these rows."""
        self.others = [peer for peer in living if peer.id != self.own_id]


class Board:
    def __init__(
        self,
        config: Config,
        books: Books,
        clock: BoardClock,
        make_shared: Callable[[Board], Mapping[str, Shared]],
        new_seed: Callable[[], bytes] = new_seed,
    ) -> None:
        """`make_shared` makes the objects that callers share at the games, by name."""
        self.config = config
        self.books = books
        self.clock = clock
        self.new_seed = new_seed
        self.passwords = passwords.PasswordDesk()
        self.process = this_process()
        self.peers = Peers(
            lambda: books.read(registry.living_servers), config.server.name or socket.gethostname()
        )
        self._on_nodes: dict[int, Caller] = {}  # by their calls
        self._strays: set[int] = set()  # open calls of this process whose callers have gone
        self.busy_elsewhere = 0  # nodes taken by callers of other servers
        self.champion: Champion | None = None  # of the last tournament, for the first screen
        self.by_doors: list[Caller] = []  # on nodes of their own boards
        self.consoles: set[Console] = set()  # of all lines, also at the log-on
        self.keys_of_gone = 0  # keys received on lines that have ended
        self.reception = Reception(config, clock, lambda: len(self._on_nodes))
        self.tickets = Tickets(clock.monotonic)
        self.draining = False  # whether no new calls are taken
        self.shared = make_shared(self)
        self.arrivals = Arrivals(clock, self.callers, lambda: self.config.social.announces_arrivals)

    def callers(self) -> list[Caller]:
        """Return the callers on line here, those on nodes first."""
        on_nodes = sorted(self._on_nodes.values(), key=lambda caller: caller.node)
        return on_nodes + self.by_doors

    @property
    def server_id(self) -> int:
        """The number of this server's row; 0 with books in a file, where it has none."""
        return self.peers.own_id

    # What callers share at the games.

    async def resume_games(self) -> None:
        for shared in self.shared.values():
            await shared.resume()

    async def look_after_games(self, *, leads: bool) -> None:
        """Do what is due every few seconds; `leads` is true at one of several servers."""
        for shared in self.shared.values():
            await shared.look_after(leads=leads)

    async def stop_games(self) -> None:
        """Begin no more hands at any table; open ones stay in the journal."""
        for shared in self.shared.values():
            await shared.stop()

    async def close_games(self) -> None:
        await self.arrivals.close()
        for shared in self.shared.values():
            await shared.close()

    @property
    def nodes(self) -> dict[int, Caller]:
        """The callers of this server by their nodes."""
        return {caller.node: caller for caller in self._on_nodes.values()}

    @property
    def busy_nodes(self) -> int:
        """How many nodes of the whole board are busy, as far as this server knows."""
        return len(self._on_nodes) + self.busy_elsewhere

    def send_watchers_away(self) -> None:
        """Send all watchers away, because the sysop has switched watching off."""
        for caller in self.callers():
            if caller.chair is not None:
                caller.chair.clear(SWITCHED_OFF)

    # Names and passwords.

    def check_new_name(self, typed: str) -> str:
        """Return the name as the books will have it; raises `NameRefused`."""
        name = names.check(typed)
        if names.is_reserved(name):
            raise NameRefused(Phrase("That name is reserved for the house. Please choose another."))
        return name

    async def authenticate(
        self, name: str, password: str, rank: Rank = FIRST, until: float | None = None
    ) -> CallerRecord | None:
        """Return the caller with this name and password, else None; both take equally long.

        A deleted caller is found while the name is free. `until` is the deadline for the books.
        """
        record = await self.books.run(
            lambda desk: callers.find(desk, name) or callers.find_hidden(desk, name), until=until
        )
        stored = record.password_hash if record is not None else None
        return record if await self.passwords.verify(stored, password, rank) else None

    async def renew_hash(
        self, record: CallerRecord, password: str, until: float | None = None
    ) -> None:
        """Hash a right password again if its hash has another cost or lacks some of its letters.

        A password that was changed meanwhile stays as it is. If the books cannot be written, the
        next log-on does it.
        """
        renewed = await self.passwords.renewed(record.password_hash, password)
        if renewed is None:
            return
        with contextlib.suppress(BooksFailed):
            await self.books.run(
                lambda desk: callers.renew_password_hash(
                    desk, record.id, record.password_hash, renewed
                ),
                until=until,
            )

    async def let_keys_work(self, record: CallerRecord, until: float | None = None) -> CallerRecord:
        """Let a caller's waiting SSH keys work again after a right password.

        If the books cannot be written, the keys wait for the next log-on.
        """
        if ssh_keys.are_suspended(record.preferences):
            with contextlib.suppress(BooksFailed):
                return await self.books.run(
                    lambda desk: ssh_keys.resume(desk, record.id), until=until
                )
        return record

    # Calls.

    async def open_call(
        self, console: Console, record: CallerRecord, node: int | None = None, *, take_over: bool
    ) -> Caller:
        """Open a call on one of the board's nodes, or on `node`, which is none of them.

        Raises `BoardFull`, and `AlreadyOnline` if the caller has a call and does not `take_over`.
        """

        def opening(desk: Desk, node: int | Nodes) -> OpenedCall:
            return open_call(desk, record.id, node, self.process, console.line.address, take_over)

        def on_call(opened: OpenedCall, current: CallerRecord, logged_on: float) -> Caller:
            purse = TickingPurse(self.books, self.clock, opened.receipt.purse, logged_on)
            return Caller(
                *(console, self.books, self.config, current),
                *(opened.node, opened, purse, self.new_seed),
            )

        return await self._open(console, record, opening, on_call, node, take_over=take_over)

    async def open_guest_call(
        self, console: Console, record: CallerRecord, guest: Guest, *, take_over: bool
    ) -> HostCaller:
        """Open a call of another board's caller with the time they bring; else as `open_call`."""
        brought = brought_by(guest, self.clock.monotonic())

        def opening(desk: Desk, node: int | Nodes) -> OpenedCall:
            address = console.line.address
            return open_host_call(desk, record.id, node, self.process, address, brought, take_over)

        def on_call(opened: OpenedCall, current: CallerRecord, _: float) -> HostCaller:
            return HostCaller(
                *(console, self.books, self.config, current),
                *(opened.node, opened, self.new_seed, guest),
            )

        # A caller of a door is on a node of their own board.
        node = guest.node or 1 if guest.by_door else None
        return await self._open(console, record, opening, on_call, node, take_over=take_over)

    async def _open(
        self,
        console: Console,
        record: CallerRecord,
        opening: Callable[[Desk, int | Nodes], OpenedCall],
        on_call: Callable[[OpenedCall, CallerRecord, float], C],
        elsewhere: int | None,
        *,
        take_over: bool,
    ) -> C:
        """Open a call on the node `elsewhere`, None for one of the board's."""
        other = self._caller_here(record.id)
        if take_over and other is not None:
            await self._end_for_another(other)
        node: int | Nodes
        if elsewhere is not None:
            node = elsewhere
        else:
            wanted = other.node if other is not None and other not in self.by_doors else None
            # A caller who takes over a call needs no other node: the old one becomes free.
            beyond = take_over or record.powers
            node = Nodes(self.config.calls.nodes, wanted, beyond)
        logged_on = self.clock.monotonic()

        def open_now(desk: Desk) -> tuple[OpenedCall, CallerRecord]:
            # The wait for the books is not charged.
            nonlocal logged_on
            logged_on = self.clock.monotonic()
            # An earlier call may have changed the preferences since the log-on began.
            return opening(desk, node), callers.get(desk, record.id)

        try:
            opened, current = await self.books.run(open_now, until=console.keyboard.answer_by())
        except NodesTaken as full:
            raise BoardFull(str(full)) from full
        caller = on_call(opened, current, logged_on)
        if opened.ended_call is not None:
            self.arrivals.forget_elsewhere(opened.ended_call)
        self._end_raced(record)
        if elsewhere is not None:
            self.by_doors.append(caller)
        else:
            self._on_nodes[opened.call_id] = caller
        if not (caller.is_back or opened.taken_over or (take_over and other is not None)):
            self.arrivals.announce_arrival(caller)
        return caller

    def _end_raced(self, record: CallerRecord) -> None:
        """End a call of the same caller that opened at the same time and was taken over by this."""
        raced = self._caller_here(record.id)
        if raced is not None:
            raced.console.keyboard.interrupt(TakenOver(TAKEN_OVER))

    async def close_call(self, caller: Caller, reason: str) -> None:
        try:
            await caller.close(reason)
        finally:
            if caller in self.by_doors:
                self.by_doors.remove(caller)
            self._on_nodes.pop(caller.call_id, None)
            caller.ended.set()
            if reason != TakenOver.reason:
                self.arrivals.announce_departure(caller)
            elif self._caller_here(caller.record.id) is None:
                self.arrivals.note_moved(caller)

    async def renew_leases(self) -> None:
        """Renew the leases of all calls here; interrupt callers whose calls were closed."""
        ticks = [(caller.call_id, caller.purse.ticked()) for caller in self.callers()]
        ended, self._strays = await self.books.run(
            lambda desk: calls.renew(desk, self.process, ticks, self._strays)
        )
        self.end_closed(ended)

    async def note_seen(self) -> None:
        """Note in the books the hands whose end callers have seen."""
        rounds = [
            (caller, number)
            for caller in self.callers()
            if (number := caller.last_hand.seen_round())
        ]
        if not rounds:
            return

        def note(desk: Desk) -> None:
            for caller, number in rounds:
                note_seen(desk, caller.record.id, number)

        await self.books.run(note)
        for caller, number in rounds:
            caller.last_hand.mark_noted(number)

    def end_closed(self, ended: Mapping[int, str]) -> None:
        """Interrupt the callers whose calls were closed elsewhere, each with the reason."""
        for caller in self.callers():
            if caller.call_id in ended:
                caller.console.keyboard.interrupt(closed(ended[caller.call_id]))

    def interrupt_all(self, interruption: Interruption) -> None:
        for console in self.consoles:
            console.keyboard.interrupt(interruption)

    def _caller_here(self, caller_id: int) -> Caller | None:
        return next((c for c in self.callers() if c.record.id == caller_id), None)

    @staticmethod
    async def _end_for_another(other: Caller) -> None:
        """End the old call on this server, and wait some seconds for that."""
        other.console.keyboard.interrupt(TakenOver(TAKEN_OVER))
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(HANDOVER_SECONDS):
                await other.ended.wait()
