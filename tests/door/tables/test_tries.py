"""An audit deals and rates the tries at the daily deal again, and names changes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path

from door.games import hand_check
from door.games.blackjack import duplicate
from door.games.blackjack.rules import BLACK_JACK_FOR_TIME, rules_to_mapping
from door.games.blackjack.world import world_shoe
from door.games.engine import shuffle
from tests.door.games.solver.advised import advice_on
from tests.door.playing import Table, hand
from tests.world import World, world
from timebank.callers import callers
from timebank.wagers import contests, deals
from timebank.wagers.rounds import encode

SEED = bytes([7]) * 32
SEAL = shuffle.seal(SEED)
SHOE = SEED, SEAL, rules_to_mapping(BLACK_JACK_FOR_TIME)
LATER_SEED = bytes([9]) * 32
LATER = shuffle.seal(LATER_SEED)
WHERE = "daily deal 2026-11-20"


def played_to_the_end() -> tuple[str, ...]:
    acts: tuple[str, ...] = ()
    while (at := duplicate.replay(BLACK_JACK_FOR_TIME, SEED, acts).current) is not None:
        acts = (*acts, "no-insurance" if "no-insurance" in at.legal() else "stay")
    return acts


ACTS = played_to_the_end()
PLAYED = duplicate.replay(BLACK_JACK_FOR_TIME, SEED, ACTS)
SCORE = PLAYED.score


def given_away() -> int:
    """Return the cost of the decisions by the tutor, in 1/10,000 of a bet."""
    cost = 0.0
    for _number, at, action in PLAYED.decisions:
        advice = advice_on(at, at.legal())
        cost += advice.values[advice.best] - advice.values[action]
    return round(cost * 10_000)


def percent(cost: int) -> str:
    return f"{cost // 100}.{cost % 100:02}%"


COST = given_away()
WEIGHED = f"weighed again it is {percent(COST)}."


@contextmanager
def changed(
    board: World, table: str, column: str, value: object, seal: str = SEAL
) -> Iterator[list[str]]:
    """Yield the audit's findings with a changed column, and restore it."""

    def put(value: object) -> None:
        with board.books() as desk:
            statement = f"UPDATE {table} SET {column} = ? WHERE seal = ?"
            desk.connection.exec_driver_sql(statement, (value, seal))

    with board.books() as desk:
        read = f"SELECT {column} FROM {table} WHERE seal = ?"
        before = desk.connection.exec_driver_sql(read, (seal,)).scalar_one()
    put(value)
    yield [str(each) for each in board.findings()]
    put(before)


async def test_every_outcome_of_a_try_has_a_name(tmp_path: Path) -> None:
    async with world(tmp_path) as board:
        board.enter("Ada")
        with board.books() as desk:
            ada = callers.number_named(desk, "Ada")
            deal = deals.todays(desk, lambda _day: SHOE)
            contests.begin(desk, deal, ada)
            for number, act in enumerate(ACTS):
                score = SCORE if number == len(ACTS) - 1 else None
                contests.act(desk, deal, ada, ACTS[:number], act, score)
        assert board.findings() == []  # not rated yet
        with board.books() as desk:
            contests.weigh(desk, SEAL, ada, COST)
        assert board.findings() == []
        for column, value, words in (
            ("score", SCORE + 5, f"has won {SCORE + 5} coins in the books, replayed it is {SCORE}"),
            ("cost", COST + 1, f"costs {percent(COST + 1)} of a bet in the books, {WEIGHED}"),
            ("cost", COST - 1, f"costs {percent(COST - 1)} of a bet in the books, {WEIGHED}"),
            ("cost", 0, f"costs 0.00% of a bet in the books, {WEIGHED}"),
            ("acts", " ".join(ACTS[:-1]), "has a score, but hand 10 is still in play"),
            ("acts", " ".join((*ACTS, "stay")), "cannot be played again: decisions go on past the"),
            ("acts", "steal", "cannot be played again: 'steal' is not a valid"),
            ("acts", "split " + " ".join(ACTS), "cannot be played again: "),
        ):
            with changed(board, "deal_tries", column, value) as findings:
                (sentence,) = findings
                assert sentence.startswith(f"{WHERE}: the try of Ada {words}")
        with changed(board, "deals", "rules", "{") as findings:
            (sentence,) = findings
            assert sentence.startswith(f"{WHERE}: its rules cannot be read: ")
        with changed(board, "deals", "seed", bytes([8]) * 32) as findings:
            assert findings[0] == f"{WHERE}: its seed does not fit its seal."
        with board.books() as desk:
            desk.connection.exec_driver_sql(
                "UPDATE deal_tries SET score = NULL, finished = NULL, cost = NULL"
            )
        assert list(map(str, board.findings())) == [
            f"{WHERE}: the try of Ada is over, but has no score."
        ]
        with board.books() as desk:
            desk.connection.exec_driver_sql("DELETE FROM deal_tries")


async def test_a_world_deal_has_the_cards_and_rules_of_its_date(tmp_path: Path) -> None:
    async with world(tmp_path) as board:
        with board.books() as desk:
            seal = deals.todays(desk, world_shoe).seal
        assert board.findings() == []
        wrong = "it is called the world's, but its seed or rules are not those of its date."
        own = encode({**rules_to_mapping(BLACK_JACK_FOR_TIME), "decks": 2})
        for column, value in (("seed", SEED), ("day", "2026-11-21"), ("rules", own)):
            with changed(board, "deals", column, value, seal) as findings:
                assert [each.partition(": ")[2] for each in findings] == [wrong], column


async def test_part_of_an_audit_leaves_out_deals_that_were_over_before(ada: Table) -> None:
    board = ada.board
    await ada.bets(4, hand("stay", ends="win"))
    await ada.does("stay")
    with board.books() as desk:
        deals.todays(desk, lambda _day: SHOE)
        dealt = desk.connection.exec_driver_sql("SELECT dealt FROM rounds").scalar_one()
        day, rules = date(2026, 11, 19), rules_to_mapping(BLACK_JACK_FOR_TIME)
        contests.add(desk, LATER, day, LATER_SEED, rules, is_daily=True)
    for closed, later, since_hand, is_named in (
        (None, None, 2, True),
        (dealt - 2, dealt - 1, 1, True),
        (dealt - 2, dealt - 1, 2, False),
        # The last one that was over then may have been weighed after that.
        (dealt - 2, None, 2, True),
        (dealt - 2, dealt, 2, True),
        (dealt, None, 2, True),
    ):
        with (
            changed(board, "deals", "closed", closed),
            changed(board, "deals", "closed", later, LATER),
            changed(board, "deals", "seed", b"no"),
            board.books() as desk,
        ):
            findings = hand_check.wrong_tries(desk, since_hand)
        assert bool(findings) is is_named, (closed, later, since_hand)
