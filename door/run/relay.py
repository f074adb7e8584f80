"""`door run` where a server of the board runs: its caller is handed over, and the end awaited.

The server is given the very descriptors that the caller is on, and the host's files, which are
opened here. It serves the caller as this process would. What is left to do here is to tell it of
the host's signals, to write into the host's files the minutes that go back, and to say at the end
what it says. Whatever stands in the way of that, before or meanwhile, leads back to a door that
serves its caller itself (`door.cli.run`), and so it is that door which says what is wrong.

Light, for it is all that most callers wait for: see tests/test_import_budget.py.
"""

from __future__ import annotations

import _socket
import os
import signal
import termios
import time

from door.lines import handed

TYPE_CHECKING = False  # as `typing` has it, which is not loaded for that
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import FrameType
    from typing import Any

CONFIG, CONFIG_VARIABLE = "sysop.toml", "BJFT_CONFIG"
VALUES = ("config", "dropfile", "door", "board", "node", "socket", "connect", "charset", "size")
FLAGS = ("stdio", "local", "telnet", "no-telnet", "verbose")  # verbose is of 1.0, and does nothing
WAYS = ("stdio", "local", "socket", "connect")
STAYS = (
    "start_for_doors_minutes"  # in [server]: how long a server stays that doors start, 0 for none
)

ANSWER_SECONDS = 3.0  # a server that takes longer has stopped, and takes nobody
CONNECT_SECONDS = 10.0  # a host that wants to be called back listens before it starts the door
# The host has hung up, and waits for us: what cannot be posted because another program has the
# books takes three seconds, and its last words two.
POSTING_SECONDS = 6

_SIGNALS = {
    signal.SIGHUP: handed.HUNG_UP,
    signal.SIGTERM: handed.ENDED,
    signal.SIGWINCH: handed.RESIZED,
}


class Before:
    """What has become of a call before its door serves it: `went_on` if a server has begun it.

    `now` is the wall clock in seconds since 1970, and `arrived` the same instant, monotonic.
    `called_back` is the descriptor of the connection to the host, if there is one already.
    """

    def __init__(self) -> None:
        self.now, self.arrived = time.time(), time.monotonic()
        self.went_on = False
        self.called_back: int | None = None


class _Late(Exception):
    """The server has not ended a call in the time that a host leaves."""


def relay(words: Sequence[str], environment: Mapping[str, str]) -> int | Before:
    """Hand the caller of `door run` with these words to the server of the board, if there is one.

    Returns the status to exit with, once the call has ended; else the door is to serve its caller
    itself, and is told what was before.
    """
    before = Before()
    said = read(words)
    if said is None:
        return before
    settings = Settings(said, environment)
    folder = settings.folder
    if folder is None:
        return before
    try:
        wire = handed.dial(folder)
    except (FileNotFoundError, ConnectionRefusedError):
        wire = None
    except OSError:  # another user's
        return before
    if wire is None:
        from door import closed  # noqa: PLC0415 - where a server runs nobody needs these
        from door.run import starting  # noqa: PLC0415

        if not settings.start_a_server or closed.is_closed(folder):
            return before

        try:
            wire = starting.reach(settings.path, folder, settings.lock(folder))
        except OSError:
            return before
        if wire is None:
            return 0
    try:
        # Whoever shares the folder could listen in it, and be told of callers.
        if not handed.is_of(wire, os.stat(folder).st_uid):
            return before
        return _Relay(wire, before).run(said, environment)
    except OSError:  # the folder that we are in has gone, say
        return before
    finally:
        wire.close()


def read(words: Sequence[str]) -> dict[str, str] | None:
    """Read the options of `door run`; None where they are for the command itself to look at.

    >>> read(["--dropfile", "door32.sys", "--node=3", "--stdio"])
    {'dropfile': 'door32.sys', 'node': '3', 'stdio': ''}
    >>> read(["--local", "--verbose"])
    {'local': '', 'verbose': ''}
    >>> read(["--node"]), read(["--stdio", "--socket", "7"])
    (None, None)
    """
    said: dict[str, str] = {}
    left = iter(words)
    for word in left:
        name, sign, value = word.removeprefix("--").partition("=")
        if not word.startswith("--"):
            return None
        if name in VALUES:
            given = value if sign else next(left, None)
            if given is None:
                return None
            said[name] = given
        elif name in FLAGS and not sign:
            said[name] = ""
        else:
            return None
    return said if sum(way in said for way in WAYS) <= 1 else None


class Settings:
    """What sysop.toml says that matters here. It is read where no note of a server saves that.

    `folder` is the data folder, None where the settings name none, or want no relay.
    """

    def __init__(self, said: Mapping[str, str], environment: Mapping[str, str]) -> None:
        self.path = said.get("config") or environment.get(CONFIG_VARIABLE) or CONFIG
        self._file: dict[str, Any] | None = None
        self.folder = handed.folder_noted(self.path) or self._folder_set()

    @property
    def start_a_server(self) -> bool:
        """Whether a server is to be started where none runs."""
        try:
            minutes = self._table("server").get(STAYS, 0)
        except _Unreadable:
            return False
        return isinstance(minutes, int) and minutes > 0

    def lock(self, folder: str) -> str:
        """Return where the lock of the books is."""
        from timebank import serving  # noqa: PLC0415 - where a server runs nobody needs it

        try:
            on_server = bool(self._table("timebank").get("database"))
        except _Unreadable:
            on_server = False
        return serving.place_of(os.path.join(folder, serving.BOOKS), on_server=on_server)

    def _folder_set(self) -> str | None:
        try:
            if not self._table("server").get("takes_doors", True):
                return None
            folder = self._table("board").get("data", "data")
        except _Unreadable:
            return None  # what is wrong is said by who reads all of it
        if not isinstance(folder, str):
            return None
        return os.path.join(os.path.dirname(self.path), folder)

    def _table(self, name: str) -> dict[str, Any]:
        if self._file is None:
            import tomllib  # noqa: PLC0415 - not where a server has left a note

            try:
                with open(self.path, "rb") as file:
                    self._file = tomllib.load(file)
            except (OSError, ValueError, RecursionError) as error:
                raise _Unreadable from error
        table = self._file.get(name, {})
        if not isinstance(table, dict):
            raise _Unreadable
        return table


class _Unreadable(Exception):
    """The settings cannot be read; a sentence about that is left to whoever reads all of them."""


def _facts(
    said: Mapping[str, str], environment: Mapping[str, str], before: Before
) -> tuple[str, bytes, list[int]]:
    """Put what is known of the call into a message. Every path in it is whole.

    Beside it stand the folder of the drop files, before it, and descriptors of them, behind it.
    """
    here = os.getcwd()
    heard = {name: environment[name] for name in handed.VARIABLES if environment.get(name)}
    whole = {name: os.path.join(here, heard[name]) for name in handed.PATHS if name in heard}
    asked = dict(said)
    if "dropfile" in asked:
        asked["dropfile"] = os.path.join(here, asked["dropfile"])
    # In the order in which `door.dropfiles.finding` looks.
    place = asked.get("dropfile", next(iter(whole.values()), here))
    folder, files, ends = handed.files_at(place)
    facts = [
        f"version={handed.VERSION}",
        f"release={handed.release()}",
        f"now={before.now!r}",
        f"arrived={before.arrived!r}",
        f"offset={time.localtime(before.now).tm_gmtoff}",
        f"here={here}",
        *(f"--{name}={value}" for name, value in asked.items()),
        *(f"${name}={value}" for name, value in {**heard, **whole}.items()),
        *files,
    ]
    return folder, handed.packed(handed.CALL, *facts), ends


class _Relay:
    """One call at the server. `run` returns its status, or what was before if it goes on here."""

    def __init__(self, wire: _socket.socket, before: Before) -> None:
        self._wire = wire
        self._before = before
        self._hung_up = False
        self._folder = ""  # of the drop files
        self._looks: list[tuple[int, list[Any]]] = []  # of terminals, as they were

    def run(self, said: Mapping[str, str], environment: Mapping[str, str]) -> int | Before:
        usual = {number: signal.signal(number, self._heard) for number in _SIGNALS}
        usual[signal.SIGALRM] = signal.signal(signal.SIGALRM, _give_up)
        try:
            self._call(said, environment)
            return self._follow()
        except _Late:
            return 0  # what is not posted yet is found by the caller's next session
        except OSError:
            return self._go_on()
        finally:
            signal.alarm(0)
            for number, handler in usual.items():
                signal.signal(number, handler)

    def _call(self, said: Mapping[str, str], environment: Mapping[str, str]) -> None:
        self._wire.settimeout(ANSWER_SECONDS)
        self._folder, facts, ends = _facts(said, environment, self._before)
        try:
            handed.send_ends(self._wire, facts, ends)
        finally:
            for end in ends:
                os.close(end)

    def _follow(self) -> int | Before:
        while (came_to := self._obey(handed.receive(self._wire))) is None:
            continue
        return came_to

    def _obey(self, message: bytes) -> int | Before | None:
        """Do what a message of the server asks; return what the call came to, None while it is
        on. An empty message is the server's end."""
        word, *texts = handed.unpacked(message)
        if word == handed.WANTED:
            ends = self._ends(texts)
            if not ends:
                return self._go_on()
            handed.send_ends(self._wire, handed.packed(handed.LINE), ends)
        elif word == handed.TAKEN:
            self._before.went_on = True
            self._wire.settimeout(None)
        elif word == handed.GIVE:
            self._wire.send(handed.packed(*self._given(texts)))
        elif word == handed.DONE:
            return int(texts[0])
        else:  # refused, back, or nothing at all: it has ended
            return self._go_on()
        return None

    def _given(self, texts: Sequence[str]) -> tuple[str, str]:
        """Write minutes into a file of the host's, and say what has come of it."""
        try:
            from door.dropfiles.giving import give_back  # noqa: PLC0415 - at the end of few calls
        except Exception as error:  # of a release that is being installed, say
            return handed.NOT_GIVEN, f"The door cannot load what it needs: {error}."
        try:
            return give_back(self._folder, texts)
        except Exception as error:
            return handed.IN_DOUBT, f"The door failed: {error!r}."

    def _go_on(self) -> int | Before:
        """Let the door serve its caller itself, unless the host has hung up on them already."""
        for terminal, look in self._looks:
            try:
                termios.tcsetattr(terminal, termios.TCSANOW, look)
            except termios.error:
                continue  # it has gone
        return 0 if self._hung_up else self._before

    def _ends(self, wanted: Sequence[str]) -> list[int]:
        """Return the descriptors of the line that is wanted; none where there is nothing to pass
        on, which the door will find out as well, and say."""
        kind, *where = wanted
        if kind == handed.CONNECT:
            host, port = where
            # It stays ours as well: the host takes one connection, and the door may need it.
            self._before.called_back = _connected(host, int(port))
            return [self._before.called_back]
        if kind == handed.SOCKET:
            number = int(where[0])
            # What the host has not passed down may be what was opened here.
            is_one = number != self._wire.fileno() and handed.is_socket(number)
            return [number] if is_one else []
        if not all(handed.flows(number) for number in (0, 1)):
            return []
        for number in (0, 1):
            if os.isatty(number):
                self._looks.append((number, termios.tcgetattr(number)))
        return [0, 1]

    def _heard(self, number: int, frame: FrameType | None) -> None:
        """Tell the server of a signal; a server that has gone is seen elsewhere."""
        if number != signal.SIGWINCH and not self._hung_up:
            self._hung_up = True
            signal.alarm(POSTING_SECONDS)
        word = _SIGNALS[signal.Signals(number)]
        try:
            self._wire.send(handed.packed(word), _socket.MSG_DONTWAIT | _socket.MSG_NOSIGNAL)
        except OSError:
            return


def _give_up(number: int, frame: FrameType | None) -> None:
    raise _Late


def _connected(host: str, port: int) -> int:
    """Call the host back; `OSError` where nobody answers."""
    import socket  # noqa: PLC0415 - it finds hosts by their names, and few want to be called back

    with socket.create_connection((host, port), CONNECT_SECONDS) as wire:
        wire.settimeout(None)
        return wire.detach()
