"""The audit of generations: nothing that was open before a restore was gone on with after it.

That their rows fit the chain of transfers is looked at in `tampering`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlalchemy import Column, bindparam, select

from timebank.audit.finding import Finding
from timebank.ledger.database import Desk
from timebank.ledger.generations import NUMBERED, Generation, generations
from timebank.ledger.schema import actions, calls, rounds, shoes
from timebank.ledger.sql import Prepared


def _open(number: Column[Any], ended: Column[Any]) -> Prepared:
    return Prepared(
        lambda: select(number).where(ended.is_(None), number < bindparam("first")).order_by(number)
    )


# What a restore closes, by the table whose numbers tell which generation it is of.
_OPEN = {
    "shoes": ("shoe", _open(shoes.c.id, shoes.c.closed)),
    "rounds": ("hand", _open(rounds.c.id, rounds.c.settled)),
    "calls": ("call", _open(calls.c.id, calls.c.closed)),
}
_DEALT = Prepared(
    lambda: (
        select(rounds.c.id, rounds.c.shoe_id)
        .where(rounds.c.id >= bindparam("first"), rounds.c.shoe_id < bindparam("first_shoe"))
        .order_by(rounds.c.id)
    )
)
_ACTED = Prepared(
    lambda: (
        select(actions.c.round_id)
        .distinct()
        .join(rounds, rounds.c.id == actions.c.round_id)
        .where(actions.c.call_id >= bindparam("first_call"), rounds.c.id < bindparam("first"))
        .order_by(actions.c.round_id)
    )
)


def check_generations(desk: Desk) -> Iterator[Finding]:
    before = 1
    floor: dict[str, int] = {}
    known = generations(desk.connection)
    for generation in known:
        where = f"generation {generation.number}"
        if generation.number <= before:
            yield Finding(where, f"It follows generation {before}.")
        before = generation.number
        firsts = generation.firsts
        if any(not isinstance(firsts.get(table), int) for table in NUMBERED):
            yield Finding(where, "It does not say with which numbers it begins.")
            return
        if firsts["transfers"] != generation.first:
            yield Finding(where, "It says of two transfers that it begins with them.")
        for table, last in floor.items():
            if firsts[table] < last:
                yield Finding(where, f"It gives numbers of {NUMBERED[table]} that were given.")
        floor = dict(firsts)
        yield from _check_closed(desk, generation)


def _check_closed(desk: Desk, generation: Generation) -> Iterator[Finding]:
    books, firsts = desk.connection, generation.firsts
    begun = f"generation {generation.number} began"
    for table, (what, still_open) in _OPEN.items():
        for number in still_open(books, first=firsts[table]).scalars():
            yield Finding(f"{what} {number}", f"It was open when {begun}, and is still.")
    for number, shoe in _DEALT(books, first=firsts["rounds"], first_shoe=firsts["shoes"]):
        yield Finding(
            f"hand {number}", f"It was dealt from shoe {shoe}, which was closed when {begun}."
        )
    acted = _ACTED(books, first_call=firsts["calls"], first=firsts["rounds"])
    for number in acted.scalars():
        yield Finding(f"hand {number}", f"It was dealt before {begun}, and played on after it.")
