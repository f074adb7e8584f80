"""SSH keys in the books: their owners, their number, and what voids them."""

from __future__ import annotations

import base64

import pytest

from timebank.callers import callers, ssh_keys
from timebank.errors import Refused
from timebank.keeping import caller_acts

DATA = b"one key"
LINE = f"ssh-ed25519 {base64.b64encode(DATA).decode()} laptop"


def lines(books, caller):
    return ssh_keys.lines_of(books.do(callers.get, caller).preferences)


def owner(books, name, key=DATA):
    record = books.do(ssh_keys.owner, name, key)
    return None if record is None else record.name


def test_a_key_belongs_to_one_caller(books, ann):
    books.caller("Bob")
    assert owner(books, "Ann") is None
    books.do(ssh_keys.add, ann, LINE)
    assert owner(books, "ann") == "Ann"
    assert owner(books, "Ann", b"another") is None
    assert owner(books, "Ann", b"") is None
    assert owner(books, "Bob") is None
    assert owner(books, "Cid") is None
    books.do(ssh_keys.take_away, ann, "ssh-ed25519 " + LINE.split()[1])
    assert lines(books, ann) == []
    assert owner(books, "Ann") is None


def test_the_same_key_under_another_name_takes_its_place(books, ann):
    books.do(ssh_keys.add, ann, LINE)
    books.do(ssh_keys.add, ann, LINE.replace("laptop", "desk"))
    assert lines(books, ann) == [LINE.replace("laptop", "desk")]


def test_the_number_of_keys_is_limited(books, ann):
    for number in range(ssh_keys.MOST):
        books.do(ssh_keys.add, ann, f"ssh-ed25519 {number}")
    with pytest.raises(Refused, match="You have 8 SSH keys"):
        books.do(ssh_keys.add, ann, LINE)
    books.do(ssh_keys.add, ann, "ssh-ed25519 7 again")
    assert len(lines(books, ann)) == ssh_keys.MOST


def test_changing_another_preference_keeps_the_keys(books, ann):
    books.do(callers.change_preferences, ann, {"tutor": True})
    books.do(ssh_keys.add, ann, LINE)
    preferences = books.do(callers.change_preferences, ann, {"tutor": False}).preferences
    assert (preferences["tutor"], preferences["ssh_keys"], preferences["ssh_keys_wait"]) == (
        False,
        [LINE],
        False,
    )


def test_a_new_password_suspends_keys_and_notifies_the_caller(books, ann):
    books.do(ssh_keys.add, ann, LINE)
    books.do(callers.change_preferences, ann, {"tutor": True})
    books.do(caller_acts.set_password, ann, "another hash", "Wanda")
    assert lines(books, ann) == []
    assert books.do(callers.get, ann).preferences["tutor"] is True
