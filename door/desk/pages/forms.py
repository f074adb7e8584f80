"""The fields of a request: those of its address, and those of a form."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from datetime import date, datetime, tzinfo
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

from door.desk.pages.sessions import is_of
from door.errors import PageRefused
from timebank.words import clean

if TYPE_CHECKING:
    from starlette.datastructures import QueryParams
    from starlette.requests import Request

    from door.desk.pages.sessions import Session

LONGEST_FORM = 4096  # bytes
NOT_OURS = "That form did not come from this page."
LONGEST_NUMBER = 15  # digits
FIRST_YEAR, LAST_YEAR = 1970, 2999


class Parameters:
    """The fields in the address of a page; `wrong` has a sentence for each that is invalid."""

    def __init__(self, parameters: QueryParams, names: Iterable[str] = ()) -> None:
        """`texts` has the fields of these names, as they were written."""
        self._parameters = parameters
        self.texts: dict[str, str | Sequence[str]] = {
            name: self.text(name) for name in sorted(names)
        }
        self.wrong: list[str] = []

    def text(self, name: str) -> str:
        return self._parameters.get(name, "").strip()[:LONGEST_FORM]

    def others(self, *known: str) -> set[str]:
        """Return the fields of the address that are not known, nor in `texts`, as can be shown."""
        return {clean(name, 40) for name in self._parameters.keys() - self.texts.keys() - {*known}}

    def several(self, name: str) -> list[str]:
        """Return the values of a field that may be given several times, each once."""
        typed = (each.strip()[:LONGEST_FORM] for each in self._parameters.getlist(name))
        return list(dict.fromkeys(each for each in typed if each))

    def check(self) -> None:
        """Raise `PageRefused` for what is wrong."""
        if self.wrong:
            raise PageRefused(" ".join(self.wrong))

    def number(self, name: str, unit: int = 1) -> int | None:
        typed = self.text(name)
        number = number_in(typed)
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

    def instant(self, name: str, zone: tzinfo) -> datetime | None:
        """Return a date and time in the board's `zone`; None for an empty field."""
        typed = self.text(name)
        if not typed:
            return None
        with contextlib.suppress(ValueError):
            at = datetime.fromisoformat(typed)
            if at.tzinfo is None and FIRST_YEAR < at.year <= LAST_YEAR:
                return at.replace(tzinfo=zone)
        self.wrong.append(f"The field {name} needs a date and a time, as 2026-11-24 20:15.")
        return None


def is_own(request: Request) -> bool:
    """Return whether a form was sent by a page of ours, by the browser's own headers."""
    origin, site = request.headers.get("origin"), request.headers.get("sec-fetch-site")
    if site not in (None, "same-origin"):
        return False
    return origin is None or urlsplit(origin).netloc == request.headers.get("host")


async def form_of(request: Request) -> dict[str, str] | None:
    """Read a form; return None if it is too long or not a form."""
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > LONGEST_FORM:
            return None
    try:
        return {name: values[-1] for name, values in parse_qs(body.decode("utf-8")).items()}
    except ValueError:
        return None


async def own_form(request: Request, session: Session) -> dict[str, str]:
    """Read a form of a page that was shown to a session; raise `PageRefused` for any other."""
    form = await form_of(request)
    if form is None or not (is_own(request) and is_of(session, form.get("form", ""))):
        raise PageRefused(NOT_OURS, 403)
    return form


def number_in(typed: str) -> int | None:
    is_number = typed.isascii() and typed.isdecimal() and len(typed) <= LONGEST_NUMBER
    return int(typed) if is_number else None
