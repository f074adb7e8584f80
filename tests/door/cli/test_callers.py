"""`door callers`: list, lock, unlock, rename, delete, set a password; and the log of all that."""

from __future__ import annotations

import contextlib
import sqlite3
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner

from door.call.passwords import verify_password
from door.config import config as settings
from door.defence import ssh_keys
from tests.door.shell import Shell
from tests.world import BOARD
from timebank.callers import callers
from timebank.callers import ssh_keys as kept
from timebank.callers.notices import read
from timebank.calls.calls import close_call, open_call
from timebank.cli.main import main as timebank
from timebank.keeping import deletion
from timebank.ledger.sqlite.database import SqliteDatabase

CALLED = datetime(2026, 7, 1, 20, 15, tzinfo=UTC)


class Sysop(Shell):
    """A sysop at the shell of a board without a running server."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder / "sysop.toml")
        self.config.write_text(
            # Without events, so that no hour of the day has one.
            "events = []\n"
            + f'{BOARD}\n[board]\nsysop = "Wanda"\ntime_zone = "Europe/Berlin"\n'.replace(
                '[board]\nname = "The Test Board"\nanimation = "off"\n', "", 1
            ),
            encoding="utf-8",
        )
        self.settings = settings.load(self.config)
        database = SqliteDatabase(self.settings.database)
        database.open()
        with database.transaction(self.settings.bank, CALLED) as desk:
            ada = callers.register(desk, "Ada", "hash").id
            callers.register(desk, "Bob Dobbs", "hash")
            opened = open_call(desk, ada, 1, "somewhere", "192.0.2.1", False)
            close_call(desk, opened.call_id, 60, "log-off")
        database.close()

    def rows(self, query: str) -> list[tuple[object, ...]]:
        books = sqlite3.connect(self.settings.database)
        rows = books.execute(query).fetchall()
        books.close()
        return rows

    @property
    def log(self) -> list[tuple[object, ...]]:
        return self.rows("SELECT by, caller_id, what FROM sysop_log ORDER BY id")

    @property
    def notices(self) -> list[tuple[object, ...]]:
        rows = self.rows("SELECT caller_id, text FROM notices ORDER BY id")
        return [(number, str(read(str(text)))) for number, text in rows]

    def password_of(self, name: str) -> str:
        ((stored,),) = self.rows(
            f"SELECT password_hash FROM callers WHERE name = '{name}' AND deleted IS NULL"
        )
        assert isinstance(stored, str)
        return stored


@pytest.fixture
def sysop(tmp_path: Path) -> Sysop:
    return Sysop(tmp_path)


# List


def test_callers_are_listed_with_their_last_call_by_the_boards_clock(sysop: Sysop) -> None:
    result = sysop("callers", "list")
    assert (result.status, result.error) == (0, "")
    assert [line.split() for line in result.output.splitlines()] == [
        ["Caller", "Number", "Since", "Last", "call", "State"],
        ["Ada", "1", "2026-07-01", "2026-07-01", "22:15"],
        ["Bob", "Dobbs", "2", "2026-07-01", "never"],
    ]


# Lock


def test_a_locked_caller_is_marked_until_unlocked(sysop: Sysop) -> None:
    result = sysop("callers", "lock", "ADA")
    assert (result.status, result.output) == (0, "Ada is now locked out.\n")
    assert sysop("callers", "list").output.splitlines()[1].endswith(" locked")
    result = sysop("callers", "unlock", "Ada")
    assert (result.status, result.output) == (0, "Ada is no longer locked out.\n")
    assert "locked" not in sysop("callers", "list").output


def test_a_muted_caller_is_marked_until_that_is_taken_back(sysop: Sysop) -> None:
    result = sysop("callers", "mute", "ADA")
    assert (result.status, result.output) == (0, "Ada is now muted.\n")
    assert sysop("callers", "mute", "Ada").output == "Ada is already muted.\n"
    assert sysop("callers", "list").output.splitlines()[1].endswith(" muted")
    assert sysop("callers", "unmute", "Ada").output == "Ada is no longer muted.\n"


# Approve


def test_a_caller_who_waits_for_approval_is_marked_until_they_are_let_in(sysop: Sysop) -> None:
    assert sysop("callers", "approve", "Ada").output == "Ada does not wait for approval.\n"
    with contextlib.closing(sqlite3.connect(sysop.settings.database)) as books, books:
        books.execute("UPDATE callers SET waits = created WHERE name = 'Ada'")
    assert sysop("callers", "list").output.splitlines()[1].endswith(" waits for approval")
    assert sysop("callers", "approve", "ADA").output == "Ada may bet now.\n"
    assert "waits" not in sysop("callers", "list").output
    assert sysop.log[-1][2] == "Ada, caller number 1, was approved"


# Rename


def test_a_caller_may_get_another_spelling_of_their_own_name(sysop: Sysop) -> None:
    assert sysop("callers", "rename", "Ada", "ADA").output == "Ada is now ADA.\n"


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("B0b  D0bbs", "is taken, or looks too much like one that is.\n"),
        ("", "A name has 2 to 24 characters.\n"),
        ("A\udcffda", "A name cannot contain control or invisible characters.\n"),
        ("New", "That name is reserved for the house.\n"),
    ],
)
def test_an_unavailable_name_is_refused(sysop: Sysop, name: str, sentence: str) -> None:
    result = sysop("callers", "rename", "Ada", name)
    assert (result.status, result.output) == (2, "")
    assert result.error.endswith(sentence)
    assert "Ada" in sysop("callers", "list").output


# Delete


@pytest.mark.parametrize("typed", ["n\n", "\n", ""])
def test_only_a_yes_deletes_a_caller(sysop: Sysop, typed: str) -> None:
    result = sysop("callers", "delete", "Ada", typed=typed)
    assert result.status == 1
    assert "Ada" in sysop("callers", "list").output


# Password


@pytest.mark.parametrize("typed", ["a new secret\n", "a new secret\r\n", "a new secret"])
def test_a_password_is_set_from_standard_input(sysop: Sysop, typed: str) -> None:
    result = sysop("callers", "password", "ada", "--stdin", typed=typed)
    assert (result.status, result.output) == (0, "Ada has a new password.\n")
    assert verify_password(sysop.password_of("Ada"), "a new secret")


def test_a_password_is_asked_for_twice_and_not_shown(sysop: Sysop) -> None:
    result = sysop("callers", "password", "Ada", typed="a new secret\na new secret\n")
    assert result.status == 0
    assert "a new secret" not in result.output
    assert verify_password(sysop.password_of("Ada"), "a new secret")


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        (b"short\n", "Use at least 6 characters for your password.\n"),
        (b"", "Use at least 6 characters for your password.\n"),
        (b"x" * 129, "Use at most 128 characters for your password.\n"),
        (b"caf\xe9 caf\xe9\n", "The password is not in UTF-8.\n"),
    ],
)
def test_a_password_that_will_not_do_is_refused(sysop: Sysop, typed: bytes, sentence: str) -> None:
    result = sysop("callers", "password", "Ada", "--stdin", typed=typed)
    assert (result.status, result.output, result.error) == (2, "", sentence)
    assert sysop.password_of("Ada") == "hash"


# What remains in the log


LINE = "jane (command line)"


def test_every_change_leaves_a_line_in_the_log(sysop: Sysop) -> None:
    typed = "a new secret\n"
    for words in (
        ("lock", "ada"),
        ("unlock", "ada"),
        ("rename", "Ada", "Countess  Lovelace"),
        ("password", "Countess Lovelace", "--stdin"),
        ("password", "Wanda", "--stdin"),
        ("delete", "Bob Dobbs", "--yes"),
        ("delete", "Wanda", "--yes"),
    ):
        assert sysop("callers", *words, typed=typed).status == 0
    assert sysop.log == [
        (LINE, 1, "Ada, caller number 1, was locked out"),
        (LINE, 1, "Ada, caller number 1, was let in again"),
        (LINE, 1, "Ada, caller number 1, is called Countess Lovelace now"),
        (LINE, 1, "Countess Lovelace, caller number 1, was given a new password"),
        (LINE, 3, "Wanda, caller number 3, was entered, with the sysop's powers"),
        (LINE, 2, "Bob Dobbs, caller number 2, was deleted"),
        (LINE, 3, "Wanda, caller number 3, no longer has sysop powers"),
        (LINE, 3, "Wanda, caller number 3, was deleted"),
    ]
    shown = CliRunner().invoke(timebank, ["log", "--config", str(sysop.config)])
    assert len(shown.stdout.splitlines()) == 1 + 8


def test_a_reason_is_in_the_log_and_for_the_caller(sysop: Sysop) -> None:
    """`\r` and a reason that sounds like a line of the log cannot deceive the audit."""
    why = "Ada, caller number 1, was let in again"
    assert sysop("callers", "lock", "Ada", "--why", why).output == "Ada is now locked out.\n"
    assert sysop("callers", "mute", "Ada", "--why", "too\rloud.").output == "Ada is now muted.\n"
    words = sysop("callers", "delete", "Bob Dobbs", "--yes", "--why", "asked for it").output
    assert words == (
        "Bob Dobbs is deleted. `door callers restore` brings them back for 30 days; then their time"
        " is forfeited.\n"
    )
    assert sysop.log == [
        (LINE, 1, f"Ada, caller number 1, was locked out: {why}"),
        (LINE, 1, "Ada, caller number 1, was muted: too loud"),
        (LINE, 2, "Bob Dobbs, caller number 2, was deleted: asked for it"),
    ]
    assert sysop.notices == [
        (1, "The sysop has muted you: too loud. Other callers can't see what you say for now.")
    ]
    audit = CliRunner().invoke(timebank, ["audit", "--config", str(sysop.config)])
    assert audit.exit_code == 0, audit.stdout


def test_deleted_callers_are_listed_and_brought_back(sysop: Sysop) -> None:
    assert sysop("callers", "restore", "x").error.endswith("You can bring back nobody.\n")
    sysop("callers", "delete", "Bob Dobbs", "--yes")
    assert sysop("callers", "restore", "Bob").error == (
        "No deleted caller is named Bob. You can bring back Bob Dobbs (#2).\n"
    )
    assert sysop("callers", "restore", "Bob Dobbs", "Sysop").error == (
        "That name is reserved for the house.\n"
    )
    assert sysop("callers", "restore", "bob dobbs", "Ada").error == (
        "The name Ada is taken, or looks too much like one that is. Give them another:"
        ' `door callers restore "#2" NAME`.\n'
    )
    assert sysop("callers", "restore", "bob dobbs").output == (
        "Bob Dobbs, caller number 2, is back with all their time.\n"
    )
    assert "Bob Dobbs" in sysop("callers", "list").output
    sysop("callers", "delete", "#2", "--yes")
    assert sysop("callers", "restore", "#2", "Dobbs").output.startswith("Dobbs, caller number 2")
    assert [what for _, _, what in sysop.log][-1] == "Dobbs, caller number 2, was brought back"


def test_an_act_without_effect_is_not_logged(sysop: Sysop) -> None:
    assert sysop("callers", "unlock", "Ada").output == "Ada is not locked out.\n"
    sysop("callers", "lock", "Ada")
    assert sysop("callers", "lock", "Ada").output == "Ada is already locked out.\n"
    sysop("callers", "rename", "Ada", "Ada")
    for words in (("rename", "Ada", "Bob Dobbs"), ("password", "Ada", "--stdin")):
        assert sysop("callers", *words, typed="short\n").status == 2
    assert sysop.log == [(LINE, 1, "Ada, caller number 1, was locked out")]


def test_an_affected_caller_finds_a_notice(sysop: Sysop) -> None:
    digest = "d" * 64
    with contextlib.closing(sqlite3.connect(sysop.settings.database)) as books, books:
        books.execute("UPDATE callers SET recovery_digest = ? WHERE id = 1", (digest,))
    for words in (("lock", "Ada"), ("unlock", "Ada"), ("rename", "Ada", "Grace")):
        sysop("callers", *words)
    for _ in range(2):
        sysop("callers", "password", "Grace", "--stdin", typed="a new secret\n")
    sysop("callers", "password", "Wanda", "--stdin", typed="a new secret\n")
    assert sysop.notices == [
        (1, "Your name was locked; the sysop has unlocked it."),
        (1, "The sysop has renamed you: you were Ada, and are Grace now."),
        (1, "The sysop has set a new password for you."),
        (1, "Your recovery code is void. You can make another in your settings."),
        (1, "The sysop has set a new password for you."),
        (3, "You have sysop powers now."),
    ]
    assert sysop.log[-2] == (LINE, 1, "Grace, caller number 1, was given a new password")
    assert sysop.log[-3][-1] == (
        "Grace, caller number 1, was given a new password; the recovery code is void"
    )


def test_a_refused_act_is_not_logged(sysop: Sysop, monkeypatch: pytest.MonkeyPatch) -> None:
    def is_on_line(*_: object) -> bool:
        return False

    monkeypatch.setattr(deletion, "close_if_dead", is_on_line)
    assert sysop("callers", "delete", "Ada", "--yes").status == 2
    assert sysop.log == []


# Unknown callers


@pytest.mark.parametrize(
    "words",
    [
        ("lock", "Eve"),
        ("unlock", "Eve"),
        ("rename", "Eve", "Mallory"),
        ("delete", "Eve", "--yes"),
        ("password", "Eve", "--stdin"),
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("name", ["Eve", "", "Eve;", "\udcff\udcfe", "x" * 10_000])
def test_an_unknown_caller_is_an_error(sysop: Sysop, words: tuple[str, ...], name: str) -> None:
    command, _, *rest = words
    result = sysop("callers", command, name, *rest, typed="a new secret\n")
    assert (result.status, result.output) == (2, "")
    assert result.error.startswith("There is no caller named ")


def test_near_names_are_suggested_those_that_begin_so_first(sysop: Sysop) -> None:
    database = SqliteDatabase(sysop.settings.database)
    database.open()
    with database.transaction(sysop.settings.bank, CALLED) as desk:
        for name in ("Zada", "Ada Byron", "Adam"):
            callers.register(desk, name, "hash")
        callers.rename(desk, 1, "Ada Lovelace")
    database.close()
    for words in (("lock", "Ada"), ("grant", "ada"), ("delete", "Ada"), ("keys", "Ada")):
        assert sysop("callers", *words).error == (
            "There is no caller named "
            f"{words[1]}. Do you mean Ada Byron, Ada Lovelace, Adam, Zada?\n"
        )
    assert sysop("callers", "rename", "Dobs", "Bob").error.endswith("Do you mean Bob Dobbs?\n")
    assert sysop("callers", "password", "Bob").error.endswith("Do you mean Bob Dobbs?\n")
    assert sysop("callers", "lock", "#2").output == "Bob Dobbs is now locked out.\n"
    assert sysop("callers", "lock", "#9").error == "There is no caller number 9.\n"


# Keys


def test_keys_are_shown_and_taken_away_with_a_line_in_the_log_and_a_notice(sysop: Sysop) -> None:
    assert sysop("callers", "keys", "Ada").output == "Ada has no SSH key here.\n"
    line = f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{'A' * 43} laptop"
    mark = ssh_keys.read(line).fingerprint
    database = SqliteDatabase(sysop.settings.database)
    database.open()
    with database.transaction(sysop.settings.bank, CALLED) as desk:
        kept.add(desk, 1, line)
    database.close()
    shown = sysop("callers", "keys", "ada").output.splitlines()[1]
    assert shown.split() == [mark, "ssh-ed25519", "laptop"]
    result = sysop("callers", "keys", "Ada", "--take-away", "SHA256:none")
    assert (result.status, result.error) == (2, "Ada has no key SHA256:none.\n")
    result = sysop("callers", "keys", "Ada", "--take-away", mark)
    assert result.output == f"{mark} no longer logs Ada on.\n"
    assert sysop("callers", "keys", "Ada").output == "Ada has no SSH key here.\n"
    what = f"Ada, caller number 1, no longer logs on with the SSH key {mark}"
    assert sysop.log == [(LINE, 1, what)]
    assert sysop.notices == [(1, f"The sysop has taken away your SSH key {mark}.")]


def test_keys_that_wait_since_a_restore_are_counted_and_can_be_taken_away(sysop: Sysop) -> None:
    lines = [f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{each * 43} laptop" for each in "AB"]
    marks = [ssh_keys.read(line).fingerprint for line in lines]
    database = SqliteDatabase(sysop.settings.database)
    database.open()
    with database.transaction(sysop.settings.bank, CALLED) as desk:
        for line in lines:
            kept.add(desk, 1, line)
        kept.suspend(desk, 1)
    database.close()
    shown = sysop("callers", "keys", "Ada")
    assert all(mark in shown.output for mark in marks)
    assert shown.error == "Since a restore 2 keys wait until Ada logs on by password.\n"
    assert sysop("callers", "keys", "Ada", "--take-away", marks[0]).status == 0
    shown = sysop("callers", "keys", "Ada")
    assert (marks[0] in shown.output, marks[1] in shown.output) == (False, True)
    assert shown.error == "Since a restore 1 key waits until Ada logs on by password.\n"


# Notices, and events that are started early


def test_a_notice_waits_for_the_caller(sysop: Sysop) -> None:
    result = sysop("callers", "notice", "ada", "Supper at \x1b[2J eight", "--by", "Jane")
    assert result.output == "Ada reads it at the next log-on, or sooner: Supper at [2J eight\n"
    assert sysop.notices == [(1, "The sysop: Supper at [2J eight")]
    assert sysop.log[-1] == ("Jane (command line)", 1, "Notice left: Supper at [2J eight")
    assert sysop("callers", "notice", "ada", " ").status == 2
    assert sysop("callers", "notice", "Nobody", "x").error.startswith("There is no caller named")


def test_an_event_is_started_early_and_taken_back_without_a_server(sysop: Sysop) -> None:
    started = sysop("event", "start", "Repairs", "--minutes", "5", "--in", "0", "--by", "Jane")
    assert started.output.startswith("Repairs closes the board from ")
    assert "was started early: `door event end`" in sysop("event").output
    assert "The board is closed for Repairs until" in sysop("event", "start").error
    ended = sysop("event", "end", "--by", "Jane")
    assert ended.output == "Repairs is taken back.\n"
    assert "No event that was started early" in sysop("event", "end").error
    assert "There is no event Lunch" in sysop("event", "start", "Lunch").error
    assert [by for by, *_ in sysop.log if by != "clock"] == ["Jane (command line)"] * 2
