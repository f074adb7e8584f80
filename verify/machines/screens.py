"""All that was on robots' screens, held against the books that are left."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise

from door.config import config as settings
from door.games import hand_check as hands
from timebank.audit import accounts as accounts_audit
from timebank.ledger.engines import books_of
from verify.machines import phones
from verify.machines.databases import SERVERS
from verify.machines.result import Result
from verify.machines.world import FIRST, World
from verify.robots import Seen, check, copied

BAD = re.compile(r" (ERROR|CRITICAL) |Traceback")
LAG = 90.0  # seconds that a screen may lag behind the books, while a server is stopped


def compare(world: World, result: Result) -> None:
    """Hold all screens against the books; done on the first server's machine."""
    bank = settings.load(world.config(FIRST)).bank
    database = books_of(bank)
    try:
        with database.reading(bank, datetime.now(UTC)) as desk:
            result.wrong += [str(finding) for finding in accounts_audit.audit(desk)]
            result.wrong += [str(finding) for finding in hands.audit(desk)[0]]
    finally:
        database.close()
    file = copied.to_read(bank, world.folder)
    everybody = phones.seen(world.folder)
    for trace in everybody:
        forgive_half_screens(trace)
    compared = check.against_the_books(file, everybody, LAG)
    result.wrong += compared.wrong
    result.counted += Counter(
        {
            "keys": sum(trace.keys for trace in everybody),
            "calls": sum(trace.calls for trace in everybody),
            "hands": compared.hands,
            "hands seen": compared.settlements,
            "of them at Vegas": sum(
                hand.game == "vegas" for trace in everybody for hand in trace.settlements
            ),
            "movements seen": compared.movements,
            "glances at the clock": compared.purses,
            "cards seen": compared.cards,
        }
    )
    for trace in everybody:
        for seconds, question, _, _ in trace.unanswered:
            result.waited(f"{trace.name}, after {question!r},", seconds)
    silent = max((wait for trace in everybody for wait in trace.slowest), default=0.0)
    result.longest_without_a_word = silent
    moments = phones.notes(world.folder)
    times = [at for (at, _, hands), (_, _, more) in pairwise(moments) if more > hands]
    result.longest_silence = max((b - a for a, b in pairwise(times)), default=0.0)
    for machine in SERVERS:
        logs = world.config(machine).parent.glob("*.log")
        for log in logs:
            text = log.read_text()
            result.counted["errors in logs"] += len(BAD.findall(text))
            if "Traceback" in text:
                result.wrong.append(f"{log}: {text[text.index('Traceback') :][:2000]}")


def forgive_half_screens(trace: Seen) -> None:
    """Ignore what a hasty reader sees on half a screen, or types too early.

    The digits of a shoe may be next to the end of the hand before it: hands are looked up by their
    order, not by turn and shoe. And a page of seals may be incomplete.
    """
    trace.settlements[:] = [
        hand if hand.game == "unix-bj" else replace(hand, number=None, seal="", seed="")
        for hand in trace.settlements
    ]
    trace.complaints[:] = [words for words in trace.complaints if "does not open" not in words]
