"""The resident index's int8 vectors beside sqlite-vec's `int8[384]`, asked through apsw.

Both keep a signed byte a component. `vec_quantize_int8(v, 'unit')` has one step for every vector, 1/127.5, and cuts off
towards zero, which may take a step and a half; ours has a step for each vector, its greatest component / 127, and
rounds. So the codes differ and what they stand for does not: decoded, ours are sqlite-vec's up to those errors; handed
to a `vec0` table as they are, they have there the similarities and the order they have here, for a cosine knows no
scale. Both orders agree on the nearest wherever the next one is not about as near, and on most of the ten nearest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

import numpy as np
import pytest
import sqlite_vec
from numpy.typing import NDArray

from remembrancer.adapters.relational.connection import Connection
from remembrancer.adapters.relational.sqlite.dialect import connect
from remembrancer.index.vectors import VectorTable

DIM: Final = 384
STEP: Final = 1 / 127.5
"""sqlite-vec's."""
CLEAR: Final = 0.02
"""How much nearer than the next, in cosine, the nearest is where both must name it. So it is for most questions here;
they differ on some where it is 0.01 and less.
"""


@dataclass(frozen=True, slots=True)
class Both:
    """The same vectors in our table and in two of sqlite-vec's: `own` as it quantises them, `given` with our codes."""

    vectors: NDArray[np.float32]
    questions: NDArray[np.float32]
    asked: NDArray[np.int8]
    """The questions in our codes."""
    table: VectorTable
    connection: Connection

    @property
    def places(self) -> range:
        """Of the questions."""
        return range(len(self.questions))

    def ours(self, place: int) -> list[int]:
        return np.argsort(-self.table.similarities(self.questions[place]), kind="stable")[:10].tolist()

    def own(self, place: int) -> list[int]:
        rows = self.connection.execute(
            "SELECT rowid FROM own WHERE vector MATCH vec_quantize_int8(?, 'unit') AND k = 10",
            (self.questions[place].tobytes(),),
        )
        return [number for (number,) in rows]

    def given(self, place: int) -> dict[int, float]:
        """Cosines, the greatest first."""
        rows = self.connection.execute(
            "SELECT rowid, 1 - distance FROM given WHERE vector MATCH vec_int8(?) AND k = 10",
            (self.asked[place].tobytes(),),
        )
        return dict(cast("Sequence[tuple[int, float]]", list(rows)))


def embedding_like(seed: int, count: int) -> NDArray[np.float32]:
    """Unit vectors that, as those of texts do, differ in far fewer ways than they have components."""
    ways = np.random.default_rng(0).standard_normal((48, DIM))
    chance = np.random.default_rng(seed)
    rows = chance.standard_normal((count, 48)) @ ways + 0.1 * chance.standard_normal((count, DIM))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def table_of(vectors: NDArray[np.float32]) -> VectorTable:
    table = VectorTable(DIM)
    table.extend(vectors)
    return table


def decoded(table: VectorTable) -> NDArray[np.float32]:
    """The decoded vectors of the table: the cosine to an axis is the component along it."""
    return np.stack([table.similarities(axis) for axis in np.eye(DIM, dtype=np.float32)], axis=1)


def steps(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """Of each decoded row: its greatest code is 127."""
    return np.abs(values).max(axis=1, keepdims=True) / 127


def codes(values: NDArray[np.float32]) -> NDArray[np.int8]:
    return np.rint(values / steps(values)).astype(np.int8)


@pytest.fixture(scope="module")
def both() -> Iterator[Both]:
    vectors, questions = embedding_like(1, 1000), embedding_like(2, 100)
    table = table_of(vectors)
    connection = cast("Any", connect(":memory:"))
    connection.enable_load_extension(True)
    connection.load_extension(sqlite_vec.loadable_path())
    connection.execute(f"CREATE VIRTUAL TABLE own USING vec0 (vector int8[{DIM}])")
    connection.execute(f"CREATE VIRTUAL TABLE given USING vec0 (vector int8[{DIM}] distance_metric=cosine)")
    connection.executemany(
        "INSERT INTO own (rowid, vector) VALUES (?, vec_quantize_int8(?, 'unit'))",
        ((number, vector.tobytes()) for number, vector in enumerate(vectors)),
    )
    connection.executemany(
        "INSERT INTO given (rowid, vector) VALUES (?, vec_int8(?))",
        ((number, row.tobytes()) for number, row in enumerate(codes(decoded(table)))),
    )
    yield Both(vectors, questions, codes(decoded(table_of(questions))), table, connection)
    connection.close()


@pytest.fixture(scope="module")
def theirs(both: Both) -> NDArray[np.float32]:
    """The decoded vectors of sqlite-vec, row by row."""
    rows = both.connection.execute("SELECT vector FROM own ORDER BY rowid")
    return np.stack([np.frombuffer(blob, dtype=np.int8) for (blob,) in rows]).astype(np.float32) * np.float32(STEP)


@pytest.fixture(scope="module")
def ours(both: Both) -> NDArray[np.float32]:
    return decoded(both.table)


def overlap(left: Sequence[Sequence[int]], right: Sequence[Sequence[int]]) -> float:
    return float(np.mean([len(set(a) & set(b)) / len(a) for a, b in zip(left, right, strict=True)]))


# ── what a code stands for ───────────────────────────────────────────────────────────────────────────────────────────


def test_a_component_equals_that_of_sqlite_vec_up_to_rounding(
    ours: NDArray[np.float32], theirs: NDArray[np.float32]
) -> None:
    assert (np.abs(ours - theirs) <= 1.5 * STEP + steps(ours) / 2 + 1e-6).all()


def test_a_vector_points_where_sqlite_vecs_does(ours: NDArray[np.float32], theirs: NDArray[np.float32]) -> None:
    products = (ours * theirs).sum(axis=1)
    assert (products / np.linalg.norm(ours, axis=1) / np.linalg.norm(theirs, axis=1)).min() > 0.99


def test_no_vector_is_farther_off_than_sqlite_vecs(
    both: Both, ours: NDArray[np.float32], theirs: NDArray[np.float32]
) -> None:
    off = [np.linalg.norm(values - both.vectors, axis=1) for values in (ours, theirs)]
    assert (off[0] < off[1]).all()


# ── our codes in sqlite-vec's table ──────────────────────────────────────────────────────────────────────────────────


def test_sqlite_vecs_cosine_of_our_codes_is_our_similarity(both: Both) -> None:
    for place in both.places:
        similarities = both.table.similarities(both.questions[place])
        for number, cosine in both.given(place).items():
            assert similarities[number] == pytest.approx(cosine, abs=2e-3)


def test_sqlite_vec_orders_our_codes_as_we_do(both: Both) -> None:
    assert overlap([both.ours(n) for n in both.places], [list(both.given(n)) for n in both.places]) > 0.99


# ── our codes beside sqlite-vec's own ────────────────────────────────────────────────────────────────────────────────


def test_a_clearly_nearest_vector_is_nearest_to_sqlite_vec_too(both: Both) -> None:
    nearest_two = np.sort(both.questions @ both.vectors.T, axis=1)[:, -2:]
    clear = [n for n in both.places if nearest_two[n, 1] - nearest_two[n, 0] > CLEAR]
    assert [both.ours(n)[0] for n in clear] == [both.own(n)[0] for n in clear]


def test_nine_in_ten_of_the_ten_nearest_are_sqlite_vecs_too(both: Both) -> None:
    assert overlap([both.ours(n) for n in both.places], [both.own(n) for n in both.places]) >= 0.9
