"""An audit from a checkpoint finds what came after it, believes nothing else, and reads no more."""

from __future__ import annotations

import zlib
from datetime import timedelta

import pytest

from tests.timebank.books import GAME, lost, won
from tests.timebank.hosts import comes, known
from tests.timebank.vandal import Vandal
from timebank.audit import accounts, checkpoints, jobs
from timebank.audit.checkpoints import digest_of
from timebank.errors import CheckpointRefused
from timebank.keeping import backup, checkpoint_files
from timebank.ledger import transfers
from timebank.ledger.reasons import Used, Won
from timebank.ledger.transfers import ELAPSED, Account, Movement

pytestmark = pytest.mark.usefixtures("narrow_search")


@pytest.fixture
def evening(books):
    """Ann's call and hand, and that of a guest, are open when a checkpoint is made, and go on."""
    ann = books.call(books.caller("Ann"))
    ann.win(600, 900)
    guest = comes(books, known(books, "Eve"), node=2, way="moduser")
    books.wait(60)
    guest.lose(600)
    ann.bet(300)
    begin = checkpoint(books)
    books.wait(30)
    ann.act(lost(300))
    ann.sees()
    guest.win(600, 900)
    guest.close()
    ann.bet(60)
    return begin, ann


def audited(books, begin=None, processes=1):
    with books.database.reading(books.settings, books.now) as desk:
        return jobs.audit(books.settings, desk, None, begin, processes)


def checkpoint(books, begin=None, processes=1):
    findings, left = audited(books, begin, processes)
    assert findings == []
    return left


def found(books, begin) -> list[str]:
    findings, left = audited(books, begin)
    assert (left is None) == bool(findings)
    return [str(finding) for finding in findings]


def test_what_goes_on_over_a_checkpoint_is_in_order(books, evening):
    begin, ann = evening
    after = checkpoint(books, begin)
    assert after._replace(since=None) == checkpoint(books)
    assert after.since == digest_of(begin.encoded())
    assert (begin.hand, begin.call, begin.visit) == (3, 1, 1)
    assert begin.first_row == 1
    assert (after.hand, after.visit) == (5, 2)
    ann.act(won(60, 90))
    ann.close()
    last = checkpoint(books, after)
    assert last.first_row == last.last + 1
    assert (last.hand, last.call) == (6, 3)


@pytest.mark.long
def test_several_processes_leave_the_same_checkpoint(books, evening):
    assert checkpoint(books, processes=2) == checkpoint(books)


def test_what_was_changed_after_it_is_found(books, evening, vandal):
    begin, _ = evening
    for change, finding in (
        ("accounts SET balance = balance + 60 WHERE kind = 'bank'", "Its balance is 60, its rows"),
        (
            "accounts SET caller_id = NULL WHERE kind = 'loan'",
            "it was another one: loan, 1, second",
        ),
        ("rounds SET lost = 299 WHERE id = 3", "hand 3: 299 was lost, its transfers add up to 300"),
        ("rounds SET won = 901 WHERE id = 4", "hand 4: 901 was won, its transfers add up to 900"),
        ("actions SET sequence = 7 WHERE round_id = 3 AND sequence = 1", "hand 3: Its journal has"),
        ("calls SET charged = charged + 1, ticked = ticked + 1 WHERE id = 1", "call 1: Of"),
        ("visits SET gain = gain + 60", "visit 1: It says"),
        ("transfers SET amount = amount + 1 WHERE id = {last} + 1", "It was changed: its amount"),
        ("transfers SET facts = '[]' WHERE id = {last} + 1", "It does not continue transfer"),
    ):
        vandal("UPDATE " + change.format(last=begin.last))
        assert finding in "\n".join(found(books, begin)), change


def test_what_was_changed_before_it_is_out_of_its_sight(books, evening, vandal):
    begin, _ = evening
    vandal(
        "UPDATE transfers SET amount = 1 WHERE id = 2", "UPDATE rounds SET lost = 60 WHERE id = 1"
    )
    assert found(books, begin) == []
    assert audited(books)[0]


def test_what_is_wrong_for_a_checkpoint_leaves_none(books, evening, vandal):
    vandal("UPDATE transfers SET amount = 1 WHERE id = 2")
    findings, left = audited(books)
    assert findings
    assert left is None


def test_balances_that_were_others_when_the_audit_began_leave_none(books, evening):
    """Somebody moves a balance and moves it back between two looks of the audit."""
    with books.database.reading(books.settings, books.now) as desk:
        draft = checkpoints.draft(desk, None)
        ours = accounts.Mark(draft.last, draft.call, draft.balances())
        assert accounts.check(desk, accounts.Task(mark=ours)).findings == []
        moved = draft._replace(
            accounts=(*draft.accounts[:-1], draft.accounts[-1]._replace(balance=77))
        )
        theirs = ours._replace(balances=moved.balances())
        (finding,) = accounts.check(desk, accounts.Task(mark=theirs)).findings
    assert str(finding) == (
        f"transfer {draft.last}: The balances were others when the audit began: somebody wrote past"
        " the books."
    )


def test_rows_written_behind_a_checkpoint_are_none_of_it(books, evening):
    """A process of the audit sees a later moment than that of the checkpoint."""
    _, ann = evening
    with books.database.reading(books.settings, books.now) as desk:
        draft = checkpoints.draft(desk, None)
    ann.act(lost(60))
    books.call(books.caller("Bob"), node=3).win(600, 900)
    mark = accounts.Mark(draft.last, draft.call, draft.balances())
    with books.database.reading(books.settings, books.now) as desk:
        found = accounts.check(desk, accounts.Task(mark=mark))
    assert found == ([], 1)  # Ann's call has been open since the first transfer


def test_balances_are_those_of_the_checkpoint_whatever_the_books_say(books, evening, vandal):
    """Two balances that were changed alike, with rows that explain it, put in before it."""
    begin, _ = evening
    vandal(
        "UPDATE accounts SET balance = balance + 60 WHERE kind = 'bank' AND caller_id = 1",
        "UPDATE accounts SET balance = balance - 60 WHERE kind = 'adjustment'",
        "UPDATE transfers SET source = 5, target = 8, amount = 60 WHERE id = 2",
    )
    said = found(books, begin)
    assert "account 8 (bank of Ann (caller 1)): Its balance is 60, its rows add up to 0." in said


def test_an_account_that_was_put_in_or_taken_out_is_found(books, evening, vandal):
    begin, _ = evening
    vandal(
        "DELETE FROM accounts WHERE kind = 'loan' AND caller_id = 1",
        "INSERT INTO accounts (id, kind, game, unit, balance)"
        " VALUES (0, 'house', 'roulette', 'second', 0)",
    )
    said = found(books, begin)
    assert "account 10: It was there at the checkpoint (loan)." in said
    assert any("account 0 (house of roulette): It was not there" in each for each in said)


def test_what_is_over_at_a_checkpoint_and_goes_on_after_it_is_found(books, evening, vandal):
    begin, ann = evening
    ann.act(lost(60))
    ann.close()
    after = checkpoint(books, begin)
    ((house,),) = books.sql("SELECT id FROM accounts WHERE kind = 'house'")
    house, online = (Account(number, "", "second") for number in (house, 6))
    late = [
        Movement(house, online, 60, Won(GAME, "win"), None, 1),
        Movement(online, ELAPSED, 5, Used(1), 1, None),
    ]
    books.do(transfers.transfer, late)
    assert found(books, after) == [
        "hand 1: 900 was won, its transfers add up to 960.",
        "call 1: It was over at the checkpoint, and was charged after it.",
    ]
    vandal("DELETE FROM calls WHERE id = 1", "DELETE FROM rounds WHERE id = 1")
    said = found(books, after)
    assert f"transfer {after.last + 1}: The hand 1 referred to does not exist." in said
    assert f"transfer {after.last + 2}: The call 1 referred to does not exist." in said


def test_books_that_do_not_continue_it_are_told_apart_at_once(books, evening, vandal):
    begin, _ = evening
    vandal(f"UPDATE transfers SET digest = '{'a' * 64}' WHERE id = {begin.last}")
    said = "ledger: These books do not continue those that the checkpoint was made of: transfer"
    assert found(books, begin) == [f"{said} {begin.last} has another digest."]
    vandal(f"DELETE FROM transfers WHERE id >= {begin.last}")
    assert found(books, begin) == [f"{said} {begin.last} is missing."]


@pytest.mark.of_a_file
def test_books_restored_from_a_copy_of_before_it_do_not_continue_it(books, folder):
    call = books.call(books.caller("Ann"))
    call.win(600, 900)
    copy = folder / "copy"
    before = checkpoint(books)
    backup.back_up(books.database, books.settings, books.now, copy)
    call.lose(60)
    begin = checkpoint(books)
    books.database.close()
    books.wait(3600)
    backup.restore(copy, books.settings, books.now)
    (said,) = found(books, begin)
    assert said.endswith(f"transfer {begin.last} is missing.")
    restored = checkpoint(books, before)  # which the restored books continue
    assert [number for number, _ in restored.generations] == [2]
    books.call(1, take_over=True).lose(60)
    checkpoint(books, restored)
    Vandal(books)("UPDATE generations SET why = 'nothing'")
    assert any("generation 2: It does not fit the chain" in each for each in found(books, before))
    Vandal(books)(f"UPDATE generations SET digest = '{'b' * 64}'")
    assert found(books, restored) == [
        "ledger: These books do not continue those that the checkpoint was made of: their"
        " generations are others."
    ]


@pytest.mark.of_a_file
def test_it_is_kept_under_its_digest_and_believed_under_no_other(books):
    begin = checkpoint(books)
    digest = checkpoint_files.keep(books.settings, begin)
    assert checkpoint_files.last_kept(books.settings) == digest
    assert checkpoint_files.kept(books.settings, digest) == begin
    assert checkpoint_files.kept(books.settings, "1" * 64) is None
    (file,) = books.settings.database.parent.glob("*.checkpoint-*")
    assert file.stat().st_mode & 0o077 == 0
    other = begin._replace(accounts=(begin.accounts[0]._replace(balance=60), *begin.accounts[1:]))
    for text in (zlib.compress(other.encoded()), b"nothing"):
        file.write_bytes(text)
        with pytest.raises(CheckpointRefused, match="was changed"):
            checkpoint_files.kept(books.settings, digest)
    for text in (b"nothing", b"[]", b'{"form": 1, "generations": 3}'):
        file.with_name(file.name[:-64] + digest_of(text)).write_bytes(zlib.compress(text))
        with pytest.raises(CheckpointRefused, match="not a checkpoint"):
            checkpoint_files.kept(books.settings, digest_of(text))


@pytest.mark.of_a_file
def test_one_that_cannot_be_read_is_passed_over_for_the_one_before(books, monkeypatch):
    digest = checkpoint_files.keep(books.settings, checkpoint(books))
    beside = books.settings.database.with_name
    beside(f"{books.settings.database.name}.checkpoint-{'0' * 64}").mkdir()
    assert checkpoint_files.last_kept(books.settings) == digest
    books.wait(60)
    roots = checkpoint_files.keep(books.settings, checkpoint(books))
    assert checkpoint_files.last_kept(books.settings) == roots != digest
    monkeypatch.setattr("os.access", lambda path, mode: roots not in str(path))
    assert checkpoint_files.last_kept(books.settings) == digest


@pytest.mark.of_a_file
def test_a_month_of_them_is_kept(books):
    begin = checkpoint(books)
    for number in range(checkpoint_files.MOST_KEPT + 3):
        at = begin.at + int(timedelta(days=number).total_seconds())
        last = checkpoint_files.keep(books.settings, begin._replace(at=at))
    files = list(books.settings.database.parent.glob("*.checkpoint-*"))
    assert len(files) == checkpoint_files.MOST_KEPT
    assert checkpoint_files.last_kept(books.settings) == last
