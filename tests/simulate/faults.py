"""Faults that are put into the program one at a time: the disk below SQLite must bring each out."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

from timebank import database, files
from timebank.database import Database, Done, Writer
from timebank.guard import Guard

STEPS, PEOPLE = 60, 12  # of the seeds in which they are searched for
Patch = Callable[[object, str, object], None]


def syncs_nothing(patch: Patch) -> None:
    _pragma(patch, "synchronous = OFF")


def syncs_checkpoints_alone(patch: Patch) -> None:
    _pragma(patch, "synchronous = NORMAL")


def _pragma(patch: Patch, words: str) -> None:
    real = database._on_connect

    def on_connect(connection: sqlite3.Connection, entry: Any) -> None:
        real(connection, entry)
        connection.execute(f"PRAGMA {words}")

    patch(database, "_on_connect", on_connect)


def answers_before_the_commit(patch: Patch) -> None:
    """Callers who are told what was done before it is in the books."""
    real = database._carry_out

    def carry_out(desk: Any, mark: Any, request: Any) -> Done:
        done = real(desk, mark, request)
        if done.error is None:
            request.ticket.answer.set_result(done.result)
        return done

    patch(database, "_carry_out", carry_out)


def swallows_a_failed_commit(patch: Patch) -> None:
    """A COMMIT that fails, and is told of as if it had not."""
    patch(Writer, "_settled", lambda self, doubtful: doubtful.answers)


def guesses_that_nothing_has_changed(patch: Patch) -> None:
    """A COMMIT that fails, and of which nobody asks what has become (issue 11, number 6)."""

    def settled(self: Writer, doubtful: Any) -> list[Done]:
        return self._failed(doubtful.group, doubtful.error)

    patch(Writer, "_settled", settled)
    patch(database, "leaves_doubt", lambda error: False)


def trusts_a_second_sync(patch: Patch) -> None:
    """A COMMIT that fails and is looked up, when the next sync of the same log has succeeded."""

    def settle(self: Any) -> bool:
        found: bool = self._look() and self._is_revived
        return found

    patch(database.Doubt, "_settle", lambda self, connection: settle(self))


def does_not_see_files_go(patch: Patch) -> None:
    """A server that writes on into files that were removed or replaced (number 7)."""
    patch(Guard, "missing_now", lambda self: "")


def leaves_new_books_in_the_log(patch: Patch) -> None:
    """A database that is an empty shell without its log, and a log that nobody carries over."""
    patch(Database, "_carry_over", lambda self: None)


def syncs_no_folder(patch: Patch) -> None:
    """Files whose names are not made durable."""
    patch(files, "sync_folder", lambda folder: None)


def syncs_no_files(patch: Patch) -> None:
    """Files beside the books that are taken for durable as soon as they are written."""
    patch(os, "fsync", lambda file: None)


# With the seed at which the search for each begins: one that finds it soon spares the others.
FAULTS: dict[str, tuple[Callable[[Patch], None], int]] = {
    fault.__name__: (fault, first)
    for fault, first in (
        (syncs_nothing, 1),
        (syncs_checkpoints_alone, 1),
        (answers_before_the_commit, 1),
        (swallows_a_failed_commit, 1),
        (guesses_that_nothing_has_changed, 1),
        (trusts_a_second_sync, 1),
        (does_not_see_files_go, 1),
        (leaves_new_books_in_the_log, 1),
        (syncs_no_folder, 1),
        (syncs_no_files, 1),
    )
}


@contextmanager
def put_in(name: str) -> Iterator[None]:
    """Have a fault in the program meanwhile."""
    patches: list[Any] = []

    def patch(where: object, what: str, instead: object) -> None:
        patches.append(mock.patch.object(where, what, instead))
        patches[-1].start()

    FAULTS[name][0](patch)
    try:
        yield
    finally:
        for each in reversed(patches):
            each.stop()
