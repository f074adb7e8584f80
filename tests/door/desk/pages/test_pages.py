"""The books as pages: access, content, and no injection by a form."""

from __future__ import annotations

import asyncio
import contextlib
import csv
import html
import io
import json
import os
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest import mock
from urllib.parse import urlencode

import beancount.loader
import pytest
from click.testing import CliRunner

from door import setup
from door.desk.pages import pages_server
from door.desk.pages.pages_server import Pages
from door.desk.pages.queries import BooksReader
from door.desk.pages.rendering import PageRenderer
from door.desk.pages.sessions import IDLE_SECONDS, LONGEST_SECONDS, MOST, Sessions
from door.errors import CannotListen
from door.games.engine import shuffle
from tests.door.playing import Table, hand
from tests.door.shell import Shell
from tests.world import BOARD, PASSWORD, World, logged_on, world
from timebank.callers import callers, sysop_log
from timebank.callers.notices import add_notice
from timebank.calls.calls import open_calls
from timebank.cli.main import main as timebank
from timebank.errors import BooksUnavailable
from timebank.keeping import last_runs
from timebank.wagers import duels
from timebank.window import corrections as sysop
from timebank.window import teller

TOML = f"{BOARD}\n[defence]\nallow = []\nwrong_passwords = 2\n"
GAME = "black-jack-for-time"
ADA = 2  # her number; the sysop has 1
FILTERS = Path(setup.__file__).parent / "files/fail2ban/filter.d"
RUDE = "<script>alert(1)</script> & \"'"


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: str

    @property
    def text(self) -> str:
        """The visible text, without tags."""
        seen = re.sub(r"<[^>]+>", " ", re.sub(r"</?code>", "", self.body))
        return " ".join(html.unescape(seen).split())


@dataclass
class Browser:
    """Asks a page as a browser does, and keeps its cookie."""

    pages: Pages
    address: str = "192.0.2.7"
    cookies: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.app = self.pages.app()

    async def get(self, path: str, **query: object) -> Answer:
        return await self.ask("GET", path, query=urlencode(query))

    async def post(self, path: str, form: dict[str, str], **headers: str) -> Answer:
        kind = {"content-type": "application/x-www-form-urlencoded"}
        return await self.ask("POST", path, body=urlencode(form).encode(), **kind, **headers)

    async def ask(
        self, method: str, path: str, query: str = "", body: bytes = b"", **headers: str
    ) -> Answer:
        all_headers = {"host": "books.example", **headers}
        if self.cookies:
            all_headers["cookie"] = "; ".join(
                f"{name}={value}" for name, value in self.cookies.items()
            )
        scope: dict[str, Any] = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "root_path": "",
            "query_string": query.encode(),
            "headers": [(name.encode(), value.encode()) for name, value in all_headers.items()],
            "client": (self.address, 40000),
            "server": ("books.example", 80),
        }
        sent: list[dict[str, Any]] = []

        asked = iter([{"type": "http.request", "body": body, "more_body": False}])

        async def receive() -> dict[str, Any]:
            if (request := next(asked, None)) is not None:
                return request
            await asyncio.Event().wait()  # the browser stays until it has its answer
            return {}

        async def send(message: Any) -> None:
            sent.append(message)

        await self.app(scope, receive, send)
        start = sent[0]
        found = {name.decode(): value.decode() for name, value in start["headers"]}
        for header, cookie in start["headers"]:
            if header == b"set-cookie":
                name, _, rest = cookie.decode().partition("=")
                self.cookies[name] = rest.partition(";")[0].strip('"')
        whole = b"".join(message.get("body", b"") for message in sent[1:])
        return Answer(start["status"], found, whole.decode())

    async def logs_on(self, name: str = "Sysop", word: str = PASSWORD, **headers: str) -> Answer:
        return await self.post("/log-on", {"name": name, "word": word}, **headers)


def pages_of(board: World, *, is_safe: bool = False) -> Pages:
    reading = BooksReader(board.config, board.database, board.clock)
    return Pages(reading, board.clock, is_safe=is_safe)


@asynccontextmanager
async def shown(
    folder: Path, *, is_safe: bool = False, more: str = "", toml: str = TOML
) -> AsyncIterator[tuple[World, Browser]]:
    async with world(folder, toml=toml + more) as board:
        board.enter("Sysop")
        board.enter("Ada", saved=3600)
        pages = pages_of(board, is_safe=is_safe)
        try:
            yield board, Browser(pages)
        finally:
            pages.close()


PLACES = ["/", "/ledger", "/ledger.csv", "/ledger.beancount", "/entry/1", "/callers", "/caller/1"]
PLACES += ["/plots", "/balances", "/hand/1", "/hand/1.cast"]


async def test_strangers_see_a_form_and_nothing_else(tmp_path: Path) -> None:
    async with shown(tmp_path) as (_, browser):
        for place in PLACES:
            answer = await browser.get(place)
            location = "/log-on" if place == "/" else f"/log-on?{urlencode({'next': place})}"
            assert (answer.status, answer.headers["location"]) == (303, location), place
        browser.cookies = {"session": "made up"}
        assert (await browser.get("/")).status == 303
        assert "Your name on the board" in (await browser.get("/log-on")).text
        assert (await browser.get("/nowhere")).status == 404
        assert (await browser.get("/static/pages.css")).status == 200
        assert (await browser.get("/static/../app.py")).status == 404


async def test_no_answer_goes_without_its_headers(tmp_path: Path) -> None:
    async with shown(tmp_path) as (_, browser):
        for place in (*PLACES, "/log-on", "/nowhere", "/static/pages.css"):
            headers = (await browser.get(place)).headers
            assert headers["content-security-policy"].startswith("default-src 'none';"), place
            assert headers["x-content-type-options"] == "nosniff"
            assert headers["cache-control"] == "no-store"
            assert headers["referrer-policy"] == "same-origin"


async def test_a_sysop_can_log_on_and_off(tmp_path: Path) -> None:
    async with shown(tmp_path, is_safe=True) as (_, browser):
        answer = await browser.logs_on("sysop", origin="https://books.example")
        assert (answer.status, answer.headers["location"]) == (303, "/")
        cookie = answer.headers["set-cookie"].casefold()
        assert all(word in cookie for word in ("httponly", "samesite=strict", "secure"))
        today = await browser.get("/")
        assert today.status == 200
        (form,) = re.findall(r'name="form" value="([^"]+)"', today.body)
        cookies = dict(browser.cookies)
        assert (await browser.post("/log-off", {"form": form})).status == 303
        browser.cookies = cookies
        assert (await browser.get("/")).status == 303


async def test_a_log_on_leads_to_the_page_that_was_asked_for(tmp_path: Path) -> None:
    async with shown(tmp_path) as (_, browser):
        asked = await browser.get("/ledger", text='a & "b"', kind="won")
        form = await browser.ask("GET", *asked.headers["location"].split("?"))
        (there,) = re.findall(r'name="next" value="([^"]*)"', form.body)
        typed = {"name": "Sysop", "word": "guessed", "next": html.unescape(there)}
        again = await browser.post("/log-on", typed)
        assert f'name="next" value="{there}"' in again.body, "also after a wrong password"
        answer = await browser.post("/log-on", {**typed, "word": PASSWORD})
        assert answer.headers["location"] == "/ledger?text=a+%26+%22b%22&kind=won"
        for other in (
            *("https://evil.example/", "//evil.example/", "/\\evil.example", "\\\\evil.example"),
            *("javascript:alert(1)", "/\t/evil.example", "evil.example", "", "/" + "x" * 3000),
        ):
            answer = await browser.post("/log-on", {**typed, "word": PASSWORD, "next": other})
            assert answer.headers["location"] == "/", other
        browser.cookies.clear()
        long = await browser.get("/ledger", text="x" * 3000)
        assert long.headers["location"] == "/log-on", "a form must hold it"
        assert (await browser.get("/on-line")).headers["location"] == "/log-on", "for a script"


async def test_two_boards_of_a_machine_do_not_share_a_session(tmp_path: Path) -> None:
    """Browsers send a cookie to every port of a host."""
    one, two = {"host": "localhost:8024"}, {"host": "localhost:8025"}
    async with shown(tmp_path) as (board, first):
        second = Browser(pages_of(board), cookies=first.cookies)
        assert (await first.logs_on(**one)).status == 303
        assert (await second.logs_on(**two)).status == 303
        assert (await first.ask("GET", "/", **one)).status == 200
        assert (await second.ask("GET", "/", **two)).status == 200
        assert (await second.ask("GET", "/", **one)).status == 303
        second.pages.close()


async def test_everyone_else_gets_the_same_refusal(tmp_path: Path) -> None:
    async with shown(tmp_path) as (_, browser):
        for number, (name, word) in enumerate(
            [
                ("Sysop", "guessed"),
                ("Ada", PASSWORD),
                ("Nobody", PASSWORD),
                ("", ""),
                ("x" * 99, "x"),
            ]
        ):
            browser.address = f"192.0.2.{number}"
            answer = await browser.logs_on(name, word)
            assert answer.status == 403
            refusal = "Wrong name, password or code, or a caller without the sysop's powers."
            assert refusal in answer.text, name
            assert not browser.cookies


async def test_a_number_is_no_name_to_log_on_with(tmp_path: Path) -> None:
    """It could be written in many ways, and wrong passwords are counted against each."""
    async with shown(tmp_path) as (board, browser):
        with board.books() as desk:
            sysop = callers.number_named(desk, "Sysop")
        for name in (f"#{sysop}", f"#000{sysop}"):
            assert (await browser.logs_on(name)).status == 403
        assert not browser.cookies


async def test_wrong_passwords_count_as_at_the_log_on(tmp_path: Path) -> None:
    async with shown(tmp_path) as (board, browser):
        for _ in range(2):
            assert "Wrong name" in (await browser.logs_on(word="guessed")).text
        answer = await browser.logs_on()
        assert "Too many wrong passwords" in answer.text
        assert "is checked in about 30 minutes." in answer.text
        assert answer.headers["refresh"] == "5; url=/log-on/turn"
        for _ in range(90):
            assert (await browser.get("/log-on/turn")).status == 200
            await board.clock.advance(20)
        assert (await browser.get("/log-on/turn")).status == 303
        assert (await browser.get("/")).status == 200


async def test_the_pages_log_who_logs_on_and_who_is_refused(tmp_path: Path) -> None:
    more = '[pages]\nreaders = ["Ada"]\n'
    async with shown(tmp_path, more=more) as (board, browser):
        board.enter("Bob")
        log = board.config.board.data / "refused.log"
        # What fail2ban's filter makes of the log, which the server writes, too.
        shipped = (FILTERS / "bjft.conf").read_text()
        (pattern,) = re.findall(r"^failregex = \^(.+)\$$", shipped, re.MULTILINE)
        found = re.compile(pattern.replace("<ADDR>", r"(\S+)"))
        for name, word in (("Sysop", "guessed"), ("Nobody", "guessed"), ("Bob", PASSWORD)):
            await browser.logs_on(name, word)
        await Browser(browser.pages, address="198.51.100.9").logs_on("x" * 99, "guessed")
        lines = [found.search(line) for line in log.read_text().splitlines()]
        assert [line and line[1] for line in lines] == ["192.0.2.7"] * 3 + ["198.51.100.9"]
        assert log.read_text().count("pages: wrong name or password") == 3
        assert "pages: may not see the pages" in log.read_text()
        browser.address = "198.51.100.7"
        assert (await browser.logs_on("Sysop")).status == 303
        assert (await browser.logs_on("Ada")).status == 303
        with board.books() as desk:
            noted = [(line.by, line.what) for line in sysop_log.entries(desk, None, 9)]
        what = "Logged on at the pages from 198.51.100.7"
        assert noted[:2] == [("Ada", what), ("Sysop", what)]


async def test_a_sysop_comes_in_while_the_log_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """On a full disk, say, the pages are needed most."""

    def full(*_: object, **__: object) -> None:
        raise BooksUnavailable("The disk is full.")

    async with shown(tmp_path) as (_, browser):
        with monkeypatch.context() as disk:
            disk.setattr("door.desk.pages.access.sysop_log.note", full)
            assert (await browser.logs_on()).status == 303
        assert (await browser.get("/")).status == 200
    said = "Sysop: Logged on at the pages from 192.0.2.7. The disk is full."
    assert said in caplog.messages


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", "::ffff:127.0.0.1"])
async def test_wrong_passwords_count_from_this_machine_too(tmp_path: Path, address: str) -> None:
    """There the pages listen by default, and all who reach them come from there."""
    toml = (
        f'{BOARD}\n[defence]\nwrong_passwords = 2\nallow = ["127.0.0.0/8", "::1", "10.0.0.0/8"]\n'
    )
    async with shown(tmp_path, toml=toml) as (_, browser):
        browser.address = address
        for _ in range(2):
            assert (await browser.logs_on(word="guessed")).status == 403
        assert "is checked in about 30 minutes." in (await browser.logs_on()).text
        browser.address = "10.1.2.3"
        for _ in range(9):
            assert (await browser.logs_on(word="guessed")).status == 403


async def test_no_form_is_taken_from_elsewhere(tmp_path: Path) -> None:
    elsewhere: list[dict[str, str]] = [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site", "origin": "http://books.example"},
    ]
    async with shown(tmp_path) as (_, browser):
        for headers in elsewhere:
            assert (await browser.logs_on(**headers)).status == 403
            assert not browser.cookies
        await browser.logs_on()
        (form,) = re.findall(r'name="form" value="([^"]+)"', (await browser.get("/")).body)
        for headers in elsewhere:
            assert (await browser.post("/log-off", {"form": form}, **headers)).status == 403
        for wrong in ({}, {"form": ""}, {"form": form[:-1]}):
            assert (await browser.post("/log-off", wrong)).status == 403
        assert (await browser.post("/log-off", {"form": form + "x" * 5000})).status == 403
        assert (await browser.get("/log-off")).status == 405
        assert (await browser.get("/")).status == 200


async def test_a_session_ends_with_time_powers_or_password(tmp_path: Path) -> None:
    async with shown(tmp_path) as (board, browser):
        await browser.logs_on()
        await board.clock.advance(IDLE_SECONDS - 1)
        assert (await browser.get("/")).status == 200
        await board.clock.advance(IDLE_SECONDS + 1)
        assert (await browser.get("/")).status == 303
        for change in ("locked = 1", "powers = 0", "password_hash = 'another'"):
            assert (await browser.logs_on()).status == 303
            assert (await browser.get("/")).status == 200
            before = board.database
            with before.transaction(board.config.bank, board.clock.now()) as desk:
                found = callers.find(desk, "Sysop")
                assert found is not None
                desk.connection.exec_driver_sql(
                    f"UPDATE callers SET {change} WHERE id = {found.id}"
                )
            assert (await browser.get("/")).status == 303, change
            with before.transaction(board.config.bank, board.clock.now()) as desk:
                desk.connection.exec_driver_sql(
                    "UPDATE callers SET locked = 0, powers = 1, password_hash = ? WHERE id = ?",
                    (found.password_hash, found.id),
                )


def test_sessions_are_bounded() -> None:
    sessions = Sessions()
    first = sessions.begin(1, "hash", 0.0)
    tokens = [sessions.begin(1, "hash", 1.0) for _ in range(MOST)]
    assert sessions.find(first, 1.0) is None
    assert sessions.find(tokens[0], 1.0) is not None
    used = 1.0
    while used <= LONGEST_SECONDS + 1.0:
        used += IDLE_SECONDS
        session = sessions.find(tokens[1], used)
    assert session is None


async def test_today_shows_callers_on_line_and_the_days_minutes(tmp_path: Path) -> None:
    async with shown(tmp_path) as (board, browser):
        await browser.logs_on()
        assert "Online: 0 Nobody." in (await browser.get("/")).text
        terminal = await logged_on(board, "Ada")
        await terminal.until("minutes today")
        today = (await browser.get("/")).text
        assert "Online: 1 " in today
        assert "Ada" in today
        assert "granted 1:00:00" in today
        assert "Mail hour" in today
        assert "Server" not in today, "only boards with several have names for them"
        reading = BooksReader(board.config, board.database, board.clock)
        calls = [replace(each, server="front") for each in reading.on_line()]
        with mock.patch.object(BooksReader, "on_line", return_value=calls):
            several = (await browser.get("/on-line")).text
        assert re.search(r"Server .*Ada .* front", several)


async def test_today_tells_of_the_last_copy_and_warns_when_it_is_old(tmp_path: Path) -> None:
    async with shown(tmp_path) as (board, browser):
        await browser.logs_on()
        assert "No copy was ever made" in (await browser.get("/")).text
        last_runs.note_copy(board.config.bank, board.clock.now(), tmp_path / "away.sqlite3")
        today = (await browser.get("/")).text
        assert "The last copy was made on 2026-11-20 at 12:00, to " in today
        assert "days old" not in today
        old = board.clock.now() - timedelta(days=9)
        last_runs.note_copy(board.config.bank, old, tmp_path / "away.sqlite3")
        assert "The last copy of the books is 9 days old" in (await browser.get("/")).text


async def test_today_warns_of_books_that_were_never_copied_and_never_audited(
    tmp_path: Path,
) -> None:
    never = [
        "The books are 8 days old and were never copied: timebank backup.",
        "The books are 8 days old and timebank audit never checked them.",
        "The books are 8 days old and door audit never checked them.",
    ]
    async with shown(tmp_path) as (board, browser):
        with board.books() as desk:
            sysop.adjust(desk, ADA, 60, "a gift", "Wanda")
        await browser.logs_on()
        today = (await browser.get("/")).text
        assert [words for words in never if words.replace("8", "0") in today] == []
        board.clock.suspend(8 * 86400)
        await browser.logs_on()
        today = (await browser.get("/")).text
        assert [words for words in never if words in today] == never


async def test_today_shows_the_last_audits_and_their_findings(tmp_path: Path) -> None:
    async with shown(tmp_path) as (board, browser):
        await browser.logs_on()
        assert "They were never audited" in (await browser.get("/")).text
        assert board.findings() == []
        shell, bank, now = Shell(board.config.path), board.config.bank, board.clock.now()
        assert (await asyncio.to_thread(shell, "audit")).status == 0
        result = CliRunner().invoke(timebank, ["audit", "--config", str(board.config.path)])
        assert result.exit_code == 0
        today = (await browser.get("/")).text
        wrong = [f"transfer {number}: {RUDE}" for number in range(22)]
        for command in last_runs.AUDITS:
            assert re.search(rf"{command} of [0-9-]+ at [0-9:]+ found nothing wrong\.", today)
        last_runs.note_audit(bank, last_runs.BOOKS, now, 1, wrong)
        last_runs.note_audit(bank, last_runs.HANDS, now - timedelta(days=8), 1, [])
        page = await browser.get("/")
        assert f"transfer 19: {RUDE} (timebank audit)" in page.text
        assert "timebank audit found 2 more things wrong." in page.text
        assert "timebank audit of 2026-11-20 at 12:00 found 22 things wrong." in page.text
        assert "The last door audit was 8 days ago." in page.text
        assert RUDE not in page.body
        last_runs.note_audit(bank, last_runs.BOOKS, now, 2, [])
        assert (
            "The books were restored after the last timebank audit" in (await browser.get("/")).text
        )


async def test_polling_the_callers_on_line_does_not_prolong_a_session(
    tmp_path: Path,
) -> None:
    async with shown(tmp_path) as (board, browser):
        await browser.logs_on()
        assert "Nobody." in (await browser.get("/on-line")).text
        terminal = await logged_on(board, "Ada")
        await terminal.until("minutes today")
        assert "Ada" in (await browser.get("/on-line")).text
        for _ in range(3):
            await board.clock.advance(IDLE_SECONDS / 2)
            last = await browser.get("/on-line")
        assert last.status == 303


async def test_today_holds_the_house_against_its_odds(ada: Table) -> None:
    await ada.bets(1, hand("stay", ends="win", holding=20))
    await ada.stands()
    board = ada.board
    today = BooksReader(board.config, board.database, board.clock).today()
    (luck,) = today.house
    assert (luck.game, luck.hands, luck.staked, luck.house) == (GAME, 1, 60, -60)
    assert -1 < luck.given < 0, "a careful caller gains 0.97 percent of a stake of 60 seconds"
    assert luck.deviation > 60
    assert today.warnings == []


async def test_a_caller_is_shown_with_calls_hands_loans_notices_limits_and_luck(ada: Table) -> None:
    await ada.bets(1, hand("stay", ends="win"))
    await ada.stands()
    board = ada.board
    board.enter("Sysop")
    board.enter("Bob")
    with board.books() as desk:
        number = callers.number_named(desk, "Ada")
        bob = callers.number_named(desk, "Bob")
        (call,) = open_calls(desk)
        add_notice(desk, number, "The sysop says {words}.", words=RUDE)
        desk.connection.exec_driver_sql("UPDATE callers SET created = created - 864000")
        teller.deposit(desk, call.call_id, 0, 1200)
        shoe = bytes(32), shuffle.seal(bytes(32)), GAME, {}, 5
        duels.challenge(desk, call.call_id, 0, bob, 300, shoe)
        teller.borrow(desk, call.call_id, 0, 600)
    with contextlib.closing(pages_of(board)) as pages:
        browser = Browser(pages)
        await browser.logs_on()
        page = (await browser.get(f"/caller/{number}")).text
        assert f"The sysop says {RUDE}." in page
        assert "deposit 1:00:00 0:20:00" in page
        assert re.search(r"send to others \d:00:00 0:05:00", page), "a duel's stake counts"
        assert "borrow, less what is sent 0:30:00 0:15:00" in page
        assert re.search(r"Black Jack For Time 1 0:01:00 0:01:00 \S+ \+\d\.\d", page)
        assert re.search(r"Calls .* waits The sysop", page)
        assert "Ada owes 10:00, and can send again" in page
        loan = (await browser.get("/ledger", caller=f"#{number}", of="loan")).text
        assert re.search(r"loan online 0:10:00", loan)

        ledger = (await browser.get("/ledger", caller=f"#{number}")).text
        assert re.search(r"online bank 0:20:00 online 0:\d\d:\d\d, bank 0:20:00 ", ledger)
        assert "Held then" not in (await browser.get("/ledger")).text


async def test_the_ledger_is_filtered_leafed_through_and_written_as_csv(tmp_path: Path) -> None:
    async with shown(tmp_path) as (board, browser):
        with board.books() as desk:
            for number in range(1, 121):
                sysop.adjust(desk, ADA, 60 * number, RUDE, "Wanda")
        await browser.logs_on()
        first = await browser.get("/ledger")
        assert first.body.count("<tr role=") == 101
        assert RUDE in first.text
        assert RUDE not in first.body
        (older,) = re.findall(r'rel="next" href="([^"]+)"', first.body)
        second = await browser.ask("GET", *html.unescape(older).split("?"))
        numbers = [
            int(caller_id)
            for page in (first, second)
            for caller_id in re.findall(r'data-label="Number" class="number">(\d+)</td>', page.body)
        ]
        assert numbers == list(range(numbers[0], numbers[-1] - 1, -1))
        assert len(numbers) == len(set(numbers)) >= 120

        few = await browser.get("/ledger", caller=f"#{ADA}", least=119)
        assert few.body.count("<tr role=") == 3
        some = await browser.get("/ledger", up_to=2, text="ALERT(1)")
        assert some.body.count("<tr role=") == 3
        assert "No transfers." in (await browser.get("/ledger", text="a gift of nobody")).text
        none = await browser.get("/ledger", caller="#1")
        assert "No transfers." in none.text
        written = await browser.get("/ledger.csv", caller=f"#{ADA}", least=119)
        assert written.headers["content-type"].startswith("text/csv")
        rows = list(csv.DictReader(io.StringIO(written.body)))
        assert [row["amount"] for row in rows] == ["7140", "7200"]

        entry = await browser.get(f"/entry/{rows[0]['entry']}")
        assert f"Entry {rows[0]['entry']}" in entry.text
        assert rows[0]["digest"] in entry.text


async def test_a_filtered_export_is_valid_beancount_and_balances(
    tmp_path: Path,
) -> None:
    async with shown(tmp_path) as (board, browser):
        with board.books() as desk:
            sysop.adjust(desk, ADA, 600, RUDE, "Wanda")
        await browser.logs_on()
        written = await browser.get("/ledger.beancount", caller="Ada", least=10, up_to=10)
        entries, errors, _ = beancount.loader.load_string(written.body)
        assert errors == []
        (transaction,) = (each for each in entries if hasattr(each, "postings"))
        assert sorted(each.units.number for each in transaction.postings) == [-600, 600]
        assert RUDE in transaction.narration


async def test_downloads_equal_the_output_of_the_commands_in_order(
    tmp_path: Path,
) -> None:
    """Fava keeps the order of a file within a day: a balance that runs must not run backwards."""
    async with shown(tmp_path) as (board, browser):
        with board.books() as desk:
            for minutes in (5, 10, -15, 20):
                sysop.adjust(desk, ADA, 60 * minutes, f"{minutes} of Ada's", "Wanda")
        await browser.logs_on()
        by_page = (await browser.get("/ledger.csv")).body
        parts = (await browser.get("/ledger.beancount")).body.split("\n\n")
        by_command = {
            words: CliRunner().invoke(timebank, [*words, "--config", str(board.config.path)]).output
            for words in (("ledger", "--format", "csv"), ("export", "beancount"))
        }
    assert by_page == by_command["ledger", "--format", "csv"]
    exported = by_command["export", "beancount"].split("\n\n")
    entries = [part.rstrip() for part in exported if "entry: " in part]
    assert len(entries) > 4
    assert [part.rstrip() for part in parts if "entry: " in part] == entries


async def test_balances_can_be_shown_as_of_a_date(tmp_path: Path) -> None:
    async with shown(tmp_path) as (board, browser):
        with board.books() as desk:
            sysop.adjust(desk, ADA, 600, "a gift", "Wanda")
        await browser.logs_on()
        assert "Ada bank 1:10:00" in (await browser.get("/balances")).text
        assert "Nothing had been moved." in (await browser.get("/balances", at="2020-01-01")).text
        for wrong in ("noon", "2026-11-24T12:00+01:00", "0001-01-01"):
            answer = await browser.get("/balances", at=wrong)
            assert (answer.status, "needs a date and a time" in answer.text) == (400, True), wrong


async def test_reports_are_made_behind_all_others_and_files_come_in_pieces(tmp_path: Path) -> None:
    async with world(tmp_path, toml=TOML) as board:
        showing = PageRenderer(BooksReader(board.config, board.database, board.clock))
        if hasattr(os, "SCHED_IDLE"):  # Linux
            own = os.sched_getscheduler(0)
            assert await showing.report(lambda: os.sched_getscheduler(0)) == os.SCHED_IDLE
            assert await showing.read(lambda: os.sched_getscheduler(0)) == own
        rows = [f"{row:1000}\n" for row in range(200)]
        words = iter(rows)
        pieces = []
        async for piece in showing.file(words):
            pieces.append(piece)
            assert await showing.report(lambda: "another") == "another"
        assert "".join(pieces) == "".join(rows)
        assert len(pieces) == 4
        showing.close()


async def test_sources_of_minutes_are_drawn_and_listed(tmp_path: Path) -> None:
    async with shown(tmp_path) as (_, browser):
        await browser.logs_on()
        page = await browser.get(f"/caller/{ADA}")
        assert "in added in corrections 1:00:00 out left 1:00:00" in page.text
        (left,) = re.findall(r'<path class="came" d="([^"]+)"', page.body)
        (right,) = re.findall(r'<path class="went" d="([^"]+)"', page.body)
        assert left != right
        assert "No minutes yet." in (await browser.get("/caller/1")).text


async def test_a_hand_is_shown_with_its_film_and_its_proof(ada: Table) -> None:
    browser = Browser(pages_of(ada.board))
    await ada.bets(1, hand("stay", ends="win"))
    await ada.stands()
    await ada.bets(1, hand("hit", ends="bust"))
    ada.board.enter("Sysop")
    await browser.logs_on()
    page = await browser.get("/hand/1")
    assert 'href="/caller/' in page.body
    proof = json.loads(html.unescape(re.findall('data-proof="([^"]+)"', page.body)[0]))
    assert proof["seed"] == hand("stay", ends="win").hex()
    open_one = await browser.get("/hand/2")
    assert hand("hit", ends="bust").hex() not in open_one.body
    assert hand("hit", ends="bust").hex() not in (await browser.get("/hand/2.cast")).body
    cast = await browser.get("/hand/1.cast", size="40x22", day="on")
    head, *lines = map(json.loads, cast.body.splitlines())
    assert (head["width"], head["height"]) == (40, 22)
    assert [line[2] for line in lines if line[1] == "m"] == ["Hand 1", "Hand 2"]
    assert (await browser.get("/hand", number=2)).headers["location"] == "/hand/2"
    for wrong, status in (
        ("/hand/99", 404),
        ("/hand/x", 404),
        ("/hand/99.cast", 404),
        ("/hand/2.cast?to=1", 400),
        ("/hand/1.cast?size=9x9", 400),
        ("/hand?number=x", 400),
    ):
        path, _, asked = wrong.partition("?")
        assert (await browser.ask("GET", path, asked)).status == status, wrong
    browser.pages.close()


async def test_an_invalid_search_is_reported(tmp_path: Path) -> None:
    async with shown(tmp_path) as (_, browser):
        await browser.logs_on()
        for query, words in (
            ({"caller": "Nobody"}, "There is no caller named Nobody."),
            ({"caller": "\x1b[2J"}, "There is no caller named ?[2J."),
            ({"since": "yesterday"}, "The field since needs a day"),
            ({"until": "0001-01-01"}, "The field until needs a day"),
            ({"least": "-1"}, "The field least needs a whole number."),
            ({"before": "9" * 30}, "The field before needs a whole number."),
        ):
            answer = await browser.get("/ledger", **query)
            assert (answer.status, words in answer.text) == (400, True), query


async def test_a_search_finds_a_caller_and_the_statement_is_in_words(tmp_path: Path) -> None:
    async with shown(tmp_path) as (board, browser):
        with board.books() as desk:
            for number in range(1, 45):
                sysop.adjust(desk, ADA, 60 * number, f"for step-{number:03}", "Wanda")
        await browser.logs_on()
        assert "Ada" in (await browser.get("/callers")).text
        answer = await browser.get("/callers", name="ADA")
        assert answer.headers["location"] == f"/caller/{ADA}"
        page = await browser.get(f"/caller/{ADA}")
        assert "Has never called." in page.text
        assert "for step-044" in page.text
        assert (
            "There is no caller named Nobody."
            in (await browser.get("/callers", name="Nobody")).text
        )
        for number in ("999", "x", "-1", "9" * 40):
            assert (await browser.get(f"/caller/{number}")).status == 404
            assert (await browser.get(f"/entry/{number}")).status == 404


@pytest.mark.parametrize(
    ("host", "certificate", "key", "why"),
    [
        ("0.0.0.0", None, None, "passwords would go there for all to read"),
        ("::", None, None, "passwords would go there"),
        ("192.0.2.1", None, None, "passwords would go there"),
        ("localhost", None, None, "is not an IP address"),
        ("127.0.0.1", Path("cert.pem"), None, "go together"),
    ],
)
def test_passwords_go_over_no_network_in_the_open(
    host: str, certificate: Path | None, key: Path | None, why: str
) -> None:
    with pytest.raises(CannotListen, match=why):
        pages_server.check_place(host, certificate, key)
    for safe in ("127.0.0.1", "::1", "127.8.8.8"):
        pages_server.check_place(safe, None, None)
