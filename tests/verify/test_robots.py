import asyncio
import doctest
import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

import pyte
import pytest

from ansi.canvas import Canvas
from ansi.charset import Charset, encode
from bench.processes import STATM
from door.games.registry import GAMES
from verify.robots import (
    HASTY,
    Movement,
    Purse,
    Robot,
    Seen,
    Settlement,
    check,
    house,
    load,
    phrases,
    reading,
)
from verify.robots.__main__ import rows, slope
from verify.robots.house import Served, prepare
from verify.robots.load import Plan, Sample
from verify.robots.phone import ATARI, C128, MUD, SYNCTERM, UNKNOWN, XTERM
from verify.robots.screen import Screen
from verify.robots.seen import Place

PATIENCE = 120.0  # seconds, on a machine busy with other tests
PACE = replace(HASTY, think=(0.01, 0.04), stays=(600.0, 600.0), hangs_up=0.004, takes_over=0.0)
MUCH = 7200  # seconds: more than hasty callers win or lose while a screen may be late
IN_LINES = {"Bob", "Dan"}  # at tables, on terminals that cannot be painted
LIKED = "BCUV"  # the letters of the games that some taste likes best

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not STATM.exists(), reason="processes are looked at through /proc"),
]


@dataclass
class Evening:
    """The traces of an evening that some robots spent on a real board."""

    books: Path
    robots: dict[str, Robot]
    log: str
    status: int | None

    def seen(self, name: str) -> Seen:
        return self.robots[name].seen


def guests(port: int) -> dict[str, Robot]:
    """Return a robot for every table and kind of terminal; a newcomer, and a double caller.

    A hand for time must be seen on some terminals. Robots that play for dollars as well may need
    minutes to come to one, so the robots there have no other table.
    """
    tastes = {
        "Ada": ("black jack", SYNCTERM),
        "Bob": ("black jack alone", UNKNOWN),
        "Cyd": ("baccarat", XTERM),
        "Dan": ("baccarat", MUD),
        "Eve": ("teletype", XTERM),
        "Fay": ("company", SYNCTERM),
        "Gus": ("company", XTERM),
        "Hal": ("savings", SYNCTERM),
        "Ivy": ("black jack", XTERM),
        "Liz": ("teletype", SYNCTERM),
        "Kim": ("the deal", XTERM),
        "Meg": ("black jack alone", ATARI),
        "Ned": ("black jack alone", C128),
        # And one for any other game of the house.
        **{
            f"Of {game.title}": (game.name, XTERM)
            for game in GAMES.values()
            if game.letter not in LIKED
        },
    }
    return {
        name: Robot(
            name,
            "127.0.0.1",
            port,
            seed,
            pace=replace(PACE, takes_over=0.1) if name == "Ivy" else PACE,
            is_known=name != "Liz",
            program=program,
            taste=taste,
            friend="Ada",
        )
        for seed, (name, (taste, program)) in enumerate(tastes.items())
    }


def not_seen_yet(robots: dict[str, Robot]) -> list[str]:
    """Name the compared things that no robot has read so far."""
    traces = [robot.seen for robot in robots.values()]
    games = {settlement.game for one in traces for settlement in one.settlements}
    in_lines = [robots[name].seen for name in IN_LINES]
    wanted = {
        "a hand on an Atari": bool(robots["Meg"].seen.settlements),
        "a hand on a C128": bool(robots["Ned"].seen.settlements),
        "a hand in lines": all(one.settlements for one in in_lines),
        "the bank's window": any(one.movements for one in traces),
        "a call taken over": any(one.taken_over for one in traces),
        "cards, a purse, a seal and a hand by one": any(map(is_witness, traces)),
        # The page behind <F>airness, painted and in plain lines.
        "a seed": any(robots[name].seen.seeds for name in robots.keys() - IN_LINES),
        "a seal in lines": any(one.seals for one in in_lines),
        "a first call": robots["Liz"].seen.is_registered,
    }
    return [*sorted(set(GAMES) - games), *(words for words, is_so in wanted.items() if not is_so)]


def settled_black_jack(trace: Seen) -> list[Settlement]:
    return [one for one in trace.settlements if one.game == "black-jack-for-time"]


def is_witness(trace: Seen) -> bool:
    """Return whether a robot has read everything listed below."""
    return bool(settled_cards(trace) and trace.purses and trace.seals)


def settled_cards(trace: Seen) -> list[Place]:
    """Return the places of cards that certainly belong to a hand with a displayed end."""
    numbers = {one.number for one in settled_black_jack(trace)}
    return [
        place
        for place in trace.cards
        if place.is_sure and place.game == "black-jack-for-time" and place.number in numbers
    ]


async def noticed(robot: Robot) -> None:
    robot.noticed.clear()
    await robot.noticed.wait()


async def spend(robots: dict[str, Robot]) -> None:
    stop = asyncio.Event()
    try:
        async with asyncio.timeout(PATIENCE), asyncio.TaskGroup() as group:
            for robot in robots.values():
                group.create_task(robot.play(stop))
            while not_seen_yet(robots):
                await noticed(robots["Ada"])
            stop.set()
    except TimeoutError:
        pytest.fail(f"not seen in {PATIENCE:.0f} seconds: {', '.join(not_seen_yet(robots))}")


@pytest.fixture(scope="module")
def evening(tmp_path_factory: pytest.TempPathFactory) -> Evening:
    folder = tmp_path_factory.mktemp("evening")
    config = prepare(folder, [name for name in guests(0) if name != "Liz"])
    with Served(config) as server:
        robots = guests(server.port)
        asyncio.run(spend(robots))
    return Evening(config.database, robots, server.said(), server.status)


def test_every_result_on_a_robots_screen_is_in_the_books(evening: Evening) -> None:
    result = check.against_the_books(
        evening.books, [robot.seen for robot in evening.robots.values()]
    )
    assert result.wrong == []
    assert result.settlements > len(GAMES)
    assert result.purses > len(evening.robots), "how often depends on what they play"
    assert min(result.movements, result.cards, result.seals, result.seeds) > 0
    assert result.hands >= result.settlements, "who hangs up does not see how the hand ends"


def test_no_call_is_open_when_the_server_has_ended(evening: Evening) -> None:
    assert check.nobody_is_on(evening.books) == []
    assert evening.status == 0
    assert evening.log == ""


def a_second_win(trace: Seen) -> None:
    trace.settlements[0] = replace(trace.settlements[0], net=trace.settlements[0].net + 60)


def a_turn_that_was_not(trace: Seen) -> None:
    trace.settlements.append(replace(trace.settlements[-1], number=9999))


def a_hand_from_another_shoe(trace: Seen) -> None:
    trace.settlements[0] = replace(trace.settlements[0], seal="0" * 64)


def two_hours_more(trace: Seen) -> None:
    last = trace.purses[-1]
    trace.purses.append(Purse(last.left + MUCH, last.bank, last.at))


def two_hours_saved(trace: Seen) -> None:
    last = trace.purses[-1]
    trace.purses.append(Purse(last.left, last.bank + MUCH, last.at))


def a_deposit(trace: Seen) -> None:
    trace.movements.append(Movement("deposit", 86_400, "", trace.purses[-1].at))


def a_seal(trace: Seen) -> None:
    trace.seals.add("f" * 64)


def a_seed(trace: Seen) -> None:
    trace.seeds[next(iter(trace.seals))] = "0" * 64


def a_card(trace: Seen) -> None:
    place = settled_cards(trace)[0]
    trace.cards[place] |= {rank + suit for rank in "23456789TJQKA" for suit in "HDCS"}


def a_name(trace: Seen) -> None:
    trace.name, trace.is_registered = "Nobody", True


def a_complaint(trace: Seen) -> None:
    trace.complaints.append("Something went wrong here")


@pytest.mark.parametrize(
    "invents",
    [
        a_second_win,
        a_turn_that_was_not,
        a_hand_from_another_shoe,
        two_hours_more,
        two_hours_saved,
        a_deposit,
        a_seal,
        a_seed,
        a_card,
        a_name,
        a_complaint,
    ],
)
def test_a_false_result_is_detected(evening: Evening, invents: Callable[[Seen], None]) -> None:
    everybody = [robot.seen for robot in evening.robots.values()]
    trace = next(filter(is_witness, everybody))
    traced = replace(
        trace,
        settlements=settled_black_jack(trace),
        movements=list(trace.movements),
        purses=list(trace.purses),
        seals=set(trace.seals),
        seeds=dict(trace.seeds),
        cards={turn: set(cards) for turn, cards in trace.cards.items()},
        complaints=[],
    )
    invents(traced)
    assert len(check.against_the_books(evening.books, [traced]).wrong) == 1


def test_a_crowd_in_other_processes_is_measured_and_held_to_the_books(tmp_path: Path) -> None:
    plan = Plan(3, 1.0, HASTY, processes=2, a_second=100, seed=1, settle=3.0, sampled=1.0)
    samples: list[Sample] = []
    outcome = load.run(plan, tmp_path, samples.append)
    assert outcome.wrong == []
    assert outcome.left_on == 0
    assert (outcome.status, outcome.log) == (0, "")
    assert outcome.samples == samples != []
    assert [one.name for one in outcome.seen] == ["Caller 0", "Caller 2", "Caller 1"]
    printed = {row.what: row for row in rows(outcome, plan.callers)}
    assert printed["what the books do not have so"].verdict == "reached"
    assert printed["memory before the first caller"].value > 1


@pytest.mark.parametrize("charset", [Charset.CP437, Charset.UTF8])
def test_the_screen_matches_a_terminal_emulator(charset: Charset) -> None:
    chance = random.Random(7)
    canvas, screen = Canvas(80, 24, colour=True), Screen(charset.value)
    emulator = pyte.Screen(80, 24)
    stream = pyte.Stream(emulator)
    for _ in range(80):
        row, column = chance.randrange(24), chance.randrange(75)
        text = chance.choice(("|14Ada ♥", "|17          ", "│10♠ │", "|08·", "═" * 30))
        canvas.put_pipe(row, column, text)
        canvas.cursor = chance.choice((None, (row, 3)))
        update = canvas.update()
        screen.feed(encode(update, charset))
        stream.feed(update)
        assert screen.rows == emulator.display
    assert (screen.row, screen.column) == (emulator.cursor.y, emulator.cursor.x)


def test_written_figures_are_read_correctly() -> None:
    assert doctest.testmod(reading).failed == 0
    assert doctest.testmod(phrases).failed == 0
    assert doctest.testmod(house).failed == 0


SEED = "0b" * 32
SEAL = sha256(bytes.fromhex(SEED)).hexdigest()


def page(*fields: tuple[str, str]) -> str:
    return "\n".join(f" {name}\n {value}" for name, value in fields)


def test_a_seed_that_does_not_open_its_seal_is_detected() -> None:
    fields = (("Seal of the last shoe", "a" * 64), ("Seed of the last shoe", SEED))
    assert "does not open" in reading.fairness(page(*fields)).wrong
    assert reading.fairness(page(fields[1])).wrong == "", "nothing says of which seal it is"


def test_growth_of_memory_is_measured_per_minute() -> None:
    def sample(minute: float, memory: float) -> Sample:
        return Sample(minute * 60, 1, 0, memory, cores=0, starved=0, keys=0)

    def grows(*figures: float) -> float:
        warming = [sample(1, 100), sample(2, 900)]
        late = [sample(3 + number, figure) for number, figure in enumerate(figures)]
        return slope([*warming, *late], lambda each: each.memory)

    assert grows(1000, 1000, 1000, 1000) == 0
    assert grows(1000, 1007, 1014, 1021) == 7
    assert slope([sample(1, 100)], lambda each: each.memory) == 0
