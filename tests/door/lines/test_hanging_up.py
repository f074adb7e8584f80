"""How caller and board wait for each other, how a call ends, and how a port closes."""

import asyncio
import socket
from dataclasses import replace

import pytest

from door.errors import Hangup
from door.lines.flow import UNREAD
from door.lines.line import Line
from door.lines.telnet.telnet import USUAL_LIMITS, NegotiatingTelnet, TelnetListener
from tests.door.lines.board import (
    GREETING,
    PATIENCE,
    Board,
    Call,
    connected,
    connected_unread,
    open_board,
    plugged,
)
from tests.terminal import REFUSING, SILENT, SYNCTERM, Terminal

# Waiting for each other


async def test_a_paused_line_hands_over_nothing_until_it_is_resumed(board: Board) -> None:
    async with Terminal(SYNCTERM) as terminal:
        call = await connected(terminal, board)
        call.pauses = True
        paste = bytes(range(250)) * 80
        terminal.send(paste)
        await call.until(lambda call: bool(call.typed))
        taken = bytes(call.typed)
        assert taken == paste[: len(taken)]
        assert len(taken) <= UNREAD
        call.pauses = False
        call.line.resume()
        await call.until_typed(paste)
        assert max(call.pieces) <= UNREAD


async def test_a_hang_up_during_a_pause_is_reported_after_the_keys_before_it(board: Board) -> None:
    async with Terminal(SYNCTERM) as terminal, Terminal(SYNCTERM) as other:
        call = await connected(terminal, board)
        call.line.pause()
        terminal.send("all in")
        terminal.hang_up_half()
        second = await connected(other, board)
        other.send("k")
        await second.until_typed(b"k")
        assert (bytes(call.typed), call.ends) == (b"", [])
        call.line.resume()
        await call.until_ended()
        assert call.typed == b"all in"


async def test_keys_behind_a_pause_in_the_same_packet_wait_too() -> None:
    async with plugged(USUAL_LIMITS) as wire:
        wire.call.pauses = True
        wire.telnet.take(b"a\xff\xf4bcd\xff\xf7")
        assert wire.call.typed == b"a"
        wire.call.line.resume()
        assert wire.call.typed == b"a\x03bcd\x08"


@pytest.mark.parametrize("length", range(200_000, 250_000, 21_000))
async def test_drain_waits_until_everything_has_left(board: Board, length: int) -> None:
    async with Terminal(SYNCTERM) as terminal:
        call = await connected_unread(terminal, board)
        await call.line.drain(PATIENCE)
        screen = b"x" * length
        call.line.write(screen)
        drained = asyncio.create_task(call.line.drain(PATIENCE))
        terminal.send("k")
        await call.until_typed(b"k")
        assert not drained.done()
        terminal.go_on_reading()
        await drained
        call.line.abort()
        await terminal.until_closed()
        assert len(terminal.received) == len(GREETING + screen), "drain left something behind"


# The end


async def test_the_board_hangs_up_after_its_last_words(board: Board) -> None:
    async with Terminal(SYNCTERM) as terminal:
        call = await connected(terminal, board)
        call.line.write(b"x" * 100_000 + b"Goodbye.")
        terminal.send("too late to be heard")
        call.over.set()
        await terminal.until_closed()
        assert terminal.received.endswith(b"Goodbye.")
        assert await call.until_ended() == "the board hung up"


async def test_last_words_arrive_though_the_caller_types_on(board: Board) -> None:
    """A socket closed over unread bytes is reset, and a reset may overtake the last words."""
    async with Terminal(SYNCTERM) as terminal:
        call = await connected(terminal, board)
        call.line.pause()
        terminal.send(b"k" * 20_000)
        call.line.write(b"Goodbye.")
        call.line.hang_up()
        await terminal.until_closed()
        assert terminal.received.endswith(b"Goodbye.")


async def test_a_caller_who_stays_on_after_goodbye_is_cut_off() -> None:
    async with open_board(replace(USUAL_LIMITS, farewell=0.1)) as board:
        loop = asyncio.get_running_loop()
        with socket.socket() as wire:
            wire.setblocking(False)
            await loop.sock_connect(wire, ("127.0.0.1", board.port))
            call = await board.answered()
            call.line.hang_up()
            async with asyncio.timeout(PATIENCE):
                await board.listener.finish()


async def test_a_caller_who_hangs_up_is_noticed(board: Board) -> None:
    terminal = Terminal(SYNCTERM)
    call = await connected(terminal, board)
    await terminal.close()
    assert await call.until_ended() in {
        "the caller hung up",
        "the connection broke: Connection reset by peer",
    }


async def test_a_half_close_is_a_hang_up_after_pending_input_and_output(board: Board) -> None:
    async with Terminal(SYNCTERM) as terminal:
        call = await connected(terminal, board)
        call.line.write(b"x" * 200_000 + b"still said")
        terminal.send("q")
        terminal.hang_up_half()
        assert await call.until_ended() == "the caller hung up"
        assert call.typed == b"q"
        await terminal.until_closed()
        assert terminal.received.endswith(b"still said")


async def test_a_reset_is_a_hang_up(board: Board) -> None:
    terminal = Terminal(SYNCTERM)
    call = await connected(terminal, board)
    terminal.abort()
    assert await call.until_ended() == "the connection broke: Connection reset by peer"


async def test_an_abort_ends_the_line_at_once_for_both(board: Board) -> None:
    async with Terminal(SYNCTERM) as terminal:
        call = await connected(terminal, board)
        call.line.abort()
        assert call.ends == [], "nobody is told from inside the call"
        assert await call.until_ended() == "the board broke the connection"
        await terminal.until_closed()


async def test_after_the_end_everything_may_still_be_called(board: Board) -> None:
    async with Terminal(SYNCTERM) as terminal:
        call = await connected(terminal, board)
        call.line.abort()
        await call.until_ended()
        call.line.pause()
        call.line.resume()
        call.line.write(b"to nobody")
        call.line.hang_up()
        call.line.abort()
        with pytest.raises(Hangup, match="the board broke the connection"):
            await call.line.drain(PATIENCE)
        await terminal.until_closed()
        assert len(call.ends) == 1


async def test_drain_ends_when_the_caller_does(board: Board) -> None:
    terminal = Terminal(SYNCTERM)
    call = await connected_unread(terminal, board)
    call.line.write(b"x" * 200_000)
    drained = asyncio.create_task(call.line.drain(3600.0))
    terminal.send("k")
    await call.until_typed(b"k")
    terminal.abort()
    async with asyncio.timeout(PATIENCE):
        with pytest.raises(Hangup, match="the connection broke"):
            await drained


async def test_drain_ends_when_the_board_hangs_up_meanwhile(board: Board) -> None:
    async with Terminal(SYNCTERM) as terminal:
        call = await connected_unread(terminal, board)
        call.line.write(b"x" * 200_000)
        drained = asyncio.create_task(call.line.drain(3600.0))
        terminal.send("k")
        await call.until_typed(b"k")
        call.line.hang_up()
        async with asyncio.timeout(PATIENCE):
            with pytest.raises(Hangup, match="the board hung up"):
                await drained


async def test_a_second_receiver_gets_the_keys_from_then_on(board: Board) -> None:
    async with Terminal(SYNCTERM) as terminal:
        first = await connected(terminal, board)
        first.line.pause()
        terminal.send("for the second")
        second = Call(first.line)
        first.line.attach(second)
        first.line.resume()
        await second.until_typed(b"for the second")
        first.line.hang_up()
        await second.until_ended()
        assert (bytes(first.typed), first.ends) == (b"", [])


# The port


async def test_a_call_that_fails_is_logged_and_hung_up(caplog: pytest.LogCaptureFixture) -> None:
    async def fail(line: Line) -> None:
        raise LookupError("no such card")

    listener = await TelnetListener(fail, USUAL_LIMITS).open("127.0.0.1", 0)
    async with Terminal(REFUSING) as terminal:
        await terminal.connect(listener.port)
        await terminal.until_closed()
    assert [record.getMessage() for record in caplog.records if record.levelname == "ERROR"] == [
        "telnet 127.0.0.1: the call failed"
    ]
    await listener.finish()


async def test_a_call_that_never_listens_is_hung_up_despite_typing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def refuse(line: Line) -> None:
        line.write(b"All nodes are busy.")

    listener = await TelnetListener(refuse, USUAL_LIMITS).open("127.0.0.1", 0)
    async with Terminal(SILENT) as terminal:
        await terminal.connect(listener.port)
        terminal.send(b"k" * 50_000)
        await terminal.until_closed()
        assert terminal.received.endswith(b"All nodes are busy.")
    await listener.finish()
    assert [record.getMessage() for record in caplog.records if record.levelno > 20] == []


async def test_a_closed_port_keeps_its_calls_and_takes_no_more(board: Board) -> None:
    async with Terminal(SYNCTERM) as terminal:
        call = await connected(terminal, board)
        board.listener.close()
        with pytest.raises(ConnectionRefusedError):
            await Terminal(SYNCTERM).connect(board.port)
        terminal.send("k")
        await call.until_typed(b"k")


async def test_finishing_ends_calls_and_those_not_yet_begun(board: Board) -> None:
    async with Terminal(SYNCTERM) as talking, Terminal(SILENT) as silent:
        call = await connected(talking, board)
        await silent.connect(board.port)
        await silent.wait_for(lambda terminal: bool(terminal.wire), "the opening")
        await board.listener.finish()
        await talking.until_closed()
        await silent.until_closed()
        assert call.ends == ["the board hung up"]


async def test_finishing_waits_for_last_words(board: Board) -> None:
    async with Terminal(SYNCTERM) as terminal:
        call = await connected_unread(terminal, board)
        call.line.write(b"x" * 200_000 + b"The board closes.")
        finishing = asyncio.create_task(board.listener.finish())
        await call.until_ended()
        terminal.go_on_reading()
        await terminal.until_closed()
        assert terminal.received.endswith(b"The board closes.")
        await finishing


async def test_callers_may_come_over_ipv6() -> None:
    board = Board()
    try:
        board.listener = await TelnetListener(board.serve, USUAL_LIMITS).open("::1", 0)
    except OSError:
        pytest.skip("this machine has no IPv6")
    async with Terminal(REFUSING) as terminal:
        await terminal.connect(board.port, host="::1")
        assert (await board.answered()).line.address == "::1"
    await board.listener.finish()


async def test_a_port_for_every_address_shows_ipv4_callers_as_such() -> None:
    board = Board()
    try:
        board.listener = await TelnetListener(board.serve, USUAL_LIMITS).open("::", 0)
    except OSError:
        pytest.skip("this machine has no IPv6")
    async with Terminal(REFUSING) as terminal:
        await terminal.connect(board.port, host="127.0.0.1")
        assert (await board.answered()).line.address == "127.0.0.1"
    await board.listener.finish()


async def test_a_dead_connection_is_detected_within_a_minute() -> None:
    wires: asyncio.Queue[socket.socket] = asyncio.Queue()

    class Watched(NegotiatingTelnet):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            super().connection_made(transport)
            wires.put_nowait(transport.get_extra_info("socket"))

    server = await asyncio.get_running_loop().create_server(
        lambda: Watched(USUAL_LIMITS, lambda line: None, lambda: None, "192.0.2.1"), "127.0.0.1", 0
    )
    async with Terminal(SYNCTERM) as terminal:
        await terminal.connect(server.sockets[0].getsockname()[1])
        wire, tcp = await wires.get(), socket.IPPROTO_TCP
        assert wire.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
        assert wire.getsockopt(tcp, socket.TCP_NODELAY)
        first = wire.getsockopt(tcp, socket.TCP_KEEPIDLE)
        more = wire.getsockopt(tcp, socket.TCP_KEEPINTVL) * wire.getsockopt(tcp, socket.TCP_KEEPCNT)
        assert first + more < 60
        if hasattr(socket, "TCP_USER_TIMEOUT"):
            assert 0 < wire.getsockopt(tcp, socket.TCP_USER_TIMEOUT) < 60_000
    server.close()
