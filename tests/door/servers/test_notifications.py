"""Messages through the database: heard on all machines, also after whatever broke was mended."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import psycopg
import pytest
from psycopg import AsyncConnection
from psycopg.errors import InsufficientPrivilege

from door.servers import bus as bus_of
from door.servers import notifications
from door.servers.bus import LARGEST, LEASE, NOTICES, Bus
from door.servers.notifications import CHANNEL, MOST_WAITING, Notifications
from tests.door.lines.board import PATIENCE
from tests.door.servers.between import between
from tests.door.servers.test_bus import Ear
from tests.timebank.cluster import Cluster
from timebank.ledger.postgres.database import reached_by
from timebank.settings.place import ServerPlace


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits five seconds for a silence to be noticed."""
    monkeypatch.setattr(notifications, "BEAT_SECONDS", 0.2)
    monkeypatch.setattr(notifications, "ANSWER_SECONDS", 0.5)
    monkeypatch.setattr(notifications, "AGAIN_SECONDS", (0.05,))


class Log(logging.Handler):
    """What the log of servers says, from the moment it is made."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []
        self._news = asyncio.Event()
        logging.getLogger("door.servers").addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        self.said.append(record.getMessage())
        self._news.set()

    async def until(self, text: str) -> None:
        async with asyncio.timeout(PATIENCE):
            while not any(text in each for each in self.said):
                self._news.clear()
                await self._news.wait()


@pytest.fixture
async def log() -> AsyncIterator[Log]:
    found = Log()
    yield found
    logging.getLogger("door.servers").removeHandler(found)


@asynccontextmanager
async def connected(place: ServerPlace, name: str) -> AsyncIterator[tuple[Bus, Ear]]:
    """A server that listens."""
    bus = Bus([Notifications(place, name)])
    ear = Ear(bus, NOTICES, LEASE)
    await bus.start()
    try:
        await ear.until(lambda ear: ear.gaps == 1)
        yield bus, ear
    finally:
        async with asyncio.timeout(PATIENCE):
            await bus.stop()


async def test_servers_hear_each_other(database: ServerPlace) -> None:
    async with connected(database, "a") as (one, ear_one), connected(database, "b") as (two, ear):
        one.publish(LEASE, name="vegas/1")
        await ear.until(lambda ear: ear.said == [{"name": "vegas/1"}])
        two.publish(NOTICES, callers=[1])
        await ear_one.until(lambda ear: ear.said == [{"callers": [1]}])
        assert ear.gaps == ear_one.gaps == 1


async def test_many_at_once_arrive_in_order(database: ServerPlace) -> None:
    async with connected(database, "a") as (one, _), connected(database, "b") as (_, ear):
        for number in range(500):
            one.publish(LEASE, name=str(number))
        await ear.until(lambda ear: len(ear.said) == 500)
        assert [int(each["name"]) for each in ear.said] == list(range(500))


async def test_the_largest_message_goes_through(database: ServerPlace) -> None:
    async with connected(database, "a") as (one, _), connected(database, "b") as (_, ear):
        one.publish(LEASE, name="x" * (LARGEST - 100))
        await ear.until(lambda ear: len(ear.said) == 1)


async def test_garbage_of_others_in_the_database_is_nothing(
    database: ServerPlace, cluster: Cluster
) -> None:
    async with connected(database, "a") as (one, _), connected(database, "b") as (_, ear):
        with cluster.connect(database.name) as stranger:
            for payload in ("", "{", "beat", "é" * 3000, '{"id":"x","kind":"lease"}'):
                stranger.execute("SELECT pg_notify(%s, %s)", (CHANNEL, payload))
        one.publish(LEASE, name="jobs")
        await ear.until(lambda ear: bool(ear.said))
        assert ear.said == [{"name": "jobs"}]


@asynccontextmanager
async def stranger(database: ServerPlace, cluster: Cluster) -> AsyncIterator[AsyncConnection]:
    """Somebody who may log on to the database, and has no right to any table of the books."""
    with cluster.connect(database.name) as admin:
        admin.execute("DROP ROLE IF EXISTS stranger")
        admin.execute("CREATE ROLE stranger LOGIN")
    how = {**reached_by(database), "user": "stranger"}
    async with await AsyncConnection.connect(**how, autocommit=True) as wire:
        with pytest.raises(InsufficientPrivilege):
            await wire.execute("SELECT mark FROM identity")
        yield wire


async def test_a_message_of_one_who_may_not_read_the_books_is_nothing(
    database: ServerPlace, cluster: Cluster, log: Log
) -> None:
    async with (
        connected(database, "a") as (one, _),
        connected(database, "b") as (_, ear),
        stranger(database, cluster) as wire,
    ):
        await wire.execute(f"LISTEN {CHANNEL}")
        one.publish(NOTICES)
        async for overheard in wire.notifies():
            if "notices" in overheard.payload:
                break
        forged = ['{"id":"x:1","kind":"lease","facts":{}}']
        forged.append(f"{'0' * 32} {forged[0]}")
        forged.append(overheard.payload.replace("notices", "lease"))
        for payload in forged:
            await wire.execute("SELECT pg_notify(%s, %s)", (CHANNEL, payload))
        one.publish(LEASE, name="jobs")
        await ear.until(lambda ear: {"name": "jobs"} in ear.said)
        assert ear.said == [{}, {"name": "jobs"}]
        said = [each for each in log.said if "no server of this board" in each]
        assert len(said) == 2, "once at each server"


async def test_a_message_that_was_overheard_is_not_heard_again(
    database: ServerPlace, cluster: Cluster, log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bus_of, "MOST_SEEN", 1)  # as after many others, or at a server that begins
    async with (
        connected(database, "a") as (one, _),
        connected(database, "b") as (_, ear),
        stranger(database, cluster) as wire,
    ):
        await wire.execute(f"LISTEN {CHANNEL}")
        one.publish(LEASE, name="first")
        async for overheard in wire.notifies():
            if "first" in overheard.payload:
                break
        one.publish(LEASE, name="second")
        await ear.until(lambda ear: len(ear.said) == 2)
        await wire.execute("SELECT pg_notify(%s, %s)", (CHANNEL, overheard.payload))
        one.publish(LEASE, name="third")
        await ear.until(lambda ear: {"name": "third"} in ear.said)
        assert [each["name"] for each in ear.said] == ["first", "second", "third"]
        await log.until("no server of this board")


async def test_of_a_flood_no_more_is_taken_than_is_quick(
    database: ServerPlace, cluster: Cluster, log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notifications, "MOST_A_SECOND", 500)
    looked_at: list[str] = []
    is_of_a_server = Notifications._is_of_a_server

    def look(way: Notifications, sign: str, message: str, pid: int) -> bool:
        looked_at.append(message)
        return is_of_a_server(way, sign, message, pid)

    monkeypatch.setattr(Notifications, "_is_of_a_server", look)
    async with (
        connected(database, "a") as (one, _),
        connected(database, "b") as (_, ear),
        stranger(database, cluster) as wire,
    ):
        flood = "SELECT pg_notify(%s, 'word ' || number) FROM generate_series(1, 100000) AS number"
        await wire.execute(flood, (CHANNEL,))
        await ear.until(lambda ear: ear.gaps == 2)  # what was missed is looked at
        await log.until("more than 500 messages in a second")
        one.publish(LEASE, name="jobs")
        await ear.until(lambda ear: ear.said == [{"name": "jobs"}])
    assert len(looked_at) < 4 * 500


async def test_a_connection_that_breaks_is_made_anew_and_everything_is_looked_at(
    database: ServerPlace, tmp_path: Path
) -> None:
    async with (
        between(database, tmp_path) as (wire, place),
        connected(place, "a") as (one, ear),
        connected(database, "b") as (two, other),
    ):
        for gaps in range(2, 5):
            wire.cut()
            await ear.until(lambda ear, gaps=gaps: ear.gaps == gaps)
            two.publish(LEASE, name=str(gaps))
            await ear.until(lambda ear, gaps=gaps: ear.said[-1:] == [{"name": str(gaps)}])
            one.publish(NOTICES, callers=[gaps])
            await other.until(lambda ear, gaps=gaps: ear.said[-1:] == [{"callers": [gaps]}])


async def test_a_database_that_is_away_is_waited_for(
    database: ServerPlace, tmp_path: Path, log: Log
) -> None:
    async with (
        between(database, tmp_path) as (wire, place),
        connected(place, "a") as (one, ear),
        connected(database, "b") as (_, other),
    ):
        wire.is_open = False
        wire.cut()
        one.publish(LEASE, name="while nobody listens")
        await log.until("no messages of other servers arrive")
        wire.is_open = True
        await ear.until(lambda ear: ear.gaps == 2)
        one.publish(LEASE, name="later")
        await other.until(lambda ear: ear.said[-1:] == [{"name": "later"}])
        await log.until("messages of other servers arrive again")
        told = [each for each in log.said if "no messages" in each]
        assert len(told) == 1, "and not at every try"


async def test_one_way_silence_is_noticed(database: ServerPlace, tmp_path: Path) -> None:
    """What we say arrives, and nothing comes back: no error ever tells of it."""
    async with between(database, tmp_path) as (wire, place), connected(place, "a") as (_, ear):
        wire.swallows = True
        await wire.until(lambda: wire.connections == 2)  # it is given up, and tried again
        wire.swallows = False
        wire.cut()
        await ear.until(lambda ear: ear.gaps == 2)


async def test_a_pooler_that_listens_for_nobody_is_noticed(database: ServerPlace, log: Log) -> None:
    """Statements are answered, and yet no message ever comes."""
    bus = Bus([way := Notifications(database, "deaf")])
    ear = Ear(bus, LEASE)
    serve = way._serve

    async def deaf(connection: psycopg.AsyncConnection) -> None:
        await connection.execute("UNLISTEN *")
        await serve(connection)

    way._serve = deaf  # type: ignore[method-assign]
    await bus.start()
    await log.until("a message to ourselves does not arrive")
    await ear.until(lambda ear: ear.gaps >= 2)
    await bus.stop()


async def test_a_quiet_connection_is_not_a_broken_one(
    database: ServerPlace, tmp_path: Path
) -> None:
    async with between(database, tmp_path) as (wire, place), connected(place, "a"):
        for _ in range(5):
            beats = wire.said
            await wire.until(lambda beats=beats: wire.said > beats)
        assert wire.connections == 1


async def test_what_waits_for_a_database_that_is_away_has_a_bound() -> None:
    way = Notifications(ServerPlace("", "127.0.0.1", 1, "nowhere"), "a")
    bus = Bus([way])
    await bus.start()
    for number in range(MOST_WAITING + 10):
        bus.publish(LEASE, name=str(number))
    assert len(way._waiting) == MOST_WAITING
    async with asyncio.timeout(PATIENCE):
        await bus.stop()
