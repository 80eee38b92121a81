"""Outcomes of tasks, and the credit that memories get for them."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID, uuid5

from remembrancer.domain.scope import Scope
from remembrancer.values import dataclass

SHOWN_CREDIT: Final = 0.5
"""The credit of one task, in all, for memories that were only shown: nothing tells whether they were used."""
MAX_CREDITED: Final = 100
"""The most memories that share the credit of one task."""
MAX_NOTE_CHARS: Final = 2_000
_KEYS: Final = UUID("5d0c9c34-3f0c-4f4e-9d0b-2f3f7b0a67c1")
"""The namespace of outcome ids made from keys."""


class TaskResult(StrEnum):
    """The result of a task."""

    SUCCESS = "success"
    PARTIAL = "partial"
    FAILURE = "failure"


class CreditBasis(StrEnum):
    """The reason that a memory has a share in an outcome: its caller named it, the task's final text cites its id, or
    it was in the block of a recall that the task used.
    """

    NAMED = "named"
    CITED = "cited"
    SHOWN = "shown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Credit:
    """One memory's share in the outcome of a task, and what that changed. The log of credits is append-only.

    `share`, greater than 0, at most 1: the memory's part of the task's credit. `scope`: who reported the outcome.
    `recall_id`: the kept recall that found the memory, if one was given. `worked`, `failed`, `confidence` and
    `stability` are those of the memory's Strength after the outcome, `…_before` those before it.
    """

    memory_id: UUID
    outcome_id: UUID
    at: datetime
    result: TaskResult
    basis: CreditBasis
    share: float
    scope: Scope
    recall_id: UUID | None = None
    task: str = ""
    note: str = ""
    worked_before: float = 0.0
    worked: float = 0.0
    failed_before: float = 0.0
    failed: float = 0.0
    confidence_before: float = 0.5
    confidence: float = 0.5
    stability_before: float = 1.0
    stability: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskOutcome:
    """The outcome of a task as recorded. `credits`: one for each memory, ordered by id; empty if no memory was used.

    `repeated`: whether its key was recorded before; nothing was changed then.
    """

    id: UUID
    result: TaskResult
    credits: tuple[Credit, ...]
    repeated: bool = False


def id_of_key(scope: Scope, key: str) -> UUID:
    """The id of the outcome with a key. A key belongs to the scope without its session, as that of a memory."""
    owner = (scope.workspace, scope.project or "", scope.crew or "", scope.agent or "", key)
    return uuid5(_KEYS, "\x1f".join(owner))
