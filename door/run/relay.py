"""`door run`: hands its caller over to the server of the board, and waits for the end of the call.

The door sends the host's files and the descriptors of the caller's line to the server. During the
call it passes the host's signals to the server, and writes returned minutes into the host's files.
It exits with the status that the server sends. If no server runs, the door starts one
(`door.run.starting`). If the server ends during a call, the door hands the same descriptors to the
next server. A caller who cannot be served reads the reason (`door.run.turning_away`).

This module imports little, because callers wait for it to load: see tests/test_import_budget.py.
"""

from __future__ import annotations

import _socket
import os
import select
import signal
import sys
import termios
import time

from door.lines import hand_over

TYPE_CHECKING = False  # without `typing`, which is slow to load
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import FrameType
    from typing import Any, NoReturn

    from door.lines.hand_over import HostFolder
    from door.run.caller_line import CallerLine

CONFIG, CONFIG_VARIABLE = "sysop.toml", "BJFT_CONFIG"
VALUES = ("config", "dropfile", "door", "board", "node", "socket", "connect", "charset", "size")
STATE_OPTION = "goes-on"  # a door passes it only to itself
# Release 1.0 had --verbose, which is ignored now.
FLAGS = ("stdio", "local", "telnet", "no-telnet", "verbose")
LINE_OPTIONS = ("stdio", "local", "socket", "connect")
CHARSETS = ("cp437", "cp437-text", "utf-8", "iso-8859-1", "us-ascii", "petscii", "atascii")
NODE_DIGITS = 4

WELL = 0  # also if the caller hung up, or was turned away for the caller's own reason
FAILED = 1  # the door or the server failed: the log has the fault
REFUSED = 2  # no caller can be served: the log tells the sysop what to do

# Texts for a caller without a server.
ONE_MOMENT = "One moment, please."
UP_TO_DATE = "The board is being brought up to date. One moment, please."
NO_ANSWER = "The board does not answer just now. Please call again later."

# Texts for the log.
TOO_LONG = "what the host says is too long for a server: one of {}, or the name of a folder"
HUNG = "the board's server does not answer"
NOT_HANDED_OVER = "the caller could not be handed over to the server: {}"

CONNECT_SECONDS = 10.0  # to a host that listens before it starts the door
# The host has hung up, and waits for the door to end. After this time the server posts alone.
POSTING_SECONDS = 6
MAX_HAND_OVERS, HAND_OVER_SECONDS = 3, 60.0  # to other servers, within these seconds
# The wait for a server of another protocol to end, and the pause between two attempts.
UP_TO_DATE_SECONDS, UP_TO_DATE_PAUSE = 60.0, 1.0
CLOSED_SECONDS = 15.0  # for `door serve` to restart

NO_FOLDER: HostFolder = ("", False, 0, [])  # before the files are read
ENTRY_CODE = "from door.cli.entry import main; main()"
HANG_UPS = (signal.SIGHUP, signal.SIGTERM)
_SIGNALS = {
    signal.SIGHUP: hand_over.HUNG_UP,
    signal.SIGTERM: hand_over.ENDED,
    signal.SIGWINCH: hand_over.RESIZED,
}


class CallState:
    """The state of a call that the door carries from one server to the next.

    `was_served` is True after a server has had the call. `now` is the start of the call by the wall
    clock, in seconds since 1970, and `arrived` the same instant by the monotonic clock.
    `called_back` is the descriptor of the connection to the host, or None. `place` is the path of
    the drop files, and `folder` has their contents.
    """

    def __init__(self) -> None:
        self.now, self.arrived = time.time(), time.monotonic()
        self.was_served = False
        self.called_back: int | None = None
        self.place, self.folder = "", NO_FOLDER
        self.release = hand_over.release()  # of this process; an update may install another

    def read(self, place: str) -> None:
        """Read the host's files in `place`.

        The door reads them when the call begins and after it has written minutes into them. It does
        not read them for another server, because they may be the next caller's by then.
        """
        self.place, self.folder = place, hand_over.files_at(place)

    def call_back(self, host: str, port: int) -> int:
        """Return the descriptor of the only connection to the host. Raises `_NotServed`."""
        if self.called_back is None:
            self.called_back = _connect(host, port)
        return self.called_back

    def restart(self) -> None:
        """Replace this program by the door of the installed release; return only on failure.

        The process keeps its number and the caller's descriptors. A memory file, named by an
        option, carries the state of the call. Signals stay blocked until the new door is ready.
        """
        import json  # noqa: PLC0415 - few doors see an update

        path, is_named, error, files = self.folder
        read = path, is_named, error, [(*about, inside.hex()) for *about, inside in files]
        facts = self.now, self.arrived, self.was_served, self.called_back, self.place, read
        # An update may have removed the old script already, as pip installs modules first.
        begin = [sys.executable, "-P", "-c", ENTRY_CODE]
        try:
            end = os.memfd_create(STATE_OPTION, 0)
            with open(end, "w", encoding="ascii", closefd=False) as file:
                json.dump(facts, file)
            if self.called_back is not None:
                os.set_inheritable(self.called_back, True)
            signal.pthread_sigmask(signal.SIG_BLOCK, HANG_UPS)
            os.execv(sys.executable, [*begin, *sys.argv[1:], f"--{STATE_OPTION}={end}"])
        except OSError:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, HANG_UPS)

    def restore(self, descriptor: str) -> None:
        """Restore the state that `restart` has written, if the descriptor has one."""
        import json  # noqa: PLC0415 - few doors restart

        try:
            os.lseek(end := int(descriptor), 0, os.SEEK_SET)
            with open(end, encoding="ascii") as file:
                facts = json.load(file)
            self.now, self.arrived, self.was_served, self.called_back, self.place, read = facts
            path, is_named, error, files = read
        except (OSError, ValueError, TypeError, OverflowError):
            return
        whole = [(*about, bytes.fromhex(inside)) for *about, inside in files]
        self.folder = path, is_named, error, whole


class _NotServed(Exception):
    """The caller cannot be served. `words` are for the caller, `why` is for the log; "" for none.

    `is_logged` is True if a server has logged `why`.
    """

    def __init__(self, words: str, status: int, why: str = "", *, is_logged: bool = False) -> None:
        super().__init__(words)
        self.words, self.status, self.why, self.is_logged = words, status, why, is_logged


class _Late(Exception):
    """The server has not ended the call within `POSTING_SECONDS` after the host's hang-up."""


class _HungUp(Exception):
    """The host has hung up before a server had the caller."""


class _OtherProtocol(Exception):
    """The server uses the protocol of another release."""


def relay(words: Sequence[str], environment: Mapping[str, str]) -> int | None:
    """Hand over the caller of `door run` with the arguments `words`; return the exit status.

    Returns None if the command itself must parse the arguments.
    """
    options = read(words)
    return None if options is None else Door(options, environment).run()


class Door:
    """One call from start to end, at one server or at several in turn."""

    def __init__(self, options: Mapping[str, str], environment: Mapping[str, str]) -> None:
        self.options, self.environment = dict(options), environment
        self.state = CallState()
        if STATE_OPTION in self.options:
            self.state.restore(self.options.pop(STATE_OPTION))
        self.settings = Settings(options, environment)
        self._hand_overs: list[float] = []
        self._last_notice = ""  # the last text that asked the caller to wait
        self._update_since: float | None = None  # since when an update keeps it from a server

    def run(self) -> int:
        for number in HANG_UPS:
            signal.signal(number, _hang_up)
        try:
            try:
                signal.pthread_sigmask(signal.SIG_UNBLOCK, HANG_UPS)
                return self._serve()
            except _NotServed as refusal:
                return self._turn_away(refusal)
            except _HungUp:
                raise
            except Exception as error:  # the current folder is gone, for example
                why = f"the door failed: {error!r}"
                return self._turn_away(_NotServed(hand_over.OUT_OF_ORDER, FAILED, why))
            finally:
                # A hasty host sends a second signal after the first.
                for number in HANG_UPS:
                    signal.signal(number, _ignore_signal)
        except _HungUp:
            return WELL

    def _serve(self) -> int:
        """Run the call at servers in turn; return its exit status. Raises `_NotServed`."""
        status = None
        while status is None:
            try:
                status = self._serve_once()
            except ImportError as error:  # an update is replacing the files of the program
                self._wait_for_update(f"the program is not whole, install it again: {error}")
        return status

    def wait(self, words: str) -> None:
        """Ask the caller to wait, with each text only once."""
        if words == self._last_notice:
            return
        begins = f"{self._line_break()}\r\n" if self._last_notice or self.state.was_served else ""
        if (line := self._line()) is not None:
            line.say(f"{begins}{words}")
        self._last_notice = words

    def _line_break(self) -> str:
        """Return the line break that puts the cursor below the screen of a killed server, or ""."""
        return "\r\n" if self.state.was_served and not self._last_notice else ""

    def _line(self) -> CallerLine | None:
        try:
            from door.run import caller_line  # noqa: PLC0415 - only without a server

            return caller_line.find_line(self.options, self.state.folder[3], self.state.call_back)
        except (_NotServed, ImportError):  # the host refuses, or an update is under way
            return None

    def _turn_away(self, refusal: _NotServed) -> int:
        line = self._line() if refusal.words else None
        path = "" if refusal.is_logged else self.settings.path
        words = refusal.words and f"{self._line_break()}{refusal.words}"
        try:
            from door.run import turning_away  # noqa: PLC0415 - few callers
        except ImportError:  # an update is under way
            if line is not None:
                line.say(words)
        else:
            turning_away.turn_away(path, line, words, refusal.why)
        return refusal.status

    def _serve_once(self) -> int | None:
        """Run the call at a server; return its status, or None to continue at another server."""
        if self.state.was_served:
            self._update()
        # The host's disk may be slow, so read it before a server waits for this door.
        if not self.state.place:
            self.state.read(_absolute_paths(self.options, self.environment)[0])
        wire = self._reach()
        try:
            messages = _messages(self.options, self.environment, self.state)
            status = _Relay(wire, self.state).run(messages)
        except _OtherProtocol:
            self._wait_for_update("the board's server is of another release")
            return None
        except TimeoutError as error:
            raise _NotServed(NO_ANSWER, FAILED, HUNG) from error
        finally:
            wire.close()
        if status is None:
            self._count_hand_over()
        return status

    def _count_hand_over(self) -> None:
        """Count a hand-over to another server; raise `_NotServed` after `MAX_HAND_OVERS`."""
        now = time.monotonic()
        recent = [each for each in self._hand_overs if now - each < HAND_OVER_SECONDS]
        self._hand_overs = [*recent, now]
        if len(recent) >= MAX_HAND_OVERS:
            raise _NotServed(
                hand_over.CLOSED, FAILED, "the board's servers have ended one after another"
            )
        self._last_notice = ""
        time.sleep(hand_over.PAUSE if recent else 0)

    def _update(self) -> None:
        """Restart if another release is installed: modules of two releases do not work together."""
        if hand_over.release() not in ("", self.state.release):
            self.state.restart()

    def _wait_for_update(self, why: str) -> None:
        """Wait for a server of this protocol or for the files of an update; restart if needed.

        Raises `_NotServed` with `why` after `UP_TO_DATE_SECONDS`.
        """
        self._update()
        now = time.monotonic()
        self._update_since = self._update_since or now
        if now - self._update_since > UP_TO_DATE_SECONDS:
            raise _NotServed(hand_over.CLOSED, REFUSED, why)
        self.wait(UP_TO_DATE)
        time.sleep(UP_TO_DATE_PAUSE)

    def _reach(self) -> _socket.socket:
        """Reach the server of the board, and start one if none runs; raise `_NotServed`."""
        folder = self.settings.folder
        if folder is None:
            raise _NotServed(
                hand_over.OUT_OF_ORDER, REFUSED, f"{self.settings.path} cannot be read"
            )
        try:
            wire = hand_over.dial_if_any(folder)
            while wire is None:
                folder = self.settings.reread_folder() or folder
                self._wait_while_closed(folder)
                wire = hand_over.dial_if_any(folder) or self._start(folder)
        except BlockingIOError as error:  # the server's queue is full
            raise _NotServed(NO_ANSWER, FAILED, HUNG) from error
        except OSError as error:
            why = f"the server's {os.path.join(folder, hand_over.NAME)} cannot be opened: {error}"
            raise _NotServed(hand_over.CLOSED, REFUSED, why) from error
        # Another user with access to the folder could listen there, and spy on callers.
        if not hand_over.is_of(wire, os.stat(folder).st_uid):
            wire.close()
            why = f"the server in {folder} is neither its owner's nor root's: it gets no calls"
            raise _NotServed(hand_over.CLOSED, REFUSED, why)
        return wire

    def _wait_while_closed(self, folder: str) -> None:
        """Raise `_NotServed` if the board is closed.

        A caller who was served or waits for an update waits for the sysop's server to restart.
        """
        from door import closed  # noqa: PLC0415 - only without a server

        is_restarted = self.state.was_served or self._update_since is not None
        until = time.monotonic() + (CLOSED_SECONDS if is_restarted else 0.0)
        while closed.is_closed(folder):
            if time.monotonic() >= until:
                raise _NotServed(hand_over.CLOSED, WELL)
            self.wait(ONE_MOMENT)
            time.sleep(hand_over.PAUSE)

    def _start(self, folder: str) -> _socket.socket:
        from door.run import starting  # noqa: PLC0415 - only without a server

        if not self.state.was_served and "local" not in self.options:
            self._find_drop_file()
        self.wait(ONE_MOMENT)
        try:
            place = self.settings.lock(folder)
            # A failed start, as in an update, must not cost a caller online their hand.
            is_online = self.state.was_served
            wire = starting.reach(self.settings.path, folder, place, waits=is_online)
        except PermissionError as refused:
            raise _NotServed(hand_over.CLOSED, REFUSED, str(refused)) from refused
        except OSError as error:
            log = os.path.join(folder, starting.LOG)
            why = f"no server could be started: {error}. {log} may say why"
            raise _NotServed(hand_over.OUT_OF_ORDER, REFUSED, why) from error
        return wire

    def _find_drop_file(self) -> None:
        """Raise `_NotServed` for a call without a drop file, before a server starts in vain."""
        from pathlib import Path  # noqa: PLC0415 - only without a server

        from door.dropfiles import disk, search  # noqa: PLC0415
        from door.errors import DropFileRefused  # noqa: PLC0415

        try:
            search.find(Path(self.state.place), {}, None, at=disk.HostFiles(*self.state.folder))
        except DropFileRefused as refused:
            why = f"the call is refused: {refused}"
            raise _NotServed(refused.polite, REFUSED, why) from refused


def _hang_up(number: int, frame: FrameType | None) -> NoReturn:
    raise _HungUp


def _ignore_signal(number: int, frame: FrameType | None) -> None:
    return


def read(words: Sequence[str]) -> dict[str, str] | None:
    """Parse the arguments of `door run`; return None if the command itself must parse them.

    >>> read(["--dropfile", "door32.sys", "--node=3", "--stdio"])
    {'dropfile': 'door32.sys', 'node': '3', 'stdio': ''}
    >>> read(["--local", "--verbose"])
    {'local': '', 'verbose': ''}
    >>> read(["--node"]), read(["--node", "one"]), read(["--stdio", "--socket", "7"])
    (None, None, None)
    """
    options: dict[str, str] = {}
    remaining = iter(words)
    for word in remaining:
        name, sign, value = word.removeprefix("--").partition("=")
        if not word.startswith("--"):
            return None
        if name in (*VALUES, STATE_OPTION):
            argument = value if sign else next(remaining, None)
            if argument is None:
                return None
            options[name] = argument
        elif name in FLAGS and not sign:
            options[name] = ""
        else:
            return None
    return options if _is_valid(options) else None


def _is_valid(options: Mapping[str, str]) -> bool:
    node, descriptor = options.get("node", "0"), options.get("socket", "0")
    return (
        sum(way in options for way in LINE_OPTIONS) <= 1
        and (node.isdecimal() and len(node) <= NODE_DIGITS)
        and descriptor.isdecimal()
        and options.get("charset", CHARSETS[0]) in CHARSETS
    )


class Settings:
    """The settings that a door needs, from a server's note or else from sysop.toml.

    `path` is sysop.toml, and `folder` the data folder; None if the settings cannot be read.
    """

    def __init__(self, options: Mapping[str, str], environment: Mapping[str, str]) -> None:
        self.path = options.get("config") or environment.get(CONFIG_VARIABLE) or CONFIG
        self.folder = hand_over.folder_noted(self.path) or self._configured_folder()

    def reread_folder(self) -> str | None:
        """Return the data folder by sysop.toml: it may have moved since the last server."""
        self.folder = self._configured_folder() or self.folder
        return self.folder

    def lock(self, folder: str) -> str:
        """Return the path of the lock of the books."""
        from timebank import serving  # noqa: PLC0415 - only without a server

        on_server = bool(self._table("timebank").get("database"))
        return serving.place_of(os.path.join(folder, serving.BOOKS), on_server=on_server)

    def _configured_folder(self) -> str | None:
        folder = self._table("board").get("data", "data")
        if not isinstance(folder, str) or self._is_unreadable:
            return None  # the whole command reads all settings, and reports their faults
        return os.path.join(os.path.dirname(self.path), folder)

    def _table(self, name: str) -> dict[str, Any]:
        import tomllib  # noqa: PLC0415 - not needed with a server's note

        self._is_unreadable = False
        try:
            with open(self.path, "rb") as file:
                table = tomllib.load(file).get(name, {})
        except (OSError, ValueError, RecursionError):
            table = None
        if not isinstance(table, dict):
            self._is_unreadable = True
            return {}
        return table


def _messages(
    options: Mapping[str, str],
    environment: Mapping[str, str],
    state: CallState,
) -> list[bytes]:
    """Return the messages that describe the call to a server, with absolute paths.

    Raises `_NotServed` if a message is too long for a server.
    """
    _, here, asked, variables = _absolute_paths(options, environment)
    path, is_named, error, files = state.folder
    facts = [
        f"version={hand_over.VERSION}",
        f"release={hand_over.release()}",
        f"now={state.now!r}",
        f"arrived={state.arrived!r}",
        f"offset={time.localtime(state.now).tm_gmtoff}",
        f"here={here}",
        f"folder={path}",
        f"named={is_named:d}",
        f"unread={error}",
        *([f"went_on={time.monotonic()!r}"] if state.was_served else []),
        *(f"--{name}={value}" for name, value in asked.items()),
        *(f"${name}={value}" for name, value in variables.items()),
    ]
    call = hand_over.packed(hand_over.CALL, *facts)
    if len(call) > hand_over.LARGEST:
        long = [f"--{name}" for name in asked] + list(variables)
        raise _NotServed(hand_over.OUT_OF_ORDER, REFUSED, TOO_LONG.format(", ".join(long)))
    return [*map(hand_over.file_packed, files), call]


def _absolute_paths(
    options: Mapping[str, str], environment: Mapping[str, str]
) -> tuple[str, str, dict[str, str], dict[str, str]]:
    """Return the path of the drop files, the current folder, the options and the variables.

    All paths are absolute.
    """
    try:
        here = os.getcwd()
    except OSError:  # the host has removed the current folder
        here = "/"
    variables = {name: environment[name] for name in hand_over.VARIABLES if environment.get(name)}
    paths = {
        name: os.path.join(here, variables[name]) for name in hand_over.PATHS if name in variables
    }
    asked = dict(options)
    if "dropfile" in asked:
        asked["dropfile"] = os.path.join(here, asked["dropfile"])
    # In the order of `door.dropfiles.search`.
    place = asked.get("dropfile", next(iter(paths.values()), here))
    return place, here, asked, {**variables, **paths}


class _Relay:
    """One call at one server."""

    def __init__(self, wire: _socket.socket, state: CallState) -> None:
        self._wire = wire
        self._state = state
        self._hung_up = False
        self._blocking: list[tuple[int, bool]] = []  # descriptors, with their first blocking mode
        self._terminals: list[tuple[int, list[Any]]] = []  # with their first attributes

    def run(self, messages: Sequence[bytes]) -> int | None:
        """Return the status of the call; None to continue at another server.

        Raises `_NotServed`, `_OtherProtocol`, and `TimeoutError` if the server does not answer.
        """
        usual = {number: signal.signal(number, self._pass_on) for number in _SIGNALS}
        usual[signal.SIGALRM] = signal.signal(signal.SIGALRM, _stop_posting)
        try:
            self._call(messages)
            return self._follow()
        except _Late:
            return WELL  # the caller's next session finds what is not posted yet
        except ConnectionError:
            return self._restore_line()
        except OSError as error:
            if self._hung_up:
                return WELL
            if isinstance(error, TimeoutError):
                raise
            raise _NotServed(
                hand_over.OUT_OF_ORDER, FAILED, NOT_HANDED_OVER.format(error)
            ) from error
        finally:
            signal.alarm(0)
            for number, handler in usual.items():
                signal.signal(number, handler)

    def _call(self, messages: Sequence[bytes]) -> None:
        self._wire.settimeout(hand_over.ANSWER_SECONDS)
        for message in messages:
            self._wire.send(message)

    def _follow(self) -> int | None:
        while self._obey(message := hand_over.receive(self._wire)):
            continue
        return self._result(message)

    def _is_readable(self) -> bool:
        """Return whether a message has come, or the server has ended."""
        poll = select.poll()
        poll.register(self._wire, select.POLLIN)
        return bool(poll.poll(0))

    def _obey(self, message: bytes) -> bool:
        """Carry out a message of the server; return whether the call continues.

        An empty message means that the server has ended.
        """
        word, *texts = hand_over.unpacked(message)
        if word == hand_over.WANTED:
            hand_over.send_ends(self._wire, hand_over.packed(hand_over.LINE), self._ends(texts))
        elif word == hand_over.TAKEN:
            self._state.was_served = True
            self._wire.settimeout(None)
        elif word == hand_over.GIVE:
            # A server that waits for the answer sends nothing until then.
            if not self._is_readable():
                self._wire.send(hand_over.packed(*self._give_back(texts)))
        elif word == hand_over.REFUSED:
            if len(texts) != 4 or texts[0] != hand_over.VERSION:
                raise _OtherProtocol
            _, status, words, why = texts
            raise _NotServed(words, int(status), why, is_logged=True)
        else:  # done, again, or an empty message
            return False
        return True

    def _result(self, message: bytes) -> int | None:
        """Return the result of `run` for the last message."""
        word, *texts = hand_over.unpacked(message)
        return int(texts[0]) if word == hand_over.DONE else self._restore_line()

    def _give_back(self, texts: Sequence[str]) -> tuple[str, str]:
        """Write minutes into a file of the host, and return the answer for the server."""
        try:
            from door.dropfiles.give_back import give_back  # noqa: PLC0415 - at the end of few calls
        except Exception as error:  # an update is under way, for example
            return hand_over.NOT_GIVEN, f"The door cannot load what it needs: {error}."
        try:
            answer = give_back(self._state.folder[0], texts)
            if answer[0] == hand_over.GIVEN:
                self._state.read(self._state.place)
            return answer
        except Exception as error:
            return hand_over.IN_DOUBT, f"The door failed: {error!r}."

    def _restore_line(self) -> int | None:
        """Restore the line to its state before this server; return the result of `run`."""
        for terminal, attributes in self._terminals:
            try:
                termios.tcsetattr(terminal, termios.TCSANOW, attributes)
            except termios.error:
                continue  # the terminal is gone
        for end, is_blocking in self._blocking:
            os.set_blocking(end, is_blocking)
        return WELL if self._hung_up else None

    def _ends(self, wanted: Sequence[str]) -> list[int]:
        """Return the descriptors of the line that the server wants; raise `_NotServed`."""
        kind, *where = wanted
        if kind == hand_over.CONNECT:
            host, port = where
            return [self._state.call_back(host, int(port))]
        ends = [int(where[0])] if kind == hand_over.SOCKET else [0, 1]
        # A number that the host has not passed down may be a descriptor of this process.
        if self._wire.fileno() in ends or not _are_caller_ends(ends):
            from door.run.turning_away import line_problem  # noqa: PLC0415 - few fail

            raise _NotServed("", REFUSED, line_problem(ends) or f"{ends} is not the caller's")
        for end in ends:
            self._blocking.append((end, os.get_blocking(end)))
            if os.isatty(end):
                self._terminals.append((end, termios.tcgetattr(end)))
        return ends

    def _pass_on(self, number: int, frame: FrameType | None) -> None:
        """Pass a signal to the server; `_follow` notices a server that has ended."""
        if number != signal.SIGWINCH and not self._hung_up:
            self._hung_up = True
            signal.alarm(POSTING_SECONDS)
        word = _SIGNALS[signal.Signals(number)]
        try:
            self._wire.send(hand_over.packed(word), _socket.MSG_DONTWAIT | _socket.MSG_NOSIGNAL)
        except OSError:
            return


def _stop_posting(number: int, frame: FrameType | None) -> None:
    raise _Late


def _are_caller_ends(ends: Sequence[int]) -> bool:
    try:
        if len(ends) == 1:
            return hand_over.is_socket(ends[0])
        return all(map(hand_over.flows, ends))
    except (OSError, OverflowError):
        return False


def _connect(host: str, port: int) -> int:
    """Connect to the host, and return the descriptor; raise `_NotServed` without an answer."""
    import socket  # noqa: PLC0415 - it resolves names, and few hosts want a connection

    try:
        with socket.create_connection((host, port), CONNECT_SECONDS) as wire:
            wire.settimeout(None)
            return wire.detach()
    except (OSError, UnicodeError) as error:  # UnicodeError for an invalid host name
        why = f"{host} does not answer on port {port} ({error}): it must listen there first"
        raise _NotServed("", REFUSED, why) from error
