"""The second step of a log-on: a code of the caller's authenticator, if they have set one up."""

from __future__ import annotations

import base64
import binascii
import hmac
import secrets
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING
from urllib.parse import quote

from starlette.responses import Response
from starlette.routing import Route

from door.defence import recovery as codes
from door.desk.pages.forms import own_form
from timebank.callers import callers, recovery, second_step
from timebank.callers.second_step import SecondStep
from timebank.ledger.schema import stamp

if TYPE_CHECKING:
    from door.desk.pages.queries import BooksReader
    from door.desk.pages.rendering import Guard, PageRenderer, Visit
    from timebank.callers.callers import CallerRecord
    from timebank.ledger.database import Desk

# Codes of an authenticator: RFC 6238 with SHA-1, six digits and 30 seconds, as all of them use.
# The test compares them with the RFC's vectors.

SECRET_BYTES = 20  # the length of SHA-1's output, by RFC 4226 section 4
STEP_SECONDS, DIGITS = 30, 6
AROUND = 1  # steps before and after now that are accepted: clocks differ, and typing takes time


def new_secret() -> str:
    """Return a random secret in base 32."""
    return base64.b32encode(secrets.token_bytes(SECRET_BYTES)).decode("ascii")


def code_at(secret: str, step: int, digits: int = DIGITS) -> str:
    """Return the code of a step, which is seconds since 1970 divided by `STEP_SECONDS`."""
    mac = hmac.digest(base64.b32decode(secret), step.to_bytes(8, "big"), "sha1")
    start = mac[-1] & 0x0F
    number = int.from_bytes(mac[start : start + 4], "big") & 0x7FFFFFFF
    return f"{number % 10**digits:0{digits}}"


def step_of(secret: str, typed: str, at: int, last: int) -> int | None:
    """Return the step whose code was `typed` at second `at` since 1970, None for a wrong code.

    Steps up to `last` have been used and count as wrong, and so does each code of a malformed
    secret.
    """
    code = "".join(typed.split())
    if len(code) != DIGITS or not (code.isascii() and code.isdecimal()):
        return None
    now = at // STEP_SECONDS
    matching = None
    try:
        for step in range(max(now - AROUND, last + 1), now + AROUND + 1):
            if hmac.compare_digest(code_at(secret, step), code):
                matching = step
    except (binascii.Error, ValueError):
        return None
    return matching


def address_of(secret: str, name: str, board: str) -> str:
    """Return the `otpauth:` address for an authenticator's QR code, as Google's wiki describes it.

    >>> address_of("ABC", "Ann", "My Board")
    'otpauth://totp/My%20Board:Ann?secret=ABC&issuer=My%20Board'
    """
    issuer = quote(board, safe="")
    return f"otpauth://totp/{issuer}:{quote(name, safe='')}?secret={secret}&issuer={issuer}"


WRONG_CODE = "That code is not right, or it was used before. Is the clock of your phone right?"
BY_RECOVERY = "a recovery code was used"


def is_passed(reading: BooksReader, record: CallerRecord, typed: str, at: int) -> bool:
    """Return whether a code lets a caller in, and mark it as used.

    A caller without a second step needs no code. `at` is when it was typed, in seconds since 1970,
    as its password may have waited. A recovery code of the caller lets them in too, and turns the
    second step off. Waits for the disk.
    """
    if second_step.of_caller(record) is None:
        return True
    digest = codes.digest_of(typed)

    def work(desk: Desk) -> bool:
        step = second_step.of_caller(callers.get(desk, record.id))
        if step is None:
            return True
        if digest is not None:
            owner = recovery.owner(desk, record.name, digest)
            if owner is None or owner.id != record.id:
                return False
            return second_step.turn_off(desk, record.id, BY_RECOVERY, record.name)
        used = step_of(step.secret, typed, at, step.last)
        return used is not None and second_step.use(desk, record.id, SecondStep(step.secret, used))

    return reading.work(work)


class SecondStepPages:
    def __init__(self, showing: PageRenderer) -> None:
        self._showing = showing
        self._reading = showing.reading

    def routes(self, guard: Guard) -> list[Route]:
        return [
            Route("/second-step", guard(self._shown)),
            Route("/second-step", guard(self._change), methods=["POST"]),
        ]

    async def _shown(self, visit: Visit, words: str = "", status: int = 200) -> Response:
        """Show whether the second step is on; if not, a secret to set it up with."""
        is_on = second_step.of_caller(visit.who) is not None
        if not is_on and not visit.session.offered:
            visit.session.offered = new_secret()
        secret = "" if is_on else visit.session.offered
        address = address_of(secret, visit.who.name, self._reading.config.board.name)
        return self._showing.show(
            "second_step.html",
            visit,
            status,
            is_on=is_on,
            secret=" ".join(secret[at : at + 4] for at in range(0, len(secret), 4)),
            drawn="" if is_on else qr_of(address),
            words=words,
        )

    async def _change(self, visit: Visit) -> Response:
        """Turn the second step on with a code of the secret shown, or off with a current code."""
        form = await own_form(visit.request, visit.session)
        change = partial(self._changed, visit, form.get("code", ""))
        if not await self._showing.read(change):
            return await self._shown(visit, WRONG_CODE, 403)
        visit.session.offered = ""
        who = await self._showing.read(partial(self._reading.find, f"#{visit.who.id}"))
        return await self._shown(visit if who is None else visit._replace(who=who))

    def _changed(self, visit: Visit, typed: str) -> bool:
        who, offered = visit.who, visit.session.offered

        def work(desk: Desk) -> bool:
            step = second_step.of_caller(callers.get(desk, who.id))
            secret, last = (offered, 0) if step is None else (step.secret, step.last)
            used = step_of(secret, typed, stamp(desk.now), last) if secret else None
            if used is None:
                return False
            if step is None:
                second_step.turn_on(desk, who.id, SecondStep(secret, used), who.name)
                return True
            return second_step.turn_off(desk, who.id, "they turned it off", who.name)

        return self._reading.work(work)


def qr_of(address: str) -> str:
    """Draw an address as SVG for a page; return "" if the library is not installed."""
    try:
        segno = import_module("segno")
    except ImportError:  # an older installation lacks it; the secret can be typed instead
        return ""
    drawn: str = segno.make(address, error="m", micro=False).svg_inline(
        scale=5, dark="#000", light="#fff"
    )
    return drawn
