"""What the processes of `python -m verify.kills` run, each with a board of its own.

Not in `__main__`: a process that is spawned does not look there.
"""

from __future__ import annotations

import contextlib
import ctypes
import shutil
import signal
import tempfile
from pathlib import Path

from verify.kills.rounds import Tally, run_book
from verify.postgres import served

PR_SET_PDEATHSIG = 1


def ends_with_its_parent() -> None:
    """Let no board go on alone when the command is interrupted (Linux)."""
    with contextlib.suppress(AttributeError):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def run_apart(
    seed: int, rounds: int, robots: int, *, postgres: bool = False, kind: str = ""
) -> Tally:
    """Play in a folder of its own, which stays where something is wrong.

    With `postgres` the books are on a server of PostgreSQL that is started for them.
    """
    folder = Path(tempfile.mkdtemp(prefix="kills-"))
    if postgres:
        with served() as cluster:
            database = cluster.url(cluster.empty())
            tally = run_book(folder, seed, rounds, robots, database, kind)
    else:
        tally = run_book(folder, seed, rounds, robots, kind=kind)
    if not tally.wrong:
        shutil.rmtree(folder)
    return tally
