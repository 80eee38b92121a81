"""Opening a source by its address."""

from __future__ import annotations

from remembrancer.adapters.qdrant.address import QdrantFolder, QdrantServer, parsed
from remembrancer.adapters.qdrant.source import QdrantSource
from remembrancer.adapters.qdrant.transport import Transport, Unfit
from remembrancer.errors import StoreUnavailable


def open_source(url: str) -> QdrantSource:
    """The source at an address, as `address.parsed` defines it.

    If Qdrant does not answer now, questions are answered without it until it does. Raises InvalidInput for an invalid
    address, StoreUnavailable if the folder or collection was made by another program, ImportError without the package.
    """
    place = parsed(url)
    source = QdrantSource(transport_of(place), place.name)
    try:
        source.connect()
    except Unfit as error:
        raise StoreUnavailable(f"{place.name}: {error}") from error
    return source


def transport_of(place: QdrantFolder | QdrantServer) -> Transport:
    if isinstance(place, QdrantFolder):
        from remembrancer.adapters.qdrant.edge import EdgeTransport

        return EdgeTransport(place)
    from remembrancer.adapters.qdrant.server import ServerTransport

    return ServerTransport(place)
