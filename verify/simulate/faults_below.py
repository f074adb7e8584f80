"""Faults that only a disk can bring out: a power cut, a lost name, a sync that fails."""

from __future__ import annotations

import os
import sqlite3
from typing import Any

import pytest

from timebank import files
from timebank.ledger import database, failures
from timebank.ledger.database import Reply, Writer
from timebank.ledger.sqlite import dialect as sqlite


def syncs_nothing(patch: pytest.MonkeyPatch) -> None:
    _pragma(patch, "synchronous = OFF")


def syncs_checkpoints_alone(patch: pytest.MonkeyPatch) -> None:
    _pragma(patch, "synchronous = NORMAL")


def _pragma(patch: pytest.MonkeyPatch, words: str) -> None:
    real = sqlite.set_up

    def set_up(connection: sqlite3.Connection) -> None:
        real(connection)
        connection.execute(f"PRAGMA {words}")

    patch.setattr(sqlite, "set_up", set_up)


def answers_before_the_commit(patch: pytest.MonkeyPatch) -> None:
    """Callers who get a confirmation before the COMMIT."""
    real = database._carry_out

    def carry_out(desk: Any, request: Any, savepoint: Any) -> Reply:
        reply = real(desk, request, savepoint)
        if reply.error is None:
            request.ticket.answer.set_result(reply.result)
        return reply

    patch.setattr(database, "_carry_out", carry_out)


def swallows_a_failed_commit(patch: pytest.MonkeyPatch) -> None:
    """A COMMIT that fails and is reported as done."""
    patch.setattr(Writer, "_settle", lambda self, doubtful: doubtful.replies)


def guesses_that_nothing_has_changed(patch: pytest.MonkeyPatch) -> None:
    """A COMMIT that fails and is assumed lost without asking (issue 11, number 6)."""

    def settle(self: Writer, doubtful: Any) -> list[Reply]:
        return self._fail(doubtful.group, doubtful.error)

    patch.setattr(Writer, "_settle", settle)
    patch.setattr(failures, "leaves_doubt", lambda error: False)


def syncs_no_folder(patch: pytest.MonkeyPatch) -> None:
    """Files with names that are not made durable."""
    for way in ("sync_folder", "_sync_opened"):
        patch.setattr(files, way, lambda folder: None)


def syncs_no_files(patch: pytest.MonkeyPatch) -> None:
    """Files outside the books that count as durable as soon as they are written."""
    patch.setattr(os, "fsync", lambda file: None)


# With the first seed of each search: a seed that detects it soon saves the others.
FAULTS = {
    syncs_nothing: 6,
    syncs_checkpoints_alone: 7,
    answers_before_the_commit: 23,
    swallows_a_failed_commit: 69,
    guesses_that_nothing_has_changed: 28,
    syncs_no_folder: 29,
    syncs_no_files: 20,
}
