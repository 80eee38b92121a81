"""The folder of the hooks' server, and the project that a folder belongs to."""

from __future__ import annotations

from pathlib import Path

import pytest

from remembrancer.domain.scope import Scope
from remembrancer.interfaces.hooks.place import place_of, project_of


def test_a_folder_in_a_repository_belongs_to_the_project_of_its_root(tmp_path: Path) -> None:
    inner = tmp_path / "shop" / "src" / "checkout"
    inner.mkdir(parents=True)
    (tmp_path / "shop" / ".git").mkdir()
    assert project_of(inner) == str(tmp_path / "shop")


def test_all_work_trees_of_a_repository_are_one_project(tmp_path: Path) -> None:
    tree = tmp_path / "shop-fix"
    tree.mkdir()
    (tree / ".git").write_text(f"gitdir: {tmp_path}/shop/.git/worktrees/shop-fix\n")
    assert project_of(tree) == str(tmp_path / "shop")


def test_a_submodule_is_a_project_of_its_own(tmp_path: Path) -> None:
    module = tmp_path / "shop" / "vendor" / "lib"
    module.mkdir(parents=True)
    (tmp_path / "shop" / ".git").mkdir()
    (module / ".git").write_text("gitdir: ../../.git/modules/lib\n")
    assert project_of(module) == str(module)


def test_a_folder_outside_of_repositories_is_a_project(tmp_path: Path) -> None:
    assert project_of(tmp_path) == str(tmp_path)


@pytest.mark.parametrize("name", ["x" * 240, "ordner\nmit\tzeichen", " mit rand "])
def test_every_folder_gives_a_valid_workspace(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir()
    assert Scope(workspace=project_of(folder)).workspace == project_of(folder)


def test_long_paths_with_the_same_end_are_two_projects(tmp_path: Path) -> None:
    folders = [tmp_path / name / ("x" * 220) for name in ("a", "b")]
    for folder in folders:
        folder.mkdir(parents=True)
    assert project_of(folders[0]) != project_of(folders[1])


def test_the_store_is_the_one_of_the_option_then_of_the_variable_then_the_usual_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("REMEMBRANCER_DB", raising=False)
    assert place_of(None).store == str(tmp_path / ".remembrancer" / "claude-code.db")
    monkeypatch.setenv("REMEMBRANCER_DB", str(tmp_path / "other.db"))
    assert place_of(None).store == str(tmp_path / "other.db")
    assert place_of(str(tmp_path / "given.db")).store == str(tmp_path / "given.db")


def test_the_folder_of_a_store_on_a_server_is_below_the_home_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert place_of("postgresql://me@db/memory").folder.parent == tmp_path / ".remembrancer"
