"""Leases of a server: who takes one, until when, and with which number."""

from __future__ import annotations

import threading

import pytest

from timebank.callers.notices import add_notice
from timebank.errors import LeaseLost
from timebank.ledger.database import Request, Writer
from timebank.ledger.engines import books_of
from timebank.servers import leases

pytestmark = pytest.mark.both_engines

ALPHA, BETA = 1, 2


def run_out(books, name: str = "jobs") -> None:
    """Let the lease expire."""
    books.sql("UPDATE leases SET until = until - 12 WHERE name = ?", name)


def take(books, server: int, name: str = "jobs") -> int | None:
    return books.do(leases.take, name, server, 12)


def held(books, name: str = "jobs") -> tuple[int, int, bool]:
    """Return a lease's holder, its number, and whether it is valid."""
    lease = books.do(leases.holder, name)
    return lease.server_id, lease.fence, lease.live


def texts(books) -> list[str]:
    return [text for (text,) in books.sql("SELECT text FROM notices ORDER BY id")]


def test_no_number_of_before_a_restore_is_given_again(books):
    """A server cut off during a restore believes that it still holds its leases.

    The restored books have lower numbers, which would reach its own again.
    """
    take(books, ALPHA)
    run_out(books)
    before = take(books, BETA)  # after the copy was taken
    assert before == 2
    books.sql("UPDATE leases SET fence = 1, server = ?", ALPHA)  # as the copy has it
    books.do(leases.revoke_all)
    assert take(books, ALPHA) > before
    with pytest.raises(LeaseLost):
        books.do(leases.require, "jobs", before)


class TestTaking:
    def test_the_first_has_it_and_others_do_not(self, books):
        assert take(books, ALPHA) == 1
        assert take(books, BETA) is None
        assert held(books) == (ALPHA, 1, True)

    def test_a_renewed_lease_keeps_its_holder_and_number(self, books):
        take(books, ALPHA)
        run_out(books)
        assert take(books, ALPHA) == 1
        assert held(books) == (ALPHA, 1, True)
        assert take(books, BETA) is None

    def test_another_takes_it_when_it_has_run_out(self, books):
        take(books, ALPHA)
        run_out(books)
        assert held(books) == (ALPHA, 1, False)
        assert take(books, BETA) == 2
        assert take(books, ALPHA) is None
        assert held(books) == (BETA, 2, True)

    def test_it_runs_out_by_the_databases_clock(self, books):
        take(books, ALPHA)
        ((until,),) = books.sql("SELECT until FROM leases")
        if books.settings.server is None:
            books.wait(11)
            assert take(books, BETA) is None
            books.wait(1)
            assert take(books, BETA) == 2
            return
        ((now,),) = books.sql("SELECT CAST(extract(EPOCH FROM clock_timestamp()) AS BIGINT)")
        assert now + 8 <= until <= now + 13
        books.wait(3600)  # this machine's clock does not matter
        assert take(books, BETA) is None

    def test_a_lease_dated_before_the_clock_went_back_has_expired(self, books):
        take(books, ALPHA)
        books.sql("UPDATE leases SET until = until + 3600")
        assert not books.do(leases.holder, "jobs").live
        assert take(books, BETA) == 2

    @pytest.mark.parametrize("seconds", [0, -1, leases.LONGEST_SECONDS + 1])
    def test_none_is_for_ever(self, books, seconds):
        with pytest.raises(ValueError, match="a lease is for"):
            books.do(leases.take, "jobs", ALPHA, seconds)
        assert books.do(leases.holder, "jobs") is None

    def test_names_have_nothing_to_do_with_each_other(self, books):
        assert take(books, ALPHA) == 1
        assert take(books, BETA, "vegas/1") == 1
        assert take(books, ALPHA, "vegas/2") == 1


def test_it_has_run_out_when_its_time_is_over_though_it_was_let_go(books):
    assert books.do(leases.has_expired, "jobs")
    take(books, ALPHA)
    books.do(leases.release, "jobs", ALPHA)
    books.sql("UPDATE leases SET until = until - 10")
    assert not books.do(leases.has_expired, "jobs")
    books.sql("UPDATE leases SET until = until - 2")
    assert books.do(leases.has_expired, "jobs")
    books.sql("UPDATE leases SET until = until + 3600")  # before the clock was set back
    assert books.do(leases.has_expired, "jobs")


class TestEnding:
    def test_the_holder_of_an_expired_lease_cannot_write(self, books):
        books.caller("Ann")
        fence = take(books, ALPHA)
        assert not books.do(leases.end_expired, "jobs")
        run_out(books)
        assert books.do(leases.end_expired, "jobs")
        with pytest.raises(LeaseLost):
            books.do(leases.require, "jobs", fence)
        assert books.do(leases.has_expired, "jobs")
        assert take(books, ALPHA) == fence + 1

    def test_a_lease_never_taken_has_expired(self, books):
        assert books.do(leases.end_expired, "jobs")
        assert take(books, ALPHA) == 1


class TestReleasing:
    def test_another_takes_it_at_once_with_the_next_number(self, books):
        take(books, ALPHA)
        books.do(leases.release, "jobs", ALPHA)
        assert books.do(leases.holder, "jobs") is None
        assert take(books, BETA) == 2

    def test_the_same_server_gets_another_number_too(self, books):
        take(books, ALPHA)
        books.do(leases.release, "jobs", ALPHA)
        assert take(books, ALPHA) == 2

    def test_another_servers_lease_stays(self, books):
        take(books, ALPHA)
        books.do(leases.release, "jobs", BETA)
        assert held(books) == (ALPHA, 1, True)

    def test_of_all_is_of_that_server_alone(self, books):
        for server, name in ((ALPHA, "jobs"), (ALPHA, "vegas/1"), (BETA, "vegas/2")):
            take(books, server, name)
        books.do(leases.release_all, ALPHA)
        assert [books.do(leases.holder, name) for name in ("jobs", "vegas/1")] == [None, None]
        assert held(books, "vegas/2") == (BETA, 1, True)


def test_the_number_only_grows(books):
    fences = []
    for turn in range(12):
        server = turn % 3 + 1
        fences.append(take(books, server))
        if turn % 2:
            books.do(leases.release, "jobs", server)
        else:
            run_out(books)
    assert fences == list(range(1, 13))


def write_under(desk, fence: int, text: str) -> None:
    add_notice(desk, 1, f"{text}, before it is known")
    leases.require(desk, "jobs", fence)
    add_notice(desk, 1, text)


class TestWritingUnderALease:
    @pytest.fixture
    def fence(self, books) -> int:
        books.caller("Ann")
        return take(books, ALPHA)

    def test_counts_while_it_is_held(self, books, fence):
        books.do(write_under, fence, "a")
        run_out(books)  # none has taken it
        books.do(write_under, fence, "b")
        assert texts(books)[1::2] == ["a", "b"]

    @pytest.mark.parametrize("who", [BETA, ALPHA, None])
    def test_is_rolled_back_as_a_whole_when_it_is_lost(self, books, fence, who):
        books.do(leases.release, "jobs", ALPHA)
        if who is not None:
            take(books, who)
        with pytest.raises(LeaseLost, match="jobs with the number 1"):
            books.do(write_under, fence, "a")
        assert texts(books) == []

    def test_a_lease_never_taken_is_refused(self, books):
        with pytest.raises(LeaseLost):
            books.do(leases.require, "jobs", 0)

    def test_a_lost_lease_fails_only_its_own_write_of_a_group(self, books, fence, caplog):
        books.do(leases.release, "jobs", ALPHA)
        answers, all_done = [], threading.Event()

        def deliver(done):
            answers.extend(done)
            if len(answers) == 3:
                all_done.set()

        writer = Writer(books.database, lambda: books.settings, lambda: books.now, deliver)
        writer.submit(Request(lambda desk: add_notice(desk, 1, "before"), "before"))
        writer.submit(Request(lambda desk: write_under(desk, fence, "lost"), "lost"))
        writer.submit(Request(lambda desk: add_notice(desk, 1, "after"), "after"))
        assert all_done.wait(20)
        writer.close()
        errors = {done.ticket: type(done.error) for done in answers}
        assert errors == {"before": type(None), "lost": LeaseLost, "after": type(None)}
        assert texts(books) == ["before", "after"]
        assert caplog.messages == []  # it was expected


def test_of_two_that_fight_for_one_each_number_has_one_holder(books):
    """Two writers take, use, release or abandon a lease as fast as they can."""
    books.caller("Ann")
    turns, start, trouble = 40, threading.Barrier(2), []
    taken: list[tuple[int, int]] = []

    def fight(server: int) -> None:
        database = books_of(books.settings, busy_seconds=20)
        start.wait()
        try:
            for turn in range(turns):
                with database.transaction(books.settings, books.now) as desk:
                    fence = leases.take(desk, "jobs", server, 12)
                if fence is None:
                    continue
                taken.append((fence, server))
                with database.transaction(books.settings, books.now) as desk:
                    leases.require(desk, "jobs", fence)
                    add_notice(desk, 1, f"{fence} {server}")
                with database.transaction(books.settings, books.now) as desk:
                    if turn % 2:
                        leases.release(desk, "jobs", server)
        except Exception as error:
            trouble.append(error)
            raise
        finally:
            with database.transaction(books.settings, books.now) as desk:
                leases.release(desk, "jobs", server)
            database.close()

    threads = [threading.Thread(target=fight, args=(server,)) for server in (ALPHA, BETA)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert trouble == []
    holders = dict(taken)
    assert len(set(taken)) == len(holders)  # no number was two servers'
    written = [tuple(map(int, text.split())) for text in texts(books)]
    assert written == sorted(written)
    assert set(written) == set(taken)
    assert sorted(holders) == list(range(1, len(holders) + 1))


def test_taking_a_lease_waits_for_a_write_under_it(books):
    """Under no other lock: the rows alone keep the order on a server."""
    books.caller("Ann")
    fence = take(books, ALPHA)
    run_out(books)
    other = books_of(books.settings, busy_seconds=20)
    held, order = threading.Event(), []

    def taker() -> None:
        held.wait(20)
        with other.transaction(books.settings, books.now) as desk:
            order.append(leases.take(desk, "jobs", BETA, 12))

    thread = threading.Thread(target=taker)
    thread.start()
    with books.database.transaction(books.settings, books.now) as desk:
        leases.require(desk, "jobs", fence)
        held.set()
        thread.join(0.2)
        assert order == []
        add_notice(desk, 1, "a")
        order.append(fence)
    thread.join()
    other.close()
    assert order == [1, 2]
    assert texts(books) == ["a"]
