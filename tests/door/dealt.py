"""The installed command `door` with a fixed random stream: `python dealt.py LABEL STREAM
WORDS...`.

Every process of a test shuffles from its own stream, which is the same in every run. So the cards
in a test do not depend on luck.
"""

from __future__ import annotations

import hashlib
import itertools
import secrets
import sys
from importlib.metadata import entry_points
from pathlib import Path


def stream(label: str) -> None:
    """Make `secrets` return bytes derived from the label."""
    number = itertools.count()

    def token_bytes(length: int | None = None) -> bytes:
        drawn = f"{label} {next(number)}".encode()
        return hashlib.shake_256(drawn).digest(length or secrets.DEFAULT_ENTROPY)

    secrets.token_bytes = token_bytes


def serve_forks() -> list[str]:
    """Return the command line of a fork (`forked`), which continues here."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    from tests.door.forked import serve

    return serve(int(sys.argv[2]))


if __name__ == "__main__":
    (command,) = entry_points(group="console_scripts", name="door")  # before forking
    is_fork = sys.argv[1] == "--fork"
    label, number, *rest = serve_forks() if is_fork else sys.argv[1:]
    stream(f"{label} {number}")
    sys.argv[:] = ["door", *rest]
    try:
        sys.exit(command.load()())
    except SystemExit as end:
        if is_fork:
            from tests.door.forked import end_soon

            end_soon(end.code)
        raise
