"""The facts about a model in a sentence transformer's folder: files, pooling, prompts, length, languages.

The layout is that of sentence-transformers: modules.json, `1_Pooling/config.json`, sentence_bert_config.json and
config_sentence_transformers.json beside tokenizer.json and config.json; model.onnx in the folder or in onnx/. Reading
it loads no model.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path
from typing import Final, cast

from remembrancer.adapters.embedders.local import exported
from remembrancer.adapters.embedders.local.graphs import Pooling
from remembrancer.adapters.embedders.local.weights import Precision
from remembrancer.domain.calibration import CosineScale
from remembrancer.errors import InvalidInput, ModelUnavailable
from remembrancer.values import dataclass

MODULES: Final = "modules.json"
CALIBRATED: Final = ("unrelated", "related", "tokens_unrelated", "tokens_related")
OURS: Final = "remembrancer.json"
"""Our file in a model's folder, for what the others leave out. All keys are optional."""
MAX_PIECES: Final = 512
"""The longest text that is read, in pieces, also by a model that could read more: memory grows with the square."""

GRAPHS: Final[Mapping[Precision, Sequence[str]]] = {
    "fp32": (exported.MODEL,),
    "int8": (
        "model_quantized.onnx",
        "model_int8.onnx",
        "model_qint8_avx512_vnni.onnx",
        "model_qint8_avx512.onnx",
        "model_qint8_arm64.onnx",
        "model_quint8_avx2.onnx",
    ),
}
"""The names that Optimum and sentence-transformers give to graphs. One file of int8 serves every processor."""

EXPECTED: Final = (
    "a sentence transformer's folder holds what `optimum-cli export onnx --model NAME FOLDER` and the method `save` of "
    "sentence-transformers write, together"
)

_DOCUMENTS: Final = ("document", "passage", "corpus")
"""The names of the prompt for documents, the first one that the model has."""
_TEXTS: Final = ("name", "query_prefix", "document_prefix")
_CALIBRATION: Final = "calibration"

_SAMPLED_BLOCKS: Final = 64
_BLOCK_BYTES: Final = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceModel:
    """The facts of a model's folder.

    `model_id`: name, precision and a digest of its files. `dim`: the size of its vectors. `max_pieces`: the longest
    text that it reads, with the special tokens. `pooled_prompt`: whether the prompt's pieces count in the mean.
    `lowers`: texts are put into lower case. `languages`: the codes that it declares (ISO 639); None: unknown.
    `calibration`: the cosines measured for this precision; None: not measured.
    """

    model_id: str
    graph: Path
    tokenizer: Path
    precision: Precision
    dim: int
    max_pieces: int
    padding: int
    pooling: Pooling
    query_prefix: str
    document_prefix: str
    pooled_prompt: bool
    lowers: bool
    languages: frozenset[str] | None
    calibration: CosineScale | None


def folder_of_package(name: str) -> Path:
    """The model's folder in an installed package: the package's own, or the one subfolder with a modules.json. No code
    of the package runs. Raises ModelUnavailable.
    """
    spec = None
    if all(part.isidentifier() for part in name.split(".")) and "." not in name:
        spec = find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise ModelUnavailable(f"there is no installed package {name}: give the name that `import` takes")
    root = Path(next(iter(spec.submodule_search_locations)))
    found = [root] if (root / MODULES).is_file() else sorted(path.parent for path in root.glob(f"*/{MODULES}"))
    if len(found) != 1:
        raise ModelUnavailable(f"there {'is no' if not found else 'are several'} {MODULES} in {root}: {EXPECTED}")
    return found[0]


def sentence_model(folder: Path, precision: Precision | None) -> SentenceModel:
    """Read the folder. `precision`: None for fp32 if the folder has it, else int8.

    Raises ModelUnavailable naming the file that is missing or invalid.
    """
    where = folder.resolve()
    if not where.is_dir():
        raise ModelUnavailable(f"there is no folder {folder}: {EXPECTED}")
    kinds = _modules(exported.file_in(where, MODULES, expected=EXPECTED))
    transformer, pooled = where / kinds["Transformer"], where / kinds["Pooling"] / exported.CONFIG
    config = exported.file_in(transformer, exported.CONFIG, expected=EXPECTED)
    tokenizer = exported.file_in(transformer, exported.TOKENIZER, expected=EXPECTED)
    if not pooled.is_file():
        raise ModelUnavailable(f"there is no {kinds['Pooling']}/{exported.CONFIG} in {where}: {EXPECTED}")
    graph, precision = _graph(transformer, precision)
    pooling, dim, pooled_prompt = _pooling(pooled)
    length = _optional(transformer / "sentence_bert_config.json")
    prompts = _prompts(where / "config_sentence_transformers.json")
    ours = _ours(where / OURS)
    longest = length.get("max_seq_length")
    most = longest if isinstance(longest, int) and longest >= exported.MIN_PIECES else MAX_PIECES
    most = min(most, MAX_PIECES, exported.positions(config, EXPECTED))
    query = cast("str", ours.get("query_prefix", prompts[0]))
    document = cast("str", ours.get("document_prefix", prompts[1]))
    lowers = length.get("do_lower_case") is True
    padding = exported.json_object(config, EXPECTED).get("pad_token_id")
    digest = _digest((config, tokenizer, graph), (pooling, most, query, document, pooled_prompt, lowers))
    return SentenceModel(
        model_id=f"{ours.get('name', where.name)}/{precision}@{digest}",
        graph=graph,
        tokenizer=tokenizer,
        precision=precision,
        dim=dim,
        max_pieces=most,
        padding=padding if isinstance(padding, int) else 0,
        pooling=pooling,
        query_prefix=query,
        document_prefix=document,
        pooled_prompt=pooled_prompt,
        lowers=lowers,
        languages=_languages(ours.get("languages"), where / "README.md"),
        calibration=_calibration(ours, precision, where / OURS),
    )


def write_calibration(folder: Path, precision: Precision, calibration: CosineScale) -> Path:
    """Keep a calibration in our file of the folder. Returns the file's path. Raises OSError, ModelUnavailable."""
    path = folder.resolve() / OURS
    ours = _ours(path)
    measured = cast("dict[str, object]", ours.get(_CALIBRATION, {}))
    values = {name: round(getattr(calibration, name), 4) for name in CALIBRATED}
    written = {**ours, _CALIBRATION: {**measured, precision: values}}
    new = path.with_name(f"{OURS}.new")
    new.write_text(json.dumps(written, indent=2) + "\n", encoding="utf-8")
    new.replace(path)
    return path


def _modules(path: Path) -> dict[str, str]:
    """The folder of each module, by its kind. Raises ModelUnavailable for a module that is not computed here."""
    try:
        listed: object = json.loads(path.read_bytes())
        rows = [
            (str(row["type"]).rpartition(".")[2], str(row["path"])) for row in cast("list[dict[str, object]]", listed)
        ]
    except (OSError, ValueError, RecursionError, TypeError, KeyError) as error:
        raise ModelUnavailable(f"{path} does not list the modules of a sentence transformer: {error}") from error
    kinds = [kind for kind, _ in rows]
    if kinds not in (["Transformer", "Pooling"], ["Transformer", "Pooling", "Normalize"]):
        raise ModelUnavailable(
            f"{path} lists {', '.join(kinds) or 'nothing'}; expected Transformer, Pooling and perhaps Normalize"
        )
    return dict(rows)


def _graph(transformer: Path, precision: Precision | None) -> tuple[Path, Precision]:
    if precision is not None:
        return exported.file_in(transformer, *GRAPHS[precision], expected=EXPECTED), precision
    for each, names in GRAPHS.items():
        if any((transformer / place / name).is_file() for name in names for place in ("", "onnx")):
            return exported.file_in(transformer, *names, expected=EXPECTED), each
    return exported.file_in(transformer, exported.MODEL, expected=EXPECTED), "fp32"  # raises


def _pooling(path: Path) -> tuple[Pooling, int, bool]:
    """The pooling, the size of a vector, and whether a prompt is pooled."""
    settings = exported.json_object(path, EXPECTED)
    named = settings.get("pooling_mode")
    modes = {
        name.removeprefix("pooling_mode_").removesuffix("_tokens").removesuffix("_token")
        for name, value in settings.items()
        if name.startswith("pooling_mode_") and value is True
    }
    modes = {named} if isinstance(named, str) else modes
    dim = settings.get("word_embedding_dimension", settings.get("embedding_dimension"))
    if modes not in ({"mean"}, {"cls"}):
        raise ModelUnavailable(f"{path}: pooling by {', '.join(sorted(modes)) or 'nothing'}; expected mean or cls")
    if not isinstance(dim, int) or dim < 1:
        raise ModelUnavailable(f"{path}: {dim!r} by word_embedding_dimension; expected a number of dimensions")
    return cast("Pooling", modes.pop()), dim, settings.get("include_prompt") is not False


def _prompts(path: Path) -> tuple[str, str]:
    """The prompts of questions and documents; "" for none."""
    settings = _optional(path)
    given: object = settings.get("prompts") or {}
    if not isinstance(given, dict):
        raise ModelUnavailable(f"{path}: prompts is no object")
    prompts = {str(name): str(text or "") for name, text in cast("dict[str, object]", given).items()}
    usual = prompts.get(str(settings.get("default_prompt_name")), "")
    document = next((prompts[name] for name in _DOCUMENTS if name in prompts), usual)
    return prompts.get("query", usual), document


def _ours(path: Path) -> dict[str, object]:
    """The content of our own file, checked."""
    found = _optional(path)
    for key, value in found.items():
        listed = isinstance(value, list) and all(isinstance(one, str) for one in cast("list[object]", value))
        text, measured = key in _TEXTS and isinstance(value, str), key == _CALIBRATION and isinstance(value, dict)
        if not (text or measured or (key == "languages" and listed)):
            raise ModelUnavailable(
                f"{path}: {key}: {value!r}; expected name, query_prefix and document_prefix (texts), languages (a list "
                "of codes), and calibration"
            )
    return found


def _calibration(ours: Mapping[str, object], precision: Precision, path: Path) -> CosineScale | None:
    found = cast("dict[str, object]", ours.get(_CALIBRATION, {})).get(precision)
    if found is None:
        return None
    try:
        return CosineScale(**cast("dict[str, float]", found))
    except (TypeError, InvalidInput) as error:
        raise ModelUnavailable(f"{path}: calibration: {found!r}: run `remembrancer embedder calibrate`") from error


def _optional(path: Path) -> dict[str, object]:
    return exported.json_object(path, EXPECTED) if path.is_file() else {}


def _languages(ours: object, readme: Path) -> frozenset[str] | None:
    """The languages by our file, else by the model card's `language`; None if neither names any."""
    codes = cast("list[str] | None", ours)
    if codes is None and readme.is_file():
        codes = list(_of_card(readme))
    named = {code.partition("-")[0].lower() for code in codes or () if code.lower() != "multilingual"}
    return frozenset(named) or None


def _of_card(readme: Path) -> Iterator[str]:
    """The values of `language` in the front matter of a model card."""
    import yaml  # noqa: PLC0415  only a folder with a model card needs it

    lines = readme.read_text(encoding="utf-8", errors="replace").splitlines()
    if not lines or lines[0].strip() != "---":
        return
    end = next((place for place, line in enumerate(lines[1:], 1) if line.strip() == "---"), 0)
    try:
        # By the base loader every scalar is a text; others read the code of Norwegian, `no`, as false.
        found: object = yaml.load("\n".join(lines[1:end]), yaml.BaseLoader)  # noqa: S506
    except yaml.YAMLError:
        return  # a page for people: if it cannot be read, the languages are unknown
    value: object = cast("dict[str, object]", found).get("language") if isinstance(found, dict) else None
    for one in cast("list[object]", value) if isinstance(value, list) else [value]:
        if isinstance(one, str):
            yield one


def _digest(files: Sequence[Path], facts: tuple[object, ...]) -> str:
    """Eight hex digits of all that vectors depend on: `facts`, and the files' sizes and contents; of a large file, 64
    blocks spread over it.

    A start must not read a gigabyte. Two models that differ in their weights differ in nearly every block.
    """
    told = blake2b(repr(facts).encode(), digest_size=4)
    for path in files:
        weights = path.with_name(f"{path.name}_data")  # where a graph beyond 2 GB keeps its weights
        for each in (path, weights):
            if not each.is_file():
                told.update(b"-")
                continue
            size = each.stat().st_size
            told.update(size.to_bytes(8, "little"))
            with each.open("rb") as opened:
                if size <= _SAMPLED_BLOCKS * _BLOCK_BYTES:
                    told.update(opened.read())
                    continue
                for block in range(_SAMPLED_BLOCKS):
                    opened.seek(block * (size - _BLOCK_BYTES) // (_SAMPLED_BLOCKS - 1))
                    told.update(opened.read(_BLOCK_BYTES))
    return told.hexdigest()
