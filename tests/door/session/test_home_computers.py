"""A Commodore and an Atari call: known by Delete, by their port or by their terminal's type."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from ansi.charset import Charset
from ansi.home_computer import COMPUTERS
from door.call.screen import Look, Paint
from door.lines.line import Hints
from door.lobby.looks import guess, look_by_host
from door.run.relay import CHARSETS
from tests.terminal import (
    ATARI,
    COMMODORE,
    ECHO,
    IAC,
    MODERN,
    NAWS,
    SGA,
    SYNCTERM,
    TTYPE,
    WILL,
    Profile,
    Terminal,
)
from tests.world import BOARD, World, log_on, newcomer, world
from timebank.errors import NameRefused
from timebank.names.names import check, fold, skeleton

OWN = BOARD + '[[listeners]]\nhost = "127.0.0.1"\nport = 0\ncharset = "{charset}"\n'
# Behind a modem that answers telnet, and refuses what it is asked.
BEHIND_A_MODEM = replace(COMMODORE, answers=True)
PORTS = {"petscii": COMMODORE, "atascii": ATARI}
OFFER = "COMMODORE OR ATARI? PRESS DELETE."
LOOKS = {
    "petscii": {"charset": "petscii", "paint": "colour"},
    "atascii": {"charset": "atascii", "paint": "colour"},
}


@pytest.fixture(params=PORTS)
async def own(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[tuple[World, str]]:
    async with world(tmp_path, toml=OWN.format(charset=request.param)) as board:
        yield board, request.param


async def calls_own_port(board: World, profile: Profile) -> Terminal:
    terminal = Terminal(profile)
    await terminal.connect(board.server.ports[1])
    board.terminals.append(terminal)
    return terminal


async def plays_a_hand(terminal: Terminal) -> int:
    """Play a hand from the main menu; return its bytes, from the bet to the result."""
    await terminal.send("b").until("et (Enter)")
    await terminal.send("\r").until("Coins, 1 to")
    before = len(terminal.wire)
    await terminal.send("\r").until("tand")
    await terminal.send("s").until("airness")
    return len(terminal.wire) - before


async def test_a_caller_of_their_own_port_plays_a_hand(own: tuple[World, str]) -> None:
    board, charset = own
    terminal = await calls_own_port(board, PORTS[charset])
    await terminal.until("Name:")
    assert bytes((IAC,)) not in terminal.wire
    assert ("88oo8" in terminal.picture) == (charset == "atascii")  # the others see it in colours
    await terminal.send("new\r").until("The name you want:")
    await terminal.send("Ada\r").until("A password")
    await terminal.send("open sesame\r").until("Once more:")
    await terminal.send("open sesame\r").until("It is valid as soon")
    await terminal.send(" ").until("Your choice (Enter for 1)?")
    await terminal.send("\r").until("Take a one-minute")
    await terminal.send("n").until("oodbye")
    assert terminal.home is not None
    scrolled = terminal.home.scrolled
    assert await plays_a_hand(terminal) < 1300
    assert terminal.home.scrolled == scrolled
    assert not terminal.home.joined
    assert terminal.row(0).startswith(" Black Jack For Time")
    assert "Time" in terminal.row(-1)


async def test_delete_tells_a_commodore(board: World) -> None:
    terminal = await board.call(BEHIND_A_MODEM)
    await terminal.until(OFFER)  # it shows small letters as shapes still
    await terminal.send(b"NEW\x14").until("Name:")  # on second thoughts
    assert not terminal.shows(OFFER)
    await terminal.send("new\r").until("Press ← at any time to go")
    await terminal.send("\x1b").until("Name:")  # the left arrow


async def test_the_greeting_is_painted_once_after_delete(board: World) -> None:
    terminal = await board.call(BEHIND_A_MODEM)
    await terminal.until(OFFER)
    before = len(terminal.received)
    await terminal.send(b"\x14").until("Name:")
    await board.at_rest()
    await terminal.send("a").until("Name: a")
    assert terminal.shows("The Test Board")
    assert terminal.received.count(b"\x93", before) == 1


@pytest.mark.parametrize("answers", [(), (b"A DECK\r",), (b"A DECK\r", b"ADA\r")])
async def test_delete_later_in_the_log_on_starts_over(
    tmp_path: Path, answers: tuple[bytes, ...]
) -> None:
    asked = '[callers]\nquestion = "What has 52 cards?"\nanswers = ["A deck"]\n'
    prompts = (b"Your answer:", b"The name you want:", b"A password")
    async with world(tmp_path, toml=BOARD + asked) as board:
        terminal = await board.call(BEHIND_A_MODEM)
        await terminal.until(OFFER)
        for typed, prompt in zip((b"NEW\r", *answers), prompts, strict=False):
            terminal.send(typed)
            await terminal.wait_for(lambda here, last=prompt: last in here.received, repr(prompt))
        await terminal.send(b"AD\x14").until("Name:")
        assert terminal.shows("The Test Board")
        await terminal.send("new\r").until("Your answer:")
        await terminal.send("a deck\r").until("The name you want:")
        await terminal.send("Ada\r").until("A password")


async def test_delete_at_the_password_starts_over(board: World) -> None:
    board.enter("Ada", looks=LOOKS)
    terminal = await board.call(BEHIND_A_MODEM)
    await terminal.until(OFFER)
    terminal.send(b"ADA\r")
    await terminal.wait_for(lambda here: b"Password:" in here.received, "the password")
    await terminal.send(b"\x14").until("Name:")
    await log_on(terminal, "Ada")
    await terminal.until("Press any key")


@pytest.mark.parametrize("typed", [b"", b"new", b"new\x9b"])
async def test_delete_tells_an_atari(board: World, typed: bytes) -> None:
    terminal = await board.call(BEHIND_A_MODEM)
    await terminal.until(OFFER)
    before = len(terminal.received)
    terminal.send(typed + b"~")
    await terminal.wait_for(lambda here: b"\x7d" in here.received[before:], "a cleared screen")


async def test_delete_is_no_question_where_the_terminal_is_known(board: World) -> None:
    terminal = await board.call(MODERN)
    await terminal.until("Name:")
    assert "COMMODORE" not in terminal.picture


async def test_syncterm_as_a_commodore_is_known_by_its_type(board: World) -> None:
    profile = replace(SYNCTERM, charset="petscii", terminal_types=("PETSCII",), columns=40, rows=25)
    terminal = await board.call(profile)
    await terminal.until("Name:")
    assert terminal.received.startswith(b"\x0e\x93")


async def test_telnet_is_answered_once_it_is_spoken(own: tuple[World, str]) -> None:
    """SyncTERM speaks telnet on such a port, and says its size."""
    board, charset = own
    speaks = frozenset({SGA, TTYPE, NAWS})
    profile = replace(
        PORTS[charset], answers=True, opening=bytes((IAC, WILL, SGA)), performs=speaks
    )
    terminal = await calls_own_port(board, replace(profile, accepts=frozenset({ECHO, SGA})))
    await terminal.until("Name:")
    await terminal.wait_for(lambda here: bytes((IAC, 253, NAWS)) in here.wire, "telnet's requests")


async def test_a_size_that_comes_late_leaves_the_question(own: tuple[World, str]) -> None:
    board, charset = own
    terminal = await calls_own_port(board, replace(PORTS[charset], answers=True))
    await terminal.until("Name:")
    before = len(terminal.wire)
    size = bytes((IAC, 250, NAWS, 0, 40, 0, 23, IAC, 240))
    terminal.send(size)
    await terminal.send("xyz").until("xyz")
    assert terminal.shows("Name: xyz")
    assert terminal.shows("Your name, or NEW")
    assert len(terminal.wire) - before < 400


async def ada_at_the_menu(board: World) -> Terminal:
    board.enter("Ada", looks=LOOKS)
    terminal = await calls_own_port(board, COMMODORE)
    await log_on(terminal, "Ada")
    await terminal.until("Press any key")
    await terminal.send(" ").until("oodbye")
    return terminal


async def test_a_flood_ends_one_call_and_noise_none(own: tuple[World, str]) -> None:
    board, charset = own
    flooding = await calls_own_port(board, replace(PORTS[charset], answers=True))
    await flooding.until("Name:")
    await flooding.send(bytes((IAC, 253, 99)) * 3_000).until_closed()
    noisy = await calls_own_port(board, PORTS[charset])
    await noisy.until("Name:")
    for code in range(0xFE):
        noisy.send(bytes((code,)))
    await noisy.send("\r").until("here. Type this again without it.")
    assert not noisy.closed


@pytest.mark.parametrize("charset", COMPUTERS)
def test_no_letter_makes_a_name_that_another_caller_seems_to_have(charset: Charset) -> None:
    """A letter that the set lacks is shown as a similar one."""
    look_alike = {}
    for letter in map(chr, range(0xC0, 0x250)):
        with contextlib.suppress(NameRefused):
            shown = Look(Charset.ASCII, Paint.COLOUR).encode(check(f"x{letter}")).decode()[1:]
            if COMPUTERS[charset].glyph(letter) == COMPUTERS[charset].glyph(shown) and shown != "?":
                look_alike[f"Ba{letter}er"] = f"Ba{shown}er"
    assert len(look_alike) > 200
    for one, other in look_alike.items():
        assert fold(one) == fold(other) or skeleton(one) == skeleton(other), one


@pytest.mark.parametrize("charset", LOOKS)
async def test_a_refused_call_reads_why_in_its_own_letters(tmp_path: Path, charset: str) -> None:
    limit = "[defence]\nallow = []\ncalls_per_address = 1\n"
    async with world(tmp_path, toml=OWN.format(charset=charset) + limit) as board:
        first = await calls_own_port(board, PORTS[charset])
        await first.until("Name:")
        refused = await calls_own_port(board, PORTS[charset])
        await refused.until_closed()
        assert " ".join(refused.picture.split()).startswith("Too many calls from your address.")


async def test_a_password_is_the_same_from_a_commodore_and_from_a_pc(tmp_path: Path) -> None:
    async with world(tmp_path, toml=OWN.format(charset="petscii")) as board:
        terminal = await calls_own_port(board, COMMODORE)
        await terminal.until("Name:")
        await terminal.send("new\r").until("The name you want:")
        await terminal.send("Ada\r").until("A password")
        await terminal.send(b"\xcfPEN \xd3ESAME 1\r").until("Once more:")
        await terminal.send(b"oPEN sESAME 1\x8d").until("It is valid as soon")
        await terminal.close()
        await board.at_rest()
        at_a_pc = await board.call(MODERN)
        await at_a_pc.until("Name:")
        await at_a_pc.send("Ada\r").until("Password:")
        await at_a_pc.send("Open Sesame 1\r").until("Your choice (Enter for 2)?")


async def test_a_flood_of_deletes_only_chooses_the_set(board: World) -> None:
    terminal = await board.call(BEHIND_A_MODEM)
    await terminal.until(OFFER)
    await terminal.send(b"\x14~" * 500).until("Name:")
    assert not terminal.shows(OFFER)
    await terminal.send(b"\x14" * 40 + b"NEW\r").until("Press ← at any time to go")


@pytest.mark.parametrize("charset", LOOKS)
def test_a_host_may_name_the_set(charset: str) -> None:
    assert charset in CHARSETS
    look = look_by_host("ansi", charset)
    assert look == Look(Charset(charset), Paint.COLOUR)
    assert guess(Hints((f"ansi/{charset}",), charset=charset)) == look


async def test_the_look_is_remembered_and_can_be_the_other_set(tmp_path: Path) -> None:
    async with world(tmp_path, toml=OWN.format(charset="petscii")) as board:
        terminal = await ada_at_the_menu(board)
        await terminal.send("y").until("PETSCII")
        await terminal.send("s").until("Your choice")
        await terminal.send("2").until("PETSCII-SUITS")
        assert terminal.row(0).strip() == "YOUR SETTINGS"
        await terminal.send("q").until("OODBYE")


async def test_a_still_clock_sends_nothing_by_itself(tmp_path: Path) -> None:
    async with world(tmp_path, toml=OWN.format(charset="petscii")) as board:
        terminal = await ada_at_the_menu(board)
        await terminal.send("y").until("nimation")
        before = len(terminal.wire)
        await board.pass_time(2)
        assert len(terminal.wire) > before
        await terminal.send("a").until("still clock")
        await board.pass_time(1)
        before = len(terminal.wire)
        await board.pass_time(3)
        assert len(terminal.wire) == before
        await terminal.send("q").until("Time 59:5")


async def test_delete_ends_the_game_of_1971_as_its_page_says(tmp_path: Path) -> None:
    async with world(tmp_path, toml=OWN.format(charset="petscii")) as board:
        terminal = await ada_at_the_menu(board)
        await terminal.send("u").until("DEL or Ctrl-C ends the game")
        await terminal.send("p").until(" up")
        await board.at_rest()
        await terminal.send(b"Y\x08\x14").until("Press any key")


async def test_french_keeps_the_arrow_and_drops_the_accents(board: World) -> None:
    terminal = await board.call(BEHIND_A_MODEM)
    await terminal.until(OFFER)
    await terminal.send(b"\x14").until("Name:")
    await terminal.send("*").until("Votre nom")
    assert terminal.shows("0/16 lignes occupees, 60 min/jour")
    await terminal.send("nouveau\r").until("Appuyez sur ←")


async def test_a_french_caller_reads_all_of_the_welcome(own: tuple[World, str]) -> None:
    board, charset = own
    terminal = await calls_own_port(board, PORTS[charset])
    await terminal.until("Name:")
    await terminal.send("*").until("Votre nom")
    await terminal.send("nouveau\r").until("Le nom voulu")
    await terminal.send("Ada\r").until("Un mot de passe")
    await terminal.send("open sesame\r").until("Encore une fois")
    await terminal.send("open sesame\r").until("que vous continuez")
    await terminal.send(" ").until("Votre choix")
    await terminal.send("\r").until("Temps 1:00:00")
    welcome = " ".join(terminal.picture.split())
    assert "Les minutes du jour ni utilisees ni deposees expirent a minuit. Trois" in welcome


async def test_others_are_offered_the_usual_looks(board: World) -> None:
    terminal = await newcomer(board, "Ada")
    await terminal.send("y").until("Your settings")
    await terminal.send("s").until("CP437 (SyncTERM")
