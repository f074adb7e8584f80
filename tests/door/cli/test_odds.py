"""`door odds`: whose rules it takes, what it refuses, and what its JSON has."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from door.cli.main import main

TABLES = 'decks = 2\nshuffle = "shoe"\n'


@pytest.fixture(autouse=True)
def own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BJFT_CONFIG", raising=False)


def odds(*words: str) -> Result:
    return CliRunner().invoke(main, ["odds", *words])


def test_the_default_rules_where_there_is_no_board() -> None:
    told = odds("bjft", "--json")
    assert told.exit_code == 0, told.output
    plain = json.loads(told.output)
    assert plain["game"] == "black-jack-for-time"
    assert plain["rules"]["ties"] == "dealer"
    assert set(plain["strategies"]) == {"perfect", "totals", "dealer", "never-bust"}
    perfect = plain["strategies"]["perfect"]
    assert perfect["mean"] == pytest.approx(0.0096997, abs=1e-7)
    assert perfect["sd"] == pytest.approx(1.2042, abs=1e-4)
    assert sum(perfect["outcomes"].values()) == pytest.approx(1)


def test_the_rules_of_the_house_and_others_in_their_place(tmp_path: Path) -> None:
    (tmp_path / "sysop.toml").write_text(f"[games.red-dog]\n{TABLES}")
    house = json.loads(odds("red-dog", "--json").output)
    assert house["rules"] == {"decks": 2, "shuffle": "shoe", "penetration": 75}
    changed = odds("red-dog", "--rules", "decks=1", "--rules", "shuffle=hand", "--json")
    assert json.loads(changed.output)["rules"]["decks"] == 1
    words = odds("red-dog").output
    assert 'decks = 2, shuffle = "shoe"' in words
    assert "The shoe runs on" in words
    assert "perfect play" in words


@pytest.mark.parametrize(
    ("words", "refusal"),
    [
        (("craps",), "There is no table craps"),
        (("red-dog", "--rules", "decks=9"), "Red Dog: decks: must be a whole number from 1 to 8"),
        (("red-dog", "--rules", "tie=push"), "tie: is not a rule of this game"),
        (("red-dog", "--rules", "decks"), "--rules takes KEY=VALUE, not decks."),
        (("--rules", "decks=2"), "name it before --rules"),
        (("--config", "nowhere.toml"), "there is no such file"),
        (("red-dog", "--bet", "3"), "belong to --evening"),
        (("red-dog", "--evening", "--card"), "are two things"),
        (("red-dog", "--svg"), "--svg is one way to see a card"),
        (("--card", "--svg"), "An SVG is of one table"),
        (("red-dog", "--evening", "--bet", "11"), "--bet must be from 1 to 10 here, is 11."),
        (("red-dog", "--evening", "--turns", "21"), "--turns must be from 1 to 20 here, is 21."),
        (("red-dog", "--evening", "--turns", "0"), "--turns must be from 1 to 20 here, is 0."),
        (("red-dog", "--evening", "--callers", "0"), "--callers must be from 1 to 1000 here"),
        (("red-dog", "--evening", "--event", "-1"), "--event must be from 0 to 1440 here"),
    ],
)
def test_a_refusal_is_a_sentence(words: tuple[str, ...], refusal: str) -> None:
    told = odds(*words)
    assert told.exit_code == 2
    assert refusal in told.output


BOARD = """
[calls]
nodes = 3
minutes_per_day = 40
[timebank]
mode = "none"
[games.red-dog]
coin_minutes = 4
largest_bet = 2
turns_per_day = 7
"""


def test_an_evening_is_played_as_the_board_is_set(tmp_path: Path) -> None:
    (tmp_path / "sysop.toml").write_text(BOARD)
    plain = json.loads(odds("red-dog", "--evening", "--event", "50", "--json").output)
    assert plain["plan"] == {
        "turns": 7,
        "pot": 10,
        "bet": 2,
        "smallest_bet": 1,
        "coin_minutes": 4,
        "event": 50,
    }
    assert plain["bank"] == "none"
    assert plain["house"]["none"]["callers"] == 3
    assert plain["house"]["none"]["mean"] == pytest.approx(-3 * plain["caller"]["none"]["mean"])
    assert sum(state["chance"] for state in plain["states"]) == pytest.approx(1)
    assert max(state["pot"] for state in plain["states"]) == 50
    cut = sum(state["cut"] * state["chance"] for state in plain["states"])
    assert plain["caller"]["cut"] == pytest.approx(cut)


def test_an_evening_in_words_says_what_the_bank_changes(tmp_path: Path) -> None:
    (tmp_path / "sysop.toml").write_text(BOARD)
    lines = odds("red-dog", "--evening", "--event", "50").output.splitlines()
    assert lines[0] == (
        "Red Dog: 7 turns of 2 coins with 10 coins of 4 minutes, 50 minutes before an event,"
        " perfect play"
    )
    assert lines[2].startswith('  With the bank at "none". A caller gains -')
    assert lines[3].startswith("  With a bank. A caller gains -")
    assert any(line.startswith("  The event cuts off ") for line in lines)
    without = odds("red-dog", "--evening", "--callers", "1").output
    assert "With a bank" not in without
    assert "  The house wins +" in without
    assert " of 1 caller (" in without


def test_an_evening_for_play_money_says_that_it_is_reckoned_for_minutes() -> None:
    note = "The table is played for play money as it is set: this is for minutes."
    assert note in odds("unix-bj", "--evening").output
    assert note not in odds("baccarat", "--evening").output


def test_a_card_as_text_as_json_and_as_a_picture() -> None:
    assert odds("red-dog", "--card").output.startswith("Red Dog: what to do, by the spread\n")
    plain = json.loads(odds("red-dog", "--card", "--json").output)
    assert plain["sections"][0]["heading"] == "Spread"
    assert odds("red-dog", "--card", "--svg").output.startswith("<svg xmlns=")
