"""An authenticator's code as the second step of a log-on to the pages."""

from __future__ import annotations

import asyncio
import base64
import re
from pathlib import Path

import pytest

from door.defence import recovery as codes
from door.desk.pages.second_step import STEP_SECONDS, address_of, code_at, qr_of, step_of
from tests.door.desk.pages.test_pages import Browser, shown
from tests.door.playing import Table, hand
from tests.door.shell import Shell
from tests.world import PASSWORD, World
from timebank.callers import callers, recovery, second_step, sysop_log
from timebank.callers.second_step import SecondStep
from timebank.ledger.schema import stamp

# RFC 6238, appendix B: the secret of SHA-1, instants, codes of eight digits.
RFC_SECRET = base64.b32encode(b"12345678901234567890").decode()
RFC = {
    59: "94287082",
    1111111109: "07081804",
    1111111111: "14050471",
    1234567890: "89005924",
    2000000000: "69279037",
    20000000000: "65353130",
}


@pytest.mark.parametrize(("at", "code"), RFC.items())
def test_codes_match_the_examples_of_the_rfc(at: int, code: str) -> None:
    assert code_at(RFC_SECRET, at // STEP_SECONDS, digits=8) == code
    assert step_of(RFC_SECRET, code[2:], at, 0) == at // 30


def test_a_code_is_good_for_a_while_and_once() -> None:
    at = 1_000_000_020
    now = at // 30
    code = code_at(RFC_SECRET, now)
    assert step_of(RFC_SECRET, f"{code[:3]} {code[3:]}", at + 30, 0) == now
    assert step_of(RFC_SECRET, code, at - 30, 0) == now
    assert step_of(RFC_SECRET, code, at + 60, 0) is None
    assert step_of(RFC_SECRET, code, at - 60, 0) is None
    assert step_of(RFC_SECRET, code, at, now) is None
    for wrong in ("", code[:5], f"{code}0", "１２３４５６", "abcdef"):
        assert step_of(RFC_SECRET, wrong, at, 0) is None
    assert step_of("no secret", code, at, 0) is None


def test_the_key_is_drawn_for_a_phone() -> None:
    pytest.importorskip("segno")
    drawn = qr_of(address_of(RFC_SECRET, "Ann", "The Board"))
    assert drawn.startswith("<svg")
    assert "style" not in drawn, "the policy of the pages forbids it"


def code_now(board: World, secret: str) -> str:
    return code_at(secret, stamp(board.clock.now()) // STEP_SECONDS)


async def sets_up(board: World, browser: Browser) -> str:
    page = await browser.get("/second-step")
    secret = re.findall(r"<code>([A-Z2-7 ]+)</code>", page.body)[0].replace(" ", "")
    form = re.findall(r'name="form" value="([^"]+)"', page.body)[0]
    wrong = await browser.post("/second-step", {"form": form, "code": "000000"})
    assert (wrong.status, "That code is not right" in wrong.text) == (403, True)
    done = await browser.post("/second-step", {"form": form, "code": code_now(board, secret)})
    assert "These pages ask you for a code" in done.text
    return secret


async def logs_on(browser: Browser, code: str) -> int:
    form = {"name": "Sysop", "word": PASSWORD, "code": code}
    return (await browser.post("/log-on", form)).status


async def test_a_sysop_with_an_authenticator_needs_password_and_code(tmp_path: Path) -> None:
    async with shown(tmp_path) as (board, browser):
        await browser.logs_on()
        secret = await sets_up(board, browser)
        used = code_now(board, secret)
        for number, code in enumerate(("", used, "000000", "12345")):
            browser.address = f"192.0.2.{number + 20}"
            assert await logs_on(browser, code) == 403, "each code works once"
            await board.clock.advance(600)
        code = code_now(board, secret)
        assert await logs_on(browser, code) == 303
        other = Browser(browser.pages, address="192.0.2.99")
        assert await logs_on(other, code) == 403
        with board.books() as desk:
            lines = [each.what for each in sysop_log.entries(desk, None, 9) if each.by == "Sysop"]
        assert [line for line in lines if "Logged on" not in line] == [
            "Set up an authenticator for the pages"
        ]


async def test_wrong_codes_count_like_wrong_passwords(tmp_path: Path) -> None:
    async with shown(tmp_path) as (board, browser):
        await browser.logs_on()
        secret = await sets_up(board, browser)
        await board.clock.advance(60)
        browser.address = "192.0.2.8"  # an address without an earlier log-on
        assert [await logs_on(browser, "000000") for _ in range(2)] == [403, 403]
        form = {"name": "Sysop", "word": PASSWORD, "code": code_now(board, secret)}
        answer = await browser.post("/log-on", form)
        assert "Too many wrong passwords" in answer.text


async def test_a_recovery_code_lets_in_and_turns_it_off(tmp_path: Path) -> None:
    async with shown(tmp_path) as (board, browser):
        await browser.logs_on()
        secret = await sets_up(board, browser)
        code = codes.new_code()
        digest = codes.digest_of(code)
        assert digest is not None
        with board.books() as desk:
            who = callers.number_named(desk, "Sysop")
            recovery.replace(desk, who, recovery.secrets_of(desk, who), digest)
        assert await logs_on(browser, codes.new_code()) == 403
        assert await logs_on(browser, code) == 303
        assert "You log on with your password alone." in (await browser.get("/second-step")).text
        again = await sets_up(board, browser)
        assert again != secret
        await board.clock.advance(60)
        form = re.findall(r'name="form" value="([^"]+)"', (await browser.get("/")).body)[0]
        off = {"form": form, "code": code_now(board, again)}
        assert (await browser.post("/second-step", {**off, "form": "made up"})).status == 403
        assert "password alone" in (await browser.post("/second-step", off)).text
        assert await logs_on(browser, "") == 303


async def test_the_sysop_turns_it_off_for_a_lost_phone(tmp_path: Path) -> None:
    async with shown(tmp_path) as (board, browser):
        await browser.logs_on()
        await sets_up(board, browser)
        shell = Shell(board.config.path)
        result = await asyncio.to_thread(shell, "callers", "second-step-off", "Sysop")
        assert "no longer asks Sysop for a code" in result.output
        assert await logs_on(browser, "") == 303


async def test_a_bet_that_is_remembered_brings_nothing_back(ada: Table) -> None:
    with ada.board.books() as desk:
        who = callers.number_named(desk, "Ada")
        second_step.turn_on(desk, who, SecondStep(RFC_SECRET, 7), "Ada")
    await ada.bets(2, hand("stay", ends="win"))
    await ada.stands()
    used = SecondStep(RFC_SECRET, 8)
    with ada.board.books() as desk:
        assert second_step.use(desk, who, used)
    await ada.bets(3, hand("stay", ends="win"))
    await ada.stands()
    with ada.board.books() as desk:
        assert second_step.of_caller(callers.get(desk, who)) == used
