"""The floor of the house: which tables there are, and who deals at them."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from door import wording
from door.games.baccarat import table as baccarat
from door.games.black_jack_for_time import table as black_jack_for_time
from door.games.registry import CODES, game_named
from door.games.unix_bj import table as unix_bj
from door.games.vegas import seat
from door.games.vegas.company import Company
from timebank.wagers import journal, play_money
from timebank.words import money

if TYPE_CHECKING:
    from door.call.board import Board
    from door.call.caller import Caller
    from door.config.config import Config, Stakes

log = logging.getLogger("door.tables")


class Table(Protocol):
    """A caller's visit to a table."""

    async def visit(self) -> None:
        """Stay until the caller gets up, or something ends his call."""

    async def has_open_hand(self) -> bool:
        """Look for a hand that was left open; it is laid on the table when there is one."""

    async def stand_open_hand(self) -> None:
        """Stand the hand that `has_open_hand` found, for a caller who has no time left."""


@dataclass(frozen=True)
class Place:
    """A table as the main menu knows it."""

    letter: str
    game: str
    title: str
    is_open: Callable[[Config], bool]
    table: Callable[[Board, Caller], Table]
    # What the caller should know before he sits down, in a few words.
    words: Callable[[Board, Caller], Awaitable[str]]


def _turns(caller: Caller, game: str, stakes: Stakes) -> str:
    turns = caller.purse.turns.get(game, 0)
    limit = f" of {stakes.turns_per_day}" if stakes.turns_per_day else ""
    return f"{turns}{limit} turns today"


async def _black_jack_words(board: Board, caller: Caller) -> str:
    stakes = board.config.black_jack_for_time
    turns = _turns(caller, "black-jack-for-time", stakes)
    return f"{turns}, bets up to {wording.coins(stakes.largest_bet)}"


async def _baccarat_words(board: Board, caller: Caller) -> str:
    has = await caller.ask_books(lambda desk: play_money.bankrolls(desk, caller.record.id))
    bankrolls = ", ".join(money(amount, unit) for unit, amount in sorted(has.items()))
    turns = _turns(caller, "baccarat", board.config.baccarat)
    return f"{bankrolls or 'to break the bank'}; {turns}"


def _vegas(board: Board, caller: Caller) -> Table:
    """Return a visit to the one table of the board, which its server keeps."""
    return Company(board, caller) if board.serves_one else seat.Vegas(board, caller)


async def _vegas_words(board: Board, caller: Caller) -> str:
    if board.serves_one:
        return f"with everybody on the board; {_turns(caller, 'vegas', board.config.vegas)}"
    others = len(board.vegas.state.guests())
    company = f"{wording.counted(others, 'caller')} there" if others else "nobody there"
    return f"{company}; {_turns(caller, 'vegas', board.config.vegas)}"


PLACES = (
    Place(
        letter=CODES["black-jack-for-time"].letter,
        game="black-jack-for-time",
        title="Black Jack For Time",
        is_open=lambda config: config.black_jack_for_time.open,
        table=lambda board, caller: black_jack_for_time.BlackJackForTime(caller, board.thinking),
        words=_black_jack_words,
    ),
    Place(
        letter=CODES["baccarat"].letter,
        game="baccarat",
        title="Baccarat",
        is_open=lambda config: config.baccarat.open,
        table=lambda board, caller: baccarat.Baccarat(caller),
        words=_baccarat_words,
    ),
    Place(
        letter=CODES["unix-bj"].letter,
        game="unix-bj",
        title="UNIX bj",
        is_open=lambda config: config.unix_bj.open,
        table=lambda board, caller: unix_bj.UnixBj(caller),
        words=lambda board, caller: unix_bj.place_words(caller),
    ),
    Place(
        letter=CODES["vegas"].letter,
        game="vegas",
        title="Vegas",
        is_open=lambda config: config.vegas.open,
        table=_vegas,
        words=_vegas_words,
    ),
)


def place_of(asked: str) -> Place | None:
    """Find a table by its name, letter or code (`codes`); None when it is none."""
    game = game_named(asked)
    return next((place for place in PLACES if place.game == game), None)


async def table_with_open_hand(board: Board, caller: Caller) -> tuple[Place, Table] | None:
    """Return where a hand of the caller was left open and his visit there, `None` without one.

    One whose journal cannot be read stays where it is, and is named in the log.
    """
    caller_id = caller.record.id
    try:
        stored = await caller.ask_books(lambda desk: journal.round_in_play(desk, caller_id))
    except journal.JournalDamaged as damaged:
        log.error("hand %d of %s: %s", damaged.number, caller.record.name, damaged)
        return None
    if stored is None:
        return None
    for place in PLACES:
        if place.game == stored.game:
            table = place.table(board, caller)
            return (place, table) if await table.has_open_hand() else None
    log.error("hand %d of %s is of no game here: %s", stored.id, stored.caller, stored.game)
    return None
