"""A caller by SSH, with asyncssh's own client at the other end."""

import asyncio

import asyncssh
import pytest
from asyncssh.packet import Boolean, String, UInt32

from ansi.charset import Charset
from door.call.screen import Look, Paint
from door.lines.flow import UNREAD
from door.lines.ssh.ssh_identity import SshIdentity
from door.lobby import looks
from tests.door.lines.board import GREETING, PATIENCE
from tests.door.lines.ssh.board import OWN_KEY, PASSWORD, connected, open_board, terminal


async def test_a_caller_types_reads_and_is_hung_up() -> None:
    async with open_board() as board, connected(board) as connection:
        screen = await terminal(connection)
        call, identity = await board.answered_with()
        assert identity == SshIdentity("Alice", PASSWORD)
        assert PASSWORD not in repr(identity)
        assert (call.line.kind, call.line.address) == ("ssh", "127.0.0.1")
        assert (call.line.columns, call.line.rows, call.line.size_is_known) == (100, 30, True)
        await screen.until_shown(GREETING)
        screen.send("hit é\r".encode())
        await call.until_typed("hit é\r".encode())
        call.line.write("Pik ♠".encode())
        await screen.until_shown("Pik ♠".encode())
        call.line.write(b"x" * 100_000 + b"end")
        call.over.set()
        await screen.until_shown(b"xend")
        async with asyncio.timeout(PATIENCE):
            assert (await screen.process.wait()).exit_status == 0
            await connection.wait_closed()


async def test_a_caller_hangs_up() -> None:
    async with open_board() as board:
        for end in ("the program", "the input", "the terminal"):
            async with connected(board) as connection:
                screen = await terminal(connection)
                call, _ = await board.answered_with()
                if end == "the program":
                    connection.abort()
                elif end == "the input":
                    screen.process.stdin.write_eof()
                else:
                    screen.process.close()
                assert await call.until_ended() == "the caller hung up", end
                call.over.set()


async def test_the_window_changes_within_bounds() -> None:
    async with open_board() as board, connected(board) as connection:
        screen = await terminal(connection, size=(0, 0))
        call, _ = await board.answered_with()
        assert (call.line.columns, call.line.rows, call.line.size_is_known) == (80, 24, False)
        screen.process.change_terminal_size(4_000_000_000, 1)
        screen.process.change_terminal_size(132, 43)
        await call.until(lambda call: len(call.sizes) == 2)
        assert call.sizes == [(160, 16), (132, 43)]


@pytest.mark.parametrize(
    ("kind", "environment", "types", "language", "charset"),
    [
        ("xterm-256color", {"LANG": "fr_FR.UTF-8"}, ("xterm-256color",), "fr_FR.UTF-8", ""),
        ("xterm", {"LANG": "fr_FR.ISO-8859-1"}, ("xterm",), "fr_FR.ISO-8859-1", ""),
        ("foot", {"LC_ALL": "C", "LANG": "de_DE"}, ("foot",), "C", "UTF-8"),
        ("vt220", {}, ("vt220",), "", ""),
        ("ansi-bbs", {"LS_COLORS": "x"}, ("ansi-bbs",), "", ""),
        ("\x1b", {"LANG": "\x1b[2Jen" + "x" * 500}, (), "[2Jen" + "x" * 58, ""),
        ("x\x1b[2J", {}, ("x[2J",), "", "UTF-8"),
    ],
    ids=["xterm", "Latin-1", "foot", "vt220", "ansi", "none", "rude"],
)
async def test_terminal_type_and_environment_become_hints(
    kind: str,
    environment: dict[str, str],
    types: tuple[str, ...],
    language: str,
    charset: str,
) -> None:
    async with open_board() as board, connected(board) as connection:
        await terminal(connection, kind, env=environment)
        call, _ = await board.answered_with()
        hints = call.line.hints
        assert (hints.terminal_types, hints.language, hints.charset) == (types, language, charset)


@pytest.mark.parametrize(
    ("kind", "environment", "look"),
    [
        ("vt100", {"LANG": "fr_FR.UTF-8"}, Look(Charset.UTF8, Paint.COLOUR)),
        ("vt100", {"LANG": "fr_FR"}, Look(Charset.ASCII, Paint.MONO)),
        ("vt100", {"LC_CTYPE": "UTF-8", "LANG": "C"}, Look(Charset.UTF8, Paint.COLOUR)),
        ("xterm", {"LC_ALL": "fr_FR.ISO-8859-1"}, Look(Charset.LATIN1, Paint.COLOUR)),
        ("syncterm", {"LANG": "en_US.UTF-8"}, Look(Charset.CP437, Paint.COLOUR)),
        ("ansi", {}, Look(Charset.CP437, Paint.COLOUR)),
        ("dumb", {"LANG": "fr_FR.UTF-8"}, Look(Charset.UTF8, Paint.LINES)),
        ("foot", {"LC_ALL": "C"}, Look(Charset.UTF8, Paint.COLOUR)),
    ],
)
async def test_the_language_chooses_the_letters_and_the_terminal_where_it_names_none(
    kind: str, environment: dict[str, str], look: Look
) -> None:
    async with open_board() as board, connected(board) as connection:
        await terminal(connection, kind, env=environment)
        call, _ = await board.answered_with()
        assert looks.guess(call.line.hints) == look


@pytest.mark.parametrize("size", [(80, 48), (80, 24)])
@pytest.mark.parametrize("version", ["cryptlib", "OpenSSH_9.2p1"])
async def test_a_terminal_that_cryptlib_makes_up_is_unknown(
    version: str, size: tuple[int, int]
) -> None:
    """Without a program's word it says that any terminal is an xterm of 80x48."""
    is_made_up = (version, size) == ("cryptlib", (80, 48))
    async with open_board() as board, connected(board, client_version=version) as connection:
        await terminal(connection, "xterm", size)
        call, _ = await board.answered_with()
        assert call.line.hints.terminal_types == (() if is_made_up else ("xterm",))
        assert call.line.hints.charset == ("" if is_made_up else "UTF-8")
        assert call.line.size_is_known != is_made_up


async def test_break_is_a_key() -> None:
    async with open_board() as board, connected(board) as connection:
        screen = await terminal(connection)
        call, _ = await board.answered_with()
        screen.process.send_break(10)
        await call.until_typed(b"\x03")


@pytest.mark.parametrize("password", [None, PASSWORD])
@pytest.mark.parametrize("name", ["new", "nouveau", "bbs", "Guest"])
async def test_a_stranger_shows_a_name_alone(name: str, password: str | None) -> None:
    async with open_board() as board, connected(board, name, password=password) as connection:
        await terminal(connection)
        _, identity = await board.answered_with()
        assert identity == SshIdentity(name)


async def test_a_key_that_is_known_and_no_other_is_shown() -> None:
    other = asyncssh.generate_private_key("ssh-ed25519")
    async with open_board() as board:
        board.known = {"Alice": {OWN_KEY.public_data}}
        keys = [other, OWN_KEY]
        async with connected(board, password=None, client_keys=keys) as connection:
            await terminal(connection)
            _, identity = await board.answered_with()
            assert identity == SshIdentity("Alice", None, OWN_KEY.public_data)
        with pytest.raises(asyncssh.PermissionDenied):
            async with connected(board, "Bob", password=None, client_keys=keys):
                pass
        async with connected(board, "Bob", client_keys=keys) as connection:
            await terminal(connection)
            _, identity = await board.answered_with()
            assert identity == SshIdentity("Bob", PASSWORD)
        assert set(board.asked) == {"Alice", "Bob"}


async def test_a_key_of_another_kind_than_it_says_is_refused() -> None:
    """The public half of a key, with a signature of another one."""
    public = OWN_KEY.public_data

    class Liar(asyncssh.SSHKeyPair):
        _key_type = "liar"

        def __init__(self) -> None:
            super().__init__(b"ssh-ed25519", b"ssh-ed25519", (b"ssh-ed25519",), (), public, b"me")

        def sign(self, data: bytes) -> bytes:
            return asyncssh.generate_private_key("ssh-ed25519").sign(data, b"ssh-ed25519")

    async with open_board() as board:
        board.known = {"Alice": {public}}
        with pytest.raises(asyncssh.PermissionDenied):
            async with connected(board, password=None, client_keys=[Liar()]):
                pass
        assert board.calls.empty()


async def test_a_connection_gets_one_terminal_and_nothing_else() -> None:
    async with open_board() as board, connected(board) as connection:
        await terminal(connection)
        call, _ = await board.answered_with()
        for refused in (
            connection.create_process("ls", encoding=None),
            connection.create_process(subsystem="sftp", encoding=None),
            connection.open_connection("127.0.0.1", board.port),
            connection.open_unix_connection("/run/some.sock"),
        ):
            with pytest.raises(asyncssh.ChannelOpenError):
                await refused
        for listening in (
            connection.forward_remote_port("", 0, "127.0.0.1", 9),
            connection.forward_remote_path("/run/some.sock", "/run/other.sock"),
        ):
            with pytest.raises(asyncssh.ChannelListenError):
                await listening
        call.line.write(b"still there")


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({"command": "ls"}, b"This board runs no commands."),
        ({"subsystem": "sftp"}, b"This board sends and takes no files."),
        ({"subsystem": "netconf"}, b"This board runs no commands."),
    ],
    ids=["a command", "sftp", "a subsystem"],
)
async def test_the_terminal_is_for_no_program(wanted: dict[str, str], expected: bytes) -> None:
    async with open_board() as board, connected(board) as connection:
        process = await connection.create_process(term_type="xterm", encoding=None, **wanted)
        async with asyncio.timeout(PATIENCE):
            done = await process.wait()
        assert done.stderr.startswith(expected)
        assert done.exit_status == 1
        assert board.calls.empty()


async def test_without_a_terminal_there_is_a_word_and_no_call() -> None:
    async with open_board() as board, connected(board) as connection:
        done = await connection.run(encoding=None)
        assert done.stderr.startswith(b"This board needs a terminal")
        assert done.exit_status == 1
        assert board.calls.empty()


async def test_neither_agent_nor_display_is_forwarded() -> None:
    async with open_board() as board, connected(board) as connection:
        screen = await terminal(connection)
        call, _ = await board.answered_with()
        channel = screen.process.channel
        answers = [
            await channel._make_request(b"auth-agent-req@openssh.com"),
            await channel._make_request(
                b"x11-req", Boolean(False), String(b"MIT-MAGIC-COOKIE-1"), String(b"ab"), UInt32(0)
            ),
        ]
        assert answers == [False, False]
        call.line.write(b"still there")
        await screen.until_shown(b"still there")


async def test_a_paste_arrives_whole_and_waits_in_the_callers_program() -> None:
    paste = bytes(range(250)) * 400
    async with open_board() as board, connected(board) as connection:
        screen = await terminal(connection)
        call, _ = await board.answered_with()
        call.pauses = True
        screen.send(paste)
        await call.until(lambda call: bool(call.typed))
        for _ in range(50):
            await asyncio.sleep(0)
        assert len(call.typed) <= UNREAD
        while len(call.typed) < len(paste):
            before = len(call.typed)
            call.line.resume()
            await call.until(lambda call, before=before: len(call.typed) > before)
        assert call.typed == paste
        assert max(call.pieces) <= UNREAD


async def test_keys_typed_early_are_stored_within_bounds() -> None:
    async with open_board() as board, connected(board) as connection:
        board.is_ready.clear()
        screen = await terminal(connection)
        await screen.until_shown(GREETING)
        for length in (UNREAD // 2, UNREAD // 2, UNREAD, 50_000):
            screen.send(b"k" * length)
            # The board has taken in all that was sent before it answers this, if it lives.
            await connection._make_global_request(b"keepalive@openssh.com")
        board.is_ready.set()
        call, _ = await board.answered_with()
        await call.until(lambda call: len(call.typed) == 2 * UNREAD + 50_000)
        assert max(call.pieces) <= UNREAD


async def test_new_keys_in_the_middle_of_a_call_lose_nothing() -> None:
    async with open_board() as board, connected(board, rekey_bytes=2000) as connection:
        screen = await terminal(connection)
        call, _ = await board.answered_with()
        for number in range(5):
            screen.send(b"%d" % number * 1000)
            call.line.write(b"<%d>" % number + b"y" * 30_000)
        await call.until(lambda call: len(call.typed) == 5000)
        call.line.write(b"all of it")
        await screen.until_shown(b"all of it")
        assert screen.shown.count(b"y") == 5 * 30_000


async def test_the_end_of_the_board_is_the_end_of_every_call() -> None:
    async with open_board() as board, connected(board) as connection:
        screen = await terminal(connection)
        call, _ = await board.answered_with()
        await board.listener.finish(5.0)
        assert await call.until_ended() == "the board hung up"
        await screen.until_shown(GREETING)
