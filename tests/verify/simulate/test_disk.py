"""A short slice of the simulation on the disk below SQLite."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NoReturn

import pytest

from verify.simulate import faults
from verify.simulate.__main__ import NO_DISK, STARTED
from verify.simulate.platter import CannotBeBuilt, built, started_with

pytestmark = pytest.mark.long

NEED_CLIENTS = "BJFT_NEED_CLIENTS"  # set where a missing program is a failure, not a skip
SLICE = ("--disk", "--people", "12", "--steps", "50")
BOTH = (3, 8)  # in some the power fails, in some many hands are played
# The faults found soonest; `python -m verify.simulate --faults` searches for all.
QUICK = ("syncs_nothing", "syncs_checkpoints_alone")
# One that is found soon where its search comes later, and where that is.
FOUND_AT = ("syncs_no_folder", 31)


def library() -> Path:
    try:
        return built()
    except CannotBeBuilt as reason:
        without(str(reason))


def without(reason: str) -> NoReturn:
    """Skip tests that need the disk, where it may be missing."""
    assert not os.environ.get(NEED_CLIENTS), reason
    pytest.skip(f"{reason} {NEED_CLIENTS} makes that a failure.")


@cache
def simulated(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the simulation, started with the disk already."""
    environment = {**started_with(library(), os.environ), STARTED: "1"}
    return existing(run("verify.simulate", environment, *arguments))


def existing(done: subprocess.CompletedProcess[str]) -> subprocess.CompletedProcess[str]:
    """Skip where the simulation knows that there is no such disk."""
    if NO_DISK in done.stderr:
        without(done.stderr)
    return done


def run(
    module: str, environment: Mapping[str, str], *arguments: str
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", module, *arguments]
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, timeout=300
    )


def slice_of_both() -> subprocess.CompletedProcess[str]:
    return simulated(*SLICE, "--seeds", "{}-{}".format(*BOTH))


def test_every_report_is_true_whatever_the_disk_does() -> None:
    done = slice_of_both()
    assert done.returncode == 0, done.stdout + done.stderr
    counted = set(re.findall(r"[1-9]\d* ([a-z_ ]+)", done.stdout))
    assert counted >= {"crashes", "lose_power", "break_the_disk", "audit", "transfers"}


@pytest.mark.parametrize("fault", QUICK)
def test_a_fault_is_detected(fault: str) -> None:
    done = simulated("--faults", *QUICK)
    assert f"\n{fault}: found" in f"\n{done.stdout}", done.stdout + done.stderr


def test_a_lost_file_name_is_detected_at_its_seed() -> None:
    name, seed = FOUND_AT
    done = simulated("--fault", name, "--seed", str(seed), *size_of(name))
    assert done.returncode == 1
    assert re.search(rf"^seed {seed} fails at step \d+:\n", done.stdout, re.MULTILINE)
    assert "Wrong: the books are gone" in done.stderr, done.stderr


def size_of(name: str) -> tuple[str, ...]:
    fault = faults.FAULTS[name]
    return ("--steps", str(fault.steps), "--people", str(fault.people))
