"""Amounts of time as callers type them: minutes or h:mm, echoed back in words."""

from __future__ import annotations

import re
from collections.abc import Awaitable
from typing import TYPE_CHECKING

from timebank.errors import BooksUnavailable, CallClosed, Refused
from timebank.language import _
from timebank.words import span

if TYPE_CHECKING:
    from door.call.console import Console


# How the bank's windows speak: every service ends in a sentence, its refusal included.


async def serve(service: Awaitable[str]) -> str:
    """Return what a service has to say; only the end of the call is raised."""
    try:
        return await service
    except CallClosed:
        raise
    except (Refused, BooksUnavailable) as refused:
        return f"|12{refused}"


_AMOUNT = re.compile(r"(?:([0-9]{1,4}):([0-5][0-9])|([0-9]{1,5}))")


def parse(text: str) -> int | None:
    """Return the seconds that ``90`` (minutes) or ``1:30`` (hours and minutes) say, else `None`.

    >>> parse("90"), parse("1:30"), parse("1:75"), parse("soon")
    (5400, 5400, None, None)
    """
    found = _AMOUNT.fullmatch(text.strip())
    if found is None:
        return None
    hours, minutes, alone = found.groups()
    return int(alone) * 60 if alone else (int(hours) * 60 + int(minutes)) * 60


def _asks(what: str, most: int) -> str:
    text = _("{what} how much, up to {most} (minutes or h:mm):")
    return text.format(what=what, most=span(most // 60 * 60))


async def ask(console: Console, what: str, most: int, rule: str) -> int | None:
    """Ask for an amount of 1 minute to `most` seconds; `None` at Esc or an empty line.

    `what` is the verb, such as "Deposit"; `rule` the sentence that refuses more. What was
    understood is echoed back and confirmed.
    """
    while True:
        typed = await console.entry(
            f"|07{_asks(what, most)}|15",
            longest=8,
            meaning=_("Minutes, such as 90, or hours and minutes, such as 1:30. Enter: none."),
            accept="0123456789:.,".__contains__,  # a point is refused in words, not passed over
        )
        if not typed:
            return None
        seconds = parse(typed)
        if seconds is None:
            console.say(
                f"|12{_('Type whole minutes, such as 90, or hours and minutes, such as 1:30.')}"
            )
            continue
        if seconds == 0:
            return None
        if seconds > most:
            console.say(f"|12{rule}")
            continue
        if await console.agrees(_("{what} {amount}?").format(what=what, amount=span(seconds))):
            return seconds
