"""What all commands of `door` share; light, for `door --help` must be quick."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

import click

from timebank.cli.common import format_option
from timebank.cli.errors import UserError, refusing

if TYPE_CHECKING:
    from door.config.config import Config


F = TypeVar("F", bound=Callable[..., object])

DEFAULT_CONFIG = Path("sysop.toml")

config_option = click.option(
    "--config",
    "config_path",
    # The reader of the file says whose it is, if it cannot be read.
    type=click.Path(path_type=Path, readable=False),
    default=DEFAULT_CONFIG,
    show_default=True,
    envvar="BJFT_CONFIG",
    show_envvar=True,
    help="The board's settings.",
)


def rows_option(command: F) -> F:
    """Give a command the options of `timebank` for rows, and `--json`, which it had before."""
    as_json = click.option("--json", "as_json", is_flag=True, help="The same as --format json.")

    @wraps(command)
    def asking(form: str, as_json: bool, **values: object) -> object:
        return command(form="json" if as_json else form, **values)

    return cast(F, format_option(as_json(asking)))


def load_config(path: Path) -> Config:
    """Read the settings; what is wrong with them is told, all of it at once."""
    from door.config import config
    from timebank.errors import SettingsError

    need(path)
    with refusing(SettingsError):
        return config.load(path)


def need(path: Path) -> None:
    """Say what to do where the settings that everybody takes are not there."""
    if path == DEFAULT_CONFIG and not path.exists():
        raise UserError(
            f"There is no {path} here. Run this in the folder of your board, or name its settings"
            " with --config; `door init` makes a board."
        )
