"""A short slice of the simulation on the disk below SQLite; and what that disk does itself."""

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

from verify.simulate import check_platter, faults
from verify.simulate.__main__ import NO_DISK, STARTED
from verify.simulate.platter import CannotBeBuilt, built, started_with

NEED_CLIENTS = "BJFT_NEED_CLIENTS"  # set where a missing program is a failure, not a skip
SLICE = ("--disk", "--people", "12")
# Those that are found soonest; `python -m verify.simulate --faults` searches for all.
QUICK = ("syncs_nothing", "syncs_no_folder", "does_not_see_files_go", "does_not_see_files_change")


def library() -> Path:
    try:
        return built()
    except CannotBeBuilt as reason:
        without(str(reason))


def without(reason: str) -> NoReturn:
    """Skip what needs the disk, where it may be missing."""
    assert not os.environ.get(NEED_CLIENTS), reason
    pytest.skip(f"{reason} {NEED_CLIENTS} makes that a failure.")


@cache
def simulated(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the simulation, started with the disk already."""
    environment = {**started_with(library(), os.environ), STARTED: "1"}
    return existing(run("verify.simulate", environment, *arguments))


def existing(done: subprocess.CompletedProcess[str]) -> subprocess.CompletedProcess[str]:
    """Skip where the simulation has found that there can be no such disk."""
    if NO_DISK in done.stderr:
        without(done.stderr)
    return done


@cache
def checked() -> str:
    return run("verify.simulate.check_platter", started_with(library(), os.environ)).stdout


def run(
    module: str, environment: Mapping[str, str], *arguments: str
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", module, *arguments]
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, timeout=300
    )


@pytest.mark.parametrize("check", check_platter.CHECKS, ids=lambda check: check.__name__)
def test_the_disk_does_what_disks_do(check: object) -> None:
    name = getattr(check, "__name__", "")
    assert f"{name}: holds\n" in checked(), checked()


def test_nothing_told_is_untrue_whatever_befalls_the_disk() -> None:
    done = simulated(*SLICE, "--seeds", "12-13", "--steps", "80")
    assert done.returncode == 0, done.stdout + done.stderr
    counted = set(re.findall(r"[1-9]\d* ([a-z_ ]+)", done.stdout))
    assert counted >= {"crashes", "lose_power", "break_the_disk", "audit", "transfers"}


def test_a_seed_tells_the_same_story_again() -> None:
    once, again = (
        simulated(*SLICE, "--steps", "40", *which).stdout.splitlines()
        for which in (("--seed", "2"), ("--seeds", "2-2"))
    )
    assert once[0].startswith("seed 2: 40 steps, ")
    assert again[0] == once[0]


@pytest.mark.parametrize("fault", QUICK)
def test_a_fault_is_found(fault: str) -> None:
    done = simulated("--faults", *QUICK)
    assert f"\n{fault}: found" in f"\n{done.stdout}", done.stdout + done.stderr


def test_a_seed_that_fails_is_printed_with_its_last_steps() -> None:
    name = QUICK[0]
    where = re.search(
        rf"^{name}: found .*step (\d+) of seed (\d+)",
        simulated("--faults", *QUICK).stdout,
        re.MULTILINE,
    )
    assert where
    step, seed = where.groups()
    fault = faults.FAULTS[name]
    size = ("--steps", str(fault.steps), "--people", str(fault.people))
    # It starts itself anew with the disk.
    done = existing(run("verify.simulate", os.environ, "--fault", name, "--seed", seed, *size))
    assert done.returncode == 1
    assert re.search(rf"^seed {seed} fails at step {step}:\n +\d+ ", done.stdout, re.MULTILINE)
    assert "Wrong: " in done.stderr
