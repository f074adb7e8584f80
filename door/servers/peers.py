"""The other servers of the board: which they are, by the rows in the books, and how to reach them.

On one machine they are reached by the sockets in the data folder, elsewhere by their links, through
TLS. What goes through either is `door.lines.link`.
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from door.defence.counts import key_of
from door.errors import DoorError, LinkBroken, Unanswered, Unreachable
from door.lines import link
from timebank.errors import BooksFailed

if TYPE_CHECKING:
    from door.lines.link import Said
    from door.lines.tls.pinned import Identity

DIAL_SECONDS = 2.0  # that a server may take to take a call
ANSWER_SECONDS = 2.0  # that it may take to answer a command, all told
AGAIN_SECONDS = 0.25  # until one is tried again that may not have heard of us yet

Ends = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Peer(Protocol):
    """A server that lives, as its row says."""

    @property
    def id(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def process(self) -> str:
        """What its process calls itself: `door.call.process`."""

    @property
    def link(self) -> str:
        """HOST:PORT where others reach it; empty where it has none."""

    @property
    def certificate(self) -> str:
        """In PEM, of its link."""

    @property
    def draining(self) -> bool: ...


class Peers:
    def __init__(
        self,
        folder: Path,
        rows: Callable[[], Awaitable[Sequence[Peer]]],
    ) -> None:
        """`folder` is where the sockets of this machine are; `rows` looks the living servers up in
        the books."""
        self._folder = folder
        self._rows = rows
        self.own_id = 0  # of our own row, once there is one
        self._known: dict[int, Peer] = {}
        self._certificates: frozenset[bytes] = frozenset()
        self._places: frozenset[int | None] = frozenset()
        self._identity: Identity | None = None

    def identify(self, identity: Identity) -> None:
        """Shake hands as this one from now on: without it no other machine is reached."""
        self._identity = identity
        self._follow()

    # Who they are.

    async def look(self) -> None:
        """Look up which servers live; raises what the books raise."""
        living = await self._rows()
        self.adopt(living)

    def adopt(self, living: Sequence[Peer]) -> None:
        """Go by what was just looked up.

        This one lives whatever is there: alone with books in a file it does not say so.
        """
        own = self._known.get(self.own_id)
        self._known = {peer.id: peer for peer in living}
        if own is not None:
            self._known.setdefault(own.id, own)
        self._follow()

    @property
    def living(self) -> list[Peer]:
        """All servers, this one too if it has a row, as they were when it was last looked."""
        return list(self._known.values())

    @property
    def others(self) -> list[Peer]:
        return [peer for peer in self.living if peer.id != self.own_id]

    def is_known(self, certificate: bytes) -> bool:
        """Tell whether it is that of a living server; it is given in DER."""
        return certificate in self._certificates

    def lives_at(self, who: int | None) -> bool:
        """Tell whether a living server is reached at an address, given as `counts.key_of` does."""
        return who is not None and who in self._places

    def _follow(self) -> None:
        if self._identity is not None:
            from door.lines.tls.pinned import in_der  # noqa: PLC0415 - a door does without TLS

            shown = [peer.certificate for peer in self.living if peer.certificate]
            self._identity.trust(shown)
            self._certificates = frozenset(map(in_der, shown)) - {b""}
            hosts = [peer.link.rpartition(":")[0].strip("[]") for peer in self.living]
            self._places = frozenset(map(key_of, hosts))

    # Reaching them.

    async def dial(self, server_id: int) -> Ends:
        """Reach a server, which then takes a header; raises `Unreachable`.

        One that is not known yet is looked up. It takes `DIAL_SECONDS` at most, and a look.
        """
        peer = self._known.get(server_id) or await self._find(server_id)
        try:
            async with asyncio.timeout(DIAL_SECONDS):
                return await self._reach(peer)
        except TimeoutError as error:
            raise Unreachable(_is_late(peer.name, DIAL_SECONDS)) from error

    async def ask(self, server_id: int, said: Said) -> Said:
        """Give a server a command and return its answer; raises `Unreachable`.

        That is `Unanswered` once the command is on its way. It takes `ANSWER_SECONDS` at most.
        """
        name = self.name_of(server_id)
        error_is: type[Unreachable] = Unreachable
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                reader, writer = await self.dial(server_id)
                error_is = Unanswered
                try:
                    return await link.asked(reader, writer, said)
                finally:
                    writer.close()
        except TimeoutError as error:
            raise error_is(_is_late(name, ANSWER_SECONDS)) from error
        except (OSError, EOFError, LinkBroken, ValueError) as error:
            raise error_is(f"The link to server {name} broke: {_why(error)}.") from error

    def name_of(self, server_id: int) -> str:
        known = self._known.get(server_id)
        return str(server_id) if known is None else known.name

    async def _find(self, server_id: int) -> Peer:
        await self._look_again()
        try:
            return self._known[server_id]
        except KeyError:
            raise Unreachable(f"There is no server {server_id} any more.") from None

    async def _look_again(self) -> None:
        try:
            await self.look()
        except BooksFailed as error:
            raise Unreachable(str(error)) from error

    async def _reach(self, peer: Peer) -> Ends:
        with contextlib.suppress(OSError):  # it is on another machine, or has another data folder
            return await link.dial(self._folder, link.own_name(peer.process))
        if not peer.link:
            raise Unreachable(f"Server {peer.name} is not on this machine, and has no link.")
        if self._identity is None:
            raise Unreachable(f"Server {peer.name} is on another machine; this one has no link.")
        try:
            return await self._shake_hands(peer, self._identity)
        except _NotTrusted:
            # It may not have heard of us yet, or it has begun anew and we have not heard of that.
            await asyncio.sleep(AGAIN_SECONDS)
            peer = await self._find(peer.id)
        try:
            return await self._shake_hands(peer, self._identity)
        except _NotTrusted as error:
            raise Unreachable(f"Server {peer.name} cannot be reached: {error}.") from error

    async def _shake_hands(self, peer: Peer, identity: Identity) -> Ends:
        """Reach a server through TLS, until both ends know each other."""
        from door.lines.tls.pinned import in_der, shown_by  # noqa: PLC0415 - a door has no TLS
        from door.servers.link_port import hasten  # noqa: PLC0415 - as above

        try:
            host, port = apart(peer.link)
            reader, writer = await asyncio.open_connection(
                *(host, port), ssl=identity.context_for_dialling(), limit=link.LARGEST
            )
        except ssl.SSLError as error:
            raise _NotTrusted(_why(error)) from error
        except OSError as error:
            raise Unreachable(f"Server {peer.name} cannot be reached: {_why(error)}.") from error
        except (ValueError, OverflowError) as error:  # what the row says is no place
            raise Unreachable(
                f"Server {peer.name} cannot be reached: its row gives no address."
            ) from error
        try:
            if shown_by(writer) != in_der(peer.certificate):
                raise _NotTrusted("another program answers there")
            hasten(writer)
            kind, _ = await link.read_frame(reader)
            if kind != link.GREETED:
                raise _NotTrusted("it answers as no server does")
        except (OSError, EOFError, LinkBroken) as error:  # also what TLS has to say
            writer.transport.abort()
            raise _NotTrusted(_why(error)) from error
        except BaseException:
            writer.transport.abort()
            raise
        return reader, writer


class _NotTrusted(DoorError):
    """One of two servers does not take the other for one."""


def apart(place: str) -> tuple[str, int]:
    """Take HOST:PORT apart.

    >>> apart("10.0.0.1:2324"), apart("[2001:db8::1]:2324")
    (('10.0.0.1', 2324), ('2001:db8::1', 2324))
    """
    host, _, port = place.rpartition(":")
    return host.removeprefix("[").removesuffix("]"), int(port)


def _is_late(name: str, seconds: float) -> str:
    unit = "second" if seconds == 1 else "seconds"
    return f"Server {name} does not answer within {seconds:g} {unit}."


def _why(error: Exception) -> str:
    if isinstance(error, ssl.SSLError):
        return f"TLS says {str(error.reason or 'nothing').replace('_', ' ').lower()}"
    if isinstance(error, EOFError):
        return "it hung up"
    return str(getattr(error, "strerror", None) or str(error) or type(error).__name__)
