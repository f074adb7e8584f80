"""The page that a caller reads at log-on: what happened since their last call.

Without news there is no page. What waits and where the caller stands is shown with other news only,
as the menu shows it too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from door.call.markup import literal
from door.call.page import Page
from door.call.talk import listed_names
from door.lobby import texts
from door.lobby.accounts import read_history
from door.lobby.pulse import DEAL_KEY
from door.session.daily_deal import LeftHands, waiting
from timebank.callers import awards
from timebank.callers.award_names import award_words
from timebank.errors import BooksFailed
from timebank.language import _, ngettext
from timebank.reports import absence
from timebank.words import day_words, span

if TYPE_CHECKING:
    from door.call.caller import Caller
    from door.call.scene import Scene
    from timebank.ledger.database import Desk
    from timebank.reports.absence import Absence, DealEnd

STATEMENT = "S"
MOST_LINES = 8  # on plain lines, unless more notices and messages wait
MOST_NAMED = 3


@dataclass(frozen=True)
class AwayNews:
    """The lines of the page: the caller's own, the board's, what waits, and their minutes.

    `awards` are the words of the awards in it.
    """

    own: Sequence[str] = ()
    board: Sequence[str] = ()
    waiting: Sequence[str] = ()
    minutes: Sequence[str] = ()
    standing: str = ""
    awards: Sequence[str] = ()

    def __bool__(self) -> bool:
        return bool(self.own or self.board or self.minutes)

    def ending_with(self, line: str) -> AwayNews:
        return replace(self, minutes=[*self.minutes, line])


async def news_of(caller: Caller) -> AwayNews:
    """Look up a caller's news; without the board's if the books cannot be read."""
    news = AwayNews(own=caller.letters(), minutes=caller.minutes())
    if caller.is_new or caller.is_back:
        return news
    try:
        away, hands = await caller.look_up(partial(_look, caller=caller))
    except BooksFailed:
        return news
    return news if away is None else _with_absence(caller, news, away, hands)


def _look(desk: Desk, caller: Caller) -> tuple[Absence | None, LeftHands]:
    number = caller.record.id
    return absence.since_last_call(desk, number, caller.call_id), waiting(desk, number)


def _with_absence(caller: Caller, news: AwayNews, away: Absence, hands: LeftHands) -> AwayNews:
    today = caller.bank_settings.schedule.day_of(caller.console.clock.now())
    is_first_today = away.last_day < today
    own = [*news.own, *([f"|14{award_words(away.awards)}"] if away.awards else [])]
    waits = [*waiting_lines(hands)]
    if is_first_today and away.deal_players is not None:
        waits.append(_deal_waits(away.deal_players))
    running = caller.opened.days_running if is_first_today else 0
    return replace(
        news,
        own=own,
        board=[*_board_lines(away)],
        waiting=waits,
        standing=_standing(away, running),
        awards=away.awards,
    )


def waiting_lines(hands: LeftHands) -> Iterator[str]:
    """Yield a line for each hand that waits for a caller, for this page and for the menu."""
    if hands.deal:
        yield f"|14{_('<{key}> Your daily deal waits for you').format(key=DEAL_KEY)}"
    if hands.duel:
        yield f"|14{_('<{key}> A duel waits for you').format(key=DEAL_KEY)}"
    if hands.tournament:
        yield f"|14{_('<{key}> Your tournament hand waits for you').format(key=DEAL_KEY)}"


def _deal_waits(players: int) -> str:
    words = _("<{key}> Today's deal: nobody has played it yet.")
    if players:
        words = ngettext(
            "<{key}> Today's deal: {number} caller has played it.",
            "<{key}> Today's deal: {number} callers have played it.",
            players,
        )
    return f"|14{words.format(key=DEAL_KEY, number=players)}"


def _board_lines(away: Absence) -> Iterator[str]:
    if away.best is not None:
        name, seconds = away.best
        words = _("Biggest win: {name}, {amount} with one hand.")
        yield f"|11{words.format(name=literal(name), amount=span(seconds))}"
    if away.passed:
        words = ngettext("{names} has passed you.", "{names} have passed you.", len(away.passed))
        yield f"|12{words.format(names=listed_names(away.passed, MOST_NAMED))}"
    if away.deal is not None:
        yield f"|11{_deal_words(away.deal)}"


def _deal_words(deal: DealEnd) -> str:
    words = _("Best at the daily deal of {day}: {names}.")
    if deal.place:
        words = _("Best at the daily deal of {day}: {names}. You took place {place} of {players}.")
    day = day_words(deal.day.isoformat())
    return words.format(
        day=day,
        names=listed_names(deal.winners, MOST_NAMED),
        place=deal.place,
        players=deal.players,
    )


def _standing(away: Absence, running: int) -> str:
    words = []
    if running > 1:
        words.append(_("You've called {number} days in a row.").format(number=running))
    if away.place:
        text = _("By all that you've won, you're number {place} of {ranked}.")
        words.append(text.format(place=away.place, ranked=away.ranked))
    return " ".join(words)


async def read_news(caller: Caller, news: AwayNews) -> None:
    """Let the caller read the page, and their statement if they press its key."""
    caller.console.keyboard.forget_keys()  # typed before the page was on the screen
    while await _read(caller, news) == STATEMENT:
        await read_history(caller)


async def _read(caller: Caller, news: AwayNews) -> str:
    """Show the page, and return the key that ends the reading."""
    console = caller.console
    title = _("While you were away, {name}").format(name=caller.record.name)
    if not (news.own or news.board):
        title = _("Welcome, {name}").format(name=caller.record.name)
    rows = _sections(news) if console.screen.is_painted else few_lines(news)
    also = {STATEMENT: _("Statement")} if news.minutes else {}
    dress = partial(_dress, caller, title, rows)
    return await console.pager.read_or_choose(title, "\n".join(rows), also, dress)


def _dress(caller: Caller, title: str, rows: Sequence[str], page: Page) -> Scene:
    """Put the drawn header above a page that has room for it, if need be without empty rows."""
    folder = caller.config.board.texts
    for body in (rows, [*filter(None, rows)]):
        headed = texts.headed_if_room(caller.console, folder, "news", Page(title, body))
        if isinstance(headed, texts.HeadedPage):
            return headed
    return page


def _sections(news: AwayNews) -> list[str]:
    rows = []
    for heading, lines in (
        (_("For you"), news.own),
        (_("On the board"), [*news.board, *_line(news.standing)]),
        (_("Waiting for you"), news.waiting),
        (_("Your minutes"), _line(" ".join(news.minutes))),
    ):
        if lines:
            rows += ["", f"|17|15 {heading} |16", *lines]
    return rows[1:]


def few_lines(news: AwayNews) -> list[str]:
    """Return the page for plain lines: the caller's own lines, and of the others what has room."""
    minutes = _line(" ".join(news.minutes))
    others = [*news.board, *news.waiting, *_line(news.standing)]
    room = max(0, MOST_LINES - len(news.own) - len(minutes))
    return [*news.own, *others[:room], *minutes]


def _line(words: str) -> list[str]:
    return [f"|07{words}"] if words else []


async def note_awards(caller: Caller, news: AwayNews) -> None:
    """Note in the books that the caller has read of the awards on the page."""
    if news.awards:
        with suppress(BooksFailed):  # at worst they are named once more
            await caller.ask_books(
                partial(awards.note_told, caller_id=caller.record.id, words=news.awards)
            )
