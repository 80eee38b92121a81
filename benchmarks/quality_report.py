"""Results of benchmarks/quality.py, as values, JSON and tables. Each table has a picture."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, assert_never

from benchmarks.quality_asked import COLUMNS, COUNTED, DIFFERENCES, MeanChange, Row
from benchmarks.quality_cost import Cost, bytes_saved
from benchmarks.quality_variants import FULL
from remembrancer.evaluation.sheet import Sheet


@dataclass(frozen=True, slots=True)
class Block:
    """All variants over the questions of some conversations. `by_gold_turns`: of the full preset, as in
    QuestionMetrics.
    """

    name: str
    conversations: tuple[str, ...]
    questions: int
    rows: tuple[Row, ...]
    by_gold_turns: dict[str, dict[str, float]]


@dataclass(frozen=True, slots=True)
class LocomoResult:
    """`blocks`: the tuned conversations, the untouched ones, and all; blocks without a conversation are omitted.
    `long`: all of them in long turns.

    `bytes`: stored bytes per memory, by purpose.
    """

    dataset: str
    blocks: tuple[Block, ...]
    long: Block
    cost: Cost
    bytes: dict[str, float]

    def bytes_saved(self) -> dict[str, float]:
        """By variant, the bytes per memory that it would not need."""
        return {row.variant.name: bytes_saved(row.variant, self.bytes) for row in self.blocks[-1].rows}


@dataclass(frozen=True, slots=True)
class Quality:
    """`chats`: blocks of the conversations with an assistant. `locomo`: None if its file was not given."""

    chats: tuple[Block, ...]
    locomo: LocomoResult | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ablation:
    """Metrics without each part. `name`, here and below: the picture's file name without extension.

    `saved`: milliseconds and bytes saved, by variant; None if not measured.
    """

    name: str
    block: Block
    saved: dict[str, tuple[float, float]] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ByGoldTurns:
    """Metrics of the full preset by the number of gold turns of a question."""

    name: str
    block: Block


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """Time of a recall by stage."""

    name: str
    cost: Cost

    @property
    def parts(self) -> dict[str, float]:
        """Milliseconds in total and by stage, omitting stages under 0.005 ms; and of a search without context
        features.
        """
        stages = {stage: time for stage, time in self.cost.stages.items() if time >= 0.005}
        bare = {"search without context features": self.cost.searching["without-both"]}
        return {"total": self.cost.p50[FULL.name]} | stages | bare

    @property
    def title(self) -> str:
        return (
            f"A recall of ten hits among {self.cost.memories:,} memories without the question's embedding, ms "
            f"({self.cost.questions} questions, median of each question's fastest run; two instances of the preset "
            f"differ by {self.cost.noise:+.2f})"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Bytes:
    """Stored bytes per memory."""

    name: str
    kept: dict[str, float]


View = Ablation | ByGoldTurns | Times | Bytes
"""Each view is printed as a table and drawn as a picture."""


def views(quality: Quality) -> Iterator[View]:
    for block in quality.chats:
        yield Ablation(name=_file(block), block=block, saved=None)
        yield ByGoldTurns(name=_file(block, "gold-turns"), block=block)
    found = quality.locomo
    if found is None:
        return
    saved = {name: (found.cost.saved[name], less) for name, less in found.bytes_saved().items()}
    for block in found.blocks:
        yield Ablation(name=_file(block), block=block, saved=saved)
        yield ByGoldTurns(name=_file(block, "gold-turns"), block=block)
    yield Ablation(name="worth-long-turns", block=found.long, saved=None)
    yield Times(name="times", cost=found.cost)
    yield Bytes(name="bytes", kept=found.bytes)


def _file(block: Block, what: str = "worth") -> str:
    return f"{what}-{block.name.replace(' ', '-')}"


def sheet(view: View) -> Sheet:
    """The table of a view."""
    match view:
        case Ablation():
            return _ablation(view)
        case ByGoldTurns():
            return _by_gold_turns(view)
        case Times():
            return _one_row(view.title, {part: f"{time:.2f}" for part, time in view.parts.items()})
        case Bytes():
            sizes = {what: f"{size:,.1f}" if size < 10 else f"{size:,.0f}" for what, size in view.kept.items()}
            return _one_row("Bytes per memory in the file", sizes)
        case _:
            assert_never(view)


def as_json(quality: Quality) -> dict[str, Any]:
    return {
        "chats": [_block_json(block) for block in quality.chats],
        "locomo": None if quality.locomo is None else _locomo_json(quality.locomo),
    }


def _locomo_json(found: LocomoResult) -> dict[str, Any]:
    return {
        "dataset": found.dataset,
        "blocks": [_block_json(block) for block in found.blocks],
        "long": _block_json(found.long),
        "cost": asdict(found.cost),
        "bytes": found.bytes,
        "bytes_saved": found.bytes_saved(),
    }


def _ablation(view: Ablation) -> Sheet:
    block = view.block
    rows: list[tuple[str, tuple[str, ...]]] = []
    for row in block.rows:
        whole = row.variant.name == FULL.name
        means = [f"{row.means[name]:.3f}" for name in COLUMNS]
        moved = ["" if whole else _moved(row.moved[name]) for name in DIFFERENCES]
        rows.append((row.variant.label, (*means, *moved, *_saved(view, row.variant.name))))
    headings = (*COLUMNS, *(f"{name} difference" for name in DIFFERENCES))
    return Sheet(
        title=f"{block.name}: {block.questions:,} questions of {', '.join(block.conversations)}",
        columns=(*headings, *(() if view.saved is None else ("ms saved", "bytes saved"))),
        rows=tuple(rows),
    )


def _by_gold_turns(view: ByGoldTurns) -> Sheet:
    return Sheet(
        title=f"{view.block.name}: by the number of gold turns",
        columns=("questions", *COUNTED),
        rows=tuple(
            (label, (f"{means['questions']:,.0f}", *(f"{means[name]:.3f}" for name in COUNTED)))
            for label, means in view.block.by_gold_turns.items()
        ),
    )


def _saved(view: Ablation, variant: str) -> tuple[str, ...]:
    if view.saved is None:
        return ()
    milliseconds, bytes_less = view.saved[variant]
    return ("", "") if variant == FULL.name else (f"{milliseconds:+.2f}", f"{bytes_less:,.0f}")


def _moved(moved: MeanChange) -> str:
    return f"{moved.by:+.3f}\n{moved.interval.low:+.3f} to {moved.interval.high:+.3f}"


def _one_row(title: str, figures: dict[str, str]) -> Sheet:
    return Sheet(title=title, columns=tuple(figures), rows=((FULL.label, tuple(figures.values())),))


def _block_json(block: Block) -> dict[str, Any]:
    rows = [
        {
            "variant": row.variant.name,
            "label": row.variant.label,
            "means": dict(row.means),
            "moved": {
                name: {"by": moved.by, "interval": moved.interval._asdict()} for name, moved in row.moved.items()
            },
        }
        for row in block.rows
    ]
    return {
        "name": block.name,
        "conversations": list(block.conversations),
        "questions": block.questions,
        "rows": rows,
        "by_gold_turns": block.by_gold_turns,
    }
