"""What an SSH port offers to old programs, at each `compatibility` of its listener."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping
from typing import Any, get_args
from unittest import mock

import asyncssh
import pytest
from asyncssh.constants import MSG_IGNORE
from asyncssh.packet import SSHPacket
from asyncssh.public_key import SSHKey

from door.lines.registry import Compatibility
from door.lines.ssh.algorithms import OFFERS
from door.lines.ssh.ssh_identity import SshIdentity
from tests.door.lines.board import GREETING
from tests.door.lines.ssh.board import BOARD_KEY, RSA_KEY, connected, open_board, terminal

# Programs by the libraries that speak SSH for them.
CRYPTLIB = {
    "kex_algs": ["diffie-hellman-group14-sha256"],
    "server_host_key_algs": ["rsa-sha2-256", "ssh-rsa"],
    "encryption_algs": ["aes128-cbc"],
    "mac_algs": ["hmac-sha2-256", "hmac-sha1"],
}
SYNCTERM_1_1 = CRYPTLIB | {"kex_algs": ["ecdh-sha2-nistp256"]}
OLD_LIBSSH2 = {
    "kex_algs": ["diffie-hellman-group14-sha1"],
    "server_host_key_algs": ["ssh-rsa"],
    "encryption_algs": ["aes128-cbc"],
    "mac_algs": ["hmac-sha1"],
}
MODERN = {"server_host_key_algs": ["ssh-ed25519"]}
IS_SHA1 = ("ssh-rsa", "hmac-sha1", "diffie-hellman-group14-sha1")

Program = Mapping[str, list[str]]


def test_each_word_has_an_offer_and_only_old_has_sha1() -> None:
    assert tuple(OFFERS) == get_args(Compatibility)
    for name, offer in OFFERS.items():
        offered = {*offer.signatures, *offer.exchanges, *offer.ciphers, *offer.macs}
        assert offered.isdisjoint(IS_SHA1) == (name != "old")
    modern, boards, old = OFFERS.values()
    for less, more in ((modern, boards), (boards, old)):
        assert more.exchanges[: len(less.exchanges)] == less.exchanges
        assert more.signatures[: len(less.signatures)] == less.signatures
    assert OFFERS["modern"].signatures == ("ssh-ed25519",)


@pytest.mark.parametrize(
    ("program", "compatibility", "key"),
    [
        (MODERN, "modern", BOARD_KEY),
        (MODERN, "boards", BOARD_KEY),
        (MODERN, "old", BOARD_KEY),
        (SYNCTERM_1_1, "modern", None),
        (SYNCTERM_1_1, "boards", RSA_KEY),
        (CRYPTLIB, "modern", None),
        (CRYPTLIB, "boards", RSA_KEY),
        (CRYPTLIB, "old", RSA_KEY),
        (OLD_LIBSSH2, "modern", None),
        (OLD_LIBSSH2, "boards", None),
        (OLD_LIBSSH2, "old", RSA_KEY),
    ],
)
async def test_a_program_gets_in_where_its_algorithms_are_offered(
    program: Program, compatibility: Compatibility, key: SSHKey | None
) -> None:
    async with open_board(compatibility=compatibility) as board:
        if key is None:
            with pytest.raises(asyncssh.KeyExchangeFailed):
                async with connected(board, **program):
                    pass
            return
        async with connected(board, **program) as connection:
            shown = connection.get_server_host_key()
            assert shown is not None
            assert shown.public_data == key.public_data
            screen = await terminal(connection)
            await screen.until_shown(GREETING)
            screen.send(b"hit")
            call, _ = await board.answered_with()
            await call.until_typed(b"hit")


async def test_only_old_signs_with_sha1_whatever_else_fits() -> None:
    any_other = {"server_host_key_algs": ["ssh-rsa"]}
    for compatibility in ("modern", "boards"):
        async with open_board(compatibility=compatibility) as board:
            with pytest.raises(asyncssh.KeyExchangeFailed):
                async with connected(board, **any_other):
                    pass
    async with open_board(compatibility="old") as board, connected(board, **any_other):
        pass


@pytest.mark.parametrize("compatibility", get_args(Compatibility))
@pytest.mark.parametrize("signature", ["ssh-rsa", "rsa-sha2-256", "rsa-sha2-512"])
async def test_a_callers_key_signs_with_sha1_only_at_old(
    signature: str, compatibility: Compatibility
) -> None:
    async with open_board(compatibility=compatibility) as board:
        board.known = {"Alice": {RSA_KEY.public_data}}
        own = {"password": None, "client_keys": [RSA_KEY], "signature_algs": [signature]}
        if signature == "ssh-rsa" and compatibility != "old":
            with pytest.raises(asyncssh.PermissionDenied):
                async with connected(board, **own):
                    pass
            assert board.calls.empty()
            return
        async with connected(board, **own) as connection:
            announced = connection._server_sig_algs
            assert (b"ssh-rsa" in announced) == (compatibility == "old")
            await terminal(connection)
            _, identity = await board.answered_with()
            assert identity == SshIdentity("Alice", None, RSA_KEY.public_data)


async def test_each_of_many_programs_at_once_gets_the_signature_that_it_asked_for() -> None:
    """The key is shared, and asyncssh notes the agreed signature in it."""
    signed: Counter[str] = Counter()
    verify = SSHKey.verify

    def noted(key: SSHKey, data: bytes, signature: bytes) -> bool:
        signed[SSHPacket(signature).get_string().decode()] += 1
        return verify(key, data, signature)

    wanted = ("rsa-sha2-256", "rsa-sha2-512", "ssh-rsa")

    async def comes(board: Any, name: str) -> None:
        async with connected(board, server_host_key_algs=[name]):
            pass

    async with open_board(compatibility="old") as board:
        with mock.patch.object(SSHKey, "verify", noted):
            await asyncio.gather(*(comes(board, name) for name in wanted * 4))
    assert signed == dict.fromkeys(wanted, 4)


async def test_the_board_names_itself_at_the_length_that_cryptlib_needs() -> None:
    """cryptlib of 2009 refuses what has fewer than 14 letters; later ones refuse fewer."""
    async with open_board() as board:
        reader, writer = await asyncio.open_connection("127.0.0.1", board.port)
        identification = await reader.readline()
        writer.close()
    assert len(identification.rstrip(b"\r\n")) >= 14


@pytest.mark.parametrize(("cipher", "is_mixed"), [("aes128-cbc", True), ("aes128-ctr", False)])
async def test_empty_packets_go_out_for_a_chained_cipher_alone(cipher: str, is_mixed: bool) -> None:
    """In CBC each packet begins with the end of the last one, unless another comes between."""
    ignored: list[int] = []

    def note(connection: object, kind: int, *_packet: object) -> bool:
        if isinstance(connection, asyncssh.SSHClientConnection):
            ignored.append(kind)
        return True

    handlers = asyncssh.SSHClientConnection._packet_handlers
    async with open_board(compatibility="boards") as board:
        with mock.patch.dict(handlers, {MSG_IGNORE: note}):  # type: ignore[dict-item]
            async with connected(board, encryption_algs=[cipher]) as connection:
                screen = await terminal(connection)
                await screen.until_shown(GREETING)
    assert bool(ignored) == is_mixed
