"""The JSON shapes of the liveness and readiness probes."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from remembrancer.engine.search_state import SearchMode
from remembrancer.interfaces.wire.shape import Wire


class AliveOut(Wire):
    """`episodic`: recall searches by words and meaning (`vector`), by words alone because the embedder does not answer
    (`vector-degraded`, with `episodic_error`), or by words alone because there is no embedder (`sparse-only`).
    `degraded`: what cannot be used now, and why.
    """

    status: Literal["ok", "unavailable"]
    version: str = Field(examples=["1.0.0"])
    episodic: SearchMode
    episodic_error: str | None = Field(default=None, examples=["Ollama at http://localhost:11434 does not answer"])
    degraded: dict[str, str] = Field(examples=[{"dense": "no embedder is set"}])


class ReadyOut(Wire):
    """`reasons`: why the server should not be sent requests now."""

    status: Literal["ready", "not ready"]
    reasons: list[str] = Field(examples=[["the server is stopping"]])
