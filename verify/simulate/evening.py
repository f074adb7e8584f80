"""The course of a story: step after step, each checked when its consequences are over."""

from __future__ import annotations

from contextlib import suppress

from verify.simulate import happenings
from verify.simulate.disk import Killed
from verify.simulate.story import Story
from verify.simulate.world import POSTED, Undone


def play(story: Story, steps: int) -> None:
    """Go through so many steps, and end with an audit of everything."""
    for _ in range(steps):
        _step(story)
        if story.is_over:
            return
    _end(story)


def _step(story: Story) -> None:
    """Do one event and all its consequences; then check."""
    story.number += 1
    began = story.began = story.monotonic
    happens = happenings.choose(story)
    story.counted[happens.__name__] += 1
    try:
        with suppress(Undone):
            happens(story)
        story.settle()
    except Killed:
        story.bury_the_dead(began)
    else:
        story.keep_time()
        story.take_back()
        if story.below is not None and story.below.has_failed():
            story.well_from = story.monotonic + POSTED
        _look(story, began)


def _end(story: Story) -> None:
    """Mend the disk, let all callers leave, and audit the books."""
    began = story.monotonic
    story.tell("the end: everybody hangs up")
    story.mend()
    for life in story.lives():
        life.mortal.lives_on()
        for wire in life.wires():
            wire.lose()
    story.let_pass(5)
    story.settle()
    story.keep_time()
    story.take_back()
    _look(story, began)
    happenings.set_right(story)
    story.let_pass(POSTED)  # and all work that waited for the books is done
    story.keep_time()
    _look(story, began)
    story.inspection.at_the_end()
    for process in story.processes:
        process.stop()
    story.watch.close()
    story.machine.end()


def _look(story: Story, began: float) -> None:
    """Check everything that can be checked at any moment."""
    story.inspection.after_step(began)
    with story.watch.reading() as file:
        story.restores.look(file)
        story.crashes.loss_is_noticed(file)
