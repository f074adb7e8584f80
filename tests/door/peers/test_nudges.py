"""One server's writes are seen soon by the others, also after any broken link was mended."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from psycopg import AsyncConnection, OperationalError

from door.peers import nudges
from tests.door.lines.board import PATIENCE
from tests.door.peers.between import between
from tests.timebank.cluster import Cluster
from timebank.ledger.postgres.dialect import CHANNEL
from timebank.settings.place import ServerPlace


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the five seconds after which a silence is noticed."""
    monkeypatch.setattr(nudges, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(nudges, "BEAT_SECONDS", 0.2)
    monkeypatch.setattr(nudges, "ANSWER_SECONDS", 0.5)
    monkeypatch.setattr(nudges, "RETRY_SECONDS", 0.05)


class Looks:
    """Counts the looks of a server that listens."""

    def __init__(self) -> None:
        self.number = 0
        self._news = asyncio.Event()

    def look(self) -> None:
        self.number += 1
        self._news.set()

    async def until_more(self, than: int) -> None:
        async with asyncio.timeout(PATIENCE):
            while self.number <= than:
                self._news.clear()
                await self._news.wait()


@asynccontextmanager
async def listening(place: ServerPlace) -> AsyncIterator[Looks]:
    looks = Looks()
    task = asyncio.create_task(nudges.listen(place, looks.look))
    try:
        await looks.until_more(0)
        yield looks
    finally:
        task.cancel()
        async with asyncio.timeout(PATIENCE):
            await asyncio.gather(task, return_exceptions=True)


def notify(cluster: Cluster, database: ServerPlace, times: int = 1) -> None:
    with cluster.connect(database.name) as other:
        for number in range(times):
            other.execute("SELECT pg_notify(%s, %s)", (CHANNEL, str(number)))


async def test_a_notification_is_a_look(database: ServerPlace, cluster: Cluster) -> None:
    async with listening(database) as one, listening(database) as other:
        for _ in range(3):
            before = one.number, other.number
            notify(cluster, database)
            await one.until_more(before[0])
            await other.until_more(before[1])


async def test_a_notification_that_comes_with_an_answer_is_a_look(
    database: ServerPlace, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The library receives the notification together with the beat's answer."""
    real = AsyncConnection.execute

    async def execute(connection: AsyncConnection, query: str) -> object:
        if query == "SELECT 1":
            notify(cluster, database)
        return await real(connection, query)

    monkeypatch.setattr(AsyncConnection, "execute", execute)
    async with listening(database) as looks:
        await looks.until_more(3)


async def test_many_at_once_are_few_looks(
    database: ServerPlace, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Anyone who may log on to the database can send any number of them."""
    monkeypatch.setattr(nudges, "LOOK_SECONDS", 0.3)
    loop = asyncio.get_running_loop()
    async with listening(database) as looks:
        began = loop.time()
        notify(cluster, database, times=2000)
        await looks.until_more(2)
        assert looks.number <= 2 + (loop.time() - began) / 0.3


async def test_a_broken_connection_is_remade_and_the_books_are_read(
    database: ServerPlace, tmp_path: Path, cluster: Cluster
) -> None:
    async with between(database, tmp_path) as (wire, place), listening(place) as looks:
        for _ in range(3):
            before = looks.number
            wire.cut()
            await looks.until_more(before)
            before = looks.number
            notify(cluster, database)
            await looks.until_more(before)


async def test_a_broken_connection_leaves_no_descriptor_to_the_loop(
    database: ServerPlace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The library closes it at once, and uvloop aborts a process that waits for a closed one."""
    loop, left, begun = asyncio.get_running_loop(), set[int](), asyncio.Event()
    add, remove = loop.add_reader, loop.remove_reader

    def add_reader(number: int, *what: Any) -> None:
        left.add(number)
        begun.set()
        add(number, *what)

    def remove_reader(number: int) -> bool:
        left.discard(number)
        return remove(number)

    async with between(database, tmp_path) as (wire, place), nudges._connected(place) as connection:
        monkeypatch.setattr(loop, "add_reader", add_reader)
        monkeypatch.setattr(loop, "remove_reader", remove_reader)
        waiting = asyncio.create_task(nudges._until_notified(connection, asyncio.Event()))
        await begun.wait()
        wire.cut()
        with pytest.raises(OperationalError):
            await waiting
        assert not left


async def test_a_database_that_is_away_is_waited_for(
    database: ServerPlace,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tries, real = asyncio.Semaphore(0), nudges._connected

    def connected(server: ServerPlace) -> object:
        tries.release()
        return real(server)

    monkeypatch.setattr(nudges, "_connected", connected)
    async with between(database, tmp_path) as (wire, place), listening(place) as looks:
        wire.is_open = False
        before = looks.number
        wire.cut()
        async with asyncio.timeout(PATIENCE):
            for _ in range(4):
                await tries.acquire()
        wire.is_open = True
        await looks.until_more(before)
    warnings = [each.getMessage() for each in caplog.records if each.levelno == logging.WARNING]
    assert sum("no notifications arrive" in each for each in warnings) == 1, "not at every try"
    assert warnings[-1] == "notifications of other servers arrive again"


async def test_one_way_silence_is_noticed_and_named(
    database: ServerPlace, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The server's queries arrive and no answer returns: no error reports it."""
    async with between(database, tmp_path) as (wire, place), listening(place) as looks:
        before = looks.number
        wire.swallows = True
        await wire.until(lambda: wire.connections == 2)  # it is given up, and tried again
        wire.swallows = False
        wire.cut()
        await looks.until_more(before)
    assert "(it does not answer): changes by other servers are" in caplog.text


async def test_a_quiet_connection_is_not_a_broken_one(
    database: ServerPlace, tmp_path: Path
) -> None:
    async with between(database, tmp_path) as (wire, place), listening(place):
        for _ in range(5):
            beats = wire.said
            await wire.until(lambda beats=beats: wire.said > beats)
        assert wire.connections == 1
