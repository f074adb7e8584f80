"""Nodes are numbered for the whole board, whichever server opens a call, in its transaction."""

from __future__ import annotations

import threading

import pytest
from sqlalchemy.exc import DBAPIError

from tests.timebank.hosts import comes, known
from timebank.calls.calls import Nodes, open_call, open_calls
from timebank.errors import AlreadyOnline, BooksFailed, CallClosed, NodesTaken
from timebank.ledger.engines import books_of
from timebank.servers import registry
from timebank.servers.registry import Newcomer

pytestmark = pytest.mark.both_engines

BOARD = Nodes(3)
ALPHA, BETA = "alpha:1", "beta:1"


@pytest.fixture
def callers(books) -> list[int]:
    return [books.caller(name) for name in ("Ann", "Bob", "Cid", "Dora", "Eve")]


def dial(books, caller_id: int, server: str = ALPHA, nodes: Nodes = BOARD, *, again=False):
    return books.call(caller_id, node=nodes, process=server, take_over=again)


def nodes_of(books) -> dict[str, int]:
    return {call.name: call.node for call in books.do(open_calls) if call.live}


def test_each_call_gets_the_lowest_free_node_of_all_servers(books, callers):
    for caller_id, server in zip(callers[:3], (ALPHA, BETA, ALPHA), strict=True):
        dial(books, caller_id, server)
    assert nodes_of(books) == {"Ann": 1, "Bob": 2, "Cid": 3}


def test_a_node_that_was_left_is_the_next_ones(books, callers):
    first = dial(books, callers[0])
    dial(books, callers[1], BETA)
    first.close()
    assert dial(books, callers[2], BETA).opened.node == 1


def test_a_full_board_admits_only_callers_with_the_right_to_exceed(books, callers):
    for caller_id in callers[:3]:
        dial(books, caller_id, BETA)
    with pytest.raises(NodesTaken, match="Every node is busy"):
        dial(books, callers[3])
    assert dial(books, callers[3], nodes=Nodes(3, beyond=True)).opened.node == 4
    assert dial(books, callers[4], nodes=Nodes(3, beyond=True)).opened.node == 5


def test_a_smaller_board_keeps_its_callers_on_their_nodes(books, callers):
    for caller_id in callers[:3]:
        dial(books, caller_id)
    with pytest.raises(NodesTaken, match="Every node is busy"):
        dial(books, callers[3], nodes=Nodes(2))


def test_a_number_of_another_boards_is_none_of_ours(books, callers):
    books.call(callers[0], node=1)
    comes(books, known(books), node=1)
    assert dial(books, callers[1]).opened.node == 1
    assert books.sql("SELECT node, away FROM calls ORDER BY id") == [(1, 1), (1, 1), (1, 0)]


def test_two_open_calls_cannot_share_a_node(books, callers):
    dial(books, callers[0])
    dial(books, callers[1])
    with pytest.raises(DBAPIError):
        books.sql("UPDATE calls SET node = 1 WHERE closed IS NULL")


class TestASecondCall:
    def test_is_refused_before_a_node_is_looked_for(self, books, callers):
        for caller_id in callers[:3]:
            dial(books, caller_id, ALPHA)
        with pytest.raises(AlreadyOnline, match="node 2") as refused:
            dial(books, callers[1], BETA)
        assert refused.value.node == 2

    def test_takes_over_the_node_on_another_server_too(self, books, callers):
        first = dial(books, callers[0], ALPHA)
        second = dial(books, callers[1], ALPHA)
        again = dial(books, callers[1], BETA, again=True)
        assert again.opened.node == 2
        assert again.opened.ended_call == second.id
        assert again.opened.taken_over
        with pytest.raises(CallClosed):
            second.touch()
        first.touch()
        assert books.audit() == []

    def test_takes_it_over_on_a_full_board(self, books, callers):
        for caller_id in callers[:3]:
            dial(books, caller_id, ALPHA)
        assert dial(books, callers[1], BETA, again=True).opened.node == 2

    def test_has_the_node_that_is_wanted_when_the_old_call_has_ended_already(self, books, callers):
        old = dial(books, callers[0])
        dial(books, callers[1]).close()
        old.close()
        wanted = Nodes(3, wanted=2)
        assert dial(books, callers[0], nodes=wanted, again=True).opened.node == 2

    def test_gets_another_node_when_the_wanted_one_is_taken(self, books, callers):
        dial(books, callers[0]).close()
        dial(books, callers[1])
        wanted = Nodes(3, wanted=1)
        assert dial(books, callers[0], nodes=wanted, again=True).opened.node == 2

    def test_from_a_node_of_another_board_gets_one_of_ours(self, books, callers):
        books.call(callers[0], node=9)
        assert dial(books, callers[0], again=True).opened.node == 1


class TestADeadCall:
    def test_leaves_its_node_and_is_closed_with_that(self, books, callers):
        dead = dial(books, callers[0], BETA)
        books.server_dies()
        assert dial(books, callers[1], ALPHA).opened.node == 1
        books.server_starts()
        assert nodes_of(books) == {"Bob": 1}
        reasons = books.sql("SELECT reason FROM calls WHERE id = ?", dead.id)
        assert reasons == [("lease ran out",)]
        assert list(dead.renew()) == [dead.id]  # its server was only slow, and learns of it
        assert books.audit() == []

    def test_on_another_node_is_unaffected(self, books, callers):
        living = dial(books, callers[0], ALPHA)
        dead = dial(books, callers[1], BETA)
        books.server_dies()
        living.close()
        assert dial(books, callers[2], ALPHA).opened.node == 1
        assert books.sql("SELECT closed FROM calls WHERE id = ?", dead.id) == [(None,)]

    def test_of_the_caller_gives_its_node_back_to_them(self, books, callers):
        dial(books, callers[1], BETA)
        dial(books, callers[0], BETA)
        books.server_dies()
        again = dial(books, callers[0], ALPHA)
        assert (again.opened.node, again.opened.taken_over) == (2, False)


def test_many_that_call_at_once_on_two_servers_have_a_node_each(books):
    number = 24
    people = [books.caller(f"Caller {letter}") for letter in "abcdefghjklmnopqrstuvwxyz"[:number]]
    nodes: list[int] = []
    trouble: list[Exception] = []
    start = threading.Barrier(2)

    def serve(server: str, mine: list[int]) -> None:
        database = books_of(books.settings, busy_seconds=20)
        start.wait()
        try:
            for caller_id in mine:
                with database.transaction(books.settings, books.now) as desk:
                    opened = open_call(desk, caller_id, Nodes(number), server, "", False)
                nodes.append(opened.node)
        except (BooksFailed, DBAPIError) as error:
            trouble.append(error)
        finally:
            database.close()

    halves = (people[::2], people[1::2])
    threads = [
        threading.Thread(target=serve, args=each)
        for each in zip((ALPHA, BETA), halves, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert trouble == []
    assert sorted(nodes) == list(range(1, number + 1))


def test_the_list_of_open_calls_names_their_servers(books, callers):
    for name in (ALPHA, BETA):
        books.do(registry.enter, Newcomer(name.partition(":")[0], name, "{}", "1"))
    dial(books, callers[0], BETA)
    dial(books, callers[1], ALPHA)
    books.call(callers[2], node=1, process="a door")
    servers = {call.name: call.server for call in books.do(open_calls)}
    assert servers == {"Ann": "beta", "Bob": "alpha", "Cid": ""}
