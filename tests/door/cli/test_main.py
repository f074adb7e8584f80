"""The `door` command at the shell: help, check, verify, replay; a sentence for every mistake."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from hashlib import sha256
from importlib import import_module
from pathlib import Path

import pytest

from door.cli.main import main
from door.games.engine import shuffle
from tests import ROOT
from tests.door.cli.test_tables import leaves
from tests.door.shell import Shell, door

HAND = {
    "game": "black-jack-for-time",
    "rules": {"ties": "push"},
    "stake": 10,
    "shoe": "3H JS TH 3D 5C 9D",
    "actions": ["hit", "hit"],
}
BUST = {
    "outcome": "bust",
    "net": -10,
    "player": [["3H", "TH", "5C", "9D"]],
    "dealer": ["JS", "3D"],
    "cards_used": 6,
}

# Help


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_every_command_explains_itself(option: str) -> None:
    commands = dict(leaves(main))
    assert len(commands) > 30
    for words in commands:
        result = door(*words.split(), option)
        assert result.status == 0
        assert result.output.startswith(f"Usage: main {words}")
        assert result.output.count("\n") > 3


@pytest.mark.parametrize("command", ["door", "timebank"])
def test_the_command_list_shows_each_commands_own_summary(command: str) -> None:
    listed = import_module(f"{command}.cli.main")
    summaries = {name: each.get_short_help_str(1000) for name, each in listed.main.commands.items()}
    assert summaries == {name: words for name, (_, words) in listed.COMMANDS.items()}


def test_version_prints_the_version() -> None:
    assert door("--version").output.startswith("door, version ")


def test_workers_of_an_old_unit_file_are_ignored_with_a_warning(tmp_path: Path) -> None:
    """The command runs as usual; its help omits the option."""
    result = door("serve", "--workers", "4", "--config", str(tmp_path / "none.toml"))
    assert result.error.startswith("--workers is ignored: one process serves the board.")
    assert "There is no" in result.error
    assert "--workers" not in door("serve", "--help").output


def test_verbose_in_the_command_line_of_a_host_is_taken_and_does_nothing() -> None:
    with main.commands["run"].make_context("run", ["--verbose", "--stdio"]) as context:
        assert (context.params["stdio"], "verbose" in context.params) == (True, False)
    assert "--verbose" not in door("run", "--help").output


def test_help_comes_without_database_network_or_passwords() -> None:
    script = (
        "import sys; from door.cli.main import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "heavy = {'sqlalchemy', 'telnetlib3', 'argon2', 'asyncio'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    run = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": "."},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize(
    "words",
    [("dance",), ("callers", "dance"), ("check", "--dance"), ("hand",), ("verify",), ("replay",)],
    ids=" ".join,
)
def test_a_wrong_call_exits_with_2_and_a_reason(words: tuple[str, ...]) -> None:
    result = door(*words)
    assert (result.status, result.output) == (2, "")
    assert "Error: " in result.error


# Check


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return tmp_path / "sysop.toml"


def test_good_settings_are_in_order(config: Path) -> None:
    config.write_text('[board]\nname = "Nighthawk"\ntime_zone = "Europe/Berlin"\n')
    result = Shell(config)("check")
    assert (result.status, result.error) == (0, "")
    problem, nobody_is_registered = result.output.split("[board] sysop names Sysop", 1)
    assert nobody_is_registered.startswith(", who is not registered")
    assert problem == (
        f"{config} is in order.\n"
        f"Board Nighthawk, 16 nodes, data in {config.parent / 'data'}.\n"
        "Time zone Europe/Berlin, time bank built-in, events: Mail hour.\n"
    )


def test_check_creates_nothing(config: Path) -> None:
    config.write_text("")
    assert Shell(config)("check").status == 0
    assert list(config.parent.iterdir()) == [config]


def wrong_files(folder: Path) -> dict[str, bytes | None]:
    return {
        "missing.toml": None,
        "binary.toml": bytes(range(256)),
        "latin-1.toml": 'name = "Café"'.encode("latin-1"),
        "broken.toml": b"[board\n",
        "zeros.toml": b"\0" * 100,
    }


@pytest.mark.parametrize("name", wrong_files(Path()))
@pytest.mark.parametrize(
    "command",
    [("check",), ("serve",), ("audit",), ("hand", "1"), ("callers", "list")],
    ids=" ".join,
)
def test_unreadable_settings_are_an_error(
    tmp_path: Path, name: str, command: tuple[str, ...]
) -> None:
    content = wrong_files(tmp_path)[name]
    if content is not None:
        (tmp_path / name).write_bytes(content)
    result = Shell(tmp_path / name)(*command)
    assert (result.status, result.output) == (2, "")
    assert name in result.error


def test_a_data_folder_that_cannot_be_created_is_an_error(config: Path) -> None:
    (config.parent / "file").touch()
    config.write_text('[board]\ndata = "file/data"\n')
    result = Shell(config)("serve")
    assert (result.status, result.output) == (2, "")
    assert result.error == (
        f"{config.parent / 'file/data/board.sqlite3.serving'} cannot be opened: Not a directory.\n"
    )


def test_a_real_process_prints_sentences_and_no_traceback(config: Path) -> None:
    config.write_text("nonsense = 1\n")
    run = subprocess.run(
        [Path(sys.executable).with_name("door"), "check", "--config", config],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr.count("\n") == 1
    assert "nonsense" in run.stderr


# Verify


@pytest.mark.parametrize(("cut", "decks"), [("", 1), ("Lucky duck", 1), ("Käse", 6)])
def test_a_seed_gives_its_seal_and_its_cards(cut: str, decks: int) -> None:
    seed = bytes(range(32))
    result = door("verify", "--seed", seed.hex().upper(), "--cut", cut, "--decks", str(decks))
    assert result.status == 0
    seal, *rows = result.output.splitlines()
    assert seal == f"seal {sha256(seed).hexdigest()}"
    assert tuple(" ".join(rows).split()) == shuffle.shuffle(seed, cut, decks)
    assert {len(row.split()) for row in rows} == {13}


def test_a_seed_gives_the_cards_of_later_shuffles_too() -> None:
    seed, dealt = bytes(range(32)), 2 * 52
    result = door("verify", "--seed", seed.hex(), "--cut", "Lucky duck", "--shuffle", "3")
    assert result.status == 0
    third = shuffle.run_on(seed, "Lucky duck", 1, 0, dealt, 52)[:52]
    assert tuple(" ".join(result.output.splitlines()[1:]).split()) == third


def test_a_seed_and_a_cut_decide_the_tosses_too() -> None:
    words = [word for number in range(4, 10) for word in ("--toss", str(number))]
    result = door("verify", "--seed", "00" * 32, "--decks", "4", *words)
    assert result.output.splitlines()[-6:] == [
        f"toss before card {number}: {'a card' if number in (5, 7, 9) else 'no card'} for the bank"
        for number in range(4, 10)
    ]
    cut = door("verify", "--seed", "00" * 32, "--cut", "duck", "--decks", "4", *words)
    assert cut.output.splitlines()[-6:] != result.output.splitlines()[-6:]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--seed", "xyz"), "--seed takes hexadecimal digits.\n"),
        (("--seed", "é" * 64), "--seed takes hexadecimal digits.\n"),
        (("--seed", ""), "A seed is 32 bytes, this one is 0.\n"),
        (("--seed", "00" * 31), "A seed is 32 bytes, this one is 31.\n"),
        (("--seed", "00" * 33), "A seed is 32 bytes, this one is 33.\n"),
        (
            ("--seed", "00" * 32, "--cut", "\udcff"),
            "The cut holds a character that is not text.\n",
        ),
    ],
)
def test_an_invalid_seed_or_cut_is_an_error(words: tuple[str, ...], sentence: str) -> None:
    result = door("verify", *words)
    assert (result.status, result.output, result.error) == (2, "", sentence)


# Replay


def test_a_hand_is_replayed_from_a_file_and_from_standard_input(tmp_path: Path) -> None:
    file = tmp_path / "hand.json"
    file.write_text(json.dumps(HAND), encoding="utf-8")
    for result in (door("replay", str(file)), door("replay", "-", typed=json.dumps(HAND))):
        assert (result.status, result.error) == (0, "")
        assert json.loads(result.output) == BUST


def test_a_byte_order_mark_is_no_part_of_the_hand(tmp_path: Path) -> None:
    file = tmp_path / "hand.json"
    file.write_text(json.dumps(HAND), encoding="utf-8-sig")
    assert door("replay", str(file)).status == 0


def test_an_unprintable_key_is_still_reported() -> None:
    result = door("replay", "-", typed=b'{"\\ud800": 1}')
    assert (result.status, result.output) == (2, "")
    assert "is not a key of a hand" in result.error


@pytest.mark.parametrize("name", ["nowhere.json", ""])
def test_a_missing_file_or_a_folder_is_an_error(tmp_path: Path, name: str) -> None:
    result = door("replay", str(tmp_path / name))
    assert (result.status, result.output) == (2, "")
    assert str(tmp_path) in result.error
