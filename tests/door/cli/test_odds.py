"""`door odds`: the rules it reads, its refusals, and its JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from door.cli.main import main

TABLES = 'decks = 2\nshuffle = "shoe"\n'


@pytest.fixture(autouse=True)
def own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BJFT_CONFIG", raising=False)


def odds(*words: str) -> Result:
    return CliRunner().invoke(main, ["odds", *words])


def test_the_default_rules_where_there_is_no_board() -> None:
    result = odds("bjft", "--json")
    assert result.exit_code == 0, result.output
    plain = json.loads(result.output)
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


def test_the_sets_of_rules_of_the_house_and_of_the_sysop(tmp_path: Path) -> None:
    (tmp_path / "sysop.toml").write_text(
        "[rules.friday]\ndecks = 3\nties = 'push'\n[games.red-dog]\npenetration = 60\n"
    )

    def rules(*words: str) -> dict[str, object]:
        read: dict[str, object] = json.loads(odds("red-dog", *words, "--json").output)["rules"]
        return read

    assert rules() == {"decks": 1, "shuffle": "hand", "penetration": 60}
    assert rules("--rules", "casino") == {"decks": 6, "shuffle": "shoe", "penetration": 75}
    assert rules("--rules", "friday", "--rules", "shuffle=shoe")["decks"] == 3
    every = json.loads(odds("--rules", "casino", "--json").output)
    assert {each["game"]: each["rules"] for each in every}["black-jack-for-time"]["decks"] == 6


@pytest.mark.parametrize(
    ("words", "refusal"),
    [
        (("craps",), "There is no table craps"),
        (("red-dog", "--rules", "decks=9"), "Red Dog: decks: must be a whole number from 1 to 8"),
        (("red-dog", "--rules", "tie=push"), "tie: is not a rule of this game"),
        (
            ("red-dog", "--rules", "decks"),
            "--rules takes KEY=VALUE or a set of rules (1991, casino), not decks.",
        ),
        (("--rules", "decks=2"), "name it before --rules"),
        (("--config", "nowhere.toml"), "there is no such file"),
        (("red-dog", "--card", "--format", "csv"), "A card is text or JSON"),
    ],
)
def test_a_refusal_is_a_sentence(words: tuple[str, ...], refusal: str) -> None:
    result = odds(*words)
    assert result.exit_code == 2
    assert refusal in result.output


def test_a_card_as_text_and_as_json() -> None:
    assert odds("red-dog", "--card").output.startswith("Red Dog: what to do, by the spread\n")
    plain = json.loads(odds("red-dog", "--card", "--json").output)
    assert plain["sections"][0]["heading"] == "Spread"
