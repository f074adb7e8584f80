"""The sysop's commands to a server, by `door.sock`, where doors hand their callers over.

A command is a JSON object, and each answer is one. A server that has read a command says so at
once, and closes the connection behind its last answer. An object goes in packets
(`lines.hand_over`) of PART, and the last one of SAID.
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

# What the sysop says: a command, and what they type behind it. What the server says.
COMMAND, TYPED = "command", "typed"
HEARD, PART, SAID = "heard", "part", "said"
PIECE = 32 * 1024  # characters of a packet, all of them ASCII
SECONDS = 10.0  # that one packet may take

Message = Mapping[str, Any]  # an object, as JSON has it


def packets(what: Message) -> list[bytes]:
    """Make the packets of an answer.

    >>> packets({"words": "Hello."})
    [b'said\\x00{"words": "Hello."}']
    """
    text = json.dumps(what)
    *parts, last = (text[start : start + PIECE] for start in range(0, len(text), PIECE))
    return [*(hand_over.packed(PART, part) for part in parts), hand_over.packed(SAID, last)]


def read(text: str) -> Message:
    """Read an object; an empty one for what is none."""
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}


class SysopCommand:
    """One command at the server; `has_ended` says that the sysop has hung up."""

    def __init__(self, wire: socket.socket, text: str) -> None:
        """Tell the sysop that the command is heard; OSError where they no longer wait."""
        self.request = read(text)
        self.has_ended = False
        self._wire = wire
        self._listens = False
        wire.send(hand_over.packed(HEARD))

    async def answer(self, what: Message) -> None:
        """Send an object; OSError where nobody takes it."""
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
    """One command and what follows it, at the other end."""

    def __init__(self, folder: Path, said: Message) -> None:
        """Give a command to the server in a data folder; OSError where none listens."""
        near = hand_over.dial(str(folder))
        self._wire = socket.socket(fileno=near.detach())
        self._wire.setblocking(False)
        self._say(COMMAND, said)

    def say(self, **said: object) -> None:
        """Say what the sysop types, if the server still listens."""
        with contextlib.suppress(OSError):
            self._say(TYPED, said)

    def _say(self, word: str, said: Message) -> None:
        self._wire.send(hand_over.packed(word, json.dumps(said)))

    async def told(self) -> AsyncGenerator[Message, None]:
        """Give what the server tells, until its end; OSError where it has been killed."""
        loop, text = asyncio.get_running_loop(), ""
        with self._wire:
            while packet := await loop.sock_recv(self._wire, hand_over.LARGEST):
                word, *texts = hand_over.unpacked(packet)
                text += "".join(texts)
                if word == SAID:
                    yield read(text)
                    text = ""

    def close(self) -> None:
        """Hang up: `told` ends."""
        with contextlib.suppress(OSError):
            self._wire.shutdown(socket.SHUT_RDWR)
