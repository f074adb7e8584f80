"""Letters: notices for absent callers at the log-on, and the hint about answering."""

from __future__ import annotations

from dataclasses import replace

import pytest

from door.lobby.pulse import EVERY_SECONDS
from tests.door.visiting import MENU, Guest, sysop_toml, visitor
from tests.terminal import MODERN, REFUSING, SYNCTERM, Profile
from tests.world import World
from timebank.callers import callers, messages
from timebank.keeping import caller_acts

TOML = sysop_toml(events="")
NARROW = replace(SYNCTERM, columns=40, rows=22)


def writes(board: World, sender: str, reader: str, *texts: str) -> None:
    with board.books() as desk:
        author, to = (callers.find(desk, name) for name in (sender, reader))
        assert author is not None
        assert to is not None
        for text in texts:
            messages.send(desk, author.id, to, text, messages.Limits())


async def away(board: World, name: str, profile: Profile) -> Guest:
    guest = await visitor(board, name, profile=profile)
    guest.presses("gy")  # a narrow screen asks in two rows
    await guest.terminal.until_closed()
    return guest


@pytest.mark.parametrize("profile", [SYNCTERM, MODERN, REFUSING, NARROW])
async def test_a_letter_that_waited_says_how_it_is_answered(board: World, profile: Profile) -> None:
    bob = await away(board, "Bob", profile)
    ada = await visitor(board, "Ada")
    writes(board, "Ada", "Bob", "first", "second")
    await bob.calls(profile)
    await bob.sees("second To answer, type /r and your message.")
    await bob.is_asked("Press any key")
    bob.presses("/r hello\r")
    await ada.sees("Bob: hello")
    await bob.sees("Sent to Ada, who is on.")
    await bob.presses(" ").is_asked(MENU)
    writes(board, "Ada", "Bob", "third")
    board.server.books.notices_wait.set()
    await bob.sees("Ada: third")
    assert "third To answer" not in bob.screen, "they know by now"


async def test_the_hint_names_who_gets_the_answer_among_several_senders(board: World) -> None:
    bob = await away(board, "Bob", MODERN)
    board.enter("Ada")
    board.enter("Cyd")
    writes(board, "Ada", "Bob", "from me")
    writes(board, "Cyd", "Bob", "and me")
    await bob.calls()
    await bob.sees("and me /r and your message answers Cyd, /p name message the others.")


async def test_a_caller_on_line_is_not_among_the_last_callers(board: World) -> None:
    bob = await away(board, "Bob", REFUSING)
    await away(board, "Ada", REFUSING)
    await board.pass_time(EVERY_SECONDS)
    await bob.visits(REFUSING)
    await bob.sees("Last callers: Ada Your game")


async def test_a_muted_caller_reads_so_before_they_type_a_line(board: World) -> None:
    bob = await visitor(board, "Bob")
    with board.books() as desk:
        caller_acts.set_muted(desk, bob.caller.record.id, True, "the test")
    await bob.presses("mo").sees("The sysop has muted you: nobody sees what you say.")
    await bob.is_asked("Press any key")
    assert "Your line:" not in bob.screen


async def test_a_letter_that_comes_while_news_are_read_is_shown_before_the_menu(
    board: World,
) -> None:
    bob = await away(board, "Bob", SYNCTERM)
    board.enter("Ada")
    writes(board, "Ada", "Bob", "first")
    await bob.calls(SYNCTERM)
    await bob.is_asked("Press any key")
    writes(board, "Ada", "Bob", "second")
    bob.presses(" ")
    await bob.sees("Ada: second")
    await bob.is_asked("Press any key")
    await bob.presses(" ").is_asked(MENU)
