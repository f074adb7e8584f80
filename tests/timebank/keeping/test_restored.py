"""A restore starts a new generation: no seal, number or gift is repeated."""

from __future__ import annotations

import contextlib
import csv
import io
import os
import shutil
import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from door.games.blackjack.world import world_shoe
from tests.timebank import next_version
from tests.timebank.books import GAME, NOON, Books, in_english, lost
from tests.timebank.by_hand import ByHand
from tests.timebank.hosts import comes, known
from tests.timebank.importing import Board, record
from tests.timebank.outbox import SOURCE, flush, states
from tests.timebank.tables import Table
from tests.timebank.vandal import Vandal
from timebank import serving
from timebank.audit.accounts import audit
from timebank.callers import powers, recovery
from timebank.callers.notices import add_notice, unseen
from timebank.errors import TurnsUsed
from timebank.guests import claims
from timebank.guests.departure import HostPayment
from timebank.keeping import backup, restored_books
from timebank.keeping.restored_books import MIN_NUMBERS_AHEAD, NUMBERS_AHEAD_PER_SECOND
from timebank.ledger import migrations
from timebank.ledger.sqlite import high_water, live_mark
from timebank.ledger.transfers import ADJUSTMENT, EXTERNAL, Movement, transfer
from timebank.servers import leases, registry
from timebank.servers.registry import Newcomer
from timebank.thebank import outbox
from timebank.thebank.format import parse_record
from timebank.wagers import contests, deals, journal
from timebank.wagers.journal import open_shoe
from timebank.wagers.play_money import Tally, tally

pytestmark = pytest.mark.of_a_file

SEED, OTHER_SEED = bytes(32), bytes([1] * 32)
LATER = NOON + timedelta(hours=2)
AHEAD = MIN_NUMBERS_AHEAD + 3600 * NUMBERS_AHEAD_PER_SECOND  # an hour after the copy


class Copies:
    """Books that are copied and restored."""

    def __init__(self, books: Books, folder: Path) -> None:
        self.books = books
        self.path = books.database.path
        self.folder = folder

    def take(self, name: str = "copy.sqlite3") -> Path:
        """Copy the books, as `timebank backup` does."""
        target = self.folder / name
        backup.back_up(self.books.database, self.books.settings, self.books.now, target)
        return target

    def cp(self, name: str = "cp.sqlite3") -> Path:
        """Copy the files, as `cp` does while the board is closed."""
        self.books.database.close()
        return Path(shutil.copy(self.path, self.folder / name))

    def restore(self, copy: Path) -> backup.Restored:
        """Restore the books as `timebank restore` does, an hour later with all leases expired."""
        self.books.wait(3600)
        self.books.database.close()
        return backup.restore(copy, self.books.settings, self.books.now)

    def put_back(self, copy: Path) -> None:
        """Copy the files back, as `cp` does."""
        self.books.wait(3600)
        self.books.database.close()
        for ending in ("-wal", "-shm"):
            self.path.with_name(self.path.name + ending).unlink(missing_ok=True)
        shutil.copy(copy, self.path)

    def lose_the_books(self) -> None:
        """Remove the books, as a dying disk does."""
        self.books.database.close()
        self.path.unlink()

    def serve(self) -> restored_books.SettledCopy | None:
        """Do the first step of any server of the books."""
        return restored_books.take_up(self.books.database, self.books.settings, self.books.now)


@pytest.fixture
def copies(books, folder):
    return Copies(books, folder)


@pytest.fixture
def served(copies):
    """The same, of books that a board has served from."""
    copies.serve()
    return copies


def seal(books: Books, caller_id: int, seed: bytes = SEED) -> journal.Shoe:
    return books.do(open_shoe, caller_id, GAME, 1, seed)


def test_the_world_deal_goes_on_with_the_tries_of_the_copy(copies, books, ann):
    deal = books.do(deals.todays, world_shoe)
    books.do(contests.begin, deal, ann)
    books.do(contests.act, deal, ann, (), "hit", None)
    copy = copies.take()
    books.do(contests.act, deal, ann, ("hit",), "stay", None)
    copies.restore(copy)
    assert books.do(deals.todays, world_shoe) == deal
    assert books.do(contests.begin, deal, ann) == contests.ContestTry(("hit",))
    assert books.audit() == []


def test_a_world_deal_that_was_begun_after_the_copy_comes_again(copies, books, ann):
    copy = copies.take()
    deal = books.do(deals.todays, world_shoe)
    books.do(contests.begin, deal, ann)
    copies.restore(copy)
    assert books.do(deals.todays, world_shoe) == deal
    assert books.do(contests.try_of, deal.seal, ann) is None


def last_numbers(books: Books) -> dict[str, int]:
    tables = ("transfers", "rounds", "calls", "callers", "accounts", "notices")
    return {table: books.sql(f"SELECT max(id) FROM {table}")[0][0] or 0 for table in tables}


def notices_of(books: Books, caller_id: int) -> tuple[str, ...]:
    with books.database.reading(books.settings, books.now) as desk:
        return in_english(unseen(desk, [caller_id])[caller_id])


class TestShoes:
    def test_none_is_dealt_from_that_was_sealed_before(self, copies, books, ann):
        shoe = seal(books, ann)
        copy = copies.take()
        call = books.call(ann)
        call.bet(60, lost(60), shoe_id=shoe.id, cut="")
        books.do(journal.close_shoe, shoe.id)  # and its seed is shown
        call.close()
        copies.restore(copy)
        again = seal(books, ann, OTHER_SEED)
        assert again.seed == OTHER_SEED
        assert again.id > shoe.id
        assert books.sql("SELECT closed IS NOT NULL FROM shoes WHERE id = ?", shoe.id) == [(1,)]
        assert books.audit() == []

    def test_of_tables_are_closed_too(self, copies, books):
        shoe = books.do(open_shoe, None, "vegas", 4, SEED)
        copies.restore(copies.take())
        again = books.do(open_shoe, None, "vegas", 4, OTHER_SEED)
        assert (again.seed, again.id > shoe.id) == (OTHER_SEED, True)


class TestNumbers:
    def test_none_is_given_to_two(self, served, books, ann):
        books.call(ann).lose(60)
        copy = served.take()
        call = books.call(books.caller("Bob"), node=2)
        call.lose(120)
        call.close()
        books.do(add_notice, ann, "Hello.")
        last = last_numbers(books)
        served.restore(copy)
        books.call(books.caller("Cid")).lose(60)
        books.do(add_notice, ann, "Hello again.")
        new = last_numbers(books)
        assert all(new[table] > last[table] for table in last)
        assert new["callers"] == last["callers"] + 1  # known to the last one
        assert books.audit() == []

    def test_they_go_far_ahead_where_the_books_are_gone(self, copies, books, ann):
        copy = copies.take()
        copies.lose_the_books()
        copies.restore(copy)
        first = books.caller("Cid")
        assert first == ann + AHEAD + 1
        # The same copy a day later: numbers given since are unknown too.
        copies.lose_the_books()
        live_mark.file_path(copies.path).unlink()
        books.wait(86400)
        copies.restore(copy)
        assert books.caller("Cid") > first + MIN_NUMBERS_AHEAD

    def test_of_one_copy_that_is_put_back_twice_none_is_given_twice(self, copies, books, ann):
        copy = copies.take()
        copies.lose_the_books()
        copies.restore(copy)
        given = [books.caller(f"Cid {number}") for number in range(20)]
        # On another machine, which knows nothing of the first, and as soon as can be.
        copies.lose_the_books()
        for mark in (live_mark.file_path(copies.path), high_water.file_path(copies.path)):
            mark.unlink()
        books.wait(1 - 3600)
        copies.restore(copy)
        assert books.caller("Bob") > given[-1]

    def test_the_mark_file_identifies_the_books_when_they_are_gone(self, served, books):
        copy = served.take()
        books.caller("Ann")
        books.caller("Bob")
        served.serve()
        served.lose_the_books()
        served.restore(copy)
        assert books.caller("Cid") == 3 + AHEAD

    def test_books_that_are_not_the_last_do_not_count_as_all(self, served, books):
        older = served.cp()
        served.serve()
        books.caller("Ann")
        served.put_back(older)
        served.restore(served.take())
        assert books.caller("Bob") > MIN_NUMBERS_AHEAD

    def test_generations_go_on_too(self, served, books):
        copy = served.take()
        for _ in range(2):
            served.restore(copy)
        assert books.sql("SELECT number FROM generations") == [(3,)]
        served.restore(served.take("second"))
        assert books.sql("SELECT number FROM generations ORDER BY 1") == [(3,), (4,)]
        assert books.audit() == []


class TestOpenHands:
    def test_they_are_void_and_their_stakes_returned(self, copies, books, call, ann):
        call.bet(600)
        copy = copies.take()
        before = books.balances(ann)
        copies.restore(copy)
        assert books.sql("SELECT outcome, returned, lost FROM rounds") == [("void", 600, 0)]
        after = books.balances(ann)
        started = 1  # the second of the call that was closed
        assert (after["stake"], after["online"]) == (0, before["online"] + 600 - started)
        assert notices_of(books, ann)[0] == (
            "Your open hand at Black Jack For Time is void: the board was restored from a backup."
            " 10 minutes came back from the table."
        )
        assert books.audit() == []

    def test_an_insurance_that_was_lost_stays_lost(self, copies, books, call, ann):
        call.bet(600)
        call.act(lost(300, final=False), stake=300, kind="insurance")
        copies.restore(copies.take())
        assert books.sql("SELECT outcome, returned, lost FROM rounds") == [("void", 600, 300)]
        assert books.audit() == []

    @pytest.mark.parametrize("play", ["coup", "hand_of_bj"])
    def test_play_money_comes_back_too(self, copies, books, call, ann, play):
        call.sit_down()
        before = books.balances(ann, "usd-cent")
        getattr(call, play)(bet=20000)
        copies.restore(copies.take())
        after = books.balances(ann, "usd-cent")
        assert {kind: after[kind] for kind in before} == before
        assert (after["stake"], after.get("tab", 0)) == (0, 0)
        game = "baccarat" if play == "coup" else "unix-bj"
        assert books.do(tally, ann, game, "usd-cent") == Tally(0, 0)
        assert books.audit() == []

    def test_return_the_stakes_of_all_seats(self, copies, books):
        table = Table(books, 3)
        table.bet({1: 60, 2: 120, 3: 180})
        copies.restore(copies.take())
        rows = books.sql("SELECT seat, outcome, returned FROM rounds ORDER BY seat")
        assert rows == [(1, "void", 60), (2, "void", 120), (3, "void", 180)]
        assert books.audit() == []

    def test_return_a_hosts_minutes_to_the_host(self, copies, books):
        guest = known(books)
        comes(books, guest).bet(600)
        copies.restore(copies.take())
        assert set(books.balances(guest).values()) == {0}
        assert books.audit() == []

    def test_charge_an_open_call_to_its_last_renewal(self, copies, books, call):
        books.wait(20)
        call.renew()
        books.wait(7)
        copies.restore(copies.take())
        assert books.sql("SELECT ticked, reason FROM calls") == [(20, "the books were restored")]
        assert books.audit() == []

    def test_drop_servers_and_leases(self, copies, books):
        alpha = books.do(registry.enter, Newcomer("alpha", "p", "{}", "1"))
        fence = books.do(leases.take, "jobs", alpha.id, 12)
        copies.restore(copies.take())
        assert books.do(registry.living_servers) == []
        assert books.do(leases.holder, "jobs") is None
        # Beyond all numbers given between the copy and now, which the copy cannot know.
        assert books.do(leases.take, "jobs", alpha.id + 1, 12) == fence + leases.FENCE_JUMP + 1


def put(books: Books, name: str, minutes: int) -> int:
    """Commit a record, in books that stay in order."""
    moved = Movement(ADJUSTMENT, EXTERNAL, minutes * 60, ByHand("external", "test"), None, None)
    ((number, *_),) = books.do(transfer, [moved])
    books.sql(
        "INSERT INTO outbox (number, name, minutes, source, at, state)"
        " VALUES (?, ?, ?, ?, ?, 'waiting')",
        *(number, name, minutes, SOURCE, int(books.now.timestamp())),
    )
    return number


class TestMinutesInTransit:
    def test_a_record_is_never_written_twice(self, copies, books, open_books, folder):
        books.change(mode="external", thebank_ext=folder / "THEBANK.EXT")
        first = put(books, "Ann", 12)
        copy = copies.take()
        assert flush(books).appended == (first,)
        put(books, "Bob", 7)
        flush(books)
        copies.restore(copy)
        assert states(books) == ["doubtful"]
        flush(books)
        again = put(books, "Cid", 7)
        flush(books)
        lines = (folder / "THEBANK.EXT").read_bytes().splitlines()
        records = [parse_record(line) for line in lines]
        assert len({each.number for each in records}) == len(records) == 3
        assert records[-1].number == 2 * 10**12 + again

    def test_a_record_that_never_arrived_is_sent_under_its_first_number(
        self, copies, books, folder
    ):
        books.change(mode="external", thebank_ext=folder / "THEBANK.EXT")
        number = put(books, "Ann", 12)
        copies.restore(copies.take())
        books.do(outbox.retry_record, number)
        assert flush(books).appended == (number,)
        new = put(books, "Bob", 7)
        books.sql("UPDATE outbox SET state = 'doubtful' WHERE number = ?", new)
        books.do(outbox.confirm_record, 2 * 10**12 + new)
        assert states(books) == ["appended", "appended"]

    def test_possibly_delivered_to_the_host_are_not_delivered_again(self, copies, books):
        guest = known(books)
        call = comes(books, guest, way="moduser")
        call.win(600, 300)
        copy = copies.take()
        assert call.close_and_give() == 5
        copies.restore(copy)
        assert [row.state for row in _outstanding(books)] == ["doubtful"]
        again = comes(books, guest, way="moduser")
        again.close()
        assert again.claim() is None
        assert books.audit() == []

    def test_waiting_before_an_unfinished_visit_are_not_banked_twice(self, copies, books):
        guest = known(books)
        call = comes(books, guest, way="moduser")
        call.win(600, 300)
        call.close()  # 5 minutes wait
        comes(books, guest)
        copies.restore(copies.take())
        assert [(row.state, row.minutes) for row in _outstanding(books)] == [("doubtful", 5)]
        assert books.balances(guest)["bank"] == 0
        assert books.audit() == []


def _outstanding(books: Books) -> list[HostPayment]:
    return books.do(claims.outstanding_payments)


class TestImports:
    @pytest.fixture
    def board(self, books):
        return Board(books)

    def test_read_since_the_copy_are_named_and_can_be_applied(self, copies, books, board):
        copy = copies.take()
        board.write(record("Ann", 5))
        (kept,) = board.take().backups
        books.change(imports=(board.path,))
        settled_copy = copies.restore(copy).settled_copy
        assert settled_copy.files == (kept,)
        sentence = (
            f"{kept} was read by other books than these: `timebank import` applies it to them."
        )
        assert sentence in settled_copy.sentences()
        assert board.take(kept).applied == 1

    def test_the_rest_of_a_file_that_was_read_on_since_is_applied_once(
        self, copies, books, board, folder
    ):
        board.write(record("Ann", 5), b"Bob;3;Big")
        assert board.take().applied == 1  # and the rest is waited for
        copy = copies.take()
        board.append(b" Door;2026-06-01 11:59\r\n")
        (kept,) = board.take().backups
        assert copies.restore(copy).settled_copy.files == ()
        assert board.take().applied == 1
        assert books.balances(board.callers["Bob"])["bank"] == 600 + 180
        assert books.balances(board.callers["Ann"])["bank"] == 600 + 300
        assert board.take(kept).problem is not None


DIGEST = "d" * 64
VOID = (
    "The board was restored from a backup, so your recovery code is void. You can make another in"
    " your settings."
)
OF_THE_COPY = (
    "It is unknown what was changed since the copy. Passwords, locks, freezes, mutes and"
    " authenticators are those of the copy, and callers deleted since are back."
)


def has_a_code(books: Books, caller_id: int) -> None:
    before = books.do(recovery.secrets_of, caller_id)
    assert books.do(recovery.replace, caller_id, before, DIGEST)


def log_of(books: Books) -> list[str]:
    return [what for (what,) in books.sql("SELECT what FROM sysop_log ORDER BY id")]


class TestAccess:
    """Seen live: removed powers and a used code returned without a word."""

    @pytest.fixture
    def bob(self, books):
        return books.caller("Bob")

    def grant(self, books, *caller_ids):
        for number in caller_ids:
            books.do(powers.grant, number, "the test")

    def holders(self, books):
        return [record.name for record in books.do(powers.holders)]

    def test_no_recovery_code_of_the_copy_works(self, copies, books, ann, bob):
        has_a_code(books, ann)
        copy = copies.take()
        settled_copy = copies.restore(copy).settled_copy
        assert books.do(recovery.owner, "Ann", DIGEST) is None
        assert not books.do(recovery.has_one, ann)
        sentence = "Made 1 recovery code void: its owner can make another at Your settings."
        assert sentence in settled_copy.sentences()
        assert sentence.rstrip(".") in log_of(books)
        assert VOID in notices_of(books, ann)
        assert VOID not in notices_of(books, bob)
        assert books.audit() == []

    def test_counts_voided_codes_and_reports_no_zero(self, copies, books, ann, bob):
        without = copies.take()
        for number in (ann, bob):
            has_a_code(books, number)
        settled_copy = copies.restore(copies.take("with")).settled_copy
        assert any(
            line.startswith("Made 2 recovery codes void: their")
            for line in settled_copy.sentences()
        )
        assert not any("code" in line for line in copies.restore(without).settled_copy.sentences())

    @pytest.mark.parametrize("state", ["gone", "broken"])
    def test_warns_of_powers_that_may_return_without_the_prior_books(
        self, copies, books, ann, state
    ):
        self.grant(books, ann)
        copy = copies.take()
        books.do(powers.revoke, ann, "the test")
        copies.lose_the_books()
        if state == "broken":
            copies.path.write_bytes(b"no database" * 100)
        settled_copy = copies.restore(copy).settled_copy
        assert self.holders(books) == ["Ann"]
        assert (
            "Sysop powers: Ann, caller number 1, as in the copy. Callers who lost them since"
            " have them again: `door callers revoke` takes them."
        ) in settled_copy.sentences()

    def test_a_caller_of_other_books_says_nothing_of_one_of_the_same_number(
        self, copies, books, ann
    ):
        self.grant(books, ann)
        copy = copies.take()
        copies.lose_the_books()
        books.wait(60)
        books.database.open()
        assert books.caller("Eve") == ann
        copies.restore(copy)
        assert self.holders(books) == ["Ann"]

    def test_neither_do_books_that_are_older_than_the_copy(self, served, books, ann):
        older = served.cp()
        served.serve()
        self.grant(books, ann)
        copy = served.take()
        served.put_back(older)
        settled_copy = served.restore(copy).settled_copy
        assert self.holders(books) == ["Ann"]
        assert any("Callers who lost them since" in line for line in settled_copy.sentences())


class TestManualRestore:
    def test_a_backup_is_known_at_the_next_start(self, served, books, ann, caplog):
        shoe = seal(books, ann)
        copy = served.take()
        served.put_back(copy)
        settled_copy = served.serve()
        assert settled_copy.generation.by == "the board"
        assert settled_copy.generation.why.startswith(
            "board.sqlite3 is a copy, taken on 2026-06-01"
        )
        assert "Closed 1 open shoe: none of its cards is dealt again." in caplog.messages
        assert seal(books, ann, OTHER_SEED).id > shoe.id
        assert books.audit() == []
        assert served.serve() is None

    def test_so_is_a_database_of_an_earlier_version(self, served, books, monkeypatch):
        served.put_back(served.take())
        monkeypatch.setattr(migrations, "STEPS", next_version.STEPS)
        assert books.database.upgrade() is not None
        books.database.open()
        assert served.serve() is not None
        assert books.audit() == []

    def test_books_that_were_never_served_are_taken_as_they_are(self, copies):
        assert copies.serve() is None
        assert copies.serve() is None

    def test_books_without_the_mark_file_count_as_restored(self, served):
        live_mark.file_path(served.path).unlink()
        assert served.serve() is not None

    def test_a_damaged_mark_file_counts_as_missing(self, served):
        live_mark.file_path(served.path).write_text('{"marks": 1}')
        assert served.serve() is not None

    def test_a_temporarily_unreadable_mark_file_is_not_missing(self, served, monkeypatch):
        def broken(_):
            raise OSError(5, "Input/output error")

        with monkeypatch.context() as patch:
            patch.setattr(Path, "read_bytes", broken)
            with pytest.raises(restored_books.BooksUnavailable, match="Input/output error"):
                served.serve()
        assert served.serve() is None

    def test_a_command_that_writes_treats_them_and_says_so(self, board, timebank, folder):
        copies = Copies(board, folder)
        board.caller("Ann")
        copies.serve()
        copies.put_back(copies.take())
        code, _, error = timebank("audit")
        assert (code, "The next start treats it as restored" in error) == (0, True)
        code, _, error = timebank("deposit", "Ann", "5", "--why", "a gift")
        assert (code, error.splitlines()[0].startswith("Generation 2 of the books")) == (0, True)
        assert timebank("audit")[2] == ""
        assert "They are in generation 2, which begins with" in timebank("audit")[1]

    def test_a_mark_file_that_cannot_be_written_stops_the_start(self, served, books, monkeypatch):
        served.put_back(served.take())

        def full(*_, **__):
            raise OSError(28, "No space left on device")

        with monkeypatch.context() as patch:
            patch.setattr(os, "replace", full)
            with pytest.raises(
                restored_books.BooksUnavailable, match=r"mark cannot be used: No space"
            ):
                served.serve()
        assert books.sql("SELECT count(*) FROM generations") == [(0,)]
        assert served.serve() is not None


def killed(*_):
    raise KeyboardInterrupt


class TestKilled:
    """At any step the books are recognised as what they are."""

    @pytest.mark.parametrize("had_a_mark", [True, False])
    @pytest.mark.parametrize("step", ["write_note", "set_mark", "settle"])
    def test_while_the_mark_changes(self, copies, monkeypatch, step, had_a_mark):
        if had_a_mark:
            copies.serve()
        with monkeypatch.context() as patch:
            patch.setattr(live_mark, step, killed)
            with pytest.raises(KeyboardInterrupt):
                copies.serve()
        assert copies.serve() is None

    @pytest.mark.parametrize("times", range(1, 4))
    def test_while_a_backup_takes_their_place(self, served, books, ann, monkeypatch, times):
        seal(books, ann)
        copy = served.take()
        books.caller("Bob")
        replacing, left = os.replace, [times]

        def replace(source, target, **how):
            left[0] -= 1
            if left[0] == 0:
                raise KeyboardInterrupt
            replacing(source, target, **how)

        with monkeypatch.context() as patch:
            patch.setattr(os, "replace", replace)
            with pytest.raises(KeyboardInterrupt):
                served.restore(copy)
        assert served.serve() is None  # before or after, never a copy with anything open
        is_restored = books.sql("SELECT count(*) FROM callers") == [(1,)]
        assert is_restored == (times == 3)
        open_shoes = books.sql("SELECT count(*) FROM shoes WHERE closed IS NULL")
        assert open_shoes == [(0 if is_restored else 1,)]
        assert books.audit() == []


def dump(path: Path) -> list[str]:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        return list(connection.iterdump())


class TestTheCommand:
    def test_reports_its_work_and_notifies_the_callers(self, board, timebank, folder):
        copies = Copies(board, folder)
        ann = board.caller("Ann")
        shoe = seal(board, ann)
        board.call(ann).bet(60, shoe_id=shoe.id)
        copy = copies.take()
        board.database.close()
        output = timebank.says("restore", "--yes", str(copy))
        assert output.splitlines()[2:] == [
            f"Generation 2 of the books begins: restored from {copy.name}.",
            "Closed 1 open shoe: none of its cards is dealt again.",
            "Made hand 1 void, and returned its stake.",
            "Closed 1 call that the copy had open.",
            "Sysop powers: nobody.",
            "Numbers go on from: transfers 3, hands 2, shoes 2, calls 2, callers 2, imports 1.",
        ]
        log = [what for (what,) in board.sql("SELECT what FROM sysop_log ORDER BY id")]
        assert log == [line.rstrip(".") for line in output.splitlines()[2:]]
        assert "as they were on 1 March 2026 at 12:00. What happened" in notices_of(board, ann)[1]

    def test_a_hand_made_void_counts_as_no_turn_of_the_day(self, copies):
        books = copies.books
        ann = books.caller("Ann")
        call = books.call(ann)
        call.lose(60)
        call.bet(60, turns_limit=2)
        copies.restore(copies.take())
        again = books.call(ann)
        assert again.purse.turns == {GAME: 1}
        again.bet(60, turns_limit=2)
        assert again.purse.turns == {GAME: 2}
        again.act(lost(60))
        with pytest.raises(TurnsUsed):
            again.bet(60, turns_limit=2)

    def test_a_rehearsal_next_to_a_running_board_changes_nothing(self, board, timebank, folder):
        copies = Copies(board, folder)
        ann = board.caller("Ann")
        seal(board, ann)
        copy = copies.take()
        copies.serve()
        board.call(ann).bet(60)
        before, names = dump(copies.path), sorted(copies.path.parent.iterdir())
        mark = live_mark.read_note(copies.path)
        output = timebank.says("restore", "--dry-run", str(copy))
        assert output.startswith("Nothing was changed. A restore would do this:\n")
        assert "Generation 2 of the books begins" in output
        assert "Closed 1 open shoe" in output
        assert (dump(copies.path), sorted(copies.path.parent.iterdir())) == (before, names)
        assert live_mark.read_note(copies.path) == mark
        code, _, error = timebank("restore", "--yes", str(copy))
        assert (code != 0, "Close the board" in error) == (True, True)
        with serving.take(board.settings.lock, serving.SERVING):
            assert backup.rehearse(copy, board.settings, board.now).on_call == ("Ann (node 1)",)
        assert backup.rehearse(copy, board.settings, board.now).on_call == ()
        board.call(board.caller("Bob"), node=2).bet(60)

    def test_exports_the_generation(self, board, timebank, folder):
        copies = Copies(board, folder)
        ann = board.caller("Ann")
        board.call(ann).close()
        copies.restore(copies.take())
        board.call(ann).win(60, 60)
        board.database.close()
        code, output, _ = timebank("ledger", "--format", "csv")
        assert code == 0
        rows = csv.DictReader(io.StringIO(output))
        assert "".join(row["generation"] for row in rows) == "11222"
        assert timebank("export", "beancount")[1].count("generation: 2") == 2


class TestTheAudit:
    @pytest.fixture
    def restored(self, copies, books, ann):
        """Books of two generations, with some transfers in each."""
        books.call(ann).lose(60)
        copies.restore(copies.take())
        books.call(ann).lose(60)
        assert books.audit() == []
        return Vandal(books)

    def test_finds_the_digest_of_a_generation(self, restored, books, timebank):
        ((digest,),) = books.sql("SELECT digest FROM generations")

        with books.database.reading(books.settings, books.now) as desk:
            assert audit(desk, digest) == []

    @pytest.mark.parametrize(
        "change",
        [
            "UPDATE generations SET at = at + 1",
            "UPDATE generations SET why = 'nothing'",
            "UPDATE generations SET shoes = 7",
            "UPDATE generations SET digest = replace(digest, substr(digest, 1, 1), 'x')",
        ],
    )
    def test_a_generation_that_was_changed_does_not_fit(self, restored, books, change):
        restored(change)
        assert any(
            findings.startswith("generation 2: It does not fit") for findings in books.audit()
        )

    def test_a_generation_that_was_removed_leaves_a_hole(self, restored, books):
        ((first,),) = books.sql("SELECT first FROM generations")
        restored("DELETE FROM generations")
        assert books.audit()[0].startswith(f"transfer {first}: It does not continue transfer")

    def test_so_do_the_numbers_that_it_passed(self, copies, books, ann):
        copy = copies.take()
        copies.lose_the_books()
        copies.restore(copy)
        books.call(ann)
        Vandal(books)("DELETE FROM generations")
        assert f"transfers 1 to {AHEAD}: They are missing." in books.audit()

    def test_the_log_of_books_that_are_gone_is_no_part_of_the_new_ones(self, copies, books):
        copy = copies.take()
        books.caller("Ann")
        log = copies.path.with_name(f"{copies.path.name}-wal")
        left = log.read_bytes()
        copies.lose_the_books()
        log.write_bytes(left)
        copies.restore(copy)
        assert books.sql("SELECT count(*) FROM callers") == [(0,)]
        assert books.audit() == []

    def test_a_generation_put_in_by_hand_excuses_nothing(self, books, ann):
        call = books.call(ann)
        for _ in range(4):
            call.lose(60)
        digest = books.sql("SELECT digest FROM transfers WHERE id = 3")[0][0]
        numbers = (
            '{"accounts":1,"callers":1,"calls":1,"given_back":1,"imports":1,"notices":1,'
            '"rounds":1,"shoes":1,"sysop_log":1,"transfers":6,"visits":1}'
        )
        from timebank.ledger.generations import Generation

        row = Generation(2, 0, None, 3, 6, numbers, 0, 0, 0, "me", "hidden", "")
        forged = row.digest_after(digest)
        Vandal(books)(
            "DELETE FROM transfers WHERE id IN (4, 5)",
            f"INSERT INTO generations VALUES (2, 0, NULL, 3, 6, '{numbers}', 0, 0, 0, 'me',"
            f" 'hidden', '{forged}')",
        )
        assert any(
            findings.startswith("transfer 6: It does not continue generation 2")
            for findings in books.audit()
        )

    def test_finds_an_unclosed_shoe_call_or_hand(self, copies, books, ann):
        shoe = seal(books, ann)
        books.call(ann).bet(60, shoe_id=shoe.id)
        copies.restore(copies.take())
        vandal = Vandal(books)
        vandal("UPDATE shoes SET closed = NULL")
        vandal("UPDATE calls SET closed = NULL, reason = NULL")
        findings = books.audit()
        assert "shoe 1: It was open when generation 2 began, and it is still open." in findings
        assert "call 1: It was open when generation 2 began, and it is still open." in findings

    def test_finds_a_hand_from_an_old_shoe(self, copies, books, ann):
        shoe = seal(books, ann)
        copies.restore(copies.take())
        Vandal(books)("UPDATE shoes SET closed = NULL")
        number = books.call(ann).bet(60, lost(60), shoe_id=shoe.id, cut="")
        Vandal(books)(f"UPDATE shoes SET closed = {int(datetime.now(UTC).timestamp())}")
        assert books.audit() == [
            f"hand {number}: It was dealt from shoe 1, which was closed when generation 2 began."
        ]
