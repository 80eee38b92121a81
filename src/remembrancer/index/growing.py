"""A one- or two-dimensional array that rows are appended to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

Number = TypeVar("Number", bound=np.generic)


class GrowingArray(Generic[Number]):
    """Rows appended at the end in amortised constant time; `values` is a view of the rows appended so far."""

    def __init__(self, dtype: DTypeLike, width: int | None = None) -> None:
        self._width: tuple[int, ...] = () if width is None else (width,)
        self._storage: NDArray[Any] = np.zeros((0, *self._width), dtype=dtype)
        self._length = 0

    @staticmethod
    def over(storage: NDArray[Any], length: int) -> GrowingArray[Any]:
        """An array whose first `length` rows are those of `storage`; the rows after them are room for further ones."""
        array = GrowingArray[Any](storage.dtype, *storage.shape[1:])
        array._storage, array._length = storage, length
        return array

    @property
    def values(self) -> NDArray[Number]:
        return self._storage[: self._length]

    @property
    def nbytes(self) -> int:
        return self._storage.nbytes

    def __len__(self) -> int:
        return self._length

    def extend(self, rows: NDArray[Number]) -> None:
        needed = self._length + len(rows)
        if needed > len(self._storage):
            larger = np.zeros((max(needed, 2 * len(self._storage), 64), *self._width), dtype=self._storage.dtype)
            larger[: self._length] = self.values
            self._storage = larger
        self._storage[self._length : needed] = rows
        self._length = needed
