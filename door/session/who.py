"""The room "Who is on": the callers of the whole board, and watching one of their tables."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from door import wording
from door.call.chair import SWITCHED_OFF
from door.call.markup import literal, plain
from door.call.page import Page
from door.errors import NotNow, TalkRefused
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
LONGEST_PLACE = 23  # characters in the list
WIDE = 70  # columns that the list needs as a table
LONGEST_NAME = 40
WATCH_KEY, QUIT = "WQ"


@dataclass(frozen=True)
class _Entry:
    """A caller who is on; `chair` is their chair at a table of this server."""

    call: OpenCall
    place: str
    chair: CallersChair | None
    is_playing: bool  # at a table of any server

    def can_be_watched_by(self, caller: Caller) -> bool:
        return self.chair is not None and self.chair.refusal(caller) is None


async def visit_who(board: Board, caller: Caller) -> None:
    """List the callers who are on, and let this caller watch one of their tables."""
    notice = ""
    while True:
        caller.place = PLACE
        entries = await _look(board, caller)
        rows = _rows(board, caller, entries)
        playing = _playing(caller, entries) if board.config.social.watching else []
        if not any(each.can_be_watched_by(caller) for each in playing):
            if playing:
                hint = _(
                    "Nobody can be watched now. Callers at Vegas can, unless they forbid it; others"
                    " only if they allow it."
                )
                rows += ["", f"|07{hint}"]
            await caller.console.pager.read(
                _(PLACE), "\n".join([notice, "", *rows] if notice else rows)
            )
            return
        if await _choose(caller, rows, notice) == QUIT:
            return
        notice = ""
        try:
            if not board.config.social.watching:  # the sysop has just switched it off
                raise NotNow(Phrase(SWITCHED_OFF))
            # Callers may have sat down or got up since the list was shown.
            await _watch(caller, _playing(caller, await _look(board, caller)))
        except (NotNow, TalkRefused) as refused:
            notice = f"|12{refused}"


def _playing(caller: Caller, entries: Sequence[_Entry]) -> list[_Entry]:
    return [each for each in entries if each.is_playing and each.call.call_id != caller.call_id]


async def _choose(caller: Caller, rows: Sequence[str], notice: str) -> str:
    """Show all pages of the list; return the key that the caller chooses below it."""
    console, text = caller.console, "\n".join(rows)
    if not console.pager.holds(text) and not await console.pager.read(
        _(PLACE), text, leads_on=True
    ):
        return QUIT
    console.display.stage(Page(_(PLACE), rows))
    if notice:
        console.screen.say(notice)
    return await console.prompt.ask(
        {WATCH_KEY: _(WATCH), QUIT: _("Quit")},
        default=QUIT,
        cancel=QUIT,
        meanings={
            WATCH_KEY: _("Sit down behind somebody's chair and see their table. They are told."),
            QUIT: _("Go back to the main menu."),
        },
    )


async def _watch(caller: Caller, playing: Sequence[_Entry]) -> None:
    """Watch one of the callers who play; raises `NotNow` and `TalkRefused`."""
    if not playing:
        raise NotNow(Phrase("Nobody else is at a table now."))
    chosen = playing[0] if len(playing) == 1 else await _ask_whom(caller, playing)
    if chosen is None:
        return
    if chosen.chair is None:
        words = Phrase(
            "{name} plays on another server: nobody can watch them from here.",
            name=chosen.call.name,
        )
        raise NotNow(words)
    caller.talk.refuse_haste()  # each visit sends a line to the caller who is watched
    await Watcher(caller, chosen.chair).watch()


async def _ask_whom(caller: Caller, playing: Sequence[_Entry]) -> _Entry | None:
    typed = await caller.console.prompt.entry(
        f"|07{_('Behind whose chair?')}|15",
        longest=LONGEST_NAME,
        meaning=_("The name of somebody at a table, or how it begins, or their node's number."),
    )
    if not typed or not fold(typed):
        return None
    matches = _matches(typed, playing)
    if not matches:
        raise NotNow(Phrase("Nobody of that name or number is at a table."))
    if len(matches) > 1:
        names = ", ".join(each.call.name for each in matches)
        raise NotNow(Phrase("Who do you mean: {names}?", names=names))
    return matches[0]


def _matches(typed: str, playing: Sequence[_Entry]) -> list[_Entry]:
    """Return who is meant: by the whole name, else by the node, else by how the name begins."""
    wanted = fold(typed)
    by_name = [each for each in playing if fold(each.call.name) == wanted]
    by_node = [each for each in playing if str(each.call.node) == typed.strip()]
    by_start = [each for each in playing if fold(each.call.name).startswith(wanted)]
    return by_name or by_node or by_start


# The list.


async def _look(board: Board, caller: Caller) -> list[_Entry]:
    here = {other.call_id: other for other in board.callers()}
    calls, games = await caller.ask_books(partial(_look_into_books, here=here))
    entries = []
    for call in calls:
        other = here.get(call.call_id)
        chair = None if other is None else other.chair
        is_playing = chair is not None or call.caller_id in games
        entries.append(_Entry(call, _where(board, call, here, games), chair, is_playing))
    return entries


def _look_into_books(
    desk: Desk, here: Collection[int]
) -> tuple[Sequence[OpenCall], Mapping[int, str]]:
    """Look up all open calls, and the games in play of callers whose call is not in `here`."""
    on = [call for call in open_calls(desk) if call.live]
    elsewhere = [call.caller_id for call in on if call.call_id not in here]
    return on, games_in_play(desk, elsewhere) if elsewhere else {}


def _where(
    board: Board, call: OpenCall, here: Mapping[int, Caller], games: Mapping[int, str]
) -> str:
    """Return where a caller is.

    Of a caller of another process the books know only the game of an open hand and the server.
    """
    if call.call_id in here:
        return _(here[call.call_id].place)
    game = GAMES.get(games.get(call.caller_id, ""))
    if game is not None:
        return _(game.title)
    if call.server in {peer.name for peer in board.peers.others}:
        return _("on {server}").format(server=literal(call.server))[:LONGEST_PLACE]
    return _(ELSEWHERE)


def _rows(board: Board, caller: Caller, entries: Sequence[_Entry]) -> list[str]:
    """Return a line for each caller who is on; it ends in whether they can be watched."""
    now, rows = board.clock.now(), []
    is_wide = caller.console.screen.page_columns >= WIDE
    watching = board.config.social.watching
    for each in entries:
        call, place = each.call, each.place
        watch = f"|10{_(WATCH).lower()}" if watching and each.can_be_watched_by(caller) else ""
        on_for = wording.clock_time(max(0, int((now - call.since).total_seconds())))
        if is_wide:
            row = f"|15{call.node:>4}  |07{literal(call.name):<26}{place:<24}{on_for:>9}  {watch}"
        else:
            words = _("{name}: {place}, {time}").format(
                name=literal(call.name), place=place, time=on_for
            )
            row = f"|15{call.node:>2} |07{words} {watch}"
        rows.append(row.rstrip())
    if is_wide:
        heads = (_("Node"), _("Caller"), _("Where"), _("On for"))
        rows.insert(0, f"|11{heads[0]:>4}  {heads[1]:<26}{heads[2]:<24}{heads[3]:>9}")
    return rows


# Behind a chair.


class _View:
    """The table as the watcher sees it, or words about why it is not in view."""

    def __init__(self, chair: CallersChair) -> None:
        self._name = chair.caller.record.name
        self.table: Scene | None = None

    def paint(self, canvas: Canvas, area: Area) -> None:
        self._scene.paint(canvas, area)

    def lines(self) -> Sequence[str]:
        return self._scene.lines()

    @property
    def _scene(self) -> Scene:
        words = _("{name} is looking at something else. The table comes back when they do.")
        away = words.format(name=literal(self._name))
        return self.table or Page(_(WATCHING), [f"|07{away}"])


class Watcher:
    """One caller behind another's chair."""

    def __init__(self, caller: Caller, chair: CallersChair) -> None:
        self._console = caller.console
        self._caller = caller
        self._chair = chair
        self._view = _View(chair)
        self._last_lines: Sequence[str] = ()  # the whole table, as it was read out last

    async def watch(self) -> None:
        """Watch until the caller gets up; raises `NotNow` where watching is not allowed."""
        console, chair = self._console, self._chair
        behind = chair.watch(self._caller, self._look, self._on_end)
        try:
            self._caller.place = WATCHING
            self._view.table = chair.view_for(self._caller)
            self._last_lines = self._view.lines()
            console.display.stage(self._view)
            behind_whom = _("Behind {name}, at {game}.").format(
                name=literal(chair.caller.record.name), game=_(chair.title)
            )
            if not console.screen.is_painted:  # the question would be repeated below each card
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
        self._view.table = self._chair.view_for(self._caller)
        if self._console.screen.is_painted:
            self._console.display.refresh()
            return
        lines = self._view.lines()
        if news := _news(self._last_lines, lines):
            self._console.screen.say("\n".join(news))
        self._last_lines = lines

    def _on_end(self, why: Phrase) -> None:
        self._caller.place = PLACE
        self._console.screen.say(f"|14{why}")


def _news(before: Sequence[str], now: Sequence[str]) -> list[str]:
    """Return the lines of a table that are new, each below its heading.

    >>> _news(["Seat 1", "  4 5", "Seat 2"], ["Seat 1", "  4 5 9", "Seat 2"])
    ['Seat 1', '  4 5 9']
    """
    news: list[str] = []
    heading = ""
    for line in now:
        is_below = plain(line).startswith(" ")
        if line not in before:
            if is_below and heading:
                news.append(heading)
            news.append(line)
        if not is_below:
            heading = "" if line not in before else line
        elif line not in before:
            heading = ""
    return news
