import asyncio
import doctest
import random
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

import pyte
import pytest

from ansi.canvas import Canvas
from ansi.charset import Charset, encode
from bench.processes import STATM
from door.games.blackjack.duplicate import HANDS
from door.games.registry import GAMES
from verify.robots import (
    HASTY,
    PASSWORD,
    Movement,
    Purse,
    Robot,
    Seen,
    Settlement,
    check,
    house,
    inside,
    load,
    neighbours,
    phone,
    phrases,
    reading,
    recount,
    standing,
)
from verify.robots.__main__ import rows, slope
from verify.robots.books import Account, Call, Hand, Message, Steps, Try
from verify.robots.choices import TASTES, Chooser
from verify.robots.company import Company
from verify.robots.ears import Ears
from verify.robots.house import Served, prepare
from verify.robots.inside import Inside
from verify.robots.load import Plan, Sample
from verify.robots.phone import SYNCTERM, UNKNOWN, XTERM, Phone
from verify.robots.reading import Paged, Panel, Short, Table
from verify.robots.recount import Standings, Won
from verify.robots.screen import Screen
from verify.robots.seen import DealHand, Page, Place, Shown
from verify.robots.standing import Ahead, Hall, Record
from verify.robots.watcher import Watcher

PATIENCE = 120.0  # seconds, for a machine that is busy with other tests
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
    """What was left of an evening that some robots spent on a real board."""

    books: Path
    robots: dict[str, Robot]
    log: str
    status: int | None

    def seen(self, name: str) -> Seen:
        return self.robots[name].seen


def guests(port: int) -> dict[str, Robot]:
    """One for every table, on terminals of each kind; a newcomer, and one who dials twice."""
    tastes = {
        "Ada": ("black jack", SYNCTERM),
        "Bob": ("black jack", UNKNOWN),
        "Cyd": ("baccarat", XTERM),
        "Dan": ("baccarat", UNKNOWN),
        "Eve": ("teletype", XTERM),
        "Fay": ("company", SYNCTERM),
        "Gus": ("company", XTERM),
        "Hal": ("savings", SYNCTERM),
        "Ivy": ("black jack", XTERM),
        "Liz": ("teletype", SYNCTERM),
        "Kim": ("the deal", XTERM),
        "Jon": ("letters", UNKNOWN),
        "Mia": ("letters", XTERM),
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
            friend="Mia" if name == "Jon" else "Ada",
        )
        for seed, (name, (taste, program)) in enumerate(tastes.items())
    }


def not_seen_yet(robots: dict[str, Robot]) -> list[str]:
    """Name what no robot has seen so far, of what the tests compare."""
    seen = [robot.seen for robot in robots.values()]
    games = {settlement.game for one in seen for settlement in one.settlements}
    in_lines = [robots[name].seen for name in IN_LINES]
    wanted = {
        "a hand in lines": all(one.settlements for one in in_lines),
        "the bank's window": any(one.movements for one in seen),
        "a call taken over": any(one.taken_over for one in seen),
        "cards, a purse, a seal and a hand by one": any(map(is_witness, seen)),
        # The page behind <F>airness, painted and in plain lines.
        "a seed": any(robots[name].seen.seeds for name in robots.keys() - IN_LINES),
        "a seal in lines": any(one.seals for one in in_lines),
        "an answer": any(page.answers for one in seen for page in one.pages.values()),
        "a message at the log-on": bool(waited(robots)),
        "a hand of a tournament": any("tournament" in one.entered for one in seen),
        "a score": any(map(is_last, set().union(*(one.deal_hands for one in seen)))),
        "their own page": any(one.records for one in seen),
        "the hall of fame": any(one.halls for one in seen),
        "a first call": robots["Liz"].seen.is_registered,
    }
    return [*sorted(set(GAMES) - games), *(words for words, is_so in wanted.items() if not is_so)]


def is_last(hand: DealHand) -> bool:
    return hand.number == {"daily": HANDS, "tournament": house.TOURNAMENT_HANDS}[hand.deal]


def waited(robots: dict[str, Robot]) -> set[str]:
    """The marks of what Jon wrote before Mia came, and she has read."""
    pages = robots["Jon"].seen.pages.items()
    return {mark for mark, page in pages if not page.is_on} & robots["Mia"].seen.heard.keys()


def settled_black_jack(seen: Seen) -> list[Settlement]:
    return [one for one in seen.settlements if one.game == "black-jack-for-time"]


def is_witness(seen: Seen) -> bool:
    """Whether one has seen all of what is made up below."""
    return bool(settled_cards(seen) and seen.purses and seen.seals)


def settled_cards(seen: Seen) -> list[Place]:
    """The places of cards that are surely those of a hand whose end was seen."""
    numbers = {one.number for one in settled_black_jack(seen)}
    return [
        place
        for place in seen.cards
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
                if robot.name != "Mia":
                    group.create_task(robot.play(stop))
            while not robots["Jon"].seen.pages:
                await noticed(robots["Jon"])
            group.create_task(robots["Mia"].play(stop))
            while not_seen_yet(robots):
                await noticed(robots["Ada"])
            stop.set()
    except TimeoutError:
        pytest.fail(f"not seen in {PATIENCE:.0f} seconds: {', '.join(not_seen_yet(robots))}")


@pytest.fixture(scope="module")
def evening(tmp_path_factory: pytest.TempPathFactory) -> Evening:
    folder = tmp_path_factory.mktemp("evening")
    config = prepare(folder, [name for name in guests(0) if name != "Liz"])
    house.open_a_tournament(config.path)
    with Served(config) as server:
        robots = guests(server.port)
        asyncio.run(spend(robots))
    return Evening(config.database, robots, server.said(), server.status)


def test_what_robots_saw_at_every_table_is_in_the_books(evening: Evening) -> None:
    found = check.against_the_books(
        evening.books, [robot.seen for robot in evening.robots.values()]
    )
    assert found.wrong == []
    assert found.settlements > len(GAMES)
    assert found.purses > len(evening.robots), "how often depends on what they play"
    assert min(found.movements, found.cards, found.seals, found.seeds) > 0
    assert found.pages <= found.read + found.unread == typed_and_kept(evening)
    assert min(found.answers, found.read, found.entries, found.records, found.halls) > 0
    assert waited(evening.robots)
    assert found.hands >= found.settlements, "who hangs up does not see how the hand ends"


def typed_and_kept(evening: Evening) -> int:
    """How many messages the books have whose marks a robot has typed."""
    typed = set[str]().union(*(robot.seen.typed for robot in evening.robots.values()))
    with closing(sqlite3.connect(evening.books)) as books:
        texts = books.execute("SELECT text FROM messages").fetchall()
    return sum(any(mark in text for mark in typed) for (text,) in texts)


def test_no_call_is_open_when_the_server_has_ended(evening: Evening) -> None:
    assert check.nobody_is_on(evening.books) == []
    assert evening.status == 0
    assert evening.log == ""


def a_second_win(seen: Seen) -> None:
    seen.settlements[0] = replace(seen.settlements[0], net=seen.settlements[0].net + 60)


def a_turn_that_was_not(seen: Seen) -> None:
    seen.settlements.append(replace(seen.settlements[-1], number=9999))


def a_hand_from_another_shoe(seen: Seen) -> None:
    seen.settlements[0] = replace(seen.settlements[0], seal="0" * 64)


def a_settlement_before_its_hand(seen: Seen) -> None:
    seen.settlements[0] = replace(seen.settlements[0], at=0.0)


def two_hours_more(seen: Seen) -> None:
    last = seen.purses[-1]
    seen.purses.append(Purse(last.left + MUCH, last.bank, last.at))


def two_hours_less(seen: Seen) -> None:
    last = seen.purses[-1]
    seen.purses.append(Purse(last.left - MUCH, last.bank, last.at))


def two_hours_saved(seen: Seen) -> None:
    last = seen.purses[-1]
    seen.purses.append(Purse(last.left, last.bank + MUCH, last.at))


def a_deposit(seen: Seen) -> None:
    seen.movements.append(Movement("deposit", 86_400, "", seen.purses[-1].at))


def a_seal(seen: Seen) -> None:
    seen.seals.add("f" * 64)


def a_seed(seen: Seen) -> None:
    seen.seeds[next(iter(seen.seals))] = "0" * 64


def a_card(seen: Seen) -> None:
    place = settled_cards(seen)[0]
    seen.cards[place] |= {rank + suit for rank in "23456789TJQKA" for suit in "HDCS"}


def a_name(seen: Seen) -> None:
    seen.name, seen.is_registered = "Nobody", True


def a_page(seen: Seen) -> None:
    seen.pages["q0123456789"] = Page("Ada", is_on=True, at=0.0)


def a_page_to_another(seen: Seen) -> None:
    mark, page = next(iter(seen.pages.items()))
    seen.pages[mark] = page._replace(meant="Nobody", answers="")


def an_answer_to_another(seen: Seen) -> None:
    mark, page = next(iter(seen.pages.items()))
    seen.pages[mark] = page._replace(meant="", answers="q0123456789")


def a_page_that_the_books_made_up(seen: Seen) -> None:
    seen.typed.remove(next(iter(seen.pages)))


def an_entry(seen: Seen) -> None:
    seen.entered.add("daily")


def an_entry_that_was_not_asked_for(seen: Seen) -> None:
    seen.asked.clear()
    seen.entered.clear()


def a_price_that_was_not_agreed_to(seen: Seen) -> None:
    seen.agreed.clear()


def a_hand_too_many(seen: Seen) -> None:
    found, at = seen.records[-1]
    counts = {**found.counts, "hands": found.counts.get("hands", 0) + 99}
    seen.records.append(Shown(replace(found, counts=counts), at))


def a_minute_too_many(seen: Seen) -> None:
    found, at = seen.records[-1]
    seen.records.append(Shown(replace(found, net=found.net + 60, ahead=None), at))


def a_place_for_nobody(seen: Seen) -> None:
    seen.halls.append(Shown(Hall("T", {"won": [("Nobody", 60)], "best": []}), 0.0))


def a_place_too_few(seen: Seen) -> None:
    at = next(hand.at for hand in seen.settlements if has_won(hand))
    seen.halls.append(Shown(Hall("E", {"best": []}), at + check.LAG + 1))


def a_page_that_nobody_wrote(seen: Seen) -> None:
    seen.heard["q0123456789"] = 0.0


def a_score(seen: Seen) -> None:
    last = next(filter(is_last, seen.deal_hands))
    seen.deal_hands.add(last._replace(total=999))


def a_complaint(seen: Seen) -> None:
    seen.complaints.append("Something went wrong here")


def has_won(hand: Settlement) -> bool:
    return hand.net > 0 and hand.unit == "second"


# What a robot must have seen, where it is something else.
NEEDS: dict[Callable[[Seen], None], Callable[[Seen], object]] = {
    a_page_to_another: lambda seen: seen.pages,
    an_answer_to_another: lambda seen: seen.pages,
    a_page_that_the_books_made_up: lambda seen: seen.pages,
    an_entry: lambda seen: not seen.asked,
    an_entry_that_was_not_asked_for: lambda seen: seen.entered,
    a_price_that_was_not_agreed_to: lambda seen: "tournament" in seen.entered,
    a_score: lambda seen: any(map(is_last, seen.deal_hands)),
    a_hand_too_many: lambda seen: seen.records,
    a_minute_too_many: lambda seen: seen.records,
    a_place_too_few: lambda seen: any(map(has_won, seen.settlements)),
}


@pytest.mark.parametrize(
    "invents",
    [
        a_second_win,
        a_turn_that_was_not,
        a_hand_from_another_shoe,
        a_settlement_before_its_hand,
        two_hours_more,
        two_hours_less,
        two_hours_saved,
        a_deposit,
        a_seal,
        a_seed,
        a_card,
        a_name,
        a_page,
        a_page_to_another,
        an_answer_to_another,
        a_page_that_the_books_made_up,
        a_page_that_nobody_wrote,
        an_entry,
        an_entry_that_was_not_asked_for,
        a_price_that_was_not_agreed_to,
        a_hand_too_many,
        a_minute_too_many,
        a_place_for_nobody,
        a_place_too_few,
        a_score,
        a_complaint,
    ],
)
def test_what_was_not_so_is_found(evening: Evening, invents: Callable[[Seen], None]) -> None:
    everybody = [robot.seen for robot in evening.robots.values()]
    seen = next(one for one in everybody if NEEDS.get(invents, is_witness)(one))
    settled = seen.settlements if invents in NEEDS else settled_black_jack(seen)
    told = replace(
        seen,
        settlements=list(settled),
        movements=list(seen.movements),
        purses=list(seen.purses),
        seals=set(seen.seals),
        seeds=dict(seen.seeds),
        cards={turn: set(cards) for turn, cards in seen.cards.items()},
        pages=dict(seen.pages),
        heard=dict(seen.heard),
        typed=set(seen.typed),
        asked=set(seen.asked),
        entered=set(seen.entered),
        agreed=set(seen.agreed),
        records=list(seen.records),
        halls=list(seen.halls),
        deal_hands=set(seen.deal_hands),
        complaints=[],
    )
    invents(told)
    assert len(check.against_the_books(evening.books, [told]).wrong) == 1


def test_a_crowd_in_other_processes_is_measured_and_held_to_the_books(tmp_path: Path) -> None:
    plan = Plan(3, 1.0, HASTY, processes=2, a_second=100, seed=1, settle=0.5, sampled=1.0, doors=1)
    told: list[Sample] = []
    outcome = load.run(plan, tmp_path, told.append)
    assert outcome.wrong == []
    assert outcome.left_on == 0
    assert (outcome.status, outcome.log) == (0, "")
    assert outcome.samples == told != []
    assert [one.name for one in outcome.seen] == [
        *("Caller 0", "Caller 2"),
        *("Caller 1", "Moth 1@Xibalba"),
    ]
    assert outcome.rode
    printed = {row.what: row for row in rows(outcome, plan.callers)}
    assert printed["what the books do not have so"].verdict == "reached"
    assert printed["memory before the first caller"].value > 1


async def test_a_robot_dials_again_where_nobody_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    robot = Robot("Ada", "127.0.0.1", 1, 1, pace=replace(HASTY, away=(0.0, 0.0)))
    stop = asyncio.Event()

    async def nobody(*_: object) -> Phone:
        if robot.seen.calls == 3:
            stop.set()
        raise OSError("nobody answers")

    monkeypatch.setattr(phone, "call", nobody)
    await robot.play(stop)
    assert robot.seen == Seen("Ada", calls=3)


@pytest.mark.parametrize("charset", [Charset.CP437, Charset.UTF8])
def test_the_screen_shows_what_a_terminal_emulator_shows(charset: Charset) -> None:
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


def test_lines_are_heard_once_and_a_painted_screen_has_none() -> None:
    screen = Screen("ascii")
    screen.feed(b"You win $2\r\n\r\nnew ga")
    assert screen.heard() == ["You win $2", ""]
    screen.feed(b"me\r\n")
    assert screen.heard() == ["new game"]
    screen.feed(b"\x1b[5;3HYou win $4\x1b[7;1H")
    assert screen.heard() == []
    assert screen.rows[4].strip() == "You win $4"


def test_what_is_written_is_read_as_it_is_meant() -> None:
    assert doctest.testmod(reading).failed == 0
    assert doctest.testmod(phrases).failed == 0
    assert doctest.testmod(house).failed == 0
    assert doctest.testmod(standing).failed == 0


def test_a_question_whose_answer_has_a_row_of_its_own_is_seen() -> None:
    painted, lines = Screen("ascii"), Screen("ascii")
    painted.feed(b"\x1b[22;2HA phrase to cut the cards (Enter for none):\x1b[23;2Hlucky")
    lines.feed(b"A new shoe.\r\nA phrase to cut the cards (Enter for none):\r\n")
    assert painted.prompt == "A phrase to cut the cards (Enter for none): lucky"
    assert lines.prompt == "A phrase to cut the cards (Enter for none):"


def test_a_question_that_was_answered_with_enter_is_not_seen_again() -> None:
    lines = Screen("ascii")
    lines.feed(b"Name: ")
    lines.feed(b"\r\n")
    assert lines.prompt == ""


@pytest.mark.parametrize(
    ("prompt", "keys"),
    [
        ("Name:", "Ada\r"),
        ("Password:", f"{PASSWORD}\r"),
        ("Your choice (Enter for 2)?  <1>   <2>", "\r"),
        ("Press any key", " "),
        ("Drop that call and continue here?  <Y>es (Enter)  <N>o", "y"),
        ("Deposit 5 minutes?  <Y>es  <N>o", "y"),
        ("Send to:", "Bob\r"),
        ("Say: a word that came too fast", "\r"),
        ("", ""),
    ],
)
def test_a_question_is_answered_as_a_caller_answers_it(prompt: str, keys: str) -> None:
    chooser = Chooser("Ada", PASSWORD, random.Random(1), friend="Bob", taste="savings")
    chooser.is_known = True
    assert chooser.keys_at(prompt, paints=True) == keys


def test_a_phrase_is_known_by_its_sense_in_every_language() -> None:
    for told in (
        "You bust with 22 and lose 1.5 coins.",
        "It is over.\nNot in between. You lose 1.5\ncoins.",
    ):
        found = phrases.LOST.search(told)
        assert found is not None
        assert found["coins"].split() == ["1.5", "coins"]
    french = phrases.YOU_LOSE.search("Blackjack du croupier. Vous perdez 1,5 jetons.")
    assert french is not None
    assert french["coins"] == "1,5 jetons"
    assert not phrases.COINS_TO_BET.is_in("<B>et (Enter)")


SEED = "0b" * 32
SEAL = sha256(bytes.fromhex(SEED)).hexdigest()


def page(*fields: tuple[str, str]) -> str:
    return "\n".join(f" {name}\n {value}" for name, value in fields)


def test_the_page_of_fair_cards_is_read_as_its_words_say() -> None:
    this = reading.fairness(page(("Seal of this shoe", SEAL), ("Cut with", "luck")))
    assert (this.shoe, this.seals, this.seeds) == (SEAL, {SEAL}, {})
    done = reading.fairness(page(("Seal of this shoe", SEAL), ("Seed of this shoe", SEED)))
    assert (done.shoe, done.seeds, done.wrong) == (SEAL, {SEAL: SEED}, "")
    two = reading.fairness(
        page(
            ("Seal of the next shoe", "a" * 64),
            ("Seal of the last shoe", SEAL),
            ("Seed of the last shoe", SEED),
        )
    )
    assert (two.shoe, two.seals, two.seeds) == (SEAL, {"a" * 64, SEAL}, {SEAL: SEED})


def test_a_seed_that_does_not_open_its_seal_is_seen() -> None:
    fields = (("Seal of the last shoe", "a" * 64), ("Seed of the last shoe", SEED))
    assert "does not open" in reading.fairness(page(*fields)).wrong
    assert reading.fairness(page(fields[1])).wrong == "", "nothing says of which seal it is"


def test_plain_lines_of_that_page_are_heard() -> None:
    seen = Seen("Ada")
    ears = Ears(seen, 60, lambda: 0.0)
    ears.hears("Black Jack For Time - Turns today: 0")
    ears.hears("Your pot: 59 coins. Turns today: 0.")
    ears.hears("You bust with 22 and lose 5 coins.")
    ears.hears("Your pot: 54 coins. Turns today: 1.")
    for line in ("Fairness", "", "Seal of the next shoe", "a" * 64, "Seal of the last shoe", SEAL):
        ears.hears(line)
    for line in ("Seed of the last shoe", SEED, "", "Press any key"):
        ears.hears(line)
    assert (seen.seals, seen.seeds, seen.complaints) == ({"a" * 64, SEAL}, {SEAL: SEED}, [])
    (settled,) = seen.settlements
    assert (settled.net, settled.number, settled.seal) == (-300, 1, SEAL)


def test_a_part_of_that_page_tells_seals_and_not_which_shoe_the_hand_was_of() -> None:
    seen = Seen("Ada")
    ears = Ears(seen, 60, lambda: 0.0)
    ears.hears("Black Jack For Time - Turns today: 0")
    ears.hears("You bust with 22 and lose 5 coins.")
    ears.hears("Your pot: 54 coins. Turns today: 1.")
    for line in ("Fairness (1 of 2)", "Seal of this shoe", "a" * 64, "Press any key"):
        ears.hears(line)
    assert seen.seals == {"a" * 64}
    for line in ("Fairness (2 of 2)", "Seal of the last shoe", SEAL, "Press any key"):
        ears.hears(line)
    assert seen.seals == {"a" * 64, SEAL}
    assert seen.settlements[0].seal == ""


def test_a_table_is_known_by_its_title_alone() -> None:
    seen = Seen("Ada")
    ears = Ears(seen, 60, lambda: 0.0)
    for line in ("Black Jack For Time", "A coin is 1 minute of your time."):
        ears.hears(line)
    ears.hears("You bust with 22 and lose 5 coins.")
    ears.hears("Your pot: 54 coins. Turns today: 1.")
    assert [(each.game, each.net) for each in seen.settlements] == [("black-jack-for-time", -300)]


@pytest.mark.parametrize(
    "since",
    [
        "Coins to bet, 1 to 10 (Enter for 1): 5",
        "Place your bets: $1 to $100,000 (Enter for $1,000):",
        "Baccarat - Played in dollars",
    ],
)
def test_that_page_of_another_hand_or_table_says_nothing_of_the_hand_before(since: str) -> None:
    seen = Seen("Ada")
    ears = Ears(seen, 60, lambda: 0.0)
    ears.hears("Black Jack For Time - Turns today: 0")
    ears.hears("You bust with 22 and lose 5 coins.")
    ears.hears("Your pot: 54 coins. Turns today: 1.")
    ears.hears(since)
    for line in ("Fairness", "", "Seal of this shoe", SEAL, "", "Press any key"):
        ears.hears(line)
    (settled,) = seen.settlements
    assert settled.seal == ""


OWN_PAGE = """\
Your statistics

Hands 5   Won 2   Even 1   Lost 2   Naturals 1   Charlies 0
Most in a row at one game: 2 won, 1 lost.
Your best hand won 2 minutes 30 seconds.
All in all you're 1 minute down.
Your table is Black Jack For Time: 4 hands.
You're ahead of 3 of the 9 others who have played. Just behind you: Bob.
""".splitlines()
OWN = Record(
    {"hands": 5, "won": 2, "even": 1, "lost": 2, "naturals": 1, "charlies": 0},
    (2, 1),
    150,
    -60,
    Ahead(3, 9),
)
HALL = f"""\
Hall of fame: This week

{"Won most":<38}Best hand
{" 1 Ada                          12:34":<38} 1 Caller 7                      5:00
{" 2 Caller 7                      0:30":<38}
""".splitlines()
IN_THE_HALL = Hall("W", {"won": [("Ada", 754), ("Caller 7", 30)], "best": [("Caller 7", 300)]})


def test_a_page_of_figures_is_read_as_it_stands() -> None:
    assert standing.record(OWN_PAGE) == OWN
    assert standing.record(["Your statistics", "", "No hand of yours is over yet."]) == Record({})
    assert standing.record(OWN_PAGE[:3]) is None, "a part of it"
    assert standing.hall(HALL) == IN_THE_HALL
    half = [HALL[0], HALL[1], HALL[2], HALL[4]]
    assert standing.hall(half) is None, "a second place without a first"


def test_such_a_page_is_noted_once_and_again_when_it_was_asked_for_again() -> None:
    seen, screen = Seen("Ada"), Screen("ascii")
    eyes = Company(seen, lambda: 7.0, paints=True)
    prompt = "<T>oday  This <w>eek  <E>ver  <B>rass plate  <Q>uit"
    painted = "".join(f"\x1b[{row};2H{text}" for row, text in enumerate(HALL, 1))
    screen.feed(painted.encode())
    eyes.looks(screen)
    assert seen.halls == [], "before anything is asked"
    screen.feed(f"\x1b[23;2H{prompt}".encode())
    eyes.looks(screen)
    eyes.looks(screen)
    assert seen.halls == [Shown(IN_THE_HALL, 7.0)]
    eyes.decides(prompt, "w")
    eyes.looks(screen)
    assert len(seen.halls) == 2


def test_such_a_page_is_heard_in_lines_up_to_what_is_asked() -> None:
    seen = Seen("Ada")
    ears = Company(seen, lambda: 7.0, paints=False)
    for line in (*OWN_PAGE, "<A>wards  <L>uck  <Q>uit (Enter) Q", *OWN_PAGE):
        ears.hears(line)
    assert seen.records == [Shown(OWN, 7.0)], "the second has not come as a whole"


def test_hands_of_a_deal_are_of_the_one_whose_heading_stands_above_them() -> None:
    seen = Seen("Ada")
    ears = Company(seen, lambda: 7.0, paints=False)
    for line in (
        "The tournament - 4 of 4",
        "Hand 4: DEALER WINS (-10). So far: -10.",
        "The daily deal",
        "The daily deal - 1 of 10",
        "Hand 1: YOU WIN (+10). So far: +10.",
    ):
        ears.hears(line)
    assert seen.deal_hands == {DealHand("tournament", 4, -10), DealHand("daily", 1, 10)}
    assert seen.entered == {"daily", "tournament"}


def picture(*rows: str) -> Screen:
    screen = Screen("ascii")
    screen.feed("\r\n".join(rows).encode())
    return screen


def test_what_became_of_a_message_is_known_before_the_next_is_written() -> None:
    seen = Seen("Ada")
    eyes = Company(seen, lambda: 7.0, paints=False)
    assert eyes.may_write("")
    eyes.writes(Paged("q0123456789", "Bob"))
    assert not eyes.may_write("")
    eyes.looks(picture("Not so fast: please wait a few seconds.", "Say (/p name message): /p Bob"))
    assert (eyes.may_write(""), seen.pages) == (True, {})
    eyes.writes(Paged("q1123456789", "", "q2123456789"))
    eyes.looks(picture("Bob has written meanwhile. Enter answers them; /p writes to another."))
    assert not eyes.may_write(""), "it is sent by Enter"
    eyes.looks(picture("Sent to Bob, who is on."))
    answered = Page("Bob", is_on=True, at=7.0, answers="q2123456789")
    assert seen.pages == {"q1123456789": answered}
    assert not eyes.may_write("Sent to Bob, who is on.")


def test_the_last_that_came_is_what_another_wrote_on_this_call() -> None:
    seen = Seen("Ada", typed={"q0123456789"}, heard={"q1123456789": 1.0})
    eyes = Company(seen, lambda: 7.0, paints=False)
    eyes.looks(picture("Bob: q1123456789 hello", "Say: q0123456789 you too"))
    assert eyes.last_read == ""
    eyes.looks(picture("Cyd: q2123456789 hello", "Bob: q3123456789 good luck"))
    assert eyes.last_read == "q3123456789"


def test_who_reads_a_message_answers_it_or_not_and_thinks_of_it_once() -> None:
    chooser = Chooser("Ada", PASSWORD, random.Random(1), friend="Ada", taste="letters")
    chooser.is_known = True
    answers = []
    for number in range(40):
        chooser.last_read = f"q{number:010}"
        answers.append(chooser.keys_at("Your game, or <T>ime bank", paints=True)[:3] == "/r ")
        assert chooser.keys_at("Your game, or <T>ime bank", paints=True)[:3] != "/r "
    assert 5 < sum(answers) < 35
    assert chooser.paged is not None
    assert (chooser.paged.to, chooser.paged.answers[:1]) == ("", "q")
    chooser.came_between = True
    assert chooser.keys_at("Say (/p name message): /r hello", paints=True) == "\r"
    chooser.came_between = False
    assert chooser.keys_at("Say (/p name message): /r hello", paints=True) == "\x1b"


def test_a_letter_is_addressed_once_before_its_text_is_asked_for() -> None:
    chooser = Chooser("Ada", PASSWORD, random.Random(1), friend="Bob", taste="letters")

    def keys(prompt: str) -> str:
        return chooser.keys_at(prompt, paints=True)

    assert (keys("Write to:"), keys("Write to:")) == ("Bob\r", "\x1b")
    assert (keys("Write to:"), keys("To Bob:")[0], keys("Write to:")) == ("Bob\r", "q", "Bob\r")
    assert keys("To Bob: q0123456789 hello") == "\x1b", "it was refused"


def message(number: int, sender: str, reader: str, text: str, shown: int | None = 9) -> Message:
    return Message(number, sender, reader, text, 5, shown)


def neighbours_of(**known: object) -> Account:
    nothing = Steps([])
    return replace(Account([], [], nothing, nothing, [], [], [], []), **known)


def test_an_answer_goes_to_who_wrote_what_it_answers_or_has_written_since() -> None:
    heard = [
        message(1, "Cyd", "Ada", "q0000000001"),
        message(2, "Bob", "Ada", "q0000000002"),
        message(4, "Dan", "Ada", "q0000000004"),
        message(6, "Eve", "Ada", "q0000000006"),
    ]
    for to, is_right in (("Bob", True), ("Dan", True), ("Cyd", False), ("Eve", False)):
        seen = Seen("Ada", typed={"q0000000005"})
        seen.pages["q0000000005"] = Page(to, is_on=True, at=5.0, answers="q0000000002")
        account = neighbours_of(heard=heard, sent=[message(5, "Ada", to, "q0000000005")])
        assert (list(neighbours.company(seen, account, 15.0)) == []) == is_right, to


def test_who_was_on_has_read_what_was_written_to_them() -> None:
    waits = [message(1, "Bob", "Ada", "q0000000001", shown=None)]
    for closed, is_right in ((10, True), (40, False)):
        call = Call(opened=0, closed=closed, reason="log-off", ticked=closed, charged=closed)
        account = neighbours_of(heard=waits, calls=[call])
        assert (list(neighbours.company(Seen("Ada"), account, 15.0)) == []) == is_right


@pytest.mark.parametrize("hands", [4, 10])
def test_the_last_hand_of_a_tournament_is_the_one_that_its_terms_say(hands: int) -> None:
    seen = Seen("Ada", asked={"tournament"}, agreed={120}, entered={"tournament"})
    seen.deal_hands |= {DealHand("tournament", 4, -10), DealHand("tournament", hands, 20)}
    account = neighbours_of(tries=[Try("tournament", hands, 20, 120, is_entered=True)])
    wrong = list(neighbours.company(seen, account, 15.0))
    assert len(wrong) == (hands == 4), "the fourth of four is the last one"


def hand(net: int, game: str = "baccarat", unit: str = "second", outcome: str = "win") -> Hand:
    return Hand(game, unit, "2026-03-01", "", "", net, 1, outcome, frozenset(), None)


def test_hands_are_counted_as_their_page_counts_them() -> None:
    hands = [
        *(hand(60), hand(-60, "vegas"), hand(0), hand(150, outcome="natural win")),
        hand(-500, unit="usd-cent"),
    ]
    assert recount.counted(hands) == replace(OWN, net=150, ahead=None)
    assert recount.counted([]) == Record({})


def test_who_stands_behind_is_known_as_far_as_the_books_moved_meanwhile() -> None:
    everybody = Standings(
        {
            "Ada": [Won(1, "2026-03-01", "vegas", 60)],
            "Bob": [Won(1, "2026-03-01", "vegas", -60)],
            "Cyd": [Won(1, "2026-03-01", "vegas", -60), Won(50, "2026-03-01", "vegas", 600)],
        },
        [(0, "2026-03-01")],
    )
    own = replace(recount.counted([hand(60)]))
    account = neighbours_of(hands=[hand(60)])
    for ahead, is_right in (
        *((Ahead(1, 2), True), (Ahead(2, 2), True), (Ahead(3, 2), False), (Ahead(0, 2), False)),
        (Ahead(1, 3), False),
    ):
        seen = Seen("Ada", records=[Shown(replace(own, ahead=ahead), 55.0)])
        assert (list(recount.shown(seen, account, everybody, 15.0)) == []) == is_right, ahead


def test_a_coup_after_which_the_money_was_changed_unseen_is_of_no_known_money() -> None:
    """Who types ahead sees the scoreboard of a coup for time beside the panel of the francs."""
    seen = Seen("Ada")
    watcher = Watcher(seen, 60)
    menu = "<B>et (Enter)  <R>ules  <F>airness  <Q>uit"

    def looks(unit: str, net: int, ties: str) -> None:
        panel = Panel(net, (ties,), None, None, unit)
        watcher._watch(Table("baccarat", panel, Short(), set()), menu, is_last=False)

    looks("second", 0, "··")
    looks("frf-cent", 0, "T·")
    assert seen.settlements == []
    looks("frf-cent", -500, "TB")
    looks("second", 0, "TB")
    looks("second", 120, "TBP")
    assert [(each.unit, each.net) for each in seen.settlements] == [
        ("frf-cent", -500),
        ("second", 120),
    ]


@pytest.mark.parametrize(
    ("prompt", "keys"),
    [
        ("Your game, or <T>ime bank  <W>ho is on", "g"),
        ("<B>et (Enter)  <R>ules  <F>airness  T<u>tor  <Q>uit", "q"),
        ("<D>ouble  <H>it  <S>tay", "s"),
        ("Coins to bet, 1 to 10 (Enter for 1):", "\x1b"),
        ("Leave the board?  <Y>es  <N>o", "y"),
        ("Leave the games?  <Y>es  <N>o", "y"),
        ("Hit?", "\x7f"),
        ("", ""),
    ],
)
def test_who_leaves_takes_the_shortest_way_out(prompt: str, keys: str) -> None:
    chooser = Chooser("Ada", PASSWORD, random.Random(1), friend="Bob", taste="savings")
    chooser.is_leaving = True
    assert chooser.keys_at(prompt, paints=True) == keys


def test_every_taste_is_drawn_by_some_seed() -> None:
    drawn = {
        Chooser("Ada", PASSWORD, random.Random(seed), friend="Bob", taste=None).taste
        for seed in range(300)
    }
    assert drawn == set(TASTES)


def test_memory_that_grows_is_told_by_the_minute() -> None:
    def sample(minute: float, memory: float) -> Sample:
        nothing = Inside(0, 0.0, 0.0)
        return Sample(minute * 60, 1, 0, memory, cores=0, starved=0, keys=0, inside=nothing)

    def grows(*figures: float) -> float:
        warming = [sample(1, 100), sample(2, 900)]
        late = [sample(3 + number, figure) for number, figure in enumerate(figures)]
        return slope([*warming, *late], lambda each: each.memory)

    assert grows(1000, 1000, 1000, 1000) == 0
    assert grows(1000, 1007, 1014, 1021) == 7
    assert slope([sample(1, 100)], lambda each: each.memory) == 0


def test_what_is_in_use_inside_a_server_is_counted_by_those_who_give_it_out(
    tmp_path: Path,
) -> None:
    before = inside.look()
    kept = [object() for _ in range(100_000)]
    large = bytes(10_000_000)
    with closing(sqlite3.connect(tmp_path / "books")) as books:
        books.execute("CREATE TABLE kept (value BLOB)")
        books.execute("INSERT INTO kept VALUES (?)", (large[:1_000_000],))
        after = inside.look()
    assert after.blocks - before.blocks >= len(kept)
    assert after.malloc - before.malloc >= len(large) / 1024
    assert after.sqlite - before.sqlite >= 900
