"""Messages between machines, through the server of PostgreSQL that the books are on.

One connection listens and sends. When it breaks it is made anew, as often as it takes, and then
everything is to be looked at: what was sent meanwhile is gone. A connection on which nothing comes
back is found out by a beat: a message to ourselves, which must arrive like any other.

Anybody who may log on to the database may send here, and listen. So servers sign their messages
with a key from the books, and ignore messages without such a signature. PostgreSQL says by which of
its processes a message came, and the signature is over that too: nobody can send again a message
that they have overheard. More than `MOST_A_SECOND` messages are a flood: the connection is closed,
and the messages that wait in it are lost.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import logging
import secrets
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from door.errors import FloodOfMessages, LinkBroken

if TYPE_CHECKING:
    from psycopg import AsyncConnection

    from timebank.settings.place import ServerPlace

CHANNEL = "black_jack_for_time"
MOST_WAITING = 1000  # messages; more than that are lost, the oldest first
AT_ONCE = 50  # of them in one statement
BEAT_SECONDS = 5.0
ANSWER_SECONDS = 5.0  # that the server may take to answer, or a beat to come back
CONNECT_SECONDS = 10.0
MOST_A_SECOND = 5000  # messages that are read; so many hold the board up for 50 ms
LAST_SECONDS = 0.5  # that the last messages may take to leave when we end
AGAIN_SECONDS = (0.1, 1.0, 2.0, 5.0)  # until it is tried again to reach the server

# A message is not worth waiting for a disk, or for a standby: who misses it looks by themselves.
SETTINGS = "-c synchronous_commit=off -c client_min_messages=warning"
_BEAT = "beat "
_SIGN_BYTES = 16

log = logging.getLogger("door.servers")


class Notifications:
    """A `MessageWay` of the bus."""

    def __init__(self, server: ServerPlace, name: str) -> None:
        """`name` is ours alone, in ASCII."""
        self._server = server
        self._beat = f"{_BEAT}{name}"
        self._waiting: deque[bytes] = deque(maxlen=MOST_WAITING)
        self._wake = asyncio.Event()
        self._sent = asyncio.Event()
        self._heard: Callable[[bytes], None] = lambda data: None
        self._missed: Callable[[], None] = lambda: None
        self._heard_at = 0.0  # by the event loop's clock
        self._is_told = False  # whether the log knows that messages do not arrive
        self._key = b""
        self._pid = 0  # of PostgreSQL's process at the other end
        self._second = 0.0  # when the second began in which messages are counted
        self._count = 0
        self._has_forged = False  # whether the log knows of messages that no server has sent
        self._task: asyncio.Task[None] | None = None

    async def start(self, heard: Callable[[bytes], None], missed: Callable[[], None]) -> None:
        self._heard, self._missed = heard, missed
        self._task = asyncio.create_task(self._keep_connected())

    def send(self, message: bytes) -> None:
        self._waiting.append(message)
        self._sent.clear()
        self._wake.set()

    async def stop(self) -> None:
        task, self._task = self._task, None
        if task is None:
            return
        if self._waiting:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LAST_SECONDS):
                    await self._sent.wait()
        task.cancel()
        # What psycopg still tries with a server that says nothing is not waited for.
        await asyncio.wait({task}, timeout=LAST_SECONDS)

    async def _keep_connected(self) -> None:
        tries = 0
        while True:
            try:
                async with self._connected() as connection:
                    tries = 0
                    self._missed()
                    await self._serve(connection)
            except FloodOfMessages as flood:
                self._tell(flood)
                tries = len(AGAIN_SECONDS)  # the longest wait
            except Exception as error:  # of whatever library: there is no reason to hear no more
                self._tell(error)
            await asyncio.sleep(AGAIN_SECONDS[min(tries, len(AGAIN_SECONDS) - 1)])
            tries += 1

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[AsyncConnection[Any]]:
        # They take long to load, and a board with its books in a file does without.
        from psycopg import AsyncConnection  # noqa: PLC0415

        from timebank.ledger.postgres.database import reached_by  # noqa: PLC0415
        from timebank.ledger.postgres.dialect import MESSAGE_KEY  # noqa: PLC0415

        async with asyncio.timeout(CONNECT_SECONDS):
            connection = await AsyncConnection.connect(
                **reached_by(self._server), options=SETTINGS, autocommit=True
            )
        try:
            connection.prepare_threshold = None
            connection.add_notify_handler(lambda found: self._take(found.payload, found.pid))
            async with asyncio.timeout(ANSWER_SECONDS):
                found = await connection.execute(MESSAGE_KEY, (secrets.token_hex(16),))
                (key,) = await found.fetchone() or ("",)
                self._key = key.encode()
                # Not what the connection says of it, where there is a pooler between.
                found = await connection.execute("SELECT pg_backend_pid()")
                (self._pid,) = await found.fetchone() or (0,)
                await connection.execute(f"LISTEN {CHANNEL}")
            yield connection
        finally:
            await connection.close()

    async def _serve(self, connection: AsyncConnection[Any]) -> None:
        loop = asyncio.get_running_loop()
        self._heard_at, beaten_at = loop.time(), 0.0
        self._count = 0
        while True:
            await self._until_something(connection)
            self._take_in(connection)
            await self._send_what_waits(connection)
            if self._is_flooded:
                raise FloodOfMessages(f"more than {MOST_A_SECOND} messages in a second")
            now = loop.time()
            if now - self._heard_at < BEAT_SECONDS:
                continue
            if beaten_at < self._heard_at:
                beaten_at = now
                await self._say(connection, [self._beat])
            elif now - beaten_at >= ANSWER_SECONDS:
                raise LinkBroken("a message to ourselves does not arrive")

    async def _until_something(self, connection: AsyncConnection[Any]) -> None:
        """Wait until there is something to read or to send, or to see to."""
        loop, file = asyncio.get_running_loop(), connection.fileno()
        loop.add_reader(file, self._wake.set)
        try:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(BEAT_SECONDS):
                    await self._wake.wait()
        finally:
            loop.remove_reader(file)
        self._wake.clear()

    async def _send_what_waits(self, connection: AsyncConnection[Any]) -> None:
        while self._waiting:
            most = min(AT_ONCE, len(self._waiting))
            messages = [self._waiting.popleft().decode() for _ in range(most)]
            await self._say(
                connection, [f"{self._sign(each, self._pid)} {each}" for each in messages]
            )
        self._sent.set()

    async def _say(self, connection: AsyncConnection[Any], messages: list[str]) -> None:
        async with asyncio.timeout(ANSWER_SECONDS):
            await connection.execute(
                "SELECT pg_notify(%s, message) FROM unnest(%s::text[]) AS message",
                (CHANNEL, messages),
            )

    def _take_in(self, connection: AsyncConnection[Any]) -> None:
        connection.pgconn.consume_input()
        while not self._is_flooded and (found := connection.pgconn.notifies()) is not None:
            self._take(found.extra.decode(errors="replace"), found.be_pid)

    @property
    def _is_flooded(self) -> bool:
        return self._count > MOST_A_SECOND

    def _take(self, payload: str, pid: int) -> None:
        now = asyncio.get_running_loop().time()
        if now - self._second >= 1:
            self._second, self._count = now, 0
        self._count += 1
        if self._is_flooded:
            return
        self._heard_at = now
        sign, _, message = payload.partition(" ")
        is_of_a_server = self._is_of_a_server(sign, message, pid)
        if self._is_told and (is_of_a_server or payload == self._beat):
            self._is_told = False
            log.warning("messages of other servers arrive again")
        if is_of_a_server:
            self._heard(message.encode())
        elif not payload.startswith(_BEAT) and not self._has_forged:
            self._has_forged = True
            log.warning(
                "a message in %s that no server of this board has signed is not heard; this is"
                " said once. Let nobody but the board log on to its database.",
                self._server,
            )

    def _sign(self, message: str, pid: int) -> str:
        signed = f"{pid} {message}".encode()
        return hmac.digest(self._key, signed, "sha256")[:_SIGN_BYTES].hex()

    def _is_of_a_server(self, sign: str, message: str, pid: int) -> bool:
        """Return whether somebody who can read the books has signed the message, and sent it."""
        return hmac.compare_digest(sign.encode(), self._sign(message, pid).encode())

    def _tell(self, error: Exception) -> None:
        if not self._is_told:
            self._is_told = True
            log.warning(
                "no messages of other servers arrive through %s (%s): what they do is seen some"
                " seconds later",
                *(self._server, str(error).strip() or type(error).__name__),
            )
