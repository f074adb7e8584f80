"""`door config`: explains the settings, and changes them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from door.cli.common import config_option
from door.config.editing import HIDDEN, changed, find, shown, toml
from door.config.reloading import needs_restart
from door.config.schema import Setting, default_keys, keys_in
from door.errors import ChangeRefused
from door.setup.writing import replace
from timebank.cli.common import DEFAULT_CONFIG, format_option, say, tell
from timebank.cli.errors import UserError, refusing
from timebank.errors import SettingsError
from timebank.settings.toml import open_table

if TYPE_CHECKING:
    from door.config.editing import Change

FIELDS = ("key", "value", "default", "meaning")


@click.group("config")
def config_group() -> None:
    """Explain the settings, or change one. The comments of the file stay."""


@config_group.command("list")
@config_option
@click.argument("word", required=False, default="")
@format_option
def list_(config_path: Path, word: str, form: str) -> None:
    """Show and explain every setting, or those that mention a WORD."""
    keys, house = list[Setting](), [key for key in default_keys() if key.path[0] != "rules"]
    if config_path != DEFAULT_CONFIG or config_path.exists():
        with refusing(SettingsError):
            keys = keys_in(open_table(config_path).problems.text, config_path)
        house = [key for key in house if key.path[0] == "boards"]
    if not any(key.path[0] == "boards" for key in keys):
        keys += house  # as examples
    wanted = [key for key in keys if word.casefold() in f"{key.name} {key.meaning}".casefold()]
    if word and not wanted:
        raise UserError(f"No setting has {word} in its name or explanation.")
    records = [
        dict(zip(FIELDS, (key.name, key.value, key.default, key.meaning), strict=True))
        for key in wanted
        if key.path[-1] != HIDDEN
    ]
    as_toml = (
        {**each, "value": toml(each["value"]), "default": toml(each["default"])} for each in records
    )
    tell(form, (line for key in wanted for line in _explained(key)), FIELDS, as_toml, records)


def _explained(key: Setting) -> Iterator[str]:
    line = f"{key.name} = {shown(key.name, key.value)}"
    if key.value != key.default:
        line += f"  # default: {toml(key.default)}"
    yield line
    yield f"    {key.meaning}"


@config_group.command()
@config_option
@click.argument("key")
def get(config_path: Path, key: str) -> None:
    """Print the value of a KEY such as calls.nodes, or its default."""
    with refusing(SettingsError, ChangeRefused):
        value = find(open_table(config_path).problems.text, config_path, key).value
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


def _change(path: Path, key: str, typed: str | None) -> None:
    with refusing(SettingsError, ChangeRefused):
        text = open_table(path).problems.text
        change = changed(text, path, key, typed)
    if change.text != text:
        try:
            replace(path, change.text)
        except OSError as error:
            raise UserError(f"Can't write {path}: {error.strerror}. It is as it was.") from error
    say(_sentences(change))


def _sentences(change: Change) -> list[str]:
    name = change.key.name
    old = change.key.value if change.old is None else change.old
    new = change.key.default if change.new is None else change.new
    if old == new:
        return [f"{name} is {shown(name, new)}, as it was."]
    how = "A running board uses it from its next start on."
    if not needs_restart(name):
        how = "`door reload` makes a running board use it for new calls."
    return [f"{name} is {shown(name, new)} now, was {shown(name, old)}.", how]
