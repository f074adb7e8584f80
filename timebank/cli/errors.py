"""Exit codes and errors of commands. `door` uses them too, so this module imports little."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any

import click

EXIT_WRONG = 1  # the command ran, and found errors
EXIT_REFUSED = 2  # the command could not run; the sentence says why


class UserError(click.ClickException):
    """The reason why a command could not run, for the person at the shell."""

    exit_code = EXIT_REFUSED

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the sentence, without click's prefix."""
        click.echo(self.message, file=file or sys.stderr)


@contextmanager
def refusing(*errors: type[Exception]) -> Iterator[None]:
    """Turn these errors, whose texts are sentences for the sysop, into `UserError`."""
    try:
        yield
    except errors as error:
        raise UserError(str(error)) from error


# Errors of a disk that cannot be written.
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})


class Commands(click.Group):
    """Commands whose output may fail: a closed pipe ends them silently, a full disk with a
    sentence. Both exit with `EXIT_REFUSED`."""

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        with _writing():  # --help is written here
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        with _writing():
            result = super().invoke(ctx)
            sys.stdout.flush()
        return result


@contextmanager
def _writing() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError as error:
        _discard_output()
        raise click.exceptions.Exit(EXIT_REFUSED) from error
    except OSError as error:
        if isinstance(error, PermissionError) and isinstance(error.filename, str | os.PathLike):
            raise UserError(_forbidden(error)) from error
        if error.errno not in _FULL:
            raise
        _discard_output()
        where = "the output" if error.filename is None else error.filename
        raise UserError(f"Can't write {where}: {error.strerror}.") from error


def _forbidden(error: PermissionError) -> str:
    """Return a sentence that names the folder or file that the user may not use."""
    from pathlib import Path

    from timebank import files

    path = Path(os.fsdecode(error.filename))
    reason = files.forbidden(path, writes=True)
    return reason or f"{path} cannot be used: {error.strerror}."


def _discard_output() -> None:
    """Discard unprinted output, which Python would try to print again when the process ends."""
    with suppress(OSError, ValueError), open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())
