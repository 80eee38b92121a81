from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from contexts import STORES, a_context, over

from remembrancer import Remembrancer, Settings
from remembrancer.domain.api_key import ApiKey, NewKey, Right, digest_of
from remembrancer.engine.context import Context
from remembrancer.engine.keys import create_key, key_for
from remembrancer.errors import InvalidInput, NotFound, StoreUnavailable
from remembrancer.ports.store import Store
from remembrancer.presets.default import DEFAULT
from remembrancer.testing.doubles import NOW, SCOPE, FixedClock
from remembrancer.testing.faults import Faults

DAY = timedelta(days=1)
SECRET = bytes(range(32))
TOKEN = "rem_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"  # noqa: S105  of no secret, as can be seen


@pytest.fixture(params=STORES)
def make(request: pytest.FixtureRequest) -> Callable[[], Store]:
    return STORES[request.param]


async def make_key(ctx: Context, *, expires_at: datetime | None = None, secret: bytes = SECRET) -> NewKey:
    return await create_key(ctx, SCOPE, name="ci", right=Right.WRITE, expires_at=expires_at, secret=secret)


def test_a_key_is_made_of_a_secret_and_kept_without_it(make: Callable[[], Store]) -> None:
    async def steps(store: Store) -> tuple[NewKey, tuple[ApiKey, ...]]:
        return await make_key(a_context(store, DEFAULT), expires_at=NOW + DAY), await store.keys(SCOPE)

    new, kept = over(make, steps)
    assert (new.token, kept) == (TOKEN, (new.key,))
    assert (new.key.workspace, new.key.name, new.key.right) == ("acme", "ci", Right.WRITE)
    assert (new.key.digest, new.key.created_at, new.key.expires_at) == (digest_of(TOKEN), NOW, NOW + DAY)


def test_a_key_is_found_by_its_token_until_it_expires(make: Callable[[], Store]) -> None:
    async def steps(store: Store) -> tuple[NewKey, list[ApiKey | None]]:
        ctx = a_context(store, DEFAULT)
        new = await make_key(ctx, expires_at=NOW + DAY)
        return new, [await key_for(ctx, TOKEN, at) for at in (NOW, NOW + DAY)]

    new, found = over(make, steps)
    assert found == [new.key, None]


def test_a_revoked_key_is_not_found(make: Callable[[], Store]) -> None:
    async def steps(store: Store) -> ApiKey | None:
        ctx = a_context(store, DEFAULT)
        await store.revoke_key(SCOPE, (await make_key(ctx)).key.id, at=NOW)
        return await key_for(ctx, TOKEN, NOW)

    assert over(make, steps) is None


@pytest.mark.parametrize("token", ["", TOKEN[:-1] + "9", TOKEN[:-1], f"Bearer {TOKEN}", TOKEN.upper()])
def test_another_text_finds_no_key(make: Callable[[], Store], token: str) -> None:
    async def steps(store: Store) -> ApiKey | None:
        ctx = a_context(store, DEFAULT)
        await make_key(ctx)
        return await key_for(ctx, token, NOW)

    assert over(make, steps) is None


def test_a_store_that_cannot_be_read_is_not_a_key_that_is_unknown() -> None:
    async def steps(store: Store) -> None:
        await key_for(replace(a_context(store, DEFAULT), store=Faults(1).around(store)), TOKEN, NOW)

    with pytest.raises(StoreUnavailable):
        over(STORES["reference"], steps)


# ── through the memory ───────────────────────────────────────────────────────────────────────────────────────────────


def test_each_key_has_a_token_of_its_own(wordy: Remembrancer) -> None:
    assert len({wordy.keys.create("ci").token for _ in range(50)}) == 50


def test_a_key_may_read_unless_more_is_asked_for_and_does_not_expire(wordy: Remembrancer) -> None:
    key = wordy.keys.create("ci").key
    assert (key.right, key.expires_at) == (Right.READ, None)


def test_a_key_lasts_as_long_as_requested(wordy: Remembrancer, clock: FixedClock) -> None:
    new = wordy.keys.create("ci", "admin", DAY)
    before = wordy.keys.find(new.token), wordy.keys.exist()
    clock.advance(DAY)
    assert (before, wordy.keys.find(new.token), wordy.keys.exist()) == ((new.key, True), None, False)


def test_a_key_opens_its_own_workspace_for_every_caller(wordy: Remembrancer) -> None:
    elsewhere = wordy.of_workspace("rival")
    new = elsewhere.keys.create("ci")
    assert wordy.keys.find(new.token) == new.key
    assert (new.key.workspace, wordy.keys.list(), elsewhere.keys.list()) == ("rival", (), (new.key,))


def test_a_key_is_revoked_by_its_id_of_its_own_workspace_alone(wordy: Remembrancer, clock: FixedClock) -> None:
    new = wordy.keys.create("ci")
    with pytest.raises(NotFound):
        wordy.of_workspace("rival").keys.revoke(new.key.id)
    clock.advance(DAY)
    revoked = wordy.keys.revoke(str(new.key.id))
    assert revoked == replace(new.key, revoked_at=NOW + DAY)
    assert (wordy.keys.list(), wordy.keys.find(new.token), wordy.keys.exist()) == ((revoked,), None, False)


@pytest.mark.parametrize(
    ("name", "right", "expires_in", "refused"),
    [
        ("", "read", None, "name"),
        ("ci", "own", None, "right"),
        ("ci", "read", timedelta(), "expires_in"),
        ("ci", "read", timedelta(days=36_501), "expires_in"),
    ],
)
def test_a_key_that_cannot_be_is_not_made(
    wordy: Remembrancer, name: str, right: str, expires_in: timedelta | None, refused: str
) -> None:
    with pytest.raises(InvalidInput, match=rf"^{refused}: "):
        wordy.keys.create(name, right, expires_in)
    assert wordy.keys.list() == ()


def test_a_token_is_neither_kept_nor_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    settings = Settings(db=str(tmp_path / "agent.db"), embedder="none", background_index=False)
    with Remembrancer.open(settings=settings) as rem:
        new = rem.keys.create("ci")
        assert rem.keys.find(new.token) == new.key
        rem.export(tmp_path / "export.jsonl")
        written = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert new.key.digest in written
    assert (new.token.encode() in written, new.token[4:].encode() in written, new.token in caplog.text) == (False,) * 3
