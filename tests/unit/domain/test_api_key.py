from __future__ import annotations

from base64 import urlsafe_b64decode
from dataclasses import replace
from datetime import datetime, timedelta
from hashlib import sha256
from itertools import product
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.domain.api_key import NewKey, Right, digest_of, key_id, token_of
from remembrancer.errors import InvalidInput
from remembrancer.testing.contract.world import a_key
from remembrancer.testing.doubles import NOW

TOKEN = token_of(bytes(range(32)))
INSTANT = timedelta(microseconds=1)


def test_a_right_includes_all_lesser_rights() -> None:
    allowed = {(right.value, needed.value) for right, needed in product(Right, Right) if right.allows(needed)}
    assert allowed == {
        ("read", "read"),
        ("write", "read"),
        ("write", "write"),
        ("admin", "read"),
        ("admin", "write"),
        ("admin", "admin"),
    }


@pytest.mark.parametrize(
    ("expires_at", "revoked_at", "at", "usable"),
    [
        (None, None, NOW + timedelta(days=36_500), True),
        (NOW + INSTANT, None, NOW, True),
        (NOW + INSTANT, None, NOW + INSTANT, False),
        (None, NOW, NOW, False),
        (None, NOW + timedelta(days=1), NOW, False),
    ],
    ids=["for ever", "before its end", "at its end", "revoked", "revoked by a clock ahead"],
)
def test_a_key_is_usable_until_it_expires_or_is_revoked(
    expires_at: datetime | None, revoked_at: datetime | None, at: datetime, usable: bool
) -> None:
    assert replace(a_key(), expires_at=expires_at, revoked_at=revoked_at).usable_at(at) is usable


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("workspace", ""),
        ("name", " "),
        ("name", "a\x1b[31m"),
        ("name", "x" * 201),
        ("right", "own"),
        ("digest", b"short"),
        ("created_at", NOW.replace(tzinfo=None)),
        ("expires_at", NOW),
        ("expires_at", NOW - INSTANT),
        ("revoked_at", NOW.replace(tzinfo=None)),
    ],
)
def test_a_key_that_cannot_be_is_refused(field: str, value: Any) -> None:
    with pytest.raises(InvalidInput, match=rf"^{field}: "):
        replace(a_key(), **{field: value})


def test_a_token_as_a_name_is_refused_without_being_shown() -> None:
    with pytest.raises(InvalidInput, match=r"^name: ") as refused:
        replace(a_key(), name=f"the key {TOKEN}")
    assert TOKEN not in f"{refused.value!r} {refused.value}"


@given(st.binary(min_size=32, max_size=32))
def test_a_token_carries_all_of_its_secret(secret: bytes) -> None:
    token = token_of(secret)
    assert (token[:4], urlsafe_b64decode(token[4:] + "=")) == ("rem_", secret)


@given(st.binary(min_size=32, max_size=32))
def test_a_token_needs_no_quoting_anywhere(secret: bytes) -> None:
    assert set(token_of(secret)) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")


@pytest.mark.parametrize("size", [0, 31, 33])
def test_a_secret_of_another_size_is_refused(size: int) -> None:
    with pytest.raises(InvalidInput, match=r"^secret: .*32 random bytes"):
        token_of(bytes(size))


def test_a_digest_is_the_sha_256_of_the_whole_token() -> None:
    assert digest_of(TOKEN) == sha256(TOKEN.encode()).digest()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "rem_",
        TOKEN[:-1],
        f"{TOKEN}A",
        f" {TOKEN}",
        f"{TOKEN}\n",
        f"REM_{TOKEN[4:]}",
        TOKEN[4:],
        f"{TOKEN[:-1]}=",
        f"{TOKEN[:-1]}é",
        "x" * 100_000,
    ],
)
def test_a_malformed_token_is_refused_without_being_shown(text: str) -> None:
    with pytest.raises(InvalidInput, match=r"^token: '\(not shown\)'") as refused:
        digest_of(text)
    assert (refused.value.value, refused.value.__cause__) == ("(not shown)", None)


def test_a_new_key_hides_its_token_and_a_key_its_digest() -> None:
    made = NewKey(a_key(), TOKEN)
    assert (TOKEN in repr(made), repr(a_key().digest) in repr(made), "name='ci'" in repr(made)) == (False, False, True)


def test_an_id_is_read_as_any_other() -> None:
    assert key_id("key_id", "00000000-0000-0000-0000-000000000007") == UUID(int=7)


def test_a_token_as_an_id_is_refused_without_being_shown() -> None:
    with pytest.raises(InvalidInput, match=r"^key_id: ") as refused:
        key_id("key_id", TOKEN)
    assert TOKEN not in f"{refused.value!r} {refused.value}"
