"""Play money under whatever order of visits, coups, hands, days and hang-ups, checked every step.

A second account of it is kept here from what was asked and answered, and must agree.
"""

from __future__ import annotations

from dataclasses import dataclass

import hypothesis.strategies as st
from hypothesis import HealthCheck, settings
from hypothesis.stateful import initialize, invariant, precondition, rule

from tests.examples import EXAMPLES
from tests.timebank.books import stand_alone
from tests.timebank.state import BooksMachine, on_a_server
from timebank.errors import NotEnough, RoundInPlay
from timebank.keeping import deletion
from timebank.ledger.play_accounts import PlayMoney
from timebank.wagers.play_money import Tally, tally
from timebank.wagers.rounds import Move, Settlement

NEW = 100_000_00
FULL = 1_000_000_00
UNITS = ("usd-cent", "frf-cent")
units = st.sampled_from(UNITS)
outcomes = st.sampled_from(("win", "lose", "push"))


@dataclass
class Pocket:
    """What a caller should have in one unit."""

    bankroll: int = 0
    casino: int = 0
    tab: int = 0
    stake: int = 0
    sat_down: bool = False
    lost_on: str = ""


@dataclass
class Hand:
    game: str
    unit: str
    stake: int


class Play(BooksMachine):
    def __init__(self) -> None:
        super().__init__()
        self.hand: Hand | None = None
        self.action = self.standing = 0

    @initialize()
    def begin(self):
        self.books = self.open_books(events=())
        self.ann = self.books.caller("Ann")
        self.pockets = {unit: Pocket() for unit in UNITS}
        self.call = self.books.call(self.ann)

    @rule(unit=units)
    def she_sits_down(self, unit):
        pocket, today = self.pockets[unit], self.books.now.date().isoformat()
        if self.hand is None or self.hand.unit != unit:
            if not pocket.bankroll and (not pocket.sat_down or pocket.lost_on < today):
                pocket.bankroll = NEW
            pocket.sat_down = True
            pocket.casino = FULL
        self.call.sit_down(unit)
        self.check_receipt(unit)

    @rule(unit=units, share=st.integers(1, 6))
    def a_coup_is_dealt(self, unit, share):
        pocket = self.pockets[unit]
        amount = max(1, pocket.bankroll * share // 5)
        refused = None
        try:
            self.call.coup(amount, unit=unit)
        except (NotEnough, RoundInPlay) as error:
            refused = type(error)
        if self.hand is not None:
            assert refused is RoundInPlay
        elif amount > min(pocket.bankroll, pocket.casino):
            assert refused is NotEnough
        else:
            assert refused is None
            self.put_down("baccarat", unit, amount)
            pocket.bankroll -= amount
            self.check_receipt(unit)

    @precondition(lambda self: self.hand is None)
    @rule()
    def a_hand_of_bj_is_dealt(self):
        self.call.hand_of_bj()
        self.put_down("unix-bj", "usd-cent", 200)
        self.pockets["usd-cent"].tab -= 200
        self.check_receipt("usd-cent")

    @precondition(lambda self: self.hand is not None and self.hand.game == "unix-bj")
    @rule(stake=st.sampled_from((100, 200)))
    def more_is_staked(self, stake):
        self.call.act(stake=stake, kind="double", coin=100)
        self.hand.stake += stake
        self.action += stake // 100
        pocket = self.pockets["usd-cent"]
        pocket.stake += stake
        pocket.tab -= stake
        self.check_receipt("usd-cent")

    @precondition(lambda self: self.hand is not None)
    @rule(outcome=outcomes, on_line=st.booleans())
    def it_is_settled(self, outcome, on_line):
        hand, pocket = self.hand, self.pockets[self.hand.unit]
        stake = hand.stake
        lost, returned, won = {
            "win": (0, stake, stake),
            "lose": (stake, 0, 0),
            "push": (0, stake, 0),
        }[outcome]
        ending = Settlement(lost, returned, won, outcome, {}, True)
        if on_line:
            self.call.act(ending)
        else:
            self.call.close()
            move = Move(self.call.round_id, self.call.sequence + 1, {"action": "stay"}, 4)
            self.call.receipt = self.books.do(stand_alone, [move], ending)
        pocket.stake = 0
        if hand.game == "baccarat":
            pocket.bankroll += returned + won
            pocket.casino += lost - won
            if lost:
                pocket.lost_on = self.books.now.date().isoformat()
        else:
            pocket.tab += returned + won
            self.standing += (won - lost) // 100
        self.check_receipt(hand.unit)
        self.hand = None
        if not on_line:
            self.call = self.books.call(self.ann)

    @rule(seconds=st.sampled_from((1, 3600, 43200, 86400)))
    def time_passes(self, seconds):
        self.books.wait(seconds)

    @rule()
    def she_drops_and_calls_again(self):
        old = self.call
        self.call = self.books.call(self.ann, take_over=True)
        if self.hand is not None:
            self.call.round_id, self.call.sequence = old.round_id, old.sequence

    @rule()
    def she_is_deleted_and_another_takes_the_name(self):
        self.call.close()
        self.books.do(deletion.delete, self.ann)
        assert not any(any(self.books.balances(self.ann, unit).values()) for unit in UNITS)
        self.ann = self.books.caller("Ann")
        self.pockets = {unit: Pocket() for unit in UNITS}
        self.hand = None
        self.action = self.standing = 0
        self.call = self.books.call(self.ann)

    @invariant()
    def the_audit_finds_nothing(self):
        if hasattr(self, "books"):
            assert self.audit() == []

    @invariant()
    def every_unit_sums_to_zero_and_no_bank_is_below(self):
        if hasattr(self, "books"):
            sums = self.books.sql("SELECT unit, sum(balance) FROM accounts GROUP BY unit")
            assert {total for _, total in sums} == {0}
            lows = "SELECT min(balance) FROM accounts WHERE kind IN ('casino', 'bankroll', 'stake')"
            assert self.books.sql(lows)[0][0] >= 0

    @invariant()
    def the_tally_is_what_was_played(self):
        if hasattr(self, "books"):
            told = self.books.do(tally, self.ann, "unix-bj", "usd-cent")
            assert told == Tally(self.action, self.standing)

    def put_down(self, game, unit, amount):
        self.hand = Hand(game, unit, amount)
        self.pockets[unit].stake = amount
        if game == "unix-bj":
            self.action += amount // 100

    def check_receipt(self, unit):
        pocket = self.pockets[unit]
        expected = PlayMoney(unit, pocket.bankroll, pocket.casino, pocket.tab, pocket.stake)
        assert self.call.receipt.play == expected


Play.TestCase.settings = settings(
    max_examples=EXAMPLES * 10,
    stateful_step_count=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
TestPlay = Play.TestCase
TestPlayOnAServer = on_a_server(Play)
