"""A caller's statement: its rows, and the balances of that time."""

from __future__ import annotations

import pytest

from timebank.ledger.schema import stamp
from timebank.ledger.transfers import balances
from timebank.reports.extracts import entries, extracts
from timebank.reports.ledger_pages import Sought, numbers_between
from timebank.reports.person import held_before
from timebank.reports.statements import statement


@pytest.fixture
def statement_of_ann(books):
    """Return Ann's statement, a minute used after each of three: (second, change, online)."""
    ann = books.caller("Ann")
    began, call = stamp(books.now), books.call(ann)
    for _ in range(3):
        books.wait(60)
        call.touch()

    def look():
        return books.database.reading(books.settings, books.now)

    def tell(since=None, until=None):
        bounds = [None if second is None else began + second for second in (since, until)]
        with look() as desk:
            first, end = numbers_between(desk, *bounds)
            opening = held_before(desk, balances(desk, ann), first)
        rows = extracts(look, Sought(callers=(ann,)), within=(first, end))
        followed = statement(entries(rows), ann, opening)
        return [(entry.at - began, entry.change, entry.after["online"]) for entry in followed]

    return tell


EVERYTHING = [(0, 3600, 3600), (60, -60, 3540), (120, -60, 3480), (180, -60, 3420)]


def test_a_statement_without_bounds_tells_everything(statement_of_ann):
    assert statement_of_ann() == EVERYTHING


def test_the_first_second_is_included_and_balances_count_all_earlier_rows(statement_of_ann):
    assert statement_of_ann(since=60) == EVERYTHING[1:]
    assert statement_of_ann(since=61) == EVERYTHING[2:]


def test_its_end_is_not_in_it(statement_of_ann):
    assert statement_of_ann(until=120) == EVERYTHING[:2]
    assert statement_of_ann(until=121) == EVERYTHING[:3]
