"""Callers by SSH at a whole board: trust, the question for a name, and counted tries."""

from __future__ import annotations

import logging
import socket
import stat
import sys
from dataclasses import replace
from pathlib import Path

import asyncssh
import pytest

from door.errors import CannotListen
from door.lines.ssh.algorithms import ED25519, RSA
from door.lines.ssh.host_key import FILES
from tests.door.by_ssh import BY_SSH, LISTENER, SshTerminal, by_ssh
from tests.door.lines.ssh.board import RSA_KEY
from tests.door.strangers import refusals
from tests.terminal import Terminal
from tests.world import BOARD, PASSWORD, World, log_on, logged_on, register, registers_as, world
from timebank.callers import ssh_keys

TOML = BOARD + LISTENER
MENU, NAME, WRONG = "oodbye", "Name:", "Wrong name or password."
OWN_KEY = asyncssh.generate_private_key("ssh-ed25519", comment="laptop")
OTHER_KEY = asyncssh.generate_private_key("ecdsa-sha2-nistp256")


def private(kind: str, **options: int) -> bytes:
    return asyncssh.generate_private_key(kind, **options).export_private_key()


def damaged(key: bytes) -> bytes:
    """Return a key in PEM with a line of its numbers turned round."""
    lines = key.splitlines()
    lines[8] = lines[8][::-1]
    return b"\n".join(lines)


def line_of(key: asyncssh.SSHKey) -> str:
    return key.export_public_key().decode().strip()


async def reaches_menu(terminal: Terminal) -> None:
    """Read the news of the first call of a day."""
    await terminal.until("Press any key")
    await terminal.send(" ").until(MENU)


async def ada_at_the_menu(board: World) -> SshTerminal:
    board.enter("Ada")
    terminal = await by_ssh(board, "Ada")
    await reaches_menu(terminal)
    return terminal


async def adds_a_key(terminal: SshTerminal, key: asyncssh.SSHKey) -> None:
    """From the main menu to the list of keys."""
    await terminal.send("y").until("SSH <k>eys")
    await terminal.send("k").until("Your SSH keys")
    await adds_another(terminal, key)


async def adds_another(terminal: SshTerminal, key: asyncssh.SSHKey) -> None:
    await terminal.send("a").until("Your current password:")
    await terminal.send(f"{PASSWORD}\r").until("Public key:")
    await terminal.send(f"{line_of(key)}\r").until("This key logs you on")
    await terminal.send(" ").until(key.get_fingerprint())


async def is_refused_by_key(board: World, name: str, key: asyncssh.SSHKey) -> None:
    with pytest.raises(asyncssh.PermissionDenied):
        await asyncssh.connect(
            *("127.0.0.1", board.server.ports[-1]),
            username=name,
            client_keys=[key],
            known_hosts=None,
            config=None,
            agent_path=None,
        )


async def test_a_right_password_leads_to_the_menu(board: World) -> None:
    board.enter("Ada")
    terminal = await by_ssh(board, "ada")
    await reaches_menu(terminal)
    assert NAME not in terminal.transcript
    assert "Password:" not in terminal.transcript
    assert "Using a screen reader?" not in terminal.transcript
    (caller,) = board.server.board.callers()
    assert (caller.record.name, caller.console.line.kind) == ("Ada", "ssh")
    terminal.resize(60, 30)
    await terminal.wait_for(lambda _: caller.console.line.columns == 60, "the new size")


async def test_a_wrong_password_and_an_unknown_name_look_alike(
    board: World,
) -> None:
    board.enter("Ada")
    wrong = 0
    for name in ("Ada", "Nobody", "Ada ", "\u0410da", "x" * 900):
        terminal = await by_ssh(board, name, password="guessed")
        await terminal.until(NAME)
        is_a_try = len(name) < 900  # such a name cannot be typed
        wrong += is_a_try
        assert (WRONG in terminal.transcript) == is_a_try
        assert refusals(board) == ["refused 127.0.0.1: wrong name or password"] * wrong
    await log_on(terminal, "Ada")
    await reaches_menu(terminal)


async def test_a_password_by_ssh_is_one_of_three_tries(board: World) -> None:
    board.enter("Ada")
    terminal = await by_ssh(board, "Ada", password="guessed")
    for _ in range(2):
        await terminal.until(NAME)
        await terminal.send("Ada\r").until("Password:")
        terminal.send("guessed\r")
    await terminal.until("That was your third try.")
    await terminal.until_closed()


async def test_wrong_passwords_by_ssh_count_for_telnet(tmp_path: Path) -> None:
    toml = f"{TOML}[defence]\nallow = []\nwrong_passwords = 2\n"
    async with world(tmp_path, toml=toml) as board:
        board.enter("Ada")
        for _ in range(2):
            terminal = await by_ssh(board, "Ada", password="guessed")
            await terminal.until(NAME)
        telnet = await logged_on(board, "Ada")
        await telnet.until("yours is in the queue")
        late = await by_ssh(board, "Ada")
        await late.until("yours is in the queue")
        assert NAME not in late.transcript


@pytest.mark.parametrize("password", [None, "anything"])
@pytest.mark.parametrize("name", ["new", "New", "nouveau"])
async def test_a_new_caller_registers_at_once(
    name: str, password: str | None, board: World
) -> None:
    terminal = await by_ssh(board, name, password=password)
    await registers_as(terminal, "Grace")
    assert "Name:" not in terminal.transcript
    (caller,) = board.server.board.callers()
    assert caller.record.name == "Grace"
    assert not refusals(board)


async def test_a_new_caller_may_go_back_to_the_question_for_a_name(board: World) -> None:
    board.enter("Ada")
    terminal = await by_ssh(board, "new", password=None)
    await terminal.until("The name you want:")
    await terminal.send("\r").until(NAME)
    await log_on(terminal, "Ada")
    await reaches_menu(terminal)


async def test_a_new_caller_with_a_screen_reader_has_plain_lines_before_the_first_answer(
    board: World,
) -> None:
    terminal = await by_ssh(board, "new", password=None)
    await terminal.until("Using a screen reader? Type ! for plain lines.")
    await terminal.until("The name you want:")
    began = len(terminal.transcript)
    await terminal.send("!").until_heard("The name you want:")
    await terminal.send("Grace\r").until_heard("A password")
    assert "\x1b" not in terminal.transcript[began:]


@pytest.mark.parametrize("name", ["bbs", "guest"])
async def test_a_guest_needs_no_password_and_is_asked_for_a_name(name: str, board: World) -> None:
    terminal = await by_ssh(board, name, password=None)
    await terminal.until(NAME)
    await register(terminal, "Grace")


async def test_a_key_of_the_settings_logs_on_its_owner_only(board: World) -> None:
    board.enter("Ada")
    board.enter("Bob")
    terminal = await by_ssh(board, "Ada")
    await reaches_menu(terminal)
    await adds_a_key(terminal, OWN_KEY)
    await terminal.until("1  laptop")
    await adds_another(terminal, OTHER_KEY)

    by_key = await by_ssh(board, "ada", password=None, client_keys=[OTHER_KEY])
    await by_key.until("Drop that call")
    await by_key.send("y").until(MENU)
    assert "assword" not in by_key.transcript
    await is_refused_by_key(board, "Bob", OWN_KEY)
    await is_refused_by_key(board, "Nobody", OWN_KEY)
    assert refusals(board) == []

    await by_key.send("yk").until("2  ecdsa-sha2-nistp256")
    await by_key.send("t2\r").until("Take away SHA256:")
    await by_key.send("y").until_gone("2  ecdsa-sha2-nistp256")
    await is_refused_by_key(board, "Ada", OTHER_KEY)


async def test_keys_suspended_by_a_restore_work_after_one_log_on_by_password(
    board: World,
) -> None:
    board.enter("Ada")
    with board.books() as desk:
        ssh_keys.add(desk, 1, line_of(OWN_KEY))
        ssh_keys.suspend(desk, 1)
    await is_refused_by_key(board, "Ada", OWN_KEY)
    terminal = await by_ssh(board, "Ada")
    await reaches_menu(terminal)
    by_key = await by_ssh(board, "ada", password=None, client_keys=[OWN_KEY])
    await by_key.until("Drop that call")


async def test_a_key_needs_the_password_and_a_valid_form(board: World) -> None:
    terminal = await ada_at_the_menu(board)
    await terminal.send("yka").until("Your current password:")
    await terminal.send("guessed\r").until("Wrong password.")
    assert refusals(board) == ["refused 127.0.0.1: wrong name or password"]
    await terminal.send(" ").until_gone("Wrong password.")
    await terminal.send(f"a{PASSWORD}\r").until("Public key:")
    await terminal.send("-----BEGIN OPENSSH PRIVATE KEY-----\r").until("That's no public key.")


async def test_a_board_without_ssh_says_nothing_of_keys(tmp_path: Path) -> None:
    async with world(tmp_path, toml=BOARD) as board:
        board.enter("Ada")
        terminal = await logged_on(board, "Ada")
        await reaches_menu(terminal)
        await terminal.send("y").until("Your settings")
        assert not terminal.shows("SSH")


async def test_the_language_of_the_program_is_spoken(tmp_path: Path) -> None:
    french = replace(BY_SSH, environment={"LANG": "fr_FR.UTF-8", "PATH": "/bin"})
    async with world(tmp_path, toml=TOML) as board:
        terminal = await by_ssh(board, "new", french, password=None)
        await terminal.until("Le nom voulu")


async def test_a_front_end_passes_on_the_callers_address(tmp_path: Path) -> None:
    toml = BOARD + LISTENER.replace("[[listeners]]", '[[listeners]]\nproxies = ["127.0.0.1"]')
    async with world(tmp_path, toml=toml) as board:
        board.enter("Ada")
        wire = socket.create_connection(("127.0.0.1", board.server.ports[-1]))
        wire.sendall(b"PROXY TCP4 192.0.2.9 192.0.2.1 40000 2222\r\n")
        terminal = SshTerminal(BY_SSH)
        await terminal.call(board.server.ports[-1], "Ada", sock=wire)
        board.terminals.append(terminal)
        await reaches_menu(terminal)
        (caller,) = board.server.board.callers()
        assert caller.console.line.address == "192.0.2.9"


@pytest.mark.parametrize("words", [["modern"], ["boards", "old"]])
async def test_the_keys_of_the_board_are_made_once_for_its_owners_eyes(
    words: list[str], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "door.ssh")
    kinds = {ED25519: "key"} if words == ["modern"] else {ED25519: "key", RSA: "RSA key"}
    shown = []
    for word in words * 2:
        async with world(tmp_path, toml=f'{TOML}compatibility = "{word}"\n') as board:
            for kind, noun in kinds.items():
                signatures = ["rsa-sha2-256"] if kind == RSA else [kind]
                terminal = await by_ssh(
                    board, "new", password=None, server_host_key_algs=signatures
                )
                key = terminal.connection.get_server_host_key()
                assert key is not None
                shown.append(f"callers by SSH are shown the {noun} {key.get_fingerprint()}")
                file = board.config.board.data / FILES[kind]
                assert stat.S_IMODE(file.stat().st_mode) == 0o600
            made = sorted(each.name for each in file.parent.glob("*ssh*"))
            assert made == sorted(FILES[kind] for kind in kinds)
    assert len(set(shown)) == len(kinds)
    assert [each.getMessage() for each in caplog.records if each.name == "door.ssh"] == shown


@pytest.mark.parametrize(
    ("kind", "content", "why"),
    [
        (ED25519, b"", "it holds no private key"),
        (ED25519, private("ecdsa-sha2-nistp256"), "only ssh-ed25519"),
        (RSA, private("ssh-ed25519"), "only ssh-rsa"),
        (RSA, private("ssh-rsa", key_size=1024), "1024 bits, and only 2048 to 4096"),
        (RSA, damaged(RSA_KEY.export_private_key("pkcs1-pem")), "it holds no private key"),
    ],
    ids=["empty", "another kind", "not RSA", "short RSA", "damaged RSA"],
)
async def test_an_unusable_host_key_stops_the_start_and_is_left_unchanged(
    kind: str, content: bytes, why: str, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / FILES[kind]).write_bytes(content)
    with pytest.raises(CannotListen, match=why):
        async with world(tmp_path, toml=f'{TOML}compatibility = "boards"\n'):
            pass
    assert (data / FILES[kind]).read_bytes() == content


async def test_a_host_key_that_leads_nowhere_stops_the_start_with_a_sentence(
    tmp_path: Path,
) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / FILES[ED25519]).symlink_to(tmp_path / "nowhere" / "key")
    with pytest.raises(CannotListen, match="can't be made at"):
        async with world(tmp_path, toml=TOML):
            pass


async def test_a_missing_library_is_named_with_how_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("lines.ssh.ssh", "lines.ssh.host_key"):
        monkeypatch.delitem(sys.modules, f"door.{name}", raising=False)
    monkeypatch.setitem(sys.modules, "asyncssh", None)
    with pytest.raises(CannotListen, match=r"pip install 'blackjack-for-time\[ssh\]'"):
        async with world(tmp_path, toml=TOML):
            pass
