"""`door hand`, `door audit`: hands out of the journal, shown, replayed, and doubted."""

from __future__ import annotations

import asyncio
import json
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from door.config import config as settings
from tests.door.playing import hand, house, sit_down
from tests.door.shell import Shell, door
from tests.single_shoes import PHRASE
from tests.world import World, world

# The hands of the evening below, by number: actions, outcome, and seconds won or lost.
PLAYED = {
    1: ((), "natural", 360),
    2: (("double",), "win", 360),
    3: (("insurance",), "dealer-natural", -60),
    4: (("hit",), "bust", -180),
    5: (("hit", "hit", "hit"), "charlie", 360),
    6: ((), "push", 0),
    7: (("insurance", "stay"), "lose", -240),
    8: (("stay",), "dealer-charlie", -180),
}
OPEN = 9  # of Bob, who hung up
# Half of three coins rounds to one, so hands 3 and 7 insure one coin.
TOML = house(insurance_rounding="down", largest_bet=3)


async def play_the_evening(board: World) -> None:
    """Ada plays every hand of PLAYED with bets of three coins; Bob leaves one open."""
    ada = await sit_down(board, "Ada")
    for actions, outcome, _ in PLAYED.values():
        await ada.bets(3, hand(*actions, ends=outcome))
        await ada.does(*actions)
    bob = await sit_down(board, "Bob")
    await bob.bets(2, hand("hit"))
    await bob.does("hit")
    bob.terminal.abort()
    await bob.is_gone()


@pytest.fixture(scope="module")
def evening(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("evening")

    async def play() -> None:
        async with world(folder, toml=TOML) as board:
            await play_the_evening(board)

    asyncio.run(play())
    return folder


@dataclass(frozen=True)
class Board:
    door: Shell
    database: Path

    def sql(self, *statements: str) -> None:
        books = sqlite3.connect(self.database)
        for statement in statements:
            books.execute(statement)
        books.commit()
        books.close()

    def rows(self, query: str) -> list[tuple[object, ...]]:
        books = sqlite3.connect(self.database)
        rows = books.execute(query).fetchall()
        books.close()
        return rows


@pytest.fixture
def board(evening: Path, tmp_path: Path) -> Board:
    """Copy the evening's board so that a test can damage it."""
    shutil.copytree(evening, tmp_path, dirs_exist_ok=True)
    config = tmp_path / "sysop.toml"
    return Board(Shell(config), settings.load(config).database)


# A hand shown


def test_a_settled_hand_is_shown_whole(board: Board) -> None:
    result = board.door("hand", "7")
    assert (result.status, result.error) == (0, "")
    lines = result.output.splitlines()
    seed = hand("insurance", "stay", ends="lose").hex()
    assert lines[0] == "Hand 7: Black Jack For Time, Ada, dealt 2026-11-20 12:00:00"
    assert lines[1] == "Bet      3 minutes"
    assert lines[2].split() == ["Seal", door("verify", "--seed", seed).output.split()[1]]
    assert lines[3] == f"Seed     {seed}"
    assert lines[4] == f"Cut      {PHRASE}"
    assert lines[5] == "Shoe     1 deck, dealt from card 1 on"
    assert lines[7] == "Actions  insurance, stay"
    assert lines[8] == "Result   lose: lost 4 minutes"
    assert lines[9] == "Transfers"
    moved = [line.split()[1:5] for line in lines[10:]]
    assert moved == [
        ["0:03:00", "online", "->", "stake"],
        ["0:01:00", "online", "->", "stake"],
        ["0:01:00", "stake", "->", "house"],
        ["0:03:00", "stake", "->", "house"],
    ]


def test_the_cards_of_a_hand_follow_from_its_seed(board: Board) -> None:
    cards = next(
        line for line in board.door("hand", "8").output.splitlines() if line.startswith("Cards")
    )
    seed = hand("stay", ends="dealer-charlie").hex()
    shoe = " ".join(door("verify", "--seed", seed, "--cut", PHRASE).output.splitlines()[1:]).split()
    mine, dealers = [shoe[0], shoe[2]], [shoe[1], shoe[3], *shoe[4:7]]
    assert cards == f"Cards    player {' '.join(mine)}; dealer {' '.join(dealers)}; 7 used"


def test_a_hand_in_play_hides_hole_card_and_seed(board: Board) -> None:
    result = board.door("hand", str(OPEN))
    assert result.status == 0
    assert "Seed     not shown before the shoe is done" in result.output
    assert hand("hit").hex() not in result.output
    assert " ??; 5 used" in result.output
    assert "Actions  hit" in result.output
    assert "Result   still in play" in result.output


def test_a_hand_has_its_proof_and_one_in_play_has_no_seed_or_cards_in_it(board: Board) -> None:
    done, in_play = (json.loads(board.door("hand", n, "--proof").output) for n in ("8", str(OPEN)))
    assert done["seed"] == hand("stay", ends="dealer-charlie").hex()
    assert f"Seal     {done['seal']}" in board.door("hand", "8").output
    assert len(done["cards"]) == 7
    assert set(in_play) == {"seal", "cut", "anchor", "decks", "position", "undealt"}


def test_a_hand_in_play_has_no_json(board: Board) -> None:
    result = board.door("hand", str(OPEN), "--json")
    assert (result.status, result.output) == (2, "")
    assert result.error == f"Hand {OPEN} is still in play; its cards are not open yet.\n"


def test_an_unknown_hand_is_an_error(board: Board) -> None:
    result = board.door("hand", "10")
    assert (result.status, result.output) == (2, "")
    assert result.error == "There is no hand 10 in the books.\n"


@pytest.mark.parametrize("number", ["0", "-1", "one", "", "999999999999999999999"])
def test_an_invalid_hand_number_is_an_error(board: Board, number: str) -> None:
    result = board.door("hand", number)
    assert result.status == 2
    assert "NUMBER" in result.error


# A hand replayed


@pytest.mark.parametrize("number", PLAYED)
def test_a_replayed_hand_has_the_net_of_the_ledger(board: Board, number: int) -> None:
    actions, outcome, net = PLAYED[number]
    result = board.door("hand", str(number), "--json")
    again = json.loads(door("replay", "-", typed=result.output).output)
    assert (again["outcome"], again["net"]) == (outcome, net)
    assert json.loads(result.output)["actions"] == list(actions)
    (booked,) = board.rows(f"SELECT won - lost FROM rounds WHERE id = {number}")
    assert booked == (net,)


def test_the_two_commands_fit_in_a_pipe(board: Board) -> None:
    """The one test of these with real processes."""
    command = Path(sys.executable).with_name("door")
    shown = subprocess.run(
        [command, "hand", "5", "--json", "--config", str(board.door.config)],
        capture_output=True,
        check=True,
    )
    again = subprocess.run(
        [command, "replay", "-"], input=shown.stdout, capture_output=True, check=True
    )
    assert json.loads(again.stdout)["net"] == 360


# The audit


def test_the_audit_replays_every_settled_hand(board: Board) -> None:
    result = board.door("audit")
    assert (result.status, result.error) == (0, "")
    first, last = result.output.splitlines()
    assert first == "The books are in order; 8 settled hands were replayed and agree."
    facts = json.loads(board.door("audit", "--format", "json").output)
    assert (facts["hands"], facts["findings"]) == (8, [])
    assert last == f"The last digest is {facts['digest']}."
    csv = board.door("audit", "--format", "csv").output.splitlines()
    assert csv == ["where,sentence", f"digest,{facts['digest']}"]


def test_the_audit_replays_from_a_hand_on(board: Board) -> None:
    order, words = "The books are in order; ", "settled hands were replayed and agree."
    assert board.door("audit", "--since-hand", "6").output.startswith(f"{order}3 {words}")
    last = board.door("audit", "--since-hand", "8").output
    assert last.startswith(f"{order}1 settled hand was replayed and agrees.\n")
    board.sql("UPDATE rounds SET outcome = 'lose' WHERE id IN (1, 6)")
    for day in (1, 2):
        board.sql(
            "INSERT INTO deals (seal, day, seed, rules, opened, closed, daily)"
            f" VALUES ('{day}', '2026-11-0{day}', x'0{day}', '{{}}', {day}, {day}, 1)"
        )
    assert board.door("audit").output.count("its seed does not fit its seal") == 2
    since = board.door("audit", "--since-hand", "5").output.splitlines()
    assert [line.split(":")[0] for line in since if line.startswith("hand ")] == ["hand 6"]


def test_the_audit_replays_hands_not_replayed_yet(board: Board) -> None:
    result = board.door("audit", "--since-last")
    assert (result.status, result.output.count("8 settled hands were replayed")) == (0, 1)
    assert result.error == "No audit of these books has replayed their hands: all are replayed.\n"
    board.sql("UPDATE rounds SET result = '{}' WHERE id = 1")
    result = board.door("audit", "--since-last")
    assert (result.status, result.error) == (0, "")
    assert "Only hands from 9 on were replayed." in result.output
    alone = board.door("audit")
    assert alone.status == 1
    assert alone.output.startswith("hand 1")
    again = board.door("audit", "--since-last")  # it is not passed over the next night
    assert (again.status, again.output) == (1, alone.output)
    assert board.door("audit", "--since-last", "--since-hand", "2").status == 2


def test_the_audit_does_not_block_writers(board: Board) -> None:
    other = sqlite3.connect(board.database, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    for words in (("audit",), ("hand", "1"), ("callers", "list")):
        assert board.door(*words).status == 0
    other.close()


@pytest.mark.parametrize(
    ("damage", "named"),
    [
        (
            "UPDATE rounds SET outcome = 'lose' WHERE id = 1",
            "hand 1: its outcome is lose,",
        ),
        (
            "UPDATE rounds SET won = won + 60 WHERE id = 2",
            "hand 2: won is 420 seconds in the books, replayed it is 360.",
        ),
        (
            "UPDATE rounds SET returned = 0 WHERE id = 1",
            "hand 1: returned is 0 seconds in the books, replayed",
        ),
        (
            "UPDATE rounds SET result = '{}' WHERE id = 3",
            "hand 3: the result in its journal is",
        ),
        ("UPDATE rounds SET result = 'no json' WHERE id = 3", "hand 3"),
        ("UPDATE rounds SET result = '[1]' WHERE id = 3", "hand 3"),
        ("UPDATE rounds SET rules = 'no json' WHERE id = 4", "hand 4"),
        ("UPDATE rounds SET rules = '7' WHERE id = 4", "hand 4"),
        ("UPDATE rounds SET rules = '{\"tie\": 3}' WHERE id = 4", "hand 4"),
        ("UPDATE rounds SET day = 'yesterday' WHERE id = 4", "hand 4"),
        ("UPDATE rounds SET dealt = 1e300 WHERE id = 4", "hand 4"),
        ("UPDATE rounds SET game = 'whist' WHERE id = 5", "hand 5"),
        ("UPDATE rounds SET bet = 61 WHERE id = 5", "hand 5"),
        ("UPDATE rounds SET shoe_id = NULL WHERE id = 5", "hand 5"),
        ("UPDATE rounds SET start_position = 1 WHERE id = 5", "hand 5"),
        ("UPDATE rounds SET start_position = 50 WHERE id = 5", "hand 5"),
        ("UPDATE shoes SET seed = zeroblob(32) WHERE id = 6", "hand 6"),
        ("UPDATE shoes SET seed = x'00' WHERE id = 6", "hand 6"),
        ("UPDATE shoes SET seed = 'text' WHERE id = 6", "hand 6"),
        ("UPDATE shoes SET seal = 'another' WHERE id = 6", "hand 6"),
        ("UPDATE shoes SET cut = 'another' WHERE id = 6", "hand 6"),
        ("UPDATE shoes SET decks = 8 WHERE id = 6", "hand 6"),
        ("UPDATE shoes SET decks = 1e9 WHERE id = 6", "hand 6"),
        (
            "UPDATE shoes SET closed = NULL WHERE id = (SELECT shoe_id FROM rounds WHERE id = 8)",
            "hand 8: nothing more is dealt from its shoe, which is still open.",
        ),
        ("UPDATE actions SET action = 'no json' WHERE round_id = 7 AND sequence = 1", "hand 7"),
        ("UPDATE actions SET action = '[]' WHERE round_id = 7 AND sequence = 1", "hand 7"),
        ("UPDATE actions SET action = '{}' WHERE round_id = 7 AND sequence = 1", "hand 7"),
        (
            'UPDATE actions SET action = \'{"action": "no-insurance"}\''
            " WHERE round_id = 7 AND sequence = 1",
            "hand 7",
        ),
        ("UPDATE actions SET sequence = 9 WHERE round_id = 7 AND sequence = 2", "hand 7"),
        ("DELETE FROM actions WHERE round_id = 7 AND sequence = 2", "hand 7"),
        ("DELETE FROM actions WHERE round_id = 7", "hand 7"),
        ("UPDATE shoes SET seed = zeroblob(32) WHERE id = 9", f"hand {OPEN}"),
        ("UPDATE accounts SET balance = balance + 60 WHERE id = 1", "account 1 (allotment)"),
        ("UPDATE calls SET charged = charged + 1, ticked = ticked + 1 WHERE id = 1", "call 1"),
        ("DROP TRIGGER transfers_are_never_changed", "trigger transfers_are_never_changed"),
    ],
)
def test_the_audit_names_the_damaged_hand(board: Board, damage: str, named: str) -> None:
    board.sql(damage)
    result = board.door("audit")
    assert result.status == 1
    assert any(line.startswith(named) for line in result.output.splitlines()), result.output
    assert "wrong in the books" in result.error


def test_the_audit_names_transfers_that_were_changed(board: Board) -> None:
    board.sql(
        "DROP TRIGGER transfers_are_never_changed",
        "UPDATE transfers SET amount = amount + 60 WHERE round_id = 2 AND kind = 'won'",
    )
    result = board.door("audit")
    assert result.status == 1
    assert "hand 2: 360 was won, its transfers add up to 420." in result.output
    assert "Its balance is" in result.output


def test_an_audit_of_malformed_tables_ends_in_a_sentence(
    board: Board,
) -> None:
    board.sql("ALTER TABLE rounds RENAME COLUMN outcome TO outcomes")
    result = board.door("audit")
    assert result.status == 2
    assert ": the tables are not as the board made them." in result.error
    assert "Traceback" not in result.error


def test_the_audit_continues_after_its_first_finding(board: Board) -> None:
    board.sql(
        "UPDATE actions SET action = 'no json' WHERE round_id = 2 AND sequence = 1",
        "UPDATE shoes SET seed = x'00' WHERE id = 4",
        "UPDATE rounds SET outcome = 'win' WHERE id = 8",
    )
    output = board.door("audit").output
    assert [f"hand {number}" in output for number in (2, 4, 8)] == [True, True, True]


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_show_refuses_a_damaged_hand_in_a_sentence(board: Board, form: tuple[str, ...]) -> None:
    board.sql("UPDATE shoes SET seed = x'00' WHERE id = 7")
    result = board.door("hand", "7", *form)
    assert (result.status, result.output) == (2, "")
    assert result.error.startswith("Hand 7: its journal cannot be read: ")


def test_an_audit_of_books_without_hands_says_so(tmp_path: Path) -> None:
    async def open_and_close() -> None:
        async with world(tmp_path):
            pass

    asyncio.run(open_and_close())
    result = Shell(tmp_path / "sysop.toml")("audit")
    assert result.output.startswith(
        "The books are in order; 0 settled hands were replayed and agree.\n"
    )


def no_database(folder: Path) -> str:
    return "There is no database at"


def newer_database(folder: Path) -> str:
    books = sqlite3.connect(folder)
    books.execute("PRAGMA application_id = 0x424A3454")
    books.execute("PRAGMA user_version = 99")
    books.close()
    return "was written by a newer program"


def no_sqlite(path: Path) -> str:
    path.write_bytes(b"This is not a database. " * 400)
    return "is damaged."


@pytest.mark.parametrize("lay", [no_database, newer_database, no_sqlite])
@pytest.mark.parametrize(
    "words",
    [
        ("audit",),
        ("hand", "1"),
        ("callers", "list"),
        ("callers", "lock", "Ada"),
        ("callers", "password", "Ada", "--stdin"),
    ],
    ids=" ".join,
)
def test_without_books_of_ours_every_command_says_so(
    tmp_path: Path, lay: Callable[[Path], str], words: tuple[str, ...]
) -> None:
    config = tmp_path / "sysop.toml"
    config.write_text(TOML, encoding="utf-8")
    database = settings.load(config).database
    database.parent.mkdir()
    sentence = lay(database)
    result = Shell(config)(*words, typed="secret enough\n")
    assert (result.status, result.output) == (2, "")
    assert str(database) in result.error
    assert sentence in result.error
