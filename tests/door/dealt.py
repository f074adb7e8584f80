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


def stream(label: str) -> None:
    """Let `secrets` give bytes that follow from the label."""
    number = itertools.count()

    def token_bytes(length: int | None = None) -> bytes:
        drawn = f"{label} {next(number)}".encode()
        return hashlib.shake_256(drawn).digest(length or secrets.DEFAULT_ENTROPY)

    secrets.token_bytes = token_bytes


if __name__ == "__main__":
    stream(f"{sys.argv[1]} {sys.argv[2]}")
    sys.argv[:] = ["door", *sys.argv[3:]]
    (command,) = entry_points(group="console_scripts", name="door")
    sys.exit(command.load()())
