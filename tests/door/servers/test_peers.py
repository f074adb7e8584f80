"""Servers reach each other: by the sockets of one machine, and through TLS from one to another."""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
from pathlib import Path

import pytest

from door.errors import Unanswered, Unreachable
from door.lines import link
from door.lines.link import ENDED, HEADER, SHOWN, TYPED, frame, own_name, told
from door.lines.tls.pinned import Identity
from door.servers import peers
from door.servers.peers import apart
from tests.door.lines.board import PATIENCE
from tests.door.servers.company import Server, servers
from timebank.errors import BooksUnavailable

HELLO = frame(HEADER, told({"wants": "visit"}))


async def are_linked(near: Server, far: Server) -> None:
    """Pass a caller on from one to the other, and bring them back."""
    reader, writer = await near.peers.dial(far.number)
    writer.write(HELLO)
    call, connection, said = await far.answered()
    assert said == {"wants": "visit"}
    writer.write(frame(TYPED, b"hit"))
    await call.until_typed(b"hit")
    page = b"x" * (3 * link.LARGEST)
    call.line.write(page)
    connection.line.end({"how": "left"})
    call.over.set()
    shown = b""
    async with asyncio.timeout(PATIENCE):
        while True:
            kind, content = await link.read_frame(reader)
            if kind == ENDED:
                break
            assert kind == SHOWN
            shown += content
    assert shown == page
    assert json.loads(content) == {"how": "left"}
    writer.close()


async def test_servers_of_two_machines_are_linked_both_ways(tmp_path: Path) -> None:
    async with servers(tmp_path) as (one, two):
        await are_linked(one, two)
        await are_linked(two, one)
        assert one.log.said == two.log.said == []


async def test_those_of_one_machine_need_no_port(tmp_path: Path) -> None:
    async with servers(tmp_path, apart=False) as (one, two):
        one.port.close()
        two.port.close()
        await are_linked(one, two)
        await are_linked(two, one)


async def test_who_began_a_moment_ago_is_reached_and_reaches_others(tmp_path: Path) -> None:
    """Rows are looked up when they are needed; who is dialled may hear of the dialler late."""
    async with servers(tmp_path) as (one, two):
        folder = tmp_path / "late"
        folder.mkdir()
        late = Server(one.rows, 3, folder)
        await late.open()
        try:
            dialling = asyncio.create_task(late.peers.dial(one.number))
            await one.log.until("certificate verify failed")
            await one.peers.look()
            _, writer = await dialling
            writer.close()
            await are_linked(one, late)
        finally:
            await late.close()
        assert two.log.said == []


async def test_a_server_that_has_begun_anew_is_reached_by_its_new_certificate(
    tmp_path: Path,
) -> None:
    async with servers(tmp_path) as (one, two):
        await two.close()
        again = Server(one.rows, two.number, two.folder)
        again.rows.change(two.number, is_gone=True)
        await again.open()
        await again.peers.look()
        try:
            with pytest.raises(Unreachable, match="Server B cannot be reached"):
                await one.peers.dial(two.number)  # where it was nobody is
            await one.peers.look()
            await are_linked(one, again)
        finally:
            await again.close()


async def test_a_server_that_lives_no_more_is_not_let_in(tmp_path: Path) -> None:
    """Its certificate was known, and TLS remembers it; its row counts."""
    async with servers(tmp_path) as (one, two):
        await are_linked(one, two)
        one.rows.change(one.number, is_gone=True)
        await two.peers.look()
        with pytest.raises(Unreachable, match="cannot be reached"):
            await one.peers.dial(two.number)
        await two.log.until("no living server has its certificate")
        with pytest.raises(Unreachable, match="There is no server 1 any more"):
            await two.peers.dial(one.number)


async def test_who_answers_with_another_certificate_is_told_nothing(tmp_path: Path) -> None:
    """Another program has taken the port of a server, and shows what was that of a third."""
    async with servers(tmp_path, 3) as (one, two, three):
        one.rows.change(two.number, link=f"127.0.0.1:{three.port.port}")
        await one.peers.look()
        with pytest.raises(Unreachable, match="another program answers there"):
            await one.peers.dial(two.number)


async def test_a_stranger_that_answers_for_a_server_is_told_nothing(tmp_path: Path) -> None:
    async with servers(tmp_path) as (one, two):
        heard = bytearray()

        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(frame(link.GREETED, told({"version": "1"})))
            heard.extend(await reader.read())
            writer.close()

        strange = Identity(tmp_path)
        context = strange.context()
        context.verify_mode = ssl.CERT_NONE
        server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=context)
        async with server:
            port = server.sockets[0].getsockname()[1]
            one.rows.change(two.number, link=f"127.0.0.1:{port}")
            await one.peers.look()
            with pytest.raises(Unreachable, match="TLS says certificate verify failed"):
                await one.peers.dial(two.number)
        assert not heard


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (b"", "it hung up"),
        (frame(SHOWN, b"Welcome!"), "it answers as no server does"),
        (b"G\xff\xff\xff\xff", "a frame of 4294967295 bytes"),
    ],
)
async def test_a_server_that_greets_as_none_does_is_not_believed(
    tmp_path: Path, said: bytes, why: str
) -> None:
    async with servers(tmp_path) as (one, two):
        await two.port.finish(0)

        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(said)
            writer.close()

        server = await asyncio.start_server(
            answer, "127.0.0.1", two.port.port, ssl=two.identity.context()
        )
        async with server:
            with pytest.raises(Unreachable, match=why):
                await one.peers.dial(two.number)


async def test_a_server_that_takes_calls_and_says_nothing_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One-way silence: what is sent arrives, and nothing ever comes back."""
    monkeypatch.setattr(peers, "DIAL_SECONDS", 0.2)
    monkeypatch.setattr(peers, "ANSWER_SECONDS", 0.2)
    async with servers(tmp_path) as (one, two):
        with socket.create_server(("127.0.0.1", 0)) as silent:
            one.rows.change(two.number, link=f"127.0.0.1:{silent.getsockname()[1]}")
            await one.peers.look()
            with pytest.raises(Unreachable, match=r"Server B does not answer within 0\.2 seconds"):
                await one.peers.dial(two.number)
            with pytest.raises(Unreachable, match=r"Server B does not answer within 0\.2 seconds"):
                await one.peers.ask(two.number, {"answer": "{}"})


async def test_commands_are_asked_and_answered(tmp_path: Path) -> None:
    async with servers(tmp_path) as (one, two):
        large = {"answer": " ", "times": 100_000}
        with pytest.raises(Unreachable, match="JSON"):
            await one.peers.ask(two.number, large)
        answer = {"answer": '{"words": "yes"}'}
        assert await one.peers.ask(two.number, answer) == {"words": "yes"}
        deep = "[" * 10_000  # deeper than is read
        for answer, why in (("", "JSON"), ("[1]", "object"), ("{", "JSON"), (deep, "JSON")):
            with pytest.raises(Unanswered, match=why):
                await one.peers.ask(two.number, {"answer": answer})


async def test_an_answer_without_end_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(link, "MOST_ANSWERED", 1000)
    async with servers(tmp_path) as (one, two):
        with pytest.raises(Unreachable, match="more than 1000 bytes"):
            await one.peers.ask(two.number, {"answer": "x", "times": 40_000})


async def test_a_server_that_dies_in_the_middle_is_known_to_have_ended(tmp_path: Path) -> None:
    async with servers(tmp_path) as (one, two):
        reader, writer = await one.peers.dial(two.number)
        writer.write(HELLO)
        call, _, _ = await two.answered()
        call.line.write(b"half")
        await call.line.drain(PATIENCE)
        for visit in tuple(two.port._visits):
            visit.cut()  # as when its process is killed
        async with asyncio.timeout(PATIENCE):
            assert await link.read_frame(reader) == (SHOWN, b"half")
            with pytest.raises((asyncio.IncompleteReadError, ConnectionError, ssl.SSLError)):
                await link.read_frame(reader)
        writer.close()


async def test_what_is_missing_is_said(tmp_path: Path) -> None:
    async with servers(tmp_path) as (one, two):
        one.rows.change(two.number, link="")
        await one.peers.look()
        with pytest.raises(Unreachable, match="Server B is not on this machine, and has no link"):
            await one.peers.dial(two.number)
        one.peers._identity = None
        one.rows.change(two.number, link="127.0.0.1:1")
        await one.peers.look()
        with pytest.raises(Unreachable, match="this one has no link"):
            await one.peers.dial(two.number)
        with pytest.raises(Unreachable, match="There is no server 7 any more"):
            await one.peers.dial(7)

        async def no_books() -> list:
            raise BooksUnavailable("The disk is full.")

        one.peers._rows = no_books
        with pytest.raises(Unreachable, match="The disk is full"):
            await one.peers.dial(7)


@pytest.mark.parametrize(
    "place", ["garbage", "[::1", "127.0.0.1:99999999", f"{'a' * 70_000}:1", "\x00:1", ":", "x:-1"]
)
async def test_a_row_that_leads_nowhere_is_said_to_be_one(tmp_path: Path, place: str) -> None:
    """Somebody has changed it, or it is of another version."""
    async with servers(tmp_path) as (one, two):
        one.rows.change(two.number, link=place)
        await one.peers.look()
        with pytest.raises(Unreachable, match="Server B cannot be reached"):
            await one.peers.dial(two.number)


async def test_who_is_who(tmp_path: Path) -> None:
    async with servers(tmp_path, 3) as (one, two, three):
        assert [peer.id for peer in one.peers.living] == [1, 2, 3]
        assert [peer.id for peer in two.peers.others] == [1, 3]
        assert [peer.name for peer in three.peers.others] == ["A", "B"]
        assert one.peers.name_of(2) == "B"
        assert one.peers.name_of(7) == "7"


async def test_one_that_is_alone_knows_itself_though_it_does_not_say_that_it_lives(
    tmp_path: Path,
) -> None:
    async with servers(tmp_path, 2) as (one, two):
        one.peers.adopt([])
        assert [peer.id for peer in one.peers.living] == [1]
        assert one.peers.name_of(1) == "A"
        assert not one.peers.others
        assert not one.peers.is_known(two.identity.certificate.encode())


def test_each_process_has_a_socket_of_its_own() -> None:
    names = {own_name("a/1:7"), own_name("a/1:8"), own_name("b/1:7")}
    assert len(names) == 3
    assert own_name("a/1:7") in names, "the same again"


def test_places_are_taken_apart() -> None:
    assert apart("[::1]:2324") == ("::1", 2324)


async def test_any_server_answers_while_nobody_has_the_socket_for_all(tmp_path: Path) -> None:
    async with servers(tmp_path, apart=False) as (one, two):
        with pytest.raises(FileNotFoundError):
            await link.dial(tmp_path)
        reader, writer = await link.dial_any(tmp_path)
        assert await link.asked(reader, writer, {"answer": '{"words": "yes"}'}) == {"words": "yes"}
        writer.close()
        await one.socket.finish(0)
        reader, writer = await link.dial_any(tmp_path)
        assert await link.asked(reader, writer, {"answer": '{"words": "me"}'}) == {"words": "me"}
        writer.close()
        await two.socket.finish(0)
        with pytest.raises(FileNotFoundError):
            await link.dial_any(tmp_path)


async def test_sockets_of_servers_that_were_killed_are_cleared_away(tmp_path: Path) -> None:
    async with servers(tmp_path, apart=False) as (one, _):
        killed = tmp_path / own_name("killed")
        with socket.socket(socket.AF_UNIX) as wire, link.short(killed) as name:
            wire.bind(name)
        link.clear_away(tmp_path)
        left = set(link.names_in(tmp_path)) - {link.NAME}
        assert left == {own_name(one.process), own_name("here/4026531836:2")}
