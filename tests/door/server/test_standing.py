"""How several servers on one machine stand: what front ends are told of them, who steps aside."""

from __future__ import annotations

import asyncio
import ipaddress
import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import pytest

from door.config import config as settings
from door.lines.port import questions
from door.lines.port.listener import reserve
from door.server import health
from door.server.health import DRAINS, LOST, SERVES, SILENT_SECONDS
from door.server.health_desk import HealthDesk
from door.server.server import Server
from door.server.standing import ASIDE_SECONDS, LOOK_SECONDS, Aside, How, Standings
from door.server.workers import AWAY_BEATS, Worker, Workers, _Child
from tests.clock import FakeClock
from tests.door.call.test_one_deadline import waits
from tests.door.processes import OPEN_ALL_DAY
from tests.terminal import PATIENCE
from tests.world import BOARD, NOON, World

QUESTION = b"GET / HTTP/1.0\r\n\r\n"


def standing(*hows: How) -> Standings:
    made = Standings(len(hows))
    for number, how in enumerate(hows, 1):
        made.note(number, how)
    return made


@pytest.mark.parametrize(
    ("hows", "told"),
    [
        ((How.AWAY, How.SERVES), SERVES),
        ((How.LOST, How.SERVES), SERVES),
        ((How.DRAINS, How.SERVES), SERVES),
        ((How.SILENT, How.SILENT), SERVES),
        ((How.LOST, How.LOST), LOST),
        ((How.DRAINS, How.LOST), DRAINS),
        ((How.DRAINS, How.AWAY), DRAINS),
        ((How.AWAY, How.AWAY), LOST),
    ],
)
def test_what_front_ends_are_told_of_all(hows: tuple[How, ...], told: int) -> None:
    assert standing(*hows).status() == told


class TestSteppingAside:
    """`silence` stands in for books that do not answer."""

    def looks(self, silence: float, other: How, *, drains: bool = False) -> tuple[How, list[bool]]:
        among, steps = standing(How.SERVES, other), list[bool]()

        async def step(is_aside: bool) -> None:
            steps.append(is_aside)

        pulse = health.Pulse(mock.Mock(), FakeClock(NOON))
        aside = Aside(pulse, among, 1, step, lambda: drains)
        with mock.patch.object(pulse, "silence", return_value=silence):
            asyncio.run(aside.look())
        return among.of(1), steps

    @pytest.mark.parametrize(
        ("silence", "how", "steps"),
        [
            (ASIDE_SECONDS - 1, How.SERVES, []),
            (ASIDE_SECONDS, How.SILENT, [True]),
            (SILENT_SECONDS, How.LOST, [True]),
        ],
    )
    def test_where_another_one_serves(self, silence: float, how: How, steps: list[bool]) -> None:
        assert self.looks(silence, How.SERVES) == (how, steps)

    @pytest.mark.parametrize("other", [How.AWAY, How.SILENT, How.LOST, How.DRAINS])
    def test_nobody_does_where_no_other_serves(self, other: How) -> None:
        assert self.looks(SILENT_SECONDS, other)[1] == []

    def test_one_that_drains_has_done_so(self) -> None:
        assert self.looks(SILENT_SECONDS, How.SERVES, drains=True) == (How.DRAINS, [])

    async def test_what_could_not_be_opened_is_tried_again(self) -> None:
        among, steps = standing(How.SERVES, How.SERVES), list[bool]()

        async def step(is_aside: bool) -> None:
            steps.append(is_aside)
            if steps == [True, False]:
                raise OSError(24, "Too many open files")

        pulse = health.Pulse(mock.Mock(), FakeClock(NOON))
        aside = Aside(pulse, among, 1, step, lambda: False)
        for silence in (ASIDE_SECONDS, 0.0, 0.0, 0.0):
            with mock.patch.object(pulse, "silence", return_value=silence):
                await aside.look()
        assert steps == [True, False, False]


class OneOfTwo(World):
    """The first of two servers of a machine; how the second stands the test says."""

    async def open(self) -> None:
        self.standing = standing(How.AWAY, How.SERVES)
        self.holds = reserve("127.0.0.1", 0)
        worker = Worker(1, self.config, [self.holds.getsockname()[1]], 0, 0, self.standing)

        def made(*parts: object, **more: object) -> Server:
            return Server(*parts, **more, worker=worker)  # type: ignore[arg-type]

        with mock.patch("tests.world.BoardServer", made):
            await super().open()

    async def close(self) -> None:
        await super().close()
        self.holds.close()

    async def takes_calls(self) -> bool:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", self.server.ports[0])
        except ConnectionRefusedError:
            return False
        writer.close()
        return True


async def test_a_server_whose_books_are_silent_leaves_its_ports_until_they_answer(
    tmp_path: Path,
) -> None:
    (tmp_path / "sysop.toml").write_text(BOARD, encoding="utf-8")
    here = OneOfTwo(tmp_path, FakeClock(NOON), 10.0)
    await here.open()
    try:
        await here.pass_time(2 * LOOK_SECONDS)
        assert here.standing.of(1) is How.SERVES
        async with here.slow_books():
            await waits(here.clock, ASIDE_SECONDS + 2 * LOOK_SECONDS)
            assert here.standing.of(1) is How.SILENT
            assert not await here.takes_calls()
            here.standing.note(2, How.AWAY)
            await waits(here.clock, 2 * LOOK_SECONDS)
            assert await here.takes_calls(), "nobody else would tell callers why"
            here.standing.note(2, How.SERVES)
            await waits(here.clock, SILENT_SECONDS)
            assert here.standing.of(1) is How.LOST
            assert not await here.takes_calls()
        await here.pass_time(5)
        assert here.standing.of(1) is How.SERVES
        assert await here.takes_calls()
    finally:
        await here.close()


class TestTheDesk:
    @contextmanager
    def desk(self, status: int = SERVES) -> Iterator[HealthDesk]:
        made = HealthDesk(reserve("127.0.0.1", 0), (), lambda: status)
        try:
            yield made
        finally:
            made.close()

    def asked(self, desk: HealthDesk, *parts: bytes) -> bytes:
        with socket.create_connection(("127.0.0.1", desk.port), timeout=PATIENCE) as wire:
            for part in parts:
                wire.sendall(part)
                for _ in range(2):
                    desk.look(desk.descriptors())
            said = b""
            while more := wire.recv(4096):
                said += more
        return said

    @pytest.mark.parametrize("status", [SERVES, DRAINS, LOST])
    def test_it_answers(self, status: int) -> None:
        with self.desk(status) as desk:
            assert self.asked(desk, QUESTION[:5], QUESTION[5:]) == health.answer_of(status)

    def test_what_is_no_question_is_refused_or_cut_off(self) -> None:
        with self.desk() as desk:
            assert self.asked(desk, b"SSH-2.0\r\n\r\n").startswith(b"HTTP/1.0 400 ")
            assert self.asked(desk, b"x" * (questions.LONGEST_QUESTION + 1)) == b""
            assert desk.descriptors()[1:] == []

    def test_one_that_asks_nothing_is_cut_off(self) -> None:
        with self.desk() as desk, socket.create_connection(("127.0.0.1", desk.port)):
            desk.look(desk.descriptors())
            assert len(desk.descriptors()) == 2
            with mock.patch("door.server.health_desk.QUESTION_SECONDS", 0.0):
                desk.look([])
            assert len(desk.descriptors()) == 1

    def test_strangers_get_no_answer_and_one_line_in_the_log(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        with (
            self.desk() as desk,
            mock.patch("door.server.health_desk.address_of", return_value="192.0.2.1"),
        ):
            for _ in range(3):
                with socket.create_connection(("127.0.0.1", desk.port)) as wire:
                    desk.look(desk.descriptors())
                    assert wire.recv(1) == b""
        assert len(caplog.records) == 1

    def test_front_ends_are_no_strangers(self) -> None:
        proxies = (ipaddress.ip_network("192.0.2.0/24"),)
        assert health.may_ask("192.0.2.1", proxies)
        assert not health.may_ask("198.51.100.1", proxies)


def test_the_parent_replaces_one_that_alone_has_lost_its_books(tmp_path: Path) -> None:
    """One that stands still does not count as another that has them."""
    (tmp_path / "sysop.toml").write_text(OPEN_ALL_DAY, encoding="utf-8")
    kept = Workers(settings.load(tmp_path / "sysop.toml"), 2)
    lost, other = (subprocess.Popen(["sleep", "600"]) for _ in range(2))
    told, tells = os.pipe()
    try:
        for number, process in enumerate((lost, other), 1):
            kept._children[process.pid] = _Child(number, process.pid, told, has_served=True)
        kept._standing.note(1, How.LOST)
        kept._standing.note(2, How.SERVES)
        for _ in range(AWAY_BEATS):
            kept._count_missed()
        kept._standing.note(1, How.LOST)
        kept._replace_lost()
        assert lost.poll() is None
        kept._standing.note(2, How.SERVES)
        kept._replace_lost()
        assert lost.wait(PATIENCE) == -signal.SIGTERM
        assert other.poll() is None
        kept._has_ended(kept._children[lost.pid], 0)
        assert kept._due.keys() == {1}, "it has ended in peace, and another takes its place"
        assert kept._standing.of(1) is How.AWAY
    finally:
        for process in (lost, other):
            process.kill()
            process.wait()
        os.close(told)
        os.close(tells)
