"""The second version of the shuffle, by its page: chains of seeds, phrases, commitments."""

import hashlib
import hmac
import re

import pytest
from click.testing import CliRunner

from door.cli.main import main
from door.games.engine.cards import deck
from door.games.engine.shuffle import (
    Phrases,
    anchor,
    commitment,
    randomness,
    seal,
    shuffle,
    toss,
)
from tests.door.games.engine.test_shuffle import blocks
from timebank.wagers.chains import hashes_to, link_seed

ROOT = bytes(range(32))
ANCHOR = link_seed(ROOT, 3, 0).hex()


def by_the_page(
    seed: bytes, link: int, cut: bytes, decks: int, beacon: bytes = b""
) -> tuple[str, ...]:
    version = b"3" if beacon else b"2"
    mixed_in = b"%s\0" % beacon if beacon else b""
    cards = list(deck(decks))
    counter = 0
    for last in range(len(cards) - 1, 0, -1):
        while True:
            label = b"blackjack-for-time/%s/shuffle\0%d\0%s\0%s" % (version, link, cut, mixed_in)
            block = hmac.digest(seed, label + counter.to_bytes(8, "big"), "sha256")
            counter += 1
            number = int.from_bytes(block[:4], "big")
            if number < 2**32 - 2**32 % (last + 1):
                break
        other = number % (last + 1)
        cards[last], cards[other] = cards[other], cards[last]
    return tuple(cards)


@pytest.mark.parametrize("vector", blocks("vectors"))
def test_the_published_vectors_hold(vector: str) -> None:
    given_line, seal_line, *phrase_lines, cards_line = vector.splitlines()
    match = re.fullmatch(r'([0-9a-f]{64}) (\d) (".*") (\d)', given_line)
    assert match is not None
    seed, link, decks = bytes.fromhex(match[1]), int(match[2]), int(match[4])
    phrases = re.findall('"(.*?)"', match[3])
    shoe = shuffle(seed, Phrases("\n".join(phrases), link), decks)
    assert shoe == by_the_page(seed, link, "\n".join(phrases).encode(), decks)
    assert f"{' '.join(shoe[:10])} ... {shoe[-1]}" == cards_line
    assert seal(seed) == seal_line
    assert anchor(seed, link) == ANCHOR
    assert phrase_lines == [commitment(seed, phrase, link) for phrase in phrases]
    cuts = [word for phrase in phrases for word in ("--cut", phrase)]
    asked = ["verify", "--seed", seed.hex(), "--chain", str(link), "--decks", str(decks), *cuts]
    output = CliRunner().invoke(main, asked).stdout.splitlines()
    assert output[:2] == [f"seal {seal_line}", f"anchor {ANCHOR}"]
    assert output[2 : 2 + len(phrase_lines)] == [f"commitment {each}" for each in phrase_lines]
    assert " ".join(output[2 + len(phrase_lines) :]).split() == list(shoe)


@pytest.mark.parametrize("vector", blocks("rounds"))
def test_the_vectors_with_recorded_rounds_hold(vector: str) -> None:
    given_line, round_line, worth, cards_line, tosses_line = vector.splitlines()
    match = re.fullmatch(r'([0-9a-f]{64}) (\d) (".*") (\d)', given_line)
    assert match is not None
    seed, link, decks = bytes.fromhex(match[1]), int(match[2]), int(match[4])
    phrases = re.findall('"(.*?)"', match[3])
    _number, signature = round_line.split()
    assert hashlib.sha256(bytes.fromhex(signature)).hexdigest() == worth == randomness(signature)
    cut = Phrases("\n".join(phrases), link, worth)
    shoe = shuffle(seed, cut, decks)
    assert shoe == by_the_page(seed, link, cut.text.encode(), decks, worth.encode())
    assert f"{' '.join(shoe[:10])} ... {shoe[-1]}" == cards_line
    assert [each for each in range(4, 9) if toss(seed, cut, each)] == [
        *map(int, tosses_line.split())
    ]


def test_the_seal_of_a_shoe_is_the_seed_of_the_one_before() -> None:
    seeds = [link_seed(ROOT, 3, number) for number in (1, 2, 3)]
    assert seeds[2] == ROOT
    assert [seal(seed) for seed in seeds] == [ANCHOR, seeds[0].hex(), seeds[1].hex()]
    assert hashes_to(seeds[2], 2, seeds[0])
    assert not hashes_to(seeds[2], 1, seeds[0])


def test_phrase_number_and_version_each_make_another_order() -> None:
    cuts = ("a", "", Phrases("a", 1), Phrases("a", 2), Phrases("a\na", 1), Phrases("", 1))
    assert len({shuffle(ROOT, cut, 1) for cut in cuts}) == len(cuts)
    tosses = {tuple(toss(ROOT, cut, place) for place in range(40)) for cut in cuts}
    assert len(tosses) == len(cuts)


def test_phrases_are_mixed_in_normalised_form() -> None:
    typed = Phrases(" Cafe\u0301 noir\nmice ", 2)
    assert shuffle(ROOT, typed, 1) == shuffle(ROOT, Phrases("Caf\u00e9 noir\nmice", 2), 1)
    assert commitment(ROOT, " mice", 2) == commitment(ROOT, "mice", 2)


def test_a_commitment_is_of_one_shoe_and_one_phrase() -> None:
    other = hashlib.sha256(ROOT).digest()
    seals = {commitment(*each) for each in ((ROOT, "a", 1), (ROOT, "b", 1), (other, "a", 1))}
    assert len({*seals, commitment(ROOT, "a", 2)}) == 4


def test_several_cuts_are_for_a_chain_alone() -> None:
    asked = ["verify", "--seed", ROOT.hex(), "--cut", "a", "--cut", "b"]
    result = CliRunner().invoke(main, asked)
    assert result.exit_code != 0
    assert "only with --chain" in result.output
