"""The LangGraph store, used through LangGraph's own interface and by LangMem, on a real file."""

# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# LangGraph's own types are not complete.

from __future__ import annotations

import asyncio
import runpy
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from langgraph.store.base import GetOp, InvalidNamespaceError, ListNamespacesOp, PutOp
from langgraph.store.memory import InMemoryStore

from remembrancer import Remembrancer
from remembrancer.errors import InvalidInput
from remembrancer.integrations.langgraph import RemembrancerStore

EXAMPLE = Path(__file__).parents[2] / "examples" / "langgraph_store.py"
START = datetime(2026, 3, 1, 9, tzinfo=UTC)


@dataclass
class Clock:
    now: datetime = START

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def memory(tmp_path: Path, clock: Clock) -> Iterator[Remembrancer]:
    with Remembrancer.open(str(tmp_path / "memory.db"), embedder="none", clock=clock) as memory:
        yield memory


@pytest.fixture
def store(memory: Remembrancer) -> RemembrancerStore:
    return RemembrancerStore(memory)


USER = ("users", "ana")


def keys(items: Any) -> list[str]:
    return [item.key for item in items]


def test_an_item_comes_back_as_it_was_put(store: RemembrancerStore) -> None:
    value = {"theme": "dark", "sizes": [1, 2.5, None, {"deep": True}], "name": "Ana"}
    store.put(USER, "preferences", value)
    item = store.get(USER, "preferences")
    assert item is not None
    assert (item.namespace, item.key, item.value) == (USER, "preferences", value)


def test_an_unknown_item_is_none(store: RemembrancerStore) -> None:
    assert store.get(USER, "preferences") is None


def test_a_put_replaces_the_value_and_keeps_when_it_was_created(store: RemembrancerStore, clock: Clock) -> None:
    store.put(USER, "preferences", {"theme": "dark"})
    clock.now += timedelta(days=1)
    store.put(USER, "preferences", {"theme": "light"})
    item = store.get(USER, "preferences")
    assert item is not None
    assert (item.value, item.created_at, item.updated_at) == ({"theme": "light"}, START, START + timedelta(days=1))


def test_the_values_that_were_replaced_are_kept_as_revisions(store: RemembrancerStore, memory: Remembrancer) -> None:
    store.put(USER, "preferences", {"theme": "dark"})
    store.put(USER, "preferences", {"theme": "light"})
    (kept,) = memory.memories(kinds=["langgraph.item"]).memories
    assert kept.revision == 2


def test_a_deleted_item_is_gone_and_can_be_put_again(store: RemembrancerStore) -> None:
    store.put(USER, "preferences", {"theme": "dark"})
    store.delete(USER, "preferences")
    assert store.get(USER, "preferences") is None
    assert store.search(USER) == []
    assert store.list_namespaces() == []
    store.put(USER, "preferences", {"theme": "light"})
    item = store.get(USER, "preferences")
    assert item is not None
    assert item.value == {"theme": "light"}


def test_deleting_an_unknown_item_does_nothing(store: RemembrancerStore) -> None:
    store.delete(USER, "preferences")


def test_the_same_key_in_two_namespaces_names_two_items(store: RemembrancerStore) -> None:
    store.put(("a", "b"), "c", {"n": 1})
    store.put(("a",), "b.c", {"n": 2})
    store.put(("ab",), "c", {"n": 3})
    values = [store.get(("a", "b"), "c"), store.get(("a",), "b.c"), store.get(("ab",), "c")]
    assert [item.value["n"] for item in values if item is not None] == [1, 2, 3]


def test_reads_of_a_batch_see_what_was_stored_before_and_the_last_put_wins(store: RemembrancerStore) -> None:
    store.put(USER, "n", {"n": 0})
    read, _, _, listed = store.batch(
        [GetOp(USER, "n"), PutOp(USER, "n", {"n": 1}), PutOp(USER, "n", {"n": 2}), ListNamespacesOp()]
    )
    item = store.get(USER, "n")
    assert item is not None
    assert (getattr(read, "value", None), listed, item.value) == ({"n": 0}, [USER], {"n": 2})


def test_a_search_finds_items_below_a_namespace_by_their_words(store: RemembrancerStore) -> None:
    store.put(("docs", "en"), "python", {"text": "A tutorial for Python programming"})
    store.put(("docs", "en"), "cooking", {"text": "How to bake rye bread"})
    store.put(("other",), "python", {"text": "Python programming elsewhere"})
    (first, *_) = store.search(("docs",), query="python programming tutorial")
    assert first.key == "python"
    assert first.namespace == ("docs", "en")
    assert first.score is not None
    assert first.score > 0
    assert {item.namespace for item in store.search(("docs",), query="python")} == {("docs", "en")}


def test_a_namespace_that_begins_with_the_same_letters_is_another_one(store: RemembrancerStore) -> None:
    store.put(("docs",), "a", {"text": "one"})
    store.put(("docs2",), "b", {"text": "one"})
    assert keys(store.search(("docs",), query="one")) == ["a"]
    assert keys(store.search(("docs",))) == ["a"]


def test_an_item_that_is_not_indexed_is_found_without_a_score(store: RemembrancerStore) -> None:
    store.put(("docs",), "hidden", {"text": "Python programming"}, index=False)
    store.put(("docs",), "shown", {"text": "Python programming"})
    assert [(item.key, item.score is None) for item in store.search(("docs",), query="python programming")] == [
        ("shown", False),
        ("hidden", True),
    ]


def test_only_the_chosen_fields_are_searched(memory: Remembrancer) -> None:
    store = RemembrancerStore(memory, fields=["chapters[*].title"])
    store.put(("docs",), "a", {"chapters": [{"title": "whales"}, {"title": "ships"}], "note": "zebra"})
    store.put(("docs",), "b", {"chapters": [{"title": "zebra"}]})
    assert keys(store.search(("docs",), query="zebra", limit=1)) == ["b"]
    store.put(("docs",), "c", {"chapters": [], "note": "giraffe"}, index=["note"])
    assert keys(store.search(("docs",), query="giraffe", limit=1)) == ["c"]


FILTERS: list[tuple[dict[str, Any], list[str]]] = [
    ({"color": "red"}, ["a", "c"]),
    ({"color": "red", "size": 3}, ["c"]),
    ({"size": {"$gte": 2}}, ["b", "c"]),
    ({"size": {"$gt": 1, "$lt": 3}}, ["b"]),
    ({"size": {"$lte": 1}}, ["a"]),
    ({"color": {"$ne": "red"}}, ["b", "d"]),
    ({"color": {"$eq": "blue"}}, ["b"]),
    ({"nested": {"deep": "x"}}, ["a"]),
    ({"tags": ["p", "q"]}, ["b"]),
    ({"on": True}, ["a"]),
    ({"color": None}, ["d"]),
    ({"missing": "x"}, []),
]


@pytest.mark.parametrize(("wanted", "found"), FILTERS)
def test_a_filter_keeps_what_langgraphs_own_store_keeps(
    store: RemembrancerStore, wanted: dict[str, Any], found: list[str]
) -> None:
    reference = InMemoryStore()
    for one in (store, reference):
        one.put(("things",), "a", {"color": "red", "size": 1, "nested": {"deep": "x"}, "on": True})
        one.put(("things",), "b", {"color": "blue", "size": 2, "tags": ["p", "q"], "on": False})
        one.put(("things",), "c", {"color": "red", "size": 3})
        if not any(isinstance(value, dict) and {"$gte", "$gt", "$lte"} & value.keys() for value in wanted.values()):
            one.put(("things",), "d", {"color": None})  # LangGraph's store cannot compare a missing size
    assert sorted(keys(store.search(("things",), filter=wanted))) == found
    assert sorted(keys(reference.search(("things",), filter=wanted))) == found
    assert sorted(keys(store.search(("things",), query="red blue", filter=wanted))) == found


def test_an_unknown_operator_is_an_error(store: RemembrancerStore) -> None:
    store.put(("things",), "a", {"size": 1})
    with pytest.raises(InvalidInput, match=r"\$near"):
        store.search(("things",), filter={"size": {"$near": 1}})


def test_a_search_gives_pages(store: RemembrancerStore, clock: Clock) -> None:
    for number in range(7):
        clock.now += timedelta(minutes=1)
        store.put(("things",), str(number), {"n": number})
    pages = [keys(store.search(("things",), limit=3, offset=offset)) for offset in (0, 3, 6)]
    assert pages == [["6", "5", "4"], ["3", "2", "1"], ["0"]]


NAMESPACES = [("a", "b", "c"), ("a", "b", "d"), ("a", "x", "c"), ("b", "b", "c"), ("b",)]


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"prefix": ("a",)},
        {"prefix": ("*", "b")},
        {"suffix": ("c",)},
        {"suffix": ("b", "*")},
        {"prefix": ("a",), "suffix": ("c",)},
        {"max_depth": 2},
        {"max_depth": 1, "prefix": ("a",)},
        {"limit": 2, "offset": 1},
        {"prefix": ("a", "b", "c", "d")},
    ],
)
def test_namespaces_are_listed_as_by_langgraphs_own_store(store: RemembrancerStore, asked: dict[str, Any]) -> None:
    reference = InMemoryStore()
    for namespace in NAMESPACES:
        store.put(namespace, "k", {"v": 1})
        reference.put(namespace, "k", {"v": 1})
    assert store.list_namespaces(**asked) == reference.list_namespaces(**asked)


@pytest.mark.parametrize("namespace", [("a.b",), ("",), ("a", "\x00")])
def test_a_wrong_label_is_an_error_in_a_batch_too(store: RemembrancerStore, namespace: tuple[str, ...]) -> None:
    with pytest.raises(InvalidNamespaceError):
        store.batch([PutOp(namespace, "k", {"v": 1})])


def test_a_value_that_is_too_large_is_an_error_and_nothing_is_stored(store: RemembrancerStore) -> None:
    with pytest.raises(InvalidInput, match="the value of 'large'"):
        store.put(USER, "large", {"text": "x" * 70_000})
    assert store.get(USER, "large") is None


def test_an_item_is_gone_after_its_time_to_live(store: RemembrancerStore, clock: Clock) -> None:
    store.put(USER, "code", {"pin": 1}, ttl=10)
    clock.now += timedelta(minutes=9)
    assert store.get(USER, "code", refresh_ttl=False) is not None
    clock.now += timedelta(minutes=2)
    assert store.get(USER, "code") is None
    assert store.search(USER) == []
    assert store.list_namespaces() == []


def test_reading_an_item_renews_its_time_to_live(memory: Remembrancer, clock: Clock) -> None:
    store = RemembrancerStore(memory, ttl={"refresh_on_read": True, "default_ttl": 10})
    store.put(USER, "code", {"pin": 1})
    for _ in range(3):
        clock.now += timedelta(minutes=8)
        assert store.get(USER, "code") is not None
    clock.now += timedelta(minutes=8)
    assert keys(store.search(USER)) == ["code"]
    clock.now += timedelta(minutes=8)
    assert store.get(USER, "code") is not None
    clock.now += timedelta(minutes=11)
    assert store.get(USER, "code") is None


def test_an_expired_item_can_be_put_again_for_good(store: RemembrancerStore, clock: Clock) -> None:
    store.put(USER, "code", {"pin": 1}, ttl=1)
    clock.now += timedelta(minutes=5)
    store.put(USER, "code", {"pin": 2})
    clock.now += timedelta(days=400)
    item = store.get(USER, "code")
    assert item is not None
    assert item.value == {"pin": 2}


def test_the_asynchronous_methods_do_the_same(store: RemembrancerStore) -> None:
    async def used() -> tuple[Any, list[str], list[tuple[str, ...]]]:
        await store.aput(USER, "preferences", {"theme": "dark"})
        item = await store.aget(USER, "preferences")
        found = await store.asearch(USER, query="dark theme")
        return item, keys(found), await store.alist_namespaces()

    item, found, namespaces = asyncio.run(used())
    assert (item.value, found, namespaces) == ({"theme": "dark"}, ["preferences"], [USER])


def test_another_workspace_sees_none_of_the_items(store: RemembrancerStore, tmp_path: Path, clock: Clock) -> None:
    store.put(USER, "preferences", {"theme": "dark"})
    with Remembrancer.open(str(tmp_path / "memory.db"), embedder="none", workspace="other", clock=clock) as other:
        stranger = RemembrancerStore(other)
        assert stranger.get(USER, "preferences") is None
        assert stranger.search(USER, query="dark") == []
        assert stranger.list_namespaces() == []


def test_a_graph_reads_and_writes_the_store(store: RemembrancerStore) -> None:
    from langgraph.graph import END, StateGraph  # noqa: PLC0415
    from langgraph.graph import START as BEGIN  # noqa: PLC0415
    from langgraph.store.base import BaseStore  # noqa: PLC0415
    from typing_extensions import TypedDict  # noqa: PLC0415

    class State(TypedDict):
        said: str

    def note(state: State, *, store: BaseStore) -> State:
        store.put(("notes",), "last", {"text": state["said"]})
        return state

    builder = StateGraph(State)
    builder.add_node("note", note)
    builder.add_edge(BEGIN, "note")
    builder.add_edge("note", END)
    builder.compile(store=store).invoke({"said": "the port is 8081"})
    assert keys(store.search(("notes",), query="which port?")) == ["last"]


@pytest.mark.filterwarnings("ignore:Importing Send from langgraph.constants")  # by a package of LangMem
def test_langmems_tools_store_and_find_memories(store: RemembrancerStore) -> None:
    from langmem import create_manage_memory_tool, create_search_memory_tool  # noqa: PLC0415

    manage = create_manage_memory_tool(namespace=("memories",), store=store)
    search = create_search_memory_tool(namespace=("memories",), store=store)
    manage.invoke({"content": "Ana prefers aisle seats", "action": "create"})
    assert "aisle" in str(search.invoke({"query": "which seat does Ana prefer?"}))


def test_the_example_recalls_what_was_said(tmp_path: Path) -> None:
    recalled = runpy.run_path(str(EXAMPLE))["main"](str(tmp_path / "langgraph.db"))
    assert recalled[0] == "I always take the aisle seat"


def test_an_operation_of_another_type_is_an_error(store: RemembrancerStore) -> None:
    @dataclass
    class Unknown:
        namespace: tuple[str, ...] = ("a",)

    unknown: Any = Unknown()
    with pytest.raises(InvalidInput, match="ops"):
        store.batch([unknown])
