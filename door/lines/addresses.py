"""IP addresses and networks: read from settings and sockets, and compared."""

import ipaddress
from collections.abc import Iterable, Sequence

from timebank.settings.forms import Texts

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

_MAPPED_BITS = 96  # before an IPv4 address that is written as IPv6
_SUBSCRIBER_BITS = 64  # of an IPv6 address that one subscriber can change at will


def address_in(text: str) -> Address | None:
    """Return the address in a text; None if there is none. IPv4 mapped into IPv6 is IPv4."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def networks(texts: Sequence[str]) -> tuple[Network, ...]:
    """Read addresses and networks such as ``192.0.2.7``, ``10.0.0.0/8`` or ``2001:db8::/32``.

    Raises `ValueError`, with a sentence, for other texts, and for networks with host bits set.
    """
    return tuple(_network(text.strip()) for text in texts)


def _network(text: str) -> Network:
    """Return one network; an IPv4 network mapped into IPv6 is IPv4, as callers' addresses are."""
    network = ipaddress.ip_network(text)
    if isinstance(network, ipaddress.IPv6Network) and network.prefixlen >= _MAPPED_BITS:
        mapped = network.network_address.ipv4_mapped
        if mapped is not None:
            return ipaddress.ip_network((mapped, network.prefixlen - _MAPPED_BITS))
    return network


def _setting(text: str) -> Network:
    try:
        return _network(text.strip())
    except ValueError as error:
        reason = "must be addresses or networks such as 192.0.2.7 or 10.0.0.0/8"
        raise ValueError(f"{reason}: {error}") from None


NETWORKS = Texts(_setting)
"""The form of a setting that lists addresses and networks."""


def is_in(text: str, among: Iterable[Network]) -> bool:
    """Return whether an address is in one of the networks; False for any other text."""
    address = address_in(text)
    return address is not None and any(address in network for network in among)


def subscriber(text: str) -> str | None:
    """Return the address or network of the subscriber at an address; None if `text` is no address.

    >>> subscriber("2001:db8::ffff"), subscriber("::ffff:1.2.3.4"), subscriber("node 3")
    ('2001:db8::/64', '1.2.3.4', None)
    """
    address = address_in(text)
    if address is None or isinstance(address, ipaddress.IPv4Address):
        return None if address is None else str(address)
    prefix = int(address) >> _SUBSCRIBER_BITS << _SUBSCRIBER_BITS
    return str(ipaddress.IPv6Network((prefix, 128 - _SUBSCRIBER_BITS)))
