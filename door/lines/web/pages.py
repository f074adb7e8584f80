"""The files of our page, and how they are sent.

All come from the package and stay in memory, also compressed by gzip for browsers that take it. The
page runs only the scripts and styles of its own files.
"""

from __future__ import annotations

import gzip
import html
import re
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
    ".png": "image/png",
    ".txt": "text/plain; charset=utf-8",
}
_PACKED = frozenset({".woff2", ".png"})  # compressed already
_FIELD = re.compile(r"\{\{(\w+)\}\}")  # a field of a template, filled with HTML

# Nothing inline and nothing from other hosts; only our own pages may frame this one, and none do.
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
    fresh: int = 0  # seconds for which browsers need not ask whether it has changed


@lru_cache(maxsize=4)
def load(board: str) -> Mapping[str, File]:
    """Return all files of a board's page, by the path under which a browser asks for them."""
    values = {"board": html.escape(board), "title": html.escape(board), "head": ""}
    pages: dict[str, File] = {}
    for folder in (_FILES, _FILES / "vendored"):
        for file in folder.iterdir():
            ending = "." + file.name.rpartition(".")[2]
            if ending in _TYPES:
                content = file.read_bytes()
                if ending == ".html":
                    content = fill(content.decode(), values).encode()
                prefix = "/" if folder is _FILES else "/vendored/"
                pages[prefix + file.name] = made(ending, content)
    pages["/"] = pages.pop("/index.html")
    return pages


def front(board: str, head: str, about: str) -> File:
    """Make the front page of a board that has a page about itself at `about`; `head` is HTML."""
    name = html.escape(board)
    title = f'<a href="{about}" target="_blank" rel="noopener">{name}</a>'
    text = (_FILES / "index.html").read_text("utf-8")
    return made(".html", fill(text, {"board": name, "title": title, "head": head}).encode())


def fill(template: str, values: Mapping[str, str]) -> str:
    """Put values, which are HTML, into the fields of a template.

    >>> fill("<p>{{board}}</p>", {"board": "The &lt;Lucky&gt; Modem"})
    '<p>The &lt;Lucky&gt; Modem</p>'
    """
    return _FIELD.sub(lambda field: values[field[1]], template)


def made(ending: str, content: bytes, fresh: int = 0) -> File:
    """Make a file of the kind that `ending` names, such as ".html"."""
    packed = None if ending in _PACKED else gzip.compress(content, mtime=0)
    tag = sha256(content).hexdigest()[:16]
    return File(_TYPES[ending], content, packed, f'"{tag}"', fresh)
