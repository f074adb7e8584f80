"""Shuffles held against dieharder: what is sent to it, and what is made of its answer."""

from __future__ import annotations

import os
import shutil
from concurrent.futures import ProcessPoolExecutor
from itertools import islice, permutations, repeat
from multiprocessing import get_context

import pytest

from door.games.engine import shuffle
from tests.certificates import NEED_CLIENTS
from verify.fuzz.shuffle import BATCH, BYTES, DECK, bits_of, number_of, run, stream

pytestmark = pytest.mark.long


def test_every_order_has_a_number_of_its_own() -> None:
    assert [number_of(order) for order in permutations(range(5))] == list(range(120))


def test_the_bits_are_those_of_the_shuffle() -> None:
    seed = bytes(range(32))
    order = [DECK[card] for card in shuffle.shuffle(seed, "", 1)]
    assert int.from_bytes(bits_of(seed), "big") == number_of(order) % 2 ** (8 * BYTES)


def test_the_same_root_gives_the_same_bits() -> None:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        first, again = (list(islice(stream(b"root", pool, 1), 1)) for _ in range(2))
    assert first == again
    assert len(first[0]) == BATCH * BYTES


def test_what_is_not_random_fails() -> None:
    if shutil.which("dieharder") is None:
        assert NEED_CLIENTS not in os.environ, "apt-get install dieharder"
        pytest.skip(f"dieharder is not installed; {NEED_CLIENTS} makes that a failure")
    (found,) = run("100", 1, repeat(bytes(4096)))
    assert (found.test, found.assessment) == ("sts_monobit", "FAILED")
