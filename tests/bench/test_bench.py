import contextlib
import re
import select
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import bench.__main__
import bench.connect
import bench.doors
import bench.machines
import bench.odds
import bench.pages
import bench.peers
from bench.report import Scale

# Such short measurements mean nothing; they only check that every part still runs.
BRIEF = Scale(
    callers=4,
    pressing=2,
    rounds=1,
    seconds=0.02,
    playing_seconds=0.02,
    connects=2,
    silent=2,
    burst=8,
    bettors=4,
    hands=10,
    ledger_seconds=0.02,
    stall_seconds=0.05,
    starts=1,
    book_transfers=2000,
    servers=(1,),
    leisure_seconds=0.02,
    crowd_seconds=0.05,
)
# Measurements that every scale repeats for a meaningful median.
BRIEFLY = ((bench.connect, "CROWDS", 1), (bench.doors, "WARM", 0), (bench.doors, "STARTS", 1))
FIGURE = r"-|-?[0-9,.]+"
PRINTED = re.compile(
    rf"  (?P<what>\S.*, \S*) +(?P<value>{FIGURE})"
    rf"(?: +(?P<baseline>{FIGURE}) +(?P<ratio>{FIGURE}) x)?"
    r"(?: +(?P<goal>[<>]= \S+(?: x)?))?(?: +(?P<verdict>reached|MISSED))?\s*"
)

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not hasattr(select, "epoll"), reason="the load maker needs epoll"),
]


def printed(part: str, disk: Path, monkeypatch: pytest.MonkeyPatch) -> list[re.Match[str]]:
    monkeypatch.setattr(bench.__main__, "QUICK", BRIEF)
    arguments = ["--quick", "--part", part, "--disk", str(disk)]
    ran = CliRunner().invoke(bench.__main__.main, arguments, catch_exceptions=False)
    assert ran.exit_code == 0
    machine, _, name, _, *rows, _, last = ran.output.splitlines()
    assert machine.startswith("Python ")
    assert name == part
    assert re.fullmatch(r"[0-9]+ missed, [0-9]+ seconds\.", last)
    assert [row for row in rows if PRINTED.fullmatch(row) is None] == []
    return [row for row in map(PRINTED.fullmatch, rows) if row is not None]


@pytest.mark.parametrize("part", bench.__main__.PARTS)
def test_every_part_prints_figures_with_their_baselines_and_goals(
    part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if part == "machines" and bench.machines.programs() is None:
        pytest.skip("PostgreSQL is not installed")
    tables = {name: bench.odds.TABLES[name] for name in ("Black Jack For Time", "Baccarat")}
    monkeypatch.setattr(bench.odds, "TABLES", tables)  # the others take seconds
    monkeypatch.setattr(bench.pages, "REPORTS", bench.pages.REPORTS[-1:])
    for module, name, times in BRIEFLY:
        monkeypatch.setattr(module, name, times)
    rows = printed(part, tmp_path, monkeypatch)
    assert any(row["ratio"] for row in rows)
    assert any(row["goal"] and row["verdict"] for row in rows)
    assert not list(tmp_path.iterdir()), "it leaves nothing behind"


@contextlib.contextmanager
def echo() -> Iterator[int]:
    """A host that requests telnet's echo, asks a question and returns the typed bytes."""

    def serve(wire: socket.socket) -> None:
        with wire:
            wire.sendall(b"\xff\xfb\x01Name: ")
            while data := wire.recv(4096):
                wire.sendall(data.replace(b"\xff\xfd\x01", b""))

    with socket.create_server(("127.0.0.1", 0)) as port, ThreadPoolExecutor() as pool:

        def take_in() -> None:
            for _ in range(PEERS):
                pool.submit(serve, port.accept()[0])

        pool.submit(take_in)
        yield port.getsockname()[1]


PEERS = 3


def drive(*words: str) -> Result:
    return CliRunner().invoke(bench.__main__.main, ["--quick", "--part", "peers", *words])


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("192.0.2.7", "23"), "only a host on this machine"),
        (("127.0.0.1",), "It reads: --part peers HOST PORT"),
        ((), "It reads: --part peers HOST PORT"),
        (("127.0.0.1", "23", "--part", "keys"), "and no other part"),
    ],
)
def test_only_a_named_process_on_this_machine_is_driven(
    words: tuple[str, ...], expected: str
) -> None:
    ran = drive(*words)
    assert ran.exit_code != 0
    assert expected in ran.output
