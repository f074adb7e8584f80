"""Telnet callers of every kind, over real sockets: what is known of them, and what they type."""

import asyncio
import socket
from dataclasses import replace

import pytest

from door.lines.flow import UNREAD
from door.lines.hardened import HardenedTelnet
from door.lines.line import Hangup
from door.lines.telnet import USUAL_LIMITS, listen
from tests.lines.board import GREETING, PATIENCE, Board, Call, open_board, plugged
from tests.terminal import (
    BINARY,
    CHARSET,
    DO,
    ECHO,
    IAC,
    MODERN,
    NAWS,
    NEW_ENVIRON,
    REFUSING,
    SB,
    SE,
    SGA,
    SILENT,
    SYNCTERM,
    TTYPE,
    WILL,
    WONT,
    Profile,
    Terminal,
)

EVERY_BYTE = bytes(range(256))

# A whole log-on of a modern program, as the board receives it, and a key.
ANSWERS = b"".join(
    (
        bytes((IAC, DO, ECHO, IAC, DO, SGA, IAC, WILL, SGA, IAC, DO, BINARY, IAC, WILL, BINARY)),
        bytes((IAC, WILL, TTYPE, IAC, WILL, NAWS, IAC, WILL, NEW_ENVIRON, IAC, WILL, CHARSET)),
        bytes((IAC, SB, TTYPE, 0)) + b"xterm" + bytes((IAC, SE)),
        bytes((IAC, SB, NAWS, 0, 255, 255, 0, 50, IAC, SE)),  # 255 wide, its IAC doubled
        bytes((IAC, SB, NEW_ENVIRON, 0, 0)) + b"LANG\x01fr_FR.UTF-8" + bytes((IAC, SE)),
        bytes((IAC, SB, TTYPE, 0)) + b"vt100" + bytes((IAC, SE)),
        bytes((IAC, SB, CHARSET, 2)) + b"UTF-8" + bytes((IAC, SE)),
        bytes((IAC, SB, TTYPE, 0)) + b"xterm" + bytes((IAC, SE)),
        b"k\xff\xff\r\0",
    )
)


async def connected(terminal: Terminal, board: Board) -> Call:
    await terminal.connect(board.port)
    return await board.answered()


# What is known of a caller


@pytest.mark.parametrize(
    ("profile", "types", "language", "charset"),
    [
        (SYNCTERM, ("syncterm",), "", ""),
        (MODERN, ("xterm-256color",), "en_US.UTF-8", "UTF-8"),
        (REFUSING, (), "", ""),
        (SILENT, (), "", ""),
    ],
    ids=["syncterm", "modern", "refusing", "silent"],
)
async def test_what_a_program_says_of_itself_becomes_hints(
    board: Board, profile: Profile, types: tuple[str, ...], language: str, charset: str
) -> None:
    async with Terminal(profile) as terminal:
        line = (await connected(terminal, board)).line
        hints = line.hints
        assert (hints.terminal_types, hints.language, hints.charset) == (types, language, charset)
        assert (line.columns, line.rows) == (80, 24)
        assert (line.kind, line.address) == ("telnet", "127.0.0.1")
        await terminal.until("Board.")


async def test_a_program_of_many_terminals_is_asked_for_each(board: Board) -> None:
    profile = replace(SYNCTERM, terminal_types=("ANSI", "VT100", "VTNT", "ANSI"))
    async with Terminal(profile) as terminal:
        call = await connected(terminal, board)
        assert call.line.hints.terminal_types == ("ANSI", "VT100", "VTNT")


async def test_a_program_of_ever_new_terminals_is_asked_for_eight(board: Board) -> None:
    profile = replace(SYNCTERM, terminal_types=tuple(f"TERM{number}" for number in range(20)))
    async with Terminal(profile) as terminal:
        call = await connected(terminal, board)
        assert call.line.hints.terminal_types == profile.terminal_types[:8]


async def test_the_variable_that_counts_most_names_the_language(board: Board) -> None:
    profile = replace(MODERN, environment={"LANG": "C", "LC_CTYPE": "de_DE", "LC_ALL": "ja_JP"})
    async with Terminal(profile) as terminal:
        assert (await connected(terminal, board)).line.hints.language == "ja_JP"


async def test_a_program_that_knows_no_utf8_gets_cp437(board: Board) -> None:
    profile = replace(MODERN, charset_names=("US-ASCII", "IBM437"))
    async with Terminal(profile) as terminal:
        assert (await connected(terminal, board)).line.hints.charset == "IBM437"


async def test_a_program_that_knows_none_of_the_sets_is_served_all_the_same(board: Board) -> None:
    async with Terminal(replace(MODERN, charset_names=("KOI8-R",))) as terminal:
        assert (await connected(terminal, board)).line.hints.charset == ""


async def test_a_program_may_offer_character_sets_itself(board: Board) -> None:
    async with Terminal(REFUSING) as terminal:
        call = await connected(terminal, board)
        terminal.send(bytes((IAC, SB, CHARSET, 1)) + b";KOI8-R;utf-8" + bytes((IAC, SE)) + b"k")
        await call.until_typed(b"k")
        assert call.line.hints.charset == "utf-8"
        accepted = bytes((IAC, SB, CHARSET, 2)) + b"utf-8" + bytes((IAC, SE))
        await terminal.wait_for(lambda terminal: accepted in terminal.wire, "the answer")


async def test_a_program_may_tell_its_speed(board: Board) -> None:
    async with Terminal(REFUSING) as terminal:
        call = await connected(terminal, board)
        terminal.send(bytes((IAC, SB, 32, 0)) + b"38400,19200" + bytes((IAC, SE)) + b"k")
        await call.until_typed(b"k")
        assert call.line.hints.speed == "38400,19200"


async def test_the_board_asks_once_and_for_everything(board: Board) -> None:
    async with Terminal(SILENT) as terminal:
        await connected(terminal, board)
        await terminal.until("Board.")
        requests = terminal.wire[: terminal.wire.index(GREETING)]
        assert sorted(requests[at : at + 3] for at in range(0, len(requests), 3)) == sorted(
            bytes((IAC, command, option))
            for command, option in (
                *((WILL, option) for option in (ECHO, SGA, BINARY)),
                *((DO, option) for option in (SGA, BINARY, TTYPE, NAWS, NEW_ENVIRON, CHARSET)),
            )
        )


# How soon he is served


@pytest.mark.parametrize("profile", [SYNCTERM, MODERN, REFUSING], ids=["syncterm", "modern", "no"])
async def test_who_answers_is_served_without_waiting(board: Board, profile: Profile) -> None:
    async with Terminal(profile) as terminal:
        called_at = asyncio.get_running_loop().time()
        call = await connected(terminal, board)
        assert call.served_at - called_at < USUAL_LIMITS.silence / 2


async def test_who_is_silent_is_served_within_half_a_second(board: Board) -> None:
    async with Terminal(SILENT) as terminal:
        called_at = asyncio.get_running_loop().time()
        call = await connected(terminal, board)
        assert 0.4 < call.served_at - called_at < 0.55


async def test_who_takes_back_what_he_offered_is_not_waited_for(board: Board) -> None:
    async with Terminal(REFUSING) as terminal:
        terminal.profile = replace(REFUSING, performs=frozenset({TTYPE}))
        called_at = asyncio.get_running_loop().time()
        await terminal.connect(board.port)
        asked = bytes((IAC, SB, TTYPE, 1, IAC, SE))
        await terminal.wait_for(lambda terminal: asked in terminal.wire, "the request")
        terminal.send(bytes((IAC, WONT, TTYPE)))
        call = await board.answered()
        assert call.served_at - called_at < USUAL_LIMITS.silence / 2


async def test_who_answers_from_far_away_is_given_the_time() -> None:
    """Each answer takes three quarters of what a silent caller is given, and five are needed."""
    away = 0.15
    limits = replace(USUAL_LIMITS, silence=0.2)

    class FarTerminal(Terminal):
        def data_received(self, data: bytes) -> None:
            asyncio.get_running_loop().call_later(away, super().data_received, data)

    far = FarTerminal(replace(MODERN, terminal_types=("A", "B", "C")))
    async with open_board(limits) as board, far:
        called_at = asyncio.get_running_loop().time()
        call = await connected(far, board)
        assert call.line.hints.terminal_types == ("A", "B", "C")
        assert 5 * away <= call.served_at - called_at < limits.patience


async def test_who_never_comes_to_an_end_is_served_when_patience_does() -> None:
    limits = replace(USUAL_LIMITS, silence=0.05, patience=0.2)
    mute = Terminal(replace(MODERN, performs=frozenset({TTYPE}), terminal_types=()))
    async with open_board(limits) as board, mute:
        called_at = asyncio.get_running_loop().time()
        call = await connected(mute, board)
        assert call.served_at - called_at < 0.3


async def test_answers_that_come_too_late_still_become_hints(board: Board) -> None:
    async with Terminal(SILENT) as terminal:
        call = await connected(terminal, board)
        terminal.send(ANSWERS)
        await call.until_typed(b"k\xff\r\0")
        assert call.line.hints.terminal_types == ("xterm", "vt100")
        assert call.sizes == [(132, 50)]


# What he types


async def test_every_byte_arrives_as_it_was_typed(board: Board) -> None:
    async with Terminal(SYNCTERM) as terminal:
        call = await connected(terminal, board)
        terminal.send(EVERY_BYTE.replace(b"\xff", b"\xff\xff"))
        await call.until_typed(EVERY_BYTE)
        for byte in EVERY_BYTE:
            call.typed.clear()
            terminal.send(bytes((byte,)) * (2 if byte == IAC else 1))
            await call.until_typed(bytes((byte,)))


async def test_every_byte_written_arrives_as_it_was_written(board: Board) -> None:
    async with Terminal(SYNCTERM) as terminal:
        call = await connected(terminal, board)
        call.line.write(EVERY_BYTE)
        await terminal.wait_for(
            lambda terminal: terminal.received == GREETING + EVERY_BYTE, "every byte"
        )
        assert terminal.wire.endswith(EVERY_BYTE + b"\xff")


async def test_what_is_typed_before_the_board_listens_is_not_lost(board: Board) -> None:
    async with Terminal(SILENT) as terminal:
        await terminal.connect(board.port)
        terminal.send(b"in a hurry")
        await (await board.answered()).until_typed(b"in a hurry")


async def test_interrupt_break_and_erase_are_keys(board: Board) -> None:
    async with Terminal(MODERN) as terminal:
        call = await connected(terminal, board)
        terminal.send(b"a\xff\xf4b\xff\xf3c\xff\xf7d")
        await call.until_typed(b"a\x03b\x03c\x08d")


async def test_a_data_mark_sent_as_urgent_data_leaves_no_hole(board: Board) -> None:
    async with Terminal(MODERN) as terminal:
        call = await connected(terminal, board)
        terminal.send(b"a\xff\xf4\xff")
        terminal.send_urgent(b"\xf2")
        await call.until_typed(b"a\x03")
        terminal.send(b"b")
        await call.until_typed(b"a\x03b")


async def test_are_you_there_is_answered_once_with_a_bell(board: Board) -> None:
    async with Terminal(MODERN) as terminal:
        call = await connected(terminal, board)
        await terminal.until("Board.")
        terminal.send(b"\xff\xf6k")
        await call.until_typed(b"k")
        call.line.write(b"!")
        await terminal.until_heard("!")
        assert terminal.heard == "\a!"


async def test_commands_that_mean_nothing_here_are_no_keys(board: Board) -> None:
    async with Terminal(MODERN) as terminal:
        call = await connected(terminal, board)
        terminal.send(
            b"a" + b"".join(bytes((IAC, code)) for code in (0, 65, 236, 241, 245, 249)) + b"b"
        )
        await call.until_typed(b"ab")


async def test_a_timing_mark_is_answered(board: Board) -> None:
    async with Terminal(MODERN) as terminal:
        await connected(terminal, board)
        terminal.send(bytes((IAC, DO, 6)) * 2)
        await terminal.wait_for(
            lambda terminal: terminal.wire.count(bytes((IAC, WILL, 6))) == 2, "two timing marks"
        )


@pytest.mark.parametrize("cut", range(1, len(ANSWERS)))
async def test_where_packets_are_cut_makes_no_difference(cut: int) -> None:
    async with plugged(USUAL_LIMITS) as wire:
        wire.telnet.data_received(ANSWERS[:cut])
        wire.telnet.data_received(ANSWERS[cut:])
        line = wire.telnet.line
        assert bytes(wire.call.typed) == b"k\xff\r\0"
        assert wire.call.sizes == [(132, 50)]
        assert line.hints.terminal_types == ("xterm", "vt100")
        assert (line.hints.language, line.hints.charset) == ("fr_FR.UTF-8", "UTF-8")
        assert wire.lines == [line]


# His window


async def test_a_window_that_changes_is_told(board: Board) -> None:
    async with Terminal(MODERN) as terminal:
        call = await connected(terminal, board)
        terminal.resize(100, 40)
        await call.until(lambda call: call.sizes == [(100, 40)])
        assert (call.line.columns, call.line.rows) == (100, 40)
        terminal.resize(100, 40)
        terminal.resize(255, 255)
        await call.until(lambda call: call.sizes == [(100, 40), (132, 60)])


async def test_the_window_is_known_when_the_call_begins(board: Board) -> None:
    async with Terminal(replace(SYNCTERM, columns=40, rows=25)) as terminal:
        call = await connected(terminal, board)
        assert (call.line.columns, call.line.rows) == (40, 25)
        assert call.sizes == []


@pytest.mark.parametrize(
    ("told", "taken"),
    [((0, 0), (80, 24)), ((65535, 65535), (132, 60)), ((1, 1), (40, 20)), ((0, 50), (80, 50))],
)
async def test_absurd_windows_become_possible_ones(
    board: Board, told: tuple[int, int], taken: tuple[int, int]
) -> None:
    async with Terminal(MODERN) as terminal:
        call = await connected(terminal, board)
        terminal.resize(99, 33)
        await call.until(lambda call: call.sizes == [(99, 33)])
        size = told[0].to_bytes(2, "big") + told[1].to_bytes(2, "big")
        terminal.send(
            bytes((IAC, SB, NAWS)) + size.replace(b"\xff", b"\xff\xff") + bytes((IAC, SE))
        )
        await call.until(lambda call: call.sizes[-1] == taken)


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


async def test_keys_behind_a_pause_in_the_same_packet_wait_too() -> None:
    async with plugged(USUAL_LIMITS) as wire:
        wire.call.pauses = True
        wire.telnet.data_received(b"a\xff\xf4bcd\xff\xf7")
        assert wire.call.typed == b"a"
        wire.call.line.resume()
        assert wire.call.typed == b"a\x03bcd\x08"


async def test_drain_waits_until_the_caller_has_taken_everything(board: Board) -> None:
    async with Terminal(SYNCTERM) as terminal:
        await terminal.connect(board.port, receive_buffer=4096)
        call = await board.answered()
        terminal.stop_reading()
        await call.line.drain(PATIENCE)
        screen = b"x" * 200_000
        call.line.write(screen)
        drained = asyncio.create_task(call.line.drain(PATIENCE))
        terminal.send("k")
        await call.until_typed(b"k")
        assert not drained.done()
        terminal.go_on_reading()
        await drained
        await terminal.wait_for(
            lambda terminal: len(terminal.received) == len(GREETING + screen), "the whole screen"
        )


async def test_two_may_wait_for_the_same_drain(board: Board) -> None:
    async with Terminal(SYNCTERM) as terminal:
        await terminal.connect(board.port, receive_buffer=4096)
        call = await board.answered()
        terminal.stop_reading()
        call.line.write(b"x" * 200_000)
        impatient = asyncio.create_task(call.line.drain(PATIENCE))
        patient = asyncio.create_task(call.line.drain(PATIENCE))
        terminal.send("k")
        await call.until_typed(b"k")
        impatient.cancel()
        terminal.go_on_reading()
        await patient
        with pytest.raises(asyncio.CancelledError):
            await impatient


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


async def test_a_half_close_is_a_hang_up_after_what_was_typed_and_written(board: Board) -> None:
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
    await terminal.connect(board.port, receive_buffer=4096)
    call = await board.answered()
    terminal.stop_reading()
    call.line.write(b"x" * 200_000)
    drained = asyncio.create_task(call.line.drain(PATIENCE))
    terminal.send("k")
    await call.until_typed(b"k")
    terminal.abort()
    with pytest.raises(Hangup):
        await drained


async def test_a_second_receiver_takes_over_what_comes_then(board: Board) -> None:
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


async def test_who_attaches_after_the_end_learns_of_it(board: Board) -> None:
    async with Terminal(SYNCTERM) as terminal:
        first = await connected(terminal, board)
        first.line.hang_up()
        late = Call(first.line)
        first.line.attach(late)
        assert await late.until_ended() == "the board hung up"


# The port


async def test_a_call_that_fails_is_logged_and_hung_up(caplog: pytest.LogCaptureFixture) -> None:
    async def fail(line: object) -> None:
        raise LookupError("no such card")

    listener = await listen("127.0.0.1", 0, fail, USUAL_LIMITS)
    async with Terminal(REFUSING) as terminal:
        await terminal.connect(listener.port)
        await terminal.until_closed()
    assert [record.getMessage() for record in caplog.records if record.levelname == "ERROR"] == [
        "telnet 127.0.0.1: the call failed"
    ]
    await listener.finish()


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


async def test_a_burst_of_callers_is_served_to_the_last(board: Board) -> None:
    terminals = [Terminal(REFUSING) for _ in range(300)]
    await asyncio.gather(*(terminal.connect(board.port) for terminal in terminals))
    calls = [await board.answered() for _ in terminals]
    assert len({id(call.line) for call in calls}) == 300
    await asyncio.gather(*(terminal.close() for terminal in terminals))
    for call in calls:
        await call.until_ended()


async def test_callers_may_come_over_ipv6() -> None:
    board = Board()
    try:
        board.listener = await listen("::1", 0, board.serve, USUAL_LIMITS)
    except OSError:
        pytest.skip("this machine has no IPv6")
    async with Terminal(REFUSING) as terminal:
        await terminal.connect(board.port, host="::1")
        assert (await board.answered()).line.address == "::1"
    await board.listener.finish()


async def test_a_port_for_every_address_shows_ipv4_callers_as_such() -> None:
    board = Board()
    try:
        board.listener = await listen("::", 0, board.serve, USUAL_LIMITS)
    except OSError:
        pytest.skip("this machine has no IPv6")
    async with Terminal(REFUSING) as terminal:
        await terminal.connect(board.port, host="127.0.0.1")
        assert (await board.answered()).line.address == "127.0.0.1"
    await board.listener.finish()


async def test_a_dead_connection_is_found_within_a_minute() -> None:
    found: asyncio.Queue[socket.socket] = asyncio.Queue()

    class Watched(HardenedTelnet):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            super().connection_made(transport)
            found.put_nowait(transport.get_extra_info("socket"))

    server = await asyncio.get_running_loop().create_server(
        lambda: Watched(USUAL_LIMITS, lambda line: None, lambda telnet: None), "127.0.0.1", 0
    )
    async with Terminal(SYNCTERM) as terminal:
        await terminal.connect(server.sockets[0].getsockname()[1])
        wire, tcp = await found.get(), socket.IPPROTO_TCP
        assert wire.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
        assert wire.getsockopt(tcp, socket.TCP_NODELAY)
        first = wire.getsockopt(tcp, socket.TCP_KEEPIDLE)
        more = wire.getsockopt(tcp, socket.TCP_KEEPINTVL) * wire.getsockopt(tcp, socket.TCP_KEEPCNT)
        assert first + more < 60
        if hasattr(socket, "TCP_USER_TIMEOUT"):
            assert 0 < wire.getsockopt(tcp, socket.TCP_USER_TIMEOUT) < 60_000
    server.close()
