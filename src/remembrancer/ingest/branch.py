"""The branch of a conversation that was kept: from its last message up to its first."""

from __future__ import annotations

from collections.abc import Mapping


def branch(leaf: str, parents: Mapping[str, str | None]) -> tuple[list[str], str | None]:
    """The ids from the root to `leaf`, and what is wrong with the path, if anything.

    `parents` names each known id's parent. A cycle or an unknown parent ends the walk.
    """
    path: list[str] = []
    seen: set[str] = set()
    fault: str | None = None
    at: str | None = leaf
    while at is not None:
        if at in seen:
            fault = f"the messages form a cycle at {at!r}; what came before is left out"
            break
        if at not in parents:
            fault = f"the parent {at!r} is not in the file; what came before is left out"
            break
        seen.add(at)
        path.append(at)
        at = parents[at]
    path.reverse()
    return path, fault
