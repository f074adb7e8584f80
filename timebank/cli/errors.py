"""How commands end that could not do their work; `door` uses it too, so it is light."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any

import click

EXIT_WRONG = 1  # what was looked at is not as it should be
EXIT_REFUSED = 2  # the command could not be carried out; the sentence says why


class UserError(click.ClickException):
    """Why a command could not do its work, said to the person at the shell."""

    exit_code = EXIT_REFUSED

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the sentence, and nothing before it."""
        click.echo(self.message, file=file or sys.stderr)


@contextmanager
def refusing(*errors: type[Exception]) -> Iterator[None]:
    """Turn errors whose text is a sentence for the sysop into the command's refusal."""
    try:
        yield
    except errors as error:
        raise UserError(str(error)) from error


# What a disk says that takes no more.
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})


class Commands(click.Group):
    """Commands whose output may have nowhere to go: a reader who has seen enough is left in peace,
    and a full disk is a sentence. Both end with the status of what could not be carried out."""

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
            found = super().invoke(ctx)
            sys.stdout.flush()
        return found


@contextmanager
def _writing() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError as error:
        _write_no_more()
        raise click.exceptions.Exit(EXIT_REFUSED) from error
    except OSError as error:
        if isinstance(error, PermissionError) and isinstance(error.filename, str | os.PathLike):
            raise UserError(_forbidden(error)) from error
        if error.errno not in _FULL:
            raise
        _write_no_more()
        where = "the output" if error.filename is None else error.filename
        raise UserError(f"Can't write {where}: {error.strerror}.") from error


def _forbidden(error: PermissionError) -> str:
    """Say which folder or file keeps the command's user out."""
    from pathlib import Path

    from timebank import files

    path = Path(os.fsdecode(error.filename))
    said = files.forbidden(path, writes=True)
    return said or f"{path} cannot be used: {error.strerror}."


def _write_no_more() -> None:
    """Let go of what is still to be printed: it would be tried again when the process ends."""
    with suppress(OSError, ValueError), open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())
