"""The analysis of a cue: its search terms, its tokens, its flags and its tags."""

from __future__ import annotations

from remembrancer.domain.memory import Cue, IndexedCue, searchable_text
from remembrancer.domain.names import ALIAS
from remembrancer.language.english.answer_types import flags_of
from remembrancer.language.english.other_names import namings
from remembrancer.language.english.preferences import tags_of
from remembrancer.language.lexical import analyse


def analysed(cue: Cue) -> IndexedCue:
    """Add search terms, tokens, flags and tags to a cue.

    Stores get this function as an argument: they may not import it.
    """
    analysis = analyse(searchable_text(cue))
    tags = (*tags_of(cue.text), *((ALIAS,) if namings(cue.text) else ()))
    return IndexedCue(cue, analysis.tokens, analysis.terms, flags_of(cue.text), tags)
