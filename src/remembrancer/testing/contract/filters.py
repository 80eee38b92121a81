"""Contract of `Filter`: each condition by itself, in lists and in what an index finds."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Final

import pytest

from remembrancer.domain.names import ALIAS
from remembrancer.domain.query import Filter
from remembrancer.domain.scope import Visibility
from remembrancer.domain.validation import JsonScalar, JsonValue
from remembrancer.ports.store import Store
from remembrancer.testing.contract.base import EVERYTHING, StoreSuite, remember, stored
from remembrancer.testing.contract.finding import IndexSuite
from remembrancer.testing.doubles import NOW, READER, a_memory, indexed

WORD: Final = "kestrel"

LARGE: Final = 2**53
HOLDS: Final[dict[str, tuple[JsonValue, JsonScalar]]] = {
    "text": ("blue", "blue"),
    "empty text": ("", ""),
    "unicode": ("größe 三 🚀", "größe 三 🚀"),
    "quotes and backslashes": ('it\'s "so" \\ 50% _', 'it\'s "so" \\ 50% _'),
    "a line break": ("one\ntwo\t", "one\ntwo\t"),
    "a whole number": (7, 7),
    "a number written otherwise": (7, 7.0),
    "a number written otherwise too": (7.0, 7),
    "a fraction": (0.1, 0.1),
    "a tiny number": (5e-324, 5e-324),
    "a number of seventeen digits": (0.30000000000000004, 0.30000000000000004),
    "a large number": (1.7976931348623157e308, 1.7976931348623157e308),
    "the largest whole number": (2**63 - 1, 2**63 - 1),
    "the least whole number": (-(2**63), -(2**63)),
    "nothing below nothing": (-0.0, 0),
    "true": (True, True),
    "false": (False, False),
    "null": (None, None),
}
"""Pairs of a stored metadata value and an equal value to filter by."""

LACKS: Final[dict[str, tuple[JsonValue, JsonScalar]]] = {
    "another text": ("blue", "red"),
    "another case": ("blue", "Blue"),
    "part of the text": ("blue", "blu"),
    "a pattern": ("blue", "%"),
    "a text of digits for a number": ("7", 7),
    "a number for its digits": (7, "7"),
    "one for true": (1, True),
    "true for one": (True, 1),
    "true for one as a fraction": (True, 1.0),
    "zero for false": (0, False),
    "false for zero": (False, 0),
    "its name for true": ("True", True),
    "its word for true": ("true", True),
    "true for its word": (True, "true"),
    "null for its word": (None, "null"),
    "its word for null": ("null", None),
    "null for nothing": (None, 0),
    "empty text for null": ("", None),
    "null for empty text": (None, ""),
    "another number": (-1, -2),
    "a neighbour": (LARGE + 1, float(LARGE)),
    "a number of the same hash": (2**61 - 1, 0),
    "a list": (["blue"], "blue"),
    "a list as text": (["blue"], '["blue"]'),
    "an object": ({"colour": "blue"}, "blue"),
    "an object as text": ({}, "{}"),
}
"""Pairs of a stored metadata value and a different value to filter by."""

KEYS: Final = ("colour", 'a "key"', "a.b", "$.a", "a[0]", "größe", "", "it's", "back\\slash", "tab\there", "%", "🚀")


async def tagged(store: Store, **tags: tuple[str, ...]) -> None:
    await remember(store, *(indexed(replace(a_memory(f"{WORD} {name}"), tags=given)) for name, given in tags.items()))


class FilterContract(StoreSuite):
    """Tests of filters in lists of memories. `FoundByFilterContract` repeats the tests for searches."""

    async def listed(self, store: Store, where: Filter) -> set[str]:
        """The texts of the listed memories that the filter keeps."""
        return {memory.text for memory in await store.memories(READER, where, limit=100)}

    async def kept(self, store: Store, **asked: object) -> set[str]:
        where = replace(EVERYTHING, **asked)  # type: ignore[arg-type]  each test names fields of Filter
        return {text.removeprefix(f"{WORD} ") for text in await self.listed(store, where)}

    async def test_memories_with_an_unwanted_tag_are_left_out(self, store: Store) -> None:
        await tagged(store, none=(), one=("a",), both=("a", "b"), other=("c",))
        assert await self.kept(store, without_tags=frozenset({"a"})) == {"none", "other"}

    async def test_any_of_the_unwanted_tags_leaves_a_memory_out(self, store: Store) -> None:
        await tagged(store, none=(), one=("a",), both=("a", "b"), other=("c",))
        assert await self.kept(store, without_tags=frozenset({"b", "c"})) == {"none", "one"}

    async def test_a_tag_that_no_memory_has_leaves_none_out(self, store: Store) -> None:
        await tagged(store, none=(), one=("a",))
        assert await self.kept(store, without_tags=frozenset({"z"})) == {"none", "one"}

    async def test_wanted_and_unwanted_tags_hold_together(self, store: Store) -> None:
        await tagged(store, one=("a",), both=("a", "b"))
        assert await self.kept(store, tags=frozenset({"a"}), without_tags=frozenset({"b"})) == {"one"}

    async def test_tags_are_compared_whole(self, store: Store) -> None:
        await tagged(store, longer=("deployment",), odd=('deploy" x',))
        assert await self.kept(store, without_tags=frozenset({"deploy"})) == {"longer", "odd"}

    async def test_a_tag_that_recalls_look_for_is_found_and_compared_whole(self, store: Store) -> None:
        await tagged(store, none=(), one=(ALIAS,), both=("a", ALIAS), longer=(f"{ALIAS}es",))
        assert await self.kept(store, tags=frozenset({ALIAS})) == {"one", "both"}

    async def test_memories_of_an_unwanted_kind_are_left_out(self, store: Store) -> None:
        for kind in ("note", "episode", "profile"):
            await remember(store, replace(a_memory(f"{WORD} {kind}"), kind=kind))
        assert await self.kept(store, without_kinds=frozenset({"episode"})) == {"note", "profile"}
        assert await self.kept(store, without_kinds=frozenset({"episode", "profile", "none such"})) == {"note"}

    async def test_wanted_and_unwanted_kinds_hold_together(self, store: Store) -> None:
        for kind in ("note", "episode", "profile"):
            await remember(store, replace(a_memory(f"{WORD} {kind}"), kind=kind))
        wanted, unwanted = frozenset({"note", "episode"}), frozenset({"episode", "profile"})
        assert await self.kept(store, kinds=wanted, without_kinds=unwanted) == {"note"}

    async def test_any_of_the_visibilities_will_do(self, store: Store) -> None:
        for visibility in Visibility:
            await remember(store, replace(a_memory(f"{WORD} {visibility}"), visibility=visibility))
        assert await self.kept(store, visibilities=frozenset({Visibility.OWN, Visibility.CREW})) == {"own", "crew"}

    async def test_a_memory_at_since_is_kept_and_one_at_until_is_not(self, store: Store) -> None:
        times = [NOW + timedelta(microseconds=n) for n in range(4)]
        await remember(store, *(a_memory(f"{WORD} {n}", at=at) for n, at in enumerate(times)))
        assert await self.kept(store, since=times[1], until=times[3]) == {"1", "2"}

    async def test_no_visibility_keeps_no_memory(self, store: Store) -> None:
        await remember(store, a_memory(f"{WORD} one"))
        assert await self.kept(store, visibilities=frozenset[Visibility]()) == set()

    async def _keeps(self, store: Store, held: JsonValue, asked: JsonScalar, key: str = "key") -> bool:
        await remember(store, replace(a_memory(f"{WORD} one"), metadata={"other": 1, key: held}))
        return await self.kept(store, metadata=((key, asked),)) == {"one"}

    @pytest.mark.parametrize("what", HOLDS)
    async def test_a_value_that_is_the_same_keeps_a_memory(self, store: Store, what: str) -> None:
        assert await self._keeps(store, *HOLDS[what])

    @pytest.mark.parametrize("what", LACKS)
    async def test_a_value_that_is_not_the_same_leaves_a_memory_out(self, store: Store, what: str) -> None:
        assert not await self._keeps(store, *LACKS[what])

    @pytest.mark.parametrize("key", KEYS)
    async def test_a_key_may_hold_any_character(self, store: Store, key: str) -> None:
        assert await self._keeps(store, "blue", "blue", key)

    async def test_a_key_that_is_not_there_is_not_null(self, store: Store) -> None:
        await remember(store, a_memory(f"{WORD} one"))
        assert await self.kept(store, metadata=(("key", None),)) == set()

    async def test_a_key_further_in_does_not_count(self, store: Store) -> None:
        metadata: dict[str, JsonValue] = {"a": {"b": 1}, "list": [{"b": 1}]}
        await remember(store, replace(a_memory(f"{WORD} one"), metadata=metadata))
        for path in ("b", "a.b", "$.a.b", "0"):
            assert await self.kept(store, metadata=((path, 1),)) == set()

    async def test_a_value_under_another_key_does_not_count(self, store: Store) -> None:
        await remember(store, replace(a_memory(f"{WORD} one"), metadata={"shade": "blue"}))
        assert await self.kept(store, metadata=(("colour", "blue"),)) == set()

    async def test_every_one_of_the_values_must_be_there(self, store: Store) -> None:
        both: dict[str, JsonValue] = {"colour": "blue", "run": 7}
        await remember(
            store,
            replace(a_memory(f"{WORD} both"), metadata=both),
            replace(a_memory(f"{WORD} one"), metadata={"colour": "blue"}),
        )
        assert await self.kept(store, metadata=(("colour", "blue"), ("run", 7))) == {"both"}

    async def test_a_revised_memory_is_filtered_by_its_new_values(self, store: Store) -> None:
        memory = await stored(store, replace(a_memory(f"{WORD} one"), metadata={"colour": "blue"}))
        assert await self.kept(store, metadata=(("colour", "blue"),)) == {"one"}
        after = indexed(replace(memory, metadata={"colour": "red"}))
        await store.revise(memory.scope, after, expected_revision=1, at=memory.recorded_at)
        assert await self.kept(store, metadata=(("colour", "blue"),)) == set()
        assert await self.kept(store, metadata=(("colour", "red"),)) == {"one"}


class FoundByFilterContract(FilterContract, IndexSuite):
    """The same conditions, for what an index finds."""

    async def listed(self, store: Store, where: Filter) -> set[str]:
        async with self.finder_over(store) as finder:
            if not finder.index.capabilities.lexical:
                pytest.skip("the index does not declare lexical")
            return await finder.found(WORD, where=where)
