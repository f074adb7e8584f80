"""The servers of the books: registration, life, and removal of the dead."""

from __future__ import annotations

from itertools import count

import pytest

from timebank.servers import leases, registry
from timebank.servers.registry import Newcomer

PROCESSES = count(1)


def enter(books, name: str = "alpha", *gone: str, **facts) -> registry.ServerRecord:
    usual = {"process": f"p:{next(PROCESSES)}", "settings": "{}", "version": "1"}
    newcomer = Newcomer(**{**usual, **facts}, name=name)
    return books.do(registry.enter, newcomer, gone.__contains__)


def fall_silent(books, server: registry.ServerRecord) -> None:
    """Let the server miss its renewals."""
    books.sql("UPDATE servers SET renewed = renewed - 31 WHERE id = ?", server.id)


def names(books) -> list[str]:
    return [server.name for server in books.do(registry.living_servers)]


def test_a_server_shows_its_data_to_others(books):
    facts = {"settings": '{"a":1}', "version": "2"}
    alpha = enter(books, "alpha", process="alpha", **facts)
    assert books.do(registry.living_servers) == [alpha]
    assert {key: getattr(alpha, key) for key in facts} == facts
    assert (alpha.process, alpha.draining) == ("alpha", False)


def test_several_live_side_by_side_the_oldest_first(books):
    for name in ("beta", "alpha", "gamma"):
        enter(books, name)
    assert names(books) == ["beta", "alpha", "gamma"]


def test_no_two_that_live_have_one_name(books):
    for _ in range(3):
        enter(books)
    assert names(books) == ["alpha", "alpha-2", "alpha-3"]


def test_the_name_of_one_that_left_is_free_and_its_number_is_not(books):
    first = enter(books)
    books.do(registry.leave, first.id)
    assert names(books) == []
    again = enter(books)
    assert (again.name, again.id) == ("alpha", first.id + 1)


def test_a_leaving_server_releases_its_leases(books):
    alpha, beta = enter(books), enter(books, "beta")
    assert books.do(leases.take, "jobs", alpha.id, 12) == 1
    books.do(registry.leave, alpha.id)
    assert books.do(leases.take, "jobs", beta.id, 12) == 2


class TestASilentServer:
    @pytest.fixture
    def beta(self, books):
        return enter(books, "beta")

    def test_is_dead(self, books, beta):
        fall_silent(books, enter(books))
        assert names(books) == ["beta"]

    def test_lives_again_when_it_was_only_slow(self, books, beta):
        alpha = enter(books)
        fall_silent(books, alpha)
        assert books.do(registry.renew, alpha.id)
        assert names(books) == ["beta", "alpha"]

    def test_loses_its_row_and_its_leases(self, books, beta):
        alpha = enter(books)
        books.do(leases.take, "jobs", alpha.id, 12)
        for _ in range(2):
            fall_silent(books, alpha)
        assert books.do(registry.renew, beta.id)  # which has entered a moment ago itself
        assert books.do(leases.holder, "jobs") is not None
        books.sql("UPDATE servers SET started = started - 61 WHERE id = ?", beta.id)
        assert books.do(registry.renew, beta.id)
        assert not books.do(registry.renew, alpha.id)
        assert books.do(leases.holder, "jobs") is None

    def test_keeps_its_row_before_one_that_was_silent_too(self, books, beta):
        """Their machine slept: each needs time to report that it lives."""
        alpha = enter(books)
        books.sql("UPDATE servers SET started = started - 999, renewed = renewed - 999")
        for server in (beta, alpha, beta):
            assert books.do(registry.renew, server.id)
        assert names(books) == ["beta", "alpha"]

    def test_and_is_known_to_be_gone_leaves_its_name_at_once(self, books):
        enter(books, process="p:x")
        assert enter(books, "alpha", "p:x").name == "alpha"
        assert names(books) == ["alpha"]

    def test_and_was_this_process_before_is_gone(self, books):
        enter(books, process="p:x")
        assert enter(books, process="p:x").name == "alpha"
        assert names(books) == ["alpha"]


def test_the_name_of_a_dead_one_is_free(books):
    alpha = enter(books)
    fall_silent(books, alpha)
    assert enter(books).name == "alpha"
    assert not books.do(registry.renew, alpha.id)
    assert len(names(books)) == 1


def test_a_clock_set_back_does_not_keep_a_server_dead(books):
    alpha = enter(books)
    enter(books, "beta")
    books.sql("UPDATE servers SET renewed = renewed + 3600 WHERE id = ?", alpha.id)
    assert names(books) == ["beta"]
    assert books.do(registry.renew, alpha.id)
    assert names(books) == ["alpha", "beta"]


def test_a_draining_server_says_so(books):
    alpha = enter(books)
    for draining in (True, False):
        assert books.do(lambda desk, d=draining: registry.renew(desk, alpha.id, draining=d))
        (server,) = books.do(registry.living_servers)
        assert server.draining == draining


def test_changed_settings_show_in_the_row(books):
    alpha = enter(books)
    books.do(registry.change_settings, alpha.id, '{"b":2}')
    assert [server.settings for server in books.do(registry.living_servers)] == ['{"b":2}']


def test_books_that_are_put_back_have_none(books):
    alpha = enter(books)
    fence = books.do(leases.take, "jobs", alpha.id, 12)
    books.do(registry.remove_all)
    assert names(books) == []
    assert books.do(leases.holder, "jobs") is None
    assert books.do(leases.take, "jobs", alpha.id, 12) == fence + leases.FENCE_JUMP + 1


@pytest.mark.parametrize("draining", [0, 1, 2])
def test_the_books_keep_no_nonsense(books, draining):
    enter(books)
    statement = "UPDATE servers SET draining = ?"
    if draining < 2:
        books.sql(statement, draining)
    else:
        with pytest.raises(Exception, match=r"(?i)check"):
            books.sql(statement, draining)
