"""A caller's page by days: what callers ask a sysop, and the answer in two clicks from Today."""

from __future__ import annotations

import contextlib
import csv
import html
import io
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from click.testing import CliRunner

from door.config import config as settings
from door.config.config import Config
from door.desk.pages.forms import Parameters
from door.desk.pages.pages_server import Pages
from door.desk.pages.queries import ROWS, BooksReader
from door.desk.pages.spans import Span, span_in
from tests.clock import FakeClock
from tests.door.desk.pages.test_pages import Answer, Browser, pages_of
from tests.door.playing import Table, hand
from tests.timebank.books import Books, lost, won
from tests.world import BOARD, quick_hash
from timebank.callers import callers
from timebank.calls.calls import close_call, close_dead_calls
from timebank.cli.main import main as timebank
from timebank.keeping import deletion
from timebank.ledger import reasons, transfers
from timebank.ledger.schema import CALLER_ACCOUNTS
from timebank.ledger.transfers import Movement
from timebank.reports import statements
from timebank.window import corrections, teller

BERLIN = ZoneInfo("Europe/Berlin")
TOML = BOARD.replace("[board]\n", '[board]\ntime_zone = "Europe/Berlin"\n')
MINUTE = 60


@dataclass
class Story:
    """Two weeks of Ada, Bob and Nora in the books of a board that no server runs for."""

    books: Books
    config: Config
    ada: int = 0
    bob: int = 0

    def at(self, moment: str) -> None:
        """Wait until a local time of the board."""
        local = datetime.fromisoformat(moment).replace(tzinfo=BERLIN)
        self.books.wait_until(local.astimezone(UTC))


def board(folder: Path, moment: str) -> tuple[Config, Books]:
    """Lay the books of a board in Berlin, at a local time."""
    (folder / "sysop.toml").write_text(TOML, encoding="utf-8")
    config = settings.load(folder / "sysop.toml")
    config.board.data.mkdir(parents=True, exist_ok=True)
    begun = datetime.fromisoformat(moment).replace(tzinfo=BERLIN)
    books = Books(folder, begun.astimezone(UTC), database=config.database)
    books.settings = config.bank
    return config, books


def told(folder: Path) -> Story:
    config, books = board(folder, "2026-11-01T12:00")
    story = Story(books, config)
    books.do(lambda desk: callers.register_kept(desk, "Sysop", quick_hash(), powers=True))
    story.ada, story.bob = books.caller("Ada"), books.caller("Bob")
    for tell in (_a_loss, _a_cut_win, _a_gift, _a_crash, _a_loan, _a_correction, _prizes):
        tell(story)
    story.at("2026-11-19T12:00")
    books.caller("Nora")
    _an_early_end(story)
    return story


def _a_loss(story: Story) -> None:
    """Lose 14 minutes at a table that is dealt from no shoe, after a win of one."""
    story.at("2026-11-14T20:00")
    call = story.books.call(story.ada)
    story.books.wait(30)
    call.bet(5 * MINUTE)
    story.books.wait(3)
    call.act(stake=5 * MINUTE, kind="double")
    call.act(lost(10 * MINUTE))
    call.sees()
    call.lose(4 * MINUTE)
    call.win(MINUTE, MINUTE)
    call.close()


def _a_cut_win(story: Story) -> None:
    story.at("2026-11-15T02:50")
    call = story.books.call(story.ada)
    call.bet(5 * MINUTE)
    call.act(won(5 * MINUTE, 10 * MINUTE))
    call.sees()
    call.close()


def _a_gift(story: Story) -> None:
    story.at("2026-11-15T18:00")
    story.books.do(corrections.adjust, story.bob, 600, "a welcome", "Wanda")
    call = story.books.call(story.bob)
    call.post(teller.transfer, story.ada, 5 * MINUTE, "for the hint")
    call.close()


def _a_crash(story: Story) -> None:
    story.at("2026-11-16T04:00")
    call = story.books.call(story.ada)
    story.books.wait(120)
    call.touch()
    call.renew()
    story.books.wait(600)
    story.books.server_dies()
    assert story.books.do(close_dead_calls) == [call.id]
    story.books.server_starts()


def _a_loan(story: Story) -> None:
    story.at("2026-11-17T20:00")
    call = story.books.call(story.ada)
    call.post(teller.borrow, 15 * MINUTE)
    call.close()
    story.at("2026-11-18T20:00")
    story.books.call(story.ada).close()


def _a_correction(story: Story) -> None:
    story.books.do(corrections.adjust, story.ada, -120, "paid twice", "Wanda")


def _prizes(story: Story) -> None:
    """Pay a prize and the stakes of a duel, as tournaments and duels do."""

    def pay(desk):
        held = transfers.balances(desk, story.ada)
        number = next(each.account_id for each in held if each.kind == "bank")
        bank = transfers.Account(number, "bank", "second")
        house, pot = transfers.house(desk, "baccarat", "second"), transfers.prizes(desk)
        stakes, names = transfers.duel_stakes(desk), ("Bob", "Ada")
        rows = (
            (house, pot, 600, reasons.PutUp("2026-11-17")),
            (pot, bank, 600, reasons.PrizeWon("2026-11-17", 1)),
            (bank, stakes, 300, reasons.Staked(*names)),
            (stakes, bank, 300, reasons.DuelWon(*names)),
        )
        transfers.transfer(desk, [Movement(*row, None, None) for row in rows])

    story.at("2026-11-18T21:00")
    story.books.do(pay)


def _an_early_end(story: Story) -> None:
    story.at("2026-11-20T02:30")
    call = story.books.call(story.ada)
    story.at("2026-11-20T03:00")
    call.post(close_call, "Mail hour")
    story.at("2026-11-20T21:00")


@pytest.fixture(scope="module")
def story(tmp_path_factory) -> Story:
    return told(tmp_path_factory.mktemp("story"))


@asynccontextmanager
async def sysop(story: Story) -> AsyncIterator[Browser]:
    clock = FakeClock(story.books.now)
    reading = BooksReader(story.config, story.books.database, clock)
    with contextlib.closing(Pages(reading, clock)) as pages:
        browser = Browser(pages)
        await browser.logs_on()
        yield browser


async def follow(browser: Browser, address: str) -> Answer:
    answer = await browser.ask("GET", *address.partition("#")[0].split("?"))
    if answer.status == 303:
        return await follow(browser, answer.headers["location"])
    assert answer.status == 200, answer.text
    return answer


def link(page: Answer, words: str) -> str:
    """Return the address of the first link that has the words."""
    for address, said in re.findall(r'<a [^>]*?href="([^"]+)"[^>]*>(.*?)</a>', page.body, re.S):
        if words in " ".join(html.unescape(re.sub(r"<[^>]+>", " ", said)).split()):
            return html.unescape(address)
    raise AssertionError(f"no link {words!r} in {page.text}")


# A caller's question, the caller and the day that the sysop types on Today, the link that is
# clicked next, if any, and the answer.
QUESTIONS = [
    (
        "Where did my 14 minutes go?",
        ("Ada", "2026-11-14"),
        "-14:00 lost",
        r"20:00:33 Ada stake house 0:04:00 .* 20:00:33 Ada stake house 0:10:00 ",
    ),
    (
        "Why was my win cut?",
        ("Ada", "2026-11-15"),
        None,
        r"Won 10:00 at Black Jack For Time, \d+:\d\d of it banked because of Mail hour at 03:00",
    ),
    (
        "Who sent me this?",
        ("Ada", "2026-11-15"),
        None,
        r'Received 5:00 from Bob: "for the hint" 0:05:00 ',
    ),
    (
        "Did the house cheat me on the 14th?",
        ("Ada", "2026-11-14"),
        None,
        r"Film and proof of hand 1 .* Luck .* Black Jack For Time 3 0:15:00 -0:13:00 ",
    ),
    (
        "Why can't I send?",
        ("Nora", ""),
        None,
        r"Nora can send and borrow from 2026-11-\d\d on\.",
    ),
    (
        "What did the crash in the night do to me?",
        ("Ada", "2026-11-16"),
        None,
        r"2:00 used.* 0:02:00 lease ran out\. The lease was last renewed 120 seconds after log-on",
    ),
    (
        "When was my loan due, and who paid it?",
        ("Ada", "2026-11-18"),
        None,
        r"(?i)granted 1:00:00 for 18 November, 15:00 of it paid back on the loan",
    ),
    (
        "Who changed my account, and why?",
        ("Ada", "2026-11-18"),
        None,
        r"2 minutes taken out by Wanda: paid twice -0:02:00 ",
    ),
    (
        "What did I get for the tournament and the duel?",
        ("Ada", "2026-11-18"),
        "prizes of tournaments",
        r"10 minutes won in the tournament of 17 November, place 1",
    ),
    (
        "Why did my time end early last night?",
        ("Ada", "2026-11-20"),
        None,
        r"30:00 of it held until after Mail hour at 03:00.*Mail hour",
    ),
]


@pytest.mark.parametrize(
    ("question", "typed", "clicked", "answer"), QUESTIONS, ids=[each[0] for each in QUESTIONS]
)
async def test_a_question_is_answered_in_two_clicks_from_today(
    story: Story, question: str, typed: tuple[str, str], clicked: str | None, answer: str
) -> None:
    async with sysop(story) as browser:
        today = await browser.get("/")
        assert re.search(
            r'<form [^>]*action="/callers">\s*<label>Caller <input name="name"', today.body
        )
        name, day = typed
        page = await follow(browser, f"/callers?name={name}&day={day}")
        if clicked is not None:
            page = await follow(browser, link(page, clicked))
        assert re.search(answer, page.text), page.text


def reading(story: Story) -> BooksReader:
    return BooksReader(story.config, story.books.database, FakeClock(story.books.now))


def test_the_page_and_the_command_tell_the_same(story: Story) -> None:
    """Each line of the page ends as the last of its entries does, and they are all there."""
    read = reading(story)
    for day in (*range(13, 21), None):
        since, until = (date(2026, 11, day or 1), date(2026, 11, day or 30))
        words = [f"--since={since}", f"--until={until}", "Ada", "--format", "json"]
        words += ["--config", str(story.config.path)]
        ran = CliRunner().invoke(timebank, ["statement", *words])
        told = [each for each in json.loads(ran.output) if each["unit"] == "second"]
        one = read.caller(story.ada, (since, until), None)
        assert one is not None
        lines = one.lines["second"]
        ends = {each["entry"]: each for each in told}
        assert {row.entry for line in lines for row in line.rows} == set(ends)
        together = one.totals["together"].opening
        for line in lines:
            end = ends[line.rows[-1].entry]
            together += line.change
            assert (end["together"], end["shown"]) == (
                line.balance,
                statements.amount(together, "second"),
            )
            assert {kind: end[kind] for kind in line.after} == line.after
            if len({row.entry for row in line.rows}) == 1 and line.hand is None:
                assert (end["what"], end["change"]) == (line.what, line.change)
        assert together == one.totals["together"].closing
        parts = [one.totals[kind] for kind in CALLER_ACCOUNTS if kind in one.totals]
        for side in ("opening", "closing"):
            assert sum(getattr(each, side) for each in parts) == getattr(
                one.totals["together"], side
            )


def shown_seconds(words: str) -> int:
    """Read `0:16`, `1:00:00` or `-14:00` as seconds."""
    seconds = 0
    for part in words.strip().lstrip("+-").split(":"):
        seconds = 60 * seconds + int(part)
    return -seconds if words.strip().startswith("-") else seconds


async def test_the_ledger_says_who_sent_whom_and_what_odd_kinds_are(story: Story) -> None:
    async with sysop(story) as browser:
        page = await follow(browser, "/ledger?kind=transfer")
        assert "Bob > Ada bank bank 0:05:00" in page.text
        week = await follow(browser, link(page, "Week"))
        assert "Bob > Ada" in week.text
        assert re.search(r'name="since" type="date" value="2026-11-09"', week.body)
        assert re.search(r'name="until" type="date" value="2026-11-15"', week.body)
        assert "Week" not in (await follow(browser, "/ledger?day=2027-01-01")).text
        kinds = (await follow(browser, "/ledger")).text
        for words in ("clamp (won past an event)", "put up (prizes, by the house)"):
            assert words in kinds
        one = await follow(browser, "/entry/1")
        assert "1 transfer, committed at 2026-11-" in one.text
        many = [n for n in range(2, 40) if "together" in (await browser.get(f"/entry/{n}")).text]
        assert many


async def test_play_money_says_which_game_it_was_won_at(tmp_path: Path) -> None:
    config, books = board(tmp_path, "2026-11-01T12:00")
    story = Story(books, config)
    books.do(lambda desk: callers.register_kept(desk, "Sysop", quick_hash(), powers=True))
    story.ada = books.caller("Ada")
    call = books.call(story.ada)
    call.sit_down()
    call.coup(1000)
    call.act(won(1000, 2000))
    call.sees()
    call.hand_of_bj()
    call.act(won(200, 200))
    call.sees()
    call.close()
    async with sysop(story) as browser:
        page = await follow(browser, f"/caller/{story.ada}")
        assert "+$20 won from the casino , +$2 won at UNIX bj = $100,022 left" in page.text
        rows = await follow(browser, link(page, "UNIX bj"))
        assert "1 transfer." in rows.text


async def test_the_future_is_not_answered(story: Story) -> None:
    async with sysop(story) as browser:
        page = await follow(browser, "/balances?at=2999-01-01T00:00:00")
        assert "What every account held at 2026-11-20 21:00:00 CET" in page.text
        for place in (f"/caller/{story.ada}", "/plots"):
            for days in ("day=2026-11-21", "since=2026-12-01&until=2026-12-31"):
                page = await follow(browser, f"{place}?{days}")
                assert "These days are still to come." in page.text
                assert "Together:" not in page.text
            page = await follow(browser, f"{place}?since=2026-11-20&until=2026-11-30")
            assert "still to come" not in page.text


@pytest.mark.parametrize("day", [14, 17, 18, 20])
async def test_the_parts_on_a_page_add_up_to_together(story: Story, day: int) -> None:
    """Also while an event holds minutes, on the 20th, and with a loan, on the 17th."""
    async with sysop(story) as browser:
        page = await follow(browser, f"/caller/{story.ada}?day=2026-11-{day}")
        total = r'<p class="total"><b>(\w+):</b>.*?<strong>([\d:]+) (left|owed)</strong>'
        ends = {
            name: shown_seconds(words) * (1 if way == "left" else -1)
            for name, words, way in re.findall(total, page.body, re.S)
        }
        together = ends.pop("Together")
        assert sum(ends.values()) == together, page.text
        assert ("Held" in ends, "Loan" in ends) == (day == 20, day in (17, 18))
        table = page.body[page.body.index("<h2>Statement</h2>") :]
        heads = re.findall(r"<th[^>]*>([^<]*)</th>", table[: table.index("</thead>")])
        rows = re.findall(r"<tr role=\"row\"><td.*?</tr>", table[: table.index("</table>")], re.S)
        assert rows
        for row in rows:
            cells = re.findall(r"<td[^>]*>(.*?)</td>", row, re.S)
            parts = [shown_seconds(cells[each]) for each in range(3, heads.index("Together"))]
            assert sum(parts) == shown_seconds(cells[heads.index("Together")])
        assert "Bank" in heads
        # On the 18th the first line pays the loan back.
        assert ("Held" in heads, "Loan" in heads) == (day == 20, day == 17)


async def test_each_term_leads_to_its_rows_and_csv(story: Story) -> None:
    """Of all days at once, for each account that has a sentence."""
    async with sysop(story) as browser:
        page = await follow(browser, f"/caller/{story.ada}?since=2026-11-01&until=2026-11-30")
        sums = "".join(re.findall(r'<p class="total">.*?</p>', page.body, re.S))
        terms = re.findall(r'<a href="([^"]+)">([^<]+)</a>', sums)
        assert len(terms) > 20
        for address, words in terms:
            shown = re.fullmatch(r"[+-]?(?:(\d+):)?(\d+):(\d\d) .*", words.strip())
            assert shown is not None, words
            seconds = sum(
                int(part or 0) * 60**power for power, part in enumerate(shown.groups()[::-1])
            )
            csv_of = html.unescape(address).replace("/ledger?", "/ledger.csv?")
            rows = list(csv.DictReader(io.StringIO((await follow(browser, csv_of)).body)))
            assert sum(int(row["amount"]) for row in rows) == seconds, words


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("day=yesterday", "The field day needs a day"),
        ("since=2026-11-15&until=2026-11-14", "The last day is before the first one: swap them."),
        ("day=2026-11-14&since=2026-11-13", "Ask for a day, or for the days since one and until"),
        ("until=tomorrow", "The field until needs a day"),
    ],
)
async def test_days_that_cannot_be_are_said(story: Story, asked: str, words: str) -> None:
    async with sysop(story) as browser:
        for page in (f"/caller/{story.ada}", "/ledger", "/ledger.csv"):
            answer = await browser.ask("GET", page, asked)
            assert (answer.status, words in answer.text) == (400, True), (page, answer.text)


async def test_accounts_that_cannot_be_are_said(story: Story) -> None:
    async with sysop(story) as browser:
        for query, words in (
            (
                {"caller": "Ada", "of": "purse"},
                "The field of needs one caller, and knows together,",
            ),
            ({"of": "bank"}, "The field of needs one caller, and knows"),
            ({"source": "hose"}, "The field source knows adjustment, allotment, bank,"),
            ({"target": "houses"}, "The field target knows adjustment, allotment, bank,"),
        ):
            answer = await browser.get("/ledger", **query)
            assert (answer.status, words in answer.text) == (400, True), answer.text


def days(since: str, until: str) -> Span:
    return Span(date.fromisoformat(since), date.fromisoformat(until))


DAY = days("2026-11-14", "2026-11-14")
WEEK, MONTH = Span.around(DAY.since, "week"), Span.around(date(2024, 1, 31), "month")
YEAR = Span.around(date(2024, 12, 31), "year")
THREE = days("2026-11-14", "2026-11-16")


@pytest.mark.parametrize(
    ("span", "by", "before", "after"),
    [
        (DAY, "day", days("2026-11-13", "2026-11-13"), days("2026-11-15", "2026-11-15")),
        (WEEK, "week", days("2026-11-02", "2026-11-08"), days("2026-11-16", "2026-11-22")),
        (MONTH, "month", days("2023-12-01", "2023-12-31"), days("2024-02-01", "2024-02-29")),
        (YEAR, "year", days("2023-01-01", "2023-12-31"), days("2025-01-01", "2025-12-31")),
        (THREE, None, days("2026-11-11", "2026-11-13"), days("2026-11-17", "2026-11-19")),
    ],
)
def test_spans_follow_each_other(span: Span, by: str | None, before: Span, after: Span) -> None:
    assert (span.by, span.next(-1), span.next(1)) == (by, before, after)
    assert (span.next(-1).next(1), span.next(1).next(-1)) == (span, span)
    assert span_in(Parameters(span.fields)) == (span.since, span.until)


async def test_days_are_turned_by_links_and_each_keeps_its_address(story: Story) -> None:
    async with sysop(story) as browser:
        last = await follow(browser, "/callers?name=ada")
        assert "Friday 20 November 2026" in last.text, "the day of the last entry"
        assert 'rel="next"' not in last.body, "it is today"
        before = re.findall(r'rel="prev" [^>]*href="([^"]+)"', last.body)
        assert before == [f"/caller/{story.ada}?day=2026-11-19"]
        empty = await follow(browser, before[0])
        assert "44:59 before, nothing moved = 44:59 left" in empty.text
        week = await follow(browser, link(empty, "Week"))
        assert "16 November 2026 to 22 November 2026" in week.text
        assert link(week, "Week before").endswith("?since=2026-11-09&until=2026-11-15")
        first = await follow(browser, link(week, "All"))
        assert "1 November 2026 to 20 November 2026" in first.text
        assert 'rel="prev"' not in first.body, "nothing was before"


def test_a_day_of_25_hours_has_all_of_its_entries(tmp_path: Path) -> None:
    """The clocks of Berlin went back on 25 October 2026, in its third hour."""
    config, books = board(tmp_path, "2026-10-24T23:59:59")
    ada = books.caller("Ada")
    for hours in range(27):
        books.do(corrections.adjust, ada, 60 * (hours + 1), "an hour later", "Wanda")
        books.wait(1 if not hours else 3600)
    read = BooksReader(config, books.database, FakeClock(books.now))
    day = date(2026, 10, 25)
    one = read.caller(ada, (day, day), None)
    assert one is not None
    total = one.totals["together"]
    assert (total.opening, len(one.lines["second"])) == (60, 25)
    assert total.closing == 60 * sum(range(1, 27))


def test_a_long_statement_comes_page_by_page(tmp_path: Path) -> None:
    config, books = board(tmp_path, "2026-11-14T12:00:00")
    ada = books.caller("Ada")
    for minutes in range(ROWS + 50):
        books.do(corrections.adjust, ada, 60, f"number {minutes}", "Wanda")
    read = BooksReader(config, books.database, FakeClock(books.now))
    pages, before = [], None
    while not pages or before is not None:
        one = read.caller(ada, (None, None), before)
        assert one is not None
        assert one.totals["bank"].closing == 60 * (ROWS + 50)
        pages.append(one.lines["second"])
        before = one.before
    assert len(pages) == 2
    lines = [line for page in pages[::-1] for line in page]
    assert [line.after["bank"] for line in lines] == [60 * (n + 1) for n in range(ROWS + 50)]


async def test_a_hand_opens_to_its_transfers_film_and_proof(ada: Table) -> None:
    await ada.bets(1, hand("double", ends="win"))
    await ada.does("double")
    ada.board.enter("Sysop")
    with contextlib.closing(pages_of(ada.board)) as pages:
        browser = Browser(pages)
        await browser.logs_on()
        page = await follow(browser, "/callers?name=Ada")
        (line,) = re.findall(r"<details><summary>(Won.*?)</details>", page.body, re.S)
        assert line.count("<li>") == 4, "two bets, one back with another, and what was won"
        for words in ("Film", "proof"):
            shown = await follow(browser, link(Answer(200, {}, line), words))
            assert 'id="check"' in shown.body


async def test_a_name_that_is_like_others_keeps_the_day(story: Story) -> None:
    async with sysop(story) as browser:
        like = await follow(browser, "/callers?name=Aad&day=2026-11-14")
        page = await follow(browser, link(like, "Ada"))
        assert "Saturday 14 November 2026" in page.text


async def test_a_deleted_caller_still_has_days(tmp_path: Path) -> None:
    config, books = board(tmp_path, "2026-11-14T12:00:00")
    story = Story(books, config)
    books.do(lambda desk: callers.register_kept(desk, "Sysop", quick_hash(), powers=True))
    story.bob = books.caller("Bob")
    books.do(corrections.adjust, story.bob, 600, "a welcome", "Wanda")
    books.do(deletion.delete, story.bob)
    books.do(deletion.remove, story.bob)
    async with sysop(story) as browser:
        page = await follow(browser, f"/caller/{story.bob}")
        assert "10:00 added in corrections , -10:00 forfeited = 0:00 left" in page.text
        assert "Was deleted." in page.text
        assert f"/caller/{story.bob}/acts" not in page.body
        assert "Bob was deleted" in (await follow(browser, link(page, "-10:00 forfeited"))).text
