"""The daily deal and the tournament's deal, checked against their invariants.

Each caller has one try, at one shoe for all. A noted decision stays, and a caller's screen follows
from the noted ones. The cards of a world's deal are those of its date, also after a restore and on
the way of a wrong clock. No screen shows the seed of another deal before its day is over. The hands
are dealt again from seed and decisions, as the audit does at tables.
"""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

from door.games.blackjack import duplicate
from door.games.blackjack.duplicate import Duplicate
from door.games.blackjack.rules import BLACK_JACK_FOR_TIME, rules_from_mapping
from door.games.blackjack.world import world_shoe
from door.games.engine.errors import IllegalAction
from door.games.registry import GAMES
from timebank.wagers.contests import WORLD
from verify.robots import phrases
from verify.simulate import shown
from verify.simulate.wire import Screen
from verify.simulate.wrong import must

BEHIND = 6  # hands by which a screen may lag behind the books: some end with the deal
TOLD_DIGITS = 16  # of a seed, which no caller could guess
_KIND = GAMES["black-jack-for-time"].kind
_HEADING = re.compile(rf"(?:{'|'.join(map(re.escape, phrases.DEALS))}) - \d+ \w+ \d+\b")


class Deal(NamedTuple):
    day: str
    seed: str  # in hexadecimal
    rules: str
    daily: int | None  # None for a duel, of which several are open at once
    hands: int
    closed: int | None


class Try(NamedTuple):
    acts: str
    score: int | None
    cost: int | None
    finished: int | None

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(self.acts.split())


class Deals:
    """The deals of a story's books, and the tries at them, look after look."""

    def __init__(self, counted: Counter[str], ever: set[str]) -> None:
        """Start without the books; `ever` are the seals of all deals that existed."""
        self.counted = counted
        self._ever = ever
        self._deals: dict[str, Deal] | None = None
        self._tries: dict[tuple[str, int], Try] = {}
        self._dealt: dict[tuple[str, tuple[str, ...]], Duplicate] = {}

    def step(self, file: sqlite3.Connection, days: Set[str]) -> None:
        """Check the changes; `days` are those on which no deal may end now."""
        before, self._deals = self._deals, {row[0]: Deal(*row[1:]) for row in file.execute(DEALS)}
        for seal, deal in self._deals.items():
            if before is None or seal not in before:
                self._is_new(seal, deal, is_known=before is None)
            else:
                self._has_stayed(seal, before[seal], deal, days)
        gone = set(before or ()) - set(self._deals)
        must(not gone, "deals are gone: {}", gone)
        open_now = Counter(
            deal.daily
            for deal in self._deals.values()
            if deal.closed is None and deal.daily is not None
        )
        must(max(open_now.values(), default=0) <= 1, "{} deals are open at once", open_now)
        tries = {(seal, caller): Try(*row) for seal, caller, *row in file.execute(TRIES)}
        for key, now in tries.items():
            if now != self._tries.get(key):
                self._goes_on(key, self._tries.get(key), now, before)
        gone_tries = set(self._tries) - set(tries)
        must(not gone_tries, "tries at a deal are gone: {}", gone_tries)
        self._tries = tries

    def _is_new(self, seal: str, deal: Deal, *, is_known: bool) -> None:
        if seal.startswith(WORLD):
            shoe = bytes.fromhex(deal.seed), seal, json.loads(deal.rules)
            is_of_date = shoe == world_shoe(date.fromisoformat(deal.day))
            must(is_of_date, "{} has other cards than its date: {}", seal, deal)
            self.counted["world deals"] += not is_known
            self.counted["world deals again"] += not is_known and seal in self._ever
        else:
            is_opened = hashlib.sha256(bytes.fromhex(deal.seed)).hexdigest() == seal
            must(is_opened, "the seed of deal {} does not open its seal", seal)
            must(is_known or seal not in self._ever, "deal {} comes a second time", seal)
        self._ever.add(seal)
        self.counted["deals sealed"] += not is_known

    @staticmethod
    def _has_stayed(seal: str, before: Deal, now: Deal, days: Set[str]) -> None:
        must(now[:5] == before[:5], "deal {} was {}, and is {}", seal, before, now)
        # A clock that was ahead may have closed the world's deal before its day was over.
        may_reopen = seal.startswith(WORLD) and now.closed is None
        must(may_reopen or before.closed in (None, now.closed), "deal {} is open again", seal)
        ends = before.closed is None and now.closed is not None and now.daily
        must(not ends or now.day not in days, "deal {} of {} ends on that day", seal, now.day)

    def _goes_on(
        self,
        key: tuple[str, int],
        before: Try | None,
        now: Try,
        deals: dict[str, Deal] | None,
    ) -> None:
        """Check that a try continues with allowed decisions, within its deal's time."""
        seal, caller = key
        what = f"the try of caller {caller} at deal {seal[:8]}"
        was = before or Try("", None, None, None)
        must(now.words[: len(was.words)] == was.words, "{} was {}, is {}", what, was, now)
        was_closed = _is_closed(deals, seal) and _is_closed(self._deals, seal)
        is_over = was.finished is not None or was_closed
        must(not is_over or now[:2] == was[:2], "{} goes on after its end: {}", what, now)
        must(not was_closed or before is not None, "{} begins after its end", what)
        game = self._game(seal, now.words)
        over, score = now.finished is not None, game.score if game.is_over else None
        must(game.is_over == over, "{} is over: {}, in the books: {}", what, game.is_over, over)
        must(now.score == score, "{} has won {}, in the books: {}", what, score, now.score)
        must(was.cost in (None, now.cost), "{} costs {}, and did {}", what, now.cost, was.cost)
        must((now.cost or 0) >= 0, "{} costs {}", what, now.cost)
        self.counted["decisions at the deal"] += len(now.words) - len(was.words)
        self.counted["tries finished"] += now.finished != was.finished

    def _game(self, seal: str, acts: tuple[str, ...]) -> Duplicate:
        if (seal, acts) not in self._dealt:
            assert self._deals is not None  # it was looked at just now
            deal = self._deals[seal]
            rules = rules_from_mapping(json.loads(deal.rules), BLACK_JACK_FOR_TIME)
            try:
                game = duplicate.replay(rules, bytes.fromhex(deal.seed), acts, deal.hands)
            except (IllegalAction, ValueError) as error:
                must(False, "{} cannot be played: {}", " ".join(acts), error)
                raise
            self._dealt[seal, acts] = game
        return self._dealt[seal, acts]

    # Screens.

    def is_kept_secret(self, name: str, screen: Screen) -> None:
        """Check that no screen or scrolled text contains the seed of an open deal."""
        for seed in self._secrets():
            begins = seed[:TOLD_DIGITS]
            is_shown = any(begins in text.lower() for text in (screen.memory, screen.picture))
            must(not is_shown, "{} sees the seed {}..., of a deal whose day goes on", name, begins)

    def _secrets(self) -> Iterator[str]:
        """Yield the seeds of the open deals, except the world's."""
        for seal, deal in (self._deals or {}).items():
            if deal.closed is None and not seal.startswith(WORLD):
                yield deal.seed

    def nothing_tells_the_seed(self, folder: Path, books: Path) -> None:
        """No file of the board has the seed of an open deal, but for the books and their copies."""
        seeds = list(self._secrets())
        for path in folder.rglob("*"):
            if not path.is_file() or path.name.startswith((books.name, "backup-", "mirror")):
                continue
            content = path.read_bytes()
            for seed in seeds:
                digits = seed[:TOLD_DIGITS]
                is_stored = bytes.fromhex(digits) in content or digits.encode() in content.lower()
                must(not is_stored, "{} has the seed of a deal whose day goes on", path)

    def lies_there(self, name: str, caller: int, screen: Screen, *, paints: bool) -> None:
        """Every card of the deal on a caller's screen is of a hand as far as it was played."""
        shown_cards = _cards(screen, paints=paints)
        if not shown_cards:
            return
        tries = [key for key in self._tries if key[1] == caller]
        hands = [hand for key in tries for hand in self._open_cards(key)]
        known = any(shown_cards <= cards for cards in hands)
        must(known, "{} sees {} at the deal, not {}\n{}", name, shown_cards, hands, screen.picture)
        self.counted["hands of the deal seen"] += 1

    def _open_cards(self, key: tuple[str, int]) -> list[set[str]]:
        """Return the open cards of the last hands of a try, newest first."""
        game = self._game(key[0], self._tries[key].words)
        hands: Sequence[Any] = [each for each in (*game.over, game.current) if each is not None]
        return [_open(hand) for hand in hands[: -BEHIND - 1 : -1]]


def _open(hand: Any) -> set[str]:
    lies = _KIND.lies(hand, settled=False)
    return {rank + suit for rank, suit in shown.LETTERS.findall(lies)}


def _is_closed(deals: dict[str, Deal] | None, seal: str) -> bool:
    return bool(deals) and seal in deals and deals[seal].closed is not None


def _cards(screen: Screen, *, paints: bool) -> set[str]:
    """Read the cards of the hand, from lines or a painted screen."""
    if paints:
        if not screen.rows[0].strip().startswith(phrases.DEALS):
            return set()
        return shown.painted_cards(screen.rows[:19])
    *_, hand_text = _HEADING.split(screen.memory)
    if hand_text == screen.memory or phrases.MAIN_MENU.is_in(
        hand_text
    ):  # they have left it, and come back
        return set()
    return shown.told_cards(hand_text)


DEALS = f"""
SELECT d.seal, d.day, lower(hex(d.seed)), d.rules, iif(u.seal IS NULL, d.daily, NULL),
    coalesce(t.hands, u.hands, {duplicate.HANDS}), d.closed
FROM deals d LEFT JOIN tournaments t ON t.seal = d.seal LEFT JOIN duels u ON u.seal = d.seal
"""
TRIES = "SELECT seal, caller_id, acts, score, cost, finished FROM deal_tries"
