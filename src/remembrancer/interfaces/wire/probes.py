"""The JSON shapes of the probes: is the server alive, may it be sent requests."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from remembrancer.engine.inspect import SearchMode
from remembrancer.interfaces.wire.shape import Wire


class AliveOut(Wire):
    """`episodic`: whether recall goes by words and meaning (`vector`), or by words alone, since the embedder does not
    answer (`vector-degraded`: `episodic_error` says why) or there is none (`sparse-only`). `degraded`: what cannot be
    used now, and why.
    """

    status: Literal["ok", "unavailable"]
    version: str = Field(examples=["1.0.0"])
    episodic: SearchMode
    episodic_error: str | None = Field(default=None, examples=["Ollama at http://localhost:11434 does not answer"])
    degraded: dict[str, str] = Field(examples=[{"dense": "no embedder is set"}])


class ReadyOut(Wire):
    """`reasons`: why it should be sent nothing now."""

    status: Literal["ready", "not ready"]
    reasons: list[str] = Field(examples=[["the server is stopping"]])
