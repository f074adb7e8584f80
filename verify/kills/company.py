"""What callers have in common, counted a second time: messages, deals, and tournaments.

`Company` remembers what was durable at the last look, as `count.Count` does.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections import Counter
from typing import NamedTuple

from verify.simulate.tournaments import Tournaments


class Message(NamedTuple):
    sender: int
    reader: int
    at: int
    text: str
    shown: int | None


class Try(NamedTuple):
    begun: int
    acts: tuple[str, ...]
    finished: int | None
    score: int | None
    cost: int | None


class Company:
    """The common part of the books, look after look."""

    def __init__(self) -> None:
        self.counted = Counter[str]()  # what was told of tournaments since the first look
        self.messages: dict[int, Message] = {}
        self.deals: dict[str, tuple[object, ...]] = {}
        self.tries: dict[tuple[str, int], Try] = {}
        self._tournaments = Tournaments(self.counted)

    @property
    def decisions(self) -> int:
        return sum(len(each.acts) for each in self.tries.values())

    def look(self, file: sqlite3.Connection) -> None:
        """Count everything; raises AssertionError at what does not fit what was found before."""
        self._messages_stay(file)
        self._deals_stay(file)
        self._tries_go_on(file)
        self._tournaments.step(file, None)

    def _messages_stay(self, file: sqlite3.Connection) -> None:
        now = {number: Message(*row) for number, *row in file.execute(MESSAGES)}
        for number, was in self.messages.items():
            assert number in now, f"message {number} was durable and is gone"
            stays = now[number][:-1] == was[:-1] and was.shown in (None, now[number].shown)
            assert stays, f"message {number} was {was}, and is {now[number]}"
        self.messages = now

    def _deals_stay(self, file: sqlite3.Connection) -> None:
        now = {seal: tuple(row) for seal, *row in file.execute(DEALS)}
        for seal, (_day, seed, *_rest, closed) in now.items():
            opened = hashlib.sha256(bytes.fromhex(str(seed))).hexdigest()
            assert opened == seal, f"the seed of deal {seal} does not open its seal"
            was = self.deals.get(seal)
            stays = was is None or (was[:-1] == now[seal][:-1] and was[-1] in (None, closed))
            assert stays, f"deal {seal} was {was}, and is {now[seal]}"
        gone = sorted(self.deals.keys() - now.keys())
        assert not gone, f"deals were durable and are gone: {gone}"
        self.deals = now

    def _tries_go_on(self, file: sqlite3.Connection) -> None:
        now = {
            (seal, caller): Try(begun, tuple(acts.split()), *rest)
            for seal, caller, begun, acts, *rest in file.execute(TRIES)
        }
        for key, was in self.tries.items():
            assert key in now, f"the try {key} was durable and is gone"
            found = now[key]
            goes_on = found.acts[: len(was.acts)] == was.acts and found.begun == was.begun
            assert goes_on, f"the try {key} was {was}, and is {found}"
            ended = was.finished is None or found[:-1] == was[:-1]
            assert ended, f"the try {key} was over as {was}, and is {found}"
            assert was.cost in (None, found.cost), f"the try {key} cost {was}, and costs {found}"
        self.tries = now


MESSAGES = "SELECT id, sender_id, caller_id, at, text, shown FROM messages"
DEALS = "SELECT seal, day, lower(hex(seed)), rules, opened, daily, closed FROM deals"
TRIES = "SELECT seal, caller_id, begun, acts, finished, score, cost FROM deal_tries"
