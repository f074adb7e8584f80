"""What sysop.toml says about the bank's window, and what is said about it when it is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from timebank.errors import SettingsError
from timebank.settings import settings
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
        said = str(refused.value).replace(f"{tmp_path}/sysop.toml, ", "")
        return said.replace(str(tmp_path), "FOLDER").split("\n")

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
    def test_what_is_left_out_has_its_default(self, load):
        bank = load("")
        assert bank.limits == BankLimits(3600, 3600, 3600, 1800, 86400, 300, 7, 50)
        assert bank.retention == Retention(90, 365, 365)
        assert bank.import_seconds == 30
        assert (bank.barred, bank.co_sysops, bank.imports) == ((), (), ())

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

    def test_all_problems_are_told_at_once_in_the_order_of_the_file(self, refusal):
        lines = [f"{key} = -1" for key in LIMITS]
        lines += ["known_days = 'x'", "loan_share = 101", "barred = [1]"]
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
    def test_are_kept_from_new_callers_and_so_is_what_looks_like_them(self, load, name):
        assert load('barred = ["Ann  O\'Neil"]\nco_sysops = ["Bob", "Ĉarol"]').keeps(name)

    def test_keep_no_other_names(self, load):
        bank = load('barred = ["Ann  O\'Neil"]\nco_sysops = ["Bob", "Ĉarol"]')
        assert not any(map(bank.keeps, ("Bobby", "Karol", "Ann Neil", "Sys")))
        assert not load("").keeps("Bob")

    @pytest.mark.parametrize("key", ["barred", "co_sysops"])
    def test_a_name_that_nobody_can_have_is_refused(self, refusal, key):
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

    def test_our_own_file_is_refused_by_whatever_name(self, refusal, tmp_path):
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
