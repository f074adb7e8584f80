"""door/games/json_replay.py: a hand as JSON, from anybody."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal

from door.games.engine.errors import ReplayError
from door.games.json_replay import parse, render, replay
from door.games.registry import GAMES
from verify.fuzz.oracles import assert_one_line
from verify.fuzz.target import Target
from verify.samples import SAMPLES


def check(data: bytes) -> None:
    """Check that it is a hand with an exact JSON result, or is refused in one sentence."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return  # the command refuses it before anybody parses it
    try:
        document = parse(text)
        results = replay(document)
    except ReplayError as refused:
        assert_one_line(str(refused))
        assert len(str(refused)) < 1000
        return
    rendered = render(results)
    assert rendered.isascii()
    again = json.loads(rendered, parse_float=Decimal)
    assert again == json.loads(render(replay(parse(text))), parse_float=Decimal)
    for hand in again if isinstance(again, list) else [again]:
        assert isinstance(hand["net"], int | Decimal)
        assert hand["cards_used"] >= 2
        assert hand["outcome"]


def _seeds() -> Iterator[bytes]:
    hand = {"game": "black-jack-for-time", "stake": 10, "shoe": "3H JS TH 3D 5C 9D"}
    samples = [hand for samples in SAMPLES.values() for hand in samples.hands]
    documents: tuple[object, ...] = (
        *samples,
        samples,
        {**hand, "rules": {"decks": 2, "dealer": "hit 17", "bogus": None}, "actions": []},
    )
    for document in documents:
        yield json.dumps(document).encode()


TARGET = Target(
    name="replay",
    check=check,
    seeds=_seeds,
    tokens=(
        *(b'"game": ', b'"rules": {', b'"stake": ', b'"seats": [', b'"shoe": ', b'"actions": ['),
        *(b'"hit"', b'"stay"', b'"double"', b'"split"', b'"insurance:1"', b'"2:hit"', b'"card"'),
        *(name.encode() for name in GAMES),
        *(b"AS ", b"TH ", b"8C ", b"5D "),
        *(b"1e999", b"1e-12", b"NaN", b"null", b"true", b"9" * 30, b"[" * 60, b"\\u001b", b"-1"),
    ),
    longest=1536,
    seconds=0.5,
)
