"""Play seed after seed: `python -m verify.simulate --hours 2`, or `--seeds 1-100 --steps 500`.

A failing seed is printed with its last steps; `--seed N --trace` prints its whole story.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from verify.simulate import evening, faults
from verify.simulate.platter import (
    CannotBeBuilt,
    Platter,
    built,
    forget_preload,
    sees_sqlite,
    started_with,
)
from verify.simulate.story import Story
from verify.simulate.wrong import Wrong

if TYPE_CHECKING:
    from tests.timebank.cluster import Cluster

SHARED_MEMORY = Path("/dev/shm")
MOST_SEEDS = 60  # to play in search of a fault
NOT_BOTH = "--disk is below books in a file: books on a server have none (--postgres)."
NO_SERVER = "There is no server of PostgreSQL here: install Debian's postgresql, or its like."
NO_DISK = "There is no disk below SQLite"
STARTED = "BJFT_STARTED_WITH_DISK"  # set in a process that was started with it


def main() -> int:
    asked = _arguments()
    platter = _below() if asked.disk else None
    with _server() if asked.postgres else nullcontext() as cluster:
        if asked.faults is not None:
            return _search_for_faults(asked, platter, cluster)
        return _play_all(asked, platter, cluster)


def _play_all(asked: argparse.Namespace, platter: Platter | None, cluster: Cluster | None) -> int:
    """Play seed after seed; 1 when one fails."""
    began, counted, failed, seeds = time.monotonic(), Counter[str](), 0, 0
    for seed in _seeds(asked):
        if asked.hours and time.monotonic() - began > asked.hours * 3600:
            break
        with faults.put_in(asked.fault) if asked.fault else nullcontext():
            story, error = play(
                *(seed, asked.steps, asked.people, platter, cluster),
                early=asked.early,
                company=asked.company,
                savers=asked.savers,
                relays=asked.relays,
            )
        seeds += 1
        counted.update(story.counted)
        counted["steps"] += story.number
        counted["lives"] += story.lives_begun
        counted["visits"] += story.watch.second.visits
        counted["transfers"] += story.watch.kinds.total()
        counted.update({f"{kind} transfers": n for kind, n in story.watch.kinds.items()})
        counted["rounds"] += story.watch.counts.get("rounds", 0)
        counted["calls"] += story.watch.counts.get("calls", 0)
        if error is not None:
            failed += 1
            print(f"\nseed {seed} fails at step {story.number}:")
            print("\n".join(story.told if asked.trace else story.told[-30:]))
            traceback.print_exception(error)
        elif asked.trace:
            print("\n".join(story.told))
        print(f"seed {seed}: {story.number} steps, {story.shelf.hexdigest()[:16]}", flush=True)
    took = time.monotonic() - began
    print(f"\n{seeds} seeds, {failed} failed, {took:.0f} s: {_words(counted)}")
    return min(failed, 1)


def _search_for_faults(
    asked: argparse.Namespace, platter: Platter | None, cluster: Cluster | None
) -> int:
    """Put in one fault after the other, and play until it is found; 1 when one is not."""
    hidden = 0
    for name in asked.faults or _all_faults(asked):
        began = time.monotonic()
        where = detect(name, platter, cluster)
        hidden += not where
        verdict = f"found ({where})" if where else f"not found in {MOST_SEEDS} seeds"
        print(f"{name}: {verdict}, {time.monotonic() - began:.1f} s", flush=True)
    return min(hidden, 1)


def detect(name: str, platter: Platter | None, cluster: Cluster | None = None) -> str:
    """Play with a fault until it is detected; return where, or None.

    Only `Wrong` counts: a crash of the program is not a detection.
    """
    fault = faults.FAULTS[name]
    for seed in range(fault.first, fault.first + MOST_SEEDS):
        with faults.put_in(name):
            below = platter if fault.is_below and cluster is None else None
            size = (seed, fault.steps, fault.people)
            options = {"company": fault.is_company, "savers": fault.is_saving}
            options["relays"] = fault.is_relayed
            story, error = play(*size, below, cluster, **options)
        if isinstance(error, Wrong):
            sentence = str(error).partition("\n")[0]
            return f"{seed - fault.first + 1} seeds, step {story.number} of seed {seed}: {sentence}"
    return ""


def play(
    seed: int,
    steps: int,
    people: int,
    platter: Platter | None = None,
    cluster: Cluster | None = None,
    *,
    early: bool = False,
    company: bool = False,
    savers: bool = False,
    relays: bool = False,
) -> tuple[Story, Exception | None]:
    """Play a seed in its own folder; return the story and its error."""
    with tempfile.TemporaryDirectory(dir=_in_memory()) as folder:
        nodes = max(2, people * 2 // 5)
        asked = (platter, cluster, early, company, savers, relays)
        story = Story(seed, Path(folder), people, nodes, *asked)
        try:
            with story:
                evening.play(story, steps)
        except Exception as error:
            return story, error
        return story, None


def _in_memory() -> Path | None:
    return SHARED_MEMORY if os.access(SHARED_MEMORY, os.W_OK) else None


def _server() -> AbstractContextManager[Cluster]:
    """Return a function that starts a server of PostgreSQL for this run."""
    from tests.timebank import cluster  # an extra reaches it
    from verify.postgres import served

    if cluster.programs() is None:
        sys.exit(NO_SERVER)
    return served(_in_memory())


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m verify.simulate", description=__doc__)
    parser.add_argument("--hours", type=float, help="go on for so long")
    parser.add_argument("--seeds", help="from-to, both included", default="")
    parser.add_argument("--seed", type=int, help="this one alone")
    parser.add_argument("--steps", type=int, default=1000, help="of each seed")
    parser.add_argument(
        "--people", type=int, help="callers of the board (300, or 24 with --disk or --postgres)"
    )
    parser.add_argument(
        "--disk", action="store_true", help="simulate the disk below SQLite, too (Linux, gcc)"
    )
    parser.add_argument(
        "--postgres", action="store_true", help="have the books on a server of PostgreSQL"
    )
    parser.add_argument(
        "--early", action="store_true", help="have the sysop start system events early"
    )
    parser.add_argument(
        "--company",
        action="store_true",
        help="have callers play the daily deal and write to each other",
    )
    parser.add_argument(
        "--savers",
        action="store_true",
        help="have callers use the bank around every midnight, and the sysop freeze accounts",
    )
    parser.add_argument(
        "--relays", action="store_true", help="let most happen to callers whom doors hand over"
    )
    parser.add_argument("--trace", action="store_true", help="tell everything that happens")
    parser.add_argument(
        "--faults",
        nargs="*",
        choices=faults.FAULTS,
        metavar="NAME",
        help="put faults into the program one at a time, and find each: these, or all there are",
    )
    parser.add_argument("--fault", choices=faults.FAULTS, help="put this one into the program")
    asked = parser.parse_args()
    if asked.faults is not None or asked.fault:
        sought = asked.faults or ([asked.fault] if asked.fault else _all_faults(asked))
        put = [faults.FAULTS[name] for name in sought]
        asked.postgres |= any(fault.is_served for fault in put)
        asked.disk |= not asked.postgres and any(fault.is_below for fault in put)
    if asked.disk and asked.postgres:
        parser.error(NOT_BOTH)
    asked.people = asked.people or (24 if asked.disk or asked.postgres else 300)
    return asked


def _all_faults(asked: argparse.Namespace) -> list[str]:
    """List the faults that can be detected in books in a file, or with --postgres on a server."""
    every = faults.FAULTS.items()
    if asked.postgres:
        return [name for name, each in every if not each.is_below and name not in faults.OF_A_FILE]
    return [name for name, each in every if not each.is_served]


def _below() -> Platter:
    """Return the disk below SQLite; restart the program with it where it is missing."""
    try:
        if STARTED not in os.environ:
            environment = {**started_with(built(), os.environ), STARTED: "1"}
            os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], environment)
        platter = Platter()
        forget_preload()
        if not sees_sqlite(platter):
            raise CannotBeBuilt("What SQLite writes here does not go by way of libc.")
    except CannotBeBuilt as error:
        sys.exit(f"{NO_DISK}: {error}")
    return platter


def _seeds(asked: argparse.Namespace) -> Iterator[int]:
    if asked.seed is not None:
        return iter([asked.seed])
    if asked.seeds:
        first, _, last = asked.seeds.partition("-")
        return iter(range(int(first), int(last or first) + 1))
    return count(time.time_ns() % 1_000_000) if asked.hours else iter(range(1, 11))


def _words(counted: Counter[str]) -> str:
    return ", ".join(f"{number} {what.lstrip('_')}" for what, number in sorted(counted.items()))


if __name__ == "__main__":
    sys.exit(main())
