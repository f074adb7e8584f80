"""Callers at the Vegas table without a line: their news is recorded and not drawn.

The board, its books and their calls are real; a caller's terminal is a line that accepts
everything. Rounds come from seeds searched for the test.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import Any

from ansi.charset import Charset
from door.call.board import Board
from door.call.caller import Caller
from door.call.console import Console
from door.call.screen import Look, Paint
from door.games.blackjack.round import BlackjackAction, BlackjackPhase, BlackjackRound
from door.games.blackjack.rules import VEGAS, BlackjackRules, rules_to_mapping
from door.games.engine.shuffle import SEED_BYTES
from door.games.vegas.game import VEGAS_KIND
from door.tables.vegas.room import VegasRoom
from door.tables.vegas.state import Chair
from door.tables.vegas.table import VegasTable
from tests.door.playing import with_keys
from tests.door.vegas import table_of
from tests.door.wall import Wall
from tests.world import BOARD, World, cut_with, world
from timebank.callers import callers
from timebank.callers.notices import read
from timebank.wagers import journal
from timebank.wagers.journal import StoredRound

MINUTE = 60
BELL, TURN, RESUME = 20, 30, 60  # the sysop's settings in seconds
NAMES = ("Ada", "Bob", "Cyd", "Dan", "Eve", "Fay", "Gus", "Hal")


def vegas(**keys: object) -> str:
    """Return the settings of a board with these keys of the Vegas table."""
    calls = "[calls]\nidle_warning_seconds = 86399\nidle_limit_seconds = 86400"
    return with_keys(f"{BOARD}\n{calls}", "vegas", keys)


class Sitter:
    """A guest of the table who acts for a test and records the news."""

    def __init__(self, board: Board, caller: Caller) -> None:
        self.board = board
        self.table: VegasTable = table_of(board)
        self.caller = caller
        self.heard: list[object] = []
        self.receipts: list[object] = []

    # The table's questions.

    def on_news(self, happened: Sequence[object]) -> None:
        self.heard.extend(happened)

    def expect_receipt(self) -> None: ...

    def on_receipt(self, receipt: object) -> None:
        self.receipts.append(receipt)

    # Actions.

    async def sits(self) -> Sitter:
        await self.table.sit(self)
        return self

    async def bets(self, coins: int) -> None:
        await self.table.bet(self, self.table.betting(self.caller), coins)

    async def is_ready(self, coins: int = 1) -> None:
        await self.bets(coins)

    async def does(self, *actions: str, amount: int | None = None) -> None:
        for action in actions:
            await self.table.decide(self, BlackjackAction(action), amount)

    def says(self, text: str) -> None:
        self.table.talk(self, text)

    async def drops(self) -> None:
        """Lose the carrier: the visit ends, then the call."""
        self.table.leave(self)
        await self.board.close_call(self.caller, "carrier lost")
        await settled(self.board)

    async def gets_up(self) -> None:
        self.table.leave(self)
        await settled(self.board)

    async def calls_back(self) -> Sitter:
        """Call again, from the log-on to the table."""
        again = await on_a_call(self.board, self.caller.record)
        await again.finds_hand()
        return await again.sits()

    async def finds_hand(self) -> bool:
        """Look for a hand that was left open, and go to its table."""
        table = await VegasRoom.among(self.board.shared).find(self.caller.record.id)
        self.table = table or self.table
        return self.table.state.place_of(self.caller.record.id) is not None

    # Balances.

    @property
    def name(self) -> str:
        return self.caller.record.name

    @property
    def seat(self) -> Chair:
        seat = self.table.state.seat_of(self.caller.record.id)
        assert seat is not None, f"{self.name} has no seat"
        return seat

    @property
    def is_at_turn(self) -> bool:
        seat = self.table.state.at_turn
        return seat is not None and seat.name == self.name

    @property
    def hand(self) -> Any:
        """Their seat in the round on the table."""
        hand = self.table.state.hand
        assert hand is not None
        return hand.round.seats[hand.names.index(self.name)]

    def was_told(self, kind: type) -> list[Any]:
        return [item for item in self.heard if isinstance(item, kind)]


async def on_a_call(
    board: Board, record: callers.CallerRecord, *, take_over: bool = False
) -> Sitter:
    console = Console(Wall(), Look(Charset.UTF8, Paint.LINES), board.clock)
    board.consoles.add(console)
    return Sitter(board, await board.open_call(console, record, take_over=take_over))


async def arrives(here: World, name: str) -> Sitter:
    """Register a caller on their first call of the day."""
    here.enter(name)
    with here.books() as desk:
        record = callers.find(desk, name)
    assert record is not None
    return await on_a_call(here.server.board, record)


async def settled(board: Board) -> None:
    """Wait until the table has finished all work that needs no key."""
    for _ in range(3):
        await board.books.run(lambda desk: None)
        await table_of(board)._do(_nothing)


async def _nothing() -> None: ...


class Party:
    """Callers around the table of one board."""

    def __init__(self, here: World, sitters: list[Sitter]) -> None:
        self.here = here
        self.sitters = sitters

    @property
    def table(self) -> VegasTable:
        return table_of(self.here.server.board)

    @property
    def state(self) -> Any:
        return self.table.state

    @property
    def round(self) -> BlackjackRound:
        hand = self.table.state.hand
        assert hand is not None
        return hand.round

    @property
    def at_turn(self) -> str:
        """The name at turn, "" if there is none."""
        seat = self.table.state.at_turn
        return "" if seat is None else seat.name

    async def deal(self, *coins: int) -> None:
        """Bet and be ready at every seat; one coin each without `coins`."""
        for sitter, bet in zip(self.sitters, coins or [1] * len(self.sitters), strict=True):
            await sitter.is_ready(bet)

    async def pass_time(self, seconds: float) -> None:
        await self.here.pass_time(seconds)
        await settled(self.here.server.board)

    async def play_out(self) -> None:
        """Decline insurance and stand at every seat until the round is over."""
        while (seat := self.table.state.at_turn) is not None:
            sitter = next(each for each in self.sitters if each is seat.guest)
            declines = self.round.phase is BlackjackPhase.INSURANCE
            await sitter.does("no-insurance" if declines else "stay")

    def journal(self) -> list[str]:
        """The decisions of the last round, as "2:hit"."""
        stored = self.stored()
        return [
            f"{action['seat']}:{action['action']}"
            + (f":{action['amount']}" if "amount" in action else "")
            for _, action in stored.actions
            if action["action"] != "bet"
        ]

    def stored(self) -> StoredRound:
        """The round that keeps the journal of the last one."""
        with self.here.books() as desk:
            run = desk.connection.exec_driver_sql
            lead = run("SELECT coalesce(lead, id) FROM rounds ORDER BY id DESC LIMIT 1").scalar()
            assert isinstance(lead, int), "nothing was dealt"
            stored = journal.stored_round(desk, lead)
        assert stored is not None
        return stored

    def rounds_dealt(self) -> int:
        """The number of rounds dealt, of any size."""
        with self.here.books() as desk:
            count = "SELECT count(*) FROM rounds WHERE lead IS NULL"
            rows: int = desk.connection.exec_driver_sql(count).scalar_one()
            return rows

    def notices(self, name: str) -> list[str]:
        with self.here.books() as desk:
            rows = desk.connection.exec_driver_sql(
                "SELECT n.text FROM notices n JOIN callers c ON c.id = n.caller_id"
                " WHERE c.name = ? ORDER BY n.id",
                (name,),
            )
            return [str(read(text)) for text in rows.scalars()]


@asynccontextmanager
async def party(
    folder: Path, count: int, *, seed: bytes | None = None, is_planted: bool = True, **keys: object
) -> AsyncIterator[Party]:
    """Seat this many callers with sixty minutes each; check the books at the end.

    The shoe on the table comes from `seed`.
    """
    async with world(folder, toml=vegas(**keys), is_planted=is_planted) as here:
        if seed is not None:
            here.seeds = [seed]
        sitters = [await arrives(here, name) for name in NAMES[:count]]
        for sitter in sitters:
            await sitter.sits()
        yield Party(here, sitters)


@cache
def shoe(
    seats: int,
    wanted: Callable[[BlackjackRound], bool],
    rules: BlackjackRules = VEGAS,
    position: int = 0,
    cut: str = "",
) -> bytes:
    """Return a seed whose first round for these seats, one coin each, is as `wanted`.

    `cut` has a phrase a line, in the order of commitments; without it the house draws them all.
    """
    mapping = rules_to_mapping(rules)
    for number in range(1, 20_000):
        seed = number.to_bytes(SEED_BYTES, "big")
        cards = VEGAS_KIND.cards(seed, cut_with(cut, 1 if cut else seats), rules.decks, position)
        dealt, _ = VEGAS_KIND.deal(mapping, cards, [60] * seats, 1)
        if wanted(dealt):
            return seed
    raise AssertionError("no seed deals that round")


def everybody_plays(dealt: BlackjackRound) -> bool:
    """The round visits all seats: none has twenty-one, and no ace is up."""
    return dealt.phase is BlackjackPhase.PLAY and all(
        seat.hands[0].count.total < 17 and seat.hands[0].count.total not in (10, 11)
        for seat in dealt.seats
    )


def ace_up(dealt: BlackjackRound) -> bool:
    """Every seat is offered insurance, and neither a seat nor the dealer has a natural."""
    dealer = dealt.dealer_hand
    return (
        dealt.phase is BlackjackPhase.INSURANCE
        and dealer[1].value != 10
        and all(seat.hands[0].count.total < 17 for seat in dealt.seats)
    )


def dealers_natural(dealt: BlackjackRound) -> bool:
    """An ace is up and a ten below it; no seat has a natural."""
    return (
        dealt.phase is BlackjackPhase.INSURANCE
        and dealt.dealer_hand[1].value == 10
        and all(seat.hands[0].count.total < 21 for seat in dealt.seats)
    )


def first_may_hit(dealt: BlackjackRound) -> bool:
    """As `everybody_plays`, and the first seat is still in play after a card."""
    return everybody_plays(dealt) and dealt.apply(BlackjackAction.HIT)[0].turn == dealt.turn


def over_at_once(dealt: BlackjackRound) -> bool:
    return dealt.over
