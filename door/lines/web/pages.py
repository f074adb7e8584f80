"""The files of our page, and how they are sent.

All come from the package and stay in memory, also compressed by gzip for browsers that take it. The
page runs only the scripts and styles of its own files.
"""

from __future__ import annotations

import gzip
import html
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import sha256
from importlib.resources import files

from timebank.language import ENGLISH, LANGUAGES, Viewer, _, speaking_to

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
    ".webmanifest": "application/manifest+json",
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
        "manifest-src 'self'",
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
    language: str = ""
    others: tuple[File, ...] = ()  # the same page in other languages, by the browser's choice


@lru_cache(maxsize=4)
def load(board: str, language: str = ENGLISH) -> Mapping[str, File]:
    """Return all files of a board's page, by the path under which a browser asks for them.

    `language` is the board's own.
    """
    pages = named(board, language)
    for folder in (_FILES, _FILES / "vendored"):
        for file in folder.iterdir():
            ending = "." + file.name.rpartition(".")[2]
            if ending in _TYPES and file.name != "index.html":
                prefix = "/" if folder is _FILES else "/vendored/"
                pages[prefix + file.name] = made(ending, file.read_bytes())
    return pages


def named(board: str, language: str) -> dict[str, File]:
    """Return the files that name the board."""
    return {"/": front(board, language), "/manifest.webmanifest": _manifest(board)}


def front(
    board: str, language: str, about: str = "", heads: Mapping[str, str] | None = None
) -> File:
    """Make the front page in every language, `language` for browsers that ask for no other.

    `about` is the address of the board's page about itself, and `heads` are HTML by language.
    """
    name = html.escape(board)
    title = f'<a href="{about}" target="_blank" rel="noopener">{name}</a>' if about else name
    text, made_in = (_FILES / "index.html").read_text("utf-8"), {}
    for each in LANGUAGES:
        with speaking_to(Viewer(each)):
            needs = _(
                "This page is a terminal and needs JavaScript. Any telnet program can call the "
                "board as well."
            )
            words = {"loading": html.escape(_("Loading…")), "needs": html.escape(needs)}
        head = (heads or {}).get(each, "")
        values = {"board": name, "title": title, "head": head, "language": each, **words}
        made_in[each] = made(".html", fill(text, values).encode(), language=each)
    return in_languages(made_in, language)


def in_languages(made_in: Mapping[str, File], language: str) -> File:
    """Return a page in `language`, with the same page in the other languages."""
    others = tuple(file for each, file in made_in.items() if each != language)
    return replace(made_in[language], others=others)


def _manifest(board: str) -> File:
    """Make the manifest with which a phone puts the board on its home screen."""
    icons = [
        {"src": f"icon-{size}.png", "sizes": f"{size}x{size}", "purpose": purpose}
        for size in (192, 512)
        for purpose in ("any", "maskable")
    ]
    colours = {"background_color": "#000000", "theme_color": "#000000"}
    how = {"id": "./", "start_url": "./", "display": "standalone"}
    return made(
        ".webmanifest", json.dumps({"name": board, **how, **colours, "icons": icons}).encode()
    )


def fill(template: str, values: Mapping[str, str]) -> str:
    """Put values, which are HTML, into the fields of a template.

    >>> fill("<p>{{board}}</p>", {"board": "The &lt;Lucky&gt; Modem"})
    '<p>The &lt;Lucky&gt; Modem</p>'
    """
    return _FIELD.sub(lambda field: values[field[1]], template)


def made(ending: str, content: bytes, fresh: int = 0, language: str = "") -> File:
    """Make a file of the kind that `ending` names, such as ".html"."""
    packed = None if ending in _PACKED else gzip.compress(content, mtime=0)
    tag = sha256(content).hexdigest()[:16]
    return File(_TYPES[ending], content, packed, f'"{tag}"', fresh, language)
