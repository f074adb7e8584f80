"""`door init`: a new board in a folder, from a few answers."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, TypeVar, Unpack

import click

from door.call import passwords
from door.cli.check import report
from door.cli.common import load_config
from door.config.people import command
from door.errors import CannotListen, DoesNotFit, PasswordRefused
from door.lines.registry import KINDS
from door.setup import answers as checks
from door.setup import machine, new_board
from door.setup.answers import in_the_way
from door.setup.writing import Fate, beside
from timebank.cli.common import by_option
from timebank.cli.errors import UserError, refusing
from timebank.errors import BooksFailed, DatabaseRefused, Refused, SettingsError

if TYPE_CHECKING:
    from door.config.config import Config
    from door.setup.answers import BoardAnswers
    from door.setup.machine import WantedFiles

PASSWORD_VARIABLE = "BJFT_SYSOP_PASSWORD"
LARGEST_PASSWORD_FILE = 4096  # bytes
ALL, NONE = "all", "none"

T = TypeVar("T")


class InitOptions(TypedDict):
    """What the command line says; None where it does not."""

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
@click.option("--yes", is_flag=True, help="Ask nothing: what is not given is as usual.")
@by_option
def init(folder: Path, by: str, yes: bool, **given: Unpack[InitOptions]) -> None:
    """Make a board in DIR, or in this folder: settings, folders, books, and you as its sysop.

    What is there already stays as it is, so it does no harm to run it again.
    """
    asks = not yes and _somebody_is_there()
    folder = folder.absolute()
    with refusing(DoesNotFit, PasswordRefused, CannotListen), _writing(folder):
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
        config = _settings(folder / new_board.SETTINGS)
        new_board.make_folders(config)
        click.echo(f"Its data is in {config.board.data}.")
        _enter_sysop(config, typed, by, asks=asks and answers is None)
        _write_for_the_machine(config, wanted)
    _check(config)
    taken = [in_the_way(each.port) for each in config.listeners if each.port]
    for words in filter(None, taken):
        click.echo(words)
    _say_next(config, machine.next_steps(config, wanted), has_container="container" in wanted.kinds)


# Questions


def _somebody_is_there() -> bool:
    return sys.stdin.isatty()


def _answers(folder: Path, given: InitOptions, asks: bool) -> BoardAnswers:
    if asks:
        click.echo(f"A new board in {folder}. Enter takes what is in brackets.")
    usual = checks.usual()
    web = given["web"]
    name = _answer(asks, "The board's name", given["name"], usual.name, checks.name)
    zone = _answer(asks, "Its time zone", given["zone"], usual.zone, checks.zone)
    port = _answer(asks, "Its port for telnet", given["port"], usual.port, checks.port)
    if web is None and asks:
        web = click.confirm("A page for browsers as well?", default=False)
    sysop = _answer(asks, "Your own name as a caller", given["sysop"], usual.sysop, checks.sysop)
    if web:
        _need_web()
    return checks.BoardAnswers(name, zone, port, sysop, KINDS["web"].usual_port if web else None)


def _answer(asks: bool, question: str, given: T | None, usual: T, check: Callable[[T], T]) -> T:
    """Take what was given, else ask until an answer will do, else take what is usual."""
    if given is not None:
        return check(given)
    while asks:
        try:
            return check(click.prompt(question, default=usual, type=type(usual)))
        except DoesNotFit as refused:
            click.echo(str(refused))
    return usual


def _need_web() -> None:
    if find_spec("websockets") is None:
        raise DoesNotFit(
            "A page for browsers needs an extra: pip install 'blackjack-for-time[web]'. Then run"
            " this again."
        )


def _refuse_answers(folder: Path, given: InitOptions) -> None:
    """Refuse answers where there are settings: these are the sysop's, and stay."""
    said = [key for key in ("name", "zone", "port", "sysop", "web") if given.get(key) is not None]
    path = folder / "sysop.toml"
    if said:
        options = ", ".join(f"--{key}" for key in said)
        raise UserError(f"{path} is there already and stays as it is: change it without {options}.")
    click.echo(f"{path} is there already and stays as it is.")


def _wanted(given: InitOptions, asks: bool) -> WantedFiles:
    kinds = given["kinds"]
    while not kinds and asks:
        question = f"Files for the machine ({', '.join(machine.KINDS)}, {ALL}, {NONE})"
        said = click.prompt(question, default=NONE).replace(",", " ").split()
        if said == [NONE]:
            break
        if all(each in (*machine.KINDS, ALL) for each in said):
            kinds = tuple(said)
    chosen = machine.KINDS if ALL in kinds else tuple(dict.fromkeys(kinds))
    user, mail = machine.user(given["user"] or machine.usual_user()), given["mail"] or ""
    if mail and "systemd" not in chosen:
        raise DoesNotFit("--mail is of the nightly audit, which --with systemd has run.")
    return machine.WantedFiles(chosen, user, machine.mail(mail))


# The password


def _given_password(path: Path | None) -> str:
    """Return the password that is in a file or in the environment, "" where there is none."""
    if path is None:
        return os.environ.get(PASSWORD_VARIABLE, "")
    try:
        if str(path) == "-":
            text = sys.stdin.buffer.readline(LARGEST_PASSWORD_FILE)
        else:
            with path.open("rb") as file:
                text = file.readline(LARGEST_PASSWORD_FILE)
        return text.decode().rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise UserError("The password is not in UTF-8.") from error


def _checked(typed: str, sysop: str, asks: bool) -> str:
    """Return a password that will do; "" where none was given and none is typed."""
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
        raise DoesNotFit(
            f"{folder / new_board.SETTINGS} came to be meanwhile, or is a link that leads nowhere."
            " Look at it, and run this again."
        )


def _enter_sysop(config: Config, typed: str, by: str, *, asks: bool) -> None:
    """Register the sysop, if there is a password for it and nobody has done so."""
    sysop = config.board.sysop
    with refusing(DatabaseRefused, BooksFailed, Refused):
        if new_board.is_entered(config):
            sets = command(config.path, "password", sysop)
            click.echo(f"{sysop} is registered already; {sets} sets a new password.")
            return
        typed = _checked(typed, sysop, asks)
        if not typed:
            return  # the check says what to type
        new_board.enter_sysop(config, passwords.hash_password(typed), by)
    click.echo(f"{sysop} is registered, with sysop powers.")


# The rest


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    """Say what a disk does not take, and that nothing is half done."""
    try:
        yield
    except OSError as error:
        place = error.filename or folder
        raise UserError(
            f"{place} cannot be written ({error.strerror}). What was written before stays: run"
            " this again once that is mended."
        ) from error


def _settings(path: Path) -> Config:
    return load_config(path)


def _write_for_the_machine(config: Config, wanted: WantedFiles) -> None:
    said = {
        Fate.WRITTEN: "Wrote {path}.",
        Fate.SAME: "{path} is there already, as it would be written now.",
        Fate.BESIDE: "{path} is there already and stays; what would be written now is in {new}.",
    }
    for each in machine.write(config, wanted):
        click.echo(said[each.fate].format(path=each.path, new=beside(each.path).name))


def _check(config: Config) -> None:
    with refusing(SettingsError):
        for words in report(config.path):
            click.echo(words)


def _say_next(config: Config, steps: list[str], *, has_container: bool) -> None:
    folder = config.path.parent
    if steps:
        click.echo("As root, to have the machine run it:")
        for words in steps:
            click.echo(f"    {words}")
    if has_container:
        file = machine.folder_of(config) / "container" / "Containerfile"
        click.echo(f"How a container is built and run is said at the top of {file}.")
    click.echo("Open the board:")
    place = "" if folder == Path.cwd() else f"cd {shlex.quote(str(folder))} && "
    click.echo(f"    {place}{machine.typed('door')} serve")
    ways = [
        at_home.format(port=each.port or "PORT")
        for each in config.listeners
        if (at_home := KINDS[each.kind].at_home)
    ]
    if ways:
        click.echo("Call it:")
    for words in ways:
        click.echo(f"    {words}")
    if any("PORT" in words for words in ways):
        click.echo("The board says its PORT as it opens.")
