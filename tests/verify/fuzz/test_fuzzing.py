"""That the fuzzing itself would notice: a reader with a fault is found out."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from random import Random

import pytest

from verify.fuzz.mutation import mutated
from verify.fuzz.oracles import assert_harmless
from verify.fuzz.target import Target, TooLarge, TooSlow, check_in_memory, check_in_time

pytestmark = pytest.mark.long


FAULT = b"\xff["


def seeds() -> Iterator[bytes]:
    yield b"[one]"
    yield b"two\xff"


FAULTY = Target("faulty", lambda data: None, seeds, (b"[", b"]"), 64, 1.0)


def test_chance_finds_a_fault() -> None:
    inputs = mutated(list(seeds()), FAULTY.tokens, FAULTY.longest, Random(1))
    assert any(FAULT in data for data in islice(inputs, 20_000))


def test_an_input_that_takes_too_long_is_a_fault() -> None:
    def busy(data: bytes) -> None:
        until = time.thread_time() + 0.02
        while time.thread_time() < until:
            pass

    with pytest.raises(TooSlow, match=r"3 bytes took 0\.0"):
        check_in_time(replace(FAULTY, check=busy), b"abc", 0.01)
    assert check_in_time(FAULTY, b"abc", 0.01) < 0.01


def test_an_input_that_fills_the_memory_is_a_fault() -> None:
    def fill(data: bytes) -> None:
        bytearray(2_000_000)

    with pytest.raises(TooLarge, match="3 bytes made it hold 2"):
        check_in_memory(replace(FAULTY, check=fill), b"abc")
    assert check_in_memory(FAULTY, b"abc") < 100_000


@pytest.mark.parametrize(
    "sent", [b"\x1b]0;t\x07", b"\x1b[6n", b"\x05", b"\xff", b"a\x7f", b"\x1b[?1049h", b"\x1b[2"]
)
def test_what_a_terminal_would_obey_is_a_fault(sent: bytes) -> None:
    with pytest.raises(AssertionError, match="is sent"):
        assert_harmless(b"text" + sent, cp437=False)
