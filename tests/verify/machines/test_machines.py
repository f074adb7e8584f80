"""Real machines in namespaces: cut from each other, gone afterwards, and a run of the long one."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from verify.machines import networks
from verify.machines.networks import Network, inside
from verify.machines.programs import what_is_missing

HOUSE = Path(__file__).parents[3]
MISSING = what_is_missing()
COMMAND = [sys.executable, "-m", "verify.machines", "--quiet", "0.5"]
PORT = 7
# One that is killed with all of its machine, cut from its standbys: what it had alone is lost.
LOSS = ("--seed", "4", "--seeds", "1")
# A primary that is killed while a COMMIT waits for its standby, its Patroni left alone.
SLICE = ("--seed", "5", "--seeds", "1", "server-killed", "primary-killed-in-commit")


@pytest.fixture(autouse=True)
def _machines() -> None:
    if MISSING:
        assert not os.environ.get("BJFT_NEED_CLIENTS"), MISSING
        pytest.skip(MISSING)


@pytest.fixture
def network() -> Iterator[Network]:
    made = Network()
    try:
        made.open()
        made.add("one", 2)
        made.add("two", 3)
        yield made
    finally:
        made.close()


def receiver(network: Network, machine: str) -> socket.socket:
    """A socket on a machine that is told datagrams."""

    def bound() -> socket.socket:
        made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        made.bind((network.addresses[machine], PORT))
        made.settimeout(0.3)
        return made

    return inside(network.namespace(machine), bound)


class TestTheNetwork:
    def test_is_cut_and_healed_in_each_direction(self, network):
        names = ("one", "two")
        ends = {name: receiver(network, name) for name in names}

        def comes(sender: str, target: str) -> bool:
            # A port that cannot be reached by its owner's own rule is refused at once.
            try:
                ends[sender].sendto(b"!", (network.addresses[target], PORT))
                return ends[target].recv(1) == b"!"
            except (TimeoutError, PermissionError):
                return False

        def ways() -> tuple[bool, bool]:
            return comes("one", "two"), comes("two", "one")

        try:
            assert ways() == (True, True)
            network.cut("one", "two", one_way=True)
            assert ways() == (True, False)
            network.heal()
            network.cut("two", "one")
            assert ways() == (False, False)
            network.heal()
            assert ways() == (True, True)
        finally:
            for end in ends.values():
                end.close()

    def test_leads_nowhere_else(self, network):
        def connect() -> None:
            with socket.socket() as line:
                line.settimeout(1)
                line.connect(("198.51.100.1", PORT))

        with pytest.raises(OSError, match="unreachable"):
            inside(network.namespace("one"), connect)

    def test_is_gone_with_all_that_runs_in_it(self, network):
        words = ["ip", "netns", "exec", network.namespace("one"), "sleep", "600"]
        with subprocess.Popen(words) as sleeper:
            while not networks.processes_in(network.namespace("one")):
                pass
            network.close()
            assert sleeper.wait(10) == -signal.SIGKILL
        assert networks.namespaces(network.name) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_run_that_is_broken_off_leaves_nothing(number):
    with subprocess.Popen(
        [*COMMAND, "--seed", "1", "--seeds", "1", "server-killed"],
        cwd=HOUSE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        name = f"{networks.PREFIX}{process.pid}"
        until = time.monotonic() + 60
        while not any(each.endswith("-db1") for each in networks.namespaces(name)):
            assert time.monotonic() < until
        process.send_signal(number)
        assert process.wait(60) != 0
    assert networks.namespaces(name) == []
    mounts = Path("/proc/mounts").read_text()
    assert f"{process.pid}" not in re.findall(r"bjft-machines-(\d+)", mounts)


def play(*words: str) -> subprocess.CompletedProcess[str]:
    command = [*COMMAND, *words]
    return subprocess.run(
        command, cwd=HOUSE, capture_output=True, text=True, check=False, timeout=400
    )


def test_a_server_and_the_primary_are_killed_and_nothing_is_lost():
    done = play(*SLICE)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    last = done.stdout.splitlines()[-1]
    assert last.endswith("; 0 wrong")
    for words in ("1 server-killed", "1 primary-killed-in-commit"):
        assert words in last
    assert re.search(r" [1-9]\d* done", last)
    assert re.search(r" [1-9]\d* reads", last)


def test_robots_call_two_boards_and_one_is_killed():
    done = play("--boards", "--seed", "1", "--seeds", "1", "server-killed")
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    last = done.stdout.splitlines()[-1]
    assert last.endswith("; 0 wrong")
    assert re.search(r" [1-9]\d* hands seen", last)


def test_a_bank_that_does_not_wait_for_the_standby_is_found_out():
    done = play(*LOSS, "--lie", "does-not-wait-for-standby", "primary-killed-in-commit")
    assert (done.returncode, done.stderr) == (1, ""), done.stdout
    assert "was told as done, and is not in the books" in done.stdout
    (folder,) = re.findall(r"is in (/var/tmp/bjft-machines-\S+)\.", done.stdout)
    shutil.rmtree(folder)
