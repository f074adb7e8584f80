"""TLS between a port and a telnet line, at a cost that a stranger cannot raise.

asyncio's own TLS takes a quarter of a megabyte for each connection, hides how many written bytes
are unread, and lets many handshakes stall the loop one after another. Here a `Layer` is between the
socket's transport and the protocol of the line. Unsent bytes wait only in the socket's transport,
reads are as small as on all lines, and the loop makes one step of one handshake at a time.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import cast

from door.errors import CertificateRefused
from door.lines.blame import Blame
from door.lines.flow import Stage
from door.lines.layer import Layer
from door.lines.tls.certificates import load
from door.lines.turns import Turns

logger = logging.getLogger("door.lines")

HANDSHAKE_SECONDS = 10.0
HANDSHAKE_BYTES = 16_384  # from the caller; a usual one sends less than two thousand
# After the handshake TLS itself has little to send: new keys after millions of records, an alert.
# More than this is a flood of records that are empty or ask for an answer.
RECORD_BYTES = 16_384 + 2048  # the largest record, encrypted
IDLE_BYTES = 2 * RECORD_BYTES  # from the caller, without content
ANSWER_BYTES = 16_384  # of ours, in a whole call
# Forward secrecy and authenticated encryption; TLS 1.3 has nothing else.
_TOO_OLD = frozenset({"unsupported protocol", "version too low", "no shared cipher"})
_CIPHERS = "ECDHE+AESGCM:ECDHE+CHACHA20"


class Certificate:
    """A certificate and its key, loaded again when their files change.

    Raises `CertificateRefused` if they cannot be used at first.
    """

    def __init__(self, certificate: Path, key: Path) -> None:
        self._files = (certificate, key)
        self._stamps = self._look()
        self._context = self._load()

    def context(self) -> ssl.SSLContext:
        """The context for the current files. If they cannot be used, logs that once and keeps the
        last good ones: a certificate is often renewed a moment before its key."""
        stamps = self._look()
        if stamps != self._stamps:
            self._stamps = stamps
            try:
                self._context = self._load()
            except CertificateRefused as refused:
                logger.error("%s The last good one stays in use.", refused)
            else:
                logger.info("the certificate %s was read again", self._files[0])
        return self._context

    def _look(self) -> list[tuple[int, int, int] | None]:
        stamps: list[tuple[int, int, int] | None] = []
        for file in self._files:
            try:
                status = os.stat(file)
            except OSError:
                stamps.append(None)
            else:
                stamps.append((status.st_ino, status.st_mtime_ns, status.st_size))
        return stamps

    def _load(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.set_ciphers(_CIPHERS)
        context.options |= ssl.OP_NO_RENEGOTIATION | ssl.OP_NO_COMPRESSION | ssl.OP_NO_TICKET
        context.options |= ssl.OP_CIPHER_SERVER_PREFERENCE
        context.num_tickets = 0  # callers come too seldom for a ticket to be worth its bytes
        # Browsers ask for it; programs that ask for nothing get no answer to that.
        context.set_alpn_protocols(["http/1.1"])
        load(context, *self._files)
        return context


class TlsLayer(Layer):
    """`inside` makes the protocol inside when the handshake is done. If it never is, `gone` is
    called last."""

    blame: Blame | None = None  # why the caller was cut off

    def __init__(
        self,
        context: ssl.SSLContext,
        turns: Turns,
        address: str,
        inside: Callable[[], Stage],
        gone: Callable[[], None],
        kind: str = "telnets",
    ) -> None:
        super().__init__(address)
        self._kind = kind
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_side=True)
        self._turns = turns
        self._make_inside = inside
        self._gone = gone
        self._taken_in = 0  # bytes of the handshake; later, bytes since the last content
        self._answered = 0
        self._sent_good_bye = False
        self._failed = False

    # A protocol to the socket's transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._timer = self._loop.call_later(
            HANDSHAKE_SECONDS, self._fail, f"no TLS within {HANDSHAKE_SECONDS:g} seconds"
        )

    def take(self, data: bytes) -> None:
        if self._failed or self._sent_good_bye:
            return
        self._incoming.write(data)
        self._taken_in += len(data)
        if self._inside is not None:
            self._read_on()
            if self._taken_in > IDLE_BYTES and self._reading:
                self._fail(f"more than {IDLE_BYTES} bytes of TLS with nothing in them")
            return
        if self._taken_in > HANDSHAKE_BYTES:
            self._fail(f"more than {HANDSHAKE_BYTES} bytes of handshake")
        else:
            self._turns.take(self._shake_hands)

    def connection_lost(self, exc: Exception | None) -> None:
        self._timer.cancel()
        self._failed = True
        inside, self._inside = self._inside, None  # the two refer to each other
        if inside is None:
            self._gone()
        else:
            inside.connection_lost(exc)

    # Layer the two

    def _shake_hands(self) -> None:
        if self._failed or self._inside is not None:
            return  # cut off, or done in an earlier turn
        try:
            self._tls.do_handshake()
        except ssl.SSLWantReadError:
            self._flush()
            return
        except ssl.SSLError as error:
            self._flush()  # the alert that says why
            reason = _reason(error)
            self._fail(f"no TLS: {reason}", own_fault=not _is_innocent(reason))
            return
        self._timer.cancel()
        self._taken_in = 0
        self._inside = self._make_inside()
        self._inside.connection_made(self)
        self._flush()
        self._read_on()

    def _read_on(self) -> None:
        """Give the readable bytes to the protocol inside, until it pauses."""
        inside = self._inside
        assert inside is not None  # it exists since the handshake
        while self._reading and not (self._ended or self._failed or self._sent_good_bye):
            room = inside.get_buffer(-1)
            try:
                count = self._tls.read(len(room), cast("bytearray", room))
            except ssl.SSLWantReadError:
                self._answer()
                return
            except ssl.SSLError as error:
                reason = _reason(error)
                self._fail(f"broken TLS: {reason}", own_fault=not _is_innocent(reason))
                return
            self._answer()
            if not count:  # the caller's goodbye
                self.eof_received()
                self.close()
                return
            self._taken_in = 0
            inside.buffer_updated(cast("int", count))  # into a buffer, so it is a number

    def _answer(self) -> None:
        self._answered += self._outgoing.pending
        if self._answered > ANSWER_BYTES:
            self._fail(f"more than {ANSWER_BYTES} bytes of TLS to answer")
        else:
            self._flush()

    def _flush(self) -> None:
        if self._outgoing.pending:
            self._transport.write(self._outgoing.read())

    def _fail(self, reason: str, *, own_fault: bool = True) -> None:
        if self._failed:
            return
        self._failed = True
        self.blame = Blame(reason, own_fault)
        logger.info("%s %s: %s", self._kind, self.address, reason)
        if self._inside is None:
            self._transport.close()
        else:
            self._transport.abort()

    # A transport to the protocol inside

    def write(self, data: bytes | bytearray | memoryview) -> None:
        if not data or self._failed or self._sent_good_bye:
            return
        try:
            self._tls.write(data)
        except ssl.SSLError as error:  # the caller's goodbye has been read, say
            self._fail(f"broken TLS: {_reason(error)}", own_fault=False)
            return
        self._flush()

    def write_eof(self) -> None:
        """Send no more after a goodbye of TLS, but go on reading."""
        self._say_good_bye()
        if not self._transport.is_closing():
            self._transport.write_eof()

    def close(self) -> None:
        self._say_good_bye()
        self._transport.close()

    def abort(self) -> None:
        self._failed = True
        self._transport.abort()

    def _say_good_bye(self) -> None:
        if self._sent_good_bye or self._failed:
            return
        self._sent_good_bye = True
        # The caller's own goodbye may be missing, which is an error to the library.
        with contextlib.suppress(ssl.SSLError):
            self._tls.unwrap()
        self._flush()


def _is_innocent(reason: str) -> bool:
    """Return whether TLS failed as it also does for decent programs."""
    # They send an alert, mostly because of our certificate, or are too old.
    return "alert" in reason or reason in _TOO_OLD


def _reason(error: ssl.SSLError) -> str:
    return str(error.reason or "unknown").replace("_", " ").lower()
