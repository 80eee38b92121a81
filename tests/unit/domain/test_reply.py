from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from remembrancer.domain.reply import MAX_CLAIM_KEY_CHARS, Reply
from remembrancer.errors import InvalidInput
from remembrancer.testing.contract.world import a_claim
from remembrancer.testing.doubles import NOW

REPLY = Reply(200, b"what was remembered", "application/json")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("key", ""),
        ("key", "a\nb"),
        ("key", "x" * (MAX_CLAIM_KEY_CHARS + 1)),
        ("fingerprint", b"short"),
        ("at", NOW.replace(tzinfo=None)),
    ],
)
def test_a_claim_that_cannot_be_is_refused(field: str, value: Any) -> None:
    with pytest.raises(InvalidInput, match=rf"^{field}: "):
        replace(a_claim(), **{field: value})


def test_a_claim_s_key_may_be_as_long_as_a_client_s_and_whose_it_is() -> None:
    assert replace(a_claim(), key="x" * MAX_CLAIM_KEY_CHARS).key == "x" * 300


@pytest.mark.parametrize(("field", "value"), [("status", 99), ("status", 600), ("media_type", "a\r\nb")])
def test_a_reply_that_cannot_be_is_refused(field: str, value: Any) -> None:
    with pytest.raises(InvalidInput, match=rf"^{field}: "):
        replace(REPLY, **{field: value})


def test_a_reply_does_not_show_its_contents() -> None:
    assert repr(REPLY) == "Reply(status=200, media_type='application/json')"
