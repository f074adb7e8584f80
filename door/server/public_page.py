"""The public page about the board, if `[public]` switches it on.

The server makes the page every `FRESH_SECONDS` and keeps it in memory. The picture is our welcome
drawing, a file of the callers' page. A request reads nothing from the books, and every visitor gets
the same files. The page names callers as the bulletin and the brass plate do, and shows nothing
else about them.
"""

from __future__ import annotations

import asyncio
import html
import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

from door import wording
from door.clock import sleep
from door.lines.registry import KINDS
from door.lines.web import pages
from door.lobby import bulletins, greeting
from door.tables.scoring import percent
from timebank.callers import awards
from timebank.callers.award_names import BANK
from timebank.errors import BooksFailed
from timebank.language import LANGUAGES, Viewer, _, ngettext, speaking_to
from timebank.wagers import contests, deals, tournaments
from timebank.words import date_time_words, day_words, span

if TYPE_CHECKING:
    from datetime import datetime

    from door.call.board import Board
    from door.call.books import Books
    from door.config.config import Config
    from door.config.public import PublicSettings
    from door.lines.web.pages import File
    from door.lobby.bulletins import Bulletin
    from timebank.callers.standings import Standing
    from timebank.ledger.database import Desk
    from timebank.wagers.tournaments import Champion

FRESH_SECONDS = 300  # between two makes; a browser may keep the page as long
ABOUT, PICTURE = "about", "about.png"
LOOPBACK = ("127.", "::1")

log = logging.getLogger("door.server")


class CallingWay(NamedTuple):
    """One way to call: its kind, the command or address to type, and a link for browsers or ""."""

    name: str
    typed: str
    link: str = ""


class BestOfDeal(NamedTuple):
    """The best tries at today's deal; `names` is empty if the page names no callers."""

    is_worlds: bool
    names: Sequence[str]
    cost: int
    played: int


@dataclass(frozen=True)
class BoardNow:
    """The contents of the page from the books; `at` is the time by the board's clock."""

    at: datetime
    news: Bulletin | None  # None if the page names no callers
    breakers: Sequence[str]
    until: datetime | None  # the end of the open tournament by the board's clock
    champion: Champion | None  # of the last tournament
    best: BestOfDeal | None  # None until the cost of a try at today's deal is known


class PublicPage:
    """The files of the public page.

    `files` has each file by its path; while the page is off, those that name the board.
    """

    def __init__(self, board: Board, books: Books) -> None:
        self.files: dict[str, File] = {}
        self._board = board
        self._books = books
        self._ports: Sequence[int] = ()
        self._problem = ""

    async def open(self, ports: Sequence[int]) -> None:
        """Make the page for the first time; `ports` are the ports of the listeners, in order."""
        self._ports = ports
        await self.renew()

    async def keep(self) -> None:
        """Make the page again every `FRESH_SECONDS`, until cancelled."""
        while True:
            await sleep(self._board.clock, FRESH_SECONDS)
            await self.renew()

    async def renew(self) -> None:
        """Make the page by the current settings, or keep the old one if the books fail."""
        config = self._board.config
        if not (config.public.is_shown and self._ports):
            self.files.clear()
            self.files |= pages.named(config.board.name, config.board.language)
            return
        try:
            contents = await self._books.read(lambda desk: _look(desk, config.public))
            made = await asyncio.to_thread(lambda: dict(_files(config, self._ports, contents)))
        except BooksFailed as error:
            if str(error) != self._problem:
                log.error("the page about the board stays as it was: %s", error)
            self._problem = str(error)
            return
        except Exception:  # a fault of the page must not end the server
            log.exception("the page about the board cannot be made")
            return
        self._problem = ""
        for path in self.files.keys() - made.keys():
            del self.files[path]
        self.files.update(made)


def _look(desk: Desk, public: PublicSettings) -> BoardNow:
    return BoardNow(
        desk.now.astimezone(desk.settings.zone),
        bulletins.of_yesterday(desk) if public.has_names else None,
        awards.holders(desk, BANK, bulletins.PLACES) if public.has_names else (),
        _open_until(desk),
        tournaments.champion(desk) if public.has_names else None,
        _best_of_deal(desk, has_names=public.has_names),
    )


def _best_of_deal(desk: Desk, *, has_names: bool) -> BestOfDeal | None:
    deal = deals.open_today(desk)
    ranking = [] if deal is None else contests.ranking(desk, deal)
    if deal is None or not ranking or ranking[0].cost is None:
        return None
    first = [each.name for each in ranking if each.place == 1][: bulletins.PLACES]
    return BestOfDeal(deal.is_worlds, first if has_names else (), ranking[0].cost, len(ranking))


def _open_until(desk: Desk) -> datetime | None:
    until = tournaments.outlook(desk).until
    return None if until is None else until.astimezone(desk.settings.zone)


def _time(local: datetime) -> str:
    return f"{date_time_words(local)} {local:%Z}"


def _files(config: Config, ports: Sequence[int], contents: BoardNow) -> Iterator[tuple[str, File]]:
    public, own = config.public, config.board.language
    entries = _calling_ways(config, ports)
    heads, made_in = {}, {}
    for language in LANGUAGES:
        with speaking_to(Viewer(language)):
            heads[language] = _head(config, f"{public.address}/", language)
            text = _page(config, entries, contents, language).encode()
        made_in[language] = pages.made(".html", text, FRESH_SECONDS, language)
        yield f"/{_path(language)}", made_in[language]
    yield from pages.named(config.board.name, own).items()
    yield "/", pages.front(config.board.name, own, ABOUT, heads)
    yield f"/{ABOUT}", pages.in_languages(made_in, own)


def _path(language: str) -> str:
    return f"{ABOUT}.{language}"


# How to call.


def _calling_ways(config: Config, ports: Sequence[int]) -> list[CallingWay]:
    """Return the ways to call: those in `[public]`, else the listeners open to other machines."""
    public = config.public
    if public.call_lines:
        return [CallingWay("", typed) for typed in public.call_lines]
    entries = [CallingWay("web", public.address, public.address)]
    for listener, port in zip(config.listeners, ports, strict=True):
        way = KINDS[listener.kind].how_to_call
        if way is not None and not (listener.proxies or listener.host.startswith(LOOPBACK)):
            entries.append(CallingWay(listener.kind, *way(public.host, port)))
    return list(dict.fromkeys(entries))


# The page, in the viewer's language.


@lru_cache(maxsize=1)
def _template() -> str:
    return (files("door.lines.web") / "about.html").read_text("utf-8")


def _page(config: Config, entries: Sequence[CallingWay], contents: BoardNow, language: str) -> str:
    board, public = config.board, config.public
    others = (
        f'<a href="{_path(each)}" hreflang="{each}" lang="{each}">{html.escape(name)}</a>'
        for each, name in LANGUAGES.items()
        if each != language
    )
    made = _("As of {time}, by the board's clock.").format(time=_time(contents.at))
    values = {
        "language": language,
        "board": html.escape(board.name),
        "head": _head(config, f"{public.address}/{_path(language)}", language),
        "alt": html.escape(_alt(config)),
        "about": html.escape(_about(config)),
        "play": html.escape(_("Play now")),
        "parts": "\n".join(_parts(entries, contents)),
        "made": html.escape(made),
        "others": " ".join(others),
    }
    return pages.fill(_template(), values)


def _about(config: Config) -> str:
    words = _("Card games for minutes online. You get {minutes} a day, and you win more time.")
    return words.format(minutes=span(config.bank.minutes_per_day * 60))


def _alt(config: Config) -> str:
    return _("The first screen of {board}.").format(board=config.board.name)


def _head(config: Config, address: str, language: str) -> str:
    """Return the tags for previews of links (https://ogp.me), and the page's other languages."""
    public = config.public
    properties = {
        "og:title": config.board.name,
        "og:description": _about(config),
        "og:url": address,
        "og:type": "website",
        "og:locale": language,
        "og:image": f"{public.address}/{PICTURE}",
        "og:image:type": "image/png",
        "og:image:alt": _alt(config),
    }
    tags = [
        f'<meta property="{name}" content="{html.escape(text)}">'
        for name, text in properties.items()
    ]
    tags.append(f'<meta name="description" content="{html.escape(_about(config))}">')
    tags.append('<meta name="twitter:card" content="summary_large_image">')
    if address != f"{public.address}/":
        tags.append(f'<link rel="canonical" href="{html.escape(address)}">')
        tags += (
            f'<link rel="alternate" hreflang="{each}"'
            f' href="{html.escape(public.address)}/{_path(each)}">'
            for each in LANGUAGES
        )
        own = f"{html.escape(public.address)}/{ABOUT}"
        tags.append(f'<link rel="alternate" hreflang="x-default" href="{own}">')
    return "\n".join(tags)


def _parts(entries: Sequence[CallingWay], contents: BoardNow) -> Iterator[str]:
    yield _section(_("How to call"), _calling(entries))
    if contents.best is not None:
        yield _section(_("The daily deal"), _deal(contents.best))
    if contents.until or contents.champion is not None:
        yield _section(_("The tournament"), _tournament(contents))
    if contents.news is not None:
        yield _section(_("Hall of fame"), _hall(contents.news, contents.breakers))


def _section(heading: str, inside: str) -> str:
    return f"<section>\n<h2>{html.escape(heading)}</h2>\n{inside}\n</section>"


def _calling(entries: Sequence[CallingWay]) -> str:
    rows = []
    for way in entries:
        typed = f"<code>{html.escape(way.typed)}</code>"
        if way.link:
            typed = f'<a href="{html.escape(way.link)}">{typed}</a>'
        if way.name:
            rows.append(f"<dt>{html.escape(_(KINDS[way.name].call_label))}</dt>\n<dd>{typed}</dd>")
        else:
            rows.append(f"<li>{typed}</li>")
    inside, kind = "\n".join(rows), "dl" if entries[0].name else "ul"
    return f"<{kind}>\n{inside}\n</{kind}>"


def _deal(best: BestOfDeal) -> str:
    words = _("Ten hands of Black Jack For Time, for honour. The best decisions win.")
    if best.is_worlds:
        words += " " + _("Every board has these cards today.")
    played = ngettext(
        "{number} caller has played. The best try costs {percent} of a bet.",
        "{number} callers have played. The best try costs {percent} of a bet.",
        best.played,
    ).format(number=best.played, percent=percent(best.cost))
    paragraphs = f"<p>{html.escape(words)}</p>\n<p>{html.escape(played)}</p>"
    if not best.names:
        return paragraphs
    names = _places(_("Best today"), ((name, percent(best.cost)) for name in best.names))
    return f'{paragraphs}\n<div class="lists">\n{names}\n</div>'


def _tournament(contents: BoardNow) -> str:
    sentences = []
    if contents.until is not None:
        sentences.append(
            _("A tournament is on until {time}. The cards are the same for everybody.").format(
                time=_time(contents.until)
            )
        )
    if contents.champion is not None:
        sentences.append(greeting.champion_words(contents.champion.names))
    return "\n".join(f"<p>{html.escape(each)}</p>" for each in sentences)


def _hall(news: Bulletin, breakers: Sequence[str]) -> str:
    lists = [
        _standings(_("Richest callers"), news.richest),
        _standings(_("Winners of all time"), news.ever_winners),
        _standings(
            _("Winners of {day}").format(day=day_words(news.day_news.day.isoformat())),
            news.day_news.winners,
        ),
    ]
    if breakers:
        lists.append(_places(_("They broke the bank"), ((name, "") for name in breakers)))
    note = html.escape(_("Amounts are time: hours, minutes and seconds."))
    inside = "\n".join(lists)
    return f'<div class="lists">\n{inside}\n</div>\n<p>{note}</p>'


def _standings(heading: str, places: Sequence[Standing]) -> str:
    return _places(heading, ((each.name, wording.clock_time(each.seconds)) for each in places))


def _places(heading: str, rows: Iterable[tuple[str, str]]) -> str:
    items = [
        f"<li><span>{html.escape(name)}</span><b>{html.escape(amount)}</b></li>"
        for name, amount in rows
    ]
    inside = "\n".join(items) or f"<li>{html.escape(_('nobody yet'))}</li>"
    return f"<div>\n<h3>{html.escape(heading)}</h3>\n<ol>\n{inside}\n</ol>\n</div>"
