"""The line on which a door itself writes: its choice, and the messages."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from door.lines import hand_over
from door.run import caller_line, relay
from tests.door.dropfiles.writers import door32, text
from tests.home_computer import SCREENS


def nobody(host: str, port: int) -> int:
    raise AssertionError("it calls nobody back")


def named(folder: Path, number: int, *, ago: int = 0) -> None:
    """Write a DOOR32.SYS that names this socket, so many seconds before now."""
    file = folder / "DOOR32.SYS"
    file.write_bytes(text(*door32(comm="2", handle=str(number))))
    at = file.stat().st_mtime - ago
    os.utime(file, (at, at))


def written_bytes(wire: socket.socket, folder: Path, options: dict[str, str]) -> bytes:
    """Return the bytes on the wire when the line writes a message."""
    line = caller_line.find_line(options, hand_over.files_at(str(folder))[3], nobody)
    if line is not None:
        line.say(relay.ONE_MOMENT)
    wire.setblocking(False)
    try:
        return wire.recv(64)
    except BlockingIOError:
        return b""


@pytest.mark.parametrize("way", ["in the file", "--socket"])
def test_a_caller_on_a_socket_reads_that_they_must_wait(tmp_path: Path, way: str) -> None:
    near, far = socket.socketpair()
    with near, far:
        named(tmp_path, near.fileno())
        options = {"socket": str(near.fileno())} if way == "--socket" else {}
        assert written_bytes(far, tmp_path, options) == b"One moment, please.\r\n"


@pytest.mark.parametrize(("charset", "begin"), [("petscii", b"\x0e\x93"), ("atascii", b"\x7d")])
def test_a_home_computer_reads_it_in_its_own_letters(
    tmp_path: Path, charset: str, begin: bytes
) -> None:
    near, far = socket.socketpair()
    with near, far:
        options = {"socket": str(near.fileno()), "charset": charset}
        shown = SCREENS[charset]()
        written = written_bytes(far, tmp_path, options)
        assert written.startswith(begin)
        shown.feed(written)
        assert shown.display[0].rstrip() == relay.ONE_MOMENT


def test_an_older_file_that_names_a_socket_leaves_it_alone(tmp_path: Path) -> None:
    near, far = socket.socketpair()
    with near, far:
        named(tmp_path, near.fileno(), ago=60)
        (tmp_path / "DOOR.SYS").write_bytes(b"COM0:\r\n")
        assert written_bytes(far, tmp_path, {}) == b""


def test_a_descriptor_that_is_no_socket_is_not_written_to(tmp_path: Path) -> None:
    with (tmp_path / "file").open("w+b") as file:
        options = {"socket": str(file.fileno())}
        assert caller_line.find_line(options, [], nobody) is None
    assert (tmp_path / "file").read_bytes() == b""
    assert caller_line.find_line({"connect": "nowhere"}, [], nobody) is None


def test_a_pause_ends_when_the_caller_hangs_up() -> None:
    near, far = socket.socketpair()
    with near:
        line = caller_line.CallerLine(near.fileno(), near.fileno())
        far.send(b" ")
        line.pause(60.0)
        far.close()
        line.pause(60.0)
        line.say("Goodbye.")


def test_a_line_is_given_back_as_it_was_when_a_server_has_died() -> None:
    """A server that may not reopen the host's terminal changes a flag of the host's own file."""
    near, far = socket.socketpair()
    wire, server = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with near, far, wire, server:
        relayed = relay._Relay(wire, relay.CallState())
        assert relayed._ends(["socket", str(near.fileno())]) == [near.fileno()]
        near.setblocking(False)
        assert relayed._restore_line() is None
        assert os.get_blocking(near.fileno())
