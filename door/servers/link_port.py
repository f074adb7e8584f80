"""The port at which other servers of the board, on other machines, reach this one.

They are known by the certificates in their rows. Everybody else is cut off before they are told
anything. What strangers can make us keep is bounded by how many may shake hands at once, and by how
long that may take; what they did is in the log of refusals.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Callable
from functools import partial
from typing import NoReturn, Protocol, cast

from door.defence.counts import Debts, Known, key_of
from door.errors import CallRefused, Fault
from door.lines.flow import Stage
from door.lines.link import GREETED, LinkConnection, OnCall, Said, frame, told
from door.lines.port.connection import Entrance, LineConnection
from door.lines.port.gate import Blame
from door.lines.port.listener import Listener
from door.lines.tls.pinned import HasFacts, Identity, shown_by

HANDSHAKES = 64  # that may be under way at once, each some 100 kB of OpenSSL's at most
HANDSHAKES_EACH = 8  # of those, from one address where no server was ever seen
TRIES_PER_MINUTE = 20  # from such an address
MOST_ADDRESSES = 4096  # that are remembered
HEADER_SECONDS = 10.0  # that a server may take to say what it wants

# Servers have quick lines to each other: one that is cut is found out sooner than a caller's.
_SOCKET_OPTIONS = (
    ("TCP_KEEPIDLE", 4),
    ("TCP_KEEPINTVL", 2),
    ("TCP_KEEPCNT", 2),
    ("TCP_USER_TIMEOUT", 8_000),
)


class Strangers(Protocol):
    """Who keeps the log of refusals, and knows whom the sysop has blocked."""

    def is_blocked(self, address: str) -> bool: ...

    def note(self, address: str, why: str, *, own_fault: bool = True) -> None: ...

    def cut_off(self, address: str, blame: Blame) -> None: ...


class Register(Protocol):
    """Who knows the living servers, by their rows."""

    def is_known(self, certificate: bytes) -> bool: ...

    def lives_at(self, who: int | None) -> bool: ...


class LinkPort(Listener):
    def __init__(
        self,
        on_call: OnCall,
        identity: Identity,
        register: Register,
        strangers: Strangers,
        now: Callable[[], float],
        version: str,
    ) -> None:
        """`now` is the monotonic second; whoever is known is greeted with `version`."""
        self._gate = _Gate(register, strangers, now)
        super().__init__(Entrance(self._gate, certificate=identity, kind="link"))
        self._on_call = on_call
        self._register = register
        self._greeting = frame(GREETED, told({"version": version}))
        # Handshakes under way, the longest first, and where they come from.
        self._shaking: dict[LineConnection, int | None] = {}

    def farewell(self, words: str) -> bytes:
        return b""

    def admit(self, address: str) -> tuple[LineConnection, Stage]:
        who = key_of(address)
        if len(self._shaking) >= HANDSHAKES:
            self._make_room(address)
        each = sum(other == who for other in self._shaking.values())
        if each >= HANDSHAKES_EACH and not self._gate.is_servers(who):
            self._gate.refuse(address, "too many handshakes at once")
        visit, first = super().admit(address)
        self._shaking[visit] = who
        return visit, first

    def answer(self, address: str, gone: Callable[[], None]) -> PeerConnection:
        return PeerConnection(self._doubt, self._prove, self._serve, gone)

    def _doubt(self, transport: HasFacts) -> str:
        return (
            ""
            if self._register.is_known(shown_by(transport))
            else "no living server has its certificate"
        )

    def _prove(self, connection: PeerConnection) -> bytes:
        """Note that a server is at the other end; return what it is greeted with."""
        for visit, who in self._shaking.items():
            if visit.answer is connection:
                self._gate.prove(who)
                del self._shaking[visit]
                break
        return self._greeting

    def _serve(self, connection: LinkConnection, said: Said) -> None:
        self.begin_call(connection.line, partial(self._on_call, connection, said))

    def _make_room(self, address: str) -> None:
        """Give one from where servers live the place of the stranger who has been here longest."""
        if self._gate.is_servers(key_of(address)):
            for visit, other in self._shaking.items():
                if not self._gate.is_servers(other):
                    del self._shaking[visit]
                    visit.cut()
                    return
        self._gate.refuse(address, "too many handshakes at once", own_fault=False)

    def _forget(self, visit: LineConnection) -> None:
        self._shaking.pop(visit, None)
        super()._forget(visit)


class PeerConnection(LinkConnection):
    """Another server, once hands are shaken."""

    kind = "link"

    def __init__(
        self,
        doubt: Callable[[HasFacts], str],
        prove: Callable[[PeerConnection], bytes],
        ready: Callable[[LinkConnection, Said], None],
        gone: Callable[[], None],
    ) -> None:
        super().__init__(ready, gone)
        self._doubt = doubt
        self._prove = prove

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        if self.line.ended:
            return
        hasten(transport)
        cast("asyncio.Transport", transport).write(self._prove(self))
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(HEADER_SECONDS, self._end_if_silent)

    def connection_lost(self, exc: Exception | None) -> None:
        if hasattr(self, "_timer"):
            self._timer.cancel()
        super().connection_lost(exc)

    def doubt(self, transport: asyncio.BaseTransport) -> str:
        return self._doubt(transport)

    def _end_if_silent(self) -> None:
        if not self.is_asked:
            self.line.cut_off(f"no header in {HEADER_SECONDS:g} seconds", own_fault=False)


class _Gate:
    """Strangers at the port, counted apart from callers: a server is none of either."""

    def __init__(self, register: Register, strangers: Strangers, now: Callable[[], float]) -> None:
        self._register = register
        self._strangers = strangers
        self._now = now
        self._tries = Debts(MOST_ADDRESSES)
        self._servers = Known(MOST_ADDRESSES)  # where they were seen

    def is_servers(self, who: int | None) -> bool:
        """Tell whether servers are there: one was seen, or a row says so."""
        return who in self._servers or self._register.lives_at(who)

    def prove(self, who: int | None) -> None:
        if who is not None:
            self._servers.add(who)
            self._tries.forget(who)

    def refuse(self, address: str, why: str, *, own_fault: bool = True) -> NoReturn:
        self._strangers.note(address, f"link: {why}", own_fault=own_fault)
        raise CallRefused("")

    def enter(self, address: str, cut: Callable[[], None]) -> Callable[[], None]:
        if self._strangers.is_blocked(address):
            self.refuse(address, Fault.BLOCKED.value)
        who = key_of(address)
        if who is not None and not self.is_servers(who):
            cost, now = 60.0 / TRIES_PER_MINUTE, self._now()
            if self._tries.owed(who, now) + cost > 60.0 + cost / 2:
                self.refuse(address, "too many tries")
            self._tries.add(who, cost, 60.0, now)
        return lambda: None

    def malformed(self, address: str, what: str) -> None:
        """There are no front ends."""

    def cut_off(self, address: str, blame: Blame) -> None:
        self._strangers.cut_off(address, Blame(f"link: {blame.why}", blame.own_fault))


def hasten(transport: HasFacts) -> None:
    """Have the kernel find out within some ten seconds that the other end is gone."""
    wire = transport.get_extra_info("socket")
    for name, value in _SOCKET_OPTIONS:
        if hasattr(socket, name):
            with contextlib.suppress(OSError, AttributeError):  # a local socket has none of them
                wire.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)  # type: ignore[attr-defined]
