"""A table of several callers in the books, for tests."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256

from tests.timebank.books import Books, Call, wager
from timebank.ledger.purse import Receipt
from timebank.wagers.journal import open_shoe
from timebank.wagers.rounds import Move
from timebank.wagers.wagers import Sitter, act, place

GAME = "vegas"
NAMES = ("Ann", "Bob", "Cid", "Dora", "Eve", "Fred", "Gus")
SEED = bytes(range(32))
SEAL = sha256(SEED).hexdigest()


class Table:
    """Callers on their calls, in seats 1, 2, ..., with a shoe that they share."""

    def __init__(self, books: Books, callers: int, **changes) -> None:
        self.books = books
        self.calls: dict[int, Call] = {}
        for seat, name in enumerate(NAMES[:callers], 1):
            caller_id = books.caller(name)
            self.calls[seat] = books.call(caller_id, node=seat)
        self.shoe = books.do(open_shoe, None, GAME, 4, SEED)
        shared = wager(
            0, game=GAME, shoe_id=self.shoe.id, cards_used=8, start=0, is_shoe_shared=True
        )
        self.wager = shared._replace(**changes)
        self.lead = 0
        self.sequence = 0
        self.rounds: dict[int, int] = {}
        self.receipts: dict[int, Receipt] = {}

    def sitter(self, seat: int) -> Sitter:
        call = self.calls[seat]
        return Sitter(call.caller_id, call.id, call.ticked)

    def gone(self, seat: int) -> Sitter:
        """A caller without a known call."""
        return Sitter(self.calls[seat].caller_id, None, None)

    def bet(self, amounts: Mapping[int, int], settlements=None, **changes) -> None:
        """Bet these amounts, by seat."""
        sitters = {seat: self.sitter(seat) for seat in amounts}
        self.place(amounts, sitters, settlements, **changes)

    def place(self, amounts, sitters, settlements=None, **changes) -> None:
        wager = self.wager._replace(amounts=amounts, **changes)
        placed = self.books.do(place, wager, sitters, settlements or {})
        self.lead, self.receipts = placed.lead, placed.receipts
        lead = "SELECT seat, id FROM rounds WHERE id = ? OR lead = ?"
        self.rounds = dict(self.books.sql(lead, self.lead, self.lead))
        self.sequence = 0

    def move(self, action: str, **changes) -> Move:
        move = Move(self.lead, self.sequence + 1, {"action": action}, 9)
        return move._replace(**changes)

    def act(self, seat: int, settlements=None, *, sitters=None, action="hit", **changes) -> None:
        if sitters is None:
            sitters = {number: self.sitter(number) for number in self.rounds}
        move = self.move(f"{seat}:{action}", seat=seat, **changes)
        self.receipts = self.books.do(act, move, sitters, settlements or {}).receipts
        self.sequence += 1

    def moved(self, seat: int) -> list[tuple[str, int, str, str]]:
        rows = self.receipts[seat].rows
        return [(row.kind, row.amount, row.source, row.target) for row in rows]

    def stakes(self) -> list[int]:
        """The stakes of all seats."""
        return [self.books.balances(call.caller_id)["stake"] for call in self.calls.values()]

    def online(self) -> list[int]:
        """The online balances of all seats."""
        return [self.books.balances(call.caller_id)["online"] for call in self.calls.values()]

    def everything(self) -> list[object]:
        """All that a refusal must leave as it was."""
        tables = ("transfers", "rounds", "actions", "calls", "shoes", "accounts", "notices")
        return [self.books.sql(f"SELECT * FROM {table}") for table in tables]
