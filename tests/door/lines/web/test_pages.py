"""The files of the page, as any program that speaks HTTP gets them."""

from __future__ import annotations

import gzip
import json
import re

import pytest

from door.desk.pages.hand_film import CALLERS_PAGE, CHECK
from door.lines.web import pages
from tests.door.lines.web.site import asked, get, open_site

CLOSE = "Connection: close"


def parted(answer: bytes) -> tuple[str, dict[str, str], bytes]:
    head, _, body = answer.partition(b"\r\n\r\n")
    status, *fields = head.decode().split("\r\n")
    return status, {name: value for name, _, value in (f.partition(": ") for f in fields)}, body


async def test_the_page_has_the_name_of_the_board_and_a_strict_policy() -> None:
    async with open_site() as board:
        status, headers, body = parted(await asked(board.port, get("/", CLOSE)))
    assert status == "HTTP/1.1 200 OK"
    assert "<title>The &lt;Lucky&gt; Modem</title>" in body.decode()
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    assert int(headers["Content-Length"]) == len(body)


@pytest.mark.parametrize(
    ("own", "accepted", "language", "says"),
    [
        ("en", "fr-CA,fr;q=0.9,en;q=0.8", "fr", "Chargement…"),
        ("en", "de, fr;q=0.5", "fr", "Chargement…"),
        ("fr", "en-GB", "en", "Loading…"),
        ("fr", "de", "fr", "Chargement…"),
        ("en", "", "en", "Loading…"),
        ("en", "fr;q=0, *;q=nan, ;;,=", "en", "Loading…"),
    ],
)
async def test_the_page_is_in_the_language_of_the_browser_before_any_script_runs(
    own: str, accepted: str, language: str, says: str
) -> None:
    async with open_site(language=own) as board:
        request = get("/", f"Accept-Language: {accepted}", CLOSE)
        _, headers, body = parted(await asked(board.port, request))
        tag = f"If-None-Match: {headers['ETag']}"
        other = "en" if language == "fr" else "fr"
        for wanted, answer in ((accepted, "304"), (other, "200")):
            again = get("/", f"Accept-Language: {wanted}", tag, CLOSE)
            status, unchanged, _ = parted(await asked(board.port, again))
            assert (answer in status, unchanged["Vary"]) == (True, headers["Vary"])
    assert headers["Content-Language"] == language
    assert headers["Vary"] == "Accept-Encoding, Accept-Language"
    assert f'<html lang="{language}">' in body.decode()
    assert f'<p id="state" role="status">{says}</p>' in body.decode()


def test_what_is_fetched_before_the_first_paint_is_small() -> None:
    """The page, its styles, and the scripts that it loads before the terminal, as they are sent."""
    files = pages.load("A board")
    text = files["/"].plain.decode()
    names = re.findall(r'<link rel="stylesheet" href="([^"]+)"|src="([^"]+)"', text)
    due, needed = ["/" + (style or script) for style, script in names], {"/"}
    while due:
        needed.add(path := due.pop())
        imports = re.findall(rb'^import .*"\./([^"]+)"', files[path].plain, re.MULTILINE)
        due += [f"/{name.decode()}" for name in imports]
    sent = sum(len(files[path].packed or files[path].plain) for path in needed)
    assert "/page.js" in needed
    assert not {"/vendored/xterm.mjs", "/vendored/terminal.woff2"} & needed
    assert "preload" not in text
    assert sent < 20_000  # 150,000 with the terminal


async def test_a_phone_can_put_the_board_on_its_home_screen() -> None:
    files = pages.load("The <Lucky> Modem")
    async with open_site() as board:
        _, headers, body = parted(await asked(board.port, get("/manifest.webmanifest", CLOSE)))
    assert headers["Content-Type"] == "application/manifest+json"
    assert "manifest-src 'self'" in headers["Content-Security-Policy"]
    manifest = json.loads(body)
    assert (manifest["name"], manifest["start_url"]) == ("The <Lucky> Modem", "./")
    for icon in manifest["icons"]:
        size = f"{icon['sizes']}".partition("x")[0]
        picture = files[f"/{icon['src']}"].plain
        assert picture.startswith(b"\x89PNG\r\n\x1a\n")
        assert picture[16:24] == int(size).to_bytes(4, "big") * 2
    assert {icon["sizes"] for icon in manifest["icons"]} == {"192x192", "512x512"}


def test_people_can_zoom() -> None:
    for path in ("/", "/check.html"):
        assert not re.search(rb"user-scalable|maximum-scale", pages.load("A board")[path].plain)


def test_nothing_of_the_page_is_inline_or_from_elsewhere() -> None:
    page = pages.load("A board")["/"].plain.decode()
    assert "://" not in page
    assert not re.search(r"<script(?![^>]* src=)|<style|\sstyle=|\son\w+=", page)
    shown_page = pages.load("A board")
    for name in re.findall(r'(?:src|href)="([^"]+)"', page):
        assert f"/{name}" in shown_page


def test_every_import_of_the_scripts_exists() -> None:
    files = pages.load("A board")
    for path, file in files.items():
        if path.endswith(".js"):
            for name in re.findall(rb'(?:from|import\(?) ?"\./([^"]+)"', file.plain):
                assert f"/{name.decode()}" in files


def test_the_sysops_pages_serve_every_import_of_the_checking_page() -> None:
    for name in (name for name in CHECK if name.endswith(".js")):
        text = (CALLERS_PAGE / name).read_text()
        assert set(re.findall(r'from "\./([^"]+)"', text)) <= set(CHECK)


def test_no_language_of_the_page_has_words_that_english_has_not() -> None:
    text = pages.load("A board")["/words.js"].plain.decode()
    tables = re.findall(r"^    (\w\w): \{(.*?)^    \},", text, re.DOTALL | re.MULTILINE)
    named = {language: re.findall(r"^        (\w+):", table, re.M) for language, table in tables}
    assert all(set(words) <= set(named["en"]) for words in named.values())
    assert len(named) > 1


def test_third_party_files_have_their_licence_and_version() -> None:
    files = pages.load("A board")
    versions = files["/vendored/versions.txt"].plain.decode()
    assert "@xterm/xterm@" in versions
    for name in ("xterm", "addon-webgl"):
        assert b"Permission is hereby granted" in files[f"/vendored/{name}.LICENSE.txt"].plain
    assert b"SIL OPEN FONT LICENSE" in files["/vendored/terminal.LICENSE.txt"].plain


async def test_a_browser_gets_a_file_packed_and_asks_only_whether_it_has_changed() -> None:
    async with open_site() as board:
        answer = await asked(
            board.port, get("/vendored/xterm.mjs", "Accept-Encoding: br, gzip", CLOSE)
        )
        status, headers, body = parted(answer)
        assert status == "HTTP/1.1 200 OK"
        assert gzip.decompress(body) == pages.load("")["/vendored/xterm.mjs"].plain
        assert headers["Content-Type"].startswith("text/javascript")
        again = get("/vendored/xterm.mjs", f"If-None-Match: {headers['ETag']}", CLOSE)
        status, _, body = parted(await asked(board.port, again))
        assert (status, body) == ("HTTP/1.1 304 Not Modified", b"")


async def test_one_connection_serves_many_requests_in_their_order() -> None:
    async with open_site() as board:
        both = get("/icon.svg") + get("/nothing") + get("/icon.svg", CLOSE)
        answer = await asked(board.port, both)
    assert re.findall(rb"^HTTP/1.1 (\d+)", answer, re.M) == [b"200", b"404", b"200"]
    assert answer.count(b"</svg>") == 2


async def test_the_head_of_an_answer_may_be_asked_for_alone() -> None:
    async with open_site() as board:
        status, headers, body = parted(
            await asked(board.port, get("/page.css", CLOSE, method="HEAD"))
        )
    assert (status, body) == ("HTTP/1.1 200 OK", b"")
    assert int(headers["Content-Length"]) > 100


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (get("/", method="POST"), "405 Method Not Allowed"),
        (get("/", "Content-Length: 7") + b"content", "400 Bad Request"),
        (get("/", "Transfer-Encoding: chunked"), "400 Bad Request"),
        (b"\x16\x03\x01\x02\0\r\n\r\n", "400 Bad Request"),
        (b"SSH-2.0-client\r\n\r\n", "400 Bad Request"),
        (get("/" + "a" * 9000), "431 Request Header Fields Too Large"),
        (get("/", *["A: b"] * 200), "400 Bad Request"),
        (get("/../../door/errors.py", CLOSE), "404 Not Found"),
        (get("/vendored/", CLOSE), "404 Not Found"),
        (get("/index.html", CLOSE), "404 Not Found"),
    ],
)
async def test_an_unknown_path_is_refused(request_: bytes, status: str) -> None:
    async with open_site() as board:
        answer = await asked(board.port, request_)
    assert parted(answer)[0] == f"HTTP/1.1 {status}"
