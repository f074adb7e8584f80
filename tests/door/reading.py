"""A sysop who changes the settings of a running board."""

from __future__ import annotations

from tests.world import World


def read_again(board: World, toml: str) -> None:
    (board.folder / "sysop.toml").write_text(toml, encoding="utf-8")
    board.server.reload()
