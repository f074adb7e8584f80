"""`python -m verify.machines`: faults by seed, for so many rounds or so long."""

from __future__ import annotations

import argparse
import random
import signal
import sys
import time
from collections.abc import Sequence

from verify.machines import networks
from verify.machines.faults import FAULTS
from verify.machines.programs import what_is_missing, what_is_unsound
from verify.machines.result import Result
from verify.machines.story import run

AT_ONCE = 6  # faults for one set of machines


def main(words: Sequence[str] | None = None) -> int:
    """Play; returns 1 when something was wrong, 2 where it cannot be done."""
    options = _options().parse_args(words)
    missing = what_is_missing()
    if missing:
        print(missing, file=sys.stderr)
        return 2
    for name in networks.abandoned():
        print(f"Removing what a run has left: {name}")
        networks.remove(name)
    if options.clean:
        return 0
    if doubt := what_is_unsound():
        print(doubt, file=sys.stderr)
    # Then everything is ended and removed too, even where SIGINT was ignored before us.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _break_off)
    return _play(options)


def _break_off(*_: object) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    sys.exit(1)


def _play(options: argparse.Namespace) -> int:
    total, began = Result(), time.monotonic()
    first = options.seed if options.seed is not None else random.SystemRandom().randrange(10**6)
    for seed in range(first, first + 10**6):
        names = options.faults or _drawn(seed)
        print(f"seed {seed}: {', '.join(names)}", flush=True)
        result = run(seed, names, options.quiet, _tell, keep=options.keep)
        total.add(result)
        print(f"seed {seed}: {result}", flush=True)
        for words in result.wrong:
            print(f"  WRONG {words}", flush=True)
        is_late = time.monotonic() - began > options.hours * 3600
        if is_late or (options.seeds and seed + 1 - first >= options.seeds):
            break
    print(f"All: {total}")
    return 1 if total.wrong else 0


def _tell(words: str) -> None:
    print(f"  {words}", flush=True)


def _drawn(seed: int) -> list[str]:
    """Draw the faults of a seed: all come equally often, each at most once."""
    return random.Random(f"faults {seed}").sample(sorted(FAULTS), AT_ONCE)


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m verify.machines", description=__doc__)
    parser.add_argument("--seed", type=int, help="the first seed; drawn without it")
    parser.add_argument("--seeds", type=int, help="how many seeds; else as long as --hours says")
    parser.add_argument("--hours", type=float, default=1.0, help="how long at most (1)")
    parser.add_argument("--quiet", type=float, default=2.0, help="seconds of work around a fault")
    parser.add_argument("--keep", action="store_true", help="keep the folder of each seed")
    parser.add_argument("--clean", action="store_true", help="only remove what runs have left")
    parser.add_argument("faults", nargs="*", choices=[[], *FAULTS], help="these, in this order")
    return parser


if __name__ == "__main__":
    sys.exit(main())
