"""The installed command `door`, whose chance is known: `python dealt.py LABEL STREAM WORDS...`.

Every process that a test starts draws its shuffles from a stream of its own, which is the same in
every run: what a test sees of the cards is not a matter of luck.
"""

from __future__ import annotations

import hashlib
import itertools
import secrets
import sys
from importlib.metadata import entry_points
from pathlib import Path


def stream(label: str) -> None:
    """Let `secrets` give bytes that follow from the label."""
    number = itertools.count()

    def token_bytes(length: int | None = None) -> bytes:
        drawn = f"{label} {next(number)}".encode()
        return hashlib.shake_256(drawn).digest(length or secrets.DEFAULT_ENTROPY)

    secrets.token_bytes = token_bytes


def words() -> list[str]:
    """The words of the command; with `--fork DESCRIPTOR`, those of a fork (`forked`)."""
    if sys.argv[1] != "--fork":
        return sys.argv[1:]
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    from tests.door.forked import serve

    return serve(int(sys.argv[2]))


if __name__ == "__main__":
    (command,) = entry_points(group="console_scripts", name="door")  # before there are forks
    label, number, *rest = words()
    stream(f"{label} {number}")
    sys.argv[:] = ["door", *rest]
    sys.exit(command.load()())
