"""Real programs with the algorithms of older ones, at an SSH port that lets them in."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
import sys
from ctypes.util import find_library
from pathlib import Path

import pytest

from door.lines.registry import Compatibility
from tests.door.lines.board import GREETING, PATIENCE
from tests.door.lines.ssh.board import RSA_KEY, SshBoard, open_board
from tests.door.lines.ssh.test_programs import openssh, output_of, running
from tests.door.lines.test_rlogin_clients import NEED_CLIENTS, installed

pytestmark = pytest.mark.long

# Algorithms that OpenSSH's program is limited to: (its algorithms, and where they are enough).
CRYPTLIB = (
    "rsa-sha2-256", "diffie-hellman-group14-sha256", "aes128-cbc", "hmac-sha2-256", "boards",
)  # fmt: skip
SYNCTERM_1_1 = ("rsa-sha2-256", "ecdh-sha2-nistp256", "aes128-cbc", "hmac-sha2-256", "boards")
LIBSSH2 = ("ssh-rsa", "diffie-hellman-group14-sha1", "aes128-cbc", "hmac-sha1", "old")

# A caller by libssh2, and by libssh: to a terminal, as far as its first bytes.
BY_LIBSSH2 = """
import ctypes, socket, sys
path, port, key, exchange, cipher, mac = sys.argv[1:]
ssh = ctypes.CDLL(path)
ssh.libssh2_session_init_ex.restype = ctypes.c_void_p
ssh.libssh2_channel_open_ex.restype = ctypes.c_void_p
ssh.libssh2_channel_read_ex.restype = ctypes.c_ssize_t
ssh.libssh2_init(0)
wire = socket.create_connection(("127.0.0.1", int(port)))
session = ctypes.c_void_p(ssh.libssh2_session_init_ex(None, None, None, None))
for method, names in enumerate((exchange, key, cipher, cipher, mac, mac)):
    assert ssh.libssh2_session_method_pref(session, method, names.encode()) == 0, names
assert ssh.libssh2_session_handshake(session, wire.fileno()) == 0, "no handshake"
name, word = b"Ada", b"open sesame"
assert ssh.libssh2_userauth_password_ex(session, name, len(name), word, len(word), None) == 0
kind = b"session"
channel = ctypes.c_void_p(
    ssh.libssh2_channel_open_ex(session, kind, len(kind), 65536, 32768, None, 0)
)
ssh.libssh2_channel_request_pty_ex(channel, b"ansi", 4, None, 0, 80, 24, 0, 0)
assert ssh.libssh2_channel_process_startup(channel, b"shell", 5, None, 0) == 0
into = ctypes.create_string_buffer(4096)
length = ssh.libssh2_channel_read_ex(channel, 0, into, ctypes.c_size_t(4096))
sys.stdout.write(into.raw[:length].decode())
"""
BY_LIBSSH = """
import ctypes, sys
path, port, key, exchange, cipher, mac = sys.argv[1:]
ssh = ctypes.CDLL(path)
ssh.ssh_new.restype = ssh.ssh_channel_new.restype = ctypes.c_void_p
session = ctypes.c_void_p(ssh.ssh_new())
number = ctypes.c_uint(int(port))
HOST, PORT, USER, C_S, S_C, EXCHANGE, KEYS, MAC_C_S, MAC_S_C = 0, 1, 4, 15, 16, 24, 25, 28, 29
for option, value in ((HOST, "127.0.0.1"), (USER, "Ada"), (C_S, cipher), (S_C, cipher),
                      (EXCHANGE, exchange), (KEYS, key), (MAC_C_S, mac), (MAC_S_C, mac)):
    assert ssh.ssh_options_set(session, option, value.encode()) == 0, value
assert ssh.ssh_options_set(session, PORT, ctypes.byref(number)) == 0
assert ssh.ssh_connect(session) == 0, "no handshake"
assert ssh.ssh_userauth_password(session, None, b"open sesame") == 0
channel = ctypes.c_void_p(ssh.ssh_channel_new(session))
assert ssh.ssh_channel_open_session(channel) == 0
assert ssh.ssh_channel_request_pty_size(channel, b"ansi", 80, 24) == 0
assert ssh.ssh_channel_request_shell(channel) == 0
into = ctypes.create_string_buffer(4096)
length = ssh.ssh_channel_read(channel, into, 4096, 0)
sys.stdout.write(into.raw[:length].decode())
"""


def library(name: str, package: str) -> str:
    """Return the file of a C library; skip the test if it is missing."""
    found = find_library(name)
    if found is None:
        missing = f"{name} is not installed (apt-get install {package})"
        assert NEED_CLIENTS not in os.environ, missing
        pytest.skip(missing)
    ctypes.CDLL(found)
    return found


async def is_let_in(home: Path, board: SshBoard, *command: str) -> bool:
    """Run a program to its end; return whether it makes a call, and check that it shows it."""
    async with running(home, *command, on_terminal=True) as (process, output, keyboard):
        answered = asyncio.create_task(board.answered_with())
        ended = asyncio.create_task(process.wait())
        async with asyncio.timeout(PATIENCE):
            await asyncio.wait({answered, ended}, return_when=asyncio.FIRST_COMPLETED)
            if not answered.done():
                answered.cancel()
                return False
            call, _ = await answered
            call.line.write(b"Goodbye.")
            call.over.set()
            await ended
        with contextlib.suppress(OSError):  # how Linux reports that the program has ended
            while True:
                output.extend(os.read(keyboard, 4096))
        assert GREETING in bytes(output)
        return True


@pytest.mark.parametrize(
    "program", [CRYPTLIB, SYNCTERM_1_1, LIBSSH2], ids=["cryptlib", "SyncTERM", "libssh2"]
)
@pytest.mark.parametrize("compatibility", ["modern", "boards", "old"])
async def test_openssh_with_the_algorithms_of_old_programs(
    program: tuple[str, ...], compatibility: Compatibility, tmp_path: Path
) -> None:
    key, exchange, cipher, mac, enough = program
    words = ("modern", "boards", "old")
    async with open_board(compatibility=compatibility) as board:
        options = {
            "HostKeyAlgorithms": key, "KexAlgorithms": exchange, "Ciphers": cipher, "MACs": mac,
        }  # fmt: skip
        chosen = [word for each in options.items() for word in ("-o", "=".join(each))]
        address = ("-tt", "-p", str(board.port), "new@127.0.0.1")
        command = (*openssh("ssh", tmp_path), *chosen, *address)
        expected = words.index(compatibility) >= words.index(enough)
        assert await is_let_in(tmp_path, board, *command) == expected


async def test_putty_with_an_rsa_key_and_a_group_of_integers(tmp_path: Path) -> None:
    session = tmp_path / ".putty" / "sessions" / "board"
    session.parent.mkdir(parents=True)
    # PuTTY puts what is missing in these lists in its usual place, before ours.
    others = "ntru-curve25519,ecdh,dh-gex-sha1,rsa,dh-group1-sha1"
    longer = ",".join(f"dh-group{number}-sha512" for number in range(15, 19))
    exchanges = f"KEX=dh-group14-sha1,WARN,{others},{longer}\n"
    session.write_text(f"{exchanges}HostKey=rsa,WARN,ed448,ed25519,ecdsa,dsa\n")
    shown = RSA_KEY.get_fingerprint()
    async with open_board(compatibility="boards") as board:
        words = (
            "-no-antispoof",
            "-load",
            "board",
            "-ssh",
            "-t",
            "-P",
            str(board.port),
            "-hostkey",
            shown,
        )
        command = (installed("plink", "putty-tools"), *words, "new@127.0.0.1")
        assert await is_let_in(tmp_path, board, *command)


async def test_dropbears_program_with_its_oldest_algorithms(tmp_path: Path) -> None:
    async with open_board(compatibility="old") as board:
        words = ("-y", "-y", "-t", "-c", "aes128-ctr", "-m", "hmac-sha1", "-p", str(board.port))
        command = (installed("dbclient", "dropbear-bin"), *words, "new@127.0.0.1")
        assert await is_let_in(tmp_path, board, *command)


@pytest.mark.parametrize(
    ("name", "package", "script", "program"),
    [
        ("ssh2", "libssh2-1", BY_LIBSSH2, LIBSSH2),
        ("ssh", "libssh-4", BY_LIBSSH, CRYPTLIB),
        ("ssh", "libssh-4", BY_LIBSSH, LIBSSH2),
    ],
)
async def test_a_program_of_a_library(
    name: str, package: str, script: str, program: tuple[str, ...], tmp_path: Path
) -> None:
    file = library(name, package)
    *algorithms, enough = program
    for compatibility in ("modern", enough):
        async with open_board(compatibility=compatibility) as board:  # type: ignore[arg-type]
            command = (sys.executable, "-c", script, file, str(board.port), *algorithms)
            assert await is_let_in(tmp_path, board, *command) == (compatibility == enough)


async def test_a_scan_of_keys_finds_both(tmp_path: Path) -> None:
    async with open_board(compatibility="boards") as board:
        scan = (installed("ssh-keyscan", "openssh-client"), "-p", str(board.port), "127.0.0.1")
        found = await output_of(tmp_path, *scan)
    assert " ssh-ed25519 " in found
    assert " ssh-rsa " in found
