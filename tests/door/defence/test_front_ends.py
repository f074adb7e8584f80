"""A front end on this machine that does not pass on addresses is noticed."""

from __future__ import annotations

from pathlib import Path

import pytest

from door.config import config
from door.defence import front_ends
from tests.door.shell import Shell
from tests.door.strangers import Stranger, defended
from tests.door.visiting import sysop_toml
from tests.world import world

HERE = "127.0.0.1"
USUAL = sysop_toml(events="")  # settings that allow this machine's addresses everything
TO_DO = 'set proxies = ["127.0.0.1"]'


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.message for record in caplog.records if TO_DO in record.message]


@pytest.mark.long
async def test_server_and_check_report_several_callers_from_this_machine(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with world(
        tmp_path, toml=USUAL.replace('host = "127.0.0.1"', 'host = "0.0.0.0"')
    ) as board:
        for name in ("Ada", "Bob", "Cyd", "Dee"):
            assert warnings(caplog) == []
            assert TO_DO not in Shell(board.config.path)("check").output
            board.enter(name)
            caller = Stranger(board, name, HERE)
            await caller.is_let_in()
            await caller.logs_off()
        (warning,) = warnings(caplog)
        assert warning.startswith("4 callers and more logged on from 127.0.0.1.")
        assert warning in Shell(board.config.path)("check").output


CALLS = [(name, HERE) for name in ("Ada", "Bob", "Cyd", "Dee")]
PROXIES = USUAL.replace("[[listeners]]", '[[listeners]]\nproxies = ["127.0.0.1"]')
XIBALBA = f'{USUAL}\n[boards.Xibalba]\naddresses = ["127.0.0.1"]\n'


@pytest.mark.parametrize(
    ("toml", "calls"),
    [
        (USUAL, CALLS[1:]),
        (USUAL, [(name, "192.0.2.7") for name, _ in CALLS]),
        (USUAL, [(name, f"127.0.0.{number}") for number, (name, _) in enumerate(CALLS)]),
        (defended(), CALLS),
        (PROXIES, CALLS),
        (XIBALBA, CALLS),
    ],
    ids=["three", "from outside", "one each", "counted", "known front end", "board"],
)
def test_other_callers_cause_no_warning(
    tmp_path: Path, toml: str, calls: list[tuple[str, str]]
) -> None:
    path = tmp_path / "sysop.toml"
    path.write_text(toml, encoding="utf-8")
    assert front_ends.warnings(config.load(path), calls) == []


@pytest.mark.parametrize(
    ("listener", "defence", "is_warned"),
    [
        ('host = "127.0.0.1"', "", True),
        ('host = "::1"', "", True),
        ('host = "0.0.0.0"', "", False),
        ('host = "127.0.0.1"\nproxies = ["127.0.0.1"]', "", False),
        ('host = "127.0.0.1"', "allow = []", False),
        ('host = "127.0.0.1"\nkind = "rlogin"', "", False),
    ],
)
def test_check_tells_of_a_port_that_front_ends_alone_can_reach(
    tmp_path: Path, listener: str, defence: str, is_warned: bool
) -> None:
    path = tmp_path / "sysop.toml"
    path.write_text(f"[[listeners]]\n{listener}\n[defence]\n{defence}\n", encoding="utf-8")
    output = Shell(path)("check").output
    assert ("is for this machine only" in output) == is_warned
