"""A second account of other boards' callers' own minutes, from their wins and losses.

Their own minutes are: our bank less the debt to it; minutes passed on, given back or saved
elsewhere; and their part of the table. Over a visit the sum changes by wins and losses, by use
beyond the host's clock, and by new or paid debts. On no day does a caller end with more than by
stopping at the best moment. `rules_of_time.py` checks that a loan is paid first. Amounts are
seconds.
"""

from __future__ import annotations

import sqlite3
from collections import Counter, defaultdict
from dataclasses import dataclass, field

from verify.simulate.wrong import must

SAVINGS = ("bank", "loan")
AWAY = ("external", "forfeit")
# neither won nor brought
GIFTS = ("adjust", "transfer", "import", "duel stake", "stake back", "duel won")
HOSTS = ("brought", "taken home")  # arriving and departing with the host's own minutes
BY_ITSELF = "kept"  # outside visits: minutes that returned because they could not be given


@dataclass
class Flow:
    """The sums of one call's transfers."""

    own: int = 0
    elapsed: int = 0
    results: Counter[int | None] = field(default_factory=Counter)  # by hand, in order


@dataclass
class Day:
    """The sums of one day's visits."""

    own: int = 0  # more of the caller's own
    ahead: int = 0
    best: int = 0
    beyond: int = 0

    @property
    def debt(self) -> int:
        """The caller's unearned gain: the host's minutes that its clock does not show as used."""
        return self.own - self.ahead + self.beyond


@dataclass
class Account:
    """One caller: the visits, and the days, to which a clock that is mended may come back."""

    flows: defaultdict[int | None, Flow] = field(default_factory=lambda: defaultdict(Flow))
    visit: int = 0  # the last that was closed
    opened: int = 0  # the last that was opened
    on_table: int = 0
    day: str = ""  # on which the last visit was closed
    days: defaultdict[str, Day] = field(default_factory=lambda: defaultdict(Day))


class SecondAccount:
    """The accounts of all callers of other boards."""

    def __init__(self) -> None:
        self.of: dict[int, Account] = {}
        self.visits = 0

    def learn(self, file: sqlite3.Connection) -> None:
        """Read the new callers."""
        for (number,) in file.execute("SELECT id FROM callers WHERE board IS NOT NULL"):
            self.of.setdefault(number, Account())

    def transfer(
        self,
        kind: str,
        amount: int,
        source: tuple[str, int | None],
        target: tuple[str, int | None],
        call_id: int | None,
        round_id: int | None,
    ) -> None:
        """Record a transfer in seconds between accounts given as (kind, caller)."""
        owner = source[1] or target[1]
        if owner not in self.of or kind in GIFTS or kind == BY_ITSELF:
            return
        flow = self.of[owner].flows[call_id]
        if target[0] == "elapsed":
            flow.elapsed += amount
        if "house" in (source[0], target[0]):
            flow.results[round_id] += amount if source[0] == "house" else -amount
        for end, sign in ((source, -amount), (target, amount)):
            if end[0] in SAVINGS or (end[0] in AWAY and kind not in HOSTS):
                flow.own += sign

    def look(self, file: sqlite3.Connection) -> None:
        """Go through the visits that were opened or closed since."""
        for number, account in self.of.items():
            for row in file.execute(VISITS, (number, account.visit)):
                self._visit(account, *row)

    def _visit(
        self,
        account: Account,
        number: int,
        call_id: int | None,
        day: str,
        clock: int,
        debt: int,
        brought: int,
        standing: int,
        shown: int,
        closed: int | None,
        owes: int,
        on_table: int,
    ) -> None:
        if account.opened < number and call_id is not None:
            account.opened = number
            self.visits += 1
            # A loss that is on its way to the host's clock may be there, and off the debt.
            most = account.days[day].debt
            if closed is not None and debt > most:  # it came on the day before that it ended on
                most = account.days[account.day].debt
            must(most - shown <= debt <= most, "visit {}: debt {}, not {}", number, debt, most)
            must(
                brought <= max(0, clock - debt - standing),
                "visit {} brings {} of {}, less {} and {}",
                *(number, brought, clock, debt, standing),
            )
        if closed is None:
            return
        account.visit = number
        flow = account.flows.pop(call_id, Flow())
        account.day, today = day, account.days[day]
        for result in flow.results.values():
            today.ahead += result
            today.best = max(today.best, today.ahead)
        beyond = max(0, flow.elapsed - max(clock, brought + standing))
        today.beyond += beyond
        change = flow.own + on_table - account.on_table
        account.on_table = on_table
        today.own += change
        result = flow.results.total()
        must(
            change == result + owes - beyond,
            "visit {}: {} more of their own; won {}, owes {} more, used {} beyond",
            *(number, change, result, owes, beyond),
        )
        must(today.debt >= 0, "visit {}: a debt of {}", number, today.debt)
        # Time removed from the host's clock is no longer theirs, and no debt that a gain would
        # pay.
        most = today.best + shown
        must(today.own <= most, "visit {}: {} of their own, not {}", number, today.own, most)


VISITS = """
SELECT v.id, v.call_id, v.day, v.clock, v.debt, v.brought, v.standing,
    (SELECT coalesce(-sum(b.minutes), 0) * 60 FROM given_back b WHERE b.caller_id = v.caller_id
        AND b.day = v.day AND b.minutes < 0 AND b.state <> 'kept'),
    v.closed, v.debt_added - v.debt_paid, v.left_staked - v.left_standing
FROM visits v WHERE v.caller_id = ? AND v.id > ? ORDER BY v.id
"""


def given(
    file: sqlite3.Connection, caller_id: int, total: int, settled: int, written: dict[str, bool]
) -> None:
    """Compare all minutes read by a host with the expected ones.

    `written` tells of each claim whether the host has found it; `settled` are the sysop's
    confirmations of others.
    """
    read = settled
    for token, state, minutes in file.execute(CLAIMS, (caller_id,)):
        was = written.get(token, False)
        must(was or state != "written", "claim {} of {} min was never written", token, minutes)
        must(not was or state != "kept", "claim {} of {} min was written, and kept", token, minutes)
        read += minutes if was else 0
    must(read == total, "the host of {} has read {} min, not {}", caller_id, total, read)


def given_by_claims(file: sqlite3.Connection, caller_id: int, written: dict[str, bool]) -> int:
    """Return the minutes of the claims found by a host."""
    claims = file.execute(CLAIMS, (caller_id,))
    return sum(minutes for token, _, minutes in claims if written.get(token, False))


CLAIMS = """
SELECT claim, state, sum(minutes) FROM given_back
WHERE caller_id = ? AND claim IS NOT NULL GROUP BY claim, state HAVING sum(minutes) <> 0
"""
