"""What the processes of a board tell each other at once, wherever they are.

The rows in the books are the truth. A message only says that there is something to look at, so one
that is lost costs a few seconds, and one that is forged or comes twice costs a look. Whoever hears
of a gap (`Bus.on_gap`) looks at everything once.

A message is a line of JSON, shorter than `LARGEST` bytes:

    {"id": "c0ffee:7", "kind": "notices", "facts": {}}

`id` is who said it and the how manieth it is, so that what comes in by two ways is heard once.
What is no such line, or of a kind that nobody here knows, is nothing.
"""

from __future__ import annotations

import json
import logging
import os
from collections import OrderedDict
from collections.abc import Callable, Mapping
from functools import partial
from itertools import count
from typing import Any, Protocol

LARGEST = 7900  # bytes of a message; PostgreSQL takes less than 8000
MOST_SEEN = 4096  # messages that are known when they come again

# The kinds, and what their facts are.
NOTICES = "notices"  # something waits for some caller: none
TAKEN_OVER = "taken-over"  # a caller has another call now: `call`, the number of the old one
SERVERS = "servers"  # one has begun, or ended, or drains: none
COMINGS = "comings"  # somebody logged on or off: `call`, and whether they `came`
LEASE = "lease"  # one was let go: `name`

Facts = Mapping[str, Any]
Heard = Callable[[Facts], None]

log = logging.getLogger("door.servers")


class MessageWay(Protocol):
    """One way in and out: each message goes out by all of them."""

    async def start(self, heard: Callable[[bytes], None], missed: Callable[[], None]) -> None:
        """Begin to call `heard` with what comes in, and `missed` when something may have been."""

    def send(self, message: bytes) -> None:
        """Send, now or in a moment; what cannot be sent is lost."""

    async def stop(self) -> None:
        """Take nothing more in, and send what waits if that can be done at once."""


class Bus:
    def __init__(self, ways: list[MessageWay]) -> None:
        self._ways = ways
        self._subscribers: dict[str, list[Heard]] = {}
        self._gaps: list[Callable[[], None]] = []
        self._name = os.urandom(6).hex()
        self._numbers = count(1)
        self._seen: OrderedDict[str, None] = OrderedDict()
        self._garbage = 0  # messages that were none

    def subscribe(self, kind: str, heard: Heard) -> None:
        """Call `heard` with the facts of each message of a kind that another process sends.

        It is called on the event loop, and must not keep it; what facts are there is not certain.
        """
        self._subscribers.setdefault(kind, []).append(heard)

    def on_gap(self, look: Callable[[], None]) -> None:
        """Call `look` when messages may have been missed."""
        self._gaps.append(look)

    async def start(self) -> None:
        for way in self._ways:
            await way.start(partial(self._hear, way), self._miss)

    async def stop(self) -> None:
        for way in self._ways:
            await way.stop()

    def publish(self, kind: str, **facts: Any) -> None:
        """Tell all other processes; it neither waits nor fails.

        What does not fit into a message is left to the looks that are taken anyhow.
        """
        number = f"{self._name}:{next(self._numbers)}"
        message = json.dumps(
            {"id": number, "kind": kind, "facts": facts}, separators=(",", ":")
        ).encode()
        if len(message) > LARGEST:
            log.error("a message of %d bytes about %s is not sent", len(message), kind)
            return
        self._note(number)  # so that our own is not heard
        for way in self._ways:
            way.send(message)

    # What comes in.

    def _hear(self, by: MessageWay, data: bytes) -> None:
        message = _read(data)
        if message is None:
            self._garbage += 1
            if self._garbage == 1:  # once: somebody may send a million
                log.warning("a message of another server cannot be read; this is said once")
            return
        number, kind, facts = message
        if number in self._seen:
            return
        self._note(number)
        for way in self._ways:
            if way is not by:  # for who is reached by that one alone
                way.send(data)
        for heard in self._subscribers.get(kind, ()):
            _tell(partial(heard, facts), kind)

    def _miss(self) -> None:
        for look in self._gaps:
            _tell(look, "a gap")

    def _note(self, number: str) -> None:
        self._seen[number] = None
        if len(self._seen) > MOST_SEEN:
            self._seen.popitem(last=False)


def _tell(heard: Callable[[], None], what: str) -> None:
    """Tell one subscriber; whatever goes wrong there is no reason not to tell the others."""
    try:
        heard()
    except Exception:
        log.exception("a message about %s could not be followed", what)


def _read(data: bytes) -> tuple[str, str, Facts] | None:
    if len(data) > LARGEST:
        return None
    try:
        said = json.loads(data)
    except (ValueError, RecursionError):
        return None
    match said:
        case {"id": str(number), "kind": str(kind), "facts": dict(facts)} if len(number) <= 40:
            return number, kind, facts
    return None
