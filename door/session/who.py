"""Who is on: here, on other servers of the board and in doors; and whose table can be watched."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from door import wording
from door.call.chair import SWITCHED_OFF
from door.call.markup import literal, plain
from door.call.page import Page
from door.errors import NotNow, NotSaid
from door.games.registry import GAMES
from timebank.calls.calls import OpenCall, open_calls
from timebank.language import N_, Phrase, _
from timebank.names.names import fold
from timebank.wagers.journal import games_in_play

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from ansi.canvas import Canvas
    from door.call.board import Board
    from door.call.caller import Caller
    from door.call.chair import CallersChair
    from door.call.scene import Area, Scene
    from timebank.ledger.database import Desk

PLACE = N_("Who is on")
WATCHING = N_("Watching")
ELSEWHERE = N_("on another line")
WATCH = N_("Watch")
MOST_OF_A_PLACE = 23  # characters of where somebody is, in a list
WIDE = 70  # columns that a table takes
LONGEST_NAME = 40
WATCH_KEY, QUIT = "WQ"


@dataclass(frozen=True)
class _On:
    """Somebody who is on; `chair` is where they sit, if that is here."""

    call: OpenCall
    place: str
    chair: CallersChair | None
    plays: bool  # at a table, here or elsewhere

    def may_be_seen_by(self, caller: Caller) -> bool:
        return self.chair is not None and self.chair.refusal(caller) is None


async def visit_who(board: Board, caller: Caller) -> None:
    """List who is on; from there a caller may watch the table of another."""
    told = ""
    while True:
        caller.place = PLACE
        on = await _look(board, caller)
        rows = _rows(board, caller, on)
        if not (board.config.company.watching and _playing(caller, on)):
            await caller.console.pager.read(
                _(PLACE), "\n".join([told, "", *rows] if told else rows)
            )
            return
        if await _choose(caller, rows, told) == QUIT:
            return
        told = ""
        try:
            if not board.config.company.watching:  # from just now on
                raise NotNow(Phrase(SWITCHED_OFF))
            # Somebody may have got up, or sat down, while they read.
            await _watch(caller, _playing(caller, await _look(board, caller)))
        except (NotNow, NotSaid) as refused:
            told = f"|12{refused}"


def _playing(caller: Caller, on: Sequence[_On]) -> list[_On]:
    return [each for each in on if each.plays and each.call.call_id != caller.call_id]


async def _choose(caller: Caller, rows: Sequence[str], told: str) -> str:
    """Show the list, all its pages, and ask what then."""
    console, text = caller.console, "\n".join(rows)
    if not console.pager.holds(text) and not await console.pager.read(
        _(PLACE), text, leads_on=True
    ):
        return QUIT
    console.display.stage(Page(_(PLACE), rows))
    if told:
        console.screen.say(told)
    return await console.prompt.ask(
        {WATCH_KEY: _(WATCH), QUIT: _("Quit")},
        default=QUIT,
        cancel=QUIT,
        meanings={
            WATCH_KEY: _("Sit down behind somebody's chair and see their table. They are told."),
            QUIT: _("Go back to the main menu."),
        },
    )


async def _watch(caller: Caller, playing: Sequence[_On]) -> None:
    """Have them watch one of those who play; raises `NotNow` and `NotSaid`."""
    if not playing:
        raise NotNow(Phrase("Nobody else is at a table now."))
    found = playing[0] if len(playing) == 1 else await _ask_whom(caller, playing)
    if found is None:
        return
    if found.chair is None:
        words = Phrase(
            "{name} plays on another server: nobody can watch them from here.",
            name=found.call.name,
        )
        raise NotNow(words)
    caller.talk.refuse_haste()  # who is watched is told each time
    await Watcher(caller, found.chair).stay()


async def _ask_whom(caller: Caller, playing: Sequence[_On]) -> _On | None:
    typed = await caller.console.prompt.entry(
        f"|07{_('Behind whose chair?')}|15",
        longest=LONGEST_NAME,
        meaning=_("The name of somebody at a table, or how it begins."),
    )
    if not typed or not fold(typed):
        return None
    begun = [each for each in playing if fold(each.call.name).startswith(fold(typed))]
    meant = [each for each in begun if fold(each.call.name) == fold(typed)] or begun
    if not meant:
        raise NotNow(Phrase("Nobody of that name is at a table."))
    if len(meant) > 1:
        names = ", ".join(each.call.name for each in meant)
        raise NotNow(Phrase("Who do you mean: {names}?", names=names))
    return meant[0]


# The list.


async def _look(board: Board, caller: Caller) -> list[_On]:
    here = {other.call_id: other for other in board.callers()}
    calls, games = await caller.ask_books(partial(_look_into_books, here=here))
    found = []
    for call in calls:
        other = here.get(call.call_id)
        chair = None if other is None else other.chair
        plays = chair is not None or call.caller_id in games
        found.append(_On(call, _where(board, call, here, games), chair, plays))
    return found


def _look_into_books(
    desk: Desk, here: Collection[int]
) -> tuple[Sequence[OpenCall], Mapping[int, str]]:
    """Look up who is on, and at which games those have a hand whose call is not one of `here`."""
    on = [call for call in open_calls(desk) if call.live]
    elsewhere = [call.caller_id for call in on if call.call_id not in here]
    return on, games_in_play(desk, elsewhere) if elsewhere else {}


def _where(
    board: Board, call: OpenCall, here: Mapping[int, Caller], games: Mapping[int, str]
) -> str:
    """Say where somebody is. Of those whom other processes serve the books know a hand in play, and
    the server."""
    if call.call_id in here:
        return _(here[call.call_id].place)
    game = GAMES.get(games.get(call.caller_id, ""))
    if game is not None:
        return _(game.title)
    if call.server in {peer.name for peer in board.peers.others}:
        return _("on {server}").format(server=literal(call.server))[:MOST_OF_A_PLACE]
    return _(ELSEWHERE)


def _rows(board: Board, caller: Caller, on: Sequence[_On]) -> list[str]:
    """Return a line for each who is on; behind it stands whether they can be watched."""
    now, rows = board.clock.now(), []
    is_wide = caller.console.screen.page_columns >= WIDE
    watching = board.config.company.watching
    for each in on:
        call, place = each.call, each.place
        may = f"|10{_(WATCH).lower()}" if watching and each.may_be_seen_by(caller) else ""
        on_for = wording.clock_time(max(0, int((now - call.since).total_seconds())))
        if is_wide:
            row = f"|15{call.node:>4}  |07{literal(call.name):<26}{place:<24}{on_for:>9}  {may}"
        else:
            words = _("{name}: {place}, {time}").format(
                name=literal(call.name), place=place, time=on_for
            )
            row = f"|15{call.node:>2} |07{words} {may}"
        rows.append(row.rstrip())
    if is_wide:
        heads = (_("Node"), _("Caller"), _("Where"), _("On for"))
        rows.insert(0, f"|11{heads[0]:>4}  {heads[1]:<26}{heads[2]:<24}{heads[3]:>9}")
    return rows


# Behind a chair.


class _View:
    """The table as it was seen last, or a word about why it is not."""

    def __init__(self, chair: CallersChair) -> None:
        self._name = chair.caller.record.name
        self.seen: Scene | None = None

    def paint(self, canvas: Canvas, area: Area) -> None:
        self._scene.paint(canvas, area)

    def lines(self) -> Sequence[str]:
        return self._scene.lines()

    @property
    def _scene(self) -> Scene:
        words = _("{name} looks at something else. The table comes back when they do.")
        away = words.format(name=literal(self._name))
        return self.seen or Page(_(WATCHING), [f"|07{away}"])


class Watcher:
    """One caller behind another's chair."""

    def __init__(self, caller: Caller, chair: CallersChair) -> None:
        self._console = caller.console
        self._caller = caller
        self._chair = chair
        self._view = _View(chair)
        self._told: Sequence[str] = ()  # lines of the table that were told last

    async def stay(self) -> None:
        """Watch until they have seen enough; raises `NotNow` where they may not."""
        console, chair = self._console, self._chair
        behind = chair.watch(self._caller, self._look, self._is_over)
        try:
            self._caller.place = WATCHING
            self._view.seen = chair.seen(self._caller)
            self._told = self._view.lines()
            console.display.stage(self._view)
            behind_whom = _("Behind {name}, at {game}.").format(
                name=literal(chair.caller.record.name), game=_(chair.title)
            )
            if not console.screen.is_painted:  # where it is asked again below each card
                console.screen.say(f"|15{behind_whom}")
            await console.prompt.ask(
                {"Q": _("Quit")},
                question=behind_whom if console.screen.is_painted else "",
                default="Q",
                cancel="Q",
                meanings={"Q": _("Get up, and go back to who is on.")},
            )
        finally:
            behind.end()

    def _look(self) -> None:
        self._view.seen = self._chair.seen(self._caller)
        if self._console.screen.is_painted:
            self._console.display.refresh()
            return
        lines = self._view.lines()
        if news := _news(self._told, lines):
            self._console.screen.say("\n".join(news))
        self._told = lines

    def _is_over(self, why: Phrase) -> None:
        self._caller.place = PLACE
        self._console.screen.say(f"|14{why}")


def _news(before: Sequence[str], now: Sequence[str]) -> list[str]:
    """Return which lines of a table are new, each below the one that it belongs to.

    >>> _news(["Seat 1", "  4 5", "Seat 2"], ["Seat 1", "  4 5 9", "Seat 2"])
    ['Seat 1', '  4 5 9']
    """
    told: list[str] = []
    heading = ""
    for line in now:
        is_below = plain(line).startswith(" ")
        if line not in before:
            if is_below and heading:
                told.append(heading)
            told.append(line)
        if not is_below:
            heading = "" if line not in before else line
        elif line not in before:
            heading = ""
    return told
