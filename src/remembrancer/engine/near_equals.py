"""Hits that belong together are put together: a reply before the turn that asks, a newer value before an older, and a
trusted text before a less trusted one that says nearly the same, or a user's statement before one about the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from remembrancer.domain.event import UNTRUSTED, Origin, is_less_trusted
from remembrancer.domain.memory import CueFlag
from remembrancer.domain.query import QuestionKind
from remembrancer.engine.choose import Choice, Chosen, Ranked, read_candidates
from remembrancer.language.english.values import asks_for_the_past, asks_only, stated_value
from remembrancer.language.lexical import analyse
from remembrancer.policies.ranking.diversity import words_of
from remembrancer.policies.ranking.near_equals import (
    COMPARABLE,
    about_the_same,
    is_newer_value,
    nearly_equal,
    reply_to,
)

if TYPE_CHECKING:
    from uuid import UUID

    from remembrancer.domain.scope import Reader
    from remembrancer.engine.journal_leg import UnformedEntry
    from remembrancer.language.reading import Reading
    from remembrancer.ports.changes import ReadView

COMPARED: Final = 10
"""The number of best hits whose values are compared."""


def put_together(
    view: ReadView,
    reader: Reader,
    ranked: Ranked,
    choice: Choice,
    limit: int,
    planned: Reading,
    entries: Mapping[UUID, UnformedEntry],
) -> None:
    """Reorder the chosen candidates; a moved one gets score and probability of the one that it precedes. None is
    removed, except the last for a reply that was not chosen.
    """
    _trusted_first(choice, planned.searched)
    around = ranked.found.context_features
    if around is None:
        return
    flags: dict[int, int] = {one.candidate: int(around.flags[one.candidate]) for one in choice.chosen}
    for one in list(choice.chosen):
        if flags[one.candidate] & CueFlag.QUESTION and asks_only(one.memory.text):
            reply = reply_to(ranked.found, one.candidate)
            if reply is not None:
                _answer_first(view, reader, ranked, choice, limit, one, reply, entries)
    if planned.kind is QuestionKind.FACT and not planned.spans and not asks_for_the_past(planned.searched):
        coverage = ranked.found.coverage
        with_number = {one for one, has in flags.items() if has & CueFlag.NUMBER and coverage[one] > 0}
        if len(with_number) > 1:
            _newest_first(choice, with_number)


def _answer_first(
    view: ReadView,
    reader: Reader,
    ranked: Ranked,
    choice: Choice,
    limit: int,
    asking: Chosen,
    reply: int,
    entries: Mapping[UUID, UnformedEntry],
) -> None:
    chosen = choice.chosen
    answer = next((one for one in chosen if one.candidate == reply), None)
    if answer is None and asking in chosen[: limit - 1]:
        answer = next(read_candidates(view, reader, ranked, [reply], choice, {}, entries), None)
    if answer is None or asking not in chosen or answer.memory.speaker == asking.memory.speaker:
        return
    _put_before(choice, replace(answer, replies_to=asking.memory.id), asking.candidate)
    del chosen[limit:]


def _trusted_first(choice: Choice, question: str) -> None:
    """Put a trusted text before those of untrusted origins that say nearly the same, but whose values may be false; and
    a user's statement before those that are about the same and match the question little better.
    """
    untrusted = [one for one in choice.chosen if one.memory.origin in UNTRUSTED]
    trusted = [one for one in choice.chosen if one.memory.origin not in UNTRUSTED]
    if not untrusted or not trusted:
        return
    words = [(one.candidate, words_of(one.cue.text)) for one in untrusted]
    for one in trusted:
        own = words_of(one.cue.text)
        alike = next((candidate for candidate, other in words if nearly_equal(own, other)), None)
        if alike is not None:
            _put_before(choice, one, alike)
    asked = frozenset(analyse(question).tokens)
    about = {one.candidate: asked.intersection(analyse(one.cue.text).tokens) for one in (*untrusted, *trusted)}
    for one in trusted:
        if one.memory.origin is not Origin.USER or asks_only(one.memory.text):
            continue
        for other in untrusted:
            comparable = one.score >= COMPARABLE * other.score
            if comparable and about_the_same(asked, about[one.candidate], about[other.candidate]):
                _put_before(choice, one, other.candidate)
                break


def _newest_first(choice: Choice, with_number: Collection[int]) -> None:
    """Mark each statement of a value that a newer hit updates, and put the newest before it."""
    best = [one for one in choice.chosen[:COMPARED] if one.candidate in with_number]
    said = Counter(one.memory.speaker for one in best)
    stated = [
        (one.candidate, one.memory, statement)
        for one in best
        if said[one.memory.speaker] > 1 and (statement := stated_value(one.memory.text)) is not None
    ]
    for older, before, value in stated:
        newer = [
            (after.occurred_to, candidate)
            for candidate, after, other in stated
            if after.occurred_to > before.occurred_to
            and after.speaker == before.speaker
            and not is_less_trusted(after.origin, before.origin)
            and is_newer_value(value, other)
        ]
        if newer:
            _, newest = max(newer)
            places = {one.candidate: place for place, one in enumerate(choice.chosen)}
            better = choice.chosen[places[newest]]
            choice.chosen[places[older]] = replace(choice.chosen[places[older]], newer=better.memory.id)
            _put_before(choice, better, older)


def _put_before(choice: Choice, one: Chosen, other: int) -> None:
    """Put a candidate right before another one, unless it is before it already."""
    chosen = choice.chosen
    places = {each.candidate: place for place, each in enumerate(chosen)}
    place, own = places[other], places.get(one.candidate)
    if own is not None and own < place:
        chosen[own] = one
        return
    if own is not None:
        del chosen[own]
    raised_to = chosen[place]
    chosen.insert(place, replace(one, score=raised_to.score, probability=raised_to.probability, raised=True))
