"""Hands of every game under many rules, played into real books with fixed chance.

For each hand: the data for checking it, and the result of a replay after a change.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from door.games import proofs
from door.games.engine import shuffle
from door.games.engine.cards import parse_card
from door.games.engine.errors import RoundRefused
from door.games.engine.game import Act, Kind
from door.games.engine.journaled import Bet, TableRound
from door.games.engine.rules import Halves
from door.games.registry import GAMES
from door.tables.play import Deal, act, deal, take_shoe
from door.tables.unix_bj.teletype import hand_start
from tests.single_shoes import planted
from tests.timebank.books import Books
from timebank.ledger.database import Desk
from timebank.settings.forms import Number, OneOf
from timebank.wagers import journal
from timebank.wagers.play_money import sit_down
from timebank.wagers.wagers import Played, Sitter

COIN = 60
SEATS = 3
_OFTEN = {"black-jack-for-time": 5, "vegas": 4, "unix-bj": 3, "baccarat": 4}
TABLES = {**_OFTEN, **{name: 1 for name in GAMES if name not in _OFTEN}}
"""How often a shoe is of each game."""
PHRASES = ("three blind mice", "Café noir", "bibo-dade, my 'own'", "ψ")
SIGNATURES = (
    "95a9f9f5b231b7714de1553105d8ffdf3dcda24cfdb1e689319bccf79a9c8ce430a91b811fbfaf763900bc998b5d686a",
    "b44679b9a59af2ec876b1a6b1ad52ea9b1615fc3982b19576350f93447cb1125e342b73a8dd2bacbe47e4b6b63ed5e39",
)
"""Of rounds 42 and 1000 of drand's quicknet, with which release 1.0 could shuffle a shoe."""
KEPT_KEYS = ("decks", "insurance_unit")  # never tampered with: the shoe depends on them


class Proved(NamedTuple):
    """A hand: its proof, the digits of its link, and the cards from its first on."""

    proof: dict[str, Any]
    digits: str
    cards: tuple[str, ...]


async def proved_hands(folder: Path, rounds: int) -> list[Proved]:
    """Play some rounds in the books, and prove every seat's hand."""
    books = Books(folder, minutes_per_day=200_000)
    calls = [
        books.call(books.caller(name), node=node)
        for node, name in enumerate(("Ada", "Bob", "Cleo"), 1)
    ]
    for call in calls[:1]:
        call.post(sit_down, "usd-cent")
    chance = random.Random(16)
    sitters = [Sitter(call.caller_id, call.id, 0) for call in calls]
    with books.database.transaction(books.settings, books.now) as desk:
        await _play(desk, sitters, chance, rounds)
        for (number,) in list(
            desk.connection.exec_driver_sql("SELECT id FROM shoes WHERE closed IS NULL")
        ):
            journal.close_shoe(desk, number)
        stored = list(journal.rounds_between(desk, 1, 999))
    books.close()
    hands = []
    for each in stored:
        assert isinstance(each, journal.StoredRound)
        hand = proofs.rebuild(each)
        cards = tuple(map(str, hand.round.shoe))
        hands.append(Proved(proofs.proof(each), proofs.packed(each), cards))
    return hands


async def _play(desk: Desk, sitters: list[Sitter], chance: random.Random, rounds: int) -> None:
    played = 0
    while played < rounds:
        (name,) = chance.choices(tuple(TABLES), tuple(TABLES.values()))
        kind, rules = GAMES[name].kind, varied(name, chance)
        for _ in range(chance.randint(1, 4)):
            played += 1
            await _play_one(desk, kind, rules, sitters, chance)


def varied(name: str, chance: random.Random) -> dict[str, object]:
    """Rules that a sysop can set, some of them not the usual ones."""
    kind = GAMES[name].kind
    while True:
        keys = chance.sample(tuple(kind.checks), chance.randint(0, 3))
        rules = {key: other_value(name, key, chance) for key in keys if key != "insurance_unit"}
        if name == "unix-bj":
            rules["insurance_unit"] = 1
        try:
            kind.read_rules(rules)
        except RoundRefused:
            continue
        return rules


def other_value(name: str, key: str, chance: random.Random) -> object:
    match GAMES[name].kind.checks[key]:
        case OneOf(words):
            return chance.choice(words)
        case Halves():
            return chance.choice((1, 1.5, 2, 2.5, 3, 11))
        case Number():
            return chance.choice((1, 2, 6, 8))
        case _:
            return chance.choice((True, False))


async def _play_one(
    desk: Desk,
    kind: Kind,
    rules: Mapping[str, object],
    sitters: list[Sitter],
    chance: random.Random,
) -> None:
    is_shared = kind.most_seats > 1
    chairs = sorted(chance.sample(range(1, 8), chance.randint(1, SEATS))) if is_shared else [1]
    here = {chair: sitters[place] for place, chair in enumerate(chairs)}
    owner = None if is_shared else sitters[0].caller_id
    take = partial(take_shoe, desk, kind, rules, owner, chance.randbytes(32))
    is_single = not is_shared and chance.random() < 0.5
    with planted() if is_single else nullcontext():
        shoe = take()
    if shoe.cut is None:
        shoe = replace(shoe, cut=_cut(shoe.anchor is not None, len(chairs), chance))
    is_dollars = kind.name == "unix-bj" or (kind.name == "baccarat" and chance.random() < 0.5)
    bets = [
        Bet(chair, here[chair].caller_id, "?", 200 if is_dollars else COIN * chance.randint(1, 9))
        for chair in chairs
    ]
    terms = Deal(
        unit="usd-cent" if is_dollars else "second",
        coin=100 if is_dollars else COIN,
        turns_limit=None,
        rules=rules,
        purse=None if not is_dollars else "tab" if kind.name == "unix-bj" else "bankroll",
        start=hand_start(shoe.position) if kind.name == "unix-bj" else None,
    )

    async def post(work: Any) -> Played:
        played: Played = work(desk, here)
        return played

    if shoe.fresh and shoe.anchor is not None and not shoe.position and chance.random() < 0.5:
        shoe = replace(shoe, signature=chance.choice(SIGNATURES))
        signature = json.dumps({"signature": shoe.signature})
        noted = "UPDATE shoes SET beacon = ? WHERE id = ?"
        desk.connection.exec_driver_sql(noted, (signature, shoe.id))
    step = await deal(post, kind, shoe, terms, bets)
    while not step.hand.over:
        decided = step.hand.tossed() or _decides(step.hand, chance)
        stake = decided.amount or _stake(step.hand, decided)
        step = await act(post, step.hand, decided, stake, decided.word if stake else "")


def _cut(is_chained: bool, seats: int, chance: random.Random) -> str:
    if is_chained:
        return "\n".join(chance.choices(PHRASES, k=seats))
    return chance.choice(("", *PHRASES))


def _decides(hand: TableRound[Any], chance: random.Random) -> Act:
    word = chance.choice(hand.kind.open_words(hand.round))
    if hand.kind.most_seats == 1:
        return Act(word)
    turn = hand.round.turn
    most = hand.round.amount(word)
    named = word == "insurance" and chance.random() < 0.5
    return Act(word, turn.seat + 1, chance.randint(1, most) if named else None)


def _stake(hand: TableRound[Any], decided: Act) -> int:
    if not hasattr(hand.round, "amount"):
        return 0
    stake: int = hand.round.amount(hand.kind.actions(decided.word))
    return stake


# Changes to a hand, and whether they matter.


def tampered(hand: Proved, chance: random.Random) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield proofs with one change, and the change's name."""
    proof = hand.proof
    cards, game = proof["cards"], proof["game"]
    at = chance.randrange(len(cards))
    other = chance.choice([card for card in ("2H", "KS", "9D") if card != cards[at]])
    yield "card", {**proof, "cards": [*cards[:at], other, *cards[at + 1 :]]}
    yield "seed", {**proof, "seed": chance.randbytes(32).hex()}
    if beacon := proof.get("beacon"):
        other = next(each for each in SIGNATURES if each != beacon["signature"])
        yield "signature", {**proof, "beacon": {"signature": other}}
    paid = proof["paid"]
    yield "payment", {**proof, "paid": {**paid, "won": paid["won"] + COIN}}
    stakes = list(proof["stakes"])
    stakes[proof["seat"] - 1] += 2 * COIN
    yield "stake", {**proof, "stakes": stakes}
    if proof["actions"]:
        moves = list(proof["actions"])
        place = chance.randrange(len(moves))
        seat, colon, word = moves[place].rpartition(":")
        if not word.isdecimal():
            words = [each for each in GAMES[game].kind.actions if each != word]
            moves[place] = f"{seat}{colon}{chance.choice(words)}"
            yield "decision", {**proof, "actions": moves}
        yield "decision", {**proof, "actions": moves[:-1]}
    for key in GAMES[game].kind.checks:
        if key not in KEPT_KEYS:
            value = other_value(game, key, chance)
            if value != proof["rules"][key]:
                yield "rule", {**proof, "rules": {**proof["rules"], key: value}}


def still_fits(proof: Mapping[str, Any], cards: Sequence[str]) -> bool:
    """Return whether moves, stakes and rules give the proof's result in the program's replay."""
    kind = GAMES[proof["game"]].kind
    rules = proof["rules"]
    seat = proof["seat"] - 1
    tosses = []
    try:
        round_, _ = kind.deal(rules, [parse_card(card) for card in cards], proof["stakes"], 1)
        for action in proof["actions"]:
            done = Act.parse(action)
            if done.word.startswith("bank-"):
                tosses.append((round_.cards_used, done.word == "bank-card"))
            round_, _ = kind.act(round_, done)
    except (RoundRefused, ValueError):
        return False
    totals, paid = kind.totals(round_, seat), proof["paid"]
    if not round_.over:
        return False
    cut = proof["cut"]
    signature = proof.get("beacon", {}).get("signature", "")
    randomness = shuffle.randomness(signature) if signature else ""
    mixed = cut if isinstance(cut, str) else shuffle.Phrases(cut["text"], cut["link"], randomness)
    seed = bytes.fromhex(proof["seed"])
    return (
        (totals.lost, totals.returned, totals.won) == (paid["lost"], paid["returned"], paid["won"])
        and kind.outcome(round_, seat) == paid["outcome"]
        and kind.laid(round_, seat) == paid["laid"]
        and round_.cards_used == len(proof["cards"])
        and all(shuffle.toss(seed, mixed, proof["position"] + at) is won for at, won in tosses)
    )
