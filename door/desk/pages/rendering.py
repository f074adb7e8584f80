"""How a page is made: threads read the books, and a template shows them."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from urllib.parse import urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.responses import HTMLResponse, Response

from door.desk.pages.queries import title
from timebank.reports.statements import amount
from timebank.words import clock, short_amount

if TYPE_CHECKING:
    from starlette.datastructures import QueryParams
    from starlette.requests import Request

    from door.desk.pages.queries import BooksReader
    from door.desk.pages.sessions import Session
    from timebank.callers.callers import CallerRecord

T = TypeVar("T")

AT_ONCE = 2  # pages read at a time
PIECE = 65_536  # characters of a file sent at a time
HERE = Path(__file__).parent
# The first word of a page's address, its name, and those of the pages within.
PAGES = (
    ("", "Today", ()),
    ("ledger", "Ledger", ("entry", "hand")),
    ("callers", "Callers", ("caller",)),
    ("plots", "Plots", ()),
    ("balances", "Balances", ()),
    ("acts", "Acts", ("act",)),
)
FEW = 3  # columns, which fit on a phone side by side


class Visit(NamedTuple):
    """A request by a reader who has logged on."""

    request: Request
    who: CallerRecord
    session: Session

    @property
    def query(self) -> QueryParams:
        return self.request.query_params


View = Callable[[Visit], Awaitable[Response]]
Guard = Callable[[View], Callable[["Request"], Awaitable[Response]]]


class PageRenderer:
    """Reads in threads and renders templates."""

    def __init__(self, reading: BooksReader) -> None:
        self.reading = reading
        self._threads = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="pages")
        # One at a time, so that reports leave a processor to everything else.
        self._reports = ThreadPoolExecutor(
            1, thread_name_prefix="reports", initializer=_run_when_idle
        )
        self._templates = Environment(
            loader=FileSystemLoader(HERE / "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._templates.filters.update(
            amount=amount,
            clock=clock,
            coded=coded,
            folding=folding,
            short=short_amount,
            title=title,
        )
        self._templates.globals.update(
            PAGES=PAGES, board=reading.config.board.name, local=reading.local, query=query
        )

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._reports.shutdown(wait=False, cancel_futures=True)

    async def read(self, look: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, look)

    async def report(self, look: Callable[[], T]) -> T:
        """Read what may take long, in a thread that gets only idle time of the processor."""
        return await asyncio.get_running_loop().run_in_executor(self._reports, look)

    async def file(self, words: Iterator[str]) -> AsyncIterator[str]:
        """Yield a file in pieces, each read as by `report`, so that other reports get turns."""
        while piece := await self.report(lambda: _piece(words)):
            yield piece

    def show(
        self, template: str, visit: Visit | None = None, status: int = 200, **values: object
    ) -> Response:
        """Render a page; without a `visit` it is for a stranger."""
        who = {
            "who": None if visit is None else visit.who,
            "session": None if visit is None else visit.session,
            "place": "" if visit is None else visit.request.url.path.split("/")[1],
        }
        page = self._templates.get_template(template).render({**who, **values})
        return HTMLResponse(page, status)

    def problem(self, words: str, status: int, visit: Visit | None = None) -> Response:
        return self.show("problem.html", visit, status, words=words)


def _piece(words: Iterator[str]) -> str:
    parts, length = [], 0
    for each in words:
        parts.append(each)
        length += len(each)
        if length >= PIECE:
            break
    return "".join(parts)


def _run_when_idle() -> None:
    """Give this thread only the idle time of the processor."""
    with contextlib.suppress(OSError, AttributeError):  # not every system can
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))


def query(fields: Mapping[str, str | Sequence[str]], **more: Any) -> str:
    """Encode fields as the query of an address; empty ones are left out."""
    values = {**fields, **more}
    return urlencode({name: value for name, value in values.items() if value}, doseq=True)


def coded(words: str) -> str:
    """Show what is between backticks in a sentence as code."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(words))))


ROLES = {"table": "table", "thead": "rowgroup", "tbody": "rowgroup", "tr": "row"}
ROLES |= {"th": "columnheader", "td": "cell"}
_TAG = re.compile(rf"<({'|'.join(ROLES)})\b")
_HEAD = re.compile(r"<th\b[^>]*>(.*?)</th>", re.DOTALL)


def folding(table: str) -> str:
    """Let the rows of a table become cards on a narrow screen, by `.folds` of the style sheet.

    Each cell gets the words over its column. Roles keep it a table for a screen reader.
    """
    heads = [escape(Markup(head).striptags()) for head in _HEAD.findall(table)]
    if len(heads) <= FEW:
        return table
    labels = iter(heads)

    def marked(tag: re.Match[str]) -> str:
        nonlocal labels
        more = f' role="{ROLES[tag[1]]}"'
        if tag[1] == "table":
            more += ' class="folds"'
        elif tag[1] == "tr":
            labels = iter(heads)
        elif tag[1] == "td":
            more += f' data-label="{next(labels)}"'
        return tag[0] + more

    return Markup(re.sub(r">\s+</td>", "></td>", _TAG.sub(marked, table)))
