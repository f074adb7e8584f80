"""What a sysop may say of the beacon, and what is said to them."""

from __future__ import annotations

from pathlib import Path

import pytest

from door.config import beacon, config
from timebank.errors import SettingsError


def read(folder: Path, *lines: str) -> beacon.BeaconSettings:
    path = folder / "sysop.toml"
    path.write_text("\n".join(("[fairness]", *lines, "")), "utf-8")
    return config.load(path).beacon


def test_it_is_off_unless_the_sysop_turns_it_on(tmp_path: Path) -> None:
    assert not read(tmp_path).is_on
    found = read(tmp_path, 'beacon = "drand"')
    assert (found.is_on, found.urls, found.wait_seconds) == (True, beacon.RELAYS, 10)
    urls = '["http://127.0.0.1:8080/drand", "https://[::1]"]'
    found = read(tmp_path, 'beacon = "drand"', f"beacon_urls = {urls}", "beacon_wait_seconds = 3")
    assert found.urls == ("http://127.0.0.1:8080/drand", "https://[::1]")
    assert found.wait_seconds == 3


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (('beacon = "nist"',), "beacon"),
        (('beacon = "drand"', "shoes_ahead = 0"), "set shoes_ahead above 0"),
        (('beacon_urls = ["api.drand.sh"]',), "not api.drand.sh"),
        (('beacon_urls = ["file:///etc/passwd"]',), "not file:///etc/passwd"),
        (('beacon_urls = ["https://a b"]',), "not https://a b"),
        ((f"beacon_urls = {['http://a'] * 9}",), "8 addresses of relays at most"),
        (("beacon_wait_seconds = 0",), "beacon_wait_seconds"),
    ],
)
def test_what_makes_no_sense_is_refused(tmp_path: Path, lines: tuple[str, ...], told: str) -> None:
    with pytest.raises(SettingsError) as refused:
        read(tmp_path, *lines)
    assert told in str(refused.value)


def test_without_the_library_the_sysop_is_told_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(beacon, "BEACON_LIBRARIES", ("no_such_library",))
    with pytest.raises(SettingsError, match=r"pip install 'blackjack-for-time\[beacon\]'"):
        read(tmp_path, 'beacon = "drand"')
    assert not read(tmp_path).is_on
