"""The summary from totals that are kept, whatever was played and whenever they were kept: it is the
same as from the transfers."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from unittest import mock
from zoneinfo import ZoneInfo

import hypothesis.strategies as st
from hypothesis import HealthCheck, settings
from hypothesis.stateful import initialize, rule

from tests.examples import EXAMPLES
from tests.timebank.state import BooksMachine, on_a_server
from timebank.ledger.schema import stamp
from timebank.reports import summary, totals
from timebank.reports.totals import QUARTER, KeptTotals
from timebank.window import corrections

DAY = 86400


class Books(BooksMachine):
    """Every three transfers are a block; the file of the totals comes and goes."""

    def __init__(self) -> None:
        super().__init__()
        self.small = mock.patch.object(totals, "BLOCK", 3)
        self.small.start()

    def teardown(self):
        self.small.stop()
        super().teardown()

    @initialize()
    def begin(self):
        self.books = self.open_books(events=(), zone=ZoneInfo("Australia/Lord_Howe"))
        self.file = Path(self.folder.name, "kept.sqlite3")
        self.ann, self.bob = self.books.caller("Ann"), self.books.caller("Bob")
        self.call = self.books.call(self.ann)

    def look(self):
        return self.books.database.reading(self.books.settings, self.books.now)

    @rule(minutes=st.integers(1, 50))
    def the_sysop_gives(self, minutes):
        self.books.do(corrections.adjust, self.bob, minutes * 60, "a gift", "test")
        self.books.do(corrections.sysop_transfer, self.bob, self.ann, 60, "a debt", "test")

    @rule(wins=st.booleans())
    def she_plays_a_hand(self, wins):
        if self.call.purse.online >= 60:
            self.call.win(60, 90) if wins else self.call.lose(60)

    @rule()
    def she_plays_a_coup(self):
        self.call.sit_down()

    @rule(seconds=st.sampled_from((1, 700, 5000, 30000, 90000)))
    def time_passes(self, seconds):
        self.books.wait(seconds)
        self.call.close()
        self.call = self.books.call(self.ann)

    @rule(seconds=st.sampled_from((-DAY, -QUARTER, DAY)))
    def the_clock_is_set(self, seconds):
        self.books.step(seconds)

    @rule()
    def the_file_is_thrown_away(self):
        self.file.unlink(missing_ok=True)

    @rule(
        by=st.sampled_from(("day", "week", "month")),
        since=st.none() | st.integers(-400, 400),
        quarters=st.none() | st.integers(0, 400),
        keeps=st.booleans(),
        odd=st.sampled_from((0, 0, 0, 17)),
    )
    def it_is_the_same(self, by, since, quarters, keeps, odd):
        start = None if since is None else stamp(self.books.now) // QUARTER * QUARTER + odd
        start = None if start is None else start + since * QUARTER
        end = None if quarters is None else (start or stamp(self.books.now)) + quarters * QUARTER
        file = self.file if keeps else Path(self.folder.name, "nowhere", "kept.sqlite3")
        with closing(KeptTotals(file)) as kept:
            assert kept.lasts() == keeps
            found = summary.kept_summary(self.look, kept, by, start, end)
        with self.look() as desk:
            assert found == summary.summary(desk, by, start, end)


Books.TestCase.settings = settings(
    max_examples=EXAMPLES * 8,
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
TestKept = Books.TestCase
TestKeptOnAServer = on_a_server(Books)
