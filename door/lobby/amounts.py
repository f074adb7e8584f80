"""Amounts of time as callers type them: minutes or h:mm, echoed back in words."""

from __future__ import annotations

import re
from collections.abc import Awaitable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from timebank.errors import BooksUnavailable, CallClosed, Refused
from timebank.language import _
from timebank.words import MINUTE, span

if TYPE_CHECKING:
    from door.call.console import Console


async def serve(service: Awaitable[str]) -> str:
    """Return the sentence that a service of the bank ends in, or the one that refuses it.

    Only the end of the call is raised.
    """
    try:
        return await service
    except CallClosed:
        raise
    except (Refused, BooksUnavailable) as refused:
        return f"|12{refused}"


_AMOUNT = re.compile(
    r"(?:([0-9]{1,4}):([0-5][0-9])|([0-9]{1,3})h(?:([0-9]{1,3})m?)?|([0-9]{1,5})m?)", re.I
)


def parse(text: str) -> int | None:
    """Return the seconds of an amount such as ``90``, ``90m``, ``1:30`` or ``1h30m``, else None.

    >>> parse("90"), parse("1:30"), parse("1h30m"), parse("1:75"), parse("soon")
    (5400, 5400, 5400, None, None)
    """
    match = _AMOUNT.fullmatch(text.strip())
    if match is None:
        return None
    hours, minutes, more_hours, more_minutes, alone = match.groups()
    whole = int(hours or more_hours or 0) * 60
    return (whole + int(minutes or more_minutes or alone or 0)) * 60


@dataclass(frozen=True)
class MovementWords:
    """The words that ask how many minutes to move, have that confirmed, and report it done."""

    question: str
    confirmation: str
    done: str


ALL_OF_IT = "max"
# A point may be typed, so that it is refused in words and not ignored.
LETTERS = f"0123456789:.,hH{ALL_OF_IT}{ALL_OF_IT.upper()}"


class TypedAmount(NamedTuple):
    """Seconds that a caller typed; `is_all` if they typed "max"."""

    seconds: int
    is_all: bool


async def ask(
    console: Console, movement: MovementWords, most: int, rule: str, name: str = ""
) -> TypedAmount | None:
    """Ask for an amount of 1 minute to `most` seconds; return None at Esc or an empty line.

    `rule` is the sentence that refuses more. The caller confirms the amount in words, and the
    receiver's `name` if there is one.
    """
    whole = most // MINUTE * MINUTE
    while True:
        typed = await console.prompt.entry(
            f"|07{_(movement.question).format(most=span(whole))}|15",
            longest=8,
            meaning=_(
                "Type minutes, such as 90, or hours and minutes, such as 1:30 or 1h30m, or max for"
                " as much as you can. Enter alone leaves everything where it is."
            ),
            accept=LETTERS.__contains__,
            answers={ALL_OF_IT: span(whole)},
        )
        if not typed:
            return None
        is_all = typed.casefold() == ALL_OF_IT
        seconds = whole if is_all else parse(typed)
        if seconds is None:
            words = _("Type minutes, such as 90, or hours and minutes, such as 1:30, or max.")
            console.screen.say(f"|12{words}")
            continue
        if seconds == 0:
            return None
        if seconds > most:
            console.screen.say(f"|12{rule}")
            continue
        if await console.prompt.agrees(
            _(movement.confirmation).format(amount=span(seconds), name=name)
        ):
            return TypedAmount(seconds, is_all)
