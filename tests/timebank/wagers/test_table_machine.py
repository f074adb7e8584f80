"""A table under whatever its callers do, in any order: the books and one simple account agree.

They bet, act, drop, come back on other calls, are taken over and deleted; the table knows of it or
does not.
"""

from __future__ import annotations

from dataclasses import dataclass

import hypothesis.strategies as st
from hypothesis import HealthCheck, settings
from hypothesis.stateful import initialize, invariant, precondition, rule

from tests.examples import EXAMPLES
from tests.timebank.books import Call, wager
from tests.timebank.state import BooksMachine, on_a_server
from tests.timebank.tables import GAME, NAMES, SEAL, SEED
from timebank.errors import CallClosed, NotEnough, Refused
from timebank.keeping import deletion
from timebank.wagers.journal import open_shoe, shared_rounds
from timebank.wagers.rounds import Move, Settlement
from timebank.wagers.wagers import Sitter, act, place

SEATS = range(1, 5)
seats = st.sampled_from(SEATS)
LOST, RETURNED, WON = range(3)


@dataclass
class Chair:
    """Who sits in a seat: `known` is the call that the table believes they are on."""

    caller_id: int
    call: Call | None
    known: Call | None
    stake: int = 0
    in_round: bool = False


class AtTheTable(BooksMachine):
    def __init__(self) -> None:
        super().__init__()
        self.lead = 0
        self.sequence = 0

    @initialize()
    def begin(self):
        self.books = self.open_books()
        self.shoe = self.books.do(open_shoe, None, GAME, 4, SEED, SEAL)
        self.position = 0
        self.chairs = {seat: self.new_chair(seat) for seat in SEATS}
        self.won = 0  # by all callers of the house

    # What callers do.

    @rule(seconds=st.sampled_from((1, 20, 600)), renewing=st.booleans())
    def time_passes(self, seconds, renewing):
        self.books.wait(seconds)
        if renewing:
            for chair in self.chairs.values():
                if chair.call is not None:
                    chair.call.renew()

    @rule(seat=seats)
    def one_hangs_up(self, seat):
        chair = self.chairs[seat]
        if chair.call is not None and self.is_open(chair.call):
            chair.call.close()
        chair.call = None

    @rule(seat=seats)
    def one_calls_again(self, seat):
        chair = self.chairs[seat]
        chair.call = self.books.call(chair.caller_id, node=seat, take_over=True)

    @rule(seat=seats)
    def the_table_hears_of_it(self, seat):
        self.chairs[seat].known = self.chairs[seat].call

    @rule(seat=seats)
    def one_is_deleted_and_another_sits_down_for_the_next_round(self, seat):
        chair = self.chairs[seat]
        self.one_hangs_up(seat)
        self.books.do(deletion.delete, chair.caller_id)
        in_round = chair.in_round
        self.chairs[seat] = self.new_chair(seat)
        if in_round:
            # The seat is void; who comes now plays no part in this round.
            self.void.add(seat)
            self.end_when_empty()

    # What the table does.

    @precondition(lambda self: not self.lead)
    @rule(
        playing=st.sets(seats, min_size=1),
        minutes=st.sampled_from((1, 2, 10)),
        outcome=st.sampled_from((None, None, "win", "lose")),
    )
    def bets_are_placed(self, playing, minutes, outcome):
        amount = 60 * minutes
        sitters = {seat: self.sitter(seat) for seat in playing}
        ends = {}
        if outcome is not None:
            ends = {seat: self.settlement(outcome, amount) for seat in playing}
        bet = wager(
            0,
            game=GAME,
            amounts=dict.fromkeys(playing, amount),
            shoe_id=self.shoe.id,
            is_shoe_shared=True,
            cards_used=8,
            start=self.position,
        )
        before = self.everything()
        placed, refused = self.outcome(place, bet, sitters, ends)
        if refused is not None:
            assert isinstance(refused, (CallClosed, NotEnough))
            assert refused.seat in playing
            assert self.everything() == before
            return
        assert sorted(placed.receipts) == sorted(playing)
        self.position += 8
        self.void = set()
        self.players = set(playing)
        if ends:
            self.tell(ends)
            return
        self.lead, self.sequence = placed.lead, 0
        for seat in playing:
            self.chairs[seat].stake, self.chairs[seat].in_round = amount, True

    @precondition(lambda self: self.lead)
    @rule(
        data=st.data(),
        doubling=st.booleans(),
        outcome=st.sampled_from((None, None, "win", "lose", "push")),
    )
    def a_seat_acts(self, data, doubling, outcome):
        seat = data.draw(st.sampled_from(sorted(self.players)), "seat")
        chair = self.chairs[seat]
        stake = chair.stake if doubling and chair.in_round else 0
        kind = "double" if stake else ""
        move = Move(self.lead, self.sequence + 1, {"action": "x"}, 8, stake, kind, 60, seat)
        ends = {}
        if outcome is not None:
            ends = {
                number: self.settlement(outcome, self.chairs[number].stake)
                for number in self.players - self.void
            }
            if seat in ends:
                ends[seat] = self.settlement(outcome, chair.stake + stake)
        sitters = {number: self.sitter(number) for number in self.players - self.void}
        before = self.everything()
        played, refused = self.outcome(act, move, sitters, ends)
        if refused is not None:
            # Only who acts can be refused: their known call has ended, or they cannot pay.
            assert isinstance(refused, (CallClosed, NotEnough))
            assert stake or chair.known is not None
            assert self.everything() == before
            return
        chair.stake += stake
        self.sequence += 1
        assert set(played.receipts) == set(ends) | ({seat} - self.void)
        if ends:
            self.tell(ends)
            self.end()

    # What must hold after every step.

    @invariant()
    def the_audit_finds_nothing(self):
        if hasattr(self, "books"):
            assert self.audit() == []

    @invariant()
    def what_stands_on_the_table_is_what_was_staked(self):
        if hasattr(self, "books"):
            for chair in self.chairs.values():
                assert self.books.balances(chair.caller_id)["stake"] == chair.stake
            assert self.books.system().get("house", 0) == -self.won

    @invariant()
    def the_table_is_found_while_it_is_played(self):
        if hasattr(self, "books"):
            found = list(self.books.do(shared_rounds, GAME))
            assert found == ([self.lead] if self.lead else [])

    # Helpers.

    def outcome(self, operation, *values):
        """The result of an operation, or the refusal."""
        try:
            return self.books.do(operation, *values), None
        except Refused as refused:
            return None, refused

    def new_chair(self, seat: int) -> Chair:
        caller_id = self.books.caller(NAMES[seat])
        call = self.books.call(caller_id, node=seat)
        return Chair(caller_id, call, call)

    def sitter(self, seat: int) -> Sitter:
        chair = self.chairs[seat]
        if chair.known is None:
            return Sitter(chair.caller_id, None, None)
        return Sitter(chair.caller_id, chair.known.id, chair.known.ticked)

    def settlement(self, outcome: str, stake: int) -> Settlement:
        amounts = {"win": (0, stake, stake), "lose": (stake, 0, 0), "push": (0, stake, 0)}
        return Settlement(*amounts[outcome], outcome, {}, True)

    def tell(self, ends) -> None:
        self.won += sum(end.won - end.lost for end in ends.values())

    def end_when_empty(self) -> None:
        if self.players <= self.void:
            self.end()

    def end(self) -> None:
        self.lead = 0
        for chair in self.chairs.values():
            chair.stake, chair.in_round = 0, False

    def is_open(self, call: Call) -> bool:
        return self.books.sql("SELECT closed IS NULL FROM calls WHERE id = ?", call.id) == [(1,)]

    def everything(self):
        tables = ("transfers", "rounds", "actions", "notices")
        return [self.books.sql(f"SELECT * FROM {table}") for table in tables]


AtTheTable.TestCase.settings = settings(
    max_examples=EXAMPLES * 10,
    stateful_step_count=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
TestAtTheTable = AtTheTable.TestCase
TestAtTheTableOnAServer = on_a_server(AtTheTable)
