"""Which stated preferences and lasting instructions apply to a request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from remembrancer.domain.preference import Stated

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from remembrancer.policies.ranking.scoring import FloatColumn

MOST: Final = 4
"""The most preferences on a subject that apply to one request."""
MOST_ALWAYS: Final = 2
"""The most instructions about every answer that apply to one request."""
RELATED: Final = 0.25
"""The cosine with the request, or the share of its words, from which on a preference is about what is requested."""


def applying(stated: NDArray[np.int8], similarity: NDArray[np.float32], coverage: NDArray[np.float32]) -> FloatColumn:
    """The degree to which each candidate states a preference that applies to a request, in [0, 1], shape (n,).

    1: it is about every answer, or as much about this request as `RELATED`. Of each of the two, at most `MOST_ALWAYS`
    and `MOST` candidates apply: those most about the request, the newest of equal ones. `stated`: as
    `Candidates.preferences`; `similarity`, `coverage`: absent ones count as 0.
    """
    related = np.fmax(np.nan_to_num(similarity), np.nan_to_num(coverage)).astype(np.float64)
    values = np.zeros(len(stated))
    for kind, most in ((Stated.PREFERENCE, MOST), (Stated.ALWAYS, MOST_ALWAYS)):
        those = np.flatnonzero(stated == kind)
        best = those[np.argsort(-related[those], kind="stable")[:most]]
        values[best] = 1.0 if kind is Stated.ALWAYS else np.clip(related[best] / RELATED, 0.0, 1.0)
    return values
