from __future__ import annotations

import numpy as np
import pytest
from golden_tables import cells, every_row, table
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.domain.memory import Memory
from remembrancer.domain.scope import Scope
from remembrancer.errors import InvalidInput
from remembrancer.policies.vault.places import VaultOwner, holds_learnings, path_of, place_of, place_of_memory
from remembrancer.ports.states import states_of
from remembrancer.presets.teaparty import TEAPARTY
from remembrancer.testing.doubles import a_memory

ROWS = table("vault_places")
NAMES = st.text("abcXYZ0189 ._-é", min_size=1, max_size=12)


def a_memory_of(place: VaultOwner) -> Memory:
    return a_memory(scope=place.scope("acme"))


@every_row(ROWS, cells)
def test_a_path_gives_the_owner_of_a_file(row: dict[str, str]) -> None:
    place = place_of(row["path"], project=row["root"] or None)
    assert place == VaultOwner(
        project=row["project"] or None,
        job=row["job"] or None,
        task=row["task"] or None,
        institutional=row["institutional"] == "yes",
    )


@every_row(ROWS, cells)
def test_entries_of_a_file_have_the_factor_of_its_level(row: dict[str, str]) -> None:
    place = place_of(row["path"], project=row["root"] or None)
    factors = TEAPARTY.dynamics.level_factor(states_of([a_memory_of(place)]))
    assert np.array_equal(factors, [float(row["factor"])])


@pytest.mark.parametrize("root", [None, "billing"])
@given(project=st.none() | NAMES, job=st.none() | NAMES, institutional=st.booleans())
def test_a_file_named_for_a_place_is_that_places(
    root: str | None, project: str | None, job: str | None, institutional: bool
) -> None:
    place = VaultOwner(project=project, job=job, institutional=institutional)
    path = path_of(place, project=root)
    if path is not None:
        assert place_of(path, project=root) == place
        assert not {"", ".", ".."} & set(path.split("/"))


@pytest.mark.parametrize(
    ("place", "path"),
    [
        (VaultOwner(), "MEMORY.md"),
        (VaultOwner(institutional=True), "institutional.md"),
        (VaultOwner(project="checkout"), "checkout/MEMORY.md"),
        (VaultOwner(project="checkout", job="j-7"), "checkout/.teaparty/jobs/j-7/MEMORY.md"),
        (VaultOwner(job="j-7"), ".teaparty/jobs/j-7/MEMORY.md"),
    ],
)
def test_new_learnings_of_a_place_have_their_file(place: VaultOwner, path: str) -> None:
    assert path_of(place) == path


@pytest.mark.parametrize("name", ["..", "a/b", "tasks", "projects", ".git", "a\\b", "nul\x00", "end.", "end ", "C:"])
def test_a_project_whose_name_is_no_folders_has_no_file(name: str) -> None:
    assert path_of(VaultOwner(project=name)) is None


def test_projects_stay_where_they_are_kept() -> None:
    known = ["projects/checkout/institutional.md"]
    assert path_of(VaultOwner(project="checkout"), known=known) == "projects/checkout/MEMORY.md"


def test_a_projects_folder_has_no_file_for_another_project() -> None:
    assert path_of(VaultOwner(project="checkout"), project="billing") is None


def test_a_memory_belongs_to_the_file_of_its_scope() -> None:
    memory = a_memory(scope=Scope(workspace="acme", project="checkout", crew="j-7", agent="ana"))
    assert place_of_memory(memory, pinned_tag="institutional") == VaultOwner(project="checkout", job="j-7")


def test_a_folder_that_cannot_name_a_project_is_refused() -> None:
    with pytest.raises(InvalidInput, match="project"):
        place_of(f"{'x' * 201}/MEMORY.md").scope("acme")


@pytest.mark.parametrize(
    ("path", "holds"),
    [
        ("MEMORY.md", True),
        ("a/proxy.md", True),
        ("a/tasks/x.md", True),
        ("a/proxy-tasks/x.md", True),
        ("README.md", False),
        ("tasks/deep/x.md", False),
    ],
)
def test_some_files_are_there_for_learnings(path: str, holds: bool) -> None:
    assert holds_learnings(path) is holds
