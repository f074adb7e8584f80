"""Real machines in namespaces: a run that leaves nothing, and a short one of the long."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from verify.machines import networks
from verify.machines.databases import Databases
from verify.machines.faults import kill_in_commit, server_killed
from verify.machines.networks import Network
from verify.machines.programs import what_is_missing
from verify.machines.result import Result
from verify.machines.story import finish
from verify.machines.world import World

pytestmark = pytest.mark.long

HOUSE = Path(__file__).parents[3]
MISSING = what_is_missing()
# Started by a shell that has put it into the background: SIGINT is ignored then.
IN_BACKGROUND = ["sh", "-c", 'trap "" INT && exec "$@"', "sh"]
COMMAND = [*IN_BACKGROUND, sys.executable, "-m", "verify.machines", "--seeds", "1", "server-killed"]


@pytest.fixture(autouse=True)
def _machines() -> None:
    if MISSING:
        assert not os.environ.get("BJFT_NEED_CLIENTS"), MISSING
        pytest.skip(MISSING)


def test_a_run_that_is_broken_off_leaves_nothing():
    numbers = (signal.SIGINT, signal.SIGTERM)
    runs = [subprocess.Popen(COMMAND, cwd=HOUSE, stdout=subprocess.DEVNULL) for _ in numbers]
    for run, number in zip(runs, numbers, strict=True):
        until = time.monotonic() + 60
        while str(run.pid) not in mounted():
            assert run.poll() is None
            assert time.monotonic() < until
        run.send_signal(number)
    for run in runs:
        assert run.wait(60) == 1
        assert networks.namespaces(f"{networks.PREFIX}{run.pid}") == []
        assert str(run.pid) not in mounted()


def mounted() -> list[str]:
    """Return the numbers of the runs with mounted disks."""
    return re.findall(r"bjft-machines-(\d+)", Path("/proc/mounts").read_text())


@pytest.fixture
def folder() -> Iterator[Path]:
    """Create a folder that the databases' own user can reach."""
    made = Path(tempfile.mkdtemp(prefix="bjft-slice-", dir="/var/tmp"))
    made.chmod(0o755)
    yield made
    shutil.rmtree(made)


@pytest.fixture
def databases(folder: Path) -> Iterator[Databases]:
    network = Network()
    made = Databases(network, folder)
    try:
        network.open()
        made.open()
        yield made
    finally:
        made.close()
        network.close()


def test_two_killed_boards_show_only_the_contents_of_the_books(
    databases: Databases, folder: Path
) -> None:
    """A board is killed; then the primary with all of its machine, in a COMMIT.

    Its standbys were cut off before, so its latest transactions are lost.
    """
    world, result = World(databases, folder / "boards", 3, print), Result()
    try:
        world.open()
        server_killed(world)
        world.mend()
        kill_in_commit(world, is_cut=True, is_whole=True)
        world.mend()
        finish(world, result)
    finally:
        world.close()
    assert result.wrong == []
    assert result.counted["hands seen"]
