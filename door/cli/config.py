"""`door config`: shows the settings and their differences from the defaults, and changes them."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import click

from door.cli.common import config_option
from door.config import default_file
from door.config import schema as board_schema
from door.config.editing import HIDDEN, changed, find, from_default, rendered, shown, toml
from door.config.reloading import keep_begun
from door.config.schema import described
from door.errors import ChangeRefused
from door.setup.writing import replace
from timebank.cli.common import format_option, tell
from timebank.cli.errors import UserError, refusing
from timebank.errors import SettingsError
from timebank.settings.toml import open_table

if TYPE_CHECKING:
    from door.config.editing import Change
    from door.config.schema import Setting

FIELDS = ("key", "value", "default")


@click.group("config")
def config_group() -> None:
    """Show the settings, change one without losing comments, or describe them for an editor."""


@config_group.command()
@config_option
@click.option(
    "--effective", is_flag=True, help="With the defaults of the keys that are not in the file."
)
@format_option
def show(config_path: Path, effective: bool, form: str) -> None:
    """Show the settings without their comments."""
    text, keys = _read(config_path)
    if not effective:
        written = _paths_in(text)
        keys = [key for key in keys if key.path in written]
    if form == "text":
        click.echo(rendered(keys, with_defaults=effective))
    else:
        _write(keys, form)


@config_group.command()
@config_option
@click.argument("key")
def get(config_path: Path, key: str) -> None:
    """Print the value of a KEY such as calls.nodes: its default if it is not in the file."""
    text, _ = _read(config_path)
    with refusing(ChangeRefused):
        value = find(text, config_path, key).value
    click.echo(value if isinstance(value, str) else toml(value))


@config_group.command("set")
@config_option
@click.argument("key")
@click.argument("value")
def set_(config_path: Path, key: str, value: str) -> None:
    """Set a KEY to a VALUE. Comments stay, and a file that would be wrong is not written.

    Texts need no quotes. Write a list as words with commas between them, or as in TOML.
    """
    _change(config_path, key, value)


@config_group.command()
@config_option
@click.argument("key")
def unset(config_path: Path, key: str) -> None:
    """Take a KEY out of the file, so that its default applies again."""
    _change(config_path, key, None)


@config_group.command()
@config_option
@format_option
def diff(config_path: Path, form: str) -> None:
    """Show the settings that differ from the defaults."""
    keys = from_default(_read(config_path)[1])
    if form != "text":
        _write(keys, form)
    elif keys:
        click.echo(rendered(keys, with_defaults=True))
    else:
        click.echo("Nothing differs from the defaults.")


@config_group.command()
def example() -> None:
    """Print a sysop.toml with every setting: its default, and what it means."""
    click.echo(default_file.text(), nl=False)


@config_group.command()
def schema() -> None:
    """Print a JSON Schema of sysop.toml, for editors that check and complete it."""
    click.echo(json.dumps(board_schema.schema(), indent=2, ensure_ascii=False))


def _read(path: Path) -> tuple[str, list[Setting]]:
    """Read a file of settings without mistakes, and all its keys."""
    with refusing(SettingsError):
        text = open_table(path).problems.text
        return text, described(text, path)[1]


def _paths_in(text: str) -> set[tuple[str | int, ...]]:
    def paths(value: object, path: tuple[str | int, ...]) -> set[tuple[str | int, ...]]:
        known = {path}
        if isinstance(value, dict):
            for name, inner in value.items():
                known |= paths(inner, (*path, name))
        elif isinstance(value, list):
            for number, inner in enumerate(value):
                known |= paths(inner, (*path, number))
        return known

    return paths(tomllib.loads(text), ())


def _write(keys: list[Setting], form: str) -> None:
    shown = [key for key in keys if key.path[-1] != HIDDEN]
    listed = [dict(zip(FIELDS, (key.name, key.value, key.default), strict=True)) for key in shown]
    if form == "csv":
        tell(form, (), FIELDS, listed)
    else:
        click.echo(json.dumps(listed, indent=2, ensure_ascii=False))


def _change(path: Path, key: str, typed: str | None) -> None:
    with refusing(SettingsError, ChangeRefused):
        text = open_table(path).problems.text
        change = changed(text, path, key, typed)
    if change.text != text:
        try:
            replace(path, change.text)
        except OSError as error:
            raise UserError(f"Can't write {path}: {error.strerror}. It is as it was.") from error
    for sentence in _sentences(change, path):
        click.echo(sentence)


def _sentences(change: Change, path: Path) -> list[str]:
    name = change.key.name
    old = change.key.value if change.old is None else change.old
    new = change.key.default if change.new is None else change.new
    if old == new:
        return [f"{name} is {shown(name, new)}, as it was."]
    sentences = [f"{name} is {shown(name, new)} now, was {shown(name, old)}."]
    later = keep_begun(change.before, change.after)[1]
    if later:
        return [*sentences, *(f"{words[0].upper()}{words[1:]}." for words in later)]
    return [*sentences, f"A running server reads {path} again at SIGHUP, for new calls."]
