"""Token-bucket rate limits: per API key, per address without a key, and per address for invalid keys."""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from datetime import timedelta
from hashlib import sha256
from http import HTTPStatus
from typing import Final, Protocol

from fastapi import HTTPException
from fastapi.security.utils import get_authorization_scheme_param
from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from remembrancer.adapters.siblings.shared import Siblings
from remembrancer.domain.audit import Door
from remembrancer.errors import RemembrancerError
from remembrancer.interfaces.http import problems
from remembrancer.interfaces.http.access import AUTHENTICATION, COOKIE, Authenticator, Principal
from remembrancer.interfaces.http.background import JobRunner
from remembrancer.interfaces.http.middleware import HttpMiddleware
from remembrancer.interfaces.http.peers import peer_of
from remembrancer.interfaces.http.probes import PROBES
from remembrancer.interfaces.http.telemetry import AppMetrics
from remembrancer.interfaces.mcp.app import PATH as MCP_PATH
from remembrancer.policies.token_bucket import Bucket, Taken, TokenRate, filled, full, take
from remembrancer.ports.audit import acting

MAX_BUCKETS: Final = 10_000
"""Buckets kept, those used last. A forgotten bucket is full again."""
BURST: Final = timedelta(seconds=2)
"""The capacity of a bucket: the tokens that are added in this time, and at least `MIN_BURST`."""
MIN_BURST: Final = 10.0
FAILURES: Final = TokenRate(per_second=0.5, burst=20)
"""The rate of invalid keys from one address."""
UNCOUNTED: Final = (*PROBES, "/assets/")
LOGIN: Final = "/login"
"""The dashboard's login form, which answers 401 for an invalid key."""

Stopwatch = Callable[[], float]


def rate_of(requests_per_second: float) -> TokenRate | None:
    """The rate of one key; None, for 0: unlimited."""
    if not requests_per_second:
        return None
    return TokenRate(requests_per_second, max(MIN_BURST, requests_per_second * BURST.total_seconds()))


class NumberTable(Protocol):
    """Pairs of numbers by name, the second of which is the time of the last use. Names used least recently are
    forgotten.
    """

    def locked(self) -> AbstractContextManager[None]:
        """A context in which one process at a time can be, if processes share the table. Waits for the others."""
        ...

    def get(self, name: str) -> tuple[float, float] | None: ...

    def put(self, name: str, pair: tuple[float, float]) -> None: ...


class OwnTable:
    """The NumberTable of a single process."""

    def __init__(self, most: int = MAX_BUCKETS) -> None:
        self._most = most
        self._pairs: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def locked(self) -> AbstractContextManager[None]:
        return nullcontext()

    def get(self, name: str) -> tuple[float, float] | None:
        return self._pairs.get(name)

    def put(self, name: str, pair: tuple[float, float]) -> None:
        self._pairs[name] = pair
        self._pairs.move_to_end(name)
        if len(self._pairs) > self._most:
            self._pairs.popitem(last=False)

    def __len__(self) -> int:
        return len(self._pairs)


class Buckets:
    """A bucket for each name: its tokens, and the time in seconds."""

    def __init__(self, rate: TokenRate, stopwatch: Stopwatch, table: NumberTable) -> None:
        self.rate = rate
        self._stopwatch = stopwatch
        self._table = table

    def take(self, name: str) -> Taken:
        with self._table.locked():
            at = timedelta(seconds=self._stopwatch())
            taken = take(self._bucket(name) or full(self.rate, at), self.rate, at)
            self._table.put(name, (taken.bucket.tokens, taken.bucket.at.total_seconds()))
        return taken

    def is_empty(self, name: str) -> bool:
        """Whether the bucket with that name has no token now."""
        bucket = self._bucket(name)
        return bucket is not None and filled(bucket, self.rate, timedelta(seconds=self._stopwatch())).tokens < 1

    def _bucket(self, name: str) -> Bucket | None:
        pair = self._table.get(name)
        return None if pair is None else Bucket(pair[0], timedelta(seconds=pair[1]))


class RateLimit(HttpMiddleware):
    """Authenticates each request and refuses principals that send too many.

    A request without a valid key is passed on, since its route may be public. But an address that sent too many invalid
    keys is refused before another of its keys is checked, unless that key was valid before.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        authenticator: Authenticator,
        requests_per_second: float,
        metrics: AppMetrics,
        job_runner: JobRunner,
        siblings: Siblings | None = None,
        stopwatch: Stopwatch = time.monotonic,
    ) -> None:
        """`siblings`: the processes that count together. The `stopwatch` must be the same for all."""

        def table(name: str) -> NumberTable:
            return OwnTable() if siblings is None else siblings.table(name)

        super().__init__(app)
        self._authenticator = authenticator
        self._metrics = metrics
        self._job_runner = job_runner
        rate = rate_of(requests_per_second)
        # Separate from the addresses: however many of them there are, no key's bucket is dropped.
        self._keys = None if rate is None else Buckets(rate, stopwatch, table("keys"))
        self._addresses = None if rate is None else Buckets(rate, stopwatch, table("addresses"))
        self._failures = Buckets(FAILURES, stopwatch, table("failures"))
        self._good = table("good")
        self._stopwatch = stopwatch

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"].startswith(UNCOUNTED):
            await self.app(scope, receive, send)
            return
        connection = HTTPConnection(scope)
        address = "" if connection.client is None else peer_of(connection.client.host)
        bearer = _bearer(connection)
        token = bearer or connection.cookies.get(COOKIE)
        logs_in = scope["method"] == "POST" and scope["path"] == LOGIN
        digest = None if token is None else _digest(token)
        is_doubtful = logs_in or (digest is not None and self._good.get(digest) is None)
        if is_doubtful and self._failures.is_empty(address):
            await self._refuse(scope, receive, send, "failed", self._failures.take(address).wait, FAILURES)
            return
        principal = await self._principal(connection, bearer, digest, address)
        buckets, name = (self._addresses, address) if principal is None else (self._keys, principal.name)
        taken = None if buckets is None else buckets.take(name)
        if buckets is not None and taken is not None and not taken.is_given:
            await self._refuse(scope, receive, send, "key" if principal else "address", taken.wait, buckets.rate)
            return

        async def send_with_quota(message: Message) -> None:
            if message["type"] == "http.response.start":
                if logs_in and message["status"] == HTTPStatus.UNAUTHORIZED:
                    self._failures.take(address)
                if buckets is not None and taken is not None:
                    MutableHeaders(scope=message).update(_quota_headers(taken.bucket, buckets.rate))
            await send(message)

        door = Door.MCP if scope["path"] == MCP_PATH else Door.HTTP
        with acting(door=door, **({} if principal is None else principal.actor)):
            await self.app(scope, receive, send_with_quota)

    async def _principal(
        self, connection: HTTPConnection, bearer: str | None, digest: str | None, address: str
    ) -> Principal | None:
        """The principal, or None if the request is not authenticated. The error is kept for a route that needs a
        principal, so that the store is asked once. `digest`: of the key or access token; None: there is none.
        """
        try:
            principal = await self._authenticator.authenticate(connection, bearer)
        except HTTPException as error:
            if digest is not None and error.status_code == HTTPStatus.UNAUTHORIZED:
                self._failures.take(address)
            connection.scope[AUTHENTICATION] = error
            return None
        except RemembrancerError as error:  # the store is not available, so the key cannot be checked
            connection.scope[AUTHENTICATION] = error
            return None
        connection.scope[AUTHENTICATION] = principal
        self._job_runner.work_for(principal.memory)
        if digest is not None:
            with self._good.locked():
                self._good.put(digest, (1.0, self._stopwatch()))
        return principal

    async def _refuse(
        self, scope: Scope, receive: Receive, send: Send, whose: str, wait: timedelta, rate: TokenRate
    ) -> None:
        self._metrics.rate_limited.labels(whose).inc()
        seconds = max(1, math.ceil(wait.total_seconds()))
        what = "keys that are not valid here" if whose == "failed" else "requests"
        detail = f"too many {what}: retry in {seconds} s; the sustained limit is {rate.per_second:g} a second"
        headers = {"Retry-After": str(seconds), **_quota_headers(Bucket(0, timedelta()), rate)}
        response = problems.problem("too_many_requests", HTTPStatus.TOO_MANY_REQUESTS, detail, headers=headers)
        await response(scope, receive, send)


def _bearer(connection: HTTPConnection) -> str | None:
    scheme, token = get_authorization_scheme_param(connection.headers.get("authorization"))
    return token if scheme.lower() == "bearer" and token else None


def _digest(token: str) -> str:
    return sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def _quota_headers(bucket: Bucket, rate: TokenRate) -> dict[str, str]:
    """The RateLimit fields of draft-ietf-httpapi-ratelimit-headers: the quota, and what remains of it."""
    window = max(1, math.ceil(rate.burst / rate.per_second))
    return {
        "RateLimit-Policy": f'"requests";q={math.floor(rate.burst)};w={window}',
        "RateLimit": f'"requests";r={math.floor(bucket.tokens)}',
    }
