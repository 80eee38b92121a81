"""Commands for a change of embedder: status, change, switch, rollback, drop."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated

from rich.table import Table
from rich.text import Text

from remembrancer.domain.vector_space import SpaceRole
from remembrancer.errors import InvalidInput
from remembrancer.interfaces.cli.drawing import Renderables
from remembrancer.interfaces.cli.invocation import Invocation
from remembrancer.interfaces.text import counted, minute, one_line, size
from remembrancer.interfaces.wire.embedder import CalibratedOut, DroppedOut, EmbedderOut, SwitchedOut, VectorSpaceOut

if TYPE_CHECKING:
    from remembrancer.engine.calibrate import MeasuredScale

AllowMissing = Annotated[bool, "Also if texts lack a vector: those are found by their words."]


def status(call: Invocation) -> None:
    """Show which model answers, and how far a change is.

    Lists the vectors of each model, and says what to do next. A change takes four steps: set `embedder` to the new
    embedder and `embedder_before` to the old one; `change` makes the new vectors; `switch` lets them answer; `drop`
    deletes the old ones. The old vectors answer until the switch.

    Example: remembrancer embedder status --embedder ollama:embeddinggemma --embedder-before local
    """
    call.run(lambda memory: EmbedderOut.of(memory.embedder.status()), _status)


def change(
    call: Invocation, *, no_wait: Annotated[bool, "Only begin: an open memory goes on in the background."] = False
) -> None:
    """Make the vectors of the new embedder.

    Begins a change to the embedder in use, or goes on with it. The vectors that answer stay until `switch`. If it is
    interrupted, run it again: no stored vector is made twice.

    Example: remembrancer embedder change --embedder ollama:embeddinggemma --embedder-before local
    """
    with call.opened(create=False) as memory:
        if no_wait:
            answer = memory.embedder.change(wait=False)
        else:
            with call.indexing(memory, anew=True) as on_indexed:
                answer = memory.embedder.change(on_indexed=on_indexed)
    call.answer(EmbedderOut.of(answer), _status)


def switch(call: Invocation, *, allow_missing: AllowMissing = False) -> None:
    """Let the new vectors answer.

    From the next recall on, in every process that has the new embedder, at once and for all texts. The old vectors are
    kept, and made for new texts too where `embedder_before` is set, so that `rollback` can return to them.

    Example: remembrancer embedder switch
    """
    call.run(lambda memory: SwitchedOut.of(memory.embedder.switch(allow_missing=allow_missing)), _switched)


def rollback(call: Invocation, *, allow_missing: AllowMissing = False) -> None:
    """Return to the vectors from before the switch.

    Run it again to undo it. It needs nothing but the kept vectors, which `drop` deletes.

    Example: remembrancer embedder rollback
    """
    call.run(lambda memory: SwitchedOut.of(memory.embedder.rollback(allow_missing=allow_missing)), _switched)


def drop(
    call: Invocation,
    *,
    model: Annotated[str | None, "[MODEL]", "The model, as `status` prints it. Default: the one kept."] = None,
) -> None:
    """Delete the vectors of a model that does not answer.

    Those kept for a roll-back; or those of a MODEL that is being built, which gives the change up. Their room in the
    file is used again. Afterwards, remove the setting `embedder_before`.

    Example: remembrancer embedder drop
    """
    call.run(lambda memory: DroppedOut.of(memory.embedder.drop(model)), _dropped)


def calibrate(call: Invocation) -> None:
    """Measure the cosines of the embedder.

    Embeds 32 English questions and their answers, and compares each question with each answer. The mean cosines of
    those that belong together and of the others put `similarity` on the scale of all-MiniLM-L6-v2, for which the
    presets' weights and thresholds were chosen. For a folder they are kept in its remembrancer.json; for another
    embedder, set `embedder_calibration` to the printed numbers.

    Example: remembrancer embedder calibrate --embedder folder:models/mpnet
    """
    from remembrancer import models  # noqa: PLC0415  loads the adapters
    from remembrancer.engine.calibrate import measure  # noqa: PLC0415  loads numpy

    embedder = models.choose_embedder(call.settings).embedder
    if embedder is None:
        raise InvalidInput("embedder", call.settings.embedder, "an embedder")

    async def measured() -> MeasuredScale:
        try:
            return await measure(embedder)
        finally:
            await embedder.close()

    found = asyncio.run(measured())
    kept = models.keep_calibration(call.settings, found.calibration)
    call.answer(CalibratedOut.of(embedder.model_id, found, kept), _calibrated)


def _calibrated(answer: CalibratedOut) -> Renderables:
    table = Table(box=None, pad_edge=False)
    for heading in ("", "unrelated", "related", "apart", "own answer first"):
        table.add_column(heading, justify="right" if heading else "left")
    rows = (("vectors", answer.vectors), ("token embeddings", answer.tokens))
    for name, row in rows:
        if row is not None:
            first = f"{row.first:.0%}"
            table.add_row(name, f"{row.unrelated:.3f}", f"{row.related:.3f}", f"{row.spreads:.1f} sd", first)
    yield table
    yield ""
    setting = f"REMEMBRANCER_EMBEDDER_CALIBRATION={answer.setting}"
    yield Text(f"Kept in {one_line(answer.kept)}." if answer.kept else f"Set {setting} for {one_line(answer.model)}.")


def _status(answer: EmbedderOut) -> Renderables:
    if not answer.spaces:
        yield Text("This workspace has no vectors.", style="dim")
    else:
        table = Table(box=None, pad_edge=False)
        table.add_column("model", overflow="fold")
        for heading in ("role", "since (UTC)"):
            table.add_column(heading, no_wrap=True)
        for heading in ("texts", "size", "per second", "left"):
            table.add_column(heading, justify="right")
        for space in answer.spaces:
            table.add_row(one_line(space.model), _role(space), minute(space.since), *_progress(space))
        yield table
    if answer.advice:
        yield ""
        yield Text(one_line(answer.advice))


def _role(space: VectorSpaceOut) -> Text:
    styles = {SpaceRole.ANSWERS: "green", SpaceRole.BUILDING: "yellow"}
    role = Text(space.role.value, style=styles.get(space.role, "dim"))
    return role if space.here or space.role is SpaceRole.DROPPED else role.append(", not here", style="dim")


def _progress(space: VectorSpaceOut) -> tuple[str, str, str, str]:
    if space.role is SpaceRole.DROPPED:
        return "", "", "", ""
    left = "" if space.seconds_left is None else str(timedelta(seconds=round(space.seconds_left)))
    rate = f"{space.rate:,.1f}" if space.rate else ""
    return f"{space.vectors:,} of {space.cues:,}", size(space.bytes), rate, left


def _switched(answer: SwitchedOut) -> Renderables:
    yield Text(f"{one_line(answer.answers)} answers from now on.")
    if answer.missing:
        yield Text(f"{counted(answer.missing, 'text')} without a vector of it: found by words only.", style="yellow")
    if answer.kept is not None:
        yield Text(f"The vectors of {one_line(answer.kept)} are kept: `rollback` returns to them, `drop` deletes them.")


def _dropped(answer: DroppedOut) -> Renderables:
    yield Text(f"Deleted {counted(answer.vectors, 'vector')} of {one_line(answer.model)} ({size(answer.bytes)}).")
