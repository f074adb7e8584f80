"""The rest of a door process, with the books open: one caller, from log-on to the last entry.

Heavy, so loaded behind the first screen.
"""

from __future__ import annotations

import contextlib
import logging
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from door.call.board import Board, new_seed
from door.call.board_clock import BoardClock
from door.call.books import Books
from door.config import privacy
from door.errors import BooksUnopened
from door.games.floor import lay_tables
from door.games.registry import game_named
from door.server.housekeeping import Housekeeping
from door.session.guests import CONSOLE_NODE
from door.session.session import answer_guest, answer_sysop
from timebank.errors import BooksUnavailable, DatabaseRefused
from timebank.keeping.restoring import recognise
from timebank.ledger.engines import books_of

if TYPE_CHECKING:
    from door.call.console import Console
    from door.call.guest import Guest
    from door.clock import MachineClock
    from door.config.config import Config

LOCKED_SECONDS = 3.0  # how long books that another program keeps locked are waited for at the end

log = logging.getLogger("door.run")


async def serve(
    config: Config,
    console: Console,
    machine: MachineClock,
    guest: Guest | None,
    asked: str | None,
) -> bool:
    """Serve a guest, or the sysop without one, and give back what they gained.

    `asked` is the one table they came for, which must exist. False when something went wrong, which
    the log says. Raises `BooksUnopened`.
    """
    with contextlib.closing(books_of(config.bank)) as database:
        try:
            database.open()
            # Books that were put back by hand are not to be dealt from as they are.
            recognise(database, config.bank, machine.now())
        except (DatabaseRefused, BooksUnavailable) as refused:
            raise BooksUnopened(str(refused)) from refused
        for words in privacy.close_what_is_open(config):
            log.warning("%s", words)
        clock = console.clock = BoardClock(machine)
        console.waits_from = clock.monotonic()  # for the books, which are there now
        books = Books(database, lambda: config.bank, clock)
        node = CONSOLE_NODE if guest is None else guest.node or 1
        board = Board(config, books, clock, lay_tables, new_seed, only_node=node)
        housekeeping = Housekeeping(board, books, database, clock)
        game = None if asked is None else game_named(asked)
        # Once the caller is gone the host waits for the end of this process, and may kill it.
        console.on_hang_up = partial(books.hurry, LOCKED_SECONDS)
        try:
            await housekeeping.start_beside_others()
            if guest is None:
                return await answer_sysop(board, console, game)
            if guest.until is not None:  # it was read off the wall clock
                guest = replace(guest, until=clock.from_wall(guest.until))
            return await answer_guest(board, console, guest, game)
        finally:
            books.hurry(LOCKED_SECONDS)
            await housekeeping.stop()
            await board.stop_games()
            await board.close_games()
            await books.close()
            await housekeeping.flush_outbox()
            board.passwords.close()
