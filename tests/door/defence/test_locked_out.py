"""Attacks on a name or from a shared address never make a right password fail."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest

from door.defence.counts import MANY
from tests.door.strangers import CAFE, HOME, VILLAIN, Stranger, defended, refusals
from tests.door.visiting import MENU
from tests.terminal import PATIENCE, READER, REFUSING, Profile
from tests.world import PASSWORD, World, world
from timebank.callers import callers, recovery
from timebank.errors import BooksUnavailable
from timebank.keeping import deletion

OTHER = "127.0.0.67"
WAITING = "each try is checked in turn"


class Attacker(Stranger):
    """A caller who keeps guessing."""

    async def hammers(self, times: int) -> None:
        """Give wrong passwords, and call again when no more tries are allowed."""
        for _ in range(times):
            await self.connects()
            await self.terminal.wait_for(
                lambda t: t.closed or "Name:" in t.transcript, "a line or a refusal"
            )
            if not self.terminal.closed:
                await self.tries("guessed")
                await self.terminal.wait_for(
                    lambda t: t.closed or "Wrong name or" in t.transcript or self.is_in_the_queue,
                    "an answer",
                )
            await self.terminal.close()

    @property
    def is_in_the_queue(self) -> bool:
        return WAITING in " ".join(self.terminal.transcript.split())


async def waits_no_longer_than(caller: Attacker, seconds: int) -> None:
    """Give the right password and be let in within this many seconds of the clock."""
    await caller.connects()
    await caller.tries(PASSWORD)
    await caller.terminal.wait_for(
        lambda t: (
            t.closed
            or caller.is_in_the_queue
            or MENU in caller.prompt
            or "any key" in caller.prompt
        ),
        "an answer",
    )
    await caller.board.pass_time(seconds)
    await caller.goes_on_to(MENU)


async def test_guesses_from_a_shared_address_do_not_lock_out_its_residents(
    tmp_path: Path,
) -> None:
    """Seen live: seven residents waited for ever."""
    async with world(tmp_path, toml=defended(wrong_passwords=5)) as board:
        board.enter("Ada")
        ada = Attacker(board, "Ada", HOME)
        await ada.is_let_in()
        await ada.logs_off()
        await Attacker(board, "Ada", HOME).hammers(7)
        await waits_no_longer_than(ada, 30 * 60)
        lines = [line for line in refusals(board) if line.startswith("refused")]
        assert lines == [f"refused {HOME}: wrong name or password"] * 5


async def test_a_waiting_caller_reads_how_long_and_the_log_says_why(
    tmp_path: Path,
) -> None:
    async with world(tmp_path, toml=defended(wrong_passwords=1)) as board:
        board.enter("Ada")
        await Attacker(board, "Ada", CAFE).is_wrong(1)  # a mistake of her own, from there
        ada = Attacker(board, "Ada", CAFE)
        await ada.connects()
        await ada.tries(PASSWORD)
        await ada.waits("30:00")
        for seconds, left in ((60, "29:00"), (29 * 60 - 10, "0:10"), (7, "0:03")):
            await board.clock.advance(seconds)
            await ada.waits(left)
        await board.clock.advance(3)
        await ada.goes_on_to(MENU)
        assert refusals(board) == [
            f"refused {CAFE}: wrong name or password",
            f"delayed {CAFE}: wrong passwords for that name or from this address",
        ]


async def test_the_log_on_time_limit_pauses_during_a_wait(tmp_path: Path) -> None:
    async with world(tmp_path, toml=defended(wrong_passwords=1)) as board:
        board.enter("Ada")
        await Attacker(board, "Ada", CAFE).is_wrong(1)
        ada = Attacker(board, "Ada", CAFE)
        await ada.connects()
        await ada.is_asked("Name:")
        await board.clock.advance(170)
        ada.presses(f"Ada\r{PASSWORD}\r")
        await ada.waits("27:10")
        await board.clock.advance(25 * 60)
        await ada.presses("\x1b").is_asked("Name:")
        assert not ada.terminal.closed
        await board.clock.advance(10)
        await ada.is_told("Logging on took too long.")


async def test_a_caller_who_hangs_up_in_the_queue_makes_room(tmp_path: Path) -> None:
    async with world(tmp_path, toml=defended(wrong_passwords=1)) as board:
        board.enter("Ada")
        await Attacker(board, "Ada", CAFE).is_wrong(1)
        gone, ada = Attacker(board, "Ada", CAFE), Attacker(board, "Ada", CAFE)
        for caller, wait in ((gone, "30:00"), (ada, "1:00:00")):
            await caller.connects()
            await caller.tries(PASSWORD)
            await caller.waits(wait)
        gone.terminal.abort()
        async with asyncio.timeout(PATIENCE):
            while len(board.server.board.consoles) > 1:
                await board.settled()
        await board.clock.advance(5)
        await ada.waits("29:55")


async def test_a_closing_board_does_not_wait_for_the_queue(tmp_path: Path) -> None:
    async with world(tmp_path, toml=defended(wrong_passwords=1)) as board:
        await Attacker(board, "Ada", CAFE).is_wrong(1)
        ada = Attacker(board, "Ada", CAFE)
        await ada.connects()
        await ada.tries(PASSWORD)
        await ada.waits("30:00")
        await board.server.stop("The board is closing.")
        await ada.is_told("The board is closing.")


async def test_a_caller_forgiven_while_waiting_is_let_in(tmp_path: Path) -> None:
    async with world(tmp_path, toml=defended(wrong_passwords=1)) as board:
        board.enter("Ada")
        await Attacker(board, "Ada", CAFE).is_wrong(1)
        ada = Attacker(board, "Ada", CAFE)
        await ada.connects()
        await ada.tries(PASSWORD)
        await ada.waits("30:00")
        for who in ("Ada", CAFE):
            assert board.server.board.reception.forgive(who)
        await ada.goes_on_to(MENU)


async def test_books_that_cannot_be_read_count_as_nobodys_mistake(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unavailable(*_: object) -> None:
        raise BooksUnavailable("The books can't be written right now.")

    async with world(tmp_path, toml=defended(wrong_passwords=1)) as board:
        board.enter("Ada")
        ada = Attacker(board, "Ada", CAFE)
        with monkeypatch.context() as meanwhile:
            meanwhile.setattr(callers, "find", unavailable)
            for _ in range(2):
                await ada.connects()
                await ada.tries(PASSWORD)
                await ada.is_told("The board's books can't be opened just now.")
        await ada.is_let_in()


# A recovery code


async def registers(board: World, name: str, address: str) -> str:
    """Log on as a new caller from there, and return the code that is shown."""
    caller = Attacker(board, name, address)
    await caller.connects()
    await caller.is_asked("Name:")
    caller.presses(f"new\r{name}\r{PASSWORD}\r{PASSWORD}\r")
    await caller.is_asked("It is valid as soon as you go on")
    code = code_on(caller)
    await caller.presses(" ").is_asked("Your choice")
    await caller.presses("\r").goes_on_to("Take a one-minute tour?")
    await caller.presses("n").is_asked(MENU)
    await caller.logs_off()
    return code


def code_on(caller: Stranger) -> str:
    return code_in(caller.terminal.transcript)


def code_in(transcript: str) -> str:
    (*_, code) = re.findall(r"(?:[0-9A-Z]{5}-){4}[0-9A-Z]{5}", transcript)
    return code


async def besieged(board: World, name: str) -> None:
    """Attack a name, with `wrong_passwords = 1`, so that all strangers have to wait for it."""
    for number in range(MANY):
        villain = Attacker(board, name, f"127.0.9.{number}")
        await villain.connects()
        await villain.tries("guessed")
        await villain.terminal.until_heard("Wrong name or")


async def test_a_recovery_code_lets_its_owner_in_at_once_and_only_once(tmp_path: Path) -> None:
    async with world(tmp_path, toml=defended(wrong_passwords=1)) as board:
        code = await registers(board, "Ada", HOME)
        await besieged(board, "Ada")
        ada = Attacker(board, "Ada", CAFE)
        await ada.connects()
        await ada.tries(code.lower().replace("-", " "))
        await ada.sees("That's your recovery code.")
        await ada.is_asked("Choose a new password?")
        await ada.presses("n").is_asked("It is valid as soon as you go on")
        another = code_on(ada)
        assert another != code
        await ada.presses(" ").goes_on_to(MENU)
        await ada.logs_off()
        thief = Attacker(board, "Ada", VILLAIN)
        await thief.connects()
        await thief.tries(code)
        await thief.sees("yours is in the queue")
        await thief.presses("r").is_asked("Recovery code:")
        await thief.presses(f"{code}\r").sees("Wrong name or code.")
        await thief.presses("r").is_asked("Recovery code:")
        await thief.presses(f"{another}\r").sees("That's your recovery code")
        assert f"refused {VILLAIN}: wrong recovery code" in refusals(board)


async def test_only_a_caller_who_knows_the_password_can_make_a_code(tmp_path: Path) -> None:
    async with world(tmp_path, toml=defended(wrong_passwords=1)) as board:
        board.enter("Ada")
        ada = Attacker(board, "Ada", HOME)
        await ada.is_let_in()
        await ada.presses("y").sees("none: type R to make one")
        await ada.presses("rguessed\r").reads_that("Wrong password.")
        await ada.presses("r").reads_that("Too many wrong passwords.")
        assert board.server.board.reception.forgive("Ada")
        await ada.presses(f"r{PASSWORD}\r").is_asked("It is valid as soon as you go on")
        code = code_on(ada)
        await ada.presses(" ").sees("made, not used yet")
        ada.presses("q")
        await ada.logs_off()
        await besieged(board, "Ada")
        await ada.connects()
        await ada.tries(code)
        await ada.is_asked("Choose a new password?")


async def test_a_locked_caller_keeps_the_code_and_is_not_let_in(tmp_path: Path) -> None:
    async with world(tmp_path, toml=defended()) as board:
        code = await registers(board, "Ada", HOME)
        for locked in (True, False):
            with board.books() as desk:
                callers.set_locked(desk, callers.number_named(desk, "Ada"), locked)
            ada = Attacker(board, "Ada", CAFE)
            await ada.connects()
            await ada.tries(code)
            if locked:
                await ada.is_told("The sysop has locked your name.")
            else:
                await ada.is_asked("Choose a new password?")


async def test_the_books_hold_no_code_and_a_deleted_caller_has_none(tmp_path: Path) -> None:
    async with world(tmp_path, toml=defended()) as board:
        code = await registers(board, "Ada", HOME)
        with board.books() as desk:
            number = callers.number_named(desk, "Ada")
            assert recovery.has_one(desk, number)
            deletion.delete(desk, number)
            deletion.remove(desk, number)
            assert not recovery.has_one(desk, number)
        content = b"".join(path.read_bytes() for path in (tmp_path / "data").glob("board.sqlite3*"))
        assert content
        for form in (code, code.replace("-", "")):
            assert form.encode() not in content
            assert form not in (tmp_path / "data" / "refused.log").read_text(encoding="ascii")


@pytest.mark.parametrize("profile", [READER, REFUSING], ids=["MTTS", "lines"])
async def test_a_line_client_reads_how_long_it_waits_and_gives_its_code(
    tmp_path: Path, profile: Profile
) -> None:
    """The countdown was left out like an echo, R with Enter was no R, and Esc was to go back."""
    async with world(tmp_path, toml=defended(wrong_passwords=1)) as board:
        board.enter("Ada")
        ada = Attacker(board, "Ada", VILLAIN)
        await ada.is_wrong(1)
        ada.terminal = await board.call(profile, VILLAIN)
        await ada.terminal.until_heard("Name:")
        for words, asked in (
            ("Ada", "Password:"),
            (PASSWORD, "checked in about 30:00"),
            ("r", "Recovery code:"),
            ("", "checked in about 30:00"),
            ("hello", "checked in about 30:00"),
            ("recovery code", "Recovery code:"),
            ("", "checked in about 30:00"),
            ("quit", "Name:"),
        ):
            await ada.presses(f"{words}\r\n").terminal.until_heard(asked)
        heard = " ".join(ada.terminal.transcript.split())
        assert "Type R to log on at once with your recovery code, or quit to go back." in heard
        assert "Esc" not in heard
