"""Recovery codes in the books: whom they admit, and what voids them."""

from __future__ import annotations

import pytest

from timebank.callers import callers, recovery

CODE, OTHER = "a" * 64, "b" * 64


@pytest.fixture
def code(books, ann):
    """Create a code for Ann."""
    before = books.do(recovery.secrets_of, ann)
    assert books.do(recovery.replace, ann, before, CODE)
    return CODE


def let_in(books, name, digest):
    record = books.do(recovery.owner, name, digest)
    return None if record is None else record.name


def test_a_code_lets_in_only_its_owner(books, ann, code):
    books.caller("Bob")
    assert let_in(books, "Ann", code) == "Ann"
    assert let_in(books, "Ann", OTHER) is None
    assert let_in(books, "Bob", code) is None
    assert let_in(books, "Cid", code) is None


def test_a_caller_without_a_code_cannot_use_one(books, ann):
    assert not books.do(recovery.has_one, ann)
    assert let_in(books, "Ann", CODE) is None


def test_a_password_is_stored_and_the_code_is_void_then(books, ann, code):
    before = books.do(recovery.secrets_of, ann)
    assert books.do(recovery.set_password, ann, before, "another hash").name == "Ann"
    assert books.do(callers.get, ann).password_hash == "another hash"
    assert let_in(books, "Ann", code) is None


def test_a_password_is_not_stored_when_another_one_was_chosen_meanwhile(books, ann):
    before = books.do(recovery.secrets_of, ann)
    books.do(callers.set_password_hash, ann, "the one that was chosen")
    assert books.do(recovery.set_password, ann, before, "another hash") is None
    assert books.do(callers.get, ann).password_hash == "the one that was chosen"


def test_a_password_is_not_stored_when_the_code_was_replaced_meanwhile(books, ann, code):
    before = books.do(recovery.secrets_of, ann)
    assert books.do(recovery.replace, ann, before, OTHER)
    assert books.do(recovery.set_password, ann, before, "another hash") is None
    assert let_in(books, "Ann", OTHER) == "Ann"
