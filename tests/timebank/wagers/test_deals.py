"""The deal of the day in the books: sealed once a day, tried once by each caller."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from door.games.blackjack.world import world_shoe
from timebank.errors import OutOfStep, ShoeGone
from timebank.keeping import deletion
from timebank.wagers import contests, deals

RULES = {"decks": 1}


def sealed(books, number: int):
    return books.do(deals.todays, lambda _day: (bytes([number]) * 32, f"{number:064x}", RULES))


def of_world(books):
    return books.do(deals.todays, lambda day: (bytes(32), f"world/1/{day}", RULES))


@pytest.fixture
def deal(books):
    return sealed(books, 1)


def test_one_deal_a_day_is_sealed_and_its_seed_shown_the_next_day(books, deal):
    assert (deal.day, deal.rules, deal.shown_seed) == (books.now.date(), RULES, None)
    assert sealed(books, 2) == deal
    assert books.do(deals.last_closed) is None
    assert deal.seed.hex() not in repr(deal)
    books.now += timedelta(days=1)
    assert sealed(books, 2).seal == f"{2:064x}"
    last = books.do(deals.last_closed)
    assert (last.seal, last.shown_seed) == (deal.seal, "01" * 32)


def test_a_clock_that_steps_back_seals_no_second_one(books, deal):
    books.now -= timedelta(days=2)
    assert sealed(books, 2) == deal


def test_a_clock_that_was_years_ahead_leaves_a_deal_for_every_day(books, deal):
    books.now -= timedelta(days=8)
    today = sealed(books, 2)
    assert (today.day, today.shown_seed) == (books.now.date(), None)
    assert books.do(deals.last_closed).seal == deal.seal
    with pytest.raises(ShoeGone):
        books.do(contests.begin, deal, books.caller("Bob"))


def test_a_caller_has_one_try_and_resumes_it(books, deal, ann):
    assert books.do(contests.try_of, deal.seal, ann) is None
    books.do(contests.begin, deal, ann)
    books.do(contests.act, deal, ann, (), "hit", None)
    assert books.do(contests.begin, deal, ann) == contests.ContestTry(("hit",))
    with pytest.raises(OutOfStep):
        books.do(contests.act, deal, ann, (), "stay", None)
    books.do(contests.act, deal, ann, ("hit",), "stay", -10)
    books.do(contests.weigh, deal.seal, ann, 25)
    assert books.do(contests.begin, deal, ann) == contests.ContestTry(("hit", "stay"), -10, 25)
    with pytest.raises(OutOfStep):
        books.do(contests.act, deal, ann, ("hit",), "hit", 90)


def test_nothing_is_added_once_the_cards_are_open(books, deal, ann):
    bob = books.caller("Bob")
    books.do(contests.begin, deal, ann)
    books.do(contests.close_all)
    for late in (
        lambda desk: contests.act(desk, deal, ann, (), "hit", None),
        lambda desk: contests.begin(desk, deal, bob),
    ):
        with pytest.raises(ShoeGone):
            books.do(late)
    assert sealed(books, 2).seal != deal.seal, "as after a restore, on the same day"


def test_decisions_rank_and_coins_do_not(books, deal, ann):
    results = {"Bob": (40, 300), "Cyd": (-20, 0), "Dan": (10, 0), "Eve": (10, 0), "Fay": (90, None)}
    for name, (score, cost) in results.items():
        number = books.caller(name)
        books.do(contests.begin, deal, number)
        books.do(contests.act, deal, number, (), "stay", score)
        if cost is not None:
            books.do(contests.weigh, deal.seal, number, cost)
    books.do(contests.begin, deal, ann)  # not to its end
    placed = books.do(contests.ranking, deal)
    assert [(each.place, each.name) for each in placed] == [
        *((1, "Dan"), (1, "Eve"), (1, "Cyd"), (4, "Bob"), (5, "Fay"))
    ]
    books.do(deletion.delete, placed[0].caller_id)
    assert books.do(contests.ranking, deal)[0].name == "Eve"
    assert books.audit() == []


@pytest.mark.of_a_file  # the first board's books
def test_two_boards_in_two_zones_have_the_same_cards_for_the_same_date(
    open_books, books_on_a_server
):
    """Each plays a date's deal on its own local day: Auckland's is over when Honolulu's begins."""
    books_on_a_server.change(zone=ZoneInfo("Pacific/Honolulu"), events=())
    boards = [open_books(zone=ZoneInfo("Pacific/Auckland"), events=()), books_on_a_server]
    assert [board.is_on_a_server for board in boards] == [False, True]
    first, second = [], []
    for hours in range(0, 72, 6):
        for board, dealt in zip(boards, (first, second), strict=True):
            board.now = datetime(2026, 11, 27, tzinfo=UTC) + timedelta(hours=hours)
            deal = board.do(deals.todays, world_shoe)
            assert deal.day == board.now.astimezone(board.settings.zone).date()
            dealt.append((deal.day, deal.seed, deal.rules))
    assert first[0][0] != second[0][0], "at the same moment"
    by_day = {day: shoe for day, *shoe in first}
    shared = {day for day, *_ in second} & by_day.keys()
    assert len(shared) >= 3
    assert all(by_day[day] == shoe for day, *shoe in second if day in shared)


def test_the_world_deals_of_wrong_clocks_wait_for_their_dates(books, ann):
    today = of_world(books)
    books.do(contests.begin, today, ann)
    books.now += timedelta(days=3)
    ahead = of_world(books)
    books.do(contests.begin, ahead, ann)
    books.do(contests.act, ahead, ann, (), "stay", 10)
    books.now -= timedelta(days=3)
    assert of_world(books) == today
    assert books.do(contests.begin, today, ann) == contests.ContestTry(())
    assert books.do(deals.last_closed).seal == ahead.seal
    books.now += timedelta(days=1)
    assert of_world(books).day == today.day + timedelta(days=1)
    books.now += timedelta(days=2)
    assert of_world(books) == ahead
    assert books.do(contests.try_of, ahead.seal, ann).score == 10


def test_a_restore_leaves_the_world_deal_and_its_tries(books, ann):
    deal = of_world(books)
    books.do(contests.begin, deal, ann)
    books.do(contests.act, deal, ann, (), "hit", None)
    books.do(contests.close_all)
    assert of_world(books) == deal
    assert books.do(contests.begin, deal, ann) == contests.ContestTry(("hit",))


def test_an_open_deal_of_the_board_is_played_to_its_end_before_the_world_deal(books, deal):
    assert of_world(books) == deal
    books.now += timedelta(days=1)
    assert of_world(books).seal == f"world/1/{books.now.date()}"
    assert sealed(books, 2).is_worlds, "and the other way round"
    books.now += timedelta(days=1)
    assert sealed(books, 2).seal == f"{2:064x}"
