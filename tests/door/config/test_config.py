"""All of sysop.toml: the shipped file, and the messages about others."""

from __future__ import annotations

import dataclasses
import re
import subprocess
import sys
from fractions import Fraction
from ipaddress import ip_network
from itertools import pairwise
from pathlib import Path

import pytest

from door.config import config, schema
from door.config.defence import Defences
from door.config.editing import toml
from door.games.black_jack_for_time.game import BlackJackForTimeSettings
from door.games.blackjack.rules import BLACK_JACK_FOR_TIME
from door.games.registry import GAMES
from door.lines.registry import ListenerSettings
from tests import ROOT
from timebank.errors import SettingsError
from tools import page

SHIPPED = ROOT / "sysop.toml"


@pytest.fixture
def load(tmp_path):
    """Load a text as sysop.toml."""

    def load(text: str) -> config.Config:
        path = tmp_path / "sysop.toml"
        path.write_text(text, encoding="utf-8")
        return config.load(path)

    return load


@pytest.fixture
def refusal(load, tmp_path):
    """Load a text that must be refused; return the sentences without the name of the file."""

    def sentences(text: str) -> list[str]:
        with pytest.raises(SettingsError) as refused:
            load(text)
        return str(refused.value).replace(f"{tmp_path / 'sysop.toml'}, ", "").split("\n")

    return sentences


class TestTheShippedFile:
    """The file at the top of the repository."""

    def test_is_the_page_that_init_writes(self):
        assert page.PAGE.read_text(encoding="utf-8") == page.text(), "run `python -m tools.page`"

    def test_its_values_are_the_built_in_defaults(self, load):
        shipped = config.load(SHIPPED)
        folder = SHIPPED.parent
        built_in = load("")
        board = dataclasses.replace(built_in.board, data=folder / "data", texts=folder / "texts")
        bank = dataclasses.replace(
            built_in.bank, database=folder / "data" / built_in.bank.database.name
        )
        assert shipped == dataclasses.replace(built_in, path=SHIPPED, board=board, bank=bank)

    def test_is_a_page_with_a_line_about_each_key(self):
        lines = SHIPPED.read_text(encoding="utf-8").splitlines()
        assert len(lines) <= 66
        assert max(map(len, lines)) <= 100
        explained = set()
        for above, line in pairwise(lines):
            if key := re.match(r"(\w+) = ", line):
                assert above.startswith("# ") or key[1] in explained, line
                explained.add(key[1])
        changed = [key.path for key in schema.default_keys() if key.path[-1] in explained]
        assert {path[0] for path in changed} >= {"board", "listeners", "calls", "events", "games"}


def test_every_key_has_its_sentence_and_every_sentence_its_key():
    keys = {(str(key.path[0]), key.path[-1]) for key in schema.default_keys()}
    sentences = schema.meanings()
    explained = {(table, key) for table, words in sentences.items() for key in words}
    abouts = {(table, "about") for table in sentences}
    assert {each for each in keys if each[0] != "rules"} == explained - abouts
    assert {key for table, key in keys if table == "rules"} <= sentences["games"].keys()
    assert all(words[0].isupper() and words.endswith(".") for *_, words in texts(sentences))


def texts(sentences):
    return [(table, key, text) for table, words in sentences.items() for key, text in words.items()]


def test_the_guide_has_a_part_for_each_table():
    text = (ROOT / "docs/guide/settings.md").read_text(encoding="utf-8")
    parts = set(re.findall(r"^### `\[+(\w+).*\]`$", text, re.M))
    assert parts == set(schema.meanings())


class TestDefaults:
    def test_an_empty_file_is_a_valid_board(self, load, tmp_path):
        board = load("")
        assert board.board.name == "Black Jack For Time"
        assert board.listeners == (ListenerSettings("telnet", "0.0.0.0", 2323),)
        assert board.calls == config.Calls(
            nodes=16, idle_warning_seconds=240, idle_limit_seconds=300, logon_seconds=180
        )
        assert BlackJackForTimeSettings.among(board.games) == BlackJackForTimeSettings(
            True, 1, 1, 10, 20, BLACK_JACK_FOR_TIME
        )
        assert board.database == board.bank.database == tmp_path / "data" / "board.sqlite3"

    def test_a_board_for_doors_alone_has_no_listeners(self, load):
        assert load("listeners = []").listeners == ()

    def test_settings_are_frozen(self, load):
        with pytest.raises(dataclasses.FrozenInstanceError):
            load("").calls.nodes = 1


class TestValues:
    def test_everything_can_be_set(self, load, tmp_path):
        board = load(
            """
            [board]
            name = "The Ace of Clubs"
            sysop = "Ann O'Neil"
            texts = "/srv/texts"
            data_mode = "0750"
            language = "fr"
            animation = "fast"
            [[listeners]]
            host = "127.0.0.1"
            port = 23
            [[listeners]]
            host = "10.0.0.7"
            port = 0
            [calls]
            nodes = 3
            idle_warning_seconds = 10
            idle_limit_seconds = 11
            logon_seconds = 60
            [games.black-jack-for-time]
            coin_minutes = 5
            smallest_bet = 2
            largest_bet = 2
            turns_per_day = 0
            ties = "push"
            natural_pays = 2.5
            """
        )
        assert board.board == config.BoardSettings(
            "The Ace of Clubs",
            "Ann O'Neil",
            tmp_path / "data",
            Path("/srv/texts"),
            0o750,
            "fr",
            "fast",
        )
        assert board.listeners == (
            ListenerSettings("telnet", "127.0.0.1", 23),
            ListenerSettings("telnet", "10.0.0.7", 0),
        )
        assert board.calls == config.Calls(3, 10, 11, 60)
        rules = dataclasses.replace(BLACK_JACK_FOR_TIME, ties="push", natural_pays=Fraction(5, 2))
        assert BlackJackForTimeSettings.among(board.games) == BlackJackForTimeSettings(
            True, 5, 2, 2, 0, rules
        )

    def test_the_sysops_name_is_normalised_like_a_callers(self, load):
        assert load('[board]\nsysop = " Ann  O\u2019Neil "').board.sysop == "Ann O'Neil"

    @pytest.mark.parametrize("port", [0, 2323])
    def test_one_port_may_serve_several_addresses(self, load, port):
        text = "".join(
            f'[[listeners]]\nhost = "{host}"\nport = {port}\n' for host in ("127.0.0.1", "10.0.0.7")
        )
        assert len(load(text).listeners) == 2

    @pytest.mark.parametrize(
        ("one", "other"), [("0.0.0.0", "::1"), ("127.0.0.1", "::1"), ("2001:db8::1", "::1")]
    )
    def test_addresses_of_ipv6_have_ports_of_their_own(self, load, one, other):
        text = f'[[listeners]]\nhost = "{one}"\n[[listeners]]\nhost = "{other}"\n'
        assert [each.host for each in load(text).listeners] == [one, other]

    @pytest.mark.parametrize("kind", ["telnet", "rlogin"])
    @pytest.mark.parametrize(
        ("written", "expected"),
        [("::", "::"), ("0:0:0::1", "::1"), ("::ffff:10.0.0.7", "10.0.0.7"), ("FE80::1%eth0",) * 2],
    )
    def test_an_ipv6_address_is_stored_in_its_usual_spelling(self, load, kind, written, expected):
        (listener,) = load(f'[[listeners]]\nkind = "{kind}"\nhost = "{written}"').listeners
        assert listener.host == expected.replace("FE80", "fe80")

    def test_any_free_port_may_be_asked_for_more_than_once(self, load):
        assert len(load("[[listeners]]\nport = 0\n" * 2).listeners) == 2


class TestTheSetsOfRules:
    def test_a_table_plays_by_the_old_text_unless_it_names_another_set(self, load):
        for text in ("", "".join(f'[games.{name}]\nrules = "1991"\n' for name in GAMES)):
            games = load(text).games
            assert {name: games[name].rules for name in GAMES} == {
                name: game.kind.base for name, game in GAMES.items()
            }

    def test_every_key_of_a_1_0_file_means_the_same(self, load):
        """Such a file had every key with its default."""
        lines = []
        for key in schema.default_keys():
            if key.path[0] in ("boards", "rules") or key.path[-1] == "rules":
                continue
            if schema.header(key.table) not in lines:
                lines.append(schema.header(key.table))
            lines.append(f"{key.path[-1]} = {toml(key.value)}")
        assert load("\n".join(lines)) == load("")

    def test_a_key_of_the_table_overrides_its_set(self, load):
        text = '[games.vegas]\nrules = "casino"\ndealer = "hit 17"\ndecks = 8\n'
        rules = load(text).games["vegas"].rules
        assert (rules.dealer, rules.split_aces, rules.decks) == ("hit 17", "one card", 8)

    def test_a_set_of_your_own_is_for_every_table_that_names_it(self, load):
        games = load(
            '[rules.friday]\ndecks = 2\nties = "push"\nsplit_21 = "natural"\n'
            '[games.black-jack-for-time]\nrules = "friday"\ndecks = 3\n'
            '[games.vegas]\nrules = "friday"\n'
        ).games
        bjft, vegas = games["black-jack-for-time"].rules, games["vegas"].rules
        assert (bjft.decks, bjft.ties, bjft.shuffle) == (3, "push", "hand")
        assert (vegas.decks, vegas.split_21, vegas.dealer) == (2, "natural", "stand 17")
        assert games["red-dog"].rules.decks == 1

    @pytest.mark.parametrize(
        ("text", "sentence"),
        [
            (
                '[games.vegas]\nrules = "casinos"',
                'line 2: [games.vegas] rules: must be "1991" or "casino", is "casinos";'
                ' did you mean "casino"?',
            ),
            (
                '[rules.mine]\ntie = "push"',
                'line 2: [rules.mine] tie: is not known here; did you mean "ties"?',
            ),
            (
                "[rules.mine]\ndecks = 9",
                "line 2: [rules.mine] decks: must be a whole number from 1 to 8, is 9.",
            ),
            (
                "[rules.casino]\ndecks = 8",
                "line 1: [rules.casino]: must have another name:"
                " 1 to 24 characters, and no @ or |, and not 1991 or casino.",
            ),
            (
                '[rules.mine]\nhit_on_21 = true\ntwenty_one_paid = "at once"',
                'line 2: [rules.mine] hit_on_21: cannot be true while twenty_one_paid is "at once":'
                " the hand would be over.",
            ),
            ("rules = 3", "line 1: rules: must be one table, is 3."),
            ("[rules]\nmine = 3", "line 2: [rules] mine: must be one table, is 3."),
        ],
    )
    def test_a_mistake_is_a_sentence(self, refusal, text, sentence):
        assert refusal(text) == [sentence]


class TestTheListeners:
    def test_a_front_end_and_a_certificate_belong_to_a_listener(self, load, tmp_path):
        text = (
            '[[listeners]]\nkind = "telnets"\nproxies = ["127.0.0.1", "2001:db8::/32"]\n'
            'certificate = "board.pem"\nkey = "/etc/board.key"\n'
        )
        front_ends = (ip_network("127.0.0.1"), ip_network("2001:db8::/32"))
        assert load(text).listeners == (
            ListenerSettings(
                "telnets",
                "0.0.0.0",
                2992,
                front_ends,
                tmp_path / "board.pem",
                Path("/etc/board.key"),
            ),
        )

    def test_tls_needs_a_certificate_and_its_key(self, refusal):
        assert refusal('[[listeners]]\nkind = "telnets"\ncertificate = "board.pem"') == [
            'line 1: [[listeners]] 1, key: must name the file when kind is "telnets".'
        ]

    def test_ssh_has_a_port_of_its_own(self, load):
        text = '[[listeners]]\nkind = "ssh"\nproxies = ["127.0.0.1"]\n'
        front_end = (ip_network("127.0.0.1"),)
        assert load(text).listeners == (ListenerSettings("ssh", "0.0.0.0", 2222, front_end),)

    def test_nothing_else_has_a_certificate(self, refusal):
        assert refusal('[[listeners]]\ncertificate = "board.pem"') == [
            "line 2: [[listeners]] 1, certificate: "
            'is for kind "telnets" and "web" only, and this one is "telnet".'
        ]

    def test_ssh_may_let_older_programs_in(self, load, refusal):
        text = '[[listeners]]\nkind = "ssh"\n'
        assert load(text).listeners[0].compatibility == "modern"
        assert load(f'{text}compatibility = "old"\n').listeners[0].compatibility == "old"
        assert refusal(f'{text}compatibility = "board"\n') == [
            'line 3: [[listeners]] 1, compatibility: must be "modern", "boards" or "old", is'
            ' "board"; did you mean "boards"?',
        ]
        assert refusal('[[listeners]]\ncompatibility = "boards"\n') == [
            'line 2: [[listeners]] 1, compatibility: is for kind "ssh" only, and this one is'
            ' "telnet".',
        ]

    def test_the_web_has_front_ends_and_origins_of_its_own(self, load):
        (listener,) = load(
            '[[listeners]]\nkind = "web"\nforwarded = ["127.0.0.1"]\n'
            'origins = ["https://Board.example", "http://[::1]:8023"]\n'
        ).listeners
        assert (listener.port, listener.certificate) == (8023, None)
        assert listener.forwarded == (ip_network("127.0.0.1"),)
        assert listener.origins == ("https://board.example", "http://[::1]:8023")

    def test_the_web_may_have_a_certificate_with_its_key_or_none(self, load, refusal):
        (listener,) = load(
            '[[listeners]]\nkind = "web"\ncertificate = "/b.pem"\nkey = "/b.key"'
        ).listeners
        assert (listener.certificate, listener.key) == (Path("/b.pem"), Path("/b.key"))
        assert refusal('[[listeners]]\nkind = "web"\nkey = "b.key"') == [
            "line 1: [[listeners]] 1, certificate: must name the file when there is a key."
        ]

    def test_web_settings_apply_to_web_listeners_only(self, refusal):
        assert refusal('[[listeners]]\nforwarded = ["::1"]\norigins = ["https://a.example"]') == [
            'line 2: [[listeners]] 1, forwarded: is for kind "web" only, and this one is "telnet".',
            'line 3: [[listeners]] 1, origins: is for kind "web" only, and this one is "telnet".',
        ]

    @pytest.mark.parametrize(
        "text", ["board.example", "https://board.example/", "https://é.example"]
    )
    def test_an_origin_is_a_scheme_and_a_host(self, refusal, text):
        (sentence,) = refusal(f'[[listeners]]\nkind = "web"\norigins = ["{text}"]')
        assert sentence.startswith(
            "line 3: [[listeners]] 1, origins: must be origins of pages such as"
            ' "https://board.example", without a path, has '
        )


class TestTheDefence:
    def test_everything_can_be_set(self, load):
        board = load(
            """
            [defence]
            allow = []
            block = ["192.0.2.7", "2001:db8::/32"]
            calls_per_address = 1
            calls_per_minute = 2
            logons = 3
            wrong_passwords = 4
            new_names_per_day = 6
            """
        )
        blocked = (ip_network("192.0.2.7"), ip_network("2001:db8::/32"))
        assert board.defence == Defences((), blocked, 1, 2, 3, 4, 6)

    def test_an_ipv4_network_written_as_ipv6_is_read_as_ipv4(self, load):
        board = load('[defence]\nblock = ["::ffff:192.0.2.7", "::ffff:10.0.0.0/104", "::/0"]')
        assert board.defence.block == tuple(map(ip_network, ("192.0.2.7/32", "10.0.0.0/8", "::/0")))

    def test_every_wrong_network_is_reported(self, refusal):
        (first, second) = refusal('[defence]\nblock = ["here", "192.0.2.7", "192.0.2.7/24"]')
        start = "line 2: [defence] block: must be addresses or networks such as"
        assert first.startswith(f"{start} 192.0.2.7 or 10.0.0.0/8: 'here'")
        assert second.startswith(f"{start} 192.0.2.7 or 10.0.0.0/8: 192.0.2.7/24 has host bits")


class TestWrongValues:
    @pytest.mark.parametrize(
        ("text", "sentence"),
        [
            (
                f'[board]\nname = "{"x" * 41}"',
                "line 2: [board] name: must be 40 characters at most, is 41 long.",
            ),
            (
                '[board]\nsysop = "x"',
                "line 2: [board] sysop: must be a name a caller can have: "
                "A name has 2 to 24 characters.",
            ),
            (
                '[board]\nsysop = "New"',
                "line 2: [board] sysop: is what new callers type; choose another.",
            ),
            (
                '[[listeners]]\nkind = "telnt"',
                'line 2: [[listeners]] 1, kind: must be "telnet", "telnets", "rlogin", "web"'
                ' or "ssh", is "telnt"; did you mean "telnet"?',
            ),
            (
                "[[listeners]]\nport = 65536",
                "line 2: [[listeners]] 1, port: must be a whole number from 0 to 65535, is 65536.",
            ),
            *(
                (
                    f'[[listeners]]\nhost = "{host}"',
                    "line 2: [[listeners]] 1, host: must be an IP address of this machine, "
                    f'"0.0.0.0" for every IPv4 address or "::" for every address, is "{host}".',
                )
                for host in (
                    *("localhost", "1.2.3", "1.2.3.256", "1.2.3.04", "1.2.3.４", "*"),
                    *("[::1]", ":::", "1::2::3", "12345::", "::1/128", "fe80::1%"),
                )
            ),
            (
                "listeners = 1",
                "line 1: listeners: must be tables headed [[listeners]], is 1.",
            ),
            (
                "[calls]\nnodes = 0",
                "line 2: [calls] nodes: must be a whole number from 1 to 9999, is 0.",
            ),
            (
                "[calls]\nidle_warning_seconds = 300",
                "line 2: [calls] idle_warning_seconds: "
                "the warning after 300 seconds must come before the log-off after 300.",
            ),
            (
                "[calls]\nidle_limit_seconds = 200",
                "line 2: [calls] idle_limit_seconds: "
                "the warning after 240 seconds must come before the log-off after 200.",
            ),
            (
                "[calls]\nlogon_seconds = 0",
                "line 2: [calls] logon_seconds: must be a whole number from 1 to 86400, is 0.",
            ),
            (
                "[calls]\nnode = 3",
                'line 2: [calls] node: is not known here; did you mean "nodes"?',
            ),
            ("[call]", 'line 1: [call]: is not known here; did you mean "calls"?'),
            ("[[event]]", 'line 1: [[event]]: is not known here; did you mean "events"?'),
            (
                "[games.black-jack]",
                "line 1: [games.black-jack]: is not a game of this house, which has "
                f"{', '.join(GAMES)}; "
                'did you mean "black-jack-for-time"?',
            ),
            *(
                (
                    f"[games.black-jack-for-time]\n{key} = {value}",
                    f"line 2: [games.black-jack-for-time] {key}: {reason}.",
                )
                for key, value, reason in [
                    ("coin_minutes", "0", "must be a whole number from 1 to 1440, is 0"),
                    ("coin_minutes", "0.5", "must be a whole number from 1 to 1440, is 0.5"),
                    ("turns_per_day", "-1", "must be a whole number from 0 to 9999, is -1"),
                    ("smallest_bet", "11", "must not be more than largest_bet, which is 10"),
                    ("seats", "7", "is not known here; it belongs to [games.vegas]"),
                    ("ties", '"player"', 'must be "dealer" or "push", is "player"'),
                    ("decks", "true", "must be a whole number from 1 to 8, is true"),
                ]
            ),
        ],
    )
    def test_are_refused_with_line_key_and_reason(self, refusal, text, sentence):
        assert refusal(text) == [sentence]

    @pytest.mark.parametrize(
        ("health", "sentence"),
        [
            *(
                (wrong, 'must be an address and a port, "10.0.0.1:2330" or "[2001:db8::1]:2330".')
                for wrong in ("here", "board1:2330", "10.0.0.1", "10.0.0.1:70000", "::1:2330")
            ),
            (
                "0.0.0.0:2330",
                "must be one address of this machine that front ends reach, not 0.0.0.0.",
            ),
            ("127.0.0.1:2323", "has port 2323, which one of the [[listeners]] takes."),
        ],
    )
    def test_a_place_where_front_ends_cannot_ask(self, refusal, health, sentence):
        assert refusal(f'[server]\nhealth = "{health}"') == [f"line 2: [server] health: {sentence}"]

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            *(("0.0.0.0", "0.0.0.0"), ("0.0.0.0", "127.0.0.1"), ("127.0.0.1", "0.0.0.0")),
            *(("::", "::1"), ("127.0.0.1", "::"), ("0.0.0.0", "::"), ("::1", "0:0::0:1")),
        ],
    )
    def test_two_listeners_in_one_place(self, refusal, one, other):
        text = f'[[listeners]]\nhost = "{one}"\n[[listeners]]\nhost = "{other}"\nport = 2323'
        assert refusal(text) == [
            "line 5: [[listeners]] 2, port: 2323 is taken by a listener above."
        ]

    @pytest.mark.parametrize(
        ("text", "sentence"),
        [
            ("listeners = 3", "line 1: listeners: must be tables headed [[listeners]], is 3."),
            (
                '[board]\nsysop = "\\u202e"',
                "line 2: [board] sysop: must not contain control characters or line ends.",
            ),
        ],
    )
    def test_a_mistake_that_two_readers_find_is_reported_once(self, refusal, text, sentence):
        assert refusal(text) == [sentence]

    def test_house_variations_that_do_not_go_together(self, refusal):
        (sentence,) = refusal(
            '[games.black-jack-for-time]\nhit_on_21 = true\ntwenty_one_paid = "at once"'
        )
        assert sentence.startswith("line 2: [games.black-jack-for-time] hit_on_21: cannot be true")

    def test_all_mistakes_are_reported_at_once(self, refusal):
        sentences = refusal(
            '[games.black-jack-for-time]\ntie = 1\ndecks = 0\ncoin_minutes = "x"\n'
            "[board]\ncolour = 1\ntime_zone = 2\n[[events]]\nwhen = 3\n[oops]\n"
        )
        keys = [sentence.split(": ")[1] for sentence in sentences]
        assert keys == [
            "[games.black-jack-for-time] tie",
            "[games.black-jack-for-time] decks",
            "[games.black-jack-for-time] coin_minutes",
            "[board] colour",
            "[board] time_zone",
            "[[events]] 1, name",
            "[[events]] 1, time",
            "[[events]] 1, minutes",
            "[[events]] 1, when",
            "[oops]",
        ]

    def test_a_wrong_value_is_not_compared_with_others(self, refusal):
        text = '[games.black-jack-for-time]\nsmallest_bet = 50\nlargest_bet = "x"'
        assert len(refusal(text)) == 1


class TestStartUp:
    def test_reading_settings_loads_neither_database_nor_network(self):
        heavy = "{'sqlalchemy', 'telnetlib3', 'asyncio', 'socket', 'click', 'argon2', 'wcwidth'}"
        code = f"import sys, door.config.config; print(sorted({heavy} & set(sys.modules)))"
        done = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            cwd=SHIPPED.parent,
        )
        assert done.stdout == "[]\n"


def test_beacon_keys_of_1_0_are_ignored_and_reported_where_on(load, tmp_path):
    """The lines are from a sysop.toml of 1.0, with the beacon off and on."""
    rest = "beacon_urls = []\nbeacon_wait_seconds = 10\n"
    assert load(f'[fairness]\nbeacon = "none"\n{rest}').retired == ()
    assert load("").retired == ()
    (warning,) = load(f'[fairness]\nbeacon = "drand"\n{rest}').retired
    assert warning.startswith(f"{tmp_path / 'sysop.toml'}, line 2: [fairness] beacon has no effect")


def test_shoes_ahead_of_1_0_is_ignored_and_reported_where_off(load, tmp_path):
    assert load("[fairness]\nshoes_ahead = 500").retired == ()
    (warning,) = load("[fairness]\nshoes_ahead = 0").retired
    file = tmp_path / "sysop.toml"
    assert warning.startswith(f"{file}, line 2: [fairness] shoes_ahead has no effect any more")


def test_the_link_of_1_0_is_ignored_and_reported_where_set(load, tmp_path):
    """Books in a file, or two things at its port, were refused then."""
    assert load('[server]\nlink = ""').retired == ()
    (warning,) = load('[server]\nname = "north"\nlink = "10.0.0.1:2324"').retired
    assert warning.startswith(f"{tmp_path / 'sysop.toml'}, line 3: [server] link has no effect")


def test_web_telnet_of_1_0_is_ignored_and_reported_where_on(load, tmp_path):
    web = '[[listeners]]\nkind = "web"\n'
    assert load(f"{web}telnet = false").retired == ()
    (warning,) = load(f"{web}telnet = true").retired
    file = tmp_path / "sysop.toml"
    assert warning.startswith(f"{file}, line 3: [[listeners]] 1, telnet has no effect any more")
    assert 'kind = "telnets"' in warning


def test_the_metrics_port_of_1_0_is_ignored_and_reported_where_different(load, tmp_path):
    """The lines are from a sysop.toml of 1.0."""
    assert load('[metrics]\nhost = "127.0.0.1"\nport = 9523').retired == ()
    (warning,) = load('[metrics]\nallow = ["10.0.0.9"]\nport = 9100').retired
    file = tmp_path / "sysop.toml"
    assert warning.startswith(f"{file}, line 3: [metrics] port has no effect any more: ")


def test_try_minutes_of_1_0_are_ignored_and_reported(load, tmp_path):
    (warning,) = load("[defence]\nwrong_passwords = 5\ntry_minutes = 3").retired
    file = tmp_path / "sysop.toml"
    assert warning.startswith(f"{file}, line 3: [defence] try_minutes has no effect any more")
    assert load("[defence]\nwrong_passwords = 5").retired == ()


def test_keys_of_1_0_for_standalone_doors_are_ignored_and_reported(load, tmp_path):
    file = tmp_path / "sysop.toml"
    old = load("[server]\ntakes_doors = false\nstart_for_doors_minutes = 0")
    assert old.server.start_for_doors_minutes == 10
    assert [words.partition(" has no effect")[0] for words in old.retired] == [
        f"{file}, line 2: [server] takes_doors",
        f"{file}, line 3: [server] start_for_doors_minutes",
    ]
    assert "any more: 0 counts as 10, because every `door run`" in old.retired[1]
    assert load("").server.start_for_doors_minutes == 10
    assert load("[server]\nstart_for_doors_minutes = 1").retired == ()
    for value in ("1441", "false", "-1"):
        with pytest.raises(SettingsError, match="must be a whole number from 1 to 1440"):
            load(f"[server]\nstart_for_doors_minutes = {value}")
