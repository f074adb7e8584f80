"""Random inputs: seeds with random changes.

The same seeds, tokens and generator give the same inputs. The test suite runs these; in the long
runs libFuzzer chooses changes by the code that each one reaches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from random import Random

MOST_CHANGES = 6
LONGEST_PIECE = 64  # bytes inserted, doubled or removed at once
TELLING = (0, 1, 7, 9, 10, 13, 26, 27, 31, 32, 48, 57, 91, 127, 128, 155, 224, 240, 250, 254, 255)

Change = Callable[[bytes, Sequence[bytes], Sequence[bytes], Random], bytes]


def mutated(
    seeds: Sequence[bytes], tokens: Sequence[bytes], longest: int, random: Random
) -> Iterator[bytes]:
    """Yield changed seeds without end, each of at most `longest` bytes."""
    while True:
        data = random.choice(seeds)
        for _ in range(random.randint(1, MOST_CHANGES)):
            data = random.choice(_CHANGES)(data, seeds, tokens, random)
        yield data[:longest]


def _cut(data: bytes, random: Random) -> tuple[bytes, bytes, bytes]:
    """Cut a piece out of the middle."""
    start = random.randint(0, len(data))
    end = min(len(data), start + random.randint(0, LONGEST_PIECE))
    return data[:start], data[start:end], data[end:]


def _replace(data: bytes, _: Sequence[bytes], __: Sequence[bytes], random: Random) -> bytes:
    before, piece, after = _cut(data, random)
    byte = random.choice((random.choice(TELLING), random.randrange(256)))
    return before + bytes((byte,)) + piece[1:] + after


def _insert(data: bytes, _: Sequence[bytes], __: Sequence[bytes], random: Random) -> bytes:
    before, piece, after = _cut(data, random)
    return before + random.randbytes(random.randint(1, 8)) + piece + after


def _say(data: bytes, _: Sequence[bytes], tokens: Sequence[bytes], random: Random) -> bytes:
    before, piece, after = _cut(data, random)
    inserted = random.choice(tokens) * random.choice((1, 1, 1, 2, 50))
    return before + inserted + random.choice((piece, b"")) + after


def _take_out(data: bytes, _: Sequence[bytes], __: Sequence[bytes], random: Random) -> bytes:
    before, _piece, after = _cut(data, random)
    return before + after


def _repeat(data: bytes, _: Sequence[bytes], __: Sequence[bytes], random: Random) -> bytes:
    before, piece, after = _cut(data, random)
    return before + piece * random.choice((2, 3, 30)) + after


def _cross(data: bytes, seeds: Sequence[bytes], _: Sequence[bytes], random: Random) -> bytes:
    before, _piece, _after = _cut(data, random)
    return before + random.choice(_cut(random.choice(seeds), random)[1:])


_CHANGES: tuple[Change, ...] = (_replace, _insert, _say, _take_out, _repeat, _cross)
