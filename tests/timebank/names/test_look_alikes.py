"""Look-alikes of a caller's name are refused to new callers; existing ones keep theirs."""

from __future__ import annotations

import pytest

from timebank.callers import callers
from timebank.calls.arrival import host_caller
from timebank.errors import NameTaken
from timebank.keeping import deletion
from timebank.names import look_alikes, names


@pytest.mark.parametrize(("one", "other"), [("Corn", "Com"), ("Com", "Corn"), ("Согп", "Com")])
def test_a_new_caller_cannot_have_a_name_that_looks_like_another(books, one, other):
    books.caller(one)
    with pytest.raises(NameTaken):
        books.caller(other)
    assert books.sql("SELECT name FROM callers") == [(one,)]


def test_a_caller_is_not_renamed_to_look_like_another(books):
    books.caller("Corn")
    bob = books.caller("Bob")
    with pytest.raises(NameTaken):
        books.do(callers.rename, bob, "Com")
    assert books.do(callers.rename, bob, "8OB").name == "8OB"


def test_a_name_is_free_again_when_its_caller_is_deleted(books):
    books.do(deletion.delete, books.caller("Corn"))
    books.caller("Com")


@pytest.fixture
def old_callers(books):
    """Create two callers who registered before their names were known to look alike."""
    corn, other = books.caller("Corn"), books.caller("Other")
    books.sql("UPDATE callers SET name = 'Com', fold = 'com', skeleton = '' WHERE id = ?", other)
    return corn, other


def test_an_existing_look_alike_is_looked_up_by_its_name(books, old_callers):
    assert [books.do(callers.find, name).id for name in ("Corn", "corn", "COM", "Com")] == [
        *(old_callers[0], old_callers[0], old_callers[1], old_callers[1])
    ]
    with pytest.raises(NameTaken):
        books.caller("C0rn")


@pytest.mark.parametrize("made_by", ["", "16.0.0/1 corn", "99.0.0/1 corn"])
def test_skeletons_of_another_version_are_recomputed(books, made_by):
    """A program of another version may have written it, earlier or at the same time."""
    books.caller("Corn")
    books.sql("UPDATE callers SET skeleton = ?", made_by)
    with pytest.raises(NameTaken):
        books.caller("Com")
    books.close()
    books.database.open()
    assert books.sql("SELECT skeleton FROM callers") == [(f"{names.SKELETONS} corn",)]


@pytest.mark.of_a_file
def test_a_name_is_looked_for_by_an_index(books):
    def plans(desk):
        run = desk.connection.exec_driver_sql
        return [
            row[3]
            for statement in (look_alikes.STALE, look_alikes.LIKE)
            for row in run(f"EXPLAIN QUERY PLAN {statement}", ("a", "b"))
        ]

    lines = [plan for plan in books.do(plans) if "callers" in plan]
    assert len(lines) == 3
    assert all("USING INDEX callers_by_skeleton" in plan for plan in lines)


class TestGuests:
    def name(self, books, key, alias):
        return books.do(host_caller, "Xibalba", key, alias).name

    def test_with_look_alike_names_differ_by_their_keys(self, books):
        assert self.name(books, "1", "Corn") == "Corn@Xibalba"
        assert self.name(books, "2", "Com") == "Com#2@Xibalba"
        assert self.name(books, "2", "Com") == "Com#2@Xibalba"
        assert self.name(books, "Z", "corn") == "corn#Z#2@Xibalba"
        assert self.name(books, "1", "Corn") == "Corn@Xibalba"

    def test_keep_the_names_that_they_have(self, books):
        corn, com = (books.do(host_caller, "Xibalba", key, "Corn").id for key in "ab")
        books.sql("UPDATE callers SET name = 'Com@Xibalba', fold = 'com@xlbalba' WHERE id = ?", com)
        assert self.name(books, "b", "Com") == "Com@Xibalba"
        assert self.name(books, "a", "Corn") == "Corn@Xibalba"
        assert corn != com
