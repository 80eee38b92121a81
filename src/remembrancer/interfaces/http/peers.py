"""The addresses of clients, as limits count them."""

from __future__ import annotations

from ipaddress import IPv6Address, ip_address, ip_network
from typing import Final

_IPV6_PREFIX: Final = 64
"""The bits of an IPv6 address that name a network. Who has one usually has all addresses in it."""


def peer_of(address: str) -> str:
    """The name under which limits count an address: itself, an IPv6 address's network of 64 bits, or the IPv4 address
    that it stands for.

    >>> peer_of("203.0.113.9"), peer_of("2001:db8::1"), peer_of("::ffff:203.0.113.9")
    ('203.0.113.9', '2001:db8::/64', '203.0.113.9')
    """
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    if not isinstance(parsed, IPv6Address):
        return str(parsed)
    mapped = parsed.ipv4_mapped
    return str(mapped or ip_network((parsed, _IPV6_PREFIX), strict=False))
