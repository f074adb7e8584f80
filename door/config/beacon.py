"""Whether shoes wait for a round of a public beacon, and who is asked for it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Literal, get_args

from door.beacon.libraries import BEACON_LIBRARIES
from timebank.settings.toml import TomlTable

# What shoes are shuffled with besides seed and phrases.
Beacon = Literal["none", "drand"]
RELAYS = ("https://api.drand.sh", "https://api2.drand.sh", "https://drand.cloudflare.com")
MOST_RELAYS = 8
_RELAY = re.compile(r"https?://(\[[0-9a-f:.]+\]|[\w.-]+)(:\d{1,5})?(/[\w./~-]*)?", re.ASCII | re.I)
LONGEST_WAIT = 60


@dataclass(frozen=True)
class BeaconSettings:
    source: Beacon = "none"
    urls: tuple[str, ...] = RELAYS  # which relays are asked, in turn
    wait_seconds: int = 10  # how long a round is waited for that is due

    @property
    def is_on(self) -> bool:
        return self.source != "none"


def read_beacon(table: TomlTable, shoes_ahead: int) -> BeaconSettings:
    beacons: tuple[Beacon, ...] = get_args(Beacon)
    source = table.choice("beacon", "none", beacons)
    urls = table.texts("beacon_urls") or RELAYS
    if table.sound("beacon_urls"):
        if len(urls) > MOST_RELAYS:
            table.refuse("beacon_urls", f"must be {MOST_RELAYS} addresses of relays at most")
        elif strange := [url for url in urls if _RELAY.fullmatch(url) is None]:
            wanted = 'an address such as "https://api.drand.sh"'
            table.refuse("beacon_urls", f"must have {wanted} in each place, not {strange[0]}")
    wait = table.whole("beacon_wait_seconds", 10, 1, LONGEST_WAIT)
    if source != "none" and not shoes_ahead:
        table.refuse("beacon", "needs seeds that are sealed ahead: set shoes_ahead above 0")
    elif source != "none" and not any(map(find_spec, BEACON_LIBRARIES)):
        needed = "needs a library that is not installed: run pip install"
        table.refuse("beacon", f"{needed} 'blackjack-for-time[beacon]'")
    return BeaconSettings(source, urls, wait)
