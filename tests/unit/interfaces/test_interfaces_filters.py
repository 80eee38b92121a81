"""Every filter of the memory can be given wherever a question is asked or memories are listed."""

from __future__ import annotations

import inspect
from dataclasses import fields
from typing import Any

import pytest

from remembrancer.domain.query import Filters
from remembrancer.engine.journal import EventFilters
from remembrancer.errors import InvalidInput
from remembrancer.interfaces.cli.journal import EntryOptions
from remembrancer.interfaces.cli.options import QuestionOptions, arguments
from remembrancer.interfaces.http.bodies import RecallIn
from remembrancer.interfaces.http.given import event_filters, memory_filters
from remembrancer.interfaces.key_values import key_values

OF_MEMORIES = set(Filters.__annotations__)
OF_EVENTS = set(EventFilters.__annotations__)


def parameters(function: Any) -> set[str]:
    return set(inspect.signature(function).parameters)


def arguments_of(options: type[Any]) -> set[str]:
    """Of options that are all given."""
    return set(arguments(options(**{field.name: "x" for field in fields(options)})))


def test_of_a_recall_s_body() -> None:
    assert set(RecallIn.model_fields) >= OF_MEMORIES


def test_of_a_query_on_memories() -> None:
    assert parameters(memory_filters) == OF_MEMORIES
    assert set(memory_filters()) == OF_MEMORIES


def test_of_a_query_on_the_journal_where_one_value_or_several_are_given_alike() -> None:
    either = {"crews", "agents", "archived"}
    assert parameters(event_filters) == OF_EVENTS - either
    assert set(event_filters()) == OF_EVENTS - either


def test_of_the_command_line() -> None:
    either = {"crews", "agents", "archived"}
    assert arguments_of(QuestionOptions) >= OF_MEMORIES
    assert arguments_of(EntryOptions) == OF_EVENTS - either


@pytest.mark.parametrize(
    ("pair", "value"),
    [("k=7", 7), ("k=true", True), ("k=null", None), ('k="7"', "7"), ("k=prod", "prod"), ("k=", ""), ("k=a=b", "a=b")],
)
def test_a_value_is_read_as_json_where_it_is_json(pair: str, value: object) -> None:
    assert key_values("metadata", [pair]) == {"k": value}


def test_a_value_that_no_json_parser_reads_is_text() -> None:
    deep = "[" * 100_000
    assert key_values("metadata", [f"k={deep}"]) == {"k": deep}


@pytest.mark.parametrize("pair", ["", "key", "=value"])
def test_a_value_that_is_no_pair_is_refused(pair: str) -> None:
    with pytest.raises(InvalidInput, match="KEY=VALUE"):
        key_values("metadata", [pair])
