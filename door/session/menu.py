"""The main menu, and the way from it to every room of the board."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from ansi.canvas import Canvas
from door import wording
from door.call.canvas_display import CanvasDisplay
from door.call.markup import lit, wrap
from door.call.page import MARGIN
from door.call.scene import LAYOUT_COLUMNS, WholeWidth
from door.call.talk import listed_names
from door.games.registry import GAMES
from door.lobby import bulletins, fame, texts
from door.lobby.pulse import MenuPulse
from door.lobby.teller import visit_bank
from door.session.daily_deal import DailyDeal, LeftHands, waiting
from door.session.farewell import leaves
from door.session.mail import visit_mail
from door.session.settings import visit_settings
from door.session.while_away import waiting_lines
from door.session.who import visit_who
from door.tables.registry import TABLES
from door.tables.words import games_left, open_games, turns_are_used
from timebank.callers import awards
from timebank.callers.award_names import award_words
from timebank.callers.hearing import ignored
from timebank.calls.calls import OpenCall, open_calls
from timebank.errors import BooksUnavailable
from timebank.language import N_, _, speaking_to

if TYPE_CHECKING:
    from ansi.art import Art
    from ansi.canvas import Row
    from door.call.board import Board
    from door.call.caller import Caller
    from door.call.purse import TickingPurse
    from door.call.scene import Area
    from door.games.engine.descriptor import Game
    from door.games.engine.settings import StakeSettings


MENU_LABELS = {
    "T": N_("Time bank"),
    "W": N_("Who is on"),
    "N": N_("News"),
    "M": N_("Messages"),
    "S": N_("Statistics"),
    "D": N_("Deal and duels"),
    "H": N_("Hall of fame"),
    "Y": N_("Your settings"),
    "G": N_("Goodbye"),
}
MEANINGS = {
    "T": N_("Save minutes for another day, take them out, send some or borrow."),
    "W": N_("See who else is on the board, and where; watch their table."),
    "N": N_("Read who won today and yesterday, how the house did, and who is rich."),
    "M": N_("Write to other callers, read what they wrote, leave a line on the menu."),
    "D": N_("Play the ten hands that everybody plays today, the tournament, and duels."),
    "H": N_("See who won most today, this week and ever, and who broke the bank."),
    "S": N_("See how you play: hands, streaks, minutes by day, and where you stand."),
    "Y": N_("Choose screen, language and password; take the tour again."),
    "G": N_("Leave the board."),
}
MAIN_MENU = N_("Main menu")
MAIL_KEY = "M"
OWN_ROWS = 4  # reserved for the caller's own notices
NAMES_SHOWN = 3  # of the other callers who are on
INDENT, NARROW_INDENT = "     ", "    "
MORE = "..."
BANK_COLUMN = 22  # counted from the "T" of "Time left"
NOTHING, ABOUT, WORDS, ALL = range(4)  # how much detail to show under a game's title
NOWHERE, BELOW_TIME, EVERYWHERE = range(3)  # where to leave an empty row
TURN_SECONDS = 6.0  # that a line is shown where several share a row
MOST_FOLLOWED = 100  # callers on; with more, only a new look at the menu renews the greeting
TALL = 30  # rows from which the menu is centred vertically


async def main_menu(board: Board, caller: Caller) -> None:
    """Show the menu and visit the rooms that the caller chooses, until they leave.

    If the books are unavailable, the caller reads so and may wait or leave. Only an open hand ends
    the call, as the next log-on leads back to it.
    """
    trouble, known, language = "", list[str](), ""
    while True:
        before, language = language, caller.console.viewer.language
        if language != before:
            known = []
        caller.place = MAIN_MENU
        caller.status.coin = caller.config.coin
        games = {game.letter: game for name, game in GAMES.items() if board.config.games[name].open}
        default = next(
            (game.letter for game, *_left in games_left(caller, house=_house(board, caller))), None
        )
        scene = await _scene(board, caller, list(games.values()), default)
        shown = [] if caller.console.screen.is_painted else list(scene.lines())
        choice = await _choose(caller, scene, games, default, trouble, known)
        trouble, known = "", shown
        # Free the scene while a game runs; 1,000 callers would hold 1,000 of them.
        del scene
        caller.console.display.forget()
        try:
            if choice in games:
                await TABLES[games[choice].name].sit_down(board, caller).visit()
            elif choice == "G":
                if await leaves(caller):
                    return
            else:
                await visit_room(board, caller, choice)
        except BooksUnavailable as broken:
            if caller.hand_waits:
                raise
            trouble = str(broken)


def _meanings(caller: Caller) -> dict[str, str]:
    meanings = {letter: _(words) for letter, words in MEANINGS.items()}
    if caller.record.board is not None:
        meanings["G"] = _("Leave the games, with the time that you have left.")
    else:
        meanings["G"] += f" {wording.expiry(caller.bank_settings)}"
    return meanings


async def _choose(
    caller: Caller,
    scene: MenuScene,
    games: dict[str, Game],
    default: str | None,
    trouble: str,
    known: Sequence[str],
) -> str:
    """Show the menu and return the chosen letter; plain lines leave out `known` lines."""
    console = caller.console
    display = console.display
    if isinstance(display, CanvasDisplay) and scene.is_crowded(display.whole_area):
        words, scene = scene.statements, replace(scene, statements=())
        if display.whole_area.is_narrow:  # there is no room below the scene either
            scene.live.own.extend(f"|14{each}" for each in words)
            console.display.stage(scene)
        else:
            console.display.stage(scene)
            console.screen.say(f"|14{' '.join(words)}")
    else:
        console.display.stage(scene, [*known, *scene.offer_lines()] if known else ())
    if trouble:
        console.screen.say(f"|12{trouble}")
    config = caller.config.social
    hidden = () if config.messages or config.one_liners else ("M",)
    services = {letter: _(label) for letter, label in MENU_LABELS.items() if letter not in hidden}
    again = f"|07{_('Your game, or ? for the list:')}"
    with _ticking(caller, scene):
        return await console.prompt.ask(
            {**{letter: _(game.title) for letter, game in games.items()}, **services},
            menu=f"|07{_('Your game, or')} {lit(services)}",
            brief=again if known else "",
            default=default,
            meanings={
                **{letter: _(game.about) for letter, game in games.items()},
                **_meanings(caller),
            },
        )


@contextmanager
def _ticking(caller: Caller, scene: MenuScene) -> Iterator[None]:
    """Update the menu's time left every second, and its lines when there is news."""

    def refresh() -> None:
        scene.live.follow(scene)
        caller.console.display.refresh()  # looked up each time: a resized window has a new one

    before = caller.clock.on_tick
    caller.clock.on_tick = refresh
    try:
        with scene.live.followed(refresh):
            yield
    finally:
        caller.clock.on_tick = before


async def visit_room(board: Board, caller: Caller, choice: str) -> None:
    """Visit the room of this letter of the menu; the tables are none of them."""
    if choice == "T":
        await visit_bank(caller)
    elif choice == "W":
        await visit_who(board, caller)
    elif choice == "N":
        await _news(caller)
    elif choice == "D":
        await DailyDeal(board, caller).visit()
    elif choice == "H":
        await fame.visit_hall(caller)
    elif choice == "S":
        await fame.visit_record(board, caller)
    elif choice == "M":
        await visit_mail(caller)
    elif choice == "Y":
        await visit_settings(board, caller)


def _house(board: Board, caller: Caller) -> dict[str, StakeSettings]:
    """Return the settings of the open games: a shared table's as they are, others' as at log-on."""
    return {
        name: (board.config if game.is_shared else caller.config).games[name]
        for name, game in GAMES.items()
        if board.config.games[name].open
    }


# The menu itself.


@dataclass(frozen=True)
class Offer:
    """A game in the menu; `words` are the caller's turns and limits there today."""

    letter: str
    title: str
    about: str
    words: str
    is_default: bool

    def rows(self, detail: int) -> list[str]:
        enter = f" |07({_('Enter')})" if self.is_default else ""
        rows = [f" |08<|15{self.letter}|08> |15{self.title}{enter}"]
        both = _("{about}; {words}").format(about=self.about, words=self.words)
        text = {
            ALL: both if self.words else self.about,
            WORDS: self.words,
            ABOUT: self.about,
            NOTHING: "",
        }[detail]
        return [*rows, f"|07{text}"] if text else rows


class Live:
    """The news of the board below the menu, renewed while a caller looks at it."""

    def __init__(self, board: Board, caller: Caller, waiting: LeftHands) -> None:
        self._board = board
        self._caller = caller
        self._waiting = waiting
        self.own: list[str] = []  # statements that found no room elsewhere in the menu
        self._pulse = MenuPulse.among(board.shared)

    def lines(self) -> list[str]:
        """Return the news as lines, the caller's own first."""
        news = self._pulse.news.lines(
            self._caller.record.name,
            one_liners=self._caller.config.social.one_liners,
            ignored=ignored(self._caller.record.preferences),
        )
        return [*self.own, *self._own_news(), *news]

    def _own_news(self) -> Iterator[str]:
        if new := self._caller.talk.new_words(MAIL_KEY):
            yield f"|13{new}"
        yield from waiting_lines(self._waiting)

    def turn(self) -> int:
        """Return the number of the current turn, for lines that share a row."""
        return int(self._board.clock.monotonic() // TURN_SECONDS)

    async def look(self) -> None:
        await self._pulse.look()

    @contextmanager
    def followed(self, refresh: Callable[[], None]) -> Iterator[None]:
        """Look again now, and call `refresh` when there is news."""
        self._pulse.watchers.add(refresh)
        try:
            self._pulse.wake()
            yield
        finally:
            self._pulse.watchers.discard(refresh)

    def follow(self, scene: MenuScene) -> None:
        """Bring the greeting up to date, and look for news if that is due."""
        self._pulse.wake()
        if len(self._board.callers()) <= MOST_FOLLOWED:
            with speaking_to(self._caller.console.viewer):
                scene.greet(_greeting(self._board, self._caller, self._pulse.news.calls))


@dataclass(eq=False)
class MenuScene(WholeWidth):
    """The menu under its header, as much of it as the screen has room for.

    All but the time left and the news is painted once, so each second costs at most one field.
    """

    board: str
    greeting: Sequence[str]
    purse: TickingPurse
    bank: str
    offers: Sequence[Offer]
    # The caller's result at the table that they come from, and the games that they may still play.
    statements: Sequence[str]
    header: Art | None
    has_status_line: bool
    live: Live
    # The rows painted once, the row of the time left, and the first free row.
    _painted: dict[tuple[Area, int, bool], tuple[tuple[Row, ...], int, int]] = field(
        default_factory=dict
    )

    def paint(self, canvas: Canvas, area: Area) -> None:
        key = (area, canvas.columns, canvas.colour)
        if key not in self._painted:
            self._painted[key] = self._paint_still(canvas, area)
        rows, time_row, free = self._painted[key]
        canvas.paste(0, rows)
        if not area.is_narrow:  # there the last row alone has the time
            # The spaces behind it erase the rest of a longer time.
            canvas.put_pipe(time_row, self._left(area), f"{self._time()}  ")
        self._paint_live(canvas, area, free)

    def greet(self, greeting: Sequence[str]) -> None:
        """Replace the greeting, which names who is on."""
        if greeting != self.greeting:
            self.greeting = greeting
            self._painted.clear()

    def _paint_live(self, canvas: Canvas, area: Area, free: int) -> None:
        """Paint the news in the free rows; if they are too few, in turns."""
        width = min(area.columns, LAYOUT_COLUMNS) - 3
        room = area.rows - free
        if room <= 0:
            return
        turns = _in_turn(self.live.lines(), width, room)
        shown = turns[self.live.turn() % len(turns)]
        first = free + 1 if len(shown) < room else free  # an empty row above
        for row, line in enumerate(shown, first):
            canvas.put_pipe(row, self._left(area) + 1, line)  # below the keys of the games

    def offer_lines(self) -> list[str]:
        return ["  ".join(map(str.strip, offer.rows(ALL))) for offer in self.offers]

    def lines(self) -> Sequence[str]:
        return [
            f"|15{self.board}",
            "",
            *self.greeting,
            self._time(),
            *([self.bank] if self.bank else []),
            "",
            *self.offer_lines(),
            *self._stated(),
            *self.live.lines(),
        ]

    def explain(self, *, in_lines: bool = False) -> Sequence[str]:
        last_row = _(
            "The last row shows your node, your time left, your pot in coins and your bank."
        )
        return [
            _("Time left is what you can still spend today, online or at the tables."),
            _("Under each game: what it is, your turns and your limits."),
            *([last_row] if self.has_status_line else []),
        ]

    def is_crowded(self, area: Area) -> bool:
        """Return whether the statements would displace the header, or on a narrow screen lack
        room."""
        if not self.statements:
            return False
        above = len(self._above(area)) + len(self._bank_rows(area))
        header, games = self._fitting(area, above)
        return header is None and (not area.is_narrow or 1 + above + len(games) > area.rows)

    def _time(self) -> str:
        return f"|07{_('Time left')}  |15{wording.clock_time(self.purse.time_left())}"

    def _stated(self) -> list[str]:
        return [f"|14{' '.join(self.statements)}"] if self.statements else []

    def _left(self, area: Area) -> int:
        return area.centred() + 1

    def _above(self, area: Area) -> list[str]:
        width = min(area.columns, LAYOUT_COLUMNS) - 2
        return [line for each in self.greeting for line in wrap(each, width)]

    def _bank_rows(self, area: Area) -> list[str]:
        """Return the rows of the bank, on a wide screen next to the time left."""
        if area.is_narrow:
            return list(wrap(self.bank, area.columns - 2))
        return [" " * BANK_COLUMN + self.bank]

    def _paint_still(self, canvas: Canvas, area: Area) -> tuple[tuple[Row, ...], int, int]:
        """Paint all but time and news; return the rows, the row of the time, the first free row."""
        still = Canvas(canvas.columns, area.rows, colour=canvas.colour)
        above, bank = self._above(area), self._bank_rows(area)
        header, games = self._fitting(area, len(above) + len(bank))
        head = 1 if header is None else texts.header_rows(header)
        left = self._left(area)
        top = 0
        if header is None:
            still.put_pipe(0, 0, "|17" + " " * still.width)
            still.put_pipe(0, left, f"|17|15{self.board}")
        else:
            if area.rows >= TALL:
                top = max(0, area.rows - head - len(above) - len(bank) - len(games)) // 2
            texts.paint_header(still, header, area, top)
        time_row = top + head + len(above)
        for row, line in enumerate([*above, *bank, *games], top + head):
            if row < area.rows:
                still.put_pipe(row, left, line)
        free = top + head + len(above) + len(bank) + len(games)
        return still.copy(0, area.rows), time_row, free

    def _fitting(self, area: Area, above: int) -> tuple[Art | None, list[str]]:
        """Choose whether to show the header, and the rows of the games in as much detail as fits.

        `above` rows lie between the two. The news needs at least one row before empty ones.
        """
        games: list[str] = []
        on_narrow = (
            (self.header, ABOUT, BELOW_TIME, 1),
            (self.header, ABOUT, NOWHERE, 0),
            (self.header, NOTHING, BELOW_TIME, 1),
            (self.header, NOTHING, NOWHERE, 0),
        )
        for header, detail, gaps, news_rows in (
            (self.header, ALL, EVERYWHERE, 1),
            (self.header, ALL, BELOW_TIME, 1),
            (self.header, ALL, NOWHERE, 1),
            *(on_narrow if area.is_narrow else ()),
            (None, ALL, BELOW_TIME, 0),
            (None, WORDS, BELOW_TIME, 0),
            (None, ABOUT, BELOW_TIME, 0),
            (None, NOTHING, BELOW_TIME, 0),
        ):
            games = self._games(area, detail, gaps)
            rows = 1 if header is None else texts.header_rows(header)
            if rows + above + len(games) + (OWN_ROWS if self.live.own else news_rows) <= area.rows:
                return header, games
        return None, games

    def _games(self, area: Area, detail: int, gaps: int) -> list[str]:
        width = min(area.columns, LAYOUT_COLUMNS) - 2
        indent = NARROW_INDENT if area.is_narrow else INDENT
        rows = [] if gaps == NOWHERE else [""]
        for number, offer in enumerate(self.offers):
            title, *beneath = offer.rows(detail)
            rows += ["", title] if gaps == EVERYWHERE and number else [title]
            for text in beneath:
                rows += [f"{indent}{line}" for line in wrap(text, width - len(indent))]
        for statement in self._stated():
            rows += [] if area.is_narrow else [""]
            rows += wrap(statement, width)
        return rows


def _in_turn(texts: Sequence[str], width: int, room: int) -> list[list[str]]:
    """Divide texts into turns of `room` rows each; cut a longer text and end it in dots.

    >>> _in_turn(["one", "two three", "four"], 7, 2)
    [['one'], ['two', 'three'], ['four']]
    >>> _in_turn(["one", "two three"], 7, 1)
    [['one'], ['two...']]
    """
    turns: list[list[str]] = [[]]
    for text in texts:
        rows = wrap(text, width)
        if len(rows) > room:
            *above, last = wrap(text, width - len(MORE))[:room]
            rows = (*above, f"{last}{MORE}")
        if len(turns[-1]) + len(rows) > room:
            turns.append([])
        turns[-1] += rows
    return turns


async def _scene(
    board: Board,
    caller: Caller,
    games: Sequence[Game],
    default: str | None,
) -> MenuScene:
    offers = []
    for game in games:
        try:
            words = await TABLES[game.name].menu_words(board, caller)
        except BooksUnavailable:  # showing the menu must not end the call
            words = _("The books can't be read just now.")
        is_default = game.letter == default
        offers.append(Offer(game.letter, _(game.title), _(game.about), words, is_default))
    hands, untold = await _waiting(caller)
    live = Live(board, caller, hands)
    if not caller.console.screen.is_painted:  # plain lines are never refreshed
        await live.look()
    return MenuScene(
        board=board.config.board.name,
        greeting=_greeting(board, caller, await _elsewhere(board, caller)),
        purse=caller.purse,
        bank=_bank(caller),
        offers=offers,
        statements=[*untold, *_statements(board, caller)],
        header=texts.find(caller.console, board.config.board.texts, "menu"),
        has_status_line=caller.console.screen.is_painted,
        live=live,
    )


def _statements(board: Board, caller: Caller) -> list[str]:
    """Return the result of the last table and, if turns are used up, the games still open."""
    house = _house(board, caller)
    done = [
        _(GAMES[name].title) for name, game in house.items() if turns_are_used(caller, name, game)
    ]
    if not done:
        return [caller.statement] if caller.statement else []
    still = games_left(caller, house=house)
    named = {game.name: _(game.title) for game, *_left in still}
    words = [caller.statement, open_games(still, named)]
    console = caller.console
    is_narrow = console.screen.is_painted and console.screen.page_columns < LAYOUT_COLUMNS
    if is_narrow or not any(words):  # elsewhere each game shows its own turns
        words.insert(1, _("No turns left today at {games}.").format(games=", ".join(done)))
    return list(filter(None, words))


def _bank(caller: Caller) -> str:
    purse = caller.purse.posted
    parts = []
    if caller.bank_settings.mode == "built-in":
        parts.append(f"|07{_('Time bank')}  |15{wording.clock_time(purse.bank)}")
    if behind := wording.releasing_event(purse, caller.bank_settings.schedule):
        after = _("After {event}").format(event=behind)
        more = _("{time} more").format(time=wording.clock_time(purse.held))
        parts.append(f"|07{after}  |15{more}")
    return "   ".join(parts)


async def _waiting(caller: Caller) -> tuple[LeftHands, list[str]]:
    """Look up which shared hands the caller has left unfinished, and the words of new awards."""
    number = caller.record.id
    try:
        hands, earned = await caller.look_up(
            lambda desk: (waiting(desk, number), awards.untold(desk, [number]))
        )
    except BooksUnavailable:  # showing the menu must not end the call
        return LeftHands(deal=False, tournament=False), []
    new = [each for each in earned.get(number, ()) if each not in caller.awards_shown]
    caller.awards_shown += tuple(new)
    return hands, [award_words(new)] if new else []


async def _elsewhere(board: Board, caller: Caller) -> list[OpenCall]:
    """Look up the calls of the whole board, if there are other processes."""
    if board.peers.others:
        with suppress(BooksUnavailable):
            return await caller.ask_books(open_calls)
    return []


def _greeting(board: Board, caller: Caller, calls: Iterable[OpenCall]) -> list[str]:
    text = _("Welcome, {name}.") if caller.is_new else _("Good to see you, {name}.")
    welcome = text.format(name=f"|15{caller.record.name}|07")
    return [f"|07{welcome} {_others_on(board, caller, calls)}"]


def _others_on(board: Board, caller: Caller, calls: Iterable[OpenCall]) -> str:
    """Name the others who are on, those on this server first."""
    here = {other.call_id: other for other in board.callers() if other is not caller}
    others = [f"{other.record.name} ({_(other.place)})" for other in here.values()]
    if board.peers.others:
        ours = {caller.call_id, *here}
        others += [call.name for call in calls if call.live and call.call_id not in ours]
    if not others:
        return _("You're the only one on.")
    return _("Also on: {names}.").format(names=listed_names(others, NAMES_SHOWN))


async def _news(caller: Caller) -> None:
    caller.place = N_("News")
    news = await caller.look_up(bulletins.news)
    console = caller.console
    # Two lists side by side would be read out mixed up, row by row.
    columns = (
        console.screen.page_columns - MARGIN if console.screen.is_painted else bulletins.COLUMN
    )
    text = "\n".join(bulletins.news_lines(news, columns))
    dress = partial(texts.headed_if_room, console, caller.config.board.texts, "news")
    await console.pager.read_or_choose(_("News"), text, {}, dress)
