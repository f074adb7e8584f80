"""How commands end that could not do their work; `door` uses it too, so it is light."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
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
