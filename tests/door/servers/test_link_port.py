"""Strangers at the port that servers have for each other: they get nothing, and take nothing."""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
from pathlib import Path

import pytest

from door.lines.link import LARGEST, TYPED, frame
from door.lines.tls import tls
from door.lines.tls.pinned import LONGEST, Identity, in_der
from door.servers import link_port
from door.servers.link_port import HANDSHAKES, HANDSHAKES_EACH, TRIES_PER_MINUTE
from tests.certificates import put_into
from tests.door.lines.board import PATIENCE
from tests.door.servers.company import Server, servers
from tests.door.servers.test_peers import are_linked

ELSEWHERE = "127.0.0.9"  # where no row says that a server lives


async def strange(server: Server, context: ssl.SSLContext, source: str = "127.0.0.1") -> bytes:
    """Call as a stranger, and return all that is said until the end."""
    async with asyncio.timeout(PATIENCE):
        try:
            reader, writer = await asyncio.open_connection(
                "127.0.0.1",
                server.port.port,
                ssl=context,
                server_hostname="",
                local_addr=(source, 0),
            )
        except (ssl.SSLError, ConnectionError):
            return b""
        try:
            return await the_rest(reader)
        finally:
            writer.transport.abort()


async def the_rest(reader: asyncio.StreamReader) -> bytes:
    """Read until the end, or until the connection breaks."""
    async with asyncio.timeout(PATIENCE):
        try:
            return await reader.read()
        except (ssl.SSLError, ConnectionError):
            return b""


def trusting() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


async def test_who_shows_no_certificate_is_told_nothing(tmp_path: Path) -> None:
    async with servers(tmp_path) as (one, two):
        assert await strange(one, trusting()) == b""
        await one.log.until("peer did not return a certificate")
        assert one.log.said[0][0] == "127.0.0.1"
        await are_linked(two, one)


async def test_nor_is_who_shows_one_that_is_in_no_row(tmp_path: Path) -> None:
    async with servers(tmp_path) as (one, two):
        ours = trusting()
        ours.load_cert_chain(*put_into(tmp_path))
        assert await strange(one, ours) == b""
        stranger = Identity(tmp_path).context_for_dialling()
        stranger.check_hostname, stranger.verify_mode = False, ssl.CERT_NONE
        assert await strange(one, stranger) == b""
        await one.log.until("certificate verify failed")
        assert one.calls.empty()
        await are_linked(two, one)


async def test_nor_is_who_speaks_an_older_tls(tmp_path: Path) -> None:
    async with servers(tmp_path) as (one, two):
        old = two.identity.context_for_dialling()
        old.minimum_version = ssl.TLSVersion.TLSv1_2
        old.maximum_version = ssl.TLSVersion.TLSv1_2
        assert await strange(one, old) == b""
        await one.log.until("unsupported protocol")


async def test_a_handshake_that_is_never_finished_is_dropped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tls, "HANDSHAKE_SECONDS", 0.1)
    async with servers(tmp_path) as (one, two):
        with socket.create_connection(("127.0.0.1", one.port.port)) as silent:
            await one.log.until("no TLS within 0.1 seconds")
            silent.settimeout(PATIENCE)
            assert await asyncio.to_thread(silent.recv, 100) == b""
        assert not one.port._shaking
        await are_linked(two, one)


async def test_a_flood_of_handshake_is_cut_off(tmp_path: Path) -> None:
    async with servers(tmp_path) as (one, _):
        _, writer = await asyncio.open_connection("127.0.0.1", one.port.port)
        record = b"\x16\x03\x01\x40\x00"  # a first part of a hello that has 16 kB
        writer.write(record + os.urandom(3 * tls.HANDSHAKE_BYTES))
        await one.log.until("link: ")
        writer.transport.abort()


async def test_a_known_server_that_says_garbage_is_cut_off(tmp_path: Path) -> None:
    async with servers(tmp_path) as (one, two):
        for said, why in (
            (frame(TYPED, b"h"), "does not begin with a header"),
            (b"H\xff\xff\xff\xff", "a frame of"),
            (frame(b"H", b"[]"), "an object was expected"),
        ):
            reader, writer = await two.peers.dial(one.number)
            writer.write(said)
            await one.log.until(why)
            assert await the_rest(reader) == b""
            writer.transport.abort()
        assert one.calls.empty()
        await are_linked(two, one)


async def test_a_known_server_that_says_nothing_is_cut_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(link_port, "HEADER_SECONDS", 0.1)
    async with servers(tmp_path) as (one, two):
        _, writer = await two.peers.dial(one.number)
        await one.log.until("no header in 0.1 seconds")
        writer.transport.abort()
        assert one.log.said[-1][2] is False, "nobody is to ban a server"
        await are_linked(two, one)


async def test_one_address_cannot_take_all_handshakes(tmp_path: Path) -> None:
    async with servers(tmp_path, 1) as (one,):
        silent = [
            socket.create_connection(("127.0.0.1", one.port.port), source_address=(ELSEWHERE, 0))
            for _ in range(HANDSHAKES_EACH + 1)
        ]
        await one.log.until("too many handshakes at once")
        assert len(one.port._shaking) == HANDSHAKES_EACH
        for wire in silent:
            wire.close()


@pytest.mark.parametrize("has_called", [True, False])
async def test_who_lives_where_a_row_says_gets_the_place_of_a_stranger(
    tmp_path: Path, has_called: bool
) -> None:
    """Strangers from many addresses hold all places; a server comes in all the same."""
    async with servers(tmp_path) as (one, two):
        if has_called:
            await are_linked(two, one)
        silent = []
        for number in range(HANDSHAKES + 4):
            wire = socket.socket()
            wire.bind((f"127.0.{1 + number // HANDSHAKES_EACH}.7", 0))
            wire.setblocking(False)
            await asyncio.get_running_loop().sock_connect(wire, ("127.0.0.1", one.port.port))
            silent.append(wire)
        await one.log.until("too many handshakes at once")
        assert len(one.port._shaking) == HANDSHAKES
        await are_linked(two, one)
        assert len(one.port._shaking) < HANDSHAKES
        for wire in silent:
            wire.close()


async def test_who_tries_too_often_waits_and_a_server_never_does(tmp_path: Path) -> None:
    async with servers(tmp_path) as (one, two):
        for _ in range(TRIES_PER_MINUTE + 1):
            await strange(one, trusting(), ELSEWHERE)
        await one.log.until("too many tries")
        assert len([why for _, why, _ in one.log.said if "too many" in why]) == 1
        one.now += 60.0
        await are_linked(two, one)
        for _ in range(2 * TRIES_PER_MINUTE):
            _, writer = await two.peers.dial(one.number)
            writer.close()
        assert not any("too many" in why for _, why, _ in one.log.said[TRIES_PER_MINUTE + 1 :])


async def test_who_is_blocked_is_not_let_in(tmp_path: Path) -> None:
    async with servers(tmp_path, 1) as (one,):
        one.log.blocked.add("127.0.0.1")
        assert await strange(one, trusting()) == b""
        await one.log.until("link: the address is blocked")


def test_the_key_is_left_in_no_file(tmp_path: Path) -> None:
    one = Identity(tmp_path)
    assert not list(tmp_path.iterdir())
    assert one.certificate != Identity(tmp_path).certificate
    assert len(one.certificate) < LONGEST
    assert in_der(one.certificate)


def test_certificates_that_are_none_are_nobodys(tmp_path: Path) -> None:
    one = Identity(tmp_path)
    garbage = ["", "garbage", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"]
    one.trust([*garbage, "x" * (LONGEST + 1), "é"])
    assert [in_der(each) for each in garbage[:2]] == [b"", b""]
    assert LARGEST > LONGEST


def test_without_the_library_it_is_said_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    from door.errors import LibraryMissing

    monkeypatch.setitem(sys.modules, "cryptography", None)
    with pytest.raises(LibraryMissing, match=r"cryptography.*pip install"):
        Identity(tmp_path)
