"""What processes tell each other: doubled, lost, mixed with garbage, and heard all the same."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import struct
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from door.lines.link import short
from door.servers import bus as bus_module
from door.servers import datagrams
from door.servers.bus import LARGEST, LEASE, MOST_SEEN, NOTICES, Bus, Facts
from door.servers.datagrams import ALL, AT_ONCE, DOORS, SERVERS, Datagrams
from tests.door.lines.board import PATIENCE


class Wire:
    """A way that is carried by hand."""

    def __init__(self) -> None:
        self.sent: list[bytes] = []
        self.heard: Callable[[bytes], None]
        self.missed: Callable[[], None]
        self.is_over = False

    async def start(self, heard: Callable[[bytes], None], missed: Callable[[], None]) -> None:
        self.heard, self.missed = heard, missed

    def send(self, message: bytes) -> None:
        self.sent.append(message)

    async def stop(self) -> None:
        self.is_over = True


class Ear:
    def __init__(self, bus: Bus, *kinds: str) -> None:
        self.said: list[Facts] = []
        self.gaps = 0
        self._news = asyncio.Event()
        for kind in kinds:
            bus.subscribe(kind, self._hear)
        bus.on_gap(self._miss)

    def _hear(self, facts: Facts) -> None:
        self.said.append(facts)
        self._news.set()

    def _miss(self) -> None:
        self.gaps += 1
        self._news.set()

    async def until(self, reached: Callable[[Ear], bool]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not reached(self):
                self._news.clear()
                await self._news.wait()


@asynccontextmanager
async def wired(number: int = 1) -> AsyncIterator[tuple[Bus, list[Wire]]]:
    wires = [Wire() for _ in range(number)]
    bus = Bus(list(wires))
    await bus.start()
    yield bus, wires
    await bus.stop()
    assert all(wire.is_over for wire in wires)


async def said_by(kind: str, **facts: object) -> bytes:
    """A message as another process sends it."""
    async with wired() as (bus, (wire,)):
        bus.publish(kind, **facts)
        return wire.sent[0]


async def test_a_message_is_heard_by_those_who_want_its_kind() -> None:
    message = await said_by(NOTICES, callers=[1, 2])
    assert json.loads(message)["facts"] == {"callers": [1, 2]}
    async with wired() as (bus, (wire,)):
        ear, other = Ear(bus, NOTICES), Ear(bus, LEASE)
        wire.heard(message)
        assert ear.said == [{"callers": [1, 2]}]
        assert other.said == []


async def test_one_that_comes_twice_or_by_two_ways_is_heard_once() -> None:
    message = await said_by(NOTICES, callers=[1])
    async with wired(2) as (bus, (one, two)):
        ear = Ear(bus, NOTICES)
        one.heard(message)
        two.heard(message)
        one.heard(message)
        assert len(ear.said) == 1
        assert two.sent == [message], "passed on to who is there alone"
        assert one.sent == []


async def test_our_own_is_not_heard_when_it_comes_back() -> None:
    async with wired(2) as (bus, (one, two)):
        ear = Ear(bus, LEASE)
        bus.publish(LEASE, name="jobs")
        assert one.sent == two.sent
        one.heard(two.sent[0])
        assert ear.said == []
        assert len(one.sent) == len(two.sent) == 1, "it goes round no more"


async def test_each_message_is_another_one() -> None:
    async with wired() as (bus, (wire,)):
        for _ in range(3):
            bus.publish(LEASE, name="jobs")
        assert len({json.loads(each)["id"] for each in wire.sent}) == 3


async def test_how_many_are_known_again_has_a_bound() -> None:
    async with wired() as (bus, (wire,)):
        ear = Ear(bus, LEASE)
        for number in range(MOST_SEEN * 2):
            wire.heard(f'{{"id":"x:{number}","kind":"lease","facts":{{}}}}'.encode())
        assert len(bus._seen) == MOST_SEEN
        assert len(ear.said) == MOST_SEEN * 2


GARBAGE = [
    b"",
    b"\xff\xfe",
    b"{",
    b"[]",
    b"7",
    b'{"id": 7, "kind": "notices", "facts": {}}',
    b'{"id": "x:1", "kind": "notices", "facts": [1]}',
    b'{"id": "x:1", "facts": {}}',
    b'{"id": "' + b"x" * 100 + b'", "kind": "notices", "facts": {}}',
    b'{"id":"x:1","kind":"notices","facts":{"a":"' + b"x" * LARGEST + b'"}}',
    b"[" * 7000,
]


async def test_garbage_is_nothing_and_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    async with wired(2) as (bus, (one, two)):
        ear = Ear(bus, NOTICES)
        for data in GARBAGE:
            one.heard(data)
        assert ear.said == []
        assert two.sent == [], "nor is it passed on"
        assert len(caplog.records) == 1
        one.heard(b'{"id": "x:1", "kind": "of a later version", "facts": {}}')
        one.heard(await said_by(NOTICES, callers=[]))
        assert ear.said == [{"callers": []}]


PARTS = ("id", "kind", "facts")
JSON = st.recursive(
    st.none() | st.integers() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.sampled_from(("id", "kind", "facts")), inner)
    ),
    max_leaves=9,
)


@given(st.binary(max_size=60) | JSON.map(lambda said: json.dumps(said).encode()))
def test_what_is_read_is_a_message_or_nothing(data: bytes) -> None:
    found = bus_module._read(data)
    if found is not None:
        number, kind, facts = found
        said = json.loads(data)
        assert (said["id"], said["kind"], said["facts"]) == (number, kind, facts)


async def test_what_is_too_large_is_not_sent(caplog: pytest.LogCaptureFixture) -> None:
    async with wired() as (bus, (wire,)):
        bus.publish(NOTICES, callers=list(range(3000)))
        assert wire.sent == []
        assert "is not sent" in caplog.text


async def test_one_who_fails_keeps_no_other_from_hearing(caplog: pytest.LogCaptureFixture) -> None:
    async with wired() as (bus, (wire,)):
        bus.subscribe(LEASE, lambda facts: facts["what is not there"])
        bus.on_gap(lambda: 1 // 0)
        ear = Ear(bus, LEASE)
        wire.heard(await said_by(LEASE, name="jobs"))
        wire.missed()
        assert ear.said == [{"name": "jobs"}]
        assert ear.gaps == 1
        assert "KeyError" in caplog.text
        assert "ZeroDivisionError" in caplog.text


# On one machine.


@asynccontextmanager
async def processes(
    folder: Path, *kinds: tuple[str, str], process: str = "here/1"
) -> AsyncIterator[list[tuple[Bus, Ear]]]:
    """Processes of one machine, each given as what it is and whom it tells."""
    found = []
    try:
        for number, (own, to) in enumerate(kinds):
            bus = Bus([Datagrams(folder, f"{process}:{number}", own, to)])
            await bus.start()
            found.append((bus, Ear(bus, NOTICES, LEASE)))
        yield found
    finally:
        for bus, _ in found:
            await bus.stop()
        assert not await asyncio.to_thread(lambda: list(folder.glob(ALL)))


async def test_processes_of_one_machine_hear_each_other(tmp_path: Path) -> None:
    async with processes(tmp_path, (SERVERS, ALL), (SERVERS, ALL), (DOORS, ALL)) as all_of_them:
        for number, (bus, _) in enumerate(all_of_them):
            bus.publish(NOTICES, callers=[number])
        for number, (_, ear) in enumerate(all_of_them):
            await ear.until(lambda ear: len(ear.said) == 2)
            heard = {each["callers"][0] for each in ear.said}
            assert heard == {0, 1, 2} - {number}


async def test_servers_that_have_another_way_tell_doors_alone(tmp_path: Path) -> None:
    kinds = (SERVERS, DOORS), (SERVERS, DOORS), (DOORS, ALL)
    async with processes(tmp_path, *kinds) as ((one, _), (_, two), (door, ear)):
        one.publish(LEASE, name="jobs")
        await ear.until(lambda ear: bool(ear.said))
        door.publish(NOTICES, callers=[3])
        await two.until(lambda ear: bool(ear.said))
        assert two.said == [{"callers": [3]}]


async def test_a_folder_with_a_long_name_will_do(tmp_path: Path) -> None:
    folder = tmp_path / ("f" * 120)
    folder.mkdir()
    async with processes(folder, (SERVERS, ALL), (SERVERS, ALL)) as ((one, _), (_, ear)):
        one.publish(LEASE, name="jobs")
        await ear.until(lambda ear: bool(ear.said))


def bind(wire: socket.socket, path: Path) -> None:
    with short(path) as name:
        wire.bind(name)


async def test_a_process_that_was_killed_is_cleared_away_and_one_that_stopped_keeps_nobody(
    tmp_path: Path,
) -> None:
    async with processes(tmp_path, (SERVERS, ALL), (SERVERS, ALL)) as ((one, _), (_, ear)):
        killed = tmp_path / "bus-server-killed.sock"
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as dead:
            bind(dead, killed)
        stopped = tmp_path / "bus-server-stopped.sock"
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as full:
            bind(full, stopped)
            for _ in range(2000):  # more than any queue holds
                one.publish(LEASE, name="x" * 100)
            await ear.until(lambda ear: bool(ear.said))
        assert not killed.exists()
        stopped.unlink()


async def test_a_flood_is_taken_in_piece_by_piece(tmp_path: Path) -> None:
    """No turn of the event loop takes in more than its part."""
    way = Datagrams(tmp_path, "here/1:1", SERVERS, ALL)
    heard: list[bytes] = []
    await way.start(heard.append, lambda: None)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender, short(way._path) as name:
        sender.setblocking(False)
        sent = 0
        with contextlib.suppress(BlockingIOError):
            while sent < 3 * AT_ONCE:
                sender.sendto(b"x", name)
                sent += 1
    way._receive(heard.append)
    assert len(heard) == min(sent, AT_ONCE)
    await way.stop()


def test_only_our_own_user_and_root_are_heard() -> None:
    def said(user: int) -> list[tuple[int, int, bytes]]:
        return [(socket.SOL_SOCKET, socket.SCM_CREDENTIALS, struct.pack("3i", 7, user, 7))]

    assert datagrams._is_ours(said(os.geteuid()))
    assert datagrams._is_ours(said(0))
    assert not datagrams._is_ours(said(os.geteuid() + 1))
    assert not datagrams._is_ours([])


async def test_where_no_socket_can_be_made_the_board_goes_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    bus = Bus([Datagrams(tmp_path / "nowhere", "here/1:1", SERVERS, ALL)])
    await bus.start()
    bus.publish(LEASE, name="jobs")
    await bus.stop()
    assert "are heard some seconds late" in caplog.text
