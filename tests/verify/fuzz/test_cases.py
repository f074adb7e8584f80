"""Every reader of bytes, on former failures and on a few hundred random inputs.

The long runs are `python -m verify.fuzz --hours 1`, see verify/fuzz/README.md.
"""

from __future__ import annotations

from itertools import islice
from random import Random

import pytest

from verify.fuzz.mutation import mutated
from verify.fuzz.target import NAMES, Target, check_in_memory, check_in_time, load

pytestmark = pytest.mark.long

INPUTS = 150  # of each reader: all of them together take a few seconds
SEED = 20261120
SPARE = 4  # times the usual limit, for a slow machine


@pytest.fixture(params=NAMES)
def target(request: pytest.FixtureRequest) -> Target:
    return load(request.param)


def test_former_failures_pass(target: Target) -> None:
    for case in target.cases():
        data = case.read_bytes()
        check_in_time(target, data, SPARE * target.seconds)
        check_in_memory(target, data)


def test_the_seeds_go_right(target: Target) -> None:
    seeds = list(target.seeds())
    assert seeds
    for data in seeds:
        assert len(data) <= target.longest
        check_in_time(target, data, SPARE * target.seconds)


def test_mutated_inputs_pass(target: Target) -> None:
    random = Random(SEED)
    inputs = mutated(list(target.seeds()), target.tokens, target.longest, random)
    for number, data in enumerate(islice(inputs, INPUTS)):
        check_in_time(target, data, SPARE * target.seconds)
        if number % 30 == 0:
            check_in_memory(target, data)


def test_the_longest_input_is_soon_done_with(target: Target) -> None:
    for byte in (b"\x1b", b"\xff", b"\0", b"[", b"0", b"\n", b" ", b"\xcc\x81"):
        data = (byte * target.longest)[: target.longest]
        check_in_time(target, data, SPARE * target.seconds)
        check_in_memory(target, data)
