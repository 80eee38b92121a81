"""The analysis of a cue: its search terms, its tokens, its flags and its tags."""

from __future__ import annotations

from remembrancer.domain.memory import Cue, IndexedCue, searchable_text
from remembrancer.language.english.answer_types import flags_of
from remembrancer.language.english.preferences import tags_of
from remembrancer.language.lexical import analyse


def analysed(cue: Cue) -> IndexedCue:
    """Add search terms, tokens, flags and tags to a cue.

    Stores get this function as an argument: they may not import it.
    """
    analysis = analyse(searchable_text(cue))
    return IndexedCue(cue, analysis.tokens, analysis.terms, flags_of(cue.text), tags_of(cue.text))
