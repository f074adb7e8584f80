"""The queue of passwords to check: order, waits, and an attacker's number of guesses."""

from __future__ import annotations

import ipaddress
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from door.config.defence import USUAL
from door.defence.counts import DAY, MANY, MOST, RETRY_SECONDS, Defence
from door.defence.tries import Tries, Try

RULES = replace(USUAL, allow=(), wrong_passwords=5)
HOME, CAFE, VILLAIN = "192.0.2.7", "198.51.100.4", "203.0.113.66"
MINUTE, SHARED_SECONDS = 60.0, RETRY_SECONDS / MANY
BOTNET = [f"10.0.{number}.1" for number in range(50)]


class Queue:
    """Callers who try passwords, under a clock that the test moves; wrong unless set otherwise."""

    def __init__(self, **rules: object) -> None:
        self.defence = Defence(replace(RULES, **rules))
        self.tries = Tries(self.defence)
        self.now = 0.0
        self.checked: list[str] = []
        self.is_right: set[str] = set()

    def comes(self, address: str, name: str = "ada") -> Try:
        """Present a password, which proves wrong as soon as it may be checked."""
        tried = self.tries.present(address, name, self.now, lambda: self._check(tried))
        if tried.is_due:
            self._check(tried)
        return tried

    def _check(self, tried: Try) -> None:
        self.checked.append(tried.address)
        if tried.address in self.is_right:
            self.tries.right(tried, self.now)

    def attacked_from(self, *addresses: str, name: str = "ada") -> None:
        """Make guesses until these addresses must wait."""
        for address in addresses:
            while (tried := self.comes(address, name)).is_due:
                pass
            self.tries.leave(tried, self.now)
        self.checked.clear()

    def wait(self, tried: Try) -> float:
        return round(self.tries.wait(tried, self.now), 3)

    def passes(self, seconds: float) -> None:
        """Let time pass and check each password when it is due."""
        end = self.now + seconds
        while (at := self.tries.next_look) is not None and at <= end:
            self.now = max(self.now, at)
            self.tries.look(self.now)
        self.now = end


# Who is next


def test_a_right_password_from_an_innocent_address_is_checked_at_once() -> None:
    here = Queue()
    here.attacked_from(VILLAIN, CAFE)
    assert here.comes(HOME).is_due


def test_a_guilty_address_waits_until_a_try_refills() -> None:
    here = Queue()
    here.attacked_from(VILLAIN)
    tried = here.comes(VILLAIN)
    assert here.wait(tried) == RETRY_SECONDS
    here.passes(RETRY_SECONDS - 1)
    assert (tried.is_due, here.wait(tried)) == (False, 1.0)
    here.passes(1)
    assert tried.is_due


def test_the_queue_orders_by_wrong_passwords_and_then_by_arrival() -> None:
    here = Queue()
    here.attacked_from(*BOTNET)
    order = [BOTNET[11], BOTNET[9], CAFE, BOTNET[9], HOME]
    for address in order:
        here.comes(address)
    here.passes(DAY)
    # The first ten of the botnet used up the name's tries: each was wrong five times.
    assert here.checked == [BOTNET[11], CAFE, HOME, BOTNET[9], BOTNET[9]]


def test_several_lines_of_an_address_wait_behind_one_of_another() -> None:
    here = Queue()
    here.attacked_from(*BOTNET)
    for _ in range(5):
        here.comes(VILLAIN)
    here.comes(CAFE)
    here.passes(DAY / 4)
    assert here.checked == [VILLAIN, CAFE, *[VILLAIN] * 4]


def test_behind_a_shared_address_one_waits_for_each_line_that_came_before() -> None:
    here = Queue()
    here.attacked_from(HOME)
    attackers = [here.comes(HOME) for _ in range(4)]
    owner = here.comes(HOME)
    assert [here.wait(each) for each in (*attackers, owner)] == [
        pytest.approx(RETRY_SECONDS * number) for number in range(1, 6)
    ]
    here.is_right.add(HOME)
    here.passes(5 * RETRY_SECONDS)
    assert owner.is_due


def test_guesses_from_a_shared_address_do_not_delay_other_names() -> None:
    here = Queue()
    here.attacked_from(HOME, name="bob")
    assert here.comes(HOME, "ada").is_due


def test_a_waiting_caller_who_leaves_makes_room_and_is_not_counted() -> None:
    here = Queue()
    here.attacked_from(VILLAIN)
    first, second = here.comes(VILLAIN), here.comes(VILLAIN)
    assert here.wait(second) == 2 * RETRY_SECONDS
    here.tries.leave(first, here.now)
    here.tries.leave(first, here.now)
    assert here.wait(second) == RETRY_SECONDS
    here.tries.leave(second, here.now)
    assert here.tries.next_look is None
    assert here.wait(here.comes(VILLAIN)) == RETRY_SECONDS


def test_a_right_password_returns_its_try_and_the_next_is_checked_at_once() -> None:
    here = Queue(wrong_passwords=1)
    here.comes(VILLAIN)
    here.is_right.add(VILLAIN)
    waiting = [here.comes(VILLAIN) for _ in range(3)]
    here.passes(RETRY_SECONDS)
    assert all(tried.is_due for tried in waiting)


def test_a_password_being_checked_counts_as_wrong_until_known() -> None:
    here = Queue()
    held = [here.tries.present(VILLAIN, "ada", 0.0, lambda: None) for _ in range(9)]
    assert [tried.is_due for tried in held] == [True] * 5 + [False] * 4


def test_a_forgiven_address_need_not_wait() -> None:
    here = Queue()
    here.attacked_from(VILLAIN)
    tried = here.comes(VILLAIN)
    here.defence.forgive(VILLAIN)
    here.tries.look(here.now)
    assert tried.is_due


def test_an_allowed_address_never_waits() -> None:
    here = Queue(allow=(ipaddress.ip_network(VILLAIN),))
    assert all(here.comes(VILLAIN).is_due for _ in range(200))


def test_the_predicted_wait_is_exact_in_a_steady_queue() -> None:
    here = Queue()
    here.attacked_from(*BOTNET)
    lines = [*BOTNET[:3], "10.2.0.1", "10.2.0.2", "10.2.0.1", "10.2.0.3", BOTNET[0]]
    waiting = [here.comes(address) for address in lines]
    foreseen = [here.wait(tried) for tried in waiting]
    came = {}
    for number, tried in enumerate(waiting):
        tried.on_turn = lambda number=number: came.update({number: round(here.now, 3)})
    here.passes(DAY)
    assert [came[number] for number in range(len(lines))] == pytest.approx(foreseen)


# Guesses of an attacker


def day_of(here: Queue, guess: Callable[[int], Iterator[str]]) -> int:
    """Return how many guesses were checked in a day.

    `guess` returns the addresses of every fifth minute. Each guess waits at most an hour.
    """
    leaving: list[tuple[float, Try]] = []
    for minute in range(0, 24 * 60, 5):
        for address in guess(minute):
            leaving.append((here.now + 60 * MINUTE, here.comes(address)))
        here.passes(5 * MINUTE)
        while leaving and leaving[0][0] <= here.now:
            here.tries.leave(leaving.pop(0)[1], here.now)
    return len(here.checked)


def test_an_address_has_58_guesses_a_day_known_or_not() -> None:
    for known in (False, True):
        here = Queue(wrong_passwords=USUAL.wrong_passwords)
        if known:
            here.defence.logged_on(VILLAIN)
        assert day_of(here, lambda minute: iter([VILLAIN])) == 10 + 48 == 58


def test_a_few_addresses_have_as_many_each_and_the_caller_has_no_wait() -> None:
    here = Queue(wrong_passwords=USUAL.wrong_passwords)
    assert day_of(here, lambda minute: iter([VILLAIN, CAFE, *BOTNET[:2]])) == 4 * 58
    assert here.comes(HOME).is_due


def test_any_number_of_strangers_have_580_together() -> None:
    here = Queue(wrong_passwords=USUAL.wrong_passwords)

    def one_more(minute: int) -> Iterator[str]:
        for number in range(10):
            yield f"10.{minute >> 8}.{minute & 255}.{number}"

    assert day_of(here, one_more) == 100 + 480 == 580
    here.defence.logged_on(HOME)
    assert here.comes(HOME).is_due


# Cost


def test_a_decision_takes_under_two_milliseconds_in_a_full_queue() -> None:
    here = Queue()
    for number in range(MOST + 1):  # more than each of the tables holds
        address = str(ipaddress.IPv4Address(0x1400_0000 + number))
        here.comes(address, f"name {number}")
        here.defence.logged_on(address)
    here.attacked_from(*BOTNET)
    waiting = [here.comes(f"11.0.{n >> 8}.{n & 255}") for n in range(USUAL.logons)]
    assert not any(tried.is_due for tried in waiting)
    took: dict[str, list[float]] = {}
    for number in range(50):
        before = time.process_time()
        for step, at in steps_of(here, f"12.0.0.{number}"):
            took.setdefault(step, []).append(at - before)
            before = at
    for step, seconds in took.items():
        assert sorted(seconds)[len(seconds) // 2] < 0.002, step


def steps_of(here: Queue, address: str) -> Iterator[tuple[str, float]]:
    """Yield the processor time after each step of a caller who waits and leaves."""
    tried = here.comes(address)
    yield "comes", time.process_time()
    here.tries.wait(tried, here.now)
    yield "is told how long", time.process_time()
    here.tries.look(here.now)
    yield "the timer", time.process_time()
    here.tries.leave(tried, here.now)
    yield "leaves", time.process_time()


def test_a_caller_who_leaves_the_queue_frees_its_memory() -> None:
    here = Queue()
    for number in range(2000):
        tried = here.comes(f"10.{number >> 8}.{number & 255}.1", f"name {number % 7}")
        here.tries.leave(tried, here.now)
    assert here.tries._waiting == []
