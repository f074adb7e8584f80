"""A restore returns nothing that was taken from a caller since, on both engines."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest

from tests.timebank.books import Books
from tests.timebank.keeping.test_dumps import Server
from tests.timebank.keeping.test_restored import OF_THE_COPY, Copies, log_of, notices_of
from timebank.callers import callers, hearing, messages, own_limits, powers, second_step, ssh_keys
from timebank.callers.second_step import SecondStep
from timebank.keeping import backup, caller_acts, dumps
from timebank.ledger.postgres.database import PostgresDatabase
from timebank.window import corrections as window

pytestmark = pytest.mark.of_a_file  # the test chooses the books itself

ONE, OTHER, THIRD = (f"ssh-ed25519 {letter * 40} laptop" for letter in "ABC")
ANN, BOB = "Ann, caller number 1", "Bob, caller number 2"
BY = "the test"
SECRET, SECOND = "A" * 32, "B" * 32


@pytest.fixture(params=["file", "server"])
def copies(request: pytest.FixtureRequest, folder) -> Iterator[Copies | Server]:
    """Open books for taking copies, which are restored an hour later."""
    if request.param == "file":
        copies = Copies(Books(folder), folder)
        yield copies
        copies.books.close()
        return
    cluster = request.getfixturevalue("cluster")
    place = cluster.place(cluster.empty())
    database = PostgresDatabase(place)
    database.open()
    database.close()
    server = Server(Books(folder, server=place), cluster, folder)
    yield server
    server.clear()


@pytest.fixture
def books(copies) -> Books:
    return copies.books


def record(books: Books, number: int) -> callers.CallerRecord:
    return books.do(callers.get, number)


def restored(copies: Copies | Server, copy) -> list[str]:
    """Restore a copy and return the sentences; a rehearsal gives the same, and all are logged."""
    module = backup if isinstance(copies, Copies) else dumps
    copies.books.close()
    rehearsed = module.rehearse(
        copy, copies.books.settings, copies.books.now
    ).settled_copy.admission
    sentences = list(copies.restore(copy).settled_copy.admission)
    assert sentences == list(rehearsed)
    assert {each.rstrip(".") for each in sentences} <= set(log_of(copies.books))
    assert copies.books.audit() == []
    return sentences


def test_a_key_that_was_removed_stays_removed_and_none_is_added(copies, books, ann, bob):
    for number, line in ((ann, ONE), (ann, OTHER), (bob, ONE)):
        books.do(ssh_keys.add, number, line)
    copy = copies.take()
    books.do(ssh_keys.take_away, ann, ONE)
    books.do(ssh_keys.add, ann, THIRD)
    sentences = restored(copies, copy)
    assert ssh_keys.lines_of(record(books, ann).preferences) == [OTHER]
    assert ssh_keys.lines_of(record(books, bob).preferences) == [ONE]
    assert sentences[0] == f"Removed SSH keys that are not in the books before: {ANN}."


def test_keys_that_a_new_password_made_void_stay_so(copies, books, ann):
    books.do(ssh_keys.add, ann, ONE)
    copy = copies.take()
    books.do(callers.set_password_hash, ann, "a later hash")
    sentences = restored(copies, copy)
    assert ssh_keys.lines_of(record(books, ann).preferences) == []
    assert record(books, ann).password_hash == "a later hash"
    assert sentences[0].startswith(f"Their passwords are those of the books before: {ANN}.")


@pytest.mark.parametrize("in_copy", [False, True])
def test_a_lock_freeze_or_mute_in_either_copy_holds(copies, books, ann, bob, in_copy):
    def hold(is_on: bool) -> None:
        books.do(caller_acts.set_locked, ann, is_on, BY)
        books.do(window.freeze if is_on else window.unfreeze, bob, "why", BY)
        books.do(caller_acts.set_muted, bob, is_on, BY)

    if in_copy:
        hold(True)
    copy = copies.take()
    hold(not in_copy)
    sentences = restored(copies, copy)
    assert record(books, ann).locked
    assert (record(books, bob).frozen, record(books, bob).muted) == (True, True)
    source = "the copy, though not in the books before" if in_copy else "the books before"
    for sentence, held in zip(sentences[:3], ("Locked out", "Frozen", "Muted"), strict=True):
        name = ANN if held == "Locked out" else BOB
        assert sentence.startswith(f"{held}, as in {source}: {name}.")


def test_powers_hold_only_if_both_copies_give_them(copies, books, ann, bob):
    books.do(powers.grant, ann, BY)
    copy = copies.take()
    books.do(powers.revoke, ann, BY)
    books.do(powers.grant, bob, BY)
    sentences = restored(copies, copy)
    assert books.do(powers.holders) == []
    assert sentences[0].startswith(f"Took the sysop's powers from {ANN}: they had none")
    assert sentences[1].startswith("Without the sysop's powers, as in the copy, though they have")
    assert sentences[-1] == "Sysop powers: nobody."


def test_an_authenticator_that_was_set_up_since_is_asked_for(copies, books, ann):
    copy = copies.take()
    books.do(second_step.turn_on, ann, SecondStep(SECRET, 7), BY)
    sentences = restored(copies, copy)
    assert second_step.of_caller(record(books, ann)) == SecondStep(SECRET, 7)
    assert sentences[0] == f"The pages ask for the authenticators of the books before: {ANN}."


def test_no_code_of_an_authenticator_is_taken_twice(copies, books, ann):
    books.do(second_step.turn_on, ann, SecondStep(SECRET, 7), BY)
    copy = copies.take()
    assert books.do(second_step.use, ann, SecondStep(SECRET, 9))
    sentences = restored(copies, copy)
    assert not books.do(second_step.use, ann, SecondStep(SECRET, 9))
    assert not any("authenticator" in each for each in sentences)


def test_one_that_was_turned_off_is_asked_for_and_the_newer_of_two(copies, books, ann, bob):
    for number in (ann, bob):
        books.do(second_step.turn_on, number, SecondStep(SECRET, 7), BY)
    copy = copies.take()
    books.do(second_step.turn_off, ann, "why", BY)
    books.do(second_step.turn_on, bob, SecondStep(SECOND, 3), BY)
    sentences = restored(copies, copy)
    assert second_step.of_caller(record(books, ann)) == SecondStep(SECRET, 7)
    assert second_step.of_caller(record(books, bob)) == SecondStep(SECOND, 7)
    assert f"The pages ask for the authenticators of the books before: {BOB}." in sentences
    assert any(each.endswith(f"though the books before have none: {ANN}.") for each in sentences)


def test_a_caller_deleted_in_either_copy_is_locked_and_a_new_one_is_named(copies, books, ann, bob):
    books.do(powers.grant, bob, BY)
    copy = copies.take()
    books.do(caller_acts.delete, bob, BY, "spam")
    books.do(caller_acts.set_locked, ann, True, BY, "noise")
    books.caller("Cid")
    sentences = restored(copies, copy)
    assert record(books, bob).locked
    assert [record(books, number).why_out for number in (ann, bob)] == ["noise", "spam"]
    assert not record(books, bob).powers
    assert sentences[1].startswith(f"Locked out, because they were deleted since: {BOB}.")
    assert "In the books before, and not in these: Cid, caller number 3." in sentences


def test_own_limits_and_ignored_callers_of_both_copies_hold(copies, books, ann, bob):
    books.do(own_limits.limit_loss, bob, 20)
    copy = copies.take()
    books.do(own_limits.limit_loss, ann, 10)
    books.do(partial(messages.ignore, on=True), ann, record(books, bob))
    sentences = restored(copies, copy)
    assert books.do(own_limits.current, ann).most_lost == 600
    assert hearing.ignored(record(books, ann).preferences) == {bob}
    assert sentences[0] == f"Their own limits are those of the books before: {ANN}."


def test_unchanged_rights_are_not_reported(copies, books, ann, bob):
    books.do(powers.grant, ann, BY)
    books.do(ssh_keys.add, ann, ONE)
    books.do(caller_acts.set_locked, bob, True, BY)
    books.do(second_step.turn_on, ann, SecondStep(SECRET, 7), BY)
    books.do(own_limits.pause, ann, 3)
    assert restored(copies, copies.take()) == [f"Sysop powers: {ANN}."]


class TestTwoCopies:
    """An older copy is restored, and then a newer one: of each right the later change counts."""

    def lose_the_books(self, copies: Copies | Server) -> None:
        if isinstance(copies, Copies):
            copies.lose_the_books()
            return
        copies.books.close()
        with copies.cluster.connect("postgres") as shell:
            shell.execute(f'DROP DATABASE "{copies.name}"')

    def protect(self, books: Books, number: int, password: str, secret: str, line: str) -> None:
        """Have a caller change everything that protects their name."""
        books.do(callers.set_password_hash, number, password)
        books.do(second_step.turn_on, number, SecondStep(secret, 7), BY)
        books.do(ssh_keys.add, number, line)

    def rights(self, books: Books, number: int) -> tuple[str, str, list[str], int | None]:
        caller = record(books, number)
        step = second_step.of_caller(caller)
        assert step is not None
        lines, limits = ssh_keys.lines_of(caller.preferences), books.do(own_limits.current, number)
        return caller.password_hash, step.secret, lines, limits.most_lost

    def test_the_newer_copys_settings_hold_where_the_books_were_lost(self, copies, books, ann, bob):
        self.protect(books, ann, "old", SECRET, ONE)
        books.do(own_limits.limit_loss, ann, 20)
        older = copies.take("older")
        self.protect(books, ann, "new", SECOND, OTHER)
        books.do(own_limits.limit_loss, ann, 10)
        newer = copies.take("newer")
        self.lose_the_books(copies)
        copies.restore(older)
        assert self.rights(books, ann) == ("old", SECRET, [ONE], 1200)
        assert books.do(second_step.use, ann, SecondStep(SECRET, 9))  # which is no change
        sentences = restored(copies, newer)
        assert self.rights(books, ann) == ("new", SECOND, [OTHER], 600)
        assert [each.partition(":")[0] for each in sentences[:-1]] == [
            "Their passwords are those of the copy, where they were changed last",
            "Their SSH keys are those of the copy, where they were changed last, and work once"
            " their owner has logged on with the password",
            "The pages ask for the authenticators of the copy, where they were changed last",
            "Their own limits are those of the copy, where they were changed last",
        ]
        assert all(ANN in each and BOB not in each for each in sentences[:-1])
        assert ssh_keys.are_suspended(record(books, ann).preferences)
        assert any("so your SSH keys wait" in each for each in notices_of(books, ann))

    def test_changes_after_the_first_restore_hold(self, copies, books, ann):
        self.protect(books, ann, "old", SECRET, ONE)
        older = copies.take("older")
        self.protect(books, ann, "new", SECOND, OTHER)
        newer = copies.take("newer")
        self.lose_the_books(copies)
        copies.restore(older)
        self.protect(books, ann, "newest", "C" * 32, THIRD)
        books.do(own_limits.limit_loss, ann, 20)
        sentences = restored(copies, newer)
        assert self.rights(books, ann) == ("newest", "C" * 32, [], 1200)
        assert not any("of the copy" in each for each in sentences)

    def test_settings_of_the_books_replaced_first_hold(self, copies, books, ann):
        self.protect(books, ann, "old", SECRET, ONE)
        older = copies.take("older")
        self.protect(books, ann, "new", SECOND, OTHER)
        newer = copies.take("newer")
        self.protect(books, ann, "newest", "C" * 32, THIRD)
        copies.restore(older)
        assert self.rights(books, ann) == ("newest", "C" * 32, [], None)
        sentences = restored(copies, newer)
        assert self.rights(books, ann) == ("newest", "C" * 32, [], None)
        assert not any("of the copy" in each for each in sentences)

    def test_an_authenticator_off_in_the_newer_copy_stays_off(self, copies, books, ann):
        books.do(second_step.turn_on, ann, SecondStep(SECRET, 7), BY)
        older = copies.take("older")
        books.do(second_step.turn_off, ann, "why", BY)
        newer = copies.take("newer")
        self.lose_the_books(copies)
        copies.restore(older)
        sentences = restored(copies, newer)
        assert second_step.of_caller(record(books, ann)) is None
        assert sentences[0] == (
            "The pages ask for no authenticator, as in the copy, where it was turned off last:"
            f" {ANN}."
        )

    def test_locks_of_both_copies_still_hold(self, copies, books, ann, bob):
        older = copies.take("older")
        books.do(caller_acts.set_locked, ann, True, BY)
        books.do(window.freeze, ann, "why", BY)
        newer = copies.take("newer")
        self.lose_the_books(copies)
        copies.restore(older)
        books.do(caller_acts.set_locked, bob, True, BY)
        restored(copies, newer)
        assert (record(books, ann).locked, record(books, ann).frozen) == (True, True)
        assert record(books, bob).locked


class TestWithoutPriorBooks:
    """Lost disks, broken files and copies that were put back by hand."""

    WAITS = (
        "It is unknown which SSH keys were removed since. Those of these callers work again"
        f" after a log-on with the password: {ANN}."
    )

    @pytest.fixture
    def copies(self, folder) -> Iterator[Copies]:
        copies = Copies(Books(folder), folder)
        copies.serve()
        yield copies
        copies.books.close()

    @pytest.fixture
    def books(self, copies) -> Books:
        return copies.books

    @pytest.mark.parametrize("way", ["lost", "broken", "by hand"])
    def test_no_key_works_until_its_owner_has_logged_on(self, copies, books, ann, bob, way):
        books.do(ssh_keys.add, ann, ONE)
        copy = copies.take()
        books.do(ssh_keys.take_away, ann, ONE)
        if way == "by hand":
            copies.put_back(copy)
            settled_copy = copies.serve()
        else:
            copies.lose_the_books()
            if way == "broken":
                copies.path.write_bytes(b"no database" * 100)
            settled_copy = copies.restore(copy).settled_copy
        assert ssh_keys.are_suspended(record(books, ann).preferences)
        assert self.WAITS in settled_copy.sentences()
        assert OF_THE_COPY in settled_copy.sentences()
        assert any("so your SSH keys wait" in each for each in notices_of(books, ann))
        assert not any("SSH" in each for each in notices_of(books, bob))
        books.do(ssh_keys.resume, ann)
        assert ssh_keys.lines_of(record(books, ann).preferences) == [ONE]
        assert not ssh_keys.are_suspended(record(books, ann).preferences)
        assert books.audit() == []

    def test_keys_that_wait_are_void_with_a_new_password_and_can_be_taken_away(
        self, copies, books, ann, bob
    ):
        for number in (ann, bob):
            books.do(ssh_keys.add, number, ONE)
            books.do(ssh_keys.suspend, number)
        books.do(caller_acts.set_password, ann, "another", BY)
        books.do(ssh_keys.take_away, bob, ONE)
        for number in (ann, bob):
            assert ssh_keys.lines_of(record(books, number).preferences) == []
        assert any(str(ssh_keys.VOID) in each for each in notices_of(books, ann))

    def test_keys_that_wait_still_do_after_another_restore(self, copies, books, ann):
        books.do(ssh_keys.add, ann, ONE)
        copy = copies.take()
        books.do(ssh_keys.suspend, ann)
        copies.restore(copy)
        assert ssh_keys.lines_of(record(books, ann).preferences) == [ONE]
        assert ssh_keys.are_suspended(record(books, ann).preferences)
