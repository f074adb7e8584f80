"""The main menu, and the rooms behind it that are too small for a file of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from ansi.canvas import Canvas
from ansi.width import text_width
from door import wording
from door.call.canvas_display import CanvasDisplay
from door.call.markup import lit, literal, plain, wrap
from door.call.page import MARGIN
from door.call.scene import LAYOUT_COLUMNS, WholeWidth
from door.games.registry import GAMES
from door.lobby import bulletins, fame, texts
from door.lobby.luck import show_luck
from door.lobby.pulse import DEAL_KEY, MenuPulse
from door.lobby.teller import visit_bank
from door.session.daily_deal import DailyDeal
from door.session.mail import visit_mail
from door.session.settings import visit_settings
from door.session.who import visit_who
from door.tables.registry import TABLES
from door.tables.words import games_left, open_words, turns_are_used
from timebank.callers.hearing import ignored
from timebank.calls.calls import OpenCall, open_calls
from timebank.errors import BooksUnavailable
from timebank.language import N_, _, ngettext, speaking_to
from timebank.wagers.tournaments import LeftHands, waiting

if TYPE_CHECKING:
    from ansi.art import Art
    from ansi.canvas import Row
    from door.call.board import Board
    from door.call.caller import Caller
    from door.call.purse import TickingPurse
    from door.call.scene import Area
    from door.games.engine.descriptor import Game
    from door.games.engine.settings import StakeSettings


SERVICES = {
    "T": N_("Time bank"),
    "W": N_("Who is on"),
    "N": N_("News"),
    "M": N_("Messages"),
    "D": N_("Daily deal"),
    "H": N_("Hall of fame"),
    "S": N_("Statistics"),
    "Y": N_("Your settings"),
    "G": N_("Goodbye"),
}
SILENT = {"L": N_("Luck")}  # what the menu has no room for, and the help names
MEANINGS = {
    "T": N_("Save minutes for another day, take them out, send some or borrow."),
    "W": N_("See who else is on the board, and where; watch their table."),
    "N": N_("Read who won today and yesterday, how the house did, and who is rich."),
    "M": N_("Write to other callers, read what they wrote, leave a line on the menu."),
    "D": N_("Play the ten hands that everybody plays today, and the tournament."),
    "H": N_("See who won most today, this week and ever, and who broke the bank."),
    "S": N_("See how you play: hands, streaks, minutes by day, and where you stand."),
    "L": N_("See how lucky you were: what your hands won, and what the odds would have given."),
    "Y": N_("Choose screen, language and password; take the tour again."),
    "G": N_("Leave the board. What you don't use today is gone, unless you bank it."),
}
MAIN_MENU = N_("Main menu")
MAIL_KEY = "M"
OWN_ROWS = 4  # for what the caller themselves is told among what goes on
NAMES_SHOWN = 3  # of those who are on
INDENT, NARROW_INDENT = "     ", "    "
MORE = "..."
BANK_COLUMN, NARROW_BANK_COLUMN = 22, 20  # from the left of the time that is left
NOTHING, ABOUT, WORDS, ALL = range(4)  # of what is said of a game beneath its title
NOWHERE, BELOW_TIME, EVERYWHERE = range(3)  # where an empty row stands
TURN_SECONDS = 6.0  # that a line stands where several share a row
MOST_FOLLOWED = 100  # callers; with more, who is on is said anew at the next look at the menu
TALL = 30  # rows; with so many the menu stands in the middle


async def main_menu(board: Board, caller: Caller) -> None:
    """Books that cannot be used do not end the call: the caller is told, and may wait or leave. But
    a hand that has to be left open is taken up as at any log-on, by calling again."""
    told, heard = "", None
    while True:
        caller.place = MAIN_MENU
        caller.status.coin = caller.config.coin
        games = {game.letter: game for name, game in GAMES.items() if board.config.games[name].open}
        able = games_left(caller, house=_house(board, caller))
        default = next((game.letter for game, *_left in able), None)
        scene = await _scene(board, caller, list(games.values()), default, heard)
        choice = await _choose(caller, scene, games, default, told)
        told, heard = "", None if caller.console.screen.is_painted else scene.heard_now
        # It isn't held while they play: a thousand callers would keep as many.
        del scene
        caller.console.display.forget()
        try:
            if choice in games:
                await TABLES[games[choice].name].sit_down(board, caller).visit()
            elif choice == "G":
                if await caller.console.prompt.agrees(_leaving(caller)):
                    return
            else:
                await visit_room(board, caller, choice)
        except BooksUnavailable as broken:
            if caller.hand_waits:
                raise
            told = str(broken)


def _leaving(caller: Caller) -> str:
    return _("Leave the board?") if caller.record.board is None else _("Leave the games?")


def _meanings(caller: Caller) -> dict[str, str]:
    meanings = {letter: _(words) for letter, words in MEANINGS.items()}
    if caller.record.board is not None:
        meanings["G"] = _("Leave the games, with the time that you have left.")
    return meanings


async def _choose(
    caller: Caller, scene: MenuScene, games: dict[str, Game], default: str | None, told: str
) -> str:
    console = caller.console
    display = console.display
    if isinstance(display, CanvasDisplay) and scene.is_crowded(display.whole_area):
        words, scene = scene.statements, replace(scene, statements=())
        if display.whole_area.is_narrow:  # with no more room below the scene
            scene.live.own.extend(f"|14{each}" for each in words)
            console.display.stage(scene)
        else:
            console.display.stage(scene)
            console.screen.say(f"|14{' '.join(words)}")
    else:
        console.display.stage(scene)
    if told:
        console.screen.say(f"|12{told}")
    company = caller.config.company
    hidden = () if company.messages or company.one_liners else ("M",)
    services = {letter: _(label) for letter, label in SERVICES.items() if letter not in hidden}
    silent = {letter: _(label) for letter, label in SILENT.items()}
    with _ticking(caller, scene):
        return await console.prompt.ask(
            {**{letter: game.title for letter, game in games.items()}, **services, **silent},
            menu=f"|07{_('Your game, or')} {lit(services)}",
            default=default,
            cancel="G",
            meanings={
                **{letter: _(game.about) for letter, game in games.items()},
                **_meanings(caller),
            },
        )


@contextmanager
def _ticking(caller: Caller, scene: MenuScene) -> Iterator[None]:
    """Let the time in the menu run, as the one in the status line does, and follow what goes on."""

    def refresh() -> None:
        scene.live.follow(scene)
        caller.console.display.refresh()  # another one, once the window has changed

    before = caller.clock.on_tick
    caller.clock.on_tick = refresh
    try:
        with scene.live.followed(refresh):
            yield
    finally:
        caller.clock.on_tick = before


async def visit_room(board: Board, caller: Caller, choice: str) -> None:
    """Go to a room of the menu that is no table, by its letter."""
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
    elif choice == "L":
        await show_luck(board, caller)
    elif choice == "M":
        await visit_mail(caller)
    elif choice == "Y":
        await visit_settings(board, caller)


def _house(board: Board, caller: Caller) -> dict[str, StakeSettings]:
    """Return the settings of the games that are open: a shared table's are those of now."""
    return {
        name: (board.config if game.is_shared else caller.config).games[name]
        for name, game in GAMES.items()
        if board.config.games[name].open
    }


# The menu itself.


@dataclass(frozen=True)
class Offer:
    """A game in the menu. `words` is how the caller stands there today."""

    letter: str
    title: str
    about: str
    words: str
    is_default: bool

    def rows(self, detail: int) -> list[str]:
        enter = f" |07({_('Enter')})" if self.is_default else ""
        rows = [f" |08<|15{self.letter}|08> |15{self.title}{enter}"]
        both = _("{about}; {words}").format(about=self.about, words=self.words)
        said = {
            ALL: both if self.words else self.about,
            WORDS: self.words,
            ABOUT: self.about,
            NOTHING: "",
        }[detail]
        return [*rows, f"|07{said}"] if said else rows

    def row(self) -> str:
        """Tell in one line which game it is, and how the caller stands there."""
        title = self.rows(NOTHING)[0].strip()
        if not self.words:
            return title
        return _("{field}: {meaning}").format(field=f"{title}|07", meaning=self.words)


class Live:
    """What goes on at the board while a caller looks at the menu."""

    def __init__(self, board: Board, caller: Caller, waiting: LeftHands) -> None:
        self._board = board
        self._caller = caller
        self._waiting = waiting
        self.own: list[str] = []  # lines of the caller's own, that have no place elsewhere
        self._pulse = MenuPulse.among(board.shared)

    def lines(self) -> list[str]:
        """Return it a line each, what waits for the caller first."""
        goings_on = self._pulse.now.lines(
            one_liners=self._caller.config.company.one_liners,
            ignored=ignored(self._caller.record.preferences),
        )
        return [*self.own, *self._of_caller(), *goings_on]

    def _of_caller(self) -> Iterator[str]:
        if new := self._caller.talk.new_words(MAIL_KEY):
            yield f"|13{new}"
        if self._waiting.deal:
            yield f"|14{_('<{key}> Your daily deal waits for you').format(key=DEAL_KEY)}"
        if self._waiting.tournament:
            yield f"|14{_('<{key}> Your tournament hand waits for you').format(key=DEAL_KEY)}"

    def turn(self) -> int:
        """Count the turns of lines that share a row."""
        return int(self._board.clock.monotonic() // TURN_SECONDS)

    async def look(self) -> None:
        await self._pulse.look()

    @contextmanager
    def followed(self, refresh: Callable[[], None]) -> Iterator[None]:
        """Look anew, and call `refresh` when there is news."""
        self._pulse.watchers.add(refresh)
        try:
            self._pulse.wake()
            yield
        finally:
            self._pulse.watchers.discard(refresh)

    def follow(self, scene: MenuScene) -> None:
        """Bring a menu up to date, and look again if it is time."""
        self._pulse.wake()
        if len(self._board.callers()) <= MOST_FOLLOWED:
            with speaking_to(self._caller.console.viewer):
                scene.greet(_greeting(self._board, self._caller, self._pulse.now.on))


@dataclass(eq=False)
class MenuScene(WholeWidth):
    """The menu under its header, as much of it as the screen has room for, in the middle of a large
    one. All but the time left is painted once, so a second that passes costs one field."""

    board: str
    greeting: Sequence[str]
    purse: TickingPurse
    bank: str
    offers: Sequence[Offer]
    # How the caller did at the table that they come from, and where they may go on.
    statements: Sequence[str]
    header: Art | None
    has_status_line: bool
    live: Live
    # In lines: what was told before of what goes on, None where the menu is new to who hears it;
    # and what they will have heard then.
    heard: frozenset[str] | None = None
    heard_now: frozenset[str] = frozenset()
    # What stands still, in which row the time left is, and which rows are free.
    _painted: dict[tuple[Area, int, bool], tuple[tuple[Row, ...], int, int]] = field(
        default_factory=dict
    )

    def paint(self, canvas: Canvas, area: Area) -> None:
        key = (area, canvas.columns, canvas.colour)
        if key not in self._painted:
            self._painted[key] = self._paint_still(canvas, area)
        rows, time_row, free = self._painted[key]
        canvas.paste(0, rows)
        canvas.put_pipe(time_row, self._left(area), self._time(area))
        self._paint_live(canvas, area, free)

    def greet(self, greeting: Sequence[str]) -> None:
        """Say anew who is on."""
        if greeting != self.greeting:
            self.greeting = greeting
            self._painted.clear()

    def _paint_live(self, canvas: Canvas, area: Area, free: int) -> None:
        """Paint what goes on in the free rows; where there are too few, in turn."""
        width = min(area.columns, LAYOUT_COLUMNS) - 2
        room = area.rows - free
        if room <= 0:
            return
        turns = _in_turn(self.live.lines(), width, room)
        shown = turns[self.live.turn() % len(turns)]
        first = free + 1 if len(shown) < room else free  # an empty row above
        for row, line in enumerate(shown, first):
            canvas.put_pipe(row, self._left(area), line)

    def lines(self) -> Sequence[str]:
        """Tell the menu; whoever has heard it on this call is told again what may have changed."""
        if self.heard is None:
            title = [f"|15{self.board}", ""]
            offers = [row.strip() for offer in self.offers for row in offer.rows(ALL)]
        else:
            title, offers = [], [offer.row() for offer in self.offers]
        return [
            *title,
            *self.greeting,
            self._time(),
            *([self.bank] if self.bank else []),
            "",
            *offers,
            *self._stated(),
            *(line for line in self.live.lines() if line not in (self.heard or ())),
        ]

    def explain(self) -> Sequence[str]:
        last_row = _(
            "The last row shows your node, your time left, your pot in coins and your bank."
        )
        return [
            _("Time left is what you can still spend today, online or at the tables."),
            _("Under each game: what it is, your turns and your limits."),
            *([last_row] if self.has_status_line else []),
        ]

    def is_crowded(self, area: Area) -> bool:
        """Whether the header would have to go for what is said below the games, or where it is
        narrow, has no room there at all."""
        if not self.statements:
            return False
        above = len(self._above(area)) + len(self._bank_rows(area))
        header, games = self._fitting(area, above)
        return header is None and (not area.is_narrow or 1 + above + len(games) > area.rows)

    def _time(self, area: Area | None = None) -> str:
        clock = f"|15{wording.clock_time(self.purse.time_left())}"
        if area is None:
            return f"|07{_('Time left')}  {clock}"
        # A shorter time leaves none of a longer one; what stands beside it begins further right.
        gap = " " if area.is_narrow else "  "
        return f"|07{_('Time left')}{gap}{clock}  "

    def _stated(self) -> list[str]:
        return [f"|14{' '.join(self.statements)}"] if self.statements else []

    def _left(self, area: Area) -> int:
        return area.centred() + 1

    def _above(self, area: Area) -> list[str]:
        width = min(area.columns, LAYOUT_COLUMNS) - 2
        return [line for each in self.greeting for line in wrap(each, width)]

    def _bank_rows(self, area: Area) -> list[str]:
        """Return the rows from that of the time left on, with what the bank holds beside it or
        below."""
        if not area.is_narrow:
            return [" " * BANK_COLUMN + self.bank]
        bank = self.bank.replace("  ", " ")
        beside = text_width(plain(bank)) + NARROW_BANK_COLUMN <= area.columns - 2
        if beside and text_width(plain(self._time(area))) <= NARROW_BANK_COLUMN + 1:
            return [" " * NARROW_BANK_COLUMN + bank]
        return ["", self.bank]

    def _paint_still(self, canvas: Canvas, area: Area) -> tuple[tuple[Row, ...], int, int]:
        """Paint what stands still; return in which row the time left is, and the first free row."""
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
        return still.painted(0, area.rows), time_row, free

    def _fitting(self, area: Area, above: int) -> tuple[Art | None, list[str]]:
        """Choose how much is said of each game, and whether the header is shown, with so many rows
        between that and the games. Empty rows give way to what goes on."""
        games: list[str] = []
        on_narrow = (
            (self.header, ABOUT, BELOW_TIME, 1),
            (self.header, ABOUT, NOWHERE, 0),
            (self.header, NOTHING, BELOW_TIME, 1),
            (self.header, NOTHING, NOWHERE, 0),
        )
        for header, detail, gaps, kept in (
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
            if rows + above + len(games) + (OWN_ROWS if self.live.own else kept) <= area.rows:
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
    """Share out texts to screens of so many rows. What is longer than all of them shows that there
    is more.

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
    heard: frozenset[str] | None,
) -> MenuScene:
    offers = []
    for game in games:
        try:
            words = await TABLES[game.name].menu_words(board, caller)
        except BooksUnavailable:  # the menu is no reason to end a call
            words = _("The books can't be read just now.")
        is_default = game.letter == default
        offers.append(Offer(game.letter, game.title, _(game.about), words, is_default))
    live = Live(board, caller, await _left_hands(caller))
    if not caller.console.screen.is_painted:  # lines are told once
        await live.look()
    return MenuScene(
        board=board.config.board.name,
        greeting=_greeting(board, caller, await _elsewhere(board, caller)),
        purse=caller.purse,
        bank=_bank(caller),
        offers=offers,
        statements=_statements(board, caller),
        header=texts.find(caller.console, board.config.board.texts, "menu"),
        has_status_line=caller.console.screen.is_painted,
        live=live,
        heard=heard,
        heard_now=frozenset(live.lines()),
    )


def _statements(board: Board, caller: Caller) -> list[str]:
    """Say how they did at the table they come from, and where they may go on without turns."""
    house = _house(board, caller)
    done = [GAMES[name].title for name, game in house.items() if turns_are_used(caller, name, game)]
    if not done:
        return [caller.statement] if caller.statement else []
    still = games_left(caller, house=house)
    told = [caller.statement, open_words(still, {game.name: game.title for game, *_left in still})]
    console = caller.console
    is_narrow = console.screen.is_painted and console.screen.page_columns < LAYOUT_COLUMNS
    if is_narrow or not any(told):  # else each game says below its name how many turns it has
        told.insert(1, _("No turns left today at {games}.").format(games=", ".join(done)))
    return list(filter(None, told))


def _bank(caller: Caller) -> str:
    purse = caller.purse.posted
    said = []
    if caller.bank_settings.mode == "built-in":
        said.append(f"|07{_('Time bank')}  |15{wording.clock_time(purse.bank)}")
    if behind := wording.comes_back_after(purse, caller.bank_settings.schedule):
        after = _("After {event}").format(event=behind)
        more = _("{time} more").format(time=wording.clock_time(purse.held))
        said.append(f"|07{after}  |15{more}")
    return "   ".join(said)


async def _left_hands(caller: Caller) -> LeftHands:
    """Look up which hands a caller has left, for instance by hanging up."""
    try:
        return await caller.look_up(partial(waiting, caller_id=caller.record.id))
    except BooksUnavailable:  # the menu is no reason to end a call
        return LeftHands(deal=False, tournament=False)


async def _elsewhere(board: Board, caller: Caller) -> list[OpenCall]:
    """Look up who is on, where that may be in other processes too."""
    if board.peers.others:
        with suppress(BooksUnavailable):
            return await caller.ask_books(open_calls)
    return []


def _greeting(board: Board, caller: Caller, calls: Iterable[OpenCall]) -> list[str]:
    name, running = f"|15{caller.record.name}|07", caller.opened.days_running
    welcome = _("Good to see you, {name}.").format(name=name)
    if running > 1:
        words = _("Good to see you, {name}: {number} days in a row.")
        welcome = words.format(name=name, number=running)
    return [f"|07{welcome} {_company(board, caller, calls)}"]


def _company(board: Board, caller: Caller, calls: Iterable[OpenCall]) -> str:
    """Say who else is on, those on this server first."""
    here = {other.call_id: other for other in board.callers() if other is not caller}
    others = [f"{other.record.name} ({_(other.place)})" for other in here.values()]
    if board.peers.others:
        ours = {caller.call_id, *here}
        others += [call.name for call in calls if call.live and call.call_id not in ours]
    if not others:
        return _("You're the only one on.")
    shown = [literal(name) for name in others[:NAMES_SHOWN]]
    if more := len(others) - len(shown):
        shown.append(ngettext("{number} more", "{number} more", more).format(number=more))
    return _("Also on: {names}.").format(names=", ".join(shown))


async def _news(caller: Caller) -> None:
    caller.place = N_("News")
    found = await caller.look_up(bulletins.news)
    console = caller.console
    # Two lists side by side would be read out mixed up, row by row.
    columns = (
        console.screen.page_columns - MARGIN if console.screen.is_painted else bulletins.COLUMN
    )
    await console.pager.read(_("News"), "\n".join(bulletins.news_lines(found, columns)))
