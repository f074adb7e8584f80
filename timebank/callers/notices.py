"""Notices that wait for a caller, and the results of hands that ended unseen.

The code that leaves a notice does not know the reader's language. So the books store the text for
translation and the values to fill in as one JSON object: `{"say": TEXT, NAME: VALUE}`. A text
without values is stored as it is.

The entry that ends a hand also stores its number in `callers.untold_round`. The number is deleted
when the screen of a call has shown the result (`note_seen`), or when a notice has it. A number that
is left at the next log-on becomes a notice (`tell_untold`). So no result is lost when a line drops,
a process is killed or a call is taken over.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple

from sqlalchemy import bindparam, select

from timebank.callers import hearing
from timebank.language import N_, Phrase, _
from timebank.ledger import reasons, schema, sql
from timebank.ledger.database import Desk
from timebank.ledger.schema import callers, rounds, stamp
from timebank.ledger.sentences import play_word, sentence
from timebank.ledger.sql import Prepared, Reader, among, change, columns_of, equal, value
from timebank.words import Unit, amount_words, date_time_words, day_words, title

_NOTICES = schema.notices
_UNREAD = _NOTICES.c.shown.is_(None)
_ADD = Prepared(lambda: sql.insert_into(_NOTICES, "caller_id at text"))
_WAITING: Reader[str] = value(
    lambda: (
        select(_NOTICES.c.text).where(equal(_NOTICES.c.caller_id), _UNREAD).order_by(_NOTICES.c.id)
    )
)
_SHOW = Prepared(lambda: change(_NOTICES, "shown", equal(_NOTICES.c.caller_id), _UNREAD))
_UNSEEN = Prepared(
    lambda: (
        select(_NOTICES.c.caller_id, _NOTICES.c.text)
        .where(_UNREAD, among(_NOTICES.c.caller_id, "caller_ids"))
        .order_by(_NOTICES.c.id)
    )
)
_KEEP_UNTOLD = Prepared(lambda: change(callers, "untold_round", equal(callers.c.id)))
_NOTE_SEEN = Prepared(
    lambda: change(
        callers,
        "",
        equal(callers.c.id),
        callers.c.untold_round <= bindparam("round_id"),
        untold_round=None,
    )
)
_UNTOLD: Reader[int] = value(lambda: select(callers.c.untold_round).where(equal(callers.c.id)))
_HAND = Prepared(
    lambda: select(
        *columns_of(rounds, "day game unit outcome"), (rounds.c.won - rounds.c.lost).label("net")
    ).where(equal(rounds.c.id))
)


class Amount(NamedTuple):
    amount: int
    unit: Unit = "second"


class Why(NamedTuple):
    """What an amount was moved for."""

    reason: reasons.Reason
    amount: Amount


class Day(NamedTuple):
    iso: str


class DayAndTime(NamedTuple):
    iso: str


class GameNamed(NamedTuple):
    key: str


class Spoken(NamedTuple):
    """What became of a hand."""

    outcome: str


Value = str | int | Amount | Why | Day | DayAndTime | GameNamed | Spoken


def _stored(value: Value) -> Any:
    """Return a value as the books store it. A tuple becomes a list that begins with its kind."""
    match value:
        case Why(reason, amount):
            return ["why", reason.kind, reasons.encode(reason), *amount]
        case tuple():
            return [_KINDS[type(value)], *value]
    return value


def _of_amount(amount: int, unit: Unit) -> Callable[[], str]:
    return partial(amount_words, amount, unit)


def _of_why(kind: str, facts: str, amount: int, unit: Unit) -> Callable[[], str]:
    return partial(sentence, reasons.decode(kind, facts), amount, unit)


_KINDS: dict[type, str] = {
    Amount: "amount",
    Day: "day",
    DayAndTime: "time",
    GameNamed: "game",
    Spoken: "spoken",
}
_READ: dict[str, Callable[..., Callable[[], str]]] = {
    "amount": _of_amount,
    "why": _of_why,
    "day": lambda iso: partial(day_words, iso),
    "time": lambda iso: partial(date_time_words, datetime.fromisoformat(iso)),
    "game": lambda key: lambda: _(title(key)),
    "spoken": lambda outcome: partial(play_word, outcome),
}
_SAY = '{"say":'
_WRITER, _WITHOUT = "writer", "without"


def written(text: str, values: dict[str, Value]) -> str:
    """Return a notice as the books store it.

    >>> written("{name} sent you {amount}.", {"name": "Bob", "amount": Amount(300)})
    '{"say":"{name} sent you {amount}.","name":"Bob","amount":["amount",300,"second"]}'
    """
    if not values:
        return text
    stored = {"say": text, **{name: _stored(value) for name, value in values.items()}}
    return json.dumps(stored, ensure_ascii=False, separators=(",", ":"))


def read(stored: str) -> Phrase:
    """Return a stored notice as a phrase. A text of another form is shown unchanged.

    >>> str(read('{"say":"You have {amount}.","amount":["amount",300,"second"]}'))
    'You have 5 minutes.'
    >>> str(read("Bob has sent you 5 minutes.")), str(read('{"say":7}'))
    ('Bob has sent you 5 minutes.', '{"say":7}')
    """
    if stored.startswith(_SAY):
        try:
            values = json.loads(stored)
            text = values.pop("say")
            filled = {name: _filled(value) for name, value in values.items()}
            phrase = Phrase(text, **filled)
            str(phrase)
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
            return Phrase("{text}", text=stored)
        return phrase
    return Phrase(stored)


def _filled(value: Any) -> str | int | Callable[[], str]:
    if isinstance(value, str | int):
        return value
    kind, *facts = value
    return _READ[kind](*facts)


class WrittenWords(NamedTuple):
    """The `{message}` of a notice, which another caller wrote.

    `without` is the text of the notice while the message is withheld from its reader (hearing.py).
    """

    writer_id: int
    message: str
    without: str


def add_notice(
    desk: Desk, caller_id: int, text: str, words: WrittenWords | None = None, /, **values: Value
) -> None:
    """Leave a sentence for a caller, who sees it at the next log-on or sooner.

    `text` is marked with `N_`. `values` fill its braces.
    """
    if words is not None:
        values |= {"message": words.message, _WRITER: words.writer_id, _WITHOUT: words.without}
    stored = written(text, values)
    _ADD(desk.connection, caller_id=caller_id, at=stamp(desk.now), text=stored)
    desk.nudge()


def notices(desk: Desk, caller_id: int) -> tuple[Phrase, ...]:
    """Return a caller's waiting notices, oldest first, and mark them as shown."""
    texts = _waiting(desk, caller_id)
    if texts:
        _SHOW(desk.connection, shown=stamp(desk.now), caller_id=caller_id)
    return texts


def waiting(desk: Desk, caller_id: int) -> tuple[Phrase, ...]:
    """Return a caller's waiting notices at log-on, oldest first, with a hand that ended unseen.

    They wait until `notices` marks them, because the line may drop before they are read.
    """
    tell_untold(desk, caller_id)
    return _waiting(desk, caller_id)


def _waiting(desk: Desk, caller_id: int) -> tuple[Phrase, ...]:
    texts = _WAITING.all(desk.connection, caller_id=caller_id)
    return tuple(read(_shown(desk, caller_id, text)) for text in texts)


def _shown(desk: Desk, reader_id: int, stored: str) -> str:
    """Return a stored notice without words that are withheld from its reader."""
    if not stored.startswith(_SAY) or f'"{_WRITER}":' not in stored:
        return stored
    values = json.loads(stored)
    if not hearing.unheard(desk, reader_id, [values[_WRITER]]):
        return stored
    return json.dumps({**values, "say": values[_WITHOUT], "message": ""}, ensure_ascii=False)


def unseen(desk: Desk, caller_ids: Collection[int]) -> dict[int, tuple[Phrase, ...]]:
    """Return the waiting notices of these callers, oldest first, without callers who have none.

    They wait until `notices` marks them.
    """
    texts: dict[int, tuple[Phrase, ...]] = {}
    for caller_id, text in _UNSEEN(desk.connection, caller_ids=json.dumps(list(caller_ids))):
        phrase = read(_shown(desk, caller_id, text))
        texts[caller_id] = (*texts.get(caller_id, ()), phrase)
    return texts


def keep_untold(desk: Desk, caller_id: int, round_id: int) -> None:
    """Note that a caller has not seen the end of this hand, in the entry that ends it."""
    _KEEP_UNTOLD.defer(desk.connection, untold_round=round_id, id=caller_id)


def note_seen(desk: Desk, caller_id: int, round_id: int) -> None:
    """Note that a caller has seen the end of this hand, but not of a later one."""
    _NOTE_SEEN.defer(desk.connection, id=caller_id, round_id=round_id)


def tell_hand(desk: Desk, caller_id: int, round_id: int, text: str, **values: Value) -> None:
    """Leave a notice about a hand, and note that its end was seen."""
    add_notice(desk, caller_id, text, **values)
    note_seen(desk, caller_id, round_id)


def tell_untold(desk: Desk, caller_id: int) -> None:
    round_id = _UNTOLD.first(desk.connection, id=caller_id)
    if round_id is not None:
        tell_end(desk, caller_id, round_id, IS_OVER)


@dataclass(frozen=True)
class Ending:
    """The texts for a hand that ended unseen: won, lost, or neither."""

    won: str
    lost: str
    even: str


IS_OVER = Ending(
    won=N_("Your hand of {day} at {game} is over: you won {amount} ({outcome})."),
    lost=N_("Your hand of {day} at {game} is over: you lost {amount} ({outcome})."),
    even=N_("Your hand of {day} at {game} is over: you came out even ({outcome})."),
)
LEFT_OPEN = Ending(
    won=N_(
        "Your hand of {day} at {game} was left open; the dealer stood it for you: you won {amount}"
        " ({outcome})."
    ),
    lost=N_(
        "Your hand of {day} at {game} was left open; the dealer stood it for you: you lost {amount}"
        " ({outcome})."
    ),
    even=N_(
        "Your hand of {day} at {game} was left open; the dealer stood it for you: you came out even"
        " ({outcome})."
    ),
)


def tell_end(desk: Desk, caller_id: int, round_id: int, ending: Ending) -> None:
    """Leave a notice with the result of a hand, and note that its end was seen."""
    hand = _HAND(desk.connection, id=round_id).one()
    values: dict[str, Value] = {
        "day": Day(hand.day),
        "game": GameNamed(hand.game),
        "outcome": Spoken(hand.outcome),
    }
    if not hand.net:
        tell_hand(desk, caller_id, round_id, ending.even, **values)
        return
    text = ending.won if hand.net > 0 else ending.lost
    tell_hand(desk, caller_id, round_id, text, amount=Amount(abs(hand.net), hand.unit), **values)
