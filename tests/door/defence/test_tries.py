"""The queue of passwords to check: order, waits, and an attacker's number of guesses."""

from __future__ import annotations

import ipaddress
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from door.config.defence import USUAL
from door.defence.counts import DAY, Defence
from door.defence.tries import Tries, Try

RULES = replace(USUAL, allow=(), wrong_passwords=5, try_minutes=3)
HOME, CAFE, VILLAIN = "192.0.2.7", "198.51.100.4", "203.0.113.66"
MINUTE, STEP = 60.0, 180.0


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

        def on_turn() -> None:
            due.append(address)

        due: list[str] = []
        tried = self.tries.present(address, name, self.now, on_turn)
        tried.on_turn = lambda: self._check(tried, address)
        if tried.is_due:
            self._check(tried, address)
        return tried

    def _check(self, tried: Try, address: str) -> None:
        self.checked.append(address)
        if address in self.is_right:
            self.tries.right(tried, self.now)
        else:
            self.tries.wrong(tried)

    def attacked_from(self, *addresses: str, name: str = "ada") -> None:
        """Make guesses until these addresses must wait."""
        for address in addresses:
            while self.comes(address, name).is_due:
                pass
        for address in addresses:
            self.gone(address)
        self.checked.clear()

    def gone(self, address: str) -> None:
        for queue in tuple(self.tries._queues.values()):
            for lines in tuple(queue.places.values()):
                for tried in tuple(lines):
                    if tried.who == self.defence.counted(address):
                        self.tries.leave(tried, self.now)

    def wait(self, tried: Try) -> float:
        return round(self.tries.wait(tried, self.now), 3)

    def passes(self, seconds: float) -> None:
        """Let time pass and check each password when it is due."""
        end = self.now + seconds
        while (at := self.tries.next_look()) is not None and at <= end:
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
    assert here.wait(tried) == STEP
    here.passes(STEP - 1)
    assert (tried.is_due, here.wait(tried)) == (False, 1.0)
    here.passes(1)
    assert tried.is_due


def test_the_queue_orders_by_wrong_passwords_and_then_by_arrival() -> None:
    here = Queue()
    here.attacked_from(*(f"10.0.0.{number}" for number in range(9)))
    order = ["10.0.0.8", "10.0.0.1", "10.0.0.0", "10.1.0.1", "10.1.0.2"]
    for address in order:
        here.comes(address)
    here.passes(DAY / 4)
    # 10.1 was never wrong, 10.0.0.0 five times, the next two once, and the last never.
    assert here.checked == ["10.0.0.8", "10.1.0.1", "10.1.0.2", "10.0.0.1", "10.0.0.0"]


def test_an_address_has_one_place_however_many_lines_it_has() -> None:
    here = Queue()
    here.attacked_from(VILLAIN, CAFE)
    for _ in range(5):
        here.comes(VILLAIN)
    here.comes(CAFE)
    here.passes(DAY / 4)
    assert here.checked.index(CAFE) <= 1


def test_behind_a_shared_address_one_waits_for_each_line_that_came_before() -> None:
    here = Queue()
    here.attacked_from(HOME)
    attackers = [here.comes(HOME) for _ in range(4)]
    owner = here.comes(HOME)
    assert [here.wait(each) for each in (*attackers, owner)] == [
        pytest.approx(STEP * number) for number in range(1, 6)
    ]
    here.is_right.add(HOME)
    here.passes(5 * STEP)
    assert owner.is_due


def test_guesses_from_a_shared_address_do_not_delay_other_names() -> None:
    here = Queue()
    here.attacked_from(HOME, name="bob")
    assert here.comes(HOME, "ada").is_due


def test_a_waiting_caller_who_leaves_makes_room_and_is_not_counted() -> None:
    here = Queue()
    here.attacked_from(VILLAIN, CAFE)
    owed = here.defence.owed_for(here.defence.digest("ada"), here.now)
    first, second = here.comes(VILLAIN), here.comes(CAFE)
    here.tries.leave(second, here.now)
    here.tries.leave(first, here.now)
    here.tries.leave(first, here.now)
    assert here.tries.next_look() is None
    assert here.defence.owed_for(here.defence.digest("ada"), here.now) == owed


def test_a_right_password_returns_its_try_and_the_next_is_checked_at_once() -> None:
    here = Queue(wrong_passwords=1)
    here.is_right.add(VILLAIN)
    here.defence.begin(here.defence.counted(VILLAIN), here.defence.digest("ada"), 0.0)
    waiting = [here.comes(VILLAIN) for _ in range(3)]
    here.passes(STEP)
    assert all(tried.is_due for tried in waiting)


def test_a_password_being_checked_counts_as_wrong_until_known() -> None:
    here = Queue()
    held = [here.tries.present(VILLAIN, "ada", 0.0, lambda: None) for _ in range(9)]
    assert [tried.is_due for tried in held] == [True] * 5 + [False] * 4


def test_a_forgiven_address_need_not_wait() -> None:
    here = Queue()
    here.attacked_from(VILLAIN)
    tried = here.comes(VILLAIN)
    here.defence.forgive_name("ada")
    here.defence.forgive_address(VILLAIN)
    here.tries.look_everywhere(here.now)
    assert tried.is_due


def test_an_allowed_address_never_waits() -> None:
    here = Queue(allow=(ipaddress.ip_network(VILLAIN),))
    assert all(here.comes(VILLAIN).is_due for _ in range(50))


def test_the_predicted_wait_is_exact_in_a_steady_queue() -> None:
    here = Queue()
    addresses = [f"10.0.0.{number}" for number in range(9)]
    here.attacked_from(*addresses)
    waiting = [here.comes(address) for address in (*addresses, "10.2.0.1", "10.2.0.2", "10.2.0.3")]
    waiting = [tried for tried in waiting if not tried.is_due]
    foreseen = {tried.number: here.wait(tried) for tried in waiting}
    came = {}
    for tried in waiting:
        tried.on_turn = lambda tried=tried: came.update({tried.number: round(here.now, 3)})
    here.passes(DAY)
    assert came == pytest.approx(foreseen)


# Guesses of an attacker


def day_of(here: Queue, guess: Callable[[int], Iterator[str]]) -> int:
    """Return how many guesses were checked in a day.

    `guess` returns the addresses of each minute. Each guess waits at most an hour.
    """
    leaving: list[tuple[float, Try]] = []
    for minute in range(24 * 60):
        for address in guess(minute):
            leaving.append((here.now + 60 * MINUTE, here.comes(address)))
        here.passes(MINUTE)
        while leaving and leaving[0][0] <= here.now:
            here.tries.leave(leaving.pop(0)[1], here.now)
    return len(here.checked)


TODAY = 5 + 24 * 60 // 3  # the guesses of any number of addresses before the queue


def test_the_queue_allows_485_guesses_a_day_from_one_address() -> None:
    assert day_of(Queue(), lambda minute: iter([VILLAIN])) == TODAY == 485


def test_two_addresses_and_two_hundred_have_no_more() -> None:
    assert day_of(Queue(), lambda minute: iter([VILLAIN, CAFE])) <= TODAY
    many = day_of(Queue(), lambda minute: iter([f"10.0.0.{minute % 200}"]))
    assert many <= TODAY


def test_countless_impatient_addresses_get_half_the_guesses() -> None:
    def one_more(minute: int) -> Iterator[str]:
        yield f"10.{minute >> 8}.{minute & 255}.1"

    assert day_of(Queue(), one_more) <= TODAY // 2 + 8


def test_countless_patient_addresses_get_three_more_on_the_first_day() -> None:
    """The addresses stay within the usual rate and use the remaining reserve at the end."""

    def patient(minute: int) -> Iterator[str]:
        tries = 5 if minute == 0 else int(minute % 3 == 0) + 9 * int(minute == 24 * 60 - 1)
        for number in range(tries):
            yield f"10.{minute >> 8}.{minute & 255}.{number}"

    assert day_of(Queue(), patient) <= TODAY + 3


def test_where_a_name_is_at_home_there_are_a_few_more() -> None:
    defence = Defence(RULES)
    defence.logged_on(HOME, defence.digest("ada"))
    who, name = defence.counted(HOME), defence.digest("ada")
    early = sum(
        defence.may_look_early(who, name, minute * MINUTE) is not None for minute in range(24 * 60)
    )
    assert early == 5 + 23


# Cost


def test_a_decision_takes_under_two_milliseconds_in_a_full_queue() -> None:
    here = Queue()
    for number in range(33_000):  # more than each of five tables holds: 160,000 in all
        address = str(ipaddress.IPv4Address(0x0A00_0000 + number))
        who, name = here.defence.counted(address), here.defence.digest(f"name {number}")
        here.defence.begin(who, name, 0.0)
        here.defence.logged_on(address, name)
    waiting = [here.comes(f"11.0.{n >> 8}.{n & 255}") for n in range(400)]
    assert sum(not tried.is_due for tried in waiting) > 390
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
    here.tries.next_look()
    yield "the timer", time.process_time()
    here.tries.leave(tried, here.now)
    yield "leaves", time.process_time()


def test_a_caller_who_leaves_the_queue_frees_its_memory() -> None:
    here = Queue()
    for number in range(2000):
        tried = here.comes(f"10.{number >> 8}.{number & 255}.1", f"name {number % 7}")
        here.tries.leave(tried, here.now)
    assert here.tries._queues == {}
