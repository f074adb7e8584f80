"""The unit that we ship: systemd understands it, and finds that it leaves little open."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from tests import ROOT

UNIT = ROOT / "door" / "setup" / "files" / "systemd" / "bjft.service"


def analyze(*words: str | Path) -> subprocess.CompletedProcess[str] | None:
    """Ask systemd; None where it is not installed and need not be."""
    program = shutil.which("systemd-analyze")
    if program is None:
        assert not os.environ.get("BJFT_NEED_CLIENTS"), "systemd-analyze must be here"
        return None
    return subprocess.run([program, *words], capture_output=True, text=True, check=False)


def test_the_unit_is_understood_as_a_whole(tmp_path: Path) -> None:
    unit = tmp_path / UNIT.name
    # The program is not installed where the unit looks for it.
    text = UNIT.read_text(encoding="utf-8").replace("/opt/bjft/bin/door serve", "/bin/true")
    assert "/bin/true --config /etc/bjft/sysop.toml" in text
    unit.write_text(text, encoding="utf-8")
    done = analyze("verify", unit)
    assert done is None or (done.returncode, done.stderr.strip()) == (0, "")


def exposures(units: Path) -> dict[str, float]:
    """Return how exposed systemd finds each service of a folder, from 0 to 10; {} without it."""
    found = {}
    for unit in sorted(units.glob("*.service")):
        done = analyze("security", "--offline=true", f"--root={units.parents[2]}", unit.name)
        if done is not None:
            exposed = re.search(r"exposure level for \S+: ([0-9.]+)", done.stdout)
            assert exposed is not None, done.stderr
            found[unit.name] = float(exposed[1])
    return found


def test_no_unit_leaves_much_open(tmp_path: Path) -> None:
    units = tmp_path / "etc" / "systemd" / "system"
    shutil.copytree(UNIT.parent, units)
    assert {unit: level for unit, level in exposures(units).items() if level >= 1.5} == {}


def test_the_unit_gives_the_board_the_time_that_it_needs_to_close() -> None:
    from door.server.server import CLOSING_SECONDS, LATE_SECONDS, PARTING_SECONDS

    closing = CLOSING_SECONDS + LATE_SECONDS + PARTING_SECONDS
    assert closing < 10
    (limit,) = re.findall(r"^TimeoutStopSec=(\d+)$", UNIT.read_text(encoding="utf-8"), re.M)
    assert int(limit) > closing
