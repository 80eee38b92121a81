"""A LangGraph store whose items are memories: `pip install 'remembrancer[langgraph]'`.

    from remembrancer import Remembrancer
    from remembrancer.integrations.langgraph import RemembrancerStore

    with Remembrancer.open("agent.db") as memory:
        graph = builder.compile(store=RemembrancerStore(memory))

LangMem's tools and managers work on this store.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, cast

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
    get_text_at_path,
    validate_op_namespace,
)

from remembrancer.domain.validation import MAX_TEXT_BYTES
from remembrancer.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from remembrancer import Memory, Remembrancer
    from remembrancer.domain.validation import JsonScalar, JsonValue

INDEXED, PLAIN = "langgraph.item", "langgraph.plain"
"""The kinds of items: those that a query finds, and those stored with `index=False`."""
MOST_HITS: Final = 200
"""The limit of items that are ranked for one query."""
PAGE: Final = 1_000
MATCHED_CHARS: Final = 200
"""Longer texts are compared after the search, not by it."""
REFRESHED: Final = 0.05
"""A read renews an item's time to live after this share of it, so that not every read writes."""


class RemembrancerStore(BaseStore):
    """Items are found by the meaning and the words of their values, as all memories are, and keep their revisions.

    `fields`: paths of the values' texts, such as "text" or "chapters[*].title"; "$" is the whole value. `ttl`: as in
    other stores; an item past its time is never returned, and reading it renews it if `refresh_on_read`.

    A deleted item is retired, so that `memory.restore` could bring it back; `memory.erase` removes it for good. A value
    has at most 60 kB of JSON. A query ranks at most 200 items. `batch` blocks; `abatch` runs it in a thread.
    """

    supports_ttl = True

    def __init__(self, memory: Remembrancer, *, fields: Sequence[str] = ("$",), ttl: TTLConfig | None = None) -> None:
        self._memory = memory
        self._fields = tuple(fields)
        self.ttl_config = ttl

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """The results in the order of the operations. Reads see what was stored before; of several puts with the same
        key, the last one is stored.
        """
        results: list[Result] = []
        puts: dict[tuple[tuple[str, ...], str], PutOp] = {}
        for op in ops:
            validate_op_namespace(op)
            match op:
                case GetOp():
                    results.append(self._get(op))
                case SearchOp():
                    results.append(cast("Result", self._search(op)))
                case ListNamespacesOp():
                    results.append(self._namespaces(op))
                case PutOp():
                    puts[op.namespace, op.key] = op
                    results.append(None)
                case _:
                    raise InvalidInput("ops", op, "GetOp, PutOp, SearchOp and ListNamespacesOp")
        for op in puts.values():
            self._put(op)
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        return await asyncio.to_thread(self.batch, list(ops))

    def _get(self, op: GetOp) -> Item | None:
        memory = self._stored(op.namespace, op.key)
        if memory is None:
            return None
        if op.refresh_ttl:
            self._renew(memory)
        return Item(**_parts(memory))

    def _put(self, op: PutOp) -> None:
        if op.value is None:
            memory = self._stored(op.namespace, op.key)
            if memory is not None:
                self._memory.forget(memory.id)
            return
        text = "" if op.index is False else self._text(op.value, self._fields if op.index is None else op.index)
        ttl = None if op.ttl is None else timedelta(minutes=float(op.ttl))
        now = self._memory.now
        try:
            self._memory.remember(
                text or op.key or "item",
                kind=INDEXED if text else PLAIN,
                topic_key=_topic(op.namespace, op.key),
                metadata=_metadata(op.namespace, op.key, op.value, ttl, now),
                valid_until=None if ttl is None else now + ttl,
            )
        except InvalidInput as error:
            if error.argument != "metadata":
                raise
            raise InvalidInput(f"the value of {op.key!r}", error.value, error.allowed) from error

    def _search(self, op: SearchOp) -> list[SearchItem]:
        matched = _matched(op.namespace_prefix, op.filter)
        most = op.offset + op.limit
        found: list[SearchItem] = []
        if op.query and op.query.strip():
            hits = self._memory.recall(
                op.query, kinds=[INDEXED], metadata=matched, limit=MOST_HITS, floor="off", mark=False
            )
            found = [SearchItem(**_parts(hit.memory), score=hit.score) for hit in hits if _holds(hit.memory, op.filter)]
        if len(found) < most:
            seen = {(item.namespace, item.key) for item in found}
            rest = self._items(matched, op.filter, most - len(found), seen)
            found += [SearchItem(**_parts(memory)) for memory in rest]
        chosen = found[op.offset : most]
        if op.refresh_ttl and self.ttl_config is not None:
            for item in chosen:
                memory = self._stored(item.namespace, item.key)
                if memory is not None:
                    self._renew(memory)
        return chosen

    def _namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        conditions = op.match_conditions or ()
        there = {_namespace(memory) for memory in self._every({})}
        matching = (one for one in there if all(_does_match(one, condition) for condition in conditions))
        listed = sorted({one if op.max_depth is None else one[: op.max_depth] for one in matching})
        return listed[op.offset : op.offset + op.limit]

    def _stored(self, namespace: tuple[str, ...], key: str) -> Memory | None:
        try:
            memory = self._memory.get(topic_key=_topic(namespace, key))
        except NotFound:
            return None
        is_over = memory.valid_until is not None and memory.valid_until <= self._memory.now
        return None if is_over else memory

    def _items(
        self,
        matched: Mapping[str, JsonScalar],
        conditions: Mapping[str, Any] | None,
        most: int,
        seen: set[tuple[tuple[str, ...], str]],
    ) -> list[Memory]:
        """The items that hold, without those seen, newest first."""
        found: list[Memory] = []
        for memory in self._every(matched):
            if (_namespace(memory), _key(memory)) not in seen and _holds(memory, conditions):
                found.append(memory)
                if len(found) == most:
                    break
        return found

    def _every(self, matched: Mapping[str, JsonScalar]) -> Iterator[Memory]:
        after: str | None = None
        while True:
            page = self._memory.memories(kinds=[INDEXED, PLAIN], metadata=matched, after=after, limit=PAGE)
            yield from page.memories
            after = page.next
            if after is None:
                return

    def _renew(self, memory: Memory) -> None:
        minutes = memory.metadata.get("ttl_minutes")
        if memory.valid_until is None or not isinstance(minutes, int | float):
            return
        until = self._memory.now + timedelta(minutes=minutes)
        if until - memory.valid_until > timedelta(minutes=minutes * REFRESHED):
            self._memory.update(memory.id, valid_until=until)

    @staticmethod
    def _text(value: Mapping[str, Any], fields: Sequence[str]) -> str:
        texts: list[str] = []
        for field in fields:
            texts += _lines(value) if field == "$" else get_text_at_path(value, field)
        joined = "\n".join(text for text in dict.fromkeys(texts) if text.strip())
        return joined.encode("utf-8", "replace")[:MAX_TEXT_BYTES].decode("utf-8", "ignore")


def _lines(value: object, name: str = "") -> list[str]:
    """The texts of a whole value, a line for each, with the name of its field."""
    match value:
        case Mapping():
            return [line for key, inner in cast("Mapping[str, object]", value).items() for line in _lines(inner, key)]
        case list() | tuple():
            return [line for inner in cast("Sequence[object]", value) for line in _lines(inner, name)]
        case None:
            return []
        case _:
            said = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
            return [f"{name.replace('_', ' ')}: {said}" if name else said]


def _topic(namespace: Sequence[str], key: str) -> str:
    """The topic of an item: a name has at most 200 characters, a key any number."""
    path = "\x00".join((*namespace, "", key))
    return f"langgraph:{hashlib.sha256(path.encode('utf-8', 'surrogatepass')).hexdigest()}"


def _metadata(
    namespace: Sequence[str], key: str, value: Mapping[str, Any], ttl: timedelta | None, now: datetime
) -> dict[str, JsonValue]:
    """The item's parts. Beside the value stand what a search compares exactly: each beginning of the namespace, and the
    value's own short fields.
    """
    prefixes = {f"namespace_{depth}": ".".join(namespace[:depth]) for depth in range(1, len(namespace) + 1)}
    fields = {f"value.{name}": inner for name, inner in value.items() if _is_matched(inner)}
    timed = {} if ttl is None else {"ttl_minutes": ttl / timedelta(minutes=1)}
    parts = {"namespace": [*namespace], "key": key, "value": dict(value), "updated_at": now.isoformat()}
    return {**prefixes, **fields, **timed, **cast("dict[str, JsonValue]", parts)}


def _is_matched(value: object) -> bool:
    """Whether a search compares this value exactly: true is 1 in a filter of Python, but not in the database."""
    return value is None or (isinstance(value, str) and len(value) <= MATCHED_CHARS)


def _matched(prefix: Sequence[str], conditions: Mapping[str, Any] | None) -> dict[str, JsonScalar]:
    """The part of a search that the memory's own filter decides."""
    matched: dict[str, JsonScalar] = {f"namespace_{len(prefix)}": ".".join(prefix)} if prefix else {}
    for name, wanted in (conditions or {}).items():
        if isinstance(wanted, str) and _is_matched(wanted):
            matched[f"value.{name}"] = wanted
    return matched


def _parts(memory: Memory) -> dict[str, Any]:
    return {
        "namespace": _namespace(memory),
        "key": _key(memory),
        "value": cast("dict[str, Any]", memory.metadata["value"]),
        "created_at": memory.recorded_at,
        "updated_at": datetime.fromisoformat(str(memory.metadata["updated_at"])),
    }


def _namespace(memory: Memory) -> tuple[str, ...]:
    return tuple(str(label) for label in cast("list[JsonValue]", memory.metadata["namespace"]))


def _key(memory: Memory) -> str:
    return str(memory.metadata["key"])


def _holds(memory: Memory, conditions: Mapping[str, Any] | None) -> bool:
    value = cast("Mapping[str, Any]", memory.metadata["value"])
    return all(_agrees(value.get(name), wanted) for name, wanted in (conditions or {}).items())


def _agrees(value: Any, wanted: Any) -> bool:
    """Whether a value is as a filter wants it: equal, or by operators such as {"$gte": 3}, or with equal parts."""
    if isinstance(wanted, Mapping):
        parts = cast("Mapping[str, Any]", wanted)
        if any(name.startswith("$") for name in parts):
            return all(_compares(value, operator, operand) for operator, operand in parts.items())
        inner = cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else None
        return inner is not None and all(_agrees(inner.get(name), part) for name, part in parts.items())
    if isinstance(wanted, list | tuple):
        several, values = cast("Sequence[Any]", wanted), cast("Sequence[Any]", value)
        return isinstance(value, list | tuple) and len(values) == len(several) and all(map(_agrees, values, several))
    return value == wanted


def _compares(value: Any, operator: str, operand: Any) -> bool:
    match operator:
        case "$eq":
            return value == operand
        case "$ne":
            return value != operand
        case "$gt" | "$gte" | "$lt" | "$lte":
            try:
                left, right = float(value), float(operand)
            except (TypeError, ValueError):
                return False
            return {"$gt": left > right, "$gte": left >= right, "$lt": left < right, "$lte": left <= right}[operator]
        case _:
            raise InvalidInput("filter", operator, "$eq, $ne, $gt, $gte, $lt, $lte")


def _does_match(namespace: tuple[str, ...], condition: MatchCondition) -> bool:
    path = tuple(condition.path)
    if len(namespace) < len(path):
        return False
    compared = namespace[: len(path)] if condition.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return all(wanted in ("*", label) for label, wanted in zip(compared, path, strict=True))
