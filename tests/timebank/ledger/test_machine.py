"""The ledger under every event, in any order, checked after every step.

Callers come and go on several processes, some of which die. Hands are dealt, won, lost and left.
Days end, clocks move over changes of daylight saving, events overlap, and the sysop edits the
settings. The test keeps a second, much simpler account from the ledger's rows, which must agree.
"""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, datetime, time
from pathlib import Path
from zoneinfo import ZoneInfo

import hypothesis.strategies as st
from hypothesis import HealthCheck, settings
from hypothesis.stateful import initialize, invariant, precondition, rule

from tests.examples import EXAMPLES
from tests.timebank.books import DAILY, MAIL_HOUR, Call, stand_alone
from tests.timebank.state import BooksMachine, on_a_server
from timebank.callers import callers
from timebank.calls.calls import LEASE_SECONDS, close_dead_calls
from timebank.errors import AlreadyOnline, CallClosed, Refused
from timebank.keeping import deletion
from timebank.settings.schedule import Event
from timebank.wagers import journal
from timebank.wagers.rounds import Move, Settlement

WEEKEND = frozenset({5, 6})
SCHEDULES = {
    "none": (),
    "mail": (MAIL_HOUR,),
    # 02:30 does not exist once a year.
    "overlapping": (Event("Backup", time(2, 30), DAILY, 45), MAIL_HOUR),
    "over midnight": (Event("Mail", time(23, 30), DAILY, 60), Event("Pack", time(0), WEEKEND, 90)),
    "hourly": tuple(Event(f"Quarter {hour}", time(hour, 15), DAILY, 15) for hour in range(24)),
}
schedules = st.sampled_from(sorted(SCHEDULES))
# Late evenings before a change of the clocks in Berlin, and a quiet noon.
BEGINNINGS = tuple(
    datetime.fromisoformat(text).replace(tzinfo=UTC)
    for text in ("2026-03-28T21:40", "2026-10-24T21:40", "2026-06-01T12:00")
)
NAMES = ("Ann", "Bob", "Carol")
OWN = ("online", "held", "stake")
SETTLED = ("lose", "win", "push", "half")


class Story:
    """One caller's account by the rows."""

    def __init__(self) -> None:
        self.balance: defaultdict[str, int] = defaultdict(int)
        self.came = 0  # grants, winnings, withdrawals that were not theirs before
        self.went = 0  # time used, lost, forfeited, written to THEBANK.EXT
        self.earned = 0  # today, with earlier earnings still on the table
        self.standing = 0  # on the table, and left of an earlier day's minutes
        self.days: list[str] = []


class Ledger(BooksMachine):
    def __init__(self) -> None:
        super().__init__()
        self.calls: list[Call] = []  # calls of live processes, though perhaps closed
        self.stories: dict[int, Story] = {}
        self.read = 0

    @initialize(now=st.sampled_from(BEGINNINGS), events=schedules)
    def begin(self, now, events):
        self.books = self.open_books(now, zone=ZoneInfo("Europe/Berlin"))
        self.books.change(
            events=SCHEDULES[events], thebank_ext=Path(self.folder.name) / "THEBANK.EXT"
        )
        self.stories = {self.books.caller(name): Story() for name in NAMES[:2]}

    # The world outside.

    @rule(seconds=st.sampled_from((1, 7, 29, 60, 290, 1800, 3600, 20000)), renewing=st.booleans())
    def time_passes(self, seconds, renewing):
        self.books.wait(seconds)
        if renewing:
            for call in self.calls:
                call.renew()
                call.renewed = call.ticked

    # A new caller is on a call at once, so a row shows that the clock went back.
    @precondition(lambda self: self.read > 0)
    @rule(seconds=st.sampled_from((-90000, -3600, -61, 2, 45, 1700, 7200, 86400)))
    def the_wall_clock_is_set(self, seconds):
        self.books.step(seconds)

    @rule(
        events=schedules,
        mode=st.sampled_from(("built-in", "external", "none")),
        minutes=st.sampled_from((0, 15, 60, 1440)),
    )
    def the_sysop_edits_settings(self, events, mode, minutes):
        self.books.change(events=SCHEDULES[events], mode=mode, minutes_per_day=minutes)

    @rule(data=st.data())
    def a_process_dies(self, data):
        self.calls.remove(self.any_call(data))

    # Calls.

    @rule(data=st.data(), take_over=st.booleans())
    def a_caller_calls(self, data, take_over):
        caller_id = data.draw(st.sampled_from(sorted(self.stories)), "caller")
        before = self.transfers()
        process = f"p{self.books.uptime}"
        call, refused = self.outcome(
            lambda: self.books.call(
                caller_id, node=len(self.calls), process=process, take_over=take_over
            )
        )
        if refused is not None:
            assert isinstance(refused, AlreadyOnline)
            assert not take_over
            assert self.open_calls_of(caller_id) == [refused.call_id]
            assert self.transfers() == before
            return
        call.renewed = 0
        self.calls.append(call)
        assert self.open_calls_of(caller_id) == [call.id]
        self.check_receipt(call)

    @rule(data=st.data())
    def a_call_is_touched(self, data):
        call = self.any_call(data)
        self.attempt(call, call.touch)
        assert not self.refused_while_open

    @rule(data=st.data())
    def a_caller_hangs_up(self, data):
        call = self.any_call(data)
        self.attempt(call, call.close, least=1)  # a second has started, however soon it ends
        assert not self.refused_while_open
        self.calls.remove(call)
        assert call.id not in self.open_calls_of(call.caller_id)

    @rule()
    def somebody_closes_the_dead_calls(self):
        closed = self.books.do(close_dead_calls)
        for call in self.calls:
            if call.id in closed:
                # Charged to the last renewal or to the last entry, whichever came later.
                assert self.accounted(call) == max(call.renewed, call.purse.ticked, 1)

    # Hands and the bank.

    @rule(data=st.data(), stake=st.integers(1, 60), settled=st.sampled_from((None, *SETTLED)))
    def a_bet_is_placed(self, data, stake, settled):
        call = self.any_call(data)
        seconds = 60 * stake
        ending = None if settled is None else self.settlement(settled, seconds)
        self.attempt(call, lambda: call.bet(seconds, ending, turns_limit=5))

    @rule(
        data=st.data(),
        stake=st.sampled_from((0, 0, 30, 600)),
        settled=st.sampled_from((None, *SETTLED)),
    )
    def an_action_is_taken(self, data, stake, settled):
        call = self.any_call(data)
        hand = self.books.do(journal.round_in_play, call.caller_id)
        if hand is None:
            return
        call.round_id, call.sequence = hand.id, hand.sequence
        on_the_table = self.books.balances(call.caller_id)["stake"] + stake
        ending = None if settled is None else self.settlement(settled, on_the_table)
        self.attempt(call, lambda: call.act(ending, stake=stake, kind="double" if stake else ""))

    @rule(data=st.data(), minutes=st.sampled_from((1, 5, 30)))
    def time_is_withdrawn(self, data, minutes):
        call = self.any_call(data)
        self.attempt(call, lambda: call.withdraw(60 * minutes))

    @rule(settled=st.sampled_from(SETTLED))
    def overdue_hands_are_stood(self, settled):
        for hand in self.books.do(journal.overdue_rounds):
            before = self.transfers()
            stake = self.books.balances(hand.caller_id)["stake"]
            move = Move(hand.id, hand.sequence + 1, {"action": "stay"}, 4)
            ending = self.settlement(settled, stake)
            receipt, refused = self.outcome(
                lambda hand=hand, move=move, ending=ending: self.books.do(
                    stand_alone, [move], ending
                )
            )
            if refused is not None:
                assert self.transfers() == before
                assert self.open_calls_of(hand.caller_id)
            else:
                assert receipt.purse.stake == 0
                self.check_limit(receipt.purse.online)

    @rule(data=st.data())
    def a_caller_is_deleted_and_comes_back_as_another(self, data):
        caller_id = data.draw(st.sampled_from(sorted(self.stories)), "caller")
        name = self.books.do(callers.get, caller_id).name
        _, refused = self.outcome(lambda: self.books.do(deletion.delete, caller_id))
        if refused is not None:
            assert self.open_calls_of(caller_id)
            return
        self.read_on()
        assert not any(self.books.balances(caller_id).values())
        del self.stories[caller_id]
        self.calls = [call for call in self.calls if call.caller_id != caller_id]
        self.stories[self.books.caller(name)] = Story()

    # Invariants after every step.

    @invariant()
    def the_audit_finds_nothing(self):
        if hasattr(self, "books"):
            assert self.audit() == []

    @invariant()
    def the_rows_explain_every_balance(self):
        self.read_on()
        for caller_id, story in self.stories.items():
            balances = self.books.balances(caller_id)
            assert balances == {kind: story.balance[kind] for kind in balances}
            assert sum(balances.values()) == story.came - story.went

    @invariant()
    def every_call_is_told_to_the_second(self):
        for call in self.calls:
            ticked, charged, waived = self.books.sql(
                "SELECT ticked, charged, waived FROM calls WHERE id = ?", call.id
            )[0]
            assert ticked == charged + waived
            assert ticked <= max(call.ticked, call.renewed + LEASE_SECONDS, 1)

    @invariant()
    def nobody_is_granted_a_day_twice_or_backwards(self):
        for story in self.stories.values():
            assert story.days == sorted(set(story.days))

    # Helpers.

    def any_call(self, data) -> Call:
        """Return one of the calls; open one if there is none."""
        if not self.calls:
            self.a_caller_calls(data, True)
        return self.calls[data.draw(st.integers(0, len(self.calls) - 1), "call")]

    def outcome(self, operation):
        """The result of an operation, or the refusal."""
        try:
            return operation(), None
        except Refused as refused:
            return None, refused

    def settlement(self, outcome: str, stake: int) -> Settlement:
        lost, returned, won = {
            "lose": (stake, 0, 0),
            "win": (0, stake, 2 * stake),
            "push": (0, stake, 0),
            "half": (stake // 2, stake - stake // 2, 45),
        }[outcome]
        return Settlement(lost, returned, won, outcome, {"net": won - lost}, True)

    def attempt(self, call: Call, operation, least: int = 0) -> None:
        """Try an operation of a call: it succeeds, or is refused without a change."""
        before = self.transfers()
        is_open = call.id in self.open_calls_of(call.caller_id)
        _, refused = self.outcome(operation)
        assert isinstance(refused, CallClosed) == (not is_open)
        self.refused_while_open = is_open and refused is not None
        if refused is not None:
            assert self.transfers() == before
            return
        self.check_receipt(call)
        assert call.purse.ticked == max(call.ticked, least)

    def check_receipt(self, call: Call) -> None:
        balances = self.books.balances(call.caller_id)
        purse = call.purse
        assert {kind: getattr(purse, kind) for kind in balances} == balances
        self.check_limit(purse.online)

    def check_limit(self, online: int) -> None:
        limit = self.books.settings.schedule.seconds_to_event(self.books.now)
        assert limit is None or online <= limit

    def accounted(self, call: Call) -> int:
        return self.books.sql("SELECT ticked FROM calls WHERE id = ?", call.id)[0][0]

    def open_calls_of(self, caller_id: int) -> list[int]:
        return [
            number
            for (number,) in self.books.sql(
                "SELECT id FROM calls WHERE caller_id = ? AND closed IS NULL", caller_id
            )
        ]

    def transfers(self) -> int:
        return self.books.sql("SELECT count(*) FROM transfers")[0][0]

    def read_on(self) -> None:
        """Read the rows that came since, entry by entry, into the callers' stories."""
        entries = defaultdict(list)
        for row in self.books.sql(
            "SELECT t.id, t.entry, t.kind, t.amount, s.kind, g.kind,"
            " coalesce(s.caller_id, g.caller_id)"
            " FROM transfers t JOIN accounts s ON s.id = t.source"
            " JOIN accounts g ON g.id = t.target WHERE t.id > ? ORDER BY t.id",
            self.read,
        ):
            self.read = row[0]
            entries[row[1]].append(row[2:])
        for first, rows in entries.items():
            caller_id = rows[0][4]
            days = self.books.sql("SELECT after + 1 FROM days WHERE caller_id = ?", caller_id)
            begins = next((begins - first for (begins,) in days if begins >= first), None)
            self.tell(self.stories[caller_id], rows, begins)
        for caller_id, story in self.stories.items():
            (day,) = self.books.sql("SELECT day FROM callers WHERE id = ?", caller_id)[0]
            if day is not None and (not story.days or story.days[-1] != day):
                story.days.append(day)

    def tell(self, story: Story, rows, begins: int | None) -> None:
        """Follow one entry, in which a new day begins with row `begins`."""
        if begins is not None and begins >= len(rows):
            ends_day = all(row[0] in ("elapsed", "forfeit", "carry", "external") for row in rows)
            if begins > len(rows) or not ends_day:
                begins = None  # it begins with a later entry
        if begins is not None:
            self.change_day(story, rows[:begins])
        comes_back = 0  # of an earlier day, and must be forfeited
        for index, (kind, amount, source, target, _) in enumerate(rows):
            day_ends = begins is not None and index < begins
            if kind == "forfeit" and not day_ends:
                assert amount == comes_back
                comes_back = 0
                story.standing -= amount
            elif kind not in ("elapsed", "grant") and not day_ends:
                story.earned += amount * ((target in OWN) - (source in OWN))
            if source in story.balance or source in (*OWN, "bank", "loan"):
                story.balance[source] -= amount
            else:
                story.came += amount
            if target in (*OWN, "bank", "loan"):
                story.balance[target] += amount
            else:
                story.went += amount
            if kind == "lost":  # today's earnings and deposits are lost first
                eaten = max(0, story.standing - story.balance["stake"])
                story.standing -= eaten
                story.earned += eaten
            elif kind == "returned":
                comes_back = min(amount, story.standing)
        assert comes_back == 0

    def change_day(self, story: Story, rows) -> None:
        """Split the purse at the end of a day and compare the parts with the rows."""
        ended = [row for row in rows if row[0] in ("forfeit", "carry")]
        used = sum(amount for kind, amount, *_ in rows if kind == "elapsed")
        there_was = story.balance["online"] + story.balance["held"] - used
        own = story.balance["stake"] - story.standing
        spared = min(there_was + own, max(0, story.earned))
        on_table = min(spared, own)
        if self.books.settings.mode == "none":
            on_table, spared = 0, min(spared, there_was)
        spared -= on_table
        assert sum(amount for kind, amount, *_ in ended if kind == "carry") == spared
        assert sum(amount for kind, amount, *_ in ended if kind == "forfeit") == there_was - spared
        story.standing, story.earned = story.balance["stake"] - on_table, on_table


Ledger.TestCase.settings = settings(
    max_examples=EXAMPLES * 10,
    stateful_step_count=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
TestLedger = Ledger.TestCase
TestLedgerOnAServer = on_a_server(Ledger)
