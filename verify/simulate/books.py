"""Invariants of the books after every step, read from the file itself with plain SQL.

A `Watch` keeps its own account next to the board's: it reads every transfer once, checks that it
is allowed, and adds it up. It knows what was durable before a process was killed.
"""

from __future__ import annotations

import json
import math
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from timebank.ledger.reasons import ROUTES
from timebank.settings.settings import LAST_SECONDS, BankSettings
from timebank.words import MINUTE
from verify.simulate.second_account import SecondAccount
from verify.simulate.wrong import must

if TYPE_CHECKING:
    from timebank.ledger.database import Database
    from verify.simulate.post import Post
    from verify.simulate.server import Mirror

OF_A_CALLER = ("online", "held", "bank", "stake", "bankroll", "casino")  # never below zero
NEVER_BELOW = frozenset({*OF_A_CALLER, "elapsed", "forfeit", "prizes", "duels"})
ENDS = ("elapsed", "forfeit", "external", "house", "adjustment", "prizes", "duels")

# Everything that may ever happen: (kind of the transfer) -> from where to where.
MOVES = {kind: {tuple(way.split()) for way in ways} for kind, ways in ROUTES.items()}
MOVES |= dict.fromkeys(("insurance", "double", "split"), MOVES["stake"])
# Moves between two callers or between none.
OF_NO_CALLER_ALONE = ("transfer", "kept", "put up")
IN_PEACE = ("log-off", "carrier lost", "time up", "idle", "closed by the board")
LOG_ON = 600  # maximum seconds of a log-on
SAME_INSTANT = 0.001  # seconds: the second that begins at this very instant is not charged
LEASE = 30  # seconds that a call may be charged beyond its process's last report


@dataclass
class SeenCall:
    """An open call, and between which instants it was opened."""

    after: float
    before: float
    caller_id: int
    ticked: int


class Watch:
    """A second account of the books."""

    def __init__(self, path: Path, post: Post, mirror: Mirror | None = None) -> None:
        """Watch the books in a file; `post` knows the writes of other programs.

        For books on a server the file is that of a `mirror`.
        """
        self.path = path
        self._mirror = mirror
        self.kinds = Counter[str]()  # of transfers
        self.last: tuple[int, str] = (0, "")  # number and digest
        self.begins: set[int] = set()  # first transfers of generations
        self.digests: list[str] = []  # of all transfers
        self.last_shoe = 0
        self.seeds: set[str] = set()  # of all shoes that there ever were
        self.balances: defaultdict[int, int] = defaultdict(int)
        self.on_table: defaultdict[int, int] = defaultdict(int)  # by round
        self.grants: dict[tuple[int, str], int] = {}
        self.granted = self.elapsed = 0
        self.calls: dict[int, SeenCall] = {}
        self.counts: dict[str, int] = {}
        self.open_rounds: set[int] = set()
        self.last_round = 0
        self.early = ""  # a day that a wrong clock may have begun, and that is not taken back
        self.was_led_astray = False  # at the last look only
        self.latest = ""  # day on which the board may ever have been
        self.second = SecondAccount()
        self.post = post
        # Since when doors bring the callers of other boards here, by board, key and door.
        self.come_since: defaultdict[tuple[str, str], dict[str, float]] = defaultdict(dict)
        self._connection: sqlite3.Connection | None = None

    def open(self, copy: Path | None = None) -> None:
        """Open the books, or a copy of them."""
        self.refresh()
        self._connection = sqlite3.connect(copy or self.path, isolation_level=None)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        assert self._connection is not None
        if self._connection.in_transaction:  # of a present reader
            yield self._connection
            return
        self.refresh()
        self._connection.execute("BEGIN")
        try:
            yield self._connection
        finally:
            self._connection.execute("ROLLBACK")

    def refresh(self) -> None:
        """Bring the file up to date with the books."""
        if self._mirror is not None:
            self._mirror.refresh()

    def lets_go(self) -> None:
        """Close connections to a server whose books are about to be replaced."""
        if self._mirror is not None:
            self._mirror.forget()

    def file_of(self, database: Database, backup: Path) -> Path:
        """Return a file with the content of the backup just taken of `database`."""
        if self._mirror is None:
            return backup
        return self._mirror.keep(database, backup.with_name(f"{backup.name}.sqlite3"))

    # After a process was killed.

    def nothing_is_lost(self) -> None:
        """Check that everything durable before is in the file left by the killed process."""
        with self.reading() as file:
            number, digest = self.last
            if number:
                rows = file.execute("SELECT digest FROM transfers WHERE id = ?", (number,))
                must(rows.fetchone() == (digest,), "transfer {} is gone", number)
            self._count(file)

    def begun_again(self, began: float, now: float, latest_day: str) -> Watch:
        """Read the books again after they lost their end; the rest must be unchanged."""
        again = Watch(self.path, self.post, self._mirror)
        again.come_since, again.seeds = self.come_since, set(self.seeds)
        again._connection = self._connection
        with self.reading() as file:
            again.pass_over_known_shoes(file)
            for number, caller_id, ticked, *_ in file.execute(OPEN_CALLS):
                call = self.calls.get(number)
                if call is not None and call.caller_id == caller_id:
                    again.calls[number] = SeenCall(call.after, call.before, caller_id, ticked)
                else:
                    again.calls[number] = SeenCall(-math.inf, now, caller_id, ticked)
            # A wrong clock may have begun days that were all mended since, or not.
            again.step(began, now, max(self.latest, latest_day))
            again.early = self.early
        same = zip(self.digests, again.digests, strict=False)
        for number, (before, after) in enumerate(same, start=1):
            must(before == after, "transfer {} is another one than it was", number)
        return again

    def pass_over_known_shoes(self, file: sqlite3.Connection) -> None:
        """Expect in these books the shoes that were there before: a backup may have one more than
        was looked at when it was taken."""
        (self.last_shoe,) = file.execute(
            "SELECT coalesce(max(id), 0) FROM shoes WHERE hex(seed) IN (SELECT value FROM"
            " json_each(?))",
            (json.dumps(sorted(self.seeds)),),
        ).fetchone()

    # After every step.

    def step(self, began: float, now: float, latest_day: str) -> None:
        """Check the changes of a step that began and ended at these monotonic instants."""
        self.latest = max(self.latest, latest_day)
        with self.reading() as file:
            accounts = {row[0]: row[1:] for row in file.execute(ACCOUNTS)}
            self.second.learn(file)
            self.begins = {first for (first,) in file.execute("SELECT first FROM generations")}
            for row in file.execute(TRANSFERS, (self.last[0],)):
                self._transfer(accounts, latest_day, *row)
            self.was_led_astray = False
            self._accounts(accounts)
            (day,) = file.execute("SELECT max(day) FROM callers WHERE deleted IS NULL").fetchone()
            must((day or "") <= max(latest_day, self.early), "somebody is on {}", day)
            self._rounds(file, accounts)
            self._calls(file, began, now)
            self._grace(file)
            self._cards(file)
            self._shoes(file)
            self._count(file)
            self.second.look(file)

    def _count(self, file: sqlite3.Connection) -> None:
        """Check that no counted row is gone."""
        for what in COUNTED:
            (count,) = file.execute(f"SELECT count(*) FROM {what}").fetchone()
            must(count >= self.counts.get(what, 0), "{} of {}", count, what)
            self.counts[what] = count

    def _transfer(
        self,
        accounts: dict[int, tuple[Any, ...]],
        latest_day: str,
        number: int,
        kind: str,
        amount: int,
        source: int,
        target: int,
        facts: str,
        call_id: int | None,
        round_id: int | None,
        digest: str,
    ) -> None:
        follows = number == self.last[0] + 1 or (number in self.begins and number > self.last[0])
        must(follows, "transfer {} follows {}", number, self.last[0])
        self.last = (number, digest)
        self.digests.append(digest)
        self.kinds[kind] += 1
        ends = (accounts[source][0], accounts[target][0])
        must(ends in MOVES.get(kind, ()), "transfer {}: {} moves {} to {}", number, kind, *ends)
        must(amount > 0, "transfer {} moves {}", number, amount)
        must(accounts[source][2] == accounts[target][2], "transfer {} mixes units", number)
        self.balances[source] -= amount
        self.balances[target] += amount
        owners = {accounts[end][1] for end in (source, target)} - {None}
        must(len(owners) == 1 or kind in OF_NO_CALLER_ALONE, "{} is of {}", number, owners)
        if accounts[source][2] == "second":
            ends_of = accounts[source][:2], accounts[target][:2]
            self.second.transfer(kind, amount, *ends_of, call_id, round_id)
        if kind == "import":
            assert self._connection is not None  # it is read just now
            (name,) = self._connection.execute(NAME, tuple(owners)).fetchone()
            record = json.loads(facts)["record"]
            self.post.applied(name, amount if ends[1] == "bank" else -amount, record)
        if "stake" in ends:
            must(round_id is not None, "transfer {} is of no round", number)
            assert round_id is not None
            self.on_table[round_id] += amount if ends[1] == "stake" else -amount
            must(self.on_table[round_id] >= 0, "round {} gives more than it has", round_id)
        if kind == "elapsed":
            must(call_id is not None, "transfer {} charges no call", number)
            self.elapsed += amount
        if kind == "grant":
            must(call_id is not None, "transfer {} grants to nobody on a call", number)
            day = json.loads(facts)["day"]
            earlier = self.grants.get((target, day))
            must(earlier is None or self._was_mended(earlier, day), "{} was granted twice", day)
            came = day <= latest_day or self.was_led_astray
            must(came, "{} was granted before it came", day)
            self.grants[target, day] = number
            self.granted += amount

    def _was_mended(self, grant: int, day: str) -> bool:
        """Return whether a granted day was cancelled because a wrong clock had begun it."""
        assert self._connection is not None  # it is read just now
        rows = self._connection.execute("SELECT day FROM days WHERE grant_id = ?", (grant,))
        return rows.fetchone() != (day,)

    def _accounts(self, accounts: dict[int, tuple[Any, ...]]) -> None:
        sums: defaultdict[str, int] = defaultdict(int)
        by_kind: defaultdict[str, int] = defaultdict(int)
        for number, (kind, _, unit, balance) in accounts.items():
            sums[unit] += balance
            if unit == "second":
                by_kind[kind] += balance
            must(balance >= 0 or kind not in NEVER_BELOW, "{} holds {}", kind, balance)
            must(balance <= 0 or kind != "loan", "a loan of {}", balance)
            added = self.balances[number]
            must(added == balance, "account {} holds {}, not {}", number, balance, added)
        must(not any(sums.values()), "the sums are {}", dict(sums))
        must(by_kind["allotment"] == -self.granted, "granted {}", self.granted)
        must(by_kind["elapsed"] == self.elapsed, "elapsed {}", self.elapsed)
        # Every second that was granted is somewhere.
        theirs = sum(by_kind[kind] for kind in ("online", "held", "bank", "stake", "loan"))
        gone = sum(by_kind[kind] for kind in ENDS)
        must(theirs + gone == self.granted, "{} + {} of {}", theirs, gone, self.granted)

    def _rounds(self, file: sqlite3.Connection, accounts: dict[int, tuple[Any, ...]]) -> None:
        staked: defaultdict[tuple[int, str], int] = defaultdict(int)
        rounds: defaultdict[int, int] = defaultdict(int)
        open_now = []
        for number, caller_id, unit, actions, last in file.execute(OPEN_ROUNDS):
            open_now.append(number)
            rounds[caller_id] += 1
            must(rounds[caller_id] == 1, "caller {} has two open hands", caller_id)
            must(actions > 0, "hand {} is open without a journal", number)
            must(actions == last + 1, "hand {} has a hole in its journal", number)
            must(self.on_table[number] > 0, "hand {} is open without a stake", number)
            staked[caller_id, unit] += self.on_table[number]
        for kind, caller_id, unit, balance in accounts.values():
            if kind == "stake":
                stands = staked.pop((caller_id, unit), 0)
                must(balance == stands, "{} staked by {}, {} open", balance, caller_id, stands)
        before, self.open_rounds = self.open_rounds, set(open_now)
        new = file.execute("SELECT id FROM rounds WHERE id > ?", (self.last_round,)).fetchall()
        self.last_round = max((number for (number,) in new), default=self.last_round)
        for number in (before | {number for (number,) in new}) - self.open_rounds:
            must(not self.on_table.pop(number, 0), "hand {} is over, its stake stays", number)

    def _calls(self, file: sqlite3.Connection, began: float, now: float) -> None:
        owners: set[int] = set()
        for number, caller_id, ticked, *who in file.execute(OPEN_CALLS):
            must(caller_id not in owners, "caller {} is on two calls", caller_id)
            owners.add(caller_id)
            # The time of callers counted by another board begins before their call here.
            waited = LOG_ON if caller_id in self.second.of else 0
            after = min(self.come_since[*who].values(), default=began - waited)
            self.calls.setdefault(number, SeenCall(after, now, caller_id, 0))
            self._is_fair(number, ticked, now, 1)
        for number in list(self.calls):
            ticked, charged, waived, reason = file.execute(CALL, (number,)).fetchone()
            must(ticked == charged + waived, "call {} charges oddly", number)
            if reason is None:
                continue
            self._is_fair(number, ticked, now, 1 if reason in IN_PEACE else LEASE + 1)
            must(ticked > 0, "call {} ({}) has cost nothing", number, reason)
            call = self.calls.pop(number)
            used = math.ceil(began - call.before - SAME_INSTANT)
            must(
                ticked >= used or reason not in IN_PEACE,
                "call {} ({}): {} of {} seconds",
                number,
                reason,
                ticked,
                used,
            )

    @staticmethod
    def _grace(file: sqlite3.Connection) -> None:
        """Check that uncharged seconds of a day stay within the settings, over all calls.

        Callers of another board get the last seconds alone.
        """
        allowed = (BankSettings.grace_minutes * MINUTE, LAST_SECONDS)
        for caller_id, day, seconds in file.execute(GRACE, allowed):
            must(False, "caller {} had {} seconds of grace on {}", caller_id, seconds, day)

    @staticmethod
    def _cards(file: sqlite3.Connection) -> None:
        """No card of a shoe is dealt twice."""
        last = (0, 0, 0)
        for shoe, start, number, used in file.execute(DEALT):
            twice = shoe == last[0] and start < last[1]
            must(not twice, "hand {} is dealt cards of hand {} (shoe {})", number, last[2], shoe)
            last = (shoe, start + used, number)

    def _shoes(self, file: sqlite3.Connection) -> None:
        """No seed, which may have been shown since, is that of a second shoe."""
        for number, seed in file.execute(SHOES, (self.last_shoe,)):
            must(seed not in self.seeds, "shoe {} is shuffled by a seed of before", number)
            self.seeds.add(seed)
            self.last_shoe = number
        for number, other in file.execute(TOLD_EARLY):
            must(False, "the seal of shoe {} is the seed of shoe {}, which is open", number, other)

    def _is_fair(self, number: int, ticked: int, now: float, slack: int) -> None:
        """Check that no call is charged for more than it lasted, and that charges stay."""
        call = self.calls[number]
        must(ticked >= call.ticked, "call {} ticks back", number)
        call.ticked = ticked
        lasted = now - call.after
        must(ticked <= lasted + slack, "call {}: {} of {} seconds", number, ticked, lasted)


TRANSFERS = (
    "SELECT id, kind, amount, source, target, facts, call_id, round_id, digest FROM transfers"
    " WHERE id > ? ORDER BY id"
)
ACCOUNTS = "SELECT id, kind, caller_id, unit, balance FROM accounts"
OPEN_ROUNDS = (
    "SELECT r.id, r.caller_id, r.unit, count(a.sequence), max(a.sequence) FROM rounds r"
    " LEFT JOIN actions a ON a.round_id = coalesce(r.lead, r.id) WHERE r.settled IS NULL"
    " GROUP BY r.id"
)
DAYS = "(SELECT day FROM days UNION ALL SELECT day FROM mended_days)"
COUNTED = ("actions", DAYS, "callers", "rounds", "calls", "rounds WHERE settled IS NOT NULL")
# Several days that a wrong clock began may have been made one.
GRACE = """
SELECT d.caller_id, d.day, d.grace FROM days d JOIN callers c ON c.id = d.caller_id
WHERE d.grace > CASE WHEN c.board IS NULL THEN ?1 ELSE 0 END + ?2
    AND NOT EXISTS (SELECT 1 FROM mended_days m WHERE m.caller_id = d.caller_id)
"""
DEALT = (
    "SELECT r.shoe_id, r.start_position, r.id, max(a.cards_used) FROM rounds r"
    " JOIN actions a ON a.round_id = r.id JOIN shoes s ON s.id = r.shoe_id"
    " WHERE s.closed IS NULL GROUP BY r.id ORDER BY r.shoe_id, r.start_position"
)
# The seal of a shoe may be the seed of one before it in its chain, and that one must be done.
TOLD_EARLY = (
    "SELECT later.id, shoe.id FROM shoes shoe JOIN shoes later"
    " ON later.anchor = shoe.anchor AND later.link > shoe.link WHERE shoe.closed IS NULL"
)
SHOES = "SELECT id, hex(seed) FROM shoes WHERE id > ? ORDER BY id"
OPEN_CALLS = (
    "SELECT o.id, o.caller_id, o.ticked, c.board, c.board_key"
    " FROM calls o JOIN callers c ON c.id = o.caller_id WHERE o.closed IS NULL"
)
NAME = "SELECT name FROM callers WHERE id = ?"
CALL = "SELECT ticked, charged, waived, reason FROM calls WHERE id = ?"
