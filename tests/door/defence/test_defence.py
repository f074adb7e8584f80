"""Counts about strangers: who waits, who does not, and when an address is remembered."""

import doctest
import ipaddress
import tracemalloc
from dataclasses import replace

import pytest

from door.config.defence import USUAL, Defences
from door.defence import counts as defence_module
from door.defence import reception, recovery
from door.defence.counts import DAY, MOST_ADDRESSES, Defence, HeldOff, Networks
from door.errors import Fault, NotAdmitted

RULES = replace(USUAL, allow=(), wrong_passwords=5, try_minutes=3)
HOME, CAFE, VILLAIN = "192.0.2.7", "198.51.100.4", "203.0.113.66"
MINUTE = 60.0
NOBODY = 0


def defence(**rules: object) -> Defence:
    return Defence(replace(RULES, **rules))


def networks(*texts: str) -> tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...]:
    return tuple(ipaddress.ip_network(text) for text in texts)


def refused(by: Defence, address: str, now: float = 0.0, waiting: int = NOBODY) -> Fault | None:
    """Why a call is refused, None when it is taken."""
    try:
        by.take(address, waiting, now)
    except NotAdmitted as refusal:
        return refusal.fault
    return None


def guesses(at: Defence, address: str, name: str, times: int, now: float = 0.0) -> None:
    """Be wrong so often, whether or not that may be tried."""
    who = at.counted(address)
    for _ in range(times if who is not None else 0):
        at.begin(who, at.digest(name), now)


def wait(at: Defence, address: str, name: str, now: float = 0.0) -> float:
    """Return the seconds that a password for the name waits from this address in an empty queue."""
    who, digest = at.counted(address), at.digest(name)
    if who is None:
        return 0.0
    clean = not at.failures(at.about(who, digest), now)
    return max(
        at.wait_for_name(digest, now, clean=clean), at.wait_for_address(who, now, clean=clean)
    )


def logs_on(at: Defence, address: str, name: str) -> None:
    at.logged_on(address, at.digest(name))


# Calls


def test_an_address_has_so_many_lines_at_once_and_a_new_one_when_one_ends() -> None:
    here = defence(calls_per_address=2)
    first = here.take(HOME, NOBODY, 0.0)
    here.take(HOME, NOBODY, 0.0)
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
    assert [refused(here, HOME, waiting=9999) for _ in range(50)] == [None] * 50
    guesses(here, HOME, "ada", 50)
    assert wait(here, HOME, "ada") == 0
    assert all(here.may_ask_for_a_name(HOME, 0.0) for _ in range(50))


def test_new_rules_apply_at_once_and_keep_the_counts() -> None:
    here = defence()
    guesses(here, VILLAIN, "ada", 5)
    here.keep_to(replace(RULES, wrong_passwords=3))
    assert wait(here, VILLAIN, "ada") == 9 * MINUTE
    here.keep_to(replace(RULES, block=networks(VILLAIN)))
    assert refused(here, VILLAIN) is Fault.BLOCKED
    here.keep_to(RULES, friends=networks(VILLAIN))
    assert refused(here, VILLAIN) is None


def test_a_crowded_log_on_admits_known_addresses_only() -> None:
    here = defence(logons=10)
    logs_on(here, HOME, "ada")
    assert refused(here, CAFE, waiting=9) is None
    assert refused(here, CAFE, waiting=10) is Fault.CROWDED
    assert refused(here, HOME, waiting=10) is None
    assert refused(here, HOME, waiting=20) is Fault.CROWDED
    assert not Fault.CROWDED.own_fault


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
    assert wait(here, VILLAIN, "ada") == 3 * MINUTE
    assert wait(here, VILLAIN, "ada", 3 * MINUTE) == 0
    guesses(here, VILLAIN, "ada", 1, 3 * MINUTE)
    assert wait(here, VILLAIN, "ada", 3 * MINUTE) == 3 * MINUTE


def test_a_guilty_address_may_still_connect() -> None:
    here = defence()
    guesses(here, VILLAIN, "ada", 9)
    assert refused(here, VILLAIN) is None


def test_the_wait_after_wrong_passwords_has_a_ceiling() -> None:
    here = defence()
    guesses(here, VILLAIN, "ada", 10_000)
    longest = (11 - 4) * 3 * MINUTE
    assert wait(here, VILLAIN, "ada") == longest
    assert wait(here, VILLAIN, "ada", longest) == 0


def test_strangers_cannot_use_up_the_tries_of_an_innocent_address() -> None:
    here = defence()
    for number in range(40):
        address = f"10.0.0.{number % 4}"
        if not wait(here, address, "ada"):
            guesses(here, address, "ada", 1)
    assert wait(here, "10.0.0.1", "ada") == 3 * MINUTE
    assert wait(here, CAFE, "ada") == 0
    assert wait(here, VILLAIN, "bob") == 0


def test_tries_reserved_for_innocent_addresses_refill_half_as_fast() -> None:
    here, wrong = defence(), 0
    while not wait(here, f"10.0.0.{wrong}", "ada"):
        guesses(here, f"10.0.0.{wrong}", "ada", 1)
        wrong += 1
    assert wrong == 5 + 3
    assert wait(here, CAFE, "ada") == 2 * 3 * MINUTE


def test_a_customer_stays_known_for_a_day_after_wrong_passwords() -> None:
    here = defence()
    digest = here.digest("ada")
    guesses(here, "2001:db8:7:1::1", "ada", 1)
    kin, others = here.counted("2001:db8:7:ffff::1"), here.counted("2001:db8:8::1")
    assert [here.failures(here.about(who, digest), 0.0) for who in (kin, others)] == [1, 0]
    assert here.failures(here.about(kin, digest), DAY) == 0
    assert here.failures(here.about(kin, here.digest("bob")), 0.0) == 0


def test_a_right_password_takes_back_its_own_charge_and_no_other() -> None:
    here = defence()
    guesses(here, VILLAIN, "ada", 4)
    who, name = here.counted(VILLAIN), here.digest("ada")
    charge = here.begin(who, name, 0.0)
    assert wait(here, VILLAIN, "ada") == 3 * MINUTE
    here.take_back(charge)
    assert wait(here, VILLAIN, "ada") == 0
    assert here.failures(here.about(who, name), 0.0) == 4
    guesses(here, VILLAIN, "ada", 1)
    logs_on(here, VILLAIN, "ada")
    assert wait(here, VILLAIN, "ada") == 3 * MINUTE


# At home


def early(at: Defence, address: str, name: str, now: float = 0.0) -> bool:
    """Look at a password before its turn, and find it wrong; False where that may not be."""
    return at.may_look_early(at.counted(address), at.digest(name), now) is not None


def test_strangers_cannot_use_up_a_names_tries_at_its_home_address() -> None:
    here = defence()
    logs_on(here, HOME, "ada")
    for number in range(200):
        guesses(here, f"10.0.0.{number}", "ada", 1)
    assert [early(here, HOME, "ada") for _ in range(6)] == [True] * 5 + [False]
    assert not early(here, HOME, "ada", 59 * MINUTE)
    assert early(here, HOME, "ada", 60 * MINUTE)


def test_an_early_check_does_not_reveal_a_names_home_address() -> None:
    here = defence()
    logs_on(here, HOME, "ada")
    for _ in range(7):
        assert early(here, HOME, "ada") == early(here, HOME, "nobody")
    assert [
        here.has_logged_on_from(here.counted(HOME), here.digest(name)) for name in ("ada", "bob")
    ] == [
        True,
        False,
    ]
    assert not early(here, CAFE, "ada"), "where no caller lives nobody could be at home"


# On a call


def test_a_caller_on_a_call_has_separate_tries_and_a_wait() -> None:
    here = defence()
    name = here.digest("ada")
    guesses(here, HOME, "ada", 50)
    for _ in range(5):
        assert here.wait_on_call(HOME, name, 0.0) == 0
        here.wrong_on_call(HOME, name, 0.0)
    assert here.wait_on_call(HOME, name, 0.0) == 3 * MINUTE
    assert here.wait_on_call(HOME, here.digest("bob"), 0.0) == 0


def test_wrong_passwords_on_a_call_count_at_the_log_on_of_guilty_addresses() -> None:
    here = defence()
    for _ in range(9):
        here.wrong_on_call(HOME, here.digest("ada"), 0.0)
    guesses(here, VILLAIN, "ada", 1)
    assert wait(here, VILLAIN, "ada") > 0
    assert wait(here, CAFE, "ada") == 0


# The order of the checks


def test_known_addresses_and_few_failures_go_first() -> None:
    here = defence()
    logs_on(here, HOME, "ada")
    logs_on(here, VILLAIN, "a name of his own")
    guesses(here, VILLAIN, "ada", 1)
    guesses(here, CAFE, "bob", 3)
    ada = here.digest("ada")
    order = [HOME, "10.0.0.1", VILLAIN, CAFE]
    ranks = [here.rank(here.counted(address), ada, 0.0) for address in order]
    assert ranks == sorted(ranks)
    assert len(set(ranks)) == 4


def test_the_rank_of_a_password_does_not_tell_where_a_name_is_at_home() -> None:
    here = defence()
    logs_on(here, HOME, "ada")
    who = here.counted(HOME)
    assert here.rank(who, here.digest("ada"), 0.0) == here.rank(who, here.digest("bob"), 0.0)


# New names


def test_a_day_has_so_many_new_names_for_an_address() -> None:
    here = defence(new_names_per_day=4)
    assert [here.may_ask_for_a_name(CAFE, 0.0) for _ in range(6)] == [True] * 4 + [False] * 2
    assert here.may_ask_for_a_name(HOME, 0.0)
    assert not here.may_ask_for_a_name(CAFE, 86_400 / 4 - 1)
    assert here.may_ask_for_a_name(CAFE, 86_400 / 4 + 1)


# Memory


def test_the_memory_for_counts_is_bounded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for most in ("MOST_ADDRESSES", "MOST_NAMES", "MOST_PAIRS"):
        monkeypatch.setattr(f"door.defence.counts.{most}", 1000)
    here = defence()
    tracemalloc.start()
    for number in range(2000):
        address = str(ipaddress.IPv4Address(number * 60_000))
        here.end(here.take(address, NOBODY, 0.0))
        logs_on(here, address, "ada")
        guesses(here, address, "ada", 1)
        guesses(here, address, f"name {number}", 1)
        early(here, address, "ada")
        here.wrong_on_call(address, here.digest(f"name {number}"), 0.0)
        here.may_ask_for_a_name(address, 0.0)
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # Ten tables of a thousand. At the full 32,768 each that is less than 82 megabytes.
    assert held < 10 * 1000 * 250


def test_a_new_address_beyond_the_limit_evicts_the_one_untouched_longest() -> None:
    here = defence()
    guesses(here, VILLAIN, "ada", 9)
    for number in range(MOST_ADDRESSES - 1):
        guesses(here, str(ipaddress.IPv4Address(number)), "bob", 1)
    villain = here.counted(VILLAIN)
    assert here.wait_for_address(villain, 0.0, clean=False) > 0
    guesses(here, HOME, "bob", 1)
    assert here.wait_for_address(villain, 0.0, clean=False) == 0


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
    here = defence(calls_per_minute=2, calls_per_address=2, new_names_per_day=1)
    assert listed(here, 0.0) == []
    guesses(here, VILLAIN, "ada", 6)
    for _ in range(2):
        here.take(CAFE, NOBODY, 0.0)
    assert here.may_ask_for_a_name("2001:db8::9", 0.0)
    assert listed(here, 0.0) == [
        HeldOff("2001:db8::/64", "too many new names", DAY),
        HeldOff(VILLAIN, "too many wrong passwords", 9 * MINUTE),
        HeldOff(CAFE, "too many calls in a minute", MINUTE / 2),
        HeldOff(CAFE, "too many calls at once", 0.0),
    ]
    assert listed(here, 9 * MINUTE)[1:] == [HeldOff(CAFE, "too many calls at once", 0.0)]
    assert (here.names_held(0.0), here.names_held(9 * MINUTE)) == (1, 0)


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


@pytest.mark.parametrize("address", [VILLAIN, "2001:db8::9"])
def test_an_address_that_is_forgiven_owes_nothing(address: str) -> None:
    here = defence(calls_per_minute=1, new_names_per_day=1)
    assert not here.forgive_address(address)
    here.take(address, NOBODY, 0.0)
    here.may_ask_for_a_name(address, 0.0)
    guesses(here, address, "ada", 9)
    guesses(here, HOME, "bob", 9)
    assert here.forgive_address(address)
    assert [held.address for held in listed(here, 0.0)] == [HOME]
    assert here.may_ask_for_a_name(address, 0.0)
    assert refused(here, address) is None
    # The name is another matter.
    assert here.wait_for_name(here.digest("ada"), 0.0, clean=False)
    assert not here.forgive_address("no address")


def test_a_name_that_is_forgiven_is_so_everywhere_also_where_it_is_at_home() -> None:
    here = defence()
    assert not here.forgive_name("ada")
    logs_on(here, HOME, "ada")
    for address in (HOME, CAFE, VILLAIN):
        guesses(here, address, "ada", 9)
    for _ in range(9):
        early(here, HOME, "ada")
        here.wrong_on_call(HOME, here.digest("ada"), 0.0)
    assert here.forgive_name("ada")
    assert here.names_held(0.0) == 0
    assert early(here, HOME, "ada")
    assert here.wait_on_call(HOME, here.digest("ada"), 0.0) == 0
    assert here.failures(here.about(here.counted(VILLAIN), here.digest("ada")), 0.0) == 0
    # The addresses are another matter.
    assert here.wait_for_address(here.counted(VILLAIN), 0.0, clean=False)
    early(here, HOME, "ada")
    here.forgive_name("ada")
    assert not here.forgive_name("ada")


@pytest.mark.parametrize("module", [defence_module, reception, recovery])
def test_the_examples_in_the_documentation_hold(module: object) -> None:
    assert doctest.testmod(module).failed == 0
