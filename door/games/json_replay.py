"""`door replay`: replays hands from JSON and returns their results.

`parse`, `replay` and `render` are all that the command does. Every mistake in what is given is a
`ReplayError`, a sentence.
"""

import json
from collections import Counter
from collections.abc import Mapping
from decimal import Decimal, localcontext
from fractions import Fraction
from math import lcm
from typing import NoReturn

from door.games.engine.cards import Card, parse_cards
from door.games.engine.descriptor import Game
from door.games.engine.errors import ReplayError, RoundRefused
from door.games.engine.game import Act, Kind
from door.games.engine.replay import replay_round
from door.games.engine.settings import StakeSettings
from door.games.registry import GAMES
from timebank.settings.forms import declared
from timebank.settings.quoting import either, printable, shown

LARGEST_STAKE = 10**12
STAKE_DECIMALS = 12
AMOUNT = (
    f"must be a number more than 0, at most {LARGEST_STAKE}, with at most {STAKE_DECIMALS} decimals"
)

_KEYS = ("game", "rules", "stake", "seats", "shoe", "actions")


def parse(text: str) -> object:
    """Return the JSON of a text with exact decimals; raises ReplayError."""
    try:
        return json.loads(
            text, parse_float=Decimal, parse_constant=_no_constant, object_pairs_hook=_object
        )
    except json.JSONDecodeError as error:
        raise ReplayError(
            f"The input is not JSON: {error.msg} in line {error.lineno}, column {error.colno}."
        ) from None
    except RecursionError:
        raise ReplayError("The input is nested too deeply to be a hand.") from None
    except ReplayError:
        raise
    except (ValueError, ArithmeticError):  # Python's bounds on an integer and on an exponent
        raise ReplayError("The input holds a number of too many digits.") from None


def replay(document: object) -> dict[str, object] | list[dict[str, object]]:
    """Replay a hand, or each hand of a list, from parsed JSON (docs/fairness.md).

    The result of a hand is a table fit for `render`; its `net` is an int or a Decimal.

    >>> hand = {"game": "black-jack-for-time", "stake": 2.5, "shoe": "TS 9D KS 8C", "actions": []}
    >>> replay({**hand, "actions": ["stay"]})["net"]
    Decimal('2.5')
    >>> replay([hand])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    door.games.engine.errors.ReplayError: Hand 1: the hand is not finished: double, hit or stay...
    """
    if isinstance(document, Mapping):
        return _named("The hand", document)
    if isinstance(document, list):
        return [_named(f"Hand {number}", item) for number, item in enumerate(document, start=1)]
    raise ReplayError(f"The input must be a hand or a list of hands, is {shown(document)}.")


def render(results: dict[str, object] | list[dict[str, object]]) -> str:
    """Return the results of `replay` as JSON, a line for each hand, with exact decimals.

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
    """Return the result of one hand; an error begins with the hand's name."""
    try:
        return _result(_fields(item))
    except ReplayError as error:
        raise ReplayError(f"{name}: {error}") from None


def _fields(item: object) -> dict[str, object]:
    """Return the keys of a hand; refuse unknown keys and missing ones."""
    wanted = "game, rules, stake or seats, shoe, actions"
    if not isinstance(item, Mapping):
        raise ReplayError(f"a hand must be a table of {wanted}, is {shown(item)}.")
    for key in item:
        if key not in _KEYS:
            raise ReplayError(f"{printable(str(key))} is not a key of a hand: they are {wanted}.")
    for key in ("game", "shoe", "actions"):
        if key not in item:
            raise ReplayError(f"{key} is missing.")
    if "stake" in item and "seats" in item:
        raise ReplayError("stake and seats are both there: a stake for each seat stands in seats.")
    return {"rules": {}, **item}


def _result(fields: dict[str, object]) -> dict[str, object]:
    game, rules, shoe, actions = (fields[key] for key in ("game", "rules", "shoe", "actions"))
    if not isinstance(game, str):
        raise ReplayError(f"game must be a name, is {shown(game)}.")
    if not isinstance(rules, Mapping):
        raise ReplayError(f"rules must be a table, is {shown(rules)}.")
    described = _game(game)
    kind, table = described.kind, _rules(described, rules)
    stakes = _stakes(kind, fields)
    acts = _actions(actions)
    # Twice the stakes are even, so that half of one and all it can win are whole numbers.
    amounts = [amount for _, amount in acts if amount is not None]
    scale = 2 * lcm(*(number.denominator for number in [*stakes, *amounts]))
    scaled = [
        act if amount is None else act._replace(amount=int(amount * scale)) for act, amount in acts
    ]
    cards = _shoe(shoe, kind, table)
    whole = [int(stake * scale) for stake in stakes]
    again = replay_round(kind, table, cards, whole, scaled, scale=scale)
    if not again.over:
        words = either(kind.open_words(again))
        raise ReplayError(f"the hand is not finished: {words} must follow.")
    totals = [kind.totals(again, seat) for seat in range(len(whole))]
    result = kind.replayed(again)
    net = _number(Fraction(sum(seat.won - seat.lost for seat in totals), scale))
    return {"outcome": result.pop("outcome"), "net": net, **result}


def _rules(game: Game, given: Mapping[str, object]) -> dict[str, object]:
    """Return the rules that a round needs; check the other settings."""
    settings = {
        each.key: each.form
        for kind in (StakeSettings, game.settings)
        for each in declared(kind).values()
    }
    for key in settings.keys() & given.keys():
        try:
            settings[key].read(given[key])
        except ValueError as error:
            raise ReplayError(f"rules: {key}: {error}.") from None
    return {key: value for key, value in given.items() if key not in settings}


def _game(game: str) -> Game:
    known = GAMES.get(game)
    if known is None:
        raise ReplayError(f"game must be {either(tuple(GAMES))}, is {shown(game)}.")
    return known


def _shoe(text: object, kind: Kind, rules: Mapping[str, object]) -> tuple[Card, ...]:
    """Return the cards of a shoe; refuse a card that occurs too often for the decks."""
    if not isinstance(text, str):
        raise ReplayError(f"shoe must be a text of cards such as 3H JS TH, is {shown(text)}.")
    try:
        cards = parse_cards(text)
        decks = kind.decks(rules)
    except RoundRefused as refusal:
        raise ReplayError(str(refusal)) from None
    except ValueError as error:
        raise ReplayError(f"shoe: {error}") from None
    most = kind.most_alike(decks)
    for card, times in Counter(cards).items():
        if times > most:
            held = "1 deck holds" if decks == 1 else f"{decks} decks hold"
            again = "" if most == decks else f", and at most {most} come in one round"
            raise ReplayError(f"shoe: {card} is in it {times} times, {held} it {decks}{again}.")
    return cards


def _actions(actions: object) -> list[tuple[Act, Fraction | None]]:
    if not isinstance(actions, list):
        raise ReplayError(f"actions must be a list of words, is {shown(actions)}.")
    return [_action(number, action) for number, action in enumerate(actions, start=1)]


def _action(number: int, action: object) -> tuple[Act, Fraction | None]:
    if not isinstance(action, str):
        raise ReplayError(f"action {number} must be a word, is {shown(action)}.")
    before, _, behind = action.rpartition(":")
    try:
        if not before or before.isdecimal():
            return Act.parse(action), None
        return Act.parse(before), _exact(f"action {number}: the amount", Decimal(behind))
    except (ValueError, ArithmeticError):  # a Decimal's InvalidOperation among them
        wanted = "must be a word, or like 2:hit or insurance:5"
        raise ReplayError(f"action {number} {wanted}, is {shown(action)}.") from None


def _stakes(kind: Kind, fields: Mapping[str, object]) -> list[Fraction]:
    if "seats" not in fields:
        if "stake" not in fields:
            raise ReplayError("stake is missing.")
        return [_stake("stake", fields["stake"])]
    seats = fields["seats"]
    if kind.most_seats == 1:
        raise ReplayError(f"seats: {kind.name} has one; its bet is the key stake.")
    if not isinstance(seats, list) or not 1 <= len(seats) <= kind.most_seats:
        count = f" of {len(seats)}" if isinstance(seats, list) else ""
        wanted = f"must be a list of 1 to {kind.most_seats} tables"
        raise ReplayError(f"seats {wanted}, is {shown(seats)}{count}.")
    stakes = []
    for number, seat in enumerate(seats, start=1):
        if not isinstance(seat, Mapping) or set(seat) != {"stake"}:
            raise ReplayError(f'seat {number} must be a table of its stake: {{"stake": 10}}.')
        stakes.append(_stake(f"seat {number}: stake", seat["stake"]))
    return stakes


def _stake(name: str, stake: object) -> Fraction:
    """Return a stake as an exact number."""
    if isinstance(stake, bool) or not isinstance(stake, int | float | Decimal):
        raise ReplayError(f"{name} {AMOUNT}, is {shown(stake)}.")
    exact = Decimal(repr(stake)) if isinstance(stake, float) else Decimal(stake)
    return _exact(name, exact)


def _exact(name: str, exact: Decimal) -> Fraction:
    wanted = f"{name} {AMOUNT}, is {shown(exact)}."
    # Check the range first: converting a huge power of ten would take for ever.
    if not exact.is_finite() or not Decimal("1e-12") <= exact <= LARGEST_STAKE:
        raise ReplayError(wanted)
    number = Fraction(exact)
    if 10**STAKE_DECIMALS % number.denominator:
        raise ReplayError(wanted)
    return number


def _number(value: Fraction) -> int | Decimal:
    """Return a number with finite decimals, as an int when it is whole."""
    if value.denominator == 1:
        return value.numerator
    with localcontext() as context:
        context.prec = 60  # more digits than the largest stake with all its decimals can win
        return Decimal(value.numerator) / Decimal(value.denominator)


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    table = dict(pairs)
    if len(table) != len(pairs):
        twice = next(key for key, times in Counter(key for key, _ in pairs).items() if times > 1)
        raise ReplayError(f"The input has the key {printable(twice)} twice in one table.")
    return table


def _no_constant(name: str) -> NoReturn:
    raise ReplayError(f"The input holds {name}, which is not a number.")
