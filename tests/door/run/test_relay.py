"""A door beside a server: the hand-over, its end, and the move to the next server."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import pwd
import resource
import select
import signal
import socket
import stat
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import NoReturn
from unittest import mock

import pytest

from door import closed
from door.dropfiles.give_back import asked
from door.errors import DropFileRefused
from door.lines import hand_over
from door.run import relay, starting, turning_away
from door.server import door_calls, server_note
from door.session import line_setup
from door.session.arrival import WENT_ON
from tests.door.dropfiles.reads import put, understood_in
from tests.door.dropfiles.writers import WRITERS, bbsdev, text
from tests.door.hosting import BOARD, HANG_UP, KILL, Host, Visit, hosted, until_gone
from tests.door.processes import HIT, INSURANCE, command, open_a_hand, question
from tests.door.riding import Rider
from tests.world import log_on, world

NAME = "Moth@Xibalba"
SAYS_IT_AGAIN = """
import sys
from door.lines import hand_over
said = hand_over.unpacked(bytes.fromhex(sys.argv[1]))
print(sys.getfilesystemencoding(), ascii(said[1].split()[1]), hand_over.packed(*said).hex())
"""
ANSWERS = 60.0  # seconds that a server may take on a busy machine
GOES_ON = WENT_ON
NO_CLOCK = BOARD.replace("aliases", "minutes = 60\naliases")


async def with_a_hand(host: Host) -> Visit:
    visit = await host.a_visit()
    await visit.sits_down()
    await open_a_hand(visit)
    return visit


async def goes_on(visit: Visit) -> None:
    await visit.terminal.wait_for(lambda here: GOES_ON in here.transcript, GOES_ON)


async def goes_on_with_the_hand(visit: Visit) -> None:
    await goes_on(visit)
    assert await question(visit) in (HIT, INSURANCE)
    assert visit.terminal.transcript.count("Welcome, Moth") <= 1


async def tells(host: Host, *words: str) -> str:
    """Send the server a sysop's command and return the answer."""
    asked = await asyncio.create_subprocess_exec(
        command("door"),
        *(*words, "--config", str(host.config.path)),
        stdout=asyncio.subprocess.PIPE,
    )
    output, _ = await asked.communicate()
    return output.decode()


async def test_a_caller_handed_over_keeps_the_hosts_node_and_uses_none_of_ours(
    tmp_path: Path,
) -> None:
    toml = f"{BOARD}[calls]\nnodes = 1\n"
    async with hosted(tmp_path, toml=toml, at_server=True) as host:
        for node, alias in ((7, "Moth"), (8, "Bee"), (7, "Ant")):
            file = host.door32(node, alias=alias, user=len(host.visits) + 1)
            visit = await host.on_terminal("--dropfile", str(file), name=f"{alias}@Xibalba")
            await visit.comes_in()
            assert f"Node {node} " in visit.terminal.row(23)
        listed = await tells(host, "nodes")
        assert [line.split()[:2] for line in listed.splitlines() if "@" in line] == [
            ["7", "Moth@Xibalba"],
            ["7", "Ant@Xibalba"],
            ["8", "Bee@Xibalba"],
        ]
        host.enter("Ada")
        ada = await host.call()
        await log_on(ada, "Ada")
        await ada.until("Node 1")
        for visit in host.visits:
            assert await visit.goes() == 0


async def test_the_log_records_when_callers_are_handed_over_and_leave(tmp_path: Path) -> None:
    async with hosted(tmp_path, at_server=True) as host:
        visit = await host.a_visit()
        assert await visit.goes() == 0
        await host.logs("Xibalba hands over number 42 with 3600 seconds left")
        await host.logs(f"{NAME} left node 1: log-off")


async def test_a_socket_that_is_handed_down_carries_telnet_at_the_server_too(
    tmp_path: Path,
) -> None:
    async with hosted(tmp_path, at_server=True) as host:
        visit = await host.on_socket("--dropfile", str(host.node(1)))
        await visit.comes_in()
        visit.terminal.send(b"\xff\xfa\x1f\x00\x64\x00\x28\xff\xf0")  # a window of 100 by 40
        visit.terminal.screen.resize(40, 100)
        await visit.terminal.wait_for(
            lambda terminal: "Time left" in terminal.row(39), "the status line at the bottom"
        )
        visit.gets(HANG_UP)
        assert await visit.ends() == 0


async def test_a_new_size_of_the_terminal_reaches_the_server(tmp_path: Path) -> None:
    async with hosted(tmp_path, at_server=True) as host:
        visit = await host.a_visit()
        visit.resizes(100, 40)
        await visit.terminal.wait_for(
            lambda terminal: "Time left" in terminal.row(39), "the status line at the bottom"
        )
        visit.gets(HANG_UP)
        assert await visit.ends() == 0


async def test_a_terminal_is_as_it_was_when_the_door_has_ended(tmp_path: Path) -> None:
    async with hosted(tmp_path, at_server=True) as host:
        visit = await host.on_terminal("--dropfile", str(host.door32()))
        assert visit.pty is not None
        before = visit.pty.before
        await visit.comes_in()
        assert visit.pty.settings() != before
        assert await visit.goes() == 0
        assert visit.pty.settings() == before


async def test_a_caller_of_a_server_killed_in_a_hand_continues_at_the_next(
    tmp_path: Path,
) -> None:
    async with hosted(tmp_path, at_server=True) as host:
        visit = await with_a_hand(host)
        assert visit.pty is not None
        staked = host.balances(NAME)["stake"]
        host.process.kill()
        await host.is_killed()
        await goes_on_with_the_hand(visit)
        # Below the current screen, and not across its last line.
        assert f"\r\n\r\n{relay.ONE_MOMENT}\r\n" in visit.terminal.transcript.replace("\r\r", "\r")
        assert host.balances(NAME)["stake"] == staked > 0
        visit.gets(HANG_UP)
        assert await visit.ends(within=2.0) == 0
        left = host.balances(NAME)
        assert (left["online"], left["stake"]) == (0, staked)
        assert visit.pty.settings() == visit.pty.before
        host.own = 1


async def test_a_caller_resumes_the_hand_at_a_restarted_server(
    tmp_path: Path,
) -> None:
    async with hosted(tmp_path, at_server=True) as host:
        visit = await with_a_hand(host)
        staked = host.balances(NAME)["stake"]
        host.process.terminate()
        assert await host.ends() == 0
        await host.serve()
        await goes_on_with_the_hand(visit)
        first, second = host.visits_told()
        assert first["left_staked"] == second["standing"] == staked
        assert second["shown"] <= first["shown"] - first["elapsed"]
        visit.gets(HANG_UP)
        assert await visit.ends(within=2.0) == 0
        host.own = 1


async def test_the_time_at_a_server_that_has_closed_is_charged_once(tmp_path: Path) -> None:
    """With a host without a clock only we count the used time."""
    async with hosted(tmp_path, toml=NO_CLOCK, at_server=True) as host:
        file = host.node(1) / "BBSDEV.DRP"
        fields = bbsdev(deadline="", columns="80", rows="24", board="Synchronet", node="1")
        file.write_bytes(text(*fields))
        visit = await host.on_terminal("--dropfile", str(file))
        await visit.comes_in()
        before = visit.terminal.row(23)
        await visit.terminal.wait_for(lambda here: here.row(23) != before, "the next second")
        host.process.terminate()
        assert await host.ends() == 0
        await host.serve()
        await goes_on(visit)
        await visit.prompt("oodbye")
        visit.gets(HANG_UP)
        assert await visit.ends(within=2.0) == 0
        first, second = host.visits_told()
        assert first["brought"] == 3600
        assert second["brought"] == 3600 - first["elapsed"]
        host.own = 1


async def test_a_caller_whose_server_is_stopped_goes_home(tmp_path: Path) -> None:
    async with hosted(tmp_path, at_server=True) as host:
        visit = await with_a_hand(host)
        await tells(host, "stop")
        assert await host.ends() == 0
        assert await visit.ends() == 0
        assert host.balances(NAME)["stake"] > 0
        assert len(host.visits_told()) == 1


async def test_a_draining_server_takes_no_callers(tmp_path: Path) -> None:
    async with hosted(tmp_path, at_server=True) as host:
        first = await host.a_visit(1)
        await tells(host, "drain")
        await first.terminal.until("The sysop is about to close the board")
        file = host.door32(2, user=43, alias="Bee")
        second = await host.on_terminal("--dropfile", str(file), name="Bee@Xibalba")
        await second.terminal.until(hand_over.CLOSED)
        second.presses("\r")
        assert await second.ends() == 0
        assert await first.goes() == 0
        assert await host.ends() == 0, "the last of its callers has gone"
        assert len(host.visits_told()) == 1


async def test_a_hung_server_does_not_delay_a_caller(tmp_path: Path) -> None:
    async with hosted(tmp_path, at_server=True) as host:
        host.process.send_signal(signal.SIGSTOP)
        visit = await host.on_terminal("--dropfile", str(host.door32()))
        await visit.terminal.until(relay.NO_ANSWER)
        visit.presses("\r")
        assert await visit.ends() == relay.FAILED
        host.process.send_signal(signal.SIGCONT)
        assert host.visits_told() == [], "what it was asked before, it does not do now"
        host.expected = "does not answer"


async def test_a_caller_whose_door_is_killed_gets_the_winnings_back(
    tmp_path: Path,
) -> None:
    async with hosted(tmp_path, at_server=True) as host:
        visit = await with_a_hand(host)
        visit.gets(KILL)
        await visit.ends()
        await host.nobody_is_on()
        (closed_visit,) = host.visits_told()
        assert closed_visit["closed"] is not None
        assert host.balances(NAME)["online"] == 0


async def test_a_caller_kicked_at_the_server_reads_why_and_the_door_ends(tmp_path: Path) -> None:
    async with hosted(tmp_path, at_server=True) as host:
        visit = await host.a_visit()
        answer = await tells(host, "kick", "1", "--why", "Bed time.")
        assert answer == f"{NAME} on node 1 sees why and is disconnected.\n"
        await visit.terminal.until("Bed time.")
        assert await visit.ends() == 0


@pytest.mark.parametrize("file", ["input", "output"])
async def test_a_caller_on_a_file_is_refused(tmp_path: Path, file: str) -> None:
    async with hosted(tmp_path, at_server=True) as host:
        typed = host.folder / "typed"
        typed.write_bytes(b" gy ")
        shown = host.folder / "shown"
        with typed.open("rb") as source, shown.open("wb") as sink:
            process = await asyncio.create_subprocess_exec(
                command("door"),
                *("run", "--config", str(host.config.path), "--dropfile", str(host.door32())),
                stdin=source if file == "input" else asyncio.subprocess.PIPE,
                stdout=sink if file == "output" else asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
            )
            await process.communicate(b" gy " if file == "output" else None)
        host.expected = f"Standard {file} is a file or a device"
        assert host.expected in host.log
        assert (process.returncode, host.visits_told()) == (2, [])


# The wire


def stands_in(folder: Path) -> tuple[str, socket.socket]:
    """Listen in a data folder as a server does; returns sysop.toml and the socket."""
    (folder / "data").mkdir()
    config = folder / "sysop.toml"
    config.write_text("")
    server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    server.bind(str(folder / "data" / hand_over.NAME))
    server.listen()
    return str(config), server


def takes(server: socket.socket, host: socket.socket) -> tuple[socket.socket, dict[str, str]]:
    """Take a caller over a connection to the host; return the wire and the door's message."""
    near, facts = comes(server)
    near.send(hand_over.packed(hand_over.WANTED, hand_over.CONNECT, *map(str, host.getsockname())))
    _, ends, _, _ = socket.recv_fds(near, hand_over.LARGEST, 1)
    os.write(ends[0], b"Here you are. ")
    os.close(ends[0])
    near.send(hand_over.packed(hand_over.TAKEN))
    return near, facts


def comes(server: socket.socket) -> tuple[socket.socket, dict[str, str]]:
    """Wait for a door; return the wire and its message."""
    near, _ = server.accept()
    while hand_over.file_in(message := near.recv(hand_over.LARGEST)) is not None:
        continue
    return near, dict(text.partition("=")[::2] for text in hand_over.unpacked(message))


def test_a_caller_stays_on_the_connection_to_the_host_when_the_server_dies(tmp_path: Path) -> None:
    """A host takes one connection, and thinks that the caller has gone when it ends."""
    config, server = stands_in(tmp_path)
    calls: list[dict[str, str]] = []

    def dies_and_is_there_again() -> None:
        near, first = takes(server, host)
        near.close()
        near, second = takes(server, host)
        near.send(hand_over.packed(hand_over.DONE, "7"))
        near.close()
        calls.extend([first, second])

    with socket.create_server(("127.0.0.1", 0)) as host, server:
        serves = threading.Thread(target=dies_and_is_there_again)
        serves.start()
        where = ":".join(map(str, host.getsockname()))
        assert relay.relay(["--config", config, "--connect", where], {}) == 7
        serves.join()
        near, _ = host.accept()
        with near:
            assert near.recv(64) == b"Here you are. Here you are. "
    first, second = calls
    assert "went_on" not in first
    assert float(second["went_on"]) >= float(first["arrived"])
    assert (first["now"], first["arrived"]) == (second["now"], second["arrived"])


@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize(
    ("host", "why"),
    [("127.0.0.1", "Connection refused"), ("::1%nowhere", "not known"), ("x" * 64, "label")],
)
def test_a_host_that_does_not_listen_is_named_in_a_sentence(host: str, why: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as port:
        number = port.getsockname()[1]
    with pytest.raises(relay._NotServed) as refused:
        relay.CallState().call_back(host, number)
    assert refused.value.why.startswith(f"{host} does not answer on port {number} (")
    assert why in refused.value.why


def test_a_host_that_does_not_answer_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relay, "CONNECT_SECONDS", 0.1)
    with (
        socket.create_server(("127.0.0.1", 0), backlog=0) as port,
        # One connection fills its queue, so that the kernel holds the next one.
        socket.create_connection(port.getsockname()),
        pytest.raises(relay._NotServed) as refused,
    ):
        relay.CallState().call_back(*port.getsockname())
    assert "(timed out)" in refused.value.why


def test_a_call_that_no_server_keeps_comes_to_an_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turning_away, "APOLOGY_SECONDS", 0.0)
    config, server = stands_in(tmp_path)

    def lets_all_go() -> None:
        for _ in range(relay.MAX_HAND_OVERS + 1):
            near, _ = takes(server, host)
            near.send(hand_over.packed(hand_over.AGAIN))
            near.close()

    with socket.create_server(("127.0.0.1", 0)) as host, server:
        serves = threading.Thread(target=lets_all_go)
        serves.start()
        where = ":".join(map(str, host.getsockname()))
        assert relay.relay(["--config", config, "--connect", where], {}) == relay.FAILED
        serves.join()
        near, _ = host.accept()
        with near:
            assert f"\r\n\r\n{hand_over.CLOSED}".encode() in near.recv(256)


@pytest.mark.parametrize("is_on", [True, False], ids=["on", "waits"])
def test_a_door_becomes_one_of_the_new_release_when_it_hands_its_caller_on(
    tmp_path: Path, is_on: bool
) -> None:
    """It keeps the caller's line, number and time of arrival.

    This also holds for a caller not yet taken because the server has another protocol.
    """
    config, server = stands_in(tmp_path)
    packages = str(tmp_path / "site-packages")
    calls: list[dict[str, str]] = []
    doors: list[int] = []

    def is_updated() -> None:
        near, first = takes(server, host) if is_on else comes(server)
        doors.append(near.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED))
        install(tmp_path, "9.9")
        refused = (hand_over.REFUSED, "next", "2", hand_over.OUT_OF_ORDER, "why")
        near.send(hand_over.packed(*((hand_over.AGAIN,) if is_on else refused)))
        near.close()
        near, second = takes(server, host)
        doors.append(near.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED))
        os.kill(doors[0], signal.SIGHUP)
        assert near.recv(64).decode() == hand_over.HUNG_UP
        near.send(hand_over.packed(hand_over.DONE, "7"))
        near.close()
        calls.extend([first, second])

    with socket.create_server(("127.0.0.1", 0)) as host, server:
        serves = threading.Thread(target=is_updated)
        serves.start()
        where = ":".join(map(str, host.getsockname()))
        door = subprocess.run(
            (command("door"), "run", "--config", config, "--connect", where),
            env={**os.environ, "PYTHONPATH": packages},
            check=False,
        )
        serves.join()
        near, _ = host.accept()
        with near:
            assert near.recv(64) == b"Here you are. " * (1 + is_on)
    first, second = calls
    assert (door.returncode, doors[0]) == (7, doors[1])
    assert "went_on" not in first
    assert ("went_on" in second) == is_on
    assert (first["now"], first["arrived"]) == (second["now"], second["arrived"])
    assert (first["release"], second["release"]) == (hand_over.release(), "9.9")


def test_a_caller_waiting_for_an_update_also_waits_for_the_restart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`door serve` closes the board for the moment of a restart."""
    folder, waits = str(tmp_path), list[str]()
    door = relay.Door({}, {})
    monkeypatch.setattr(door, "wait", waits.append)
    monkeypatch.setattr(relay.time, "sleep", lambda seconds: closed.reopen(folder))
    closed.close(folder, "a test")
    with pytest.raises(relay._NotServed, match="closed"):
        door._wait_while_closed(folder)
    door._wait_for_update("")
    closed.close(folder, "a test")
    door._wait_while_closed(folder)
    assert waits == [relay.UP_TO_DATE, relay.ONE_MOMENT]


@pytest.mark.parametrize("facts", [b"", b"{}", b"[1, 2, true]", b"\xff"])
def test_a_door_takes_on_nothing_but_a_call(tmp_path: Path, facts: bytes) -> None:
    (tmp_path / "facts").write_bytes(facts)
    for descriptor in (str(os.open(tmp_path / "facts", os.O_RDONLY)), "9999", "one", f"{2**70}"):
        assert relay.Door({relay.STATE_OPTION: descriptor}, {}).state.folder == relay.NO_FOLDER


@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize("is_other", [True, False], ids=["another", "1.0"])
def test_a_server_that_speaks_otherwise_is_waited_for(tmp_path: Path, is_other: bool) -> None:
    """A server of 1.0 reports only another version."""
    config, server = stands_in(tmp_path)

    def ends_at_last() -> None:
        texts = (
            ["0", "2", hand_over.OUT_OF_ORDER, "why"] if is_other else ["it is of another version"]
        )
        for _ in range(3):
            near, _ = server.accept()
            near.recv(hand_over.LARGEST)
            near.send(hand_over.packed(hand_over.REFUSED, *texts))
            near.close()
        near, _ = takes(server, host)
        near.send(hand_over.packed(hand_over.DONE, "0"))
        near.close()

    with socket.create_server(("127.0.0.1", 0)) as host, server:
        serves = threading.Thread(target=ends_at_last)
        serves.start()
        where = ":".join(map(str, host.getsockname()))
        assert relay.relay(["--config", config, "--connect", where], {}) == 0
        serves.join()
        near, _ = host.accept()
        with near:
            assert near.recv(256).decode() == f"{relay.UP_TO_DATE}\r\nHere you are. "


@pytest.fixture
def reports(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """Return the caller's text and the log of a door in this process."""
    reports: list[tuple[str, str]] = []
    monkeypatch.setattr(
        turning_away, "turn_away", lambda path, line, words, why: reports.append((words, why))
    )
    return reports


def test_a_full_queue_of_a_server_does_not_delay_a_caller_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reports: list[tuple[str, str]]
) -> None:
    config, server = stands_in(tmp_path)
    monkeypatch.setattr(hand_over, "ANSWER_SECONDS", 0.1)
    server.listen(0)
    with server, contextlib.closing(hand_over.dial(str(tmp_path / "data"))):
        assert relay.relay(["--config", config, "--stdio"], {}) == relay.FAILED
    assert reports == [(relay.NO_ANSWER, relay.HUNG)]


def test_the_files_of_a_host_are_read_before_a_server_waits_for_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reports: list[tuple[str, str]]
) -> None:
    """A slow disk used to take five seconds, and its end was reported as the server's."""
    config, server = stands_in(tmp_path)

    def reads(place: str) -> None:
        assert not select.select([server], [], [], 0)[0], "a door has come"
        raise KeyError(place)

    monkeypatch.setattr(hand_over, "files_at", reads)
    with server:
        assert relay.relay(["--config", config, "--dropfile", "/sbbs/node1"], {}) == relay.FAILED
    assert reports == [(hand_over.OUT_OF_ORDER, "the door failed: KeyError('/sbbs/node1')")]


@pytest.mark.parametrize("number", [errno.EMSGSIZE, errno.ETOOMANYREFS])
def test_a_fault_of_the_door_is_not_blamed_on_the_server(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    reports: list[tuple[str, str]],
    number: int,
) -> None:
    config, server = stands_in(tmp_path)
    reading, writing = os.pipe()

    def fails(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    def asks() -> None:
        near, _ = comes(server)
        near.send(hand_over.packed(hand_over.WANTED, hand_over.STDIO))
        near.close()

    monkeypatch.setattr(hand_over, "send_ends", fails)
    monkeypatch.setattr(relay._Relay, "_ends", lambda *_: [reading, writing])
    with server:
        serves = threading.Thread(target=asks)
        serves.start()
        assert relay.relay(["--config", config, "--stdio"], {}) == relay.FAILED
        serves.join()
    why = f"the caller could not be handed over to the server: [Errno {number}]"
    assert [words for words, _ in reports] == [hand_over.OUT_OF_ORDER]
    assert reports[0][1].startswith(why)
    for end in (reading, writing):
        os.close(end)


def test_words_of_a_host_that_are_too_long_are_named(
    tmp_path: Path, reports: list[tuple[str, str]]
) -> None:
    """The kernel takes 128 KiB of each variable."""
    config, server = stands_in(tmp_path)
    host = {"TERM": "x" * 100_000, "LANG": "y" * 100_000, "HOME": "z" * 100_000}
    with server:
        assert relay.relay(["--config", config, "--stdio"], host) == relay.REFUSED
    why = "what the host says is too long for a server: one of --config, --stdio, TERM, LANG, "
    assert reports == [(hand_over.OUT_OF_ORDER, f"{why}or the name of a folder")]


def test_one_long_variable_of_a_host_reaches_the_server(tmp_path: Path) -> None:
    config, server = stands_in(tmp_path)
    calls: list[dict[str, str]] = []

    def is_served() -> None:
        near, facts = comes(server)
        near.send(hand_over.packed(hand_over.DONE, "0"))
        near.close()
        calls.append(facts)

    with server:
        serves = threading.Thread(target=is_served)
        serves.start()
        assert relay.relay(["--config", config, "--stdio"], {"TERM": "x" * 100_000}) == 0
        serves.join()
    assert calls[0]["$TERM"] == "x" * 100_000


async def test_no_thread_of_the_server_waits_for_the_disk_of_a_host(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Six files on a disk that hung kept the threads that read the books."""
    usual = os.pread

    def pread(*asked: int) -> bytes:
        if threading.current_thread() is not threading.main_thread():
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return usual(*asked)

    async with world(tmp_path) as board:
        monkeypatch.setattr(os, "pread", pread)
        rider = Rider(board)
        rider.dials()
        assert (await rider.asks())[0] == hand_over.WANTED
        rider.wire.close()


@pytest.fixture
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a door in this process wait for no key and leave the log alone."""
    monkeypatch.setattr(hand_over, "PAUSE", 0.0)
    monkeypatch.setattr(relay, "UP_TO_DATE_PAUSE", 0.0)
    monkeypatch.setattr(turning_away, "APOLOGY_SECONDS", 0.0)
    monkeypatch.setattr(turning_away.log_file, "begin", lambda config: None)


@pytest.fixture
def wires() -> tuple[socket.socket, socket.socket]:
    near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    return near, far


def facts(**changed: str) -> dict[str, str]:
    fields = {
        "version": hand_over.VERSION,
        "release": hand_over.release(),
        "now": "0",
        "arrived": "0",
    }
    fields |= {"offset": "0", "here": "/", "folder": "/nowhere", "named": "0", "unread": "2"}
    return fields | changed


@pytest.mark.parametrize(
    "fields",
    [
        facts(now="soon"),
        facts(now="1e300"),
        facts(now="-1e18"),
        *(facts(arrived=instant) for instant in ("nan", "inf", "-1e300", "1e300")),
        *(facts(went_on=instant) for instant in ("nan", "inf", "-1e300", "1e300")),
        dict(list(facts().items())[:5]),
        facts(unread="no"),
        facts(unread=str(2**31)),
        {},
        facts(**{"--node": "x"}),
    ],
)
def test_an_unreadable_message_is_refused(fields: dict[str, str]) -> None:
    with pytest.raises(door_calls.DoorCallRefused):
        door_calls.Facts(fields, [])


async def test_a_door_cannot_extend_the_time_by_a_false_arrival(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A host may give its doors a monotonic clock of their own."""
    messages = relay._messages

    def says(fields: dict[str, str], host: dict[str, str], before: relay.CallState) -> list[bytes]:
        before.arrived += 3600
        return messages(fields, host, before)

    monkeypatch.setattr(relay, "_messages", says)
    async with world(tmp_path, toml=BOARD) as board:
        rider = Rider(board)
        await rider.comes_in()
        await board.pass_time(120)
        await rider.hangs_up()
        with board.books() as desk:
            charged = desk.connection.exec_driver_sql("SELECT charged FROM calls").scalar_one()
        assert charged >= 120


def install(folder: Path, release: str) -> str:
    """Make a folder of packages that has this release in it."""
    packages = folder / "site-packages"
    about = packages / f"blackjack_for_time-{release}.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(f"Name: blackjack-for-time\nVersion: {release}\n")
    (about / "entry_points.txt").write_text("[console_scripts]\ndoor = door.cli.entry:main\n")
    return str(packages)


def test_a_door_announces_its_release(tmp_path: Path, monkeypatch) -> None:
    assert hand_over.release() == server_note.version()
    monkeypatch.setattr("sys.path", [str(tmp_path), install(tmp_path, "9.9rc1")])
    assert hand_over.release() == "9.9rc1"
    (message,) = relay._messages({}, {}, relay.CallState())
    assert "release=9.9rc1" in hand_over.unpacked(message)
    monkeypatch.setattr("sys.path", [str(tmp_path / "nowhere-packages")])
    assert hand_over.release() == ""


def answered(host: Host, release: str) -> list[str]:
    """Connect as a door of this release and return the server's answer."""
    with contextlib.closing(hand_over.dial(str(host.config.board.data))) as wire:
        wire.settimeout(ANSWERS)
        fields = (f"{name}={value}" for name, value in facts(release=release).items())
        wire.send(hand_over.packed(hand_over.CALL, *fields))
        return hand_over.unpacked(wire.recv(hand_over.LARGEST))


async def test_a_sysops_server_serves_doors_of_another_release(tmp_path: Path) -> None:
    async with hosted(tmp_path, at_server=True) as host:
        host.expected = "the folder cannot be read"
        word, *_, words, _why = await asyncio.to_thread(answered, host, "9.9")
        assert (word, words) == (hand_over.REFUSED, DropFileRefused.polite), "it has no drop file"


async def test_an_update_moves_all_doors_of_a_server_to_one_of_the_new_release(
    tmp_path: Path,
) -> None:
    async with hosted(tmp_path) as host:
        updated = {"PYTHONPATH": str(tmp_path / "site-packages")}

        async def comes(node: int, alias: str) -> Visit:
            file = host.door32(node, user=40 + node, alias=alias)
            name = f"{alias}@Xibalba"
            return await host.on_terminal("--dropfile", str(file), name=name, environment=updated)

        riders = [await comes(1, "Moth"), await comes(2, "Ant")]
        for rider in riders:
            await rider.comes_in()
            await rider.sits_down()
            await open_a_hand(rider)
        staked = [host.balances(rider.name)["stake"] for rider in riders]
        old = server_note.server_in(host.config.board.data)
        assert old is not None
        await asyncio.to_thread(answered, host, "9.9")  # which is installed elsewhere
        hand_over.dial(str(host.config.board.data)).close()  # it still takes doors
        install(tmp_path, "9.9")
        bee = await comes(3, "Bee")
        await bee.comes_in()
        for rider in riders:
            await goes_on_with_the_hand(rider)
        await until_gone(old.process)
        new = server_note.server_in(host.config.board.data)
        assert new is not None
        assert new.version == "9.9"
        assert [host.balances(rider.name)["stake"] for rider in riders] == staked
        for visit in (*riders, bee):
            visit.gets(HANG_UP)
            assert await visit.ends(within=2.0) == 0
        host.expected = "the folder cannot be read"


@pytest.mark.usefixtures("in_this_process")
def test_a_door_does_not_use_another_users_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "data").mkdir()
    config = tmp_path / "sysop.toml"
    config.write_text("")
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as server:
        server.bind(str(tmp_path / "data" / hand_over.NAME))
        server.listen()
        monkeypatch.setattr(hand_over, "is_of", lambda wire, user: user != os.geteuid())
        assert relay.relay(["--config", str(config)], {}) == relay.REFUSED
        near, _ = server.accept()
        with near:
            assert near.recv(1) == b"", "not a word is said to it"


def folder_of(options: dict[str, str]) -> str | None:
    return relay.Settings(options, {}).folder


def test_a_note_of_the_server_holds_until_sysop_toml_changes(tmp_path: Path) -> None:
    config = tmp_path / "sysop.toml"
    config.write_text('[board]\ndata = "books"\n')
    options = {"config": str(config)}
    assert folder_of(options) == str(tmp_path / "books")
    elsewhere = tmp_path / "elsewhere"
    place = hand_over.leave_note(str(config), config.stat(), str(elsewhere))
    assert folder_of(options) == relay.Settings({}, {"BJFT_CONFIG": str(config)}).folder
    assert folder_of(options) == str(elsewhere)
    assert place is not None
    config.write_text("[board\n")
    hand_over.leave_note(str(config), config.stat(), str(elsewhere))
    assert folder_of(options) == str(elsewhere)
    os.unlink(place)
    assert folder_of(options) is None, "what is wrong with it is the door's to say"


def test_a_note_that_another_user_has_left_is_not_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "sysop.toml"
    config.write_text("")
    hand_over.leave_note(str(config), config.stat(), "/elsewhere")
    monkeypatch.setattr(hand_over.os, "geteuid", lambda: 4_000_000)
    assert hand_over.folder_noted(str(config)) is None


def test_where_the_folder_cannot_be_written_the_note_is_in_the_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    person = SimpleNamespace(pw_dir=str(tmp_path / "home"))
    monkeypatch.setattr(pwd, "getpwuid", lambda number: person)
    config = tmp_path / "sysop.toml"
    config.write_text("")
    (tmp_path / ".sysop.toml.doors").mkdir()  # a folder that cannot be replaced
    place = hand_over.leave_note(str(config), config.stat(), "/elsewhere")
    assert place is not None
    assert Path(place).is_relative_to(tmp_path / "home")
    assert hand_over.folder_noted(str(config)) == "/elsewhere"


def test_a_path_that_is_too_long_for_the_kernel_is_reached_all_the_same(tmp_path: Path) -> None:
    folder = tmp_path / ("x" * 90) / ("y" * 90)
    folder.mkdir(parents=True)
    name, held = hand_over.short(str(folder))
    assert held is not None
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as server:
        server.bind(name)
        server.listen()
        with contextlib.closing(hand_over.dial(str(folder))) as wire:
            assert hand_over.is_of(wire, os.geteuid())
            assert os.geteuid() == 0 or not hand_over.is_of(wire, os.geteuid() + 1)


async def test_where_no_descriptor_is_left_the_server_asks_again_in_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = OSError(errno.EMFILE, "Too many open files")
    monkeypatch.setattr(door_calls, "PAUSE", 0.0)
    async with world(tmp_path) as board:
        listener = board.server._handed
        assert listener._wire is not None
        wire = mock.Mock(wraps=listener._wire)
        wire.accept.side_effect = [full, full, BlockingIOError()]
        monkeypatch.setattr(listener, "_wire", wire)
        with contextlib.closing(hand_over.dial(str(board.config.board.data))):
            async with asyncio.timeout(60):
                for _asked in iter(lambda: wire.accept.call_count < 3, False):
                    await asyncio.sleep(0)


def test_a_call_that_does_not_come_to_its_line_is_dropped(wires) -> None:
    near, far = wires
    with near, far:
        far.send(hand_over.packed(hand_over.HUNG_UP))

        async def asks() -> None:
            near.setblocking(False)
            with pytest.raises(OSError, match="it has ended"):
                await door_calls.DoorWire(near).message(hand_over.CALL)

        asyncio.run(asks())


@pytest.mark.parametrize(("mode", "wanted"), [("0700", 0o600), ("0770", 0o660)])
async def test_a_user_of_the_shared_folder_may_connect(
    tmp_path: Path, mode: str, wanted: int
) -> None:
    toml = f'listeners = []\n[board]\ndata_mode = "{mode}"\n'
    async with world(tmp_path, toml=toml) as board:
        status = (board.config.board.data / hand_over.NAME).stat()
        assert stat.S_IMODE(status.st_mode) == wanted


def test_an_unneeded_descriptor_from_a_door_is_closed(wires, tmp_path: Path) -> None:
    """Doors of before have passed on the files of their hosts so."""
    near, far = wires
    with near, far, (tmp_path / "file").open("w") as file:
        hand_over.send_ends(
            far, hand_over.packed(hand_over.CALL, "release=1.0"), [file.fileno()] * 3
        )
        before = len(os.listdir("/proc/self/fd"))

        async def asks() -> None:
            near.setblocking(False)
            assert await door_calls.DoorWire(near).message(hand_over.CALL) == (
                hand_over.CALL,
                ["release=1.0"],
                [],
            )

        asyncio.run(asks())
        assert len(os.listdir("/proc/self/fd")) == before


@pytest.mark.parametrize(
    ("sent", "why"),
    [
        ([b"file\0DOOR.SYS\0soon\0000\0"], "cannot be read"),
        ([b"file\0DOOR.SYS"], "cannot be read"),
        ([b"file\0DOOR.SYS\0%d\0000\0" % 2**63], "cannot be read"),
        ([b"file\0DOOR.SYS\0001\0%d\0" % 2**31], "cannot be read"),
        ([hand_over.file_packed(("DOOR.SYS", 1, 0, b""))] * (hand_over.MOST_FILES + 1), "too many"),
        (
            [hand_over.file_packed(("DOOR.SYS", 1, 0, b"x" * hand_over.LARGEST_FILE))] * 20,
            "too many",
        ),
    ],
)
def test_a_door_that_sends_malformed_files_is_ignored(wires, sent: list[bytes], why: str) -> None:
    near, far = wires
    with near, far:

        async def asks() -> None:
            for wire in wires:
                wire.setblocking(False)
            loop = asyncio.get_running_loop()
            sends = loop.create_task(all_of(loop))
            with pytest.raises(ConnectionError, match=why):
                await door_calls.DoorWire(near).message(hand_over.CALL)
            await sends

        async def all_of(loop: asyncio.AbstractEventLoop) -> None:
            for message in sent:
                await loop.sock_sendall(far, message)

        asyncio.run(asks())


async def test_of_doors_that_say_nothing_only_some_are_listened_to_at_once(tmp_path: Path) -> None:
    async with world(tmp_path) as board:
        folder, handed = str(board.config.board.data), board.server._handed
        silent = [hand_over.dial(folder) for _ in range(2 * door_calls.MAX_UNIDENTIFIED)]
        for _ in range(2 * len(silent)):  # turns of the loop, which takes one in each
            await asyncio.sleep(0)
        assert len(handed._tasks) == door_calls.MAX_UNIDENTIFIED
        for wire in silent:
            wire.close()
        rider = Rider(board)
        rider.dials()
        assert (await rider.asks())[0] == hand_over.WANTED
        rider.wire.close()


async def test_a_caller_whose_door_did_not_wait_is_refused(wires) -> None:
    near, far = wires
    with near:
        far.close()
        with pytest.raises(OSError, match="Broken pipe"):
            door_calls.DoorWire(near).take()


def test_the_end_of_a_call_is_read_despite_unread_messages() -> None:
    """The kernel reports a reset before the messages: the caller was served a second time."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours:
        ours.send(hand_over.packed(hand_over.RESIZED))
        theirs.send(hand_over.packed(hand_over.DONE, "0"))
        theirs.close()
        assert relay._Relay(ours, relay.CallState())._follow() == 0


async def test_minutes_are_given_although_the_door_has_not_read_everything() -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours:
        ours.send(hand_over.packed(hand_over.DONE))
        theirs.send(hand_over.packed(hand_over.GIVEN, "MODUSER.DAT"))
        theirs.close()
        wire = door_calls.DoorWire(ours)
        wire._answer = asyncio.get_running_loop().create_future()
        wire._obey()
        assert wire._answer.result()[:2] == [hand_over.GIVEN, "MODUSER.DAT"]


def test_a_server_without_room_for_descriptors_says_so(wires) -> None:
    near, far = wires
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    with near, far, open("/dev/null") as file:

        async def asks() -> None:
            near.setblocking(False)
            hand_over.send_ends(far, hand_over.packed(hand_over.LINE), [file.fileno()] * 2)
            resource.setrlimit(resource.RLIMIT_NOFILE, (os.dup(near.fileno()) + 1, limits[1]))
            with pytest.raises(door_calls.DoorCallRefused, match="not all descriptors") as it:
                await door_calls.DoorWire(near).ends(line_setup.Stdio())
            assert it.value.words == door_calls.FULL

        try:
            asyncio.run(asks())
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def test_the_note_of_a_server_that_has_ended_leads_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The data folder may be a link that leads elsewhere by now: the lock was of other books."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    (tmp_path / "data").symlink_to("one")
    config = tmp_path / "sysop.toml"
    config.write_text("")
    assert hand_over.leave_note(str(config), config.stat(), str(tmp_path / "data")) is not None
    (tmp_path / "data").unlink()
    (tmp_path / "data").symlink_to("two")
    asked: list[tuple[str, ...]] = []

    def reach(*words: str, waits: bool) -> NoReturn:
        asked.append(words)
        raise OSError("no server")

    monkeypatch.setattr(starting, "reach", reach)
    door = relay.Door({"config": str(config), "local": ""}, {})
    with pytest.raises(relay._NotServed):
        door._reach()
    assert [Path(each).resolve() for each in asked[0][1:]] == [
        tmp_path / "two",
        tmp_path / "two/board.sqlite3.serving",
    ]


def test_a_name_is_the_same_to_a_door_of_another_locale(tmp_path: Path) -> None:
    """A host's caller became another one, and the winnings stayed here."""
    asked = hand_over.packed(hand_over.GIVE, "BBS BÜCHER", os.fsdecode(b"/x/n\x94d"))
    result = subprocess.run(
        [sys.executable, "-c", SAYS_IT_AGAIN, asked.hex()],
        env={"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        cwd=Path(hand_over.__file__).parents[2],
        capture_output=True,
        check=True,
    )
    assert result.stdout.split() == [b"ascii", ascii("BÜCHER").encode(), asked.hex().encode()]


def test_a_door_in_a_removed_folder_learns_where_its_files_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone, node = tmp_path / "gone", tmp_path / "node1"
    for each in (gone, node):
        each.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert relay._absolute_paths({"dropfile": str(node)}, {})[:2] == (str(node), "/")


async def test_a_caller_keeps_their_identity_after_the_host_reuses_the_folder(
    tmp_path: Path,
) -> None:
    async with hosted(tmp_path, at_server=True) as host:
        visit = await with_a_hand(host)
        host.door32(user=43, alias="Bee", minutes=90)
        host.process.kill()
        await host.is_killed()
        await goes_on(visit)
        visit.gets(HANG_UP)
        assert await visit.ends() == 0
        host.own = 1
        with host.books() as desk:
            names = desk.connection.exec_driver_sql("SELECT name FROM callers").scalars()
            assert list(names) == [NAME]


def test_a_door_of_the_new_release_gets_the_hosts_file_unchanged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "n\udcf6de1" / "DOOR.SYS"
    file.parent.mkdir()
    file.write_bytes(b"COM0:\r\n\xe4\xff\x1a")
    begun: list[str] = []

    def begins(_: str, words: list[str]) -> NoReturn:
        begun.append(words[-1].partition("=")[2])
        raise OSError

    monkeypatch.setattr(relay.os, "execv", begins)
    before, again = relay.CallState(), relay.CallState()
    before.read(str(file))
    before.restart()
    file.write_bytes(b"another caller's")
    again.restore(begun[0])
    assert (again.place, again.folder) == (before.place, before.folder)
    assert again.folder[3][0][3] == b"COM0:\r\n\xe4\xff\x1a"


def test_a_value_written_to_a_host_file_reaches_the_next_server(
    tmp_path: Path,
) -> None:
    """Otherwise winnings could not be added to it."""
    put(tmp_path, WRITERS["synchronet door.sys"])
    (way,) = understood_in(tmp_path).gives
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        before = relay.CallState()
        before.read(str(tmp_path))
        door = relay._Relay(ours, before)
        assert way.minutes is not None
        assert door._give_back(asked(way, 5))[0] == hand_over.GIVEN
        assert before.folder == hand_over.files_at(str(tmp_path))
        way = replace(way, minutes=way.minutes + 5)
        put(tmp_path, WRITERS["synchronet stdio"])
        assert door._give_back(asked(replace(way, minutes=0), 5))[0] != hand_over.GIVEN
        assert [name for name, *_ in before.folder[3]] == [way.path.name]


@pytest.mark.parametrize("behind", [[hand_over.packed(hand_over.DONE, "0")], []])
def test_a_door_writes_no_minutes_after_the_server_stops_waiting(
    tmp_path: Path, behind: list[bytes]
) -> None:
    """By then the sysop may have found them missing and given them by hand."""
    put(tmp_path, WRITERS["synchronet stdio"])
    (way,) = understood_in(tmp_path).gives
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours:
        before = relay.CallState()
        before.read(str(tmp_path))
        with theirs:
            for message in (hand_over.packed(hand_over.GIVE, *asked(way, 5)), *behind):
                theirs.send(message)
        relay._Relay(ours, before)._follow()
    assert not (tmp_path / "MODUSER.DAT").exists()
