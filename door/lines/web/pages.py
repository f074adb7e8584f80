"""The files of our page, and how they are sent.

Everything comes from the wheel and is kept in memory, small by gzip where the browser takes it. The
page runs no script and shows no style but those of its own files.
"""

from __future__ import annotations

import gzip
import html
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from importlib.resources import files

_FILES = files("door.lines.web") / "page"
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".woff2": "font/woff2",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}
_PACKED = frozenset({".woff2"})  # made small already
_BOARD = b"{{board}}"  # where the page has the name of the board

# Nothing inline and nothing from elsewhere; only our own pages may show this one in a frame, which
# is to say none.
_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "font-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}


@dataclass(frozen=True)
class File:
    kind: str
    plain: bytes
    packed: bytes | None  # by gzip
    tag: str  # changes with the content


@lru_cache(maxsize=4)
def load(board: str) -> Mapping[str, File]:
    """Read all files of the page of a board, by the path under which a browser asks for them."""
    found: dict[str, File] = {}
    for folder in (_FILES, _FILES / "vendored"):
        for file in folder.iterdir():
            ending = "." + file.name.rpartition(".")[2]
            if ending in _TYPES:
                content = file.read_bytes()
                if ending == ".html":
                    content = content.replace(_BOARD, html.escape(board).encode())
                prefix = "/" if folder is _FILES else "/vendored/"
                found[prefix + file.name] = _file(ending, content)
    found["/"] = found.pop("/index.html")
    return found


def _file(ending: str, content: bytes) -> File:
    packed = None if ending in _PACKED else gzip.compress(content, mtime=0)
    tag = sha256(content).hexdigest()[:16]
    return File(_TYPES[ending], content, packed, f'"{tag}"')
