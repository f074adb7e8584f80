"""Callers by SSH: a port, and a `Line` for the one terminal of each.

asyncssh speaks the protocol, on transports of ours. The gate and front ends before it, and limits
and farewells after it, are those of all lines. Callers get a terminal only: no commands, no file
transfer, no forwarding, and of the environment only the language. Programs that ask for one of
these get a sentence, and so do those that ask for nothing.

This module accepts any password, and passes it on with the name to the function that answers the
call, which checks it as if it had been typed. So strangers learn nothing by SSH. Wrong passwords
wait and count as on any line, and the board's own screen asks unknown callers for a name. A public
key is checked here: it must be one of that name.

Faults of asyncssh 2.24 that a stranger could use; each has a test in tests/door/lines/ssh that
shows how it is prevented here.

 1. It reads the settings of a connection again in another thread, for each name that is tried.
    Here: `reload_config`.
 2. It verifies certificates, with keys of any size out of them, before it asks whether anybody
    knows them. Here: `validate_public_key` looks for the very bytes of a key first.
 3. Packets have up to 256 kB, and a list of algorithms in one takes a tenth of a second to choose
    from. Here: `_LONGEST_PACKET`, and `EARLY_BYTES` until keys are agreed on.
 4. Requests, new keys and log-ons may come at any rate and number. Here: `process_packet`, on
    the connection and on the channel, against an allowance.
 5. While new keys are agreed on, written bytes are stored and not counted. Here: the line is
    blocked meanwhile, the bytes are counted, and the time limit is that of the first keys.
 6. A caller's program may ask for pieces of any size, so that a screen may become thousands of
    packets. Here: `_LEAST_PIECE`.
 7. All variables of the environment are stored. Here: only those for the language, cut short.
 8. An empty packet goes out before each one, against a weakness of ciphers in CBC. Here:
    `send_packet` leaves it out with all others.
 9. It takes the first packet of a key exchange for a good guess, though board and caller prefer
    different exchanges, where the one that they agree on is the caller's first. Here: the order of
    exchanges in `algorithms`.
10. It notes in the host key how one caller wants it to sign, and so for all who agree on keys in
    the same moment. Here: `choose_server_host_key` gives each connection a copy.
11. It announces which signatures callers' keys may make, and takes all others too. Here:
    `validate_public_key`.
"""

from __future__ import annotations

import asyncio
import contextlib
import copy
import logging
import warnings
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import asyncssh
from asyncssh.channel import SSHServerChannel
from asyncssh.connection import SSHServerConnectionOptions
from asyncssh.constants import (
    MSG_CHANNEL_DATA,
    MSG_CHANNEL_REQUEST,
    MSG_DISCONNECT,
    MSG_IGNORE,
    MSG_KEXINIT,
    MSG_USERAUTH_REQUEST,
)
from asyncssh.packet import Boolean, SSHPacket, String
from asyncssh.session import SSHServerSession

from door.errors import Flood
from door.lines.blame import Blame
from door.lines.budget import Budget, Rate
from door.lines.flow import INTAKE, UNREAD, LineLimits, StreamLine, StreamProtocol
from door.lines.line import LANGUAGE_VARIABLES, Hints, Line, bounded_size, printable
from door.lines.port.connection import OPEN, Entrance, LineConnection
from door.lines.port.listener import Listener
from door.lines.ssh.algorithms import SHA1, SshOffer
from door.lines.ssh.ssh_identity import SshIdentity
from door.lines.turns import Turns

logger = logging.getLogger("door.lines")

# Log-on names without a caller behind them, besides the words that new callers type instead of one.
_NO_NAMES = frozenset({"bbs", "guest"})

READ = 1024  # bytes in a step of the event loop; 28 of the shortest packets
EARLY_BYTES = 16_384  # from the caller, until keys are agreed on; a usual program sends some 2000
ADMISSION_BYTES = 65_536  # from the caller, until there is a terminal
_LONGEST_PACKET = 35_000  # all programs must accept it (RFC 4253)
_WINDOW, _LONGEST_DATA = 2 * UNREAD, UNREAD // 2  # bytes typed ahead, and in one packet
_LEAST_PIECE = 1024
_LONGEST_VARIABLE = 64

_OWN_NAME = "BulletinBoard"  # no version; cryptlib refuses names of fewer than 6 letters

# The costs of packets against the allowance; other kinds cost 1, and each kilobyte 1 more.
_COSTS = {MSG_KEXINIT: 50, MSG_USERAUTH_REQUEST: 20}
_EMPTY = 4  # bytes of a packet without typed bytes: its length field
_VARIABLES = frozenset(name.encode() for name in LANGUAGE_VARIABLES)
_INTERRUPT = b"\x03"
_NEEDS_TERMINAL = "This board needs a terminal: call it without a command, or with ssh -t."
_NO_COMMANDS = "This board runs no commands. Call it without one."
_NO_FILES = "This board sends and takes no files. Call it with ssh."
_NO_FORWARDING = "This board forwards no connections. Call it without that."
_ONE_TERMINAL = "This board has one terminal for each connection. Connect again for another."
# cryptlib says this of any terminal, unless its program knows better.
_MADE_UP = ("SSH-2.0-cryptlib", "xterm", (80, 48))
# Terminals that may not show UTF-8, although their programs do.
_OLD_TERMINALS = ("vt", "ansi", "dumb", "unknown")


@dataclass(frozen=True)
class SshLimits(LineLimits):
    """The limits of one caller by SSH."""

    handshake: float  # seconds until keys are agreed on, each time
    admission: float  # seconds from the keys to a terminal
    idle: float  # seconds from the log-on to a request
    requests: Rate


USUAL_LIMITS = SshLimits(
    unsent=256 * 1024,
    farewell=5.0,
    handshake=10.0,
    admission=120.0,
    idle=10.0,
    # As for telnet: a window dragged by its corner sends some sixty sizes a second.
    requests=Rate(burst=500, a_second=50.0),
)


# Returns whether a public key, in SSH's own bytes, belongs to a name.
Knows = Callable[[str, bytes], Awaitable[bool]]
# Returns whether a name is what new callers type instead of one.
MeansNew = Callable[[str], bool]


def options_for(keys: Sequence[asyncssh.SSHKey], offer: SshOffer) -> SSHServerConnectionOptions:
    """Return the options of all connections to a port, with the board's host keys."""
    options = SSHServerConnectionOptions(
        config=None,
        server_host_keys=list(keys),
        server_version=_OWN_NAME,
        kex_algs=offer.exchanges,
        encryption_algs=offer.ciphers,
        mac_algs=offer.macs,
        signature_algs=() if SHA1 in offer.signatures else f"-{SHA1}",
        compression_algs=None,
        host_based_auth=False,
        kbdint_auth=False,
        public_key_auth=True,
        password_auth=True,
        gss_host=None,
        allow_pty=True,
        agent_forwarding=False,
        x11_forwarding=False,
        line_editor=False,
        encoding=None,
        login_timeout=0,  # our own limit ends with the terminal, not with the log-on
        rekey_seconds=0,
        tcp_keepalive=True,
    )
    offered = [name.encode() for name in offer.signatures]
    pairs = options.server_host_keys
    options.server_host_keys = OrderedDict((name, pairs[name]) for name in offered if name in pairs)
    return options


class _ChannelTransport(asyncio.Transport):
    """The line's transport: the channel of the terminal, and before that the socket."""

    def __init__(self, wire: asyncio.Transport) -> None:
        super().__init__()
        self._wire = wire
        self.channel: _Channel | None = None
        self.held_bytes = 0  # bytes written while new keys are agreed on
        self.holds = False  # whether that is so now

    def get_extra_info(self, name: str, default: object = None) -> object:
        return self._wire.get_extra_info(name, default)

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """Do nothing: the protocol is paused while any byte waits."""
        self._wire.set_write_buffer_limits(high=0)

    def get_write_buffer_size(self) -> int:
        waiting = self._wire.get_write_buffer_size() + self.held_bytes
        return waiting if self.channel is None else waiting + self.channel.get_write_buffer_size()

    def is_closing(self) -> bool:
        return self._wire.is_closing() or (self.channel is not None and self.channel.is_closing())

    def pause_reading(self) -> None:
        if self.channel is not None:
            self.channel.pause_reading()

    def resume_reading(self) -> None:
        if self.channel is not None:
            self.channel.resume_reading()

    def write(self, data: bytes | bytearray | memoryview) -> None:
        if self.channel is None:
            return
        if self.holds:
            self.held_bytes += len(data)
        with contextlib.suppress(OSError):  # the caller may just have closed it
            self.channel.write(bytes(data))

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None:
        """Send no more; the caller's program ends when it has shown all output."""
        if self.channel is None:
            self._wire.close()
        else:
            with contextlib.suppress(OSError):
                self.channel.exit(0)

    def close(self) -> None:
        self.write_eof()

    def abort(self) -> None:
        self._wire.abort()


class SshConnection(StreamProtocol):
    """One connection by SSH.

    Calls `ready` when the caller has a terminal, and `gone` last, when the socket is closed. It
    reads when it is its turn among the connections in `turns`.
    """

    def __init__(
        self,
        options: SSHServerConnectionOptions,
        knows: Knows,
        means_new: MeansNew,
        limits: SshLimits,
        turns: Turns,
        ready: Callable[[StreamLine, SshIdentity], None],
        gone: Callable[[], None],
        address: str,
    ) -> None:
        super().__init__(lambda transport: StreamLine("ssh", transport, limits, address), gone)
        self._options = options
        self.knows = knows
        self.means_new = means_new
        self._limits = limits
        self._turns = turns
        self._ready: Callable[[StreamLine, SshIdentity], None] | None = ready
        self._loop = asyncio.get_running_loop()
        self._budget = Budget(limits.requests, self._loop.time, "SSH requests")
        self._taken_in = 0
        self._waiting = 0  # packets that wait for their turn
        self._most = EARLY_BYTES
        self._blocked: set[str] = set()
        self._sent_good_bye = False
        self._identity = SshIdentity()
        self._timer: asyncio.TimerHandle | None = None

    # asyncio's protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports don't subclass asyncio's.
        wire = cast("asyncio.Transport", transport)
        self._wire, self._way_out = wire, _ChannelTransport(wire)
        super().connection_made(self._way_out)
        seconds = self._limits.handshake
        self._limit(seconds, f"no SSH within {seconds:g} seconds")
        self._ssh = _Server(self._loop, self._options, self)
        self._ssh.connection_made(wire)

    def get_buffer(self, sizehint: int) -> memoryview:
        # Typed bytes wait in the line, or are not sent: all other bytes must be read.
        return INTAKE[:READ]

    def take(self, data: bytes) -> None:
        if self._ready is None and not self._waiting:
            self._feed(data)
            return
        self._taken_in += len(data)
        if self._taken_in > self._most:
            self.fail(f"more than {self._most} bytes before there is a terminal")
            return
        self._waiting += 1
        self._turns.take(partial(self._take_turn, data))

    def buffer_updated(self, nbytes: int) -> None:
        super().buffer_updated(nbytes)
        if nbytes == READ:
            self.yield_turn()

    def yield_turn(self) -> None:
        """Read again in the loop's next turn; uvloop would do so at once."""
        if not self._wire.is_closing():
            self._wire.pause_reading()
            self._loop.call_soon(self._read_again)

    def eof_received(self) -> None:
        self.line.end_of_input()

    def pause_writing(self) -> None:
        self.block("socket")

    def resume_writing(self) -> None:
        self.unblock("socket")

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        self._ready = None
        self._ssh.connection_lost(exc)
        super().connection_lost(exc)

    def _take_turn(self, data: bytes) -> None:
        self._waiting -= 1
        self._feed(data)

    def _feed(self, data: bytes) -> None:
        if not self._wire.is_closing():
            self._ssh.data_received(data)

    def _read_again(self) -> None:
        if not self._wire.is_closing():
            self._wire.resume_reading()

    # For the two sides of asyncssh: the connection and the channel

    def spend(self, kind: int, packet: SSHPacket) -> bool:
        """Pay for a packet that is not typed; return whether it may be read."""
        if kind == MSG_DISCONNECT:
            self._sent_good_bye = True
        if len(packet.get_full_payload()) > _LONGEST_PACKET:
            self.fail(f"a packet of more than {_LONGEST_PACKET} bytes")
            return False
        try:
            self._budget.pay(_COSTS.get(kind, 1) + len(packet.get_remaining_payload()) // 1024)
        except Flood as flood:
            self.fail(str(flood))
        return not self._wire.is_closing()

    def keys_begin(self) -> None:
        self._way_out.holds = True
        self.block("keys")
        seconds = self._limits.handshake
        self._limit(seconds, f"no keys were agreed on within {seconds:g} seconds")

    def keys_agreed(self) -> None:
        if self._most == EARLY_BYTES:
            self._most = ADMISSION_BYTES
        self._way_out.holds, self._way_out.held_bytes = False, 0
        self.unblock("keys")
        if self._ready is None:
            self._stop_timer()
        else:
            seconds = self._limits.admission
            self._limit(seconds, f"no log-on within {seconds:g} seconds", own_fault=False)

    def logged_on(self) -> None:
        """Wait briefly for a request; `ssh -N` never makes one."""
        self._stop_timer()
        self._timer = self._loop.call_later(self._limits.idle, self._part)

    def asked(self) -> None:
        """Wait for the terminal, once a session is open."""
        seconds = self._limits.admission
        self._limit(seconds, f"no terminal within {seconds:g} seconds", own_fault=False)

    def _part(self) -> None:
        seconds = self._limits.farewell
        reason = "no terminal was asked for"
        logger.info("ssh %s: %s", self.line.address, reason)
        self.line.blame = Blame(reason, own_fault=False)
        self._limit(seconds, "the last words were not read", own_fault=False)
        self._ssh.disconnect(asyncssh.DISC_BY_APPLICATION, _NEEDS_TERMINAL)

    def note_identity(self, identity: SshIdentity) -> None:
        self._identity = identity

    def serve(self, channel: _Channel, terminal: str, size: tuple[int, int]) -> None:
        """Begin the call, which has a terminal now."""
        ready, self._ready = self._ready, None
        if ready is None or self.line.ended:
            return
        self._stop_timer()
        self._way_out.channel = channel
        version = self._ssh.get_extra_info("client_version")
        if (version, terminal, size) == _MADE_UP:
            terminal, size = "", (0, 0)
        kind, language = printable(terminal), printable(channel.language())
        is_modern = kind and not kind.casefold().startswith(_OLD_TERMINALS)
        # A locale without a character set, such as "C" or "fr_FR", says nothing of the terminal.
        has_charset = "." in language
        self.line.hints = Hints(
            terminal_types=(kind,) if kind else (),
            language=language,
            charset="UTF-8" if is_modern and not has_charset else "",
        )
        if all(size):
            self.line.resize(*bounded_size(*size))
        # The caller is the name that asyncssh has let in, whatever names were tried before.
        name = self._ssh.get_extra_info("username")
        ready(self.line, self._identity if self._identity.name == name else SshIdentity(name))

    def channel_closed(self) -> None:
        """End the line: its terminal is gone."""
        self.line.end_of_input()
        if not self._wire.is_closing():
            self._ssh.close()

    def hung_up(self) -> None:
        self.line.end_of_input()
        self._way_out.write_eof()

    def block(self, why: str) -> None:
        if not self._blocked:
            self.line.block()
        self._blocked.add(why)

    def unblock(self, why: str) -> None:
        if why in self._blocked:
            self._blocked.discard(why)
            if not self._blocked:
                self.line.unblock()

    def broke(self, error: Exception | None) -> None:
        """Handle asyncssh's end of the connection; its reason may quote the caller."""
        if error is None or self._sent_good_bye or isinstance(error, asyncssh.ConnectionLost):
            return
        if isinstance(error, asyncssh.KeyExchangeFailed):
            self.fail("SSH without algorithms in common", own_fault=False)
        elif isinstance(error, asyncssh.ProtocolNotSupported):
            self.fail("no SSH")
        elif isinstance(error, asyncssh.IllegalUserName):
            self.fail("a name with characters that none has")
        else:
            self.fail("broken SSH")

    def fail(self, reason: str, *, own_fault: bool = True) -> None:
        """End the connection now, and log one line: a warning if there was a call."""
        if self._ready is None:
            self.line.cut_off(reason, own_fault=own_fault)
        elif self.line.blame is None:
            logger.info("ssh %s: %s", self.line.address, reason)
            self.line.blame = Blame(reason, own_fault)
            self.line.lose_carrier(reason)
        self._wire.abort()

    def _limit(self, seconds: float, reason: str, *, own_fault: bool = True) -> None:
        self._stop_timer()
        fail = partial(self.fail, reason, own_fault=own_fault)
        self._timer = self._loop.call_later(seconds, fail)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()


class _Owner(asyncssh.SSHServer):
    """asyncssh's questions about a connection."""

    def __init__(self, connection: SshConnection) -> None:
        self._connection = connection
        self._has_terminal = False

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        self._ssh = conn

    def connection_lost(self, exc: Exception | None) -> None:
        self._connection.broke(exc)

    def begin_auth(self, username: str) -> bool:
        return username.casefold() not in _NO_NAMES and not self._connection.means_new(username)

    def password_auth_supported(self) -> bool:
        return True

    def validate_password(self, username: str, password: str) -> bool:
        self._connection.note_identity(SshIdentity(username, password))
        return True

    def public_key_auth_supported(self) -> bool:
        return True

    def validate_public_key(self, username: str, key: asyncssh.SSHKey) -> bool:
        return True  # the connection has looked for its very bytes

    def auth_completed(self) -> None:
        self._connection.logged_on()

    def session_requested(self) -> Any:
        if self._has_terminal:
            raise _refused(_ONE_TERMINAL)
        self._has_terminal = True
        self._connection.asked()
        return _Channel(self._ssh, self._connection), _Session(self._connection)

    def connection_requested(self, *_where: Any) -> bool:
        raise _refused(_NO_FORWARDING)

    def unix_connection_requested(self, dest_path: str) -> bool:
        raise _refused(_NO_FORWARDING)


def _refused(why: str) -> asyncssh.ChannelOpenError:
    return asyncssh.ChannelOpenError(asyncssh.OPEN_ADMINISTRATIVELY_PROHIBITED, why)


class _Server(asyncssh.SSHServerConnection):
    """asyncssh's connection, within our limits."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        options: SSHServerConnectionOptions,
        connection: SshConnection,
    ) -> None:
        own = copy.copy(options)
        own.protocol_factory = lambda: _Owner(connection)
        super().__init__(loop, own)
        self._connection = connection
        self._signatures = own.signature_algs

    async def reload_config(self) -> None:
        """Keep the settings of the listener."""

    async def validate_public_key(
        self, username: str, key_data: bytes, msg: bytes, signature: bytes
    ) -> bool:
        if not await self._connection.knows(username, key_data):
            return False
        is_right = await super().validate_public_key(username, key_data, msg, signature)
        if msg and is_right:
            is_right = SSHPacket(signature).get_string() in self._signatures
        if msg and is_right:
            self._connection.note_identity(SshIdentity(username, key=key_data))
        return is_right

    def process_packet(self, pkttype: int, pktid: int, packet: SSHPacket) -> bool | Awaitable[None]:
        if not self._connection.spend(pkttype, packet):
            return True
        return super().process_packet(pkttype, pktid, packet)

    def choose_server_host_key(self, peer_host_key_algs: Sequence[bytes]) -> bool:
        is_chosen = super().choose_server_host_key(peer_host_key_algs)
        self._own_key = copy.copy(super().get_server_host_key()) if is_chosen else None
        return is_chosen

    def get_server_host_key(self) -> asyncssh.SSHKeyPair | None:
        return self._own_key

    def send_packet(self, pkttype: int, *args: bytes, handler: Any = None) -> None:
        if pkttype == MSG_IGNORE and not str(self.get_extra_info("send_cipher", "")).endswith(
            "-cbc"
        ):
            return
        super().send_packet(pkttype, *args, handler=handler)
        if pkttype == MSG_KEXINIT:
            self._connection.keys_begin()

    def send_newkeys(self, k: bytes, h: bytes) -> None:
        super().send_newkeys(k, h)
        self._connection.keys_agreed()


class _Channel(SSHServerChannel[bytes]):
    """The one channel of a connection, that of the terminal."""

    def __init__(self, ssh: asyncssh.SSHServerConnection, connection: SshConnection) -> None:
        super().__init__(
            ssh,
            asyncio.get_running_loop(),
            allow_pty=True,
            line_editor=False,
            line_echo=False,
            line_history=0,
            max_line_length=0,
            encoding=None,
            errors="strict",
            window=_WINDOW,
            max_pktsize=_LONGEST_DATA,
        )
        self._connection = connection

    def language(self) -> str:
        """Return the locale that counts, "" if none was sent."""
        variables = self.get_environment()
        return next((variables[name] for name in LANGUAGE_VARIABLES if variables.get(name)), "")

    def process_open(
        self, send_chan: int, send_window: int, send_pktsize: int, session: Any
    ) -> None:
        if send_pktsize < _LEAST_PIECE:
            self._connection.fail(f"packets of {send_pktsize} bytes are wanted")
        else:
            super().process_open(send_chan, send_window, send_pktsize, session)

    def process_packet(self, pkttype: int, pktid: int, packet: SSHPacket) -> bool | Awaitable[None]:
        is_typed = pkttype == MSG_CHANNEL_DATA and len(packet.get_remaining_payload()) > _EMPTY
        if not is_typed and not self._connection.spend(pkttype, packet):
            return True
        if pkttype == MSG_CHANNEL_REQUEST:
            packet = _without_variables(packet)
        return super().process_packet(pkttype, pktid, packet)


def _without_variables(request: SSHPacket) -> SSHPacket:
    """Return a channel's request, unless it sets a variable that is not for the language.

    A long value is cut. For any other variable, returns an unknown request, which asyncssh refuses
    in order.
    """
    read = SSHPacket(request.get_remaining_payload())
    kind, answer = read.get_string(), Boolean(read.get_boolean())
    if kind != b"env":
        return request
    name, value = read.get_string(), read.get_string()[:_LONGEST_VARIABLE]
    if name not in _VARIABLES:
        return SSHPacket(String("not-for-us") + answer)
    return SSHPacket(String(kind) + answer + String(name) + String(value))


class _Session(SSHServerSession[bytes]):
    """The requests of a caller's program to the channel, and the typed bytes."""

    def __init__(self, connection: SshConnection) -> None:
        self._connection = connection
        self._terminal: str | None = None
        self._refusal = ""  # why there is no terminal, after another request

    def connection_made(self, chan: SSHServerChannel[bytes]) -> None:
        self._channel = cast("_Channel", chan)
        chan.set_write_buffer_limits(high=0)

    def connection_lost(self, exc: Exception | None) -> None:
        self._connection.channel_closed()

    def pty_requested(self, term_type: str, term_size: Any, term_modes: Any) -> bool:
        self._terminal, self._size = term_type, term_size[:2]
        return True

    def shell_requested(self) -> bool:
        return True

    # Commands and subsystems are accepted, answered with a sentence, and ended. After a refusal
    # Dropbear's program would wait forever, and no caller would read why.

    def exec_requested(self, command: str) -> bool:
        self._refusal = _NO_COMMANDS
        return True

    def subsystem_requested(self, subsystem: str) -> bool:
        self._refusal = _NO_FILES if subsystem == "sftp" else _NO_COMMANDS
        return True

    def session_started(self) -> None:
        if self._terminal is None and not self._refusal:
            self._refusal = _NEEDS_TERMINAL
        if self._refusal:
            self._channel.write_stderr(f"{self._refusal}\r\n".encode())
            self._channel.exit(1)
        else:
            assert self._terminal is not None  # as above
            self._connection.serve(self._channel, self._terminal, self._size)

    def data_received(self, data: bytes, datatype: int | None) -> None:
        self._connection.line.deliver(data)

    def terminal_size_changed(self, width: int, height: int, *_: int) -> None:
        self._connection.line.resize(*bounded_size(width, height))

    def break_received(self, msec: int) -> bool:
        self._connection.line.deliver(_INTERRUPT)
        return True

    def eof_received(self) -> bool:
        self._connection.hung_up()
        return True

    def pause_writing(self) -> None:
        self._connection.block("channel")

    def resume_writing(self) -> None:
        self._connection.unblock("channel")


class SshListener(Listener):
    """An SSH port and its connections.

    `on_call` serves each call in a task of its own. It must check the password: nobody has yet.
    `limits` are `USUAL_LIMITS`, except in tests.
    """

    def __init__(
        self,
        on_call: Callable[[Line, SshIdentity], Awaitable[None]],
        knows: Knows,
        means_new: MeansNew,
        options: SSHServerConnectionOptions,
        limits: SshLimits,
        entrance: Entrance = OPEN,
    ) -> None:
        super().__init__(entrance)
        self._on_call = on_call
        self._connection = partial(SshConnection, options, knows, means_new, limits)
        quieten_library()

    def answer(self, address: str, visit: LineConnection) -> SshConnection:
        return self._connection(self._turns, self._serve, visit.end, address)

    def _serve(self, line: StreamLine, identity: SshIdentity) -> None:
        self.begin_call(line, partial(self._on_call, line, identity))


def quieten_library() -> None:
    """Keep the library out of the log, unless its level has been set.

    Also keep the sysop from the warning that Diffie-Hellman without curves has no future.
    """
    warnings.filterwarnings("ignore", "Diffie-Hellman over finite fields", UserWarning)
    library = logging.getLogger("asyncssh")
    if library.level == logging.NOTSET:
        library.setLevel(logging.CRITICAL)
