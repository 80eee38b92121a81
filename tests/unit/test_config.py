from __future__ import annotations

import re
from dataclasses import Field, FrozenInstanceError, asdict, fields
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest

from remembrancer.adapters.llm.service import ADDRESSES
from remembrancer.adapters.rerankers.services import RerankDialect, ScoreScale
from remembrancer.config import LLM_KEYS, Secret, Settings, load
from remembrancer.domain.event import MAX_EVENT_MB, USUAL_EVENT_MB
from remembrancer.errors import InvalidInput


def a_file(folder: Path, text: str) -> Path:
    file = folder / "remembrancer.toml"
    file.write_text(text, encoding="utf-8")
    return file


def test_without_any_source_the_defaults_hold() -> None:
    assert load(environment={}) == Settings()


def test_a_file_overrides_the_defaults(tmp_path: Path) -> None:
    file = a_file(tmp_path, 'workspace = "filed"\nindex_mb = 64\nfull_sync = true\n')
    settings = load(environment={}, file=file)
    assert (settings.workspace, settings.index_mb, settings.full_sync) == ("filed", 64, True)


def test_the_environment_overrides_a_file(tmp_path: Path) -> None:
    file = a_file(tmp_path, 'workspace = "filed"\nagent = "filed"\n')
    settings = load(environment={"REMEMBRANCER_WORKSPACE": "exported"}, file=file)
    assert (settings.workspace, settings.agent) == ("exported", "filed")


def test_an_argument_overrides_the_environment(tmp_path: Path) -> None:
    file = a_file(tmp_path, 'workspace = "filed"\n')
    environment = {"REMEMBRANCER_WORKSPACE": "exported", "REMEMBRANCER_AGENT": "exported"}
    settings = load({"workspace": "given"}, environment=environment, file=file)
    assert (settings.workspace, settings.agent) == ("given", "exported")


def test_an_argument_that_is_none_counts_as_not_given() -> None:
    settings = load({"workspace": None}, environment={"REMEMBRANCER_WORKSPACE": "exported"})
    assert settings.workspace == "exported"


def test_the_environment_names_the_file(tmp_path: Path) -> None:
    file = a_file(tmp_path, 'workspace = "filed"\n')
    assert load(environment={"REMEMBRANCER_CONFIG": str(file)}).workspace == "filed"


def test_a_given_file_overrides_the_one_named_in_the_environment(tmp_path: Path) -> None:
    file = a_file(tmp_path, 'workspace = "filed"\n')
    assert load(environment={"REMEMBRANCER_CONFIG": "/nowhere.toml"}, file=file).workspace == "filed"


def test_the_process_environment_is_read_where_none_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REMEMBRANCER_WORKSPACE", "exported")
    assert load().workspace == "exported"


def test_other_variables_are_left_alone() -> None:
    assert load(environment={"PATH": "/bin", "XREMEMBRANCER_DB": "x", "REMEMBRANCERDB": "x"}) == Settings()


def test_numbers_and_switches_are_read_from_the_environment() -> None:
    settings = load(environment={"REMEMBRANCER_INDEX_MB": "64", "REMEMBRANCER_BACKGROUND_INDEX": "false"})
    assert (settings.index_mb, settings.background_index) == (64, False)


@pytest.mark.parametrize(
    ("variable", "setting", "value"),
    [("KEEPER_OLLAMA_URL", "ollama_url", "http://gpu-box:11434"), ("ENGRAM_NAMESPACE", "workspace", "acme")],
)
def test_another_systems_variable_gives_our_setting(variable: str, setting: str, value: str) -> None:
    assert getattr(load(environment={variable: value}), setting) == value


def test_our_own_variable_overrides_another_systems() -> None:
    environment = {"REMEMBRANCER_WORKSPACE": "ours", "ENGRAM_NAMESPACE": "theirs"}
    assert load(environment=environment).workspace == "ours"


def test_another_systems_variable_overrides_a_file(tmp_path: Path) -> None:
    file = a_file(tmp_path, 'workspace = "filed"\n')
    assert load(environment={"ENGRAM_NAMESPACE": "theirs"}, file=file).workspace == "theirs"


def test_an_argument_overrides_another_systems_variable() -> None:
    assert load({"workspace": "given"}, environment={"ENGRAM_NAMESPACE": "theirs"}).workspace == "given"


def test_a_variable_set_to_nothing_is_not_set() -> None:
    environment = {"REMEMBRANCER_WORKSPACE": "", "ENGRAM_NAMESPACE": "theirs", "KEEPER_OLLAMA_URL": ""}
    settings = load(environment=environment)
    assert (settings.workspace, settings.ollama_url) == ("theirs", None)


def test_a_wrong_value_of_another_systems_variable_is_refused_by_its_name() -> None:
    with pytest.raises(InvalidInput, match=r"^KEEPER_OLLAMA_URL: 'gpu-box' "):
        load(environment={"KEEPER_OLLAMA_URL": "gpu-box"})


@pytest.mark.parametrize(
    "url",
    ["http://localhost:11434", "https://gpu-box/ollama/", "http://[::1]:11434", "http://ana:s3cret@10.0.0.7:8080"],
)
def test_an_http_address_is_an_ollama_url(url: str) -> None:
    assert load({"ollama_url": url}, environment={}).ollama_url == url


@pytest.mark.parametrize(
    "url",
    [
        "localhost:11434", "ftp://gpu-box", "http://", "http:///api", "http://:11434", "http://gpu-box:port",
        "http://gpu-box:0", "http://gpu-box:99999", "http://[::1", "http://gpu box", "http://gpu\x07box", "http://gpu-box?a=b",
        "http://gpu-box/#top", "http://gpu-box\n",
    ],
)  # fmt: skip
def test_an_address_that_is_not_http_is_refused_as_ollama_url(url: str) -> None:
    with pytest.raises(InvalidInput, match=r"^ollama_url: .*expected an http:// or https:// address"):
        load({"ollama_url": url}, environment={})


def test_a_password_in_a_refused_address_is_not_shown() -> None:
    with pytest.raises(InvalidInput) as refused:
        load(environment={"REMEMBRANCER_OLLAMA_URL": "ftp://ana:s3cret@gpu-box"})
    assert str(refused.value).startswith("REMEMBRANCER_OLLAMA_URL: 'ftp://***@gpu-box' ")
    assert "s3cret" not in f"{refused.value.value} {refused.value.__cause__}"


def test_a_password_in_an_address_is_not_shown_with_the_settings() -> None:
    assert "s3cret" not in repr(Settings(ollama_url="http://ana:s3cret@gpu-box"))


@pytest.mark.parametrize("seconds", ["0", "-1", "601", "inf", "nan", "soon"])
def test_a_timeout_is_more_than_no_time_and_at_most_ten_minutes(seconds: str) -> None:
    with pytest.raises(InvalidInput, match=r"^REMEMBRANCER_EMBEDDER_TIMEOUT: "):
        load(environment={"REMEMBRANCER_EMBEDDER_TIMEOUT": seconds})


@pytest.mark.parametrize(
    "named", ["none", "cross-encoder:models/reranker", "https://api.example.com/v2/rerank", "http://[::1]:8080/rerank"]
)
def test_a_reranker_is_a_folder_or_an_address(named: str) -> None:
    assert load({"reranker": named}, environment={}).reranker == named


@pytest.mark.parametrize(
    "named", ["", "auto", "cross-encoder", "cross-encoder:", "ftp://gpu-box", "http://", "/models"]
)
def test_an_invalid_reranker_is_refused(named: str) -> None:
    with pytest.raises(InvalidInput, match=r"^reranker: .*expected none, cross-encoder:FOLDER, or the http://"):
        load({"reranker": named}, environment={})


@pytest.mark.parametrize("name", ["", " ", "a\nb"])
def test_an_invalid_model_name_is_refused_as_reranker_model(name: str) -> None:
    with pytest.raises(InvalidInput, match=r"^reranker_model: .*expected the name of a model"):
        load({"reranker_model": name}, environment={})


@pytest.mark.parametrize(
    ("name", "value"),
    [("reranker_dialect", "openai"), ("reranker_scale", "percent"), ("reranker_timeout", 0), ("reranker_timeout", 601)],
)
def test_a_choice_for_a_reranker_that_is_not_allowed_is_refused_by_name(name: str, value: object) -> None:
    with pytest.raises(InvalidInput) as refused:
        load({name: value}, environment={})
    assert (refused.value.argument, refused.value.value) == (name, value)


def test_the_choices_for_an_endpoint_are_those_of_its_adapter() -> None:
    types = get_type_hints(Settings)
    assert get_args(types["reranker_dialect"]) == get_args(RerankDialect)
    assert get_args(types["reranker_scale"]) == get_args(ScoreScale)


def test_a_password_in_a_reranker_s_address_is_not_shown_with_the_settings() -> None:
    assert "s3cret" not in repr(Settings(reranker="http://ana:s3cret@gpu-box/rerank"))


def test_a_key_comes_from_the_environment_and_is_not_shown_with_the_settings() -> None:
    settings = load(environment={"REMEMBRANCER_RERANKER_KEY": "s3cret"})
    assert settings.reranker_key is not None
    assert settings.reranker_key.reveal() == "s3cret"
    assert "s3cret" not in f"{settings!r} {settings} {asdict(settings)}"


@pytest.mark.parametrize("key", ["s3 cret", "s3cr\u00e9t", "s3cret\x00"])
def test_a_key_that_no_header_can_carry_is_refused_without_telling_it(key: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        load(environment={"REMEMBRANCER_RERANKER_KEY": key})
    assert str(refused.value).startswith("REMEMBRANCER_RERANKER_KEY: '***' ")
    assert key not in f"{refused.value.value} {refused.value.__cause__}"


def test_a_key_under_a_misspelt_name_is_not_shown() -> None:
    with pytest.raises(InvalidInput) as refused:
        load(environment={"REMEMBRANCER_RERANK_KEY": "s3cret"})
    assert str(refused.value).startswith("REMEMBRANCER_RERANK_KEY: '***' ")


@pytest.mark.parametrize(
    "named",
    [
        "none", "openai:gpt-5-mini", "anthropic:claude-haiku-4-5", "gemini:gemini-2.5-flash", "ollama:qwen3:8b",
        "openai:org/model@v1.2_x",
    ],
)  # fmt: skip
def test_a_language_model_is_a_provider_and_a_name(named: str) -> None:
    assert load({"llm": named}, environment={}).llm == named


@pytest.mark.parametrize(
    "named",
    [
        "",
        "auto",
        "gpt-5",
        "openai",
        "openai:",
        "cohere:command",
        "openai:a b",
        "gemini:a?b",
        "gemini:a#b",
        "openai:a\n",
    ],
)
def test_an_invalid_language_model_is_refused(named: str) -> None:
    with pytest.raises(
        InvalidInput, match=r"^llm: .*expected none, openai:MODEL, anthropic:MODEL, gemini:MODEL or olla"
    ):
        load({"llm": named}, environment={})


def test_every_provider_of_the_adapter_can_be_named() -> None:
    assert [load({"llm": f"{provider}:m"}, environment={}).llm for provider in ADDRESSES]


@pytest.mark.parametrize(("provider", "variable"), LLM_KEYS.items())
def test_a_provider_s_usual_variable_gives_the_key(provider: str, variable: str) -> None:
    settings = load({"llm": f"{provider}:m"}, environment={variable: "s3cret"})
    assert settings.llm_key is not None
    assert settings.llm_key.reveal() == "s3cret"


def test_our_own_variable_for_the_key_overrides_the_provider_s() -> None:
    environment = {"REMEMBRANCER_LLM_KEY": "ours", "OPENAI_API_KEY": "theirs", "REMEMBRANCER_LLM": "openai:m"}
    settings = load(environment=environment)
    assert settings.llm_key is not None
    assert settings.llm_key.reveal() == "ours"


@pytest.mark.parametrize("named", ["none", "ollama:m", "anthropic:m"])
def test_a_key_is_not_taken_for_another_provider_than_its_own(named: str) -> None:
    assert load({"llm": named}, environment={"OPENAI_API_KEY": "s3cret"}).llm_key is None


def test_a_provider_s_key_that_no_header_can_carry_is_refused_by_its_variable_without_telling_it() -> None:
    with pytest.raises(InvalidInput) as refused:
        load({"llm": "openai:m"}, environment={"OPENAI_API_KEY": "s3 cret"})
    assert str(refused.value).startswith("OPENAI_API_KEY: '***' ")
    assert "s3 cret" not in f"{refused.value.value} {refused.value.__cause__}"


@pytest.mark.parametrize(
    ("named", "environment", "keys"),
    [
        ("gemini:m", {"GEMINI_API_KEY": "one"}, ["one"]),
        ("gemini:m", {"GEMINI_API_KEY": "one", "GEMINI_API_KEY_FALLBACK": "two"}, ["one", "two"]),
        ("openai:m", {"OPENAI_API_KEY": "one", "OPENAI_API_KEY_FALLBACK": "two"}, ["one", "two"]),
        ("openai:m", {"GEMINI_API_KEY": "one"}, []),
        ("ollama:m", {"OPENAI_API_KEY": "one"}, []),
        ("openai:m", {"OPENAI_API_KEY": "theirs", "REMEMBRANCER_EMBEDDER_KEYS": "ours, second"}, ["ours", "second"]),
    ],
)
def test_an_embedder_s_keys_come_from_its_provider_s_variables(
    named: str, environment: dict[str, str], keys: list[str]
) -> None:
    settings = load({"embedder": named}, environment=environment)
    assert [key.reveal() for key in settings.embedder_keys] == keys


@pytest.mark.parametrize("given", ["s3 cret", "one,,s3cret", ["s3cret", 7], 7])
def test_embedder_keys_that_no_header_can_carry_are_refused_without_telling_them(given: object) -> None:
    with pytest.raises(InvalidInput) as refused:
        load({"embedder_keys": given}, environment={})
    assert str(refused.value).startswith("embedder_keys: '***' ")


def test_an_embedder_s_keys_are_not_shown_with_the_settings() -> None:
    assert "s3cret" not in repr(Settings(embedder_keys=(Secret("s3cret"),), embedder_url="http://ana:s3cret@box/v1"))


def test_neither_a_language_model_s_key_nor_its_password_is_shown_with_the_settings() -> None:
    settings = Settings(llm_key=Secret("s3cret"), llm_url="http://ana:s3cret@gpu-box/v1")
    assert "s3cret" not in repr(settings)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("llm_url", "gpu-box"), ("llm_timeout", 0), ("llm_timeout", 601), ("llm_price_input", -1),
        ("llm_price_output", "inf"), ("llm_price_output", "dear"),
    ],
)  # fmt: skip
def test_a_choice_for_a_language_model_that_is_not_allowed_is_refused_by_name(name: str, value: object) -> None:
    with pytest.raises(InvalidInput) as refused:
        load({name: value}, environment={})
    assert (refused.value.argument, refused.value.value) == (name, value)


def test_an_unknown_argument_is_refused_by_name() -> None:
    with pytest.raises(InvalidInput, match=r"^colour: 'red' .*one of the settings .*workspace"):
        load({"colour": "red"}, environment={})


def test_an_unknown_variable_is_refused_by_name() -> None:
    with pytest.raises(InvalidInput, match=r"^REMEMBRANCER_WORKSPCE: 'acme' .*one of the settings"):
        load(environment={"REMEMBRANCER_WORKSPCE": "acme"})


def test_an_unknown_variable_is_refused_as_it_is_spelt() -> None:
    with pytest.raises(InvalidInput, match=r"^REMEMBRANCER_Colour: "):
        load(environment={"REMEMBRANCER_Colour": "red"})


def test_an_unknown_key_of_a_file_is_refused_by_file_and_name(tmp_path: Path) -> None:
    file = a_file(tmp_path, "[remembrancer]\ndb = 'a.db'\n")
    with pytest.raises(InvalidInput, match=rf"^{file}: remembrancer: .*one of the settings"):
        load(environment={}, file=file)


def test_a_wrong_type_in_a_file_is_refused_by_file_and_name(tmp_path: Path) -> None:
    file = a_file(tmp_path, "db = 5\n")
    with pytest.raises(InvalidInput, match=rf"^{file}: db: 5 .*string"):
        load(environment={}, file=file)


def test_a_wrong_type_in_the_environment_is_refused_by_its_variable() -> None:
    with pytest.raises(InvalidInput, match=r"^REMEMBRANCER_INDEX_MB: 'much' .*whole number"):
        load(environment={"REMEMBRANCER_INDEX_MB": "much"})


def test_a_wrong_argument_is_refused_by_its_name_even_if_the_overridden_value_is_valid(tmp_path: Path) -> None:
    file = a_file(tmp_path, "index_mb = 64\n")
    with pytest.raises(InvalidInput, match=r"^index_mb: 'much' "):
        load({"index_mb": "much"}, environment={"REMEMBRANCER_INDEX_MB": "32"}, file=file)


def test_a_wrong_variable_is_refused_by_its_name_even_if_the_overridden_value_is_valid(tmp_path: Path) -> None:
    file = a_file(tmp_path, "index_mb = 64\n")
    with pytest.raises(InvalidInput, match=r"^REMEMBRANCER_INDEX_MB: 'much' "):
        load(environment={"REMEMBRANCER_INDEX_MB": "much"}, file=file)


@pytest.mark.parametrize(
    ("name", "value"), [("index_mb", 0), ("index_mb", 1.5), ("precision", "fp16"), ("full_sync", "maybe"), ("role", 1)]
)
def test_a_value_that_is_not_allowed_is_refused_by_name(name: str, value: object) -> None:
    with pytest.raises(InvalidInput) as refused:
        load({name: value}, environment={})
    assert (refused.value.argument, refused.value.value) == (name, value)


def test_a_file_that_is_not_there_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"^config: .*none\.toml.* a TOML file \(there is no file at this path"):
        load(environment={}, file=tmp_path / "none.toml")


def test_a_folder_in_place_of_a_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"^config: .* a TOML file"):
        load(environment={}, file=tmp_path)


def test_a_file_that_is_no_toml_is_refused_with_the_place(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"^config: .* a TOML file \(.*line 1"):
        load(environment={}, file=a_file(tmp_path, "db: a.db\n"))


def test_a_file_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "remembrancer.toml"
    file.write_bytes(b'workspace = "caf\xe9"\n')
    with pytest.raises(InvalidInput, match=r"^config: .* a TOML file"):
        load(environment={}, file=file)


def test_settings_do_not_change() -> None:
    with pytest.raises(FrozenInstanceError):
        Settings().db = "other.db"  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.parametrize("setting", fields(Settings), ids=lambda setting: setting.name)
def test_every_setting_has_a_description(setting: Field[Any]) -> None:
    assert setting.metadata["description"]


@pytest.mark.parametrize("name", ["reranker_dialect", "reranker_scale", "precision"])
def test_the_choices_of_a_setting_are_those_of_its_type(name: str) -> None:
    choices = re.findall(r"'(\w+)'", str(get_type_hints(Settings)[name]))
    assert [getattr(load({name: choice}, environment={}), name) for choice in choices] == choices


@pytest.mark.parametrize("given", ["coder, reviewer", "reviewer,coder,", ["coder", "reviewer"]])
def test_several_names_are_a_list_or_a_text_with_commas(given: object) -> None:
    assert load({"walk_agents": given}, environment={}).walk_agents == {"coder", "reviewer"}


@pytest.mark.parametrize("given", [1, {"coder": 1}, ["coder", 1]])
def test_anything_but_names_is_refused(given: object) -> None:
    with pytest.raises(InvalidInput, match="walk_agents"):
        load({"walk_agents": given}, environment={})


def test_the_default_maximum_length_of_an_event_is_that_of_importers_and_at_most_that_of_an_event() -> None:
    assert Settings().max_event_mb == USUAL_EVENT_MB
    assert Settings(max_event_mb=MAX_EVENT_MB).max_event_mb == MAX_EVENT_MB
    with pytest.raises(InvalidInput, match="max_event_mb"):
        Settings(max_event_mb=MAX_EVENT_MB + 1)
