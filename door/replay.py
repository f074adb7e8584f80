"""Hands played again: from a journal, or from JSON that anyone may write.

A round is a function of (rules, shoe, actions), so whoever has the three can have the round again:
a caller who dropped carrier, the audit of the books, a stranger who doubts a result. Nothing here
reads a file, a clock or a database; `replay` and `render` are all that `door replay` does, and
`replay_round` all that resuming and auditing need. Every mistake in what is given is a
`ReplayError`, a sentence.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import NoReturn

from door.games.blackjack import Action, IllegalAction, Round, ShoeTooShort, Totals, start
from door.games.blackjack_events import Event
from door.games.blackjack_rules import (
    BLACK_JACK_FOR_TIME,
    Rules,
    RulesRefused,
    rules_from_mapping,
)
from door.games.cards import Card, parse_card, parse_cards
from door.games.quoting import either, shown, shown_key

HOUSE_KEYS = frozenset({"coin_minutes", "smallest_bet", "largest_bet", "turns_per_day"})
"""Keys of the game's table in sysop.toml that bound a wager and change no hand: a replay takes
them with the others and has no use for them."""

LARGEST_STAKE = 10**12
STAKE_DECIMALS = 12

_KEYS = ("game", "rules", "stake", "shoe", "actions")


class ReplayError(ValueError):
    """What was given is no hand of this game; the text says which hand and what is wrong."""


GAMES: Mapping[str, Rules] = {"black-jack-for-time": BLACK_JACK_FOR_TIME}
"""The games that can be replayed, and the rules of each before a house varies them."""


@dataclass(frozen=True, slots=True)
class Replayed:
    """A round as far as its actions take it, and everything that happened in it."""

    round: Round
    events: tuple[Event, ...]

    @property
    def totals(self) -> Totals:
        """The money: staked, lost, returned, won, in the unit of the stake."""
        return self.round.totals

    @property
    def outcome(self) -> str:
        """The outcomes of its hands, parted by spaces; empty while none is settled."""
        return " ".join(self.round.outcomes)


def replay_round(
    game: str, rules: Mapping[str, object], cards: Sequence[str], stake: int, actions: Iterable[str]
) -> Replayed:
    """Play a round again: `cards` from the first that was dealt, `stake` in its smallest unit.

    The round may still be open after the last action. Raises ReplayError when the rules do not
    know the game, a key, a card, the stake or an action, or when cards or turns run out.

    >>> again = replay_round("black-jack-for-time", {}, ["AS", "9D", "KS", "7C"], 600, [])
    >>> again.outcome, again.totals
    ('natural', Totals(staked=600, lost=0, returned=600, won=1200))
    """
    return _play(_rules(game, rules), _cards(cards), stake, tuple(actions))


def journaled_actions(journal: Iterable[tuple[int, Mapping[str, object]]]) -> tuple[str, ...]:
    """The actions of a journaled round as `replay_round` takes them: in order, without the bet.

    >>> journaled_actions([(1, {"action": "hit"}), (0, {"action": "bet", "stake": 600})])
    ('hit',)
    """
    ordered = sorted(journal, key=lambda entry: entry[0])
    actions = (entry.get("action") for _, entry in ordered)
    return tuple(str(action) for action in actions if action != "bet")


def parse(text: str) -> object:
    """The JSON of a text, its decimals exact. ReplayError when it is none."""
    try:
        return json.loads(
            text,
            parse_float=Decimal,
            parse_constant=_no_constant,
            object_pairs_hook=_object,
        )
    except json.JSONDecodeError as error:
        raise ReplayError(
            f"The input is no JSON: {error.msg} in line {error.lineno}, column {error.colno}."
        ) from None
    except RecursionError:
        raise ReplayError("The input is nested too deeply to be a hand.") from None
    except ReplayError:
        raise
    except ValueError:  # Python's bound on the digits of an integer
        raise ReplayError("The input holds a number of too many digits.") from None


def replay(document: object) -> dict[str, object] | list[dict[str, object]]:
    """Play the hand, or each hand of the list, that parsed JSON describes (docs/fairness.md).

    The result of a hand is a table fit for `render`; its `net` is an int or a Decimal.

    >>> hand = {"game": "black-jack-for-time", "stake": 2.5, "shoe": "TS 9D KS 8C", "actions": []}
    >>> replay({**hand, "actions": ["stay"]})["net"]
    Decimal('2.5')
    >>> replay([hand])
    Traceback (most recent call last):
    ...
    door.replay.ReplayError: Hand 1: the hand is not finished: double, hit or stay must follow.
    """
    if isinstance(document, Mapping):
        return _named("The hand", document)
    if isinstance(document, list):
        return [_named(f"Hand {number}", item) for number, item in enumerate(document, start=1)]
    raise ReplayError(f"The input must be a hand or a list of hands, is {shown(document)}.")


def render(results: dict[str, object] | list[dict[str, object]]) -> str:
    """The JSON text of what `replay` gave, one line a hand, decimals written out exactly.

    >>> render({"outcome": "win", "net": Decimal("2.5")})
    '{"outcome": "win", "net": 2.5}'
    """
    if isinstance(results, list):
        return "[" + ",\n ".join(_line(result) for result in results) + "]"
    return _line(results)


def _line(result: dict[str, object]) -> str:
    # json has no way to write a Decimal as the number it is.
    pairs = (
        f"{json.dumps(key)}: {value:f}"
        if isinstance(value, Decimal)
        else f"{json.dumps(key)}: {json.dumps(value)}"
        for key, value in result.items()
    )
    return "{" + ", ".join(pairs) + "}"


def _named(name: str, item: object) -> dict[str, object]:
    """The result of one hand; whatever is wrong with it is said under its name."""
    try:
        return _result(_fields(item))
    except ReplayError as error:
        raise ReplayError(f"{name}: {error}") from None


def _fields(item: object) -> dict[str, object]:
    """A hand's own keys, all of them known, the needed ones there."""
    if not isinstance(item, Mapping):
        raise ReplayError(f"a hand must be a table of {', '.join(_KEYS)}, is {shown(item)}.")
    for key in item:
        if key not in _KEYS:
            raise ReplayError(f"{shown_key(key)} is no key of a hand: they are {', '.join(_KEYS)}.")
    for key in _KEYS:
        if key not in item and key != "rules":
            raise ReplayError(f"{key} is missing.")
    return {"rules": {}, **item}


def _result(fields: dict[str, object]) -> dict[str, object]:
    game, rules, shoe, actions = (fields[key] for key in ("game", "rules", "shoe", "actions"))
    if not isinstance(game, str):
        raise ReplayError(f"game must be a name, is {shown(game)}.")
    if not isinstance(rules, Mapping):
        raise ReplayError(f"rules must be a table, is {shown(rules)}.")
    stake = _stake(fields["stake"])
    # Twice the stake is even, so that half of it and all it can win are whole numbers.
    scale = 2 * stake.denominator
    table = _rules(game, _without_bounds(rules))
    scaled = replace(table, insurance_unit=table.insurance_unit * scale)
    again = _play(scaled, _shoe(shoe, table.decks), int(stake * scale), _actions(actions))
    if not again.round.over:
        raise ReplayError(f"the hand is not finished: {either(again.round.legal())} must follow.")
    totals = again.totals
    return {
        "outcome": again.outcome,
        "net": _number(Fraction(totals.won - totals.lost, scale)),
        "player": [list(hand.cards) for seat in again.round.seats for hand in seat.hands],
        "dealer": list(again.round.dealer_hand),
        "cards_used": again.round.cards_used,
    }


def _without_bounds(rules: Mapping[str, object]) -> dict[str, object]:
    for key in HOUSE_KEYS & rules.keys():
        value = rules[key]
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            wanted = "must be a whole number, 0 or more"
            raise ReplayError(f"rules: {key}: {wanted}, is {shown(value)}.")
    return {key: value for key, value in rules.items() if key not in HOUSE_KEYS}


def _play(rules: Rules, cards: Sequence[Card], stake: int, actions: Sequence[str]) -> Replayed:
    """Deal and act; every refusal of the engine becomes a sentence about what was given."""
    number = 0
    try:
        game, happened = start(rules, cards, [stake])
        events = list(happened)
        for number, action in enumerate(actions, start=1):
            if game.over:
                rest = ", ".join(actions[number - 1 : number + 4])
                raise ReplayError(f"the hand was over before action {number}; left over: {rest}.")
            game, happened = game.apply(Action(action))
            events += happened
    except (IllegalAction, ShoeTooShort) as error:
        at = f"action {number}: " if number else ""
        raise ReplayError(f"{at}{_small(str(error))}") from None
    except ReplayError:
        raise
    except ValueError as error:
        raise ReplayError(_small(str(error)) if not number else _unknown(number, actions)) from None
    return Replayed(game, tuple(events))


def _unknown(number: int, actions: Sequence[str]) -> str:
    return f"action {number} must be {either(tuple(Action))}, is {shown(actions[number - 1])}."


def _rules(game: str, mapping: Mapping[str, object]) -> Rules:
    known = GAMES.get(game)
    if known is None:
        raise ReplayError(f"game must be {either(tuple(GAMES))}, is {shown(game)}.")
    try:
        return rules_from_mapping(mapping, known)
    except RulesRefused as refused:
        raise ReplayError(f"rules: {refused}") from None


def _cards(cards: Sequence[str]) -> tuple[Card, ...]:
    try:
        return tuple(parse_card(card) for card in cards)
    except ValueError as error:
        raise ReplayError(f"shoe: {error}") from None


def _shoe(text: object, decks: int) -> tuple[Card, ...]:
    """The cards of a shoe, no card more often than the decks of the rules hold it."""
    if not isinstance(text, str):
        raise ReplayError(f"shoe must be a text of cards such as 3H JS TH, is {shown(text)}.")
    try:
        cards = parse_cards(text)
    except ValueError as error:
        raise ReplayError(f"shoe: {error}") from None
    for card, times in Counter(cards).items():
        if times > decks:
            held = "1 deck holds" if decks == 1 else f"{decks} decks hold"
            raise ReplayError(f"shoe: {card} is in it {times} times, {held} it {decks}.")
    return cards


def _actions(actions: object) -> tuple[str, ...]:
    if not isinstance(actions, list):
        raise ReplayError(f"actions must be a list of words, is {shown(actions)}.")
    for number, action in enumerate(actions, start=1):
        if not isinstance(action, str):
            raise ReplayError(_unknown(number, actions))
    return tuple(actions)


def _stake(stake: object) -> Fraction:
    """A stake as the exact number that its digits say."""
    wanted = (
        f"stake must be a number more than 0, at most {LARGEST_STAKE}, with at most "
        f"{STAKE_DECIMALS} decimals, is {shown(stake)}."
    )
    if isinstance(stake, bool) or not isinstance(stake, int | float | Decimal):
        raise ReplayError(wanted)
    exact = Decimal(repr(stake)) if isinstance(stake, float) else Decimal(stake)
    # The range is asked first: a power of ten without end must not be written out.
    if not exact.is_finite() or not Decimal("1e-12") <= exact <= LARGEST_STAKE:
        raise ReplayError(wanted)
    number = Fraction(exact)
    if 10**STAKE_DECIMALS % number.denominator:
        raise ReplayError(wanted)
    return number


def _number(value: Fraction) -> int | Decimal:
    """A number whose decimals end, as an int when it is whole."""
    if value.denominator == 1:
        return value.numerator
    with localcontext() as context:
        context.prec = 60  # more digits than the largest stake with all its decimals can win
        return Decimal(value.numerator) / Decimal(value.denominator)


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    table = dict(pairs)
    if len(table) != len(pairs):
        twice = next(key for key, times in Counter(key for key, _ in pairs).items() if times > 1)
        raise ReplayError(f"The input has the key {shown_key(twice)} twice in one table.")
    return table


def _no_constant(name: str) -> NoReturn:
    raise ReplayError(f"The input holds {name}, which is no number.")


def _small(sentence: str) -> str:
    return sentence[0].lower() + sentence[1:]
