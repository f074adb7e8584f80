"""The seal and the shuffle: every card once, every order as likely, and anyone can check it."""

import hmac
import itertools
import json
import re
import subprocess
import sys
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from door.games.engine import shuffle as shuffling
from door.games.engine.cards import deck
from door.games.engine.shuffle import draws, normal_cut, run_on, seal, shuffle
from door.games.json_replay import parse, replay
from tests import ROOT
from tests.door.games.blackjack.chances import unhurried

FAIRNESS = ROOT / "docs" / "fairness.md"
SEED = bytes(range(32))

seeds = st.binary(min_size=32, max_size=32)
cuts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", FAIRNESS.read_text("utf-8"), re.M | re.S)


@unhurried
@given(seeds, cuts, st.integers(1, 8))
def test_a_shoe_holds_every_card_of_its_decks_once(seed: bytes, cut: str, decks: int) -> None:
    assert Counter(shuffle(seed, cut, decks)) == Counter(deck(decks))


def test_a_shoe_of_more_decks_is_not_the_smaller_one_continued() -> None:
    assert shuffle(SEED, "", 2)[:52] != shuffle(SEED, "", 1)


def test_a_number_that_would_favour_some_results_is_drawn_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """2**32 is 3 * 1431655765 + 1: the last number would make 0 more likely than 1 and 2."""
    monkeypatch.setattr(shuffling, "_numbers", lambda *_: iter([2**32 - 1, 2**32 - 2]))
    assert draws(SEED, "shuffle", "")(3) == 2


def test_draws_under_another_label_are_other_draws() -> None:
    one, two = draws(SEED, "shuffle", ""), draws(SEED, "toss", "")
    assert [one(1000) for _ in range(5)] != [two(1000) for _ in range(5)]


@pytest.mark.parametrize("size", [0, 31, 33])
def test_a_seed_is_32_bytes(size: int) -> None:
    with pytest.raises(ValueError, match=f"A seed is 32 bytes, this one is {size}"):
        seal(bytes(size))
    with pytest.raises(ValueError, match="A seed is 32 bytes"):
        shuffle(bytes(size), "", 1)


def test_a_cut_is_the_same_however_its_accents_were_typed() -> None:
    assert normal_cut("Cafe\u0301") == "Caf\u00e9"
    assert shuffle(SEED, "Cafe\u0301", 1) == shuffle(SEED, "Caf\u00e9", 1)


def test_spaces_at_the_ends_of_a_cut_do_not_count_and_others_do() -> None:
    assert normal_cut("  three  mice ") == "three  mice"
    assert normal_cut("\tmice\u00a0") == "\tmice\u00a0"
    assert normal_cut("   ") == ""


@unhurried
@given(cuts)
def test_a_cut_that_was_stored_is_already_normal(cut: str) -> None:
    assert normal_cut(normal_cut(cut)) == normal_cut(cut)


def test_a_cut_that_is_no_text_is_refused() -> None:
    with pytest.raises(ValueError, match="not text"):
        shuffle(SEED, "half a pair \ud800", 1)


# docs/fairness.md


def checked(seed: str, cut: str, decks: str) -> list[str]:
    """Return the output of the page's twenty lines."""
    (program,) = blocks("python")
    run = subprocess.run(
        [sys.executable, "-X", "utf8", "-c", program, seed, cut, decks],
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    return run.stdout.split()


@pytest.mark.parametrize(
    ("cut", "decks"), [("", 1), ("  three blind mice ", 1), ("Cafe\u0301 noir", 6)]
)
def test_the_published_checker_agrees(cut: str, decks: int) -> None:
    expected = [seal(SEED), *shuffle(SEED, cut, decks)]
    assert checked(SEED.hex(), cut, str(decks)) == expected


def test_the_published_checker_has_twenty_lines() -> None:
    (program,) = blocks("python")
    assert len([line for line in program.splitlines() if line.strip()]) <= 20


@pytest.mark.parametrize("vector", blocks("text"))
def test_the_published_vectors_hold(vector: str) -> None:
    given_line, seal_line, cards_line = vector.splitlines()
    match = re.fullmatch(r'([0-9a-f]{64}) "(.*)" (\d)', given_line)
    assert match is not None
    seed, cut, decks = bytes.fromhex(match[1]), match[2], int(match[3])
    shoe = shuffle(seed, cut, decks)
    assert seal(seed) == seal_line
    assert f"{' '.join(shoe[:10])} ... {shoe[-1]}" == cards_line


def test_there_are_published_vectors() -> None:
    assert len(blocks("text")) == 3


def test_the_published_hand_has_the_published_result() -> None:
    hand, result = blocks("json")
    assert replay(parse(hand)) == json.loads(result)


# A shoe that runs on


def by_the_page(seed: bytes, cut: str, decks: int, label: str) -> tuple[str, ...]:
    """A shuffle as docs/fairness.md defines it, written down a second time."""
    cards = [str(card) for card in deck(decks)]
    message = f"blackjack-for-time/1/{label}\0{cut}\0".encode()
    counter = itertools.count()

    def below(bound: int) -> int:
        while True:
            block = hmac.digest(seed, message + next(counter).to_bytes(8, "big"), "sha256")
            number = int.from_bytes(block[:4], "big")
            if number < 2**32 - 2**32 % bound:
                return number % bound

    for last in range(len(cards) - 1, 0, -1):
        other = below(last + 1)
        cards[last], cards[other] = cards[other], cards[last]
    return tuple(cards)


@pytest.mark.parametrize("decks", [1, 6])
def test_a_shoe_that_runs_on_is_shuffled_again_from_the_same_seed(decks: int) -> None:
    size = 52 * decks
    run = run_on(SEED, "a cut", decks, 0, 0, 2 * size + 1)
    assert run[:size] == by_the_page(SEED, "a cut", decks, "shuffle")
    assert run[size : 2 * size] == by_the_page(SEED, "a cut", decks, "shuffle 2")
    assert run[2 * size :] == by_the_page(SEED, "a cut", decks, "shuffle 3")


def test_undealt_cards_of_each_shuffle_are_passed_over() -> None:
    run = run_on(SEED, "", 1, 1, 0, 102)
    assert run[:51] == by_the_page(SEED, "", 1, "shuffle")[:51]
    assert run[51:102] == by_the_page(SEED, "", 1, "shuffle 2")[:51]


@unhurried
@given(seeds, st.integers(1, 2), st.integers(0, 3), st.integers(0, 400), st.integers(1, 120))
def test_a_run_may_be_taken_up_anywhere(
    seed: bytes, decks: int, undealt: int, position: int, least: int
) -> None:
    whole = run_on(seed, "", decks, undealt, 0, position + least)
    part = run_on(seed, "", decks, undealt, position, least)
    assert len(part) >= least
    assert part[:least] == whole[position : position + least]
