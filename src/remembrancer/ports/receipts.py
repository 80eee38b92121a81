"""Conversion of an erasure receipt to JSON text, as stores keep it, and back."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from remembrancer.domain.erasure import PARTS, Erasure, ErasureSelection, UnreachedPlace

_FORMER_NAMES: Final[dict[str, str]] = {"retold": "rebuilt", "redrawn": "requeued", "apart": "kept_sources"}
"""The present names of fields, by their names in older receipts."""
_LISTS: Final = ("memories", "derived", "events", "rebuilt", "restored", "requeued", "kept_sources", "repeated")


def receipt_text(erasure: Erasure) -> str:
    """The receipt as JSON, without `purged_at` (stored separately) and `dry_run` (never stored)."""
    asked = erasure.asked
    return json.dumps(
        {
            "id": str(erasure.id),
            "at": erasure.at.isoformat(),
            "by": erasure.by,
            "asked": {
                "ids": _texts(asked.ids),
                "events": _texts(asked.events),
                **{part: getattr(asked, part) for part in PARTS},
                "before": None if asked.before is None else asked.before.isoformat(),
            },
            "counts": dict(erasure.counts),
            **{name: _texts(getattr(erasure, name)) for name in _LISTS},
            "left": [
                {field.name: getattr(one, field.name) for field in fields(UnreachedPlace)} for one in erasure.left
            ],
        },
        ensure_ascii=False,
    )


def erasure_of(text: str, *, purged_at: datetime | None) -> Erasure:
    """Parse a receipt. Raises ValueError, KeyError or TypeError for a text that `receipt_text` did not write."""
    stored: dict[str, Any] = json.loads(text)
    kept: Mapping[str, Any] = {_FORMER_NAMES.get(name, name): value for name, value in stored.items()}
    asked: Mapping[str, Any] = kept["asked"]
    before = asked["before"]
    ids = {name: tuple(map(_uuid, kept[name])) for name in _LISTS}
    return Erasure(
        id=UUID(kept["id"]),
        at=datetime.fromisoformat(kept["at"]),
        by=kept["by"],
        asked=ErasureSelection(
            ids=frozenset(map(UUID, asked["ids"])),
            events=frozenset(map(UUID, asked["events"])),
            **{part: asked.get(part) for part in PARTS},
            before=None if before is None else datetime.fromisoformat(before),
        ),
        counts=kept["counts"],
        memories=ids["memories"],
        derived=ids["derived"],
        events=ids["events"],
        rebuilt=ids["rebuilt"],
        restored=ids["restored"],
        requeued=ids["requeued"],
        kept_sources=ids["kept_sources"],
        repeated=ids["repeated"],
        left=tuple(UnreachedPlace(**one) for one in kept["left"]),
        purged_at=purged_at,
    )


_uuid: Final[Callable[[str], UUID]] = UUID


def _texts(ids: Iterable[UUID]) -> list[str]:
    return sorted(map(str, ids))
