"""The sysop's commands to a server, through `door.sock`, the socket of the doors.

A command and each answer are JSON objects. The server confirms at once that it has read a command,
and closes the connection after its last answer. An object travels in packets (`lines.hand_over`) of
PART, the last one of LAST_PART.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
from collections.abc import AsyncGenerator, Callable, Mapping
from pathlib import Path
from typing import Any

from door.lines import hand_over

# Words of the sysop: a command, and what they type after it. Words of the server.
COMMAND, TYPED = "command", "typed"
RECEIVED, PART, LAST_PART = "heard", "part", "said"
PIECE = 32 * 1024  # characters of a packet, all of them ASCII
SECONDS = 10.0  # for the other end to take one packet

Message = Mapping[str, Any]  # a JSON object


def packets(what: Message) -> list[bytes]:
    """Return the packets of an answer.

    >>> packets({"words": "Hello."})
    [b'said\\x00{"words": "Hello."}']
    """
    text = json.dumps(what)
    *parts, last = (text[start : start + PIECE] for start in range(0, len(text), PIECE))
    return [*(hand_over.packed(PART, part) for part in parts), hand_over.packed(LAST_PART, last)]


def read(text: str) -> Message:
    """Return the JSON object in a text; an empty one if the text has none."""
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return parsed if isinstance(parsed, dict) else {}


class SysopCommand:
    """One command at the server; `has_ended` becomes true when the sysop hangs up."""

    def __init__(self, wire: socket.socket, text: str) -> None:
        """Confirm that the command is read; raise `OSError` if the sysop no longer waits."""
        self.request = read(text)
        self.has_ended = False
        self._wire = wire
        self._listens = False
        wire.send(hand_over.packed(RECEIVED))

    async def answer(self, what: Message) -> None:
        """Send an object; raise `OSError` if the sysop does not take it."""
        loop = asyncio.get_running_loop()
        for packet in packets(what):
            async with asyncio.timeout(SECONDS):
                await loop.sock_sendall(self._wire, packet)

    def listen(self, typed: Callable[[Message], None], hung_up: Callable[[], None]) -> None:
        """Call `typed` with each object that the sysop types, and `hung_up` at the end, until
        `stop`."""
        self._listens = True
        asyncio.get_running_loop().add_reader(self._wire.fileno(), self._read, typed, hung_up)

    def stop(self) -> None:
        if self._listens:
            self._listens = False
            asyncio.get_running_loop().remove_reader(self._wire.fileno())

    def _read(self, typed: Callable[[Message], None], hung_up: Callable[[], None]) -> None:
        try:
            word, *texts = hand_over.unpacked(hand_over.receive(self._wire))
        except BlockingIOError:
            return
        except OSError:
            word = ""
        if word == TYPED and texts:
            typed(read(texts[0]))
        else:
            self.has_ended = True
            self.stop()
            hung_up()


class Conversation:
    """The sysop's end of a command and of what follows it."""

    def __init__(self, folder: Path, request: Message) -> None:
        """Send a command to the server of a data folder; raise `OSError` if none listens."""
        near = hand_over.dial(str(folder))
        self._wire = socket.socket(fileno=near.detach())
        self._wire.setblocking(False)
        self._say(COMMAND, request)

    def say(self, **typed: object) -> None:
        """Send what the sysop types, if the server still listens."""
        with contextlib.suppress(OSError):
            self._say(TYPED, typed)

    def _say(self, word: str, message: Message) -> None:
        self._wire.send(hand_over.packed(word, json.dumps(message)))

    async def answers(self) -> AsyncGenerator[Message, None]:
        """Yield the server's objects until its end; raise `OSError` if it was killed."""
        loop, text = asyncio.get_running_loop(), ""
        with self._wire:
            while packet := await loop.sock_recv(self._wire, hand_over.LARGEST):
                word, *texts = hand_over.unpacked(packet)
                text += "".join(texts)
                if word == LAST_PART:
                    yield read(text)
                    text = ""

    def close(self) -> None:
        """Hang up, which ends `answers`."""
        with contextlib.suppress(OSError):
            self._wire.shutdown(socket.SHUT_RDWR)
