"""Ledgers of before the first release become ledgers of today's, with nothing lost on the way."""

from __future__ import annotations

import contextlib
import sqlite3

import pytest

from tests import ROOT
from tests.timebank.books import NOON, Books, lost
from timebank.ledger import chain, transfers
from timebank.ledger.reasons import GivenBack, HeldBack, Kept, SysopTook, Told, Withdrawn, decode
from timebank.reports import extracts
from timebank.reports.extracts import Wanted
from timebank.wagers import journal
from tools.convert_ledger import CannotConvert, Old, convert, main, reason_of
from tools.sentences_before import sentence

pytestmark = pytest.mark.long

DATA = ROOT / "tests/timebank/data"
FIELDS = "id, place, size, at, amount, source, target, call_id, round_id, kind"
# Tables of which every row stays as it was, as far as there were columns.
SAME = ("accounts", "callers", "calls", "days", "rounds", "shoes", "actions", "visits", "notices")
BUT = {"held_behind", "skeleton"}


@pytest.fixture(params=[3, 4])
def old(request, tmp_path):
    return restored(tmp_path, request.param)


@pytest.fixture
def new(tmp_path):
    return tmp_path / "board.sqlite3"


def restored(tmp_path, version):
    path = tmp_path / "old.sqlite3"
    with raw(path) as connection:
        connection.executescript((DATA / f"version_{version}.sql").read_text("utf-8"))
    return path


def raw(path):
    return contextlib.closing(sqlite3.connect(path, isolation_level=None))


def rows(path, sql):
    with raw(path) as connection:
        return connection.execute(sql).fetchall()


def rewrite(path, number, **changes):
    """Write a transfer of old otherwise, and every digest behind it, as that program would have."""
    with raw(path) as connection:
        connection.execute("DROP TRIGGER transfers_are_never_changed")
        for name, value in changes.items():
            connection.execute(f"UPDATE transfers SET {name} = ? WHERE id = ?", (value, number))
        last = chain.GENESIS
        for row in connection.execute(
            f"SELECT {FIELDS}, why FROM transfers ORDER BY id"
        ).fetchall():
            last = chain.digest(last, *row)
            connection.execute("UPDATE transfers SET digest = ? WHERE id = ?", (last, row[0]))


def reasons(path):
    return {
        number: decode(kind, facts)
        for number, kind, facts in rows(path, "SELECT id, kind, facts FROM transfers")
    }


def test_every_transfer_stays_and_says_the_same(old, new, tmp_path):
    before = rows(old, f"SELECT {FIELDS}, why FROM transfers ORDER BY id")
    said = convert(old, new)
    assert said.startswith(f"{len(before)} transfers are in the new ledger, 0 of them with")
    assert rows(new, f"SELECT {FIELDS} FROM transfers ORDER BY id") == [row[:-1] for row in before]
    facts = rows(
        new,
        "SELECT transfers.kind, facts, amount, unit FROM transfers JOIN accounts"
        " ON accounts.id = source ORDER BY transfers.id",
    )
    assert [sentence(decode(kind, known), amount, unit) for kind, known, amount, unit in facts] == [
        row[-1] for row in before
    ]
    books = Books(tmp_path, NOON)
    assert all(line.why for line in books.do(lambda desk: extracts.chosen(desk, Wanted())))
    assert books.do(transfers.head).digest in said
    assert books.audit() == []
    books.close()


@pytest.mark.parametrize("table", SAME)
def test_the_rest_stays_as_it_was(old, new, table):
    there = [row[1] for row in rows(old, f"PRAGMA table_info({table})")]
    names = ", ".join(name for name in there if name not in BUT)
    convert(old, new)
    assert rows(new, f"SELECT {names} FROM {table}") == rows(old, f"SELECT {names} FROM {table}")


def test_numbers_that_were_given_are_not_given_again(old, new):
    with raw(old) as connection:
        connection.execute("UPDATE sqlite_sequence SET seq = 900 WHERE name IN ('calls', 'rounds')")
    convert(old, new)
    kept = "SELECT name, seq FROM sqlite_sequence WHERE name IN ('calls', 'rounds')"
    assert dict(rows(new, kept)) == {"calls": 900, "rounds": 900}


def test_hands_are_counted_into_the_totals(old, new):
    convert(old, new)
    played = "SELECT sum(lost), sum(won) FROM {} WHERE unit = 'second'"
    settled = f"{played.format('rounds')} AND settled IS NOT NULL AND outcome <> 'void'"
    assert rows(new, played.format("results")) == rows(new, settled)
    assert rows(new, played.format("results_ever")) == rows(new, settled)


def test_the_board_goes_on_where_it_was(tmp_path, new):
    convert(restored(tmp_path, 3), new)
    books = Books(tmp_path, NOON.replace(day=2, minute=1))
    call = books.call(1, take_over=True)
    hand = books.do(journal.round_in_play, 1)
    call.round_id, call.sequence = hand.id, hand.sequence
    call.act(lost(call.purse.stake))
    assert books.audit() == []
    books.close()


def test_names_in_prose_are_told_from_the_prose(tmp_path, new):
    convert(restored(tmp_path, 4), new)
    found = set(reasons(new).values())
    assert GivenBack("Night: Owl") in found
    assert SysopTook("Sysop", "took: it") in found


def test_what_is_held_is_behind_an_event_that_has_a_name_and_a_time(tmp_path, new):
    convert(restored(tmp_path, 4), new)
    assert rows(new, "SELECT held_behind FROM callers WHERE name = 'Ann'") == [
        ('{"event":"Mail hour","at":"03:00","host":false}',)
    ]


@pytest.mark.parametrize(
    ("kind", "why", "reason"),
    [
        (
            "held",
            "5 minutes more after Mail hour at 03:00, on another day",
            HeldBack("Mail hour", "03:00", host=False, another_day=True),
        ),
        (
            "held",
            "5 minutes more after Owl, on another day at 03:00",
            HeldBack("Owl, on another day", "03:00", host=False, another_day=False),
        ),
        (
            "kept",
            "5 minutes that could not be given back to Night: Owl: forfeited, this board keeps no"
            " time bank",
            Kept("Night: Owl", banked=False),
        ),
    ],
)
def test_what_no_account_tells_is_told_from_the_prose(kind, why, reason):
    nobodys = Old(1, 1, 1, 0, 300, 4, 3, None, None, kind, why, "second", *[None] * 5, digest="")
    assert reason_of(nobodys) == reason


def test_prose_that_nobody_can_make_again_stays_as_it_stands(tmp_path, new):
    old = restored(tmp_path, 3)
    rewrite(old, 2, why="Time used on the node by the window")
    assert "16 transfers are in the new ledger, 1 of them with" in convert(old, new)
    assert reasons(new)[2] == Told("elapsed", "Time used on the node by the window")


def test_a_kind_by_its_old_name_has_the_new_one():
    why = "2 minutes withdrawn"
    old = Old(
        1, 1, 1, 0, 120, 8, 6, None, None, "withdrawal", why, "second", *[None] * 5, digest=""
    )
    assert reason_of(old) == Withdrawn()
    assert reason_of(old).kind == "withdraw"


def test_a_ledger_that_was_tampered_with_is_not_sealed_anew(tmp_path, new):
    old = restored(tmp_path, 4)
    with raw(old) as connection:
        connection.execute("DROP TRIGGER transfers_are_never_changed")
        connection.execute("UPDATE transfers SET why = 'Nothing' WHERE id = 7")
    with pytest.raises(CannotConvert, match="transfer 7 does not fit the chain"):
        convert(old, new)
    assert not new.exists()


def test_a_ledger_that_is_not_in_order_leaves_none(tmp_path, new):
    old = restored(tmp_path, 4)
    with raw(old) as connection:
        connection.execute("UPDATE accounts SET balance = balance + 60 WHERE kind = 'bank'")
    with pytest.raises(CannotConvert, match="The result is not in order:\naccount"):
        convert(old, new)
    assert [path.name for path in tmp_path.iterdir()] == [old.name]


def test_the_command_says_what_came_of_it(tmp_path, new, capsys):
    old = restored(tmp_path, 3)
    before = old.read_bytes()
    assert main([str(old), str(new)]) == 0
    assert capsys.readouterr().out.startswith("16 transfers are in the new ledger")
    assert old.read_bytes() == before
    for words, error in (
        ([str(old), str(new)], f"{new} is there already.\n"),
        ([str(new), str(tmp_path / "x")], "is no ledger of schema 3 or 4 of before the first"),
        ([str(tmp_path / "none"), str(tmp_path / "x")], "There is no ledger at"),
    ):
        assert main(words) == 1
        assert error in capsys.readouterr().err
    assert main([]) == 2
