"""Amounts of time as callers type them: minutes or h:mm, echoed back in words."""

from __future__ import annotations

import re
from collections.abc import Awaitable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from timebank.errors import BooksUnavailable, CallClosed, Refused
from timebank.language import N_, _
from timebank.words import MINUTE, span

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


_AMOUNT = re.compile(
    r"(?:([0-9]{1,4}):([0-5][0-9])|([0-9]{1,3})h(?:([0-9]{1,3})m?)?|([0-9]{1,5})m?)", re.I
)


def parse(text: str) -> int | None:
    """Return the seconds that ``90`` or ``90m`` (minutes), ``1:30`` or ``1h30m`` (hours and
    minutes) say, else `None`.

    >>> parse("90"), parse("1:30"), parse("1h30m"), parse("1:75"), parse("soon")
    (5400, 5400, 5400, None, None)
    """
    found = _AMOUNT.fullmatch(text.strip())
    if found is None:
        return None
    hours, minutes, more_hours, more_minutes, alone = found.groups()
    whole = int(hours or more_hours or 0) * 60
    return (whole + int(minutes or more_minutes or alone or 0)) * 60


@dataclass(frozen=True)
class MovementWords:
    """How a movement of minutes is asked for, made sure of, and told of when it is done."""

    how_much: str
    sure: str
    done: str


CREDIT = MovementWords(
    N_("Credit how much? Up to {most}, or max (Enter for none):"),
    N_("Credit {amount}?"),
    N_("{amount} credited."),
)
DEBIT = MovementWords(
    N_("Debit how much? Up to {most}, or max (Enter for none):"),
    N_("Debit {amount}?"),
    N_("{amount} debited."),
)

ALL_OF_IT = "max"
# A point is refused in words, not passed over.
LETTERS = f"0123456789:.,hH{ALL_OF_IT}{ALL_OF_IT.upper()}"


class TypedAmount(NamedTuple):
    """Seconds that somebody typed; `is_all` if they asked for as much as they can."""

    seconds: int
    is_all: bool


async def ask(
    console: Console, movement: MovementWords, most: int, rule: str, name: str = ""
) -> TypedAmount | None:
    """Ask for an amount of 1 minute to `most` seconds; `None` at Esc or an empty line.

    `rule` is the sentence that refuses more. What was understood is echoed back and confirmed,
    with the `name` of who gets it, where it goes to somebody.
    """
    whole = most // MINUTE * MINUTE
    while True:
        typed = await console.prompt.entry(
            f"|07{_(movement.how_much).format(most=span(whole))}|15",
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
        if await console.prompt.agrees(_(movement.sure).format(amount=span(seconds), name=name)):
            return TypedAmount(seconds, is_all)
