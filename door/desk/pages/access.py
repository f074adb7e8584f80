"""Log-on to the pages, for callers with the sysop's powers and those in `[pages] readers`.

They use their own name and password. Passwords are hashed, counted and queued as at the log-on of
the board (`door.defence`), by a reception of the pages' own. A queued password keeps its place
while the browser asks for it now and then, so no connection waits.
"""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from door.call import passwords
from door.defence.reception import REMEMBERED, Reception
from door.defence.reception import minutes as waiting
from door.desk.pages import sessions
from door.desk.pages.forms import NOT_OURS, form_of, is_own, number_in, own_form
from door.desk.pages.rendering import View, Visit
from door.desk.pages.second_step import is_passed
from door.errors import CallRefused, NoSuchHand, PageRefused
from timebank.callers import sysop_log
from timebank.calls.calls import latest_addresses
from timebank.errors import BooksFailed
from timebank.names import names

if TYPE_CHECKING:
    from starlette.requests import Request

    from door.clock import Clock, Timer
    from door.defence.tries import Try
    from door.desk.pages.rendering import PageRenderer
    from timebank.callers.callers import CallerRecord

log = logging.getLogger("door.pages")
LONGEST_ADDRESS = 500  # of the page that was asked for before the log-on
_OURS = re.compile(rf"/(?![/\\])[!-~]{{,{LONGEST_ADDRESS}}}")
LEARN_SECONDS = 60.0  # how often the pages read the known addresses of callers
COOKIE = "session"  # with the port behind, as browsers send a cookie to every port of a host
QUEUE = "turn"  # the cookie of a queued password
WRONG = "Wrong name, password or code, or a caller without the sysop's powers."
IN_TURN = (
    "Too many wrong passwords for that name, or from your address: each try is checked in turn."
    " Yours is in the queue, and is checked in about {time}."
)
CROWDED = "Too many callers are logging on. Please try again in a minute."
ASK_SECONDS = 5  # between two requests of a browser that waits for its turn
PATIENCE_SECONDS = 30.0  # without a request, until a browser loses its place


@dataclass(eq=False)
class _LogOn:
    """A name, a password and a code that are being checked.

    `at` is when they were typed, in seconds since 1970. `turn` is set when the password is due.
    `then` is the page to show after it.
    """

    address: str
    name: str
    password: str
    code: str
    at: int
    then: str
    turn: asyncio.Event = field(default_factory=asyncio.Event)
    queued: asyncio.Future[Try] = field(default_factory=asyncio.Future)
    task: asyncio.Task[CallerRecord | None] = field(init=False)
    timer: Timer | None = None  # ends its place in the queue

    def begin(
        self, work: Coroutine[None, None, CallerRecord | None], leave: Callable[[], None]
    ) -> None:
        def over(task: asyncio.Task[CallerRecord | None]) -> None:
            leave()
            if not task.cancelled():
                task.exception()  # marks it as read, as the browser may have left

        self.task = asyncio.create_task(work)
        self.task.add_done_callback(over)

    def cut(self) -> None:
        """Cancel it; a result that is there already stays."""
        if self.timer is not None:
            self.timer.cancel()
        self.task.cancel()


def _ours(address: str) -> str:
    """Return an address if it is of a page of ours, else ""."""
    return address if _OURS.fullmatch(address) else ""


def _log_on_for(request: Request) -> str:
    """Return the address of the log-on that leads to the page of a request."""
    asked = f"{request.scope['path']}?{request.scope['query_string'].decode('latin-1')}"
    then = _ours(asked.removesuffix("?")) if request.method == "GET" else ""
    return f"/log-on?{urlencode({'next': then})}" if then.strip("/") else "/log-on"


def _cookie(request: Request, name: str) -> str:
    port = request.headers.get("host", "").rpartition(":")[2]
    return name if number_in(port) is None else f"{name}{port}"


class Access:
    """Sessions and log-ons at the pages. With `is_safe` browsers send cookies by TLS only."""

    def __init__(self, showing: PageRenderer, now: Clock, *, is_safe: bool) -> None:
        self._showing = showing
        self._reading = showing.reading
        self._now = now
        config = showing.reading.config
        self.reception = Reception(config, now, lambda: 0, "pages")  # a session takes no node
        self.reception.open_log(config.board.data)
        self._learned_at: float | None = None  # monotonic
        self._is_safe = is_safe
        self._sessions = sessions.Sessions()
        self._desk = passwords.PasswordDesk()
        self._waiting: dict[str, _LogOn] = {}  # by the tokens of their browsers

    def routes(self) -> list[Route]:
        return [
            Route("/log-on", self._log_on, methods=["GET", "POST"]),
            Route("/log-on/turn", self._look_at_turn),
            Route("/log-off", self.of_sysop(self._log_off), methods=["POST"]),
        ]

    async def learn(self) -> None:
        """Read from which addresses callers have logged on, at most once in `LEARN_SECONDS`."""
        now = self._now.monotonic()
        if self._learned_at is None or now - self._learned_at >= LEARN_SECONDS:
            self._learned_at = now
            look = partial(self._reading.look, lambda desk: latest_addresses(desk, REMEMBERED))
            calls = await self._showing.read(look)
            self.reception.remember(address for _, address in calls)

    def close(self) -> None:
        for token in tuple(self._waiting):
            self._drop(token)
        self._desk.close()
        self.reception.close_log()

    def of_sysop(
        self, view: View, *, uses: bool = True
    ) -> Callable[[Request], Awaitable[Response]]:
        """Guard a view: without a session, a browser is redirected to the log-on.

        Requests that a script makes by itself do not count as `uses`, so they do not extend a
        session.
        """

        async def guarded(request: Request) -> Response:
            token = request.cookies.get(_cookie(request, COOKIE), "")
            session = self._sessions.find(token, self._now.monotonic(), uses=uses)
            record = None
            if session is not None:
                holds = partial(self._reading.holds, session.caller_id, session.password_hash)
                record = await self._showing.read(holds)
            if session is None or record is None:
                self._sessions.end(token)
                return RedirectResponse(_log_on_for(request) if uses else "/log-on", 303)
            visit = Visit(request, record, session)
            try:
                return await view(visit)
            except NoSuchHand as unknown:
                return self._showing.problem(str(unknown), 404, visit)
            except PageRefused as problem:
                return self._showing.problem(str(problem), problem.status, visit)

        return guarded

    async def _log_on(self, request: Request) -> Response:
        if request.method == "GET":
            then = _ours(request.query_params.get("next", ""))
            return self._showing.show("log_on.html", words="", then=then)
        form = await form_of(request)
        if form is None or not is_own(request):
            return self._showing.problem(NOT_OURS, 403)
        name, password, code = (form.get(field, "") for field in ("name", "word", "code"))
        then = _ours(form.get("next", ""))
        address = "unknown" if request.client is None else request.client.host
        if not name.isprintable() or len(name) > names.LONGEST or len(password) > passwords.LONGEST:
            self.reception.was_wrong(address)
            return self._refuse(WRONG, then)
        log_on = _LogOn(address, name, password, code, int(self._now.now().timestamp()), then)
        try:
            leave = self.reception.enter(address, log_on.cut)
        except CallRefused as refused:
            return self._refuse(str(refused) or WRONG, then)
        log_on.begin(self._settle(log_on), leave)
        either: set[asyncio.Future[Any]] = {log_on.task, log_on.queued}
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if log_on.task.done():
            return self._settled(request, log_on)
        token = secrets.token_urlsafe(32)
        self._waiting[token] = log_on
        answer = self._ask_to_wait(token, log_on)
        self._set_cookie(answer, _cookie(request, QUEUE), token)
        return answer

    async def _look_at_turn(self, request: Request) -> Response:
        """Answer a browser whose password is queued: with the time left, or with the result."""
        cookie = _cookie(request, QUEUE)
        token = request.cookies.get(cookie, "")
        log_on = self._waiting.get(token)
        if log_on is None:
            return RedirectResponse("/log-on", 303)
        if log_on.turn.is_set():
            await asyncio.wait({log_on.task})
        if not log_on.task.done():
            return self._ask_to_wait(token, log_on)
        self._drop(token)
        answer = self._settled(request, log_on)
        answer.delete_cookie(cookie, httponly=True, samesite="strict", secure=self._is_safe)
        return answer

    def _ask_to_wait(self, token: str, log_on: _LogOn) -> Response:
        if log_on.timer is not None:
            log_on.timer.cancel()
        log_on.timer = self._now.call_later(PATIENCE_SECONDS, partial(self._drop, token))
        wait = waiting(self.reception.wait(log_on.queued.result()))
        answer = self._showing.show("turn.html", words=IN_TURN.format(time=wait))
        answer.headers["Refresh"] = f"{ASK_SECONDS}; url=/log-on/turn"
        return answer

    def _drop(self, token: str) -> None:
        if (log_on := self._waiting.pop(token, None)) is not None:
            log_on.cut()

    def _settled(self, request: Request, log_on: _LogOn) -> Response:
        """Begin a session if the password was right; otherwise show the log-on with the reason."""
        if log_on.task.cancelled():
            return self._refuse(CROWDED, log_on.then)
        record = log_on.task.result()
        if record is None:
            return self._refuse(WRONG, log_on.then)
        token = self._sessions.begin(record.id, record.password_hash, self._now.monotonic())
        answer = RedirectResponse(log_on.then or "/", 303)
        self._set_cookie(answer, _cookie(request, COOKIE), token)
        return answer

    def _set_cookie(self, answer: Response, name: str, token: str) -> None:
        answer.set_cookie(name, token, httponly=True, samesite="strict", secure=self._is_safe)

    def _refuse(self, words: str, then: str) -> Response:
        return self._showing.show("log_on.html", status=403, words=words, then=then)

    async def _settle(self, log_on: _LogOn) -> CallerRecord | None:
        """Return the caller if they may see the pages, else None; both take equally long."""
        await self.learn()
        tried = self.reception.present(log_on.address, log_on.name, log_on.turn.set)
        try:
            if not tried.is_due:
                self.reception.delayed(log_on.address)
                log_on.queued.set_result(tried)
                await log_on.turn.wait()
            record = await self._in_turn(tried, log_on)
        finally:
            self.reception.gave_up(tried)  # no effect once it has been checked
        if record is None:
            return None
        if not self._reading.may_look(record):
            self.reception.note(log_on.address, "may not see the pages")
            return None
        what = f"Logged on at the pages from {log_on.address}"
        noting = partial(sysop_log.note, by=record.name, caller_id=None, what=what)
        try:
            await self._showing.read(partial(self._reading.work, noting))
        except BooksFailed as error:  # the pages help to see why
            log.warning("%s: %s. %s", record.name, what, error)
        self.reception.remember([log_on.address])
        return record

    async def _in_turn(self, tried: Try, log_on: _LogOn) -> CallerRecord | None:
        try:
            record = await self._showing.read(partial(self._reading.named, log_on.name))
            stored = None if record is None else record.password_hash
            is_right = await self._desk.verify(stored, log_on.password, tried.rank)
            if record is not None and is_right:
                passed = partial(is_passed, self._reading, record, log_on.code, log_on.at)
                is_right = await self._showing.read(passed)
        except BooksFailed:
            self.reception.not_checked(tried)
            raise
        if record is None or not is_right:
            self.reception.was_wrong(log_on.address)
            return None
        self.reception.was_right(tried)
        return record

    async def _log_off(self, visit: Visit) -> Response:
        await own_form(visit.request, visit.session)
        cookie = _cookie(visit.request, COOKIE)
        self._sessions.end(visit.request.cookies.get(cookie, ""))
        answer = RedirectResponse("/log-on", 303)
        answer.delete_cookie(cookie, httponly=True, samesite="strict", secure=self._is_safe)
        return answer
