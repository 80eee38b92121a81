"""Contract of API keys and of idempotency claims."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from hashlib import sha256
from typing import Final
from uuid import UUID

import pytest

from remembrancer.domain.api_key import ApiKey, Right
from remembrancer.domain.reply import MAX_REPLY_BYTES, Claimed, IdempotencyClaim, Reply, ReplyNotStored, RequestRunning
from remembrancer.domain.scope import Scope
from remembrancer.errors import Conflict, InvalidInput, NotFound
from remembrancer.ports.store import Store
from remembrancer.testing.contract.base import StoreSuite, exported, holding
from remembrancer.testing.contract.world import a_claim, a_key
from remembrancer.testing.doubles import NOW, READER, SCOPE

LATER: Final = NOW + timedelta(days=1)
INSTANT: Final = timedelta(microseconds=1)
ELSEWHERE: Final = Scope(workspace="rival")
FIRST, SECOND, THIRD = (UUID(int=number) for number in (1, 2, 3))
REPLY: Final = Reply(201, '{"text": "ключ"}'.encode(), "application/json")


async def keep(store: Store, *keys: ApiKey) -> None:
    for key in keys:
        await store.put_key(Scope(workspace=key.workspace), key)


class AccessContract(StoreSuite):
    async def test_a_key_is_kept_whole(self, store: Store) -> None:
        key = ApiKey(
            id=FIRST,
            workspace="acme",
            name="ci [bold]é",
            right=Right.ADMIN,
            digest=bytes(range(32)),
            created_at=NOW + INSTANT,
            expires_at=LATER + INSTANT,
            revoked_at=NOW + 7 * INSTANT,
        )
        await keep(store, key)
        assert await store.keys(SCOPE) == (key,)

    async def test_the_scope_that_a_key_is_bound_to_is_stored(self, store: Store) -> None:
        key = replace(a_key(), project="shop", crew="ops", agent="coder", session="monday é", role="LEAD")
        await keep(store, key)
        assert await store.keys(SCOPE) == (key,)

    @pytest.mark.parametrize("right", Right)
    async def test_each_right_is_kept(self, store: Store, right: Right) -> None:
        await keep(store, a_key(right=right))
        assert await store.keys(SCOPE) == (a_key(right=right),)

    async def test_keys_come_newest_first_then_by_id_revoked_ones_too(self, store: Store) -> None:
        made = [
            a_key(FIRST),
            replace(a_key(THIRD), revoked_at=NOW),
            replace(a_key(SECOND), created_at=LATER),
            a_key(UUID(int=4)),
        ]
        await keep(store, *made)
        assert [key.id.int for key in await store.keys(SCOPE)] == [2, 4, 3, 1]

    async def test_keys_belong_to_the_workspace_and_not_to_their_creator(self, store: Store) -> None:
        await store.put_key(SCOPE, a_key())
        assert await store.keys(Scope(workspace="acme", agent="bob")) == (a_key(),)

    async def test_a_key_to_another_workspace_is_refused(self, store: Store) -> None:
        with pytest.raises(InvalidInput, match="workspace"):
            await store.put_key(SCOPE, a_key(workspace="rival"))
        assert await store.key_of(a_key(workspace="rival").digest) is None

    async def test_an_id_that_is_taken_is_a_conflict(self, store: Store) -> None:
        await keep(store, a_key())
        with pytest.raises(Conflict):
            await keep(store, replace(a_key(), name="another", digest=bytes(32)))
        assert await store.keys(SCOPE) == (a_key(),)

    async def test_a_digest_opens_one_workspace_only(self, store: Store) -> None:
        await keep(store, a_key())
        with pytest.raises(Conflict):
            await keep(store, replace(a_key(workspace="rival"), digest=a_key().digest))
        assert await store.keys(ELSEWHERE) == ()

    async def test_a_key_is_found_by_its_digest_in_every_workspace(self, store: Store) -> None:
        await keep(store, a_key(), a_key(workspace="rival"))
        digests = [a_key().digest, a_key(workspace="rival").digest, bytes(32)]
        assert [await store.key_of(digest) for digest in digests] == [a_key(), a_key(workspace="rival"), None]

    async def test_a_revoked_key_is_found_as_such(self, store: Store) -> None:
        await keep(store, a_key())
        revoked = await store.revoke_key(SCOPE, a_key().id, at=LATER)
        assert revoked == replace(a_key(), revoked_at=LATER)
        assert await store.key_of(a_key().digest) == revoked
        assert await store.keys(SCOPE) == (revoked,)

    async def test_a_key_revoked_again_stays_as_it_was_revoked_first(self, store: Store) -> None:
        await keep(store, a_key())
        await store.revoke_key(SCOPE, a_key().id, at=NOW)
        assert (await store.revoke_key(SCOPE, a_key().id, at=LATER)).revoked_at == NOW

    async def test_of_several_keys_the_named_one_is_revoked(self, store: Store) -> None:
        await keep(store, a_key(FIRST), a_key(SECOND))
        await store.revoke_key(SCOPE, FIRST, at=NOW)
        assert [key.revoked_at for key in await store.keys(SCOPE)] == [None, NOW]

    async def test_a_key_that_is_not_there_cannot_be_revoked(self, store: Store) -> None:
        await keep(store, a_key(workspace="rival"))
        with pytest.raises(NotFound):
            await store.revoke_key(SCOPE, a_key().id, at=NOW)
        assert await store.keys(ELSEWHERE) == (a_key(workspace="rival"),)

    async def test_whether_any_key_exists_covers_all_workspaces(self, store: Store) -> None:
        before = await store.has_keys(at=NOW)
        await keep(store, a_key(workspace="rival"))
        assert (before, await store.has_keys(at=NOW)) == (False, True)

    async def test_a_key_that_opens_nothing_does_not_count(self, store: Store) -> None:
        await keep(store, replace(a_key(), expires_at=LATER), replace(a_key(FIRST), revoked_at=NOW))
        assert [await store.has_keys(at=at) for at in (LATER - INSTANT, LATER)] == [True, False]

    async def test_keys_are_of_this_store_alone_and_in_no_export(self, store: Store) -> None:
        await keep(store, a_key())
        assert await exported(store) == []

    claimed = holding(lambda store: store.claim(SCOPE, a_claim(), forget_before=NOW))

    async def test_a_new_key_is_the_request_s(self, store: Store) -> None:
        assert await store.claim(SCOPE, a_claim(), forget_before=NOW) == Claimed(a_claim())

    async def test_a_repeated_request_learns_that_the_first_is_running_and_since_when(self, claimed: Store) -> None:
        again = replace(a_claim(), at=LATER)
        assert await claimed.claim(SCOPE, again, forget_before=NOW) == RequestRunning(a_claim())

    async def test_another_request_with_the_same_key_is_a_conflict(self, claimed: Store) -> None:
        other = replace(a_claim(), fingerprint=bytes(32))
        with pytest.raises(Conflict, match="request-1"):
            await claimed.claim(SCOPE, other, forget_before=NOW)
        await claimed.answer(SCOPE, a_claim(), REPLY)
        with pytest.raises(Conflict, match="request-1"):
            await claimed.claim(SCOPE, other, forget_before=NOW)

    async def test_another_key_is_another_request(self, claimed: Store) -> None:
        other = a_claim("request-2")
        assert await claimed.claim(SCOPE, other, forget_before=NOW) == Claimed(other)

    async def test_an_answered_request_is_answered_again_as_it_was(self, store: Store) -> None:
        for number, reply in enumerate((REPLY, Reply(204, b"", "text/plain"), Reply(409, bytes(range(256)), "a/b"))):
            made = a_claim(f"request-{number}")
            await store.claim(SCOPE, made, forget_before=NOW)
            await store.answer(SCOPE, made, reply)
            assert await store.claim(SCOPE, replace(made, at=LATER), forget_before=NOW) == reply

    async def test_the_first_answer_stays(self, claimed: Store) -> None:
        for reply in (REPLY, Reply(500, b"", "text/plain")):
            await claimed.answer(SCOPE, a_claim(), reply)
        assert await claimed.claim(SCOPE, a_claim(), forget_before=NOW) == REPLY

    async def test_of_an_answer_that_is_too_long_only_its_status_is_kept(self, store: Store) -> None:
        outcomes: list[object] = []
        for size in (MAX_REPLY_BYTES, MAX_REPLY_BYTES + 1):
            made = a_claim(f"request-{size}")
            await store.claim(SCOPE, made, forget_before=NOW)
            await store.answer(SCOPE, made, replace(REPLY, body=bytes(size)))
            outcomes.append(await store.claim(SCOPE, made, forget_before=NOW))
        assert outcomes == [replace(REPLY, body=bytes(MAX_REPLY_BYTES)), ReplyNotStored(201)]

    async def test_a_released_key_is_new_again(self, claimed: Store) -> None:
        await claimed.release(SCOPE, a_claim())
        other = replace(a_claim(), fingerprint=bytes(32), at=LATER)
        assert await claimed.claim(SCOPE, other, forget_before=NOW) == Claimed(other)

    async def test_an_answered_request_is_not_released(self, claimed: Store) -> None:
        await claimed.answer(SCOPE, a_claim(), REPLY)
        await claimed.release(SCOPE, a_claim())
        assert await claimed.claim(SCOPE, a_claim(), forget_before=NOW) == REPLY

    @pytest.mark.parametrize(
        "other", [replace(a_claim(), at=LATER), replace(a_claim(), fingerprint=bytes(32))], ids=["later", "another"]
    )
    async def test_only_who_made_a_claim_releases_or_answers_it(self, claimed: Store, other: IdempotencyClaim) -> None:
        await claimed.release(SCOPE, other)
        await claimed.answer(SCOPE, other, REPLY)
        assert await claimed.claim(SCOPE, a_claim(), forget_before=NOW) == RequestRunning(a_claim())

    async def test_an_answer_without_a_claim_is_ignored(self, store: Store) -> None:
        await store.answer(SCOPE, a_claim(), REPLY)
        await store.release(SCOPE, a_claim())
        assert await store.claim(SCOPE, a_claim(), forget_before=NOW) == Claimed(a_claim())

    async def test_claims_are_forgotten_by_their_age_answered_or_not(self, store: Store) -> None:
        old, new = a_claim("old"), replace(a_claim("new"), at=NOW + INSTANT)
        for made in (old, new, replace(old, key="waiting")):
            await store.claim(SCOPE, made, forget_before=NOW)
        for made in (old, new):
            await store.answer(SCOPE, made, REPLY)
        again = [replace(old, at=LATER), replace(new, at=LATER), IdempotencyClaim("waiting", bytes(32), LATER)]
        outcomes = [await store.claim(SCOPE, made, forget_before=NOW + INSTANT) for made in again]
        assert outcomes == [Claimed(again[0]), REPLY, Claimed(again[2])]

    async def test_a_claim_at_the_bound_is_not_forgotten(self, claimed: Store) -> None:
        assert await claimed.claim(SCOPE, replace(a_claim(), at=LATER), forget_before=NOW) == RequestRunning(a_claim())

    async def test_a_refused_claim_forgets_nothing(self, store: Store) -> None:
        recent = replace(a_claim("recent"), at=LATER)
        for made in (a_claim(), recent):
            await store.claim(SCOPE, made, forget_before=NOW)
        with pytest.raises(Conflict):
            await store.claim(SCOPE, replace(recent, fingerprint=bytes(32)), forget_before=LATER)
        assert await store.claim(SCOPE, a_claim(), forget_before=NOW) == RequestRunning(a_claim())

    async def test_of_many_at_once_one_gets_the_key(self, store: Store) -> None:
        claims = [replace(a_claim(), at=NOW + number * INSTANT) for number in range(20)]
        outcomes = await asyncio.gather(*(store.claim(SCOPE, made, forget_before=NOW) for made in claims))
        [winner] = [outcome.claim for outcome in outcomes if isinstance(outcome, Claimed)]
        assert [outcome for outcome in outcomes if outcome != Claimed(winner)] == [RequestRunning(winner)] * 19

    async def test_claims_belong_to_the_workspace_and_not_to_their_creator(self, claimed: Store) -> None:
        assert await claimed.claim(Scope(workspace="acme"), a_claim(), forget_before=NOW) == RequestRunning(a_claim())

    async def test_one_workspace_s_claims_are_not_another_s(self, store: Store) -> None:
        await store.claim(ELSEWHERE, a_claim(), forget_before=NOW)
        mine = IdempotencyClaim(a_claim().key, sha256(b"mine").digest(), LATER)
        assert await store.claim(SCOPE, mine, forget_before=LATER) == Claimed(mine)
        for done in (store.answer(SCOPE, a_claim(), REPLY), store.release(SCOPE, a_claim())):
            await done
        assert await store.claim(ELSEWHERE, a_claim(), forget_before=NOW) == RequestRunning(a_claim())

    async def test_claims_are_of_this_store_alone_and_in_no_export(self, claimed: Store) -> None:
        await claimed.answer(SCOPE, a_claim(), REPLY)
        assert await exported(claimed) == []

    async def test_keys_and_claims_are_not_counted_among_memories(self, store: Store) -> None:
        before = await store.stats(READER)
        await keep(store, a_key())
        await store.claim(SCOPE, a_claim(), forget_before=NOW)
        assert await store.stats(READER) == before
