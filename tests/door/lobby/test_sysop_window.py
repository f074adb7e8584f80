"""The Sysop item of the bank's window: access, acts, and traces."""

import pytest

from tests.door.banking import (
    SCREENS,
    WINDOW,
    at_the_window,
    gives,
    is_refused_at_once,
    last_column_is_empty,
    number,
    page,
    types_amount,
)
from tests.door.visiting import MENU, MINUTE, Guest, visitor
from tests.terminal import MODERN, Profile
from tests.world import World
from timebank.callers import powers

ACCOUNT = "<C>redit"
WHY = "Why (Esc to go back):"
painted_and_lines = pytest.mark.parametrize("profile", SCREENS.values(), ids=SCREENS.keys())


async def at_the_sysops_side(board: World, name: str = "Sysop", profile: Profile = MODERN) -> Guest:
    sysop = await visitor(board, name, profile=profile)
    if name != "Sysop":
        gives_powers(board, name)
    await sysop.goes_to_the_bank()
    await sysop.presses("s").is_asked("<A>ccount")
    return sysop


def gives_powers(board: World, name: str) -> None:
    with board.books() as desk:
        powers.grant(desk, number(board, name, desk), "Tester")


async def looks_at(sysop: Guest, name: str) -> None:
    await sysop.presses("a").is_asked("Whose account?")
    await sysop.presses(f"{name}\r").is_asked(ACCOUNT)


async def adjusts(sysop: Guest, what: str, minutes: int, why: str) -> None:
    """Credit or debit a caller's account; the test reads the result."""
    sysop.presses(what[0].lower())
    await types_amount(sysop, what, str(minutes), f"{minutes} minutes")
    await gives_a_reason(sysop, why)


async def gives_a_reason(sysop: Guest, why: str) -> None:
    await sysop.is_asked(WHY)
    await sysop.presses(f"{why}\r").is_asked(ACCOUNT)


def log_of(board: World) -> list[tuple[str, str]]:
    """Return the sysop's log, oldest first: name and act."""
    with board.books() as desk:
        return [
            tuple(row)
            for row in desk.connection.exec_driver_sql("SELECT by, what FROM sysop_log ORDER BY id")
        ]


# Access.


async def test_callers_have_no_sysops_side(board: World) -> None:
    ada = await at_the_window(board, "Ada", saved=30)
    assert "Sysop" not in ada.screen
    before = ada.terminal.transcript
    ada.presses("sS")
    await ada.presses("w").is_asked("Withdraw how much")
    assert "sysop" not in ada.terminal.transcript[len(before) :]


@pytest.mark.parametrize("name", ["Sysop", "Cora"])
async def test_sysop_and_co_sysops_have_one(board: World, name: str) -> None:
    sysop = await at_the_sysops_side(board, name)
    await sysop.sees("Sysop window")
    await sysop.presses("q").is_asked(WINDOW)
    await sysop.presses("q").is_asked(MENU)


async def test_a_co_sysop_loses_powers_in_mid_call(
    board: World,
) -> None:
    board.enter("Ada")
    cora = await at_the_sysops_side(board, "Cora")
    await looks_at(cora, "Ada")
    cora.presses("c")
    await types_amount(cora, "Credit", "20", "20 minutes")
    await cora.is_asked(WHY)
    with board.books() as desk:
        powers.revoke(desk, number(board, "Cora", desk), "Tester")
    await cora.presses("one more\r").is_asked(WINDOW)
    assert "<S> Sysop" not in cora.terminal.picture
    assert board.balances("Ada")["bank"] == 0


# Accounts.


@painted_and_lines
async def test_an_account_is_credited_and_debited_with_a_reason(
    board: World, profile: Profile
) -> None:
    board.enter("Ada", saved=5 * MINUTE)
    sysop = await at_the_sysops_side(board, profile=profile)
    await looks_at(sysop, "ada")
    await sysop.sees("Account of Ada")
    await sysop.sees("bank              5:00")
    await adjusts(sysop, "Credit", 20, "the game fell over")
    await sysop.sees("20 minutes credited.")
    await sysop.sees("bank             25:00")
    await adjusts(sysop, "Debit", 10, "that was too much")
    await sysop.sees("10 minutes debited.")
    await sysop.sees("bank             15:00")
    assert board.balances("Ada")["bank"] == 15 * MINUTE
    assert [(line.kind, line.why) for line in board.lines("Ada")[-2:]] == [
        ("adjust", "20 minutes added by Sysop: the game fell over"),
        ("adjust", "10 minutes taken out by Sysop: that was too much"),
    ]
    assert log_of(board) == [
        ("Sysop", "20 minutes added to Ada's account: the game fell over"),
        ("Sysop", "10 minutes taken out of Ada's account: that was too much"),
    ]


async def test_anybodys_history_is_read(board: World) -> None:
    board.enter("Ada")
    gives(board, "Ada", 7, "for |12bells")
    sysop = await at_the_sysops_side(board)
    await looks_at(sysop, "Ada")
    sysop.presses("h")
    text = await page(sysop)
    assert "History of Ada" in text
    assert "7 minutes added by Tester: for │12bells" in text
    assert last_column_is_empty(sysop)
    await sysop.presses("q").is_asked(ACCOUNT)


# Freezing.


@painted_and_lines
async def test_an_account_is_frozen_and_opened_again(board: World, profile: Profile) -> None:
    ada = await at_the_window(board, "Ada", saved=30)
    sysop = await at_the_sysops_side(board, profile=profile)
    await looks_at(sysop, "Ada")
    sysop.presses("f")
    await gives_a_reason(sysop, "let us talk first")
    await sysop.sees("This time bank is frozen.")
    await ada.sees("Sysop froze your time bank: let us talk first.")
    await is_refused_at_once(ada, "d", "The sysop has frozen your account; ask them why.")
    sysop.presses("f")
    await gives_a_reason(sysop, "twice")
    await sysop.sees("Ada's account is already frozen.")
    sysop.presses("u")
    await gives_a_reason(sysop, "we talked")
    await sysop.sees("The account is open again.")
    await ada.sees("Sysop opened your time bank again: we talked.")
    await ada.presses("w").is_asked("Withdraw how much")
    assert log_of(board) == [
        ("Sysop", "Ada's account was frozen: let us talk first"),
        ("Sysop", "Ada's account was opened again: we talked"),
    ]


# The log, and notices.


@painted_and_lines
async def test_the_log_is_read_on_line(board: World, profile: Profile) -> None:
    board.enter("Ada")
    for count in range(1, 31):
        gives(board, "Ada", 1, f"gift-{count:02} |16")
    sysop = await at_the_sysops_side(board, profile=profile)
    sysop.presses("l")
    first = await page(sysop)
    assert "Sysop log, newest first (1 of 2)" in first
    bar = "|" if profile.charset == "ascii" else "│"
    assert f"20 Nov 12:00  Tester 1 minute added to Ada's account: gift-30 {bar}16" in first
    sysop.presses("n")
    second = await page(sysop)
    gifts = [words[:2] for words in (first + second).split("gift-")[1:]]
    assert gifts == [f"{count:02}" for count in range(30, 0, -1)]
    await sysop.presses("q").is_asked("<L>og")


async def test_the_caller_of_the_account_reads_of_an_act_at_once(board: World) -> None:
    ada = await visitor(board, "Ada")
    sysop = await at_the_sysops_side(board, "Cora")
    await looks_at(sysop, "Ada")
    await adjusts(sysop, "Credit", 20, "the game fell over")
    await ada.sees("In your time bank: 20 minutes added by Cora: the game fell over.")
    await ada.terminal.wait_for(lambda _: "Bank 20:00" in ada.status, "the status line")
