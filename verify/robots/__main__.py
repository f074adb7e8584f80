"""The command `python -m verify.robots`: a board full of callers, for minutes or for hours.

verify/robots/README.md explains each line of the output and the results.
"""

from __future__ import annotations

import os
import platform
import signal
import statistics
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import click

from bench.report import HEADING, Goal, Row, line, percentile
from verify.robots.load import Outcome, Plan, Sample, run
from verify.robots.robot import HASTY, HUMAN, RESTLESS

MILLI = 1e3
WARMS_UP = 1 / 3  # of a run, while pools and caches fill


@click.command()
@click.option("--callers", default=1000, show_default=True, help="Who want to be on at once.")
@click.option("--minutes", default=10.0, show_default=True, help="How long, once all have called.")
@click.option("--soak", is_flag=True, help="Callers come and go, and memory is what counts.")
@click.option("--hasty", is_flag=True, help="Callers do not think: many hands in little time.")
@click.option("--processes", default=2, show_default=True, help="For the robots.")
@click.option("--a-second", default=10.0, show_default=True, help="Who call for the first time.")
@click.option("--seed", default=1, show_default=True)
@click.option(
    "--keep",
    type=click.Path(path_type=Path, exists=True, file_okay=False, writable=True),
    help="An empty folder where settings, books and log are left.",
)
def main(
    callers: int,
    minutes: float,
    soak: bool,
    hasty: bool,
    processes: int,
    a_second: float,
    seed: int,
    keep: Path | None,
) -> None:
    """Let robots play on a real board, and compare their screens with the books."""
    click.echo(
        f"Python {platform.python_version()}, {os.cpu_count()} cores, load "
        f"{os.getloadavg()[0]:.1f}; {callers} callers, seed {seed}"
    )
    # A board ends with its run, also when the run gets a signal.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(f"stopped by signal {signal.SIGTERM}"))
    pace = RESTLESS if soak else HASTY if hasty else HUMAN
    plan = Plan(callers, minutes * 60, pace, processes, a_second, seed)
    with tempfile.TemporaryDirectory() as folder:
        outcome = run(plan, keep or Path(folder), _tell)
    click.echo(f"\n{'soak' if soak else 'load'}\n{HEADING}")
    for row in rows(outcome, callers):
        click.echo(line(row))
    for wrong in outcome.wrong[:50]:
        click.echo(f"WRONG: {wrong}")
    click.echo(f"\n{len(outcome.wrong)} wrong; status {outcome.status}; log:\n{outcome.log}")
    sys.exit(1 if outcome.wrong or outcome.left_on or outcome.status or outcome.log else 0)


def _tell(sample: Sample) -> None:
    click.echo(
        f"  minute {sample.at / 60:5.1f}: {sample.on:5} on, {sample.log_ons:3} at the log-on, "
        f"{sample.memory / 1024:7.1f} MB, {sample.cores:5.2f} cores "
        f"({sample.starved:.2f} more not had), {sample.keys:6.0f} keys/s"
    )


def rows(outcome: Outcome, callers: int) -> list[Row]:
    """Return the figures of a run."""
    samples, traces = outcome.samples, outcome.seen
    waits = [wait for one in traces for wait in one.waits] or [0.0]
    most = max(sample.memory for sample in samples)
    checked = outcome.checked
    return [
        Row("callers on, median of the samples", "", statistics.median(s.on for s in samples)),
        Row("keys", "/s", statistics.mean(s.keys for s in samples)),
        Row("the server's CPU", "cores", statistics.mean(s.cores for s in samples)),
        Row("cores that others had instead", "", statistics.mean(s.starved for s in samples)),
        Row("memory before the first caller", "MB", outcome.memory_before / 1024),
        Row("memory at most", "MB", most / 1024),
        Row("memory a caller, at most", "kB", (most - outcome.memory_before) / callers),
        Row("memory when all have gone", "MB", outcome.memory_after / 1024),
        Row("memory grows, after the first third", "kB/min", slope(samples, _resident)),
        Row("an echo, as the robots see it: p50", "ms", percentile(waits, 50) * MILLI),
        Row("the same: p99", "ms", percentile(waits, 99) * MILLI),
        Row("calls", "", sum(one.calls for one in traces)),
        Row("calls taken over", "", sum(one.taken_over for one in traces)),
        Row("calls lost by the board", "", sum(one.lost for one in traces), None, _none()),
        Row("nodes and lines left when all have gone", "", outcome.left_on, None, _none()),
        Row("hands in the books", "", checked.hands),
        Row("settlements seen and found", "", checked.settlements),
        Row("duels in the books, won or even", "", checked.duels),
        Row("movements at the window seen and found", "", checked.movements),
        Row("times left and savings seen and found", "", checked.purses),
        Row("cards seen and found", "", checked.cards),
        Row("seals and seeds seen and found", "", checked.seals + checked.seeds),
        Row("what the books do not have so", "", len(outcome.wrong), None, _none()),
    ]


def _resident(sample: Sample) -> float:
    return sample.memory


def slope(samples: list[Sample], figure: Callable[[Sample], float]) -> float:
    """Return by how much a figure grows in a minute after the first third, by least squares."""
    late = samples[int(len(samples) * WARMS_UP) :]
    if len(late) < 2:
        return 0.0
    line_ = statistics.linear_regression([s.at / 60 for s in late], list(map(figure, late)))
    return line_.slope


def _none() -> Goal:
    return Goal("value", "<=", 0)


if __name__ == "__main__":
    main()
