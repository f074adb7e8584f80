"""The teller's window on line: every movement of minutes, as callers type it and read it."""

from dataclasses import replace
from pathlib import Path

import pytest

from door.lobby.teller import COMMANDS
from door.lobby.window import SERVICES
from tests.door.banking import (
    SCREENS,
    WINDOW,
    at_the_window,
    gives,
    hears,
    last_column_is_empty,
    moves,
    names_receiver,
    page,
    sends,
    types_amount,
    window_toml,
)
from tests.door.visiting import (
    MENU,
    MINUTE,
    TABLE,
    event,
    known,
    seated,
    sysop_toml,
)
from tests.terminal import MODERN, Profile
from tests.world import World, world
from timebank.calls.arrival import host_caller
from timebank.keeping.caller_acts import set_muted
from timebank.language import LANGUAGES, Viewer, _, speaking_to

HOUR = 60 * MINUTE


TOML = window_toml()
painted_and_lines = pytest.mark.parametrize("profile", SCREENS.values(), ids=SCREENS.keys())


# Acts.


@painted_and_lines
async def test_minutes_are_deposited_and_withdrawn(board: World, profile: Profile) -> None:
    ada = await at_the_window(board, "Ada", profile=profile)
    await moves(ada, "d", "20", "20 minutes")
    assert (ada.has["online"], ada.has["bank"]) == (40 * MINUTE, 20 * MINUTE)
    await moves(ada, "w", "5", "5 minutes")
    assert (ada.has["online"], ada.has["bank"]) == (45 * MINUTE, 15 * MINUTE)
    assert ada.ledger[-2:] == [("deposit", 20 * MINUTE), ("withdraw", 5 * MINUTE)]


@painted_and_lines
async def test_minutes_are_borrowed_and_repaid(board: World, profile: Profile) -> None:
    ada = await at_the_window(board, "Ada", profile=profile)
    await moves(ada, "b", "30", "30 minutes")
    assert (ada.has["online"], ada.has["loan"]) == (90 * MINUTE, -30 * MINUTE)
    await moves(ada, "r", "10", "10 minutes")
    assert (ada.has["online"], ada.has["loan"]) == (80 * MINUTE, -20 * MINUTE)


@painted_and_lines
async def test_minutes_are_sent_with_a_line_of_message(board: World, profile: Profile) -> None:
    board.enter("Bob")
    ada = await at_the_window(board, "Ada", saved=30, profile=profile)
    await sends(ada, "bob", 10, "for the tea")
    await hears(ada, "10 minutes sent to Bob.")
    assert ada.has["bank"] == 20 * MINUTE
    assert board.balances("Bob")["bank"] == 10 * MINUTE
    assert board.lines("Bob")[-1].why == '10 minutes sent by Ada to Bob: "for the tea"'


async def test_the_window_shows_balances_and_remaining_limits(tmp_path: Path) -> None:
    toml = sysop_toml(
        events=event("Mail hour", "12:30"), timebank="known_days = 0\nlargest_deposit = 40"
    )
    async with world(tmp_path, toml=toml) as board:
        ada = await at_the_window(board, "Ada", saved=45)
        for row in (
            "Bank                        45:00",
            "Time left                   30:00",
            "Available after Mail hour   30:00",
            "Owed                         0:00",
            "Deposit                     25:00",
            "Withdraw                     0:00",
            "Transfer                    45:00",
            "Next event: Mail hour at 12:30",
        ):
            assert row in ada.terminal.picture
        await moves(ada, "d", "15", "15 minutes")
        for row in (
            "Bank                      1:00:00",
            "Time left                   15:00",
            "Available after Mail hour   30:00",
            "Deposit                     10:00",
            "Withdraw                    15:00",
        ):
            assert row in ada.terminal.picture


async def test_a_new_days_first_line_shows_at_the_window(
    board: World,
) -> None:
    """The day's first ledger line brings its minutes, whatever its cause."""
    ada = await at_the_window(board, "Ada")
    await ada.presses("d").is_asked("Deposit how much")
    await ada.presses("10\r").is_asked("Deposit 10 minutes?")
    board.clock.suspend(12 * HOUR)
    await ada.presses("y").sees("You have 60 minutes today.")
    await hears(ada, "10 minutes deposited.")
    assert ada.has["bank"] == 10 * MINUTE


async def test_an_amount_is_minutes_or_hours_and_minutes(tmp_path: Path) -> None:
    async with world(tmp_path, toml=window_toml(minutes_per_day=300)) as board:
        ada = await at_the_window(board, "Ada", saved=300)
        await moves(ada, "w", "0:45", "45 minutes")
        ada.presses("d")
        await ada.is_asked("Deposit how much? Up to 60 minutes, or max (Enter for none):")
        ada.presses("1:75\r")
        await ada.sees("Type minutes, such as 90, or hours and minutes, such as 1:30, or max.")
        await ada.presses("1:0\r").is_asked("Deposit how much")
        await types_amount(ada, "Deposit", "1:00", "60 minutes")
        await hears(ada, "60 minutes deposited.")
        assert ada.has["bank"] == 315 * MINUTE


@painted_and_lines
@pytest.mark.parametrize("word", ["max", "MAX"])
async def test_max_is_as_much_as_one_can(tmp_path: Path, profile: Profile, word: str) -> None:
    async with world(tmp_path, toml=window_toml("known_days = 0\nlargest_deposit = 25")) as board:
        ada = await at_the_window(board, "Ada", profile=profile)
        await moves(ada, "d", word, "25 minutes")
        assert (ada.has["online"], ada.has["bank"]) == (35 * MINUTE, 25 * MINUTE)


async def test_max_is_no_more_than_is_left_when_it_is_done(tmp_path: Path) -> None:
    async with world(tmp_path, toml=window_toml("known_days = 0\nlargest_deposit = 90")) as board:
        ada = await at_the_window(board, "Ada")
        await board.pass_time(7)
        await ada.presses("d").is_asked("Up to 54 minutes, or max")
        await ada.presses("max\r").is_asked("Deposit 54 minutes?")
        await board.pass_time(MINUTE)
        ada.presses("y")
        await hears(ada, "53 minutes deposited.")
        assert ada.has["bank"] == 53 * MINUTE


async def test_the_prompt_for_an_amount_explains_itself(board: World) -> None:
    ada = await at_the_window(board, "Ada")
    ada.presses("d")
    await ada.is_asked("Deposit how much? Up to 55 minutes, or max (Enter for none):")
    await ada.presses("?").sees("or max for as much as you can.")
    await ada.presses(" ").is_asked("Deposit how much?")
    await ada.presses("\r").is_asked(WINDOW)
    assert ada.has["bank"] == 0


ESC = "\x1b"
TO_AMOUNT, TO_ECHO, TO_NAME = (
    ("d", "Deposit how much"),
    ("10\r", "Deposit 10 minutes?"),
    ("t", "Send to:"),
)
# Keys, and the next question.
WAYS_BACK = (
    (TO_AMOUNT, (ESC, WINDOW)),
    (TO_AMOUNT, ("\r", WINDOW)),
    (TO_AMOUNT, ("0\r", WINDOW)),
    (TO_AMOUNT, TO_ECHO, ("n", "Deposit how much"), ("\r", WINDOW)),
    (TO_AMOUNT, TO_ECHO, (ESC, "Deposit how much"), ("\r", WINDOW)),
    (TO_NAME, (ESC, WINDOW)),
    (TO_NAME, ("\r", WINDOW)),
    (TO_NAME, ("Bob\r", "Send how much"), (ESC, WINDOW)),
    (
        *(TO_NAME, ("Bob\r", "Send how much"), ("9\r", "Send 9 minutes to Bob?")),
        *(("y", "Add a note"), (f"well, no{ESC}", WINDOW)),
    ),
)


@painted_and_lines
async def test_an_amount_that_is_abandoned_moves_nothing(board: World, profile: Profile) -> None:
    """By Esc, an empty line, or nothing; at the amount, at its echo, at the name and the note."""
    board.enter("Bob")
    ada = await at_the_window(board, "Ada", saved=30, profile=profile)
    before = ada.ledger
    for way in WAYS_BACK:
        for keys, asked in way:
            await ada.presses(keys).is_asked(asked)
    assert ada.ledger == before


async def test_a_misspelt_name_gets_suggestions(board: World) -> None:
    board.enter("Barbarella")
    ada = await at_the_window(board, "Ada", saved=30)
    await names_receiver(ada, "Barbara|04")
    await ada.sees("There is no caller of that name. Do you mean Barbarella?")
    await ada.is_asked("Send to:")
    ada.presses("Ada\r")
    await hears(ada, "These minutes are yours already.")
    assert ada.has["bank"] == 30 * MINUTE


async def test_a_caller_of_another_board_can_be_named_however_long_the_name_is(
    board: World,
) -> None:
    name = "Alexander the Great@Babylon on the Euphrates"
    with board.books() as desk:
        assert (
            host_caller(desk, "Babylon on the Euphrates", "1", "Alexander the Great").name == name
        )
    ada = await at_the_window(board, "Ada", saved=30)
    await names_receiver(ada, name)
    await ada.is_asked("Send how much?")


async def test_minutes_are_deposited_at_log_off_on_request(tmp_path: Path) -> None:
    async with world(tmp_path, toml=window_toml("largest_deposit = 40")) as board:
        ada = await at_the_window(board, "Ada")
        ada.presses("a")
        await hears(ada, "leftover minutes are banked when you log off.")
        await ada.presses("q").is_asked(MENU)
        await ada.logs_off()
        assert "40 minutes deposited at log-off." in ada.screen
        await board.settled()
        assert ada.ledger[-1] == ("deposit", 40 * MINUTE)
        # A call that ends at once costs a second.
        assert (ada.has["online"], ada.has["bank"]) == (20 * MINUTE - 1, 40 * MINUTE)


async def test_the_deposit_at_log_off_is_turned_off_again(board: World) -> None:
    ada = await at_the_window(board, "Ada")
    ada.presses("a")
    await hears(ada, "banked when you log off.")
    ada.presses("a")
    await hears(ada, "Auto-deposit is off.")
    await ada.presses("q").is_asked(MENU)
    await ada.logs_off()
    assert "deposited" not in ada.screen
    await board.settled()
    assert ada.has["bank"] == 0


async def test_unwritable_books_do_not_delay_a_goodbye(tmp_path: Path) -> None:
    async with world(tmp_path, toml=TOML, busy_seconds=0.02) as board:
        ada = await at_the_window(board, "Ada")
        ada.presses("a")
        await hears(ada, "banked when you log off.")
        await ada.presses("q").is_asked(MENU)
        with board.database.transaction(board.config.bank, board.clock.now()):
            await ada.logs_off()
            assert "deposited" not in ada.screen


# Accounts of others, and one's own history.


@painted_and_lines
async def test_accounts_are_listed_page_by_page(board: World, profile: Profile) -> None:
    for letter in "BCDEFGHJKMNPQRSTUVWXYZ":
        board.enter(f"{letter}akermann")
    ada = await at_the_window(board, "Ada", profile=profile)
    await ada.presses("l").is_asked("Name contains (Enter for all):")
    ada.presses("\r")
    names = await page(ada)
    assert "Accounts (23) (1 of 2)" in names
    assert "Bakermann" in names
    ada.presses("n")
    assert "Zakermann" not in names
    names = await page(ada)
    assert "Zakermann" in names
    assert "Bakermann" not in names
    await ada.presses("q").is_asked(WINDOW)


@pytest.mark.parametrize("columns", [80, 40])
async def test_accounts_of_others_show_public_facts_and_no_balance(
    board: World, columns: int
) -> None:
    for number in range(7):
        board.enter(f"Saver{number}", saved=(70 - number) * 1000)
    bob = known(board, "Bob")
    await bob.visits()
    await bob.logs_off()
    board.clock.suspend(24 * HOUR)
    ada = await at_the_window(board, "Ada", profile=replace(MODERN, columns=columns))
    awards = {
        "Ada": ("21 November 2026", "today", ""),
        "Bob": ("20 November 2026", "yesterday", ""),
        "Saver4": ("20 November 2026", "never", "no. 5"),
        "Saver5": ("20 November 2026", "never", ""),
    }
    for name, (since, last, place) in awards.items():
        await ada.presses(f"l{name}\r").sees("Accounts (1)")
        await ada.is_asked("Press any key")
        shown = " ".join(" ".join(ada.terminal.lines[1:17]).split())
        if columns == 80:
            rest = "Caller Member since Last call Richest"
            assert shown == f"{rest} {name} {since} {last} {place}".strip()
        else:
            rest = f"Richest: {place}" if place else ""
            assert shown == f"{name} Member since {since} Last call: {last} {rest}".strip()
        await ada.presses(" ").is_asked(WINDOW)


@painted_and_lines
async def test_history_is_shown_in_words(tmp_path: Path, profile: Profile) -> None:
    toml = sysop_toml(
        events=event("Mail hour", "12:30"), timebank="known_days = 0", minutes_per_day=25
    )
    async with world(tmp_path, toml=toml) as board:
        board.enter("Bob")
        ada = await seated(board, "Ada", profile=profile)
        await ada.bets(5, "stay", ends="win")
        await board.pass_time(MINUTE)
        await ada.stays()
        await ada.presses("q").is_asked(MENU)
        await ada.goes_to_the_bank()
        await moves(ada, "d", "5", "5 minutes")
        await sends(ada, "Bob", 2, "tea & biscuits")
        await hears(ada, "2 minutes sent to Bob.")
        await ada.presses("h").sees("Your history")
        expected = [
            '20 Nov 12:01  Sent 2:00 to Bob: "tea & biscuits"',
            "20 Nov 12:01  Deposited 5:00",
            "20 Nov 12:01  Won 5:00 at Black Jack For Time",
            "20 Nov 12:00  Bet 5:00 at Black Jack For Time",
            "20 Nov 12:00  Granted 25:00 for 20 November",
        ]
        await ada.is_asked("<Q>uit")
        rows = [ada.terminal.row(row) for row in range(24)]
        shown = [line for line in expected if any(line in row for row in rows)]
        assert shown == expected, ada.terminal.picture
        places = [next(at for at, row in enumerate(rows) if line in row) for line in expected]
        assert places == sorted(places)
        await ada.presses("q").is_asked(WINDOW)


@painted_and_lines
async def test_history_is_paged_newest_first_and_loses_no_line(
    board: World, profile: Profile
) -> None:
    ada = await at_the_window(board, "Ada", profile=profile)
    long = "and a reason so long that it takes line after line of a page of his statement " * 2
    for count in range(1, 31):
        gives(board, "Ada", 1, f"gift-{count:02} {long if count % 3 == 0 else ''}")
    ada.presses("h")
    pages = [await page(ada)]
    assert "gift-30" in pages[0]
    assert "Newer" not in ada.prompt
    while "<O>lder" in ada.prompt:
        ada.presses("o")
        pages.append(await page(ada))
    gifts = [words[:2] for words in "".join(pages).split("gift-")[1:]]
    assert gifts == [f"{count:02}" for count in range(30, 0, -1)]
    assert "Granted 1:00:00" in pages[-1]
    for before in reversed(pages[:-1]):
        ada.presses("n")
        assert await page(ada) == before
    await ada.presses("q").is_asked(WINDOW)


# Where the window is.


@painted_and_lines
async def test_the_window_is_reached_from_the_table_and_leads_back_to_it(
    board: World, profile: Profile
) -> None:
    ada = await seated(board, "Ada", profile=profile)
    await ada.presses("t").is_asked(WINDOW)
    assert ada.caller.place == "Time bank"
    await moves(ada, "d", "50", "50 minutes")
    await ada.presses("q").is_asked(TABLE)
    assert ada.caller.place == "Black Jack For Time"
    await ada.bets(5, "stay", ends="win")
    await ada.stays()
    assert (ada.has["online"], ada.has["bank"]) == (15 * MINUTE, 50 * MINUTE)
    await ada.presses("q").is_asked(MENU)


async def test_the_time_left_in_the_window_ticks_as_the_status_line_does(board: World) -> None:
    ada = await at_the_window(board, "Ada")
    await board.pass_time(7)
    await ada.sees_time_left(HOUR - 7)
    assert "Time left                   59:53" in ada.terminal.picture


async def test_a_window_that_is_made_larger_shows_the_same(board: World) -> None:
    ada = await at_the_window(board, "Ada", saved=30)
    await ada.presses("d").is_asked("Deposit how much")
    ada.presses("1")
    ada.terminal.resize(100, 30)
    await ada.is_asked("(Enter for none): 1")
    assert "Bank                        30:00" in ada.terminal.picture
    ada.presses("0\ry")
    await hears(ada, "10 minutes deposited.")
    assert last_column_is_empty(ada)


async def test_a_muted_caller_reads_that_minutes_go_without_a_note(board: World) -> None:
    board.enter("Bob")
    ada = await at_the_window(board, "Ada", saved=30)
    with board.books() as desk:
        set_muted(desk, ada.caller.record.id, True, "the test")
    await names_receiver(ada, "Bob")
    await types_amount(ada, "Send", "10", "10 minutes to Bob")
    await ada.sees("The sysop has muted you: nobody sees what you say.")
    await ada.is_asked("Send the minutes without a note?")
    await ada.presses("n").is_asked("Your choice")
    assert ada.has["bank"] == 30 * MINUTE
    await names_receiver(ada, "Bob")
    await types_amount(ada, "Send", "10", "10 minutes to Bob")
    await ada.is_asked("Send the minutes without a note?")
    ada.presses("y")
    await hears(ada, "10 minutes sent to Bob.")
    assert ada.has["bank"] == 20 * MINUTE


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_choice_is_cut_where_two_stand_side_by_side(language: str) -> None:
    with speaking_to(Viewer(language)):
        assert [word for word in COMMANDS.values() if len(_(word)) > 14] == []


def test_no_service_of_the_bank_takes_the_key_of_another_choice() -> None:
    assert {key: COMMANDS[key] for key in SERVICES} == {
        key: service.label for key, service in SERVICES.items()
    }
