"""The page about the board, as anybody gets it from the port of the web."""

from __future__ import annotations

import re
import struct
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from unittest import mock

import pytest
import pytest_asyncio

from door.config import config as settings
from door.config.public import PublicSettings
from door.games.blackjack.world import world_shoe
from door.server import public_page
from tests.door.lines.web.site import asked, get
from tests.door.page import WEB
from tests.world import BOARD, World, world
from timebank.callers import callers
from timebank.errors import BooksUnavailable, SettingsError
from timebank.ledger.database import Desk
from timebank.wagers import contests, deals
from timebank.wagers.tournaments import Champion, Outlook

ADDRESS = "https://board.example"
PUBLIC = f'[public]\npage = true\naddress = "{ADDRESS}"\n'
EVERYWHERE = WEB.replace('host = "127.0.0.1"', 'host = "0.0.0.0"')
NAMES = 'name = "The <Lucky> Modem"'
CLOSE = "Connection: close"

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def board(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    """Open a board with two callers who have savings."""
    folder = tmp_path_factory.mktemp("board")
    toml = EVERYWHERE.replace('name = "The Test Board"', NAMES) + PUBLIC
    async with world(folder, toml=toml) as here:
        here.enter("Ada", saved=3600)
        here.enter("O'Brien", saved=60)
        await here.server.public_page.renew()
        yield here


async def got(board: World, path: str, *headers: str) -> tuple[str, dict[str, str], bytes]:
    answer = await asked(board.server.ports[1], get(path, CLOSE, *headers))
    head, _, body = answer.partition(b"\r\n\r\n")
    status, *fields = head.decode().split("\r\n")
    return status, dict(field.split(": ", 1) for field in fields), body


async def text(board: World, path: str) -> str:
    status, _, body = await got(board, path)
    assert status == "HTTP/1.1 200 OK"
    return body.decode()


@pytest.mark.parametrize("public", ["", PUBLIC])
async def test_a_new_name_of_the_board_is_on_its_pages_after_a_reload(
    tmp_path: Path, public: str
) -> None:
    async with world(tmp_path, toml=WEB + public) as board:
        assert "The Test Board" in await text(board, "/")
        new = (WEB + public).replace("The Test Board", "Night Owl")
        board.config.path.write_text(new, encoding="utf-8")
        await board.server.tell_reload()
        for path in ("/", "/manifest.webmanifest"):
            page = await text(board, path)
            assert ("Night Owl" in page, "The Test Board" in page) == (True, False)


async def test_there_is_none_until_the_sysop_wants_one(tmp_path: Path) -> None:
    async with world(tmp_path, toml=WEB) as board:
        assert (await got(board, "/about"))[0] == "HTTP/1.1 404 Not Found"
        assert "og:" not in await text(board, "/")
        board.server.board.config = replace(
            board.server.board.config, public=PublicSettings(is_shown=True, address=ADDRESS)
        )
        await board.server.public_page.renew()
        assert (await got(board, "/about"))[0] == "HTTP/1.1 200 OK"
        board.server.board.config = replace(board.server.board.config, public=PublicSettings())
        await board.server.public_page.renew()
        assert (await got(board, "/about"))[0] == "HTTP/1.1 404 Not Found"


async def test_the_page_shows_the_richest_callers_and_how_to_call(board: World) -> None:
    page = await text(board, "/about")
    assert "<h1>The &lt;Lucky&gt; Modem</h1>" in page
    assert "<span>Ada</span><b>1:00:00</b>" in page
    assert "<span>O&#x27;Brien</span><b>1:00</b>" in page
    telnet = f"board.example {board.server.ports[0]}"
    assert f"<code>telnet {telnet}</code>" in page
    assert f'href="{ADDRESS}"' in page
    assert "Sysop" not in page
    assert "<script" not in page


async def test_a_browser_gets_the_page_in_its_language_and_links_to_each(board: World) -> None:
    for accepted, language, other in (("fr-CA, en", "fr", "en"), ("de, en;q=0.5", "en", "fr")):
        for path in ("/about", f"/about.{language}", "/"):
            _, headers, body = await got(board, path, f"Accept-Language: {accepted}")
            assert f'<html lang="{language}">' in body.decode()
            assert headers["Content-Language"] == language
            if path == "/":
                continue
            assert f'<a href="about.{other}" hreflang="{other}"' in body.decode()
            assert f'hreflang="x-default" href="{ADDRESS}/about"' in body.decode()
            assert f'rel="canonical" href="{ADDRESS}/about.{language}"' in body.decode()
        assert headers["Vary"] == "Accept-Encoding, Accept-Language"
    # A language that was chosen stays, whatever the browser likes.
    _, headers, _ = await got(board, "/about.fr", "Accept-Language: en")
    assert (headers["Content-Language"], headers["Vary"]) == ("fr", "Accept-Encoding")


async def test_a_shared_link_shows_a_picture_by_an_absolute_address(board: World) -> None:
    for path, url in (("/", f"{ADDRESS}/"), ("/about", f"{ADDRESS}/about.en")):
        page = await text(board, path)
        tags = dict(re.findall(r'<meta property="(og:[\w:]+)" content="([^"]*)">', page))
        assert tags["og:image"] == f"{ADDRESS}/about.png"
        assert tags["og:url"] == url
        assert tags["og:title"] == "The &lt;Lucky&gt; Modem"
    _, headers, image = await got(board, "/about.png")
    assert headers["Content-Type"] == "image/png"
    assert image.startswith(b"\x89PNG\r\n\x1a\n")
    assert struct.unpack(">II", image[16:24]) == (1280, 640)
    assert 'width="1280" height="640"' in page


async def test_a_browser_caches_the_page_and_gets_the_strict_policy(
    board: World,
) -> None:
    _, headers, _ = await got(board, "/about", "Accept-Encoding: gzip")
    assert headers["Cache-Control"] == f"public, max-age={public_page.FRESH_SECONDS}"
    assert headers["Content-Encoding"] == "gzip"
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    again = await got(board, "/about", f"If-None-Match: {headers['ETag']}")
    assert again[0] == "HTTP/1.1 304 Not Modified"


async def test_the_page_is_served_from_memory_and_survives_failing_books(
    board: World, caplog: pytest.LogCaptureFixture
) -> None:
    before = await text(board, "/about")
    with mock.patch.object(board.server.books, "read", side_effect=BooksUnavailable("No disk.")):
        await board.server.public_page.renew()
        await board.server.public_page.renew()
        assert await text(board, "/about") == before
    assert [record.getMessage() for record in caplog.records] == [
        "the page about the board stays as it was: No disk."
    ]


async def test_the_page_shows_the_tournament_and_a_consenting_champion(
    board: World,
) -> None:
    old = board.server.board.config
    until = datetime(2026, 11, 22, 17, tzinfo=UTC)
    on = mock.patch.object(
        public_page.tournaments, "outlook", return_value=Outlook(until, False, None)
    )
    won = mock.patch.object(
        public_page.tournaments, "champion", return_value=Champion(until.date(), ("<Ada>",))
    )
    with on, won:
        for names in (True, False):
            public = replace(old.public, has_names=names)
            board.server.board.config = replace(old, public=public)
            await board.server.public_page.renew()
            page = await text(board, "/about")
            assert "A tournament is on until 22 November 2026 at " in page
            assert ("<p>Champion: &lt;Ada&gt;</p>" in page) is names
    board.server.board.config = old
    await board.server.public_page.renew()
    assert "ournament" not in await text(board, "/about")


async def test_a_sysop_says_how_to_call_and_whether_callers_are_named(board: World) -> None:
    old = board.server.board.config
    public = replace(
        old.public, has_names=False, call_lines=("telnet bbs.example", "modem 555-1234")
    )
    board.server.board.config = replace(old, public=public)
    await board.server.public_page.renew()
    page = await text(board, "/about")
    assert "<li><code>modem 555-1234</code></li>" in page
    assert "Ada" not in page
    assert str(board.server.ports[0]) not in page
    board.server.board.config = old
    await board.server.public_page.renew()


async def test_ports_for_this_machine_or_behind_a_front_end_are_no_way_to_call(
    tmp_path: Path,
) -> None:
    toml = WEB + '[[listeners]]\nport = 2324\nproxies = ["192.0.2.1"]\n'
    toml += '[[listeners]]\nkind = "ssh"\nport = 2222\n[[listeners]]\nport = 23\n'
    (tmp_path / "sysop.toml").write_text(toml + PUBLIC)
    config = settings.load(tmp_path / "sysop.toml")
    methods = public_page._calling_ways(config, [2323, 8023, 2324, 2222, 23])
    assert [way.typed for way in methods] == [
        ADDRESS,
        "ssh -p 2222 new@board.example",
        "telnet board.example",
    ]


@pytest.mark.parametrize(
    ("toml", "words"),
    [
        (BOARD + PUBLIC, 'is shown by a port of kind "web", and [[listeners]] has none'),
        (WEB + "[public]\npage = true\n", "must be there for the page"),
        (WEB + PUBLIC.replace(ADDRESS, "board.example"), "without a path, such as"),
        (WEB + PUBLIC.replace(ADDRESS, "https://a.example/bbs"), "without a path, such as"),
        (WEB + PUBLIC.replace(ADDRESS, "https://a:port"), "without a path, such as"),
        (WEB + PUBLIC + 'calls = [""]\n', "must be a list of texts on one line each"),
    ],
)
async def test_settings_that_make_no_page_are_refused(
    tmp_path: Path, toml: str, words: str
) -> None:
    (tmp_path / "sysop.toml").write_text(toml)
    with pytest.raises(SettingsError, match=re.escape(words)):
        settings.load(tmp_path / "sysop.toml")


async def test_the_page_shows_the_best_of_today_at_the_deal(board: World) -> None:
    here = board.server.board
    shown = PublicSettings(is_shown=True, address=ADDRESS)

    async def page() -> str:
        await board.server.public_page.renew()
        return await text(board, "/about")

    def plays(desk: Desk) -> None:
        deal = deals.todays(desk, world_shoe)
        for name, cost in (("Ada", 250), ("O'Brien", 1000)):
            number = callers.number_named(desk, name)
            contests.begin(desk, deal, number)
            contests.act(desk, deal, number, (), "stay", 5)
            contests.weigh(desk, deal.seal, number, cost)

    with mock.patch.object(here, "config", replace(here.config, public=shown)):
        assert "The daily deal" not in await page()
        await board.server.books.run(plays)
        found = await page()
        assert "Every board has these cards today." in found
        assert "2 callers have played. The best try costs 2.5% of a bet." in found
        assert "<span>Ada</span><b>2.5%</b>" in found
        assert "<b>10%</b>" not in found
    nameless = replace(here.config, public=replace(shown, has_names=False))
    with mock.patch.object(here, "config", nameless):
        found = await page()
        assert "The best try costs 2.5% of a bet." in found
        assert "Ada" not in found
    with board.books() as desk:  # they were not played, which an audit would find
        desk.connection.exec_driver_sql("DELETE FROM deal_tries")
