"""The sysop's own screens: shown instead of ours, with their fields filled, and harmless."""

import os
import random
from dataclasses import replace
from pathlib import Path

import pytest

from ansi import art
from ansi.art import Art
from door.lobby import texts
from tests.door.banking import WINDOW, at_the_window, hears, last_column_is_empty, moves
from tests.door.visiting import MENU, MINUTE, Guest, known, sysop_toml, visitor
from tests.terminal import MODERN, REFUSING, SYNCTERM
from tests.world import World, world
from tools.draw.paper import as_file

OPEN = sysop_toml(events="", timebank="known_days = 0")

BANK = (
    "+------------------------------+\r\n"
    "| \x1b[1;33mFirst Bank of@NAME..........@\x1b[0m|\r\n"
    "| saved @BALANCE.@ left @TIMELEFT@|\r\n"
    "| owed  @LOAN@| held @HELD@|\r\n"
    "| @DEPOSIT@ @WITHDRAW@ @TRANSFER@ @BORROW@|\r\n"
    "| next @EVENT..@| auto @AUTO@|\r\n"
    "| @MANAGER@ @ @@ @name@ ann@example.org |\r\n"
    "+------------------------------+\r\n"
)
FILLED = (
    "+------------------------------+",
    "| First Bank ofAda             |",
    "| saved 30:00      left 1:00:00   |",
    "| owed  0:00  | held 0:00  |",
    "| 55:00     30:00      30:00      30:00   |",
    "| next none     | auto no    |",
    "| @MANAGER@ @ @@ @name@ ann@example.org |",
    "+------------------------------+",
)


def draws(folder: Path, name: str, picture: str | bytes) -> None:
    """Put a screen into the sysop's texts folder."""
    texts = folder / "texts"
    texts.mkdir(exist_ok=True)
    data = picture if isinstance(picture, bytes) else picture.encode("cp437")
    (texts / name).write_bytes(data)


async def leaves_the_bank(guest: Guest) -> None:
    await guest.presses("q").is_asked(MENU)


# Which screen each caller gets.


async def test_a_caller_is_greeted_with_the_sysops_screen(tmp_path: Path) -> None:
    text = "\x1b[2J\x1b[3;10H\x1b[1;31mCome ░▒▓ in\x1b[0m\r\n"
    picture = as_file(text, "WELCOME", 1, 80, 1).replace(b"\x1a", b"\x1aCOMNT" + b"not for callers")
    draws(tmp_path, "welcome.ans", picture)
    draws(tmp_path, "welcome.asc", "Come in, plainly\r\n|12with a bar\r\n")
    async with world(tmp_path, toml=OPEN) as board:
        ada = known(board, "Ada")
        await ada.dials(SYNCTERM)
        assert ada.terminal.row(3) == " " * 9 + "Come ░▒▓ in"
        assert "The Test Board" not in ada.screen
        for hidden in ("SAUCE", "WELCOME", "Black Jack For Time", "not for callers"):
            assert hidden not in ada.terminal.transcript
        bob = Guest(board, "Bob")
        await bob.dials(REFUSING)
        await bob.sees("Come in, plainly")
        assert "|12with a bar" in bob.screen
        assert b"\x1b" not in bob.terminal.received


async def test_a_caller_logs_off_with_the_sysops_screen(tmp_path: Path) -> None:
    draws(tmp_path, "goodbye.ans", "\x1b[32mSee you, in colour\x1b[0m\r\n")
    draws(tmp_path, "goodbye.asc", "See you, plainly\r\n")
    async with world(tmp_path, toml=OPEN) as board:
        ada = await visitor(board, "Ada")
        await ada.logs_off()
        assert "See you, in colour" in ada.screen
        assert "Goodbye, Ada. Call again!" in ada.screen
        bob = await visitor(board, "Bob", profile=REFUSING)
        await bob.logs_off()
        assert "See you, plainly" in bob.screen


async def test_a_caller_gets_a_screen_in_their_language(tmp_path: Path) -> None:
    async with world(tmp_path, toml=OPEN) as board:
        ada = await visitor(board, "Ada")

        def shown(name: str) -> Art | None:
            return texts.find(ada.caller.console, tmp_path / "texts", name)

        english = shown("news")
        await ada.presses("ylq").sees("Votre jeu, ou")
        assert english != shown("news") == art.read((texts.OURS / "news.fr.ans").read_bytes())
        assert shown("vegas") == art.read((texts.OURS / "vegas.ans").read_bytes())
        # The sysop's own come before ours, and one in the language before one for everybody.
        draws(tmp_path, "news.asc", "The Gazette")
        assert shown("news") == art.read(b"The Gazette")
        draws(tmp_path, "news.fr.asc", "La Gazette")
        assert shown("news") == art.read(b"La Gazette")


async def test_a_painting_terminal_gets_the_plain_screen_if_it_is_the_only_one(
    tmp_path: Path,
) -> None:
    draws(tmp_path, "bank.asc", "Saved: @BALANCE@\r\n")
    async with world(tmp_path, toml=OPEN) as board:
        ada = await at_the_window(board, "Ada", saved=30)
        await ada.sees("Saved: 30:00")


async def test_plain_lines_get_ours_where_the_sysop_has_drawn_in_colour_only(
    tmp_path: Path,
) -> None:
    draws(tmp_path, "bank.ans", "Saved: @BALANCE@\r\n")
    async with world(tmp_path, toml=OPEN) as board:
        ada = await at_the_window(board, "Ada", saved=30, profile=REFUSING)
        assert "You can still" in ada.screen
        assert "Saved: " not in ada.screen


async def test_forty_columns_get_a_screen_of_their_own(tmp_path: Path) -> None:
    narrow = replace(SYNCTERM, columns=40, rows=25)
    draws(tmp_path, "goodbye.ans", "Wide goodbye\r\n")
    draws(tmp_path, "goodbye.40.ans", "Narrow goodbye\r\n")
    async with world(tmp_path, toml=OPEN) as board:
        ada = await visitor(board, "Ada", profile=narrow)
        await ada.presses("g").sees("Bank your")
        await ada.presses("y").sees("Call again!")
        assert "Narrow goodbye" in ada.screen
        bob = Guest(board, "Bob")
        await bob.dials(narrow)
        assert "F O R" in bob.terminal.row(8)
        assert "of 16 nodes busy, 60 min a day" in bob.terminal.row(19)


async def test_the_greetings_figures_fit_forty_columns(tmp_path: Path) -> None:
    most = sysop_toml(events="", minutes_per_day=1440, nodes=9999)
    async with world(tmp_path, toml=most) as board:
        ada = Guest(board, "Ada")
        await ada.dials(replace(SYNCTERM, columns=40, rows=25))
        assert "0 of 9999 nodes busy, 1440 min a day" in ada.terminal.row(19)


async def test_a_sysop_is_named_once_there_is_a_name(tmp_path: Path) -> None:
    for sysop, ours, own in (
        ("Sysop", "=======                     ", "[        ][            ]"),
        ("Jane", "======= Sysop Jane", "[Jane    ][Sysop Jane  ]"),
    ):
        toml = OPEN.replace("[board]", f'[board]\nsysop = "{sysop}"', 1)
        folder = tmp_path / sysop
        folder.mkdir()
        async with world(folder, toml=toml) as board:
            ada = Guest(board, "Ada")
            await ada.dials(
                replace(MODERN, terminal_types=("vt100",), charset_names=(), environment={})
            )
            assert ours.strip() in ada.terminal.row(1)
            assert ("Sysop" in ada.terminal.row(1)) == (sysop == "Jane")
            draws(folder, "welcome.asc", "[@SYSOP..@][@RUNBY......@]\r\n")
            bob = Guest(board, "Bob")
            await bob.dials(REFUSING)
            assert own.split() == bob.screen.split("plain lines.")[1].split()[: len(own.split())]


# Bright backgrounds.

PLAIN = as_file("\x1b[5;31;44mshine\x1b[0m\r\n", "Ice", 1, 80, 1)
ICE = PLAIN[:-23] + b"\x01" + PLAIN[-22:]  # iCE colours


async def test_bright_backgrounds_are_sent_in_each_terminals_own_way(tmp_path: Path) -> None:
    draws(tmp_path, "welcome.ans", ICE)
    old = replace(SYNCTERM, terminal_types=("ansi",))
    async with world(tmp_path, toml=OPEN) as board:
        board.enter("Ada")
        shown = []
        for profile in (MODERN, SYNCTERM, old):
            guest = Guest(board, "Ada")
            await guest.dials(profile)
            shown.append(guest.terminal.transcript)
    assert "\x1b[31;44;104mshine" in shown[0]
    assert "\x1b[?33h" in shown[1]
    assert "\x1b[31;44;5mshine" in shown[1]
    assert "\x1b[31;44mshine" in shown[2]
    assert "?33h" not in shown[0] + shown[2]


# Fields.


async def test_fields_of_the_bank_are_filled_as_wide_as_they_stand(tmp_path: Path) -> None:
    draws(tmp_path, "bank.ans", BANK)
    async with world(tmp_path, toml=OPEN) as board:
        ada = await at_the_window(board, "Ada", saved=30)
        assert [ada.terminal.row(row) for row in range(8)] == list(FILLED)
        await moves(ada, "d", "20", "20 minutes")
        await ada.sees("| saved 50:00      left 40:00     |")
        ada.presses("a")
        await hears(ada, "auto yes   |")
        assert ada.has["bank"] == 50 * MINUTE


async def test_a_value_that_is_wider_than_its_field_is_cut(tmp_path: Path) -> None:
    draws(tmp_path, "bank.ans", "[@NAME@]\r\n")
    async with world(tmp_path, toml=OPEN) as board:
        ada = await at_the_window(board, "Bartholomew Q")
        assert ada.terminal.row(0) == "[Bartho]"


async def test_a_screen_redrawn_by_the_sysop_is_shown_at_once(tmp_path: Path) -> None:
    draws(tmp_path, "bank.ans", "The first one\r\n")
    async with world(tmp_path, toml=OPEN) as board:
        ada = await at_the_window(board, "Ada")
        await ada.sees("The first one")
        draws(tmp_path, "bank.ans", "The second one\r\n")
        await leaves_the_bank(ada)
        await ada.goes_to_the_bank()
        await ada.sees("The second one")


@pytest.mark.parametrize("profile", [MODERN, REFUSING], ids=["painted", "lines"])
async def test_in_another_mode_the_sysops_screen_does_not_hide_the_explanation(
    tmp_path: Path, profile
) -> None:
    draws(tmp_path, "bank.asc", "The bank\r\n")
    async with world(tmp_path, toml=sysop_toml(events="", timebank='mode = "none"')) as board:
        ada = await at_the_window(board, "Ada", profile=profile)
        await ada.sees("This board has no time bank")
        await ada.sees("The bank")


async def test_a_header_is_as_tall_as_its_drawing(tmp_path: Path) -> None:
    draws(tmp_path, "menu.ans", "\x1b[2J\x1b[4;1Hrow 4\x1b[1;1Hrow 1")
    async with world(tmp_path, toml=OPEN) as board:
        ada = await visitor(board, "Ada", profile=replace(MODERN, rows=40))
        rows = [ada.terminal.row(row).strip() for row in range(30)]
        first = next(number for number, row in enumerate(rows) if row.startswith("row 1"))
        assert rows[first + 3].startswith("row 4")
        assert rows[first + 4].startswith("Good to see you, Ada."), ada.terminal.picture


# Harm.

HOSTILE = (
    "\x1b[24;1HSTATUS\x1b[23;1HPROMPT\x1b[20;1HMESSAGE\x1b[22;79HX"
    "\x1b[999;999HY\x1b[1;80HEDGE\x1b[19;1HLAST ROW"
    '\x1b[?25l\x1b[5;10r\x1b[6n\x1b]0;title\x07\x1bc\x1b[=7h\x1b[0;59;"del *";13p'
    "\x1b[1;1Hhere"
) + "\n" * 200


async def test_hostile_movements_touch_neither_messages_nor_prompt_nor_status(
    tmp_path: Path,
) -> None:
    draws(tmp_path, "bank.ans", HOSTILE)
    async with world(tmp_path, toml=OPEN) as board:
        ada = await at_the_window(board, "Ada", saved=30)
        await moves(ada, "d", "5", "5 minutes")
        assert ada.terminal.row(0).startswith("here")
        assert ada.terminal.row(18).startswith("LAST ROW")
        for word in ("STATUS", "PROMPT", "MESSAGE", "EDGE"):
            assert word not in ada.screen
        assert "5 minutes deposited." in ada.terminal.row(19)
        assert ada.prompt.strip().startswith("Your choice")
        assert ada.status.strip().startswith("Node 1")
        assert last_column_is_empty(ada)
        for sequence in ("\x1b[5;10r", "\x1b]0;", "\x1bc", "\x1b[=7h", "13p", "\x1b[6n"):
            assert sequence not in ada.terminal.transcript


async def sees_the_bank_and_leaves(board: World, name: str, profile) -> Guest:
    """Go through every screen that a sysop may have drawn."""
    guest = await visitor(board, name, profile=profile)
    await guest.goes_to_the_bank()
    await guest.presses("d").is_asked("Deposit how much")
    await guest.presses("5\r").is_asked("Deposit 5 minutes?")
    guest.presses("y")
    await hears(guest, "5 minutes deposited.")
    await leaves_the_bank(guest)
    await guest.logs_off()
    return guest


async def test_binary_garbage_as_a_screen_does_not_stop_a_caller(tmp_path: Path) -> None:
    garbage = random.Random(1993).randbytes(20_000)
    for name in ("welcome", "goodbye", "bank"):
        for ending in ("ans", "asc"):
            draws(tmp_path, f"{name}.{ending}", garbage)
    async with world(tmp_path, toml=OPEN) as board:
        guest = await sees_the_bank_and_leaves(board, "Ada", SYNCTERM)
        await board.settled()
        assert guest.has["bank"] == 5 * MINUTE
        assert "Goodbye, Ada. Call again!" in guest.screen


async def test_plain_lines_get_no_escape_from_an_asc_file(tmp_path: Path) -> None:
    for name in ("welcome", "goodbye", "bank"):
        draws(tmp_path, f"{name}.asc", f"\x1b[2J\x1b[5;5H\x1b[31mThis is {name}\x1b[0m\x07\r\n")
    async with world(tmp_path, toml=OPEN) as board:
        guest = await sees_the_bank_and_leaves(board, "Ada", REFUSING)
        for name in ("welcome", "goodbye", "bank"):
            assert f"This is {name}" in guest.terminal.transcript
        assert b"\x1b" not in guest.terminal.received


@pytest.mark.parametrize("mode", [0o700, 0o770, 0o777])
def test_a_link_is_followed_only_where_others_cannot_have_made_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, mode: int
) -> None:
    """A writer of the folder could make every caller read any file of the board."""
    folder, other = tmp_path / "texts", tmp_path / "other"
    folder.mkdir()
    other.write_bytes(b"what it says")
    (folder / "welcome.ans").symlink_to(other)
    folder.chmod(mode)
    shown = texts.painted(folder, "welcome")
    assert shown is not None
    assert ("what it says" in shown.text) == (mode == 0o700)
    assert ("it is a symbolic link" in caplog.text) == (mode != 0o700)


def test_a_link_of_ours_leads_to_no_link_of_others(tmp_path: Path) -> None:
    ours, shared, secret = tmp_path / "texts", tmp_path / "shared", tmp_path / "secret"
    ours.mkdir(0o700)
    shared.mkdir()
    shared.chmod(0o770)
    secret.write_bytes(b"only ours")
    (ours / "welcome.ans").symlink_to(shared / "welcome.ans")
    (shared / "welcome.ans").write_bytes(b"from the other program")
    shown = texts.painted(ours, "welcome")
    assert shown is not None
    assert "from the other program" in shown.text
    (shared / "welcome.ans").unlink()
    (shared / "welcome.ans").symlink_to(secret)
    shown = texts.painted(ours, "welcome")
    assert shown is not None
    assert "only ours" not in shown.text


def test_a_pipe_in_place_of_a_screen_does_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "welcome.ans")
    assert texts.painted(tmp_path, "welcome") == texts.painted(tmp_path / "none", "welcome")


async def test_a_screen_that_cannot_be_read_is_replaced_by_ours(tmp_path: Path) -> None:
    for name in ("welcome.ans", "bank.ans", "goodbye.ans"):
        (tmp_path / "texts" / name).mkdir(parents=True)
    async with world(tmp_path, toml=OPEN) as board:
        ada = await visitor(board, "Ada", saved=30 * MINUTE)
        await ada.goes_to_the_bank()
        await ada.sees("You can still")
        await ada.is_asked(WINDOW)
