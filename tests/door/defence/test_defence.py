"""Counts about strangers: who waits, who does not, and when an address is remembered."""

import doctest
import ipaddress
import tracemalloc
from dataclasses import replace

import pytest

from door.config.defence import USUAL, Defences
from door.defence import counts as defence_module
from door.defence import reception, recovery
from door.defence.counts import DAY, MOST, RETRY_SECONDS, Defence, HeldOff, Networks, use, wait_of
from door.errors import Fault, NotAdmitted

RULES = replace(USUAL, allow=(), wrong_passwords=5)
HOME, CAFE, VILLAIN = "192.0.2.7", "198.51.100.4", "203.0.113.66"
MINUTE = 60.0
BOTNET = [f"10.0.0.{number}" for number in range(50)]


def defence(**rules: object) -> Defence:
    return Defence(replace(RULES, **rules))


def networks(*texts: str) -> tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...]:
    return tuple(ipaddress.ip_network(text) for text in texts)


def refused(by: Defence, address: str, now: float = 0.0, *, has_room: bool = True) -> Fault | None:
    """Return why a call is refused, None when it is taken."""
    try:
        by.take(address, now, has_room=has_room)
    except NotAdmitted as refusal:
        return refusal.fault
    return None


def guesses(at: Defence, address: str, name: str, times: int, now: float = 0.0) -> None:
    """Be wrong so often, whether or not that may be tried."""
    for _ in range(times):
        use(at.counts(address, name), now)


def wait(at: Defence, address: str, name: str, now: float = 0.0) -> float:
    """Return the seconds that a password for the name waits from this address in an empty queue."""
    return wait_of(at.counts(address, name), now)


# Calls


def test_an_address_has_so_many_lines_at_once_and_a_new_one_when_one_ends() -> None:
    here = defence(calls_per_address=2)
    first = here.take(HOME, 0.0, has_room=True)
    here.take(HOME, 0.0, has_room=True)
    assert refused(here, HOME) is Fault.AT_ONCE
    assert refused(here, CAFE) is None
    here.end(first)
    assert refused(here, HOME) is None


def test_an_address_may_call_at_a_burst_and_then_at_a_rate() -> None:
    here = defence(calls_per_minute=3, calls_per_address=99)
    assert [refused(here, HOME) for _ in range(4)] == [None, None, None, Fault.TOO_FAST]
    # Further tries cause no harm.
    assert [refused(here, HOME, now) for now in (5.0, 10.0, 15.0)] == [Fault.TOO_FAST] * 3
    assert refused(here, HOME, 20.0) is None
    assert refused(here, HOME, 20.0) is Fault.TOO_FAST
    assert [refused(here, HOME, 200.0) for _ in range(4)] == [None, None, None, Fault.TOO_FAST]


def test_a_blocked_network_is_not_answered_and_an_allowed_address_in_it_is() -> None:
    here = defence(block=networks("198.51.100.0/24", "2001:db8::/32"), allow=networks(CAFE))
    assert refused(here, "198.51.100.5") is Fault.BLOCKED
    assert refused(here, "2001:db8:1::1") is Fault.BLOCKED
    assert refused(here, CAFE) is None
    assert refused(here, HOME) is None


def test_for_an_allowed_address_nothing_is_counted() -> None:
    here = defence(allow=networks("192.0.2.0/24"), calls_per_address=1, calls_per_minute=1)
    assert [refused(here, HOME, has_room=False) for _ in range(50)] == [None] * 50
    guesses(here, HOME, "ada", 50)
    assert wait(here, HOME, "ada") == 0
    assert all(here.may_ask_for_a_name(HOME, 0.0) for _ in range(50))


def test_new_rules_apply_at_once_and_keep_the_counts() -> None:
    here = defence()
    guesses(here, VILLAIN, "ada", 5)
    here.keep_to(replace(RULES, wrong_passwords=3))
    assert wait(here, VILLAIN, "ada") == 3 * RETRY_SECONDS
    here.keep_to(replace(RULES, block=networks(VILLAIN)))
    assert refused(here, VILLAIN) is Fault.BLOCKED
    here.keep_to(RULES, friends=networks(VILLAIN))
    assert refused(here, VILLAIN) is None


def test_a_call_without_room_is_refused_and_not_counted() -> None:
    here = defence(calls_per_minute=1)
    assert refused(here, CAFE, has_room=False) is Fault.CROWDED
    assert not Fault.CROWDED.own_fault
    assert refused(here, CAFE) is None


def test_an_ipv6_subscriber_is_one_address_whichever_they_take() -> None:
    here = defence(calls_per_address=2)
    assert refused(here, "2001:db8:1:2::1") is None
    assert refused(here, "2001:db8:1:2:ffff::9") is None
    assert refused(here, "2001:db8:1:2:3::7") is Fault.AT_ONCE
    assert refused(here, "2001:db8:1:3::1") is None


def test_an_ipv4_caller_is_the_same_over_either_kind_of_socket() -> None:
    here = defence(calls_per_address=1)
    assert refused(here, "::ffff:192.0.2.7") is None
    assert refused(here, HOME) is Fault.AT_ONCE


def test_an_invalid_address_is_not_counted() -> None:
    here = defence(calls_per_address=1)
    assert [refused(here, "Xibalba, node 3") for _ in range(3)] == [None] * 3


# Wrong passwords


def test_after_wrong_passwords_an_address_waits_for_each_try() -> None:
    here = defence()
    guesses(here, VILLAIN, "ada", 4)
    assert wait(here, VILLAIN, "ada") == 0
    guesses(here, VILLAIN, "ada", 1)
    assert wait(here, VILLAIN, "ada") == RETRY_SECONDS
    assert wait(here, VILLAIN, "ada", RETRY_SECONDS) == 0
    guesses(here, VILLAIN, "ada", 1, RETRY_SECONDS)
    assert wait(here, VILLAIN, "ada", RETRY_SECONDS) == RETRY_SECONDS


def test_a_guilty_address_may_still_connect_and_try_other_names() -> None:
    here = defence()
    guesses(here, VILLAIN, "ada", 9)
    assert refused(here, VILLAIN) is None
    assert wait(here, VILLAIN, "bob") == 0


def test_a_few_addresses_do_not_make_others_wait() -> None:
    here = defence()
    for address in BOTNET[:9]:
        guesses(here, address, "ada", 5)
        assert wait(here, address, "ada") == RETRY_SECONDS
    assert wait(here, CAFE, "ada") == 0


def test_a_botnet_makes_strangers_wait_for_the_name_and_callers_not() -> None:
    here = defence()
    here.logged_on(HOME)
    for address in BOTNET:
        guesses(here, address, "ada", 1)
    assert wait(here, CAFE, "ada") == 3 * MINUTE
    assert wait(here, HOME, "ada") == 0
    assert wait(here, CAFE, "bob") == 0


def test_an_address_that_guesses_at_many_names_waits_for_all() -> None:
    here = defence()
    for name in BOTNET:
        guesses(here, VILLAIN, name, 1)
    assert wait(here, VILLAIN, "ada") == 3 * MINUTE
    assert wait(here, CAFE, "ada") == 0


def test_a_wait_does_not_reveal_where_a_name_logs_on() -> None:
    here = defence()
    here.logged_on(HOME)
    for address in (HOME, CAFE):
        for times in range(8):
            assert wait(here, address, "ada") == wait(here, address, "nobody")
            guesses(here, address, "ada", 1)
            guesses(here, address, "nobody", 1)
            assert (wait(here, address, "ada") > 0) == (times >= 4)


def test_names_that_look_alike_are_one_name() -> None:
    here = defence()
    guesses(here, VILLAIN, "Bill", 5)
    assert wait(here, VILLAIN, "BI11") == RETRY_SECONDS


# The order of the checks


def test_known_addresses_and_few_failures_go_first() -> None:
    here = defence()
    here.logged_on(HOME)
    here.logged_on(VILLAIN)
    guesses(here, VILLAIN, "ada", 1)
    guesses(here, CAFE, "bob", 1)
    ranks = [here.rank(address, 0.0) for address in (HOME, "10.0.0.1", VILLAIN, CAFE)]
    assert ranks == sorted(ranks)
    assert len(set(ranks)) == 4


# New names


def test_a_day_has_so_many_new_names_for_an_address() -> None:
    here = defence(new_names_per_day=4)
    assert [here.may_ask_for_a_name(CAFE, 0.0) for _ in range(6)] == [True] * 4 + [False] * 2
    assert here.may_ask_for_a_name(HOME, 0.0)
    assert not here.may_ask_for_a_name(CAFE, 86_400 / 4 - 1)
    assert here.may_ask_for_a_name(CAFE, 86_400 / 4 + 1)


# Memory


def test_the_memory_for_counts_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("door.defence.counts.MOST", 1000)
    here = defence()
    tracemalloc.start()
    for number in range(2000):
        address = str(ipaddress.IPv4Address(number * 60_000))
        here.end(here.take(address, 0.0, has_room=True))
        guesses(here, address, f"name {number}", 1)
        here.logged_on(address)
        here.may_ask_for_a_name(address, 0.0)
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # Six tables of a thousand. At the full 20,000 each that is less than 36 megabytes.
    assert held < 6 * 1000 * 300


def test_a_new_address_beyond_the_limit_evicts_the_one_untouched_longest() -> None:
    here = defence()
    guesses(here, VILLAIN, "ada", 5)
    for number in range(MOST - 1):
        guesses(here, str(ipaddress.IPv4Address(number)), "bob", 1)
    assert wait(here, VILLAIN, "ada") > 0
    guesses(here, HOME, "bob", 1)
    assert wait(here, VILLAIN, "ada") == 0


@pytest.mark.parametrize("text", ["192.0.2.7", "2001:db8::7", "192.0.2.0/24", "::/0", "0.0.0.0/0"])
def test_a_network_list_agrees_with_the_standard_library(text: str) -> None:
    network = ipaddress.ip_network(text)
    held = Networks([network, *networks("10.0.0.0/8", "fe80::/10")])
    for address in ("192.0.2.7", "192.0.2.8", "10.9.9.9", "2001:db8::7", "fe80::1", "9.9.9.9"):
        known = ipaddress.ip_address(address)
        is_in = any(known in each for each in (network, *networks("10.0.0.0/8", "fe80::/10")))
        assert held.hold(address) is is_in


def test_the_usual_rules_leave_this_machine_alone() -> None:
    here = Defence(Defences(**{**vars(USUAL), "calls_per_address": 1}))
    assert [refused(here, address) for address in ("127.0.0.1", "127.9.9.9", "::1") * 3] == [
        None
    ] * 9


# The sysop's list, and lifting a wait


def listed(by: Defence, now: float) -> list[HeldOff]:
    """Return the listed waits, to the second."""
    return [replace(held, wait=round(held.wait)) for held in by.held(now, 99)[0]]


def test_waits_are_listed_with_reason_and_time_longest_first() -> None:
    here = defence(calls_per_minute=2, calls_per_address=2, new_names_per_day=1, wrong_passwords=2)
    assert listed(here, 0.0) == []
    for name in BOTNET[:20]:
        guesses(here, VILLAIN, name, 1)
    guesses(here, VILLAIN, "ada", 2)
    guesses(here, VILLAIN, "bob", 3)
    for _ in range(2):
        here.take(CAFE, 0.0, has_room=True)
    assert here.may_ask_for_a_name("2001:db8::9", 0.0)
    assert listed(here, 0.0) == [
        HeldOff("2001:db8::/64", "too many new names", DAY),
        HeldOff(VILLAIN, "too many wrong passwords for a name", 2 * RETRY_SECONDS),
        HeldOff(VILLAIN, "too many wrong passwords", 6 * 3 * MINUTE),
        HeldOff(CAFE, "too many calls in a minute", MINUTE / 2),
        HeldOff(CAFE, "too many calls at once", 0.0),
    ]
    assert listed(here, 2 * RETRY_SECONDS)[1:] == [HeldOff(CAFE, "too many calls at once", 0.0)]


def test_names_that_strangers_have_to_wait_for_are_numbered() -> None:
    here = defence()
    for address in BOTNET:
        guesses(here, address, "ada", 1)
    assert (here.names_held(0.0), here.names_held(3 * MINUTE)) == (1, 0)


def test_exactly_the_listed_addresses_are_refused() -> None:
    here = defence(calls_per_minute=3, calls_per_address=99)
    for calls in range(5):
        waiting = [held.address for held in listed(here, 0.0)]
        assert waiting == ([HOME] if calls >= 3 else [])
        assert (refused(here, HOME) is None) == (not waiting)


def test_a_long_list_shows_the_longest_waits_and_counts_the_rest() -> None:
    here = defence(wrong_passwords=1)
    for number in range(50):
        guesses(here, f"192.0.2.{number}", "ada", 1, now=float(number))
    held, count = here.held(50.0, 3)
    assert [each.address for each in held] == ["192.0.2.49", "192.0.2.48", "192.0.2.47"]
    assert count == 50


def test_an_allowed_address_is_not_listed() -> None:
    here = defence()
    guesses(here, VILLAIN, "ada", 9)
    here.keep_to(replace(RULES, allow=networks(VILLAIN)))
    assert listed(here, 0.0) == []


@pytest.mark.parametrize(
    ("address", "written"),
    [(VILLAIN, VILLAIN), ("2001:db8::9", "2001:db8::9"), ("2001:db8::9", "2001:db8::/64")],
)
def test_an_address_that_is_forgiven_owes_nothing(address: str, written: str) -> None:
    here = defence(calls_per_minute=1, new_names_per_day=1)
    assert not here.forgive(written)
    here.take(address, 0.0, has_room=True)
    here.may_ask_for_a_name(address, 0.0)
    for name in BOTNET:
        guesses(here, address, name, 5)
    guesses(here, HOME, "bob", 9)
    assert here.forgive(written)
    assert [held.address for held in listed(here, 0.0)] == [HOME]
    assert here.may_ask_for_a_name(address, 0.0)
    assert refused(here, address) is None
    assert wait(here, address, "ada") == 0


def test_a_name_that_is_forgiven_is_so_at_every_address() -> None:
    here = defence()
    assert not here.forgive("Ada")
    here.logged_on(HOME)
    for address in (HOME, *BOTNET):
        guesses(here, address, "ada", 5)
    guesses(here, VILLAIN, "bob", 5)
    assert here.forgive("Ada")
    assert here.names_held(0.0) == 0
    assert [wait(here, address, "ada") for address in (HOME, CAFE, BOTNET[0])] == [0, 0, 0]
    assert wait(here, VILLAIN, "bob") > 0
    assert not here.forgive("Ada")


@pytest.mark.parametrize("module", [defence_module, reception, recovery])
def test_the_examples_in_the_documentation_hold(module: object) -> None:
    assert doctest.testmod(module).failed == 0
