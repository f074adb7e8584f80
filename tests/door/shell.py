"""The `door` command as a test types it."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from click.testing import CliRunner

from door.cli.main import main
from door.games.registry import GAMES
from door.games.solver.edge import edge


@dataclass(frozen=True)
class Told:
    """What a command answered."""

    status: int
    output: str
    error: str


class Shell:
    """Somebody at the shell, with the settings of one board."""

    def __init__(self, config: Path) -> None:
        self.config = config

    def __call__(self, *words: str, typed: str | bytes | None = None) -> Told:
        """Run a command of this board; what is no answer but a crash is raised."""
        return door(*words, "--config", str(self.config), typed=typed)


def door(
    *words: str,
    typed: str | bytes | None = None,
    environment: Mapping[str, str] | None = None,
) -> Told:
    if words[0] == "check" and "--help" not in words:
        _know_the_odds()
    result = CliRunner().invoke(main, list(words), input=typed, env=environment)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Told(result.exit_code, result.stdout, result.stderr)


@cache
def _know_the_odds() -> None:
    """Let one of the processes that run tests work out the odds of all tables, for all of them."""
    folder = Path(os.environ["XDG_CACHE_HOME"])
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for game in GAMES.values():
            edge(game, game.kind.base)
