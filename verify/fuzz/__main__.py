"""The command `python -m verify.fuzz`: fuzz the readers of bytes, each for its share of the time.

verify/fuzz/README.md says what is looked for and what was found.
"""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from verify.fuzz.mutation import shortened
from verify.fuzz.target import (
    CASES,
    NAMES,
    Target,
    TooLarge,
    TooSlow,
    check_in_memory,
    check_in_time,
    load,
)

CORPUS = Path(__file__).resolve().parent / "corpus"
ROOT = Path(__file__).resolve().parents[2]
HEADING = f"{'target':<12}{'inputs':>12}{'a second':>10}{'branches':>10}{'corpus':>8}  worst"
_EXECUTED = re.compile(rb"stat::number_of_executed_units: (\d+)")
_BRANCHES = re.compile(rb" cov: (\d+)")
_COUNT = re.compile(rb"#(\d+)\s")


@dataclass(frozen=True)
class Run:
    """What came of one target: how many inputs, how many branches, what libFuzzer put aside."""

    inputs: int
    seconds: float
    branches: int
    put_aside: list[Path]
    said: str


@click.command()
@click.option("--hours", type=float, help="How long the whole run takes.")
@click.option("--seconds", type=float, help="The same in seconds.")
@click.option(
    "--target", "targets", type=click.Choice(NAMES), multiple=True, help="Only this reader."
)
@click.option(
    "--corpus",
    type=click.Path(path_type=Path, file_okay=False),
    default=CORPUS,
    show_default=True,
    help="Where inputs that reached something new are kept from run to run.",
)
def main(hours: float | None, seconds: float | None, targets: Sequence[str], corpus: Path) -> None:
    """Fuzz every reader of bytes, or those that are named, each for its share of the time."""
    if (hours is None) == (seconds is None):
        raise click.UsageError("Say how long: --hours 1, or --seconds 10 for a taste.")
    if importlib.util.find_spec("atheris") is None:
        raise click.ClickException("It needs atheris: pip install 'blackjack-for-time[fuzz]'")
    whole = seconds if hours is None else hours * 3600
    assert whole is not None  # one of both was given
    names = targets or NAMES
    failed = 0
    click.echo(HEADING)
    for name in names:
        failed += _fuzz(name, corpus / name, max(1, round(whole / len(names))))
    click.echo(f"{failed} of {len(names)} readers failed." if failed else "Nothing was found.")
    sys.exit(1 if failed else 0)


def _fuzz(name: str, corpus: Path, seconds: int) -> bool:
    """Fuzz one target and say what came of it; tell whether something went wrong."""
    corpus.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as found:
        run = _run(name, corpus, Path(found), seconds)
        faults = [path.read_bytes() for path in run.put_aside]
    target = load(name)
    entries = [path.read_bytes() for path in corpus.iterdir()]
    worst = _worst(target, entries, faults)
    rate = run.inputs / run.seconds
    click.echo(
        f"{name:<12}{run.inputs:>12,}{rate:>10,.0f}{run.branches:>10,}{len(entries):>8,}  {worst}"
    )
    for data in faults:
        _tell(target, data)
    if run.said and not faults:
        click.echo(run.said)
    return bool(faults or run.said)


def _run(name: str, corpus: Path, found: Path, seconds: int) -> Run:
    """Let libFuzzer work in a process of its own."""
    began = time.monotonic()
    command = [
        sys.executable,
        "-m",
        "verify.fuzz.engine",
        name,
        str(corpus),
        str(found),
        str(seconds),
    ]
    child = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
    said = child.stdout + child.stderr
    executed = _EXECUTED.findall(said) or _COUNT.findall(said) or [b"0"]
    branches = _BRANCHES.findall(said) or [b"0"]
    last = said.decode("utf-8", "replace")[-3000:] if child.returncode else ""
    return Run(
        int(executed[-1]),
        time.monotonic() - began,
        int(branches[-1]),
        sorted(found.glob("*-*")),
        last,
    )


def _worst(target: Target, entries: Sequence[bytes], faults: list[bytes]) -> str:
    """Measure what was kept, without libFuzzer's eyes on it; what is too much is a fault."""
    slowest, largest = 0.0, 0
    for data in entries:
        try:
            slowest = max(slowest, check_in_time(target, data, target.seconds))
            largest = max(largest, check_in_memory(target, data))
        except (TooSlow, TooLarge):
            faults.append(data)
        except Exception:
            if data not in faults:
                faults.append(data)
    return f"{slowest * 1000:.1f} ms, {largest / 1000:.0f} kB"


def _tell(target: Target, data: bytes) -> None:
    """Make a fault as short as it goes, keep it as a case, and say what is wrong."""
    fault = _fault(target, data)
    if fault is None:
        case = _keep(target, data)
        click.echo(f"\n{case} took too long, or too much, under libFuzzer alone.")
        return
    kind = _kind(fault)
    short = shortened(data, lambda less: _kind(_fault(target, less)) == kind)
    case = _keep(target, short)
    click.echo(f"\n{case}, {len(short)} bytes: {short!r}")
    click.echo("".join(traceback.format_exception(fault, limit=-4)))


def _keep(target: Target, data: bytes) -> Path:
    folder = CASES / target.name
    folder.mkdir(parents=True, exist_ok=True)
    number = 1 + len(target.cases())
    case = folder / f"found-{number}"
    case.write_bytes(data)
    return case


def _fault(target: Target, data: bytes) -> BaseException | None:
    try:
        check_in_time(target, data, target.seconds)
        check_in_memory(target, data)
    except Exception as error:
        return error
    return None


def _kind(fault: BaseException | None) -> tuple[str, str, int] | None:
    """What makes two faults the same one: the error, and where it was raised."""
    if fault is None:
        return None
    place = traceback.extract_tb(fault.__traceback__)[-1]
    return type(fault).__name__, place.filename, place.lineno or 0


if __name__ == "__main__":
    main()
