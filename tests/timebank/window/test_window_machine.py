"""Everything that can be done at the bank's window, in any order, beside a model of its own.

The model knows no ledger: it is a handful of numbers for each caller, moved by the rules as the
sysop's guide tells them. What it allows must be what the bank allows, to the second, and every
balance must be the model's after every step.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from pathlib import Path

import hypothesis.strategies as st
from hypothesis import HealthCheck, settings
from hypothesis.stateful import initialize, invariant, rule

from tests.examples import EXAMPLES
from tests.timebank.books import NOON
from tests.timebank.state import BooksMachine, on_a_server
from timebank.callers import callers
from timebank.callers.history import history
from timebank.callers.notices import notices as bank_notices
from timebank.callers.notices import unseen
from timebank.errors import Refused
from timebank.settings.settings import BankLimits
from timebank.window.corrections import (
    adjust,
    freeze,
    sysop_deposit,
    sysop_transfer,
    sysop_withdraw,
    unfreeze,
)
from timebank.window.teller import allowance, borrow, deposit, repay, transfer, withdraw

NAMES = ("Ann", "Bob", "Carol")
MINUTE = 60
minutes = st.sampled_from((1, 2, 5, 10, 29, 30, 31, 55, 56, 60, 61, 90, 200))
a_day = st.sampled_from((0, 600, 3600, 86400, 86400, 86400))
limits = st.builds(
    BankLimits,
    deposit=a_day,
    withdrawal=a_day,
    transfer=a_day,
    loan=a_day,
    balance=st.sampled_from((600, 7200, 86400, 86400)),
    keep=st.sampled_from((0, 300, 1800)),
    known_days=st.sampled_from((0, 0, 1, 3)),
    loan_share=st.sampled_from((0, 1, 50, 100)),
)


def next_event(now: datetime) -> tuple[datetime, datetime]:
    """The Mail hour of 03:00 to 04:00 that is, or comes next."""
    start = now.replace(hour=3, minute=0, second=0)
    if now >= start + timedelta(hours=1):
        start += timedelta(days=1)
    return start, start + timedelta(hours=1)


@dataclass
class Caller:
    """What the rules say that a caller has."""

    name: str
    registered: date
    online: int = 0
    held: int = 0
    bank: int = 0
    loan: int = 0  # owed, zero or more
    frozen: bool = False
    day: date | None = None
    earned: int = 0  # today, beside the grant
    ticked: int = 0
    held_until: datetime | None = None
    today: dict[str, int] = field(default_factory=dict)
    notices: int = 0

    def enter(self, rules, now: datetime, ticked: int) -> None:
        """What the clocks do before anything else."""
        self.online -= min(self.online, ticked - self.ticked)
        self.ticked = ticked
        if self.day is None or now.date() > self.day:
            self.begin_day(rules, now.date())
        _, end = next_event(now)
        if self.held and end > self.held_until:
            self.held -= (back := min(self.held, max(0, self.room(now))))
            self.online += back
            self.held_until = end

    def begin_day(self, rules, today: date) -> None:
        kept = min(self.online + self.held, max(0, self.earned))
        online = min(kept, self.online)
        self.online = self.held = self.earned = 0
        if self.is_shut(rules):
            self.online, self.held, self.earned = online, kept - online, kept
        else:
            self.put_away(rules, online)
            self.put_away(rules, kept - online)
        self.day, self.today = today, {}
        self.online += 3600
        share = min(self.loan, 3600 * rules.limits.loan_share // 100)
        self.online -= share
        self.loan -= share

    def is_shut(self, rules) -> bool:
        """Nothing can be put away, which a board without a bank does by forfeiting it."""
        return self.frozen and rules.mode != "none"

    def room(self, now: datetime) -> int:
        start, _ = next_event(now)
        return max(0, int((start - now).total_seconds())) - self.online

    def put_away(self, rules, amount: int) -> None:
        if rules.mode == "none":
            return
        before = self.bank
        self.bank += amount
        if rules.mode == "external" and amount:
            self.bank -= (before % MINUTE + amount) // MINUTE * MINUTE

    def win(self, rules, now: datetime, amount: int) -> None:
        share = min(self.loan, amount * rules.limits.loan_share // 100)
        self.online += amount - share
        self.earned += amount - share
        self.loan -= share
        self.leave(rules, now, amount - share)

    def leave(self, rules, now: datetime, winnings: int = 0) -> None:
        """What the next event does after everything else."""
        surplus = -self.room(now)
        if surplus <= 0:
            return
        won = 0 if self.is_shut(rules) else min(surplus, winnings)
        self.put_away(rules, won)
        self.earned -= won
        self.online -= surplus
        self.held += surplus - won
        if surplus > won:
            self.held_until = next_event(now)[1]

    def move(self, way: str, amount: int) -> None:
        """Deposit, withdraw, borrow or send."""
        online = {"deposit": -amount, "withdraw": amount, "borrow": amount, "transfer": 0}[way]
        self.online += online
        self.earned += max(0, online)  # a deposit comes out of the grant
        self.bank += {"deposit": amount, "borrow": 0}.get(way, -amount)
        self.loan += amount if way == "borrow" else 0
        self.today[way] = self.today.get(way, 0) + amount

    def repay(self, amount: int) -> None:
        self.loan -= amount
        self.online -= amount
        if "borrow" in self.today:  # none of an earlier day is owed then
            self.earned -= amount

    def usable(self, now: datetime) -> int:
        return min(self.online, self.online + self.room(now))

    # What the window allows: seconds, in whole minutes.

    def closed(self, rules, now: datetime) -> bool:
        barred = self.name in rules.barred
        return rules.mode != "built-in" or barred or self.frozen

    def known(self, rules, now: datetime) -> bool:
        return (now.date() - self.registered).days >= rules.limits.known_days

    def left(self, kind: str, limit: int) -> int:
        return limit - self.today.get(kind, 0)

    def allowed(self, rules, now: datetime) -> dict[str, int]:
        most, closed, known = rules.limits, self.closed(rules, now), self.known(rules, now)
        room, owed = self.room(now), -(-self.loan // MINUTE) * MINUTE
        may_send = known and not self.loan
        owes_of_before = self.loan > self.today.get("borrow", 0)
        may_borrow = self.left("borrow", most.loan) - self.today.get("transfer", 0)
        found = {
            "deposit": min(
                self.left("deposit", most.deposit),
                self.online - most.keep,
                most.balance - self.bank,
            ),
            "withdraw": min(self.left("withdraw", most.withdrawal), self.bank, room),
            "transfer": min(self.left("transfer", most.transfer), self.bank) if may_send else 0,
            "borrow": min(may_borrow, room) if known and not owes_of_before else 0,
            "repay": owed if self.online >= self.loan else min(self.online, owed),
        }
        return {
            kind: 0 if closed else max(0, amount // MINUTE * MINUTE)
            for kind, amount in found.items()
        }


class Window(BooksMachine):
    def __init__(self) -> None:
        super().__init__()
        self.callers: dict[int, Caller] = {}
        self.calls = {}

    @initialize()
    def begin(self):
        self.books = self.open_books(NOON)
        self.books.change(thebank_ext=Path(self.folder.name) / "THEBANK.EXT")
        for name in NAMES:
            number = self.books.caller(name)
            self.callers[number] = Caller(name, NOON.date())
            self.call(number)

    # The world outside.

    @rule(seconds=st.sampled_from((1, 59, 600, 3000, 20000, 43200, 86400)))
    def time_passes(self, seconds):
        self.books.wait(seconds)

    @rule(
        limits=limits,
        barred=st.sampled_from(((), ("Bob",))),
    )
    def the_sysop_edits_limits(self, limits, barred):
        self.books.change(limits=limits, barred=barred)

    @rule(mode=st.sampled_from((*("built-in",) * 6, "external", "none")))
    def the_sysop_changes_the_mode(self, mode):
        self.books.change(mode=mode)

    @rule(data=st.data(), wants=st.booleans())
    def a_caller_hangs_up_and_calls_again(self, data, wants):
        number = self.somebody(data)
        self.books.do(callers.set_preferences, number, {"auto_deposit": wants})

        def then(model: Caller) -> None:
            if wants:
                model.move("deposit", model.allowed(self.house, self.books.now)["deposit"])

        self.attempt(number, lambda call: call.close(), lambda model: True, then, least=1)
        self.call(number)

    @rule(data=st.data(), won=st.sampled_from((30, 90, 600, 7200, 90000)))
    def a_hand_is_won(self, data, won):
        def then(model: Caller) -> None:
            model.online -= 60
            model.leave(self.house, self.books.now)
            model.online += 60
            model.win(self.house, self.books.now, won)

        self.attempt(
            self.somebody(data),
            lambda call: call.win(60, won),
            lambda model: model.usable(self.books.now) >= 120,
            then,
        )

    @rule(data=st.data(), stake=st.sampled_from((60, 600, 3000)))
    def a_hand_is_lost(self, data, stake):
        def then(model: Caller) -> None:
            model.online -= stake
            model.earned -= stake

        self.attempt(
            self.somebody(data),
            lambda call: call.lose(stake),
            lambda model: model.usable(self.books.now) >= stake + 60,
            then,
        )

    # The window.

    @rule(data=st.data(), minutes=minutes, way=st.sampled_from(("deposit", "withdraw", "borrow")))
    def minutes_are_moved(self, data, minutes, way):
        amount = MINUTE * minutes
        operation = {"deposit": deposit, "withdraw": withdraw, "borrow": borrow}[way]
        self.attempt(
            self.somebody(data),
            lambda call: call.post(operation, amount),
            lambda model: amount <= model.allowed(self.house, self.books.now)[way],
            lambda model: model.move(way, amount),
        )

    @rule(data=st.data(), minutes=minutes)
    def a_loan_is_repaid(self, data, minutes):
        amount = MINUTE * minutes
        self.attempt(
            self.somebody(data),
            lambda call: call.post(repay, amount),
            lambda model: amount <= model.allowed(self.house, self.books.now)["repay"],
            lambda model: model.repay(min(amount, model.loan)),
        )

    @rule(data=st.data(), minutes=minutes, message=st.text(max_size=80))
    def minutes_are_sent(self, data, minutes, message):
        number, to, amount = self.somebody(data), self.somebody(data), MINUTE * minutes
        other = self.callers[to]

        def may(model: Caller) -> bool:
            return (
                to != number
                and not other.frozen
                and other.name not in self.house.barred
                and amount <= model.allowed(self.house, self.books.now)["transfer"]
                and other.bank + amount <= self.house.limits.balance
            )

        sent = self.attempt(
            number,
            lambda call: call.post(transfer, to, amount, message),
            may,
            lambda model: model.move("transfer", amount),
        )
        if sent:
            other.bank += amount
            other.notices += 1

    # The sysop's hand.

    @rule(data=st.data(), seconds=st.sampled_from((-7200, -600, -1, 1, 59, 600, 7200)))
    def an_account_is_adjusted(self, data, seconds):
        number = self.somebody(data)
        may = self.callers[number].bank + seconds >= 0
        self.by_hand(may, adjust, {number: seconds}, seconds)

    @rule(data=st.data(), minutes=minutes)
    def the_sysop_deposits(self, data, minutes):
        number, amount = self.somebody(data), MINUTE * minutes
        may = self.open_to_the_sysop(number) and self.has_room(number, amount)
        self.by_hand(may, sysop_deposit, {number: amount}, amount)

    @rule(data=st.data(), minutes=minutes)
    def the_sysop_withdraws(self, data, minutes):
        number, amount = self.somebody(data), MINUTE * minutes
        may = self.open_to_the_sysop(number) and self.callers[number].bank >= amount
        self.by_hand(may, sysop_withdraw, {number: -amount}, amount)

    @rule(data=st.data(), minutes=minutes)
    def the_sysop_moves_minutes(self, data, minutes):
        number, to, amount = self.somebody(data), self.somebody(data), MINUTE * minutes
        if number == to:
            return
        may = self.open_to_the_sysop(number) and self.open_to_the_sysop(to)
        may = may and not self.callers[number].loan  # what is owed is paid back first
        may = may and self.callers[number].bank >= amount and self.has_room(to, amount)
        self.by_hand(may, sysop_transfer, {number: -amount, to: amount}, amount)

    @rule(data=st.data())
    def an_account_is_frozen_or_opened_again(self, data):
        number = self.somebody(data)
        model = self.callers[number]
        self.books.do(unfreeze if model.frozen else freeze, number, "a test", "Tester")
        model.frozen = not model.frozen
        model.notices += 1

    # What must hold after every step.

    @invariant()
    def every_balance_is_the_models_and_the_audit_finds_nothing(self):
        assert not self.callers or self.audit() == []
        for number, model in self.callers.items():
            assert self.books.balances(number) == {
                "online": model.online,
                "held": model.held,
                "bank": model.bank,
                "stake": 0,
                "loan": -model.loan,
            }

    @rule(data=st.data())
    def the_window_tells_what_it_allows(self, data):
        number = self.somebody(data)
        self.attempt(number, lambda call: call.touch(), lambda model: True, lambda model: None)
        model = self.callers[number]
        found = self.books.do(allowance, self.calls[number].id)
        told = {operation.name: may.seconds for operation, may in found.items()}
        assert told == model.allowed(self.house, self.books.now)
        for may in found.values():
            assert bool(may.why_not) == (may.seconds == 0)

    @rule(data=st.data())
    def history_explains_all_of_it(self, data):
        number = self.somebody(data)
        model = self.callers[number]
        lines = self.books.do(history, number, None, 10_000)
        assert sum(line.online for line in lines) == model.online
        assert sum(line.loan for line in lines) == -model.loan
        balance = 0
        for line in reversed(lines):
            balance += line.bank
            assert (line.balance, bool(line.words)) == (balance, True)
        assert balance == model.bank

    @rule(data=st.data())
    def notices_are_read(self, data):
        number = self.somebody(data)
        model = self.callers[number]
        assert len(self.books.do(unseen, (number,)).get(number, ())) == model.notices
        assert len(self.books.do(bank_notices, number)) == model.notices
        model.notices = 0

    @property
    def house(self):
        return self.books.settings

    def somebody(self, data) -> int:
        return data.draw(st.sampled_from(sorted(self.callers)), "caller")

    def call(self, number: int) -> None:
        model = self.callers[number]
        call = self.calls[number] = self.books.call(number, node=number)
        model.ticked = 0
        model.enter(self.house, self.books.now, 0)
        model.leave(self.house, self.books.now)
        assert len(call.notices) == model.notices
        self.books.do(bank_notices, number)
        model.notices = 0

    def attempt(self, number: int, operation, may, then, least: int = 0) -> bool:
        """Try something: it is done as the model does it, or refused as the model refuses it."""
        call, model = self.calls[number], deepcopy(self.callers[number])
        model.enter(self.house, self.books.now, max(call.ticked, least))
        allowed = may(model)
        refusal = None
        try:
            operation(call)
        except Refused as refused:
            refusal = refused
        assert allowed == (refusal is None), refusal
        if refusal is not None:
            return False
        then(model)
        model.leave(self.house, self.books.now)
        self.callers[number] = model
        purse = call.purse
        assert (purse.online, purse.bank, -purse.loan) == (model.online, model.bank, model.loan)
        return True

    def open_to_the_sysop(self, number: int) -> bool:
        return self.house.mode == "built-in" and not self.callers[number].frozen

    def has_room(self, number: int, amount: int) -> bool:
        return self.callers[number].bank + amount <= self.house.limits.balance

    def by_hand(self, may: bool, operation, changes: dict[int, int], amount: int) -> None:
        refusal = None
        try:
            self.books.do(operation, *changes, amount, "a test", "Tester")
        except Refused as refused:
            refusal = refused
        assert may == (refusal is None), refusal
        for number, change in changes.items() if may else ():
            self.callers[number].bank += change
            self.callers[number].notices += 1


Window.TestCase.settings = settings(
    max_examples=EXAMPLES * 10,
    stateful_step_count=50,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
TestWindow = Window.TestCase
TestWindowOnAServer = on_a_server(Window)
