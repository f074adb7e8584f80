"""Leaves of the ledger: no row skipped or repeated in any search."""

from __future__ import annotations

from collections import Counter
from datetime import date, timedelta
from itertools import product

import pytest

from tests.timebank.by_hand import ByHand
from timebank.ledger import transfers
from timebank.ledger.schema import stamp
from timebank.ledger.transfers import Account, Movement
from timebank.reports import ledger_pages
from timebank.reports.extracts import chosen
from timebank.reports.ledger_pages import Leaf, Sought

DAYS, A_DAY = 6, 40


@pytest.fixture
def filled(books):
    """Create six days; on each Ann is granted a second 39 times, and Bob once, who gets 500 of
    hers.
    """
    callers = {}
    for name in ("Ann", "Bob"):
        number = books.caller(name)
        ((account,),) = books.sql(
            f"SELECT id FROM accounts WHERE caller_id = {number} AND kind = 'online'"
        )
        callers[name] = number, Account(account, "online", "second")
    books.whose = {name: number for name, (number, _) in callers.items()}
    ann, bob = callers["Ann"][1], callers["Bob"][1]
    given = Movement(transfers.ALLOTMENT, ann, 1, ByHand("grant", "A second"), None, None)
    more = Movement(transfers.ALLOTMENT, bob, 500, ByHand("gift", "Many"), None, None)
    for _ in range(DAYS):
        books.do(lambda desk: transfers.transfer(desk, [given] * (A_DAY // 2)))
        books.do(lambda desk: transfers.transfer(desk, [more]))
        books.do(lambda desk: transfers.transfer(desk, [given] * (A_DAY // 2 - 1)))
        books.wait_until(books.now + timedelta(days=1))
    return books


def all_leaves(books, sought: Sought, most: int = 7) -> list[Leaf]:
    leaves = [books.do(ledger_pages.leaf, sought, None, most)]
    while leaves[-1].before is not None:
        leaves.append(books.do(ledger_pages.leaf, sought, leaves[-1].before, most))
    return leaves


def numbers(leaves: list[Leaf]) -> list[int]:
    return [row.number for leaf in leaves for row in leaf.rows]


SOUGHT = list(product([None, "Ann", "Bob"], [{}, {"kinds": ("grant",)}, {"least": 2}]))


@pytest.mark.parametrize("stretch", [3, 50, 5000])
def test_every_transfer_that_is_sought_comes_once_and_in_order(filled, monkeypatch, stretch):
    monkeypatch.setattr(ledger_pages, "STRETCH", stretch)
    monkeypatch.setattr(ledger_pages, "OF_CALLERS", stretch)
    rows = filled.do(chosen, Sought())[::-1]
    assert len(rows) == DAYS * A_DAY
    for who, filters in SOUGHT:
        whose = filled.whose.get(who)
        sought = Sought(() if whose is None else (whose,), **filters)
        leaves = all_leaves(filled, sought)
        assert numbers(leaves) == [
            row.number
            for row in rows
            if whose in (None, row.target_caller_id)
            and row.kind in filters.get("kinds", (row.kind,))
            and row.amount >= filters.get("least", 0)
        ], (who, filters)
        in_order = [row.number for row in filled.do(chosen, sought)]
        assert in_order == numbers(leaves)[::-1], (who, filters)
        assert all(len(leaf.rows) <= 7 for leaf in leaves)
        assert all(len(leaf.rows) == 7 or leaf.is_cut for leaf in leaves[:-1])


def test_days_are_recognised(filled):
    first = filled.now.date() - timedelta(days=DAYS)

    def day(number: int | None) -> date | None:
        return None if number is None else first + timedelta(days=number)

    starts = filled.settings.schedule.day_starts
    for since, until in ((0, 5), (1, 1), (2, 3), (4, 9), (None, 0), (5, None)):
        leaves = all_leaves(filled, Sought(since=day(since), until=day(until)), 1000)
        rows = [row for leaf in leaves for row in leaf.rows]
        in_order = filled.do(chosen, Sought(since=day(since), until=day(until)))
        assert in_order == rows[::-1]
        days = range(since or 0, DAYS if until is None else min(DAYS, until + 1))
        assert len(rows) == A_DAY * len(days)
        assert stamp(starts(day(days[0]))) <= min(row.at for row in rows)
        assert max(row.at for row in rows) < stamp(starts(day(days[-1] + 1)))


@pytest.mark.parametrize(
    "sought", [Sought(), Sought(kinds=("gift",)), Sought(since=date(2026, 1, 1))]
)
def test_books_without_transfers_are_one_empty_leaf(books, sought):
    assert books.do(ledger_pages.leaf, sought) == Leaf([], None)
    assert books.do(chosen, sought) == []


def test_an_entry_is_given_whole(filled):
    row = filled.do(ledger_pages.leaf, Sought(kinds=("gift",)), None, 1).rows[0]
    assert [each.number for each in filled.do(ledger_pages.entry, row.entry)] == [row.number]
    before = filled.do(ledger_pages.entry, row.entry - A_DAY // 2)
    assert [each.entry for each in before] == [row.entry - A_DAY // 2] * (A_DAY // 2)
    assert filled.do(ledger_pages.entry, row.entry - 1) == []
    assert filled.do(ledger_pages.entry, 10**6) == []


@pytest.mark.parametrize("counted", [7, 100, 10_000])
def test_a_tally_counts_the_newest_transfers_and_says_down_to_which(filled, monkeypatch, counted):
    for name in ("COUNTED", "COUNTED_IN_WORDS"):
        monkeypatch.setattr(ledger_pages, name, counted)
    everything = filled.do(chosen, Sought())
    bob = filled.whose["Bob"]
    for callers, text in product([(), (bob,), (*filled.whose.values(), 99)], [None, "second"]):
        sought = Sought(callers, kinds=("gift", "grant"), text=text)
        mine = [row for row in everything if not callers or row.target_caller_id in callers]
        tally = filled.do(ledger_pages.tally, sought)
        newest = [row for row in mine if tally.first is None or row.number >= tally.first]
        assert tally.most == (counted // 2 if callers else counted)
        assert len(newest) == min(tally.most, len(mine)) or callers[1:], (callers, text)
        assert (len(newest) < len(mine)) == (tally.first is not None)
        passing = [row for row in newest if text is None or text in row.why.casefold()]
        assert tally.count == len(passing)
        assert tally.kinds == Counter(row.kind for row in passing)
        assert sum(each[1] for each in tally.sums.values()) == sum(row.amount for row in passing)
        around = [row for row in everything if row.number >= (tally.callers_first or 0)]
        assert tally.callers == Counter(
            row.target_caller_id for row in around if text is None or text in row.why.casefold()
        )


def test_a_search_for_an_amount_of_time_finds_no_play_money(filled):
    def pay(desk):
        mint = transfers.mint(desk, "usd-cent")
        purse = transfers.open_account(desk, "bankroll", "usd-cent", caller_id=filled.whose["Bob"])
        play = Movement(mint, purse, 400, ByHand("gift", "Play money"), None, None)
        transfers.transfer(desk, [play])

    filled.do(pay)
    assert filled.do(ledger_pages.tally, Sought(kinds=("gift",))).sums.keys() == {
        "second",
        "usd-cent",
    }
    for sought in (Sought(least=300), Sought(kinds=("gift",), up_to=500)):
        rows = filled.do(ledger_pages.leaf, sought).rows
        assert [row.unit for row in rows] == ["second"] * DAYS
        assert filled.do(ledger_pages.tally, sought).sums.keys() == {"second"}
