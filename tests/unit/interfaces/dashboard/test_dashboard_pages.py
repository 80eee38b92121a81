"""The pages of an empty memory, of errors, and of a part of a workspace."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from importlib.resources import files

import httpx
import pytest
from served import Served, asked

from remembrancer.engine.graph import LinkKind
from remembrancer.errors import ModelUnavailable, StoreUnavailable
from remembrancer.interfaces.charts.graph import BACKWARDS, WORDS
from remembrancer.interfaces.dashboard.rendering import PLACES, asset_address, assets, environment
from remembrancer.jobs import overview
from remembrancer.ports.embedder import Embedded
from remembrancer.testing.doubles import FailingEmbedder, HashEmbedder

HTML = {"accept": "text/html"}


def got(path: str) -> httpx.Response:
    return asked(lambda served: served.http.get(path, headers=HTML))


@pytest.mark.parametrize("path", [place.path for place in PLACES])
def test_every_page_is_there_for_an_empty_memory(path: str) -> None:
    assert got(path).status_code == 200


def test_an_empty_memory_teaches_how_to_record_something() -> None:
    said = got("/").text
    assert "Nothing is remembered yet" in said
    assert "http://127.0.0.1:8765/v1/memories" in said


def test_a_memory_that_holds_something_does_not_teach() -> None:
    async def steps(served: Served) -> str:
        await served.memory.remember("said")
        return (await served.http.get("/")).text

    assert "Nothing is remembered yet" not in asked(steps)


def test_an_unknown_address_is_a_page_for_browsers_and_a_problem_for_programs() -> None:
    async def steps(served: Served) -> list[str]:
        answers = [
            await served.http.get("/nowhere", headers=HTML),
            await served.http.get("/nowhere"),
            await served.http.get("/v1/nowhere", headers=HTML),
        ]
        return [answer.headers["content-type"].partition(";")[0] for answer in answers]

    assert asked(steps) == ["text/html", "application/problem+json", "application/problem+json"]


def test_errors_of_other_routes_stay_problems() -> None:
    answer = got("/v1/memories?limit=0")
    assert (answer.status_code, answer.headers["content-type"]) == (400, "application/problem+json")


@pytest.mark.parametrize(
    ("path", "named"),
    [
        ("/search?q=a&limit=0", "limit"),
        ("/search?q=a&limit=%C2%B2", "limit"),
        ("/search?q=a&since=yesterday", "since"),
        ("/search?q=a&since=9999-12-31&until=9999-12-31", "until"),
        ("/search?q=a&tiers=unheard", "tiers"),
        ("/search?q=a&why=unheard", "why"),
        ("/timeline?span=aeon", "span"),
        ("/timeline?until=0001-01-01", "until"),
        ("/timeline?until=9999-12-31", "until"),
        ("/graph?memory=unheard", "memory"),
        (f"/graph?find={'x' * 201}", "find"),
        ("/graph?speaker=a&name=b", "name"),
        ("/journal?after=unheard", "after"),
        ("/compare?q=a&presets=unheard", "presets"),
        ("/compare?q=a&presets=.%2Fmine.toml", "presets: &#39;./mine.toml&#39;"),  # no file of this machine's
        ("/jobs?role=unheard", "role"),
        ("/memories/unheard", "memory_id"),
    ],
)
def test_a_field_that_is_not_allowed_is_named_on_a_page(path: str, named: str) -> None:
    answer = got(path)
    assert (answer.status_code, "Invalid request" in answer.text) == (400, True)
    assert f"<p>{named}" in answer.text


def test_empty_fields_of_a_form_ask_for_nothing() -> None:
    assert got("/search?q=said&kinds=&tiers=&since=&limit=&agent=&role=").status_code == 200


def failing(monkeypatch: pytest.MonkeyPatch, error: Exception) -> httpx.Response:
    async def broken(*_: object) -> object:
        raise error

    monkeypatch.setattr(overview, "job_states", broken)
    return got("/jobs")


def test_a_busy_store_is_a_page_that_offers_another_try(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = failing(monkeypatch, StoreUnavailable("the store is busy"))
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
    assert '<a class="button" href="/jobs">Try again</a>' in answer.text


def test_an_unexpected_error_is_a_page_without_its_message(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = failing(monkeypatch, RuntimeError("a secret of a memory"))
    assert (answer.status_code, answer.headers["content-type"]) == (500, "text/html; charset=utf-8")
    assert "secret" not in answer.text


class Picky(HashEmbedder):
    async def embed_documents(self, texts: Sequence[str]) -> Embedded:
        if any("poison" in text for text in texts):
            raise ModelUnavailable("it cannot read that")
        return await super().embed_documents(texts)


def test_a_text_that_could_not_be_embedded_is_shown_with_its_reason_and_a_link() -> None:
    async def steps(served: Served) -> tuple[str, str]:
        memory = await served.memory.remember("a poison")
        await served.memory.jobs.index_now()
        return str(memory.id), (await served.http.get("/jobs")).text

    memory_id, said = asked(steps, embedder=Picky())
    assert f'<a href="/memories/{memory_id}">' in said
    assert "“a poison” it cannot read that" in said


def test_links_keep_to_the_chosen_part_of_the_workspace() -> None:
    said = got("/jobs?agent=coder&session=").text
    assert 'href="/timeline?agent=coder"' in said


def test_a_page_shows_the_memories_that_its_scope_sees() -> None:
    async def steps(served: Served) -> tuple[bool, bool]:
        await served.memory.scoped(agent="ana").remember("a secret of Ana's", visibility="own")
        pages = [await served.http.get("/timeline", params={"agent": agent}) for agent in ("ana", "bo")]
        return "a secret" in pages[0].text, "a secret" in pages[1].text

    assert asked(steps) == (True, False)


def test_a_page_shows_the_beginning_of_a_long_text() -> None:
    async def steps(served: Served) -> list[int]:
        await served.memory.observe("The build went on and on. " * 20_000)
        [memory] = await served.memory.recent()
        return [len((await served.http.get(path)).text) for path in ("/journal", f"/memories/{memory.id}")]

    journal, memory = asked(steps)
    assert (journal < 40_000, memory < 140_000) == (True, True), (journal, memory)


@pytest.mark.parametrize("path", ["/timeline", "/search?q=payment", "/", "/compare?q=payment"])
def test_a_page_that_lists_a_memory_shows_who_spoke(path: str) -> None:
    async def steps(served: Served) -> str:
        await served.memory.observe("The payment worker ran out of memory", role="tool", actor="grafana <b>")
        return (await served.http.get(path)).text

    assert "grafana &lt;b&gt;" in asked(steps)


@pytest.mark.parametrize("path", ["/timeline?kind=all", "/graph?", "/compare?q=said", "/search?q=said", "/?"])
def test_links_to_memories_keep_to_the_chosen_part_of_the_workspace(path: str) -> None:
    async def steps(served: Served) -> list[str]:
        mine = served.memory.scoped(agent="ana")
        one, other = await mine.remember("said one"), await mine.remember("said another")
        await mine.link(one.id, other.id, "similar")
        said = (await served.http.get(f"{path}&agent=ana")).text
        return re.findall(r'href="(/memories/[^"]*)"', said)

    links = asked(steps)
    assert links != []
    assert [link for link in links if not link.endswith("?agent=ana")] == []


@pytest.mark.parametrize(("right", "status"), [("read", 403), ("admin", 200)])
def test_only_an_admin_chooses_the_scope_to_read_as(right: str, status: int) -> None:
    async def steps(served: Served) -> int:
        token = (await served.memory.keys.create("one", right)).token
        headers = {"authorization": f"Bearer {token}"}
        return (await served.http.get("/jobs?role=LEAD&crew=web", headers=headers)).status_code

    assert asked(steps) == status


def test_slow_parts_of_a_page_are_included_at_once_on_request() -> None:
    assert ("data-part" in got("/").text, "data-part" in got("/?whole=1").text) == (True, False)


@pytest.mark.parametrize("part", ["counts", "state", "fading"])
def test_a_part_is_no_whole_page(part: str) -> None:
    answer = got(f"/parts/{part}")
    assert (answer.status_code, "<html" in answer.text) == (200, False)


def test_the_state_has_the_reason_for_lexical_search_only() -> None:
    assert "<b>sparse-only</b> no embedder: lexical recall only" in got("/parts/state").text


def test_the_state_reports_an_embedder_that_does_not_answer() -> None:
    said = asked(lambda served: served.http.get("/parts/state"), embedder=FailingEmbedder()).text
    assert "<b>vector-degraded</b> the model does not answer" in said


def test_a_search_reports_unavailable_parts() -> None:
    said = asked(lambda served: served.http.get("/search?q=deploy"), embedder=FailingEmbedder()).text
    assert "<b>dense</b> the embedder does not answer: the model does not answer" in said


def test_a_missed_memory_is_named_by_its_words_and_explained() -> None:
    async def steps(served: Served) -> tuple[str, str]:
        await served.memory.remember("The deploy failed on Monday")
        missed = await served.memory.remember("The deploy <b>failed</b> on Tuesday")
        listed = (await served.http.get("/search?q=deploy+failed&limit=1&missing=tuesday", headers=HTML)).text
        [link] = re.findall(rf'href="(/search[^"]*why={missed.id}[^"]*)#why-title"', listed)
        return listed, (await served.http.get(html.unescape(link), headers=HTML)).text

    listed, explained = asked(steps)
    assert ("Which of these did you expect?" in listed, "<b>failed" in listed) == (True, False)
    assert "ranked 2, but the limit is 1" in explained
    assert re.search(r"Its score is 0\.\d+; the last answer has 0\.\d+\. Ask for 2 answers or more\.", explained)


def test_candidates_that_were_held_back_are_offered_with_their_stage() -> None:
    async def steps(served: Served) -> str:
        for day in ("Monday", "Tuesday"):
            await served.memory.remember(f"The deploy failed on {day}")
        return (await served.http.get("/search?q=deploy+failed&limit=1", headers=HTML)).text

    page = asked(steps)
    assert "These came closest, but were held back:" in page
    assert "below the limit · why not?" in page


@pytest.mark.parametrize("missing", ["zebra", "00000000-0000-4000-8000-000000000404"])
def test_a_missed_memory_that_is_not_there_is_told(missing: str) -> None:
    async def steps(served: Served) -> str:
        await served.memory.remember("The deploy failed")
        return (await served.http.get(f"/search?q=deploy&missing={missing}", headers=HTML)).text

    assert re.search("No memory has these words|<b>not found</b>", asked(steps))


def test_a_memory_asks_why_it_is_not_in_an_answer() -> None:
    async def steps(served: Served) -> tuple[str, str]:
        memory = await served.memory.remember("The deploy failed")
        page = (await served.http.get(f"/memories/{memory.id}", headers=HTML)).text
        answer = await served.http.get("/search", params={"why": str(memory.id), "q": "zebra"}, headers=HTML)
        return page.replace(str(memory.id), "ID"), answer.text

    page, explained = asked(steps)
    assert '<input type="hidden" name="why" value="ID">' in page
    assert "neither search found it" in explained


def test_an_asset_is_kept_for_ever_under_the_address_of_its_contents() -> None:
    answer = got(asset_address("dashboard.css"))
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/css; charset=utf-8")
    assert "immutable" in answer.headers["cache-control"]


@pytest.mark.parametrize("path", ["/assets/dashboard.css", "/assets/dashboard.css?v=old"])
def test_an_asset_of_another_version_is_asked_for_again(path: str) -> None:
    assert got(path).headers["cache-control"] == "no-cache"


@pytest.mark.parametrize("name", ["unheard.css", "..%2Frendering.py", "%2e%2e/rendering.py"])
def test_only_assets_are_served_as_such(name: str) -> None:
    assert got(f"/assets/{name}").status_code == 404


def test_no_script_of_ours_is_long() -> None:
    lengths = {name: one.content.count(b"\n") for name, one in assets().items() if name.endswith(".js")}
    assert lengths != {}
    assert {name: length for name, length in lengths.items() if length >= 200} == {}


def templates() -> dict[str, str]:
    folder = files("remembrancer.interfaces.dashboard") / "templates"
    return {name: (folder / name).read_text("utf-8") for name in environment().list_templates()}


@pytest.mark.parametrize(
    "forbidden", [r"\|\s*safe", r"\sstyle=", r"\son\w+=", r"<style", r"<script(?![^>]*src=)", "https?://"]
)
def test_no_template_contains_code_that_the_content_policy_forbids(forbidden: str) -> None:
    allowed = "http://www.w3.org"
    found = [name for name, text in templates().items() if re.search(forbidden, text.replace(allowed, ""))]
    assert found == []


@pytest.mark.parametrize(
    ("find", "said"),
    [("Ana", "speaker"), ("Pexley", "name"), ("pexley", "name"), ("{id}", "memory"), ("<b>nobody</b>", "name")],
)
def test_the_graph_is_drawn_around_what_is_looked_for(find: str, said: str) -> None:
    async def steps(served: Served) -> str:
        await served.memory.observe("We asked Pexley <b> twice", actor="Ana", session="one")
        [memory] = await served.memory.recent()
        answer = await served.http.get("/graph", params={"find": find.replace("{id}", str(memory.id))}, headers=HTML)
        return answer.text

    page = asked(steps)
    assert f'<h2 id="focus"><span class="badge">{said}</span>' in page
    assert "<b>nobody</b>" not in page


def test_a_click_on_a_node_goes_on_from_there() -> None:
    async def steps(served: Served) -> tuple[list[str], list[int]]:
        for place in range(3):
            await served.memory.observe("We asked Pexley", actor="Ana & Bo", session=f"talk {place}")
        page = (await served.http.get("/graph", headers=HTML)).text
        links = sorted({html.unescape(link) for link in re.findall(r'<a href="(/graph\?[^"]*)"', page)})
        return links, [(await served.http.get(link, headers=HTML)).status_code for link in links]

    links, answers = asked(steps)
    assert [link for link in links if link.startswith(("/graph?speaker", "/graph?name"))] == [
        "/graph?name=Pexley",
        "/graph?speaker=Ana+%26+Bo",
    ]
    assert set(answers) == {200}


def test_an_empty_graph_gives_the_order_of_the_command() -> None:
    assert "remembrancer link SOURCE supports TARGET" in got("/graph").text


def test_every_kind_of_link_has_words_for_both_ends() -> None:
    assert (set(WORDS), set(BACKWARDS)) == (set(LinkKind), set(LinkKind))
