"""Whatever outcomes and time did to a memory, its id and its own words find it."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from remembrancer import Remembrancer
from remembrancer.testing.doubles import NOW, FixedClock

steps = st.lists(st.sampled_from(["failure", "failure", "harmful", "unhelpful", "partial", "success"]), max_size=25)


@settings(max_examples=25, deadline=None)
@given(steps, st.integers(0, 20_000), st.integers(0, 30))
def test_an_id_and_a_keyword_always_find_their_memory(history: list[str], days: int, others: int) -> None:
    clock = FixedClock(NOW)
    with Remembrancer.open(":memory:", embedder="none", clock=clock) as rem:
        memory = rem.remember("error QX-4711 means that the certificate has expired")
        rem.remember_many([f"error QX-{number} means that the disk is full" for number in range(others)])
        for said in history:
            if said in {"harmful", "unhelpful"}:
                rem.feedback(memory.id, said)
            else:
                rem.outcome(said, memories=[memory.id])
        clock.advance(timedelta(days=days))
        assert rem.get(memory.id).id == memory.id
        assert rem.get(str(memory.id)[-8:]).id == memory.id
        assert memory.id in {hit.id for hit in rem.recall("4711")}
        assert memory.id in {hit.id for hit in rem.recall("what is QX-4711?")}
