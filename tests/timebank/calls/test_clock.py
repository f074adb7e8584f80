"""The board's idea of the time, and that a wrong clock harms no caller."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta

import pytest

from tests.clock import FakeClock
from tests.timebank.books import DAILY, Books, Call, lost
from timebank.callers import sysop_log
from timebank.calls import clock_mend
from timebank.calls.calls import close_dead_calls, open_calls, renew
from timebank.calls.clock import (
    AGREEMENT_SECONDS,
    GAP_SECONDS,
    LEAP_SECONDS,
    TRIAL_SECONDS,
    BelievedClock,
    is_certain,
)
from timebank.keeping.maintain import IN_DOUBT, maintain
from timebank.ledger.machine import ClockReading, Machine
from timebank.ledger.reasons import Cutoff
from timebank.settings.schedule import Event
from timebank.wagers import play_money

A_DAY = 86_400
A_YEAR = 366 * A_DAY
NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)


class Process:
    """A process on a machine, with the board's books and a clock of its own."""

    def __init__(self, books: Books, machine: FakeClock) -> None:
        self.books, self.machine = books, machine
        self.clock = BelievedClock(machine)
        self.told: list[str] = []
        self.look()

    def look(self) -> None:
        """Judge the clock, as housekeeping does every few seconds."""
        with self.books.database.transaction(self.books.settings, self.clock.reading()) as desk:
            judgement = self.clock.judge_and_save(desk)
        self.clock.adopt(judgement)
        self.told += judgement.news
        self.books.now = self.clock.reading()

    def believe(self) -> None:
        with self.books.database.transaction(self.books.settings, self.clock.reading()) as desk:
            judgement = self.clock.believe(desk, "Sysop")
        self.clock.adopt(judgement)
        self.books.now = self.clock.reading()

    def do(self, operation, *values):
        with self.books.database.transaction(self.books.settings, self.clock.reading()) as desk:
            return operation(desk, *values)

    @property
    def is_certain(self) -> bool:
        return self.do(is_certain)


class Machines:
    """Machines in sequence: each boot starts a new count."""

    def __init__(self, books: Books) -> None:
        self.books, self.boots = books, 0
        self.boot(NOON)

    def boot(self, now: datetime) -> Process:
        self.boots += 1
        self.machine = FakeClock(now, f"boot {self.boots}")
        self.process = Process(self.books, self.machine)
        return self.process

    def wait(self, seconds: float) -> None:
        self.machine.suspend(seconds)
        self.process.look()

    def step(self, seconds: float) -> None:
        self.machine.step_wall_clock(seconds)
        self.process.look()


@pytest.fixture
def here(books) -> Machines:
    return Machines(books)


@pytest.fixture
def ann(here):
    return here.books.caller("Ann")


def log(books) -> list[str]:
    return [entry.what for entry in books.do(sysop_log.entries, None, 100)]


# Trust.


def test_the_wall_clock_is_believed_while_it_moves_on_with_the_uptime(here):
    for seconds in (1, 3600, 10 * A_DAY):
        here.wait(seconds)
    assert here.process.clock.now() == here.machine.now()
    assert (here.process.told, here.process.clock.off) == ([], 0)
    assert here.process.is_certain


@pytest.mark.parametrize("seconds", [1, -1, LEAP_SECONDS, -LEAP_SECONDS])
def test_a_clock_that_is_corrected_by_some_minutes_is_believed_at_once(here, seconds):
    here.step(seconds)
    assert here.process.clock.now() == here.machine.now()
    assert here.process.told == []


@pytest.mark.parametrize("seconds", [LEAP_SECONDS + 1, -LEAP_SECONDS - 1, A_YEAR, -A_YEAR])
def test_a_leap_of_the_clock_is_distrusted_and_reported_once(here, seconds):
    right = here.machine.now()
    here.step(seconds)
    for _ in range(20):
        here.wait(600)
    assert here.process.clock.now() == right + timedelta(seconds=12_000)
    assert here.process.clock.off == seconds
    assert len(here.process.told) == 1
    assert log(here.books) == here.process.told


def test_the_end_of_a_leap_is_reported_once(here):
    here.step(7200)
    here.wait(60)
    here.step(-7200)
    here.wait(60)
    assert here.process.clock.now() == here.machine.now()
    assert here.process.told == [
        "The wall clock leapt and is 2 hours ahead of what has passed: it is not believed, and the"
        " board goes on by its own count (see `timebank clock`)",
        "The wall clock agrees with the board's again",
    ]


def test_a_short_leap_is_reported_in_one_line(here):
    here.machine.step_wall_clock(A_YEAR)
    assert here.process.clock.now() == NOON
    here.machine.step_wall_clock(-A_YEAR)
    here.wait(5)
    here.wait(5)
    assert len(here.process.told) == 1
    assert here.process.told[0].endswith("; it is right again")


def test_a_leap_is_reported_by_one_process_only(here):
    other = Process(here.books, here.machine)
    for process in (here.process, other):
        process.clock.now()
    here.step(7200)
    other.look()
    assert other.clock.now() == here.process.clock.now() == NOON
    assert len(here.process.told + other.told) == 1


def test_time_servers_must_agree_twice(here):
    here.step(A_DAY)
    here.machine.synchronised = True
    here.wait(1)
    here.wait(AGREEMENT_SECONDS - 1)
    assert here.process.clock.off == A_DAY
    here.wait(1)
    assert here.process.clock.now() == here.machine.now()
    assert here.process.told[-1] == (
        "Time servers agree with the wall clock, so it is believed: the board's clock is set"
        " forward by 24 hours"
    )


def test_agreement_of_time_servers_is_for_one_leap_only(here):
    here.machine.synchronised = True
    here.step(A_DAY)
    here.wait(1)
    here.step(A_DAY)
    here.wait(AGREEMENT_SECONDS)
    assert here.process.clock.off == 2 * A_DAY


def test_the_sysop_is_believed_at_once_and_by_all_processes(here):
    other = Process(here.books, here.machine)
    here.step(-A_DAY)
    here.process.believe()
    other.look()
    assert here.process.clock.now() == other.clock.now() == here.machine.now()
    assert log(here.books)[:2] == [
        "The clock is right from here on",
        "Believed the wall clock: the board's clock is set back by 24 hours",
    ]
    here.wait(60)
    other.look()
    assert other.told == []


def test_a_process_started_during_a_leap_knows_of_it(here):
    here.step(A_YEAR)
    other = Process(here.books, here.machine)
    assert other.clock.now() == NOON
    assert other.told == []


def test_many_small_corrections_are_known_to_a_process_that_begins_later(here):
    for _ in range(10):
        here.step(200)
        here.wait(60)
    other = Process(here.books, here.machine)
    assert (other.clock.now(), other.told) == (here.machine.now(), [])


def test_an_uncommitted_time_is_not_trusted(here):
    here.step(A_DAY)
    process = here.process

    def believes_in_vain(desk):
        process.clock.believe(desk, "Sysop")
        raise RuntimeError

    with pytest.raises(RuntimeError):
        process.do(believes_in_vain)
    process.look()
    assert process.clock.now() == NOON


def test_a_future_wall_time_is_converted_to_the_boards_clock(here):
    assert here.process.clock.from_wall(NOON) == NOON
    here.step(A_YEAR)
    soon = here.machine.now() + timedelta(minutes=5)
    assert here.process.clock.from_wall(soon) == NOON + timedelta(minutes=5)


# Another boot.


def test_a_board_off_for_a_night_resumes(here, ann):
    here.books.call(ann).close()
    process = here.boot(NOON + timedelta(hours=12))
    assert process.is_certain
    assert process.clock.now() == NOON + timedelta(hours=12)


def test_a_board_off_for_two_weeks_resumes_and_grants(here, ann):
    here.books.call(ann).close()
    process = here.boot(NOON + timedelta(days=14))
    assert here.books.call(ann).purse.online == 3600
    assert not process.is_certain
    assert process.told == [
        "The clock is 14 days ahead of the last entry in the books; until it is known to be right"
        " nothing is deleted"
    ]


@pytest.mark.parametrize("vouched", ["a day", "time servers", "the sysop"])
def test_the_board_trusts_its_clock_when_time_servers_confirm_it(here, ann, vouched):
    here.books.call(ann).close()
    process = here.boot(NOON + timedelta(days=14))
    if vouched == "a day":
        here.wait(TRIAL_SECONDS - 1)
        assert not process.is_certain
        here.wait(1)
    elif vouched == "time servers":
        here.machine.synchronised = True
        here.wait(1)
        here.wait(AGREEMENT_SECONDS)
    else:
        process.believe()
    assert process.is_certain
    assert here.boot(here.machine.now() + timedelta(hours=1)).is_certain


def test_a_board_long_without_calls_has_no_doubt_after_a_boot(here):
    here.wait(20 * A_DAY)
    assert here.boot(here.machine.now() + timedelta(hours=2)).is_certain


def test_a_clock_behind_the_books_is_not_believed(here, ann):
    """A machine whose clock has no battery starts somewhere in the past."""
    here.books.call(ann).close()
    here.wait(7200)
    process = here.boot(datetime(1970, 1, 1, tzinfo=UTC))
    assert process.clock.now() >= NOON
    assert len(process.told) == 1
    here.wait(60)
    assert process.clock.now() >= NOON + timedelta(seconds=60)
    here.machine.step_wall_clock((NOON + timedelta(days=1) - here.machine.now()).total_seconds())
    here.machine.synchronised = True
    here.wait(1)
    here.wait(AGREEMENT_SECONDS)
    here.wait(AGREEMENT_SECONDS)
    assert process.clock.now() == here.machine.now()


def test_rows_written_in_doubt_prove_nothing_at_the_next_boot(here, ann):
    here.books.call(ann).close()
    here.boot(NOON + timedelta(days=366))
    here.books.call(ann).close()
    process = here.boot(NOON + timedelta(hours=1))
    assert process.clock.now() == NOON + timedelta(hours=1)
    assert process.is_certain


@pytest.mark.parametrize("vouched", ["the sysop", "time servers"])
def test_a_clock_that_was_set_right_is_right_at_the_next_boots_too(here, ann, vouched):
    """The newest row of the books is of a future year, and there were no calls since."""
    here.books.call(ann).close()
    here.boot(NOON + timedelta(days=366))
    here.wait(TRIAL_SECONDS)
    here.books.call(ann).close()
    here.step(-366.0 * A_DAY)
    if vouched == "the sysop":
        here.process.believe()
    else:
        here.machine.synchronised = True
        here.wait(1)
        here.wait(AGREEMENT_SECONDS)
    for _ in range(2):
        now = here.machine.now() + timedelta(minutes=10)
        process = here.boot(now)
        assert (process.clock.now(), process.is_certain) == (now, True)


def test_a_call_that_a_wrong_clock_left_open_says_nothing_of_the_time(here, ann):
    here.books.call(ann).close()
    here.boot(NOON + timedelta(days=366))
    here.wait(TRIAL_SECONDS)
    here.books.call(ann)
    here.step(-366.0 * A_DAY)
    here.process.believe()
    now = here.machine.now() + timedelta(minutes=10)
    assert here.boot(now).clock.now() == now


def test_books_of_an_earlier_version_are_no_reason_to_doubt(here):
    here.books.sql("DELETE FROM clocks")
    assert Machines(here.books).process.is_certain


def test_books_that_know_of_no_clock_are_held_against_their_newest_entry(here, ann):
    here.books.call(ann)
    here.books.sql("DELETE FROM clocks")
    assert not here.boot(NOON + timedelta(seconds=GAP_SECONDS + 1)).is_certain


# Harm prevented.


@pytest.mark.parametrize("skew", [-86_400, 86_400])
def test_a_call_stays_alive_whatever_the_wall_clock_says(here, ann, skew):
    here.books.call(ann)
    elsewhere = ClockReading(NOON + timedelta(seconds=skew), "another machine", 5.0)
    with here.books.database.transaction(here.books.settings, elsewhere) as desk:
        assert [each.live for each in open_calls(desk)] == [True]
        assert close_dead_calls(desk) == []


@pytest.mark.parametrize("skew", [-86_400, 86_400])
def test_a_dead_call_is_closed_whatever_the_wall_clock_says(here, ann, skew):
    call = here.books.call(ann)
    here.books.server_dies()
    elsewhere = ClockReading(NOON + timedelta(seconds=skew), "another machine", 5.0)
    with here.books.database.transaction(here.books.settings, elsewhere) as desk:
        assert close_dead_calls(desk) == [call.id]


def test_a_renewal_keeps_a_call_of_another_machine_alive(books_on_a_server):
    books = books_on_a_server
    call = books.call(books.caller("Ann"))
    books.server_dies()
    books.do(renew, "p", [(call.id, 31)])
    assert books.do(close_dead_calls) == []


def gone_for_a_year(here: Machines) -> int:
    """Create a caller with an empty account who is due for deletion."""
    here.books.change(minutes_per_day=0)
    call = here.books.call(here.books.caller("Bob"))
    call.close()
    return call.caller_id


def is_there(here: Machines, caller_id: int) -> bool:
    return here.books.sql("SELECT deleted IS NULL FROM callers WHERE id = ?", caller_id) == [(1,)]


def nightly(here: Machines):
    process, database = here.process, here.books.database
    return maintain(
        lambda: database.transaction(here.books.settings, process.clock.reading()),
        lambda: database.reading(here.books.settings, process.clock.reading()),
        None,
    )


def test_maintenance_under_a_leap_closes_no_account(here):
    bob = gone_for_a_year(here)
    here.step(400 * A_DAY)
    assert nightly(here).sentences() == ()
    assert is_there(here, bob)


def test_maintenance_waits_after_a_boot_until_the_clock_is_trusted(here, ann):
    here.books.call(ann).close()
    bob = gone_for_a_year(here)
    here.boot(NOON + timedelta(days=400))
    assert nightly(here).sentences() == (IN_DOUBT,)
    assert is_there(here, bob)
    here.wait(A_DAY)
    assert nightly(here).closed == ("Ann", "Bob")


# Mending.


@pytest.fixture
def led_astray(here, ann):
    """Ann used ten minutes of her day, then called under a clock that was a year ahead."""
    call = here.books.call(ann)
    here.books.uptime += 600
    call.close()
    here.boot(NOON + timedelta(seconds=A_YEAR))
    call = here.books.call(ann)
    here.books.uptime += 300
    call.win(600, 900)
    call.close()
    here.boot(NOON + timedelta(hours=1))
    return here


def has(here: Machines, caller_id: int) -> int:
    balances = here.books.balances(caller_id)
    return sum(balances.values())


def test_a_preview_shows_the_mending_and_changes_nothing(led_astray, ann):
    before = led_astray.books.sql("SELECT day, held_until FROM callers")
    (ahead,) = led_astray.books.do(clock_mend.callers_ahead)
    assert (ahead.name, ahead.days, ahead.back_to) == ("Ann", ("2027-06-02",), "2026-06-01")
    assert led_astray.books.sql("SELECT day, held_until FROM callers") == before


def test_a_caller_with_a_wrong_day_gets_the_next_grant_again(led_astray, ann):
    had = has(led_astray, ann)
    assert had >= 3000
    led_astray.books.do(clock_mend.mend, "Sysop")
    assert has(led_astray, ann) == had
    assert log(led_astray.books)[0] == (
        "Mended the clock: day set back from 2027-06-02 to 2026-06-01"
    )
    assert led_astray.books.do(clock_mend.callers_ahead) == []
    assert led_astray.books.call(ann).moved == []
    led_astray.wait(A_DAY)
    call = led_astray.books.call(ann, take_over=True)
    assert [kind for kind, *_ in call.moved] == ["forfeit", "carry", "grant"]
    # Her winnings under the wrong clock are earned like any others.
    assert call.purse.bank == 900
    assert led_astray.books.audit() == []


def test_several_days_that_were_wrong_are_taken_back_together(here, ann):
    here.books.call(ann).close()
    here.boot(NOON + timedelta(seconds=A_YEAR))
    for _ in range(3):
        here.books.call(ann).close()
        here.wait(A_DAY)
    here.boot(NOON + timedelta(days=2))
    here.process.believe()  # the wrong clock had run for days
    (mended,) = here.books.do(clock_mend.mend, "Sysop")
    assert mended.days == ("2027-06-02", "2027-06-03", "2027-06-04")
    assert here.books.audit() == []
    assert ("grant", 3600, "allotment", "online") in here.books.call(ann).moved
    assert here.books.audit() == []


def test_a_caller_registered_under_a_wrong_clock_can_call_today(here, ann):
    here.books.call(ann).close()
    here.boot(NOON + timedelta(seconds=A_YEAR))
    bob = here.books.caller("Bob")
    here.books.call(bob).close()
    here.boot(NOON + timedelta(hours=1))
    assert here.books.do(clock_mend.mend, "Sysop")[0].back_to == "2026-06-01"
    assert here.books.call(bob).moved == []
    assert here.books.audit() == []


def test_excess_of_a_wrong_days_grant_is_refunded(here, ann):
    here.books.call(ann).close()
    here.books.change(minutes_per_day=20)
    here.boot(NOON + timedelta(seconds=A_YEAR))
    here.books.call(ann).close()
    here.boot(NOON + timedelta(hours=1))
    (mended,) = here.books.do(clock_mend.mend, "Sysop")
    assert mended.missing == 3599 - 1200
    # Less the second of each of her two calls.
    assert here.books.balances(ann)["online"] == 3598
    assert here.books.audit() == []


def test_a_day_that_is_ahead_by_one_was_granted_early_and_stays(here, ann):
    here.books.call(ann).close()
    here.boot(NOON + timedelta(days=1))
    here.books.call(ann).close()
    here.boot(NOON + timedelta(hours=1))
    here.process.believe()
    assert here.books.do(clock_mend.callers_ahead) == []


def test_minutes_held_for_an_event_of_another_year_return_after_the_next(here, ann):
    here.books.change(events=(Event("Backup", time(12, 30), DAILY, 30),))
    here.boot(NOON + timedelta(seconds=A_YEAR))
    here.books.call(ann).close()
    assert here.books.balances(ann)["held"] == 1800
    here.boot(NOON + timedelta(minutes=1))
    here.process.believe()
    (mended,) = here.books.do(clock_mend.mend, "Sysop")
    assert mended.held_behind == Cutoff("Backup", "12:30", host=False)
    here.wait(3600)
    call = here.books.call(ann)
    assert ("release", 1800, "held", "online") in call.moved
    assert here.books.audit() == []


def test_a_bankroll_that_was_lost_under_a_wrong_clock_is_renewed(here, ann):
    here.books.call(ann).close()
    here.boot(NOON + timedelta(seconds=A_YEAR))
    call: Call = here.books.call(ann)
    amount = call.sit_down().bankroll
    call.coup(amount, lost(amount))
    call.close()
    here.boot(NOON + timedelta(hours=1))
    here.books.do(clock_mend.mend, "Sysop")
    call = here.books.call(ann)
    assert call.sit_down().bankroll == 0
    here.wait(A_DAY)
    call = here.books.call(ann, take_over=True)
    assert call.sit_down().bankroll == play_money.NEW_BANKROLL


# The command, under the machine's own clock.


def test_the_command_shows_a_clock_that_agrees(board, timebank):
    timebank("clock", "--believe")
    assert "The wall clock agrees." in timebank.says("clock")


def test_the_command_shows_a_doubted_clock_and_accepts_an_answer(board, timebank):
    board.call(board.caller("Ann")).close()  # in March
    code, output, _ = timebank("clock")
    assert code == 1
    assert "That is far ahead of the books" in output
    assert timebank("clock", "--believe")[1].startswith("Believed the wall clock.")
    assert timebank("clock")[0] == 0
    assert "Believed the wall clock" in timebank("log")[1]


def test_the_command_shows_the_mending_before_doing_it(board, timebank):
    board.wait(10 * 366 * A_DAY)
    ann = board.caller("Ann")
    board.call(ann).close()
    timebank("clock", "--believe")
    code, output, _ = timebank("clock")
    assert code == 1
    assert (
        "A wrong clock has put these callers on later days:\n  Ann: day set back from 2036-"
        in output
    )
    code, output, _ = timebank("clock", "--mend")  # without an answer
    assert code == 1
    assert "Set that right?" in output
    assert timebank("clock")[0] == 1
    code, output, _ = timebank("clock", "--mend", "--yes")
    assert (code, output.splitlines()[-1]) == (0, "1 caller set right.")
    assert timebank("clock")[0] == 0
    assert timebank("clock", "--mend")[1] == "There is nothing to set right.\n"
    assert "Mended the clock: day set back" in timebank("log")[1]
    assert board.audit() == []


def test_the_command_waits_until_the_boards_processes_have_the_news(board, timebank, monkeypatch):
    waited = []
    monkeypatch.setattr("timebank.cli.clock.time.sleep", waited.append)
    timebank("clock", "--believe")
    board.now = datetime.now(UTC)
    board.call(board.caller("Ann"))
    timebank("clock", "--believe")
    assert waited == [6.0]


def test_nightly_work_tells_of_callers_that_a_wrong_clock_led_astray(board, timebank):
    board.wait(10 * 366 * A_DAY)
    board.call(board.caller("Ann")).close()
    timebank("clock", "--believe")
    code, output, _ = timebank("maintain")
    assert code == 1
    assert "A wrong clock has begun later days for 1 caller: see `timebank clock`.\n" in output


def test_the_machine_has_clocks_that_can_be_read():
    machine = Machine()
    assert machine.boot() == Machine().boot()
    before = machine.uptime()
    assert machine.uptime() >= before > 0
    assert machine.is_synchronised() in (True, False)
    assert machine.now().tzinfo is UTC
