"""`door bj`, as /usr/games/bj was played: under pipes, and on a real terminal."""

from __future__ import annotations

import re
import signal
import subprocess
import termios
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tests.door import teletype
from tests.door.plain_terminal import PlainTerminal
from tests.door.processes import command
from tests.door.shell import CommandResult, door
from tests.door.teletype import STRUCK

# Nobody cuts.
seed_asking = partial(teletype.seed_asking, cut="")
from_seed = partial(teletype.from_seed, cut="")

SCRIPTS = (
    ("Insurance? y", "Hit? "),
    ("Split pair? y", "Double down? y", "Hit? "),
    ("Hit? y", "Hit? y", "Hit? "),
)
HIT = SCRIPTS[2]


def broken_off(seed: bytes, *lines: str, **how: Any) -> str:
    """The paper of a run that ends at the question after `lines`; its last hand is dropped."""
    return from_seed(seed, *lines, STRUCK, stands=False, **how)


def bj(seed: bytes, typed: str, *words: str) -> CommandResult:
    return door("bj", "--seed", seed.hex(), *words, typed=typed)


# Under pipes


@pytest.mark.parametrize("script", SCRIPTS, ids=["insurance", "split", "hit"])
def test_standard_output_holds_its_letters_and_nothing_else(script: tuple[str, ...]) -> None:
    seed = seed_asking(*script)
    lines = ["y", "y", "", "", "y", "", "", "y", "", "", "", ""]
    result = bj(seed, "".join(f"{line}\n" for line in lines))
    assert result.output == broken_off(seed, *lines, echo=False)
    assert result.status == 0


def test_seal_and_seed_go_to_standard_error() -> None:
    seed = seed_asking(*HIT)
    result = bj(seed, "y\n")
    assert result.error == f"Seal {sha256(seed).hexdigest()}\nSeed {seed.hex()}\n"


def test_the_end_of_the_input_ends_it_like_the_interrupt_key() -> None:
    seed = seed_asking(*HIT)
    assert bj(seed, "").output.endswith("Hit? \nAction $2\nYou break even\n")


def test_an_input_that_was_closed_beforehand_has_ended_too() -> None:
    closed = ["sh", "-c", 'exec "$0" "$@" <&-', command("door"), "bj", "--seed", bytes(32).hex()]
    result = subprocess.run(closed, capture_output=True, text=True, check=False, timeout=60)
    assert result.returncode == 0
    assert result.stdout.startswith("Black Jack\nnew game\nShuffle\n")
    assert "Traceback" not in result.stderr


def test_a_last_line_without_a_newline_is_an_answer() -> None:
    seed = seed_asking(*HIT)
    assert bj(seed, "y").output == broken_off(seed, "y", echo=False)


def test_the_questions_of_1971() -> None:
    seed = seed_asking(*HIT)
    result = bj(seed, "y\n\n", "--prompts", "1971")
    assert result.output == broken_off(seed, "y", "", echo=False, prompts="1971")
    assert "Hit?" not in result.output


def test_every_run_has_a_seed_of_its_own_which_plays_it_again() -> None:
    first, second = (door("bj", typed="y\n\n\n") for _ in range(2))
    assert first.error != second.error
    seed = re.fullmatch(r"Seal [0-9a-f]{64}\nSeed ([0-9a-f]{64})\n", first.error)
    assert seed is not None
    assert bj(bytes.fromhex(seed[1]), "y\n\n\n").output == first.output


@pytest.mark.parametrize("seed", ["", "00", "zz" * 32, "00" * 33])
def test_a_seed_that_is_none_is_refused(seed: str) -> None:
    result = door("bj", "--seed", seed, typed="")
    assert (result.status, result.output) == (2, "")
    assert result.error == "--seed takes 64 hexadecimal digits.\n"


def test_input_of_any_length_and_kind_is_answers() -> None:
    seed = seed_asking(*HIT)
    junk = b"y" + b"\xff\0z" * 100_000 + b"\n" + b"\xffy\r\n"
    result = door("bj", "--seed", seed.hex(), typed=junk)
    assert result.output == broken_off(seed, "y", "", echo=False)


def test_no_file_is_needed_and_none_is_made(tmp_path: Path) -> None:
    run = subprocess.run(
        [command("door"), "bj"],
        input=b"\n",
        capture_output=True,
        cwd=tmp_path,
        check=True,
        timeout=30,
    )
    assert run.stdout.startswith(b"Black Jack\nnew game\nShuffle\n")
    assert list(tmp_path.iterdir()) == []


def test_a_reader_that_closes_the_pipe_ends_it_silently() -> None:
    with subprocess.Popen(
        [command("door"), "bj"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as run:
        assert run.stdin is not None
        assert run.stdout is not None
        assert run.stderr is not None
        run.stdin.write(b"\n" * 100)
        assert run.stdout.readline() == b"Black Jack\n"
        run.stdout.close()
        run.stdin.close()
        assert run.wait(30) == 2
        assert b"Traceback" not in run.stderr.read()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGQUIT], ids=["INT", "QUIT"])
def test_an_interrupt_under_pipes_ends_it_with_action_and_standing(number: int) -> None:
    seed = seed_asking(*HIT)
    with subprocess.Popen(
        [command("door"), "bj", "--seed", seed.hex()],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as run:
        assert run.stdout is not None
        question = from_seed(seed).encode()
        assert run.stdout.read(len(question)) == question
        run.send_signal(number)
        assert run.stdout.read() == b"\nAction $2\nYou break even\n"
        assert run.wait(30) == 0


# On a terminal


def on_a_terminal(seed: bytes, **keys: bytes) -> PlainTerminal:
    """Play on a terminal on which these control characters have been set."""

    def change(attributes: list[Any]) -> None:
        for name, key in keys.items():
            attributes[6][getattr(termios, name)] = key

    words = [command("door"), "bj", "--seed", seed.hex()]
    return PlainTerminal(words, change=change)


def letters(text: str) -> str:
    """The text between seal and seed; a key without a letter prints nothing on paper."""
    printed = text[text.index("Black Jack") :].partition("Seed ")[0]
    return re.sub(r"[\x03\x18\x7f]", "", printed)


def test_answers_on_a_terminal_are_echoed_after_the_questions() -> None:
    seed = seed_asking(*HIT)
    with on_a_terminal(seed) as terminal:
        terminal.shows("Hit? ")
        for lines in (("y",), ("y", ""), ("y", "", "")):
            terminal.types(f"{lines[-1]}\r".encode())
            terminal.shows(from_seed(seed, *lines).rsplit("\n", 2)[-1])
            terminal.shows(from_seed(seed, *lines)[-40:])
            assert letters(terminal.text) == from_seed(seed, *lines)
        assert terminal.text.startswith(f"Seal {sha256(seed).hexdigest()}\nBlack Jack\n")
        terminal.types(b"\x7f")
        assert terminal.ends() == 0
        assert letters(terminal.text) == broken_off(seed, "y", "", "")
        assert terminal.text.endswith(f"Seed {seed.hex()}\n")
        assert "^" not in terminal.text


@pytest.mark.parametrize(
    ("key", "keys"),
    [
        (b"\x7f", {}),
        (b"\x03", {}),
        (b"\x04", {}),
        (b"\x7f", {"VINTR": b"\x7f", "VERASE": b"\x08"}),
        (b"\x18", {"VINTR": b"\x18"}),
        (b"\x7f", {"VINTR": b"\x18"}),
    ],
    ids=[
        "DEL",
        "Ctrl-C",
        "the end of the input",
        "DEL where it always was the interrupt key",
        "the terminal's own interrupt key",
        "DEL besides it",
    ],
)
def test_the_interrupt_key_ends_it_and_the_terminal_is_as_it_was(
    key: bytes, keys: dict[str, bytes]
) -> None:
    seed = seed_asking(*SCRIPTS[1])
    with on_a_terminal(seed, **keys) as terminal:
        terminal.shows("Split pair? ")
        terminal.types(b"y\r")
        terminal.shows("Double down? ")
        assert terminal.attributes != terminal.before
        terminal.types(key)
        assert terminal.ends() == 0
        assert letters(terminal.text) == broken_off(seed, "y")
        assert terminal.attributes == terminal.before


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP], ids=["TERM", "HUP"])
def test_a_signal_restores_the_terminal(number: int) -> None:
    with on_a_terminal(seed_asking(*HIT)) as terminal:
        terminal.shows("Hit? ")
        terminal.process.send_signal(number)
        assert terminal.ends() == 128 + number
        assert terminal.attributes == terminal.before
        assert "Traceback" not in terminal.text


def test_ctrl_h_rubs_out() -> None:
    seed = seed_asking(*HIT)
    with on_a_terminal(seed) as terminal:
        terminal.shows("Hit? ")
        terminal.types(b"n\x08y\r")
        terminal.shows(from_seed(seed, "y")[-8:])
        assert "Hit? n\b \by\n" in terminal.text


def test_a_terminal_without_echo_or_lines_gets_both_for_the_game() -> None:
    seed = seed_asking(*HIT)

    def raw(attributes: list[Any]) -> None:
        attributes[0] &= ~termios.ICRNL
        attributes[1] &= ~termios.OPOST
        attributes[3] &= ~(termios.ECHO | termios.ICANON | termios.ISIG)

    with PlainTerminal([command("door"), "bj", "--seed", seed.hex()], change=raw) as terminal:
        terminal.shows("Hit? ")
        terminal.types(b"y\r")
        terminal.shows(from_seed(seed, "y")[-8:])
        assert letters(terminal.text) == from_seed(seed, "y")
        terminal.types(b"\x7f")
        assert terminal.ends() == 0
        assert terminal.attributes == terminal.before


def test_a_stopped_and_continued_game_keeps_its_interrupt_key() -> None:
    seed = seed_asking(*HIT)
    with on_a_terminal(seed) as terminal:
        terminal.shows("Hit? ")
        terminal.process.send_signal(signal.SIGSTOP)
        termios.tcsetattr(terminal.slave, termios.TCSANOW, terminal.before)  # as a shell does
        terminal.process.send_signal(signal.SIGCONT)
        terminal.has(lambda now: now != terminal.before)
        terminal.types(b"\x7f")
        assert terminal.ends() == 0
        assert terminal.attributes == terminal.before
