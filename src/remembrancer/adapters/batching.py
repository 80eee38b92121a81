"""Group texts of similar length into batches, to minimise padding."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def padded_batches(lengths: Sequence[int], most: int) -> Iterator[list[int]]:
    """Indices of `lengths` in ascending order of length, in batches of at most `most` pieces after padding to the
    longest.

    >>> list(padded_batches([3, 1, 2], 4))
    [[1, 2], [0]]
    """
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and (len(batch) + 1) * lengths[index] > most:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch
