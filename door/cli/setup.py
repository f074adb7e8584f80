"""`door setup`: what another board needs to send its callers here, written and tried."""

from __future__ import annotations

import fcntl
import os
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from door.cli.common import config_option, load_config
from door.cli.doctor import examine
from door.config.listeners import DOORS_ALONE
from door.config.log_file import FILE
from door.config.schema import described
from door.errors import DoesNotFit, DropFileRefused
from door.server import server_note
from door.session.arrival import Asked
from door.setup import host_boards, writing
from door.setup.host_boards import DROP_FILE, HostSetup, drop_file
from door.setup.writing import Fate, beside, put
from timebank.cli.errors import EXIT_WRONG, UserError, refusing
from timebank.errors import BooksFailed, DatabaseRefused, SettingsError

if TYPE_CHECKING:
    from door.config.config import Config

_SCRIPT, _TEXT = 0o755, 0o644


@click.command()
@config_option
@click.argument("board", type=click.Choice(tuple(host_boards.KINDS)))
@click.option("--name", help="What the board is called here, in [boards.NAME].")
@click.option(
    "--bbs",
    "root",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="The folder of the board's software, such as /sbbs.",
)
@click.option(
    "--line",
    type=click.Choice(["stdio", "socket"]),
    default="stdio",
    show_default=True,
    help="How its callers come: by standard input and output, or on their sockets.",
)
@click.option("--no-call", is_flag=True, help="Write everything, and try no call.")
def setup(
    config_path: Path, board: str, name: str | None, root: Path | None, line: str, no_call: bool
) -> None:
    """Let a BOARD send its callers here: write what it needs, and try a call.

    A table for it goes into sysop.toml, where everything else stays as it is. What is to be pasted
    on the other board is written beside sysop.toml, and where it goes is said.
    """
    config = load_config(config_path)
    kind = host_boards.KINDS[board]
    with refusing(DoesNotFit):
        made = host_boards.chosen(
            config, kind, name, (root or Path(kind.root)).absolute(), stdio=line == "stdio"
        )
        files = host_boards.files(config, made)
    text = _settings(config, made)
    _write(config, files)
    for words in (*host_boards.next_steps(config, made), *_doubts(config, made)):
        click.echo(words)
    if not kind.followed:
        click.echo(f"Nobody has followed this on a {kind.name} yet: say what you find.")
    if not no_call:
        _try(config, text, made)


def _settings(config: Config, made: HostSetup) -> str:
    """Add the board's table to the settings, unless they would be wrong with it."""
    before = config.path.read_text(encoding="utf-8-sig")
    text, said = host_boards.with_table(before, made)
    with refusing(SettingsError):
        described(text, config.path)
    if text != before:
        try:
            writing.replace(config.path, text)
        except OSError as error:
            raise UserError(
                f"{config.path} cannot be written ({error.strerror}), and is as it was. Paste this"
                " into it:\n" + "\n".join(f"    {each}" for each in host_boards.lines(made))
            ) from error
    for words in said:
        click.echo(words)
    return text


def _write(config: Config, files: dict[str, str]) -> None:
    said = {
        Fate.WRITTEN: "Wrote {path}.",
        Fate.SAME: "{path} is there already, as it would be written now.",
        Fate.BESIDE: "{path} is there already and stays. Put {new} in its place, unless you have"
        " changed it.",
    }
    for name, text in files.items():
        path = config.path.absolute().parent / name
        try:
            fate = put(path, text, _SCRIPT if path.suffix == ".sh" else _TEXT)
        except OSError as error:
            raise UserError(f"{path} cannot be written ({error.strerror}).") from error
        click.echo(said[fate].format(path=path, new=beside(path).name))


def _doubts(config: Config, made: HostSetup) -> list[str]:
    """Say what will be in the way once the board starts the door."""
    said = []
    if not made.root.is_dir():
        said.append(f"There is no folder {made.root} here: --bbs says where {made.kind.name} is.")
    elif made.kind.starts_doors:
        said += _owners(config, made)
    if made.kind.starts_doors:
        said.append(_for_doors_alone(config))
    if made.kind.starts_doors and config.bank.events:
        events = ", ".join(event.name for event in config.bank.events)
        said.append(
            f"The events of {config.path} close the door too ({events}). Unless you have a reason"
            " for them, write events = [] above the first table, in place of [[events]]."
        )
    return said


def _for_doors_alone(config: Config) -> str:
    if not config.listeners:
        return f"{DOORS_ALONE} The first door starts a server, so that you need not run one."
    return (
        "If your callers come through doors alone, write listeners = [] above the first table of"
        f" {config.path}, in place of [[listeners]]: no port is opened then."
    )


def _owners(config: Config, made: HostSetup) -> list[str]:
    theirs, data = made.root.stat().st_uid, config.board.data
    ours = (data if data.exists() else config.path).stat().st_uid
    if theirs == ours:
        return []
    return [
        f"{made.root} and {data} belong to different users. The books must belong to the user that"
        f" {made.kind.name} runs as, or to a group of both: docs/door-mode.md, Setting it up."
    ]


def _try(config: Config, text: str, made: HostSetup) -> None:
    """Say who would come and what they would bring, then have the board's own command run."""
    if not made.kind.starts_doors:
        return

    for words in _told(config, made):
        click.echo(words)
    try:
        tried = call(config, text, made)
    except OSError as error:
        raise UserError(f"No call could be tried ({error.strerror}).") from error
    if tried.trouble:
        click.echo(tried.trouble, err=True)
        sys.exit(EXIT_WRONG)
    click.echo(
        f"A call was tried as {made.kind.name} makes it, on books of its own: the caller was asked"
        f" something after {tried.seconds:.1f} s, hung up, and the door ended in order."
    )


def _told(config: Config, made: HostSetup) -> list[str]:
    again = load_config(config.path)
    with tempfile.TemporaryDirectory(prefix="bjft-call-") as folder:
        path = Path(folder) / DROP_FILE
        path.write_bytes(drop_file(made))
        try:
            with refusing(DatabaseRefused, BooksFailed):
                asked = Asked(path, made.name if made.says_board else None, None)
                said = examine(again, asked)
        except DropFileRefused as refused:
            raise UserError(str(refused)) from refused
    return said[said.index("") + 1 :]


# A call as a board makes it, to see whether what was set up works: by the very command that the
# board will run, on a terminal, with a drop file in the board's manner.
#
# It plays on books of its own that are thrown away, so nobody is entered and no minute moves.

SECONDS = 60.0  # that a call may take to its first question, on a busy machine
ENDS = 10.0  # and to its end, when its host hangs up
COLUMNS, ROWS = 80, 24  # of its terminal
_QUESTION = b"tour"  # what a caller is asked who has not been here before
_CODES = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]")
_LAST_LINES = 3


@dataclass(frozen=True)
class TrialCall:
    """How it went: `seconds` to the first question, and "" or what went wrong."""

    seconds: float
    trouble: str


def call(config: Config, text: str, setup: HostSetup) -> TrialCall:
    """Make a call under the settings of `text`. Raises `OSError`."""
    with tempfile.TemporaryDirectory(prefix="bjft-call-") as folder:
        here = Path(folder)
        settings = here / "sysop.toml"
        settings.write_text(_for_trial(text, here), encoding="utf-8")
        dropped = here / DROP_FILE
        dropped.write_bytes(host_boards.drop_file(setup))
        line = host_boards.command(config, setup).replace(setup.kind.macro, str(dropped))
        line = line.replace(str(config.path.absolute()), str(settings))
        words = [*line.split(), *_way(setup)]
        try:
            return _made(words, here)
        finally:
            _end_server(here / "data")


def _way(setup: HostSetup) -> list[str]:
    """Have the call made on a terminal, whatever socket a board would hand down."""
    return ["--stdio"] if setup.kind.is_wrapped or not setup.stdio else []


def _for_trial(text: str, folder: Path) -> str:
    """Return the settings with books of their own, open at any hour, and in English."""
    import tomlkit  # noqa: PLC0415 - only who writes settings needs it

    document = tomlkit.parse(text)
    for key in ("timebank", "server", "listeners", "pages"):
        document.pop(key, None)
    document.pop("events", None)
    board = document.pop("board", tomlkit.table())
    board["data"], board["language"], board["animation"] = str(folder / "data"), "en", "off"
    trial = tomlkit.document()
    trial["events"] = []
    trial["board"] = board
    for key, value in document.items():
        trial[key] = value
    return tomlkit.dumps(trial)


def _made(words: list[str], folder: Path) -> TrialCall:
    began = time.monotonic()
    near, far = os.openpty()
    fcntl.ioctl(far, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    environment = {**os.environ, "TERM": "ansi"}
    environment.pop("BJFT_CONFIG", None)
    with closing(os.fdopen(near, "rb", buffering=0)), tempfile.TemporaryFile() as errors:
        try:
            process = subprocess.Popen(
                words,
                stdin=far,
                stdout=far,
                stderr=errors,
                cwd=folder,
                env=environment,
                start_new_session=True,
            )
        except OSError as error:
            return TrialCall(0.0, f"{words[0]} cannot be started ({error.strerror}).")
        finally:
            os.close(far)
        try:
            is_asked = _reads(near, began + SECONDS)
            seconds = time.monotonic() - began
            with suppress(ProcessLookupError):
                process.send_signal(signal.SIGHUP)
            status = _ends(process, near)
        finally:
            process.kill()
            process.wait()
        if is_asked and status == 0:
            return TrialCall(seconds, "")
        errors.seek(0)
        said = _last(errors.read().decode(errors="replace")) or _log(folder)
        how = f"it ended with status {status}" if status is not None else "it did not end"
        return TrialCall(seconds, f"The call failed: {how}. {said}".strip())


def _reads(terminal: int, until: float) -> bool:
    """Read what the caller is shown, as far as the first question."""
    shown = b""
    while (left := until - time.monotonic()) > 0:
        readable, _, _ = select.select([terminal], [], [], left)
        if not readable:
            break
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # the other end is closed
            break
        shown += piece
        if not piece or _QUESTION in _CODES.sub(b"", shown):
            break
    return _QUESTION in _CODES.sub(b"", shown)


def _ends(process: subprocess.Popen[bytes], terminal: int) -> int | None:
    """Wait for the end, and read on meanwhile: a terminal that nobody reads fills up."""
    until = time.monotonic() + ENDS
    while process.poll() is None and time.monotonic() < until:
        readable, _, _ = select.select([terminal], [], [], 0.05)
        with suppress(OSError):
            if readable and not os.read(terminal, 65536):
                time.sleep(0.05)
    return process.poll()


def _end_server(data: Path) -> None:
    """End the server that the call has started, before its books are thrown away."""
    found = server_note.server_in(data)
    if found is None or not found.runs:
        return
    with suppress(ProcessLookupError):
        process = os.pidfd_open(found.process)
        try:
            signal.pidfd_send_signal(process, signal.SIGTERM)
            select.select([process], [], [], ENDS)
        finally:
            os.close(process)


def _log(folder: Path) -> str:
    try:
        return _last((folder / "data" / FILE).read_text(encoding="utf-8"))
    except OSError:
        return ""


def _last(text: str) -> str:
    return " / ".join(line.strip() for line in text.strip().splitlines()[-_LAST_LINES:])
