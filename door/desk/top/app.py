"""The screen of `door top` and its keys.

Threads wait for the books and for the servers, and the screen shows the results.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, ParamSpec, TypeVar

from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Grid, ScrollableContainer, Vertical, VerticalScroll
from textual.screen import ModalScreen, Screen
from textual.widget import Widget
from textual.widgets import DataTable, Footer, Input, RichLog, Static

from door.desk.top import snapshot
from door.desk.top.snapshot import LOOK_SECONDS, NOTHING, TODAY_SECONDS, BoardSeen, BoardWatch
from door.errors import NoAnswer
from door.lines.commands import Conversation
from door.server.board_commands import COMMAND, LONGEST, clean
from door.server.sysop_visit import ATTEND
from timebank.errors import TimeBankError
from timebank.window.corrections import freeze, unfreeze

if TYPE_CHECKING:
    from door.desk.pages.operations import OnCaller, SysopActs
    from door.desk.pages.queries import Today

# A caller's screen, and a chat on it (`door.server.sysop_visit`).

LOOKS = "The caller has read that you are looking. c talks to them, Esc leaves."
TALKS = "You are talking to {name}: your typing is on their screen. Esc ends the chat."


class CallerScreen(Screen[str]):
    """A caller's screen; returns why it ended, "" if the sysop has left it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        ("c", "chat", "Chat"),
        ("escape", "leave", "Leave"),
    ]
    CSS = """
    CallerScreen { background: black; }
    #theirs { height: 1fr; scrollbar-size: 0 0; }
    #theirs Static { width: auto; height: auto; }
    #hint { height: 1; background: $primary; color: $text; }
    #talk { display: none; height: 1; border: none; padding: 0; }
    CallerScreen.-talks #talk { display: block; }
    """

    def __init__(self, data: Path, node: int, call: int, by: str) -> None:
        super().__init__()
        self._data, self._node, self._call, self._by = data, node, call, by
        self._conversation: Conversation | None = None
        self._caller = ""
        self._talks = False
        self._has_shown = False

    def compose(self) -> ComposeResult:
        with ScrollableContainer(id="theirs"):
            yield Static(id="screen")
        yield Input(id="talk", max_length=LONGEST, placeholder="Type to the caller")
        yield Static(LOOKS, id="hint")

    def on_mount(self) -> None:
        self.run_worker(self._attend())

    def on_unmount(self) -> None:
        if self._conversation is not None:
            self._conversation.close()

    async def _attend(self) -> None:
        why = "The server ended it."
        try:
            wanted = {COMMAND: ATTEND, "node": self._node, "call": self._call}
            self._conversation = Conversation(self._data, wanted)
            async for message in self._conversation.answers():
                why = clean(str(message.get("error", ""))) or why
                self._apply(message)
        except OSError as error:
            why = f"The server does not answer ({error.strerror or error}). `door nodes` says more."
        self.dismiss(why)

    def _apply(self, message: Mapping[str, Any]) -> None:
        if isinstance(message.get("name"), str):
            self._caller = clean(message["name"])
        if isinstance(message.get("screen"), list):
            rows = Text("\n").join(
                Text.from_ansi(str(row), no_wrap=True) for row in message["screen"]
            )
            self.query_one("#screen", Static).update(rows)
            if not self._has_shown:  # the caller's prompt is at the end
                self._has_shown = True
                self._to_the_end()
        if isinstance(message.get("chat"), bool):
            self._show_chat(message["chat"], clean(str(message.get("why", ""))))

    def _show_chat(self, talks: bool, why: str) -> None:
        self._talks = talks
        self.set_class(talks, "-talks")
        hint = TALKS.format(name=self._caller) if talks else why or LOOKS
        self.query_one("#hint", Static).update(hint)
        talk = self.query_one("#talk", Input)
        talk.value = ""
        if talks:
            talk.focus()
        else:
            self.set_focus(None)
        self._to_the_end()

    def _to_the_end(self) -> None:
        theirs = self.query_one("#theirs", ScrollableContainer)
        self.call_after_refresh(theirs.scroll_end, animate=False)

    def on_input_changed(self, event: Input.Changed) -> None:
        if self._conversation is not None and self._talks:
            self._conversation.say(typing=event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if self._conversation is not None and event.value.strip():
            self._conversation.say(line=event.value)
        self.query_one("#talk", Input).value = ""

    def action_chat(self) -> None:
        if self._conversation is not None and not self._talks:
            self._conversation.say(chat=True, by=self._by)

    def action_leave(self) -> None:
        if self._conversation is not None and self._talks:
            self._conversation.say(chat=False)
        else:
            self.dismiss("")


PANELS = {
    "bets": "1 Minutes and bets",
    "house": "2 The house today",
    "refused": "3 Who has to wait",
    "log": "4 The sysop's log",
}
WIDE = 120  # columns from which on all panels are shown
T = TypeVar("T")
W = TypeVar("W", bound="Widget")
P = ParamSpec("P")

NOBODY = "Nobody is online."


class QuestionDialog(ModalScreen[str | None]):
    """A question with a line to type; returns None at Esc."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape", "dismiss(None)", "Leave it")]

    def __init__(self, question: str) -> None:
        super().__init__()
        self._question = question

    def compose(self) -> ComposeResult:
        with Vertical(classes="box"):
            yield Static(self._question, markup=False)
            yield Input(max_length=200)
            yield Static("Enter does it, Esc leaves it.", classes="dim")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.dismiss(event.value.strip())


class ConfirmationDialog(ModalScreen[bool]):
    """Asks whether to do what `words` announce."""

    BINDINGS: ClassVar[list[BindingType]] = [
        ("y", "dismiss(True)", "Yes"),
        ("n,escape", "dismiss(False)", "No"),
    ]

    def __init__(self, words: str) -> None:
        super().__init__()
        self._words = words

    def compose(self) -> ComposeResult:
        with Vertical(classes="box"):
            yield Static(self._words, markup=False)
            yield Static("y does it, n leaves it.", classes="dim")


class Top(App[None]):
    TITLE = "door top"
    ENABLE_COMMAND_PALETTE = False

    BINDINGS: ClassVar[list[BindingType]] = [
        ("s", "act('say')", "Say"),
        ("a", "act('say_all')", "All"),
        ("l", "act('look')", "Look"),
        ("k", "act('kick')", "Kick"),
        ("f", "act('freeze')", "Freeze"),
        ("e", "act('event')", "Event"),
        ("d", "act('drain')", "Drain"),
        ("q", "quit", "Quit"),
        *(Binding(name[0], f"panel('{key}')", show=False) for key, name in PANELS.items()),
    ]
    CSS = """
    #head { height: 1; background: $primary; color: $text; }
    #nodes { height: 1fr; min-height: 5; }
    #panels { height: 1fr; grid-size: 1; }
    #panels > * { border: round $primary; border-subtitle-color: $text-muted; padding: 0 1;
                  height: 1fr; }
    .-narrow #panels > * { display: none; }
    .-narrow #panels > .-chosen { display: block; }
    .-wide #panels { grid-size: 2 3; height: 2fr; }
    .-wide #bets { column-span: 2; }
    .-wide #house { row-span: 2; }
    #said { height: auto; max-height: 3; color: $warning; }
    QuestionDialog, ConfirmationDialog { align: center middle; }
    .box { width: 72; max-width: 95%; height: auto; border: round $accent; padding: 1 2;
           background: $surface; }
    .dim { color: $text-muted; }
    """

    def __init__(self, watching: BoardWatch, by: str) -> None:
        super().__init__()
        self.HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (WIDE, "-wide")]
        self._watching = watching
        self._doing: SysopActs = watching.doing
        self._schedule = watching.config.bank.schedule
        self._by = by
        self._on: list[int] = []
        self._answer = NOTHING
        self._today: Today | None = None
        self._is_wide: bool | None = None

    def compose(self) -> ComposeResult:
        yield Static(self._watching.config.board.name, id="head", markup=False)
        yield DataTable(id="nodes", cursor_type="row", zebra_stripes=True)
        with Grid(id="panels"):
            yield RichLog(id="bets", max_lines=500, wrap=True, min_width=1, classes="-chosen")
            for name in ("house", "refused", "log"):
                with VerticalScroll(id=name):
                    yield Static(id=f"{name}-text", markup=False)
        yield Static(id="said", markup=False)
        yield Footer(compact=True, show_command_palette=False)

    def on_mount(self) -> None:
        for name, words in PANELS.items():
            self.query_one(f"#{name}").border_title = words
        self._nodes_table.focus()
        self.run_worker(self._keep_looking())
        self.run_worker(self._keep_adding_up())

    @property
    def _nodes_table(self) -> DataTable[Text]:
        return self.screen_stack[0].query_one("#nodes", DataTable)

    # What is shown.

    async def _keep_looking(self) -> None:
        while True:
            self._show(await asyncio.to_thread(self._watching.look))
            await asyncio.sleep(LOOK_SECONDS)

    async def _keep_adding_up(self) -> None:
        while True:
            self._today = await asyncio.to_thread(self._watching.today)
            self._put("house", "\n".join(snapshot.house_lines(self._today)))
            self._show_head()
            await asyncio.sleep(TODAY_SECONDS)

    def _show(self, latest: BoardSeen) -> None:
        self._answer = latest.nodes
        self._show_head()
        self._show_nodes()
        bets = self._first("#bets", RichLog)
        for line in snapshot.moved_lines(latest.moved):
            bets.write(Text(line), expand=True)
        self._put("refused", "\n".join(snapshot.refused_lines(latest.refused)))
        self._put("log", "\n".join(snapshot.log_lines(latest.log, self._schedule)))
        if latest.problem:
            self._say(latest.problem)

    def _show_head(self) -> None:
        board = self._watching.config.board.name
        words = snapshot.head(board, self._answer, self._today)
        self._first("#head", Static).update(words)

    def _show_nodes(self) -> None:
        table, is_wide = self._nodes_table, self.size.width >= WIDE
        rows = snapshot.node_rows(self._answer)
        columns = list(snapshot.COLUMNS.items())
        if not is_wide:
            del columns[snapshot.NARROW_COLUMNS :]
        if is_wide != self._is_wide:
            self._is_wide = is_wide
            table.clear(columns=True)
            for key, words in PANELS.items():  # names the hidden panels with their keys
                others = "  ".join(each for each in PANELS.values() if each != words)
                self._first(f"#{key}", Widget).border_subtitle = "" if is_wide else others
            for name, width in columns:
                table.add_column(name, width=width)
        at = table.cursor_row
        table.clear()
        self._on = [int(row[0]) for row in rows]
        for row in rows:
            table.add_row(*(Text(cell) for cell in row[: len(columns)]))
        table.border_title = "" if rows else NOBODY
        if rows:
            table.move_cursor(row=min(at, len(rows) - 1))

    def _put(self, panel: str, text: str) -> None:
        self._first(f"#{panel}-text", Static).update(text)

    def _first(self, selector: str, kind: type[W]) -> W:
        """Find a widget of the board's screen, also below a dialog."""
        widget: W = self.screen_stack[0].query_one(selector, kind)
        return widget

    def _say(self, words: str) -> None:
        self._first("#said", Static).update(words)

    # What is done.

    def action_panel(self, name: str) -> None:
        for each in PANELS:
            self._first(f"#{each}", Widget).set_class(each == name, "-chosen")

    def action_act(self, name: str) -> None:
        """Do the act of a key and show its result; a new act replaces one under way."""
        acts = {
            "say": self._ask_say,
            "say_all": self._ask_say_all,
            "look": self._look_at_caller,
            "kick": self._ask_kick,
            "freeze": self._ask_freeze,
            "event": self._ask_event,
            "drain": self._ask_drain,
        }
        self.run_worker(self._done(acts[name]), group="act", exclusive=True)

    async def _done(self, act: Callable[[], Awaitable[str | None]]) -> None:
        try:
            words = await act()
        except (NoAnswer, TimeBankError) as error:
            words = str(error)
        if words is not None:
            self._say(words)

    async def _ask_say(self) -> str | None:
        on = await self._chosen()
        text = await self._typed(f"What do you want to say to {on.name}?")
        return await self._do(self._doing.say, self._by, on, text) if text else None

    async def _ask_say_all(self) -> str | None:
        text = await self._typed("What do you want to say to everybody who is on?")
        return await self._do(self._doing.say, self._by, None, text) if text else None

    async def _ask_kick(self) -> str | None:
        on = await self._chosen()
        why = await self._typed(
            f"End {on.name}'s call? Type the reason, which they read, or nothing."
        )
        return None if why is None else await self._do(self._doing.kick, self._by, on, why)

    async def _ask_freeze(self) -> str | None:
        on = await self._chosen()
        can_freeze = "freeze" in on.acts
        verb, act = ("Freeze", freeze) if can_freeze else ("Open", unfreeze)
        why = await self._typed(f"{verb} {on.name}'s account? Type the reason.")
        if not why:
            return None
        return await self._do(
            self._doing.change, on, lambda desk, who: act(desk, who, why, self._by)
        )

    async def _ask_event(self) -> str | None:
        """Start an event early, or take back one that was started early."""
        started = await self._do(self._doing.started_event)
        if started:
            words = f"{started} was started early. Take it back? The board is open again then."
            is_sure = await self.push_screen_wait(ConfirmationDialog(words))
            return await self._do(self._doing.end_event, self._by) if is_sure else None
        typed = await self._typed(
            'Which system event starts early? Its name, or nothing for the next one; "for 30" is'
            ' how many minutes it lasts, "in 5" when it begins: Mail hour for 30 in 5'
        )
        if typed is None:
            return None
        asked = snapshot.event_asked(typed)
        words = await self._do(self._doing.rehearsal().start_event, self._by, asked)
        if not await self.push_screen_wait(ConfirmationDialog(f"{words} Callers are told.")):
            return None
        return await self._do(self._doing.start_event, self._by, asked)

    async def _ask_drain(self) -> str | None:
        await self._do(self._doing.rehearsal().drain, self._by)
        words = (
            "Take no more calls, and close when the last caller has gone? A board that drains"
            " already closes now: callers are told, and no hand is lost."
        )
        is_sure = await self.push_screen_wait(ConfirmationDialog(words))
        return await self._do(self._doing.drain, self._by) if is_sure else None

    async def _look_at_caller(self) -> str | None:
        on = await self._chosen()
        await self._do(self._doing.note, self._by, on, "Looked over their shoulder")
        data = self._watching.config.board.data
        why: str | None = await self.push_screen_wait(
            CallerScreen(data, on.node or 0, on.call or 0, self._by)
        )
        return why

    async def _chosen(self) -> OnCaller:
        """Return the caller on the selected row; raises `NoAnswer` if there is none."""
        row = self._nodes_table.cursor_row
        if not 0 <= row < len(self._on):
            raise NoAnswer(NOBODY)
        return await self._do(self._watching.on, self._on[row])

    async def _typed(self, question: str) -> str | None:
        typed: str | None = await self.push_screen_wait(QuestionDialog(question))
        return typed

    @staticmethod
    async def _do(work: Callable[P, T], *given: P.args, **named: P.kwargs) -> T:
        """Call `work` in a thread, as it waits for the books or a server."""
        return await asyncio.to_thread(work, *given, **named)
