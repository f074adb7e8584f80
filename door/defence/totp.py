"""Codes of an authenticator: RFC 6238 with SHA-1, six digits and 30 seconds, as all of them do it.

A few lines of `hmac` take the place of a library; the test holds them against the RFC's vectors.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import secrets
from urllib.parse import quote

SECRET_BYTES = 20  # as long as what SHA-1 makes, RFC 4226 section 4
STEP_SECONDS, DIGITS = 30, 6
AROUND = 1  # steps before and after now whose codes are taken: clocks differ, and typing takes time


def new_secret() -> str:
    """A secret in base 32, from the operating system."""
    return base64.b32encode(secrets.token_bytes(SECRET_BYTES)).decode("ascii")


def code_at(secret: str, step: int, digits: int = DIGITS) -> str:
    """The code of a step, which is seconds since 1970 in units of `STEP_SECONDS`."""
    mac = hmac.digest(base64.b32decode(secret), step.to_bytes(8, "big"), "sha1")
    start = mac[-1] & 0x0F
    number = int.from_bytes(mac[start : start + 4], "big") & 0x7FFFFFFF
    return f"{number % 10**digits:0{digits}}"


def step_of(secret: str, typed: str, at: int, last: int) -> int | None:
    """Return the step whose code was typed at an instant, in seconds since 1970; else None.

    A step up to `last` has been used, and is not taken again. A secret that is none fits no code.
    """
    code = "".join(typed.split())
    if len(code) != DIGITS or not (code.isascii() and code.isdecimal()):
        return None
    now = at // STEP_SECONDS
    found = None
    try:
        for step in range(max(now - AROUND, last + 1), now + AROUND + 1):
            if hmac.compare_digest(code_at(secret, step), code):
                found = step
    except (binascii.Error, ValueError):
        return None
    return found


def address_of(secret: str, name: str, board: str) -> str:
    """What a QR code has for an authenticator: `otpauth:`, as Google's wiki describes it.

    >>> address_of("ABC", "Ann", "My Board")
    'otpauth://totp/My%20Board:Ann?secret=ABC&issuer=My%20Board'
    """
    issuer = quote(board, safe="")
    return f"otpauth://totp/{issuer}:{quote(name, safe='')}?secret={secret}&issuer={issuer}"
