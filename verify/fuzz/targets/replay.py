"""door/games/engine/replay.py: a hand as JSON, from anybody."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal

from door.games.engine.replay import ReplayError, parse, render, replay
from verify.fuzz.oracles import assert_one_line
from verify.fuzz.target import Target


def check(data: bytes) -> None:
    """It is a hand whose result is exact JSON, or refused with one sentence."""
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
        assert hand["cards_used"] >= 4
        assert hand["outcome"]


def _seeds() -> Iterator[bytes]:
    hand = {"game": "black-jack-for-time", "stake": 10, "shoe": "3H JS TH 3D 5C 9D"}
    documents: tuple[object, ...] = (
        {**hand, "rules": {}, "actions": ["hit", "hit"]},
        {**hand, "stake": 2.5, "shoe": "TS 9D KS 8C", "actions": ["stay"]},
        [{**hand, "actions": ["stay"]}, {**hand, "actions": ["double"]}],
        {
            "game": "vegas",
            "seats": [{"stake": 1}, {"stake": 0.5}],
            "shoe": "TS 9D KS 8C 8H 7D 5C 6S 2D 3D 4H",
            "actions": ["1:stay", "2:hit"],
        },
        {
            "game": "unix-bj",
            "stake": 2,
            "shoe": "AS AD 8H 8C TD 9C 5S 6D 2C 3C",
            "actions": ["insurance:1", "split", "hit", "stay"],
        },
        {"game": "baccarat", "stake": 100, "shoe": "2H 3S 3D 2C 9D 8H", "actions": ["card"]},
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
        *(
            b"black-jack-for-time",
            b"baccarat",
            b"unix-bj",
            b"vegas",
            b"AS ",
            b"TH ",
            b"8C ",
            b"5D ",
        ),
        *(b"1e999", b"1e-12", b"NaN", b"null", b"true", b"9" * 30, b"[" * 60, b"\\u001b", b"-1"),
    ),
    longest=1536,
    seconds=0.5,
)
