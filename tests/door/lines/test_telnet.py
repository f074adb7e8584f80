"""Telnet callers of every kind, over real sockets: hints and keys."""

import asyncio
import contextlib
from dataclasses import replace

import pytest

from door.lines.line import OpenKeys
from door.lines.telnet.telnet import USUAL_LIMITS
from tests.door.lines.board import GREETING, Board, Wire, connected, open_board, plugged
from tests.mud_clients import BLIGHTMUD, KBTIN, MUDLET, MUSHCLIENT, TINYFUGUE
from tests.terminal import (
    BINARY,
    CHARSET,
    DO,
    DONT,
    ECHO,
    EOR,
    IAC,
    MODERN,
    NAWS,
    NEW_ENVIRON,
    READER,
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
EVER_NEW = tuple(f"TERM{number}" for number in range(20))

# A whole log-on of a modern program, as the board receives it, and some keys.
KEYS = b"k\xff\xff\r\0"
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
        KEYS,
    )
)


# Hints about a caller


@pytest.mark.parametrize(
    ("profile", "types", "language", "charset"),
    [
        (SYNCTERM, ("syncterm",), "", ""),
        (MODERN, ("xterm-256color",), "en_US.UTF-8", "UTF-8"),
        (REFUSING, (), "", ""),
        (SILENT, (), "", ""),
        (
            replace(SYNCTERM, terminal_types=("ANSI", "VT100", "VTNT", "ANSI")),
            ("ANSI", "VT100", "VTNT"),
            "",
            "",
        ),
        (replace(SYNCTERM, terminal_types=EVER_NEW), EVER_NEW[:8], "", ""),
        (
            replace(MODERN, environment={"LANG": "C", "LC_CTYPE": "de_DE", "LC_ALL": "ja_JP"}),
            ("xterm-256color",),
            "ja_JP",
            "UTF-8",
        ),
        *(
            (replace(MODERN, charset_names=offered), ("xterm-256color",), "en_US.UTF-8", taken)
            for offered, taken in ((("US-ASCII", "IBM437"), "IBM437"), (("KOI8-R",), ""))
        ),
    ],
    ids=[
        *("syncterm", "modern", "refusing", "silent", "many terminals", "ever new terminals"),
        *("the variable that counts most", "no UTF-8", "none of the sets"),
    ],
)
async def test_terminal_type_and_environment_become_hints(
    board: Board, profile: Profile, types: tuple[str, ...], language: str, charset: str
) -> None:
    async with Terminal(profile) as terminal:
        line = (await connected(terminal, board)).line
        hints = line.hints
        assert (hints.terminal_types, hints.language, hints.charset) == (types, language, charset)
        assert (line.columns, line.rows) == (80, 24)
        assert (line.kind, line.address) == ("telnet", "127.0.0.1")
        await terminal.until("Board.")


async def test_a_program_may_offer_character_sets_itself(board: Board) -> None:
    async with Terminal(REFUSING) as terminal:
        call = await connected(terminal, board)
        terminal.send(bytes((IAC, SB, CHARSET, 1)) + b";KOI8-R;utf-8" + bytes((IAC, SE)) + b"k")
        await call.until_typed(b"k")
        assert call.line.hints.charset == "utf-8"
        accepted = bytes((IAC, SB, CHARSET, 2)) + b"utf-8" + bytes((IAC, SE))
        await terminal.wait_for(lambda terminal: accepted in terminal.wire, "the answer")


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


# How soon a caller is served


@pytest.mark.parametrize("profile", [SYNCTERM, MODERN, REFUSING], ids=["syncterm", "modern", "no"])
async def test_a_client_that_answers_is_served_without_waiting(
    board: Board, profile: Profile
) -> None:
    async with Terminal(profile) as terminal:
        called_at = asyncio.get_running_loop().time()
        call = await connected(terminal, board)
        assert call.served_at - called_at < USUAL_LIMITS.silence / 2


async def test_a_silent_client_is_served_within_half_a_second(board: Board) -> None:
    async with Terminal(SILENT) as terminal:
        called_at = asyncio.get_running_loop().time()
        call = await connected(terminal, board)
        assert 0.4 < call.served_at - called_at < 0.55


async def test_a_client_that_withdraws_an_offer_is_not_waited_for(board: Board) -> None:
    async with Terminal(REFUSING) as terminal:
        terminal.profile = replace(REFUSING, performs=frozenset({TTYPE}))
        called_at = asyncio.get_running_loop().time()
        await terminal.connect(board.port)
        asked = bytes((IAC, SB, TTYPE, 1, IAC, SE))
        await terminal.wait_for(lambda terminal: asked in terminal.wire, "the request")
        terminal.send(bytes((IAC, WONT, TTYPE)))
        call = await board.answered()
        assert call.served_at - called_at < USUAL_LIMITS.silence / 2


async def test_a_slow_client_is_given_time() -> None:
    """Each of the five answers takes three quarters of a silent caller's time limit."""
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


async def test_a_client_that_never_finishes_is_served_at_the_time_limit() -> None:
    limits = replace(USUAL_LIMITS, silence=0.05, patience=0.2)
    mute = Terminal(replace(MODERN, performs=frozenset({TTYPE}), terminal_types=()))
    async with open_board(limits) as board, mute:
        called_at = asyncio.get_running_loop().time()
        call = await connected(mute, board)
        assert call.served_at - called_at < 1.0


async def test_a_client_that_keeps_answering_is_served_at_the_time_limit() -> None:
    limits = replace(USUAL_LIMITS, silence=0.05, patience=0.2)
    mute = Terminal(replace(MODERN, performs=frozenset({TTYPE}), terminal_types=()))
    loop = asyncio.get_running_loop()

    def go_on() -> None:
        mute.send(bytes((IAC, 241)))
        timers.append(loop.call_later(0.01, go_on))

    timers: list[asyncio.TimerHandle] = []
    async with open_board(limits) as board, mute:
        called_at = loop.time()
        await mute.connect(board.port)
        go_on()
        call = await board.answered()
        timers[-1].cancel()
        assert call.served_at - called_at > 0.19


async def test_a_client_that_answers_nonsense_is_not_waited_for(board: Board) -> None:
    async with Terminal(replace(SYNCTERM, terminal_types=("\0\1\2",))) as terminal:
        called_at = asyncio.get_running_loop().time()
        call = await connected(terminal, board)
        assert call.served_at - called_at < USUAL_LIMITS.silence / 2
        assert call.line.hints.terminal_types == ()


async def test_answers_that_come_too_late_still_become_hints(board: Board) -> None:
    async with Terminal(SILENT) as terminal:
        call = await connected(terminal, board)
        terminal.send(ANSWERS)
        await call.until_typed(b"k\xff\r\0")
        assert call.line.hints.terminal_types == ("xterm", "vt100")
        assert call.sizes == [(160, 50)]


# Keys


async def test_every_byte_written_arrives_as_it_was_written(board: Board) -> None:
    async with Terminal(SYNCTERM) as terminal:
        call = await connected(terminal, board)
        call.line.write(EVERY_BYTE)
        await terminal.wait_for(
            lambda terminal: terminal.received == GREETING + EVERY_BYTE, "every byte"
        )
        assert terminal.wire.endswith(EVERY_BYTE + b"\xff")


async def test_keys_typed_before_the_board_listens_are_not_lost(board: Board) -> None:
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


# The caller's window


async def test_a_change_of_the_window_is_reported(board: Board) -> None:
    async with Terminal(MODERN) as terminal:
        call = await connected(terminal, board)
        terminal.resize(100, 40)
        await call.until(lambda call: call.sizes == [(100, 40)])
        assert (call.line.columns, call.line.rows) == (100, 40)
        terminal.resize(100, 40)
        terminal.resize(255, 255)
        await call.until(lambda call: call.sizes == [(100, 40), (160, 60)])


async def test_a_client_that_negotiates_first_is_still_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wire = Wire(USUAL_LIMITS)
    made = wire.telnet.connection_made

    def reads_at_once(transport: asyncio.BaseTransport) -> None:  # as uvloop does
        made(transport)
        wire.telnet.take(bytes((IAC, WILL, SGA)))

    monkeypatch.setattr(wire.telnet, "connection_made", reads_at_once)
    await wire.plug()
    assert wire.lines == []
    wire.telnet.take(ANSWERS)
    assert wire.lines == [wire.telnet.line]
    assert wire.telnet.line.hints.terminal_types == ("xterm", "vt100")
    await wire.unplug()


async def test_agreed_options_stay_in_force_after_a_caller_is_served() -> None:
    async with plugged(USUAL_LIMITS) as wire:
        wire.telnet.take(ANSWERS)
        assert wire.lines == [wire.telnet.line]
        with contextlib.suppress(BlockingIOError):
            wire.far_end.recv(4096)
        wire.telnet.take(
            bytes((IAC, DO, ECHO, IAC, WILL, SGA, IAC, SB, NAWS, 0, 99, 0, 33, IAC, SE))
        )
        wire.telnet.take(bytes((IAC, WILL, ECHO)))
        assert (wire.telnet.line.columns, wire.telnet.line.rows) == (99, 33)
        assert wire.far_end.recv(4096) == bytes((IAC, DONT, ECHO))


async def test_the_window_is_known_when_the_call_begins(board: Board) -> None:
    async with Terminal(replace(SYNCTERM, columns=40, rows=25)) as terminal:
        call = await connected(terminal, board)
        assert (call.line.columns, call.line.rows) == (40, 25)
        assert call.sizes == []


@pytest.mark.parametrize(
    ("window", "taken"),
    [((0, 0), (80, 24)), ((65535, 65535), (160, 60)), ((1, 1), (40, 16)), ((0, 50), (80, 50))],
)
async def test_absurd_windows_become_possible_ones(
    board: Board, window: tuple[int, int], taken: tuple[int, int]
) -> None:
    async with Terminal(MODERN) as terminal:
        call = await connected(terminal, board)
        terminal.resize(99, 33)
        await call.until(lambda call: call.sizes == [(99, 33)])
        size = window[0].to_bytes(2, "big") + window[1].to_bytes(2, "big")
        terminal.send(
            bytes((IAC, SB, NAWS)) + size.replace(b"\xff", b"\xff\xff") + bytes((IAC, SE))
        )
        await call.until(lambda call: call.sizes[-1] == taken)


# Prompts of programs that send whole lines

GO_AHEAD, END_OF_RECORD = bytes((IAC, 249)), bytes((IAC, 239))
HIDES, SHOWS = bytes((IAC, WILL, ECHO)), bytes((IAC, WONT, ECHO))


@pytest.mark.parametrize(
    ("profile", "mark"),
    [
        (REFUSING, GO_AHEAD),
        (replace(REFUSING, accepts=frozenset({EOR}), opening=bytes((IAC, DO, EOR))), END_OF_RECORD),
        (READER, END_OF_RECORD),
        (replace(READER, accepts=frozenset({SGA, ECHO})), b"\r\n"),
        (replace(READER, accepts=frozenset({ECHO})), GO_AHEAD),
        (MUDLET, END_OF_RECORD),
        (MUSHCLIENT, b"\r\n"),
        (BLIGHTMUD, END_OF_RECORD),
        (TINYFUGUE, GO_AHEAD),
        (KBTIN, GO_AHEAD),
        (SYNCTERM, b""),
        (MODERN, b""),
        (SILENT, b""),
    ],
    ids=[
        "refuses SGA",
        "asks for EOR",
        "MUD",
        "by lines",
        "GA",
        "Mudlet",
        "MUSHclient",
        "Blightmud",
        "TinyFugue",
        "KBtin",
        "syncterm",
        "modern",
        "silent",
    ],
)
async def test_a_prompt_is_marked_once_as_the_program_wants_it(
    board: Board, profile: Profile, mark: bytes
) -> None:
    async with Terminal(profile) as terminal:
        line = (await connected(terminal, board)).line
        await terminal.until("Board.")
        before = len(terminal.wire)
        for words in (b"Name: ", b"Password: "):
            line.write(words)
            for _twice in range(2):
                line.show_keys(OpenKeys("keys"), "en")
        line.write(b"End")
        await terminal.until("End")
        sent = bytes(terminal.wire[before:])
    assert sent == b"Name: " + mark + b"Password: " + mark + b"End"


async def test_letters_that_are_typed_into_a_field_are_not_marked(board: Board) -> None:
    async with Terminal(REFUSING) as terminal:
        line = (await connected(terminal, board)).line
        await terminal.until("Board.")
        before = len(terminal.wire)
        for offered in (OpenKeys("text"), OpenKeys("text")):  # two questions
            for letter in (b"Name: ", b"A", b"d", b"a"):
                line.write(letter)
                line.show_keys(offered, "en")
        line.write(b"End")
        await terminal.until("End")
        sent = bytes(terminal.wire[before:])
    assert sent == (b"Name: " + GO_AHEAD + b"Ada") * 2 + b"End"


async def test_a_mud_client_hides_a_secret_and_nothing_else(board: Board) -> None:
    async with Terminal(READER) as terminal:
        line = (await connected(terminal, board)).line
        await terminal.until("Board.")
        assert line.hints.sends_lines
        assert terminal.wire.endswith(GREETING)
        assert terminal.wire.rindex(SHOWS) > terminal.wire.rindex(HIDES)
        before = len(terminal.wire)
        for ask in ("text", "secret", "secret", "keys"):
            line.show_keys(OpenKeys(ask), "en")
        line.write(b"End")
        await terminal.until("End")
        sent = bytes(terminal.wire[before:])
    assert sent.count(HIDES) == sent.count(SHOWS) == 1
    assert sent.endswith(HIDES + SHOWS + b"End")


@pytest.mark.parametrize(
    ("profile", "sends_lines"), [(SYNCTERM, False), (MODERN, False), (REFUSING, True)]
)
async def test_a_program_that_sends_each_key_is_told_apart(
    board: Board, profile: Profile, sends_lines: bool
) -> None:
    async with Terminal(profile) as terminal:
        assert (await connected(terminal, board)).line.hints.sends_lines is sends_lines
