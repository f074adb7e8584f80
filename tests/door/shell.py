"""The `door` command as a test types it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from click.testing import CliRunner

from door.cli.main import main


@dataclass(frozen=True)
class CommandResult:
    """The result of a command."""

    status: int
    output: str
    error: str


class Shell:
    """A person at the shell, with the settings of one board."""

    def __init__(self, config: Path) -> None:
        self.config = config

    def __call__(self, *words: str, typed: str | bytes | None = None) -> CommandResult:
        """Run a command of this board; raise a crash."""
        return door(*words, "--config", str(self.config), typed=typed)


def door(
    *words: str,
    typed: str | bytes | None = None,
    environment: Mapping[str, str] | None = None,
) -> CommandResult:
    result = CliRunner().invoke(main, list(words), input=typed, env=environment)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return CommandResult(result.exit_code, result.stdout, result.stderr)
