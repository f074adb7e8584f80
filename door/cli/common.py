"""Options and helpers that the commands of `door` share."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TypeVar, cast

import click

from door.config import config
from door.config.log_file import JsonFormatter, formatter, to_stderr, wants_json
from timebank.cli.common import CONFIG, DEFAULT_CONFIG, WholeNumber, format_option, open_books
from timebank.cli.errors import EXIT_WRONG, UserError, refusing
from timebank.errors import SettingsError

if TYPE_CHECKING:
    from door.config.config import Config
    from timebank.ledger.database import Desk


F = TypeVar("F", bound=Callable[..., object])

LONGEST_LINE = 4096  # bytes that are read of a password

config_option = click.option("--config", "config_path", **CONFIG)


def rows_option(command: F) -> F:
    """Give a command the options of `timebank` for rows, and `--json`, an older form."""
    as_json = click.option("--json", "as_json", is_flag=True, help="The same as --format json.")

    @wraps(command)
    def asking(form: str, as_json: bool, **values: object) -> object:
        return command(form="json" if as_json else form, **values)

    return cast(F, format_option(as_json(asking)))


def load_config(path: Path) -> Config:
    """Read the settings; exit with all mistakes in them."""
    need(path)
    with refusing(SettingsError):
        return config.load(path)


def need(path: Path) -> None:
    """Exit with advice if the settings file does not exist."""
    if path == DEFAULT_CONFIG and not path.exists():
        raise UserError(
            f"There is no {path} here. Run this in the folder of your board, or name its settings"
            " with --config; `door init` makes a board."
        )


def read_password(file: BinaryIO) -> str:
    """Return the first line of a file, which is in UTF-8 in any locale."""
    try:
        return file.readline(LONGEST_LINE).decode().rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise UserError("The password is not in UTF-8.") from error


def log_to_stderr(
    config: Config, verbose: bool, *, is_trial: bool = False
) -> Callable[[str], None]:
    """Begin the log, and return how to announce what the board does: in the log if it is JSON."""
    form = formatter(config, "%(asctime)s %(levelname)s %(name)s: %(message)s")
    usual = logging.ERROR if is_trial else logging.WARNING  # a trial need not be complete
    _begin_log(form, logging.INFO if verbose else usual)
    if not isinstance(form, JsonFormatter):
        return announce
    announced = logging.getLogger("door.announced")
    announced.setLevel(logging.INFO)
    return announced.info


def _begin_log(form: logging.Formatter, level: int) -> None:
    handler = to_stderr(sys.stderr)
    handler.setFormatter(form)
    logging.basicConfig(level=level, handlers=[handler], force=True)


@contextmanager
def failures_in_the_log(path: Path) -> Iterator[None]:
    """Log why a server fails, even if sysop.toml has mistakes, where it wants its log in JSON."""
    if not wants_json(path):
        yield
        return
    _begin_log(JsonFormatter(UTC), logging.WARNING)
    logging.captureWarnings(True)
    try:
        yield
    except UserError as error:
        logging.getLogger("door.server").error("%s", error.message)
        sys.exit(error.exit_code)
    except Exception:
        logging.getLogger("door.server").exception("the server failed")
        sys.exit(EXIT_WRONG)


def announce(words: str) -> None:
    """Print a line. A board whose output is a closed pipe goes on without it."""
    try:
        click.echo(words)
    except OSError:
        # Python would try to print the rest again at the end of the process, and fail.
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), sys.stdout.fileno())


dropfile_option = click.option(
    "--dropfile",
    type=click.Path(path_type=Path),
    help="The drop file or its folder. Default: the environment, then the current folder.",
)
node_option = click.option("--node", type=WholeNumber(0, 9999), help="The node's number.")


@contextmanager
def writing(config: Config) -> Iterator[Desk]:
    """Open the board's books for one transaction; print each refusal as a sentence."""
    with open_books(config.bank) as books:
        books.take_up()
        with books.database.transaction(books.settings, books.clock.reading()) as desk:
            yield desk


@contextmanager
def reading(config: Config) -> Iterator[Desk]:
    """Open the board's books as they are at one moment, without blocking writers."""
    with open_books(config.bank) as books, books.look() as desk:
        yield desk
