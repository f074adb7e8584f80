"""Settings that are right one by one, and together leave a table or a service without callers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from door.games.registry import GAMES
from timebank.settings.hours import OpeningHours
from timebank.settings.schedule import DAY_MINUTES, WEEK_MINUTES
from timebank.words import MINUTE, span

if TYPE_CHECKING:
    from door.config.config import Config

TYPING_SECONDS = 10  # the least that a person needs to read a question and to answer it


def doubts(config: Config) -> Iterator[str]:
    """Yield a sentence about each such combination, with what to do."""
    longest = max(end - start for start, end in config.bank.schedule.openings())
    minutes = min(config.bank.minutes_per_day, longest)
    yield from _tables(config, minutes)
    yield from _bank(config, minutes)
    yield from _tournament(config, minutes)
    yield from _calls(config)


def _tables(config: Config, minutes: int) -> Iterator[str]:
    """Look for tables whose smallest bet nobody can place with the minutes of a day.

    A bet leaves a coin, and a few seconds are gone before it.
    """
    if not any(each.open for each in config.games.values()):
        yield "No table is open: set open = true under one of [games.NAME]."
    for_time = {n: each for n, each in config.games.items() if each.open and each.for_time}
    least = {name: (each.smallest_bet + 1) * each.coin_minutes for name, each in for_time.items()}
    for name, taken in least.items():
        if taken < minutes:
            continue
        coins = for_time[name].smallest_bet + 1
        what = f"Set coin_minutes of [games.{name}] to {(minutes - 1) // coins} at most"
        if minutes <= coins:
            what = f"Callers need {coins + 1} minutes a day, before the next event"
        yield (
            f"Nobody can bet time at {GAMES[name].title}: the smallest bet and the coin that stays"
            f" are {taken} minutes, and callers have less than {minutes} at a time. {what}."
        )
    for name, board in config.boards.items():
        if "minutes" in board.agreed and least and board.minutes <= min(least.values()):
            yield (
                f"Callers of {name} bring {span(board.minutes * MINUTE)}, and no table takes a bet"
                f" of so few: set minutes of [boards.{name}] to {min(least.values()) + 1} at least."
            )


def _bank(config: Config, minutes: int) -> Iterator[str]:
    bank, limits = config.bank, config.bank.limits
    if bank.mode != "built-in":
        return
    if limits.deposit and limits.keep >= minutes * MINUTE:
        yield (
            f"Nobody can deposit minutes of a day: keep_minutes of [timebank] keeps all {minutes}."
            f" Set it to {minutes - 1} at most."
        )
    if (limits.deposit or limits.transfer) and not limits.balance:
        yield (
            "Nobody can deposit or send minutes: largest_balance of [timebank] is 0, so that no"
            " account may hold any."
        )
    if bank.most_duel and not limits.transfer:
        yield (
            "Nobody can stake minutes in a duel: largest_transfer of [timebank] is 0. Allow some,"
            " or set most_minutes of [duels] to 0."
        )
    if bank.hours.spans and not _meets_opening(config, bank.hours):
        yield "The bank never opens: all hours of [timebank] are within events."


def _tournament(config: Config, minutes: int) -> Iterator[str]:
    terms = config.bank.tournament
    if not terms.on:
        return
    start = terms.weekday * DAY_MINUTES + terms.hour * 60
    end = start + terms.hours * 60
    week = OpeningHours(((start, min(end, WEEK_MINUTES)), (0, max(0, end - WEEK_MINUTES))))
    if not _meets_opening(config, week):
        yield "Nobody can play the tournament: it opens and ends within an event."
    if terms.entry >= minutes * MINUTE:
        yield (
            f"Nobody can enter the tournament for a prize: entry_minutes is {terms.entry // MINUTE}"
            f" of the {minutes} that callers have. Set it to {minutes - 1} at most."
        )


def _meets_opening(config: Config, hours: OpeningHours) -> bool:
    """Return whether the board is open at some minute of these hours."""
    openings = config.bank.schedule.openings()
    return any(
        start < closes and opens < end for start, end in hours.spans for opens, closes in openings
    )


def _calls(config: Config) -> Iterator[str]:
    for key in ("logon_seconds", "idle_limit_seconds"):
        if (seconds := getattr(config.calls, key)) < TYPING_SECONDS:
            yield (
                f"Nobody can answer a question in time: {key} of [calls] is {seconds}. Set it to"
                f" {TYPING_SECONDS} at least."
            )
    for network in config.defence.block:
        if not network.prefixlen:
            yield f"Nobody can call: block of [defence] has {network}, which is every address."
    trusted = any(board.trusted.addresses for board in config.boards.values())
    if any(listener.kind == "rlogin" for listener in config.listeners) and not trusted:
        yield "Nobody can call by rlogin: no table [boards.NAME] has addresses."
