"""A caller's chair at a table, and the callers who watch from behind it.

A watcher sees the caller's table, painted in the watcher's own size, letters and language: the
cards, the bets and the talk at the table. They do not see prompts, typed text, the lines below the
table (the tutor's, messages, notices) or the caller's purse. While the caller reads a page or is at
the bank's window, the watcher sees nothing.

Being watched costs the caller nothing. An update of their screen is noted, and the watcher's look
follows, at most every `LOOK_SECONDS` and never before the watcher's line has taken the last one.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from typing import TYPE_CHECKING, Literal, Protocol, get_args

from door.call.bystander import LOOK_SECONDS, Bystander
from door.call.markup import literal
from door.errors import NotNow
from timebank.callers.hearing import ignored
from timebank.language import N_, Phrase, speaking_to

if TYPE_CHECKING:
    from door.call.console import Console
    from door.call.scene import Scene
    from door.clock import Timer
    from door.config.config import Config
    from timebank.callers.callers import CallerRecord

MOST_BEHIND = 4  # watchers of one chair
WATCHED = "watched"  # preference: one of `Allowed`

# Reasons why watching has ended.
GOT_UP = N_("{name} has left the table.")
SENT_AWAY = N_("{name} no longer allows watching.")
SWITCHED_OFF = N_("The sysop no longer allows watching.")

Allowed = Literal["shared", "all", "none"]  # at which tables others may sit behind a caller
ALLOWED: tuple[Allowed, ...] = get_args(Allowed)


class OnCall(Protocol):
    """A caller, as far as a chair uses them."""

    record: CallerRecord

    @property
    def console(self) -> Console: ...

    @property
    def config(self) -> Config: ...


class Watchable(Protocol):
    """A scene of a table that others may watch."""

    def from_behind(self, name: str, unheard: Set[int]) -> Scene:
        """Return the scene as it looks now to a watcher behind the chair of the caller `name`.

        `unheard` are the callers whom the watcher ignores, by number.
        """


class CallersChair:
    """One caller's chair, from sitting down to getting up."""

    def __init__(
        self, caller: OnCall, title: str, scene: Watchable | None, *, is_shared: bool
    ) -> None:
        """`scene` is None at a table that cannot be watched; `is_shared` if several sit there."""
        self.caller = caller
        self.title = title
        self.is_shared = is_shared
        self._scene = scene
        self.watchers: list[ChairWatcher] = []

    @property
    def is_open(self) -> bool:
        """Whether the caller lets others watch here."""
        if self._scene is None or not self.caller.config.social.watching:
            return False
        chosen = allowed(self.caller.record)
        return chosen == "all" or (chosen == "shared" and self.is_shared)

    def refusal(self, watcher: OnCall) -> Phrase | None:
        """Return why a caller may not watch from behind this chair; None if they may."""
        name = literal(self.caller.record.name)
        if not self.is_open or watcher.record.id in ignored(self.caller.record.preferences):
            return Phrase("{name} doesn't allow watching here.", name=name)
        if len(self.watchers) >= MOST_BEHIND:
            return Phrase("There's no more room behind {name}.", name=name)
        return None

    def view_for(self, watcher: OnCall) -> Scene | None:
        """Return the scene that a watcher sees; None while the caller looks at something else."""
        scene, console = self._scene, self.caller.console
        shown: object = console.display.view().scene
        if scene is None or shown is not scene:
            return None
        with speaking_to(console.viewer):  # parts of the scene are in the caller's language
            unheard = ignored(watcher.record.preferences)
            return scene.from_behind(literal(self.caller.record.name), unheard)

    def watch(
        self, watcher: OnCall, look: Callable[[], None], on_end: Callable[[Phrase], None]
    ) -> ChairWatcher:
        """Let a caller watch, and tell the caller who sits here; raises `NotNow`.

        `look` is called when the scene may have changed, and `on_end` with the reason if watching
        is ended from this side. The watcher stays until `ChairWatcher.end`.
        """
        if refusal := self.refusal(watcher):
            raise NotNow(refusal)
        return ChairWatcher(self, watcher, look, on_end)

    def clear(self, why: str) -> None:
        """Send all watchers away; they read `why`: `GOT_UP`, `SENT_AWAY` or `SWITCHED_OFF`."""
        name = literal(self.caller.record.name)
        for each in tuple(self.watchers):
            each.send_away(Phrase(why, name=name))


class ChairWatcher(Bystander):
    """One caller who watches from behind a chair."""

    def __init__(
        self,
        chair: CallersChair,
        watcher: OnCall,
        look: Callable[[], None],
        on_end: Callable[[Phrase], None],
    ) -> None:
        self._chair = chair
        self._watcher = watcher
        self._look = look
        self._on_end = on_end
        self._timer: Timer | None = None
        chair.watchers.append(self)
        name = literal(watcher.record.name)
        super().__init__(
            chair.caller.console,
            Phrase("{name} sits down behind you to watch. /o sends watchers away.", name=name),
            Phrase("{name} has stopped watching.", name=name),
        )

    def send_away(self, why: Phrase) -> None:
        """End the watching from the side of the chair; the watcher reads `why`."""
        self._leave()
        with speaking_to(self._watcher.console.viewer):
            self._on_end(why)

    def end(self) -> None:
        if self._leave():
            super().end()

    def _leave(self) -> bool:
        """Free the place; return whether they were still watching."""
        if self not in self._chair.watchers:
            return False
        self._chair.watchers.remove(self)
        self.detach()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        return True

    def on_text(self, text: str) -> None:
        """Look soon, as the caller's screen has changed."""
        if self._timer is None:
            clock = self._watcher.console.clock
            self._timer = clock.call_later(LOOK_SECONDS, self._look_now)

    def _look_now(self) -> None:
        self._timer = None
        console = self._watcher.console
        if getattr(console.line, "is_blocked", False):  # the last look is still being sent
            self.on_text("")
            return
        with speaking_to(console.viewer):
            self._look()


def allowed(record: CallerRecord) -> Allowed:
    """Return the tables at which a caller lets others watch."""
    chosen = record.preferences.get(WATCHED)
    return next((each for each in ALLOWED if each == chosen), "shared")
