"""`door metrics`: what it tells is what the board and its books say, and nothing of who plays."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import urllib.request
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from door.desk.metrics.exporter import AT_ONCE, MetricsPort, WatchedBoard, _histogram
from door.errors import CallRefused
from door.server.tally import LoopLag
from door.setup import templates
from tests.certificates import NEED_CLIENTS
from tests.clock import FakeClock
from tests.door.lines.board import PATIENCE, said_by
from tests.door.playing import hand, house, sit_down
from tests.door.shell import door
from tests.world import NOON, World, world
from timebank.keeping import last_audit
from timebank.ledger.engines import books_of

BLACKJACK = 'table="black-jack-for-time"'


def numbers(board: World) -> dict[str, float]:
    """What Prometheus is told, by the names with their labels, but for that of the server."""
    found = {}
    for line in told(board).splitlines():
        if not line.startswith("#"):
            name, number = line.rsplit(" ", 1)
            found[re.sub(r',?server="[^"]*"', "", name).replace("{}", "")] = float(number)
    return found


def told(board: World) -> str:
    with closing(books_of(board.config.bank)) as database:
        registry = CollectorRegistry(auto_describe=False)
        registry.register(WatchedBoard(board.config, database))
        return generate_latest(registry).decode()


def promtool(*words: str, said: str = "") -> str:
    """What Prometheus' own checker has to say; nothing is as it should be."""
    if (program := shutil.which("promtool")) is None:
        assert NEED_CLIENTS not in os.environ, "promtool is missing: apt-get install prometheus"
        pytest.skip("promtool is not installed")
    done = subprocess.run(
        [program, *words], input=said, capture_output=True, text=True, check=False
    )
    return done.stdout + done.stderr if done.returncode or not said else done.stderr


async def test_the_numbers_are_those_of_the_board_and_its_books(tmp_path: Path) -> None:
    async with world(tmp_path, toml=house()) as board:
        ada = await sit_down(board, "Ada")
        await ada.bets(5, hand("stay", ends="win"))
        await ada.does("stay")
        found = await asyncio.to_thread(numbers, board)
        assert (found["bjft_up"], found["bjft_books_up"]) == (1, 1)
        assert (found["bjft_callers"], found["bjft_logons"], found["bjft_draining"]) == (1, 0, 0)
        assert found["bjft_keys_total"] == next(iter(board.server.board.consoles)).keys_heard > 0
        assert found["bjft_hands_total"] == 1
        assert found[f"bjft_house_seconds{{{BLACKJACK}}}"] == -5 * 60
        assert found["bjft_granted_seconds_total"] == 3600
        kinds = [number for name, number in found.items() if name.startswith("bjft_account_sec")]
        assert sum(kinds) == 0
        assert found["bjft_writer_operations_total"] >= found["bjft_writer_commits_total"] > 0
        assert found['bjft_refusals_total{fault="caller"}'] == 0
        bank = board.config.bank
        last_audit.note(bank, last_audit.BOOKS, datetime.fromtimestamp(1e9, UTC), 1, ["x", "y"])
        audited = await asyncio.to_thread(numbers, board)
        of_books = '{command="timebank audit"}'
        assert audited[f"bjft_last_audit_timestamp_seconds{of_books}"] == 1e9
        assert audited[f"bjft_last_audit_findings{of_books}"] == 2
        text = await asyncio.to_thread(told, board)
        assert "Ada" not in text
        said = await asyncio.to_thread(promtool, "check", "metrics", said=text)
        assert said == ""


async def test_lateness_is_measured_once_somebody_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asyncio.get_running_loop(), "time", lambda: 100.0)
    lag = LoopLag()
    assert sum(lag.counts()["classes"]) == 0
    lag.stop()
    for due in (99.97, 99.4, 98.0, 100.0):
        lag._look(due)
        lag.stop()
    buckets, total = _histogram(lag.counts())
    late = {end: count for end, count in buckets if end in ("0.001", "0.02", "0.05", "1", "+Inf")}
    assert late == {"0.001": 1, "0.02": 1, "0.05": 2, "1": 3, "+Inf": 4}
    assert total == pytest.approx(2.63, abs=0.001)


def test_without_a_server_the_books_are_told_all_the_same(tmp_path: Path) -> None:
    async def open_and_close() -> World:
        async with world(tmp_path, toml=house()) as board:
            return board

    found = numbers(asyncio.run(open_and_close()))
    assert (found["bjft_up"], found["bjft_books_up"], found["bjft_hands_total"]) == (0, 1, 0)
    assert "bjft_callers" not in found


def port_for(allow: str, clock: FakeClock | None = None) -> MetricsPort:
    registry = CollectorRegistry(auto_describe=False)
    registry.register(One())
    return MetricsPort([ipaddress.ip_network(allow)], registry, clock)


@asynccontextmanager
async def port(allow: str, clock: FakeClock | None = None) -> AsyncIterator[MetricsPort]:
    made = port_for(allow, clock)
    await made.open("127.0.0.1", 0)
    try:
        yield made
    finally:
        await made.finish(0)


class One(Collector):
    def collect(self) -> Iterator[Metric]:
        yield GaugeMetricFamily("bjft_up", "Whether a server answers.", value=1)


async def test_only_those_who_are_allowed_are_told() -> None:
    async with port("127.0.0.0/8") as here:
        assert b"bjft_up 1.0" in await said_by(here.port)
    async with port("192.0.2.0/24") as here:
        assert await said_by(here.port) == b""
    elsewhere = port_for("192.0.2.0/24")
    for stranger in ("127.0.0.1", "192.0.3.1", "::1", "unknown"):
        with pytest.raises(CallRefused):
            elsewhere.admit(stranger)
    elsewhere.admit("::ffff:192.0.2.9")


async def test_strangers_take_no_place_from_who_may_ask() -> None:
    """They are hung up on before a place is taken, however many there are."""
    here = port_for("192.0.2.7")
    for number in range(2 * AT_ONCE):
        with pytest.raises(CallRefused):
            here.admit(f"198.51.100.{number}")
    for _ in range(AT_ONCE):
        here.admit("192.0.2.7")
    with pytest.raises(CallRefused):
        here.admit("192.0.2.7")


async def test_a_question_that_drips_makes_room_in_time() -> None:
    clock = FakeClock(NOON)
    async with port("127.0.0.1", clock) as here, asyncio.timeout(PATIENCE):
        lines = [await asyncio.open_connection("127.0.0.1", here.port) for _ in range(AT_ONCE)]
        assert await said_by(here.port) == b""
        for _ in range(4):  # one byte a second holds no place
            for _, writer in lines:
                writer.write(b"G")
                await writer.drain()
            await clock.advance(1)
        await clock.advance(1)
        for reader, writer in lines:
            with contextlib.suppress(ConnectionError):
                assert await reader.read() == b""
            writer.transport.abort()
        while not (said := await said_by(here.port)):
            pass  # until the kernel has told of the ends
        assert b"bjft_up 1.0" in said


@pytest.mark.parametrize(
    ("question", "first", "last"),
    [
        (b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", b"HTTP/1.0 200 OK", b"bjft_up 1.0\n"),
        (b"GET /metrics HTTP/1.0\nAccept: text/plain\n\n", b"HTTP/1.0 200 OK", b"bjft_up 1.0\n"),
        (
            b"GET /metrics HTTP/1.1\r\nAccept: application/openmetrics-text; version=1.0.0\r\n\r\n",
            b"HTTP/1.0 200 OK",
            b"# EOF\n",
        ),
        (b"HEAD /metrics HTTP/1.1\r\n\r\n", b"HTTP/1.0 200 OK", b"\r\n\r\n"),
        (b"\xff\xfb\x01 \r\n\r\n", b"HTTP/1.0 400 Bad Request", b"\r\n\r\n"),
        (b"\r\n\r\n", b"HTTP/1.0 400 Bad Request", b"\r\n\r\n"),
    ],
)
async def test_what_is_asked_by_http_is_answered(
    question: bytes, first: bytes, last: bytes
) -> None:
    async with port("127.0.0.1") as here:
        said = await said_by(here.port, question)
        assert said.startswith(first + b"\r\n")
        assert said.endswith(last)


def test_the_command_answers_by_http_and_ends_in_peace(tmp_path: Path) -> None:
    assert door("init", str(tmp_path), "--yes").status == 0
    command = [Path(sys.executable).with_name("door"), "metrics", "--port", "0"]
    with subprocess.Popen(
        [*command, "--config", tmp_path / "sysop.toml"], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        address = process.stdout.readline().removeprefix("Metrics: ").strip()
        with urllib.request.urlopen(address, timeout=30) as answer:
            assert b"bjft_books_up 1.0" in answer.read()
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=30) == 0


def test_what_is_shipped_for_prometheus_fits_and_names_numbers_that_there_are(
    tmp_path: Path,
) -> None:
    wanted = ("--yes", "--with", "prometheus", "--user", "root")
    assert door("init", str(tmp_path), *wanted).status == 0
    folder = tmp_path / "system" / "prometheus"
    assert f"ExecStart={Path(sys.executable).with_name('door')} metrics" in (
        folder / "bjft-metrics.service"
    ).read_text("utf-8")

    async def ask() -> str:
        async with world(tmp_path / "board", toml=house()) as board:
            return await asyncio.to_thread(told, board)

    (tmp_path / "board").mkdir()
    there = set(re.findall(r"bjft_\w+", asyncio.run(ask())))
    shown = templates.shipped("prometheus/grafana-board.json")
    rules = templates.shipped("prometheus/bjft.rules.yml")
    for name in set(re.findall(r"bjft_\w+", shown + rules)) - {
        "bjft_last_backup_timestamp_seconds"
    }:
        assert name in there, name
    assert len(json.loads(shown)["panels"]) == 10
    assert "SUCCESS" in promtool("check", "rules", str(folder / "bjft.rules.yml"))
