"""`door run`: hands its caller over to the server of the board, and waits for the end.

The door reads the host's files for the server, and passes on the descriptors of the caller's line.
During the call it tells the server of the host's signals, and writes minutes that go back into the
host's files. It exits with the status that the server says. Where no server runs, it starts one
(`door.run.starting`). When the server ends in the middle of a call, the next one gets the same
descriptors. A caller who cannot be served reads why (`door.run.turning_away`).

Light, because most callers wait for nothing else to load: see tests/test_import_budget.py.
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

TYPE_CHECKING = False  # as `typing` has it, which is not loaded for that
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import FrameType
    from typing import Any, NoReturn

    from door.lines.hand_over import HostFolder
    from door.run.caller_line import CallerLine

CONFIG, CONFIG_VARIABLE = "sysop.toml", "BJFT_CONFIG"
VALUES = ("config", "dropfile", "door", "board", "node", "socket", "connect", "charset", "size")
GOES_ON = "goes-on"  # a value too, which a door gives to itself alone
FLAGS = ("stdio", "local", "telnet", "no-telnet", "verbose")  # verbose is of 1.0, and does nothing
WAYS = ("stdio", "local", "socket", "connect")
CHARSETS = ("cp437", "cp437-text", "utf-8", "iso-8859-1", "us-ascii")
NODE_DIGITS = 4

WELL = 0  # also when the caller hung up, or was turned away for a reason of their own
FAILED = 1  # something went wrong here: the log says what
REFUSED = 2  # nobody could be served: the log says what the sysop must do

# What a caller reads before a server is there.
ONE_MOMENT = "One moment, please."
UP_TO_DATE = "The board is being brought up to date. One moment, please."
CLOSED = "The board is closed just now. Please call again later."
NO_ANSWER = "The board does not answer just now. Please call again later."
OUT_OF_ORDER = "Sorry, the games can't open right now. Please tell the sysop."

# What the log reads.
TOO_LONG = "what the host says is too long for a server: one of {}, or the name of a folder"
HUNG = "the board's server does not answer"
NOT_HANDED_OVER = "the caller could not be handed over to the server: {}"

CONNECT_SECONDS = 10.0  # a host that wants to be called back listens before it starts the door
# The host has hung up, and waits for us to end. What is not posted by then the server posts alone.
POSTING_SECONDS = 6
MOST_HAND_OVERS, HAND_OVER_SECONDS = 3, 60.0  # to another server, within such a span
# How long a server that speaks otherwise is waited for to end, and how often it is asked.
UP_TO_DATE_SECONDS, UP_TO_DATE_PAUSE = 60.0, 1.0
CLOSED_SECONDS = 15.0  # how long `door serve` may take for a restart

NO_FOLDER: HostFolder = ("", False, 0, [])  # nothing is read yet
BEGIN = "from door.cli.entry import main; main()"
HANG_UPS = (signal.SIGHUP, signal.SIGTERM)
_SIGNALS = {
    signal.SIGHUP: hand_over.HUNG_UP,
    signal.SIGTERM: hand_over.ENDED,
    signal.SIGWINCH: hand_over.RESIZED,
}


class Before:
    """The state of a call that every server it reaches must know.

    `went_on` is True once a server has had the call.

    `now` is the wall clock in seconds since 1970, and `arrived` the same instant, monotonic.
    `called_back` is the descriptor of the connection to the host, if there is one already. `place`
    is where its drop files are looked for, and `folder` what was read there.
    """

    def __init__(self) -> None:
        self.now, self.arrived = time.time(), time.monotonic()
        self.went_on = False
        self.called_back: int | None = None
        self.place, self.folder = "", NO_FOLDER
        self.release = hand_over.release()  # of this process, whatever is installed meanwhile

    def read(self, place: str) -> None:
        """Read the host's files: when the call begins, and when minutes were written into them.

        Never for another server: by then they may be of the next caller, and the host asks nobody.
        """
        self.place, self.folder = place, hand_over.files_at(place)

    def call_back(self, host: str, port: int) -> int:
        """Connect to the host, once: it takes one connection. Raises `_NotServed`."""
        if self.called_back is None:
            self.called_back = _connected(host, port)
        return self.called_back

    def begin_again(self) -> None:
        """Become a door of the release that is installed now; return only where that fails.

        The process keeps its number and the caller's descriptors. An option names the descriptor of
        a file without a name, which hands the call on. Signals that come meanwhile are heard
        afterwards.
        """
        import json  # noqa: PLC0415 - few doors see a release come

        path, is_named, error, files = self.folder
        read = path, is_named, error, [(*about, inside.hex()) for *about, inside in files]
        facts = self.now, self.arrived, self.went_on, self.called_back, self.place, read
        # The script of the old release may have gone: modules are installed before their release
        # has its name.
        begin = [sys.executable, "-P", "-c", BEGIN]
        try:
            end = os.memfd_create(GOES_ON, 0)
            with open(end, "w", encoding="ascii", closefd=False) as file:
                json.dump(facts, file)
            if self.called_back is not None:
                os.set_inheritable(self.called_back, True)
            signal.pthread_sigmask(signal.SIG_BLOCK, HANG_UPS)
            os.execv(sys.executable, [*begin, *sys.argv[1:], f"--{GOES_ON}={end}"])
        except OSError:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, HANG_UPS)

    def go_on(self, descriptor: str) -> None:
        """Take on the call that `begin_again` hands on, if the descriptor leads to one."""
        import json  # noqa: PLC0415 - few doors go on

        try:
            os.lseek(end := int(descriptor), 0, os.SEEK_SET)
            with open(end, encoding="ascii") as file:
                facts = json.load(file)
            self.now, self.arrived, self.went_on, self.called_back, self.place, read = facts
            path, is_named, error, files = read
        except (OSError, ValueError, TypeError, OverflowError):
            return
        whole = [(*about, bytes.fromhex(inside)) for *about, inside in files]
        self.folder = path, is_named, error, whole


class _NotServed(Exception):
    """Nobody serves this caller. They read `words`; `why` is for the log, "" for nothing.

    `is_logged` is set where a server has written it down.
    """

    def __init__(self, words: str, status: int, why: str = "", *, is_logged: bool = False) -> None:
        super().__init__(words)
        self.words, self.status, self.why, self.is_logged = words, status, why, is_logged


class _Late(Exception):
    """The server has not ended a call within `POSTING_SECONDS` of the host's hang-up."""


class _HungUp(Exception):
    """The host has hung up while no server had its caller."""


class _SpeaksOtherwise(Exception):
    """The server is of a release that a door of this one does not understand."""


def relay(words: Sequence[str], environment: Mapping[str, str]) -> int | None:
    """Hand the caller of `door run` with these words over; return the status to exit with.

    None where the words are for the command itself to look at.
    """
    said = read(words)
    return None if said is None else Door(said, environment).run()


class Door:
    """One call, from its first moment to its end, at one server after another."""

    def __init__(self, said: Mapping[str, str], environment: Mapping[str, str]) -> None:
        self.said, self.environment = dict(said), environment
        self.before = Before()
        if GOES_ON in self.said:
            self.before.go_on(self.said.pop(GOES_ON))
        self.settings = Settings(said, environment)
        self._hand_overs: list[float] = []
        self._waits = ""  # what the caller has read last of that
        self._speaks_otherwise: float | None = None  # since when

    def run(self) -> int:
        for number in HANG_UPS:
            signal.signal(number, _hang_up)
        try:
            try:
                signal.pthread_sigmask(signal.SIG_UNBLOCK, HANG_UPS)
                while (status := self._at_a_server()) is None:
                    continue
                return status
            except _NotServed as refusal:
                return self._turn_away(refusal)
            except _HungUp:
                raise
            except Exception as error:  # the folder that we are in has gone, say
                why = f"the door failed: {error!r}"
                return self._turn_away(_NotServed(OUT_OF_ORDER, FAILED, why))
            finally:
                # A host that hurries sends its next signal behind the first.
                for number in HANG_UPS:
                    signal.signal(number, _pass_over)
        except _HungUp:
            return WELL

    def wait(self, words: str) -> None:
        """Tell the caller, once, that they must wait."""
        if words == self._waits:
            return
        begins = f"{self._below()}\r\n" if self._waits or self.before.went_on else ""
        if (line := self._line()) is not None:
            line.say(f"{begins}{words}")
        self._waits = words

    def _below(self) -> str:
        """Return what moves the cursor below the screen that a killed server has left."""
        return "\r\n" if self.before.went_on and not self._waits else ""

    def _line(self) -> CallerLine | None:
        from door.run import caller_line  # noqa: PLC0415 - where a server runs nobody needs it

        try:
            return caller_line.line_of(self.said, self.before.folder[3], self.before.call_back)
        except _NotServed:  # the host takes no connection
            return None

    def _turn_away(self, refusal: _NotServed) -> int:
        from door.run import turning_away  # noqa: PLC0415 - few are

        line = self._line() if refusal.words else None
        path = "" if refusal.is_logged else self.settings.path
        words = refusal.words and f"{self._below()}{refusal.words}"
        turning_away.turn_away(path, line, words, refusal.why)
        return refusal.status

    def _at_a_server(self) -> int | None:
        """Have the call at a server; None if it goes on at another one."""
        if self.before.went_on:
            self._keep_up()
        # Before a server waits for us: the disk of the host may be slow.
        if not self.before.place:
            self.before.read(_placed(self.said, self.environment)[0])
        wire = self._reach()
        try:
            messages = _messages(self.said, self.environment, self.before)
            status = _Relay(wire, self.before, str(self.settings.folder)).run(messages)
        except _SpeaksOtherwise:
            self._wait_for_another()
            return None
        except TimeoutError:
            self._end_hung(wire)
            return None
        finally:
            wire.close()
        if status is None:
            self._count()
        return status

    def _count(self) -> None:
        """Note a hand-over to another server; raises `_NotServed` for too many of them."""
        now = time.monotonic()
        recent = [each for each in self._hand_overs if now - each < HAND_OVER_SECONDS]
        self._hand_overs = [*recent, now]
        if len(recent) >= MOST_HAND_OVERS:
            raise _NotServed(CLOSED, FAILED, "the board's servers have ended one after another")
        self._waits = ""
        time.sleep(hand_over.PAUSE if recent else 0)

    def _end_hung(self, wire: _socket.socket) -> None:
        """End a server that has stood still for long, if it is ours; raises `_NotServed`."""
        from door.run import starting  # noqa: PLC0415 - where a server runs nobody needs it

        is_ended = starting.end_hung(wire, str(self.settings.folder)) or starting.has_ended(wire)
        if not is_ended:
            raise _NotServed(NO_ANSWER, FAILED, HUNG)

    def _keep_up(self) -> None:
        """Become a door of the release that is installed now, if that is another one: what would be
        loaded from now on does not go with what is loaded."""
        if hand_over.release() not in ("", self.before.release):
            self.before.begin_again()

    def _wait_for_another(self) -> None:
        """Wait for a server that a door of this release understands, or become one of the release
        that is installed now; raises `_NotServed`."""
        self._keep_up()
        now = time.monotonic()
        self._speaks_otherwise = self._speaks_otherwise or now
        if now - self._speaks_otherwise > UP_TO_DATE_SECONDS:
            raise _NotServed(CLOSED, REFUSED, "the board's server is of a release of before")
        self.wait(UP_TO_DATE)
        time.sleep(UP_TO_DATE_PAUSE)

    def _reach(self) -> _socket.socket:
        """Reach the server of the board, which is started if none runs; raises `_NotServed`."""
        folder = self.settings.folder
        if folder is None:
            raise _NotServed(OUT_OF_ORDER, REFUSED, f"{self.settings.path} cannot be read")
        try:
            wire = hand_over.dial_if_any(folder)
            while wire is None:
                folder = self.settings.without_note() or folder
                self._wait_while_closed(folder)
                wire = hand_over.dial_if_any(folder) or self._start(folder)
        except BlockingIOError as error:  # its queue is full
            raise _NotServed(NO_ANSWER, FAILED, HUNG) from error
        except OSError as error:
            why = f"the server's {os.path.join(folder, hand_over.NAME)} cannot be opened: {error}"
            raise _NotServed(CLOSED, REFUSED, why) from error
        # Whoever shares the folder could listen in it, and be told of callers.
        if not hand_over.is_of(wire, os.stat(folder).st_uid):
            wire.close()
            why = f"the server in {folder} is neither its owner's nor root's: it is told nothing"
            raise _NotServed(CLOSED, REFUSED, why)
        return wire

    def _wait_while_closed(self, folder: str) -> None:
        """Wait for the sysop's server if it is restarted under a caller who is on, or who waits for
        that; raises `_NotServed` where the board stays closed."""
        from door import closed  # noqa: PLC0415 - where a server runs nobody needs it

        is_restarted = self.before.went_on or self._speaks_otherwise is not None
        until = time.monotonic() + (CLOSED_SECONDS if is_restarted else 0.0)
        while closed.is_closed(folder):
            if time.monotonic() >= until:
                raise _NotServed(CLOSED, WELL)
            self.wait(ONE_MOMENT)
            time.sleep(hand_over.PAUSE)

    def _start(self, folder: str) -> _socket.socket:
        from door.run import starting  # noqa: PLC0415 - where a server runs nobody needs it

        self.wait(ONE_MOMENT)
        try:
            place = self.settings.lock(folder)
            # Who is on does not lose their hand because one start has failed, in an update say.
            is_on = self.before.went_on
            wire = starting.reach(self.settings.path, folder, place, waits=is_on)
        except PermissionError as refused:
            raise _NotServed(CLOSED, REFUSED, str(refused)) from refused
        except OSError as error:
            log = os.path.join(folder, starting.LOG)
            why = f"no server could be started: {error}. {log} may say why"
            raise _NotServed(OUT_OF_ORDER, REFUSED, why) from error
        return wire


def _hang_up(number: int, frame: FrameType | None) -> NoReturn:
    raise _HungUp


def _pass_over(number: int, frame: FrameType | None) -> None:
    return


def read(words: Sequence[str]) -> dict[str, str] | None:
    """Read the options of `door run`; None where they are for the command itself to look at.

    >>> read(["--dropfile", "door32.sys", "--node=3", "--stdio"])
    {'dropfile': 'door32.sys', 'node': '3', 'stdio': ''}
    >>> read(["--local", "--verbose"])
    {'local': '', 'verbose': ''}
    >>> read(["--node"]), read(["--node", "one"]), read(["--stdio", "--socket", "7"])
    (None, None, None)
    """
    said: dict[str, str] = {}
    left = iter(words)
    for word in left:
        name, sign, value = word.removeprefix("--").partition("=")
        if not word.startswith("--"):
            return None
        if name in (*VALUES, GOES_ON):
            given = value if sign else next(left, None)
            if given is None:
                return None
            said[name] = given
        elif name in FLAGS and not sign:
            said[name] = ""
        else:
            return None
    return said if _makes_sense(said) else None


def _makes_sense(said: Mapping[str, str]) -> bool:
    node, descriptor = said.get("node", "0"), said.get("socket", "0")
    return (
        sum(way in said for way in WAYS) <= 1
        and (node.isdecimal() and len(node) <= NODE_DIGITS)
        and descriptor.isdecimal()
        and said.get("charset", CHARSETS[0]) in CHARSETS
    )


class Settings:
    """What sysop.toml says that matters here. It is read where no note of a server saves that.

    `folder` is the data folder, None where the settings cannot be read.
    """

    def __init__(self, said: Mapping[str, str], environment: Mapping[str, str]) -> None:
        self.path = said.get("config") or environment.get(CONFIG_VARIABLE) or CONFIG
        self.folder = hand_over.folder_noted(self.path) or self._folder_set()

    def without_note(self) -> str | None:
        """Return the data folder by sysop.toml alone: the server that left the note has ended, and
        links may lead elsewhere by now."""
        self.folder = self._folder_set() or self.folder
        return self.folder

    def lock(self, folder: str) -> str:
        """Return where the lock of the books is."""
        from timebank import serving  # noqa: PLC0415 - where a server runs nobody needs it

        on_server = bool(self._table("timebank").get("database"))
        return serving.place_of(os.path.join(folder, serving.BOOKS), on_server=on_server)

    def _folder_set(self) -> str | None:
        folder = self._table("board").get("data", "data")
        if not isinstance(folder, str) or self._cannot_be_read:
            return None  # what is wrong is said by who reads all of it
        return os.path.join(os.path.dirname(self.path), folder)

    def _table(self, name: str) -> dict[str, Any]:
        import tomllib  # noqa: PLC0415 - not where a server has left a note

        self._cannot_be_read = False
        try:
            with open(self.path, "rb") as file:
                table = tomllib.load(file).get(name, {})
        except (OSError, ValueError, RecursionError):
            table = None
        if not isinstance(table, dict):
            self._cannot_be_read = True
            return {}
        return table


def _messages(
    said: Mapping[str, str],
    environment: Mapping[str, str],
    before: Before,
) -> list[bytes]:
    """Put what is known of the call into messages. Every path in them is whole.

    Raises `_NotServed` for more than a server reads of one.
    """
    _, here, asked, heard = _placed(said, environment)
    path, is_named, error, files = before.folder
    facts = [
        f"version={hand_over.VERSION}",
        f"release={hand_over.release()}",
        f"now={before.now!r}",
        f"arrived={before.arrived!r}",
        f"offset={time.localtime(before.now).tm_gmtoff}",
        f"here={here}",
        f"folder={path}",
        f"named={is_named:d}",
        f"unread={error}",
        *([f"went_on={time.monotonic()!r}"] if before.went_on else []),
        *(f"--{name}={value}" for name, value in asked.items()),
        *(f"${name}={value}" for name, value in heard.items()),
    ]
    call = hand_over.packed(hand_over.CALL, *facts)
    if len(call) > hand_over.LARGEST:
        long = [f"--{name}" for name in asked] + list(heard)
        raise _NotServed(OUT_OF_ORDER, REFUSED, TOO_LONG.format(", ".join(long)))
    return [*map(hand_over.file_packed, files), call]


def _placed(
    said: Mapping[str, str], environment: Mapping[str, str]
) -> tuple[str, str, dict[str, str], dict[str, str]]:
    """Return where drop files are looked for, our folder, options and environment, in whole
    paths."""
    try:
        here = os.getcwd()
    except OSError:  # a host has taken away the folder that it started us in
        here = "/"
    heard = {name: environment[name] for name in hand_over.VARIABLES if environment.get(name)}
    whole = {name: os.path.join(here, heard[name]) for name in hand_over.PATHS if name in heard}
    asked = dict(said)
    if "dropfile" in asked:
        asked["dropfile"] = os.path.join(here, asked["dropfile"])
    # In the order in which `door.dropfiles.search` looks.
    place = asked.get("dropfile", next(iter(whole.values()), here))
    return place, here, asked, {**heard, **whole}


class _Relay:
    """One call at one server."""

    def __init__(self, wire: _socket.socket, before: Before, board: str) -> None:
        """`board` is the data folder."""
        self._wire = wire
        self._before = before
        self._board = board
        self._is_on = False  # whether the server has the caller
        self._hung_up = False
        self._waits: list[tuple[int, bool]] = []  # whether descriptors of the line were blocking
        self._looks: list[tuple[int, list[Any]]] = []  # of terminals, as they were

    def run(self, messages: Sequence[bytes]) -> int | None:
        """Return the status of the call, None if it goes on at another server.

        Raises `_NotServed`, `_SpeaksOtherwise`, and `TimeoutError` where it does not answer.
        """
        usual = {number: signal.signal(number, self._heard) for number in _SIGNALS}
        usual[signal.SIGALRM] = signal.signal(signal.SIGALRM, _give_up)
        try:
            self._call(messages)
            return self._follow()
        except _Late:
            return WELL  # what is not posted yet is found by the caller's next session
        except ConnectionError:
            return self._go_on()
        except OSError as error:
            if self._hung_up:
                return WELL
            if isinstance(error, TimeoutError):
                raise
            raise _NotServed(OUT_OF_ORDER, FAILED, NOT_HANDED_OVER.format(error)) from error
        finally:
            signal.alarm(0)
            for number, handler in usual.items():
                signal.signal(number, handler)

    def _call(self, messages: Sequence[bytes]) -> None:
        self._wire.settimeout(hand_over.ANSWER_SECONDS)
        for message in messages:
            self._wire.send(message)

    def _follow(self) -> int | None:
        while self._obey(message := self._next()):
            continue
        return self._came_to(message)

    def _hears(self) -> bool:
        """Return whether a message is there, or the server's end."""
        poll = select.poll()
        poll.register(self._wire, select.POLLIN)
        return bool(poll.poll(0))

    def _next(self) -> bytes:
        """Wait for a message. A server that stands still while it has the caller is ended, so that
        they go on at another one: it has taken nobody since, and nobody else may come."""
        poll = select.poll()
        poll.register(self._wire, select.POLLIN)
        while self._is_on and not poll.poll(hand_over.BEAT_SECONDS * 1000):
            if hand_over.stands_still(self._board):
                from door.run import starting  # noqa: PLC0415 - few servers stand still

                starting.end_hung(self._wire, self._board)
        return hand_over.receive(self._wire)

    def _obey(self, message: bytes) -> bool:
        """Do what a message of the server asks; return whether the call is on. An empty message is
        the server's end."""
        word, *texts = hand_over.unpacked(message)
        if word == hand_over.WANTED:
            hand_over.send_ends(self._wire, hand_over.packed(hand_over.LINE), self._ends(texts))
        elif word == hand_over.TAKEN:
            self._before.went_on = self._is_on = True
            self._wire.settimeout(None)
        elif word == hand_over.GIVE:
            # A server that still waits for the answer is there, and says nothing meanwhile.
            if not self._hears():
                self._wire.send(hand_over.packed(*self._given(texts)))
        elif word == hand_over.REFUSED:
            if len(texts) != 4 or texts[0] != hand_over.VERSION:
                raise _SpeaksOtherwise
            _, status, words, why = texts
            raise _NotServed(words, int(status), why, is_logged=True)
        else:  # done, again, or nothing at all
            return False
        return True

    def _came_to(self, message: bytes) -> int | None:
        """Return what `run` returns, by the last message."""
        word, *texts = hand_over.unpacked(message)
        return int(texts[0]) if word == hand_over.DONE else self._go_on()

    def _given(self, texts: Sequence[str]) -> tuple[str, str]:
        """Write minutes into a file of the host's, and say what has come of it."""
        try:
            from door.dropfiles.give_back import give_back  # noqa: PLC0415 - at the end of few calls
        except Exception as error:  # of a release that is being installed, say
            return hand_over.NOT_GIVEN, f"The door cannot load what it needs: {error}."
        try:
            answer = give_back(self._before.folder[0], texts)
            if answer[0] == hand_over.GIVEN:
                self._before.read(self._before.place)
            return answer
        except Exception as error:
            return hand_over.IN_DOUBT, f"The door failed: {error!r}."

    def _go_on(self) -> int | None:
        """Have the line as it was before the server had it; return what `run` returns."""
        for terminal, look in self._looks:
            try:
                termios.tcsetattr(terminal, termios.TCSANOW, look)
            except termios.error:
                continue  # it has gone
        for end, waits in self._waits:
            os.set_blocking(end, waits)
        return WELL if self._hung_up else None

    def _ends(self, wanted: Sequence[str]) -> list[int]:
        """Return the descriptors of the line that is wanted; raises `_NotServed`."""
        kind, *where = wanted
        if kind == hand_over.CONNECT:
            host, port = where
            return [self._before.call_back(host, int(port))]
        ends = [int(where[0])] if kind == hand_over.SOCKET else [0, 1]
        # What the host has not passed down may be what was opened here.
        if self._wire.fileno() in ends or not _leads_to_a_caller(ends):
            from door.run.turning_away import why_no_line  # noqa: PLC0415 - few are

            raise _NotServed("", REFUSED, why_no_line(ends) or f"{ends} is not the caller's")
        for end in ends:
            self._waits.append((end, os.get_blocking(end)))
            if os.isatty(end):
                self._looks.append((end, termios.tcgetattr(end)))
        return ends

    def _heard(self, number: int, frame: FrameType | None) -> None:
        """Tell the server of a signal; a server that has gone is seen elsewhere."""
        if number != signal.SIGWINCH and not self._hung_up:
            self._hung_up = True
            signal.alarm(POSTING_SECONDS)
        word = _SIGNALS[signal.Signals(number)]
        try:
            self._wire.send(hand_over.packed(word), _socket.MSG_DONTWAIT | _socket.MSG_NOSIGNAL)
        except OSError:
            return


def _give_up(number: int, frame: FrameType | None) -> None:
    raise _Late


def _leads_to_a_caller(ends: Sequence[int]) -> bool:
    try:
        if len(ends) == 1:
            return hand_over.is_socket(ends[0])
        return all(map(hand_over.flows, ends))
    except (OSError, OverflowError):
        return False


def _connected(host: str, port: int) -> int:
    """Call the host back; raises `_NotServed` where nobody answers."""
    import socket  # noqa: PLC0415 - it finds hosts by their names, and few want to be called back

    try:
        with socket.create_connection((host, port), CONNECT_SECONDS) as wire:
            wire.settimeout(None)
            return wire.detach()
    except (OSError, UnicodeError) as error:  # the latter for a name that cannot be one
        why = f"{host} does not answer on port {port} ({error}): it must listen there first"
        raise _NotServed("", REFUSED, why) from error
