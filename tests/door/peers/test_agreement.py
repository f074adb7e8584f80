"""Settings that must be equal on all servers of a board, and compatible releases."""

from __future__ import annotations

import json

import pytest

from door.config import config as settings
from door.config import schema
from door.peers import agreement
from door.peers.agreement import (
    differing,
    encode,
    go_together,
    listed,
    objections,
    terms_in,
    terms_of,
)
from timebank.servers.registry import ServerRecord


@pytest.fixture
def terms(tmp_path):
    """Return the terms of a sysop.toml with this content."""

    def of(content: str = "") -> dict[str, str]:
        path = tmp_path / "sysop.toml"
        path.write_text(content, encoding="utf-8")
        return terms_of(settings.load(path))

    return of


def server(name: str, terms: dict[str, str], version: str = "1.2.0") -> ServerRecord:
    return ServerRecord(1, name, "p", encode(terms), version, 0, 0, draining=False)


def test_the_settings_that_may_differ_between_machines_exist():
    there = {f"{schema.header(key.table)} {key.path[-1]}" for key in schema.default_keys()}
    assert there >= agreement.OWN


def test_files_that_say_the_same_in_other_words_are_equal(terms):
    written = """
[calls]
nodes = 16
[[events]]
name = "Mail hour"
days = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
time = "03:00"
minutes = 60
[games.vegas]
seats = 7
decks = 6
"""
    assert differing(terms(), terms(written)) == []


def test_of_each_machine_are_places_listeners_limits_and_its_name(terms, tmp_path):
    own = f"""
[board]
data = "{tmp_path}/elsewhere"
texts = "screens"
data_mode = "0750"
[[listeners]]
port = 4000
[server]
loop = "asyncio"
[defence]
calls_per_minute = 99
[timebank]
database = "postgresql://me@db.example.org/books"
import = ["a.txt"]
"""
    assert terms(own) == terms()


@pytest.mark.parametrize(
    ("content", "keys"),
    [
        ('[board]\nname = "Another"', ["[board] name"]),
        ('[board]\nsysop = "Wanda"', ["[board] sysop"]),
        ('[board]\ntime_zone = "Europe/Berlin"', ["[board] time_zone"]),
        ("[calls]\nnodes = 4\nminutes_per_day = 30", ["[calls] nodes", "[calls] minutes_per_day"]),
        ("events = []", ["[[events]]"]),
        ("[timebank]\nlargest_loan = 5", ["[timebank] largest_loan"]),
        ('[timebank]\nhours = ["mon 10:00-11:00"]', ["[timebank] hours"]),
        ('[timebank]\nmode = "none"', ["[timebank] mode"]),
        ("[timebank]\ngone_days = 3", ["[timebank] gone_days"]),
        ("[games.vegas]\nseats = 3\ndecks = 4", ["[games.vegas] seats", "[games.vegas] decks"]),
        ('[games.baccarat]\nlanguage = "french"', ["[games.baccarat] language"]),
        ("[boards.Xibalba]\nshare = 50", ["[boards]"]),
    ],
)
def test_a_difference_is_named_by_its_key(terms, content, keys):
    assert differing(terms(), terms(content)) == keys


def test_agreements_with_a_host_are_the_same_on_all_machines(terms):
    one = '[boards.Xibalba]\naddresses = ["192.0.2.0/24"]\nsecret = "open sesame"\n'
    ours = terms(one)
    assert differing(ours, terms(one + "share = 50")) == ["[boards.Xibalba] share"]
    other = terms(one.replace("sesame", "onion"))
    assert differing(ours, other) == ["[boards.Xibalba] secret"]
    assert "sesame" not in json.dumps(ours)


def test_a_key_that_only_one_release_knows_is_no_difference(terms):
    ours = terms()
    assert differing(ours, {**ours, "[games.vegas] chairs": "3"}) == []
    assert differing({**ours, "[games.vegas] chairs": "3"}, ours) == []


def test_terms_are_read_as_they_were_written(terms):
    row = server("beta", terms())
    assert terms_in(row) == terms()
    assert terms_in(row._replace(settings="{}")) == {}


@pytest.mark.parametrize(
    ("one", "other", "goes"),
    [
        ("1.2.0", "1.2.0", True),
        ("1.2.0", "1.2.9", True),
        ("1.2.0", "1.3.0", True),
        ("1.2.5", "1.1.7", True),
        ("1.2.0", "1.4.0", False),
        ("1.10.0", "1.9.3", True),
        ("1.1.0", "1.10.0", False),
        ("1.9.0", "2.0.0", False),
        ("2.0.0", "1.9.0", False),
        ("0.1.0+local", "0.2.0", True),
        ("unknown", "unknown", True),
        ("unknown", "0.1.0", False),
    ],
)
def test_which_versions_serve_side_by_side(terms, one, other, goes):
    ours = terms()
    assert go_together(one, other) == go_together(other, one) == goes
    problems = list(objections(one, ours, [server("beta", ours, other)]))
    assert (
        problems == []
        if goes
        else [each for each in problems if f"beta is of version {other}" in each]
    )
    assert bool(problems) != goes


def test_each_server_that_objects_is_named_with_its_keys(terms):
    ours, theirs = terms(), terms("[calls]\nnodes = 4\n[timebank]\nkeep_minutes = 6")
    others = [server("beta", theirs), server("gamma", ours), server("delta", theirs, "9.9")]
    problems = list(objections("1.2.0", ours, others))
    keys = "[calls] nodes and [timebank] keep_minutes"
    assert problems[0] == f"The server beta serves with other settings: {keys}."
    assert problems[1].startswith("The server delta is of version 9.9, and this one of 1.2.0: ")
    assert len(problems) == 2


def test_one_that_drains_makes_room_for_other_settings(terms):
    beta = server("beta", terms("[calls]\nnodes = 4"))
    assert list(objections("1.2.0", terms(), [beta])) != []
    assert list(objections("1.2.0", terms(), [beta._replace(draining=True)])) == []


def test_a_long_list_of_keys_is_cut():
    keys = [f"[calls] key{number}" for number in range(11)]
    assert listed(keys).endswith("[calls] key7 and 3 more")


def test_the_sample_fits_into_a_row(terms):
    assert len(encode(terms())) < 16_000
