"""Forms are accepted only from the dashboard's own pages, with the right to write."""

from __future__ import annotations

from typing import Final

import httpx
import pytest
from served import HOST, Served, asked

OURS: Final = {"origin": HOST}


def submitted(headers: dict[str, str], path: str = "feedback", **fields: str) -> tuple[httpx.Response, int]:
    """The answer to a form about a memory, and how often that counts as helpful afterwards."""

    async def steps(served: Served) -> tuple[httpx.Response, int]:
        memory = await served.memory.remember("said")
        answer = await served.http.post(
            f"/memories/{memory.id}/{path}", data=fields or {"verdict": "helpful"}, headers=headers
        )
        return answer, (await served.memory.get(memory.id)).strength.usage.helped

    return asked(steps)


def test_a_form_of_our_own_page_is_taken() -> None:
    answer, helped = submitted(OURS)
    assert (answer.status_code, helped) == (303, 1)
    assert answer.headers["location"].endswith("?done=helpful")


def test_a_browser_that_sends_only_sec_fetch_site_is_trusted() -> None:
    answer, helped = submitted({"sec-fetch-site": "same-origin"})
    assert (answer.status_code, helped) == (303, 1)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"origin": "https://elsewhere.example"},
        {"origin": "null"},
        {"origin": "null", "sec-fetch-site": "same-origin"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "none"},
        {"origin": HOST, "sec-fetch-site": "cross-site"},
    ],
)
def test_a_form_of_any_other_page_changes_nothing(headers: dict[str, str]) -> None:
    answer, helped = submitted(headers)
    assert (answer.status_code, helped) == (403, 0)


def test_a_body_that_is_no_form_is_refused() -> None:
    answer, helped = submitted({**OURS, "content-type": "text/plain"})
    assert (answer.status_code, helped) == (415, 0)


def test_a_form_that_is_too_large_is_refused() -> None:
    answer, helped = submitted(OURS, verdict="helpful" * 4000)
    assert (answer.status_code, helped) == (413, 0)


def test_a_word_that_is_no_judgement_is_refused_in_words() -> None:
    answer, helped = submitted(OURS, verdict="<b>wonderful</b>")
    assert (answer.status_code, helped) == (400, 0)
    assert "verdict: &#39;&lt;b&gt;wonderful&lt;/b&gt;&#39; is not allowed" in answer.text


def test_forgetting_is_reported_and_leads_back() -> None:
    answer, _ = submitted(OURS, "forget", no="field")
    assert answer.headers["location"].endswith("?done=forgotten")


def test_an_unknown_memory_is_not_there_to_be_judged() -> None:
    async def steps(served: Served) -> httpx.Response:
        path = "/memories/00000000-0000-4000-8000-000000000404/feedback"
        return await served.http.post(path, data={"verdict": "helpful"}, headers=OURS)

    assert asked(steps).status_code == 404


@pytest.mark.parametrize(("right", "status"), [("read", 403), ("write", 303), ("admin", 303)])
def test_a_form_needs_a_key_that_may_write(right: str, status: int) -> None:
    async def steps(served: Served) -> int:
        memory = await served.memory.remember("said")
        token = (await served.memory.keys.create("one", right)).token
        served.http.cookies.set("remembrancer_key", token)
        path = f"/memories/{memory.id}/feedback"
        return (await served.http.post(path, data={"verdict": "helpful"}, headers=OURS)).status_code

    assert asked(steps) == status
