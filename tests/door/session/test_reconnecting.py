"""Callers on our page: open keys, and the return after a lost network."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from door.call.tickets import GOOD_SECONDS
from tests.door.page import WEB, PageCaller, page_caller
from tests.door.playing import hand, moves
from tests.door.strangers import Stranger, defended
from tests.world import BOARD, PASSWORD, World, logged_on, world
from timebank.callers import callers, powers


@pytest_asyncio.fixture
async def board(tmp_path: Path) -> AsyncIterator[World]:
    async with world(tmp_path, toml=WEB) as here:
        here.enter("Ada")
        yield here


async def plays(caller: PageCaller) -> None:
    """Log on and be in the middle of a hand."""
    await caller.logs_on("Ada")
    await caller.is_asked("any")
    await caller.types(" ")
    await caller.may_press("B", "G")
    caller.board.seeds = [hand("hit")]
    await caller.types("b")
    await caller.may_press("B", "R", "Q")
    await caller.types("b")
    await caller.is_asked("number")
    await caller.types("1\r")
    await caller.may_press("H", "S")


async def test_the_page_shows_the_open_keys_at_every_step(board: World) -> None:
    async with page_caller(board, columns=40, rows=31) as caller:
        await plays(caller)
        assert caller.keys["H"] == "Hit"
        assert caller.keys["S"] == "Stand"
        await caller.types("?")
        await caller.may_press("N", "Q")
        await caller.types("q")
        await caller.may_press("H", "S")


async def test_a_page_without_a_keyboard_suffices_for_a_first_call_and_unix_bj(
    board: World,
) -> None:
    async with page_caller(board, columns=40, rows=31) as caller:
        await caller.may_press("NEW")
        await caller.types(caller.typed["NEW"])
        await caller.sees("The name you want:")
    async with page_caller(board, columns=40, rows=31) as caller:
        await caller.logs_on("Ada")
        await caller.is_asked("any")
        await caller.types(" ")
        await caller.may_press("U")
        await caller.types("u")
        await caller.may_press("P")
        await caller.types("p")
        await caller.may_press("Y", "N", "Ctrl-C")
        await caller.types(caller.typed["N"])
        await caller.may_press("Y", "N", "Ctrl-C")
        await caller.types(caller.typed["Ctrl-C"])
        await caller.is_asked("any")
        await caller.types(" ")
        await caller.may_press("P", "Q")


async def test_a_caller_who_lost_the_network_resumes_without_logging_on(
    board: World,
) -> None:
    async with page_caller(board) as caller:
        await plays(caller)
        ticket = caller.ticket
        await caller.loses_the_network()
    async with page_caller(board, ticket) as again:
        await again.may_press("H", "S")
        assert "Name:" not in again.said
        await again.sees("The hand you left is still on the table.")
        assert again.ticket not in ("", ticket)
        await again.loses_the_network()
        ticket, old = again.ticket, ticket
    async with page_caller(board, old) as thief:
        await thief.sees("Name:")
        assert thief.ticket == ""
    async with page_caller(board, ticket) as once_more:
        await once_more.may_press("H", "S")


A_PAGE = "https://a.example"
OTHERS = ["https://b.example", ""]


@pytest.mark.parametrize("other", [A_PAGE, *OTHERS])
async def test_a_ticket_lets_in_from_the_page_that_got_it_alone(tmp_path: Path, other: str) -> None:
    """Also where the listener names pages of other hosts, from which calls may come."""
    origins = json.dumps([A_PAGE, OTHERS[0]])
    async with world(tmp_path, toml=f"{WEB}origins = {origins}\n") as board:
        board.enter("Ada")
        async with page_caller(board, origin=A_PAGE) as caller:
            await plays(caller)
            await caller.loses_the_network()
        async with page_caller(board, caller.ticket, origin=other) as again:
            await again.until(lambda: again.ask in ("text", "keys"), "a question")
            assert again.shows("Name:") == (other != A_PAGE)


async def test_a_line_that_hangs_is_taken_over(board: World) -> None:
    async with page_caller(board) as caller, page_caller(board, "") as other:
        await plays(caller)
        await other.is_asked("text")
        async with page_caller(board, caller.ticket) as again:
            await again.may_press("H", "S")
            await caller.sees("You've logged on from another connection.")
            assert len(board.server.board.callers()) == 1


async def test_a_caller_who_logged_off_or_is_late_must_log_on_again(board: World) -> None:
    async with page_caller(board) as caller:
        await plays(caller)
        ticket = caller.ticket
        await caller.loses_the_network()
    await board.pass_time(GOOD_SECONDS)
    async with page_caller(board, ticket) as late:
        await late.sees("Name:")
        await late.logs_on("Ada")
        await late.may_press("H", "S")
        await late.types("s")
        await late.may_press("Q")
        await late.types("q")
        await late.may_press("G")
        await late.types("g")
        await late.may_press("Y")
        await late.types("y")
        await late.sees("Goodbye, Ada.")
    async with page_caller(board, late.ticket) as over:
        await over.sees("Name:")


async def test_a_log_on_elsewhere_voids_the_ticket(board: World) -> None:
    async with page_caller(board) as caller:
        await plays(caller)
        ticket = caller.ticket
        await caller.loses_the_network()
    terminal = await logged_on(board, "Ada")
    await terminal.until("<H>it")
    async with page_caller(board, ticket) as thief:
        await thief.sees("Name:")


async def test_a_caller_with_sysop_powers_gets_no_ticket(board: World) -> None:
    with board.books() as desk:
        number = callers.number_named(desk, "Ada")
        assert number is not None
        powers.grant(desk, number, "the sysop")
    async with page_caller(board) as caller:
        await caller.logs_on("Ada")
        await caller.is_asked("any")
        assert caller.ticket == ""


async def test_a_new_caller_on_the_page_skips_the_question_about_the_screen(
    board: World,
) -> None:
    async with page_caller(board, columns=40, rows=27) as caller:
        for ask, text in (
            ("text", "new\r"),
            ("text", "Grace\r"),
            ("secret", f"{PASSWORD}\r"),
            ("secret", f"{PASSWORD}\r"),
            ("any", " "),
        ):
            await caller.is_asked(ask)
            await caller.types(text)
        await caller.may_press("Y", "N")
        assert caller.default == "Y"
        assert "Which of these boxes" not in caller.said


# Keys of the page belong to the question that they were offered for.


async def test_a_second_tap_takes_no_second_card(board: World) -> None:
    async with page_caller(board, columns=40, rows=31) as caller:
        await plays(caller)
        offer = caller.offer
        caller.ask, caller.keys = "", {}
        for _ in range(3):
            await caller.taps("h", offer)
        await caller.may_press("H", "S")
        assert caller.offer > offer
        await caller.taps("h", offer)  # on its way while the new keys came
        await caller.taps("s")
        await caller.may_press("B", "R", "Q")
        assert moves(board) == ["bet", "hit", "stay"]


async def test_keys_of_a_keyboard_are_still_typed_ahead(board: World) -> None:
    async with page_caller(board, columns=40, rows=31) as caller:
        await plays(caller)
        await caller.types("hs")
        await caller.may_press("B", "R", "Q")
        assert moves(board) == ["bet", "hit", "stay"]


async def test_a_second_tap_on_send_answers_no_second_question(board: World) -> None:
    async with page_caller(board, columns=40, rows=31) as caller:
        await caller.is_asked("text")
        offer = caller.offer
        for _ in range(2):
            await caller.taps("Ada\r", offer)
        await caller.is_asked("secret")
        offer = caller.offer
        for _ in range(2):
            await caller.taps(f"{PASSWORD}\r", offer)
        await caller.is_asked("any")
        assert caller.shows("Press any key"), "the second was no key for it"


async def test_help_is_offered_again_after_it_was_read(board: World) -> None:
    async with page_caller(board, columns=40, rows=31) as caller:
        await plays(caller)
        for _ in range(2):
            caller.keys = {}
            await caller.taps("?")
            await caller.may_press("N", "Q")
            for _ in range(2):  # on a page of help it says a sentence, and the keys stay
                offer = caller.offer
                await caller.taps("?")
                await caller.until(lambda offer=offer: caller.offer > offer, "another offer")
            caller.keys = {}
            await caller.taps("q")
            await caller.may_press("H", "S")


async def test_a_key_of_the_page_leaves_the_queue(tmp_path: Path) -> None:
    listener = WEB.removeprefix(BOARD)
    async with world(tmp_path, toml=defended() + listener) as board:
        board.enter("Ada")
        villain = Stranger(board, "Ada", "127.0.0.1")  # the page's address
        await villain.is_wrong(board.config.defence.wrong_passwords)
        async with page_caller(board) as caller:
            await caller.logs_on("Ada")
            for _ in range(2):
                await caller.may_press("R", "Esc")
                await caller.taps("R")
                await caller.is_asked("text")
                caller.keys = {}
                await caller.taps("\x1b")
            await caller.may_press("Esc")
            await caller.taps(caller.typed["Esc"])
            await caller.may_press("NEW")
