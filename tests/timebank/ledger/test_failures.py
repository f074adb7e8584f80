"""Callers and sysops read our sentences about a database, and never its driver's."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest
from psycopg import errors as postgres
from sqlalchemy.exc import OperationalError

from tests import ROOT
from timebank.ledger import failures
from timebank.ledger.database import _unavailable_error, _unknown_error, damage_sentence, open_error

# Words of the drivers about files, servers and statements.
OF_A_DRIVER = "zygote"


def sqlite_error(name: str) -> sqlite3.Error:
    error = sqlite3.OperationalError(OF_A_DRIVER)
    error.sqlite_errorname = name
    return error


ERRORS = {
    "locked": (sqlite_error("SQLITE_BUSY"), "another program has locked the database"),
    "full": (sqlite_error("SQLITE_FULL"), "no space is left on the disk"),
    "disk": (sqlite_error("SQLITE_IOERR_WRITE"), "the disk reports an error"),
    "shut": (sqlite_error("SQLITE_CANTOPEN"), "the file can't be opened"),
    "table": (sqlite_error("SQLITE_ERROR"), "the tables are not as the board made them"),
    "other": (sqlite_error("SQLITE_RANGE"), "the database reports an error"),
    "ended": (postgres.AdminShutdown(OF_A_DRIVER), "the database server has ended the connection"),
    "standby": (
        postgres.ReadOnlySqlTransaction(OF_A_DRIVER),
        "the database server is a standby, which only reads",
    ),
    "crowd": (postgres.TooManyConnections(OF_A_DRIVER), "the database server has no room for more"),
    "away": (psycopg.OperationalError(OF_A_DRIVER), "the database server can't be reached"),
    "password": (
        psycopg.OperationalError(f"{OF_A_DRIVER}: password authentication failed"),
        "the database server refuses the board's password",
    ),
    "stopping": (
        psycopg.OperationalError(f"{OF_A_DRIVER}: FATAL:  the database system is shutting down"),
        "the database server is starting or stopping",
    ),
    "slots": (
        psycopg.OperationalError(
            f"{OF_A_DRIVER}: FATAL:  remaining connection slots are reserved for roles with the"
            " SUPERUSER attribute"
        ),
        "the database server has no room for more",
    ),
}


@pytest.mark.parametrize(("error", "words"), ERRORS.values(), ids=ERRORS)
@pytest.mark.parametrize(
    "say",
    [
        _unavailable_error,
        _unknown_error,
        lambda error: open_error("books", error),
        lambda error: damage_sentence("books", error),
    ],
    ids=["unavailable", "unknown", "refused", "damaged"],
)
def test_no_text_of_a_driver_is_in_a_sentence(
    error: Exception, words: str, say: Callable[[BaseException], object]
) -> None:
    for raised in (error, OperationalError("SELECT secret", {}, error)):
        sentence = str(say(raised))
        assert OF_A_DRIVER not in sentence
        assert "SELECT" not in sentence
        assert words in sentence or say(raised) == damage_sentence("books", raised)


@pytest.mark.parametrize(("error", "words"), ERRORS.values(), ids=ERRORS)
def test_an_error_is_a_plain_sentence(error: Exception, words: str) -> None:
    assert str(failures.phrase(error)) == words
    assert failures.sentence(OperationalError("SELECT secret", {}, error)) == words


def test_a_sentence_of_the_board_is_unchanged() -> None:
    assert failures.sentence(ValueError("The books are closed.")) == "The books are closed"


def test_the_drivers_text_goes_to_the_log_only() -> None:
    """A text of a driver that is filled into a sentence would be in one of these forms."""
    forms = re.compile(r"\{failures\.driver_error\(|\.orig\}|message_primary\}")
    lines = [
        f"{path}: {line.strip()}"
        for folder in ("timebank", "door")
        for path in sorted(Path(ROOT, folder).rglob("*.py"))
        for line in path.read_text("utf-8").splitlines()
        if forms.search(line)
    ]
    assert lines == []
