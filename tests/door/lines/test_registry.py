"""A kind of listener is a row: the board's treatment of one that only tests have."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from door.cli.check import report
from door.config import config as settings
from door.config import schema
from door.errors import CannotListen
from door.lines import registry
from door.server import public_page
from tests import ROOT
from tests.world import BOARD, world

WIRE = replace(
    registry.KINDS["telnet"],
    usual_port=2727,
    call_label="By wire",
    how_to_call=lambda host, port: (f"wire {host} {port}", ""),
    check=lambda data, _listeners: [f"The wire ends in {data.name}."],
)
TOML = BOARD + '[[listeners]]\nkind = "wire"\nhost = "127.0.0.1"\n'


KINDS = dict(registry.KINDS)


@pytest.fixture(autouse=True)
def _wired(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.KINDS, "wire", WIRE)  # type: ignore[arg-type]


async def test_a_board_opens_it_and_takes_calls(tmp_path: Path) -> None:
    async with world(tmp_path, toml=f"{TOML}port = 0\n") as board:
        assert [each.kind for each in board.config.listeners] == ["telnet", "wire"]
        assert all(board.server.ports)


async def test_a_missing_library_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def make(*_: Any) -> None:
        raise ModuleNotFoundError("wire")

    wire = replace(WIRE, make=make, library="no_such_wire")
    monkeypatch.setitem(registry.KINDS, "wire", wire)  # type: ignore[arg-type]
    needs = 'A port of the kind "wire" needs the library no_such_wire, which is not installed: run'
    with pytest.raises(CannotListen, match=rf"^{needs} .*pip install 'blackjack-for-time\[wire]'"):
        async with world(tmp_path, toml=f"{TOML}port = 0\n"):
            pass
    (tmp_path / "sysop.toml").write_text(TOML)
    lines = report(tmp_path / "sysop.toml")
    assert [line for line in lines if line.startswith(needs)]
    assert "The wire ends in data." not in lines


def test_settings_check_and_page_go_by_its_row(tmp_path: Path) -> None:
    path = tmp_path / "sysop.toml"
    path.write_text(TOML.replace("127.0.0.1", "0.0.0.0"))
    config = settings.load(path)
    assert config.listeners[1].port == 2727
    assert "The wire ends in data." in report(path)
    public = replace(config.public, address="https://board.example")
    methods = public_page._calling_ways(replace(config, public=public), [23, 2727])
    assert [way.typed for way in methods[1:]] == ["telnet board.example", "wire board.example 2727"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_sysop_reads_of_each_kind_and_of_its_port(kind: str) -> None:
    (sentence,) = (key.meaning for key in schema.default_keys() if key.name == "listeners.1.kind")
    assert f'"{kind}"' in sentence
    usual = KINDS[kind].usual_port
    guide = (ROOT / "docs" / "guide" / "ports.md").read_text("utf-8")
    assert re.search(rf'^\| `"{kind}"` \| .* \| {usual} \|', guide, re.MULTILINE)
