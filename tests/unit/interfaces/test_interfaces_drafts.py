"""Every field of a memory, and of an event, can be given wherever one is recorded."""

from __future__ import annotations

import inspect
from dataclasses import fields
from typing import Any

import pytest

from remembrancer import AsyncRemembrancer
from remembrancer.domain.event import EventDraft
from remembrancer.domain.memory import MemoryDraft
from remembrancer.interfaces.cli.write import EventOptions, MemoryOptions
from remembrancer.interfaces.http.bodies import EventIn, MemoryIn

OPTIONS_CALLED_OTHERWISE = {"by_role": "role"}
"""`--role` is the caller's."""


def names(draft: type[Any]) -> set[str]:
    return {field.name for field in fields(draft)}


@pytest.mark.parametrize(
    ("method", "draft"), [(AsyncRemembrancer.remember, MemoryDraft), (AsyncRemembrancer.observe, EventDraft)]
)
def test_in_python(method: Any, draft: type[Any]) -> None:
    assert names(draft) <= set(inspect.signature(method).parameters)


@pytest.mark.parametrize(("body", "draft"), [(MemoryIn, MemoryDraft), (EventIn, EventDraft)])
def test_in_a_request(body: Any, draft: type[Any]) -> None:
    assert names(draft) <= set(body.model_fields)


@pytest.mark.parametrize(("options", "draft"), [(MemoryOptions, MemoryDraft), (EventOptions, EventDraft)])
def test_on_the_command_line(options: type[Any], draft: type[Any]) -> None:
    of_all_commands = {"text", "session"}
    assert names(draft) - of_all_commands <= {OPTIONS_CALLED_OTHERWISE.get(name, name) for name in names(options)}
