"""Callers write to each other from any prompt: delivered at once on line, otherwise at log-on."""

from __future__ import annotations

import pytest

from door.call.spoken import MAX_LINES, WINDOW_SECONDS
from door.lobby.pulse import EVERY_SECONDS
from tests.door.visiting import MENU, MINUTE, TABLE, Guest, seated, sysop_toml, visitor
from tests.terminal import REFUSING, SYNCTERM
from tests.world import World
from timebank.callers import callers, messages
from timebank.errors import Unchanged
from timebank.keeping import caller_acts

TOML = sysop_toml(events="")
FIELD = "Say (/p name message):"


async def pages(guest: Guest, line: str, *, back_to: str) -> None:
    """Type a slash and a line, and expect the same prompt again."""
    await guest.presses(f"/{line}\r").is_asked(back_to)


async def test_callers_talk_from_any_prompt(board: World) -> None:
    ada = await visitor(board, "Ada")
    bob = await visitor(board, "Bob", profile=REFUSING)
    await ada.sits_down()
    await ada.presses("b").is_asked("Coins to bet")
    # In the middle of a question, by the beginning of a name; nothing of it is a pipe code.
    await pages(ada, "p bo |12hi \x07there", back_to="Coins to bet")
    await ada.sees("Sent to Bob, who is on.")
    await bob.sees("Ada: |12hi there To answer, type /r and your message.")
    await bob.is_asked(MENU)
    await pages(bob, "r hello yourself", back_to=MENU)
    await ada.sees("Bob: hello yourself")
    await ada.is_asked("Coins to bet")
    await pages(ada, "w", back_to="Coins to bet")
    await ada.sees("On now: Ada, Bob")


@pytest.mark.parametrize("before", ["somebody had written", "nobody had written"])
async def test_an_answer_does_not_go_to_a_sender_who_wrote_while_it_was_typed(
    board: World, before: str
) -> None:
    bob = await visitor(board, "Bob", profile=REFUSING)
    if before == "somebody had written":
        ada = await visitor(board, "Ada")
        await pages(ada, "p Bob hi there", back_to=MENU)
        await bob.sees("Ada: hi there")
    await bob.presses("/r for your eyes").is_asked(f"{FIELD} /r for your eyes")
    board.enter("Cyd")
    with board.books() as desk:
        cyd, to = (callers.find(desk, name) for name in ("Cyd", "Bob"))
        assert cyd is not None
        assert to is not None
        messages.send(desk, cyd.id, to, "me too", messages.Limits())
    board.server.books.notices_wait.set()
    await bob.sees("Cyd: me too")
    await bob.presses("\r").sees("Cyd has written meanwhile.")
    await bob.is_asked(f"{FIELD} /r for your eyes")
    await bob.presses("\x1b").is_asked(MENU)


async def test_messages_take_the_beginning_of_a_name_and_help_says_how_to_talk(
    board: World,
) -> None:
    await visitor(board, "Ada")
    bob = await visitor(board, "Bob", profile=REFUSING)
    # The beginning of the name of a caller on line is enough.
    await bob.presses("mw").is_asked("Write to:")
    await bob.presses("ad\r").is_asked("To Ada:")
    await bob.presses("\r").is_asked("<I>gnore")
    await bob.presses("wx\r").sees("There is no caller of that name.")
    await bob.is_asked("Write to:")
    await bob.presses("da\r").sees("There is no caller of that name. Do you mean Ada?")
    await bob.is_asked("Write to:")
    await bob.presses("\x1b").is_asked("<I>gnore")
    await bob.presses("q").is_asked(MENU)
    # Help and the refusal of an unknown command list the slash commands.
    await bob.presses("?").is_asked("<N>ext")
    await bob.presses(">").is_asked("<P>revious")
    assert "/ /p name message writes to a caller, /r message" in " ".join(bob.screen.split())
    await bob.presses("q").is_asked(MENU)
    await bob.presses("/x\r").sees("/w to see who is on, /o to send watchers away.")
    await bob.presses("\x1b").is_asked(MENU)


async def test_refused_text_stays_in_the_field(board: World) -> None:
    ada = await visitor(board, "Ada")
    bob = await visitor(board, "Bob", profile=REFUSING)
    await ada.presses("/p Nobody hello\r").sees("There is no caller of that name.")
    await ada.is_asked(f"{FIELD} /p Nobody hello")
    await ada.presses("\x1b").is_asked(MENU)
    await ada.presses("/p ob hello\r").sees("There is no caller of that name. Do you mean Bob?")
    await ada.presses("\x1b").is_asked(MENU)
    # That was a line too. After this many the rate is limited; it can be sent again.
    for number in range(MAX_LINES - 2):
        await pages(ada, f"p Bob line {number}", back_to=MENU)
    await ada.presses("/p Bob too fast\r").sees("Not so fast")
    await ada.is_asked(f"{FIELD} /p Bob too fast")
    await board.pass_time(WINDOW_SECONDS)
    ada.presses("\r")
    await bob.sees("Ada: too fast")
    await ada.is_asked(MENU)


async def test_the_menu_names_senders_until_their_messages_are_read_or_answered(
    board: World,
) -> None:
    ada = await visitor(board, "Ada")
    bob = await visitor(board, "Bob", profile=REFUSING)
    await pages(bob, "p Ada hello", back_to=MENU)
    await ada.sees("Bob: hello")
    await board.pass_time(1)
    await ada.sees("<M> Read Bob's message again")
    await ada.sits_down()
    await pages(bob, "p Ada are you there?", back_to=MENU)
    await ada.sees("Bob: are you there?")
    await ada.presses("q").is_asked(MENU)
    await ada.sees("<M> Read 2 messages from Bob again")
    await ada.presses("mr").sees("Bob, 12:00: are you there?")
    await ada.presses(" q").is_asked(MENU)
    assert "again" not in ada.screen.lower()
    # In plain lines they are in the menu too; answering marks them as read.
    await pages(ada, "p Bob I am", back_to=MENU)
    await bob.sees("Ada: I am")
    await bob.presses("mq").sees("Read Ada's message again (M)")
    await pages(bob, "r good", back_to=MENU)
    await bob.presses("mq").is_asked(MENU)
    assert bob.terminal.transcript.count("Read Ada's message again (M)") == 1


async def test_a_message_waits_for_its_reader(board: World) -> None:
    board.enter("Bob")
    ada = await visitor(board, "Ada")
    await pages(ada, "p Bob see you at nine", back_to=MENU)
    await ada.sees("Bob isn't on. Your message waits for them.")
    bob = Guest(board, "Bob")
    await bob.calls(SYNCTERM)
    await bob.sees("Ada, 12:00: see you at nine")
    await bob.goes_on_to(MENU)
    await pages(bob, "r nine it is", back_to=MENU)
    await ada.sees("Bob: nine it is")
    # The room of messages: received, sent, and ignored callers.
    await bob.presses("m").is_asked("<W>rite")
    await bob.presses("r").sees("To Ada: nine it is")
    await bob.presses(" ").is_asked("<W>rite")
    await bob.presses("iada\r").reads_that("You ignore Ada from now on.")
    await pages(ada, "p Bob are you there?", back_to=FIELD)
    await ada.sees("Bob doesn't take messages from you.")
    await ada.presses("\x1b").is_asked(MENU)
    # A line a call on the wall.
    await bob.presses("oShuffle up\r").sees("Bob: Shuffle up")
    await bob.is_asked("<W>rite")
    await bob.presses("o").reads_that("one a call")
    # A muted caller's lines appear nowhere.
    with board.books() as desk:
        number = callers.number_named(desk, "Ada")
        assert caller_acts.set_muted(desk, number, True, "the test").endswith("is now muted.")
        with pytest.raises(Unchanged, match=r"is already muted\."):
            caller_acts.set_muted(desk, number, True, "the test")
    await pages(ada, "p Bob and now?", back_to=FIELD)
    await ada.sees("The sysop has muted you")
    await ada.presses("\x1b").is_asked(MENU)
    await ada.presses("v").is_asked("Tal<k>")
    await ada.presses("khello\r").is_asked("Say: hello")
    await ada.sees("The sysop has muted you")
    with board.books() as desk:  # the wall hides lines of a muted caller
        assert [each.text for each in messages.wall(desk, 9)] == ["Shuffle up"]


async def test_messages_stand_below_the_header_of_the_news(board: World) -> None:
    ada = await visitor(board, "Ada")
    await ada.presses("m").is_asked("<W>rite")
    assert "EXTRA!" in ada.screen
    await ada.presses("r").sees("You have no messages.")
    assert "EXTRA!" in ada.screen


async def test_the_menu_shows_recent_activity(board: World) -> None:
    ada = await visitor(board, "Ada")
    bob = await seated(board, "Bob", profile=REFUSING)
    await bob.bets(5, ends="natural", asked=TABLE)
    await bob.presses("q").is_asked(MENU)
    won = sum(amount for kind, amount in bob.ledger if kind == "won") // MINUTE
    assert won
    # Ada only watches: the lines appear by themselves, in turn where there is one row.
    for words in (f"Today's leader: Bob, up {won} minutes", f"Biggest hand today: Bob, {won}"):
        while words not in ada.screen:
            await board.pass_time(1)
    await bob.presses("m").is_asked("<W>rite")
    await bob.presses("oShuffle up\r").sees("Your line is on the menu.")
    await bob.is_asked("<W>rite")
    await board.pass_time(EVERY_SECONDS)
    await bob.presses("q").sees("Bob: Shuffle up")
    await bob.logs_off()
    while "Last callers: Bob" not in ada.screen:
        await board.pass_time(1)
    await ada.sees("You're the only one on.")
    # A room uses the language of its visitor.
    await ada.presses("ylqm").sees("Les lignes du jour Bob : Shuffle up")
