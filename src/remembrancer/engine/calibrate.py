"""Measuring the calibration of an embedder on questions and answers of everyday talk."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from remembrancer.domain.calibration import CosineScale
from remembrancer.errors import ModelUnavailable
from remembrancer.language.lexical import analyse
from remembrancer.policies.ranking.late_interaction import ASKING_IDF, compared, packed, weighted
from remembrancer.ports.embedder import Passage, token_embedder
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from remembrancer.ports.embedder import Embedder

PAIRS: Final = (
    ("Where did Sam go on holiday?", "We spent two weeks hiking along the coast of Portugal in June."),
    ("What is the name of her dog?", "My puppy Biscuit chewed through another pair of slippers today."),
    ("Which instrument is he learning?", "I finally bought a second-hand cello and take lessons on Tuesdays."),
    ("Why did the deployment fail?", "The release was rolled back because the database migration timed out."),
    ("What does she do for work?", "I have been a nurse at the children's hospital for nine years."),
    ("When is the dentist appointment?", "The dentist can see me next Thursday at half past four."),
    ("How many books did he read this year?", "That novel was the thirty-first one I finished since January."),
    ("What food is Anna allergic to?", "I can't eat anything with peanuts, my throat swells up."),
    ("Who is coming to the wedding?", "My cousins and both grandmothers said yes to the invitation."),
    ("What car does he drive?", "The old Volvo broke down again, so I took it to the garage."),
    ("How did the exam go?", "I passed chemistry with a better grade than I had hoped for."),
    ("What present did she get for her birthday?", "My sister gave me a handmade ceramic teapot when I turned thirty."),
    ("Which language is she studying?", "My Japanese class starts with writing the kanji for an hour."),
    ("Where does his brother live?", "My brother moved into a flat in Toronto last autumn."),
    ("What sport does Tom play?", "Our volleyball team trains in the gym on Monday evenings."),
    ("What is wrong with the printer?", "It jams on every second page and the toner is nearly empty."),
    ("How much is the rent?", "The landlord wants eleven hundred a month, heating included."),
    ("What film did they watch?", "Last night we saw an old thriller about a train robbery."),
    ("Which plants grow in the garden?", "The tomatoes and the basil are finally ripe behind the house."),
    ("Why is she tired?", "The baby woke up five times, so I hardly slept."),
    ("What did the doctor recommend?", "The physician told me to walk more and to cut down on salt."),
    ("Which port does the server use?", "The service now listens on 8443 instead of 8080."),
    ("What is his favourite dessert?", "Nothing beats a warm apple crumble with custard."),
    ("How does he get to the office?", "I cycle along the canal every morning, it takes twenty minutes."),
    ("What are her plans for the weekend?", "On Saturday we are going to paint the kitchen."),
    ("Who repaired the roof?", "A carpenter from the village replaced the broken tiles."),
    ("What did they decide about the budget?", "The committee agreed to cut the marketing expenses by a fifth."),
    ("What music does she like?", "I listen to jazz from the fifties whenever I cook."),
    ("Why did he quit his job?", "I resigned because my boss expected me to work every evening."),
    ("What is the password policy?", "Everyone must use at least fourteen characters and rotate them yearly."),
    ("What happened at the party?", "Somebody spilled wine on the carpet and the neighbours complained."),
    ("Which museum did they visit?", "We walked through the maritime exhibition and saw the old ships."),
)
"""Questions, each with a text that answers it and that shares hardly a word with it."""

_LEAST_SPREADS: Final = 2.0
"""The least distance of related from unrelated texts, in standard deviations of the cosines of unrelated ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredScale:
    """A calibration, and how well the model tells answers from other texts.

    `first`: the share of questions whose own answer is nearest. `spreads`: the distance of the two means, in standard
    deviations of the cosines of unrelated texts. `tokens_first`, `tokens_spreads`: the same of token embeddings; None
    without them.
    """

    calibration: CosineScale
    first: float
    spreads: float
    tokens_first: float | None = None
    tokens_spreads: float | None = None


async def measure(embedder: Embedder) -> MeasuredScale:
    """Embed 32 questions and their answers, and compare each question with each answer.

    Raises ModelUnavailable if the embedder does not answer, or if its cosines do not tell answers from other texts.
    """
    questions, texts = zip(*PAIRS, strict=True)
    vectors = (await embedder.embed_documents(texts)).vectors
    asked = np.array([await embedder.embed_query(question) for question in questions])
    unrelated, related, spreads, first = _separated(asked @ vectors.T)
    if spreads < _LEAST_SPREADS:
        raise ModelUnavailable(
            f"{embedder.model_id} does not tell answers from other English texts: mean cosines {related:.3f} and "
            f"{unrelated:.3f}"
        )
    tokens = token_embedder(embedder)
    if tokens is None:
        return MeasuredScale(
            calibration=CosineScale(unrelated=unrelated, related=related), first=first, spreads=spreads
        )
    passages = await tokens.embed_passages([Passage(text) for text in texts])
    stored = [packed(vectors, spelled) for vectors, spelled in passages.tokens()]
    rows: list[NDArray[np.float64]] = []
    for question in questions:
        embedded = await tokens.embed_question(question)
        idf = dict.fromkeys(analyse(question).terms, ASKING_IDF)
        weights = weighted(embedded.token_embeddings, embedded.spelled, idf, embedded.sum_of_bits)
        if weights is None:
            raise ModelUnavailable(f"{embedder.model_id} gives no token embedding for a word of: {question}")
        rows.append(compared(weights, stored).closeness())
    words_unrelated, words_related, words_spreads, words_first = _separated(np.array(rows))
    return MeasuredScale(
        calibration=CosineScale(
            unrelated=unrelated, related=related, tokens_unrelated=words_unrelated, tokens_related=words_related
        ),
        first=first,
        spreads=spreads,
        tokens_first=words_first,
        tokens_spreads=words_spreads,
    )


def _separated(cosines: NDArray[np.floating]) -> tuple[float, float, float, float]:
    """The mean off the diagonal, that on it, their distance in standard deviations of the first, and the share of rows
    whose greatest value is on the diagonal.
    """
    own = np.eye(len(cosines), dtype=np.bool_)
    others = cosines[~own]
    unrelated, related = float(others.mean()), float(cosines[own].mean())
    spreads = (related - unrelated) / max(float(others.std()), 1e-6)
    return unrelated, related, spreads, float((cosines.argmax(axis=1) == np.arange(len(cosines))).mean())
