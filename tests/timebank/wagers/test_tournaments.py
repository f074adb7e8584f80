"""The tournament in the books: sealed and put up once, entered once, paid once."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from tests.timebank.books import in_english, settings_for, statements_of
from tests.timebank.by_hand import ByHand
from tests.timebank.hosts import HostCall, brought
from timebank.callers import awards
from timebank.callers.callers import register_of_board, set_locked
from timebank.callers.notices import waiting
from timebank.callers.own_limits import limit_loss, pause
from timebank.errors import NotEnough, OutOfStep, OwnLimit, Refused, ShoeGone
from timebank.keeping import deletion, restored_books
from timebank.keeping.maintain import maintain
from timebank.ledger import transfers
from timebank.ledger.machine import ClockReading
from timebank.settings.settings import TournamentTerms
from timebank.wagers import contests, deals, tournaments
from timebank.window.corrections import freeze

RULES = {"decks": 1}
FRIDAY = datetime(2026, 6, 5, 18, tzinfo=UTC)
MINUTE = 60
# A prize of ten minutes and one of five; five to enter.
TERMS = TournamentTerms(entry=5 * MINUTE, prizes=(600, 300), from_house=900)


@pytest.fixture
def open_board(open_books):
    """Open books with the known callers Ann, Bob and Cyd, on the Friday of a tournament."""

    def make(terms: TournamentTerms = TERMS, **changes):
        books = open_books(tournament=terms, **changes)
        for name in ("Ann", "Bob", "Cyd"):
            books.caller(name)
        books.wait_until(FRIDAY + timedelta(days=7, hours=1))
        return books

    return make


@pytest.fixture
def books(open_board):
    return open_board()


def look(books, number: int = 1):
    seed, seal = bytes([number]) * 32, f"{number:064x}"
    return books.do(tournaments.current, seed, seal, "black-jack-for-time", RULES, 10)


@pytest.fixture
def held(books):
    return look(books)


def enter(books, caller_id: int, call=None):
    call = call or books.call(caller_id)
    entered = call.post(tournaments.enter, books.do(tournaments.running).seal, TERMS.entry)
    return call, entered


def play(books, caller_id: int, score: int, cost: int | None = 0, call=None) -> None:
    """Enter on a call of its own, play to the end, and have it weighed."""
    call, _ = enter(books, caller_id, call)
    call.close()
    running = books.do(tournaments.running)
    books.do(contests.act, running, caller_id, (), "stay", score)
    if cost is not None:
        books.do(contests.weigh, running.seal, caller_id, cost)


def end(books) -> None:
    books.wait_until(books.do(tournaments.running).ends)


def banks(books) -> list[int]:
    return [books.balances(number)["bank"] for number in (1, 2, 3)]


def test_a_tournament_opens_on_time_and_the_first_visitor_seals_it(books, held):
    assert (held.starts, held.ends - held.starts) == (
        FRIDAY + timedelta(days=7),
        timedelta(hours=48),
    )
    assert (held.prizes, held.put_in, held.entry) == ((600, 300), 900, 300)
    assert look(books, 2) == held
    assert held.shown_seed is None
    assert held.seed.hex() not in repr(held)
    assert books.system()["prizes"] == 900
    house = "SELECT balance FROM accounts WHERE kind = 'house' AND game = 'tournament'"
    assert books.sql(house) == [(-900,)]
    assert books.do(deals.last_closed) is None
    assert books.audit() == []


def test_there_is_none_before_its_hour_nor_after_nor_where_it_is_off(open_board):
    books = open_board()
    for hours in (-2, 24 * 4):
        books.now += timedelta(hours=hours)
        assert look(books) is None
    books.change(tournament=TournamentTerms(on=False))
    books.wait_until(FRIDAY + timedelta(days=14))
    assert look(books) is None
    assert "prizes" not in books.system()


def test_nothing_is_sealed_while_the_clock_is_in_doubt(books):
    books.now = ClockReading(books.now, "boot", 0.0)  # which the books do not know yet
    assert look(books) is None


def test_an_entry_is_paid_once_and_the_try_resumes(books, held):
    call, entered = enter(books, 1)
    assert (entered.entry.for_prize, entered.entry.paid) == (True, 300)
    assert call.moved[-1] == ("entry", 300, "online", "prizes")
    books.do(contests.act, held, 1, (), "hit", None)
    again = call.post(tournaments.enter, held.seal, TERMS.entry)
    assert (again.entry, again.deal_try.acts) == (entered.entry, ("hit",))
    assert books.system()["prizes"] == 1200
    with pytest.raises(OutOfStep):
        books.do(contests.act, held, 1, (), "hit", None)
    assert books.do(tournaments.pot, held) == tournaments.Pot((800, 400), 1, 0)
    assert books.audit() == []


def test_prizes_are_paid_once_into_the_bank_even_off_line(books, held):
    play(books, 1, 30, cost=25)
    play(books, 2, 10)
    play(books, 3, -20)
    assert books.do(tournaments.settle) is None
    end(books)
    settled = books.do(tournaments.settle)
    assert (settled.outcome, settled.shown_seed) == ("settled", "01" * 32)
    # Fifteen minutes of entries come on top, two to one.
    assert banks(books) == [0, 1200, 600]
    assert books.do(tournaments.settle) is None
    assert banks(books) == [0, 1200, 600]
    assert books.system()["prizes"] == 0
    assert in_english(books.do(waiting, 2)) == (
        "You won the tournament of 12 June, first of 3. 20 minutes went to your time bank.",
    )
    assert in_english(books.do(waiting, 1)) == ()
    assert books.do(tournaments.champion).names == ("Bob",)
    placed = books.do(tournaments.standings, held.seal)
    assert [(each.name, each.place, each.prize) for each in placed] == [
        *(("Bob", 1, 1200), ("Cyd", 2, 600), ("Ann", 3, 0))
    ]
    assert books.audit() == []


def test_a_player_without_a_prize_costs_no_statement(open_board):
    def settled(desk):
        with statements_of(books.database) as ran:
            tournaments.settle(desk)
        return len(ran)

    books = open_board(replace(TERMS, entry=0, prizes=(600,)))
    counted = []
    for many in (1, 3):
        look(books, many)
        for caller_id in range(1, many + 1):
            play(books, caller_id, -caller_id)
        end(books)
        counted.append(books.do(settled))
        books.wait(5 * 86400)
    assert counted[0] == counted[1]


def test_equal_players_share_in_whole_seconds_and_the_rest_stays(open_board):
    books = open_board(replace(TERMS, entry=0, prizes=(400, 300), from_house=700))
    look(books)
    for caller_id in (1, 2, 3):
        play(books, caller_id, 10)
    end(books)
    books.do(tournaments.settle)
    assert banks(books) == [233, 233, 233]
    assert books.system()["prizes"] == 1
    assert books.do(tournaments.champion).names == ("Ann", "Bob", "Cyd")
    # The next one needs so much less from the house.
    books.wait(6 * 86400)
    assert look(books, 2).put_in == 699
    assert books.audit() == []


def test_the_house_puts_in_no_more_than_it_may_in_a_week(open_board):
    books = open_board(replace(TERMS, from_house=700))
    held = look(books)
    assert (held.prizes, held.put_in) == ((600, 100), 700)
    end(books)
    assert books.do(tournaments.settle).outcome == "empty"
    assert books.system()["prizes"] == 0


def test_the_houses_part_is_one_a_week_whatever_the_time_of_sealing(open_board):
    """The first visitor seals it, so two can be less than seven days apart."""
    books = open_board()
    assert look(books).put_in == 900  # an hour after it opened
    play(books, 1, 30)
    books.wait_until(FRIDAY + timedelta(days=14))
    second = look(books, 2)
    # Ann has won the first prize, and the second one is left.
    assert (second.prizes, second.put_in) == ((600, 300), 600)
    assert books.audit() == []


def test_changed_hours_open_the_house_no_second_time_in_a_week(open_board):
    books = open_board()
    assert look(books).put_in == 900
    play(books, 1, 30)
    end(books)
    books.do(tournaments.settle)
    books.change(tournament=replace(TERMS, weekday=(TERMS.weekday + 2) % 7))
    books.wait(3600)
    assert look(books, 2).put_in == 0
    assert books.audit() == []


def test_it_waits_until_every_try_is_weighed(books, held):
    play(books, 1, 30, cost=None)
    end(books)
    assert books.do(tournaments.settle) is None
    (waits,) = books.do(contests.unweighed, held.seal)
    assert (waits.caller_id, waits.acts) == (1, ("stay",))
    assert (held.hands, held.rules) == (10, RULES)
    books.do(contests.weigh, held.seal, 1, 0)
    assert books.do(tournaments.settle).outcome == "settled"


def test_any_visitor_settles_a_tournament_and_seals_the_next(books, held):
    play(books, 1, 30)
    books.wait(7 * 86400)
    assert look(books, 2).seal != held.seal
    assert books.do(tournaments.last_settled).seal == held.seal
    assert banks(books)[0] == 900


def test_the_cost_of_a_try_stays_and_is_hidden_while_the_tournament_runs(books, held):
    play(books, 1, 30)
    assert books.do(awards.latest) is None  # awards are for daily deals only
    end(books)
    books.do(tournaments.settle)
    books.do(contests.weigh, held.seal, 1, 25)  # by a server that was late
    assert books.do(tournaments.standings, held.seal)[0].cost == 0
    assert books.audit() == []


def test_nothing_is_added_once_it_is_over(books, held):
    call, _ = enter(books, 1)
    call.close()
    bob = books.call(2)
    end(books)
    for late in (
        lambda: books.do(contests.act, held, 1, (), "hit", None),
        lambda: bob.post(tournaments.enter, held.seal, TERMS.entry),
    ):
        with pytest.raises(ShoeGone):
            late()


def test_new_callers_guests_and_frozen_accounts_play_for_rank_only(books, held):
    new = books.caller("Dan")
    guest = books.do(register_of_board, "Eve @Xibalba", "Xibalba", "7").id
    books.do(freeze, 3, "a dispute", "Sysop")
    for caller_id in (new, guest, 3):
        call = HostCall(books, guest, brought()) if caller_id == guest else None
        play(books, caller_id, 90, call=call)
    play(books, 1, 0, cost=100)
    end(books)
    books.do(tournaments.settle)
    assert books.do(tournaments.champion).names == (
        "Dan",
        "Eve @Xibalba",
    )  # Cyd's account is frozen
    assert banks(books) == [900, 0, 0]
    assert [books.balances(number)["bank"] for number in (new, guest)] == [0, 0]
    assert books.system()["prizes"] == 300
    assert books.audit() == []


def test_deleted_winners_are_skipped(books, held):
    for caller_id, score in ((1, 30), (2, 20), (3, 10)):
        play(books, caller_id, score)
    books.do(deletion.delete, 1)
    books.do(set_locked, 2, True)
    end(books)
    books.do(tournaments.settle)
    assert [books.balances(number)["bank"] for number in (2, 3)] == [0, 1500]
    assert books.do(tournaments.champion).names == ("Cyd",)
    assert books.system()["prizes"] == 300
    assert books.audit() == []


def test_a_tournament_that_no_caller_finished_refunds_all(books, held):
    for caller_id in (1, 2):
        call, _ = enter(books, caller_id)
        call.close()
    books.do(deletion.delete, 2)
    end(books)
    assert books.do(tournaments.settle).outcome == "empty"
    # The sysop may bring the deleted caller back, and then everything is theirs.
    assert [books.balances(number)["bank"] for number in (1, 2)] == [300, 300]
    assert books.system()["prizes"] == 0
    assert books.do(tournaments.champion) is None
    assert books.audit() == []


def test_the_sysop_calls_it_off_and_entries_go_back(books, held):
    call, _ = enter(books, 1)
    with pytest.raises(Refused, match="Please give a reason"):
        books.do(tournaments.call_off, " ", "Sysop")
    books.do(tournaments.call_off, "the rules were wrong.", "Sysop")
    assert books.balances(1)["bank"] == 300
    assert books.system()["prizes"] == 0
    assert in_english(books.do(waiting, 1)) == (
        "The tournament of 12 June was called off by Sysop: the rules were wrong.",
    )
    assert look(books, 2) is None, "until next week"
    with pytest.raises(Refused, match="No tournament runs just now"):
        books.do(tournaments.call_off, "again", "Sysop")
    call.close()
    assert books.audit() == []


def test_restored_books_pay_no_prize_and_seal_another_tournament(books, held):
    play(books, 1, 30)
    settled_copy = books.do(
        restored_books.settle_copy, restored_books.PriorBooks(), "Sysop", "they were put back"
    )
    assert any("Ended the tournament of 2026-06-12" in line for line in settled_copy.sentences())
    assert banks(books) == [300, 0, 0]
    assert books.system()["prizes"] == 0
    again = look(books, 2)
    assert (again.starts, again.put_in) == (held.starts, 900)
    assert books.audit() == []


def test_an_entry_counts_for_the_callers_own_limit(books, held):
    books.do(pause, 1, 2)
    call = books.call(1)
    with pytest.raises(OwnLimit, match="You've paused yourself"):
        call.post(tournaments.enter, held.seal, TERMS.entry)
    assert books.system()["prizes"] == 900


def test_a_paused_caller_cannot_enter_even_for_free(open_board):
    books = open_board(replace(TERMS, entry=0))
    seal = look(books).seal
    books.do(pause, 1, 2)
    with pytest.raises(OwnLimit, match="You've paused yourself"):
        books.call(1).post(tournaments.enter, seal, 0)


def test_an_entry_costs_at_most_the_agreed_amount(books, held):
    call = books.call(1)
    with pytest.raises(Refused, match="You can win minutes now"):
        call.post(tournaments.enter, held.seal, 0)
    assert books.system()["prizes"] == 900
    assert books.do(contests.entry_of, held.seal, 1) is None


def test_an_entry_is_a_loss_for_the_own_limit_until_it_is_refunded(books, held):
    books.do(limit_loss, 1, 6)
    call, _ = enter(books, 1)
    assert call.purse.stake_left == 60
    with pytest.raises(OwnLimit, match="lets you bet 1 minute more today"):
        call.bet(120)
    books.do(tournaments.call_off, "a mistake", "Sysop")
    call.bet(120)


def test_an_entry_comes_out_of_the_grant_and_takes_nothing_from_winnings(books, held):
    call, _ = enter(books, 1)
    call.win(60, 900)
    call.next_day()
    assert books.balances(1)["bank"] == 900


def test_an_entry_that_comes_back_on_its_day_is_not_banked_a_second_time(books, held):
    call, _ = enter(books, 1)
    call.win(60, 900)
    books.do(tournaments.call_off, "a wrong shoe", "Sysop")
    assert books.balances(1)["bank"] == 300
    call.next_day()
    assert books.balances(1)["bank"] == 900


def test_an_interrupted_settlement_pays_no_prize(books, held, monkeypatch):
    play(books, 1, 30)
    play(books, 2, 10)
    end(books)
    before = books.sql("SELECT count(*) FROM transfers")
    with monkeypatch.context() as patch:
        patch.setattr(tournaments, "_tell_places", broken)
        with pytest.raises(OSError, match="cut off"):
            books.do(tournaments.settle)
    assert books.sql("SELECT count(*) FROM transfers") == before
    assert books.do(tournaments.running) == held
    books.do(tournaments.settle)
    assert banks(books) == [1000, 500, 0]
    assert books.audit() == []


def broken(*_values):
    raise OSError("cut off")


def test_minutes_cut_by_an_event_cannot_pay_an_entry(books, held):
    books.wait_until(FRIDAY + timedelta(days=7, hours=8, minutes=57))
    call = books.call(1)
    with pytest.raises(NotEnough, match="you can use 3 minutes now"):
        call.post(tournaments.enter, held.seal, TERMS.entry)


def test_the_account_of_prizes_is_never_negative(books, held):
    account = books.do(transfers.prizes)
    stolen = ByHand("forfeit", "stolen")
    movement = transfers.Movement(account, transfers.FORFEIT, 901, stolen, None, None)
    with pytest.raises(NotEnough):
        books.do(transfers.transfer, [movement])


def test_a_board_without_a_bank_has_no_prize_and_no_entry(open_board):
    books = open_board(mode="none")
    held = look(books)
    assert (held.prizes, held.put_in, held.entry) == ((), 0, 0)
    play(books, 1, 0)
    end(books)
    assert books.do(tournaments.settle).outcome == "settled"
    assert in_english(books.do(waiting, 1)) == ("You won the tournament of 12 June, first of 1.",)


def test_where_another_program_keeps_the_bank_whole_minutes_go_there(open_board, folder):
    books = open_board(mode="external", thebank_ext=folder / "THEBANK.EXT")
    look(books)
    play(books, 1, 0)
    end(books)
    books.do(tournaments.settle)
    assert books.sql("SELECT minutes, source FROM outbox") == [(15, "Tournament")]
    assert banks(books) == [0, 0, 0]
    assert books.audit() == []


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("UPDATE contest_entries SET prize = 60 WHERE caller_id = 1", "was paid 60, and has"),
        ("UPDATE contest_entries SET prize_id = NULL, prize = 0", "no contest records it"),
        (
            "UPDATE contest_entries SET paid = 60 WHERE caller_id = 2",
            "differs from what contest",
        ),
        ("UPDATE tournaments SET put_in = 60", "differs from what contest"),
        ("UPDATE contest_entries SET place = 2 WHERE caller_id = 1", "stands at place 2, not 1"),
        ("UPDATE deal_tries SET cost = 900 WHERE caller_id = 1", "was paid"),
        ("UPDATE tournaments SET outcome = 'empty'", "It has winners, but was not settled."),
        ("UPDATE deals SET closed = NULL", "Its deal is open, but the tournament is settled."),
        ("UPDATE tournaments SET entry = 60", "Entry costs 60, but caller 1 paid 300."),
        ("UPDATE tournaments SET prizes = '[9000, 600, 300]'", "It promises 10500, but the prize"),
    ],
)
def test_the_audit_finds_wrong_entries_and_prizes(books, held, change, expected):
    play(books, 1, 30)
    play(books, 2, 10)
    if "promises" not in expected:  # which only a tournament that still runs does
        end(books)
        books.do(tournaments.settle)
    assert books.audit() == []
    books.sql(change)
    assert any(expected in line for line in books.audit())


def test_the_times_of_a_week_follow_the_clocks_of_the_board(folder):
    schedule = settings_for(folder, zone=ZoneInfo("Europe/Berlin"), events=()).schedule
    terms = TournamentTerms(weekday=6, hour=2, hours=4)  # in the gap of the last Sunday of March
    starts, ends = terms.latest(schedule, datetime(2026, 3, 30, tzinfo=UTC))
    assert (starts, ends) == (
        datetime(2026, 3, 29, 1, tzinfo=UTC),
        datetime(2026, 3, 29, 5, tzinfo=UTC),
    )
    assert terms.next_start(schedule, starts) == datetime(2026, 4, 5, 0, tzinfo=UTC)
    before = starts - timedelta(seconds=1)
    assert terms.latest(schedule, before)[0] == datetime(2026, 3, 22, 1, tzinfo=UTC)
    assert terms.next_start(schedule, before) == starts


def test_the_nightly_work_rates_open_tries_and_settles(books, held):
    play(books, 1, 30, cost=None)
    assert nightly(books).tournament is None
    end(books)
    assert nightly(books, weigh=None).tournament is None
    assert books.do(tournaments.running) == held
    done = nightly(books)
    assert "Settled the tournament of 2026-06-12." in done.sentences()
    assert banks(books) == [900, 0, 0]
    assert nightly(books).tournament is None


def nightly(books, weigh=lambda contest, acts: len(acts)):
    def work():
        return books.database.transaction(books.settings, books.now)

    def look():
        return books.database.reading(books.settings, books.now)

    return maintain(work, look, None, weigh)
