"""The ledger's filters: lists with counts, several at once, totals, and files of the same rows."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import AsyncIterator
from contextlib import closing
from datetime import date, timedelta
from pathlib import Path
from random import Random
from urllib.parse import urlencode

import pytest

from tests.door.desk.pages.test_callers import cells, enter, follow
from tests.door.desk.pages.test_pages import Answer, Browser, pages_of, shown
from tests.door.playing import Table, hand
from timebank.calls.calls import open_calls
from timebank.ledger.schema import instant
from timebank.ledger.transfers import Extract
from timebank.reports import ledger_pages
from timebank.reports.extracts import chosen
from timebank.reports.statements import amount
from timebank.window import corrections, teller

NAMES, BOB, CLEO = ("Bob", "Cleo"), 3, 4
WORDS = ("a gift", "a mistake")


@pytest.fixture
async def kept(ada: Table) -> AsyncIterator[tuple[Table, Browser]]:
    """Keep books of four days with hands, corrections, a loan and minutes sent."""
    board = ada.board
    board.enter("Sysop")
    enter(board, *NAMES)
    with board.books() as desk:
        (call,) = open_calls(desk)
        desk.connection.exec_driver_sql("UPDATE callers SET created = created - 864000")
        teller.borrow(desk, call.call_id, 0, 600)
        teller.deposit(desk, call.call_id, 0, 1200)
    await ada.bets(1, hand("stay", ends="win"))
    await ada.stands()
    await ada.bets(2, hand("hit", ends="bust"))
    await ada.stands()
    for day in range(4):
        with board.books() as desk:
            for number in (BOB, CLEO):
                for minutes in range(1, 4):
                    why = WORDS[(day + minutes) % 2]
                    corrections.adjust(desk, number, 60 * minutes * (day + 1), why, "Wanda")
            corrections.sysop_transfer(desk, CLEO, BOB, 60, "a debt", "Wanda")
        board.clock.suspend(86400)
    with closing(pages_of(board)) as pages:
        browser = Browser(pages)
        await browser.logs_on()
        yield ada, browser


def rows_of(page: Answer) -> list[tuple[str, ...]]:
    names = ("Number", "Entry", "When", "From", "To", "Amount", "Why")
    rows = zip(*(cells(page, name) for name in names), strict=True)
    return [(*row[:-1], re.sub(r" hand \d+$", "", row[-1])) for row in rows]


def as_on_page(row: dict[str, str]) -> tuple[str, ...]:
    when = row["at"][:19].replace("T", " ")
    return row["number"], row["entry"], when, row["from"], row["to"], row["shown"], row["why"]


def random_filters(chance: Random, first: date) -> list[tuple[str, object]]:
    """Return some filters, as fields of an address."""

    def some(*values: object) -> list[object]:
        return chance.sample(values, chance.choice((0, 0, 1, 2)))

    fields = [("caller", f"#{each}") for each in some(1, 2, 3, 4)]
    fields += [
        ("kind", each) for each in some("adjust", "lost", "won", "loan", "transfer", "Stake")
    ]
    fields += [("game", each) for each in some("black-jack-for-time", "baccarat")]
    since, until = sorted(first + timedelta(days=chance.randrange(5)) for _ in range(2))
    fields += [("since", since)] if chance.random() < 0.3 else []
    fields += [("until", until)] if chance.random() < 0.3 else []
    fields += [("least", 2)] if chance.random() < 0.2 else []
    fields += [("up_to", 6)] if chance.random() < 0.2 else []
    return fields + ([("text", chance.choice(WORDS))] if chance.random() < 0.3 else [])


def is_sought(row: Extract, fields: list[tuple[str, object]], day: date) -> bool:
    """Decide as the sentence beside each field says."""
    of: dict[str, list[object]] = {}
    for name, value in fields:
        of.setdefault(name, []).append(value)
    owners = {f"#{row.source_caller_id}", f"#{row.target_caller_id}"}
    return (
        ("caller" not in of or not owners.isdisjoint(map(str, of["caller"])))
        and ("kind" not in of or row.kind in [str(each).casefold() for each in of["kind"]])
        and ("game" not in of or row.game in of["game"])
        and ("since" not in of or day >= of["since"][0])  # type: ignore[operator]
        and ("until" not in of or day <= of["until"][0])  # type: ignore[operator]
        and ("least" not in of or row.amount >= 120)
        and ("up_to" not in of or row.amount <= 360)
        and ("text" not in of or str(of["text"][0]) in row.why.casefold())
    )


@pytest.mark.parametrize("counted", [5, 10_000])
async def test_page_csv_and_beancount_have_the_same_rows_for_any_filters(
    kept: tuple[Table, Browser], monkeypatch: pytest.MonkeyPatch, counted: int
) -> None:
    ada, browser = kept
    board, chance = ada.board, Random(37)
    for name, size in (("ROWS", 4), ("STRETCH", 9), ("OF_CALLERS", 5), ("IN_WORDS", 3)):
        monkeypatch.setattr(ledger_pages, name, size)
    monkeypatch.setattr(ledger_pages.leaf, "__defaults__", (None, 4))
    for name in ("COUNTED", "COUNTED_IN_WORDS"):
        monkeypatch.setattr(ledger_pages, name, counted)
    schedule = board.config.bank.schedule
    with board.books() as desk:
        everything = chosen(desk, ledger_pages.Sought())
    days = {row.number: schedule.day_of(instant(row.at)) for row in everything}
    for _ in range(40):
        fields = random_filters(chance, days[1])
        asked = urlencode(fields)
        expected = [row for row in everything if is_sought(row, fields, days[row.number])]
        page = await browser.ask("GET", "/ledger", asked)
        first, rows = page, rows_of(page)
        while "Older" in page.text:
            page = await follow(browser, page, "Older")
            rows += rows_of(page)
        written = (await browser.ask("GET", "/ledger.csv", asked)).body
        assert written.startswith("number,"), (fields, written)
        in_file = [as_on_page(row) for row in csv.DictReader(io.StringIO(written))]
        assert [int(row[0]) for row in in_file] == [row.number for row in expected], fields
        assert rows == in_file[::-1], fields
        counts = (await browser.ask("GET", "/ledger.beancount", asked)).body
        assert re.findall(r"transfer: (\d+)", counts) == [row[0] for row in in_file], fields
        check_count(first, expected)
        for name, value, count, more in choices(first):
            others = [field for field in fields if field[0] != name]
            left = [*others, (name, value)]
            times = sum(is_sought(row, left, days[row.number]) for row in everything)
            assert count <= times if more else count == times, (fields, name, value)


def choices(page: Answer) -> list[tuple[str, str, int, str]]:
    """Return what the lists offer: filter, value, count, and whether it is counted in part."""
    pattern = r'name="(\w+)" value="([^"]+)"(?: checked)?>[^<]*<span class="count">([\d,]+)(\+?)<'
    found = re.findall(pattern, page.body)
    assert found
    return [(name, value, int(times.replace(",", "")), more) for name, value, times, more in found]


def check_count(page: Answer, expected: list[Extract]) -> None:
    """Check the count and the sums above the rows, which may be of the newest ones only."""
    (words,) = re.findall(r"(At least )?([\d,]+) transfers?\.", page.text)
    count = int(words[1].replace(",", ""))
    if words[0]:
        assert count <= len(expected)
        assert "a + stands for older ones" in page.text
        return
    assert count == len(expected)
    ways = r"(\S+) came to [a-z ]+, (\S+) went from [a-z ]+, (\S+) moved"
    sums = re.findall(ways, page.text)
    total = {amount(sum(row.amount for row in expected), "second")} if expected else set()
    assert {amount(sum(map(seconds, each)), "second") for each in sums} == total


def seconds(shown: str) -> int:
    hours, minutes, rest = map(int, shown.split(":"))
    return hours * 3600 + minutes * 60 + rest


async def test_lists_count_what_the_other_filters_leave(kept: tuple[Table, Browser]) -> None:
    _, browser = kept
    page = await browser.get("/ledger", kind="adjust")
    assert "24 transfers." in page.text
    assert re.search(r"Kind: adjust .*\badjust 24 .*\blost 1 .*\bwon 1 ", page.text)
    assert re.search(r"Caller: any Bob 12 Cleo 12 Another", page.text)
    both = await browser.ask("GET", "/ledger", urlencode([("kind", "adjust"), ("kind", "won")]))
    assert "25 transfers." in both.text
    assert 'value="adjust" checked' in both.body
    assert 'value="won" checked' in both.body
    of_bob = await browser.get("/ledger", caller="#3", kind="adjust")
    assert re.search(r"Caller: Bob Bob 12 Cleo 12 Another", of_bob.text)
    assert "1:00:00 came to these callers, 0:00:00 went from these callers" in of_bob.text
    bank = await browser.get("/ledger", caller="#3", of="bank")
    assert "1:04:00 came to bank, 0:00:00 went from bank, 0:00:00 moved otherwise" in bank.text


async def test_an_impossible_search_is_said_and_shows_no_rows(kept: tuple[Table, Browser]) -> None:
    _, browser = kept
    for fields, words in (
        ({"since": "2026-11-20", "until": "2026-11-19"}, "swap them"),
        ({"least": 5, "up_to": 4}, "swap them"),
        ({"kind": "grnt"}, "The books know no kind of transfer grnt. They know: "),
        ({"game": "craps"}, "The books know no game craps. They know: "),
        ({"caller": "Bobb"}, "There is no caller named Bobb. Do you mean Bob?"),
        ({"kinds": "grant"}, "The ledger has no field kinds."),
        ({"since": "2026-02-30"}, "The field since needs a day"),
    ):
        page = await browser.get("/ledger", **fields)
        assert (page.status, words in page.text) == (400, True), (fields, page.text)
        assert "No transfers" not in page.text
        assert "<form" in page.body
        for ending in ("csv", "beancount"):
            answer = await browser.get(f"/ledger.{ending}", **fields)
            assert (answer.status, words in answer.text) == (400, True), fields
    many = urlencode([("caller", f"#{number}") for number in range(1, 22)])
    assert (
        "The ledger shows 20 callers at once." in (await browser.ask("GET", "/ledger", many)).text
    )


async def test_an_address_shows_the_same_rows_later(kept: tuple[Table, Browser]) -> None:
    ada, browser = kept
    by_name = await browser.get("/ledger", caller="bob", kind="", text="")
    place = by_name.headers["location"]
    assert (by_name.status, place) == (303, "/ledger?caller=%233")
    page = await browser.ask("GET", *place.split("?"))
    lasting = await follow(browser, page, "Link to these rows")
    assert rows_of(lasting) == rows_of(page)
    with ada.board.books() as desk:
        corrections.adjust(desk, 3, 60, "later", "Wanda")
    assert rows_of(await follow(browser, page, "Link to these rows")) == rows_of(page)
    assert "later" in (await browser.ask("GET", *place.split("?"))).text


async def test_a_game_that_nobody_has_played_has_no_transfers(tmp_path: Path) -> None:
    async with shown(tmp_path) as (_, browser):
        await browser.logs_on()
        page = await browser.get("/ledger", game="Red Dog", kind="grant")
        assert (page.status, "No transfers." in page.text) == (200, True)
        assert "0 transfers." in page.text
