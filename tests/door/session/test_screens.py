"""Output to each kind of terminal, and input that is no key."""

from collections.abc import Mapping
from dataclasses import replace

import pyte
import pytest

from tests.door.visiting import MENU, TABLE, Guest, known, seated
from tests.terminal import MODERN, REFUSING, SILENT, SYNCTERM, Profile, Terminal
from tests.world import LOOKS, World, register

XTERM = "xterm-256color"
LINES = {XTERM: {"charset": "ascii", "paint": "lines"}}


async def evening(board: World, guest: Guest) -> None:
    """Visit every screen: callers, bank, settings, rules, two hands, goodbye."""
    await guest.presses("w").reads_that("Who is on")
    await guest.is_asked(MENU)
    await guest.goes_to_the_bank()
    await guest.presses("q").is_asked(MENU)
    await guest.presses("y").is_asked("<Q>uit")
    await guest.presses("q").is_asked(MENU)
    await guest.sits_down()
    await guest.presses("r").sees("The rules of Black Jack For Time")
    await guest.presses("q").is_asked(TABLE)
    await guest.bets(10, "no-insurance", "hit", "stay", ends="lose", asked="<N>o")
    await guest.presses("n").is_asked("<H>it")
    await guest.presses("h").is_asked("<H>it")
    await guest.stays()
    await guest.bets(10, "double", ends="win")
    await guest.presses("d").is_asked(TABLE)
    await board.pass_time(2)
    await guest.presses("q").is_asked(MENU)
    await guest.logs_off()


async def at_a_hand(board: World, profile: Profile) -> Guest:
    """Deal a caller a hand that would win."""
    ada = known(board, "Ada")
    await ada.visits(profile)
    await ada.sits_down()
    await ada.bets(5, "stay", ends="win")
    return ada


# Output.


class Ruler(pyte.Screen):
    """A screen that notes how far to the right anything was ever drawn."""

    rightmost = 0

    def draw(self, data: str) -> None:
        self.rightmost = max(self.rightmost, self.cursor.x + len(data))
        super().draw(data)


def rightmost_column(terminal: Terminal) -> int:
    """Return the last column, counted from 1, that was ever drawn."""
    ruler = Ruler(terminal.screen.columns, terminal.screen.lines)
    suits = dict.fromkeys((3, 4, 5, 6), "#")  # CP437 draws them, pyte would not
    pyte.Stream(ruler).feed(terminal.transcript.translate(suits))
    return ruler.rightmost


@pytest.mark.parametrize(
    ("profile", "looks"),
    [
        pytest.param(SYNCTERM, LOOKS, id="cp437"),
        pytest.param(MODERN, LOOKS, id="utf-8"),
        pytest.param(MODERN, LINES, id="lines"),
        pytest.param(replace(MODERN, columns=60, rows=20), LOOKS, id="small"),
    ],
)
async def test_an_evening_never_reaches_the_last_column(
    board: World, profile: Profile, looks: Mapping[str, object]
) -> None:
    ada = known(board, "Ada", looks=looks)
    await ada.visits(profile)
    await evening(board, ada)
    assert 30 < rightmost_column(ada.terminal) < profile.columns


@pytest.mark.parametrize("profile", [SILENT, REFUSING], ids=["silent", "refusing"])
async def test_plain_lines_never_send_an_escape(board: World, profile: Profile) -> None:
    ada = Guest(board, "Ada")
    await ada.dials(profile)
    await register(ada.terminal, "Ada")
    await evening(board, ada)
    assert b"Your pot: 60 coins" in ada.terminal.received
    assert b"\x1b" not in ada.terminal.received
    shown = ada.terminal.transcript.partition("Your choice")[2]
    assert shown.isascii()


async def test_a_second_that_ticks_costs_a_few_bytes(board: World) -> None:
    ada = await at_a_hand(board, MODERN)
    await board.pass_time(1)
    await ada.sees_time_left(54 * 60 + 59)
    before = len(ada.terminal.received)
    for second in range(58, 48, -1):
        await board.pass_time(1)
        await ada.sees_time_left(54 * 60 + second)
    assert (len(ada.terminal.received) - before) / 10 < 50


# Windows that change.


async def test_a_larger_window_is_filled_in_the_middle_of_a_hand(board: World) -> None:
    ada = await at_a_hand(board, MODERN)
    stood = [row[:9] for row in ada.terminal.lines if "│" in row]
    ada.terminal.resize(120, 40)
    await ada.terminal.wait_for(lambda terminal: "Node 1" in terminal.row(39), "the status row")
    # The cards are the same, and larger.
    assert "┌─────────┐" in ada.screen
    ranks = [row[2:5].strip() for row in stood if row[2:3].isalnum() and row[1] == "│"]
    assert all(f"│{rank}" in ada.screen for rank in ranks)
    assert "<H>it" in ada.prompt
    await ada.presses("s").is_asked(TABLE)
    await ada.sees("You win ")


async def test_a_window_may_become_too_small_to_paint_and_large_again(board: World) -> None:
    ada = await at_a_hand(board, MODERN)
    stood = ada.terminal.picture
    ada.terminal.resize(60, 20)
    await ada.sees("Black Jack For Time - Turns today: 1 of 20")
    await ada.is_asked("<D>ouble  <H>it  <S>tand")
    assert "Node 1" not in ada.screen
    assert "Your hand" not in ada.screen
    ada.terminal.resize(80, 24)
    await ada.sees("Node 1")
    await ada.is_asked("<D>ouble  <H>it  <S>tand")
    assert [row for row in stood.split("\n") if "│" in row] == [
        row for row in ada.terminal.picture.split("\n") if "│" in row
    ]
    ada.terminal.resize(60, 20)
    await ada.sees("Black Jack For Time - Turns today: 1 of 20")
    await ada.presses("s").sees("You win 5 coins")


async def test_typed_text_survives_a_change_of_size(board: World) -> None:
    ada = await seated(board, "Ada")
    await ada.presses("b").is_asked("Coins to bet")
    await ada.presses("1").is_asked("(Enter for 1): 1")
    ada.terminal.resize(100, 30)
    await ada.sees("Node 1")
    await ada.is_asked("(Enter for 1): 1")
    ada.terminal.resize(60, 20)
    await ada.sees("A coin is 1 minute of your time.")
    await ada.is_asked("(Enter for 1): 1")
    ada.presses("\x7f7\r")
    await ada.terminal.wait_for(lambda _: ada.has["stake"] == 7 * 60, "seven coins at stake")


async def test_a_log_on_follows_the_width_of_the_window(board: World) -> None:
    ada = known(board, "Ada")
    await ada.dials()
    ada.terminal.resize(40, 20)
    await ada.presses("Ada\rwrong\r").sees("Wrong name or password")
    wrong = next(row for row in ada.terminal.lines if "Wrong name" in row)
    assert wrong.strip() == "Wrong name or password."
