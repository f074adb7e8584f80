"""Arrivals and departures are announced to callers at the menu and at the tables."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from door.call.arrivals import MAX_LINES, WINDOW_SECONDS
from tests.door.handed_over import comes_in
from tests.door.visiting import MENU, Guest, sysop_toml, visitor
from tests.terminal import MODERN, REFUSING
from tests.world import World, world

TOML = sysop_toml(events="")


async def come(board: World, *names: str) -> list[Guest]:
    return [await visitor(board, name, profile=REFUSING) for name in names]


async def hears(guest: Guest, text: str) -> None:
    await guest.board.pass_time(1)
    await guest.sees(text)


async def test_callers_read_arrivals_and_departures_wherever_they_are(board: World) -> None:
    ada, bob = await visitor(board, "Ada"), await visitor(board, "Bob", profile=REFUSING)
    await hears(ada, "Bob logs on.")
    await bob.sits_down()
    await bob.presses("b").is_asked("Coins to bet")
    (cyd,) = await come(board, "Cyd")
    await hears(ada, "Cyd logs on.")
    await hears(bob, "Cyd logs on.")
    await bob.is_asked("Coins to bet")
    await cyd.logs_off()
    await hears(bob, "Cyd has left.")
    await bob.drops_carrier()
    await hears(ada, "Bob has left.")
    # Callers do not read of themselves.
    assert "Bob logs on." not in bob.terminal.heard


async def test_all_who_read_a_line_keep_the_same_string(board: World) -> None:
    ada, bob = await come(board, "Ada", "Bob")
    await hears(ada, "Bob logs on.")
    await come(board, "Cyd")
    await hears(ada, "Cyd logs on.")
    await hears(bob, "Cyd logs on.")
    views = [each.caller.console.display.view() for each in (ada, bob)]
    one, other = (line for view in views for line in view.messages if "Cyd" in line)
    assert one is other


async def test_arrivals_never_push_out_the_messages_of_an_open_question(board: World) -> None:
    ada = await visitor(board, "Ada")
    await ada.sits_down()
    advice = ("Two cards.", "The book says: stay.", "Hitting costs 0.4 coins.")
    for each in advice:
        ada.caller.console.screen.say(each)
    await come(board, "Bob")
    await board.pass_time(5)
    for each in advice:
        assert each in ada.screen
    assert "Bob" not in ada.screen
    # Another screen has room for the line.
    await ada.presses("q").is_asked(MENU)
    await hears(ada, "Bob logs on.")


async def test_arrivals_do_not_interrupt_typing(board: World) -> None:
    (ada,) = await come(board, "Ada")
    await ada.presses("/p Bob hel").is_asked("/p Bob hel")
    (bob,) = await come(board, "Bob")
    await board.pass_time(5)
    assert "Bob logs on." not in ada.terminal.heard
    await bob.logs_off()
    await board.pass_time(5)
    await ada.presses("\x1b").is_asked(MENU)
    await come(board, "Cyd")
    # Bob's arrival and departure cancel out.
    await hears(ada, "Cyd logs on.")
    assert "Bob logs on." not in ada.terminal.heard
    assert "has left" not in ada.terminal.heard


async def test_two_are_named(board: World) -> None:
    (ada,) = await come(board, "Ada")
    bob, cyd = await come(board, "Bob", "Cyd")
    await hears(ada, "Bob and Cyd log on.")
    await bob.logs_off()
    await cyd.logs_off()
    await hears(ada, "Bob and Cyd have left.")


async def test_a_crowd_is_announced_as_a_number(board: World) -> None:
    (ada,) = await come(board, "Ada")
    await come(board, "Bob", "Cyd", "Dee")
    await hears(ada, "callers log on.")
    names = [f"Caller {number}" for number in range(2 * MAX_LINES)]
    for name in names:
        (last,) = await come(board, name)
        await board.pass_time(1)
    lines = [line for line in ada.terminal.heard.splitlines() if "log on." in line]
    lines += [line for line in ada.terminal.heard.splitlines() if "logs on." in line]
    assert len(lines) == MAX_LINES
    await board.pass_time(WINDOW_SECONDS)
    await last.logs_off()
    await hears(ada, "callers log on.")


async def test_a_caller_who_takes_over_their_own_call_was_never_away(
    board: World,
) -> None:
    ada, bob = await come(board, "Ada", "Bob")
    await hears(ada, "Bob logs on.")
    before = len(ada.terminal.heard)
    again = Guest(board, "Bob")
    await again.calls(REFUSING)
    await again.is_asked("Drop that call")
    await again.presses("y").goes_on_to(MENU)
    await bob.is_sent_off("You've logged on from another connection.")
    await board.pass_time(5)
    assert "Bob" not in ada.terminal.heard[before:]


async def test_a_caller_can_switch_announcements_off(board: World) -> None:
    ada = await visitor(board, "Ada", profile=replace(MODERN, columns=40, rows=22))
    await ada.presses("y").is_asked("<Q>uit")
    assert "<W>ho comes yes" in " ".join(ada.screen.split())
    ada.presses("w")
    await board.at_rest()
    await ada.sees("<W>ho comes        no")
    await ada.presses("q").is_asked("oodbye")
    (dee,) = await come(board, "Dee")
    await board.pass_time(1)
    await come(board, "Bob")
    await hears(dee, "Bob logs on.")
    assert "logs on" not in ada.terminal.transcript
    await ada.presses("yw").sees("<W>ho comes        yes")


async def test_the_sysop_can_do_without(tmp_path: Path) -> None:
    async with world(tmp_path, toml=f"{TOML}\n[company]\ncomings = false\n") as board:
        ada, _ = await come(board, "Ada", "Bob")
        await board.pass_time(5)
        await ada.presses("y").is_asked("<Q>uit")
        assert "logs on" not in ada.terminal.heard
        assert "Who comes" not in ada.terminal.heard


@pytest.mark.parametrize("is_continued", [False, True])
async def test_a_guest_who_changes_servers_was_never_away(board: World, is_continued: bool) -> None:
    (ada,) = await come(board, "Ada")
    moth = await comes_in(board, by_door=True, is_continued=is_continued)
    assert moth.is_back is is_continued
    await board.pass_time(5)
    assert ("Moth@Xibalba logs on." in ada.terminal.heard) is not is_continued
    await board.server.board.close_call(moth, "carrier lost")
