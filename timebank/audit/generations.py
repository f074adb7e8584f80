"""The audit of generations: nothing that was open before a restore was gone on with after it.

That their rows fit the chain of transfers is looked at in `tampering`.
"""

from __future__ import annotations

from collections.abc import Iterator

from timebank.audit.finding import Finding
from timebank.ledger.database import Desk
from timebank.ledger.generations import NUMBERED, Generation, generations

# What a restore closes, by the table whose numbers tell which generation it is of.
OPEN = {
    "shoes": ("shoe", "SELECT id FROM shoes WHERE closed IS NULL AND id < ? ORDER BY id"),
    "rounds": ("hand", "SELECT id FROM rounds WHERE settled IS NULL AND id < ? ORDER BY id"),
    "calls": ("call", "SELECT id FROM calls WHERE closed IS NULL AND id < ? ORDER BY id"),
}
DEALT = "SELECT id, shoe_id FROM rounds WHERE id >= ? AND shoe_id < ? ORDER BY id"
ACTED = """
SELECT DISTINCT a.round_id FROM actions a JOIN rounds r ON r.id = a.round_id
WHERE a.call_id >= ? AND r.id < ? ORDER BY 1
"""


def check_generations(desk: Desk) -> Iterator[Finding]:
    """Name every generation that does not follow the one before, and what was not closed in it."""
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
    run, firsts = desk.connection.exec_driver_sql, generation.firsts
    begun = f"generation {generation.number} began"
    for table, (what, sql) in OPEN.items():
        for number in run(sql, (firsts[table],)).scalars():
            yield Finding(f"{what} {number}", f"It was open when {begun}, and is still.")
    for number, shoe in run(DEALT, (firsts["rounds"], firsts["shoes"])):
        yield Finding(
            f"hand {number}", f"It was dealt from shoe {shoe}, which was closed when {begun}."
        )
    for number in run(ACTED, (firsts["calls"], firsts["rounds"])).scalars():
        yield Finding(f"hand {number}", f"It was dealt before {begun}, and played on after it.")
