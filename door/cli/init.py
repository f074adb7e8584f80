"""`door init`: makes a new board in a folder, from a few answers."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, TypeVar, Unpack

import click

from door.call import passwords
from door.cli.check import report
from door.cli.common import load_config, read_password
from door.config.people import command
from door.errors import CannotListen, PasswordRefused, SetupRefused
from door.lines.registry import KINDS, lacks
from door.setup import answers as checks
from door.setup import machine, new_board
from door.setup.answers import in_the_way
from door.setup.writing import Fate
from timebank.cli.common import by_option, say
from timebank.cli.errors import UserError, refusing
from timebank.errors import BooksFailed, DatabaseRefused, Refused, SettingsError

if TYPE_CHECKING:
    from door.config.config import Config
    from door.setup.answers import BoardAnswers
    from door.setup.machine import WantedFiles

PASSWORD_VARIABLE = "BJFT_SYSOP_PASSWORD"
ALL, NONE = "all", "none"

T = TypeVar("T")


class InitOptions(TypedDict):
    """The options of the command line; None for each that is missing."""

    name: str | None
    zone: str | None
    port: int | None
    sysop: str | None
    web: bool | None
    password_file: Path | None
    kinds: tuple[str, ...]
    user: str | None
    mail: str | None


@click.command()
@click.argument(
    "folder", type=click.Path(path_type=Path, file_okay=False), default=Path(), metavar="[DIR]"
)
@click.option("--name", help="The board's name.")
@click.option("--zone", help="Its time zone, such as Europe/Berlin.")
@click.option("--port", type=int, metavar="NUMBER", help="The port for telnet; 0 is any free one.")
@click.option("--sysop", help="Your own name as a caller.")
@click.option("--web/--telnet-only", default=None, help="Whether browsers can call as well.")
@click.option(
    "--password-file",
    type=click.Path(path_type=Path, dir_okay=False, exists=True, allow_dash=True),
    help=f"Where your password is, - for standard input; or put it in ${PASSWORD_VARIABLE}.",
)
@click.option(
    "--with",
    "kinds",
    multiple=True,
    type=click.Choice([*machine.KINDS, ALL]),
    help="Write files for the machine too; may be given more than once.",
)
@click.option("--user", help="The user of the system that the board runs as.")
@click.option("--mail", metavar="ADDRESS", help="Mail the digest of the nightly audit there.")
@click.option("--yes", is_flag=True, help="Ask nothing, and use the defaults.")
@by_option
def init(folder: Path, by: str, yes: bool, **given: Unpack[InitOptions]) -> None:
    """Make a board in DIR, or in this folder.

    It gets settings, folders, books, and you as its sysop. Files that exist stay as they are, so it
    does no harm to run it again.
    """
    asks = not yes and _somebody_is_there()
    folder = folder.absolute()
    with refusing(SetupRefused, PasswordRefused, CannotListen), _writing(folder):
        is_new = not (folder / new_board.SETTINGS).exists()
        answers = _answers(folder, given, asks) if is_new else None
        if answers is None:
            _refuse_answers(folder, given)
        typed = _given_password(given["password_file"])
        if answers is not None:
            typed = _checked(typed, answers.sysop, asks)
        wanted = _wanted(given, asks)
        if answers is not None:
            _write_settings(folder, answers)
            click.echo(f"Wrote {folder / new_board.SETTINGS}, with the settings to read first.")
        config = load_config(folder / new_board.SETTINGS)
        new_board.make_folders(config)
        click.echo(f"Its data is in {config.board.data}.")
        _enter_sysop(config, typed, by, asks=asks and answers is None)
        say(machine.write(config, wanted))
    with refusing(SettingsError):
        say(report(config.path))
    say(filter(None, (in_the_way(each.port) for each in config.listeners if each.port)))
    _say_next(config, machine.next_steps(config, wanted), has_container="container" in wanted.kinds)


# Questions


def _somebody_is_there() -> bool:
    return sys.stdin.isatty()


def _answers(folder: Path, given: InitOptions, asks: bool) -> BoardAnswers:
    if asks:
        click.echo(f"A new board in {folder}. Enter takes what is in brackets.")
    usual = checks.usual()
    web = given["web"]
    if web and (words := lacks("web")):
        raise SetupRefused(words)
    name = _answer(asks, "The board's name", given["name"], usual.name, checks.name)
    zone = _answer(asks, "Its time zone", given["zone"], usual.zone, checks.zone)
    port = _answer(asks, "Its port for telnet", given["port"], usual.port, checks.port)
    while web is None and asks:
        web = click.confirm("A page for browsers as well?", default=False)
        if web and (words := lacks("web")):
            click.echo(f"{words} Then answer again.")
            web = None
    sysop = _answer(asks, "Your own name as a caller", given["sysop"], usual.sysop, checks.sysop)
    return checks.BoardAnswers(name, zone, port, sysop, KINDS["web"].usual_port if web else None)


def _answer(asks: bool, question: str, given: T | None, usual: T, check: Callable[[T], T]) -> T:
    """Return the given answer; else ask until an answer is valid, or return the usual one."""
    if given is not None:
        return check(given)
    while asks:
        try:
            return check(click.prompt(question, default=usual, type=type(usual)))
        except SetupRefused as refused:
            click.echo(str(refused))
    return usual


def _refuse_answers(folder: Path, given: InitOptions) -> None:
    """Refuse answers if there are settings already, which this command does not change."""
    given_keys = [
        key for key in ("name", "zone", "port", "sysop", "web") if given.get(key) is not None
    ]
    path = folder / "sysop.toml"
    if given_keys:
        options = ", ".join(f"--{key}" for key in given_keys)
        raise UserError(f"{path} is there already and stays as it is: change it without {options}.")
    click.echo(f"{path} is there already and stays as it is.")


def _wanted(given: InitOptions, asks: bool) -> WantedFiles:
    kinds = given["kinds"]
    while not kinds and asks:
        question = f"Files for the machine ({', '.join(machine.KINDS)}, {ALL}, {NONE})"
        words = click.prompt(question, default=NONE).replace(",", " ").split()
        if words == [NONE]:
            break
        if all(each in (*machine.KINDS, ALL) for each in words):
            kinds = tuple(words)
    chosen = machine.KINDS if ALL in kinds else tuple(dict.fromkeys(kinds))
    user, mail = machine.user(given["user"] or machine.usual_user()), given["mail"] or ""
    if mail and "systemd" not in chosen:
        raise SetupRefused("--mail needs --with systemd, which runs the nightly audit.")
    return machine.WantedFiles(chosen, user, machine.mail(mail))


# The password


def _given_password(path: Path | None) -> str:
    """Return the password from the file or the environment, "" if there is none."""
    if path is None:
        return os.environ.get(PASSWORD_VARIABLE, "")
    if str(path) == "-":
        return read_password(sys.stdin.buffer)
    with path.open("rb") as file:
        return read_password(file)


def _checked(typed: str, sysop: str, asks: bool) -> str:
    """Return a valid password; "" if none was given and none is typed."""
    if typed:
        passwords.check(typed, sysop)
    while asks and not typed:
        typed = _typed_secret("Your password (Enter for none yet)")
        if not typed:
            break
        try:
            passwords.check(typed, sysop)
        except PasswordRefused as refused:
            click.echo(str(refused))
            typed = ""
            continue
        if _typed_secret("Once more") != typed:
            click.echo("The two passwords differ.")
            typed = ""
    return typed


def _typed_secret(question: str) -> str:
    typed: str = click.prompt(question, default="", show_default=False, hide_input=True)
    return typed


def _write_settings(folder: Path, answers: BoardAnswers) -> None:
    if new_board.write_settings(folder, answers) is not Fate.WRITTEN:
        raise SetupRefused(
            f"{folder / new_board.SETTINGS} was made by another program just now, or is a link to a"
            " missing file. Look at it, and run this again."
        )


def _enter_sysop(config: Config, typed: str, by: str, *, asks: bool) -> None:
    """Register the sysop if there is a password and the name is not registered yet."""
    sysop = config.board.sysop
    with refusing(DatabaseRefused, BooksFailed, Refused):
        if new_board.is_entered(config):
            sets = command(config.path, "password", sysop)
            click.echo(f"{sysop} is registered already; {sets} sets a new password.")
            return
        typed = _checked(typed, sysop, asks)
        if not typed:
            return  # the check prints the command to type
        new_board.enter_sysop(config, passwords.hash_password(typed), by)
    click.echo(f"{sysop} is registered, with sysop powers.")


# The rest


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    """Turn a failed write into an error that says what to do."""
    try:
        yield
    except OSError as error:
        place = error.filename or folder
        raise UserError(
            f"{place} cannot be written ({error.strerror}). The files written before stay: mend"
            " that and run this again."
        ) from error


def _say_next(config: Config, steps: list[str], *, has_container: bool) -> None:
    folder = config.path.parent
    if steps:
        say(["As root, to have the machine run it:", *(f"    {words}" for words in steps)])
    if has_container:
        file = machine.folder_of(config) / "container" / "Containerfile"
        click.echo(f"The top of {file} says how to build and run a container.")
    click.echo("Open the board:")
    place = "" if folder == Path.cwd() else f"cd {shlex.quote(str(folder))} && "
    click.echo(f"    {place}{machine.typed('door')} serve")
    commands = [
        at_home.format(port=each.port or "PORT")
        for each in config.listeners
        if (at_home := KINDS[each.kind].local_call)
    ]
    if commands:
        say(["Call it:", *(f"    {words}" for words in commands)])
    if any("PORT" in words for words in commands):
        click.echo("The board prints its PORT when it opens.")
