"""A front end on this machine that does not pass on addresses is noticed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.door.shell import Shell
from tests.door.strangers import Stranger, defended
from tests.door.visiting import sysop_toml
from tests.world import World, world

HERE = "127.0.0.1"
USUAL = sysop_toml(events="")  # settings that allow this machine's addresses everything
TO_DO = 'set proxies = ["127.0.0.1"]'


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.message for record in caplog.records if TO_DO in record.message]


async def rings(board: World, lines: int, address: str = HERE) -> None:
    for _ in range(lines):
        caller = Stranger(board, "", address)
        await caller.connects()
        await caller.is_asked("Name:")


async def test_exceeding_the_calls_per_address_is_logged_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with world(tmp_path, toml=USUAL) as board:
        await rings(board, 5)
        assert warnings(caplog) == []
        await rings(board, 2)
    (warning,) = warnings(caplog)
    assert warning.startswith(
        "6 calls are open at once from 127.0.0.1. That is this machine and in"
    )


async def test_uncounted_wrong_passwords_are_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with world(tmp_path, toml=USUAL) as board:
        await Stranger(board, "Ada", HERE).is_wrong(5)
        assert warnings(caplog) == []
        await Stranger(board, "Ada", HERE).is_wrong(1)
    (warning,) = warnings(caplog)
    assert warning.startswith("More than 5 wrong passwords in a day came from 127.0.0.1.")


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


async def test_callers_with_distinct_addresses_cause_no_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with world(tmp_path, toml=defended()) as board:
        await rings(board, 5)
        await Stranger(board, "Ada", "127.0.0.9").is_wrong(5)
    assert warnings(caplog) == []


async def test_a_board_on_this_machine_is_no_front_end(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    xibalba = '[boards.Xibalba]\naddresses = ["127.0.0.1"]\n'
    async with world(tmp_path, toml=f"{USUAL}\n{xibalba}") as board:
        await rings(board, 7)
    assert warnings(caplog) == []


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
    config = tmp_path / "sysop.toml"
    config.write_text(f"[[listeners]]\n{listener}\n[defence]\n{defence}\n", encoding="utf-8")
    output = Shell(config)("check").output
    assert ("is for this machine only" in output) == is_warned
