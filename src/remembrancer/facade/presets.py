"""`rem.presets`: the rules that this memory was opened with, beside others."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING

from remembrancer import compose, engine
from remembrancer.domain import validation
from remembrancer.facade.view import View
from remembrancer.presets.spec import MAX_LIMIT, Preset

if TYPE_CHECKING:
    from remembrancer.engine.compare import Comparison


class AsyncPresetsApi(View):
    """The preset in use, and how others would rank the same memories."""

    @property
    def in_use(self) -> Preset:
        """What this memory was opened with."""
        return self._ctx.preset

    async def compare(
        self,
        query: str,
        presets: Iterable[str | Preset] | None = None,
        *,
        limit: int = 5,
        as_of: datetime | None = None,
    ) -> Comparison:
        """What each of some presets returns for a question, over the memories that are here, and why they differ.

        `presets`: names, paths of their files, or Presets; None: the one in use, then the others that are shipped.
        `limit`: 1 to 200, and at most what a preset allows. `as_of`: what was believed then, by the ages of then. Only
        the presets' ranking is compared, not how each would have admitted, formed and embedded memories. Reads only.
        """
        several = None if presets is None else validation.several("presets", presets)
        question = engine.recall.Question(
            text=query,
            where=self._filter({"as_of": as_of}),
            limit=validation.whole("limit", limit, 1, MAX_LIMIT),
        )
        chosen = compose.choose_presets(self._ctx.preset, several)
        return await engine.compare.compare(self._ctx, self._reader(), question, chosen)
