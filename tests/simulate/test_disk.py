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

from tests.simulate import check_platter, faults
from tests.simulate.__main__ import NO_DISK
from tests.simulate.platter import CannotBeBuilt, built, started_with

NEED_CLIENTS = "BJFT_NEED_CLIENTS"  # set where a missing program is a failure, not a skip
SLICE = ("--disk", "--steps", "80", "--people", "16")
SEEDS = "1-3"


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
    """Run the simulation, which starts itself anew with the disk."""
    library()
    done = run("tests.simulate", os.environ, *arguments)
    if NO_DISK in done.stderr:
        without(done.stderr)
    return done


@cache
def checked() -> str:
    return run("tests.simulate.check_platter", started_with(library(), os.environ)).stdout


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
    done = simulated(*SLICE, "--seeds", SEEDS)
    assert done.returncode == 0, done.stdout + done.stderr
    counted = set(re.findall(r"[1-9]\d* ([a-z_ ]+)", done.stdout))
    assert counted >= {"crashes", "lose_power", "break_the_disk", "audit", "transfers"}


def test_a_seed_tells_the_same_story_again() -> None:
    first = SEEDS.partition("-")[0]
    lines = [
        re.search(rf"^seed {first}: .*", simulated(*SLICE, *which).stdout, re.MULTILINE)
        for which in (("--seeds", SEEDS), ("--seed", first))
    ]
    assert lines[0]
    assert lines[1]
    assert lines[0][0] == lines[1][0]


@pytest.mark.parametrize("fault", faults.FAULTS)
def test_a_fault_is_found(fault: str) -> None:
    done = simulated("--faults")
    assert f"\n{fault}: found" in f"\n{done.stdout}", done.stdout + done.stderr


def test_a_seed_that_fails_is_printed_with_its_last_steps() -> None:
    name, (_, first) = next(iter(faults.FAULTS.items()))
    fault = ("--fault", name, "--seed", str(first))
    done = simulated("--disk", *fault, "--steps", str(faults.STEPS), "--people", str(faults.PEOPLE))
    assert done.returncode == 1
    assert re.search(rf"^seed {first} fails at step \d+:\n +\d+ ", done.stdout, re.MULTILINE)
    assert "Wrong: " in done.stderr
