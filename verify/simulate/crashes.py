"""What is looked at when everything has crashed on the disk below SQLite.

On a disk that was honest the books are what they were: all that was told as done is in them, and
nothing is that was told as not done. What a disk has lied about may be lost, but only from the end.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from timebank.errors import BooksUnavailable
from timebank.ledger import high_water
from verify.simulate.accidents import NOTICED, Accident
from verify.simulate.below import NOTHING, State, state_of
from verify.simulate.wrong import Wrong, must

if TYPE_CHECKING:
    from verify.simulate.inspection import Screen
    from verify.simulate.story import Story


def look(story: Story, copy: Path | None, began: float, screens: Sequence[Screen]) -> None:
    """Look at a copy of the books, which may be one of `story.possible`."""
    if copy is None:
        must(NOTHING in story.possible, "the books are gone")
        return
    story.watch.open(copy)
    try:
        state = story.visible()
    except sqlite3.DatabaseError as error:
        raise Wrong(f"the books are damaged: {error}") from error
    if state in story.earlier - story.possible:
        story.watch.close()
        with_loss(story, copy, began)
        return
    must(
        state in story.possible,
        "the books are what they were never said to be: other {}",
        " and ".join(_differences(state, possible) for possible in story.possible),
    )
    if state:
        story.inspection.after_kill(began, screens, copy)
    story.watch.close()


def _differences(one: State, other: State) -> str:
    """Name the tables in which two states differ."""
    return ", ".join(sorted({name for name, _ in set(one) ^ set(other)}))


def look_after_a_lie(story: Story, copy: Path | None, began: float, *, in_order: bool) -> None:
    """Look at a copy of the books whose end the disk may have lost; the story goes on from there.

    A disk that kept no order in its cache can leave anything. Then the audit must see it.
    """
    story.counted["crashes after a lie"] += 1
    if _is_beyond_repair(story, copy, "the disk lied", expected=not in_order):
        return
    lost = with_loss(story, copy, began)
    story.tell(f"the disk lied: {lost} transfers are lost")
    story.counted["transfers lost by lies"] += lost


def with_loss(story: Story, copy: Path | None, began: float) -> int:
    """Go on in books of which the end is lost; tell how many transfers that is."""
    had = len(story.watch.digests)
    if copy is None:
        story.is_over = True
        return had
    story.watch.open(copy)
    with story.watch.reading() as file:
        if state_of(file) == NOTHING:
            story.is_over = True
            return had
        story.lost_end = _lost_end(story, file)
        story.post.begins_again(file)
        story.watch = story.watch.begun_again(began, story.monotonic, story.latest_day())
        story.inspection.begins_again(file)
        story.learn_what_is_to_be_mended(file)
    story.watch.close()
    return max(0, had - len(story.watch.digests))


def _lost_end(story: Story, file: sqlite3.Connection) -> int | None:
    """Give the generation of books that have lost what was noted beside them, else None."""
    assert story.below is not None  # below it something was lost
    (count,) = file.execute("SELECT max(commits) FROM identity").fetchone()
    if high_water.read(story.below.database) <= (count or 0):
        return None
    return _generation(file)


def _generation(file: sqlite3.Connection) -> int:
    (number,) = file.execute("SELECT coalesce(max(number), 1) FROM generations").fetchone()
    return int(number)


def loss_is_noticed(story: Story, file: sqlite3.Connection) -> None:
    """Whoever serves from books that have lost their end has begun another generation."""
    before, story.lost_end = story.lost_end, None
    if before is not None:
        must(_generation(file) > before, "the books have lost their end, and nobody has noticed")
        story.counted["lost ends noticed"] += 1


def forget_what_the_power_took(story: Story, copy: Path | None) -> None:
    """Expect nobody to notice a loss of which the note beside the books was lost with the power."""
    if story.lost_end is None or copy is None:
        return
    story.watch.open(copy)
    with story.watch.reading() as file:
        if _lost_end(story, file) is None:
            story.lost_end = None
            story.counted["notes lost with the power"] += 1
    story.watch.close()


def look_after_an_accident(
    story: Story, copy: Path | None, began: float, screens: Sequence[Screen], accident: Accident
) -> None:
    """Look at a copy of the books whose files were moved or removed, and put right.

    Whoever serves notices in time, and what is told as done is there, unless it was removed for
    good before anybody could notice. A database that had only a part of what its log held, and has
    lost that, can be anything. Then the audit must see it.
    """
    late = [round(seconds, 1) for seconds in accident.written if seconds > NOTICED]
    must(not late, "{}: something was written {} s later", accident.words, late)
    story.counted["accidents"] += 1
    if accident.loses_end or (accident.may_lose and accident.lasted < NOTICED):
        if copy is not None and _is_beyond_repair(
            story, copy, accident.words, expected=accident.is_damage
        ):
            return
        with_loss(story, copy, began)
        is_shell = story.is_over and not accident.may_lose_all
        must(not is_shell, "{}: without it there are no books", accident.words)
    else:
        look(story, copy, began, screens)


def _is_beyond_repair(story: Story, copy: Path | None, words: str, *, expected: bool) -> bool:
    """Tell whether the books are damaged, which is the end of the story; it must be expected."""
    damage = _damage(story, copy)
    if not damage:
        return False
    must(expected, "{}: what is left must be in order, and yet: {}", words, damage)
    story.tell(f"{words}, and the audit finds it: {damage[0]}")
    story.counted["damage found"] += 1
    story.is_over = True
    return True


def _damage(story: Story, copy: Path | None) -> list[str]:
    """Return what SQLite and the audits find."""
    if copy is None:
        return [] if not story.watch.last[0] else ["the books are gone"]
    connection = sqlite3.connect(copy, isolation_level=None)
    try:
        found = [row[0] for row in connection.execute("PRAGMA integrity_check")]
    except sqlite3.DatabaseError as error:
        return [str(error)]
    finally:
        connection.close()
    if found != ["ok"]:
        return found
    try:
        return story.inspection.findings(copy)
    except (BooksUnavailable, Wrong) as error:
        return [str(error)]
