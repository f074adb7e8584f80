"""A process that works in the books on command, line by line, for tests that break its disk.

    write TEXT      through the writer, as the board does
    transact TEXT   in a transaction of its own, as a command does
    hurry           make the writer wait for nothing from now on

It answers each command with a line: the outcome and the text.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from tests.timebank.books import settings_for
from timebank.callers.notices import add_notice
from timebank.ledger.database import Desk, Reply, Request, Writer
from timebank.ledger.sqlite.database import SqliteDatabase


def note(text: str) -> Callable[[Desk], int]:
    """Write a notice of this text for the first caller."""

    def operation(desk: Desk) -> int:
        add_notice(desk, 1, text)
        return desk.connection.exec_driver_sql("SELECT count(*) FROM notices").scalar_one()

    return operation


def tell(group: list[Reply]) -> None:
    for done in group:
        outcome = "done" if done.error is None else type(done.error).__name__
        print(outcome, done.ticket, flush=True)


def main() -> None:
    logging.basicConfig(level=logging.WARNING)
    settings = settings_for(Path(sys.argv[1]))
    # Commands wait no longer than that for the disk.
    database = SqliteDatabase(settings.database, busy_seconds=0.5)
    database.open()
    other = database.engine.connect()  # as a board has for work outside its writer
    writer = Writer(database, lambda: settings, lambda: datetime.now(UTC), tell)
    print("ready", flush=True)
    for line in sys.stdin:
        what, _, text = line.strip().partition(" ")
        if what == "write":
            writer.submit(Request(note(text), text))
        elif what == "hurry":
            database.limit_waits(0)
        else:
            try:
                with database.transaction(settings, datetime.now(UTC)) as desk:
                    note(text)(desk)
            except Exception as error:
                print(type(error).__name__, text, flush=True)
            else:
                print("done", text, flush=True)
    writer.close()
    other.close()
    database.close()


if __name__ == "__main__":
    main()
