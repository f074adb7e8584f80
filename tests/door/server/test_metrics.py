"""Prometheus gets the figures of the board and its books, and nothing about players."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from unittest import mock

import pytest

from door.errors import CallRefused
from door.server.metrics import LoopLag, _histogram
from door.setup import templates
from tests.certificates import NEED_CLIENTS
from tests.door.lines.board import request
from tests.door.playing import hand, house, sit_down
from tests.door.shell import door
from tests.world import World, world
from timebank.errors import BooksUnavailable
from timebank.keeping import last_runs

WITH_HEALTH = '\n[server]\nname = "north"\nhealth = "127.0.0.1:0"\n'
BLACKJACK = 'table="black-jack-for-time"'


async def exported(board: World) -> str:
    health = board.server._health
    assert health is not None
    answer = await request(health.port, b"GET /metrics HTTP/1.1\r\nHost: north\r\n\r\n")
    head, _, body = answer.decode().partition("\r\n\r\n")
    assert head.startswith("HTTP/1.0 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\n")
    return body


async def numbers(board: World) -> dict[str, float]:
    """Return the exported figures by name and labels, without the server's label."""
    figures = {}
    for line in (await exported(board)).splitlines():
        if not line.startswith("#"):
            name, number = line.rsplit(" ", 1)
            figures[re.sub(r'server="north",?', "", name).replace("{}", "")] = float(number)
    return figures


def promtool(*words: str, text: str = "") -> str:
    """Return the output of Prometheus' own checker; empty means correct."""
    if (program := shutil.which("promtool")) is None:
        assert NEED_CLIENTS not in os.environ, "promtool is missing: apt-get install prometheus"
        pytest.skip("promtool is not installed")
    done = subprocess.run(
        [program, *words], input=text, capture_output=True, text=True, check=False
    )
    return done.stdout + done.stderr if done.returncode or not text else done.stderr


async def test_the_numbers_match_the_board_and_its_books(tmp_path: Path) -> None:
    async with world(tmp_path, toml=house() + WITH_HEALTH) as board:
        ada = await sit_down(board, "Ada")
        await ada.bets(5, hand("stay", ends="win"))
        await ada.does("stay")
        figures = await numbers(board)
        assert (figures["bjft_up"], figures["bjft_books_up"]) == (1, 1)
        assert (figures["bjft_callers"], figures["bjft_logons"], figures["bjft_draining"]) == (
            1,
            0,
            0,
        )
        assert (
            figures["bjft_keys_total"]
            == next(iter(board.server.board.consoles)).keyboard.keys_received
            > 0
        )
        assert figures["bjft_hands_total"] == 1
        assert figures[f"bjft_house_seconds{{{BLACKJACK}}}"] == -5 * 60
        assert figures["bjft_granted_seconds_total"] == 3600
        kinds = [number for name, number in figures.items() if name.startswith("bjft_account_sec")]
        assert sum(kinds) == 0
        assert figures["bjft_writer_operations_total"] >= figures["bjft_writer_commits_total"] > 0
        assert figures['bjft_refusals_total{fault="caller"}'] == 0
        bank = board.config.bank
        last_runs.note_audit(bank, last_runs.BOOKS, datetime.fromtimestamp(1e9, UTC), 1, ["x", "y"])
        audited = await numbers(board)
        of_books = '{command="timebank audit"}'
        assert audited[f"bjft_last_audit_timestamp_seconds{of_books}"] == 1e9
        assert audited[f"bjft_last_audit_findings{of_books}"] == 2
        text = await exported(board)
        assert "Ada" not in text
        assert await asyncio.to_thread(promtool, "check", "metrics", text=text) == ""


async def test_an_allowed_network_may_ask_from_elsewhere(tmp_path: Path) -> None:
    toml = f'{house()}{WITH_HEALTH}[metrics]\nallow = ["192.0.2.0/24"]\n'
    async with world(tmp_path, toml=toml) as board:
        port = board.server._health
        assert port is not None
        visit, _ = port.admit("::ffff:192.0.2.9")
        visit.end()
        with pytest.raises(CallRefused):
            port.admit("192.0.3.1")


async def test_without_the_books_the_server_reports_its_own_numbers(tmp_path: Path) -> None:
    async with world(tmp_path, toml=house() + WITH_HEALTH) as board:
        with mock.patch.object(board.server.books, "read", side_effect=BooksUnavailable("no")):
            figures = await numbers(board)
        assert (figures["bjft_up"], figures["bjft_books_up"], figures["bjft_callers"]) == (1, 0, 0)
        assert "bjft_hands_total" not in figures


def test_each_class_of_delays_has_all_that_were_shorter() -> None:
    lag = LoopLag()
    for late in (0.03, 0.6, 2.0, 0.0):
        lag.count(late)
    text = "\n".join(_histogram(lag, "north"))
    buckets = dict(re.findall(r'le="(.*)"} (\d+)', text))
    wanted = {"0.001": "1", "0.02": "1", "0.05": "2", "1": "3", "+Inf": "4"}
    assert wanted.items() <= buckets.items()
    assert text.endswith('_count{server="north"} 4\nbjft_loop_lag_seconds_sum{server="north"} 2.63')


async def test_the_shipped_prometheus_files_name_existing_numbers(
    tmp_path: Path,
) -> None:
    wanted = ("--yes", "--with", "prometheus", "--user", "root")
    made = await asyncio.to_thread(door, "init", str(tmp_path), *wanted)
    assert made.status == 0
    assert f"server.health {'127.0.0.1:9523'}" in made.output
    folder = tmp_path / "system" / "prometheus"
    assert '"127.0.0.1:9523"' in (folder / "bjft.scrape.yml").read_text("utf-8")
    (tmp_path / "board").mkdir()
    async with world(tmp_path / "board", toml=house() + WITH_HEALTH) as board:
        there = set(re.findall(r"bjft_\w+", await exported(board)))
    shown = templates.shipped("prometheus/grafana-board.json")
    rules = templates.shipped("prometheus/bjft.rules.yml")
    assert set(re.findall(r"bjft_\w+", shown + rules)) <= there
    assert len(json.loads(shown)["panels"]) == 10
    assert "SUCCESS" in promtool("check", "rules", str(folder / "bjft.rules.yml"))
