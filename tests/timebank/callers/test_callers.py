"""Callers in the books: names, locks, preferences, and the traces of a deletion."""

from __future__ import annotations

from dataclasses import replace
from datetime import time

import pytest

from tests.timebank.books import DAILY, GAME, in_english
from tests.timebank.by_hand import ByHand
from timebank.callers import callers, notices, powers
from timebank.errors import CallerOnline, NameRefused, NameTaken, Refused, UnknownCaller
from timebank.keeping import caller_acts, deletion
from timebank.ledger import transfers
from timebank.ledger.transfers import Account, Movement
from timebank.reports import extracts
from timebank.reports.ledger_pages import Sought
from timebank.settings.schedule import Event
from timebank.wagers import journal


def test_a_new_caller_has_five_empty_accounts(books, ann):
    assert books.balances(ann) == {"online": 0, "held": 0, "bank": 0, "stake": 0, "loan": 0}
    record = books.do(callers.get, ann)
    assert (record.name, record.password_hash, record.locked) == ("Ann", "hash", False)
    assert (record.created, record.last_call, record.preferences) == (books.now, None, {})


def test_a_name_is_stored_in_its_clean_form(books):
    record = books.do(callers.register, "  Ann   Lee ", "hash")
    assert record.name == "Ann Lee"


@pytest.mark.parametrize("name", ["Ann", "ANN", "ann", "Αnn"])
def test_a_look_alike_of_a_callers_name_cannot_be_taken(books, ann, name):
    with pytest.raises((NameTaken, NameRefused)):
        books.do(callers.register, name, "hash")
    assert len(books.do(callers.listing)) == 1


def test_a_caller_is_looked_up_in_any_spelling(books, ann):
    assert books.do(callers.find, "ANN").id == ann
    assert books.do(callers.find, "Bob") is None


def test_the_list_is_in_the_order_of_names(books, ann):
    for name in ("carl", "Bob"):
        books.caller(name)
    assert [record.name for record in books.do(callers.listing)] == ["Ann", "Bob", "carl"]


def test_a_password_hash_is_in_no_repr(books, ann):
    books.do(callers.set_password_hash, ann, "$argon2id$secret")
    record = books.do(callers.get, ann)
    assert record.password_hash == "$argon2id$secret"
    assert "secret" not in repr(record)


def test_preferences_are_replaced_whole(books, ann):
    books.do(callers.set_preferences, ann, {"charset": "cp437", "bets": {GAME: 2}})
    record = books.do(callers.set_preferences, ann, {"cut": True})
    assert record.preferences == {"cut": True}
    assert books.do(callers.get, ann).preferences == {"cut": True}


def test_the_last_call_is_remembered(books, ann):
    books.wait(60)
    books.call(ann)
    assert books.do(callers.get, ann).last_call == books.now


def test_renaming_frees_the_old_name_and_keeps_the_accounts(books, ann):
    call = books.call(ann)
    call.close()
    assert books.do(callers.rename, ann, "Anna").name == "Anna"
    assert books.do(callers.find, "Ann") is None
    assert books.balances(ann)["online"] == 3599
    assert books.caller("Ann") != ann


def test_a_caller_cannot_be_renamed_to_a_taken_name(books, ann):
    bob = books.caller("Bob")
    with pytest.raises(NameTaken):
        books.do(callers.rename, bob, "ANN")
    assert books.do(callers.get, bob).name == "Bob"


def test_a_caller_may_change_how_their_own_name_is_written(books, ann):
    assert books.do(callers.rename, ann, "ANN").name == "ANN"


@pytest.mark.parametrize(
    "operation",
    [
        lambda desk: callers.get(desk, 9),
        lambda desk: callers.rename(desk, 9, "Bob"),
        lambda desk: callers.set_locked(desk, 9, True),
        lambda desk: callers.set_preferences(desk, 9, {}),
        lambda desk: deletion.delete(desk, 9),
    ],
)
def test_unknown_callers_are_refused(books, operation):
    with pytest.raises(UnknownCaller):
        books.do(operation)


def test_a_deleted_caller_keeps_their_time_until_they_are_removed(books, ann):
    call = books.call(ann)
    call.win(600, 900)
    call.bet(600)
    call.close()
    books.do(deletion.delete, ann)
    assert books.balances(ann)["online"] == 4499  # with the stake of the void hand
    assert books.audit() == []
    books.do(deletion.remove, ann)
    lines = books.do(lambda desk: extracts.chosen(desk, Sought(callers=(ann,))))
    deleted = [(row.amount, row.why) for row in lines if row.kind == "deletion"]
    assert deleted == [(4499, "Ann was deleted")]
    assert set(books.balances(ann).values()) == {0}
    assert books.system()["forfeit"] == 4499
    assert books.audit() == []


def test_a_deleted_caller_comes_back_whole(books, ann):
    call = books.call(ann)
    call.win(600, 900)
    hand = call.bet(600)
    call.close()
    before = books.do(callers.get, ann)
    books.do(caller_acts.delete, ann, "Wanda", "spam")
    assert books.do(callers.listing) == []
    books.wait(3 * 86400)
    assert books.do(caller_acts.bring_back, "ann", None, "Wanda") == (
        "Ann, caller number 1, is back with all their time."
    )
    assert books.do(callers.get, ann) == replace(before, preferences={"why_out": "spam"})
    assert books.audit() == []
    books.call(ann)
    assert books.balances(ann)["bank"] == 900  # earned on the day of the last call
    told = in_english(books.do(notices.notices, ann))
    assert [each.split(",")[0] for each in told] == [
        "Your open hand at Black Jack For Time is void: the sysop deleted your name",
        "Your name was deleted; the sysop has brought it back.",
    ]
    assert books.do(journal.stored_round, hand).outcome == "void"
    assert books.audit() == []


def test_a_name_that_was_taken_since_needs_another(books, ann):
    books.do(caller_acts.delete, ann, "Wanda")
    books.caller("Ann")
    with pytest.raises(NameTaken, match="The name Ann is taken"):
        books.do(caller_acts.bring_back, "Ann", None, "Wanda")
    with pytest.raises(NameRefused):
        books.do(caller_acts.bring_back, "Ann", "x", "Wanda")
    books.do(caller_acts.bring_back, "#1", "Anna", "Wanda")
    assert books.do(callers.get, ann).name == "Anna"
    with pytest.raises(
        Refused, match=r"No deleted caller is named Ann\. You can bring back nobody"
    ):
        books.do(caller_acts.bring_back, "Ann", None, "Wanda")
    assert books.audit() == []


def test_a_removed_caller_has_nothing_left_to_bring_back(books, ann, bob):
    books.do(callers.set_preferences, ann, {"language": "fr"})
    for number in (ann, bob):
        books.do(caller_acts.delete, number, "Wanda")
    books.do(deletion.remove, ann)
    kept = "password_hash, preferences, recovery_digest"
    assert books.sql(f"SELECT {kept} FROM callers WHERE id = ?", ann) == [("", "{}", None)]
    with pytest.raises(Refused, match=r"You can bring back Bob \(#2\)\."):
        books.do(caller_acts.bring_back, "Ann", None, "Wanda")
    with pytest.raises(UnknownCaller):
        books.do(deletion.remove, ann)


def test_powers_of_a_deleted_caller_do_not_come_back(books, ann):
    books.do(powers.grant, ann, "Wanda")
    books.do(caller_acts.delete, ann, "Wanda")
    books.do(caller_acts.bring_back, "Ann", None, "Wanda")
    assert not books.do(callers.get, ann).powers
    assert books.audit() == []


def test_deleting_forfeits_held_time_too(books, ann):
    books.change(events=(Event("Backup", time(12, 30), DAILY, 30),))
    books.call(ann).close()
    assert books.balances(ann)["held"] == 1800
    books.do(deletion.delete, ann)
    books.do(deletion.remove, ann)
    assert set(books.balances(ann).values()) == {0}
    assert books.system()["forfeit"] == 3599


def test_an_open_hand_of_a_deleted_caller_is_void(books, ann):
    call = books.call(ann)
    shoe = books.do(journal.open_shoe, ann, GAME, 1, b"s" * 32)
    hand = call.bet(600, shoe_id=shoe.id)
    call.close()
    books.do(deletion.delete, ann)
    stored = books.do(journal.stored_round, hand)
    assert (stored.settled, stored.outcome, stored.result) == (True, "void", {"void": "deleted"})
    assert stored.shoe.done
    books.wait(10 * 86400)
    assert books.do(journal.overdue_rounds) == []


def test_deleting_writes_a_loan_off(books, ann):
    rows = books.sql("SELECT kind, id FROM accounts WHERE caller_id = ?", ann)
    accounts = {kind: Account(number, kind, "second") for kind, number in rows}
    books.do(
        transfers.transfer,
        [Movement(accounts["loan"], accounts["bank"], 300, ByHand("loan", "borrowed"), None, None)],
    )
    books.do(deletion.delete, ann)
    books.do(deletion.remove, ann)
    assert set(books.balances(ann).values()) == {0}
    assert (books.system()["forfeit"], books.system()["adjustment"]) == (300, -300)


def test_a_deleted_callers_name_is_free_and_the_history_stays(books, ann):
    books.call(ann).close()
    books.do(deletion.delete, ann)
    books.do(deletion.remove, ann)
    assert books.do(callers.find, "Ann") is None
    history = books.do(lambda desk: extracts.chosen(desk, Sought(callers=(ann,))))
    assert [line.kind for line in history] == ["grant", "elapsed", "deletion"]
    assert books.do(callers.number_named, "Ann") == ann
    second = books.caller("Ann")
    assert second != ann
    assert books.do(callers.number_named, "Ann") == second
    with pytest.raises(UnknownCaller):
        books.call(ann)


def test_a_caller_is_not_deleted_while_on_a_call(books, ann):
    call = books.call(ann)
    with pytest.raises(CallerOnline):
        books.do(deletion.delete, ann)
    books.server_dies()
    books.do(deletion.delete, ann)
    assert books.sql("SELECT closed IS NOT NULL FROM calls WHERE id = ?", call.id) == [(1,)]
    assert books.audit() == []


# The list.


def listed(books, *part):
    return [caller.name for caller in books.do(callers.listing, *part)]


def test_the_list_names_all_in_order_but_deleted_callers(books, ann):
    books.caller("alice")
    bob = books.caller("Bob")
    assert listed(books) == ["alice", "Ann", "Bob"]
    books.do(deletion.delete, bob)
    assert listed(books) == ["alice", "Ann"]


def test_the_list_finds_a_part_of_a_name_in_any_spelling(books, ann):
    books.caller("Ann O'Neil")
    books.caller("Zoë")
    assert listed(books, "NN") == ["Ann", "Ann O'Neil"]
    assert listed(books, "zoe") == ["Zoë"]
    assert listed(books, "nobody") == []
