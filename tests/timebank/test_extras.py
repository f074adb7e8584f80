"""Extras are installed into the program's own environment, however it came to be."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from timebank import extras

WANTED = "'blackjack-for-time[web]'"


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An environment with a pip; the shell finds no pip at all."""
    pip = tmp_path / "bin" / "pip"
    pip.parent.mkdir()
    pip.touch(0o755)
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(pip.with_name("python3")))
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def test_the_pip_of_the_environment_is_named(
    environment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert extras.install_command("web") == f"{environment}/bin/pip install {WANTED}"
    monkeypatch.setenv("PATH", str(environment / "bin"))
    assert extras.install_command("web") == f"pip install {WANTED}"


@pytest.mark.parametrize(
    ("receipt", "command"),
    [
        ("pipx_metadata.json", "pipx inject blackjack-for-time"),
        ("uv-receipt.toml", "uv tool install"),
    ],
)
def test_pipx_and_uv_add_to_their_own_environments(
    environment: Path, receipt: str, command: str
) -> None:
    (environment / receipt).touch()
    assert extras.install_command("web") == f"{command} {WANTED}"
