"""Log-on: admissions, refusals with reasons, and one call for each caller."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from door.call import phrases
from tests.door.visiting import MENU, MINUTE, Guest, known, seated, sysop_toml, visitor
from tests.terminal import MODERN, REFUSING, SYNCTERM, Profile, Terminal
from tests.world import PASSWORD, World, register, world
from timebank.callers import callers
from timebank.calls.calls import RENEW_SECONDS
from timebank.errors import BooksUnavailable
from timebank.keeping import caller_acts

ONE_NODE = sysop_toml(events="", nodes=1)
TOGETHER_NOT = "Wrong name or password."


async def stranger(board: World) -> Guest:
    """Bring a stranger to the question for a new name."""
    guest = Guest(board, "")
    await guest.dials()
    await guest.presses("new\r").is_asked("The name you want:")
    return guest


def calls(board: World) -> list[tuple[str, str | None]]:
    """Every call so far: (caller, why it ended), None while it is open."""
    with board.books() as desk:
        rows = desk.connection.exec_driver_sql(
            "SELECT c.name, k.reason FROM calls k, callers c WHERE c.id = k.caller_id ORDER BY k.id"
        )
        return [(name, reason) for name, reason in rows]


# New callers.


async def test_a_new_caller_is_granted_a_day_and_known_the_next_time(board: World) -> None:
    ada = Guest(board, "Ada Lovelace")
    await ada.dials(SYNCTERM)
    await register(ada.terminal, "Ada Lovelace")
    assert ada.ledger == [("grant", 60 * MINUTE)]
    await ada.logs_off()
    assert "Goodbye, Ada Lovelace. Call again!" in ada.screen
    ada.name = "ada  LOVELACE"
    await ada.calls(SYNCTERM)
    await ada.is_asked(MENU)  # no question about boxes, and nothing new
    assert "Good to see you, Ada Lovelace." in ada.screen


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("A", "A name has 2 to 24 characters."),
        ("Sysop", "That name is reserved for the house."),
        ("Аda", "one alphabet"),  # the first letter is Cyrillic
    ],
)
async def test_an_unavailable_name_is_refused_with_the_reason(
    board: World, name: str, expected: str
) -> None:
    guest = await stranger(board)
    await guest.presses(f"{name}\r").sees(expected)
    await guest.presses("Grace\r").is_asked("A password (at least 6 characters):")


@pytest.mark.parametrize("name", ["BiII", "bill", "grace hopper"])
async def test_a_taken_name_is_refused_before_the_password_is_asked_for(
    tmp_path: Path, name: str
) -> None:
    toml = sysop_toml().replace("[board]", '[board]\nsysop = "Grace Hopper"')
    async with world(tmp_path, toml=toml) as board:
        board.enter("Bill")
        guest = await stranger(board)
        await guest.presses(f"{name}\r").sees("That name, or one that looks like it, is taken.")
        await guest.is_asked("The name you want:")
        await guest.presses("Ada\r").is_asked("A password (at least 6 characters):")
        board.enter("Ada")  # registered by another process
        await guest.presses(f"{PASSWORD}\r{PASSWORD}\r").is_asked("The name you want:")
        await guest.presses("open sesame\r").sees("Your password can't be your name.")
        guest.presses("Cyd\r")  # and no password is asked for again
        await guest.sees("Welcome, Cyd.")


async def test_a_password_is_long_enough_no_name_and_typed_twice(board: World) -> None:
    guest = await stranger(board)
    guest.presses("Ada Lovelace\r")
    for typed, expected in (
        ("short\r", "Use at least 6 characters for your password."),
        ("ada lovelace\r", "Your password can't be your name."),
        ("open sesame\ropen seseme\r", "Those don't match."),
    ):
        await guest.is_asked("A password (at least 6 characters):")
        await guest.presses(typed).sees(expected)
    guest.presses(f"{PASSWORD}\r{PASSWORD}\r")
    await guest.sees("Write your password down; we can't look it up for you.")
    assert PASSWORD not in guest.terminal.transcript


async def test_escape_leads_back_from_the_questions_of_a_new_caller(board: World) -> None:
    guest = await stranger(board)
    await guest.presses("Ada\r").is_asked("A password")
    await guest.presses("\x1b").is_asked("Name:")
    assert calls(board) == []


async def test_a_failed_save_of_the_screen_does_not_stop_a_log_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_disk(*_: object) -> None:
        raise BooksUnavailable("The books can't be written right now (disk full).")

    async with world(tmp_path) as board:
        ada = known(board, "Ada", looks={})
        monkeypatch.setattr(callers, "set_preferences", no_disk)
        await ada.calls()
        await ada.is_asked("Your choice")
        await ada.presses("2").goes_on_to(MENU)
        await ada.logs_off()
        assert board.server.board.nodes == {}


# Names and passwords.


async def test_three_wrong_passwords_end_the_call(board: World) -> None:
    ada = known(board, "Ada")
    await ada.dials()
    for _ in range(3):
        await ada.is_asked("Name:")
        await ada.presses("Ada\r").is_asked("Password:")
        ada.presses("not hers\r")
    await ada.is_sent_off(TOGETHER_NOT, "That was your third try. Goodbye.")
    assert calls(board) == []


async def test_an_empty_name_is_asked_again_and_is_no_try(board: World) -> None:
    """Seen live: three times Enter ended the call."""
    ada = known(board, "Ada")
    await ada.dials()
    ada.presses("\r\r\r" + "  \r" + "\x03" + "new\r\x03" + "Ada\r\x03")  # Ctrl-C goes back
    await ada.terminal.until("Type your name, then press Enter.")  # gone again soon
    for number in range(2):
        ada.presses("Ada\rnot hers\r")
        await ada.terminal.wait_for(
            lambda each, number=number: each.transcript.count(TOGETHER_NOT) == number + 1,
            "a wrong try",
        )
    await ada.presses(f"\rAda\r{PASSWORD}\r").is_asked("Press any key")


async def test_an_unknown_name_is_answered_like_a_wrong_password(board: World) -> None:
    board.enter("Ada")
    answers = []
    for name in ("Ada", "Bob"):
        guest = Guest(board, name)
        await guest.dials()
        greeting = len(guest.terminal.transcript)
        await guest.presses(f"{name}\r").is_asked("Password:")
        await guest.presses("open says me\r").sees(TOGETHER_NOT)
        await guest.is_asked("Name:")
        answers.append(guest.terminal.transcript[greeting:].replace(name, "-"))
    assert answers[0] == answers[1]


async def test_a_long_wait_at_the_log_on_is_explained_once(tmp_path: Path) -> None:
    words = "The board is busy. Please wait."
    async with world(tmp_path) as board:
        ada = known(board, "Ada")
        await ada.dials(SYNCTERM)
        async with board.slow_books():
            await ada.presses(f"Ada\r{PASSWORD}\r").sees("Password: ***")
            await board.clock.advance(2)
            assert words not in ada.screen
            await board.clock.advance(2)
            await ada.sees(words)
            await board.clock.advance(4)
        await ada.is_asked("Press any key")
        assert ada.terminal.transcript.count(words) == 1


async def test_a_locked_caller_reads_so_after_the_right_password(board: World) -> None:
    board.enter("Ada")
    with board.books() as desk:
        callers.set_locked(desk, callers.number_named(desk, "Ada"), True)
    ada = Guest(board, "Ada")
    await ada.dials()
    await ada.presses("Ada\rwrong\r").sees(TOGETHER_NOT)
    ada.presses(f"Ada\r{PASSWORD}\r")
    await ada.is_sent_off("The sysop has locked your name. Please ask why.")
    assert calls(board) == []


@pytest.mark.parametrize("act", [caller_acts.set_locked, caller_acts.delete])
async def test_who_is_out_reads_the_sysops_reason_after_the_right_password(
    board: World, act: Callable[..., str]
) -> None:
    board.enter("Ada")
    words = "deleted" if act is caller_acts.delete else "locked"
    with board.books() as desk:
        state = () if words == "deleted" else (True,)
        act(desk, callers.number_named(desk, "Ada"), *state, "Wanda", "spam |15 twice.")
    ada = Guest(board, "Ada")
    await ada.dials()
    await ada.presses("Ada\rwrong\r").sees(TOGETHER_NOT)
    ada.presses(f"Ada\r{PASSWORD}\r")
    await ada.is_sent_off(f"The sysop has {words} your name: spam │15 twice.")
    assert calls(board) == []


async def test_a_caller_who_is_on_when_locked_out_reads_why_and_is_logged_off(
    board: World,
) -> None:
    ada = await visitor(board, "Ada")
    bob = await visitor(board, "Bob")
    with board.books() as desk:
        done = caller_acts.set_locked(desk, ada.caller.record.id, True, "Wanda", "spam")
    assert done == "Ada is now locked out, and their call on node 1 ends."
    await board.pass_time(RENEW_SECONDS)
    await ada.is_sent_off("The sysop has locked your name: spam.")
    await bob.presses("w").sees("Bob")
    assert calls(board) == [("Ada", "locked out by the sysop: spam"), ("Bob", None)]


async def test_a_caller_changes_her_password(board: World) -> None:
    ada = await visitor(board, "Ada")
    await ada.presses("y").is_asked("<Q>uit")
    await ada.presses("pa guess\r").reads_that("Wrong password.")
    await ada.is_asked("<Q>uit")
    await ada.presses(f"p{PASSWORD}\r").is_asked("A password (at least 6 characters):")
    await ada.presses("close sesame\rclose sesame\r").reads_that("Your password is changed.")
    await ada.reads_that("Your recovery code")
    await ada.is_asked("<Q>uit")
    await ada.presses("q").is_asked(MENU)
    await ada.logs_off()
    await ada.calls()
    await ada.sees(TOGETHER_NOT)
    await ada.presses("Ada\rclose sesame\r").is_asked(MENU)


async def test_a_log_on_may_take_three_minutes(tmp_path: Path) -> None:
    async with world(tmp_path) as board:  # the default: 180 seconds
        guest = Guest(board, "Ada")
        await guest.dials()
        await board.pass_time(100)
        await guest.presses("Ad").is_asked("Name: Ad")
        await board.pass_time(79)
        assert not guest.terminal.closed
        await board.pass_time(1)
        await guest.is_sent_off("Logging on took too long.")


async def test_a_carrier_lost_at_the_log_on_leaves_nothing_behind(board: World) -> None:
    ada = known(board, "Ada")
    await ada.dials()
    await ada.presses(f"Ada\r{PASSWORD}").is_asked("Password:")
    ada.terminal.abort()
    bob = await visitor(board, "Bob")
    assert board.server.board.nodes == {1: bob.caller}
    assert [name for name, _ in calls(board)] == ["Bob"]


# One call for each caller.


async def test_a_second_log_on_may_leave_the_first_alone(board: World) -> None:
    first = await visitor(board, "Ada")
    second = Guest(board, "Ada")
    await second.calls()
    await second.sees("You're already on, at node 1.")
    await second.is_asked("Drop that call and continue here?")
    second.presses("n")
    await second.is_sent_off("Your other call goes on. Goodbye.")
    await board.pass_time(1)
    await first.sees_time_left(60 * MINUTE - 1)
    assert calls(board) == [("Ada", None)]


async def test_a_second_log_on_takes_over_the_ghost_and_its_hand(board: World) -> None:
    ghost = await seated(board, "Ada")
    await ghost.bets(5, "stay", ends="win")
    await board.pass_time(MINUTE + 31)
    ada = Guest(board, "Ada")
    await ada.calls()
    await ada.is_asked("Drop that call and continue here?")
    await board.pass_time(1)
    ada.presses("y")
    await ghost.is_sent_off("You've logged on from another connection.")
    await ada.sees("The hand you left is still on the table.")
    await ada.sees_time_left(55 * MINUTE - 92)
    assert sum(line.amount for line in board.lines("Ada") if line.kind == "elapsed") == 92
    assert calls(board) == [("Ada", "taken over"), ("Ada", None)]
    await ada.stays()
    assert ada.has["online"] == (55 + 10) * MINUTE - 92


async def test_a_second_log_on_has_the_firsts_latest_choices(board: World) -> None:
    first = await visitor(board, "Ada")
    ada = Guest(board, "Ada")
    await ada.calls()
    await ada.is_asked("Drop that call and continue here?")
    await phrases.choose(first.caller, "my own words")
    await ada.presses("y").is_asked(MENU)
    phrase = await phrases.phrase_of(ada.caller)
    assert (phrase.text, phrase.is_own) == ("my own words", True)


async def test_a_second_log_on_mentions_an_open_hand_only_if_there_is_one(
    board: World,
) -> None:
    ghost = await seated(board, "Ada")
    ada = Guest(board, "Ada")
    await ada.calls()
    await ada.is_asked("Drop that call and continue here?")
    assert "Drop that call and continue here?" in ada.screen
    assert "hand" not in ada.screen
    ada.presses("n")
    await ghost.bets(5, "stay", ends="win")
    await ada.calls()
    await ada.is_asked("Drop that call and continue here?")
    assert ("Your open hand at Black Jack For Time is kept.") in ada.screen


async def test_an_old_call_that_ended_meanwhile_does_not_stop_the_new_one(board: World) -> None:
    first = await visitor(board, "Ada")
    second = Guest(board, "Ada")
    await second.calls()
    await second.is_asked("Drop that call and continue here?")
    await first.logs_off()
    await second.presses("y").is_asked(MENU)
    assert calls(board) == [("Ada", "log-off"), ("Ada", None)]


async def test_two_nodes_that_race_to_take_over_leave_one_call(board: World) -> None:
    ghost = await visitor(board, "Ada")
    nodes = [Guest(board, "Ada"), Guest(board, "Ada")]
    for node in nodes:
        await node.calls()
        await node.is_asked("Drop that call and continue here?")
    for node in nodes:
        node.presses("y")
    await ghost.is_sent_off("You've logged on from another connection.")
    closing = [asyncio.create_task(node.terminal.until_closed()) for node in nodes]
    _, still_on = await asyncio.wait(closing, return_when=asyncio.FIRST_COMPLETED)
    assert [task.cancel() for task in still_on] == [True]
    assert [reason for _, reason in calls(board)].count(None) == 1
    left = next(node for node in nodes if not node.terminal.closed)
    await left.is_asked(MENU)
    await board.pass_time(RENEW_SECONDS)
    # The two calls taken over at once cost a second each.
    await left.sees_time_left(60 * MINUTE - 2 - RENEW_SECONDS)


# A full board.


async def test_a_full_board_turns_others_away_in_peace(tmp_path: Path) -> None:
    async with world(tmp_path, toml=ONE_NODE) as board:
        ada = await visitor(board, "Ada")
        bob = known(board, "Bob")
        await bob.dials()
        assert "1 of 1 nodes busy" in bob.screen
        bob.presses(f"Bob\r{PASSWORD}\r")
        await bob.is_sent_off("Every node is busy. Please try again soon.")
        assert [name for name, _ in calls(board)] == ["Ada"]
        await ada.logs_off()
        await bob.visits()
        assert "Node 1" in bob.status


async def test_a_caller_takes_over_their_ghost_on_a_full_board(tmp_path: Path) -> None:
    async with world(tmp_path, toml=ONE_NODE) as board:
        ghost = await visitor(board, "Ada")
        ada = Guest(board, "Ada")
        await ada.calls()
        await ada.is_asked("Drop that call and continue here?")
        ada.presses("y")
        await ghost.is_sent_off("You've logged on from another connection.")
        await ada.is_asked(MENU)
        assert "Node 1" in ada.status


async def test_a_node_is_free_again_after_every_kind_of_ending(tmp_path: Path) -> None:
    async with world(tmp_path, toml=ONE_NODE) as board:
        ada = await visitor(board, "Ada")
        await ada.drops_carrier()
        await ada.calls()
        await ada.is_asked(MENU)
        await ada.logs_off()
        await ada.calls()
        await ada.is_asked(MENU)
        await ada.sits_down()
        await ada.presses("b").is_asked("Coins to bet")
        await ada.drops_carrier()
        await ada.calls()
        await ada.is_asked(MENU)
        assert [reason for _, reason in calls(board)] == [
            "carrier lost",
            "log-off",
            "carrier lost",
            None,
        ]


async def test_the_last_words_reach_a_caller_who_types_on_and_reads_late(board: World) -> None:
    ada = known(board, "Ada")
    ada.terminal = Terminal(MODERN)
    board.terminals.append(ada.terminal)
    await ada.terminal.connect(board.server.ports[0], receive_buffer=4096)
    await ada.presses(f"Ada\r{PASSWORD}\r").goes_on_to(MENU)
    ended = ada.caller.ended
    ada.terminal.stop_reading()
    ada.presses("w " * 20 + "gy")  # more screens than fit on the way to Ada
    await ended.wait()
    await board.settled()
    ada.presses("is anybody there?")
    ada.terminal.go_on_reading()
    await ada.is_sent_off("Goodbye, Ada. Call again!")


async def test_callers_read_when_the_board_closes(board: World) -> None:
    playing, at_the_log_on = await visitor(board, "Ada"), Guest(board, "Bob")
    await playing.sits_down()
    await playing.bets(5, "stay", ends="win")
    await at_the_log_on.dials()
    await board.server.stop("The board is closing.")
    await playing.is_sent_off("The board is closing.", "Your hand waits for you on the table.")
    await at_the_log_on.is_sent_off("The board is closing.")
    assert calls(board) == [("Ada", "closed by the board")]


# Commands where a name is asked for.


DUMB = replace(MODERN, terminal_types=("dumb",), environment={}, charset_names=())


@pytest.mark.parametrize("profile", [DUMB, REFUSING, SYNCTERM], ids=["dumb", "unknown", "syncterm"])
@pytest.mark.parametrize("typed", ["!new", "!\rnew", "!NEW", "new!", "! new ", "/new", "'New'"])
async def test_a_first_call_works_with_every_combination_of_keys(
    board: World, profile: Profile, typed: str
) -> None:
    guest = Guest(board, "")
    await guest.dials(profile)
    await guest.presses(f"{typed}\r").is_asked("The name you want:")
    assert "Password:" not in guest.terminal.transcript
    assert "Type your name, then press Enter." not in guest.terminal.transcript


@pytest.mark.parametrize("typed", ["!ada", "ada!", "!\rAda"])
async def test_the_key_for_plain_lines_may_stand_before_a_name(board: World, typed: str) -> None:
    board.enter("Ada")
    guest = Guest(board, "")
    await guest.dials(DUMB)
    await guest.presses(f"{typed}\r{PASSWORD}\r").sees("You have plain lines already.")
    await guest.sees("Welcome, Ada")


@pytest.mark.parametrize("profile", [MODERN, replace(MODERN, columns=100, rows=30)])
async def test_the_offer_of_plain_lines_stays_above_the_picture(
    board: World, profile: Profile
) -> None:
    ada = await board.call(profile)
    await ada.until("Name:")
    assert ada.row(0).strip() == "Using a screen reader? Type ! for plain lines."
    assert "█" in ada.picture
    await ada.send("!").until_heard("Plain lines from now on.")
