"""The settings of the bank's window, and the messages about wrong ones."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from timebank.errors import HoursRefused, SettingsError
from timebank.settings import settings
from timebank.settings.hours import ALWAYS, OpeningHours
from timebank.settings.settings import BankLimits, Retention


@pytest.fixture
def load(tmp_path):
    """Load lines of [timebank]."""

    def read(text: str) -> settings.BankSettings:
        path = tmp_path / "sysop.toml"
        path.write_text("[timebank]\n" + text)
        return settings.load(path)

    return read


@pytest.fixture
def refusal(load, tmp_path):
    """Load lines that must be refused; return the sentences without file and folder."""

    def sentences(text: str) -> list[str]:
        with pytest.raises(SettingsError) as refused:
            load(text)
        words = str(refused.value).replace(f"{tmp_path}/sysop.toml, ", "")
        return words.replace(str(tmp_path), "FOLDER").split("\n")

    return sentences


LIMITS = {
    "largest_deposit": ("deposit", 1440),
    "largest_withdrawal": ("withdrawal", 1440),
    "largest_transfer": ("transfer", 525_600),
    "largest_loan": ("loan", 1440),
    "largest_balance": ("balance", 525_600),
    "keep_minutes": ("keep", 1440),
}


class TestNumbers:
    def test_an_omitted_setting_has_its_default(self, load):
        bank = load("")
        assert bank.limits == BankLimits(3600, 3600, 3600, 1800, 86400, 300, 7, 50)
        assert bank.retention == Retention(90, 365, 365)
        assert bank.import_seconds == 30
        assert (bank.hours, bank.barred, bank.co_sysops, bank.imports) == (ALWAYS, (), (), ())

    @pytest.mark.parametrize("key", LIMITS)
    def test_minutes_are_seconds_inside(self, load, key):
        field, most = LIMITS[key]
        for minutes in (0, 1, most):
            assert getattr(load(f"{key} = {minutes}").limits, field) == 60 * minutes

    @pytest.mark.parametrize(("key", "most"), [("known_days", 36500), ("loan_share", 100)])
    def test_other_limits_are_themselves(self, load, key, most):
        for value in (0, most):
            assert getattr(load(f"{key} = {value}").limits, key) == value

    def test_retention_is_in_days(self, load):
        bank = load("notice_days = 1\nlog_days = 2\ngone_days = 36500\nimport_seconds = 86400")
        assert bank.retention == Retention(1, 2, 36500)
        assert bank.import_seconds == 86400

    @pytest.mark.parametrize(
        ("key", "least", "most"),
        [
            *((key, 0, most) for key, (_, most) in LIMITS.items()),
            ("known_days", 0, 36500),
            ("loan_share", 0, 100),
            ("import_seconds", 1, 86400),
            ("notice_days", 1, 36500),
            ("log_days", 1, 36500),
            ("gone_days", 1, 36500),
        ],
    )
    def test_out_of_range_is_refused_with_the_range(self, refusal, key, least, most):
        for value in (least - 1, most + 1):
            assert refusal(f"{key} = {value}") == [
                f"line 2: [timebank] {key}: must be a whole number from {least} to {most},"
                f" is {value}."
            ]

    def test_all_problems_are_reported_in_file_order(self, refusal):
        lines = [f"{key} = -1" for key in LIMITS]
        lines += ["known_days = 'x'", "loan_share = 101", "hours = 5", "barred = [1]"]
        lines += ["co_sysops = ['12']", "import = ['']", "import_seconds = 0", "gone_days = 0"]
        keys = [sentence.split("] ")[1].split(":")[0] for sentence in refusal("\n".join(lines))]
        assert keys == [line.split(" ")[0] for line in lines]


class TestNames:
    def test_are_known_however_they_are_written(self, load):
        bank = load('barred = ["Ann  O\'Neil"]\nco_sysops = ["Bob", "Ĉarol"]')
        assert bank.barred == ("Ann O'Neil",)
        assert bank.is_barred("ANN O'NEIL")
        assert not bank.is_barred("Bob")

    @pytest.mark.parametrize(
        "name", ["Bob", "bob", "8ob", "B0B", "Carol", "CAROL", "Ann O'Neil", "SYSOP", "5ys0p"]
    )
    def test_are_reserved_and_so_are_their_look_alikes(self, load, name):
        assert load('barred = ["Ann  O\'Neil"]\nco_sysops = ["Bob", "Ĉarol"]').reserves(name)

    def test_keep_no_other_names(self, load):
        bank = load('barred = ["Ann  O\'Neil"]\nco_sysops = ["Bob", "Ĉarol"]')
        assert not any(map(bank.reserves, ("Bobby", "Karol", "Ann Neil", "Sys")))
        assert not load("").reserves("Bob")

    @pytest.mark.parametrize("key", ["barred", "co_sysops"])
    def test_an_invalid_name_is_refused(self, refusal, key):
        (sentence,) = refusal(f'{key} = ["Ann", "x;y"]')
        assert sentence.startswith(f"line 2: [timebank] {key}: \"x;y\" can't be a caller's name: ")

    @pytest.mark.parametrize("value", ["5", '"Ann"', "[[]]", '["a\\u0007"]', f'["{"x" * 201}"]'])
    def test_a_list_of_names_is_a_list_of_texts(self, refusal, value):
        (sentence,) = refusal(f"barred = {value}")
        assert sentence.startswith("line 2: [timebank] barred: must ")


class TestImports:
    def test_are_paths_from_the_folder_of_the_file(self, load, tmp_path):
        assert load('import = ["THEBANK.EXT", "/bbs/rats.ext"]').imports == (
            tmp_path / "THEBANK.EXT",
            Path("/bbs/rats.ext"),
        )

    def test_our_own_file_is_refused_under_any_name(self, refusal, tmp_path):
        (tmp_path / "link").symlink_to("THEBANK.EXT")
        for name in ("THEBANK.EXT", "./THEBANK.EXT", "link"):
            assert refusal(f'thebank_ext = "THEBANK.EXT"\nimport = ["{name}"]') == [
                f"line 3: [timebank] import: names FOLDER/{Path(name)},"
                " which is the thebank_ext that we write."
            ]

    def test_a_file_named_twice_is_refused(self, refusal):
        assert refusal('import = ["a.ext", "./a.ext"]') == [
            "line 2: [timebank] import: names FOLDER/a.ext more than once."
        ]

    def test_a_folder_is_refused(self, refusal):
        assert refusal('import = ["."]') == [
            "line 2: [timebank] import: must name files; FOLDER is a folder."
        ]

    def test_other_modes_have_no_accounts_to_import_to(self, refusal):
        assert refusal('mode = "none"\nimport = ["a.ext"]') == [
            'line 3: [timebank] import: is only for mode "built-in":'
            " no other has accounts to import to."
        ]


def at(day: int, clock: str) -> datetime:
    """Return a time of the week that begins on Monday, 1 June 2026."""
    hour, minute = clock.split(":")
    return datetime(2026, 6, day, int(hour), int(minute), 59, tzinfo=UTC)


class TestHours:
    def test_without_any_the_window_never_closes(self):
        assert ALWAYS.is_open(at(3, "04:00"))

    @pytest.mark.parametrize(
        ("text", "opens", "closes"),
        [
            ("mon-fri 08:00-22:00", [(1, "08:00"), (5, "21:59")], [(1, "07:59"), (1, "22:00")]),
            ("sat 10:00-24:00", [(6, "10:00"), (6, "23:59")], [(7, "00:00"), (6, "09:59")]),
            ("fri-mon 09:00-10:00", [(5, "09:00"), (1, "09:59")], [(2, "09:00"), (4, "09:30")]),
            ("sun 22:00-02:00", [(7, "22:00"), (1, "01:59")], [(1, "02:00"), (7, "01:00")]),
            ("Weekends 00:00-24:00", [(6, "00:00"), (7, "23:59")], [(5, "23:59"), (1, "00:00")]),
            ("daily 12:00-13:00", [(1, "12:30"), (7, "12:00")], [(3, "13:00")]),
            ("weekdays 12:00-13:00", [(5, "12:30")], [(6, "12:30")]),
            ("tue 08:00-09:00", [(2, "08:00")], [(1, "08:00"), (3, "08:00")]),
        ],
    )
    def test_open_with_their_first_minute_and_close_with_their_last(self, text, opens, closes):
        hours = OpeningHours.read([text])
        assert all(hours.is_open(at(*moment)) for moment in opens)
        assert not any(hours.is_open(at(*moment)) for moment in closes)

    def test_that_touch_or_overlap_are_one(self):
        texts = ["mon 12:00-14:00", "mon 08:00-12:00", "mon 13:00-13:30", "tue 08:00-09:00"]
        assert OpeningHours.read(texts).spans == ((480, 840), (1920, 1980))

    def test_include_the_next_opening(self):
        hours = OpeningHours.read(["mon-fri 08:00-22:00", "sat 10:30-24:00"])
        assert hours.next_opening(at(1, "23:00")) == "Tuesday at 08:00"
        assert hours.next_opening(at(5, "22:00")) == "Saturday at 10:30"
        assert hours.next_opening(at(7, "12:00")) == "Monday at 08:00"

    @pytest.mark.parametrize(
        "text",
        ["", "mon", "08:00-09:00", "mon 8:00-9:00", "mon 08:00-24:01", "mon 08:00", "mon8:00-9:00"],
    )
    def test_that_cannot_be_read_are_refused_with_an_example(self, text):
        with pytest.raises(HoursRefused, match='must be like "mon-fri 08:00-22:00"'):
            OpeningHours.read([text])

    @pytest.mark.parametrize("text", ["monday 08:00-09:00", "mon-x 08:00-09:00", "daily-fri 1:00"])
    def test_of_unknown_days_are_refused(self, text):
        with pytest.raises(HoursRefused, match="must "):
            OpeningHours.read([text])

    @pytest.mark.parametrize("text", ["mon 08:00-08:00", "mon 24:00-08:00"])
    def test_without_a_length_are_refused(self, text):
        with pytest.raises(HoursRefused, match="must begin on one minute"):
            OpeningHours.read([text])

    def test_each_wrong_one_is_quoted(self, refusal):
        assert refusal('hours = ["mon 1", "daily 08:00-09:00", "mo 08:00-09:00"]') == [
            'line 2: [timebank] hours: "mon 1" must be like "mon-fri 08:00-22:00".',
            'line 2: [timebank] hours: "mo 08:00-09:00" must name its days with daily, weekdays,'
            ' weekends, mon, tue, wed, thu, fri, sat, sun; "mo" is not one of them.',
        ]

    def test_follow_the_boards_time_zone(self, tmp_path):
        path = tmp_path / "sysop.toml"
        path.write_text(
            '[board]\ntime_zone = "Asia/Tokyo"\n[timebank]\nhours = ["tue 08:00-09:00"]'
        )
        bank = settings.load(path)
        assert bank.is_open(at(1, "23:30"))
        assert not bank.is_open(at(2, "08:30"))
