"""The socket in the data folder: door processes hand callers over, and the sysop gives commands.

A door sends the host's drop files and its own options (`lines.hand_over`). The server reads them
and asks for the caller's line. The door also writes the results into the host's files. So the
server may run as another user, need not see the host's folder, and never waits for the host's
disk. The modes of the socket and its folder decide who may connect. Only the server's user and root
may give commands.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import resource
import select
import socket
import stat
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING

from door.call import terminal
from door.call.console import Console
from door.dropfiles import give_back
from door.dropfiles.disk import HostFiles
from door.errors import (
    DoorCallRefused,
    DropFileRefused,
    HandedBack,
    NoHostLine,
    NotGivenBack,
    ServerEnds,
)
from door.games.registry import GAMES, game_named
from door.lines import commands, hand_over
from door.lines.commands import SysopCommand
from door.lines.host.host import ENDED, HUNG_UP, Introduction
from door.lobby import greeting, looks
from door.session import line_setup
from door.session.arrival import (
    AT_HOME,
    WENT_ON,
    DoorCall,
    DoorOptions,
    arrive,
    at_home,
    continued_call,
    note,
    welcome,
)
from door.session.session import answer_guest, answer_sysop
from timebank.language import N_, Phrase, _

if TYPE_CHECKING:
    from door.call.board import Board
    from door.config.boards import HostBoard
    from door.dropfiles.interpretation import GiveBack
    from door.games.engine.descriptor import Game
    from door.lines.hand_over import HostFile
    from door.lines.line import Line

ANSWER_SECONDS = 5.0  # for one message of a door process
PAUSE = 1.0  # seconds before the next try when no descriptor is free
GIVE_SECONDS = 10.0  # for the door process to write into a file of the host's
LATEST = 1e12  # seconds since the machine started; no clock says more
MOST_ENDS = 2  # descriptors of a line
MAX_UNIDENTIFIED = 64  # connections whose first message has not arrived
MOST_BYTES = 16 * hand_over.LARGEST_FILE  # of the drop files of one door
KILLED = "the door was killed"
GONE = "The door had gone before it could write anything."
KILLED_GIVING = "The door was killed when it was to write into the host's file."
NO_ANSWER = "The door does not say whether it has written into the host's file."
STOPS = N_("The board's server is closing. One moment, please: you go on from here.")
WELL, FAILED, REFUSED = "0", "1", "2"  # exit statuses of `door run`
FULL = "All lines are busy just now. Please call again later."
NO_ROOM = "not all descriptors of a caller have arrived: this server may have {} open"
ANOTHER = "another server listens there"
ONLY_OURS = "This is for the sysop alone."
NOT_YOURS = "Only the user of the server and root can control it."

log = logging.getLogger("door.run")


class DoorListener:
    """The socket in the data folder, with its doors and commands."""

    def __init__(
        self,
        board: Board,
        session: Callable[[], contextlib.AbstractContextManager[None]],
        comes: Callable[[], None],
        has_gone: Callable[[], None],
        is_old: Callable[[], Awaitable[bool]],
        answer: Callable[[SysopCommand], Awaitable[None]],
    ) -> None:
        """`session` is the block in which a call counts as online.

        `comes` is called before a door's first message is read, and `has_gone` once a door is gone.
        `is_old` is called when a door of a newer release comes, installed in place of this one. It
        returns whether this server ends for that. `answer` carries out a command of the sysop.
        """
        self._board = board
        self._session = session
        self._comes, self._has_gone, self._is_old = comes, has_gone, is_old
        self._answer_command = answer
        self._release = hand_over.release()  # of this process, even if another is installed later
        self._wire: socket.socket | None = None
        self._path = Path()
        self._tasks: set[asyncio.Task[None]] = set()  # of doors, and of unidentified connections
        self._unidentified = 0  # tasks whose first message has not arrived
        self._commands: set[asyncio.Task[None]] = set()
        self._calls: dict[Console, HandedBack] = {}  # with the interrupt that hands each call back
        self._note: str | None = None
        self._again: asyncio.TimerHandle | None = None

    @property
    def is_empty(self) -> bool:
        """Whether no door is connected or waits to be accepted."""
        return not (self._tasks or self._somebody_waits())

    def _somebody_waits(self) -> bool:
        if self._wire is None:
            return False
        poll = select.poll()
        poll.register(self._wire, select.POLLIN)
        return bool(poll.poll(0))

    def leave_note(self) -> None:
        """Leave a note next to sysop.toml that says where this server listens, if it does."""
        config = self._board.config
        if config.file_status is not None and self._wire is not None:
            folder = str(self._path.parent)
            self._note = hand_over.leave_note(str(config.path), config.file_status, folder)
            if self._note is None:
                log.warning(
                    "commands such as door nodes need --data %s if %s cannot be read:"
                    " a note can be written neither next to it nor in this user's home",
                    *(folder, config.path),
                )

    def refuse_another(self, folder: Path) -> None:
        """Raise `OSError` if another server listens in a folder."""
        with _free_name(folder):
            return

    def open_in(self, folder: Path) -> None:
        """Start to listen in a folder; raise `OSError` if that fails."""
        wire = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            with _free_name(folder) as name:
                self._bind(wire, name, folder)
                wire.listen()
        except OSError:
            wire.close()
            raise
        wire.setblocking(False)
        self._wire, self._path = wire, folder / hand_over.NAME
        self._inode = self._path.stat().st_ino
        self._listen()
        self.leave_note()

    def _bind(self, wire: socket.socket, name: str, folder: Path) -> None:
        """Let the owner connect, and the folder's group if the sysop lets the group write there.

        A process that may connect can claim that any caller of any board is on the line.
        """
        shares = self._board.config.board.data_mode & stat.S_IWGRP
        usual = os.umask(0o117 if shares else 0o177)
        try:
            wire.bind(name)
        finally:
            os.umask(usual)
        if shares:
            with contextlib.suppress(OSError):  # the sysop's user is not in the group
                # A user who shares the folder may just have replaced the socket by a link.
                os.lchown(name, -1, folder.stat().st_gid)

    def close(self) -> None:
        """Accept no more connections; calls in progress go on."""
        if self._wire is None:
            return
        asyncio.get_running_loop().remove_reader(self._wire.fileno())
        if self._again is not None:
            self._again.cancel()
        self._wire.close()
        self._wire = None
        if self._note is not None:
            with contextlib.suppress(OSError):
                os.unlink(self._note)
        with contextlib.suppress(OSError):
            if self._path.stat().st_ino == self._inode:
                self._path.unlink()

    def hand_back(self, staying: set[Console]) -> None:
        """Hand all calls but those `staying` back to their doors, to go on at another server."""
        for console, back in self._calls.items():
            if console not in staying:
                console.keyboard.interrupt(back)

    async def finish(self) -> None:
        """Close the socket, and cancel the tasks that still run."""
        self.close()
        if left := self._tasks | self._commands:
            for task in left:
                task.cancel()
            await asyncio.wait(left)

    def _accept(self) -> None:
        assert self._wire is not None  # a closed socket has no reader
        loop = asyncio.get_running_loop()
        try:
            near, _ = self._wire.accept()
        except (BlockingIOError, InterruptedError, ConnectionAbortedError):
            return
        except OSError:  # no descriptor is free; the loop would report the socket without pause
            loop.remove_reader(self._wire.fileno())
            self._again = loop.call_later(PAUSE, self._listen)
            return
        self._comes()
        self._unidentified += 1
        if self._unidentified >= MAX_UNIDENTIFIED:
            loop.remove_reader(self._wire.fileno())
        task = loop.create_task(self._answer(near))
        self._tasks.add(task)
        task.add_done_callback(self._is_done)

    def _is_done(self, task: asyncio.Task[None]) -> None:
        if task in self._commands:
            self._commands.discard(task)
            return  # a command is no call
        self._tasks.discard(task)
        self._has_gone()

    def _identified(self) -> None:
        self._unidentified -= 1
        if self._unidentified == MAX_UNIDENTIFIED - 1:
            self._listen()

    def _listen(self) -> None:
        if self._wire is not None:
            asyncio.get_running_loop().add_reader(self._wire.fileno(), self._accept)

    async def _answer(self, near: socket.socket) -> None:
        near.setblocking(False)
        with near:
            wire = DoorWire(near)
            try:
                try:
                    word, texts, files = await wire.message(hand_over.CALL, commands.COMMAND)
                finally:
                    self._identified()
                if word == commands.COMMAND:
                    await self._do(near, wire, texts)
                    return
                await self._serve(wire, await self._understand(wire, texts, files))
            except ServerEnds:
                wire.say(hand_over.AGAIN)
            except DoorCallRefused as refused:
                why, status = f"the call is refused: {refused}", WELL
                if refused.is_fault:
                    status = REFUSED
                    log.error("%s", why)
                wire.say(hand_over.REFUSED, hand_over.VERSION, status, refused.words, why)
            except OSError as error:
                log.info("a door has disconnected: %s", error)
            except Exception:
                log.exception("the door failed")
                wire.say(hand_over.DONE, FAILED)

    async def _do(self, near: socket.socket, wire: DoorWire, texts: list[str]) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.discard(task)
        self._commands.add(task)
        try:
            command = SysopCommand(near, "".join(texts))
        except OSError:
            log.warning("a command came too late, the sysop no longer waits: %s", "".join(texts))
            return
        if wire.is_ours():
            await self._answer_command(command)
        else:
            await command.answer({"error": NOT_YOURS})

    async def _understand(
        self, wire: DoorWire, texts: list[str], files: list[HostFile]
    ) -> HandedOver:
        """Read a door's message about its call; raise `DoorCallRefused` if it is wrong."""
        fields = dict(text.partition("=")[::2] for text in texts)
        await self._meet(fields.get("release", ""), fields.get("version", ""))
        if self._board.draining:
            raise DoorCallRefused("the board takes no more calls", hand_over.CLOSED, is_fault=False)
        facts = Facts(fields, files)
        game = facts.game()
        if "local" in facts.asked:
            if not wire.is_ours():
                why = "--local is for the board's user, and root"
                raise DoorCallRefused(why, ONLY_OURS)
            return HandedOver(None, facts.introduction(), line_setup.Stdio(), game)
        try:
            arrival = facts.arrival(self._board.config.boards)
        except DropFileRefused as refused:
            raise DoorCallRefused(str(refused), refused.polite) from refused
        if facts.continued_at is not None:
            arrival = continued_call(arrival, facts.continued_at)
        until = arrival.guest.until
        if until is not None:  # the host's wall clock gave it
            until = self._board.clock.from_wall(until)
            # A host may have a monotonic clock of its own, which must not give free time.
        arrived = min(arrival.guest.arrived, self._board.clock.monotonic())
        guest = replace(arrival.guest, by_door=True, arrived=arrived, until=until, give=wire.give)
        arrival = replace(arrival, guest=guest)
        way = facts.way(arrival)
        return HandedOver(arrival, arrival.introduction, way, game)

    async def _meet(self, release: str, version: str) -> None:
        """Check the release of a door; raise `ServerEnds` if it was installed in place of ours.

        A server that the sysop has started goes on, because the next door could not open its ports.
        `door nodes` and `door check` name its release. Raises `DoorCallRefused` for a door with
        another version of the messages.
        """
        is_installed = release not in ("", self._release) and release == hand_over.release()
        if self._release and is_installed and await self._is_old():
            raise ServerEnds
        if version != hand_over.VERSION:
            raise DoorCallRefused(f"the door is of release {release}", hand_over.OUT_OF_ORDER)

    async def _serve(self, wire: DoorWire, call: HandedOver) -> None:
        ends = await wire.ends(call.way)
        try:
            async with line_setup.opened(call.way, ends, call.introduction, wire) as line:
                wire.take()
                back, went_well = await self._greet(line, call)
        except NoHostLine as error:
            raise DoorCallRefused(str(error), hand_over.OUT_OF_ORDER) from error
        finally:
            wire.stop()
            _close(ends)
        if back.has_ended_call:
            wire.say(hand_over.AGAIN)
        else:
            wire.say(hand_over.DONE, WELL if went_well else FAILED)

    async def _greet(self, line: Line, call: HandedOver) -> tuple[HandedBack, bool]:
        """Serve a call on its line; return how to hand it back, and whether the server was well."""
        board, arrival = self._board, call.arrival
        guest = None if arrival is None else arrival.guest
        look = None if guest is None else guest.look
        console = Console(line, look or looks.guess(line.hints), board.clock)
        terminal.ask_size(console)
        if arrival is not None:
            note(arrival)
        news: Sequence[str] = AT_HOME if guest is None else welcome(guest)
        if guest is not None and guest.is_continued:
            news = [f"|14{_(WENT_ON)}"]
        greeting.show(console, board.config, news, board.champion)
        with self._on(console) as back, self._session():
            if guest is None:
                return back, await answer_sysop(board, console, call.game)
            return back, await answer_guest(board, console, guest, call.game)

    @contextmanager
    def _on(self, console: Console) -> Iterator[HandedBack]:
        back = self._calls[console] = HandedBack(Phrase(STOPS))
        try:
            yield back
        finally:
            del self._calls[console]


@dataclass(frozen=True)
class HandedOver:
    """A call of a door; `arrival` is None for the sysop at the machine itself."""

    arrival: DoorCall | None
    introduction: Introduction
    way: line_setup.WayIn
    game: Game | None  # the table that `--door` names


class Facts:
    """The host, the options and the environment of a door process."""

    def __init__(self, fields: Mapping[str, str], files: list[HostFile]) -> None:
        """Read the message after the drop files; raise `DoorCallRefused` if it is wrong."""
        self.asked = asked = _with_prefix("--", fields)
        self._environment = _with_prefix("$", fields)
        try:
            is_named, error = fields["named"] == "1", hand_over.error_in(fields["unread"])
            self._at = HostFiles(fields["folder"], is_named, error, files)
            self._here = Path(fields["here"])
            zone = timezone(timedelta(seconds=int(fields["offset"])))
            self._now = datetime.fromtimestamp(float(fields["now"]), UTC).astimezone(zone)
            self._arrived = _instant(fields["arrived"])
            # When the last server handed the call back, on the monotonic clock.
            self.continued_at = _instant(fields["went_on"]) if "went_on" in fields else None
            self._asked = DoorOptions(
                dropfile=Path(asked["dropfile"]) if "dropfile" in asked else None,
                board=asked.get("board"),
                node=int(asked["node"]) if "node" in asked else None,
                charset=asked.get("charset"),
                size=asked.get("size"),
            )
        except (LookupError, ValueError, OverflowError, OSError) as error:
            raise DoorCallRefused(
                "what the door says cannot be read", hand_over.OUT_OF_ORDER
            ) from error

    def introduction(self) -> Introduction:
        """Introduce the sysop."""
        return at_home(self._environment)

    def game(self) -> Game | None:
        """Return the table that `--door` names, or None; raise `DoorCallRefused` for a bad name."""
        table = self.asked.get("door")
        game = None if table is None else game_named(table)
        if table is not None and game is None:
            codes = ", ".join(game.code for game in GAMES.values())
            why = f"No table is called {table}: --door takes {codes}."
            raise DoorCallRefused(why, hand_over.OUT_OF_ORDER)
        return game

    def arrival(self, boards: Mapping[str, HostBoard]) -> DoorCall:
        """Read the drop files; raises `DropFileRefused`."""
        return arrive(
            *(self._asked, boards, self._environment, self._now, self._arrived, self._here),
            at=self._at,
        )

    def way(self, arrival: DoorCall) -> line_setup.WayIn:
        asked = self.asked
        telnet = True if "telnet" in asked else False if "no-telnet" in asked else None
        try:
            way = line_setup.way_by_options(
                wants_stdio="stdio" in asked,
                descriptor=int(asked["socket"]) if "socket" in asked else None,
                connect=asked.get("connect"),
                telnet=telnet,
            )
            return way or line_setup.way_by_dropfile(arrival.understood.connection, telnet)
        except (NoHostLine, ValueError) as error:
            raise DoorCallRefused(str(error), hand_over.OUT_OF_ORDER) from error


def _with_prefix(prefix: str, fields: Mapping[str, str]) -> dict[str, str]:
    """Return the fields whose names begin with `prefix`, without the prefix."""
    return {name.removeprefix(prefix): fields[name] for name in fields if name.startswith(prefix)}


def _instant(text: str) -> float:
    """Read an instant of the monotonic clock; raise `ValueError` if no clock shows it."""
    instant = float(text)
    if not 0.0 <= instant <= LATEST:
        raise ValueError("no instant")
    return instant


class DoorWire:
    """The connection to one door process, which also reports its host's signs (`host.Signs`)."""

    def __init__(self, wire: socket.socket) -> None:
        self._wire = wire
        self._loop = asyncio.get_running_loop()
        self._listens = False
        self._answer: asyncio.Future[list[str]] | None = None  # to `give`
        self._lose_carrier: Callable[[str], None] = lambda reason: None
        self._look: Callable[[], None] = lambda: None

    def is_ours(self) -> bool:
        """Return whether the process is of our user or of root."""
        return hand_over.is_of(self._wire, os.geteuid())

    def say(self, word: str, *texts: str) -> None:
        """Send a message; ignore a process that is gone."""
        with contextlib.suppress(OSError):
            self._wire.send(hand_over.packed(word, *texts), socket.MSG_NOSIGNAL)

    async def message(self, *words: str) -> tuple[str, list[str], list[HostFile]]:
        """Return a message that begins with one of these words, and the files sent before it.

        Raises `OSError` if no such message comes.
        """
        files: list[HostFile] = []
        room = MOST_BYTES
        async with asyncio.timeout(ANSWER_SECONDS):
            while True:
                # Doors of older releases also passed descriptors.
                data, ends = await self._packet(hand_over.MOST_FILES)
                _close(ends)
                try:
                    file = hand_over.file_in(data)
                except ValueError:
                    raise ConnectionError("a file that it sends cannot be read") from None
                if file is None:
                    return *_expected(data, *words), files
                files.append(file)
                room -= len(data)
                if room < 0 or len(files) > hand_over.MOST_FILES:
                    raise ConnectionError("it sends too many files")

    async def ends(self, way: line_setup.WayIn) -> list[int]:
        """Ask for the descriptors of a line; the caller of this method must close them."""
        match way:
            case line_setup.Stdio():
                self.say(hand_over.WANTED, hand_over.STDIO)
            case line_setup.Inherited(descriptor):
                self.say(hand_over.WANTED, hand_over.SOCKET, str(descriptor))
            case line_setup.CallBack(host, port):
                self.say(hand_over.WANTED, hand_over.CONNECT, host, str(port))
        seconds = ANSWER_SECONDS
        if isinstance(way, line_setup.CallBack):
            seconds += line_setup.CONNECT_SECONDS
        async with asyncio.timeout(seconds):
            data, ends = await self._packet(MOST_ENDS)
        wanted = 2 if isinstance(way, line_setup.Stdio) else 1
        try:
            _expected(data, hand_over.LINE)
            if len(ends) != wanted or not all(map(hand_over.flows, ends)):
                raise DoorCallRefused(
                    "the caller's line cannot be passed on", hand_over.OUT_OF_ORDER
                )
        except BaseException:
            _close(ends)
            raise
        return ends

    def take(self) -> None:
        """Tell the process that we have its caller, and obey it; raise `OSError` if it is gone.

        A process that did not wait for a slow server has told its caller so.
        """
        self._wire.send(hand_over.packed(hand_over.TAKEN), socket.MSG_NOSIGNAL)
        self.listen()

    def listen(self) -> None:
        """Obey the process's messages until `stop`."""
        self._listens = True
        self._loop.add_reader(self._wire.fileno(), self._obey)

    def stop(self) -> None:
        if self._listens:
            self._listens = False
            self._loop.remove_reader(self._wire.fileno())

    def watch(self, lose_carrier: Callable[[str], None]) -> None:
        self._lose_carrier = lose_carrier

    def follow(self, look: Callable[[], None]) -> Callable[[], None]:
        self._look = look
        return self._forget

    def _forget(self) -> None:
        self._look = lambda: None

    def _obey(self) -> None:
        try:
            word, *texts = hand_over.unpacked(hand_over.receive(self._wire))
        except BlockingIOError:
            return
        except OSError:
            word = ""
        if word == hand_over.RESIZED:
            self._look()
            return
        if word in (hand_over.GIVEN, hand_over.NOT_GIVEN, hand_over.IN_DOUBT):
            self._answers([word, *texts, ""])
            return
        if word not in (hand_over.HUNG_UP, hand_over.ENDED):
            self.stop()  # the process is gone
            self._answers([hand_over.IN_DOUBT, KILLED_GIVING])
        self._lose_carrier({hand_over.HUNG_UP: HUNG_UP, hand_over.ENDED: ENDED}.get(word, KILLED))

    async def give(self, way: GiveBack, minutes: int) -> Path:
        """Make the process write minutes into a file of the host's; raise `NotGivenBack`."""
        if not self._listens:
            raise NotGivenBack(GONE, False)
        answer = self._answer = self._loop.create_future()
        texts = give_back.asked(way, minutes)
        try:
            self._wire.send(hand_over.packed(hand_over.GIVE, *texts), socket.MSG_NOSIGNAL)
        except OSError:
            raise NotGivenBack(GONE, False) from None
        try:
            async with asyncio.timeout(GIVE_SECONDS):
                word, text, *_ = await answer
        except TimeoutError:
            raise NotGivenBack(NO_ANSWER, True) from None
        if word != hand_over.GIVEN:
            raise NotGivenBack(text, word == hand_over.IN_DOUBT)
        return Path(text)

    def _answers(self, texts: list[str]) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(texts)

    async def _packet(self, most: int) -> tuple[bytes, list[int]]:
        """Wait for a message with at `most` so many descriptors."""
        ready: asyncio.Future[None] = self._loop.create_future()

        def come() -> None:
            if not ready.done():
                ready.set_result(None)

        self._loop.add_reader(self._wire.fileno(), come)
        try:
            await ready
        finally:
            self._loop.remove_reader(self._wire.fileno())
        data, ends, flags, _ = socket.recv_fds(
            self._wire, hand_over.LARGEST, most, socket.MSG_CMSG_CLOEXEC
        )
        if flags & socket.MSG_CTRUNC:  # the kernel has dropped descriptors
            _close(ends)
            raise DoorCallRefused(NO_ROOM.format(*resource.getrlimit(resource.RLIMIT_NOFILE)), FULL)
        return data, ends


def _expected(data: bytes, *words: str) -> tuple[str, list[str]]:
    word, *texts = hand_over.unpacked(data)
    if word not in words:  # the process is gone or hung up
        raise ConnectionError("it has ended")
    return word, texts


def _close(ends: list[int]) -> None:
    for end in ends:
        os.close(end)


@contextmanager
def _free_name(folder: Path) -> Iterator[str]:
    """Yield the name to listen at; remove the socket of a server that was killed.

    Raises `OSError` if another server listens there.
    """
    name, held = hand_over.short(str(folder))
    try:
        try:
            hand_over.dial(str(folder), 0).close()
        except FileNotFoundError:
            pass
        except ConnectionRefusedError:
            os.unlink(name)
        except BlockingIOError as busy:  # a server that hangs, with a full queue
            raise OSError(ANOTHER) from busy
        else:
            raise OSError(ANOTHER)
        yield name
    finally:
        if held is not None:
            os.close(held)
