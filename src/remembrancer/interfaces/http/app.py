"""The server's app: what it is put together from, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from fastapi import FastAPI

import remembrancer
from remembrancer.facade import AsyncRemembrancer
from remembrancer.interfaces.http import problems
from remembrancer.interfaces.http.access import Gate
from remembrancer.jobs.stop import Stop

DESCRIPTION: Final = """\
An episodic memory for AI agents: it keeps what happened, brings the right memories back when they matter, and says why.

A key (`Authorization: Bearer KEY`) names its workspace and its right: read, write or admin. Errors are problem details \
(RFC 9457). What writes takes an `Idempotency-Key`: sent again with the same one, a request is answered as it was.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """How the server serves. `rate_limit`: requests a second of one key in the long run, 0: any number."""

    host: str = "127.0.0.1"
    request_timeout: float = 60.0
    rate_limit: float = 100.0


def build_app(memory: AsyncRemembrancer, serving: Serving, stop: Stop) -> FastAPI:
    """The app over an open memory, which stays the caller's to close. When `stop` is set, streams that never end, end."""
    app = FastAPI(
        title="Remembrancer",
        version=remembrancer.__version__,
        description=DESCRIPTION,
        docs_url=None,  # the usual page loads its scripts from elsewhere
        redoc_url=None,
        separate_input_output_schemas=False,
        responses={400: {"model": problems.ProblemOut, "description": "Something is not what is allowed"}},
    )
    app.state.gate = Gate(memory, serving.host)
    app.state.memory = memory
    app.state.stop = stop
    problems.install(app)
    return app
