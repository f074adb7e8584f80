"""A caller's chair at a table, and the callers who sit behind it and watch.

Who watches sees the table as it lies before its caller, painted anew in their own size, letters
and language: the cards, the bets and what is said aloud there. Prompts and what is typed, the words
below the table (the tutor's, messages, notices) and the caller's purse are no part of it. While the
caller reads a page or is at the bank's window, there is nothing to see.

Being watched costs the caller nothing: their own screen's updates are noticed, and the look comes
after, at most every `LOOK_SECONDS` and never while the watcher's line has not taken the last one.
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

MOST_BEHIND = 4  # chairs have no room for more
WATCHED = "watched"  # the preference that says where others may watch

# Why nobody watches any more.
GOT_UP = N_("{name} has left the table.")
SENT_AWAY = N_("{name} lets nobody watch any more.")
SWITCHED_OFF = N_("The sysop lets nobody watch any more.")

Allowed = Literal["shared", "all", "none"]  # at which tables others may sit behind a caller
ALLOWED: tuple[Allowed, ...] = get_args(Allowed)


class OnCall(Protocol):
    """A caller, as far as a chair knows them."""

    record: CallerRecord

    @property
    def console(self) -> Console: ...

    @property
    def config(self) -> Config: ...


class Watchable(Protocol):
    """A scene of a table that others may watch."""

    def from_behind(self, name: str, unheard: Set[int]) -> Scene:
        """Return it as it looks now to somebody behind the chair of its caller, who is `name`."""


class CallersChair:
    """Where one caller sits, from sitting down to getting up."""

    def __init__(
        self, caller: OnCall, title: str, scene: Watchable | None, *, is_shared: bool
    ) -> None:
        """`scene` is None at a table that nobody can watch; `is_shared` where several sit."""
        self.caller = caller
        self.title = title
        self.is_shared = is_shared
        self._scene = scene
        self.behind: list[Behind] = []

    @property
    def is_open(self) -> bool:
        """Whether its caller lets others watch here."""
        if self._scene is None or not self.caller.config.company.watching:
            return False
        chosen = allowed(self.caller.record)
        return chosen == "all" or (chosen == "shared" and self.is_shared)

    def refusal(self, watcher: OnCall) -> Phrase | None:
        """Say why somebody may not sit down behind it; None where they may."""
        name = literal(self.caller.record.name)
        if not self.is_open or watcher.record.id in ignored(self.caller.record.preferences):
            return Phrase("{name} lets nobody watch here.", name=name)
        if len(self.behind) >= MOST_BEHIND:
            return Phrase("There is no room left behind {name}.", name=name)
        return None

    def seen(self, watcher: OnCall) -> Scene | None:
        """Return what a watcher sees from behind it; None while its caller looks elsewhere."""
        scene, console = self._scene, self.caller.console
        shown: object = console.display.view().scene
        if scene is None or shown is not scene:
            return None
        with speaking_to(console.viewer):  # some of it was put into words for them
            unheard = ignored(watcher.record.preferences)
            return scene.from_behind(literal(self.caller.record.name), unheard)

    def watch(
        self, watcher: OnCall, look: Callable[[], None], over: Callable[[Phrase], None]
    ) -> Behind:
        """Have somebody sit down behind it, and tell its caller; raises `NotNow`.

        `look` is called when there may be something new to see, `over` once when there is nothing
        to come, with the reason. The place is theirs until `Behind.end`.
        """
        if refusal := self.refusal(watcher):
            raise NotNow(refusal)
        return Behind(self, watcher, look, over)

    def clear(self, why: str) -> None:
        """Have nobody behind it any more, and tell them why: `GOT_UP`, `SENT_AWAY` or
        `SWITCHED_OFF`."""
        name = literal(self.caller.record.name)
        for each in tuple(self.behind):
            each.is_over(Phrase(why, name=name))


class Behind(Bystander):
    """Somebody behind a chair."""

    def __init__(
        self,
        chair: CallersChair,
        watcher: OnCall,
        look: Callable[[], None],
        over: Callable[[Phrase], None],
    ) -> None:
        self._chair = chair
        self._watcher = watcher
        self._look = look
        self._over = over
        self._timer: Timer | None = None
        chair.behind.append(self)
        name = literal(watcher.record.name)
        super().__init__(
            chair.caller.console,
            Phrase("{name} sits down behind you and watches. /o sends them away.", name=name),
            Phrase("{name} watches no more.", name=name),
        )

    def is_over(self, why: Phrase) -> None:
        """Let them know that there is nothing more to see."""
        self._leave()
        with speaking_to(self._watcher.console.viewer):
            self._over(why)

    def end(self) -> None:
        if self._leave():
            super().end()

    def _leave(self) -> bool:
        """Free the place; tell whether it was theirs."""
        if self not in self._chair.behind:
            return False
        self._chair.behind.remove(self)
        self.unhear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        return True

    def hear(self, text: str) -> None:
        """Look soon: something on the caller's screen has changed."""
        if self._timer is None:
            clock = self._watcher.console.clock
            self._timer = clock.call_later(LOOK_SECONDS, self._look_now)

    def _look_now(self) -> None:
        self._timer = None
        console = self._watcher.console
        if getattr(console.line, "is_blocked", False):  # has yet to take what was sent last
            self.hear("")
            return
        with speaking_to(console.viewer):
            self._look()


def allowed(record: CallerRecord) -> Allowed:
    """Return at which tables a caller lets others watch."""
    chosen = record.preferences.get(WATCHED)
    return next((each for each in ALLOWED if each == chosen), "shared")
