"""Commands that are imported when they are run, because `--help` lists all and must be fast."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

import click
from click.shell_completion import CompletionItem

from timebank.cli.errors import Commands

Rows = Mapping[str, tuple[str, str]]


class CommandFiles(Mapping[str, click.Command]):
    def __init__(self, package: str, rows: Rows) -> None:
        self._package = package
        self._rows = rows

    def __getitem__(self, name: str) -> click.Command:
        values = vars(import_module(f"{self._package}.{self._rows[name][0]}")).values()
        commands = (each for each in values if isinstance(each, click.Command))
        return next(each for each in commands if each.name == name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


class LazyCommands(Commands):
    """Commands. `rows` has the file of each in `package`, and the first sentence of its help."""

    def __init__(self, name: str, *, package: str, rows: Rows, **values: Any) -> None:
        files = CommandFiles(package, rows)
        super().__init__(name, files, **values)  # type: ignore[arg-type]  # it is only read
        self._rows = rows

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        room = formatter.width - 6 - max(map(len, self._rows))
        with formatter.section("Commands"):
            formatter.write_dl([(name, self._short(name, room)) for name in sorted(self._rows)])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        names = [name for name in sorted(self._rows) if name.startswith(incomplete)]
        options = click.Command.shell_complete(self, ctx, incomplete)
        return [*(CompletionItem(name, help=self._short(name)) for name in names), *options]

    def _short(self, name: str, room: int = 45) -> str:
        return click.Command(name, help=self._rows[name][1]).get_short_help_str(room)
