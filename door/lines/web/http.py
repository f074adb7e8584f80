"""Requests of strangers and answers to them: the HTTP/1.1 that a page and a WebSocket need. The
library parses requests; this module limits them.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from http import HTTPStatus

from websockets.datastructures import Headers, MultipleValuesError
from websockets.exceptions import NegotiationError
from websockets.http11 import Request
from websockets.server import ServerProtocol
from websockets.typing import Subprotocol

from door.errors import RequestRefused
from door.lines.web.pages import HEADERS, File

MOST_HEAD = 8192  # bytes of a request; it has no body
MOST_MESSAGE = 16_384  # bytes of a WebSocket message
_END = b"\r\n\r\n"

# The library's messages quote strangers.
_UNHEARD = logging.getLogger("door.lines.web.library")
_UNHEARD.setLevel(logging.CRITICAL)


class Heads:
    """Splits bytes into the heads of requests, in packets of any size.

    >>> heads = Heads()
    >>> heads.feed(b"GET / HTTP/1.1\\r\\nHost: a\\r\\n\\r")
    >>> heads.next()
    >>> heads.feed(b"\\nGET")
    >>> heads.next(), heads.rest
    (b'GET / HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n', b'GET')
    """

    def __init__(self) -> None:
        self._read = bytearray()
        self._looked = 0

    def feed(self, data: bytes) -> None:
        self._read += data

    def next(self) -> bytes | None:
        """Return the next head once it is whole; raise `RequestRefused` if it is too long."""
        end = self._read.find(_END, self._looked)
        if max(end, len(self._read) if end < 0 else 0) > MOST_HEAD:
            raise RequestRefused(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "a long request")
        if end < 0:
            self._looked = max(0, len(self._read) - len(_END) + 1)
            return None
        self._looked = 0
        head = bytes(self._read[: end + len(_END)])
        del self._read[: end + len(_END)]
        return head

    @property
    def has_begun(self) -> bool:
        return bool(self._read)

    @property
    def rest(self) -> bytes:
        return bytes(self._read)


def protocol_for(subprotocols: tuple[str, ...]) -> ServerProtocol:
    """Return the parser of a request and of its WebSocket, without compression."""
    return ServerProtocol(
        subprotocols=[Subprotocol(name) for name in subprotocols],
        select_subprotocol=_first_of_ours,
        max_size=MOST_MESSAGE,
        logger=_UNHEARD,
    )


def _first_of_ours(protocol: ServerProtocol, offered: object) -> Subprotocol | None:
    """Return the first of ours; none means telnet, as from programs that name no subprotocol."""
    names = list(offered) if isinstance(offered, list | tuple) else []
    ours = protocol.available_subprotocols or ()
    if not names:
        return None
    for name in ours:
        if name in names:
            return name
    raise NegotiationError("a WebSocket of another kind")


def read(protocol: ServerProtocol, head: bytes) -> Request:
    """Parse a whole head; raise `RequestRefused` if it is no request that we serve."""
    protocol.receive_data(head)
    for event in protocol.events_received():
        if isinstance(event, Request):
            return event
    raise RequestRefused(HTTPStatus.BAD_REQUEST, "something other than an HTTP request")


def header_value(headers: Headers, name: str) -> str:
    """Return a header, several values joined; "" without it."""
    try:
        return headers.get(name) or ""
    except MultipleValuesError:
        return ", ".join(headers.get_all(name))


def wants(headers: Headers, name: str, word: str) -> bool:
    """Return whether a header of words contains one, in any case."""
    return word in (each.strip().lower() for each in header_value(headers, name).split(","))


def is_from_us(origin: str, host: str) -> bool:
    """Return whether a page comes from the host that it calls. Behind a front end with TLS the
    scheme is unknown, so the usual ports of both schemes are dropped.
    >>> is_from_us("https://board.example", "board.example:443")
    True
    >>> is_from_us("http://board.example:8023", "board.example")
    False
    """
    scheme, _, place = origin.lower().partition("://")
    return scheme in ("http", "https") and _bare(place) == _bare(host.lower()) != ""


def _bare(place: str) -> str:
    return place.removesuffix(":443").removesuffix(":80")


def head_of(status: HTTPStatus, more: Mapping[str, str], *, stays: bool) -> bytes:
    lines = [f"HTTP/1.1 {status.value} {status.phrase}"]
    fields = {**HEADERS, **more, "Connection": "keep-alive" if stays else "close"}
    lines += [f"{name}: {value}" for name, value in fields.items()]
    return "\r\n".join((*lines, "", "")).encode("latin-1", "replace")


def words(status: HTTPStatus, text: str) -> tuple[dict[str, str], bytes]:
    """Return headers and body of an answer in plain text."""
    body = f"{text or status.phrase}\n".encode()
    return {"Content-Type": "text/plain; charset=utf-8", "Content-Length": str(len(body))}, body


def preferred(accepted: str, languages: Sequence[str]) -> str:
    """Return the language that a browser likes best; the first one if it likes none.

    >>> preferred("de, fr-CA;q=0.8, en;q=0.5", ("en", "fr")), preferred("de;q=x", ("en", "fr"))
    ('fr', 'en')
    """
    best, weight = languages[0], 0.0
    for range_ in accepted.split(","):
        tag, _, quality = range_.partition(";")
        language = tag.strip().lower().partition("-")[0]
        try:
            liked = float(quality.strip().removeprefix("q=") or 1)
        except ValueError:
            continue
        if language in languages and liked > weight:
            best, weight = language, liked
    return best


def answer_of(file: File, headers: Headers) -> tuple[HTTPStatus, dict[str, str], bytes]:
    """Return status, headers and body of an answer with a file."""
    caching = f"public, max-age={file.fresh}" if file.fresh else "no-cache"
    more = {"Cache-Control": caching, "Vary": "Accept-Encoding"}
    if file.others:
        made_in = {each.language: each for each in (file, *file.others)}
        file = made_in[preferred(header_value(headers, "Accept-Language"), tuple(made_in))]
        more["Vary"] += ", Accept-Language"
    if file.language:
        more["Content-Language"] = file.language
    more["ETag"] = file.tag
    if file.tag in header_value(headers, "If-None-Match"):
        return HTTPStatus.NOT_MODIFIED, more, b""
    body = file.plain
    if file.packed is not None and wants(headers, "Accept-Encoding", "gzip"):
        body = file.packed
        more["Content-Encoding"] = "gzip"
    return (
        HTTPStatus.OK,
        {**more, "Content-Type": file.kind, "Content-Length": str(len(body))},
        body,
    )
