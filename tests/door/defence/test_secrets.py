"""Logs of an evening and output of commands contain no password, seed or secret."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from door.call import passwords
from tests.door.call.test_passwords import stored_hash
from tests.door.processes import served
from tests.door.server.test_rlogin_port import ANSI, SAID, XIBALBA, Sent
from tests.door.shell import Shell
from tests.door.visiting import MENU, Guest, seated, sysop_toml
from tests.terminal import SYNCTERM
from tests.world import PASSWORD, World, register, world

WRONG, SECRET, GUESSED, TYPED_AS_NAME = "opium seesaw", "jaguar", "panther", "open cinnamon"
SECRETS = (PASSWORD, WRONG, SECRET, GUESSED, TYPED_AS_NAME)
TOML = sysop_toml(events="") + XIBALBA


@pytest.fixture
def everything_logged() -> Iterator[list[str]]:
    """Record the messages of all loggers of the process, at all levels, with tracebacks."""
    messages: list[str] = []
    form = logging.Formatter("%(name)s %(message)s %(args)r")

    class Keep(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            messages.append(form.format(record))

    handler, root = Keep(logging.DEBUG), logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    yield messages
    root.removeHandler(handler)
    root.setLevel(level)


async def evening(board: World) -> str:
    """Everything that callers may type where it does not belong; return the seed of Ada's shoe."""
    ada = Guest(board, "Ada")
    await ada.dials(SYNCTERM)
    await register(ada.terminal, "Ada")
    await ada.sits_down()
    await ada.bets(2, "stay", ends="win")
    with board.books() as desk:
        find = "SELECT seed FROM shoes WHERE closed IS NULL ORDER BY id DESC"
        seed: bytes = desk.connection.exec_driver_sql(find).scalar_one()
    stranger = Guest(board, "Ada")
    await stranger.dials()
    for name, password in (("Ada", WRONG), (TYPED_AS_NAME, PASSWORD), (PASSWORD, WRONG)):
        await stranger.is_asked("Name:")
        await stranger.presses(f"{name}\r").is_asked("Password:")
        stranger.presses(f"{password}\r")
    await stranger.terminal.until_closed()
    return seed.hex()


async def boards_call(board: World) -> None:
    """One board with the right secret, one with another."""
    for header in (SAID, SAID.replace(SECRET.encode(), GUESSED.encode())):
        terminal = Sent(ANSI)
        await terminal.connect(board.server.ports[1])
        board.terminals.append(terminal)
        await terminal.says(header)
        await terminal.wait_for(
            lambda t: t.closed or "Xibalba" in t.transcript, "a welcome or a refusal"
        )


def no_secret_in(text: str, *more: str) -> None:
    for secret in (*SECRETS, *more):
        assert secret not in text
        assert secret.encode().hex() not in text


async def test_no_log_of_an_evening_holds_a_secret(
    tmp_path: Path, everything_logged: list[str]
) -> None:
    async with world(tmp_path, toml=TOML) as board:
        seed = await evening(board)
        await boards_call(board)
        (tmp_path / "sysop.toml").write_text(f"{TOML}\n[oops]\n", encoding="utf-8")
        board.server.reload()  # a file that is not used is complained of
    logged = "\n".join(everything_logged)
    assert "new caller Ada" in logged
    assert "the secret is not the one" in logged
    assert "is wrong, the old settings" in logged
    no_secret_in(logged, seed)
    refused = (tmp_path / "data" / "refused.log").read_text(encoding="ascii")
    assert refused.count("wrong name or password") == 3
    no_secret_in(refused, seed)


async def test_no_command_shows_a_secret_or_an_undealt_card(tmp_path: Path) -> None:
    async with world(tmp_path, toml=TOML) as board:
        seed = await evening(board)
        hashed = stored_hash(board)
        shell = Shell(board.config.path)
        for words in (
            ("hand", "1"),
            ("hand", "1", "--json"),
            ("nodes", "--json"),
            ("callers", "list"),
            ("audit",),
            ("check",),
        ):
            result = await asyncio.to_thread(shell, *words)
            if words == ("hand", "1", "--json"):
                assert result.status == 2, "a hand that is open cannot be replayed"
            assert result.output or result.error
            no_secret_in(result.output + result.error, seed, hashed)


@pytest.mark.parametrize("where", ["verify", "hash"])
async def test_a_crash_in_the_middle_of_a_password_tells_where_and_not_which(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    everything_logged: list[str],
    where: str,
) -> None:
    def broken(*given: object) -> bool:
        raise RuntimeError("the hasher broke")

    async with world(tmp_path, toml=TOML) as board:
        board.enter("Ada")
        monkeypatch.setattr(passwords, f"{where}_password", broken)
        guest = Guest(board, "Ada")
        await guest.dials()
        if where == "verify":
            guest.presses(f"Ada\r{PASSWORD}\r")
        else:
            guest.presses(f"new\rBob\r{PASSWORD}\r{PASSWORD}\r")
        await guest.is_sent_off("Something went wrong here. The sysop will find it in the log.")
    logged = "\n".join(everything_logged)
    assert "RuntimeError: the hasher broke" in logged
    no_secret_in(logged, password_hash_of_tests())


def password_hash_of_tests() -> str:
    from tests.world import quick_hash

    return quick_hash()


async def test_failing_books_log_the_error_without_the_data(
    tmp_path: Path, everything_logged: list[str]
) -> None:
    async with world(tmp_path, toml=TOML) as board:
        ada = await seated(board, "Ada")
        with board.database.transaction(board.config.bank, board.clock.now()) as desk:
            desk.connection.exec_driver_sql("ALTER TABLE shoes RENAME TO gone")
        board.seeds = [b"\xab\xcd" * 16]
        ada.presses("b")
        await ada.terminal.until_closed()
        with board.database.transaction(board.config.bank, board.clock.now()) as desk:
            desk.connection.exec_driver_sql("ALTER TABLE gone RENAME TO shoes")
        assert MENU not in ada.prompt
    logged = "\n".join(everything_logged)
    assert "no such table" in logged
    no_secret_in(logged, "abcd" * 16, repr(b"\xab\xcd" * 16)[2:-1])


async def test_a_server_that_crashes_leaves_no_core(tmp_path: Path) -> None:
    async with served(tmp_path) as board:
        limits = limits_of(board.process.pid)
        (core,) = [line for line in limits.splitlines() if line.startswith("Max core file size")]
        assert core.split()[4] == "0"


def limits_of(process: int) -> str:
    return Path(f"/proc/{process}/limits").read_text(encoding="ascii")
