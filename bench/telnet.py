"""Just enough telnet for a client that takes part, and for one that refuses everything."""

from __future__ import annotations

import re
from collections.abc import Mapping

IAC, DONT, DO, WONT, WILL, SB, SE = 255, 254, 253, 252, 251, 250, 240
BINARY, ECHO, SGA, TTYPE, EOR, NAWS, NEW_ENVIRON, CHARSET = 0, 1, 3, 24, 25, 31, 39, 42
PERFORMS = frozenset({BINARY, SGA, TTYPE, NAWS, NEW_ENVIRON, CHARSET})
ACCEPTS = frozenset({BINARY, ECHO, SGA, EOR, CHARSET})

COMMAND = re.compile(
    rb"\xff(?:([\xfb-\xfe])(.)|\xfa((?:[^\xff]|\xff\xff)*)\xff\xf0|[\xef-\xf9])", re.DOTALL
)
SUBNEGOTIATIONS = {
    TTYPE: b"\x18\x00xterm-256color",
    NEW_ENVIRON: b"\x27\x00\x00LANG\x01en_US.UTF-8",
    CHARSET: b"\x2a\x02UTF-8",
}


class Client:
    """The telnet of one connection: input is fed in, and answers come out."""

    def __init__(self, *, takes_part: bool, says: Mapping[int, bytes] = SUBNEGOTIATIONS) -> None:
        self._takes_part = takes_part
        self._says = says  # its answers to requests, by option
        self._unread = b""
        self.shown = b""  # the output without commands

    def feed(self, data: bytes) -> bytes:
        self._unread += data
        answers = b""
        end = 0
        for command in COMMAND.finditer(self._unread):
            self.shown += self._unread[end : command.start()]
            end = command.end()
            answers += self._answer(command)
        rest = self._unread[end:]
        whole = rest.find(IAC) if IAC in rest else len(rest)
        self.shown += rest[:whole]
        self._unread = rest[whole:]
        return answers

    def _answer(self, command: re.Match[bytes]) -> bytes:
        verb, option, body = command.groups()
        if body is not None:
            return _subnegotiation(self._says[body[0]]) if body[0] in self._says else b""
        if verb is None or verb[0] in (DONT, WONT):
            return b""
        number = option[0]
        if verb[0] == WILL:
            agreed = self._takes_part and number in ACCEPTS
            return bytes((IAC, DO if agreed else DONT, number))
        agreed = self._takes_part and number in PERFORMS
        answer = bytes((IAC, WILL if agreed else WONT, number))
        if agreed and number == NAWS:
            answer += _subnegotiation(b"\x1f\x00\x50\x00\x18")
        return answer


def _subnegotiation(body: bytes) -> bytes:
    return bytes((IAC, SB)) + body + bytes((IAC, SE))
