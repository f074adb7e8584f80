"""The pages, and who may see them: whoever has the sysop's powers, by their own name and password.

Everything is made here, in HTML; there is no script. Passwords are hashed, counted and made to wait
as at the log-on (`door.defence`), in this process for itself.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import parse_qs, urlencode, urlsplit

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.applications import Starlette
from starlette.responses import HTMLResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from door.call import passwords
from door.defence.reception import minutes as waiting
from door.pages import sessions
from door.pages.reading import title
from timebank.errors import BooksFailed
from timebank.names import names
from timebank.reports.leaves import Sought
from timebank.reports.statements import amount
from timebank.words import clock

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from door.clock import Clock
    from door.defence.reception import Reception
    from door.pages.reading import Reading
    from door.pages.sessions import Session
    from timebank.callers.callers import CallerRecord

T = TypeVar("T")
View = Callable[["Request", "CallerRecord", "Session"], Awaitable[Response]]

COOKIE = "session"
AT_ONCE = 2  # pages that are read at a time; others wait
LONGEST_FORM = 4096  # bytes
LONGEST_NUMBER = 15  # digits
FIRST_YEAR, LAST_YEAR = 1970, 2999
HERE = Path(__file__).parent
WRONG = "Wrong name or password, or a caller without the sysop's powers."
KINDLY_WAIT = "Too many wrong passwords for that name, or from your address. Try again in {time}."
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self';"
        " base-uri 'none'; frame-ancestors 'none'"
    ),
    "Cache-Control": "no-store",
    # Under "no-referrer" browsers do not say where a form of ours comes from.
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class Pages:
    """`is_safe` says that the browser talks to us by TLS, so that the cookie goes nowhere else."""

    def __init__(
        self, reading: Reading, reception: Reception, now: Clock, *, is_safe: bool = False
    ) -> None:
        self._reading = reading
        self._reception = reception
        self._now = now
        self.is_safe = is_safe
        self._sessions = sessions.Sessions()
        self._desk = passwords.PasswordDesk()
        self._threads = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="pages")
        self._templates = Environment(
            loader=FileSystemLoader(HERE / "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._templates.filters.update(amount=amount, clock=clock, title=title)
        self._templates.globals.update(
            board=reading.config.board.name, local=reading.local, query=_query
        )

    def app(self) -> ASGIApp:
        inside = Starlette(
            routes=[
                Route("/", self._of_sysop(self._today)),
                Route("/log-on", self._log_on, methods=["GET", "POST"]),
                Route("/log-off", self._of_sysop(self._log_off), methods=["POST"]),
                Route("/ledger", self._of_sysop(self._ledger)),
                Route("/ledger.csv", self._of_sysop(self._csv)),
                Route("/entry/{number}", self._of_sysop(self._entry)),
                Route("/callers", self._of_sysop(self._callers)),
                Route("/caller/{number}", self._of_sysop(self._caller)),
                Mount("/static", StaticFiles(directory=HERE / "static")),
            ],
            exception_handlers={404: self._not_found, BooksFailed: self._no_books},
        )
        return _With(inside, HEADERS)

    def close(self) -> None:
        self._desk.close()
        self._threads.shutdown(wait=False, cancel_futures=True)

    # Who may see them

    def _of_sysop(self, view: View) -> Callable[[Request], Awaitable[Response]]:
        async def guarded(request: Request) -> Response:
            token = request.cookies.get(COOKIE, "")
            session = self._sessions.find(token, self._now.monotonic())
            record = None
            if session is not None:
                holds = partial(self._reading.holds, session.caller_id, session.password_hash)
                record = await self._read(holds)
            if session is None or record is None:
                self._sessions.end(token)
                return RedirectResponse("/log-on", 303)
            return await view(request, record, session)

        return guarded

    async def _log_on(self, request: Request) -> Response:
        if request.method == "GET":
            return self._show("log_on.html", words="")
        form = await _form(request)
        if form is None or not _is_own(request):
            return self._problem("That form did not come from this page.", 403)
        address = "unknown" if request.client is None else request.client.host
        record, words = await self._believed(address, form.get("name", ""), form.get("word", ""))
        if record is None:
            return self._show("log_on.html", 403, words=words)
        token = self._sessions.begin(record.id, record.password_hash, self._now.monotonic())
        answer = RedirectResponse("/", 303)
        answer.set_cookie(COOKIE, token, httponly=True, samesite="strict", secure=self.is_safe)
        return answer

    async def _believed(
        self, address: str, name: str, password: str
    ) -> tuple[CallerRecord | None, str]:
        """Return who may see the pages, or why nobody is let in, equally slowly."""
        if not name.isprintable() or len(name) > names.LONGEST or len(password) > passwords.LONGEST:
            return None, WRONG
        tried = self._reception.present(address, name, _nobody_waits)
        try:
            if not tried.is_due:
                return None, KINDLY_WAIT.format(time=waiting(self._reception.wait(tried)))
            record = await self._read(partial(self._reading.find, name))
            stored = None if record is None else record.password_hash
            is_right = await self._desk.verify(stored, password, tried.rank)
            if record is None or not is_right:
                self._reception.was_wrong(address, tried)
                return None, WRONG
            self._reception.was_right(tried)
            if record.locked or not record.powers:
                return None, WRONG
            return record, ""
        except BooksFailed:
            self._reception.not_checked(tried)
            raise
        finally:
            self._reception.gave_up(tried)  # unless it has been checked

    async def _log_off(self, request: Request, _: CallerRecord, session: Session) -> Response:
        form = await _form(request)
        if form is None or not (_is_own(request) and sessions.is_of(session, form.get("form", ""))):
            return self._problem("That form did not come from this page.", 403)
        self._sessions.end(request.cookies.get(COOKIE, ""))
        answer = RedirectResponse("/log-on", 303)
        answer.delete_cookie(COOKIE, httponly=True, samesite="strict", secure=self.is_safe)
        return answer

    # What there is to see

    async def _today(self, _: Request, who: CallerRecord, session: Session) -> Response:
        today = await self._read(self._reading.today)
        return self._show("today.html", who=who, session=session, today=today)

    async def _ledger(self, request: Request, who: CallerRecord, session: Session) -> Response:
        asked = _Asked(request.query_params)
        sought = await self._sought(asked)
        before = asked.number("before")
        if asked.wrong:
            return self._problem(" ".join(asked.wrong), 400, who=who, session=session)
        leaf = await self._read(partial(self._reading.leaf, sought, before))
        return self._show(
            "ledger.html", who=who, session=session, leaf=leaf, asked=asked.kept, before=before
        )

    async def _csv(self, request: Request, who: CallerRecord, session: Session) -> Response:
        asked = _Asked(request.query_params)
        sought = await self._sought(asked)
        if asked.wrong:
            return self._problem(" ".join(asked.wrong), 400, who=who, session=session)
        return StreamingResponse(
            self._reading.csv(sought),
            media_type="text/csv",
            headers={"Content-Disposition": 'attachment; filename="ledger.csv"'},
        )

    async def _sought(self, asked: _Asked) -> Sought:
        name = asked.text("caller")
        caller = await self._read(partial(self._reading.find, name)) if name else None
        if name and caller is None:
            asked.wrong.append("There is no caller of that name.")
        return Sought(
            caller_id=None if caller is None else caller.id,
            kind=asked.text("kind").casefold() or None,
            game="-".join(asked.text("game").casefold().split()) or None,
            least=asked.number("least", 60),
            since=asked.day("since"),
            until=asked.day("until"),
        )

    async def _entry(self, request: Request, who: CallerRecord, session: Session) -> Response:
        number = _number(request.path_params["number"])
        rows = [] if number is None else await self._read(partial(self._reading.entry, number))
        if not rows:
            words = "There is no entry of that number."
            return self._problem(words, 404, who=who, session=session)
        return self._show("entry.html", who=who, session=session, rows=rows)

    async def _callers(self, request: Request, who: CallerRecord, session: Session) -> Response:
        name = request.query_params.get("name", "").strip()
        if name:
            found = await self._read(partial(self._reading.find, name))
            if found is not None:
                return RedirectResponse(f"/caller/{found.id}", 303)
        after = request.query_params.get("after", "")
        listed, more = await self._read(partial(self._reading.callers, after))
        return self._show(
            "callers.html", who=who, session=session, callers=listed, more=more, name=name
        )

    async def _caller(self, request: Request, who: CallerRecord, session: Session) -> Response:
        number = _number(request.path_params["number"])
        before = _number(request.query_params.get("before", ""))
        caller = None
        if number is not None:
            caller = await self._read(partial(self._reading.caller, number, before))
        if caller is None:
            words = "There is no caller of that number."
            return self._problem(words, 404, who=who, session=session)
        return self._show("caller.html", who=who, session=session, caller=caller, before=before)

    # How it is shown

    async def _read(self, look: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, look)

    def _show(self, template: str, status: int = 200, **values: object) -> Response:
        usual = {"who": None, "session": None}
        page = self._templates.get_template(template).render({**usual, **values})
        return HTMLResponse(page, status)

    def _problem(self, words: str, status: int, **values: object) -> Response:
        return self._show("problem.html", status, words=words, **values)

    async def _not_found(self, _: Request, __: Exception) -> Response:
        return self._problem("There is no such page.", 404)

    async def _no_books(self, _: Request, error: Exception) -> Response:
        return self._problem(f"The books can't be read just now. {error}", 503)


class _Asked:
    """What stands in the address of a page; `wrong` says what of it cannot be used."""

    def __init__(self, parameters: Mapping[str, str]) -> None:
        self._parameters = parameters
        known = {each.name for each in fields(Sought)} - {"caller_id"} | {"caller"}
        self.kept = {name: self.text(name) for name in sorted(known)}
        self.wrong: list[str] = []

    def text(self, name: str) -> str:
        return self._parameters.get(name, "").strip()[:LONGEST_FORM]

    def number(self, name: str, unit: int = 1) -> int | None:
        typed = self.text(name)
        number = _number(typed)
        if typed and number is None:
            self.wrong.append(f"The field {name} needs a whole number.")
        return None if number is None else number * unit

    def day(self, name: str) -> date | None:
        typed = self.text(name)
        if not typed:
            return None
        with contextlib.suppress(ValueError):
            day = date.fromisoformat(typed)
            if FIRST_YEAR <= day.year <= LAST_YEAR:
                return day
        self.wrong.append(f"The field {name} needs a day, written as 2026-11-24.")
        return None


class _With:
    """Adds headers to every answer."""

    def __init__(self, inside: ASGIApp, headers: Mapping[str, str]) -> None:
        self._inside = inside
        self._headers = [(name.lower().encode(), value.encode()) for name, value in headers.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *self._headers]
            await send(message)

        await self._inside(scope, receive, sending)


def _is_own(request: Request) -> bool:
    """Whether a form was sent by a page of ours, as browsers say it themselves."""
    origin, site = request.headers.get("origin"), request.headers.get("sec-fetch-site")
    if site not in (None, "same-origin"):
        return False
    return origin is None or urlsplit(origin).netloc == request.headers.get("host")


async def _form(request: Request) -> dict[str, str] | None:
    """Read a form; None where it is too long, or none."""
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > LONGEST_FORM:
            return None
    try:
        return {name: values[-1] for name, values in parse_qs(body.decode("utf-8")).items()}
    except ValueError:
        return None


def _number(typed: str) -> int | None:
    is_one = typed.isascii() and typed.isdecimal() and len(typed) <= LONGEST_NUMBER
    return int(typed) if is_one else None


def _query(kept: Mapping[str, str], **more: Any) -> str:
    """Write what follows the question mark of an address."""
    said = {**kept, **more}
    return urlencode({name: value for name, value in said.items() if value not in ("", None)})


def _nobody_waits() -> None:
    """Nothing waits for a turn here: whoever is early is told when to come again."""
