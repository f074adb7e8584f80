"""Awards are earned once, in the transaction of the deed, and agree with a recount."""

from __future__ import annotations

import pytest

from tests.timebank.books import GAME, act, lost, pushed, won
from tests.timebank.tables import Table
from timebank.callers import awards, callers, hand_totals
from timebank.callers.award_names import BANK, DEAL, DEPOSIT, WEEK, all_awards, name_of, wish_of
from timebank.callers.standings import NAMED_AS_LOSER
from timebank.calls import clock_mend
from timebank.keeping import deletion, maintain
from timebank.ledger import migrations
from timebank.wagers import contests, deals
from timebank.wagers.rounds import Move
from timebank.window import teller

pytestmark = pytest.mark.both_engines

DAY = 86_400
FIRST_WIN = {"hand", f"won {GAME}"}


@pytest.fixture
def ann(books):
    return books.call(books.caller("Ann"))


def earned(books, caller_id):
    return [each.word for each in books.do(awards.of_caller, caller_id)]


def has(books, caller_id):
    return set(earned(books, caller_id))


def play(call, *endings):
    for ending in endings:
        call.bet(60, settlement=ending)


def differing(books):
    return [str(each) for each in books.do(hand_totals.differing)]


def test_an_award_is_earned_once_with_hand_and_time_and_is_untold(books, ann):
    natural = won(60, 120)._replace(outcome="natural")
    play(ann, lost(60))
    books.wait(60)
    play(ann, natural)
    at = int(books.now.timestamp())
    query = "SELECT award, at, round_id FROM awards ORDER BY round_id, award"
    expected = [("hand", at - 60, 1), ("natural", at, 2), (f"won {GAME}", at, 2)]
    assert books.sql(query) == expected
    books.wait(60)
    play(ann, natural)
    assert books.sql(query) == expected
    who = ann.caller_id
    untold = books.do(awards.untold, [who, who + 1])
    assert untold == {who: ["hand", "natural", f"won {GAME}"]}
    books.do(awards.note_told, who, untold[who][:2])
    assert books.do(awards.untold, [who]) == {who: [f"won {GAME}"]}
    assert books.do(awards.untold, []) == {}
    assert differing(books) == []


def test_a_hand_that_is_taken_back_earns_nothing(books, ann):
    def fails(desk):
        act(desk, ann.id, 0, Move(ann.round_id, 1, {"action": "stay"}, 5), won(60, 60))
        raise RuntimeError("in the middle")

    ann.bet(60)
    with pytest.raises(RuntimeError):
        books.do(fails)
    assert earned(books, ann.caller_id) == []
    ann.act(won(60, 60))
    assert has(books, ann.caller_id) == FIRST_WIN


@pytest.mark.parametrize(
    ("hands", "award"),
    [
        ([won(60, 120)._replace(outcome="charlie")], "charlie"),
        ([won(60, 60)._replace(outcome="win win")], "split"),
        ([won(60, 240)], "fourfold"),
        ([won(60, 1800)], "half"),
        ([won(60, 60), pushed(60), *[won(60, 60)] * 4], "streak"),
        ([lost(60)] * 5 + [pushed(60), won(60, 60)], "comeback"),
    ],
)
def test_an_award_for_several_hands_is_earned_by_the_last(books, ann, hands, award):
    *before, last = hands
    play(ann, *before)
    assert award not in earned(books, ann.caller_id)
    play(ann, last)
    assert has(books, ann.caller_id) >= {"hand", award}
    assert differing(books) == []


def test_an_upgrade_gives_the_award_for_splits_won_under_release_1_0(books, ann):
    bob = books.call(books.caller("Bob"))
    late = bob.caller_id
    for call, outcomes in ((ann, ["win twenty-one"]), (bob, ["natural win", "win win"])):
        play(call, *(won(60, 60)._replace(outcome=each) for each in outcomes))
    books.sql("DELETE FROM awards WHERE award = 'split' AND caller_id = ?", ann.caller_id)
    books.sql("UPDATE awards SET round_id = 3, told = 7 WHERE award = 'split'")
    assert len(differing(books)) == 2
    books.do(lambda desk: migrations.STEPS[3](desk.connection))
    assert differing(books) == []
    assert "split" in books.do(awards.untold, [ann.caller_id])[ann.caller_id]
    assert "split" not in books.do(awards.untold, [late])[late], "he has seen it"


def test_a_hundred_hands_count_at_all_games_together(books, ann):
    play(ann, *[pushed(60)] * 3)
    books.sql("UPDATE results_ever SET hands = 97")
    ann.bet(60, game="faro", settlement=pushed(60))
    assert "hundred" not in earned(books, ann.caller_id)
    ann.bet(60, game="faro", settlement=pushed(60))
    assert has(books, ann.caller_id) == {"hand"}
    ann.bet(60, game="faro", settlement=pushed(60))
    assert has(books, ann.caller_id) == {"hand", "hundred"}
    # By the hands themselves there were six of them.
    assert differing(books) == [
        f"results_ever of {ann.caller_id}, {GAME}, second",
        f"award 'hundred' of caller {ann.caller_id}",
    ]


@pytest.mark.parametrize("at_once", [True, False], ids=["dealt", "played"])
def test_all_four_at_a_table_earn_its_award(books, at_once):
    table = Table(books, 4)
    ends = {seat: lost(60) for seat in table.calls}
    table.bet(dict.fromkeys((1, 2, 3), 60), {seat: ends[seat] for seat in (1, 2, 3)})
    who = [call.caller_id for call in table.calls.values()]
    assert not any("company" in earned(books, each) for each in who)
    table.bet(dict.fromkeys(table.calls, 60), ends if at_once else None, start=8)
    if not at_once:
        assert not any("company" in earned(books, each) for each in who)
        table.act(4, ends)
    assert all("company" in earned(books, each) for each in who)
    assert differing(books) == []


def test_a_wrong_award_is_found_and_corrected(books, ann):
    play(ann, won(60, 60), lost(60))
    right = "SELECT caller_id, award, at, round_id FROM awards ORDER BY award"
    rows = books.sql(right)
    books.sql("UPDATE awards SET round_id = 2 WHERE award = 'hand'")
    books.sql(f"DELETE FROM awards WHERE award = 'won {GAME}'")
    books.sql("INSERT INTO awards VALUES (?, 'thousand', 1, 1, NULL)", ann.caller_id)
    assert len(differing(books)) == 3
    assert maintain.count_results(lambda: work(books), lambda: work(books)) == 3
    assert books.sql(right) == rows
    assert maintain.count_results(lambda: work(books), lambda: work(books)) == 0


def work(books):
    return books.database.transaction(books.settings, books.now)


def test_a_deposit_and_a_perfect_deal_earn_awards(books, ann):
    ann.post(teller.deposit, 300)
    assert earned(books, ann.caller_id) == [DEPOSIT]
    seal = "00" * 32
    deal = books.do(deals.todays, lambda _day: (bytes(32), seal, {}))
    bob = books.caller("Bob")
    for caller_id, cost in ((ann.caller_id, 0), (bob, 40)):
        books.do(contests.begin, deal, caller_id)
        books.do(contests.act, deal, caller_id, (), "stay", 5)
        books.do(contests.weigh, seal, caller_id, cost)
    books.do(contests.weigh, seal, ann.caller_id, 0)
    assert DEAL not in earned(books, bob)
    assert has(books, ann.caller_id) == {DEPOSIT, DEAL}
    assert differing(books) == []


def test_winning_the_whole_bank_earns_an_award(books, ann):
    ann.sit_down()
    ann.coup(5_000_00, won(5_000_00, 999_999_00))
    assert BANK not in earned(books, ann.caller_id)
    ann.coup(1_00, won(1_00, 1_00))
    assert BANK in earned(books, ann.caller_id)


def test_holders_are_listed_latest_first_without_deleted_callers(books, ann):
    bob, cleo = books.caller("Bob"), books.caller("Cleo")
    for caller_id in (bob, ann.caller_id, cleo, bob):
        books.wait(60)
        books.do(awards.earn, caller_id, BANK)
    assert books.do(awards.holders, BANK, 12) == ["Cleo", "Ann", "Bob"]
    books.do(deletion.delete, cleo)
    assert books.do(awards.holders, BANK, 1) == ["Ann"]


def test_seven_days_in_a_row_earn_theirs_unless_a_wrong_clock_made_one(books):
    ann = books.caller("Ann")
    for _ in range(6):
        books.call(ann).close()
        books.wait(DAY)
    books.call(ann).close()
    assert earned(books, ann) == [WEEK]
    books.step(-40 * DAY)
    books.do(clock_mend.mend, "test")
    assert earned(books, ann) == []


def test_the_latest_award_is_public_but_comebacks_need_consent(books, ann):
    assert books.do(awards.latest) is None
    play(ann, *[lost(60)] * 5)
    books.wait(1)
    play(ann, won(60, 60))
    books.sql(f"DELETE FROM awards WHERE award = 'won {GAME}'")
    assert books.do(awards.latest) == ("Ann", "hand")
    books.do(callers.change_preferences, ann.caller_id, {NAMED_AS_LOSER: True})
    assert books.do(awards.latest) == ("Ann", "comeback")
    books.wait(DAY + 1)
    assert books.do(awards.latest) is None


def test_a_house_with_five_games_has_twenty_awards():
    found = all_awards(["black-jack-for-time", "baccarat", "unix-bj", "vegas", "another-game"])
    assert len(set(found)) == 20
    assert all(name_of(each) != each and wish_of(each) for each in found)
    assert name_of("won vegas") == "A win at Vegas"
