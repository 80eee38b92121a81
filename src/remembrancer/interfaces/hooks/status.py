"""The state of the hooks' server, from outside of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from rich.text import Text

from remembrancer.ingest.fields import is_object
from remembrancer.interfaces.hooks.client import is_served
from remembrancer.interfaces.hooks.place import Place, project_of
from remembrancer.interfaces.text import counted, one_line
from remembrancer.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class HookStatus:
    """`pid`: of the running server, or None. `waiting`: transcripts with lines that are not recorded. `failed`: why the
    last server did not start, and `failed_at` when; None if it did.
    """

    store: str
    project: str
    pid: int | None
    waiting: int
    failed: str | None
    failed_at: str | None
    log: str

    @classmethod
    def of(cls, place: Place, folder: Path) -> HookStatus:
        told = _json(place.failure)
        return cls(
            store=place.store,
            project=project_of(folder),
            pid=_running(place),
            waiting=sum(1 for _ in place.waiting.glob("[!.]*")),
            failed=None if told is None else str(told.get("why")),
            failed_at=None if told is None else datetime.fromtimestamp(float(str(told.get("at", 0))), UTC).isoformat(),
            log=str(place.log),
        )

    def as_json(self) -> str:
        return json.dumps(asdict(self), indent=2)


def lines(status: HookStatus) -> Iterator[Text]:
    yield Text(f"store    {one_line(status.store)}")
    yield Text(f"project  {one_line(status.project)}")
    runs = f"process {status.pid}" if status.pid else "not running; the next hook starts it"
    yield Text(f"server   {runs}", style="green" if status.pid else "")
    yield Text(f"waiting  {counted(status.waiting, 'transcript')} with lines that are not recorded yet")
    if status.failed:
        yield Text(f"failed   {status.failed_at}: {one_line(status.failed)}", style="red")
    yield Text(f"log      {one_line(status.log)}")


def _running(place: Place) -> int | None:
    """The process that holds the lock, which contains its number."""
    if not (place.lock.exists() and is_served(place)):
        return None
    return int(place.lock.read_text(encoding="ascii") or "0") or None


def _json(path: Path) -> dict[str, object] | None:
    try:
        found: object = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    return found if is_object(found) else None
