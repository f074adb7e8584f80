"""A server without a screen, in its own process: its bettors play on command.

    python -m bench.server PLACE NUMBER BETTORS

PLACE is a file, or the postgresql:// URL of books. Each line of input has the seconds to play and
the pause between two keys; the server answers it with a `Rate`.
"""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import replace
from pathlib import Path

from bench.bettors import Room, bettors_at, books_of_room, play, settings_of
from timebank.ledger.engines import books_of
from timebank.settings.place import is_server, read_place

PATIENCE = 60.0  # seconds for a turn to write: all servers begin at once


async def main(place: str, number: int, count: int) -> None:
    settings = settings_of(Path(place))
    if is_server(place):
        settings = replace(settings, server=read_place(place))
    database = books_of(settings, PATIENCE)
    database.open()
    bettors = bettors_at(database, settings, count, 1, number * count)
    books = books_of_room(Room(database, settings, bettors))
    print(json.dumps(0), flush=True)
    while line := await asyncio.to_thread(sys.stdin.readline):
        print(json.dumps(await play(books, bettors, *map(float, line.split()))), flush=True)
    await books.close()
    database.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
