from __future__ import annotations

import asyncio
import os
import stat
from pathlib import Path

import pytest

from remembrancer.adapters.vault import folder
from remembrancer.adapters.vault.folder import FolderVault
from remembrancer.errors import Conflict, InvalidInput, StoreUnavailable
from remembrancer.ports.vault import MAX_FILE_BYTES, Content, Scan


def a_vault(root: Path) -> FolderVault:
    root.mkdir(exist_ok=True)
    return FolderVault(root, name="notes")


def scan(files: FolderVault) -> Scan:
    return asyncio.run(files.scan())


def read(files: FolderVault, path: str) -> Content | str:
    return asyncio.run(files.read([path]))[path]


def content(files: FolderVault, path: str) -> Content:
    found = read(files, path)
    assert isinstance(found, Content), found
    return found


def replace(files: FolderVault, path: str, text: str, expected: str | None) -> Content:
    return asyncio.run(files.replace(path, text, expected=expected))


def test_markdown_files_are_found_in_all_folders_but_those_of_tools(tmp_path: Path) -> None:
    for path in ("MEMORY.md", "a/B.MD", ".teaparty/jobs/j/x.md", ".git/x.md", "node_modules/x.md", "a/x.txt"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("words", encoding="utf-8")
    assert sorted(scan(a_vault(tmp_path)).files) == [".teaparty/jobs/j/x.md", "MEMORY.md", "a/B.MD"]


def test_a_vault_is_known_by_its_folder_unless_it_is_named(tmp_path: Path) -> None:
    assert (FolderVault(tmp_path).name, a_vault(tmp_path).name) == (tmp_path.name, "notes")


def test_a_path_that_is_no_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="a folder"):
        FolderVault(tmp_path / "missing")


def test_a_deleted_folder_is_refused_and_not_read_as_an_empty_vault(tmp_path: Path) -> None:
    files = a_vault(tmp_path / "notes")
    (tmp_path / "notes").rmdir()
    with pytest.raises(InvalidInput, match="a folder"):
        scan(files)


def test_more_files_than_a_vault_may_have_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder, "MAX_FILES", 1)
    for name in ("a.md", "b.md"):
        (tmp_path / name).touch()
    with pytest.raises(InvalidInput, match="at most 1 Markdown files"):
        scan(a_vault(tmp_path))


def test_links_are_reported_and_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("secret", encoding="utf-8")
    files = a_vault(tmp_path / "notes")
    (files.root / "linked").symlink_to(outside)
    (files.root / "file.md").symlink_to(outside / "secret.md")
    found = scan(files)
    assert (dict(found.files), sorted(found.refused)) == ({}, ["file.md", "linked"])


@pytest.mark.parametrize(
    "path", ["../secret.md", "a/../../secret.md", "/etc/passwd", "", "a//b.md", "./a.md", "a\\b.md"]
)
def test_no_path_leads_out_of_the_root(tmp_path: Path, path: str) -> None:
    (tmp_path / "secret.md").write_text("secret", encoding="utf-8")
    files = a_vault(tmp_path / "notes")
    assert read(files, path) == "expected a path below the vault's root"
    with pytest.raises(InvalidInput):
        replace(files, path, "words", None)
    assert (tmp_path / "secret.md").read_text(encoding="utf-8") == "secret"


@pytest.mark.parametrize("path", ["linked/secret.md", "file.md"])
def test_no_link_leads_out_of_the_root(tmp_path: Path, path: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("secret", encoding="utf-8")
    files = a_vault(tmp_path / "notes")
    (files.root / "linked").symlink_to(outside)
    (files.root / "file.md").symlink_to(outside / "secret.md")
    assert read(files, path) == "expected a path without symbolic links"
    with pytest.raises(InvalidInput):
        replace(files, path, "words", None)


def test_own_files_do_not_go_through_a_link_either(tmp_path: Path) -> None:
    files = a_vault(tmp_path / "notes")
    (tmp_path / "outside").mkdir()
    (files.root / folder.OWN_FOLDER).symlink_to(tmp_path / "outside")
    with pytest.raises(InvalidInput):
        asyncio.run(files.put_index("{}"))
    assert list((tmp_path / "outside").iterdir()) == []


def test_bytes_that_are_not_utf8_are_reported_with_their_place(tmp_path: Path) -> None:
    files = a_vault(tmp_path)
    (tmp_path / "x.md").write_bytes(b"words\xff")
    assert read(files, "x.md") == "expected UTF-8 text (byte 6 is not)"


def test_a_file_too_large_is_reported_and_not_written(tmp_path: Path) -> None:
    files = a_vault(tmp_path)
    (tmp_path / "x.md").write_bytes(b"x" * (MAX_FILE_BYTES + 1))
    assert read(files, "x.md") == "expected at most 16,777,216 bytes"
    with pytest.raises(InvalidInput, match="16,777,216"):
        replace(files, "y.md", "x" * (MAX_FILE_BYTES + 1), None)


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    assert read(a_vault(tmp_path), "x.md") == "cannot be read (No such file or directory)"


def test_a_written_file_is_read_back_byte_for_byte(tmp_path: Path) -> None:
    files = a_vault(tmp_path)
    text = "\ufeffone\r\ntwo\rthree\n"
    written = replace(files, "deep/x.md", text, None)
    assert content(files, "deep/x.md") == written
    assert (tmp_path / "deep" / "x.md").read_bytes() == text.encode()


def test_a_file_that_is_there_is_not_made_again(tmp_path: Path) -> None:
    files = a_vault(tmp_path)
    (tmp_path / "x.md").write_text("theirs", encoding="utf-8")
    with pytest.raises(Conflict, match="was created meanwhile"):
        replace(files, "x.md", "ours", None)
    assert (tmp_path / "x.md").read_text(encoding="utf-8") == "theirs"


@pytest.mark.parametrize("theirs", ["theirs", None])
def test_a_file_changed_since_it_was_read_is_not_replaced(tmp_path: Path, theirs: str | None) -> None:
    files = a_vault(tmp_path)
    (tmp_path / "x.md").write_text("read", encoding="utf-8")
    digest = content(files, "x.md").digest
    if theirs is None:
        (tmp_path / "x.md").unlink()
    else:
        (tmp_path / "x.md").write_text(theirs, encoding="utf-8")
    with pytest.raises(Conflict, match="changed on disk"):
        replace(files, "x.md", "ours", digest)
    assert [path.read_text(encoding="utf-8") for path in tmp_path.glob("*.md")] == ([] if theirs is None else [theirs])


def test_a_replaced_file_keeps_its_rights(tmp_path: Path) -> None:
    files = a_vault(tmp_path)
    (tmp_path / "x.md").write_text("read", encoding="utf-8")
    (tmp_path / "x.md").chmod(0o640)
    replace(files, "x.md", "ours", content(files, "x.md").digest)
    assert stat.S_IMODE((tmp_path / "x.md").stat().st_mode) == 0o640


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = a_vault(tmp_path)
    (tmp_path / "x.md").write_text("read", encoding="utf-8")
    digest = content(files, "x.md").digest

    def fails(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fails)
    with pytest.raises(StoreUnavailable, match="No space left"):
        replace(files, "x.md", "ours", digest)
    assert (tmp_path / "x.md").read_text(encoding="utf-8") == "read"
    assert list((tmp_path / folder.OWN_FOLDER).glob("*.tmp")) == []


def test_where_files_cannot_be_linked_they_are_renamed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def cannot(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", cannot)
    files = a_vault(tmp_path)
    replace(files, "x.md", "ours", None)
    assert (tmp_path / "x.md").read_text(encoding="utf-8") == "ours"


def test_the_index_is_kept_and_stays_out_of_git(tmp_path: Path) -> None:
    files = a_vault(tmp_path)
    assert (asyncio.run(files.index()), scan(files).indexed_at) == (None, 0)
    asyncio.run(files.put_index("{}"))
    assert asyncio.run(files.index()) == "{}"
    assert scan(files).indexed_at > 0
    assert (tmp_path / folder.OWN_FOLDER / ".gitignore").read_text(encoding="utf-8") == "*\n"


def test_an_index_that_is_no_text_counts_as_none(tmp_path: Path) -> None:
    files = a_vault(tmp_path)
    asyncio.run(files.put_index("{}"))
    (tmp_path / folder.OWN_FOLDER / folder.INDEX).write_bytes(b"\xff")
    assert asyncio.run(files.index()) is None
