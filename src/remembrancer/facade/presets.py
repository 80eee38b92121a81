"""`rem.presets`: the preset in use, and comparison with others."""

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
    """The preset in use, and how other presets would rank the same memories."""

    @property
    def in_use(self) -> Preset:
        """The preset that this memory was opened with."""
        return self._ctx.preset

    async def compare(
        self,
        query: str,
        presets: Iterable[str | Preset] | None = None,
        *,
        limit: int = 5,
        as_of: datetime | None = None,
    ) -> Comparison:
        """The hits of several presets for one question over the same memories, and why they differ.

        `presets`: names, paths of TOML files, or Presets; None: the one in use, then the other shipped ones. `limit`: 1
        to 200, and at most each preset's maximum. `as_of`: ask as of that time. Only ranking is compared, not how each
        preset would have admitted, formed and embedded memories. Writes nothing.
        """
        several = None if presets is None else validation.several("presets", presets)
        question = engine.recall.Question(
            text=query,
            where=self._filter({"as_of": as_of}),
            limit=validation.whole("limit", limit, 1, MAX_LIMIT),
        )
        chosen = compose.choose_presets(self._ctx.preset, several)
        return await engine.compare.compare(self._ctx, self._reader(), question, chosen)
