"""Shuffles held against the tests of dieharder: `python -m verify.fuzz.shuffle`.

Seeds are drawn as the board draws them, and each shuffles one deck (`door.games.engine.shuffle`).
The order that comes out has a number, from 0 to 52! - 1 (its Lehmer code); the lower 192 of its 225
bits go to dieharder, which is Debian's. That they are not quite even makes a difference of one in
2**33. A test that fails once in a long table is no fault: of a hundred p-values one is below 0.01.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from hashlib import sha256
from itertools import count
from typing import NamedTuple

import click

from door.games.engine import shuffle

# What to ask for, by the numbers of `dieharder -l`, with the size that some tests come in.
TESTS = ("0", "3", "15", "100", "101", "102:2", "102:4", "200:1", "200:4", "202:3", "202:4", "204")
BYTES = 24  # of a shuffle
BATCH = 400  # shuffles
FROM_INPUT = "200"  # dieharder's generator that reads standard input
# What it prints of each. Its usual table has the speed of the generator too, and to measure that it
# throws 40 MB away before each test.
COLUMNS = ("test_name", "ntuple", "tsamples", "psamples", "pvalues", "assessment")
DECK = {card: place for place, card in enumerate(sorted(shuffle.shuffle(bytes(32), "", 1)))}


class Found(NamedTuple):
    """A line of dieharder's table."""

    test: str
    size: int
    samples: int  # numbers in each
    p_samples: int
    p_value: float
    assessment: str


def bits_of(seed: bytes) -> bytes:
    """Return the lower bits of the number that a shuffle of one deck has among all.

    >>> len(bits_of(bytes(32)))
    24
    """
    return (number_of([DECK[card] for card in shuffle.shuffle(seed, "", 1)]) % 256**BYTES).to_bytes(
        BYTES, "big"
    )


def number_of(order: Sequence[int]) -> int:
    """Return the place of an order among all orders of as many things, from 0.

    >>> [number_of(order) for order in ((0, 1, 2), (0, 2, 1), (1, 0, 2), (2, 1, 0))]
    [0, 1, 2, 5]
    """
    left = list(range(len(order)))
    number = 0
    for each in order:
        place = left.index(each)
        number = number * len(left) + place
        left.pop(place)
    return number


def _batch(root: bytes, number: int) -> bytes:
    first = number * BATCH
    seeds = (
        sha256(root + place.to_bytes(8, "big")).digest() for place in range(first, first + BATCH)
    )
    return b"".join(map(bits_of, seeds))


def stream(root: bytes, pool: ProcessPoolExecutor, ahead: int) -> Iterator[bytes]:
    """Give the bits of shuffles without end: their seeds are digests of `root` and a number."""
    numbers = count()
    waiting = [pool.submit(_batch, root, next(numbers)) for _ in range(ahead)]
    while True:
        done = waiting.pop(0)
        waiting.append(pool.submit(_batch, root, next(numbers)))
        yield done.result()


def run(test: str, samples: int, bits: Iterator[bytes]) -> list[Found]:
    """Let dieharder read as much as a test wants; raises OSError where it does not run."""
    number, _, size = test.partition(":")
    command = ["dieharder", "-g", FROM_INPUT, "-d", number, "-p", str(samples)]
    command += [word for column in COLUMNS for word in ("-D", column)]
    if size:
        command += ["-n", size]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as dieharder:
        assert dieharder.stdin is not None
        assert dieharder.stdout is not None
        with contextlib.suppress(BrokenPipeError):  # when it has enough
            while dieharder.poll() is None:
                dieharder.stdin.write(next(bits))
        with contextlib.suppress(BrokenPipeError):
            dieharder.stdin.close()
        said = dieharder.stdout.read().decode()
    return read(said)


def read(said: str) -> list[Found]:
    """Read dieharder's table.

    >>> [tuple(each) for each in read("#test\\nsts_monobit| 1| 100000| 20|0.47|  PASSED  \\n")]
    [('sts_monobit', 1, 100000, 20, 0.47, 'PASSED')]
    """
    found = []
    for line in said.splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) == 6 and cells[1].isdecimal():
            name, size, samples, p_samples, p_value, assessment = cells
            figures = int(size), int(samples), int(p_samples), float(p_value)
            found.append(Found(name, *figures, assessment))
    return found


@click.command()
@click.option(
    "--tests", default=" ".join(TESTS), show_default=True, help="Numbers of `dieharder -l`."
)
@click.option("--samples", default=20, show_default=True, help="P-values that a test makes.")
@click.option("--processes", default=os.cpu_count() or 1, help="That shuffle at once.")
@click.option("--root", default="", help="What the seeds are made of, in hexadecimal; else chance.")
def main(tests: str, samples: int, processes: int, root: str) -> None:
    """Hold shuffles against dieharder; exit with 1 when a test failed."""
    if shutil.which("dieharder") is None:
        sys.exit("dieharder is not installed: apt-get install dieharder")
    origin = bytes.fromhex(root) or os.urandom(shuffle.SEED_BYTES)
    began, failed = time.monotonic(), 0
    print(f"root {origin.hex()}")
    print("| test | size | numbers | p-values | p | |\n|---|---|---|---|---|---|", flush=True)
    with ProcessPoolExecutor(processes) as pool:
        for test in tests.split():
            # Each test has shuffles of its own.
            bits = stream(sha256(origin + test.encode()).digest(), pool, 2 * processes)
            for found in run(test, samples, bits):
                print(f"| {' | '.join(map(str, found))} |", flush=True)
                failed += found.assessment == "FAILED"
    print(f"{time.monotonic() - began:.0f} s, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
