"""The sysop beside a caller: the caller's screen, and a chat on it (`door.server.sysop_visit`)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import ScrollableContainer
from textual.screen import Screen
from textual.widgets import Input, Static

from door.lines.commands import Conversation
from door.server.board_commands import COMMAND, LONGEST, clean
from door.server.sysop_visit import ATTEND

LOOKS = "The caller has been told that you look. c talks to them, Esc leaves."
TALKS = "You talk to {name}: what you type is on their screen. Esc ends the chat."


class BesideScreen(Screen[str]):
    """A caller's screen; ends with a sentence about why, empty where the sysop has left."""

    BINDINGS: ClassVar[list[BindingType]] = [
        ("c", "chat", "Chat"),
        ("escape", "leave", "Leave"),
    ]
    CSS = """
    BesideScreen { background: black; }
    #theirs { height: 1fr; scrollbar-size: 0 0; }
    #theirs Static { width: auto; height: auto; }
    #hint { height: 1; background: $primary; color: $text; }
    #talk { display: none; height: 1; border: none; padding: 0; }
    BesideScreen.-talks #talk { display: block; }
    """

    def __init__(self, data: Path, node: int, call: int, by: str) -> None:
        super().__init__()
        self._data, self._node, self._call, self._by = data, node, call, by
        self._beside: Conversation | None = None
        self._name = ""
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
        if self._beside is not None:
            self._beside.close()

    async def _attend(self) -> None:
        why = "The server ended it."
        try:
            wanted = {COMMAND: ATTEND, "node": self._node, "call": self._call}
            self._beside = Conversation(self._data, wanted)
            async for said in self._beside.told():
                why = clean(str(said.get("error", ""))) or why
                self._hear(said)
        except OSError as error:
            why = f"The server can't be reached: {error}."
        self.dismiss(why)

    def _hear(self, said: Mapping[str, Any]) -> None:
        if isinstance(said.get("name"), str):
            self._name = clean(said["name"])
        if isinstance(said.get("screen"), list):
            rows = Text("\n").join(Text.from_ansi(str(row), no_wrap=True) for row in said["screen"])
            self.query_one("#screen", Static).update(rows)
            if not self._has_shown:  # what they are asked stands at the end
                self._has_shown = True
                self._to_the_end()
        if isinstance(said.get("chat"), bool):
            self._show_chat(said["chat"], clean(str(said.get("why", ""))))

    def _show_chat(self, talks: bool, why: str) -> None:
        self._talks = talks
        self.set_class(talks, "-talks")
        hint = TALKS.format(name=self._name) if talks else why or LOOKS
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
        if self._beside is not None and self._talks:
            self._beside.say(typing=event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if self._beside is not None and event.value.strip():
            self._beside.say(line=event.value)
        self.query_one("#talk", Input).value = ""

    def action_chat(self) -> None:
        if self._beside is not None and not self._talks:
            self._beside.say(chat=True, by=self._by)

    def action_leave(self) -> None:
        if self._beside is not None and self._talks:
            self._beside.say(chat=False)
        else:
            self.dismiss("")
