"""One run: machines, faults one after the other, and all screens held against the books."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from verify.machines import screens
from verify.machines.databases import Databases
from verify.machines.faults import FAULTS
from verify.machines.networks import CannotBeDone, Network, inside
from verify.machines.result import Result
from verify.machines.world import FIRST, Tell, World


def run(
    seed: int,
    names: Sequence[str],
    quiet: float,
    tell: Tell,
    *,
    keep: bool = False,
) -> Result:
    """Play these faults, with `quiet` seconds of work around each, and clean up.

    The folder of a failed run is kept and named; with `keep`, that of any run.
    """
    folder = Path(tempfile.mkdtemp(prefix=f"bjft-machines-{os.getpid()}-", dir="/var/tmp"))
    folder.chmod(0o755)
    result = Result()
    network = Network()
    databases = Databases(network, folder)
    world = World(databases, folder / "books", seed, tell)
    try:
        began = time.monotonic()
        network.open()
        databases.open()
        world.open()
        tell(f"all machines run: {time.monotonic() - began:.0f} s")
        _play(world, names, quiet, result)
    except CannotBeDone as failure:
        result.wrong.append(f"seed {seed}: {failure}")
    finally:
        world.close()
        databases.close()
        network.close()
        if result.wrong or keep:
            tell(f"What was written down is in {folder}.")
        else:
            shutil.rmtree(folder)
    return result


def _play(world: World, names: Sequence[str], quiet: float, result: Result) -> None:
    time.sleep(quiet)
    for name in names:
        before = world.acknowledged()
        did = FAULTS[name](world)
        mended = world.mend()
        time.sleep(quiet)
        done = world.acknowledged() - before
        result.faults.append(f"{name}: {did}")
        world.tell(f"{name}: {did}; well again in {mended:.0f} s; {done} done meanwhile")
    finish(world, result)


def finish(world: World, result: Result) -> None:
    """Stop all calls and compare all screens with the books.

    Raises `CannotBeDone` when a board or the robots have failed.
    """
    world.stop_asking()
    inside(world.network.namespace(FIRST), lambda: screens.compare(world, result))
