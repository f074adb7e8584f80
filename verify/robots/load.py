"""A board under a crowd: started, filled, watched for a while, emptied, and held to its books."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from verify.robots import check
from verify.robots.check import Result
from verify.robots.crowd import Crowd, CrowdProcess
from verify.robots.house import Served, prepare
from verify.robots.robot import Pace
from verify.robots.seen import Seen

FIRST_KEYS = 20.0  # seconds from the last caller's first call until everybody plays
SAMPLED = 60.0  # seconds


@dataclass(frozen=True)
class Plan:
    """The size of a run: so many callers at a pace, for so long after all have arrived."""

    callers: int
    seconds: float
    pace: Pace
    processes: int
    a_second: float  # first calls
    seed: int
    settle: float = FIRST_KEYS
    sampled: float = SAMPLED


@dataclass(frozen=True)
class Sample:
    """The server over a stretch of time that ended `at` seconds after all had arrived."""

    at: float
    on: int
    log_ons: int
    memory: float  # kilobytes, resident
    cores: float
    starved: float  # cores that it could also have used, but others had
    keys: float  # a second


@dataclass
class Outcome:
    """The results of a run."""

    memory_before: float = 0.0  # kilobytes, before the first caller
    samples: list[Sample] = field(default_factory=list)
    memory_after: float = 0.0  # when all have gone
    left_on: int = 0  # nodes and lines, when all have gone
    seen: list[Seen] = field(default_factory=list)
    checked: Result = field(default_factory=Result)
    wrong: list[str] = field(default_factory=list)  # violations of the promise
    log: str = ""
    status: int | None = None


def run(plan: Plan, folder: Path, tell: Callable[[Sample], None]) -> Outcome:
    """Run the plan over books in an empty folder; `tell` gets each sample at once."""
    names = [f"Caller {number}" for number in range(plan.callers)]
    config = prepare(folder, names)
    outcome = Outcome()
    with Served(config) as server:
        outcome.memory_before = server.usage().memory
        crowds = _crowds(plan, names, server.port)
        time.sleep(plan.callers / plan.a_second + plan.settle)
        for sample in _samples(plan, server, crowds):
            outcome.samples.append(sample)
            tell(sample)
        for crowd in crowds:
            crowd.hush()
        outcome.seen = [trace for crowd in crowds for trace in crowd.seen()]
        outcome.left_on = _left(server)
        outcome.memory_after = server.usage().memory
        server.stop()
        outcome.status, outcome.log = server.status, server.said()
        outcome.wrong = server.audits()
    outcome.checked = check.against_the_books(config.database, outcome.seen)
    outcome.wrong += outcome.checked.wrong
    outcome.wrong += check.nobody_is_on(config.database)
    return outcome


def _crowds(plan: Plan, names: list[str], port: int) -> list[CrowdProcess]:
    share = plan.a_second / plan.processes
    return [
        CrowdProcess(
            Crowd(
                *(names, range(first, len(names), plan.processes), port),
                *(plan.seed, plan.pace, share),
                is_known=True,
            )
        )
        for first in range(plan.processes)
    ]


def _samples(plan: Plan, server: Served, crowds: list[CrowdProcess]) -> Iterator[Sample]:
    began = before = time.monotonic()
    used, starved = server.usage().cpu, server.starved()
    keys = sum(crowd.keys() for crowd in crowds)
    while before < began + plan.seconds:
        time.sleep(min(plan.sampled, began + plan.seconds - before))
        now, usage, waited = time.monotonic(), server.usage(), server.starved()
        pressed = sum(crowd.keys() for crowd in crowds)
        on, log_ons = server.nodes()
        passed = now - before
        yield Sample(
            now - began,
            on,
            log_ons,
            usage.memory,
            (usage.cpu - used) / passed,
            (waited - starved) / passed,
            (pressed - keys) / passed,
        )
        before, used, starved, keys = now, usage.cpu, waited, pressed


def _left(server: Served) -> int:
    """Count the callers still on line after all hung up; the server may need a moment."""
    for _ in range(20):
        left = sum(server.nodes())
        if not left:
            return 0
        time.sleep(0.5)
    return left
