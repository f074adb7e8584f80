"""Acts on the pages: previewed, done once, and logged with the sysop's name."""

from __future__ import annotations

import asyncio
import html
import re
from pathlib import Path
from typing import Any

import pytest

from door.config import people
from door.desk.pages.act_pages import ACTS
from door.desk.pages.sessions import MOST_FORMS, Session
from door.errors import NoAnswer
from door.server import control_client
from tests.door.desk.pages.test_pages import ADA, RUDE, Answer, Browser, shown
from tests.world import World, logged_on
from timebank.callers import callers, notices, sysop_log
from timebank.errors import BooksUnavailable, NameTaken, OutcomeUnknown
from timebank.keeping import deletion
from timebank.ledger import transfers
from timebank.ledger.database import Desk
from timebank.ledger.schema import metadata


def token(page: Answer) -> str:
    return re.findall(r'name="form" value="([^"]+)"', page.body)[0]


async def asks(browser: Browser, act: str, caller: int | None, **typed: str) -> Answer:
    """Fill the form of an act in, and send it."""
    form = token(await browser.get("/"))
    about = {} if caller is None else {"caller": str(caller)}
    return await browser.post(f"/act/{act}", {"form": form, **about, **typed})


def filled(page: Answer) -> tuple[str, dict[str, str]]:
    """Return the form of a page, filled in as by a browser."""
    (place,) = re.findall(r'action="(/act/[^"]+)"', page.body)
    whole = page.body[page.body.index(place) :]
    fields = re.findall(r'name="([^"]+)" value="([^"]*)"', whole)
    return place, {name: html.unescape(value) for name, value in fields}


async def does(browser: Browser, act: str, caller: int | None, **typed: str) -> Answer:
    place, form = filled(await asks(browser, act, caller, **typed))
    return await browser.post(place, form)


def bank_of(board: World, number: int) -> int:
    with board.books() as desk:
        held = transfers.balances(desk, number)
    return next(each.amount for each in held if each.kind == "bank" and each.unit == "second")


def contents(board: World) -> dict[str, list[Any]]:
    """Return all rows of all tables, without those that every transaction writes."""
    with board.books() as desk:
        return {
            table.name: desk.connection.execute(table.select()).fetchall()
            for table in metadata.sorted_tables
            if table.name not in ("clocks", "identity")
        }


def logged(board: World) -> list[tuple[str, str | None, str]]:
    with board.books() as desk:
        lines = sysop_log.entries(desk, None, 20)
    acts = (line for line in lines if not line.what.startswith("Logged on at the pages"))
    return [(line.by, line.caller, line.what) for line in acts]


async def test_an_account_is_adjusted_once_however_often_the_form_is_sent(tmp_path: Path) -> None:
    async with shown(tmp_path) as (board, browser):
        await browser.logs_on()
        asked = await asks(browser, "adjust", ADA, minutes="-15", why="a mistake")
        assert "15 minutes taken out by Sysop: a mistake. The account holds 0:45:00." in asked.text
        assert bank_of(board, ADA) == 3600, "nothing is done before it is confirmed"
        place, form = filled(asked)
        first, again = [await browser.post(place, form) for _ in range(2)]
        assert "The account holds 0:45:00." in first.text
        assert again.text == first.text
        assert bank_of(board, ADA) == 2700
        assert logged(board)[0][:2] == ("Sysop", "Ada")
        place, form = filled(await asks(browser, "adjust", ADA, minutes="-30", why="more"))
        await does(browser, "adjust", ADA, minutes="-30", why="a colleague was faster")
        assert (
            "Not done. Ada's account holds only 0:15:00" in (await browser.post(place, form)).text
        )
        assert bank_of(board, ADA) == 900


async def test_an_act_that_must_fail_says_so_before_it_is_confirmed(tmp_path: Path) -> None:
    async with shown(tmp_path) as (board, browser):
        await browser.logs_on()
        await does(browser, "freeze", ADA, why="a dispute")
        await does(browser, "lock", ADA)
        before = logged(board)
        for act, caller, typed, words in (
            ("adjust", ADA, {"minutes": "-100000", "why": "all"}, "holds only 1:00:00"),
            ("adjust", ADA, {"minutes": "5", "why": "\x07"}, "Please give a reason"),
            ("freeze", ADA, {"why": "again"}, "Ada's account is already frozen."),
            ("lock", ADA, {}, "Ada is already locked out."),
            ("unlock", 1, {}, "Sysop is not locked out."),
            ("notice", ADA, {"text": "\x1b\x07"}, "has nothing that can be shown."),
            ("say-all", None, {"text": "Hello"}, "Nobody is online."),
            ("say", ADA, {"text": "Hello"}, "Ada isn't on any more."),
            ("kick", ADA, {"why": ""}, "Ada isn't on any more."),
            ("event-end", None, {}, "No event that was started early is on"),
        ):
            answer = await asks(browser, act, caller, **typed)
            assert (answer.status, words in answer.text) == (409, True), (act, answer.text)
            assert "Do it" not in answer.text
        terminal = await logged_on(board, "Sysop")
        await terminal.until("minutes today")
        nothing = await asks(browser, "say", 1, text="\x1b\x07")
        assert (nothing.status, "nothing that can be shown" in nothing.text) == (409, True)
        await board.server.stop("The test is over.")
        assert board.lock is not None
        with board.lock:
            board.lock = None
        stopped = await asks(browser, "drain", None)
        assert (stopped.status, "server is not running" in stopped.text) == (409, True)
        assert logged(board) == before
        assert bank_of(board, ADA) == 3600


async def test_a_confirmation_shows_balances_and_changes_nothing(tmp_path: Path) -> None:
    async with shown(tmp_path) as (board, browser):
        terminal = await logged_on(board, "Ada")
        await terminal.until("minutes today")
        await browser.logs_on()
        books = contents(board)
        for act in ACTS:
            typed = {field.name: "5" for field in act.fields}
            asked = await asks(browser, act.name, ADA if act.is_of_caller else None, **typed)
            undone = act.name in (
                "restore",
                "approve",
                "unfreeze",
                "unlock",
                "unmute",
                "delete",
                "event-end",
            )
            assert asked.status == (409 if undone else 200), asked.text
            if act.is_of_caller:
                after = "1:05:00" if act.name == "adjust" else "1:00:00"
                assert f"bank 1:00:00 {after}" in asked.text or undone, asked.text
                charged = "0:59:59" if act.name == "lock" else "1:00:00"  # the call ends
                assert f"online 1:00:00 {charged}" in asked.text or undone
        assert contents(board) == books


async def test_callers_are_frozen_locked_and_left_notices(tmp_path: Path) -> None:
    async with shown(tmp_path) as (board, browser):
        await browser.logs_on()
        for act, typed in (
            ("freeze", {"why": "a dispute"}),
            ("lock", {"why": "spam"}),
            ("mute", {"why": "too loud"}),
            ("notice", {"text": RUDE}),
        ):
            assert "Not done" not in (await does(browser, act, ADA, **typed)).text
        with board.books() as desk:
            record = callers.get(desk, ADA)
            assert (record.frozen, record.locked, record.muted) == (True, True, True)
            assert record.why_out == "spam"
            told = [str(each) for each in notices.notices(desk, ADA)]
            assert f"The sysop: {RUDE}" in told
            assert any("has muted you: too loud." in each for each in told)
        offered = (await browser.get(f"/caller/{ADA}/acts")).text
        assert "Open the account again" in offered
        assert "Let in again" in offered
        assert "Let them speak" in offered
        assert "End the call" not in offered, "they are not on"
        gone = await does(browser, "delete", ADA, why="asked for it")
        assert "Ada is deleted. door callers restore brings them back" in gone.text
        assert "Ada, caller number 2, was deleted: asked for it" in str(logged(board))
        assert {line[0] for line in logged(board)} == {"Sysop"}


async def test_the_sysop_can_message_and_kick_callers(tmp_path: Path) -> None:
    async with shown(tmp_path) as (board, browser):
        terminal = await logged_on(board, "Ada")
        await terminal.until("minutes today")
        (caller,) = board.server.board.callers()
        await browser.logs_on()
        assert "Ada can read it." in (await does(browser, "say", ADA, text="Hello")).text
        await terminal.until("The sysop: Hello")
        ended, gone = [filled(await asks(browser, "kick", ADA, why="Supper.")) for _ in range(2)]
        assert "sees why and is disconnected" in (await browser.post(*ended)).text
        await terminal.until("Supper.")
        await caller.ended.wait()
        assert [line[1:] for line in logged(board)[:4]] == [
            ("Ada", "The board: Ada on node 1 sees why and is disconnected"),
            ("Ada", "Call ended: Supper. (asked of the board)"),
            ("Ada", "The board: Ada can read it"),
            ("Ada", "Said: Hello (asked of the board)"),
        ]
        assert "isn't on any more." in (await browser.post(*gone)).text


async def test_a_command_confirmed_after_the_board_stopped_is_not_done(tmp_path: Path) -> None:
    async with shown(tmp_path) as (board, browser):
        await browser.logs_on()
        place, form = filled(await asks(browser, "drain", None))
        await board.server.stop("The test is over.")
        assert board.lock is not None
        with board.lock:
            board.lock = None
        answer = (await browser.post(place, form)).text
        assert "This board's server is not running" in answer
        (came, asked) = logged(board)
        assert came[2].startswith("The board: This board's server is not running")
        assert asked == ("Sysop", None, "Board taken out of service (asked of the board)")


async def test_the_result_is_shown_though_the_log_fails_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with shown(tmp_path) as (board, browser):
        terminal = await logged_on(board, "Ada")
        await terminal.until("minutes today")
        await browser.logs_on()
        place, form = filled(await asks(browser, "say-all", None, text="Hello"))
        note = sysop_log.note

        def full(desk: Desk, by: str, caller_id: int | None, what: str) -> None:
            if what.startswith("The board:"):
                raise BooksUnavailable("The disk is full.")
            note(desk, by, caller_id, what)

        monkeypatch.setattr("door.desk.pages.operations.sysop_log.note", full)
        answer = (await browser.post(place, form)).text
        assert "Ada can read it. The sysop's log has only that it was asked for" in answer
        assert "Not done" not in answer
        place, form = filled(await asks(browser, "say-all", None, text="Hello"))
        monkeypatch.setattr("door.server.control_client.ANSWER_SECONDS", 0.05)
        monkeypatch.setattr("door.server.board_commands.say", lambda *_: asyncio.Event().wait())
        late = (await browser.post(place, form)).text
        assert "nobody knows whether it is done." in late
        assert "Not done" not in late


async def test_another_call_on_that_node_is_left_alone(tmp_path: Path) -> None:
    async with shown(tmp_path) as (board, _):
        terminal = await logged_on(board, "Ada")
        await terminal.until("minutes today")
        how = {"node": 1, "why": "", "call": 999}
        with pytest.raises(NoAnswer, match="Another call is on node 1 by now"):
            await asyncio.to_thread(control_client.ask_server, board.config.path, None, "kick", how)


async def test_an_unknown_outcome_is_reported_as_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with shown(tmp_path) as (board, browser):
        await browser.logs_on()

        def unknown(*_: object) -> str:
            raise OutcomeUnknown("the disk")

        place, form = filled(await asks(browser, "adjust", ADA, minutes="5", why="a gift"))
        monkeypatch.setattr("door.desk.pages.operations.SysopActs.adjust", unknown)
        first = await browser.post(place, form)
        assert "can't say whether this was done" in first.text
        monkeypatch.undo()
        assert (await browser.post(place, form)).text == first.text, "it is not tried again"
        assert bank_of(board, ADA) == 3600


async def test_no_act_is_done_for_a_form_that_is_not_ours(tmp_path: Path) -> None:
    async with shown(tmp_path) as (board, browser):
        await browser.logs_on()
        place, form = filled(await asks(browser, "adjust", ADA, minutes="5", why="a gift"))
        elsewhere = {"origin": "https://evil.example", "sec-fetch-site": "cross-site"}
        for changed, headers in (
            ({}, elsewhere),
            ({"form": "made up"}, {}),
            ({"key": "made up"}, {}),
            ({"key": ""}, {}),
        ):
            answer = await browser.post(place, {**form, **changed}, **headers)
            assert answer.status == 403, changed
        assert (await browser.get("/act/adjust")).status == 405
        other = Browser(browser.pages)
        await other.logs_on()
        theirs = {**form, "form": token(await other.get("/"))}
        assert (await other.post(place, theirs)).status == 403, "the key is another session's"
        for act, typed in (
            ("adjust", {"minutes": "0", "why": "x"}),
            ("adjust", {"minutes": "1e9", "why": "x"}),
            ("adjust", {"minutes": "5", "why": " "}),
            ("notice", {"text": ""}),
        ):
            assert (await asks(browser, act, ADA, **typed)).status == 400
        assert (await asks(browser, "adjust", 99, minutes="5", why="x")).status == 404
        assert (await asks(browser, "rob", ADA)).status == 404
        assert bank_of(board, ADA) == 3600


async def test_a_form_does_what_was_previewed_and_nothing_else(tmp_path: Path) -> None:
    """A page of another site can't do that; a broken page of ours or a bookmarklet could."""
    async with shown(tmp_path) as (board, browser):
        board.enter("Bob", saved=3600)
        bob = ADA + 1
        await browser.logs_on()
        place, form = filled(await asks(browser, "notice", ADA, text="Hello"))
        adjusting = {"minutes": "5", "why": "a gift"}
        for other, changed in (
            (place, {"caller": str(bob)}),
            (place, {"text": "Something else"}),
            ("/act/adjust/do", adjusting),
            ("/act/adjust/do", {**adjusting, "caller": str(bob)}),
            ("/act/lock/do", {}),
        ):
            assert (await browser.post(other, {**form, **changed})).status == 403, changed
        assert logged(board) == []
        assert "Hello" in (await browser.post(place, form)).text
        assert [line[1] for line in logged(board)] == ["Ada"]


async def test_nobody_locks_out_or_deletes_themselves(tmp_path: Path) -> None:
    """A sysop who did would be without powers, perhaps as the last one."""
    async with shown(tmp_path) as (board, browser):
        await browser.logs_on()
        offered = (await browser.get("/caller/1/acts")).body
        assert "/act/freeze" in offered
        for act in ("lock", "delete"):
            assert f"/act/{act}" not in offered
            refused = await asks(browser, act, 1, why="a slip")
            words = f"You can't do that to yourself here: door callers {act} can."
            assert (refused.status, words in refused.text) == (409, True)
            form = {"form": token(await browser.get("/")), "caller": "1", "why": "a slip"}
            assert (await browser.post(f"/act/{act}/do", form)).status == 409
        assert (await browser.get("/")).status == 200
        assert logged(board) == []


async def test_a_preview_shows_a_reason_as_it_will_stand(tmp_path: Path) -> None:
    async with shown(tmp_path) as (_, browser):
        await browser.logs_on()
        asked = await asks(browser, "freeze", ADA, why="Up\u202e to\x1b no\u200b good")
        assert "Ada reads: Up to no good." in asked.text
        asked = await asks(browser, "say-all", None, text="Up\u202e to no good")
        assert "\u202e" not in asked.text
        place, form = filled(await asks(browser, "freeze", ADA, why="Up\u202e to no good"))
        assert "\u202e" not in (await browser.post(place, form)).text


async def test_a_deleted_caller_is_found_and_brought_back(tmp_path: Path) -> None:
    async with shown(tmp_path) as (board, browser):
        await browser.logs_on()
        await does(browser, "delete", ADA, why="a slip")
        assert "Ada" not in (await browser.get("/callers")).text
        found = await browser.get("/callers", name="ada")
        assert re.search(r"2 Ada .*deleted", found.text), found.text
        page = await browser.get(f"/caller/{ADA}")
        assert "Was deleted. Holds now:" in page.text
        assert f'href="/caller/{ADA}/acts">Bring back' in page.body
        offered = (await browser.get(f"/caller/{ADA}/acts")).body
        assert re.findall(r'action="/act/([\w-]+)"', offered) == ["restore"]
        assert (await asks(browser, "freeze", ADA, why="a dispute")).status == 409
        board.enter("ada")
        taken = await asks(browser, "restore", ADA, new="")
        assert (taken.status, "The name Ada is taken" in taken.text) == (409, True), taken.text
        back = await does(browser, "restore", ADA, new="Ada L")
        assert "Ada L, caller number 2, is back with all their time." in back.text
        assert bank_of(board, ADA) == 3600
        assert logged(board)[0] == ("Sysop", "Ada L", "Ada L, caller number 2, was brought back")
        assert "freeze" in (await browser.get(f"/caller/{ADA}/acts")).body
        assert (await asks(browser, "restore", ADA, new="")).status == 409
        await does(browser, "delete", ADA)
        with board.books() as desk:
            deletion.remove(desk, ADA)
        page = await browser.get(f"/caller/{ADA}")
        assert "Bring back" not in page.body
        assert (await browser.get(f"/caller/{ADA}/acts")).status == 404


async def test_a_reader_of_the_pages_can_change_nothing(tmp_path: Path) -> None:
    async with shown(tmp_path, more='[pages]\nreaders = ["Ada"]\n') as (board, browser):
        assert (await browser.logs_on("Ada")).status == 303
        page = await browser.get("/")
        assert "Acts" not in page.text
        for place in ("/acts", f"/caller/{ADA}/acts"):
            assert (await browser.get(place)).status == 403
        for act in ACTS:
            typed = {field.name: "5" for field in act.fields}
            assert (await asks(browser, act.name, ADA, **typed)).status == 403
        assert bank_of(board, ADA) == 3600
        assert logged(board) == []


def test_the_forms_of_a_session_are_bounded() -> None:
    session = Session(1, "hash", 0.0, 0.0, "token")
    keys = [session.issue("it") for _ in range(MOST_FORMS + 1)]
    assert list(session.forms) == keys[1:]


async def test_a_new_caller_cannot_take_a_readers_name(tmp_path: Path) -> None:
    async with shown(tmp_path, more='[pages]\nreaders = ["Jane"]\n') as (board, _):
        with board.books() as desk, pytest.raises(NameTaken):
            callers.register(desk, "jane", "hash")
        with board.books() as desk:
            (doubt,) = [each for each in people.doubts(desk, board.config.path) if "Jane" in each]
    assert doubt.startswith("[pages] readers names Jane, who is not registered")


async def test_an_event_is_started_early_and_taken_back(tmp_path: Path) -> None:
    async with shown(tmp_path) as (board, browser):
        terminal = await logged_on(board, "Ada")
        await terminal.until("minutes today")
        await browser.logs_on()
        offered = (await browser.get("/acts")).text
        assert "Start a system event early" in offered
        assert "Take the event back" not in offered
        asked = await asks(browser, "event-start", None, name="", minutes="30", notice="2")
        assert (
            "Mail hour closes the board from 12:02 to 12:32, 30 minutes, in place of the one at"
            " 2026-11-21 03:00."
        ) in asked.text
        place, form = filled(asked)
        assert "Mail hour closes the board from 12:02" in (await browser.post(place, form)).text
        await terminal.until("The sysop starts Mail hour early")
        assert "Mail hour is from 12:02" in (await browser.get("/")).text
        assert (
            "It was started early: door event end takes it back." in (await browser.get("/")).text
        )
        again = await asks(browser, "event-start", None, name="", minutes="", notice="")
        assert (again.status, "was started early already" in again.text) == (409, True)
        wrong = await asks(browser, "event-start", None, name="", minutes="0", notice="")
        assert (wrong.status, "takes 1 to 10,080." in wrong.text) == (400, True)
        assert "Take the event back" in (await browser.get("/acts")).text
        ended = filled(await asks(browser, "event-end", None))
        assert "Mail hour is taken back" in (await browser.post(*ended)).text
        await terminal.until("The sysop takes Mail hour back")
        assert [line[0] for line in logged(board)[:2]] == ["Sysop", "Sysop"]
