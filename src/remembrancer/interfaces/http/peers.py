"""The addresses of clients, as limits count them."""

from __future__ import annotations

from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final, Self

from remembrancer.values import dataclass

_IPV6_PREFIX: Final = 64
"""The bits of an IPv6 address that name a network. Who has one usually has all addresses in it."""


Network = IPv4Network | IPv6Network


@dataclass(frozen=True, slots=True)
class Peers:
    """Networks of addresses, as the setting `trusted_proxies` names them. `any_peer`: all addresses."""

    networks: tuple[Network, ...]
    any_peer: bool

    @classmethod
    def of(cls, named: str) -> Self:
        """The peers of a list of addresses and networks, separated by commas; `*`: all."""
        names = [name for part in named.split(",") if (name := part.strip())]
        return cls(tuple(ip_network(name) for name in names if name != "*"), "*" in names)

    def __contains__(self, peer: str) -> bool:
        """Whether the peer, as `peer_of` names it, is in one of the networks."""
        if self.any_peer or not self.networks:
            return self.any_peer
        named = ip_network(peer)
        return any(named.version == one.version and named.overlaps(one) for one in self.networks)


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
