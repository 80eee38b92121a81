"""How long a service asks to wait, in each form that services use."""

from __future__ import annotations

import pytest

from remembrancer.adapters.endpoints import retry_after

NOW = "Mon, 23 Nov 2026 09:00:00 GMT"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "20"}, 20.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "20", "retry-after-ms": "1500"}, 1.5),
        ({"retry-after": "Mon, 23 Nov 2026 09:01:30 GMT", "date": NOW}, 90.0),
        ({"retry-after": "Mon, 23 Nov 2026 08:00:00 GMT", "date": NOW}, 0.0),
        ({"retry-after": "Mon, 23 Nov 2026 09:01:30 GMT"}, None),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "soon", "date": NOW}, None),
        ({"retry-after": "9" * 400}, None),
        ({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "6m0s"}, 360.0),
        ({"x-ratelimit-remaining-requests": "9", "x-ratelimit-reset-requests": "6m0s"}, None),
        ({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "120ms"}, 0.12),
        ({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "tomorrow"}, None),
        ({"retry-after": "1 Oct 6666666666 8:0", "date": "Wed, 21 Oct 2026 07:28:00 GMT"}, None),
        (
            {
                "x-ratelimit-remaining-requests": "0",
                "x-ratelimit-reset-requests": "1h2m3.5s",
                "x-ratelimit-remaining-tokens": "0",
                "x-ratelimit-reset-tokens": "1s",
            },
            3723.5,
        ),
    ],
)
def test_the_wait_is_taken_from_the_headers(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds


def test_the_wait_is_taken_from_googles_retry_info() -> None:
    info = b'{"error": {"details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.07s"}]}}'
    assert retry_after({}, info) == 34.07
