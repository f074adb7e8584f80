"""Callers of other boards arrive, lose, win, leave hands and are killed, in any order.

Each has a host whose clock really ticks, which shows losses, hides them, or does not exist. The
test keeps a second account of each guest's total: the host's figure, the minutes given to it, the
debt to it, and our bank. The total may change only by winnings, losses and elapsed time. No
behaviour leaves a guest with more than stopping at the day's best moment.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field, replace
from datetime import date, timedelta

import hypothesis.strategies as st
from hypothesis import HealthCheck, settings
from hypothesis.stateful import initialize, invariant, rule

from tests.examples import EXAMPLES
from tests.timebank.books import NOON, as_written, lost, pushed, stand_alone, won
from tests.timebank.hosts import HOUR, MINUTE, HostCall, brought, debt, known
from tests.timebank.state import BooksMachine, on_a_server
from timebank.calls.calls import close_dead_calls
from timebank.errors import AlreadyOnline, CallClosed, Refused
from timebank.guests import claims
from timebank.guests.claims import mark_not_written, mark_written
from timebank.settings.settings import BankLimits
from timebank.wagers import journal
from timebank.wagers.rounds import Move, Settlement
from timebank.window.corrections import adjust
from timebank.window.teller import borrow, deposit, repay, withdraw

# The way of giving back, whether the clock shows losses, and whether there is one.
HOSTS = {
    "plain": (None, False, True),
    "synchronet": ("moduser", False, True),
    "remote access": ("exitinfo", True, True),
    "unlimited": (None, False, False),
    "unlimited synchronet": ("moduser", False, False),
}
LIMITS = BankLimits(deposit=86400, withdrawal=86400, loan=86400, keep=0, known_days=0)
results = st.sampled_from((-1, -1, 0, 1, 2))
# The part of the time left to bet, and the outcome; None leaves the hand open.
parts = st.sampled_from((1, 2, 4))
hands = st.lists(st.tuples(parts, st.none() | results), min_size=1, max_size=3)
windows = st.sampled_from((deposit, withdraw, borrow, repay))
minutes = st.sampled_from((1, 5, 20, 30))


@dataclass(frozen=True)
class Plan:
    """One visit: the time brought, the hands, the acts at the window, and the departure."""

    share: int
    event: int | None
    hands: list[tuple[int, int | None]]
    window: tuple[object, int] | None
    stays: int
    again: list[tuple[int, int | None]]
    dies: str


plans = st.builds(
    Plan,
    share=st.sampled_from((100, 100, 50)),
    event=st.sampled_from((None, None, 900)),
    hands=hands,
    window=st.none() | st.tuples(windows, minutes),
    stays=st.sampled_from((0, 0, 100, 1800)),
    again=st.just([]) | hands,
    dies=st.sampled_from(("", "", "", "before it claims", "before", "after")),
)


def settled(stake: int, result: int) -> Settlement:
    """A hand that brings so many times its stake."""
    if result == 0:
        return pushed(stake)
    return lost(stake) if result < 0 else won(stake, result * stake)


@dataclass
class Host:
    """A board with one caller."""

    caller_id: int
    way: str | None
    shows_losses: bool
    clocked: bool
    # The host's clock; without one, the rest of the day's allowance.
    left: int = HOUR
    day: date | None = None
    # The minutes in the files we wrote, apart from the clock.
    given: int = 0
    call: HostCall | None = None
    # The visit not accounted for yet; the total at its start, and its winnings.
    visit: int = 0
    had: int = 0
    # The sysop gave minutes to the account: it may hold them during a loan until a visit ends.
    gifts: bool = False
    results: list[int] = field(default_factory=list)
    # The day: the total before it, the used part, the lead, and the best lead.
    since: str = ""
    began: int = 0
    used: int = 0
    ahead: int = 0
    best: int = 0
    # Unconfirmed claims: whether they were written.
    unsure: dict[str, bool] = field(default_factory=dict)

    def gets(self, seconds: int) -> None:
        """Add minutes that the guest gained or lost outside of play."""
        self.had += seconds
        self.began += seconds


class Visits(BooksMachine):
    def __init__(self) -> None:
        super().__init__()
        self.hosts: dict[str, Host] = {}

    @initialize(
        kinds=st.lists(st.sampled_from(sorted(HOSTS)), min_size=1, max_size=2, unique=True),
        start=st.sampled_from((0, 690, 715, 850)),
        loan_share=st.sampled_from((0, 50)),
    )
    def begin(self, kinds, start, loan_share):
        self.books = self.open_books(NOON + timedelta(minutes=start))
        self.books.change(limits=replace(LIMITS, loan_share=loan_share))
        for kind in kinds:
            self.hosts[kind] = Host(known(self.books, "Ann", "7", kind), *HOSTS[kind])

    # The world.

    @rule(seconds=st.sampled_from((1, 7, 29, 60, 290, 1000, 1800)), renewing=st.booleans())
    def time_passes(self, seconds, renewing):
        self.books.wait(seconds)
        for host in self.hosts.values():
            # They go on at their board when our process is killed.
            if host.clocked and self.is_here(host):
                host.left = max(0, host.left - seconds)
            if host.call is not None and renewing:
                host.call.renew()

    @rule(hours=st.sampled_from((9, 30)))
    def everybody_is_away(self, hours):
        if not any(self.is_here(host) for host in self.hosts.values()):
            self.books.wait(hours * HOUR)

    @rule(data=st.data(), minutes=st.sampled_from((1, 30)))
    def the_sysop_is_generous(self, data, minutes):
        host = self.any_host(data)
        self.books.do(adjust, host.caller_id, MINUTE * minutes, "a test", "Tester")
        host.gets(MINUTE * minutes)
        host.gifts = True

    # Coming and going.

    @rule(data=st.data(), evening=st.lists(plans, min_size=2, max_size=4))
    def a_guest_comes_again_and_again(self, data, evening):
        host = self.any_host(data)
        for plan in evening:
            self.comes_in(host, plan.share, plan.event, True)
            self.plays(host, plan.hands)
            if plan.window is not None:
                self.at_the_window(host, *plan.window)
            if plan.stays:
                self.time_passes(plan.stays, True)
            self.plays(host, plan.again)
            self.hangs_up(host, plan.dies)

    def plays(self, host: Host, hands: list[tuple[int, int | None]]) -> None:
        for part, result in hands:
            self.finish_hand(host, -1 if result is None else result)
            self.bet(host, part, result)

    @rule(
        data=st.data(),
        share=st.sampled_from((100, 100, 50)),
        event=st.sampled_from((None, None, 900)),
        take_over=st.booleans(),
    )
    def a_guest_comes_in(self, data, share, event, take_over):
        self.comes_in(self.any_host(data), share, event, take_over)

    def comes_in(self, host: Host, share: int, event: int | None, take_over: bool) -> None:
        self.a_day_begins(host)
        what = brought(
            host.left if host.clocked else None,
            share=share,
            until=None if event is None else self.books.now + timedelta(seconds=event),
            shows_losses=host.shows_losses,
            way=host.way,
        )
        try:
            call = HostCall(self.books, host.caller_id, what, take_over=take_over)
        except AlreadyOnline:
            assert not take_over
            return
        self.account(host)
        host.call, host.results = call, []
        ((host.visit, clock),) = self.books.sql(
            "SELECT id, clock FROM visits WHERE call_id = ?", call.id
        )
        if not host.clocked:
            assert clock == max(0, HOUR - self.used_today(host))
            host.gets(clock - host.left)
            host.left = clock
        host.had = self.has(host)
        arrival = call.arrival
        assert arrival.debt == debt(self.books, host.caller_id)
        most = host.left * share // 100 if host.clocked else host.left
        assert arrival.brought <= max(0, most - arrival.debt - arrival.host_stake)
        assert arrival.host_limit == (host.left if host.clocked else None)
        self.time_passes(1, False)  # no call ends at the instant at which it began

    def a_day_begins(self, host: Host) -> None:
        """The host gives its caller an hour a day, at the first log-on there."""
        if host.clocked and host.call is None and host.day != self.books.now.date():
            host.gets(HOUR - host.left)
            host.left, host.day = HOUR, self.books.now.date()

    @rule(data=st.data(), dies=st.sampled_from(("", "", "before it claims", "before", "after")))
    def a_guest_hangs_up(self, data, dies):
        """The process may die before claiming the debt, before writing, or after it."""
        self.hangs_up(self.any_host(data), dies)

    def hangs_up(self, host: Host, dies: str) -> None:
        if (call := self.hung_up(host)) is None or dies == "before it claims":
            return
        claim = call.claim()
        if claim is None:
            return
        if dies != "before":
            self.is_written(host, claim.minutes)
        if dies:
            host.unsure[claim.token] = dies == "after"
        else:
            assert self.books.do(mark_written, claim)

    def is_written(self, host: Host, minutes: int) -> None:
        if host.way == "exitinfo":
            host.left = max(0, host.left + MINUTE * minutes)
        else:
            assert minutes > 0
            host.given += MINUTE * minutes

    @rule(data=st.data())
    def a_file_is_gone(self, data):
        host = self.any_host(data)
        if (call := self.hung_up(host)) is None:
            return
        has = self.has(host)
        claim = call.claim()
        if claim is not None:
            assert self.books.do(mark_not_written, claim, "The file is gone.")
            assert self.has(host) == has

    def hung_up(self, host: Host) -> HostCall | None:
        call, host.call = host.call, None
        if call is not None:
            with contextlib.suppress(CallClosed):
                call.close()
            self.account(host)
        return call

    @rule(data=st.data())
    def a_process_is_killed(self, data):
        self.any_host(data).call = None

    @rule()
    def somebody_closes_the_dead_calls(self):
        self.books.do(close_dead_calls)
        for host in self.hosts.values():
            self.account(host)

    @rule()
    def the_sysop_settles_doubts(self):
        for row in self.books.do(claims.outstanding_payments):
            if row.state == "doubtful":
                ((token,),) = self.books.sql(
                    "SELECT claim FROM given_back WHERE number = ?", row.number
                )
                written = self.host_of(row.caller_id).unsure[token]
                settle = claims.confirm_payment if written else claims.retry_payment
                self.books.do(settle, row.number)

    # Hands and the window.

    @rule(data=st.data(), part=parts, result=st.none() | results)
    def a_bet_is_placed(self, data, part, result):
        host = self.any_host(data)
        if host.call is not None:
            self.bet(host, part, result)

    def bet(self, host: Host, part: int, result: int | None) -> None:
        if host.call is None:
            return
        bet = (host.call.purse.online // part - 1) // MINUTE * MINUTE
        if bet > 0 and self.attempt(host, lambda: host.call.bet(bet)) and result is not None:
            self.finish_hand(host, result)

    @rule(data=st.data(), result=results)
    def a_hand_is_finished(self, data, result):
        host = self.any_host(data)
        if host.call is not None:
            self.finish_hand(host, result)

    def finish_hand(self, host: Host, result: int) -> None:
        hand = self.books.do(journal.round_in_play, host.caller_id)
        if hand is not None and host.call is not None:
            host.call.round_id, host.call.sequence = hand.id, hand.sequence
            stake = self.books.balances(host.caller_id)["stake"]
            if self.attempt(host, lambda: host.call.act(settled(stake, result))):
                host.results.append(result * stake)

    @rule(result=results)
    def hands_left_too_long_are_stood(self, result):
        self.somebody_closes_the_dead_calls()
        for hand in self.books.do(journal.overdue_rounds):
            host = self.host_of(hand.caller_id)
            stake = self.books.balances(hand.caller_id)["stake"]
            move = Move(hand.id, hand.sequence + 1, {"action": "stay"}, 4)
            had = self.has(host)
            with contextlib.suppress(Refused):
                self.books.do(stand_alone, [move], settled(stake, result))
                host.had, host.results = had, [result * stake]
                ((host.visit,),) = self.books.sql(
                    "SELECT max(id) FROM visits WHERE caller_id = ?", host.caller_id
                )
                self.account(host)

    @rule(data=st.data(), what=windows, minutes=minutes)
    def the_window_is_used(self, data, what, minutes):
        self.at_the_window(self.any_host(data), what, minutes)

    def at_the_window(self, host: Host, what, minutes: int) -> None:
        if host.call is not None:
            self.attempt(host, lambda: host.call.post(what, MINUTE * minutes))

    # Invariants.

    @invariant()
    def the_audit_finds_nothing(self):
        if hasattr(self, "books"):
            assert self.audit() == []

    @invariant()
    def nobody_who_is_away_has_time_on_line(self):
        for host in self.hosts.values():
            if not self.is_here(host):
                balances = self.books.balances(host.caller_id)
                assert (balances["online"], balances["held"]) == (0, 0)

    @invariant()
    def nobody_who_is_away_owes_and_has_something_saved(self):
        for host in self.hosts.values():
            balances = self.books.balances(host.caller_id)
            if not self.is_here(host) and host.call is None and not host.gifts:
                assert not (balances["loan"] and balances["bank"])

    # The second account.

    def has(self, host: Host) -> int:
        """All that they have; while they are here, before anything is used or played for."""
        balances = self.books.balances(host.caller_id)
        owed = sum(
            MINUTE * minutes
            for minutes, token in self.books.sql(
                "SELECT minutes, claim FROM given_back WHERE caller_id = ? AND minutes > 0"
                " AND state IN ('waiting', 'writing', 'doubtful')",
                host.caller_id,
            )
            if not host.unsure.get(token, False)
        )
        own = self.books.sql(
            "SELECT coalesce(left_staked - left_standing, staked - standing) FROM visits"
            " WHERE caller_id = ? ORDER BY id DESC LIMIT 1",
            host.caller_id,
        )
        saved = balances["bank"] + balances["loan"]
        return host.left + host.given + owed + saved + sum(amount for (amount,) in own)

    def account(self, host: Host) -> None:
        """Compare the guest's total after a visit with the earlier total and the day's best."""
        visit = self.row(host.visit)
        if visit is None or visit["closed"] is None:
            return
        host.visit, host.gifts = 0, False
        used = visit["elapsed"]
        # A stake of yesterday that is more than the host shows today may be used beyond its clock.
        beyond = visit["standing"] + visit["brought"] > visit["clock"]
        if beyond:
            used = min(used, visit["clock"])
        if not host.clocked and visit["call_id"] is not None:
            host.left = max(0, visit["clock"] - visit["elapsed"])
        assert visit["result"] == sum(host.results)
        if visit["day"] != host.since:
            host.since, host.began = visit["day"], host.had
            host.used = host.ahead = host.best = 0
        host.used += used
        for result in host.results:
            host.ahead += result
            host.best = max(host.best, host.ahead)
        has = self.has(host)
        assert has <= host.began - host.used + host.best
        # To the second: the excess is the debt, and a host's clock may run on without us.
        owes = visit["debt_added"] - visit["debt_paid"]
        missing = host.had + sum(host.results) - used + owes - has
        assert missing >= 0
        if not host.clocked and not beyond:
            assert missing == 0

    def row(self, visit: int):
        with self.books.database.reading(self.books.settings, self.books.now) as desk:
            row = as_written(desk.connection)("SELECT * FROM visits WHERE id = ?", (visit,))
            return row.mappings().first()

    def is_here(self, host: Host) -> bool:
        here = "SELECT 1 FROM calls WHERE caller_id = ? AND closed IS NULL"
        return bool(self.books.sql(here, host.caller_id))

    def used_today(self, host: Host) -> int:
        ((used,),) = self.books.sql(
            "SELECT coalesce(sum(elapsed), 0) FROM visits WHERE caller_id = ? AND day = ?",
            host.caller_id,
            self.books.now.date().isoformat(),
        )
        return used

    def any_host(self, data) -> Host:
        return self.hosts[data.draw(st.sampled_from(sorted(self.hosts)), "host")]

    def host_of(self, caller_id: int) -> Host:
        return next(host for host in self.hosts.values() if host.caller_id == caller_id)

    def attempt(self, host: Host, operation) -> bool:
        try:
            operation()
        except CallClosed:
            host.call = None
        except Refused:
            pass
        else:
            return True
        return False


Visits.TestCase.settings = settings(
    max_examples=EXAMPLES * 14,
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
TestVisits = Visits.TestCase
TestVisitsOnAServer = on_a_server(Visits)
