"""Callers brought by hosts to a server of the simulation, through a door that only relays."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path
from signal import Signals
from unittest import mock

import pytest

from door.run import starting
from tests.long import long
from verify.simulate import doors, evening, faults, faults_handed
from verify.simulate.__main__ import detect
from verify.simulate.disk import Killed
from verify.simulate.doors import Door
from verify.simulate.life import Life
from verify.simulate.story import Story
from verify.simulate.wrong import Wrong

SEED, PEOPLE, NODES = 3, 18, 12
SERVER = "process 2"  # the first of this seed is killed while it starts
MOST_KEYS = 400  # until a hand was played


@pytest.fixture
def story(tmp_path: Path) -> Iterator[Story]:
    """A board on a disk that is well."""
    with Story(SEED, tmp_path, PEOPLE, NODES) as story:
        yield story


def hands_over(story: Story, board: str = "Fidelia") -> Door:
    """Have a host hand a caller over; return the door once the server serves them."""
    guest = next(each for each in story.guests if each.board == board)
    story.start_door(guest)
    goes_on(story)
    (door,) = story.doors
    assert door.relay is not None
    assert [each.guest.name for each in story.processes[0].callers()] == [guest.alias]
    return door


def goes_on(story: Story, seconds: float = 1.0) -> None:
    """Let time pass and check everything observable."""
    began = story.monotonic
    story.let_pass(seconds)
    story.settle()
    story.keep_time()
    story.take_back()
    evening._look(story, began)


def plays(story: Story, door: Door) -> None:
    """Have a caller press keys until a hand of theirs is settled."""
    for _ in range(MOST_KEYS):
        keys = door.guest.decides(door.wire.screen.prompt)
        door.wire.type(keys.encode("ascii"))
        goes_on(story, 0.5)
        if story.watch.kinds["won"] + story.watch.kinds["lost"]:
            return
    pytest.fail(door.wire.screen.memory[-2000:])


def kills(story: Story, life: Life) -> None:
    """Kill one process with -9; the others go on."""
    with pytest.raises(Killed):
        life.mortal.dies_here()
    buries(story)


def buries(story: Story) -> None:
    with mock.patch.object(story, "chance", mock.Mock(wraps=story.chance, random=lambda: 0.5)):
        story.bury_the_dead(story.monotonic)


def calls(story: Story) -> list[tuple[str, str | None]]:
    """Return each call's server and its reason for ending."""
    with story.watch.reading() as file:
        return file.execute("SELECT process, reason FROM calls ORDER BY id").fetchall()


def test_a_guest_plays_at_the_server_hangs_up_and_is_given_back(story: Story) -> None:
    door = hands_over(story)
    plays(story, door)
    door.wire.lose()
    goes_on(story)
    assert story.doors == []
    assert calls(story) == [(SERVER, "carrier lost")]
    assert door.guest.given
    assert door.task.result() == 0


def test_a_guest_continues_at_the_next_server_when_one_ends(story: Story) -> None:
    door = hands_over(story)
    goes_on(story, 30)
    story.stop_process(story.processes[0])
    story.serve_on()
    goes_on(story, 30)
    assert door.hand_overs == 2
    assert calls(story) == [(SERVER, "closed by the board"), (story.processes[0].name, None)]
    (caller,) = story.processes[0].callers()
    assert caller.purse.spendable() <= door.guest.left(story.monotonic)
    door.wire.lose()
    goes_on(story)
    assert story.doors == []


def test_a_guest_continues_at_the_next_server_when_one_is_killed(story: Story) -> None:
    door = hands_over(story)
    kills(story, story.processes[0])
    goes_on(story, 30)
    assert door.hand_overs == 2
    assert len(story.processes[0].callers()) == 1


def test_a_door_without_a_server_ends(story: Story) -> None:
    guest = story.guests[0]
    assert story.machine.ear is not None
    story.machine.ear.close()
    story.start_door(guest)
    goes_on(story, starting.START_SECONDS + 1)
    assert story.doors == []
    assert calls(story) == []


def test_a_server_ends_the_call_of_a_relay_that_is_killed(story: Story) -> None:
    door = hands_over(story)
    plays(story, door)
    kills(story, door)
    goes_on(story)
    assert story.doors == []
    assert calls(story) == [(SERVER, "carrier lost")]


@pytest.mark.parametrize(("packet", "is_given"), [(1, False), (2, True)])
def test_a_relay_that_is_killed_within_give_leaves_a_doubt(
    story: Story, packet: int, is_given: bool
) -> None:
    """It dies before it reads the value, or before it confirms the write."""
    door = hands_over(story)
    plays(story, door)
    with mock.patch.object(doors, "HANG_UPS", ("ends",)):
        door.wire.lose()
    door.mortal.dies_talking = packet
    with pytest.raises(Killed):
        goes_on(story)
    buries(story)
    goes_on(story)
    with story.watch.reading() as file:
        assert file.execute("SELECT DISTINCT state FROM given_back").fetchall() == [("doubtful",)]
    assert bool(door.guest.given) is is_given


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM])
def test_a_server_ends_the_call_that_the_host_ends(story: Story, number: Signals) -> None:
    door = hands_over(story)
    door.hear(signal.SIGWINCH)
    goes_on(story)
    assert door.relay is not None
    door.hear(number)
    goes_on(story)
    assert story.doors == []
    assert calls(story) == [(SERVER, "carrier lost")]


def test_a_hang_up_that_no_server_hears_is_wrong(story: Story) -> None:
    hands_over(story)
    with (
        mock.patch.object(doors, "HANG_UPS", ("told",)),
        faults.put_in("hears_no_hang_up_at_a_relay"),
        pytest.raises(Wrong, match="does not end"),
    ):
        story.restart()


@pytest.mark.parametrize("fault", [long(put.__name__) for put in faults_handed.FAULTS])
def test_a_fault_of_the_hand_over_is_detected(fault: str) -> None:
    assert detect(fault, None)


def test_a_server_killed_before_it_answers_leaves_no_answer_unawaited(story: Story) -> None:
    """A coroutine that is never awaited is a warning, and an error in tests."""
    story.processes[0].connect(story.people[0].telephone, "192.0.2.7")
    story.processes[0].bury()
