from __future__ import annotations

from pathlib import Path

import pytest

from remembrancer.config import Settings, load, user_cache
from remembrancer.errors import InvalidInput


def a_file(folder: Path, text: str) -> Path:
    file = folder / "remembrancer.toml"
    file.write_text(text, encoding="utf-8")
    return file


def test_without_any_source_the_defaults_hold() -> None:
    assert load(environment={}) == Settings()


def test_a_file_goes_before_the_defaults(tmp_path: Path) -> None:
    file = a_file(tmp_path, 'workspace = "filed"\nindex_mb = 64\nfull_sync = true\n')
    settings = load(environment={}, file=file)
    assert (settings.workspace, settings.index_mb, settings.full_sync) == ("filed", 64, True)


def test_the_environment_goes_before_a_file(tmp_path: Path) -> None:
    file = a_file(tmp_path, 'workspace = "filed"\nagent = "filed"\n')
    settings = load(environment={"REMEMBRANCER_WORKSPACE": "exported"}, file=file)
    assert (settings.workspace, settings.agent) == ("exported", "filed")


def test_an_argument_goes_before_the_environment(tmp_path: Path) -> None:
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


def test_a_file_that_is_given_goes_before_the_one_the_environment_names(tmp_path: Path) -> None:
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
    with pytest.raises(InvalidInput, match=r"^REMEMBRANCER_INDEX_MB: 'much' .*integer"):
        load(environment={"REMEMBRANCER_INDEX_MB": "much"})


def test_a_wrong_argument_is_refused_by_its_name_whatever_it_overrides(tmp_path: Path) -> None:
    file = a_file(tmp_path, "index_mb = 64\n")
    with pytest.raises(InvalidInput, match=r"^index_mb: 'much' "):
        load({"index_mb": "much"}, environment={"REMEMBRANCER_INDEX_MB": "32"}, file=file)


def test_a_wrong_variable_is_refused_by_its_name_whatever_it_overrides(tmp_path: Path) -> None:
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
    with pytest.raises(InvalidInput, match=r"^config: .*none\.toml.* a readable TOML file \(No such file"):
        load(environment={}, file=tmp_path / "none.toml")


def test_a_folder_in_place_of_a_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"^config: .* a readable TOML file"):
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
    with pytest.raises(ValueError, match="frozen"):
        Settings().db = "other.db"  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.parametrize("name", sorted(Settings.model_fields))
def test_every_setting_says_what_it_is_for(name: str) -> None:
    assert Settings.model_fields[name].description


def test_what_can_be_made_again_is_kept_in_the_users_cache() -> None:
    assert user_cache({"XDG_CACHE_HOME": "/var/cache/ana"}) == Path("/var/cache/ana/remembrancer")


@pytest.mark.parametrize("environment", [{}, {"XDG_CACHE_HOME": ""}])
def test_the_users_cache_is_in_the_home_folder_unless_said_otherwise(
    environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/home/ana")
    assert user_cache(environment) == Path("/home/ana/.cache/remembrancer")
