"""Films of hands: the visible parts, and the hidden ones."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, date, datetime
from types import MappingProxyType
from typing import Any

import pyte
import pytest

from door.games import proofs
from door.games.engine import shuffle
from door.games.registry import GAMES
from door.tables import film
from door.tables.card_names import the_card
from timebank.wagers.journal import Shoe, StoredRound, StoredSeat
from timebank.wagers.rounds import VOID

MINUTE = 60
NAMES = ("Ada", "Bob")


def stored(
    game: str,
    seed: bytes = bytes(range(32)),
    *,
    done: bool = True,
    acts: int | None = None,
    rules: Mapping[str, object] = MappingProxyType({}),
    **changed: Any,
) -> StoredRound:
    """Return a stored hand after `acts` decisions, without its callers."""
    kind = GAMES[game].kind
    decks, seats = kind.decks(rules), min(kind.most_seats, len(NAMES))
    stakes = [5 * MINUTE] * seats
    cards = kind.cards(seed, "", decks, 0)
    round_, _ = kind.deal(rules, cards, stakes, 1)
    actions: list[tuple[int, dict[str, object]]] = [(0, {"action": "bet"})]
    while not round_.over and (acts is None or len(actions) <= acts):
        act = kind.by_chance(round_, seed, "", 0) or kind.absent(round_)
        round_, _ = kind.act(round_, act)
        actions.append((len(actions), act.entry()))
    fields: dict[str, Any] = {
        "id": 17,
        "game": game,
        "caller_id": 1,
        "caller": NAMES[0],
        "day": date(2026, 11, 20),
        "dealt": datetime(2026, 11, 20, 12, tzinfo=UTC),
        "rules": dict(rules),
        "stake": stakes[0],
        "coin": MINUTE,
        "shoe": Shoe(
            *(3, shuffle.seal(seed), decks, 0, ""), fresh=False, done=done, caller_id=1, seed=seed
        ),
        "actions": tuple(actions),
        "cards_used": round_.cards_used,
        "settled": round_.over,
        "outcome": "over" if round_.over else None,
        "result": None,
        "lost": 0,
        "returned": 0,
        "won": 0,
        "unit": "second",
        "seat": 1,
        "lead": 17,
        "seats": tuple(
            StoredSeat(number, 16 + number, number, name, stakes[0], round_.over)
            for number, name in enumerate(NAMES[:seats], 1)
        ),
    }
    return StoredRound(**fields | changed)


def shot(hands: list[StoredRound], size: str = "80x24") -> tuple[list[Any], str, str]:
    """The parsed lines of a film, the last screen, and every screen that it went through."""
    lines = [json.loads(line) for line in film.film(hands, film.reel_of(size))]
    screen = pyte.Screen(lines[0]["width"], lines[0]["height"])
    stream, screens = pyte.Stream(screen), []
    for _second, what, letters in lines[1:]:
        if what == "o":
            stream.feed(letters)
            screens.append("\n".join(screen.display))
    return lines, screens[-1], "\n".join(screens)


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("size", ["80x24", "40x22", "132x50"])
def test_every_game_is_filmed_at_every_size(game: str, size: str) -> None:
    lines, last, shown = shot([stored(game)], size)
    assert lines == shot([stored(game)], size)[0]
    assert (lines[0]["version"], f"{lines[0]['width']}x{lines[0]['height']}") == (2, size)
    seconds = [line[0] for line in lines[1:]]
    assert seconds == sorted(seconds)
    assert len(lines) > 6, "cards come one by one"
    assert [line[2] for line in lines[1:] if line[1] == "m"] == ["Hand 17"]
    assert "Hand 17" in shown
    assert "0:00" not in last, "no film tells of a purse"
    assert "Traceback" not in last


def test_an_open_hand_hides_hole_card_and_seed() -> None:
    hand = stored("black-jack-for-time", done=False, acts=0)
    shoe = hand.shoe
    assert shoe is not None
    assert not hand.settled
    cards = GAMES[hand.game].kind.cards(shoe.seed, "", shoe.decks, 0)
    lines, last, shown = shot([hand], "132x50")
    text = json.dumps(lines)
    assert "The hand is still in play." in last
    assert shoe.seed.hex()[:8] not in text
    assert the_card(cards[3]) not in shown
    assert "░" in shown, "it lies face down"


def test_a_shoe_that_is_done_shows_seed_and_hole_card() -> None:
    busted = stored("black-jack-for-time", acts=0)
    kind = GAMES[busted.game].kind
    for number in range(500):  # players who hit until they bust
        seed = number.to_bytes(32, "big")
        cards = kind.cards(seed, "", 1, 0)
        round_, _ = kind.deal({}, cards, [300], 1)
        entries: list[tuple[int, dict[str, object]]] = [(0, {"action": "bet"})]
        while not round_.over and "hit" in round_.legal():
            round_, _ = round_.apply("hit")
            entries.append((len(entries), {"action": "hit"}))
        if round_.over and kind.face_down(round_):
            break
    shown = {"actions": tuple(entries), "outcome": "bust", "settled": True}
    done = stored(busted.game, seed, acts=0, **shown)
    _lines, last, _seen = shot([done])
    assert f"Face down lay {the_card(cards[3])}." in last
    assert seed.hex()[:8] in last
    running = stored(busted.game, seed, done=False, acts=0, **shown)
    _lines, last, _seen = shot([running])
    assert "Face down" not in last
    assert seed.hex()[:8] not in last


def test_a_proof_has_the_tosses_of_a_coup() -> None:
    rules = {"bank_option_3v9": "toss", "bank_option_5v4": "toss"}
    for number in range(500):
        seed = number.to_bytes(32, "big")
        coup = stored("baccarat", seed, rules=rules)
        proof: Any = proofs.proof(coup)
        if proof["tosses"]:
            break
    ((position, is_for_a_card),) = proof["tosses"]
    assert (position, is_for_a_card) == (5, shuffle.toss(seed, "", 5))
    assert len(proof["cards"]) == 5 + is_for_a_card
    assert "seed" not in proofs.proof(stored("baccarat", seed, rules=rules, done=False))


def test_an_evening_is_a_film_with_a_mark_for_each_round() -> None:
    evening = [stored("vegas"), stored("vegas", bytes(32), id=19, lead=19)]
    lines, last, shown = shot(evening)
    assert [line[2] for line in lines[1:] if line[1] == "m"] == ["Hand 17", "Hand 19"]
    assert "Bob" in shown
    assert "Hand 19" in last


def test_a_void_hand_says_so() -> None:
    _lines, last, _seen = shot([stored("red-dog", acts=0, outcome=VOID)])
    assert "The hand is void: it was never played to its end." in last


@pytest.mark.parametrize("size", ["39x24", "80x21", "161x24", "80", "axb"])
def test_a_size_that_no_table_is_painted_at_is_refused(size: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        film.reel_of(size)
