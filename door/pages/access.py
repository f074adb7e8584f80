"""Who may see the pages: callers with the sysop's powers, and those whom `[pages] readers` names,
by their own name and password.

Passwords are hashed, counted and made to wait as at the log-on (`door.defence`); the books count
them (tries.py).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING

from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from door.call import passwords
from door.defence.reception import minutes as waiting
from door.pages import sessions
from door.pages.asking import NOT_OURS, form_of, is_own
from door.pages.second_step import is_passed
from door.pages.showing import View, Visit
from door.pages.tries import PageTries
from timebank.errors import BooksFailed
from timebank.names import names

if TYPE_CHECKING:
    from starlette.requests import Request

    from door.clock import Clock
    from door.defence.counts import Rank
    from door.pages.showing import Showing
    from timebank.callers.callers import CallerRecord

COOKIE = "session"
WRONG = "Wrong name, password or code, or a caller without the sysop's powers."
KINDLY_WAIT = "Too many wrong passwords for that name, or from your address. Try again in {time}."


class Access:
    """`is_safe` says that the browser talks to us by TLS, so that the cookie goes nowhere else."""

    def __init__(self, showing: Showing, now: Clock, *, is_safe: bool) -> None:
        self._showing = showing
        self._reading = showing.reading
        self._tries = PageTries(showing.reading)
        self._now = now
        self._is_safe = is_safe
        self._sessions = sessions.Sessions()
        self._desk = passwords.PasswordDesk()

    def routes(self) -> list[Route]:
        return [
            Route("/log-on", self._log_on, methods=["GET", "POST"]),
            Route("/log-off", self.of_sysop(self._log_off), methods=["POST"]),
        ]

    def close(self) -> None:
        self._desk.close()

    def of_sysop(
        self, view: View, *, uses: bool = True
    ) -> Callable[[Request], Awaitable[Response]]:
        """Let a view be seen by whoever has logged on; others are led to the log-on.

        What a script asks for by itself keeps no session from ending: it does not count as `uses`.
        """

        async def guarded(request: Request) -> Response:
            token = request.cookies.get(COOKIE, "")
            session = self._sessions.find(token, self._now.monotonic(), uses=uses)
            record = None
            if session is not None:
                holds = partial(self._reading.holds, session.caller_id, session.password_hash)
                record = await self._showing.read(holds)
            if session is None or record is None:
                self._sessions.end(token)
                return RedirectResponse("/log-on", 303)
            return await view(Visit(request, record, session))

        return guarded

    async def _log_on(self, request: Request) -> Response:
        if request.method == "GET":
            return self._showing.show("log_on.html", words="")
        form = await form_of(request)
        if form is None or not is_own(request):
            return self._showing.problem(NOT_OURS, 403)
        address = "unknown" if request.client is None else request.client.host
        said = (form.get(name, "") for name in ("name", "word", "code"))
        record, words = await self._believed(address, *said)
        if record is None:
            return self._showing.show("log_on.html", status=403, words=words)
        token = self._sessions.begin(record.id, record.password_hash, self._now.monotonic())
        answer = RedirectResponse("/", 303)
        answer.set_cookie(COOKIE, token, httponly=True, samesite="strict", secure=self._is_safe)
        return answer

    async def _believed(
        self, address: str, name: str, password: str, code: str
    ) -> tuple[CallerRecord | None, str]:
        """Return who may see the pages, or why nobody is let in, equally slowly."""
        if not name.isprintable() or len(name) > names.LONGEST or len(password) > passwords.LONGEST:
            return None, WRONG
        tried = await self._showing.read(partial(self._tries.begin, address, name))
        if tried.wait:
            return None, KINDLY_WAIT.format(time=waiting(tried.wait))
        try:
            record, is_right = await self._checked(name, password, code, tried.rank)
        except BooksFailed:
            await self._showing.read(partial(self._tries.take_back, tried))
            raise
        if record is None or not is_right:
            return None, WRONG
        await self._showing.read(partial(self._tries.take_back, tried))
        if not self._reading.may_look(record):
            return None, WRONG
        return record, ""

    async def _checked(
        self, name: str, password: str, code: str, rank: Rank
    ) -> tuple[CallerRecord | None, bool]:
        record = await self._showing.read(partial(self._reading.find, name))
        stored = None if record is None else record.password_hash
        is_right = await self._desk.verify(stored, password, rank)
        if record is not None and is_right:
            passed = partial(is_passed, self._reading, record, code)
            is_right = await self._showing.read(passed)
        return record, is_right

    async def _log_off(self, visit: Visit) -> Response:
        form = await form_of(visit.request)
        is_meant = is_own(visit.request)
        if form is None or not (is_meant and sessions.is_of(visit.session, form.get("form", ""))):
            return self._showing.problem(NOT_OURS, 403)
        self._sessions.end(visit.request.cookies.get(COOKIE, ""))
        answer = RedirectResponse("/log-on", 303)
        answer.delete_cookie(COOKIE, httponly=True, samesite="strict", secure=self._is_safe)
        return answer
