"""The page in a real browser: Debian's Chromium, headless, driven by Playwright.

One browser serves all of these tests, and each has a board of its own.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import pytest_asyncio
from axe_playwright_python.async_playwright import Axe

from door.games import proofs
from door.games.engine import shuffle
from door.games.engine.game import Totals
from door.games.registry import GAMES
from tests.certificates import NEED_CLIENTS
from tests.door.lines.web.visitor import (
    DESK,
    PATIENCE,
    PHONE,
    READ_SCREEN,
    Network,
    Visitor,
    served_pages,
)
from tests.door.page import WEB
from tests.door.playing import at_the_table, hand
from tests.door.proved import proved_hands, still_fits, tampered
from tests.world import PASSWORD, world
from timebank.language import ENGLISH, LANGUAGES
from tools import check_page

playwright = pytest.importorskip("playwright.async_api", reason="Playwright is not installed")

pytestmark = [pytest.mark.long, pytest.mark.asyncio(loop_scope="module")]

# Functions, because the page's policy forbids evaluating expressions.
IS_MARKED = 'text => document.getElementById("screen").terminal?.getSelection().trim() === text'
HTML = "text/html"
# So many keys, whole and without scrolling.
ARE_SEEN = """many => {
    const keys = document.getElementById("keys");
    const buttons = [...keys.children];
    return buttons.length === many && keys.scrollHeight <= keys.clientHeight
        && buttons.every((each) => each.scrollWidth <= each.clientWidth
            && each.scrollHeight <= each.clientHeight);
}"""
# The events of a browser during composition. "<" deletes a letter, and text in brackets is
# composed.
IME = r"""text => {
    const field = document.querySelector(".xterm textarea");
    const tell = (Kind, name, more) => {
        const usual = { bubbles: true, cancelable: true, composed: true };
        field.dispatchEvent(new Kind(name, { ...usual, ...more }));
    };
    const keys = text.match(/\[.*?\]|./g);
    for (const key of keys) {
        const composed = key.slice(1, -1);
        tell(KeyboardEvent, "keydown", { key: "Process", keyCode: 229 });
        if (composed) {
            tell(CompositionEvent, "compositionstart", { data: "" });
            field.value += composed;
            tell(CompositionEvent, "compositionupdate", { data: composed });
            const more = { inputType: "insertCompositionText", data: composed, isComposing: true };
            tell(InputEvent, "input", more);
            tell(CompositionEvent, "compositionend", { data: composed });
        } else if (key === "<") {
            field.value = field.value.slice(0, -1);
            tell(InputEvent, "input", { inputType: "deleteContentBackward" });
        } else {
            field.value += key;
            tell(InputEvent, "input", { inputType: "insertText", data: key });
        }
    }
    keys.forEach(() => tell(KeyboardEvent, "keyup", { key: "Process", keyCode: 229 }));
}"""
# Tables that are scrolled sideways.
SIDEWAYS = """[...document.querySelectorAll(".wide > table")]
    .filter((each) => each.scrollWidth > each.parentElement.clientWidth)
    .map((each) => each.textContent)"""
IS_COPIED = "async text => (await navigator.clipboard.readText()).trim() === text"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Any]:
    program = shutil.which("chromium")
    if program is None:
        assert NEED_CLIENTS not in os.environ, "Chromium must be here: apt-get install chromium"
        pytest.skip(f"Chromium is not installed; {NEED_CLIENTS} makes that a failure")
    async with playwright.async_playwright() as drives:
        here = await drives.chromium.launch(
            executable_path=program, args=["--no-sandbox", "--disable-gpu"]
        )
        yield here
        await here.close()


@asynccontextmanager
async def window(browser: Any, **how: Any) -> AsyncIterator[Any]:
    """A page in a window of its own."""
    context = await browser.new_context(**how)
    context.set_default_timeout(PATIENCE)
    yield await context.new_page()
    await context.close()


async def the_sysop_logs_on(page: Any) -> None:
    await page.get_by_label("Your name on the board").fill("Sysop")
    await page.get_by_label("Password").fill(PASSWORD)
    await page.keyboard.press("Enter")
    await page.get_by_role("heading", name="Today", exact=True).wait_for()


@asynccontextmanager
async def visit(browser: Any, folder: Path, how: dict[str, Any]) -> AsyncIterator[Visitor]:
    async with world(folder, toml=WEB) as board:
        board.enter("Ada")
        async with window(browser, **how) as page:
            visitor = Visitor(page, board)
            await visitor.opens_the_page()
            yield visitor
        assert visitor.complaints == []
        assert all(url.startswith(f"http://127.0.0.1:{visitor.port}/") for url in visitor.asked_for)


async def test_a_caller_registers_plays_and_returns_to_the_hand_repeatedly(
    browser: Any, tmp_path: Path
) -> None:
    async with visit(browser, tmp_path, DESK) as grace:
        for text, question in (
            ("new\r", "The name you want:"),
            ("Grace\r", "at least"),
            (f"{PASSWORD}\r", "Once more:"),
            (f"{PASSWORD}\r", "It is valid as soon"),
            (" ", "Take a one-minute"),
            ("n", "<G>oodbye"),
        ):
            await grace.types(text)
            await grace.sees(question)
        grace.board.seeds = [hand("hit")]
        await grace.types("b", then="<B>et")
        await grace.types("b1\r", then="<H>it")
        assert await grace.page.locator("#pad").is_hidden()

        # The page is loaded again in the middle of the hand: it asks no name.
        (caller,) = grace.board.server.board.callers()
        await grace.page.reload()
        await caller.ended.wait()
        await grace.sees("The hand you left is still on the table.")

        # Another tab of the browser has no ticket.
        (caller,) = grace.board.server.board.callers()
        async with window(browser, **DESK) as page:
            other = Visitor(page, grace.board)
            await other.opens_the_page()
        (still,) = grace.board.server.board.callers()
        assert still is caller

        # The line is lost: the page reconnects by itself and asks no name.
        (caller,) = grace.board.server.board.callers()
        await grace.types("r", then="The rules of")
        caller.console.line.abort()
        await grace.sees("The hand you left is still on the table.")
        (again,) = grace.board.server.board.callers()
        assert (again is caller, again.record.name) == (False, "Grace")

        # A caller who logs off is not reconnected, and may call again.
        await grace.types("s", then="<Q>uit")
        await grace.types("q", then="<G>oodbye")
        await grace.types("gy", then="Goodbye, Grace.")
        await grace.tabs_to("Call again")
        await grace.page.keyboard.press("Enter")
        await grace.sees("Name:")


async def test_a_caller_who_shuts_the_lid_in_mid_hand_returns_to_it(
    browser: Any, tmp_path: Path
) -> None:
    """Neither side notices an end: the board believes the old line alive, so the page asks it."""
    async with world(tmp_path, toml=WEB) as board:
        board.enter("Ada")
        network = Network(board.server.ports[1])
        async with network.opened(), window(browser, **DESK) as page:
            ada = Visitor(page, board)

            async def hurry(route: Any) -> None:
                answer = await route.fetch()
                text = (await answer.text()).replace("ANSWER_SECONDS = 8", "ANSWER_SECONDS = 0.5")
                await route.fulfill(response=answer, body=text)

            await ada.page.route("**/line.js", hurry)
            await ada.page.goto(f"http://127.0.0.1:{network.port}/")
            for question, text in (
                ("Name:", "Ada\r"),
                ("Password:", f"{PASSWORD}\r"),
                ("Press any key", " "),
                ("<G>oodbye", "b"),
            ):
                await ada.sees(question)
                await ada.types(text)
            board.seeds = [hand("hit")]
            await ada.sees("<B>et")
            await ada.types("b1\r", then="<H>it")
            (caller,) = board.server.board.callers()
            network.shut()
            await ada.types("s")  # it is lost
            await ada.page.evaluate("() => { window.dispatchEvent(new Event('online')); }")
            await ada.sees("The hand you left is still on the table.")
            await caller.ended.wait()
            (again,) = board.server.board.callers()
            assert (again is caller, again.record.name) == (False, "Ada")
            await ada.sees("<H>it")
            await ada.types("s", then="<B>et")
            assert ada.complaints == []


SPOKEN_WHERE_WORDS_ARE_MISSING = """async () => {
    const page = await import("/words.js");
    page.speak("xx");
    const spoken = page.spoken;
    page.speak("fr");
    return spoken;
}"""


async def test_a_phone_has_buttons_for_the_open_keys_and_a_field_for_text(
    browser: Any, tmp_path: Path
) -> None:
    small = {**PHONE, "viewport": {"width": 360, "height": 780}}
    async with visit(browser, tmp_path, small) as ada:
        caller = next(iter(ada.board.server.board.consoles))
        size = caller.line.columns, caller.line.rows
        assert (size[0], size[1] >= 25) == (40, True)
        assert await ada.page.locator(".xterm textarea").get_attribute("inputmode") == "none"
        await ada.answers("Name:", "Ada")
        await ada.answers("Password:", PASSWORD)
        assert await ada.page.locator("#text").get_attribute("type") == "password"
        await ada.sees("Press any key")
        await ada.page.locator("#keys .enter").tap()
        await ada.sees("<G>oodbye")
        await ada.page.wait_for_function(ARE_SEEN, arg=15, timeout=PATIENCE)
        await ada.taps("T", "<D> Deposit")
        await ada.taps("D", "Deposit how much?")
        await ada.taps("max", "Deposit 55 minutes?")
        await ada.taps("N", "Deposit how much?")
        await ada.taps("Esc")
        await ada.taps("Q", "<G>oodbye")
        ada.board.seeds = [hand("hit")]
        await ada.taps("B", "<F>airness")
        await ada.taps("B", "Coins")
        assert await ada.page.locator("#text").get_attribute("inputmode") == "numeric"
        await ada.answers("Coins", "1")
        await ada.sees("<H>it")
        assert (await ada.may_tap())[:3] == ["D", "H", "S"]
        await ada.taps("S", "<B>et")
        assert (caller.line.columns, caller.line.rows) == size, "no question has resized it"
        assert await ada.page.evaluate("visualViewport.scale") == 1
        wide = await ada.page.evaluate("document.documentElement.scrollWidth")
        assert wide == 360
        # The keys of a bet have its usual amounts.
        await ada.taps("B", "Coins")
        assert await ada.may_tap() == ["1", "2", "5", "10", "Esc"]
        await ada.taps("Esc", "<B>et")
        for button in await ada.page.locator("#keys button").all():
            box = await button.bounding_box()
            assert box["height"] >= 44
            assert box["width"] >= 44

        # The page speaks the caller's language, which is not the browser's.
        await ada.taps("Q", "<G>oodbye")
        await ada.taps("Y", "<L>anguage")
        await ada.taps("L")
        await ada.page.get_by_role("button", name="Aide").wait_for()
        assert await ada.page.locator("html").get_attribute("lang") == "fr"
        assert await ada.page.evaluate(SPOKEN_WHERE_WORDS_ARE_MISSING) == "en"
        for language in (*list(LANGUAGES)[2:], ENGLISH):
            await ada.taps("L")
            await ada.sees(LANGUAGES[language])
        await ada.page.get_by_role("button", name="Help").wait_for()
        await ada.taps("Q", "<G>oodbye")

        # The end of the call leaves the screen as large as it was, and offers another.
        await ada.taps("G")
        await ada.taps("Y")
        again = ada.page.get_by_role("button", name="Call again")
        await again.wait_for()
        assert (await again.bounding_box())["height"] >= 44
        rows = await ada.page.evaluate("() => document.getElementById('screen').terminal.rows")
        assert rows == size[1]


# Upright and on its side; phones of which a browser's bars take a part, and a tablet.
WINDOWS = ((320, 460), (320, 568), (360, 640), (390, 844), (430, 932), (768, 1024))
IS_LAID_OUT = """([width, height]) => {
    const shown = (id) => document.getElementById(id).getBoundingClientRect();
    const keys = shown("keys");
    const buttons = [...document.querySelectorAll("#keys button")];
    return innerWidth === width && innerHeight === height && buttons.length > 0
        && buttons.every((each) => {
            const { bottom, right, height } = each.getBoundingClientRect();
            return each.scrollWidth <= each.clientWidth && each.scrollHeight <= each.clientHeight
                && bottom <= keys.bottom + 1 && right <= keys.right + 1 && height >= 36;
        })
        && document.documentElement.scrollWidth <= width
        && (document.body.matches(".lying") || shown("pad").height <= Math.max(0.37 * height, 184));
}"""


@pytest.mark.parametrize("language", ["en-GB", "fr-FR"])
async def test_no_key_is_clipped_at_any_size(browser: Any, tmp_path: Path, language: str) -> None:
    async with (
        world(tmp_path, toml=WEB) as board,
        window(browser, **PHONE, locale=language) as page,
    ):
        board.enter("Ada")
        ada = Visitor(page, board)

        async def fits() -> None:
            for width, height in (*WINDOWS, *(window[::-1] for window in WINDOWS)):
                await page.set_viewport_size({"width": width, "height": height})
                where = [width, height]
                await page.wait_for_function(IS_LAID_OUT, arg=where, timeout=PATIENCE)
            await page.set_viewport_size(PHONE["viewport"])

        await page.goto(f"http://127.0.0.1:{ada.port}/")
        for text in ("Ada", PASSWORD):
            await page.locator("#text").wait_for()
            await fits()
            await ada.answers(":", text)
            await page.wait_for_function("() => !document.getElementById('send').disabled")
        await page.locator("#keys .enter").tap()
        await page.wait_for_function("() => document.querySelectorAll('#keys b').length > 12")
        await fits()
        await ada.taps("B")
        await page.wait_for_function("() => document.querySelectorAll('#keys b').length < 12")
        await fits()


async def test_the_keys_can_be_hidden_and_stay_hidden(browser: Any, tmp_path: Path) -> None:
    async with visit(browser, tmp_path, PHONE) as ada:
        await ada.answers("Name:", "Ada")
        await ada.answers("Password:", PASSWORD)
        await ada.sees("Press any key")
        keys = ada.page.get_by_role("button", name="Keys")
        assert await keys.get_attribute("aria-pressed") == "true"
        low = await ada.page.locator("#screen").bounding_box()
        await keys.tap()
        await ada.page.locator("#pad").wait_for(state="hidden")
        high = await ada.page.locator("#screen").bounding_box()
        assert high["height"] > low["height"] + 150
        # A tap on the terminal brings the phone's own keyboard.
        assert await ada.page.locator(".xterm textarea").get_attribute("inputmode") is None
        await ada.types(" ", then="<G>oodbye")
        await ada.page.reload()
        await ada.sees("<G>oodbye")
        assert await ada.page.locator("#pad").is_hidden()
        await keys.tap()
        await ada.taps("B", "<B>et")


async def test_a_phone_that_is_turned_at_the_table_shows_it_whole(
    browser: Any, tmp_path: Path
) -> None:
    async with visit(browser, tmp_path, PHONE) as ada:
        await ada.answers("Name:", "Ada")
        await ada.answers("Password:", PASSWORD)
        await ada.sees("Press any key")
        await ada.page.locator("#keys .enter").tap()
        ada.board.seeds = [hand("hit")]
        for key, then in (("B", "<B>et"), ("B", "Coins"), ("1", "<H>it")):
            await ada.taps(key, then)
        for width, height in ((1024, 768), (390, 844)) * 2:
            await ada.page.set_viewport_size({"width": width, "height": height})
            columns = 80 if width > height else 40
            await ada.page.wait_for_function(HAS_COLUMNS, arg=columns, timeout=PATIENCE)
            await ada.sees("<H>it")
        await ada.page.get_by_role("button", name="Keys").tap()
        await ada.sees("<H>it")


HAS_COLUMNS = "columns => document.getElementById('screen').terminal.cols === columns"
PASTES = """text => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", text);
    const how = { clipboardData, bubbles: true, cancelable: true };
    document.querySelector(".xterm textarea").dispatchEvent(new ClipboardEvent("paste", how));
}"""


async def test_a_paste_fills_a_field_and_presses_no_key(browser: Any, tmp_path: Path) -> None:
    async with visit(browser, tmp_path, DESK) as ada:
        await ada.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        await ada.page.evaluate("() => navigator.clipboard.writeText('Ada\\nBob\\r\\n')")
        await ada.page.keyboard.press("Control+V")
        await ada.sees("Name: Ada Bob")
        for _ in "Ada Bob":
            await ada.page.keyboard.press("Backspace")
        await ada.types("Ada\r", then="Password:")
        await ada.page.evaluate(PASTES, f"{PASSWORD}\n")
        await ada.types("\r", then="Press any key")
        await ada.page.evaluate(PASTES, "x\ny\x1b[201~z\r")
        await ada.types(" ", then="<G>oodbye")
        await ada.page.evaluate(PASTES, "g\ny\x1b[201~gy\r")
        await ada.types("b", then="<B>et")
        await ada.page.evaluate(PASTES, "b5\r")
        await ada.types("b", then="Coins")
        await ada.page.evaluate(PASTES, "1\r\n2\r\n")
        await ada.sees("(Enter for 1): 12")


async def test_a_password_manager_finds_name_and_password(browser: Any, tmp_path: Path) -> None:
    """At a desk too, where the terminal keeps the focus; and on no other question."""
    async with visit(browser, tmp_path, DESK) as ada:
        field = ada.page.get_by_label("Your name")
        assert await field.get_attribute("autocomplete") == "username"
        assert await ada.page.evaluate("document.activeElement.className") != ""
        await field.fill("Ada")
        await field.press("Enter")
        await ada.sees("Password:")
        secret = ada.page.get_by_label("Your password")
        assert await secret.get_attribute("autocomplete") == "current-password"
        assert await secret.get_attribute("type") == "password"
        assert await ada.page.locator("#who").input_value() == "Ada"
        await secret.fill(PASSWORD)
        await ada.page.locator("#send").click()
        await ada.sees("Press any key")
        assert await ada.page.locator("#pad").is_hidden()
        await ada.types(" ", then="<G>oodbye")
        await ada.types("b", then="<B>et")
        await ada.types("b", then="Coins")
        assert await ada.page.locator("#pad").is_hidden()


async def test_a_reload_returns_to_the_hand_by_a_ticket_that_only_the_tab_keeps(
    browser: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    stored = "() => [Object.entries(sessionStorage), JSON.stringify(localStorage)]"
    async with visit(browser, tmp_path, PHONE) as ada:
        await ada.answers("Name:", "Ada")
        await ada.answers("Password:", PASSWORD)
        await ada.sees("Press any key")
        ((_, first),), _ = await ada.page.evaluate(stored)
        await ada.page.reload()
        await ada.sees("<G>oodbye")
        ((_, second),), elsewhere = await ada.page.evaluate(stored)
        assert first != second
        assert not [text for text in (*ada.asked_for, elsewhere, caplog.text) if first in text]

        # Whoever has the spent ticket is a stranger, and the caller plays on.
        async with window(browser, **DESK) as page:
            thief = Visitor(page, ada.board)
            await page.add_init_script(f"sessionStorage.setItem('ticket /', {json.dumps(first)})")
            await thief.opens_the_page()
        await ada.taps("B", "<B>et")

        # After a log-off nothing is left.
        await ada.taps("Q", "<G>oodbye")
        await ada.taps("G")
        await ada.taps("Y")
        await ada.page.get_by_role("button", name="Call again").wait_for()
        assert (await ada.page.evaluate(stored))[0] == []


PAINTED = """() => performance.getEntriesByType("paint").map((each) => each.startTime).at(-1)"""
FETCHED = """() => performance.getEntriesByType("resource").map(
    ({ name, responseEnd, encodedBodySize }) => [name, responseEnd, encodedBodySize])"""


async def test_the_page_says_that_it_loads_before_it_fetches_the_terminal(
    browser: Any, tmp_path: Path
) -> None:
    async with visit(browser, tmp_path, PHONE) as ada:
        painted = await ada.page.evaluate(PAINTED)
        fetched = await ada.page.evaluate(FETCHED)
    before = {name.rpartition("/")[2]: size for name, end, size in fetched if end <= painted}
    assert "page.css" in before
    assert sum(before.values()) < 100_000, before
    assert "xterm.mjs" in {name.rpartition("/")[2] for name, *_ in fetched} - before.keys()


@pytest.mark.parametrize("language", ["fr", "fr-CA"])
async def test_a_french_browser_is_offered_french_at_the_first_call(
    browser: Any, tmp_path: Path, language: str
) -> None:
    async with (
        world(tmp_path, toml=WEB) as board,
        window(browser, **DESK, locale=language) as page,
    ):
        # German, which the board does not speak, is liked best.
        liked = ["de", language, "en"]
        await page.add_init_script(
            f"Object.defineProperty(navigator, 'languages', {{ get: () => {liked} }});"
            "Object.defineProperty(navigator, 'language', { get: () => 'de' });"
        )
        grace = Visitor(page, board)
        await page.goto(f"http://127.0.0.1:{grace.port}/")
        await grace.sees("Nom :")
        await page.get_by_role("button", name="Lecteur d’écran").wait_for()
        assert await page.locator("html").get_attribute("lang") == "fr"
        await page.goto(f"http://127.0.0.1:{grace.port}/check.html")
        await page.get_by_role("heading", name="Vérifier une main").wait_for()


async def test_an_input_method_types_each_key_once(browser: Any, tmp_path: Path) -> None:
    async with visit(browser, tmp_path, DESK) as ada:
        await ada.page.locator(".xterm textarea").focus()
        for typed, shown in (
            ("abc<é", "abé"),
            ("[ñ]", "abéñ"),
            ("[ü]xy", "abéñüxy"),
            ("z", "abéñüxyz"),
        ):
            await ada.page.evaluate(IME, typed)
            await ada.sees(f"Name: {shown}")
        await ada.types("end", then="Name: abéñüxyzend")


async def test_a_screen_reader_is_offered_first_and_gets_lines(
    browser: Any, tmp_path: Path
) -> None:
    async with visit(browser, tmp_path, DESK) as ada:
        label = await ada.page.evaluate("document.activeElement.getAttribute('aria-label')")
        assert label == "Terminal. For a screen reader: Shift and Tab, then Enter."
        await ada.page.keyboard.press("Shift+Tab")
        assert await ada.page.evaluate("document.activeElement.id") == "reader"
        await ada.page.keyboard.press("Enter")
        await ada.page.locator(".xterm-accessibility").get_by_text("Your name, or").first.wait_for()
        assert "▀" not in await ada.page.evaluate(READ_SCREEN)


async def test_selected_text_is_copied_and_links_open(browser: Any, tmp_path: Path) -> None:
    async with visit(browser, tmp_path, DESK) as ada:
        await ada.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        (console,) = ada.board.server.board.consoles
        link = f"http://127.0.0.1:{ada.port}/icon.svg"
        console.line.write(f"\x1b[H\x1b]8;;{link}\x1b\\here\x1b]8;;\x1b\\".encode())
        await ada.sees("here")
        box = await ada.page.locator(".xterm-screen").bounding_box()
        place = box["x"] + 20, box["y"] + 10
        for _ in range(100):  # the board may paint over the selection
            await ada.page.mouse.dblclick(*place)
            if await ada.page.evaluate(IS_MARKED, "here"):
                break
        await ada.page.keyboard.press("Control+C")
        await ada.page.wait_for_function(IS_COPIED, arg="here", timeout=PATIENCE)
        ada.page.on("dialog", lambda dialog: dialog.accept())
        async with ada.page.context.expect_page() as opened:
            await ada.page.mouse.move(box["x"] + 200, box["y"] + 200)
            await ada.page.mouse.move(*place)
            await ada.page.mouse.click(*place)
        assert (await opened.value).url == link

        # An address that is only text is a link too.
        console.line.write(f"\x1b[2;1H{link} \x1b[K".encode())
        await ada.sees(link)
        async with ada.page.context.expect_page() as opened:
            await ada.page.mouse.move(box["x"] + 200, box["y"] + 200)
            await ada.page.mouse.move(place[0], place[1] + box["height"] / 24)
            await ada.page.mouse.click(place[0], place[1] + box["height"] / 24)
        assert (await opened.value).url == link


async def test_a_long_press_copies_from_the_screen(browser: Any, tmp_path: Path) -> None:
    async with visit(browser, tmp_path, PHONE) as ada:
        await ada.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        (console,) = ada.board.server.board.consoles
        link = f"http://127.0.0.1:{ada.port}/icon.svg"
        console.line.write(f"\x1b[2J\x1b[HSee {link}.\r\njavascript:alert(1)\r\n".encode())
        await ada.sees("alert(1)")
        await ada.page.get_by_role("button", name="Copy", exact=True).tap()
        await ada.page.get_by_role("button", name="Copy all").tap()
        await ada.page.get_by_text("Copied.").wait_for()
        copied = await ada.page.evaluate("async () => await navigator.clipboard.readText()")
        assert copied.startswith(f"See {link}.\njavascript:alert(1)")
        assert await ada.page.locator("#sheet a").all_text_contents() == [link]
        asked: list[str] = []

        async def agrees(dialog: Any) -> None:
            asked.append(dialog.message)
            await dialog.accept()

        ada.page.on("dialog", agrees)
        async with ada.page.context.expect_page() as opened:
            await ada.page.get_by_role("link", name=link).tap()
        assert (await opened.value).url == link
        assert asked == [f"Open this page?\n{link}"]
        await ada.page.get_by_role("button", name="Close").tap()

        # In landscape the keys are next to the screen, and the letters as large as possible.
        await ada.page.set_viewport_size({"width": 844, "height": 390})
        await ada.page.wait_for_function("() => document.body.classList.contains('lying')")
        pad = await ada.page.locator("#pad").bounding_box()
        await ada.page.wait_for_function(
            "() => document.getElementById('screen').terminal.cols === 80"
        )
        shown = await ada.page.locator(".xterm-screen").bounding_box()
        assert shown["x"] + shown["width"] <= pad["x"]
        assert (shown["width"] >= 400, shown["height"] > 280) == (True, True), shown


async def test_a_sysop_needs_no_mouse(browser: Any, tmp_path: Path) -> None:
    """By keyboard alone: a log-on, a filter, a plot, an act with its confirmation, and off."""
    async with (
        world(tmp_path) as board,
        served_pages(board) as place,
        window(browser, **DESK) as page,
    ):
        board.enter("Sysop")
        board.enter("Ada", saved=3600)
        sysop, press = Visitor(page, board), page.keyboard.press
        await page.goto(place)
        await page.locator("input:focus").wait_for()  # keys typed earlier are lost
        await sysop.types("Sysop")
        await sysop.tabs_to("Password")
        await sysop.types(PASSWORD)
        await press("Enter")
        await page.get_by_role("heading", name="Today", exact=True).wait_for()
        await sysop.tabs_to("Ledger")
        await press("Enter")
        await page.get_by_role("heading", name="Ledger").wait_for()
        assert await page.title() == f"Ledger - {board.config.board.name}"
        await sysop.tabs_to("Kind: any")
        await press("Enter")
        await sysop.tabs_to("gift")
        await press("Space")
        await sysop.tabs_to("Caller: any")
        await press("Enter")
        await sysop.tabs_to("Another")
        await sysop.types("ada")
        await press("Enter")
        await page.get_by_role("columnheader", name="Held then").wait_for()
        await page.get_by_text("Kind: gift").wait_for()
        await sysop.tabs_to("Plots")
        await press("Enter")
        await page.locator("figure.plot canvas").nth(3).wait_for()
        await sysop.tabs_to("Week")
        await press("Enter")
        await page.get_by_text("16 November 2026 to 22 November 2026").wait_for()
        await page.locator("figure.plot canvas").nth(3).wait_for()
        await sysop.tabs_to("The numbers, as a table")
        await press("Enter")
        assert await page.locator("figure details").first.get_attribute("open") is not None
        await page.goto(f"{place}acts")
        await sysop.tabs_to("Its name")
        await sysop.types("mail hour")
        await press("Enter")
        await page.get_by_text("If it is done now: Mail hour closes the board").wait_for()
        await sysop.tabs_to("Do it")
        await press("Enter")
        await page.get_by_text("Mail hour closes the board from 12:01 to 13:01").wait_for()
        await sysop.tabs_to("Sysop")
        await press("Enter")
        await sysop.tabs_to("Log off")
        await press("Enter")
        await page.get_by_label("Password").wait_for()
        assert sysop.complaints == []


async def test_days_are_turned_with_the_arrow_keys_but_not_out_of_a_field(
    browser: Any, tmp_path: Path
) -> None:
    async with (
        world(tmp_path) as board,
        served_pages(board) as place,
        window(browser, **DESK) as page,
    ):
        board.enter("Sysop")
        board.enter("Ada", saved=3600)
        sysop, press = Visitor(page, board), page.keyboard.press
        await page.goto(place)
        await the_sysop_logs_on(page)
        await page.get_by_label("Caller").fill("ada")
        await press("Enter")
        await page.get_by_role("heading", name="Friday 20 November 2026").wait_for()
        await page.get_by_role("link", name="Week").click()
        await page.get_by_role("heading", name="16 November 2026 to 22 November").wait_for()
        with board.books() as desk:
            desk.connection.exec_driver_sql("UPDATE callers SET created = created - 1728000")
        await page.get_by_role("link", name="Month").click()
        await page.get_by_role("heading", name="1 November 2026 to 30 November").wait_for()
        await page.wait_for_load_state()
        await press("ArrowLeft")
        await page.get_by_role("heading", name="1 October 2026 to 31 October").wait_for()
        await page.wait_for_load_state()
        await page.get_by_label("From day").focus()
        await press("ArrowLeft")
        await press("ArrowRight")
        await page.locator("h1").click()
        await press("Control+ArrowRight")
        await press("ArrowRight")
        await page.get_by_role("heading", name="1 November 2026 to 30 November").wait_for()
        await page.wait_for_load_state()
        await press("ArrowRight")  # to days that are not yet: nothing
        assert "since=2026-11-01" in page.url
        assert sysop.complaints == []


async def test_a_point_of_a_plot_leads_to_its_transfers(browser: Any, tmp_path: Path) -> None:
    async with (
        world(tmp_path, toml=WEB) as board,
        served_pages(board) as place,
        window(browser, **DESK) as page,
    ):
        board.enter("Sysop")
        board.enter("Ada", saved=3600)
        board.clock.suspend(2 * 86400)
        sysop = Visitor(page, board)
        await page.goto(place)
        await the_sysop_logs_on(page)
        for name, x, where in (
            ("Savings and loans outstanding", 0.0, "ledger?day=2026-11-20"),
            ("Minutes by day", 1.0, "ledger?day=2026-11-22&kind=grant"),
        ):
            await page.goto(f"{place}plots")
            over = page.locator("section", has=page.get_by_role("heading", name=name))
            over = over.locator(".u-over")
            await over.scroll_into_view_if_needed()
            box = await over.bounding_box()
            left, top = box["x"] + 2 + x * (box["width"] - 4), box["y"]
            await page.mouse.click(left, top + box["height"] / 2)
            assert page.url == f"{place}plots", "no point is near"
            await page.mouse.click(left, top + box["height"] - 2)
            await page.wait_for_url(f"{place}{where}")
        assert sysop.complaints == []


async def test_a_hand_is_played_again_step_by_step_and_its_seal_is_checked(
    browser: Any, tmp_path: Path
) -> None:
    async with (
        at_the_table(tmp_path) as ada,
        served_pages(ada.board) as place,
        window(browser, **DESK) as page,
    ):
        await ada.bets(1, hand("hit", "stay", ends="win"))
        await ada.does("hit", "stay")
        await ada.bets(1, hand("stay", ends="lose"))
        ada.board.enter("Sysop")
        sysop = Visitor(page, ada.board)
        await page.goto(place)
        await the_sysop_logs_on(page)
        await page.goto(f"{place}ledger?caller=Ada&kind=won")
        await page.get_by_role("link", name="hand 1").first.click()
        await page.get_by_text("Your browser has checked it: the seed fits the seal").wait_for()
        await page.get_by_role("button", name="Step").click()
        await sysop.sees("Hand 1")
        for _ in range(60):
            if await page.get_by_role("button", name="Step").is_disabled():
                break
            await page.get_by_role("button", name="Step").press("Enter")
        await sysop.sees("You win")
        await page.get_by_role("button", name="Back").click()
        await page.wait_for_function(f"() => !({READ_SCREEN})().includes('You win')")
        await page.get_by_role("button", name="Play").click()
        await sysop.sees("You win")

        # All of it is checked on the page that callers have.
        await page.get_by_role("link", name="Check the payment too").click()
        await page.get_by_role("heading", name="The hand is as it was sealed.").wait_for()
        await page.get_by_text("In all +1 coin. So it was booked: that agrees.").wait_for()
        await page.go_back()

        # A seed that does not open its seal is reported.

        async def forge(route: Any) -> None:
            answer = await route.fetch()
            text = re.sub("(seal&#34;: &#34;)..", r"\1zz", await answer.text())
            await route.fulfill(response=answer, body=text)

        await page.route("**/hand/1", forge)
        await page.reload()
        await page.get_by_text("The seed does not fit the seal").wait_for()

        # The hand that is open shows no seed.
        await page.goto(f"{place}hand/2")
        await page.get_by_text("The shoe is not done").wait_for()
        assert sysop.complaints == []
        dark = {"color_scheme": "dark", "storage_state": await page.context.storage_state()}
        async with window(browser, **PHONE, **dark, bypass_csp=True) as phone:
            await phone.goto(f"{place}hand/1?day=on")
            await phone.get_by_label("Hand").select_option("Hand 2")
            await Visitor(phone, ada.board).sees("Hand 2")
            assert await violations(phone) == []
            assert not await phone.evaluate("document.body.scrollWidth > innerWidth")


async def test_a_foreign_page_cannot_act_even_with_stolen_data(
    browser: Any, tmp_path: Path
) -> None:
    """The page is of the same site, so the browser sends the cookie; it also has the whole form."""
    async with (
        world(tmp_path) as board,
        served_pages(board) as place,
        window(browser, **DESK) as page,
    ):
        board.enter("Sysop")
        board.enter("Ada", saved=3600)
        await page.goto(place)
        await the_sysop_logs_on(page)
        await page.get_by_role("link", name="Callers").click()
        await page.get_by_role("link", name="Ada").click()
        await page.get_by_role("link", name="Adjust, freeze").click()
        adjust = page.locator('form[action="/act/adjust"]')
        await adjust.get_by_label("Minutes").fill("5")
        await adjust.get_by_label("Why?").fill("a gift")
        await adjust.get_by_role("button").click()
        await page.get_by_text("If it is done now: Transfer").wait_for()
        stolen = await page.locator('form[action="/act/adjust/do"]').evaluate("f => f.outerHTML")
        evil = stolen.replace('action="/', f'action="{place}')
        elsewhere = "http://127.0.0.1:4999/"
        await page.context.route(
            elsewhere, lambda route: route.fulfill(body=evil, content_type=HTML)
        )
        other = await page.context.new_page()
        await other.goto(elsewhere)
        await other.get_by_role("button", name="Do it").click()
        await other.get_by_text("That form did not come from this page.").wait_for()
        assert board.balances("Ada")["bank"] == 3600
        await page.get_by_role("button", name="Do it").click()
        await page.get_by_text("The account holds 1:05:00.").wait_for()
        assert board.balances("Ada")["bank"] == 3900


async def test_nothing_on_the_pages_shuts_anybody_out(browser: Any, tmp_path: Path) -> None:
    """By the rules of axe-core, with the windows of a desk and of phones, light and dark.

    On phones the header is one row, and tables of many columns fold.
    """
    async with world(tmp_path, toml=WEB) as board, served_pages(board) as place:
        board.enter("Sysop")
        board.enter("Ada", saved=3600)
        small = {"viewport": {"width": 320, "height": 640}, "color_scheme": "light"}
        for how in (
            *({**DESK, "color_scheme": "light"}, {**PHONE, "color_scheme": "dark"}, small),
        ):
            async with window(browser, **how, bypass_csp=True) as page:
                await page.goto(place)
                assert await violations(page) == []
                await the_sysop_logs_on(page)
                days = "caller/2?since=2026-11-01"
                for path in ("", "ledger", "entry/1", "callers", days, "plots", "balances"):
                    await page.goto(f"{place}{path}")
                    for choice in await page.locator(".choice summary").all():
                        await choice.click()
                    assert await violations(page) == [], path
                    wider = await page.evaluate("document.body.scrollWidth > innerWidth")
                    assert not wider, f"{path} is scrolled sideways"
                    assert await page.evaluate(SIDEWAYS) == [], path
                    assert await page.evaluate("document.querySelector('header').clientHeight") < 64
                    if path.startswith("caller/"):
                        is_bars = await page.locator(".bar").first.is_visible()
                        assert is_bars != await page.locator(".sankey").is_visible()
                        assert is_bars == (how["viewport"]["width"] < 640)
                for path in ("caller/2", "plots", "ledger"):
                    await page.goto(f"{place}{path}")
                    await page.emulate_media(media="print")
                    left_out = page.locator("nav, form, button, .acts").filter(visible=True)
                    assert await left_out.count() == 0, f"print {path}"
                    await page.emulate_media(media="screen")
        async with window(browser, **PHONE, bypass_csp=True) as page:
            await Visitor(page, board).opens_the_page()
            assert await violations(page) == []


async def test_the_page_about_the_board_is_for_everybody(browser: Any, tmp_path: Path) -> None:
    """By the rules of axe-core, as wide as the smallest phone, light and dark."""
    toml = f'{WEB}[public]\npage = true\naddress = "https://board.example"\n'
    async with world(tmp_path, toml=toml) as board:
        board.enter("W" * 24, saved=3600)
        await board.server.public_page.renew()
        small = {"viewport": {"width": 360, "height": 740}, "bypass_csp": True}
        for colours in ("light", "dark"):
            async with window(browser, **small, color_scheme=colours) as page:
                await page.goto(f"http://127.0.0.1:{board.server.ports[1]}/about")
                assert await violations(page) == []
                assert await page.evaluate("document.documentElement.scrollWidth") == 360
                assert await page.evaluate("document.images[0].naturalWidth") == 1280
                await page.get_by_role("link", name="Play now").click()
                await Visitor(page, board).sees("Name:")
                async with page.context.expect_page() as opening:
                    await page.get_by_role("link", name="The Test Board").click()
                await (await opening.value).get_by_role("link", name="Français").click()
                await (await opening.value).get_by_role("link", name="Jouer").wait_for()


async def violations(page: Any) -> list[str]:
    found = (await Axe().run(page)).response["violations"]
    return [
        f"{each['id']}: {each['help']}: {each['nodes'][0]['html'][:200]}"
        for each in found
        if each["impact"] in ("serious", "critical")
    ]


class CheckPage(NamedTuple):
    """The page that checks hands, opened from a file, and all that it has asked for."""

    page: Any
    asked_for: list[str]

    async def says(self, text: str, verdict: str) -> str:
        """Paste a text, wait for the verdict and return its lines."""
        await self.page.get_by_role("textbox").fill(text)
        await self.page.keyboard.press("Tab")
        await self.page.keyboard.press("Enter")
        await self.page.get_by_role("heading", name=verdict, exact=True).wait_for()
        return str(await self.page.locator("#findings").inner_text())

    async def finds(self, proof: dict[str, Any], *changes: tuple[dict[str, Any], str]) -> None:
        """Each change of a proof is found, and named."""
        for change, named in changes:
            finding = await self.says(json.dumps({**proof, **change}), "Something does not fit.")
            assert named in finding

    async def link(self) -> str:
        return str(await self.page.locator("#link").evaluate("link => link.href"))


def file_of_the_check_page(folder: Path) -> str:
    file = folder / "check.html"
    file.write_text(check_page.built(), encoding="utf-8")
    return file.as_uri()


@asynccontextmanager
async def check_page_of(browser: Any, folder: Path, **how: Any) -> AsyncIterator[CheckPage]:
    """Open the file; nothing else may be asked for."""
    file = file_of_the_check_page(folder)
    async with window(browser, **how) as page:
        opened = CheckPage(page, [])
        page.on("request", lambda request: opened.asked_for.append(request.url))
        await page.goto(file)
        yield opened
    assert {url.partition("#")[0] for url in opened.asked_for} == {file}


SMALL = {**PHONE, "viewport": {"width": 360, "height": 640}, "color_scheme": "dark"}


async def test_a_saved_page_checks_a_played_hand_and_detects_changes(
    browser: Any, tmp_path: Path
) -> None:
    async with at_the_table(tmp_path) as ada:
        await ada.bets(1, hand("hit", "stay", ends="win"))
        await ada.does("hit", "stay")
        with ada.board.books() as desk:
            proof = proofs.as_proof(desk, 1)
    played = json.loads(proof)
    async with check_page_of(browser, tmp_path, **SMALL, bypass_csp=True) as check:
        finding = await check.says(proof, "The hand is as it was sealed.")
        assert f"all {len(played['cards'])} cards" in finding
        assert "You bet 1 coin, had" in finding
        assert "In all +1 coin. So it was booked: that agrees." in finding
        assert await violations(check.page) == []
        assert await check.page.evaluate("document.documentElement.scrollWidth <= 360")
        link = await check.link()
        other = "2H" if played["cards"][0] != "2H" else "3H"
        tossed = shuffle.toss(bytes.fromhex(played["seed"]), played["cut"], 4)
        await check.finds(
            played,
            ({"seal": "0" * 64}, "another seal"),
            ({"seed": "0" * 64}, "another seal"),
            ({"cut": "not mine"}, "Card "),
            ({"cards": [other, *played["cards"][1:]]}, f"Card 1 of the hand is said to be {other}"),
            ({"tosses": [[4, not tossed]]}, "The toss before card 5 is not"),
        )
    # Under the page's own policy, and in French.
    async with check_page_of(browser, tmp_path, **{**DESK, "locale": "fr-FR"}) as check:
        await check.page.goto(link)
        sealed = "La main est telle qu’elle a été scellée."
        await check.page.get_by_role("heading", name=sealed).wait_for()


async def test_a_saved_page_follows_a_chain_of_seeds_and_names_a_malformed_hand(
    browser: Any, tmp_path: Path
) -> None:
    seed, cut = bytes(range(32)), shuffle.Phrases("Cafe\u0301 noir\nthree\tblind mice", 3)
    chained = {
        "seal": shuffle.seal(seed),
        "cut": cut._asdict(),
        "anchor": shuffle.seal(bytes.fromhex(shuffle.seal(bytes.fromhex(shuffle.seal(seed))))),
        "decks": 6,
        "position": 290,
        "undealt": 0,
        "seed": seed.hex(),
        "cards": list(shuffle.run_on(seed, cut, 6, 0, 290, 30)[:30]),
        "tosses": [],
    }
    async with check_page_of(browser, tmp_path, **SMALL) as check:
        finding = await check.says(json.dumps(chained), "The hand is as it was sealed.")
        assert "number 3 of the chain" in finding
        far = await check.link()
        await check.finds(
            chained,
            ({"anchor": "0" * 64}, "another anchor"),
            ({"cut": {**chained["cut"], "link": 4}}, "another anchor"),
            ({"cut": {**chained["cut"], "text": "Café noir"}}, "Card "),
        )
        wrong = {**chained, "cut": {"text": "x", "link": 0}}
        await check.says(json.dumps(wrong), "This is not a hand: cut is missing or wrong.")
        await check.page.goto(far)
        await check.page.get_by_text("number 3 of the chain").wait_for()
        await check.says("{}", "This is not a hand: seal is missing or wrong.")
        nonsense = "This is not a hand. Paste all that door hand N --proof prints."
        await check.says("nonsense", nonsense)


CHECK_ALL = """async hands => {
    const { findings } = await import("/check.js");
    const { unpacked } = await import("/packed.js");
    const found = [];
    for (const hand of hands) {
        found.push(await findings(typeof hand === "string" ? unpacked(hand) : hand));
    }
    return found;
}"""
# The fields that the seal binds: a change is detected whatever was paid.
SEALED = {"card", "seed", "signature"}
# The page's words for each changed field that makes a difference.
NAMED = {
    "card": r"Card \d+ of the hand is said to be",
    "seed": "The seed has another seal",
    "signature": r"Card \d+ of the hand is said to be",
    "payment": "By cards, moves, stakes and rules it pays",
    "stake": r"was bet\. Booked is|it pays|These stakes cannot be paid",
    "decision": r"Move \d+ (is missing|is not open there)|The hand is over before move|it pays"
    "|was bet|It ends as|The hands lie|is said to have taken|The toss before card",
    "rule": r"it pays|It ends as|The hands lie|is said to have taken|Move \d+|over before move"
    "|These rules cannot be|The toss|These stakes cannot be paid",
}


async def test_the_page_computes_payouts_of_every_game_and_detects_changes(
    browser: Any, tmp_path: Path
) -> None:
    """Its arithmetic is its own: here it is held against the program's, with many rules."""
    played = await proved_hands(tmp_path / "books", 120)
    assert {each.proof["game"] for each in played} == set(GAMES)
    assert any(each.proof.get("beacon") for each in played)
    chance = random.Random(61)
    changed = [
        (what, proof, still_fits(proof, each.cards))
        for each in played
        for what, proof in tampered(each, chance)
    ]
    # Most rules do not affect a given hand; some of these do.
    changed = [
        each for each in changed if each[0] != "rule" or not each[2] or chance.random() < 0.1
    ]
    assert {what for what, _, is_same in changed if not is_same} > {"rule", "decision"}
    async with world(tmp_path, toml=WEB) as board, window(browser, **DESK) as page:
        await page.goto(f"http://127.0.0.1:{board.server.ports[1]}/check.html")
        whole = await page.evaluate(CHECK_ALL, [each.proof for each in played])
        short = [each for each in played if each.digits]
        linked = await page.evaluate(CHECK_ALL, [each.digits for each in short])
        for each, findings in (*zip(played, whole, strict=True), *zip(short, linked, strict=True)):
            assert [sentence for fits, sentence in findings if fits is False] == [], each.proof
            assert findings[-1][0] is True, each.proof
        of_changed = await page.evaluate(CHECK_ALL, [proof for _, proof, _ in changed])
        for (what, proof, is_same), findings in zip(changed, of_changed, strict=True):
            wrong = "\n".join(sentence for fits, sentence in findings if fits is False)
            if what in SEALED or not is_same:
                assert re.search(NAMED[what], wrong), (what, proof, findings)
            else:
                assert wrong == "", (what, proof)


# A link to a hand of a shoe with a round of drand, as release 1.0 made them.
LINK_OF_1_0 = (
    "563427596751880837672474612413243845192785652086615871814675607863609455010914627656845371"
    "563188525378065233056682384479311588243189205745216749888643623293806527061749190074733716"
    "096810177378925518798740552097934819067010754899990788650"
)


async def test_a_link_of_release_1_0_is_checked_but_for_its_round(
    browser: Any, tmp_path: Path
) -> None:
    async with check_page_of(browser, tmp_path, **SMALL) as check:
        page = check.page
        await page.goto(f"{page.url.partition('#')[0]}#{LINK_OF_1_0}")
        await page.get_by_role("heading", name=SEALED_AS_IT_WAS).wait_for()
        findings = await page.locator("#findings").inner_text()
        assert "does not check the round" in findings
        assert "In all" in findings
        damaged = f"{LINK_OF_1_0[:120]}{9 - int(LINK_OF_1_0[120])}{LINK_OF_1_0[121:]}"
        await page.goto(f"{page.url.partition('#')[0]}#{damaged}")
        await page.get_by_role("heading", name=SEALED_AS_IT_WAS).wait_for(state="hidden")


LINKS_OF_1_0 = Path(__file__).with_name("links_of_1_0.txt").read_text("ascii").split()
"""Links of every game under many rules, as release 1.0 made them."""
READ_ALL = """async links => {
    const { unpacked } = await import("/packed.js");
    return links.map(unpacked);
}"""
# A house of some later day: before all else a game more, and in each game a move, a key and a value
# more; and other usual values.
GROW = """async () => {
    const { GAMES } = await import("/rules.js");
    const { RULES_OF_1_0 } = await import("/packed.js");
    const others = Object.entries(GAMES);
    for (const [name, game] of others) {
        delete GAMES[name];
        for (const key of Object.keys(RULES_OF_1_0[name] ?? {})) {
            game.rules[key].usual = game.rules[key].values?.at(-1) ?? 8;
        }
        Object.values(game.rules).forEach((rule) => rule.values?.unshift("another"));
        game.rules = { another: { usual: true, values: [true, false] }, ...game.rules };
        game.moves.unshift("another");
    }
    Object.assign(GAMES, { "high-card": others[0][1] }, Object.fromEntries(others));
}"""
USUAL = """async () => {
    const { GAMES } = await import("/rules.js");
    const { RULES_OF_1_0 } = await import("/packed.js");
    const rules = Object.entries(GAMES).map(([name, game]) => [name, game.rules]);
    return [RULES_OF_1_0, Object.fromEntries(rules)];
}"""


async def test_old_links_stay_readable_as_games_change(browser: Any, tmp_path: Path) -> None:
    played = await proved_hands(tmp_path / "books", 60)
    links = [each.digits for each in played if each.digits]
    async with world(tmp_path, toml=WEB) as board, window(browser, **DESK) as page:
        await page.goto(f"http://127.0.0.1:{board.server.ports[1]}/check.html")
        first, now = await page.evaluate(USUAL)
        for game, rules in first.items():
            for key, rule in rules.items():
                # Links leave the usual values out. One that has become another needs a new version
                # of links, and the values of before in packed.js.
                assert rule["usual"] == now[game][key]["usual"]
        for findings in await page.evaluate(CHECK_ALL, [*LINKS_OF_1_0, *links]):
            assert [sentence for fits, sentence in findings if fits is False] == []
        read = await page.evaluate(READ_ALL, links)
        await page.evaluate(GROW)
        assert await page.evaluate(READ_ALL, links) == read
        for findings in await page.evaluate(CHECK_ALL, LINKS_OF_1_0):
            assert [sentence for fits, sentence in findings if fits is False] == []


CHECK_TEXTS = """async texts => {
    const part = (id) => document.getElementById(id);
    const [hand, asks, verdict] = ["hand", "asks", "verdict"].map(part);
    const told = [];
    for (const text of texts) {
        hand.value = text;
        asks.requestSubmit();
        while (verdict.hidden) {
            await new Promise((done) => setTimeout(done));
        }
        told.push(verdict.textContent);
    }
    return told;
}"""
SEALED_AS_IT_WAS = "The hand is as it was sealed."
# Another test covers rules and moves, most of which do not matter. Unit and coin only format
# amounts.
NOT_TRIED = {"rules", "actions", "unit", "coin"}


def changed_alone(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield each value with one change, and the place of the change."""
    match value:
        case bool():
            yield "", not value
        case int():
            yield from (("", value + 1), ("", value + 60), ("", 0 if value else 2))
        case str():
            yield from (("", other) for other in ("", value[1:] + value[:1], f"{value}x", "win"))
        case list() | tuple():
            for place, each in enumerate(value):
                for where, other in changed_alone(each):
                    yield f"{place}.{where}", [*value[:place], other, *value[place + 1 :]]
            yield from (("", list(value[1:])), ("", [*value, *(value[:1] or [[1, True]])]))
        case dict():
            for name, each in value.items():
                for where, other in changed_alone(each):
                    yield f"{name}.{where}", {**value, name: other}
                yield f"{name}.", {key: rest for key, rest in value.items() if key != name}


def with_a_failed_round(proof: dict[str, Any]) -> dict[str, Any]:
    """Return a proof of release 1.0 of a shoe whose drand round failed."""
    beacon = {"round": 1000, "published": 1_692_806_364, "key": "8" * 192, "signature": ""}
    return {**proof, "beacon": {**beacon, "failed": "late"}}


def tossed(proof: dict[str, Any]) -> dict[str, Any]:
    """A coup like this one, of a seed by which the bank tosses for a card."""
    kind, cut, stake = GAMES["baccarat"].kind, proof["cut"], proof["stakes"][0]
    rules = {**proof["rules"], "bank_option_3v9": "toss", "bank_option_5v4": "toss"}
    decks = rules["decks"]
    for number in range(1000):
        seed = number.to_bytes(32, "big")
        coup, _ = kind.deal(rules, kind.cards(seed, cut, decks, 0), [stake], 1)
        acts, tosses = [], []
        while not coup.over:
            chance = kind.by_chance(coup, seed, cut, 0)
            if chance is not None:
                tosses.append([coup.cards_used, chance.word == "bank-card"])
            acts.append(chance or kind.absent(coup))
            coup, _ = kind.act(coup, acts[-1])
        if tosses:
            break
    totals = kind.totals(coup, 0)
    paid = {**vars_of(totals), "outcome": kind.outcome(coup, 0), "laid": kind.laid(coup, 0)}
    return {
        **proof,
        "seed": seed.hex(),
        "seal": shuffle.seal(seed),
        "decks": decks,
        "position": 0,
        "cards": list(coup.shoe[: coup.cards_used]),
        "tosses": tosses,
        "rules": rules,
        "actions": list(map(str, acts)),
        "paid": paid,
    }


def vars_of(totals: Totals) -> dict[str, int]:
    lost, returned, won = totals.lost, totals.returned, totals.won
    return {"lost": lost, "returned": returned, "won": won, "net": won - lost}


def says_no_less(proof: dict[str, Any], other: dict[str, Any]) -> bool:
    """Return whether no page can notice the change.

    That is a missing anchor, another text about a failed round, or another seat's bet.
    """
    if "anchor" in proof and not other.get("anchor"):
        return True
    beacon, other_beacon = proof.get("beacon"), other.get("beacon")
    if beacon != other_beacon and "failed" in beacon:
        return other_beacon is None or other_beacon.get("signature") == ""
    seat, stakes = proof["seat"] - 1, other.get("stakes", [])
    is_as_long = len(stakes) == len(proof["stakes"])
    return stakes != proof["stakes"] and is_as_long and stakes[seat] == proof["stakes"][seat]


async def test_the_page_detects_a_change_of_any_single_field(browser: Any, tmp_path: Path) -> None:
    played = [each.proof for each in await proved_hands(tmp_path, 120)]
    chained = next(each for each in played if each["anchor"] and "beacon" not in each)
    tried = [
        *(next(each for each in played if each["game"] == game) for game in GAMES),
        next(each for each in played if each.get("beacon")),
        tossed(next(each for each in played if each["game"] == "baccarat" and not each["anchor"])),
        next(each for each in played if not each["anchor"]),
        with_a_failed_round(chained),
    ]
    changes = [
        (f"{proof['game']}: {where}", other)
        for proof in tried
        for where, other in changed_alone(proof)
        if where.partition(".")[0] not in NOT_TRIED
        if other != proof and not says_no_less(proof, other)
    ]
    async with check_page_of(browser, tmp_path, **SMALL) as check:
        plain = await check.page.evaluate(CHECK_TEXTS, list(map(json.dumps, [*played, *tried])))
        assert set(plain) == {SEALED_AS_IT_WAS}
        verdicts = await check.page.evaluate(
            CHECK_TEXTS, [json.dumps(other) for _, other in changes]
        )
    unnoticed = {
        where
        for (where, _), verdict in zip(changes, verdicts, strict=True)
        if verdict == SEALED_AS_IT_WAS
    }
    assert sorted(unnoticed) == []
