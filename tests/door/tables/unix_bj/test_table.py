"""UNIX bj over a caller's line: the letters of the paper, a seal before them, a seed after."""

from __future__ import annotations

import re
from hashlib import sha256
from pathlib import Path

import pytest

from tests.door.at_the_teletype import PLAY, at_the_teletype
from tests.door.playing import moves
from tests.door.teletype import STRUCK, from_seed, paper, seed_asking
from tests.door.visiting import MENU, sysop_toml
from tests.terminal import MODERN, REFUSING, SYNCTERM, Profile

IAC, INTERRUPT_PROCESS, BREAK = 255, 244, 243
INSURED = ("Insurance? y", "Hit? ")
SPLIT = ("Split pair? y", "Double down? y", "Hit? ")
HITTING = ("Hit? y", "Hit? y", "Hit? ")

# The letters


@pytest.mark.parametrize(
    "profile", [MODERN, SYNCTERM, REFUSING], ids=["modern", "syncterm", "lines"]
)
async def test_a_run_is_to_the_letter(tmp_path: Path, profile: Profile) -> None:
    seed = seed_asking(*INSURED)
    async with at_the_teletype(tmp_path, profile=profile) as ada:
        await ada.starts(seed)
        assert ada.letters == from_seed(seed)
        await ada.types("y", "", "y", "", "", "y", "", "", "", "y", "y", "")
        assert ada.letters == from_seed(seed, "y", "", "y", "", "", "y", "", "", "", "y", "y", "")
        # Letters only: no colours, no cursor, and a return before each newline.
        begin = ada.raw.index("Black Jack")
        assert "\x1b" not in ada.raw[begin:]
        assert "\n" not in ada.raw[begin:].replace("\r\n", "")


async def test_the_seal_precedes_the_first_letter_and_the_seed_follows_the_last(
    tmp_path: Path,
) -> None:
    seed = seed_asking(*HITTING)
    async with at_the_teletype(tmp_path) as ada:
        await ada.starts(seed)
        assert ada.seal == f"Seal {sha256(seed).hexdigest()[:8]}"
        await ada.types("y")
        assert seed.hex() not in ada.plain
        await ada.strikes("\x7f")
        assert ada.letters == from_seed(seed, "y", STRUCK)
        assert ada.seed == f"Seed {seed.hex()[:8]}"


async def test_a_window_that_changes_its_size_leaves_the_paper_alone(tmp_path: Path) -> None:
    seed = seed_asking(*HITTING)
    async with at_the_teletype(tmp_path) as ada:
        await ada.starts(seed)
        ada.terminal.resize(100, 30)
        await ada.types("y")
        ada.terminal.resize(60, 20)
        await ada.types("")
        assert ada.letters == from_seed(seed, "y", "")


# The keys


@pytest.mark.parametrize(
    "key",
    [
        b"\x7f",
        b"\x03",
        bytes([IAC, INTERRUPT_PROCESS]),
        bytes([IAC, BREAK]),
        b"\x1b[3~",
    ],
    ids=["DEL", "Ctrl-C", "Interrupt Process", "Break", "the Delete of today"],
)
@pytest.mark.parametrize(
    ("script", "lines", "journal"),
    [
        (("Insurance? ",), (), ["bet", "no-insurance", "stay"]),
        (INSURED, ("y",), ["bet", "insurance", "stay"]),
        (SPLIT, (), ["bet", "stay"]),
        (SPLIT, ("y",), ["bet", "split", "stay", "stay"]),
        (SPLIT, ("y", "y"), ["bet", "split", "double", "stay"]),
        (HITTING, ("y",), ["bet", "hit", "stay"]),
    ],
    ids=["insurance", "insured", "split", "double down", "the second hand", "hit"],
)
async def test_the_interrupt_key_ends_it_with_action_and_standing(
    tmp_path: Path, key: bytes, script: tuple[str, ...], lines: tuple[str, ...], journal: list[str]
) -> None:
    seed = seed_asking(*script)
    async with at_the_teletype(tmp_path) as ada:
        await ada.starts(seed)
        await ada.types(*lines)
        await ada.strikes(key)
        assert ada.letters == from_seed(seed, *lines, STRUCK)
        assert ada.seed == f"Seed {seed.hex()[:8]}"
        # The hand was not dropped for nothing: all that was still asked was answered with no.
        assert ada.journal() == journal
        assert len(ada.rounds()) == 1
        await ada.presses(" ").is_asked(PLAY)
        await ada.presses("q").is_asked(MENU)


async def test_an_interrupt_right_after_the_last_answer_stops_the_next_hand(
    tmp_path: Path,
) -> None:
    seed = seed_asking("Hit? ", "over")
    async with at_the_teletype(tmp_path) as ada:
        await ada.starts(seed)
        await ada.strikes("\r\x7f")
        assert len(ada.rounds()) == 1
        (_, lost, won, _), *_ = ada.rounds()
        score = (won - lost) // 100
        words = "break even" if not score else f"{'win' if score > 0 else 'lose'} $2"
        assert ada.letters.endswith(
            paper(
                f"""
                You {words}

                Action $2
                You {words}
                """
            )
        )


async def test_ctrl_h_rubs_out_and_del_does_not(tmp_path: Path) -> None:
    seed = seed_asking(*HITTING)
    async with at_the_teletype(tmp_path) as ada:
        await ada.starts(seed)
        await ada.strikes("n\b\b\by\t\x1b[A\r")
        assert "Hit? n\b \by\n" in ada.letters
        assert ada.journal() == ["bet", "hit"]


async def test_elsewhere_del_rubs_out_again(tmp_path: Path) -> None:
    async with at_the_teletype(tmp_path) as ada:
        await ada.starts(seed_asking(*HITTING))
        await ada.strikes("\x7f")
        await ada.presses(" ").is_asked(PLAY)
        await ada.presses("q").is_asked(MENU)
        await ada.sits_down()
        await ada.presses("b").is_asked("Coins to bet")
        ada.presses("98\x7f\x7f6\r")
        await ada.terminal.wait_for(lambda _: ada.rounds()[-1][0] == 6 * 60, "six coins bet")


async def test_an_answer_of_any_length_is_read_to_its_end(tmp_path: Path) -> None:
    seed = seed_asking(*HITTING)
    async with at_the_teletype(tmp_path) as ada:
        await ada.starts(seed)
        await ada.strikes("y" + "z" * 300 + "\r")
        assert ada.journal() == ["bet", "hit"]


async def test_answers_typed_ahead_are_taken_one_after_the_other(tmp_path: Path) -> None:
    seed = seed_asking(*HITTING)
    async with at_the_teletype(tmp_path) as ada:
        await ada.starts(seed)
        ada.presses("y\r\r\r\r")
        wanted = from_seed(seed, "y", "", "", "")
        await ada.terminal.wait_for(lambda _: len(ada.letters) >= len(wanted), "four answers")
        assert ada.letters == wanted


# Other messages of the board


async def test_a_warning_interrupts_the_text_and_the_question_is_repeated(
    tmp_path: Path,
) -> None:
    seed = seed_asking(*HITTING)
    async with at_the_teletype(tmp_path, toml=sysop_toml(minutes_per_day=6)) as ada:
        await ada.starts(seed)
        ada.presses("n")
        await ada.terminal.wait_for(lambda _: ada.plain.endswith("Hit? n"), "the n")
        await ada.board.pass_time(60)
        await ada.terminal.wait_for(lambda _: "left." in ada.plain, "the warning")
        assert "Hit? n\a\n5 minutes left.\nHit? n" in ada.plain


async def test_the_manual_can_be_read(tmp_path: Path) -> None:
    async with at_the_teletype(tmp_path) as ada:
        await ada.presses("m").sees("/usr/games/bj")
        await ada.is_asked("<N>ext")
        await ada.presses("nnn").sees("This one can be checked.")


async def test_a_caller_with_cuts_on_is_asked_before_the_first_letter(tmp_path: Path) -> None:
    seed = seed_asking(*HITTING)
    async with at_the_teletype(tmp_path) as ada:
        await ada.caller.remember({"cut": True})
        ada.board.seeds = [seed]
        ada.presses("p")
        await ada.sees("Your phrase (Enter: ")  # typed a row below
        ada.presses("three blind mice\r")
        await ada.terminal.wait_for(lambda _: " up\n" in ada.letters, "the dealer's card")
        with ada.board.books() as desk:
            cut = desk.connection.exec_driver_sql("SELECT cut FROM shoes").scalar_one()
        assert cut == "three blind mice"
        assert ada.letters != from_seed(seed)


# The standing


async def test_the_tally_survives_runs_and_calls(tmp_path: Path) -> None:
    first, second, third = (seed_asking(*script) for script in (INSURED, HITTING, SPLIT))
    async with at_the_teletype(tmp_path) as ada:
        await ada.starts(first)
        await ada.types("y", "", "", "")
        await ada.strikes("\x7f")
        action, score = ada.tally()
        assert action > 2
        await ada.presses(" ").is_asked(PLAY)
        await ada.sees(f"Your action is ${action}.")

        await ada.starts(second)
        assert ada.letters == from_seed(second, action=action, standing=score)
        await ada.strikes("\x03")
        assert ada.letters == from_seed(second, STRUCK, action=action, standing=score)
        action, score = ada.tally()
        await ada.presses(" ").is_asked(PLAY)
        await ada.presses("q").is_asked(MENU)
        await ada.logs_off()

        await ada.visits()
        await ada.goes_to_the_teletype()
        await ada.starts(third)
        assert ada.letters == from_seed(third, action=action, standing=score)


async def test_the_goodbye_sums_up_the_game(tmp_path: Path) -> None:
    async with at_the_teletype(tmp_path) as ada:
        await ada.starts(seed_asking("Hit? ", "over"))
        await ada.strikes("\r\x7f")
        _, score = ada.tally()
        await ada.presses(" ").is_asked(PLAY)
        await ada.presses("q").is_asked(MENU)
        words = f"{'up' if score > 0 else 'down'} $2" if score else "even"
        counts = "1 win, 0 losses" if score > 0 else "0 wins, 1 loss" if score else "0 wins"
        await ada.sees(f"Your sitting at UNIX bj: {counts}")
        await ada.sees(f"You're {words}.")


async def test_the_page_behind_fairness_has_seal_and_seed_whole(tmp_path: Path) -> None:
    """The page shows the seal before a run and the seed after it; the paper shows short ones."""
    seed, other = (seed_asking("Hit? ", "over"), bytes(range(32)))
    async with at_the_teletype(tmp_path) as ada:
        ada.board.seeds = [seed]
        await ada.presses("f").sees("Seal of the next shoe")
        await ada.sees(sha256(seed).hexdigest())
        assert "Seed of the last shoe" not in ada.screen
        await ada.presses(" ").is_asked(PLAY)
        # The seed sealed first is dealt, despite the later one.
        await ada.starts(other)
        assert ada.letters == from_seed(seed)
        await ada.strikes("\r\x7f")
        assert seed.hex() not in ada.plain
        await ada.presses(" ").is_asked(PLAY)
        await ada.presses("f").sees("Seed of the last shoe")
        for digits in (sha256(other).hexdigest(), sha256(seed).hexdigest(), seed.hex()):
            await ada.sees(digits)


async def test_plain_lines_tell_neither_seal_nor_seed_unasked(tmp_path: Path) -> None:
    seed = seed_asking("Hit? ", "over")
    async with at_the_teletype(tmp_path, profile=REFUSING) as ada:
        await ada.starts(seed)
        await ada.strikes("\r\x7f")
        assert not re.search("Seal|Seed|[0-9a-f]{8}", ada.plain)
        await ada.presses(" ").is_asked(PLAY)
        ada.presses("f")
        for digits in (sha256(seed).hexdigest(), seed.hex()):
            await ada.sees(digits)


@pytest.mark.parametrize("key", ["?\r", "\x1bOP"], ids=["a question mark", "F1"])
async def test_help_at_a_question_says_how_to_stop_and_answers_nothing(
    tmp_path: Path, key: str
) -> None:
    async with at_the_teletype(tmp_path) as ada:
        await ada.starts(seed_asking("Hit? "))
        before = ada.plain
        await ada.strikes(key)
        said = " ".join(ada.plain[len(before) :].split())
        assert "DEL or Ctrl-C ends the game" in said
        assert said.endswith("Hit?")
        assert moves(ada.board) == ["bet"]
